//! When things were remembered: days by hours where there is room, bars elsewhere; below it what the cell under the
//! cursor holds, and gaps. Shading is a ramp of signs first, colour second.

use std::collections::BTreeMap;

use jiff::civil::Date;
use ratatui::layout::Rect;

use super::side::level;
use super::ui::{MONTHS, Ui, thousands};
use crate::tui::layout::Breadth;
use crate::tui::state::{State, Zoom};
use crate::tui::theme::Role;
use crate::tui::update::{local_hour, timeline_span};

/// From nothing to much.
const RAMP: &[u8] = b" .:-=+*#%@";

/// Counts by local hour, and by type for the selected span.
struct Counts {
    hours: BTreeMap<i64, u64>,
}

impl Counts {
    fn new(state: &State) -> Self {
        let mut hours: BTreeMap<i64, u64> = BTreeMap::new();
        let metric = state.pages.timeline.metric;
        // The offset is looked up once a day, not once an hour.
        let mut day_offset: Option<(i64, i64)> = None;
        for hour in &state.pages.timeline.hours {
            let ms = hour.hour * 3_600_000;
            let day = hour.hour.div_euclid(24);
            let offset = match day_offset {
                Some((known, offset)) if known == day => offset,
                _ => {
                    let offset = local_hour(state, ms) - hour.hour;
                    day_offset = Some((day, offset));
                    offset
                }
            };
            *hours.entry(hour.hour + offset).or_default() += metric.of(hour);
        }
        Self { hours }
    }

    fn sum(&self, from: i64, to: i64) -> u64 {
        self.hours.range(from..to).map(|(_, n)| n).sum()
    }

    fn day(&self, day: i64) -> u64 {
        self.sum(day * 24, day * 24 + 24)
    }
}

fn date_of(day: i64) -> Date {
    let epoch = Date::constant(1970, 1, 1);
    epoch.checked_add(jiff::ToSpan::days(day)).unwrap_or(epoch)
}

/// The view.
pub fn draw(ui: &mut Ui<'_>) {
    let area = ui.screen.list;
    let counts = Counts::new(ui.state);
    let narrow = ui.screen.breadth() < Breadth::Tall || area.width < 64;
    let timeline = &ui.state.pages.timeline;
    let head = format!("metric: {}   zoom: {}", timeline.metric.name(), timeline.zoom.name());
    ui.text(area.x + 1, area.y, area.width.saturating_sub(2), &head, Role::Muted);
    let body = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
    if !timeline.loaded || (timeline.hours.is_empty() && !ui.state.load.done) {
        ui.text(body.x + 1, body.y, body.width, "counting …", Role::Muted);
        return;
    }
    match (timeline.zoom, narrow) {
        (Zoom::Hour, _) => hours(ui, body, &counts),
        (Zoom::Day, false) => heat(ui, body, &counts),
        (Zoom::Day | Zoom::Week, _) => bars(ui, body, &counts),
        (Zoom::Month, _) => months(ui, body, &counts),
    }
}

/// Days by hours.
fn heat(ui: &mut Ui<'_>, area: Rect, counts: &Counts) {
    let state = ui.state;
    let cursor = state.pages.timeline.cursor;
    let today = local_hour(state, state.now).div_euclid(24);
    // The map is 69 columns: label, 24 hours of two cells, the day's sum.
    let side = if area.width >= 97 { (area.width - 69).min(64) } else { 0 };
    let map = Rect { width: area.width - side, ..area };
    let rows = i64::from(map.height.saturating_sub(8)).clamp(3, 31);
    // The day of the cursor stays on the screen.
    let day = cursor.div_euclid(24);
    let newest = today.min(day + rows / 2).max(day);
    let newest = if today - day < rows { today } else { newest };
    let ruler: String = (0..8).map(|at| format!("{:02}    ", at * 3)).collect();
    let x = map.x + 13;
    ui.text(x, map.y, map.width.saturating_sub(14), &ruler, Role::Muted);
    let peak = (0..rows)
        .flat_map(|back| (0..24).map(move |hour| (newest - back) * 24 + hour))
        .map(|hour| counts.hours.get(&hour).copied().unwrap_or(0))
        .max()
        .unwrap_or(0);
    let (from, to) = timeline_span(state);
    for back in 0..rows {
        let y = map.y + 1 + back as u16;
        let this = newest - back;
        let date = date_of(this);
        let here = this == day;
        let name = format!(
            "{} {:>2} {}",
            super::ui::WEEKDAYS[date.weekday().to_monday_zero_offset() as usize],
            date.day(),
            MONTHS[date.month() as usize - 1]
        );
        let sign = if here { ui.signs.cursor } else { " " };
        ui.text(map.x, y, 12, &format!("{sign}{name}"), if here { Role::Strong } else { Role::Muted });
        for hour in 0..24 {
            let n = counts.hours.get(&(this * 24 + hour)).copied().unwrap_or(0);
            let shade = if n == 0 { 0 } else { 1 + (n * 8).div_ceil(peak.max(1)).min(9) as usize - 1 };
            let sign = char::from(RAMP[shade.min(RAMP.len() - 1)]);
            let cell: String = std::iter::repeat_n(sign, 2).collect();
            let at = x + hour as u16 * 2;
            let role = match shade {
                0..=3 => Role::Muted,
                4..=6 => Role::Chart,
                _ => Role::Warn,
            };
            ui.text(at, y, 2, &cell, role);
            if (from..to).contains(&(this * 24 + hour)) {
                ui.bar(Rect { x: at, y, width: 2, height: 1 });
                if !ui.cursor.1 {
                    ui.cursor = ((at, y), false);
                }
            }
        }
        ui.text_right(map.x + 13 + 48 + 7, y, 7, &thousands(counts.day(this)), Role::Muted);
    }
    let y = map.y + 1 + rows as u16;
    if y + 1 < map.bottom() {
        let sums: Vec<u64> = (0..24)
            .map(|hour| {
                (0..rows).map(|back| counts.hours.get(&((newest - back) * 24 + hour)).copied().unwrap_or(0)).sum()
            })
            .collect();
        let top = sums.iter().copied().max().unwrap_or(0);
        ui.text(map.x + 1, y, 11, "sum", Role::Muted);
        let line: String = sums.iter().map(|n| level(ui.signs.levels, *n, top).repeat(2)).collect();
        ui.text(x, y, 48, &line, Role::Chart);
    }
    if y + 3 < map.bottom() {
        let room = map.width.saturating_sub(2);
        let legend = format!("from . few to @ {} an hour", peak.max(1));
        ui.text(map.x + 1, y + 2, room, &legend, Role::Muted);
        let (types, total) = by_type(state, (newest - rows + 1) * 24, (newest + 1) * 24);
        ui.text(map.x + 1, y + 3, room, &format!("by type  {types}   of {}", thousands(total)), Role::Text);
        let below = Rect { x: map.x + 1, y: y + 4, width: room, height: map.bottom().saturating_sub(y + 4) };
        gaps(ui, below, counts, newest, rows);
    }
    if side > 0 {
        selection(ui, Rect { x: map.right(), width: side, ..area });
    }
}

/// One bar a day.
fn bars(ui: &mut Ui<'_>, area: Rect, counts: &Counts) {
    let state = ui.state;
    let cursor = state.pages.timeline.cursor.div_euclid(24);
    let today = local_hour(state, state.now).div_euclid(24);
    let foot = if area.height >= 14 { 5 } else { 2.min(area.height) };
    let rows = i64::from(area.height.saturating_sub(foot)).max(1);
    let newest = if today - cursor < rows { today } else { cursor + rows / 2 };
    let peak = (0..rows).map(|back| counts.day(newest - back)).max().unwrap_or(0);
    for back in 0..rows {
        let day = newest - back;
        let y = area.y + back as u16;
        let date = date_of(day);
        let here = day == cursor;
        let sign = if here { ui.signs.cursor } else { " " };
        let name = super::ui::WEEKDAYS[date.weekday().to_monday_zero_offset() as usize];
        let first = date.day() == 1 || back == 0;
        let label = if first {
            format!("{name} {:>2} {}", date.day(), MONTHS[date.month() as usize - 1])
        } else {
            format!("{name} {:>2}", date.day())
        };
        ui.text(area.x, y, 11, &format!("{sign}{label}"), if here { Role::Strong } else { Role::Muted });
        let n = counts.day(day);
        let room = area.width.saturating_sub(12 + 8);
        bar(ui, area.x + 12, y, room, n, peak);
        ui.text_right(area.right().saturating_sub(1), y, 7, &thousands(n), Role::Muted);
        if here && state.focused {
            ui.bar(Rect { x: area.x, y, width: 10.min(area.width), height: 1 });
            ui.cursor = ((area.x, y), false);
        }
    }
    let below = Rect { y: area.bottom().saturating_sub(foot), height: foot, ..area };
    let (types, _) = by_type(state, cursor * 24, cursor * 24 + 24);
    let date = date_of(cursor);
    let text = format!("{}: {types}", ui.weekday(date));
    ui.text(below.x + 1, below.y + u16::from(foot > 2), below.width.saturating_sub(2), &text, Role::Text);
    if foot >= 5 {
        let by_hour: Vec<u64> =
            (0..24).map(|hour| counts.hours.get(&(cursor * 24 + hour)).copied().unwrap_or(0)).collect();
        let top = by_hour.iter().copied().max().unwrap_or(0);
        let mut line = String::from("hours ");
        for (hour, n) in by_hour.iter().enumerate().filter(|(_, n)| **n > 0) {
            line.push_str(&format!(" {hour:02} {}", level(ui.signs.levels, *n, top)));
        }
        ui.text(below.x + 1, below.y + 2, below.width.saturating_sub(2), &line, Role::Muted);
        let area = Rect { x: below.x + 1, y: below.y + 3, width: below.width.saturating_sub(2), height: foot - 3 };
        gaps(ui, area, counts, newest, rows);
    }
}

/// The hours of one day.
fn hours(ui: &mut Ui<'_>, area: Rect, counts: &Counts) {
    let state = ui.state;
    let cursor = state.pages.timeline.cursor;
    let rows = i64::from(area.height.saturating_sub(2)).clamp(1, 48);
    let newest = local_hour(state, state.now).min(cursor + rows / 2);
    let peak = (0..rows).map(|back| counts.hours.get(&(newest - back)).copied().unwrap_or(0)).max().unwrap_or(0);
    for back in 0..rows {
        let hour = newest - back;
        let y = area.y + back as u16;
        let date = date_of(hour.div_euclid(24));
        let here = hour == cursor;
        let sign = if here { ui.signs.cursor } else { " " };
        let label =
            format!("{sign}{:>2} {} {:02}h", date.day(), MONTHS[date.month() as usize - 1], hour.rem_euclid(24));
        ui.text(area.x, y, 12, &label, if here { Role::Strong } else { Role::Muted });
        let n = counts.hours.get(&hour).copied().unwrap_or(0);
        bar(ui, area.x + 12, y, area.width.saturating_sub(20), n, peak);
        ui.text_right(area.right().saturating_sub(1), y, 7, &thousands(n), Role::Muted);
        if here && state.focused {
            ui.bar(Rect { x: area.x, y, width: 12.min(area.width), height: 1 });
            ui.cursor = ((area.x, y), false);
        }
    }
    let (types, _) = by_type(state, cursor, cursor + 1);
    ui.text(area.x + 1, area.bottom().saturating_sub(1), area.width.saturating_sub(2), &types, Role::Text);
}

/// One bar a month.
fn months(ui: &mut Ui<'_>, area: Rect, counts: &Counts) {
    let state = ui.state;
    let cursor = date_of(state.pages.timeline.cursor.div_euclid(24));
    let mut by_month: BTreeMap<(i16, i8), u64> = BTreeMap::new();
    for (hour, n) in &counts.hours {
        let date = date_of(hour.div_euclid(24));
        *by_month.entry((date.year(), date.month())).or_default() += n;
    }
    by_month.entry((cursor.year(), cursor.month())).or_default();
    let peak = by_month.values().copied().max().unwrap_or(0);
    for (at, ((year, month), n)) in by_month.iter().rev().take(usize::from(area.height)).enumerate() {
        let y = area.y + at as u16;
        let here = (*year, *month) == (cursor.year(), cursor.month());
        let sign = if here { ui.signs.cursor } else { " " };
        let label = format!("{sign}{} {year}", MONTHS[*month as usize - 1]);
        ui.text(area.x, y, 11, &label, if here { Role::Strong } else { Role::Muted });
        bar(ui, area.x + 11, y, area.width.saturating_sub(19), *n, peak);
        ui.text_right(area.right().saturating_sub(1), y, 7, &thousands(*n), Role::Muted);
    }
}

fn bar(ui: &mut Ui<'_>, x: u16, y: u16, room: u16, n: u64, peak: u64) {
    if n == 0 || peak == 0 || room == 0 {
        return;
    }
    let cells = (n * u64::from(room) / peak) as u16;
    if cells == 0 {
        ui.text(x, y, 1, ui.signs.part, Role::Chart);
    } else {
        let style = ui.role(Role::Chart);
        ui.canvas.rule(x, y, cells, ui.signs.full, style);
    }
}

/// Signs and counts of a span of local hours, and its sum.
fn by_type(state: &State, from: i64, to: i64) -> (String, u64) {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for hour in &state.pages.timeline.hours {
        let local = local_hour(state, hour.hour * 3_600_000);
        if !(from..to).contains(&local) || hour.n == 0 {
            continue;
        }
        let sign = state.alphabet.sign(&hour.type_id, state.look.glyphs);
        match counts.iter_mut().find(|(known, _)| *known == sign) {
            Some((_, n)) => *n += u64::from(hour.n),
            None => counts.push((sign, u64::from(hour.n))),
        }
    }
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let total = counts.iter().map(|(_, n)| n).sum();
    if counts.is_empty() {
        return ("nothing".into(), 0);
    }
    (counts.iter().map(|(sign, n)| format!("{sign} {n}")).collect::<Vec<_>>().join("  "), total)
}

/// What the selected span holds.
fn selection(ui: &mut Ui<'_>, area: Rect) {
    let state = ui.state;
    let (from, to) = timeline_span(state);
    let (types, total) = by_type(state, from, to);
    let date = ui.weekday(date_of(from.div_euclid(24)));
    let title = if to - from <= 24 {
        format!("{date} {:02}h–{:02}h", from.rem_euclid(24), (to - 1).rem_euclid(24) + 1)
    } else {
        format!("{date} – {}", ui.weekday(date_of((to - 1).div_euclid(24))))
    };
    let inside = ui.frame(area, &title, &format!("{total} obs"), false);
    let room = inside.width.saturating_sub(2);
    let mut y = inside.y;
    for range in state.look.widths.wrap(&types, usize::from(room), 2) {
        ui.text(inside.x + 1, y, room, &types[range], Role::Text);
        y += 1;
    }
    y += 1;
    let since = crate::tui::update::hour_start(state, from);
    let until = crate::tui::update::hour_start(state, to);
    let key = |ms: i64| crate::store::api::PageKey { created_ms: ms, id: crate::memory::MemoryId(i64::MIN) };
    let start = state.arena.position(key(until));
    let end = state.arena.position(key(since));
    let left = usize::from(inside.bottom().saturating_sub(y));
    let rows: Vec<u32> = state
        .arena
        .newest_first()
        .skip(start)
        .take(end - start)
        .filter(|ix| {
            let row = state.arena.row(*ix);
            let scoped = state.scope.is_empty() || state.scope.iter().any(|key| key == state.arena.project_of(row));
            scoped && row.flags.kind() == crate::memory::Kind::Observation
        })
        .take(left + 1)
        .collect();
    let shown = if rows.len() > left { left.saturating_sub(1) } else { rows.len() };
    for ix in rows.iter().take(shown) {
        let row = state.arena.row(*ix);
        let sign = state.alphabet.sign(state.arena.type_of(row), state.look.glyphs);
        let text = format!("{} {} {sign} {}", row.id, ui.clock(row.created_ms), state.arena.title(row));
        ui.text(inside.x + 1, y, room, &text, Role::Text);
        y += 1;
    }
    if shown < rows.len() {
        let more = total.saturating_sub(shown as u64);
        ui.text(inside.x + 1, y, room, &format!("{} {more} more", ui.signs.ellipsis), Role::Muted);
    }
}

/// Spans in which sessions ran and nothing was kept, and days without sessions.
fn gaps(ui: &mut Ui<'_>, area: Rect, counts: &Counts, newest: i64, days: i64) {
    if area.height == 0 {
        return;
    }
    let state = ui.state;
    let oldest = (newest - days + 1) * 24;
    let mut found: Vec<String> = Vec::new();
    for info in &state.pages.sessions.list {
        let (from, to) = (local_hour(state, info.started_ms), local_hour(state, info.last_ms) + 1);
        if from < oldest || to - from > 48 {
            continue;
        }
        let ran = info.last_ms - info.started_ms >= 30 * 60_000 && info.prompts >= 3;
        if ran && info.observations == 0 && counts.sum(from, to) == 0 {
            found.push(format!("{} – {}: ran, 0 recorded (see 5)", ui.when(info.started_ms), ui.clock(info.last_ms)));
        }
    }
    for (at, gap) in found.iter().take(usize::from(area.height)).enumerate() {
        let lead = if at == 0 { "gaps  " } else { "      " };
        ui.text(area.x, area.y + at as u16, area.width, &format!("{lead}{gap}"), Role::Warn);
    }
}
