//! Many rows of a list as one text and one array.

use std::collections::HashMap;

use crate::memory::{Kind, MemoryId, safe_line};
use crate::recall::query::fold;
use crate::store::api::PageKey;

/// Yes-and-no properties of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowFlags(pub u16);

impl RowFlags {
    /// Always in the context.
    pub const PINNED: u16 = 1;
    /// Never in it.
    pub const EXCLUDED: u16 = 2;
    /// Changed by a person.
    pub const EDITED: u16 = 4;
    /// Replaced by another.
    pub const SUPERSEDED: u16 = 8;
    /// On a branch that was rewound away.
    pub const ABANDONED: u16 = 16;
    /// Made by a helper agent.
    pub const HELPER: u16 = 32;
    /// A summary.
    pub const SUMMARY: u16 = 64;
    /// A prompt.
    pub const PROMPT: u16 = 128;
    /// The text behind the original is its folded copy.
    pub const FOLDED: u16 = 256;
    /// Its type is not one of the mode's.
    pub const WILD: u16 = 512;
    /// Gone: trashed or removed.
    pub const GONE: u16 = 1024;

    /// Whether all of `bits` are set.
    pub fn has(self, bits: u16) -> bool {
        self.0 & bits == bits
    }

    /// Sets or clears `bits`.
    pub fn set(&mut self, bits: u16, on: bool) {
        if on {
            self.0 |= bits;
        } else {
            self.0 &= !bits;
        }
    }

    /// The kind of the row.
    pub fn kind(self) -> Kind {
        if self.has(Self::SUMMARY) {
            Kind::Summary
        } else if self.has(Self::PROMPT) {
            Kind::Prompt
        } else {
            Kind::Observation
        }
    }
}

/// A row as a source has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListRow<'a> {
    /// Row id.
    pub id: i64,
    /// Event time.
    pub created_ms: i64,
    /// Row kind.
    pub kind: Kind,
    /// Type id, or the word as given where it is none of the mode's.
    pub type_id: &'a str,
    /// Its place in the project list: the root.
    pub project: &'a str,
    /// Session id; empty: none.
    pub session: &'a str,
    /// Prompt number.
    pub prompt: u32,
    /// Tokens to read it.
    pub tokens: u32,
    /// [`RowFlags`]; kind bits are set here from `kind`.
    pub flags: RowFlags,
    /// One line.
    pub title: &'a str,
    /// One line more.
    pub subtitle: &'a str,
    /// Facts, one a line; empty when not asked for.
    pub facts: &'a str,
}

/// A row of a batch: where its text stands, and numbers.
#[derive(Clone, Copy, Debug)]
pub struct BatchRow {
    /// Row id.
    pub id: i64,
    /// Event time.
    pub created_ms: i64,
    /// Byte where the title begins. Behind it stand subtitle, facts and the folded copy, each after a newline.
    pub at: u32,
    /// Bytes of the title.
    pub title: u16,
    /// Bytes of the subtitle.
    pub subtitle: u16,
    /// Bytes of the facts.
    pub facts: u16,
    /// Bytes of the folded copy.
    pub folded: u16,
    /// Index into [`RowBatch::types`].
    pub type_ix: u16,
    /// Index into [`RowBatch::projects`].
    pub project_ix: u16,
    /// Index into [`RowBatch::sessions`].
    pub session_ix: u32,
    /// Tokens to read it.
    pub tokens: u32,
    /// Prompt number.
    pub prompt: u16,
    /// Properties.
    pub flags: RowFlags,
}

impl BatchRow {
    /// Bytes of everything of this row.
    pub fn len(&self) -> usize {
        usize::from(self.title)
            + usize::from(self.subtitle)
            + usize::from(self.facts)
            + usize::from(self.folded)
            + SEPARATORS
    }

    /// A row always has text behind it, if only its separators.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Its place in time.
    pub fn key(&self) -> PageKey {
        PageKey { created_ms: self.created_ms, id: MemoryId(self.id) }
    }
}

/// Title, subtitle, facts and folded copy each end in a newline.
const SEPARATORS: usize = 4;
/// A title longer than this is cut in lists; the detail shows all of it.
const LONGEST_TITLE: usize = 480;
const LONGEST_SUBTITLE: usize = 480;
/// Facts beyond this are found by full text.
const LONGEST_FACTS: usize = 4_000;

/// Many rows.
#[derive(Clone, Debug, Default)]
pub struct RowBatch {
    /// The text of all rows.
    pub text: String,
    /// The rows, in the order they were pushed.
    pub rows: Vec<BatchRow>,
    /// Type words.
    pub types: Vec<String>,
    /// Project roots.
    pub projects: Vec<String>,
    /// Session ids.
    pub sessions: Vec<String>,
    type_of: HashMap<String, u16>,
    project_of: HashMap<String, u16>,
    session_of: HashMap<String, u32>,
}

impl RowBatch {
    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row. Text is made safe for terminals here, once (A102), and a folded copy is laid beside whatever
    /// folding changes by more than ASCII case.
    pub fn push(&mut self, row: &ListRow<'_>) {
        let at = self.text.len() as u32;
        let title = self.push_line(row.title, LONGEST_TITLE);
        let subtitle = self.push_line(row.subtitle, LONGEST_SUBTITLE);
        let facts = self.push_facts(row.facts);
        let mut flags = row.flags;
        flags.set(RowFlags::SUMMARY, row.kind == Kind::Summary);
        flags.set(RowFlags::PROMPT, row.kind == Kind::Prompt);
        let original = &self.text[at as usize..];
        let mut folded = 0;
        if !original.is_ascii() {
            let copy = fold(original, true).into_owned();
            if copy != original {
                flags.set(RowFlags::FOLDED, true);
                folded = self.push_cut(&copy.replace('\n', " "), usize::from(u16::MAX));
            }
        }
        self.text.push('\n');
        let type_ix = intern(&mut self.types, &mut self.type_of, row.type_id);
        let project_ix = intern(&mut self.projects, &mut self.project_of, row.project);
        let session_ix = intern(&mut self.sessions, &mut self.session_of, row.session);
        self.rows.push(BatchRow {
            id: row.id,
            created_ms: row.created_ms,
            at,
            title,
            subtitle,
            facts,
            folded,
            type_ix,
            project_ix,
            session_ix,
            tokens: row.tokens,
            prompt: u16::try_from(row.prompt).unwrap_or(u16::MAX),
            flags,
        });
    }

    /// The title of a row.
    pub fn title(&self, row: &BatchRow) -> &str {
        let at = row.at as usize;
        &self.text[at..at + usize::from(row.title)]
    }

    fn push_line(&mut self, line: &str, longest: usize) -> u16 {
        let len =
            if is_safe_line(line) { self.push_cut(line, longest) } else { self.push_cut(&safe_line(line), longest) };
        self.text.push('\n');
        len
    }

    fn push_facts(&mut self, facts: &str) -> u16 {
        let start = self.text.len();
        for fact in facts.lines() {
            let room = LONGEST_FACTS.saturating_sub(self.text.len() - start);
            if room < 8 {
                break;
            }
            if self.text.len() > start {
                self.text.push('\u{1f}');
            }
            if is_safe_line(fact) {
                self.push_cut(fact, room);
            } else {
                self.push_cut(&safe_line(fact), room);
            }
        }
        let len = (self.text.len() - start) as u16;
        self.text.push('\n');
        len
    }

    fn push_cut(&mut self, text: &str, longest: usize) -> u16 {
        let cut = if text.len() <= longest { text } else { &text[..text.floor_char_boundary(longest)] };
        self.text.push_str(cut);
        cut.len() as u16
    }
}

/// Nothing in it has to be replaced: printable ASCII with single spaces, or letters of any script.
fn is_safe_line(line: &str) -> bool {
    let mut space = true; // no leading space
    for byte in line.bytes() {
        match byte {
            b' ' if space => return false,
            b' ' => space = true,
            0x21..=0x7e => space = false,
            // C1 controls and bidi marks begin with these; the careful way sorts them out.
            0xc2 | 0xd8 | 0xe2 => return false,
            0x80.. => space = false,
            _ => return false,
        }
    }
    line.is_empty() || !space
}

fn intern<N: Copy + TryFrom<usize>>(list: &mut Vec<String>, of: &mut HashMap<String, N>, word: &str) -> N
where
    N::Error: std::fmt::Debug,
{
    if let Some(ix) = of.get(word) {
        return *ix;
    }
    let ix = N::try_from(list.len()).or_else(|_| N::try_from(0)).expect("zero is a number of every size");
    list.push(safe_line(word));
    of.insert(word.to_owned(), ix);
    ix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a102_rows_hold_no_control_characters() {
        let mut batch = RowBatch::default();
        batch.push(&ListRow {
            title: "\u{1b}]0;owned\u{7}\u{1b}[2Jx",
            facts: "a\u{9b}b\nc\u{202e}d",
            ..ListRow::default()
        });
        assert!(!batch.text.chars().any(|ch| (ch.is_control() && ch != '\n' && ch != '\u{1f}') || ch == '\u{202e}'));
        assert!(batch.title(&batch.rows[0]).contains("owned"));
    }

    #[test]
    fn a_folded_copy_stands_beside_what_folding_changes() {
        let mut batch = RowBatch::default();
        for title in ["plain", "naïve É", "支付回调"] {
            batch.push(&ListRow { title, ..ListRow::default() });
        }
        let folded: Vec<bool> = batch.rows.iter().map(|row| row.flags.has(RowFlags::FOLDED)).collect();
        assert_eq!(folded, [false, true, false]);
        assert!(batch.text.contains("naive e"));
        for row in &batch.rows {
            assert_eq!(&batch.text[row.at as usize + row.len() - 1..row.at as usize + row.len()], "\n");
        }
    }
}
