//! Every view at every size; text that is hostile, wide, right-to-left (D.8, D.7, D.13, A102, A156, A157, A158).

use proptest::prelude::*;

use super::{screen, screen_of, state};
use crate::hub::live::Changes;
use crate::memory::MemoryId;
use crate::tui::demo::{Demo, DemoClock, sample};
use crate::tui::headless::Headless;
use crate::tui::key::{Code, Key};
use crate::tui::state::View;
use crate::tui::theme::{Depth, GlyphSet};
use crate::tui::view::places;

#[test]
fn d08_every_view_at_every_size_draws() {
    let mut stage = screen_of(60, (0, 0));
    for view in View::ALL {
        stage.state.view = view;
        for width in (0..=64).chain((65..=200).step_by(9)) {
            for height in [0, 1, 2, 3, 5, 6, 7, 9, 10, 12, 15, 23, 24, 25, 31, 40, 45, 60] {
                stage.resize(width, height);
                let buf = stage.draw();
                assert_eq!((buf.area.width, buf.area.height), (width, height));
            }
        }
    }
}

#[test]
fn d08_every_popup_at_every_size_draws() {
    for keys in [
        "?",
        ":",
        "t",
        "T",
        "f p",
        "f t",
        "s",
        "'",
        "U",
        "m",
        "r",
        "R",
        "C",
        "g d",
        "O",
        "space space d",
        "space space M",
    ] {
        let mut stage = screen((100, 30));
        stage.keys(keys);
        for (width, height) in
            [(0, 0), (1, 1), (5, 2), (12, 1), (24, 6), (30, 15), (50, 40), (90, 9), (160, 45), (200, 60)]
        {
            stage.resize(width, height);
            stage.draw();
        }
    }
}

#[test]
fn d08_a_title_is_readable_from_thirty_columns_on() {
    for width in 30..=200 {
        for height in [15, 30] {
            let mut stage = screen((width, height));
            stage.resize(width, height);
            let shown = crate::tui::layout::shape(&stage.state, &places(&stage.state)).title_cells;
            assert!(shown >= 18, "{shown} cells at {width}x{height}");
        }
    }
}

/// A screen whose newest memory has these texts in every field.
fn with_text(text: &str, size: (u16, u16)) -> Headless<Demo> {
    let mut demo = Demo::new(DemoClock::default(), 30, false);
    let mut memory = sample(31);
    memory.title = text.into();
    memory.subtitle = text.into();
    memory.narrative = text.into();
    memory.facts = vec![text.into()];
    memory.concepts = vec![text.into()];
    memory.files_read = vec![text.into()];
    memory.files_modified = vec![text.into()];
    memory.type_id = text.into();
    memory.branch = Some(text.into());
    memory.cwd = Some(text.into());
    demo.arrive(memory);
    let mut state = state(GlyphSet::Unicode, Depth::True);
    state.detail.level = 4;
    Headless::new(state, demo, size)
}

#[test]
fn a102_d07_no_field_brings_an_escape_to_the_screen() {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{9b}31mx\u{90}q\u{202e}y\u{2066}z\u{7f}\r\u{8}";
    for size in [(160, 45), (100, 30), (50, 40), (30, 15), (24, 6)] {
        let mut stage = with_text(hostile, size);
        for keys in ["enter", "?", "esc", "esc", "T", "esc", "r", "esc", "/ esc", "3", "4", "6", "1"] {
            stage.keys(keys);
            let buf = stage.draw();
            for cell in buf.content() {
                let bad = cell.symbol().chars().find(|ch| {
                    ch.is_control() || ('\u{202a}'..='\u{202e}').contains(ch) || ('\u{2066}'..='\u{2069}').contains(ch)
                });
                assert_eq!(bad, None, "{:?} at {size:?} after {keys}", cell.symbol());
            }
        }
    }
}

#[test]
fn a156_letters_that_grow_when_folded_are_searched_at_any_size() {
    for size in [(1, 1), (5, 2), (50, 40), (200, 60)] {
        let mut stage = with_text("İstanbul ẞ 击", size);
        stage.keys("/ i s");
        stage.draw();
        assert!(stage.state.rows.exact() >= 1);
    }
}

#[test]
fn a158_d13_what_stands_right_of_a_title_stands_at_the_same_column() {
    for text in [
        "plain",
        "支付回调失败后会重试三次，第四次进入死信队列",
        "🦀 Grantで取得",
        "👩‍👩‍👧 🇩🇪 e\u{301}",
        "עברית בכותרת",
        "تحديث",
    ] {
        let stage = with_text(text, (160, 45));
        let buf = stage.draw();
        let frame = places(&stage.state).list;
        for y in frame.top() + 1..frame.bottom() - 1 {
            let cell = buf.cell((frame.right() - 1, y)).unwrap();
            assert_eq!(cell.symbol(), "│", "line {y} with {text}");
        }
    }
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        4 => proptest::char::range(' ', '~').prop_map(Key::char),
        1 => proptest::sample::select(vec!['支', 'é', '🦀', '\u{301}', 'ß']).prop_map(Key::char),
        2 => proptest::sample::select(vec![
            Code::Enter, Code::Esc, Code::Tab, Code::BackTab, Code::Backspace, Code::Delete, Code::Up, Code::Down,
            Code::Left, Code::Right, Code::Home, Code::End, Code::PageUp, Code::PageDown, Code::F(2),
        ]).prop_map(Key::plain),
        1 => proptest::char::range('a', 'z').prop_map(Key::ctrl),
    ]
}

#[derive(Clone, Debug)]
enum Act {
    Key(Key),
    Size(u16, u16),
    Wait(i64),
    Arrive,
    Leave,
    Focus(bool),
    Paste,
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => any_key().prop_map(Act::Key),
        2 => (0u16..200, 0u16..60).prop_map(|(w, h)| Act::Size(w, h)),
        2 => (0i64..2_000).prop_map(Act::Wait),
        1 => Just(Act::Arrive),
        1 => Just(Act::Leave),
        1 => any::<bool>().prop_map(Act::Focus),
        1 => Just(Act::Paste),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Check 2 of the browser: no panic, and no write without a journal entry.
    #[test]
    fn any_keys_sizes_and_changes_never_panic_and_never_write_past_the_journal(
        acts in proptest::collection::vec(any_act(), 1..120)
    ) {
        let mut stage = screen_of(40, (100, 30));
        stage.state.settings.guard = false;
        let mut next = 1_000;
        let mut arrived = 0usize;
        let before = stage.source.memories().count();
        for act in acts {
            match act {
                Act::Key(key) => { stage.now += 300; stage.key(key); }
                Act::Size(width, height) => stage.resize(width, height),
                Act::Wait(ms) => stage.wait(ms),
                Act::Arrive => {
                    next += 1;
                    arrived += 1;
                    let mut memory = sample(next);
                    memory.created_at = crate::memory::from_millis(stage.now);
                    stage.source.arrive(memory);
                    stage.poll();
                }
                Act::Leave => {
                    if let Some(id) = stage.state.under_cursor().map(|row| row.memory()) {
                        stage.changed(Changes { gone: vec![id, MemoryId(-1)], ..Changes::default() });
                    }
                }
                Act::Focus(on) => {
                    let input = if on { crate::tui::term::input::Input::FocusIn } else { crate::tui::term::input::Input::FocusOut };
                    stage.tell(crate::tui::msg::Msg::Input(input));
                }
                Act::Paste => stage.tell(crate::tui::msg::Msg::Input(crate::tui::term::input::Input::Paste("some text\nmore".into()))),
            }
            stage.draw();
        }
        // Every memory that is not there went through the journal.
        if stage.source.steps() == 0 {
            prop_assert_eq!(stage.source.memories().count(), before + arrived);
        }
    }
}
