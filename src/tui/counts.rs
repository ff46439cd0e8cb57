//! Numbers that header, list and motions share.

use super::state::State;

/// Rows above the newest seen one.
pub fn unseen(state: &State) -> usize {
    if state.feed.seen.created_ms == i64::MIN || state.rows.sorted.is_some() {
        return 0;
    }
    state.rows.place(&state.arena, state.feed.seen)
}

/// Sessions of the scope.
pub fn sessions_in_scope(state: &State) -> usize {
    let list = state.pages.sessions.list.iter();
    list.filter(|info| state.scope.is_empty() || state.scope.contains(&info.project)).count()
}
