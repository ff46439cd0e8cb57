//! The views besides the feed: their motions, their data, which actions mean something of their own in them.

mod context;
mod observer;
mod sessions;
mod timeline;

use super::{Out, data, feed, refuse};
use crate::memory::MemoryId;
use crate::tui::action::Action;
use crate::tui::effect::{Effect, Request};
use crate::tui::state::{ListAt, State, View};

pub use context::{ContextLine, context_cursor, context_lines, goto_why};
pub use observer::observer_act;
pub use sessions::{goto_session, session_under_cursor, sessions, trash_session};
pub use timeline::{goto_time, hour_start, local_hour, place_timeline, timeline_span, today_start};

use context::context_act;
use observer::purge;
use sessions::open_session;
use timeline::{ask_hours, lines_of, move_timeline, timeline_act};

/// A view that has no data yet asks for it.
pub fn ask(state: &mut State, out: &mut Out) {
    if !state.load.first || state.closed.is_some() {
        return;
    }
    match state.view {
        View::Timeline => ask_hours(state, out),
        View::Feed if crate::tui::layout::screen(state).side.width > 0 => ask_hours(state, out),
        View::Sessions => {
            if !state.pages.sessions.loaded {
                state.pages.sessions.loaded = true;
                out.push(Effect::Ask(Request::Sessions));
            }
            let wanted = session_under_cursor(state).map(|info| info.id.clone());
            let have = state.pages.sessions.summary.as_ref().map(|(id, _)| id);
            if let Some(id) = wanted.filter(|id| have != Some(id)) {
                state.pages.sessions.summary = Some((id.clone(), Vec::new()));
                out.push(Effect::Ask(Request::SessionSummary(id)));
            }
        }
        View::Context if state.pages.context.preview.is_none() && !state.pages.context.asked => {
            data::ask_context(state, out);
        }
        View::Trash if !state.pages.trash.loaded => {
            state.pages.trash.loaded = true;
            out.push(Effect::Ask(Request::Trash));
        }
        _ => {}
    }
}

/// The scope is another one: what depends on it is asked anew.
pub fn scope_changed(state: &mut State, out: &mut Out) {
    state.stale_hours = true;
    state.pages.context.preview = None;
    state.context_ranks.clear();
    data::ask_context(state, out);
}

/// Moves by lines in whatever view it is.
pub fn step(state: &mut State, by: i64, _out: &mut Out) {
    match state.view {
        View::Feed if state.detail_focus => scroll_detail(state, by),
        View::Feed => feed::step(state, by),
        View::Timeline => move_timeline(state, by * lines_of(state.pages.timeline.zoom)),
        View::Sessions => {
            let len = sessions(state).len();
            state.pages.sessions.at.step(by, len);
        }
        View::Context if state.pages.context.text_focus => {
            let scroll = state.pages.context.text_scroll as i64 + by;
            state.pages.context.text_scroll = scroll.max(0) as usize;
        }
        View::Context => {
            let len = context_lines(state).len();
            state.pages.context.at.step(by, len);
        }
        View::Observer => {
            let len = state.pages.vitals.problems.len();
            state.pages.observer.step(by, len);
        }
        View::Trash if state.detail_focus => scroll_detail(state, by),
        View::Trash => state.pages.trash.at.step(by, state.pages.trash.list.len()),
    }
    keep_visible(state);
}

fn scroll_detail(state: &mut State, by: i64) {
    state.detail.scroll = (state.detail.scroll as i64 + by).max(0) as usize;
}

pub(super) fn keep_visible(state: &mut State) {
    let height = usize::from(super::list_height(state));
    let keep = |at: &mut ListAt, lines: usize| at.top = at.top_for(height.saturating_sub(1), lines);
    keep(&mut state.pages.sessions.at, 3);
    keep(&mut state.pages.context.at, 1);
    keep(&mut state.pages.trash.at, 1);
    keep(&mut state.pages.observer, 1);
}

/// Actions that mean something of their own in a view. Returns whether this was one.
pub fn act(state: &mut State, action: Action, times: u32, out: &mut Out) -> bool {
    match (state.view, action) {
        (View::Feed, _) => false,
        (View::Timeline, _) => timeline_act(state, action, times, out),
        (View::Sessions, Action::Open) => {
            open_session(state, out);
            true
        }
        (View::Sessions, Action::Title) => {
            refuse(state, "a session's title is its own; Claude Code writes it");
            true
        }
        (View::Context, _) => context_act(state, action, out),
        (View::Observer, _) => observer_act(state, action, out),
        (View::Trash, Action::Purge) => {
            purge(state, false);
            true
        }
        (View::Trash, Action::EmptyTrash) => {
            purge(state, true);
            true
        }
        (View::Trash, Action::Open) => {
            state.detail_focus = true;
            true
        }
        (_, Action::Newest) => {
            edge(state, true);
            true
        }
        (_, Action::Oldest) => {
            edge(state, false);
            true
        }
        (
            _,
            Action::PrevHeading
            | Action::NextHeading
            | Action::PrevItem
            | Action::NextItem
            | Action::Retype
            | Action::Concepts
            | Action::Edit
            | Action::Pin
            | Action::Exclude
            | Action::Move
            | Action::Merge
            | Action::Range,
        ) => {
            refuse(state, format!("{} works in the feed (1)", action.name()));
            true
        }
        _ => false,
    }
}

pub(super) fn edge(state: &mut State, first: bool) {
    let to = |at: &mut ListAt, len: usize| at.cursor = if first { 0 } else { len.saturating_sub(1) };
    match state.view {
        View::Sessions => {
            let len = sessions(state).len();
            to(&mut state.pages.sessions.at, len);
        }
        View::Context => {
            let len = context_lines(state).len();
            to(&mut state.pages.context.at, len);
        }
        View::Trash => to(&mut state.pages.trash.at, state.pages.trash.list.len()),
        View::Observer => to(&mut state.pages.observer, state.pages.vitals.problems.len()),
        View::Feed | View::Timeline => {}
    }
    keep_visible(state);
}

/// The memory under the cursor of the view.
pub fn cursor_id(state: &State) -> Option<MemoryId> {
    match state.view {
        View::Feed => state.under_cursor().map(|row| row.memory()),
        View::Context => context_cursor(state),
        View::Trash => state.pages.trash.list.get(state.pages.trash.at.cursor).map(|row| row.memory.id),
        _ => None,
    }
}
