//! The whole screen over sample memories: keys in, text out.

mod curation;
mod data;
mod guard;
mod live;
mod search;
mod sizes;
mod snapshots;

use super::demo::{Demo, DemoClock};
use super::headless::Headless;
use super::keymap::Keymap;
use super::state::{Alphabet, Look, ScopeWanted, State};
use super::theme::{Depth, GlyphSet, load};
use crate::config::TuiSettings;

/// A state as a program starts with, over the default theme.
pub fn state(glyphs: GlyphSet, depth: Depth) -> State {
    let (file, faults) = load("terminal", &|_| None);
    assert!(faults.is_empty());
    let look = Look::new(file, depth, glyphs, 1);
    let alphabet = Alphabet::new(&crate::mode::code());
    let zone = jiff::tz::TimeZone::UTC;
    let mut state = State::new(TuiSettings::default(), look, Keymap::shipped(), alphabet, zone, super::demo::START_MS);
    state.scope_wanted = ScopeWanted::Named("webapp".into());
    state
}

/// A screen over `n` sample memories.
pub fn screen_of(n: usize, size: (u16, u16)) -> Headless<Demo> {
    Headless::new(state(GlyphSet::Unicode, Depth::True), Demo::new(DemoClock::default(), n, false), size)
}

/// A screen over the usual 400.
pub fn screen(size: (u16, u16)) -> Headless<Demo> {
    screen_of(400, size)
}
