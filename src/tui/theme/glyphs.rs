//! The signs on the screen, in four sets. Meaning never rests on a glyph that a font may lack: `ascii` and `letters`
//! say the same with letters.

/// A set of signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlyphSet {
    /// Box drawing and symbols of the Basic Multilingual Plane.
    Unicode,
    /// Seven bits only.
    Ascii,
    /// Types as letters; for screen readers and narrow fonts.
    Letters,
    /// Icons of a patched font.
    Nerd,
}

impl GlyphSet {
    /// By its name in the settings.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "unicode" => Self::Unicode,
            "ascii" => Self::Ascii,
            "letters" => Self::Letters,
            "nerd" => Self::Nerd,
            _ => return None,
        })
    }

    /// The signs of the set.
    pub fn signs(self) -> &'static Signs {
        match self {
            Self::Ascii => &ASCII,
            _ => &UNICODE,
        }
    }

    /// Whether types are shown by their letter.
    pub fn types_are_letters(self) -> bool {
        matches!(self, Self::Ascii | Self::Letters)
    }
}

/// Everything that is drawn and is not text.
#[derive(Debug)]
#[allow(missing_docs)] // the names say it
pub struct Signs {
    pub cursor: &'static str,
    pub ellipsis: &'static str,
    pub up: &'static str,
    pub down: &'static str,
    pub horizontal: &'static str,
    pub vertical: &'static str,
    pub top_left: &'static str,
    pub top_right: &'static str,
    pub bottom_left: &'static str,
    pub bottom_right: &'static str,
    pub tee: &'static str,
    pub elbow: &'static str,
    pub dot: &'static str,
    pub quote_open: &'static str,
    pub quote_close: &'static str,
    pub dash: &'static str,
    /// Bars of rising height.
    pub levels: [&'static str; 8],
    /// Bars of rising width, eighths of a cell.
    pub full: &'static str,
    pub part: &'static str,
    pub masked: &'static str,
}

static UNICODE: Signs = Signs {
    cursor: "▸",
    ellipsis: "…",
    up: "▲",
    down: "▾",
    horizontal: "─",
    vertical: "│",
    top_left: "┌",
    top_right: "┐",
    bottom_left: "└",
    bottom_right: "┘",
    tee: "├",
    elbow: "└",
    dot: "·",
    quote_open: "“",
    quote_close: "”",
    dash: "–",
    levels: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    full: "█",
    part: "▏",
    masked: "█",
};

static ASCII: Signs = Signs {
    cursor: ">",
    ellipsis: "~",
    up: "^",
    down: "v",
    horizontal: "-",
    vertical: "|",
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    tee: "+",
    elbow: "+",
    dot: "-",
    quote_open: "\"",
    quote_close: "\"",
    dash: "-",
    levels: [".", ":", "-", "=", "+", "*", "#", "@"],
    full: "#",
    part: ".",
    masked: "#",
};

/// The icon of a type in a patched font; other types keep their glyph.
pub fn nerd_icon(type_id: &str) -> Option<&'static str> {
    Some(match type_id {
        "bugfix" => "\u{f188}",
        "feature" => "\u{f0eb}",
        "refactor" => "\u{f021}",
        "change" => "\u{f00c}",
        "discovery" => "\u{f002}",
        "decision" => "\u{f24e}",
        "security_alert" => "\u{f071}",
        "security_note" => "\u{f084}",
        "sensitive" => "\u{f05e}",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::width::Widths;

    #[test]
    fn every_sign_is_one_cell_and_ascii_is_ascii() {
        for (set, ascii) in [(&UNICODE, false), (&ASCII, true)] {
            let all = [
                set.cursor,
                set.ellipsis,
                set.up,
                set.down,
                set.horizontal,
                set.vertical,
                set.top_left,
                set.top_right,
                set.bottom_left,
                set.bottom_right,
                set.tee,
                set.elbow,
                set.dot,
                set.quote_open,
                set.quote_close,
                set.dash,
                set.full,
                set.part,
                set.masked,
            ];
            for sign in all.into_iter().chain(set.levels) {
                assert_eq!(Widths::default().of(sign), 1, "{sign}");
                assert!(!ascii || sign.is_ascii());
            }
        }
    }
}
