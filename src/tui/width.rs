//! How wide text is on a terminal: the one place that measures, cuts, pads and wraps.
//!
//! Everything works on grapheme clusters and display cells, never on bytes or `char`s (A157, A158). A cluster is 0, 1
//! or 2 cells wide. East-Asian *ambiguous* characters count 1 or 2 by setting. A wide cluster that would be split by an
//! edge becomes a space, so that whatever stands right of a text starts at the same column on every row.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The measuring rule: what an ambiguous character counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    /// Cells of an ambiguous character: 1 or 2.
    pub ambiguous: u8,
}

impl Default for Widths {
    fn default() -> Self {
        Self { ambiguous: 1 }
    }
}

impl Widths {
    /// Cells of one grapheme cluster: 0, 1 or 2.
    pub fn cluster(self, cluster: &str) -> usize {
        if cluster.len() == 1 {
            return usize::from(!cluster.as_bytes()[0].is_ascii_control());
        }
        let cells = if self.ambiguous == 2 { cluster.width_cjk() } else { cluster.width() };
        cells.min(2)
    }

    /// Cells of a text on one line.
    pub fn of(self, text: &str) -> usize {
        if is_plain(text) {
            return text.len();
        }
        text.graphemes(true).map(|cluster| self.cluster(cluster)).sum()
    }

    /// The longest beginning of `text` that fits in `max` cells, and its width.
    pub fn fit(self, text: &str, max: usize) -> (&str, usize) {
        if is_plain(text) {
            let len = text.len().min(max);
            return (&text[..len], len);
        }
        let mut used = 0;
        for (at, cluster) in text.grapheme_indices(true) {
            let cells = self.cluster(cluster);
            if used + cells > max {
                return (&text[..at], used);
            }
            used += cells;
        }
        (text, used)
    }

    /// `text` if it fits in `max` cells, else its beginning and `mark` (an ellipsis) in no more than `max`.
    pub fn cut<'a>(self, text: &'a str, max: usize, mark: &str) -> Cow<'a, str> {
        let (whole, _) = self.fit(text, max);
        if whole.len() == text.len() {
            return Cow::Borrowed(text);
        }
        let mark_cells = self.of(mark);
        if mark_cells > max {
            return Cow::Borrowed(whole);
        }
        let (kept, _) = self.fit(text, max - mark_cells);
        Cow::Owned(format!("{}{mark}", kept.trim_end()))
    }

    /// `text` cut and padded with spaces to exactly `cells`.
    pub fn pad(self, text: &str, cells: usize, mark: &str) -> String {
        let mut out = self.cut(text, cells, mark).into_owned();
        let used = self.of(&out);
        out.extend(std::iter::repeat_n(' ', cells.saturating_sub(used)));
        out
    }

    /// `text` cut and padded on the left to exactly `cells`.
    pub fn pad_left(self, text: &str, cells: usize, mark: &str) -> String {
        let cut = self.cut(text, cells, mark);
        let mut out = " ".repeat(cells.saturating_sub(self.of(&cut)));
        out.push_str(&cut);
        out
    }

    /// `text` broken into lines of at most `width` cells: at white space where there is some, inside a word when the
    /// word alone is wider. Newlines break. Stops after `max_lines`. Returns byte ranges of `text`.
    pub fn wrap(self, text: &str, width: usize, max_lines: usize) -> Vec<std::ops::Range<usize>> {
        let mut lines = Vec::new();
        if width == 0 || max_lines == 0 {
            return lines;
        }
        let mut base = 0;
        for paragraph in text.split('\n') {
            self.wrap_paragraph(paragraph, base, width, max_lines, &mut lines);
            if lines.len() >= max_lines {
                break;
            }
            base += paragraph.len() + 1;
        }
        lines
    }

    fn wrap_paragraph(
        self,
        text: &str,
        base: usize,
        width: usize,
        max_lines: usize,
        lines: &mut Vec<std::ops::Range<usize>>,
    ) {
        if text.trim().is_empty() {
            lines.push(base..base);
            return;
        }
        let mut start = 0; // byte where the line begins
        let mut used = 0; // cells on the line so far
        let mut last_space: Option<(usize, usize)> = None; // (byte of the break, byte where the next line begins)
        let mut cells_since_space = 0;
        for (at, cluster) in text.grapheme_indices(true) {
            let cells = self.cluster(cluster);
            let space = cluster == " ";
            // Twice at most: once for a space to break at, once inside the word.
            while !space && used + cells > width && start < at {
                match last_space.take() {
                    Some((end, next)) => {
                        // Spaces at the beginning of a line that has no room for them are dropped.
                        if end > start {
                            lines.push(base + start..base + end);
                        }
                        start = next;
                        used = cells_since_space;
                    }
                    None => {
                        lines.push(base + start..base + at);
                        start = at;
                        used = 0;
                    }
                }
                if lines.len() >= max_lines {
                    return;
                }
            }
            if space {
                // Spaces at the edge hang over it and are dropped there.
                match last_space {
                    Some((end, next)) if next == at => last_space = Some((end, at + 1)),
                    _ => last_space = Some((at, at + 1)),
                }
                cells_since_space = 0;
            } else {
                cells_since_space += cells;
            }
            used += cells;
        }
        let end = start + text[start..].trim_end().len();
        if end > start || lines.is_empty() {
            lines.push(base + start..base + end);
        }
    }
}

/// One byte, one cell each: printable ASCII.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const W: Widths = Widths { ambiguous: 1 };

    #[test]
    fn a157_cutting_never_splits_a_wide_cluster() {
        let title = "🦀 Grantで取得 e\u{301}👩‍👩‍👧 🇩🇪 end";
        for max in 0..120 {
            let cut = W.cut(title, max, "…");
            assert!(W.of(&cut) <= max, "{max}: {cut}");
            let padded = W.pad(title, max, "…");
            assert_eq!(W.of(&padded), max, "{max}: {padded:?}");
        }
    }

    #[test]
    fn ambiguous_counts_by_setting() {
        assert_eq!(W.of("●"), 1);
        assert_eq!(Widths { ambiguous: 2 }.of("●"), 2);
        assert_eq!(W.of("支付"), 4);
        assert_eq!(W.of("👩‍👩‍👧"), 2);
    }

    fn wrapped(text: &str, width: usize) -> Vec<&str> {
        W.wrap(text, width, 99).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn wrapping_breaks_at_spaces_and_inside_long_words_only() {
        assert_eq!(wrapped("verify() is called twice per request", 12), ["verify() is", "called twice", "per request"]);
        assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrapped("支付回调失败", 5), ["支付", "回调", "失败"]);
        assert_eq!(wrapped("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(wrapped("two  spaces", 4), ["two", "spac", "es"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("   é", 2), ["é"]);
        assert_eq!(wrapped(" éééaéé支🦀", 7), ["éééaéé", "支🦀"]);
        assert!(wrapped("x", 0).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn every_wrapped_line_fits_and_no_word_is_lost(text in "[a-zé支🦀 ]{0,60}", width in 2usize..20) {
            let lines = wrapped(&text, width);
            for line in &lines { proptest::prop_assert!(W.of(line) <= width, "{line:?} in {width}"); }
            let squeezed: String = text.chars().filter(|c| *c != ' ').collect();
            let joined: String = lines.concat().chars().filter(|c| *c != ' ').collect();
            proptest::prop_assert_eq!(squeezed, joined);
        }
    }
}
