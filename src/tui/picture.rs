//! A buffer as an SVG picture: every run of cells of one style is a piece of text at its own column, so that no font can
//! shift what stands behind it.

use std::collections::HashMap;
use std::fmt::Write;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::width::Widths;

/// Width and height of a cell in the picture.
const CELL: (f32, f32) = (8.0, 17.0);

/// The sixteen colours of the pictures: those of a common dark terminal.
const PALETTE: [&str; 16] = [
    "#1c1f26", "#e5737f", "#8fc67a", "#e3be6f", "#71a7e6", "#c389de", "#62bfc9", "#c9ced8", "#747c8c", "#f08d97",
    "#a6d991", "#f0d08b", "#8fbdf2", "#d5a5ec", "#82d4dd", "#ffffff",
];
const FOREGROUND: &str = "#d6dae2";
const BACKGROUND: &str = "#12151b";

/// A cell's look in the picture.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Look {
    fg: String,
    bg: String,
    bold: bool,
    underline: bool,
}

impl Look {
    fn of(fg: Color, bg: Color, modifier: Modifier) -> Self {
        let (mut fg, mut bg) = (css(fg, FOREGROUND), css(bg, BACKGROUND));
        if modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut fg, &mut bg);
        }
        Self { fg, bg, bold: modifier.contains(Modifier::BOLD), underline: modifier.contains(Modifier::UNDERLINED) }
    }
}

fn css(color: Color, default: &str) -> String {
    match color {
        Color::Indexed(n @ 0..=15) => PALETTE[usize::from(n)].to_owned(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Indexed(n) => {
            let (r, g, b) = super::theme::Paint::number(n).rgb().unwrap_or_default();
            format!("#{r:02x}{g:02x}{b:02x}")
        }
        _ => default.to_owned(),
    }
}

/// The picture.
pub fn svg(buf: &Buffer, widths: Widths, title: &str) -> String {
    let (columns, lines) = (buf.area.width, buf.area.height);
    let (width, height) = (f32::from(columns) * CELL.0, f32::from(lines) * CELL.1);
    let ground = buf.cell((0, 0)).map_or(BACKGROUND.to_owned(), |cell| css(cell.bg, BACKGROUND));
    let mut classes: HashMap<Look, usize> = HashMap::new();
    let mut order: Vec<Look> = Vec::new();
    let (mut back, mut front) = (String::new(), String::new());
    for y in 0..lines {
        for (x, cells, text, look) in runs(buf, y, widths) {
            let (left, top) = (f32::from(x) * CELL.0, f32::from(y) * CELL.1);
            let wide = f32::from(cells) * CELL.0;
            if look.bg != ground {
                let _ = writeln!(
                    back,
                    r#"<rect x="{left}" y="{top}" width="{wide}" height="{}" fill="{}"/>"#,
                    CELL.1, look.bg
                );
            }
            if text.trim().is_empty() {
                continue;
            }
            // Spaces at the edge are told by the place: viewers drop them.
            let lead = text.len() - text.trim_start().len();
            let left = left + lead as f32 * CELL.0;
            let text = text.trim();
            let known = *classes.entry(look.clone()).or_insert_with(|| {
                order.push(look.clone());
                order.len() - 1
            });
            let length = widths.of(text) as f32 * CELL.0;
            let _ = writeln!(
                front,
                r#"<text class="s{known}" x="{left}" y="{}" textLength="{length}">{}</text>"#,
                top + 13.0,
                escaped(text)
            );
        }
    }
    let mut style = String::new();
    for (at, look) in order.iter().enumerate() {
        let bold = if look.bold { ";font-weight:bold" } else { "" };
        let underline = if look.underline { ";text-decoration:underline" } else { "" };
        let _ = write!(style, ".s{at}{{fill:{}{bold}{underline}}}", look.fg);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"-8 -8 {} {}\" role=\"img\" xml:space=\"preserve\">\n\
         <title>{}</title>\n\
         <style>text{{font:13.29px 'DejaVu Sans Mono','Menlo','Consolas','Noto Sans Mono CJK SC',monospace;white-space:pre}}{style}</style>\n\
         <rect x=\"-8\" y=\"-8\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{ground}\"/>\n{back}{front}</svg>\n",
        width + 16.0,
        height + 16.0,
        width + 16.0,
        height + 16.0,
        escaped(title),
        width + 16.0,
        height + 16.0,
    )
}

/// Neighbouring cells of one look: column, cells, text. A cluster that is not plain stands alone: fonts disagree most
/// about those.
fn runs(buf: &Buffer, y: u16, widths: Widths) -> Vec<(u16, u16, String, Look)> {
    let mut out: Vec<(u16, u16, String, Look)> = Vec::new();
    let mut alone = true;
    let mut x = 0;
    while x < buf.area.width {
        let Some(cell) = buf.cell((x, y)) else { break };
        let cells = (widths.cluster(cell.symbol()) as u16).max(1);
        let look = Look::of(cell.fg, cell.bg, cell.modifier);
        let plain = cell.symbol().is_ascii() || is_line(cell.symbol());
        match out.last_mut() {
            Some((_, len, text, last)) if *last == look && plain && !alone => {
                *len += cells;
                text.push_str(cell.symbol());
            }
            _ => out.push((x, cells, cell.symbol().to_owned(), look)),
        }
        alone = !plain;
        x += cells;
    }
    out
}

/// Box drawing and blocks join from cell to cell.
fn is_line(symbol: &str) -> bool {
    symbol.chars().all(|ch| ('\u{2500}'..='\u{259f}').contains(&ch))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;
    use crate::tui::paint::Canvas;

    #[test]
    fn text_stands_at_its_column_and_is_escaped() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 20, 1));
        let mut canvas = Canvas::new(&mut buf, Widths::default(), "…");
        canvas.put(0, 0, 20, "a<b 支付 x", Style::default());
        let picture = svg(&buf, Widths::default(), "t");
        assert!(picture.contains("a&lt;b"));
        assert!(picture.contains(r#"x="32" y="13" textLength="16">支"#), "{picture}");
        assert!(picture.contains(r#"x="72" y="13" textLength="8">x"#), "{picture}");
    }
}
