//! Boxes over the view: lists, lines, text, and what can follow a prefix key.

use ratatui::layout::Rect;

use super::ui::Ui;
use crate::tui::key::sequence_name;
use crate::tui::layout::inner;
use crate::tui::state::{LineBox, Picker, Purpose, TextBox, Tick};
use crate::tui::theme::Role;
use crate::tui::update::PREFIX_MS;

/// An empty box with a title and a line of hints at its foot, never larger than the pane. Returns what is inside, the
/// foot's line not among it... the foot stands on the last inner line.
pub fn boxed(ui: &mut Ui<'_>, width: u16, height: u16, title: &str, right: &str, foot: &str) -> Rect {
    let (columns, lines) = ui.state.size;
    let top = ui.screen.header.bottom() + ui.screen.bar.height;
    let width = width.max(ui.cells(foot) + 4).min(columns);
    let height = height.saturating_add(1).min(lines.saturating_sub(top.min(1)).saturating_sub(1)).max(3.min(lines));
    let x = (columns - width) / 2;
    let y = if lines > height + top + 1 { top + (lines - top - height) / 3 } else { lines.saturating_sub(height + 1) };
    let area = Rect { x, y, width, height };
    let style = ui.role(Role::Text);
    ui.canvas.clear(area, style);
    let framed = ui.screen.framed;
    ui.screen.framed = true; // a box without an edge would run into what it covers
    ui.frame(area, title, right, true);
    ui.screen.framed = framed;
    let inside = inner(area, true);
    if !foot.is_empty() && inside.height > 1 {
        ui.text(inside.x + 1, inside.bottom() - 1, inside.width.saturating_sub(2), foot, Role::Muted);
    }
    inside
}

/// A list to choose from.
pub fn picker(ui: &mut Ui<'_>, picker: &Picker) {
    let shown = picker.shown();
    let widest = picker
        .items
        .iter()
        .map(|item| ui.cells(&item.label) + ui.cells(&item.right) + 8)
        .max()
        .unwrap_or(20)
        .clamp(30, 76);
    let filter_line = u16::from(picker.filtering);
    let lines = (picker.items.len() as u16).max(3) + 3 + filter_line;
    let hint = if picker.filtering && picker.filter.is_empty() { "type to filter" } else { "esc" };
    let inside = boxed(ui, widest, lines, &picker.title, hint, &picker.note);
    let mut y = inside.y;
    if picker.filtering {
        let lead = if picker.purpose == Purpose::Palette { ": " } else { "> " };
        let x = ui.text(inside.x + 1, y, 2, lead, Role::Accent);
        let end = ui.text(x, y, inside.right().saturating_sub(x + 1), picker.filter.text(), Role::Input);
        ui.cursor = ((end.min(inside.right().saturating_sub(1)), y), true);
        y += 1;
    }
    let room = usize::from((inside.bottom().saturating_sub(1)).saturating_sub(y));
    // The cursor stays a line away from the edges, so that what comes next is seen.
    let top = picker.cursor.saturating_sub(room.saturating_sub(2)).min(shown.len().saturating_sub(room));
    if shown.is_empty() {
        ui.text(inside.x + 2, y, inside.width.saturating_sub(4), "nothing by that name", Role::Muted);
    }
    for (at, item) in shown.iter().enumerate().skip(top).take(room) {
        let item = &picker.items[*item];
        let line = Rect { x: inside.x, y: y + (at - top) as u16, width: inside.width, height: 1 };
        if item.is_heading() {
            ui.text(line.x + 1, line.y, line.width.saturating_sub(2), &item.label, Role::Heading);
            continue;
        }
        let mut x = line.x + 2;
        if let Some(tick) = item.tick {
            let sign = match tick {
                Tick::Off => "[ ]",
                Tick::Some => "[-]",
                Tick::On => "[x]",
            };
            x = ui.text(x, line.y, 4, sign, Role::Muted) + 1;
        }
        if picker.purpose == Purpose::OneKey
            && let Some(key) = item.key
        {
            x = ui.text(x, line.y, 2, &key.to_string(), Role::Accent) + 1;
        }
        let right = if item.disabled.is_empty() { &item.right } else { &item.disabled };
        let cells = ui.cells(right).min(line.width / 2);
        let role = if item.disabled.is_empty() { Role::Text } else { Role::Muted };
        ui.text(x, line.y, line.right().saturating_sub(x + cells + 2), &item.label, role);
        ui.text_right(line.right().saturating_sub(1), line.y, cells, right, Role::Muted);
        if at == picker.cursor && picker.purpose != Purpose::Read {
            ui.bar(line);
            let sign = ui.signs.cursor;
            let style = ui.canvas.buf.cell((line.x, line.y)).map(|cell| cell.style()).unwrap_or_default();
            ui.canvas.put(line.x, line.y, 1, sign, style);
        }
    }
}

/// A line to type.
pub fn line(ui: &mut Ui<'_>, line: &LineBox) {
    let columns = ui.state.size.0;
    let inside = boxed(ui, columns.clamp(30, 90), 3, &line.title, "esc", &line.note);
    let room = inside.width.saturating_sub(2);
    let text = line.edit.text();
    let before = ui.cells(&text[..line.edit.cursor()]);
    let skip = before.saturating_sub(room.saturating_sub(1));
    let start = ui.canvas.widths.fit(text, usize::from(skip)).0.len();
    ui.text(inside.x + 1, inside.y, room, &text[start..], Role::Input);
    let at = inside.x + 1 + ui.cells(&text[start..line.edit.cursor().max(start)]);
    ui.cursor = ((at.min(inside.right().saturating_sub(1)), inside.y), true);
}

/// Lines to read.
pub fn text(ui: &mut Ui<'_>, text: &TextBox) {
    let columns = ui.state.size.0;
    let widest =
        text.lines.iter().map(|line| ui.cells(line) + 4).max().unwrap_or(20).clamp(30.min(columns), columns.max(1));
    let inside =
        boxed(ui, widest, text.lines.len() as u16 + 2, &text.title, "esc", "j k scroll · any other key closes");
    let room = usize::from(inside.height.saturating_sub(1));
    for (at, line) in text.lines.iter().skip(text.scroll).take(room).enumerate() {
        ui.text(inside.x + 1, inside.y + at as u16, inside.width.saturating_sub(2), line, Role::Text);
    }
}

/// What can follow a prefix key, once nobody has gone on for a moment.
pub fn pending(ui: &mut Ui<'_>) {
    let state = ui.state;
    if state.pending.is_empty() || state.now - state.pending_since < PREFIX_MS {
        return;
    }
    let follow = state.keymap.continuations(state.view.place(), &state.pending);
    if follow.is_empty() {
        return;
    }
    let lines: Vec<(String, &str)> = follow.iter().map(|(keys, action)| (sequence_name(keys), action.help())).collect();
    let widest = lines.iter().map(|(key, help)| ui.cells(key) + ui.cells(help) + 8).max().unwrap_or(20);
    let title = sequence_name(&state.pending);
    let inside = boxed(ui, widest, lines.len() as u16 + 1, &title, "esc", "");
    for (at, (key, help)) in lines.iter().take(usize::from(inside.height)).enumerate() {
        let y = inside.y + at as u16;
        let x = ui.text(inside.x + 1, y, 5, key, Role::Accent);
        ui.text(x.max(inside.x + 4), y, inside.width.saturating_sub(6), help, Role::Text);
    }
}
