//! The column at the left of wide screens: types, projects, the last fourteen days.

use ratatui::layout::Rect;

use super::legend;
use super::ui::{Ui, thousands};
use crate::tui::state::Metric;
use crate::tui::theme::Role;

const DAYS: usize = 14;
const DAY_MS: i64 = 86_400_000;

/// The whole column, when there is one.
pub fn draw(ui: &mut Ui<'_>) {
    let area = ui.screen.side;
    if area.width == 0 || area.height < 12 {
        return;
    }
    let days = if area.height >= 32 { 10 } else { 0 };
    let projects = (ui.state.pages.projects.len() as u16 + 3).clamp(4, 9).min(area.height / 4);
    let types = area.height - projects - days;
    draw_types(ui, Rect { height: types, ..area });
    draw_projects(ui, Rect { y: area.y + types, height: projects, ..area });
    if days > 0 {
        draw_days(ui, Rect { y: area.y + types + projects, height: days, ..area });
    }
}

fn key(ui: &Ui<'_>, action: crate::tui::action::Action) -> String {
    ui.state.keymap.hint(ui.state.view.place(), action)
}

fn draw_types(ui: &mut Ui<'_>, area: Rect) {
    let hint = key(ui, crate::tui::action::Action::Legend);
    let inside = ui.frame(area, "Types", &hint, false);
    let signs = if inside.height >= 20 { 7 } else { 0 };
    legend::column(ui, Rect { height: inside.height - signs, ..inside }, 0);
    if signs == 0 {
        return;
    }
    let y = inside.bottom() - 6;
    let x = inside.x + 1;
    let width = inside.width.saturating_sub(2);
    if let Some(preview) = &ui.state.pages.context.preview {
        let text = format!("{} of {}", preview.within.len(), preview.limit.max(preview.within.len() as u32));
        ui.text(x, y, width, "In context", Role::Strong);
        ui.text_right(inside.right() - 1, y, width, &text, Role::Muted);
    }
    let lines = ["  + in   - out", "  ^ pinned x excluded", "Wild types are never", "injected: T to retype"];
    for (at, line) in lines.iter().enumerate() {
        ui.text(x, y + 1 + at as u16, width, line, Role::Muted);
    }
}

fn draw_projects(ui: &mut Ui<'_>, area: Rect) {
    let hint = key(ui, crate::tui::action::Action::GotoProject);
    let inside = ui.frame(area, "Projects", &hint, false);
    let projects = &ui.state.pages.projects;
    let room = usize::from(inside.height);
    let shown = if projects.len() > room { room.saturating_sub(1) } else { projects.len() };
    let mut main = "";
    for at in 0..shown {
        let project = &projects[at];
        let y = inside.y + at as u16;
        let last = projects.get(at + 1).is_none_or(|next| next.root != project.root);
        let label = if project.worktree.is_empty() {
            main = &project.root;
            project.name.clone()
        } else {
            let branch = if last { ui.signs.elbow } else { ui.signs.tee };
            let indent = if main == project.root { "  " } else { "" };
            format!("{indent}{branch} {}", project.worktree)
        };
        let number = if project.excluded { "excluded".into() } else { thousands(project.memories) };
        let cells = ui.cells(&number);
        let here = ui.state.scope.contains(&project.key());
        let role = if here { Role::Accent } else { Role::Text };
        ui.text(inside.x + 1, y, inside.width.saturating_sub(cells + 3), &label, role);
        ui.text_right(inside.right().saturating_sub(1), y, cells, &number, Role::Muted);
    }
    if shown < projects.len() {
        let text = format!("({} more)", projects.len() - shown);
        ui.text(inside.x + 1, inside.y + shown as u16, inside.width.saturating_sub(2), &text, Role::Muted);
    }
}

fn draw_days(ui: &mut Ui<'_>, area: Rect) {
    let hint = key(ui, crate::tui::action::Action::ViewTimeline);
    let inside = ui.frame(area, "Last 14 days", &hint, false);
    let state = ui.state;
    let today = ui.date(state.now);
    let mut days = [0u64; DAYS];
    let mut by_hour = [0u64; 24];
    for hour in &state.pages.timeline.hours {
        let at = hour.hour * 3_600_000;
        if state.now - at > (DAYS as i64 + 1) * DAY_MS {
            continue;
        }
        let zoned = crate::memory::from_millis(at).to_zoned_datetime(state.zone.clone());
        let back = today.since(zoned.date()).map(|span| span.get_days()).unwrap_or(i32::MAX);
        if let Some(slot) = usize::try_from(back).ok().filter(|back| *back < DAYS) {
            days[DAYS - 1 - slot] += Metric::Memories.of(hour);
            by_hour[zoned.hour() as usize % 24] += Metric::Memories.of(hour);
        }
    }
    let peak = days.iter().copied().max().unwrap_or(0);
    let x = inside.x + 1;
    let width = inside.width.saturating_sub(2);
    let bars: String = days.iter().map(|n| level(ui.signs.levels, *n, peak)).collect();
    ui.text(x, inside.y + 1, width, &bars, Role::Chart);
    let first = today.checked_sub(jiff::ToSpan::days(DAYS as i64 - 1)).unwrap_or(today);
    let middle = today.checked_sub(jiff::ToSpan::days(7)).unwrap_or(today);
    ui.text(x, inside.y + 2, width, &format!("{:<6} {:<5} {}", first.day(), middle.day(), today.day()), Role::Muted);
    if peak == 0 {
        ui.text(x, inside.y + 4, width, "nothing recorded", Role::Muted);
        return;
    }
    let best = days.iter().position(|n| *n == peak).unwrap_or(0);
    let day = today.checked_sub(jiff::ToSpan::days((DAYS - 1 - best) as i64)).unwrap_or(today);
    let day = ui.day(day);
    let hour = (0..24).max_by_key(|hour| (by_hour[*hour], 24 - hour)).unwrap_or(0);
    ui.text(x, inside.y + 4, width, &format!("peak {peak} on {day}"), Role::Muted);
    ui.text(x, inside.y + 5, width, &format!("busiest hour {hour:02}h"), Role::Muted);
    let skipped = state.pages.vitals.funnel.filter(|funnel| funnel.sent > 0);
    if let Some(funnel) = skipped {
        let share = funnel.skipped * 100 / funnel.sent.max(1);
        ui.text(x, inside.y + 6, width, &format!("skipped turns {share}%"), Role::Muted);
    }
}

/// A bar for `n` of at most `peak`; nothing for nothing.
pub fn level(levels: [&'static str; 8], n: u64, peak: u64) -> &'static str {
    if n == 0 || peak == 0 {
        return " ";
    }
    levels[((n * 8).div_ceil(peak).clamp(1, 8) - 1) as usize]
}
