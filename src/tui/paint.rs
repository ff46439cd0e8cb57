//! Putting text on a buffer: the only code of the screen that writes cells.
//!
//! Every write is clipped to the buffer, whatever coordinates it is given, so a view cannot panic at 0x0 (D.8).
//! Text is measured by [`Widths`] alone. A cell behind a wide one holds a space and is skipped by the emitter.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation;

use super::width::Widths;

/// A buffer and the rule by which text on it is measured.
pub struct Canvas<'a> {
    /// Where cells are written.
    pub buf: &'a mut Buffer,
    /// How text is measured.
    pub widths: Widths,
    /// What stands for cut text.
    pub ellipsis: &'static str,
}

impl<'a> Canvas<'a> {
    /// A canvas over the whole buffer.
    pub fn new(buf: &'a mut Buffer, widths: Widths, ellipsis: &'static str) -> Self {
        Self { buf, widths, ellipsis }
    }

    /// Writes `text` at (`x`, `y`) in at most `max` cells, cut without a mark. Returns the column behind it.
    pub fn put(&mut self, x: u16, y: u16, max: u16, text: &str, style: Style) -> u16 {
        let area = self.buf.area;
        if y < area.top() || y >= area.bottom() || x >= area.right() {
            return x;
        }
        let end = x.saturating_add(max).min(area.right());
        let mut at = x;
        for cluster in text.graphemes(true) {
            let cells = self.widths.cluster(cluster) as u16;
            if cells == 0 {
                continue;
            }
            if at + cells > end {
                // A wide cluster that would stick out of its field becomes a space.
                if at < end {
                    self.cell(at, y, " ", style);
                }
                return end.max(at);
            }
            self.cell(at, y, cluster, style);
            if cells == 2 {
                self.cell(at + 1, y, " ", style);
            }
            at += cells;
        }
        at
    }

    /// [`Canvas::put`] with an ellipsis when the text is cut.
    pub fn text(&mut self, x: u16, y: u16, max: u16, text: &str, style: Style) -> u16 {
        let cut = self.widths.cut(text, usize::from(max), self.ellipsis);
        self.put(x, y, max, &cut, style)
    }

    /// Writes `text` so that it ends before column `right`. Returns the column it begins at.
    pub fn text_right(&mut self, right: u16, y: u16, max: u16, text: &str, style: Style) -> u16 {
        let cut = self.widths.cut(text, usize::from(max), self.ellipsis).into_owned();
        let x = right.saturating_sub(self.widths.of(&cut) as u16);
        self.put(x, y, max, &cut, style);
        x
    }

    /// Fills a rectangle with spaces of `style`.
    pub fn clear(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buf.area);
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                self.cell(x, y, " ", style);
            }
        }
    }

    /// Lays `style` over what is there.
    pub fn tint(&mut self, area: Rect, style: Style) {
        self.buf.set_style(area.intersection(self.buf.area), style);
    }

    /// Repeats a one-cell `symbol` over `len` cells.
    pub fn rule(&mut self, x: u16, y: u16, len: u16, symbol: &str, style: Style) {
        for at in x..x.saturating_add(len) {
            self.cell(at, y, symbol, style);
        }
    }

    fn cell(&mut self, x: u16, y: u16, symbol: &str, style: Style) {
        if let Some(cell) = self.buf.cell_mut((x, y)) {
            cell.reset();
            cell.set_symbol(symbol);
            cell.set_style(style);
        }
    }
}

/// The rows of a buffer as text, trailing spaces dropped: what snapshots compare.
pub fn lines_of(buf: &Buffer, widths: Widths) -> Vec<String> {
    let area = buf.area;
    (area.top()..area.bottom())
        .map(|y| {
            let mut line = String::new();
            let mut x = area.left();
            while x < area.right() {
                let symbol = buf.cell((x, y)).map_or(" ", |cell| cell.symbol());
                line.push_str(symbol);
                x += (widths.cluster(symbol) as u16).max(1);
            }
            line.trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a158_the_column_after_a_wide_title_is_the_same() {
        let widths = Widths::default();
        for title in ["plain ascii title here", "支付回调失败重试三次", "🦀 Grantで取得 👩‍👩‍👧", "e\u{301}e\u{301}e\u{301}"]
        {
            let mut buf = Buffer::empty(Rect::new(0, 0, 20, 1));
            let mut canvas = Canvas::new(&mut buf, widths, "…");
            canvas.text(0, 0, 12, title, Style::default());
            canvas.put(12, 0, 1, "│", Style::default());
            assert_eq!(buf.cell((12, 0)).unwrap().symbol(), "│", "{title}");
        }
    }

    #[test]
    fn writing_outside_the_buffer_does_nothing() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 0, 0));
        let mut canvas = Canvas::new(&mut buf, Widths::default(), "…");
        canvas.text(5, 9, 10, "title", Style::default());
        canvas.clear(Rect::new(0, 0, 9, 9), Style::default());
        canvas.rule(0, 0, 5, "─", Style::default());
    }
}
