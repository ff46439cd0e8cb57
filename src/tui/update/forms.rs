//! The two forms: several memories into one, and a string out of everything.

use super::{DEAF_MS, Out, curate, may_write, refuse};
use crate::hub::live::{Change, MergePlan};
use crate::memory::{Memory, MemoryId};
use crate::tui::effect::{Effect, GetFor, Request};
use crate::tui::key::{Code, Key};
use crate::tui::state::{LineEdit, MergeForm, Popup, RedactForm, State, Tone};

/// More than this in one merge is no merge.
const MOST: usize = 20;

/// Merge the marked ones; without marks, mark what looks like the same finding first.
pub fn merge(state: &mut State, out: &mut Out) {
    let ids: Vec<MemoryId> = if state.marks.ids.len() >= 2 {
        state.marks.ids.iter().copied().collect()
    } else {
        let alike = suggest(state);
        if alike.len() < 2 {
            return refuse(state, "mark two or more to merge; nothing here looks like the one under the cursor");
        }
        state.marks.ids.extend(alike.iter().copied());
        state.messages.say(state.now, Tone::Info, format!("{} look alike; check the marks, then M again", alike.len()));
        return;
    };
    if ids.len() > MOST {
        return refuse(state, format!("at most {MOST} at once"));
    }
    out.push(Effect::Ask(Request::GetFor(ids, GetFor::Merge)));
}

/// Memories of the same project whose titles share four of five words with the one under the cursor.
fn suggest(state: &State) -> Vec<MemoryId> {
    let Some(row) = state.under_cursor() else { return Vec::new() };
    let wanted = words(state.arena.title(row));
    if wanted.len() < 2 {
        return Vec::new();
    }
    let project = row.project_ix;
    let near = state.arena.newest_first().map(|ix| state.arena.row(ix)).filter(|other| {
        other.project_ix == project && other.flags.kind() == crate::memory::Kind::Observation && {
            let theirs = words(state.arena.title(other));
            let shared = wanted.iter().filter(|word| theirs.contains(word)).count();
            shared * 5 >= wanted.len().max(theirs.len()) * 4
        }
    });
    near.take(MOST).map(|row| row.memory()).collect()
}

fn words(title: &str) -> Vec<String> {
    let mut words: Vec<String> = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
        .collect();
    words.sort();
    words.dedup();
    words
}

/// The memories came: the form opens, the newest is the one to keep.
pub fn open_merge(state: &mut State, mut memories: Vec<Memory>) {
    if memories.len() < 2 {
        return refuse(state, "two or more are needed to merge");
    }
    memories.sort_by_key(|memory| std::cmp::Reverse((memory.created_at, memory.id)));
    let longest = (0..memories.len()).max_by_key(|at| memories[*at].narrative.len()).unwrap_or(0);
    let narrative = if memories[0].narrative.is_empty() { longest } else { 0 };
    state.popup = Some(Popup::Merge(Box::new(MergeForm {
        sources: memories,
        field: 0,
        title: 0,
        kind: 0,
        narrative,
        newest: true,
        deaf_until: state.now + DEAF_MS,
    })));
}

/// A key in the merge form.
pub fn merge_key(state: &mut State, mut form: Box<MergeForm>, key: Key, out: &mut Out) -> Option<Popup> {
    if state.now < form.deaf_until {
        return Some(Popup::Merge(form));
    }
    let sources = form.sources.len();
    let turn = |at: usize, len: usize, by: i64| (at as i64 + by).rem_euclid(len as i64) as usize;
    match (key.code, key.typed()) {
        (Code::Esc, _) => return None,
        (Code::Down, _) | (_, Some('j')) => form.field = (form.field + 1).min(MergeForm::FIELDS - 1),
        (Code::Up, _) | (_, Some('k')) => form.field = form.field.saturating_sub(1),
        (Code::Left | Code::Right, _) | (_, Some('h' | 'l')) => {
            let by = if key.code == Code::Left || key.typed() == Some('h') { -1 } else { 1 };
            match form.field {
                0 => form.title = turn(form.title, sources, by),
                1 => form.kind = turn(form.kind, sources, by),
                2 => form.narrative = turn(form.narrative, sources + 1, by),
                _ => form.newest = !form.newest,
            }
        }
        (Code::Enter, _) => {
            let keep = form.sources[0].id;
            let times = form.sources.iter().map(|memory| memory.created_at);
            let created_at = if form.newest { times.max() } else { times.min() };
            let plan = MergePlan {
                keep,
                fold: form.sources[1..].iter().map(|memory| memory.id).collect(),
                fields: form.result(),
                created_at: created_at.unwrap_or(form.sources[0].created_at),
                pinned: form.sources.iter().any(|memory| memory.pinned),
            };
            state.marks.ids.clear();
            curate::change(state, Change::Merge(plan), out);
            return None;
        }
        _ => {}
    }
    Some(Popup::Merge(form))
}

/// The redact form opens, empty: what is to go is typed or pasted.
pub fn redact(state: &mut State) {
    let form = RedactForm { replacement: "[redacted]".into(), ..RedactForm::default() };
    state.guard.input_opened(state.now, true);
    state.popup = Some(Popup::Redact(Box::new(form)));
}

/// A key in the redact form.
pub fn redact_key(state: &mut State, mut form: Box<RedactForm>, key: Key, out: &mut Out) -> Option<Popup> {
    if key.code == Code::Esc {
        if form.confirming {
            form.confirming = false;
            form.reach = None;
            form.confirm.clear();
            return Some(Popup::Redact(form));
        }
        return None;
    }
    let confirming = form.confirming;
    let line: &mut LineEdit = if confirming { &mut form.confirm } else { &mut form.needle };
    match (key.code, key.typed()) {
        (_, Some(ch)) => line.insert(&ch.to_string()),
        (Code::Backspace, _) => line.backspace(),
        (Code::Left, _) => line.left(),
        (Code::Right, _) => line.right(),
        (Code::Enter, _) if !confirming => {
            let needle = form.needle.text().trim().to_owned();
            if needle.chars().count() < 3 {
                state.messages.say(state.now, Tone::Info, "at least three characters: a shorter string is everywhere");
            } else {
                out.push(Effect::Ask(Request::Reach(needle)));
                form.confirming = true;
            }
        }
        (Code::Enter, _) => {
            let found = form.reach.as_ref().map_or(0, |reach| reach.places.iter().map(|(_, n)| *n).sum::<u32>());
            if form.confirm.text() != "REDACT" {
                state.messages.say(state.now, Tone::Info, "not done: type REDACT in capitals");
            } else if found == 0 {
                state.messages.say(state.now, Tone::Info, "nothing holds that string");
            } else if may_write(state) {
                let needle = form.needle.text().trim().to_owned();
                curate::change(state, Change::Redact { needle, replacement: form.replacement.clone() }, out);
                return None;
            }
        }
        _ => {}
    }
    Some(Popup::Redact(form))
}

/// Where the string stands came.
pub fn reach(state: &mut State, reach: crate::hub::live::RedactReach) {
    if let Some(Popup::Redact(form)) = &mut state.popup {
        form.reach = Some(reach);
    }
}
