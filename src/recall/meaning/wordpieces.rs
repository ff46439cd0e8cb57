//! Text as word pieces of an uncased BERT vocabulary: lower case, accents off, signs apart, the longest piece first.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::pieces::Words;
use super::weights::{Weights, read_u32};

/// Longest word that is looked up; longer ones are unknown.
const LONGEST: usize = 60;

/// Splits text.
#[derive(Clone, Copy, Debug)]
pub struct WordPieces {
    words: Words,
    start: usize,
    end: usize,
    unknown: usize,
}

impl WordPieces {
    /// The vocabulary of `weights`.
    pub fn new(weights: &Weights) -> Self {
        let special = weights.part("wp.special");
        let row = |at: usize| read_u32(special, at * 4) as usize;
        Self { words: Words::new(weights, "wp"), start: row(0), end: row(1), unknown: row(2) }
    }

    /// Rows of the table for `text`, at most `limit` with the rows for start and end.
    pub fn rows(&self, text: &str, limit: usize) -> Vec<usize> {
        let mut rows = vec![self.start];
        for word in words(text) {
            self.pieces(&word, &mut rows);
            if rows.len() >= limit {
                break;
            }
        }
        rows.truncate(limit - 1);
        rows.push(self.end);
        rows
    }

    fn pieces(&self, word: &str, rows: &mut Vec<usize>) {
        let before = rows.len();
        let mut rest = word;
        let mut prefix = "";
        if word.len() > LONGEST {
            rows.push(self.unknown);
            return;
        }
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, ch)| at + ch.len_utf8()).collect::<Vec<_>>();
            let found = ends.iter().rev().find_map(|end| {
                let piece = format!("{prefix}{}", &rest[..*end]);
                self.words.find(piece.as_bytes()).map(|row| (row, *end))
            });
            let Some((row, end)) = found else {
                // One part unknown makes the word unknown.
                rows.truncate(before);
                rows.push(self.unknown);
                return;
            };
            rows.push(row);
            rest = &rest[end..];
            prefix = "##";
        }
    }
}

/// Words and signs, in lower case without accents.
fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    for ch in text.to_lowercase().nfd().filter(|ch| !is_combining_mark(*ch)) {
        let alone = ch.is_ascii_punctuation()
            || ('\u{4e00}'..='\u{9fff}').contains(&ch)
            || (!ch.is_alphanumeric() && !ch.is_whitespace());
        if alone || ch.is_whitespace() || ch.is_control() {
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            if alone && !ch.is_control() {
                out.push(ch.to_string());
            }
        } else {
            word.push(ch);
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}
