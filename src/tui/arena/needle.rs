//! Finding words in rows: literal, every word must be there, case by smart case.
//!
//! A word without capitals is looked for ignoring ASCII case in the text as it is, and in the folded copy that rows
//! with other letters carry. The search jumps from one occurrence of the word's rarest letter to the next (both cases
//! at once), so a text is passed over at memory speed until something looks like the word.

use std::borrow::Cow;

use crate::recall::query::{Query, TermKind, fold};

/// The plain words of a query, made ready. Everything else of it is `sieve`'s business.
#[derive(Clone, Debug, Default)]
pub struct Needles {
    words: Vec<Word>,
}

#[derive(Clone, Debug)]
struct Word {
    /// Lower case when case is ignored.
    text: String,
    ignore_case: bool,
    /// The rarest byte: where in the word, itself, its other case.
    at: usize,
    low: u8,
    high: u8,
}

impl Needles {
    /// The words that every row must hold. Alternatives, negations and patterns are not among them.
    pub fn new(query: &Query) -> Self {
        let alone = query.groups.iter().filter(|group| group.len() == 1).map(|group| &group[0]);
        let plain = alone.filter(|term| !term.not && term.kind == TermKind::Word && !term.text.is_empty());
        let mut words: Vec<Word> = plain.map(|term| Word::new(&term.text)).collect();
        // A lone accent folds to nothing, and nothing is everywhere.
        words.retain(|word| !word.text.is_empty());
        // The longest first: it fails soonest.
        words.sort_by_key(|word| std::cmp::Reverse(word.text.len()));
        Self { words }
    }

    /// No words: everything passes.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether `text` (a row's, with its folded copy) holds every word. `original` is it without the copy, where a
    /// word with capitals is looked for.
    pub fn all_in(&self, text: &str, original: impl Fn() -> usize) -> bool {
        self.words.iter().all(|word| {
            if word.ignore_case {
                word.is_in(text.as_bytes())
            } else {
                // With capitals: exactly so, in what was written; marks folded as the word's are.
                let written = &text[..original()];
                memchr::memmem::find(written.as_bytes(), word.text.as_bytes()).is_some()
                    || (!written.is_ascii() && fold(written, false).contains(&word.text))
            }
        })
    }

    /// Whether every row that passes `self` passed `before`: then only those need to be looked at.
    pub fn narrows(&self, before: &Self) -> bool {
        before.words.iter().all(|old| {
            self.words.iter().any(|new| new.text.contains(&old.text) && (old.ignore_case || !new.ignore_case))
        })
    }
}

impl Word {
    fn new(typed: &str) -> Self {
        let ignore_case = !typed.chars().any(char::is_uppercase);
        let text: Cow<'_, str> = fold(typed, ignore_case);
        let at = (0..text.len()).min_by_key(|at| commonness(text.as_bytes()[*at])).unwrap_or(0);
        let low = text.as_bytes().get(at).copied().unwrap_or(0);
        Self { at, low, high: low.to_ascii_uppercase(), text: text.into_owned(), ignore_case }
    }

    fn is_in(&self, text: &[u8]) -> bool {
        let needle = self.text.as_bytes();
        if needle.len() > text.len() {
            return false;
        }
        // Only places where the whole word has room.
        let window = &text[self.at..text.len() - (needle.len() - self.at - 1)];
        let hit = |found: usize| text[found..found + needle.len()].eq_ignore_ascii_case(needle);
        if self.low == self.high {
            memchr::memchr_iter(self.low, window).any(hit)
        } else {
            memchr::memchr2_iter(self.low, self.high, window).any(hit)
        }
    }
}

/// How common a byte is in technical English, roughly: more is more common.
fn commonness(byte: u8) -> u8 {
    match byte {
        b' ' => 255,
        b'e' => 250,
        b't' => 240,
        b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 230,
        b'l' | b'c' | b'd' => 200,
        b'h' | b'u' | b'p' | b'm' => 180,
        b'f' | b'g' | b'b' => 150,
        b'y' | b'w' | b'v' => 130,
        b'k' | b'x' => 90,
        b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' | b'(' | b')' => 100,
        b'z' | b'q' | b'j' => 60,
        // Lead bytes of other scripts repeat; the bytes behind them tell characters apart.
        0xc0..=0xff => 220,
        0x80..=0xbf => 120,
        _ => 70,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::live::{ListRow, RowBatch};
    use crate::tui::arena::Arena;

    fn finds(title: &str, typed: &str) -> bool {
        let local = crate::recall::query::Local { now: jiff::Timestamp::UNIX_EPOCH, zone: jiff::tz::TimeZone::UTC };
        let query = Query::parse(typed, &Default::default(), &local);
        let mut arena = Arena::default();
        let mut batch = RowBatch::default();
        batch.push(&ListRow { id: 1, title, facts: "a fact\nand Another", ..ListRow::default() });
        arena.absorb(batch);
        let row = arena.row(0);
        Needles::new(&query).all_in(arena.text(row), || arena.original(row).len())
    }

    #[test]
    fn words_are_literal_and_case_is_smart() {
        for (title, typed, found) in [
            ("Refresh-token race fixed", "refresh tok", true),
            ("Refresh-token race fixed", "tok refresh", true),
            ("Refresh-token race fixed", "refresh valkey", false),
            ("Refresh-token race fixed", "Refresh", true),
            ("refresh-token race fixed", "Refresh", false),
            ("x", "another", true),
            ("Café naïve", "cafe naive", true),
            ("Café naïve", "café", true),
            ("支付回调失败", "回调", true),
            ("İstanbul ẞ 击", "i", true),
            ("ends in foo(bar)", "foo(bar)", true),
            ("zz", "zzz", false),
            ("anything", "\u{301}", true),
        ] {
            assert_eq!(finds(title, typed), found, "{typed} in {title}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_same_as_looking_in_the_folded_text(title in "[a-zA-Z éÉ支İ]{0,20}", typed in "[a-zé支]{1,3}") {
            let expected = fold(&title, true).contains(fold(&typed, true).as_ref())
                || title.to_ascii_lowercase().contains(fold(&typed, true).as_ref())
                || "a fact and another".contains(fold(&typed, true).as_ref());
            proptest::prop_assert_eq!(finds(&title, &typed), expected);
        }
    }
}
