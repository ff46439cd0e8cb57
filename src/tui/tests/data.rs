//! Loading, faults, what is told when there is nothing.

use super::{screen_of, state};
use crate::hub::live::{Trouble, TroubleKind};
use crate::tui::demo::{Demo, DemoClock};
use crate::tui::headless::Headless;
use crate::tui::msg::{Answer, Msg};
use crate::tui::theme::{Depth, GlyphSet};

#[test]
fn no_database_says_where_it_looked_and_what_to_do() {
    let mut stage = screen_of(0, (50, 40));
    let trouble = Trouble::new(TroubleKind::Missing, "nothing is at /home/dev/.local/share/cmem/cmem.db")
        .hint("cmem tui and cmem watch make it when they collect");
    stage.tell(Msg::Data(Answer::Opened(Err(trouble))));
    let text = stage.text();
    assert!(text.contains("No database yet."), "{text}");
    assert!(text.contains("cmem.db") && text.contains(":demo"), "{text}");
}

#[test]
fn an_empty_one_shows_the_first_steps() {
    let stage = screen_of(0, (50, 40));
    let text = stage.text();
    assert!(text.contains("No memories"), "{text}");
    assert!(text.contains("[x] database") && text.contains("[x] collector"), "{text}");
}

#[test]
fn rows_of_the_first_page_are_shown_before_the_rest_has_come() {
    let mut state = state(GlyphSet::Unicode, Depth::True);
    state.scope_wanted = crate::tui::state::ScopeWanted::Settled;
    let mut demo = Demo::new(DemoClock::default(), 2_000, false);
    let mut rows = crate::hub::live::RowBatch::default();
    crate::hub::live::Source::newest(&mut demo, 200, &mut rows).unwrap();
    let mut stage = Headless::new(state, demo, (100, 30));
    stage.tell(Msg::Data(Answer::Page { rows, done: false, first: true }));
    assert!(stage.text().contains("index 10 %"), "{}", stage.text());
    stage.keys("j j j");
    let id = stage.state.under_cursor().unwrap().id;
    stage.load();
    assert_eq!(stage.state.under_cursor().unwrap().id, id, "the rest arrives around the cursor");
    assert_eq!(stage.state.arena.len(), 2_000);
}

#[test]
fn help_lists_every_key_of_the_view_and_runs_a_line() {
    let mut stage = screen_of(40, (50, 60));
    stage.keys("?");
    stage.typed("observer", 300);
    assert!(stage.text().contains("Observer: is it recording"), "{}", stage.text());
    stage.keys("enter");
    assert_eq!(stage.state.view, crate::tui::state::View::Observer);
}

#[test]
fn a_prefix_key_shows_what_can_follow_after_a_moment() {
    let mut stage = screen_of(40, (100, 30));
    stage.now += 1_000;
    stage.key(crate::tui::key::Key::char('g'));
    assert!(!stage.text().contains("first memory you have not seen"));
    stage.wait(350);
    assert!(stage.text().contains("first memory you have not seen"), "{}", stage.text());
    stage.keys("t");
    assert!(stage.state.pending.is_empty());
}

#[test]
fn themes_are_seen_at_once_and_esc_restores() {
    let mut stage = screen_of(40, (100, 30));
    stage.keys(":");
    stage.typed("theme\n", 300);
    stage.keys("down down down down");
    assert_eq!(stage.state.look.theme.name, "catppuccin-mocha");
    stage.keys("esc");
    assert_eq!(stage.state.look.theme.name, "terminal");
}

#[test]
fn quitting_waits_a_moment_and_asks_when_rows_are_marked() {
    let mut stage = screen_of(40, (100, 30));
    stage.keys("space q");
    assert!(stage.text().contains("Quit with 1 marked?"), "{}", stage.text());
    stage.keys("n esc q");
    assert!(matches!(stage.asides.last(), Some(crate::tui::effect::Effect::Quit(0))), "{:?}", stage.asides);
}
