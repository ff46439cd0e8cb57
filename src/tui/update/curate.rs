//! Changing memories, and what is asked before (tui.md B.6): one row never asks and can be undone; many ask with `y`;
//! very many, or rows nobody sees, ask for their number. The default keeps, and for a moment no key counts.

use super::{DEAF_MS, HOLD_BACK_MS, Out, pages, refuse};
use crate::hub::live::{Applied, Change, RowFlags, Trouble, TroubleKind};
use crate::memory::MemoryId;
use crate::tui::effect::{Effect, GetFor, Request};
use crate::tui::key::{Code, Key};
use crate::tui::msg::Done;
use crate::tui::state::{Act, Answer, LineEdit, Popup, State, Strip, Tone, View};

/// Rows an action is about, in whatever view it was asked for. Says so when there are none.
pub fn targets(state: &mut State) -> Option<Vec<MemoryId>> {
    let ids = match state.view {
        View::Feed => state.targets(),
        _ if !state.marks.ids.is_empty() => state.marks.ids.iter().copied().collect(),
        _ => pages::cursor_id(state).into_iter().collect(),
    };
    if ids.is_empty() {
        refuse(state, "no memory here");
        return None;
    }
    Some(ids)
}

/// Asks for a change to be carried out.
pub fn change(state: &mut State, change: Change, out: &mut Out) {
    state.changing += 1;
    if !state.guard.is_quiet(state.now) {
        state.guard.unanswered += 1;
    }
    out.push(Effect::Ask(Request::Apply(change)));
}

/// The rows' flags, where they are loaded.
fn flagged(state: &State, ids: &[MemoryId], bit: u16) -> Vec<MemoryId> {
    let found = state.arena.find(ids);
    found.iter().map(|ix| state.arena.row(*ix)).filter(|row| row.flags.has(bit)).map(|row| row.memory()).collect()
}

/// To the trash.
pub fn trash(state: &mut State, out: &mut Out) {
    match state.view {
        View::Trash => return refuse(state, "it is in the trash; D deletes for ever"),
        View::Sessions => return pages::trash_session(state),
        View::Observer | View::Timeline => {
            return refuse(state, "no memory here; d works in Feed, Sessions and Context");
        }
        View::Feed | View::Context => {}
    }
    let Some(ids) = targets(state) else { return };
    ask_trash(state, ids, false, out);
}

/// Asks as the policy says, then trashes.
pub fn ask_trash(state: &mut State, ids: Vec<MemoryId>, whole_session: bool, out: &mut Out) {
    let count = ids.len();
    if count < state.settings.confirm_from.max(2) as usize && !whole_session {
        change(state, Change::Trash(ids), out);
        return;
    }
    let hidden = if state.marks.ids.is_empty() { 0 } else { state.hidden_marks() };
    let pinned = flagged(state, &ids, RowFlags::PINNED);
    let mut lines = vec![by_type(state, &ids)];
    if hidden > 0 {
        lines.push(format!("{hidden} of them hidden by the filter: h shows"));
    }
    if !pinned.is_empty() {
        let what =
            if pinned.len() == 1 { "1 is pinned: stays".into() } else { format!("{} are pinned: stay", pinned.len()) };
        lines.push(format!("{what} unless you press !"));
    }
    lines.push("kept 30 days; u undoes".into());
    let mut strip = question(
        state,
        format!("Move {count} memories to the trash?"),
        "trash",
        lines,
        count,
        Act::Change(Change::Trash(ids)),
    );
    strip.hidden = hidden;
    strip.pinned = pinned;
    if hidden > 0 || whole_session || count >= state.settings.type_count_from.max(2) as usize {
        strip.answer = Answer::Count(LineEdit::default());
    }
    state.popup = Some(Popup::Strip(strip));
}

/// How many of each type, most first.
fn by_type(state: &State, ids: &[MemoryId]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for ix in state.arena.find(ids) {
        let word = state.arena.type_of(state.arena.row(ix));
        let sign = state.alphabet.sign(word, state.look.glyphs);
        let label = format!("{sign} {}", if word.is_empty() { "other" } else { word });
        match counts.iter_mut().find(|(known, _)| *known == label) {
            Some((_, n)) => *n += 1,
            None => counts.push((label, 1)),
        }
    }
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let more = counts.len().saturating_sub(4);
    let mut parts: Vec<String> = counts.into_iter().take(4).map(|(label, n)| format!("{label} {n}")).collect();
    if more > 0 {
        parts.push(format!("{more} other types"));
    }
    parts.join("   ")
}

/// A strip that `y` answers.
pub fn question(state: &State, question: String, verb: &str, lines: Vec<String>, count: usize, act: Act) -> Strip {
    Strip {
        question,
        verb: verb.to_owned(),
        lines: lines.into_iter().filter(|line| !line.is_empty()).collect(),
        count,
        hidden: 0,
        pinned: Vec::new(),
        with_pinned: false,
        answer: Answer::Yes,
        deaf_until: state.now + DEAF_MS,
        act,
    }
}

/// A change that asks only when it is about very many rows.
pub fn ask_if_many(state: &mut State, n: usize, what: &str, verb: &str, wanted: Change, out: &mut Out) {
    if n >= state.settings.type_count_from.max(2) as usize {
        let lines = vec!["one step; u undoes".to_owned()];
        let strip = question(state, format!("{what} {n} memories?"), verb, lines, n, Act::Change(wanted));
        state.popup = Some(Popup::Strip(strip));
    } else {
        change(state, wanted, out);
    }
}

/// A key while a question stands there.
pub fn strip_key(state: &mut State, mut strip: Strip, key: Key, out: &mut Out) -> Option<Popup> {
    if state.now < strip.deaf_until {
        return Some(Popup::Strip(strip));
    }
    match (&mut strip.answer, key) {
        (_, key) if key == Key::plain(Code::Esc) || key == Key::ctrl('c') => return kept(state),
        (_, key) if key == Key::char('!') && !strip.pinned.is_empty() => {
            strip.with_pinned = !strip.with_pinned;
            return Some(Popup::Strip(strip));
        }
        (_, key) if key == Key::char('h') && strip.hidden > 0 => {
            show_marked(state, out);
            return None;
        }
        (Answer::Yes, key) if key == Key::char('y') => {}
        // Enter, Space, the key that asked, and everything else keep.
        (Answer::Yes, _) => return kept(state),
        (Answer::Count(line), Key { code: Code::Backspace, .. }) => {
            line.backspace();
            return Some(Popup::Strip(strip));
        }
        (Answer::Count(line), Key { code: Code::Enter, .. }) => {
            if line.text() != strip.count.to_string() {
                return kept(state);
            }
        }
        (Answer::Count(line), key) => {
            return match key.typed() {
                Some(ch) if ch.is_ascii_digit() => {
                    line.insert(&ch.to_string());
                    Some(Popup::Strip(strip))
                }
                Some('n') => kept(state),
                _ => Some(Popup::Strip(strip)), // nothing else means anything here
            };
        }
    }
    match strip.act {
        Act::Quit => {
            state.quitting = true;
            out.push(Effect::Quit(0));
        }
        Act::Change(Change::Trash(mut ids)) => {
            if !strip.with_pinned {
                ids.retain(|id| !strip.pinned.contains(id));
            }
            change(state, Change::Trash(ids), out);
        }
        Act::Change(wanted) => change(state, wanted, out),
    }
    None
}

fn kept(state: &mut State) -> Option<Popup> {
    state.messages.say(state.now, Tone::Info, "kept as it was");
    None
}

/// The filter is opened so that every marked row is seen; marks stay.
fn show_marked(state: &mut State, out: &mut Out) {
    let ids: Vec<String> = state.marks.ids.iter().map(|id| format!("#{}", id.0)).collect();
    state.hidden.clear();
    state.hide_wild = false;
    state.scope.clear();
    state.scope_name = "all projects".into();
    super::query::forget_pool(state);
    super::query::apply(state, &ids.join(" "), out);
    super::query::relist_types(state);
    state.messages.say(state.now, Tone::Info, "every marked memory, and no other; Esc goes back");
}

/// A change, undo or redo was answered.
pub fn answered(state: &mut State, done: Done, result: Result<Applied, Trouble>, out: &mut Out) {
    state.changing = state.changing.saturating_sub(1);
    let in_run = state.guard.unanswered > 0;
    state.guard.unanswered = state.guard.unanswered.saturating_sub(u32::from(in_run && done == Done::Change));
    match result {
        Ok(applied) => {
            if done == Done::Change && state.guard.take_back > 0 {
                // The guard stepped in while this was under way.
                state.guard.take_back -= 1;
                if let Some(step) = applied.step {
                    if let Some(tripped) = &mut state.guard.tripped {
                        tripped.taken_back += 1;
                    }
                    out.push(Effect::Ask(Request::Undo(Some(step))));
                }
                return;
            }
            if let (Done::Change, Some(step), true) = (done, applied.step, in_run) {
                state.guard.steps.push(step);
            }
            say(state, done, &applied);
            if done == Done::Undo && state.guard.tripped.is_none() {
                state.restore_cursor = applied.ids.first().map(|id| id.0);
            }
            for id in &applied.ids {
                if state.detail.id == Some(*id) {
                    state.detail.memory = None;
                    state.detail.asked = None;
                }
            }
            state.pages.trash.loaded = false;
            state.pages.sessions.loaded = false;
            state.pages.context.preview = None;
            state.pages.context.asked = false;
            state.stale_hours = true;
        }
        Err(trouble) => {
            let again = if trouble.kind == TroubleKind::Busy { "; nothing was changed, try again" } else { "" };
            state.messages.say(state.now, Tone::Error, format!("not done: {trouble}{again}"));
        }
    }
}

fn say(state: &mut State, done: Done, applied: &Applied) {
    let mut text = applied.label.clone();
    if let Some((_, why)) = applied.left.first() {
        text.push_str(&format!("; {} left alone: {why}", applied.left.len()));
    }
    let undo = state.keymap.hint(state.view.place(), crate::tui::action::Action::Undo);
    match done {
        Done::Undo => state.messages.say(state.now, Tone::Info, format!("undone: {text}")),
        Done::Redo => state.messages.say(state.now, Tone::Info, format!("done again: {text}")),
        Done::Change if applied.step.is_some() => {
            let look = if applied.label.starts_with("trashed") { " · 6 view" } else { "" };
            state.messages.say(state.now, Tone::Undo, format!("{text}. {undo} undo{look}"));
        }
        Done::Change => state.messages.say(state.now, Tone::Info, text),
    }
}

/// Undo; in the trash: put back.
pub fn undo(state: &mut State, out: &mut Out) {
    if state.view == View::Trash {
        let ids: Vec<MemoryId> = if state.marks.ids.is_empty() {
            pages::cursor_id(state).into_iter().collect()
        } else {
            state.pages.trash.list.iter().map(|row| row.memory.id).filter(|id| state.marks.ids.contains(id)).collect()
        };
        if ids.is_empty() {
            return refuse(state, "nothing here to put back");
        }
        for id in &ids {
            state.marks.ids.remove(id);
        }
        return change(state, Change::PutBack(ids), out);
    }
    state.changing += 1;
    out.push(Effect::Ask(Request::Undo(None)));
}

/// Redo.
pub fn redo(state: &mut State, out: &mut Out) {
    state.changing += 1;
    out.push(Effect::Ask(Request::Redo));
}

/// Pins, or unpins when all are pinned.
pub fn pin(state: &mut State, out: &mut Out) {
    flip(state, RowFlags::PINNED, Change::Pin, ("Pin", "pin"), out);
}

/// Excludes from context, or allows again when all are excluded.
pub fn exclude(state: &mut State, out: &mut Out) {
    flip(state, RowFlags::EXCLUDED, Change::Exclude, ("Exclude", "exclude"), out);
}

fn flip(
    state: &mut State,
    bit: u16,
    make: fn(Vec<MemoryId>, bool) -> Change,
    (what, verb): (&str, &str),
    out: &mut Out,
) {
    let Some(ids) = targets(state) else { return };
    let on = flagged(state, &ids, bit).len() < ids.len();
    ask_if_many(state, ids.len(), what, verb, make(ids, on), out);
}

/// The memories are fetched for the editor, after the moment in which a burst of keys would take it back.
pub fn edit(state: &mut State, out: &mut Out) {
    let Some(ids) = targets(state) else { return };
    if ids.len() > 100 {
        return refuse(state, "at most 100 memories in one file; retype, concepts and move take any number");
    }
    let effect = Effect::Ask(Request::GetFor(ids, GetFor::Edit));
    hold_back(state, effect, out);
}

/// An effect that leaves the screen waits a moment for a key that shows it was not meant (D.1).
pub fn hold_back(state: &mut State, effect: Effect, out: &mut Out) {
    if state.settings.guard {
        state.held_back = Some((state.now + HOLD_BACK_MS, effect));
    } else {
        out.push(effect);
    }
}

/// The memories are fetched for the concepts checklist.
pub fn concepts(state: &mut State, out: &mut Out) {
    let Some(ids) = targets(state) else { return };
    out.push(Effect::Ask(Request::GetFor(ids, GetFor::Concepts)));
}
