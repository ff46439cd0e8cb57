//! The first lines: project, live or hold, recording, and what else there is room for. Cells drop in a fixed order;
//! the recording cell drops last.

use super::rec::rec_cell;
use super::ui::{Ui, plural, thousands, tokens};
use crate::tui::counts::unseen;
use crate::tui::layout::Breadth;
use crate::tui::state::{State, View};
use crate::tui::theme::Role;

/// Fewer than twelve columns: the recording cell alone.
pub fn rec_only(ui: &mut Ui<'_>) {
    let (text, role) = rec_cell(ui.state);
    let width = ui.state.size.0;
    // The state says more than the word before it.
    let text = if ui.cells(&text) > width { text.trim_start_matches("REC ") } else { &text };
    ui.text(0, 0, width, text, role);
}

/// Project, recording, new: one line, and as many titles as there are lines below it.
pub fn ticker(ui: &mut Ui<'_>) {
    let width = ui.state.size.0;
    let (rec, role) = rec_cell(ui.state);
    let rec = if ui.cells(&rec) > width { rec.trim_start_matches("REC ").to_owned() } else { rec };
    let project = ui.state.scope_name.clone();
    let new = unseen(ui.state);
    let marked = ui.state.marks.ids.len();
    let mut tail = String::new();
    if new > 0 {
        tail.push_str(&format!(" +{new}"));
    }
    if marked > 0 {
        tail.push_str(&format!(" {marked}mk"));
    }
    let needed = ui.cells(&rec) + ui.cells(&tail);
    let room = width.saturating_sub(needed + 1);
    let mut x = 0;
    if room >= 3 {
        x = ui.text(0, 0, room.min(ui.cells(&project)), &project, Role::Accent) + 1;
    }
    x = ui.text(x, 0, width.saturating_sub(x), &rec, role);
    ui.text(x, 0, width.saturating_sub(x), &tail, Role::Unseen);
    let list = ui.screen.list;
    let rows: Vec<u32> = (0..usize::from(list.height)).filter_map(|at| ui.state.rows.get(at)).collect();
    for (at, ix) in rows.into_iter().enumerate() {
        let row = ui.state.arena.row(ix);
        let sign = ui.state.alphabet.sign(ui.state.arena.type_of(row), ui.state.look.glyphs);
        let text = format!("{sign} {}", ui.state.arena.title(row));
        ui.text(0, list.y + at as u16, list.width, &text, Role::Text);
    }
}

/// Both header lines.
pub fn draw(ui: &mut Ui<'_>) {
    first_line(ui);
    if ui.screen.bar.height > 0 {
        bar(ui);
    }
}

/// Whether new rows push in, wait above, or the list is another order.
fn live_word(state: &State) -> (String, Role) {
    let new = unseen(state);
    let up = state.look.signs().up;
    if state.view != View::Feed {
        return (state.view.name().to_owned(), Role::Strong);
    }
    if state.rows.order != crate::tui::state::Order::Newest {
        return (state.rows.order.name().to_uppercase(), Role::Muted);
    }
    if state.is_live() && !state.is_busy() {
        return ("LIVE".into(), Role::Ok);
    }
    match new {
        0 => ("HOLD".into(), Role::Muted),
        n => (format!("HOLD {up} {n} new"), Role::Unseen),
    }
}

fn first_line(ui: &mut Ui<'_>) {
    let state = ui.state;
    let breadth = ui.screen.breadth();
    let width = ui.screen.header.width;
    let y = ui.screen.header.y;
    let right = right_cells(state, breadth);
    let separator = match breadth {
        Breadth::Full => format!(" {} ", ui.signs.vertical),
        Breadth::Slim => " ".to_owned(),
        _ => format!(" {} ", ui.signs.dot),
    };
    let separator_cells = ui.cells(&separator);
    let (live, live_role) = live_word(state);
    let project = project_word(state, breadth, ui.signs.down);
    // What must stay: recording, then project and live as far as they fit.
    let left_cells = ui.cells(&project) + ui.cells(&live) + 3 + if breadth == Breadth::Full { 12 } else { 0 };
    let mut shown = right.len();
    let total = |n: usize, ui: &Ui<'_>| -> u16 {
        right[..n].iter().map(|(text, _)| ui.cells(text)).sum::<u16>() + separator_cells * (n.saturating_sub(1)) as u16
    };
    while shown > 1 && total(shown, ui) + left_cells + 2 > width {
        shown -= 1;
    }
    let cells = total(shown, ui);
    let start = width.saturating_sub(cells + u16::from(breadth > Breadth::Slim || cells < width));
    let mut x = start;
    for (at, (text, role)) in right[..shown].iter().enumerate() {
        if at > 0 {
            x = ui.text(x, y, separator_cells, &separator, Role::Border);
        }
        x = ui.text(x, y, width.saturating_sub(x), text, *role);
    }
    let room = start.saturating_sub(2);
    let mut x = 1;
    if breadth == Breadth::Full {
        x = ui.text(x, y, room, "cmem", Role::Accent);
        x = ui.text(x, y, room.saturating_sub(x), &separator, Role::Border);
    }
    let live_cells = ui.cells(&live) + 1;
    let project_room = room.saturating_sub(x - 1).saturating_sub(live_cells);
    if project_room >= 3 {
        x = ui.text(x, y, project_room, &project, Role::Strong);
        x = if breadth == Breadth::Full { ui.text(x, y, 3, &separator, Role::Border) } else { x + 1 };
    }
    if room + 1 > x {
        x = ui.text(x, y, room + 1 - x, &live, live_role);
    }
    let said = counts(state, breadth);
    if !said.is_empty() && room + 1 > x + separator_cells + ui.cells(&said) {
        x = ui.text(x, y, separator_cells, &separator, Role::Border);
        ui.text(x, y, room + 1 - x, &said, Role::Muted);
    }
}

fn project_word(state: &State, breadth: Breadth, down: &str) -> String {
    let name = if state.scope_name.is_empty() { "cmem" } else { &state.scope_name };
    match breadth {
        Breadth::Full => format!("project: {name} {down}"),
        Breadth::Slim => name.to_owned(),
        _ => format!("{name} {down}"),
    }
}

/// How much there is, and how far loading has come.
fn counts(state: &State, breadth: Breadth) -> String {
    if !state.load.done && state.load.first && state.opened.rows > 0 {
        let percent = (state.arena.len() as u64 * 100 / state.opened.rows.max(1)).min(99);
        return format!("index {percent} %");
    }
    if breadth != Breadth::Full {
        return String::new();
    }
    let kept: u64 = state.rows.sifted.counts.iter().map(|n| u64::from(*n)).sum();
    let mut said = format!("{} obs", thousands(kept));
    let sessions = crate::tui::counts::sessions_in_scope(state);
    if sessions > 0 {
        said.push_str(&format!(" · {}", plural(sessions as u64, "session")));
    }
    said
}

/// Right-hand cells, the one that drops last first.
fn right_cells(state: &State, breadth: Breadth) -> Vec<(String, Role)> {
    let vitals = &state.pages.vitals;
    let mut cells = vec![rec_cell(state)];
    let full = breadth == Breadth::Full;
    if vitals.waiting > 0 {
        cells.push((
            if full { format!("queue {}", vitals.waiting) } else { format!("q{}", vitals.waiting) },
            Role::Muted,
        ));
    }
    if breadth == Breadth::Slim {
        return cells;
    }
    if let Some((used, all)) = vitals.slots.filter(|_| breadth >= Breadth::Tall) {
        cells.push((if full { format!("slots {used}/{all}") } else { format!("{used}/{all}") }, Role::Muted));
    }
    if let Some(today) = &vitals.tokens {
        let used = today.input + today.output;
        let text = match (breadth, today.budget) {
            (Breadth::Stack, _) | (_, 0) => format!("{} tok", tokens(used)),
            (_, budget) => format!("{}/{}", tokens(used), tokens(budget)),
        };
        cells.push((if full { format!("today {text} tok") } else { text }.replace(" tok tok", " tok"), Role::Muted));
    }
    for (name, window) in [("5h", &vitals.five_hour), ("7d", &vitals.seven_day)] {
        if let Some(window) = window.filter(|_| breadth >= Breadth::Split) {
            let role = if window.used >= 0.8 { Role::Warn } else { Role::Muted };
            cells.push((format!("{name} {:.0}%", window.used * 100.0), role));
        }
    }
    if full {
        let help = state.keymap.hint(state.view.place(), crate::tui::action::Action::Help);
        cells.push((format!("{help} help"), Role::Muted));
    }
    cells
}

/// The second line: the legend where there is no column for it, and the views.
fn bar(ui: &mut Ui<'_>) {
    let area = ui.screen.bar;
    let state = ui.state;
    let breadth = ui.screen.breadth();
    let views = views_words(state, breadth);
    let cells: u16 = views.iter().map(|(text, _)| ui.cells(text)).sum();
    if breadth == Breadth::Full {
        let words: Vec<(&str, Role)> = views.iter().map(|(text, role)| (text.as_str(), *role)).collect();
        let x = ui.words(1, area.y, area.width, &words);
        let filter = filter_words(state);
        if !filter.is_empty() {
            ui.text_right(area.width.saturating_sub(1), area.y, area.width.saturating_sub(x + 4), &filter, Role::Muted);
        }
        return;
    }
    let start = area.width.saturating_sub(cells + 1);
    let mut x = start;
    for (text, role) in &views {
        x = ui.text(x, area.y, area.width.saturating_sub(x), text, *role);
    }
    if state.view == View::Feed {
        super::legend::line(ui, 1, area.y, start.saturating_sub(2));
    } else {
        ui.text(1, area.y, start.saturating_sub(2), state.view.name(), Role::Strong);
    }
}

fn views_words(state: &State, breadth: Breadth) -> Vec<(String, Role)> {
    let mut words = Vec::new();
    if breadth <= Breadth::Tall {
        let at = View::ALL.iter().position(|view| *view == state.view).unwrap_or(0) + 1;
        return vec![(format!("{at}/6"), Role::Muted)];
    }
    for (at, view) in View::ALL.iter().enumerate() {
        let here = *view == state.view;
        let text = match (breadth, here) {
            (Breadth::Full, true) => format!("[{} {}]", at + 1, view.name()),
            (Breadth::Full, false) => format!(" {} {} ", at + 1, view.name()),
            (_, true) => format!("[{}]{}", at + 1, view.name()),
            (_, false) => format!(" {}", at + 1),
        };
        words.push((text, if here { Role::Accent } else { Role::Muted }));
    }
    words
}

/// What narrows the feed, and how to go on.
fn filter_words(state: &State) -> String {
    let mut parts = Vec::new();
    if !state.search.text.is_empty() {
        parts.push(state.search.text.clone());
    }
    if !state.hidden.is_empty() {
        let hidden: Vec<&str> = state.hidden.iter().map(String::as_str).take(3).collect();
        parts.push(format!("-type:{}", hidden.join(",")));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("filter: {}   f filter · f x clear", parts.join("  "))
}

/// The banner: recording stopped, and what to do.
pub fn banner(ui: &mut Ui<'_>) {
    let area = ui.screen.banner;
    let Some(banner) = &ui.state.banner else { return };
    let lines = banner.lines.clone();
    for (at, line) in lines.iter().take(usize::from(area.height)).enumerate() {
        let role = if at == 0 { Role::Error } else { Role::Text };
        ui.text(area.x + 1, area.y + at as u16, area.width.saturating_sub(2), line, role);
    }
}
