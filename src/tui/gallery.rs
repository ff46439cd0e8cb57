//! The pictures of the README and of the reviewers: sample memories, a fixed clock, keys as a person would press them.
//! The same pictures every time, so that a test can hold them to the program.

use super::demo::{Demo, DemoClock, SIZE, START_MS};
use super::headless::Headless;
use super::keymap::Keymap;
use super::picture::svg;
use super::state::{Alphabet, Look, ScopeWanted, State};
use super::theme::{Depth, GlyphSet, load};
use crate::config::TuiSettings;
use crate::hub::live::{Rec, Source};

/// One picture: name, size, theme, keys.
struct Shot(&'static str, (u16, u16), &'static str, &'static str);

const WIDE: (u16, u16) = (160, 45);
const MIDDLE: (u16, u16) = (100, 30);
const NARROW: (u16, u16) = (50, 40);

const SHOTS: [Shot; 28] = [
    Shot("feed-160x45", WIDE, "terminal", "j j"),
    Shot("feed-100x30", MIDDLE, "terminal", "j j"),
    Shot("feed-50x40", NARROW, "terminal", "j j"),
    Shot("feed-30x15", (30, 15), "terminal", "j"),
    Shot("timeline-160x45", WIDE, "terminal", "2"),
    Shot("timeline-100x30", MIDDLE, "terminal", "2 j"),
    Shot("timeline-50x40", NARROW, "terminal", "2 j"),
    Shot("sessions-160x45", WIDE, "terminal", "3 j"),
    Shot("sessions-100x30", MIDDLE, "terminal", "3 j"),
    Shot("sessions-50x40", NARROW, "terminal", "3 j"),
    Shot("context-160x45", WIDE, "terminal", "4 j j"),
    Shot("context-100x30", MIDDLE, "terminal", "4 j j"),
    Shot("context-50x40", NARROW, "terminal", "4 j j"),
    Shot("observer-160x45", WIDE, "terminal", "5"),
    Shot("observer-100x30", MIDDLE, "terminal", "5"),
    Shot("observer-50x40", NARROW, "terminal", "5"),
    Shot("trash-160x45", WIDE, "terminal", "d space space d y 6"),
    Shot("trash-100x30", MIDDLE, "terminal", "d space space d y 6"),
    Shot("trash-50x40", NARROW, "terminal", "d space space d y 6"),
    Shot("feed-tokyonight", MIDDLE, "tokyonight", "j j"),
    Shot("feed-gruvbox-light", MIDDLE, "gruvbox-light", "j j"),
    Shot("feed-high-contrast", MIDDLE, "high-contrast", "j j"),
    Shot("search-100x30", MIDDLE, "terminal", "/refresh token"),
    Shot("search-50x40", NARROW, "terminal", "/refresh token"),
    Shot("confirm-50x40", NARROW, "terminal", "space space space d"),
    Shot("guard-50x40", NARROW, "terminal", "!please fix the failing test"),
    Shot("down-50x40", NARROW, "terminal", "DOWN"),
    Shot("help-100x30", MIDDLE, "terminal", "?"),
];

/// Every picture: file name and contents.
pub fn pictures() -> Vec<(String, String)> {
    SHOTS
        .iter()
        .map(|Shot(name, size, theme, keys)| {
            let mut stage = stage(*size, theme);
            press(&mut stage, keys);
            stage.state.search.micros = 0; // the one thing that is measured, not known
            let picture = svg(&stage.draw(), stage.state.look.widths, &format!("cmem {}", name.replace('-', " ")));
            (format!("{name}.svg"), picture)
        })
        .collect()
}

fn stage(size: (u16, u16), theme: &str) -> Headless<Demo> {
    let (file, _) = load(theme, &|_| None);
    let look = Look::new(file, Depth::True, GlyphSet::Unicode, 1);
    let alphabet = Alphabet::new(&crate::mode::code());
    let zone = jiff::tz::TimeZone::UTC;
    let mut state = State::new(TuiSettings::default(), look, Keymap::shipped(), alphabet, zone, START_MS);
    state.scope_wanted = ScopeWanted::Named("webapp".into());
    Headless::new(state, Demo::new(DemoClock::default(), SIZE, false), size)
}

fn press(stage: &mut Headless<Demo>, keys: &str) {
    if let Some(query) = keys.strip_prefix('/') {
        stage.keys("/");
        stage.typed(query, 100);
        stage.wait(300);
    } else if let Some(prompt) = keys.strip_prefix('!') {
        stage.typed(prompt, 60);
    } else if keys == "DOWN" {
        stage.source.rec = Some(Rec::Down(START_MS - 6 * 60_000));
        if let Ok(vitals) = stage.source.vitals() {
            stage.tell(super::msg::Msg::Data(super::msg::Answer::Vitals(vitals)));
        }
    } else {
        stage.keys(keys);
    }
}
