//! Frames bytes into lines: a line is what ends in `\n` (0x0A), and nothing else ends one.
//!
//! This file owns the cut between lines, and the unfinished line at the end of what was fed. Decoding comes
//! later, so a chunk may end anywhere, also inside a character. A line longer than [`WHOLE`] is not kept: its
//! long strings are shortened while it streams past (`shrink`), so that a line of any size costs bounded memory
//! and still parses. Whether that happens depends on the length of the line alone, never on the chunks.
//!
//! Absent from it: what a line means.

use memchr::memchr;

use super::shrink::Shrinker;

/// The longest line that is kept byte for byte. The longest real one seen had 2.1 MB.
pub const WHOLE: usize = 4 << 20;

/// One line, without its newline.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its bytes; shortened if [`Line::cut`].
    pub bytes: &'a [u8],
    /// Offset of its first byte in the file.
    pub start: u64,
    /// Offset behind its newline.
    pub end: u64,
    /// It was longer than [`WHOLE`], and its long strings are shortened.
    pub cut: bool,
}

/// The framer. Feed it the file's bytes in order, in chunks of any size.
#[derive(Debug, Default)]
pub struct Lines {
    /// Offset of the first byte of the unfinished line.
    start: u64,
    /// Length of the unfinished line so far.
    length: u64,
    /// Its bytes, unless it is being shrunk.
    held: Vec<u8>,
    /// Set once the unfinished line is longer than [`WHOLE`].
    shrinker: Option<Box<Shrinker>>,
}

impl Lines {
    /// A framer whose first byte stands at `offset`, which must be the start of a line.
    pub fn at(offset: u64) -> Self {
        Self { start: offset, ..Self::default() }
    }

    /// Offset behind the last byte fed.
    pub fn position(&self) -> u64 {
        self.start + self.length
    }

    /// Offset of the unfinished line, which is behind the last newline.
    pub fn line_start(&self) -> u64 {
        self.start
    }

    /// The unfinished line, if it is kept whole. Empty when the last byte fed was a newline.
    pub fn rest(&self) -> &[u8] {
        &self.held
    }

    /// Takes the next bytes of the file and hands on each line they complete.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(at) = memchr(b'\n', rest) {
            let (head, tail) = rest.split_at(at);
            self.complete(head, &mut each);
            rest = &tail[1..];
        }
        if !rest.is_empty() {
            self.hold(rest);
        }
    }

    fn complete(&mut self, last: &[u8], each: &mut impl FnMut(Line<'_>)) {
        let start = self.start;
        let end = start + self.length + last.len() as u64 + 1;
        let cut = end - start - 1 > WHOLE as u64;
        if cut {
            self.shrink(last);
            let bytes = self.shrinker.take().map(|it| it.finish()).unwrap_or_default();
            each(Line { bytes: &bytes, start, end, cut });
        } else if self.length == 0 {
            each(Line { bytes: last, start, end, cut });
        } else {
            self.held.extend_from_slice(last);
            each(Line { bytes: &self.held, start, end, cut });
        }
        self.held.clear();
        if self.held.capacity() > 256 << 10 {
            self.held = Vec::new();
        }
        self.start = end;
        self.length = 0;
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.length + bytes.len() as u64 > WHOLE as u64 {
            self.shrink(bytes);
        } else {
            self.held.extend_from_slice(bytes);
        }
        self.length += bytes.len() as u64;
    }

    fn shrink(&mut self, bytes: &[u8]) {
        let held = std::mem::take(&mut self.held);
        let shrinker = self.shrinker.get_or_insert_with(|| {
            let mut shrinker = Box::<Shrinker>::default();
            shrinker.feed(&held);
            shrinker
        });
        shrinker.feed(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_at(bytes: &[u8], cuts: &[usize]) -> (Vec<(Vec<u8>, u64, u64, bool)>, Vec<u8>) {
        let mut lines = Lines::at(100);
        let mut out = Vec::new();
        let mut from = 0;
        for &to in cuts.iter().chain([&bytes.len()]) {
            lines.feed(&bytes[from..to], |line| out.push((line.bytes.to_vec(), line.start, line.end, line.cut)));
            from = to;
        }
        assert_eq!(lines.position(), 100 + bytes.len() as u64);
        (out, lines.rest().to_vec())
    }

    #[test]
    fn chunks_cut_anywhere_give_the_same_lines() {
        let bytes = "ab\n\né\u{2028}漢\r\nrest".as_bytes();
        let (whole, rest) = cut_at(bytes, &[]);
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[2].0, "é\u{2028}漢\r".as_bytes());
        assert_eq!((whole[1].1, whole[1].2), (103, 104));
        assert_eq!(rest, b"rest");
        for first in 0..bytes.len() {
            for second in first..bytes.len() {
                assert_eq!(cut_at(bytes, &[first, second]), (whole.clone(), rest.clone()));
            }
        }
    }

    #[test]
    fn a141_only_the_newline_byte_ends_a_line() {
        let (lines, _) = cut_at("a\u{2028}b\u{85}c\rd\n".as_bytes(), &[]);
        assert_eq!(lines.len(), 1);
    }

    #[test]
    fn e12_a_huge_line_is_shortened_whatever_the_chunks() {
        let big = format!("{{\"a\":\"start {} end\",\"b\":7}}\n", "é\\n".repeat(3 << 20));
        let (once, _) = cut_at(big.as_bytes(), &[]);
        assert!(once[0].3 && once[0].0.len() < 200_000, "{}", once[0].0.len());
        for cuts in [vec![1], vec![WHOLE - 1], vec![WHOLE, WHOLE + 1], vec![5 << 20, 6 << 20, big.len() - 1]] {
            assert_eq!(cut_at(big.as_bytes(), &cuts).0, once);
        }
        let text = std::str::from_utf8(&once[0].0).expect("still UTF-8");
        let value: serde_json::Value = serde_json::from_str(text).expect("still JSON");
        let kept = value["a"].as_str().expect("a string");
        assert!(kept.starts_with("start é\n") && kept.ends_with("é\n end") && kept.contains("bytes left out"));
        assert_eq!(value["b"], 7);
    }
}
