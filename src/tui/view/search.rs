//! The search line: the query with its faults underlined, how much it found, and what could complete it.

use super::ui::{Ui, thousands};
use crate::tui::layout::Breadth;
use crate::tui::state::Tier;
use crate::tui::theme::Role;

/// The line, and the completion below it.
pub fn line(ui: &mut Ui<'_>) {
    let area = ui.screen.search;
    let state = ui.state;
    let Some(line) = &state.search.line else { return };
    let found = found_words(ui);
    let found_cells = ui.cells(&found);
    let room = area.width.saturating_sub(found_cells + 6);
    ui.text(area.x + 1, area.y, 2, "/ ", Role::Accent);
    let x = area.x + 3;
    // Long queries show their end, where the cursor is.
    let text = line.text();
    let before = ui.cells(&text[..line.cursor()]);
    let skip = before.saturating_sub(room.saturating_sub(2));
    let start = byte_at(ui, text, skip);
    let shown = &text[start..];
    ui.text(x, area.y, room, shown, Role::Input);
    for fault in &state.search.query.faults {
        underline(ui, x, area.y, room, text, start, fault.span.clone());
    }
    if found_cells > 0 {
        ui.text_right(area.right().saturating_sub(1), area.y, found_cells, &found, Role::Muted);
    }
    let at = x + ui.cells(&text[start..line.cursor().max(start)]);
    ui.cursor = ((at.min(area.right().saturating_sub(1)), area.y), true);
    if area.height > 1 {
        below(ui, area.y + 1);
    }
}

fn byte_at(ui: &Ui<'_>, text: &str, cells: u16) -> usize {
    ui.canvas.widths.fit(text, usize::from(cells)).0.len()
}

fn underline(ui: &mut Ui<'_>, x: u16, y: u16, room: u16, text: &str, start: usize, span: std::ops::Range<usize>) {
    // The query was read from the trimmed text; the line may begin with spaces.
    let lead = text.len() - text.trim_start().len();
    let (from, to) = (span.start + lead, span.end + lead);
    if to <= start || !text.is_char_boundary(from) || to > text.len() || !text.is_char_boundary(to) {
        return;
    }
    let from = from.max(start);
    let before = ui.cells(&text[start..from]);
    let len = ui.cells(&text[from..to]);
    if before < room {
        let style = ui.state.look.theme.of(Role::Fault);
        let area = ratatui::layout::Rect { x: x + before, y, width: len.min(room - before), height: 1 };
        ui.canvas.tint(area, style);
    }
}

/// `exact · 14 of 1,893 · 1 ms`; `…` while a tier is on its way.
fn found_words(ui: &Ui<'_>) -> String {
    let state = ui.state;
    let tier = match state.search.tier {
        Tier::Exact => "exact",
        Tier::Fuzzy => "fuzzy",
        Tier::Regex => "regex",
    };
    let found = state.rows.len();
    let total = state.arena.len();
    let running = if state.search.running > 0 { ui.signs.ellipsis } else { "" };
    let index = if state.load.done { "" } else { " so far" };
    if ui.screen.breadth() <= Breadth::Slim {
        return format!("{found}/{total}{running}");
    }
    let mut text = format!("{tier} · {} of {}{index}", thousands(found as u64), thousands(total as u64));
    if ui.screen.breadth() >= Breadth::Split && state.search.micros > 0 {
        let ms = state.search.micros.div_ceil(1000);
        text.push_str(&format!(" · {ms} ms"));
    }
    text.push_str(running);
    text
}

/// Completion, or what is wrong with the query.
fn below(ui: &mut Ui<'_>, y: u16) {
    let state = ui.state;
    let area = ui.screen.search;
    if let Some(completion) = &state.search.completion {
        let mut x = ui.text(area.x + 3, y, 12, "complete: ", Role::Muted);
        for (at, (value, count)) in completion.items.iter().enumerate() {
            let text = match count {
                Some(n) => format!("{value} {}", thousands(*n)),
                None => value.clone(),
            };
            if x + ui.cells(&text) + 3 > area.right() {
                break;
            }
            if at > 0 {
                x = ui.text(x, y, 3, " · ", Role::Border);
            }
            let role = if at == completion.at { Role::Accent } else { Role::Muted };
            x = ui.text(x, y, area.right() - x, &text, role);
        }
    } else if let Some(fault) = state.search.query.faults.first() {
        let what = match &fault.suggestion {
            Some(better) => format!("{}: did you mean {better}? the rest applies", fault.what),
            None => format!("{}: left out, the rest applies", fault.what),
        };
        ui.text(area.x + 3, y, area.width.saturating_sub(4), &what, Role::Fault);
    }
}
