//! What is in the trash: what it was, who put it there, how long it stays.

use ratatui::layout::Rect;

use super::ui::{Ui, plural};
use crate::memory::{millis, safe_line};
use crate::tui::layout::Breadth;
use crate::tui::theme::Role;

const DAY_MS: i64 = 86_400_000;

/// The view.
pub fn draw(ui: &mut Ui<'_>) {
    let state = ui.state;
    let list = &state.pages.trash.list;
    let area = ui.screen.list;
    if area.width > 0 {
        let soonest = list.iter().map(|row| millis(row.leaves_at)).min();
        let right = match soonest {
            Some(at) => format!("oldest leaves in {} days", (at - state.now).max(0) / DAY_MS),
            None => String::new(),
        };
        let title = format!("Trash · {}", plural(list.len() as u64, "item"));
        let right = if area.width >= 50 { right } else { String::new() };
        let inside = ui.frame(area, &title, &right, !state.detail_focus);
        rows(ui, inside);
    }
    let area = ui.screen.detail;
    if area.width == 0 {
        return;
    }
    let Some(row) = list.get(state.pages.trash.at.cursor) else {
        ui.frame(area, "Empty", "", false);
        return;
    };
    let title = format!("#{} {}", row.memory.id.0, safe_line(&row.memory.type_id));
    ui.frame(area, &title, "u puts it back", state.detail_focus);
    let inside = ui.screen.detail_inner();
    let inside = if ui.screen.framed {
        Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
    } else {
        inside
    };
    let lines =
        super::detail::lay_out(state, &row.memory, inside.width, state.detail.scroll + usize::from(inside.height));
    super::detail::draw_lines(ui, inside, &lines, state.detail.scroll);
}

fn rows(ui: &mut Ui<'_>, area: Rect) {
    let state = ui.state;
    let list = &state.pages.trash.list;
    if list.is_empty() {
        ui.text(area.x + 1, area.y + 1, area.width.saturating_sub(2), "The trash is empty.", Role::Muted);
        ui.text(
            area.x + 1,
            area.y + 2,
            area.width.saturating_sub(2),
            "What is deleted stays here for 30 days.",
            Role::Muted,
        );
        return;
    }
    let at = state.pages.trash.at;
    let top = at.top_for(usize::from(area.height), 1);
    let wide = ui.screen.breadth() >= Breadth::Tall && area.width >= 56;
    for (row, item) in list.iter().enumerate().skip(top).take(usize::from(area.height)) {
        let y = area.y + (row - top) as u16;
        let memory = &item.memory;
        let marked = state.marks.ids.contains(&memory.id);
        let sign = state.alphabet.sign(&memory.type_id, state.look.glyphs);
        let left = format!("{} d left", (millis(item.leaves_at) - state.now).max(0) / DAY_MS);
        let who = match item.merged_into {
            Some(id) => format!("merged into #{}", id.0),
            None if item.batch > 1 => format!("{}, one of {}", safe_line(&item.actor), item.batch),
            None => safe_line(&item.actor),
        };
        let tail = if wide { format!("{who:<20} {left:>9}") } else { left };
        let cells = ui.cells(&tail);
        ui.text(area.x + 1, y, 1, if marked { "*" } else { " " }, Role::Mark);
        let when =
            if wide { format!("{:<6}{}  ", memory.id.0, ui.when(millis(memory.created_at))) } else { String::new() };
        let text = format!("{when}{sign} {}", safe_line(&memory.title));
        ui.text(area.x + 3, y, area.width.saturating_sub(cells + 5), &text, Role::Text);
        ui.text_right(area.right().saturating_sub(1), y, cells, &tail, Role::Muted);
        if row == at.cursor {
            ui.cursor_row(Rect { y, height: 1, ..area });
        }
    }
}
