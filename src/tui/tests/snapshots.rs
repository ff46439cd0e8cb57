//! Every view at the sizes of the specification, as text; and the styles of named cells.

use ratatui::style::{Color, Modifier};

use super::{screen, state};
use crate::tui::demo::{Demo, DemoClock};
use crate::tui::headless::Headless;
use crate::tui::theme::{Depth, GlyphSet, Role, SHIPPED, Theme, load};
use crate::tui::view::places;

const SIZES: [(u16, u16); 6] = [(160, 45), (100, 30), (50, 40), (30, 15), (24, 6), (12, 1)];

fn at_every_size(stage: &mut Headless<Demo>) -> String {
    let mut out = String::new();
    for (width, height) in SIZES {
        stage.resize(width, height);
        out.push_str(&format!("--- {width}x{height}\n{}\n", stage.text()));
    }
    out
}

fn demo_screen(glyphs: GlyphSet, depth: Depth) -> Headless<Demo> {
    Headless::new(state(glyphs, depth), Demo::new(DemoClock::default(), 400, false), (160, 45))
}

#[test]
fn every_view_at_every_size() {
    for (name, keys) in [
        ("feed", "j j space"),
        ("timeline", "2"),
        ("sessions", "3 j"),
        ("context", "4 j"),
        ("observer", "5"),
        ("trash", "d space space d y 6"),
    ] {
        let mut stage = demo_screen(GlyphSet::Unicode, Depth::True);
        stage.keys(keys);
        stage.wait(20_000);
        insta::assert_snapshot!(name, at_every_size(&mut stage));
    }
}

#[test]
fn ascii_is_seven_bits_but_for_the_memories_own_words() {
    let mut stage = demo_screen(GlyphSet::Ascii, Depth::Mono);
    stage.keys("j j space");
    stage.wait(20_000);
    let text = at_every_size(&mut stage);
    insta::assert_snapshot!("feed-ascii", text);
}

#[test]
fn what_lies_over_the_view() {
    let mut out = String::new();
    for (name, keys) in [
        ("legend", "t"),
        ("retype", "T"),
        ("help", "?"),
        ("palette", ":"),
        ("strip", "space space d"),
        ("merge", "space space M"),
        ("projects", "g p"),
        ("title", "r"),
    ] {
        for size in [(50, 40), (30, 15)] {
            let mut stage = screen(size);
            stage.keys(keys);
            out.push_str(&format!("--- {name} {}x{}\n{}\n", size.0, size.1, stage.text()));
        }
    }
    insta::assert_snapshot!("popups", out);
}

#[test]
fn search_as_it_is_typed() {
    let mut out = String::new();
    for size in [(100, 30), (50, 40), (30, 15)] {
        let mut stage = screen(size);
        stage.keys("/");
        stage.typed("type:discovery,bugfix token", 100);
        stage.wait(200);
        stage.state.search.micros = 0;
        out.push_str(&format!("--- {}x{}\n{}\n", size.0, size.1, stage.text()));
    }
    insta::assert_snapshot!("search", out);
}

#[test]
fn named_cells_have_their_style_in_every_theme() {
    for (name, _) in SHIPPED {
        let (file, _) = load(name, &|_| None);
        let theme = Theme::new(&file, Depth::True);
        let mut stage = demo_screen(GlyphSet::Unicode, Depth::True);
        stage.state.look.set_theme(file);
        stage.resize(100, 30);
        let buf = stage.draw();
        let list = places(&stage.state).list_inner();
        let base = theme.base();
        let cursor = buf.cell((list.x + 20, list.y + 1)).unwrap().style();
        let wanted = base.patch(theme.of(Role::Cursor));
        assert_eq!(cursor.bg, Some(wanted.bg.unwrap_or(Color::Reset)), "{name}: the cursor's bar");
        let sign = buf.cell((list.x + 2, list.y + 1)).unwrap().style();
        assert_eq!((sign.fg, sign.bg), (cursor.fg, cursor.bg), "{name}: one colour all along the bar");
        assert_eq!(
            cursor.add_modifier.contains(Modifier::REVERSED),
            wanted.add_modifier.contains(Modifier::REVERSED),
            "{name}"
        );
        let text = buf.cell((list.x + 20, list.y + 2)).unwrap().style();
        assert_eq!(text.fg, Some(base.fg.unwrap_or(Color::Reset)), "{name}: body text");
        assert_eq!(text.bg, Some(base.bg.unwrap_or(Color::Reset)), "{name}: background");
        let heading = buf.cell((list.x + 1, list.y)).unwrap().style();
        assert_eq!(heading.fg, Some(base.patch(theme.of(Role::Heading)).fg.unwrap_or(Color::Reset)), "{name}: heading");
    }
}

#[test]
fn without_colour_no_cell_has_one() {
    let mut stage = demo_screen(GlyphSet::Unicode, Depth::Mono);
    for keys in ["j", "space", "/", "t", "esc", "esc", "?", "esc", "4", "5", "6"] {
        stage.keys(keys);
        for cell in stage.draw().content() {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "after {keys}");
        }
    }
}

#[test]
fn losing_the_focus_dims_nothing() {
    let mut stage = screen((100, 30));
    let text = |stage: &Headless<Demo>| {
        let buf = stage.draw();
        let list = places(&stage.state).list_inner();
        buf.cell((list.x + 20, list.y + 5)).unwrap().style()
    };
    let before = text(&stage);
    stage.tell(crate::tui::msg::Msg::Input(crate::tui::term::input::Input::FocusOut));
    assert_eq!(text(&stage), before);
}
