//! Marks: by id, whatever the list shows.

use std::collections::BTreeSet;

use super::{feed, pages, refuse};
use crate::memory::MemoryId;
use crate::tui::state::{State, Tone, View};

/// Marks the row under the cursor and steps down.
pub fn toggle(state: &mut State) {
    match state.view {
        View::Feed => {
            if let Some(id) = state.under_cursor().map(|row| row.memory()) {
                state.marks.toggle(id);
                feed::step(state, 1);
            }
        }
        View::Trash | View::Context => {
            if let Some(id) = pages::cursor_id(state) {
                state.marks.toggle(id);
                let mut out = Vec::new();
                pages::step(state, 1, &mut out);
            }
        }
        _ => refuse(state, "nothing to mark here; marks are for memories"),
    }
}

/// Begins a range, or marks the one that has begun.
pub fn range(state: &mut State) {
    if state.view != View::Feed {
        refuse(state, "ranges are marked in the feed (1)");
        return;
    }
    let Some(from) = state.feed.range.take() else {
        state.feed.range = state.feed.cursor;
        return;
    };
    let a = state.rows.near(&state.arena, from);
    let b = state.feed.pos;
    for pos in a.min(b)..=a.max(b) {
        if let Some(ix) = state.rows.get(pos) {
            state.marks.ids.insert(state.arena.row(ix).memory());
        }
    }
}

/// Every row that matches: counted, not guessed.
fn matching(state: &State) -> BTreeSet<MemoryId> {
    (0..state.rows.len()).filter_map(|pos| state.rows.get(pos)).map(|ix| state.arena.row(ix).memory()).collect()
}

/// Marks all that match the filter.
pub fn all(state: &mut State) {
    if state.view == View::Trash {
        state.marks.ids = state.pages.trash.list.iter().map(|row| row.memory.id).collect();
    } else if !state.load.done {
        refuse(state, "still loading: the number would be wrong");
        return;
    } else {
        state.marks.ids.extend(matching(state));
    }
    let n = state.marks.ids.len();
    state.messages.say(state.now, Tone::Info, format!("{n} marked"));
}

/// Marks what is not marked among what matches, and the other way round.
pub fn invert(state: &mut State) {
    let all = matching(state);
    let marked: BTreeSet<MemoryId> = all.difference(&state.marks.ids).copied().collect();
    state.marks.ids.retain(|id| !all.contains(id));
    state.marks.ids.extend(marked);
    let n = state.marks.ids.len();
    state.messages.say(state.now, Tone::Info, format!("{n} marked"));
}

/// Marks what belongs together: in the trash the same batch, else the same session and file, or same session and day.
pub fn related(state: &mut State) {
    if state.view == View::Trash {
        let list = &state.pages.trash.list;
        let Some(step) = list.get(state.pages.trash.at.cursor).map(|row| row.step) else { return };
        let ids: Vec<MemoryId> = list.iter().filter(|row| row.step == step).map(|row| row.memory.id).collect();
        state.marks.ids.extend(ids);
    } else {
        let Some(row) = state.under_cursor() else { return };
        let (session, created) = (row.session_ix, row.created_ms);
        // The same piece of work: one session, within the hour.
        let near = (0..state.rows.len())
            .filter_map(|pos| state.rows.get(pos))
            .map(|ix| state.arena.row(ix))
            .filter(|other| other.session_ix == session && (other.created_ms - created).abs() <= 3_600_000)
            .map(|other| other.memory());
        let ids: Vec<MemoryId> = near.collect();
        state.marks.ids.extend(ids);
    }
    let n = state.marks.ids.len();
    state.messages.say(state.now, Tone::Info, format!("{n} marked"));
}
