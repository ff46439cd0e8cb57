//! Sessions, three lines each, and what the one under the cursor came to.

use ratatui::layout::Rect;

use super::detail::{DetailLine, draw_lines};
use super::ui::{Ui, plural, tokens};
use crate::hub::live::SessionInfo;
use crate::memory::{Kind, safe_line, safe_text};
use crate::tui::layout::Breadth;
use crate::tui::theme::Role;
use crate::tui::update::{session_under_cursor, sessions};

/// Lines of a session in the list.
const LINES: u16 = 3;

/// The view.
pub fn draw(ui: &mut Ui<'_>) {
    list(ui);
    if ui.screen.detail.width > 0 {
        detail(ui);
    }
}

fn list(ui: &mut Ui<'_>) {
    let area = ui.screen.list;
    if area.width == 0 {
        return;
    }
    let all = sessions(ui.state);
    let title = format!("Sessions {}", all.len());
    let inside = ui.frame(area, &title, "newest first", !ui.state.detail_focus);
    if all.is_empty() {
        let text = if ui.state.pages.sessions.loaded { "no sessions here yet" } else { "loading …" };
        ui.text(inside.x + 1, inside.y, inside.width.saturating_sub(2), text, Role::Muted);
        return;
    }
    let at = ui.state.pages.sessions.at;
    // One line each where the pane is low.
    let lines = if inside.height < 12 { 1 } else { LINES };
    let top = at.top_for(usize::from(inside.height), usize::from(lines));
    let fit = usize::from(inside.height / lines).max(1);
    for (row, info) in all.iter().skip(top).take(fit).enumerate() {
        let y = inside.y + row as u16 * lines;
        one(ui, Rect { y, height: lines, ..inside }, info, top + row == at.cursor);
    }
}

/// Live, done, no summary, failed.
fn state_word(info: &SessionInfo) -> (&'static str, Role) {
    if info.failed.is_some() {
        ("failed", Role::Error)
    } else if info.live {
        ("live", Role::Ok)
    } else if info.summaries == 0 {
        ("no summary", Role::Muted)
    } else {
        ("done", Role::Muted)
    }
}

fn label(ui: &Ui<'_>, info: &SessionInfo) -> String {
    let entry = ui.state.arena.session_by_id(&info.id);
    entry.map_or_else(|| crate::memory::clip_chars(&info.id, 6).to_owned(), |entry| entry.label())
}

fn one(ui: &mut Ui<'_>, area: Rect, info: &SessionInfo, here: bool) {
    let (word, role) = state_word(info);
    let room = area.width.saturating_sub(3);
    let counts = format!("{} obs  {}", info.observations, plural(u64::from(info.prompts), "prompt"));
    let when = ui.when(info.started_ms);
    let x = area.x + 2;
    let head = format!("{:<6} {when}  ", label(ui, info));
    let at = ui.text(x, area.y, room, &head, Role::Strong);
    let at = ui.text(at, area.y, (x + room).saturating_sub(at), word, role) + 2;
    ui.text(at, area.y, (x + room).saturating_sub(at), &counts, Role::Muted);
    if area.height >= 2 {
        let untitled = format!("(untitled) {}", safe_line(&info.last_prompt));
        let title = if info.title.is_empty() { untitled } else { safe_line(&info.title) };
        ui.text(x, area.y + 1, room, &title, Role::Text);
        let last = match &info.failed {
            Some(why) => format!("{}; 5 has the log", safe_line(why)),
            None if info.last_prompt.is_empty() => String::new(),
            None => {
                format!("left off: {}{}{}", ui.signs.quote_open, safe_line(&info.last_prompt), ui.signs.quote_close)
            }
        };
        ui.text(x, area.y + 2, room, &last, Role::Muted);
    }
    if here {
        ui.cursor_row(Rect { height: 1, ..area });
    }
}

fn detail(ui: &mut Ui<'_>) {
    let state = ui.state;
    let area = ui.screen.detail;
    let Some(info) = session_under_cursor(state).cloned() else {
        ui.frame(area, "No session", "", false);
        return;
    };
    let title = format!("{} {}", label(ui, &info), safe_line(&info.title));
    let right = if area.width >= 50 {
        format!("{} · {}", plural(u64::from(info.observations), "item"), plural(u64::from(info.prompts), "prompt"))
    } else {
        String::new()
    };
    ui.frame(area, title.trim(), &right, state.detail_focus);
    let inside = ui.screen.detail_inner();
    let inside = if ui.screen.framed {
        Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
    } else {
        inside
    };
    let lines = lines(ui, &info, inside.width);
    draw_lines(ui, inside, &lines, state.detail.scroll);
}

fn lines(ui: &Ui<'_>, info: &SessionInfo, width: u16) -> Vec<DetailLine> {
    let state = ui.state;
    let mut out: Vec<DetailLine> = Vec::new();
    let summary = state.pages.sessions.summary.as_ref().filter(|(id, _)| *id == info.id);
    let summary = summary.and_then(|(_, memories)| memories.iter().rev().find_map(|memory| memory.summary.as_ref()));
    match summary {
        Some(summary) => {
            let parts = [
                ("Request", &summary.request),
                ("Investigated", &summary.investigated),
                ("Learned", &summary.learned),
                ("Completed", &summary.completed),
                ("Next steps", &summary.next_steps),
                ("Notes", &summary.notes),
            ];
            for (name, text) in parts {
                let text = if text.is_empty() { "-".to_owned() } else { safe_text(text) };
                for (at, range) in
                    state.look.widths.wrap(&text, usize::from(width.saturating_sub(14)), 6).into_iter().enumerate()
                {
                    let lead = if at == 0 { format!("{name:<13} ") } else { " ".repeat(14) };
                    out.push(vec![(lead, Role::Muted), (text[range].to_owned(), Role::Text)]);
                }
            }
        }
        None if !info.last_prompt.is_empty() => {
            out.push(vec![("no summary yet".into(), Role::Muted)]);
            out.push(Vec::new());
            let text = format!("left off: {}", safe_line(&info.last_prompt));
            for range in state.look.widths.wrap(&text, usize::from(width), 4) {
                out.push(vec![(text[range].to_owned(), Role::Text)]);
            }
        }
        None => out.push(vec![("no summary yet".into(), Role::Muted)]),
    }
    items(ui, info, &mut out);
    out
}

/// Counts by type, cost, then its memories in the order they were made.
fn items(ui: &Ui<'_>, info: &SessionInfo, out: &mut Vec<DetailLine>) {
    let state = ui.state;
    let mut rows: Vec<u32> = state
        .arena
        .newest_first()
        .filter(|ix| state.arena.session_of(state.arena.row(*ix)).id == info.id)
        .filter(|ix| state.arena.row(*ix).flags.kind() == Kind::Observation)
        .take(500)
        .collect();
    rows.reverse();
    if rows.is_empty() {
        return;
    }
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut read = 0u64;
    for ix in &rows {
        let row = state.arena.row(*ix);
        read += u64::from(row.tokens);
        let sign = state.alphabet.sign(state.arena.type_of(row), state.look.glyphs);
        match counts.iter_mut().find(|(known, _)| *known == sign) {
            Some((_, n)) => *n += 1,
            None => counts.push((sign, 1)),
        }
    }
    let counts: Vec<String> = counts.iter().map(|(sign, n)| format!("{sign} {n}")).collect();
    out.push(Vec::new());
    out.push(vec![("Items  ".into(), Role::Muted), (counts.join("  "), Role::Text)]);
    out.push(vec![(format!("Tokens to read all {}", tokens(read)), Role::Muted)]);
    out.push(Vec::new());
    for ix in rows {
        let row = state.arena.row(ix);
        let word = state.arena.type_of(row);
        let sign = state.alphabet.sign(word, state.look.glyphs);
        let id = if ui.screen.breadth() >= Breadth::Tall { format!("{} ", row.id) } else { String::new() };
        out.push(vec![
            (format!("{} {sign} {id}", ui.clock(row.created_ms)), Role::Muted),
            (state.arena.title(row).to_owned(), Role::Text),
        ]);
    }
}
