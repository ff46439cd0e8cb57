//! Text as pieces of words: the segmentation that a SentencePiece unigram model finds best.
//!
//! The vocabulary is a sorted list of byte strings; a walk narrows a range of it byte by byte, so nothing is built
//! when it is loaded.

use unicode_normalization::UnicodeNormalization;

use super::weights::{Weights, read_u32};

/// A sorted list of byte strings.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    text: &'static [u8],
    ends: &'static [u8],
    count: usize,
}

impl Words {
    /// The list under `name`.
    pub fn new(weights: &Weights, name: &str) -> Self {
        let ends = weights.part(&format!("{name}.off"));
        Self { text: weights.part(&format!("{name}.text")), ends, count: ends.len() / 4 - 1 }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.count
    }

    /// One of them.
    pub fn get(&self, at: usize) -> &'static [u8] {
        &self.text[read_u32(self.ends, at * 4) as usize..read_u32(self.ends, at * 4 + 4) as usize]
    }

    /// Where `word` stands.
    pub fn find(&self, word: &[u8]) -> Option<usize> {
        let range = self.narrow((0, self.count), 0, word)?;
        (self.get(range.0) == word).then_some(range.0)
    }

    /// The part of `range` (all equal in their first `depth` bytes) that goes on with `bytes`.
    fn narrow(&self, range: (usize, usize), depth: usize, bytes: &[u8]) -> Option<(usize, usize)> {
        let key = |at: usize| {
            let word = self.get(at);
            &word[depth.min(word.len())..(depth + bytes.len()).min(word.len())]
        };
        let from = partition(range, |at| key(at) < bytes);
        let to = partition((from, range.1), |at| key(at) <= bytes);
        (from < to).then_some((from, to))
    }
}

/// First place in `range` where `below` no longer holds.
fn partition(range: (usize, usize), below: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = range;
    while from < to {
        let middle = from.midpoint(to);
        if below(middle) { from = middle + 1 } else { to = middle }
    }
    from
}

/// Segments text.
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    words: Words,
    scores: &'static [u8],
    unknown: f32,
}

impl Pieces {
    /// The vocabulary of `weights`.
    pub fn new(weights: &Weights) -> Self {
        let unknown = weights.floats("sp.unk").first().copied().unwrap_or(-30.0);
        Self { words: Words::new(weights, "sp"), scores: weights.part("sp.score"), unknown }
    }

    /// Rows of the table for `text`, at most `limit`, with the rows for start and end around them.
    pub fn rows(&self, text: &str, limit: usize) -> Vec<usize> {
        let (unknown, start, end) = (self.words.len(), self.words.len() + 1, self.words.len() + 2);
        let mut rows = vec![start];
        rows.extend(self.best(&spaced(text), unknown).into_iter().take(limit));
        rows.push(end);
        rows
    }

    fn score(&self, at: usize) -> f32 {
        -f32::from(u16::from_le_bytes([self.scores[at * 2], self.scores[at * 2 + 1]])) / 2048.0
    }

    /// The segmentation of highest total score; a character without a piece is the unknown row.
    fn best(&self, text: &str, unknown: usize) -> Vec<usize> {
        let bytes = text.as_bytes();
        let mut best = vec![f32::MIN; bytes.len() + 1];
        let mut came: Vec<(usize, usize)> = vec![(0, unknown); bytes.len() + 1];
        best[0] = 0.0;
        for (from, first) in text.char_indices() {
            let base = best[from];
            let mut range = (0, self.words.len());
            let mut at = from;
            let mut single = false;
            for ch in text[from..].chars() {
                let next = at + ch.len_utf8();
                let Some(narrowed) = self.words.narrow(range, at - from, &bytes[at..next]) else { break };
                range = narrowed;
                at = next;
                if self.words.get(range.0).len() == at - from {
                    let score = base + self.score(range.0);
                    if score > best[at] {
                        best[at] = score;
                        came[at] = (from, range.0);
                    }
                    single |= at == from + first.len_utf8();
                }
            }
            let after = from + first.len_utf8();
            if !single && base + self.unknown > best[after] {
                best[after] = base + self.unknown;
                came[after] = (from, unknown);
            }
        }
        let mut rows = Vec::new();
        let mut at = bytes.len();
        while at > 0 {
            rows.push(came[at].1);
            at = came[at].0;
        }
        rows.reverse();
        rows
    }
}

/// Compatibility forms composed, control and space characters as single spaces, each word with its mark in front.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut gap = true;
    for ch in text.nfkc() {
        if ch.is_whitespace() || ch.is_control() {
            gap = true;
        } else if !matches!(ch, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{ad}') {
            if std::mem::take(&mut gap) {
                out.push('\u{2581}');
            }
            out.push(ch);
        }
    }
    out
}
