//! A line that is being typed: text, a cursor between grapheme clusters, nothing else.

use unicode_segmentation::UnicodeSegmentation;

/// The longest line anybody types here.
const LONGEST: usize = 4_096;

/// A line of text with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEdit {
    text: String,
    cursor: usize,
}

impl LineEdit {
    /// A line with the cursor at its end.
    pub fn new(text: impl Into<String>) -> Self {
        let mut line = Self::default();
        line.insert(&text.into());
        line
    }

    /// What is typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Byte where the cursor stands; always a character boundary.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Another text, the cursor at its end.
    pub fn set(&mut self, text: impl Into<String>) {
        *self = Self::new(text);
    }

    /// Types text at the cursor; what is no printable character becomes a space.
    pub fn insert(&mut self, typed: &str) {
        // What is edited may come from a memory: it is drawn, so it is made safe first (A102).
        for ch in crate::memory::safe_text(typed).chars() {
            let ch = if ch == '\n' { ' ' } else { ch };
            if self.text.len() + ch.len_utf8() > LONGEST {
                return;
            }
            self.text.insert(self.cursor, ch);
            self.cursor += ch.len_utf8();
        }
    }

    /// Replaces a range of bytes and puts the cursor behind what is new.
    pub fn replace(&mut self, range: std::ops::Range<usize>, with: &str) {
        let end = range.end.min(self.text.len());
        let start = range.start.min(end);
        if self.text.is_char_boundary(start) && self.text.is_char_boundary(end) {
            self.text.replace_range(start..end, with);
            self.cursor = start + with.len();
        }
    }

    /// One cluster to the left.
    pub fn left(&mut self) {
        self.cursor = self.before();
    }

    /// One cluster to the right.
    pub fn right(&mut self) {
        self.cursor = self.after();
    }

    /// To the beginning.
    pub fn home(&mut self) {
        self.cursor = 0;
    }

    /// To the end.
    pub fn end(&mut self) {
        self.cursor = self.text.len();
    }

    /// Deletes the cluster before the cursor.
    pub fn backspace(&mut self) {
        let from = self.before();
        self.text.replace_range(from..self.cursor, "");
        self.cursor = from;
    }

    /// Deletes the cluster at the cursor.
    pub fn delete(&mut self) {
        let to = self.after();
        self.text.replace_range(self.cursor..to, "");
    }

    /// Deletes the word before the cursor.
    pub fn delete_word(&mut self) {
        let kept = self.text[..self.cursor].trim_end();
        let from =
            kept.rfind(char::is_whitespace).map_or(0, |at| at + kept[at..].chars().next().map_or(1, char::len_utf8));
        self.text.replace_range(from..self.cursor, "");
        self.cursor = from;
    }

    /// Deletes everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.text[self.cursor..].graphemes(true).next().map_or(self.cursor, |cluster| self.cursor + cluster.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editing_moves_by_what_is_seen_as_one_character() {
        let mut line = LineEdit::new("a👩‍👩‍👧e\u{301}");
        line.backspace();
        assert_eq!(line.text(), "a👩‍👩‍👧");
        line.left();
        line.insert("x");
        assert_eq!(line.text(), "ax👩‍👩‍👧");
        line.delete();
        assert_eq!(line.text(), "ax");
        line.set("two words here");
        line.delete_word();
        assert_eq!(line.text(), "two words ");
        line.delete_word();
        assert_eq!(line.text(), "two ");
        line.home();
        line.backspace();
        line.insert("\u{1b}[");
        assert_eq!(line.text(), "␛[two ");
    }
}
