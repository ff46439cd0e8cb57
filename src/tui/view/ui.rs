//! What the parts of the screen share.

use jiff::civil::Date;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::memory::from_millis;
use crate::tui::layout::{Screen, inner, screen};
use crate::tui::paint::Canvas;
use crate::tui::state::State;
use crate::tui::theme::{Role, Signs};

/// A painter: state, places, canvas.
pub struct Ui<'a> {
    /// What is painted.
    pub state: &'a State,
    /// Where.
    pub screen: Screen,
    /// On what.
    pub canvas: Canvas<'a>,
    /// The signs.
    pub signs: &'static Signs,
    /// Where the hardware cursor belongs, and whether it is seen.
    pub cursor: ((u16, u16), bool),
}

impl<'a> Ui<'a> {
    /// A painter for a buffer.
    pub fn new(state: &'a State, buf: &'a mut Buffer) -> Self {
        let signs = state.look.signs();
        Self {
            state,
            screen: screen(state),
            canvas: Canvas::new(buf, state.look.widths, signs.ellipsis),
            signs,
            cursor: ((0, 0), false),
        }
    }

    /// The style of a role on the theme's background.
    pub fn role(&self, role: Role) -> Style {
        self.state.look.theme.base().patch(self.state.look.theme.of(role))
    }

    /// Everything blank.
    pub fn fill(&mut self) {
        let area = self.canvas.buf.area;
        let style = self.role(Role::Text);
        self.canvas.clear(area, style);
    }

    /// Text in a role, cut with an ellipsis. Returns the column behind it.
    pub fn text(&mut self, x: u16, y: u16, max: u16, text: &str, role: Role) -> u16 {
        let style = self.role(role);
        self.canvas.text(x, y, max, text, style)
    }

    /// Text that ends before column `right`.
    pub fn text_right(&mut self, right: u16, y: u16, max: u16, text: &str, role: Role) -> u16 {
        let style = self.role(role);
        self.canvas.text_right(right, y, max, text, style)
    }

    /// Cells of a text.
    pub fn cells(&self, text: &str) -> u16 {
        self.canvas.widths.of(text).min(usize::from(u16::MAX)) as u16
    }

    /// A frame with a title at its left and one at its right; without frames a rule, or nothing for an empty title.
    /// Returns what is inside.
    pub fn frame(&mut self, area: Rect, left: &str, right: &str, focus: bool) -> Rect {
        let border = if focus && self.state.focused { Role::BorderFocus } else { Role::Border };
        if area.width == 0 || area.height == 0 {
            return area;
        }
        if !self.screen.framed {
            return self.rule_frame(area, left, right);
        }
        let Rect { x, y, width, height } = area;
        let (style, signs) = (self.role(border), self.signs);
        let (last_x, last_y) = (x + width - 1, y + height - 1);
        for row in [y, last_y] {
            self.canvas.rule(x + 1, row, width.saturating_sub(2), signs.horizontal, style);
        }
        for row in y + 1..last_y {
            self.canvas.put(x, row, 1, signs.vertical, style);
            self.canvas.put(last_x, row, 1, signs.vertical, style);
        }
        let corners = [
            (x, y, signs.top_left),
            (last_x, y, signs.top_right),
            (x, last_y, signs.bottom_left),
            (last_x, last_y, signs.bottom_right),
        ];
        for (cx, cy, sign) in corners {
            self.canvas.put(cx, cy, 1, sign, style);
        }
        self.titles(x + 2, y, width.saturating_sub(4), left, right, focus);
        inner(area, true)
    }

    fn rule_frame(&mut self, area: Rect, left: &str, right: &str) -> Rect {
        if left.is_empty() {
            return area;
        }
        let style = self.role(Role::Border);
        self.canvas.rule(area.x, area.y, area.width, self.signs.horizontal, style);
        self.titles(area.x + 1, area.y, area.width.saturating_sub(2), left, right, false);
        Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
    }

    /// Titles set into a horizontal line of `width` cells.
    pub fn titles(&mut self, x: u16, y: u16, width: u16, left: &str, right: &str, focus: bool) {
        let right_cells = if right.is_empty() { 0 } else { self.cells(right) + 2 };
        let room = width.saturating_sub(right_cells);
        if !left.is_empty() {
            let text =
                format!(" {} ", self.canvas.widths.cut(left, usize::from(room.saturating_sub(2)), self.signs.ellipsis));
            self.text(x, y, room, &text, if focus { Role::Accent } else { Role::Strong });
        }
        if !right.is_empty() && right_cells <= width {
            self.text_right(x + width, y, right_cells, &format!(" {right} "), Role::Muted);
        }
    }

    /// Words in a line, each with its role, a space between them. Returns the column behind the last.
    pub fn words(&mut self, x: u16, y: u16, max: u16, words: &[(&str, Role)]) -> u16 {
        let end = x.saturating_add(max);
        let mut at = x;
        for (text, role) in words {
            if at >= end {
                break;
            }
            at = self.text(at, y, end - at, text, *role);
        }
        at
    }

    /// Text with some byte ranges drawn as matches, cut with an ellipsis.
    pub fn marked(
        &mut self,
        x: u16,
        y: u16,
        max: u16,
        text: &str,
        marks: &[std::ops::Range<usize>],
        style: Style,
    ) -> u16 {
        let cut = self.canvas.widths.cut(text, usize::from(max), self.signs.ellipsis).into_owned();
        let end = self.canvas.put(x, y, max, &cut, style);
        if marks.is_empty() {
            return end;
        }
        let kept =
            cut.len().saturating_sub(if cut.len() < text.len() || cut != text { self.signs.ellipsis.len() } else { 0 });
        let found = self.state.look.theme.of(Role::Match);
        for mark in marks {
            let (from, to) = (mark.start.min(kept), mark.end.min(kept));
            if from >= to || !text.is_char_boundary(from) || !text.is_char_boundary(to) {
                continue;
            }
            let before = self.cells(&text[..from]);
            let len = self.cells(&text[from..to]);
            self.canvas.tint(Rect { x: x + before, y, width: len.min(max.saturating_sub(before)), height: 1 }, found);
        }
        end
    }

    /// The bar of the active row: strong while the keys are here, only a sign when they are elsewhere.
    pub fn cursor_row(&mut self, area: Rect) {
        if self.state.focused {
            self.bar(area);
        }
        if area.height > 0 {
            let sign = self.signs.cursor;
            let style = self.canvas.buf.cell((area.x, area.y)).map(|cell| cell.style()).unwrap_or_default();
            self.canvas.put(area.x, area.y, 1, sign, style.add_modifier(Modifier::BOLD));
            if !self.cursor.1 {
                self.cursor = ((area.x, area.y), false);
            }
        }
    }

    /// Cells of the active row: one colour throughout, or a reversed row would be a patchwork of its colours.
    pub fn bar(&mut self, area: Rect) {
        let base = self.state.look.theme.base();
        let plain =
            Style { fg: Some(base.fg.unwrap_or_default()), bg: Some(base.bg.unwrap_or_default()), ..Style::default() };
        self.canvas.tint(area, plain.patch(self.state.look.theme.of(Role::Cursor)));
    }

    /// Local time of an instant as `14:31`.
    pub fn clock(&self, ms: i64) -> String {
        let zoned = from_millis(ms).to_zoned_datetime(self.state.zone.clone());
        if self.state.settings.timefmt == "12h" {
            let hour = zoned.hour();
            let half = if hour < 12 { 'a' } else { 'p' };
            format!("{}:{:02}{half}", (hour + 11) % 12 + 1, zoned.minute())
        } else {
            format!("{:02}:{:02}", zoned.hour(), zoned.minute())
        }
    }

    /// Local day of an instant.
    pub fn date(&self, ms: i64) -> Date {
        from_millis(ms).to_zoned_datetime(self.state.zone.clone()).date()
    }

    /// `27 Aug`, with the year when it is another one.
    pub fn day(&self, date: Date) -> String {
        let this_year = self.date(self.state.now).year();
        let text = format!("{} {}", date.day(), MONTHS[date.month() as usize - 1]);
        if date.year() == this_year { text } else { format!("{text} {}", date.year()) }
    }

    /// `Thu 27 Aug`.
    pub fn weekday(&self, date: Date) -> String {
        let name = WEEKDAYS[date.weekday().to_monday_zero_offset() as usize];
        format!("{name} {}", self.day(date))
    }

    /// `27 Aug 14:31`.
    pub fn when(&self, ms: i64) -> String {
        format!("{} {}", self.day(self.date(ms)), self.clock(ms))
    }
}

/// Months as the screen names them.
pub const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Days of the week, Monday first.
pub const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// `4s`, `6m`, `3h`, `5d`.
pub fn age(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `1d 10h`, for how long something has been.
pub fn span(ms: i64) -> String {
    let minutes = ms.max(0) / 60_000;
    match minutes {
        0..60 => format!("{minutes}m"),
        60..1_440 => format!("{}h {}m", minutes / 60, minutes % 60),
        _ => format!("{}d {}h", minutes / 1_440, minutes / 60 % 24),
    }
}

/// `1,893`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `0.9k`, `12k`, `1.2M`: always short.
pub fn tokens(n: u64) -> String {
    match n {
        0..100 => n.to_string(),
        100..9_950 => format!("{:.1}k", n as f64 / 1_000.0),
        9_950..999_500 => format!("{}k", (n + 500) / 1_000),
        999_500..9_950_000 => format!("{:.1}M", n as f64 / 1_000_000.0),
        _ => format!("{}M", (n + 500_000) / 1_000_000),
    }
}

/// `24 MB`.
pub fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..1_000_000 => format!("{} kB", n / 1_000),
        1_000_000..10_000_000 => format!("{:.1} MB", n as f64 / 1_000_000.0),
        10_000_000..1_000_000_000 => format!("{} MB", n / 1_000_000),
        _ => format!("{:.1} GB", n as f64 / 1_000_000_000.0),
    }
}

/// A plural `s` where it belongs.
pub fn plural(n: u64, noun: &str) -> String {
    let end = if n == 1 { "" } else { "s" };
    format!("{} {noun}{end}", thousands(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!(thousands(1_893), "1,893");
        assert_eq!(thousands(12), "12");
        assert_eq!(thousands(1_000_000), "1,000,000");
        assert_eq!([tokens(90), tokens(940), tokens(12_400), tokens(1_234_567)], ["90", "0.9k", "12k", "1.2M"]);
        assert_eq!([age(4_000), age(360_000), age(90_000_000)], ["4s", "6m", "1d"]);
    }
}
