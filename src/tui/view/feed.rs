//! The list of memories: headings, rows, the line between new and seen.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::empty;
use super::ui::{Ui, plural, thousands, tokens};
use crate::hub::live::RowFlags;
use crate::memory::Kind;
use crate::tui::arena::Row;
use crate::tui::layout::{Breadth, row_indent, row_tail, shape};
use crate::tui::state::{Density, Line, Order, Shape};
use crate::tui::theme::Role;

/// The list in its frame.
pub fn draw(ui: &mut Ui<'_>) {
    let area = ui.screen.list;
    if area.width == 0 || area.height == 0 {
        return;
    }
    let framed = ui.screen.framed;
    if framed {
        let title = title(ui);
        let place = place(ui);
        ui.frame(area, &title, &place, !ui.state.detail_focus);
    }
    let inside = ui.screen.list_inner();
    if ui.state.rows.is_empty() {
        empty::feed(ui, inside);
        return;
    }
    let state = ui.state;
    let screen = ui.screen;
    let shape = shape(state, &screen);
    let window = shape.window(state.feed.pos, state.feed.y, inside.height);
    for (at, line) in window.lines.iter().enumerate() {
        let y = inside.y + at as u16;
        let area = Rect { x: inside.x, y, width: inside.width, height: 1 };
        match line {
            Line::Heading(pos) if shape.tiers => tier_heading(ui, area, *pos),
            Line::Heading(pos) => heading(ui, area, &shape, *pos, at == 0 && window.at_newest),
            Line::Unseen => unseen(ui, area),
            Line::Row(pos, part) => row(ui, area, &shape, *pos, *part),
        }
    }
    if framed && !state.marks.ids.is_empty() {
        let marked = format!("{} marked", state.marks.ids.len());
        let frame = ui.screen.list;
        ui.titles(frame.x + 2, frame.bottom() - 1, frame.width.saturating_sub(4), "", &marked, false);
    }
}

fn title(ui: &Ui<'_>) -> String {
    let order = match ui.state.rows.order {
        Order::Newest => "newest first",
        Order::Oldest => "oldest first",
        Order::Tokens => "most tokens first",
        Order::Relevance => "best match first",
    };
    let name = if ui.state.search.has_terms() { "Found" } else { "Feed" };
    if ui.screen.breadth() >= Breadth::Full { format!("{name} · {order}") } else { name.to_owned() }
}

fn place(ui: &Ui<'_>) -> String {
    let state = ui.state;
    let len = state.rows.len();
    let at = if len == 0 { 0 } else { state.feed.pos + 1 };
    let more = if state.load.done { "" } else { "+" };
    let live =
        if ui.screen.breadth() >= Breadth::Full && state.is_live() && !state.is_busy() { " · live" } else { "" };
    format!("{}/{}{more}{live}", thousands(at as u64), thousands(len as u64))
}

/// Day and session of the rows below.
fn heading(ui: &mut Ui<'_>, area: Rect, shape: &Shape<'_>, pos: usize, top: bool) {
    let state = ui.state;
    let Some(row) = state.rows.get(pos).map(|ix| *state.arena.row(ix)) else { return };
    let day = ui.weekday(shape.day(&row));
    let entry = state.arena.session_of(&row);
    let stacked = ui.screen.breadth() == Breadth::Stack;
    let dash = ui.signs.horizontal;
    let mut text = day;
    if !entry.id.is_empty() {
        let label = entry.label();
        let title = entry.info.as_ref().map(|info| info.title.as_str()).filter(|title| !title.is_empty());
        let title = title.map(crate::memory::safe_line);
        if stacked {
            text.push_str(&format!(" {} {label}", ui.signs.dot));
            if let Some(title) = title {
                text.push_str(&format!(" {title}"));
            }
        } else {
            text.push_str(&format!(" {dash} {label}"));
            if let Some(title) = title {
                text.push_str(&format!(" {}{title}{}", ui.signs.quote_open, ui.signs.quote_close));
            }
            text.push_str(&format!(" {dash} {} obs", entry.shown));
            let prompts = entry.info.as_ref().map_or(0, |info| info.prompts);
            if prompts > 0 && area.width >= 70 {
                text.push_str(&format!(" {dash} {}", plural(u64::from(prompts), "prompt")));
            }
        }
    }
    // What still waits belongs at the newest edge, as words, not as rows.
    let waiting = state.pages.vitals.waiting;
    let mut width = area.width;
    if top && waiting > 0 && area.width >= 40 {
        let oldest = state.pages.vitals.oldest_waiting_ms.map(|at| super::ui::age(state.now - at));
        let said = match oldest {
            Some(age) => format!(" {} {waiting} waiting, oldest {age}", ui.signs.ellipsis),
            None => format!(" {} {waiting} waiting", ui.signs.ellipsis),
        };
        let cells = ui.cells(&said);
        if ui.cells(&text) + cells + 4 <= area.width {
            ui.text_right(area.right(), area.y, cells, &said, Role::Muted);
            width = width.saturating_sub(cells);
        }
    }
    if stacked {
        let line = format!("{dash} {text} ");
        let end = ui.text(area.x, area.y, width, &line, Role::Heading);
        let style = ui.role(Role::Border);
        ui.canvas.rule(end, area.y, (area.x + width).saturating_sub(end), dash, style);
    } else {
        ui.text(area.x + 1, area.y, width.saturating_sub(1), &text, Role::Heading);
    }
}

/// What a tier of the search found.
fn tier_heading(ui: &mut Ui<'_>, area: Rect, pos: usize) {
    let state = ui.state;
    let dash = ui.signs.horizontal;
    let text = match state.rows.group_of(pos) {
        None => format!("{dash} titles and facts ({}) ", thousands(state.rows.exact() as u64)),
        Some((group, _)) => {
            let more = if group.more { "+" } else { "" };
            format!("{dash} {} ({}{more}) ", group.title, group.rows.len())
        }
    };
    let end = ui.text(area.x, area.y, area.width, &text, Role::Heading);
    let style = ui.role(Role::Border);
    ui.canvas.rule(end, area.y, area.right().saturating_sub(end), dash, style);
}

fn unseen(ui: &mut Ui<'_>, area: Rect) {
    let new = crate::tui::counts::unseen(ui.state);
    let dash = ui.signs.horizontal;
    let style = ui.role(Role::Unseen);
    ui.canvas.rule(area.x, area.y, area.width, dash, style);
    ui.text(area.x + 2, area.y, area.width.saturating_sub(4), &format!(" {new} new "), Role::Unseen);
}

/// One line of a row.
fn row(ui: &mut Ui<'_>, area: Rect, shape: &Shape<'_>, pos: usize, part: u8) {
    let state = ui.state;
    let Some(ix) = state.rows.get(pos) else { return };
    let row = *state.arena.row(ix);
    let breadth = ui.screen.breadth();
    let here = pos == state.feed.pos;
    let searching = shape.tiers;
    let indent = indent(ui, shape.density, searching);
    let tail = row_tail(breadth);
    let room = area.width.saturating_sub(indent + tail);
    let title = state.arena.title(&row);
    let faded = row.flags.0 & (RowFlags::SUPERSEDED | RowFlags::ABANDONED) != 0;
    let mut style = ui.role(if faded { Role::Muted } else { Role::Text });
    let fresh = state.feed.fresh.contains_key(&ix);
    if fresh {
        style = style.patch(state.look.theme.of(Role::Fresh));
    }
    if part == 1 {
        let found = if shape.wraps_title && shape.matches_elsewhere(&row) { snippet(ui, pos, &row) } else { None };
        if let Some((field, text)) = found {
            let x = ui.text(area.x + indent, area.y, 11, &format!("{field}: "), Role::Muted);
            snippet_line(ui, x, area, &text);
            cursor_tint(ui, area, here);
            return;
        }
        let text = if shape.wraps_title {
            let first = ui.canvas.widths.wrap(title, shape.title_cells, 1);
            first.first().map_or("", |range| title[range.end..].trim_start())
        } else {
            state.arena.subtitle(&row)
        };
        let marks = if searching { state.search.judge.marks(text) } else { Vec::new() };
        let style = if shape.wraps_title { style } else { ui.role(Role::Muted) };
        ui.marked(area.x + indent, area.y, area.width.saturating_sub(indent), text, &marks, style);
    } else {
        front(ui, area, shape, pos, &row, fresh);
        let shown = if shape.density == Density::Two && shape.wraps_title {
            let first = ui.canvas.widths.wrap(title, shape.title_cells, 1);
            let whole = shape.matches_elsewhere(&row);
            first.first().filter(|_| !whole).map_or(title, |range| &title[range.clone()])
        } else {
            title
        };
        title_line(ui, Rect { x: area.x + indent, width: room, ..area }, pos, &row, shown, style);
        if tail > 0 {
            ui.text_right(area.right(), area.y, tail, &format!("{} ", tokens(u64::from(row.tokens))), Role::Muted);
        }
    }
    let marked = state.marks.ids.contains(&row.memory()) || in_range(ui, pos);
    if marked && !here {
        ui.canvas.tint(Rect { width: 3.min(area.width), ..area }, state.look.theme.of(Role::Mark));
    }
    if here && part == 0 {
        ui.cursor_row(area);
    } else {
        cursor_tint(ui, area, here);
    }
}

fn cursor_tint(ui: &mut Ui<'_>, area: Rect, here: bool) {
    if here && ui.state.focused {
        ui.bar(area);
    }
}

/// Columns before a title on this screen.
fn indent(ui: &Ui<'_>, density: Density, searching: bool) -> u16 {
    row_indent(ui.screen.breadth(), density, searching, id_cells(ui))
}

/// Digits of the newest id, at least four: ids stand in one column.
fn id_cells(ui: &Ui<'_>) -> u16 {
    crate::tui::layout::id_cells(ui.state)
}

fn in_range(ui: &Ui<'_>, pos: usize) -> bool {
    let Some(from) = ui.state.feed.range else { return false };
    let from = ui.state.rows.near(&ui.state.arena, from);
    (from.min(ui.state.feed.pos)..=from.max(ui.state.feed.pos)).contains(&pos)
}

/// Everything before the title: cursor, mark, context, id, time, type.
fn front(ui: &mut Ui<'_>, area: Rect, shape: &Shape<'_>, pos: usize, row: &Row, fresh: bool) {
    let state = ui.state;
    let (y, x) = (area.y, area.x);
    let breadth = ui.screen.breadth();
    let marked = state.marks.ids.contains(&row.memory()) || in_range(ui, pos);
    let kind = row.flags.kind();
    let (sign, role) = context_sign(ui, row);
    let narrow = breadth == Breadth::Slim && shape.density != Density::Mini;
    let mut at = x + 1;
    if narrow {
        // One cell for both: a mark says more than the context sign.
        let (text, role) = if marked { ("*", Role::Mark) } else { (sign, role) };
        ui.text(at, y, 1, text, role);
        at += 1;
    } else {
        ui.text(at, y, 1, if marked { "*" } else { " " }, Role::Mark);
        ui.text(at + 1, y, 1, sign, role);
        at += 2;
    }
    if kind != Kind::Observation {
        return;
    }
    let wide = breadth >= Breadth::Tall && shape.density != Density::Mini;
    if wide {
        at += 1;
        let cells = id_cells(ui);
        let id = row.id.to_string();
        ui.text_right(at + cells, y, cells, &id, Role::Muted);
        at += cells + 1;
        if shape.tiers {
            let day = ui.day(ui.date(row.created_ms));
            ui.text_right(at + 6, y, 6, &day, Role::Muted);
            at += 7;
        }
    }
    if shape.density != Density::Mini {
        let time = time_of(ui, shape, pos, row);
        ui.text(at, y, 5, &time, Role::Muted);
        at += 5;
    }
    at += 1;
    let word = state.arena.type_of(row);
    let wild = row.flags.has(RowFlags::WILD) || state.alphabet.get(word).is_none();
    let mut style = ui.role(Role::Text).patch(state.look.theme.of_type(word, wild));
    if fresh {
        style = style.add_modifier(Modifier::BOLD);
    }
    let sign = state.alphabet.sign(word, state.look.glyphs);
    ui.canvas.put(at, y, 2, &sign, style);
}

/// `14:31`, `"` for the same minute as above, or the day where rows of many days stand together.
fn time_of(ui: &Ui<'_>, shape: &Shape<'_>, pos: usize, row: &Row) -> String {
    let state = ui.state;
    let breadth = ui.screen.breadth();
    let today = ui.date(state.now);
    let undated = shape.tiers || !shape.headings;
    if breadth <= Breadth::Stack && undated && shape.day(row) != today {
        let date = shape.day(row);
        return format!("{:02}/{:02}", date.day(), date.month());
    }
    let above = pos.checked_sub(1).and_then(|at| state.rows.get(at)).map(|ix| state.arena.row(ix));
    let same = above.is_some_and(|above| {
        above.created_ms.div_euclid(60_000) == row.created_ms.div_euclid(60_000)
            && above.flags.kind() == Kind::Observation
            && !shape.has_heading(pos)
    });
    if same && !shape.tiers { "\"".into() } else { ui.clock(row.created_ms) }
}

fn context_sign(ui: &Ui<'_>, row: &Row) -> (&'static str, Role) {
    let state = ui.state;
    if row.flags.has(RowFlags::EXCLUDED) {
        ("x", Role::Excluded)
    } else if row.flags.has(RowFlags::PINNED) {
        ("^", Role::Pinned)
    } else if state.pages.context.preview.is_none() || row.flags.kind() != Kind::Observation {
        (" ", Role::Out)
    } else if state.context_ranks.contains_key(&row.id) {
        ("+", Role::In)
    } else {
        ("-", Role::Out)
    }
}

/// The title, with what the search found in it; what it found elsewhere stands behind it.
fn title_line(ui: &mut Ui<'_>, area: Rect, pos: usize, row: &Row, title: &str, style: ratatui::style::Style) {
    let state = ui.state;
    match row.flags.kind() {
        Kind::Observation => {}
        kind => {
            let entry = state.arena.session_of(row);
            let label = entry.label();
            let word = if kind == Kind::Summary { "summary" } else { "prompt" };
            let text = format!("{label} {word}  ");
            // Summaries begin where times stand: they belong to the session, not to a minute.
            let back = if ui.screen.breadth() >= Breadth::Tall { id_cells(ui) + 9 } else { 8 };
            let x = area.x.saturating_sub(back);
            let x = ui.text(x, area.y, area.right().saturating_sub(x), &text, Role::Muted);
            let marks = if state.search.has_terms() { state.search.judge.marks(title) } else { Vec::new() };
            ui.marked(x, area.y, area.right().saturating_sub(x), title, &marks, style);
            return;
        }
    }
    if !state.search.has_terms() {
        ui.canvas.text(area.x, area.y, area.width, title, style);
        return;
    }
    let marks = state.search.judge.marks(title);
    let snippet = if marks.is_empty() { snippet(ui, pos, row) } else { None };
    let Some((field, text)) = snippet.filter(|_| area.width >= 40) else {
        ui.marked(area.x, area.y, area.width, title, &marks, style);
        return;
    };
    let half = area.width / 2;
    let end = ui.marked(area.x, area.y, half, title, &marks, style);
    let x = end.max(area.x + half.min(24)) + 2;
    let x = ui.text(x, area.y, area.right().saturating_sub(x), &format!("{field}: "), Role::Muted);
    snippet_line(ui, x, area, &text);
}

/// A text with its match near the beginning, whatever stands before it.
fn snippet_line(ui: &mut Ui<'_>, x: u16, area: Rect, text: &str) {
    let judge = &ui.state.search.judge;
    let found = judge.marks(text);
    let from = found.first().map_or(0, |mark| {
        let back = text[..mark.start].char_indices().rev().nth(11).map_or(0, |(at, _)| at);
        text[back..mark.start].find(' ').map_or(back, |space| if back == 0 { 0 } else { back + space + 1 })
    });
    let shown = if from == 0 { text.to_owned() } else { format!("{}{}", ui.signs.ellipsis, &text[from..]) };
    let found = judge.marks(&shown);
    let muted = ui.role(Role::Muted);
    ui.marked(x, area.y, area.right().saturating_sub(x), &shown, &found, muted);
}

/// Where else the words stand: the subtitle, a fact, or what full text brought along.
fn snippet(ui: &Ui<'_>, pos: usize, row: &Row) -> Option<(&'static str, String)> {
    let state = ui.state;
    let judge = &state.search.judge;
    if let Some((group, at)) = state.rows.group_of(pos) {
        let text = group.snippets.get(at)?;
        return (!text.is_empty()).then(|| ("narrative", text.clone()));
    }
    let subtitle = state.arena.subtitle(row);
    if !judge.marks(subtitle).is_empty() {
        return Some(("subtitle", subtitle.to_owned()));
    }
    let fact = state.arena.facts(row).find(|fact| !judge.marks(fact).is_empty())?;
    Some(("fact", fact.to_owned()))
}
