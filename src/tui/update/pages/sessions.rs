//! Sessions: opening one in the feed, and putting all its memories into the trash.

use super::super::{Out, curate, feed, query, refuse, switch};
use super::keep_visible;
use crate::hub::live::SessionInfo;
use crate::memory::MemoryId;
use crate::recall::query::Key as Filter;
use crate::tui::state::{State, Tone, View};

/// Sessions of the scope, newest first.
pub fn sessions(state: &State) -> Vec<&SessionInfo> {
    let list = state.pages.sessions.list.iter();
    list.filter(|info| state.scope.is_empty() || state.scope.contains(&info.project)).collect()
}

/// The session under the cursor.
pub fn session_under_cursor(state: &State) -> Option<&SessionInfo> {
    sessions(state).get(state.pages.sessions.at.cursor).copied()
}

pub(super) fn open_session(state: &mut State, out: &mut Out) {
    let Some(info) = session_under_cursor(state).cloned() else { return };
    if let Some(why) = &info.failed {
        state.messages.say(state.now, Tone::Info, format!("nothing was kept: {why}; 5 observer can try again"));
        return;
    }
    switch(state, View::Feed);
    let value = state.arena.session_by_id(&info.id).map_or(info.id.clone(), |entry| entry.word());
    query::set(state, Filter::Session, &[&value], out);
    feed::go(state, 0);
}

/// The view of sessions, at that of the memory under the cursor.
pub fn goto_session(state: &mut State, _out: &mut Out) {
    let Some(id) = state.under_cursor().map(|row| state.arena.session_of(row).id.clone()) else {
        return refuse(state, "no memory here");
    };
    let at = sessions(state).iter().position(|info| info.id == id);
    match at {
        Some(at) => {
            switch(state, View::Sessions);
            state.pages.sessions.at.cursor = at;
            keep_visible(state);
        }
        None => refuse(state, "its session is not known"),
    }
}

/// All memories of a session to the trash: by number, never a live one.
pub fn trash_session(state: &mut State) {
    let Some(info) = session_under_cursor(state).cloned() else { return refuse(state, "no session here") };
    if info.live {
        return refuse(state, "this session is live: its memories would come back; end it first");
    }
    let ids: Vec<MemoryId> = state
        .arena
        .newest_first()
        .map(|ix| state.arena.row(ix))
        .filter(|row| state.arena.session_of(row).id == info.id)
        .map(|row| row.memory())
        .collect();
    if ids.is_empty() {
        return refuse(state, "this session has no memories");
    }
    let mut out = Out::new();
    curate::ask_trash(state, ids, true, &mut out);
}
