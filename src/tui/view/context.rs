//! What the next session gets: what is in, in order; the cut; what is out, and why; and the exact text.

use ratatui::layout::Rect;

use super::ui::{Ui, thousands, tokens};
use crate::memory::{MemoryId, safe_line, safe_text};
use crate::tui::layout::Breadth;
use crate::tui::theme::Role;
use crate::tui::update::{ContextLine, context_lines};

/// The view.
pub fn draw(ui: &mut Ui<'_>) {
    let state = ui.state;
    let Some(preview) = &state.pages.context.preview else {
        let area = ui.screen.list;
        let inside = ui.frame(area, "Context", "", false);
        let text = if state.pages.context.trouble.is_empty() {
            "making it …".to_owned()
        } else {
            state.pages.context.trouble.clone()
        };
        ui.text(inside.x + 1, inside.y + 1, inside.width.saturating_sub(2), &text, Role::Muted);
        return;
    };
    if state.pages.context.text_focus && ui.screen.detail.width == 0 {
        let area = ui.screen.list;
        exact(ui, area);
        return;
    }
    let area = ui.screen.list;
    if area.width > 0 {
        let room = ui.screen.breadth();
        let size = thousands(preview.text.len() as u64);
        let title = match room {
            Breadth::Slim | Breadth::Stack => format!("Context · {}", safe_line(&preview.project)),
            _ => "Would be injected".to_owned(),
        };
        let limit = state.pages.context.limit.map_or(String::new(), |limit| format!(" (limit {limit}, not saved)"));
        let right = match room {
            Breadth::Slim => format!("{} in ~{}", preview.within.len(), tokens(u64::from(preview.tokens))),
            Breadth::Stack => {
                format!("{} in · ~{} tok{limit}", preview.within.len(), tokens(u64::from(preview.tokens)))
            }
            _ => format!("{} in · {size} B · ~{} tok{limit}", preview.within.len(), tokens(u64::from(preview.tokens))),
        };
        let inside = ui.frame(area, &title, &right, !state.pages.context.text_focus);
        list(ui, inside);
    }
    let area = ui.screen.detail;
    if area.width > 0 && ui.screen.list.width > 0 && !state.detail_focus {
        exact(ui, area);
    } else if area.width > 0 {
        super::detail::draw(ui);
    }
}

fn title_of(ui: &Ui<'_>, id: MemoryId) -> (String, String) {
    let state = ui.state;
    match state.arena.find(&[id]).first() {
        Some(ix) => {
            let row = state.arena.row(*ix);
            (state.alphabet.sign(state.arena.type_of(row), state.look.glyphs), state.arena.title(row).to_owned())
        }
        None => ("?".into(), format!("#{} (not in this list)", id.0)),
    }
}

fn list(ui: &mut Ui<'_>, area: Rect) {
    let state = ui.state;
    let Some(preview) = &state.pages.context.preview else { return };
    let lines = context_lines(state);
    let at = state.pages.context.at;
    let top = at.top_for(usize::from(area.height).saturating_sub(3), 1);
    let narrow = ui.screen.breadth() <= Breadth::Stack;
    let mut y = area.y;
    for (pos, line) in lines.iter().enumerate().skip(top) {
        if y >= area.bottom() {
            return;
        }
        let here = pos == at.cursor;
        let row = Rect { y, height: 1, ..area };
        match line {
            ContextLine::In(rank) => {
                let item = &preview.within[*rank];
                let pinned = item.reason == "pinned";
                let (sign, title) = title_of(ui, item.id);
                let lead = if pinned { "pin ^".to_owned() } else { format!("{:>3} +", rank + 1) };
                let role = if pinned { Role::Pinned } else { Role::In };
                let x = ui.text(area.x + 1, y, 6, &lead, role) + 1;
                let text = if narrow { format!("{sign} {title}") } else { format!("{} {sign} {title}", item.id.0) };
                ui.text(x, y, area.right().saturating_sub(x), &text, Role::Text);
            }
            ContextLine::Cut => {
                let style = ui.role(Role::Border);
                ui.canvas.rule(area.x, y, area.width, ui.signs.horizontal, style);
                let dash = ui.signs.horizontal;
                let text = format!("{dash}{dash} cut: limit {} {dash}{dash} < > moves it ", preview.limit);
                ui.text(area.x, y, area.width, &text, Role::Unseen);
                let out = lines.len() - preview.within.len() - 1;
                let reason =
                    if state.pages.context.reason.is_empty() { "out, and why" } else { &state.pages.context.reason };
                ui.text_right(area.right(), y, area.width / 2, &format!(" {reason} {out} "), Role::Unseen);
            }
            ContextLine::Out(index) => {
                let item = &preview.out[*index];
                let (sign, title) = title_of(ui, item.id);
                let cells = if narrow { 8 } else { 10 };
                let word = ui.canvas.widths.pad(&safe_line(&item.reason), cells, ui.signs.ellipsis);
                let mark = if item.reason == "excluded" { "x" } else { "-" };
                let x = ui.text(area.x + 1, y, cells as u16, &word, Role::Muted);
                let x = ui.text(x, y, 2, mark, Role::Out) + 1;
                let text = if narrow { format!("{sign} {title}") } else { format!("{} {sign} {title}", item.id.0) };
                ui.text(x, y, area.right().saturating_sub(x), &text, Role::Text);
            }
        }
        if here {
            ui.cursor_row(row);
        }
        y += 1;
        if here {
            y = why(ui, area, y, line);
        }
    }
}

/// The reason behind the word, below the row under the cursor.
fn why(ui: &mut Ui<'_>, area: Rect, mut y: u16, line: &ContextLine) -> u16 {
    let Some(preview) = &ui.state.pages.context.preview else { return y };
    let detail = match line {
        ContextLine::In(at) => preview.within[*at].detail.clone(),
        ContextLine::Out(at) => preview.out[*at].detail.clone(),
        ContextLine::Cut => return y,
    };
    let text = safe_line(&detail);
    if text.is_empty() {
        return y;
    }
    for range in ui.state.look.widths.wrap(&text, usize::from(area.width.saturating_sub(4)), 2) {
        if y >= area.bottom() {
            return y;
        }
        ui.text(area.x + 3, y, area.width.saturating_sub(4), &text[range], Role::Muted);
        y += 1;
    }
    y
}

/// The exact text, or how it differs from the one last injected.
fn exact(ui: &mut Ui<'_>, area: Rect) {
    let state = ui.state;
    let Some(preview) = &state.pages.context.preview else { return };
    let (title, lines) = match (state.pages.context.diff, &preview.last_text) {
        (true, Some(last)) => ("Changed since it was last injected", diff(last, &preview.text)),
        _ => ("Exact text", preview.text.lines().map(|line| (safe_text(line), Role::Text)).collect()),
    };
    let hint = if area.width >= 44 { "tab focus · yy copy" } else { "tab" };
    let inside = ui.frame(area, title, hint, state.pages.context.text_focus);
    let inside = if ui.screen.framed {
        Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
    } else {
        inside
    };
    let scroll = state.pages.context.text_scroll.min(lines.len().saturating_sub(1));
    let mut y = inside.y;
    for (text, role) in lines.iter().skip(scroll) {
        for range in state.look.widths.wrap(text, usize::from(inside.width), 4) {
            if y >= inside.bottom() {
                return;
            }
            ui.text(inside.x, y, inside.width, &text[range], *role);
            y += 1;
        }
    }
}

fn diff(old: &str, new: &str) -> Vec<(String, Role)> {
    let diff = similar::TextDiff::from_lines(old, new);
    diff.iter_all_changes()
        .filter_map(|change| {
            let text = safe_text(change.value().trim_end_matches('\n'));
            match change.tag() {
                similar::ChangeTag::Insert => Some((format!("+ {text}"), Role::Ok)),
                similar::ChangeTag::Delete => Some((format!("- {text}"), Role::Error)),
                similar::ChangeTag::Equal => None,
            }
        })
        .collect()
}
