//! Regions in tags: what the user marked private, and what the host or a memory tool put in, which is nobody's words.
//!
//! A scanner that counts depth, not a pattern: nested tags of one kind end where the outermost ends, letter case and
//! white space inside a tag do not matter. An unclosed `<private>` hides everything to the end of the string; other
//! unclosed tags are left alone, since nobody asked for their text to be hidden.
//!
//! A tag that is tightly quoted (`` `<private>` ``, `"<private>"`) is talk about the tag, as in code and
//! documentation, and neither opens nor closes a region. Privacy is the safe side: anything less tight counts.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;

use super::Found;

/// The kinds; the first is the user's own. `cmem-context` is what cmem itself gives to sessions.
const KINDS: [&str; 7] = [
    "private",
    "claude-mem-context",
    "cmem-context",
    "system_instruction",
    "system-instruction",
    "persisted-output",
    "system-reminder",
];

const PRIVATE: usize = 0;

/// Longest stretch of attributes in a tag.
const ATTRIBUTES: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    kind: usize,
    closes: bool,
    start: usize,
    end: usize,
}

/// `text` without the regions. Trimmed if anything was taken out.
pub fn strip<'a>(text: &'a str, found: &mut Found) -> Cow<'a, str> {
    let regions = regions(text);
    if regions.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (kind, region) in regions {
        out.push_str(&text[from..region.start]);
        from = region.end;
        match kind {
            PRIVATE => found.private += 1,
            _ => found.tags += 1,
        }
    }
    out.push_str(&text[from..]);
    Cow::Owned(out.trim().to_owned())
}

/// The outermost regions, in order.
fn regions(text: &str) -> Vec<(usize, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut open: [Vec<usize>; KINDS.len()] = std::array::from_fn(|_| Vec::new());
    let mut pairs: Vec<(usize, Range<usize>)> = Vec::new();
    for tag in memchr_iter(b'<', bytes).filter_map(|at| tag_at(bytes, at)) {
        if !tag.closes {
            open[tag.kind].push(tag.start);
        } else if let Some(start) = open[tag.kind].pop() {
            pairs.push((tag.kind, start..tag.end));
        }
    }
    if let Some(first) = open[PRIVATE].first() {
        pairs.push((PRIVATE, *first..text.len()));
    }
    // Where regions overlap the one that begins first wins; of two that begin together (an unclosed one) the longer.
    pairs.sort_by_key(|(_, range)| (range.start, usize::MAX - range.end));
    let mut outermost: Vec<(usize, Range<usize>)> = Vec::new();
    for (kind, range) in pairs {
        match outermost.last() {
            Some((_, last)) if range.start < last.end => {
                // A private region that begins inside another and reaches beyond it is hidden to its end.
                if kind == PRIVATE && range.end > last.end {
                    let start = last.end;
                    outermost.push((kind, start..range.end));
                }
            }
            _ => outermost.push((kind, range)),
        }
    }
    outermost
}

fn tag_at(bytes: &[u8], start: usize) -> Option<Tag> {
    let mut at = start + 1;
    let closes = bytes.get(at) == Some(&b'/');
    at += usize::from(closes);
    let kind = KINDS.iter().position(|name| {
        bytes.get(at..at + name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
    })?;
    at += KINDS[kind].len();
    // `<private-note>` and `<privatex>` are other tags.
    if !matches!(bytes.get(at)?, b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n') {
        return None;
    }
    let stretch = &bytes[at..bytes.len().min(at + ATTRIBUTES)];
    let close = stretch.iter().position(|byte| matches!(byte, b'>' | b'<'))?;
    // Another tag begins before this one ends, or the tag is empty: it encloses nothing.
    if stretch[close] == b'<' || (close > 0 && stretch[close - 1] == b'/') {
        return None;
    }
    let end = at + close + 1;
    (!is_quoted(bytes, start, end)).then_some(Tag { kind, closes, start, end })
}

/// Whether the same quotation mark stands right before and right behind, escaped or not.
fn is_quoted(bytes: &[u8], start: usize, end: usize) -> bool {
    let Some(mark) = start.checked_sub(1).map(|at| bytes[at]) else { return false };
    if !matches!(mark, b'`' | b'"' | b'\'') {
        return false;
    }
    match bytes.get(end) {
        Some(next) if *next == mark => true,
        Some(b'\\') => bytes.get(end + 1) == Some(&mark) && start >= 2 && bytes[start - 2] == b'\\',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> String {
        strip(text, &mut Found::default()).into_owned()
    }

    /// The group `strip` of the write-path vectors, in our words. Seven answers differ from claude-mem's on purpose:
    /// there a nested, unclosed, upper-case or loosely written tag kept the secret.
    #[test]
    fn the_strip_vectors() {
        let cases = [
            ("a <private>b</private> c", "a  c"),
            ("<private>a <private>b</private> c</private> d", "d"), // depth is counted
            ("<private>unclosed", ""),                              // unclosed hides to the end
            ("x</private> y", "x</private> y"),
            ("<private>a <system-reminder>r</private> s</system-reminder>", "s</system-reminder>"),
            ("<PRIVATE>x</PRIVATE>", ""), // letter case does not matter
            ("<private class=\"k\">x</private>", ""),
            ("<private-note>x</private-note>", "<private-note>x</private-note>"),
            ("<privatex>x</privatex>", "<privatex>x</privatex>"),
            ("<system_instruction>i</system_instruction> k", "k"),
            ("<system-instruction>i</system-instruction>", ""),
            ("<persisted-output>p</persisted-output>q", "q"),
            ("<claude-mem-context>m</claude-mem-context>z", "z"),
            ("<system-reminder>\n<claude-mem-context>x</claude-mem-context>\n</system-reminder>after", "after"),
            ("<private>x</private >", ""), // white space in a tag does not matter
            ("<private/>x", "<private/>x"),
            ("  lead <private>x</private>  ", "lead"),
            ("<private>a</private><private>b</private>", ""),
            ("<private\n>m\nn</private>q", "q"),
        ];
        for (text, expected) in cases {
            assert_eq!(stripped(text), expected, "{text}");
        }
    }

    #[test]
    fn unclosed_private_hides_to_the_end_and_only_private_does() {
        assert_eq!(stripped("keep <private>pw is x\nand y"), "keep");
        assert_eq!(stripped("a <private>b</private> c <Private >d"), "a  c");
        assert_eq!(stripped("a <private> b <private> c </private> d"), "a");
        assert_eq!(stripped("a <system-reminder> b"), "a <system-reminder> b");
        // Opened inside a reminder, closed behind it: hidden as far as it reaches.
        assert_eq!(stripped("<system-reminder>r <private>p</system-reminder> q</private> s"), "s");
    }

    #[test]
    fn talk_about_the_tag_is_not_the_tag() {
        for text in [
            "How does the `<private>` tag work?",
            "const OPEN: &str = \"<private>\"; const CLOSE: &str = \"</private>\";",
            "print('<private>')",
            "{\"a\":\"see \\\"<private>\\\" there\"}",
        ] {
            assert_eq!(stripped(text), text);
        }
        // A value that merely stands in quotes is not talk.
        assert_eq!(stripped("\"pw\": \"<private>x</private>\""), "\"pw\": \"\"");
        assert_eq!(stripped("`<private>x</private>`"), "``");
        assert_eq!(stripped("<private>about `</private>` and x</private> y"), "y");
    }

    #[test]
    fn text_without_tags_is_not_copied() {
        for text in ["", "a < b && c > d", "<p>x</p>", "  spaces stay  ", "<private", "<private a=1 <b>"] {
            assert!(matches!(strip(text, &mut Found::default()), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn ten_thousand_openings_are_no_trouble() {
        let text = "<system-reminder>".repeat(10_000) + &"<private>".repeat(10_000);
        assert_eq!(stripped(&text), "<system-reminder>".repeat(10_000));
    }
}
