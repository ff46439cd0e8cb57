//! Colours as written in a theme, and what they become on a terminal of a given depth.

use ratatui::style::Color;

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: shape and words only.
    Mono,
    /// The sixteen of the palette.
    Ansi16,
    /// The 256 of xterm.
    Ansi256,
    /// 24 bits.
    True,
}

/// A colour as a theme writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Whatever the terminal has.
    Default,
    /// A palette colour 0–15: the user's own shade of it.
    Palette(u8),
    /// One of xterm's 256.
    Indexed(u8),
    /// 24 bits.
    Rgb(u8, u8, u8),
}

/// A colour with what stands for it at lesser depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layered {
    /// At full depth.
    pub best: Paint,
    /// At 256 colours; else made from `best`.
    pub ansi256: Option<Paint>,
    /// At sixteen; else made from `best`.
    pub ansi16: Option<Paint>,
}

impl From<Paint> for Layered {
    fn from(best: Paint) -> Self {
        Self { best, ansi256: None, ansi16: None }
    }
}

const PALETTE_NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

/// xterm's own sixteen, for nearness and contrast. A user's palette may differ; that is the point of a palette.
const PALETTE_RGB: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

impl Paint {
    /// `"#rrggbb"`, `0`–`255`, a palette name, `"default"`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "default" {
            return Some(Self::Default);
        }
        if let Some(hex) = text.strip_prefix('#') {
            let value = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 6)?;
            return Some(Self::Rgb((value >> 16) as u8, (value >> 8) as u8, value as u8));
        }
        if let Ok(number) = text.parse::<u8>() {
            return Some(Self::number(number));
        }
        let name = text.replace('_', "-").replace("grey", "bright-black").replace("gray", "bright-black");
        PALETTE_NAMES.iter().position(|known| *known == name).map(|at| Self::Palette(at as u8))
    }

    /// A number: the first sixteen are the palette.
    pub fn number(number: u8) -> Self {
        if number < 16 { Self::Palette(number) } else { Self::Indexed(number) }
    }

    /// About which red, green and blue; `None` for the terminal's own.
    pub fn rgb(self) -> Option<(u8, u8, u8)> {
        match self {
            Self::Default => None,
            Self::Palette(number) => Some(PALETTE_RGB[usize::from(number & 15)]),
            Self::Indexed(number) => Some(indexed_rgb(number)),
            Self::Rgb(r, g, b) => Some((r, g, b)),
        }
    }
}

impl Layered {
    /// The colour for the screen; `None` leaves the terminal's own.
    pub fn at(self, depth: Depth) -> Option<Color> {
        let paint = match depth {
            Depth::Mono => return None,
            Depth::True => self.best,
            Depth::Ansi256 => self.ansi256.unwrap_or_else(|| to_256(self.best)),
            Depth::Ansi16 => self.ansi16.unwrap_or_else(|| to_16(self.ansi256.unwrap_or(self.best))),
        };
        Some(match paint {
            Paint::Default => Color::Reset,
            Paint::Palette(number) | Paint::Indexed(number) => Color::Indexed(number),
            Paint::Rgb(r, g, b) => Color::Rgb(r, g, b),
        })
    }
}

fn to_256(paint: Paint) -> Paint {
    let Paint::Rgb(r, g, b) = paint else { return paint };
    let near = (16..=255u8).min_by_key(|number| apart(indexed_rgb(*number), (r, g, b))).unwrap_or(16);
    Paint::Indexed(near)
}

fn to_16(paint: Paint) -> Paint {
    match paint {
        Paint::Default | Paint::Palette(_) => paint,
        _ => {
            let rgb = paint.rgb().unwrap_or_default();
            let near = (0..16u8).min_by_key(|number| apart(PALETTE_RGB[usize::from(*number)], rgb)).unwrap_or(7);
            Paint::Palette(near)
        }
    }
}

fn indexed_rgb(number: u8) -> (u8, u8, u8) {
    match number {
        0..=15 => PALETTE_RGB[usize::from(number)],
        16..=231 => {
            let cube = number - 16;
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        grey => {
            let level = 8 + 10 * (grey - 232);
            (level, level, level)
        }
    }
}

/// Distance as the eye weighs it, roughly.
fn apart(a: (u8, u8, u8), b: (u8, u8, u8)) -> i32 {
    let square = |x: u8, y: u8| (i32::from(x) - i32::from(y)).pow(2);
    2 * square(a.0, b.0) + 4 * square(a.1, b.1) + 3 * square(a.2, b.2)
}

/// WCAG contrast of two colours: 1 to 21.
pub fn contrast(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Relative luminance, 0 (black) to 1 (white).
pub fn luminance(rgb: (u8, u8, u8)) -> f64 {
    let channel = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(rgb.0) + 0.7152 * channel(rgb.1) + 0.0722 * channel(rgb.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_read_in_every_form() {
        assert_eq!(Paint::parse("#9ccfd8"), Some(Paint::Rgb(0x9c, 0xcf, 0xd8)));
        assert_eq!(Paint::parse("bright-black"), Some(Paint::Palette(8)));
        assert_eq!(Paint::parse("116"), Some(Paint::Indexed(116)));
        assert_eq!(Paint::parse("default"), Some(Paint::Default));
        assert_eq!(Paint::parse("mauve"), None);
    }

    #[test]
    fn lesser_depths_fall_to_the_nearest() {
        let red = Layered::from(Paint::Rgb(250, 10, 10));
        assert_eq!(red.at(Depth::True), Some(Color::Rgb(250, 10, 10)));
        assert_eq!(red.at(Depth::Ansi256), Some(Color::Indexed(196)));
        assert_eq!(red.at(Depth::Ansi16), Some(Color::Indexed(9)));
        assert_eq!(red.at(Depth::Mono), None);
        let given = Layered { best: Paint::Rgb(1, 2, 3), ansi256: Some(Paint::Indexed(60)), ansi16: None };
        assert_eq!(given.at(Depth::Ansi256), Some(Color::Indexed(60)));
    }

    #[test]
    fn contrast_is_wcags() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 0.01);
        assert!((contrast((118, 118, 118), (255, 255, 255)) - 4.54).abs() < 0.01);
    }
}
