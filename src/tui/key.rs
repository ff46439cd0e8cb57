//! Keys as values, and their names in `keys.toml`.
//!
//! Only what every terminal can send has a name here: characters, Ctrl with a letter, and the named keys. Alt is kept
//! apart so that a stray `ESC x` is not taken for `x`.

use std::fmt;

/// One key press.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// Held with Ctrl.
    pub ctrl: bool,
    /// Held with Alt, or preceded by ESC.
    pub alt: bool,
}

/// Which key, modifiers aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // the names say it
pub enum Code {
    Char(char),
    Enter,
    Tab,
    BackTab,
    Backspace,
    Esc,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Insert,
    Delete,
    F(u8),
}

const NAMES: [(&str, Code); 16] = [
    ("space", Code::Char(' ')),
    ("enter", Code::Enter),
    ("tab", Code::Tab),
    ("shift-tab", Code::BackTab),
    ("backspace", Code::Backspace),
    ("esc", Code::Esc),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pgup", Code::PageUp),
    ("pgdn", Code::PageDown),
    ("insert", Code::Insert),
    ("delete", Code::Delete),
];

impl Key {
    /// A key without modifiers.
    pub const fn plain(code: Code) -> Self {
        Self { code, ctrl: false, alt: false }
    }

    /// A character without modifiers.
    pub const fn char(ch: char) -> Self {
        Self::plain(Code::Char(ch))
    }

    /// Ctrl with a letter.
    pub const fn ctrl(ch: char) -> Self {
        Self { code: Code::Char(ch), ctrl: true, alt: false }
    }

    /// The character this key types in an input, if it types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            Code::Char(ch) if !self.ctrl && !self.alt => Some(ch),
            _ => None,
        }
    }

    /// A key by its name: `j`, `ctrl-d`, `alt-x`, `space`, `f2`.
    pub fn parse(name: &str) -> Option<Self> {
        if let Some((_, code)) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Some(Self::plain(*code));
        }
        let mut chars = name.chars();
        if let (Some(ch), None) = (chars.next(), chars.next()) {
            return (!ch.is_control()).then(|| Self::char(ch));
        }
        let lower = name.to_ascii_lowercase();
        if let Some(rest) = lower.strip_prefix("ctrl-") {
            return Self::parse(rest).map(|key| Self { ctrl: true, ..key });
        }
        if lower.starts_with("alt-") {
            return Self::parse(&name[4..]).map(|key| Self { alt: true, ..key });
        }
        let number: u8 = lower.strip_prefix('f')?.parse().ok()?;
        (1..=24).contains(&number).then(|| Self::plain(Code::F(number)))
    }

    /// A sequence: keys apart by spaces (`g g`, `ctrl-x u`), or characters run together (`gg`).
    pub fn parse_sequence(text: &str) -> Option<Vec<Self>> {
        let mut keys = Vec::new();
        for word in text.split_whitespace() {
            match Self::parse(word) {
                Some(key) => keys.push(key),
                // `gg` is `g g`; a long word is a name we do not know.
                None if word.chars().count() <= 3 => keys.extend(word.chars().map(Self::char)),
                None => return None,
            }
        }
        (!keys.is_empty()).then_some(keys)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            f.write_str("^")?;
        }
        if self.alt {
            f.write_str("alt-")?;
        }
        match self.code {
            Code::F(number) => write!(f, "F{number}"),
            Code::Char(' ') => f.write_str("space"),
            Code::Char(ch) => write!(f, "{ch}"),
            code => f.write_str(NAMES.iter().find(|(_, known)| *known == code).map_or("?", |(name, _)| name)),
        }
    }
}

/// A sequence as people write it: `gg`, `g p` never.
pub fn sequence_name(keys: &[Key]) -> String {
    let named = keys.iter().any(|key| !matches!(key.code, Code::Char(ch) if ch != ' ') || key.ctrl || key.alt);
    let parts: Vec<String> = keys.iter().map(Key::to_string).collect();
    parts.join(if named { " " } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in ["j", "G", "space", "enter", "esc", "F2", "pgdn", "shift-tab", "`", "{"] {
            let key = Key::parse(name).unwrap();
            assert_eq!(key.to_string(), name);
        }
        assert_eq!(Key::parse("ctrl-d"), Some(Key::ctrl('d')));
        assert_eq!(Key::parse("nonsense"), None);
        assert_eq!(Key::parse_sequence("gg").map(|k| k.len()), Some(2));
        assert_eq!(sequence_name(&Key::parse_sequence("g g").unwrap()), "gg");
        assert_eq!(sequence_name(&Key::parse_sequence("ctrl-r").unwrap()), "^r");
    }
}
