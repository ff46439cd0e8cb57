//! Questions before a change that touches many rows, and the typing guard: a box at the foot of the pane.

use ratatui::layout::Rect;

use super::ui::Ui;
use crate::tui::layout::{Breadth, inner};
use crate::tui::state::{Answer, Strip};
use crate::tui::theme::Role;

/// A box of `lines` at the foot of the pane; narrow panes get a rule instead of an edge.
fn foot_box(ui: &mut Ui<'_>, lines: u16, title: &str) -> Rect {
    let (columns, height) = ui.state.size;
    let narrow = ui.screen.breadth() <= Breadth::Slim;
    let tall = (lines + if narrow { 1 } else { 2 }).min(height.saturating_sub(2));
    let width = if columns > 104 { 100 } else { columns };
    let area = Rect { x: (columns - width) / 2, y: height.saturating_sub(1 + tall), width, height: tall };
    let style = ui.role(Role::Text);
    ui.canvas.clear(area, style);
    let framed = ui.screen.framed;
    ui.screen.framed = !narrow;
    let inside = ui.frame(area, title, "", true);
    ui.screen.framed = framed;
    if narrow { inside } else { inner(area, true) }
}

/// A question about a change.
pub fn draw(ui: &mut Ui<'_>, strip: &Strip) {
    let lines: Vec<&String> = strip.lines.iter().collect();
    let inside = foot_box(ui, lines.len() as u16 + 1, &strip.question);
    let room = inside.width.saturating_sub(2);
    let below = inside.height.saturating_sub(1);
    for (at, line) in lines.iter().take(usize::from(below)).enumerate() {
        let role = if line.contains("hidden") || line.contains("cannot") { Role::Warn } else { Role::Text };
        ui.text(inside.x + 1, inside.y + at as u16, room, line, role);
    }
    let y = inside.bottom().saturating_sub(1);
    let mut pinned = String::new();
    if strip.with_pinned {
        pinned = "   pinned too".into();
    }
    match &strip.answer {
        Answer::Yes => {
            let narrow = ui.screen.breadth() <= Breadth::Slim;
            let keep = if narrow { "[n] keep  " } else { "[n] keep (default)   " };
            let text = format!("{keep}[y] {} {}{pinned}", strip.verb, strip.count);
            ui.text(inside.x + 1, y, room, &text, Role::Strong);
        }
        Answer::Count(line) => {
            let narrow = ui.screen.breadth() <= Breadth::Slim;
            let keep = if narrow { "esc keep" } else { "esc keep (default)" };
            let x = ui.text(inside.x + 1, y, room, keep, Role::Strong) + 3;
            let text = format!("to {} type {}: ", strip.verb, strip.count);
            let x = ui.text(x, y, inside.right().saturating_sub(x), &text, Role::Text);
            let end = ui.text(x, y, inside.right().saturating_sub(x), line.text(), Role::Input);
            ui.text(end, y, inside.right().saturating_sub(end), &pinned, Role::Warn);
            ui.cursor = ((end.min(inside.right().saturating_sub(1)), y), true);
        }
    }
}

/// Somebody types a prompt into this pane.
pub fn guard(ui: &mut Ui<'_>) {
    let Some(tripped) = ui.state.guard.tripped else { return };
    let inside = foot_box(ui, 3, "This pane has the keyboard");
    let room = inside.width.saturating_sub(2);
    let changes = match tripped.taken_back {
        0 => "nothing was changed".to_owned(),
        1 => "1 change taken back".to_owned(),
        n => format!("{n} changes taken back"),
    };
    let narrow = ui.screen.breadth() <= Breadth::Slim;
    let lines = if narrow {
        [
            "You seem to be typing a".to_owned(),
            format!("prompt: {} keys ignored", tripped.ignored),
            "esc to go on here".to_owned(),
        ]
    } else {
        [
            "You seem to be typing a prompt:".to_owned(),
            format!("{} keys ignored, {changes}.", tripped.ignored),
            "esc to go on here       :set guard off".to_owned(),
        ]
    };
    for (at, line) in lines.iter().take(usize::from(inside.height)).enumerate() {
        let role = if at == 2 { Role::Muted } else { Role::Warn };
        ui.text(inside.x + 1, inside.y + at as u16, room, line, role);
    }
}
