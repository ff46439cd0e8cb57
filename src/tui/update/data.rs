//! Answers of the source.

use super::{Out, copy, curate, feed, forms, pages, pick, query};
use crate::hub::live::{ProjectInfo, Rec};
use crate::memory::MemoryId;
use crate::tui::effect::{Effect, GetFor, Request};
use crate::tui::msg::Answer;
use crate::tui::state::{Banner, ScopeWanted, State, Tone, View};

/// A banner that was dismissed comes back after this long.
const BANNER_AGAIN_MS: i64 = 30 * 60_000;

/// Sessions are asked for again at most so often.
const SESSIONS_EVERY_MS: i64 = 10_000;

/// Takes an answer in.
pub fn answer(state: &mut State, answer: Answer, out: &mut Out) {
    match answer {
        Answer::Opened(Ok(opened)) => {
            state.closed = None;
            state.opened = opened;
            if let Some(why) = state.read_only().map(str::to_owned) {
                state.messages.say(state.now, Tone::Error, format!("read only: {why}"));
            }
            out.extend([Request::Sessions, Request::Vitals].map(Effect::Ask));
            ask_context(state, out);
        }
        Answer::Opened(Err(trouble)) => {
            state.closed = Some(trouble);
            state.load.first = true;
        }
        Answer::Page { rows, done, first } => page(state, rows, done, first, out),
        Answer::Changes(changes) => {
            let told = !changes.is_empty();
            feed::changed(state, changes, out);
            if told {
                state.stale_hours = true;
                out.push(Effect::Ask(Request::Projects));
                // Titles and prompts of sessions change with nearly every turn; counting them costs the source most.
                let unknown = state.arena.sessions().iter().any(|entry| entry.info.is_none() && !entry.id.is_empty());
                if unknown || state.view == View::Sessions || state.now - state.sessions_at > SESSIONS_EVERY_MS {
                    state.sessions_at = state.now;
                    out.push(Effect::Ask(Request::Sessions));
                }
                state.pages.trash.loaded = false;
                ask_context(state, out);
            }
        }
        Answer::Memories(memories) => {
            for memory in memories {
                if state.detail.id == Some(memory.id) {
                    state.detail.memory = Some(memory);
                }
            }
        }
        Answer::MemoriesFor(memories, wanted) => match wanted {
            GetFor::Edit if memories.is_empty() => {
                state.messages.say(state.now, Tone::Info, "it was removed by another program");
            }
            GetFor::Edit => out.push(Effect::Edit(memories)),
            GetFor::Merge => forms::open_merge(state, memories),
            GetFor::Concepts => pick::open_concepts(state, &memories),
            GetFor::Copy(form) => copy::came(&memories, form, out),
            GetFor::Export(path) => {
                let text = copy::export(&memories, &path);
                out.push(Effect::Write { path, text, memories: memories.len() });
            }
        },
        Answer::Words(generation, hits) => query::words_found(state, generation, hits),
        Answer::Matching(generation, ids) => query::ids_found(state, generation, &ids),
        Answer::Projects(projects) => {
            state.pages.projects = projects;
            settle_scope(state, out);
        }
        Answer::Sessions(sessions) => {
            state.arena.learn_sessions(&sessions);
            state.pages.sessions.list = sessions;
            state.pages.sessions.loaded = true;
        }
        Answer::SessionSummary(id, memories) => state.pages.sessions.summary = Some((id, memories)),
        Answer::Hours(hours) => {
            state.pages.timeline.hours = hours;
            state.pages.timeline.loaded = true;
            pages::place_timeline(state);
        }
        Answer::Vitals(vitals) => {
            banner(state, &vitals);
            state.pages.vitals = vitals;
        }
        Answer::Context(Ok(preview)) => {
            state.context_ranks =
                preview.within.iter().enumerate().map(|(rank, item)| (item.id.0, rank as u32 + 1)).collect();
            state.pages.context.preview = Some(preview);
            state.pages.context.trouble.clear();
        }
        Answer::Context(Err(trouble)) => state.pages.context.trouble = trouble.to_string(),
        Answer::Trash(list) => {
            state.pages.trash.at.step(0, list.len());
            state.pages.trash.list = list;
            state.pages.trash.loaded = true;
        }
        Answer::History(steps) => {
            state.pages.history = steps;
            pick::history_came(state);
        }
        Answer::Applied(done, result) => curate::answered(state, done, result, out),
        Answer::Reach(Ok(reach)) => forms::reach(state, reach),
        Answer::Reach(Err(trouble)) => state.messages.say(state.now, Tone::Error, trouble.to_string()),
        Answer::Why(id, lines) => {
            if state.detail.id == Some(id) {
                state.detail.why =
                    if lines.is_empty() { vec!["nothing is known of where it came from".into()] } else { lines };
            }
        }
        Answer::Log(lines) => pick::show_text(state, "Log, newest last", lines),
        Answer::Trouble(trouble) => state.messages.say(state.now, Tone::Error, trouble.to_string()),
    }
}

/// The context of the scope's project, for the signs in the list.
pub fn ask_context(state: &mut State, out: &mut Out) {
    let project = state.scope.first().map(|key| {
        let known = state.pages.projects.iter().find(|project| project.key() == *key);
        known.map_or_else(|| key.clone(), |project| project.root.clone())
    });
    let ask = crate::hub::live::ContextAsk {
        project: project.unwrap_or_default(),
        at: "session-start".into(),
        limit: state.pages.context.limit,
    };
    state.pages.context.asked = true;
    out.push(Effect::Ask(Request::Context(ask)));
}

fn page(state: &mut State, rows: crate::hub::live::RowBatch, done: bool, first: bool, out: &mut Out) {
    if first {
        // A load begins anew: the cursor finds its row by id when it comes.
        if state.load.first && !state.arena.is_empty() {
            state.restore_cursor = state.under_cursor().map(|row| row.id);
            state.arena.clear();
            state.feed.cursor = None;
            state.feed.fresh.clear();
        }
        state.rows = crate::tui::state::Rows::default();
        query::forget_pool(state);
    }
    let was_loading = !state.load.done;
    let absorbed = state.arena.absorb(rows);
    if let Some(cursor) = state.feed.cursor
        && let Some((_, new)) = absorbed.replaced.iter().find(|(old, _)| *old == cursor)
    {
        state.feed.cursor = Some(*new); // the first page again, now with the rest
    }
    state.load.first = true;
    state.load.done = done;
    if first || was_loading {
        query::forget_pool(state);
        let text = state.search.text.clone();
        if first && !text.is_empty() {
            state.search.text.clear();
            query::apply(state, &text, out);
        } else {
            query::sift(state);
        }
        state.arena.settle_sessions();
    }
    if let Some(id) = state.restore_cursor
        && (feed::go_to_id(state, MemoryId(id)) || done)
    {
        state.restore_cursor = None;
    }
    let infos = std::mem::take(&mut state.pages.sessions.list);
    state.arena.learn_sessions(&infos);
    state.pages.sessions.list = infos;
}

/// The scope that was wanted, now that projects are known, and its name.
fn settle_scope(state: &mut State, out: &mut Out) {
    let wanted = std::mem::take(&mut state.scope_wanted);
    let keys: Vec<String> = match &wanted {
        ScopeWanted::Settled => return,
        ScopeWanted::Auto(root) => {
            state.pages.projects.iter().filter(|project| project.root == *root).map(ProjectInfo::key).collect()
        }
        ScopeWanted::Named(name) => query::roots_of(state, name, false),
    };
    let holds_some = state.pages.projects.iter().any(|project| keys.contains(&project.key()) && project.memories > 0);
    match wanted {
        // A directory nobody has worked in yet shows what there is elsewhere.
        ScopeWanted::Auto(_) if !holds_some => return,
        ScopeWanted::Named(name) if keys.is_empty() => {
            state.messages.say(state.now, Tone::Error, format!("no project is called “{name}”; all are shown"));
            return;
        }
        _ => {}
    }
    let main = state.pages.projects.iter().find(|project| keys.contains(&project.key()) && project.worktree.is_empty());
    state.scope_name = main.map_or_else(|| keys[0].clone(), |project| project.name.clone());
    state.scope = keys;
    if state.load.first {
        query::sift(state);
    }
    super::pages::scope_changed(state, out);
}

/// DOWN and GAP also say so in a line of their own, once, until dismissed.
fn banner(state: &mut State, vitals: &crate::hub::live::Vitals) {
    let about = match vitals.rec {
        Rec::Down(_) => "down",
        Rec::Gap(_) => "gap",
        _ => {
            if state.banner.as_ref().is_some_and(|banner| matches!(banner.about, "down" | "gap")) {
                state.banner = None;
            }
            state.dismissed.retain(|(about, _)| !matches!(*about, "down" | "gap"));
            return;
        }
    };
    let lately = state.dismissed.iter().any(|(other, at)| *other == about && state.now - at < BANNER_AGAIN_MS);
    if lately {
        return;
    }
    let since =
        |at: i64| crate::memory::from_millis(at).to_zoned_datetime(state.zone.clone()).strftime("%H:%M").to_string();
    let first = match vitals.rec {
        Rec::Down(0) => "Not recording: no collector has run here yet. Browsing works.".to_owned(),
        Rec::Down(at) => format!("Not recording since {}. Browsing still works.", since(at)),
        Rec::Gap(at) => format!("A transcript grows, but nothing of it is read since {}.", since(at)),
        _ => return,
    };
    let mut lines = vec![first];
    if !vitals.cause.is_empty() {
        lines.push(format!("cause  {}", crate::memory::safe_line(&vitals.cause)));
    }
    let observer = state.keymap.hint(crate::tui::keymap::Place::Feed, crate::tui::action::Action::ViewObserver);
    lines.push(format!("next   {observer} observer: what to do · esc hides this"));
    state.banner = Some(Banner { lines, about });
}
