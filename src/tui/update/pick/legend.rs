//! The type legend while its letters hold.

use super::super::{Out, query, switch};
use crate::tui::key::{Code, Key};
use crate::tui::state::{Legend, Popup, State, View};

/// The type legend takes letters.
pub fn legend(state: &mut State) {
    switch(state, View::Feed);
    state.popup = Some(Popup::Legend(Legend::default()));
}

/// A letter in the legend.
pub fn legend_key(state: &mut State, mut legend: Legend, key: Key, _out: &mut Out) -> Option<Popup> {
    let types: Vec<String> = state.alphabet.types.iter().map(|look| look.id.clone()).collect();
    match key.typed() {
        Some('O') => {
            legend.only = true;
            return Some(Popup::Legend(legend));
        }
        Some('A') => {
            state.hidden.clear();
            state.hide_wild = false;
        }
        Some('I') => {
            state.hidden = types.iter().filter(|id| !state.hidden.contains(*id)).cloned().collect();
            state.hide_wild = !state.hide_wild;
        }
        Some('.' | '?') if legend.only => {
            state.hidden = types.into_iter().chain([String::new()]).collect();
            state.hide_wild = false;
        }
        Some('.' | '?') => state.hide_wild = !state.hide_wild,
        Some(letter) => match state.alphabet.by_letter(letter).map(|look| look.id.clone()) {
            Some(id) if legend.only => {
                state.hidden = types.into_iter().filter(|other| *other != id).collect();
                state.hidden.insert(String::new()); // summaries have no type
                state.hide_wild = true;
            }
            Some(id) => {
                if !state.hidden.remove(&id) {
                    state.hidden.insert(id);
                }
            }
            None => return None,
        },
        None if key.code == Code::Down => {
            legend.scroll = legend.scroll.saturating_add(1);
            return Some(Popup::Legend(legend));
        }
        None if key.code == Code::Up => {
            legend.scroll = legend.scroll.saturating_sub(1);
            return Some(Popup::Legend(legend));
        }
        None => return None,
    }
    legend.only = false;
    query::relist_types(state);
    Some(Popup::Legend(legend))
}
