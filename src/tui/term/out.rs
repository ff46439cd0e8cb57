//! From one frame to the next: the bytes that change what differs, and none when nothing does.
//!
//! Our own rather than a library's, because of three promises: 0 bytes when the frames are equal (D.14); an absolute
//! column after every cluster whose width terminals disagree about, so that one emoji cannot shift a border (B.22);
//! cells by our own measure of width, the one everything was laid out with.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::tui::width::Widths;

/// Begins and ends a frame that terminals show at once.
const SYNC_BEGIN: &[u8] = b"\x1b[?2026h";
const SYNC_END: &[u8] = b"\x1b[?2026l";

/// What is on the terminal now.
#[derive(Debug)]
pub struct Screen {
    shown: Buffer,
    /// Cursor as it was left: place and whether it is seen.
    cursor: Option<((u16, u16), bool)>,
    /// Nothing is known of what is on the terminal.
    unknown: bool,
}

impl Default for Screen {
    fn default() -> Self {
        Self { shown: Buffer::default(), cursor: None, unknown: true }
    }
}

impl Screen {
    /// Everything is drawn with the next frame.
    pub fn forget(&mut self) {
        self.unknown = true;
        self.cursor = None;
    }

    /// Bytes that turn what is shown into `next`, with the cursor at its place. Empty when nothing differs.
    pub fn frame(&mut self, next: &Buffer, cursor: ((u16, u16), bool), widths: Widths) -> Vec<u8> {
        let mut out = Vec::new();
        let whole = self.unknown || self.shown.area != next.area;
        if whole {
            self.shown = Buffer::empty(next.area);
            self.cursor = None;
            out.extend_from_slice(b"\x1b[0m\x1b[2J");
        }
        let mut pen = Pen::default();
        let before = out.len();
        for y in next.area.top()..next.area.bottom() {
            self.line(next, y, widths, &mut pen, &mut out);
        }
        let drawn = out.len() > before || whole;
        if pen.styled {
            out.extend_from_slice(b"\x1b[0m");
        }
        self.unknown = false;
        if drawn {
            let mut framed = Vec::with_capacity(out.len() + 32);
            framed.extend_from_slice(SYNC_BEGIN);
            framed.append(&mut out);
            out = framed;
        }
        if drawn || self.cursor != Some(cursor) {
            place_cursor(cursor, self.cursor.is_some_and(|(_, seen)| seen), &mut out);
            self.cursor = Some(cursor);
        }
        if drawn {
            out.extend_from_slice(SYNC_END);
            self.shown.clone_from(next);
        }
        out
    }

    fn line(&self, next: &Buffer, y: u16, widths: Widths, pen: &mut Pen, out: &mut Vec<u8>) {
        let width = usize::from(next.area.width);
        let start = usize::from(y - next.area.top()) * width;
        let row = &next.content()[start..start + width];
        let shown = &self.shown.content()[start..start + width];
        if row == shown {
            return;
        }
        let mut x = 0;
        while x < width {
            let cell = &row[x];
            let cells = widths.cluster(cell.symbol()).max(1);
            // What stands behind a wide cell changes with it.
            let span = x..(x + cells).min(width);
            if row[span.clone()] != shown[span.clone()] {
                pen.go(x as u16, y, out);
                pen.style(cell, out);
                out.extend_from_slice(cell.symbol().as_bytes());
                let plain = cell.symbol().len() == 1;
                pen.at = plain.then_some((x as u16 + 1, y));
            }
            x = span.end.max(x + 1);
        }
    }
}

fn place_cursor(((x, y), seen): ((u16, u16), bool), was_seen: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\x1b[{};{}H", y + 1, x + 1).as_bytes());
    if seen != was_seen {
        out.extend_from_slice(if seen { b"\x1b[?25h" } else { b"\x1b[?25l" });
    }
}

/// Where the terminal would write next, and how.
#[derive(Default)]
struct Pen {
    /// `None`: after a cluster whose width is not certain.
    at: Option<(u16, u16)>,
    style: (Color, Color, Modifier),
    styled: bool,
}

impl Pen {
    fn go(&mut self, x: u16, y: u16, out: &mut Vec<u8>) {
        if self.at == Some((x, y)) {
            return;
        }
        out.extend_from_slice(format!("\x1b[{};{}H", y + 1, x + 1).as_bytes());
    }

    fn style(&mut self, cell: &Cell, out: &mut Vec<u8>) {
        let style = (cell.fg, cell.bg, cell.modifier);
        if style == self.style {
            return;
        }
        let mut codes = String::from("\x1b[0");
        for (modifier, code) in [
            (Modifier::BOLD, ";1"),
            (Modifier::DIM, ";2"),
            (Modifier::ITALIC, ";3"),
            (Modifier::UNDERLINED, ";4"),
            (Modifier::REVERSED, ";7"),
        ] {
            if cell.modifier.contains(modifier) {
                codes.push_str(code);
            }
        }
        color(&mut codes, cell.fg, 30);
        color(&mut codes, cell.bg, 40);
        codes.push('m');
        out.extend_from_slice(codes.as_bytes());
        self.styled = style != Self::default().style;
        self.style = style;
    }
}

/// `base` is 30 for text, 40 for background.
fn color(codes: &mut String, color: Color, base: u8) {
    use std::fmt::Write;
    let _ = match color {
        Color::Reset => Ok(()),
        Color::Indexed(n @ 0..=7) => write!(codes, ";{}", base + n),
        Color::Indexed(n @ 8..=15) => write!(codes, ";{}", base + 60 + n - 8),
        Color::Indexed(n) => write!(codes, ";{};5;{n}", base + 8),
        Color::Rgb(r, g, b) => write!(codes, ";{};2;{r};{g};{b}", base + 8),
        // Themes give numbers only; a name would be one of the sixteen.
        _ => Ok(()),
    };
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;
    use crate::tui::paint::Canvas;

    fn frame(text: &str) -> Buffer {
        let mut buf = Buffer::empty(Rect::new(0, 0, 20, 2));
        let mut canvas = Canvas::new(&mut buf, Widths::default(), "…");
        canvas.put(0, 0, 20, text, Style::default());
        canvas.put(12, 0, 1, "|", Style::default().fg(Color::Indexed(2)));
        buf
    }

    fn on_vt(bytes: &[u8]) -> vt100::Parser {
        let mut vt = vt100::Parser::new(2.try_into().unwrap(), 20.try_into().unwrap(), 0);
        vt.process(bytes);
        vt
    }

    #[test]
    fn equal_frames_are_no_bytes() {
        let mut screen = Screen::default();
        let cursor = ((0, 0), false);
        assert!(!screen.frame(&frame("hello"), cursor, Widths::default()).is_empty());
        assert_eq!(screen.frame(&frame("hello"), cursor, Widths::default()), Vec::<u8>::new());
    }

    #[test]
    fn only_what_differs_is_written() {
        let mut screen = Screen::default();
        let cursor = ((0, 0), false);
        let mut vt = on_vt(&screen.frame(&frame("hello"), cursor, Widths::default()));
        let bytes = screen.frame(&frame("hallo"), cursor, Widths::default());
        assert!(bytes.len() < 40, "{}", bytes.len());
        vt.process(&bytes);
        assert!(vt.screen().contents().starts_with("hallo       |"), "{:?}", vt.screen().contents());
    }

    #[test]
    fn wide_and_joined_clusters_leave_the_border_where_it_is() {
        let mut screen = Screen::default();
        let mut vt = on_vt(&[]);
        for text in ["支付回调", "plain", "👩‍👩‍👧 🇩🇪", "e\u{301}e\u{301}", "支x", "x支"] {
            vt.process(&screen.frame(&frame(text), ((0, 0), false), Widths::default()));
            assert_eq!(vt.screen().cell(0, 12).unwrap().contents(), "|", "after {text}");
        }
    }

    #[test]
    fn a_resize_draws_everything() {
        let mut screen = Screen::default();
        let small = Buffer::empty(Rect::new(0, 0, 3, 1));
        screen.frame(&frame("hello"), ((0, 0), false), Widths::default());
        let bytes = screen.frame(&small, ((0, 0), false), Widths::default());
        assert!(bytes.windows(4).any(|part| part == b"\x1b[2J"));
        screen.frame(&Buffer::empty(Rect::new(0, 0, 0, 0)), ((0, 0), false), Widths::default());
    }
}
