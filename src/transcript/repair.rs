//! From one line to the JSON objects in it, whatever happened to the line.
//!
//! Nearly every line is one object and is parsed once, borrowed. The rest is mended here, and only here: bytes
//! that are no UTF-8, a BOM, NUL runs, lone surrogate escapes, two objects glued together, a torn object with a
//! whole one behind it (transcripts.md §14, §16). What cannot be mended is counted, never an error.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::entry::{Entry, Parsed};

/// What a line turned out to be. The names are those of `cmem inspect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineKind {
    /// One object.
    Ok,
    /// More than one value on the line.
    Glued,
    /// Something was lost, something was saved.
    Torn,
    /// Nothing could be read.
    Bad,
    /// White space.
    Blank,
    /// NUL bytes only: a write that never reached the disk.
    Hole,
}

/// What was found out about a line beside its entries.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// What it was.
    pub kind: LineKind,
    /// Bytes or escapes had to be replaced before it could be read.
    pub mended: bool,
}

/// Calls `each` with every entry of the line and the text it was read from, in order.
pub fn entries(line: &[u8], each: &mut dyn FnMut(&mut Entry<'_>, &str)) -> Report {
    let trimmed = trim(line);
    if trimmed.is_empty() {
        let kind = if memchr::memchr(0, line).is_some() { LineKind::Hole } else { LineKind::Blank };
        return Report { kind, mended: false };
    }
    let (text, mut mended) = match simdutf8::basic::from_utf8(trimmed) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (String::from_utf8_lossy(trimmed), true),
    };
    if let Some(kind) = whole(&text, each) {
        return Report { kind, mended };
    }
    let text = match lone_surrogates_replaced(&text) {
        Some(replaced) => {
            mended = true;
            if let Some(kind) = whole(&replaced, each) {
                return Report { kind, mended };
            }
            Cow::Owned(replaced)
        }
        None => text,
    };
    Report { kind: pieces(&text, each), mended }
}

/// Ends of a line that are no part of a record.
fn trim(line: &[u8]) -> &[u8] {
    fn blank(byte: &u8) -> bool {
        matches!(byte, 0 | b' ' | b'\t' | b'\r' | b'\n')
    }
    let start = line.iter().position(|byte| !blank(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !blank(byte)).map_or(start, |at| at + 1);
    let trimmed = &line[start..end];
    trimmed.strip_prefix(b"\xef\xbb\xbf").unwrap_or(trimmed)
}

/// The common case: one value, all of the line. `None` when it is anything else.
fn whole(text: &str, each: &mut dyn FnMut(&mut Entry<'_>, &str)) -> Option<LineKind> {
    let mut json = serde_json::Deserializer::from_str(text);
    let parsed = Parsed::deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(match parsed.0 {
        Some(mut entry) => {
            each(&mut entry, text);
            LineKind::Ok
        }
        None => LineKind::Bad,
    })
}

/// Reads value after value; where one fails, looks for the next record from which the rest of the line reads.
fn pieces(text: &str, each: &mut dyn FnMut(&mut Entry<'_>, &str)) -> LineKind {
    let (mut at, mut values, mut objects, mut lost) = (0, 0u32, 0u32, false);
    loop {
        at += gap(&text[at..]);
        if at >= text.len() {
            break;
        }
        match next_value::<Parsed<'_>>(&text[at..]) {
            Some((parsed, length)) => {
                values += 1;
                if let Some(mut entry) = parsed.0 {
                    objects += 1;
                    each(&mut entry, &text[at..at + length]);
                }
                at += length;
            }
            None => {
                lost = true;
                match resume_at(text, at + 1) {
                    Some(next) => at = next,
                    None => break,
                }
            }
        }
    }
    match (lost, objects, values) {
        (true, 0, _) => LineKind::Bad,
        (true, ..) => LineKind::Torn,
        (false, 1, 1) => LineKind::Ok,
        (false, _, 0 | 1) => LineKind::Bad,
        (false, ..) => LineKind::Glued,
    }
}

/// Length of what may stand between two records.
fn gap(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\r', '\0']).len()
}

/// The value at the start of `text` and its length.
fn next_value<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// The first record start at or behind `from` from which everything to the end of the line reads. A nested
/// object inside a torn record reads too, but not to the end, so it is never taken for a record.
fn resume_at(text: &str, from: usize) -> Option<usize> {
    let mut budget = (64 << 10) + text.len().saturating_mul(8);
    let mut at = from;
    while let Some(found) = text.as_bytes().get(at..).and_then(|rest| memchr::memmem::find(rest, b"{\"")) {
        at += found;
        if starts_record(&text[at + 2..]) {
            let read = reads_to_end(&text[at..]);
            if read.is_ok() {
                return Some(at);
            }
            budget = budget.checked_sub(read.unwrap_or_else(|cost| cost))?;
        }
        at += 2;
    }
    None
}

/// Whether the text behind `{"` names a field that records begin with.
fn starts_record(text: &str) -> bool {
    ["parentUuid", "type", "isSidechain", "uuid", "sessionId", "agentId", "cwd", "timestamp", "logicalParentUuid"]
        .iter()
        .any(|name| text.strip_prefix(name).is_some_and(|rest| rest.starts_with('"')))
}

/// `Err` with about how many bytes were looked at in vain.
fn reads_to_end(text: &str) -> Result<usize, usize> {
    let mut at = 0;
    loop {
        at += gap(&text[at..]);
        if at >= text.len() {
            return Ok(at);
        }
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => at += values.byte_offset(),
            Some(Err(error)) => return Err(at + error.column() + 1),
            None => return Ok(at),
        }
    }
}

/// `text` with escapes of half a surrogate pair replaced by `\ufffd`; `None` if there is none.
pub fn lone_surrogates_replaced(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        if bytes.get(at + 1) != Some(&b'u') {
            at = (at + 2).min(bytes.len());
            continue;
        }
        let Some(unit) = hex_unit(bytes, at + 2) else {
            at = (at + 2).min(bytes.len());
            continue;
        };
        let paired = matches!(unit, 0xD800..=0xDBFF)
            && bytes.get(at + 6..at + 8) == Some(b"\\u")
            && matches!(hex_unit(bytes, at + 8), Some(0xDC00..=0xDFFF));
        if paired {
            at += 12;
        } else if matches!(unit, 0xD800..=0xDFFF) {
            out.push_str(&text[copied..at]);
            out.push_str("\\ufffd");
            at += 6;
            copied = at;
        } else {
            at += 6;
        }
    }
    (copied > 0).then(|| out + &text[copied..])
}

fn hex_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + (digit as char).to_digit(16)?))
}
