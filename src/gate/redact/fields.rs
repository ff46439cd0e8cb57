//! JSON cleaned string by string, everything else as it was.
//!
//! The text is walked, not parsed into values: order, numbers and white space stay, damaged JSON is cleaned as far as
//! it goes, and a string that needs nothing costs no allocation.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

use super::secrets::{Strength, field_is_secret, mark, strength};
use super::{Found, clean_to, splice};

/// `json` with every string in it cleaned. The names of fields help to know secrets and are cleaned like values.
pub fn clean_json<'a>(json: &'a str, max: usize, found: &mut Found) -> Cow<'a, str> {
    let mut parts: Vec<(Range<usize>, String)> = Vec::new();
    let mut strength_now = Strength::None;
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(quote) = memchr(b'"', &bytes[at..]) {
        let start = at + quote;
        let end = string_end(bytes, start + 1);
        let literal = start..end;
        let text = decode(&json[literal.clone()]);
        let behind = bytes[end.min(bytes.len())..].iter().find(|byte| !byte.is_ascii_whitespace());
        if behind == Some(&b':') {
            strength_now = strength(&text);
        }
        let is_value = behind != Some(&b':');
        let cleaned = if is_value && field_is_secret(strength_now, &text) {
            found.secrets += 1;
            Cow::Owned(mark("secret"))
        } else {
            clean_to(&text, max, found)
        };
        if *cleaned != *text {
            let encoded = serde_json::to_string(&*cleaned).unwrap_or_else(|_| "\"\"".into());
            parts.push((literal, encoded));
        }
        at = end;
    }
    if parts.is_empty() { Cow::Borrowed(json) } else { Cow::Owned(splice(json, &parts)) }
}

/// Behind the closing mark of the string whose content begins at `at`; the end of the text if it is not closed.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(next) = memchr2(b'"', b'\\', &bytes[at..]) {
        if bytes[at + next] == b'"' {
            return at + next + 1;
        }
        at = (at + next + 2).min(bytes.len());
    }
    bytes.len()
}

/// What a string literal says. One that cannot be read (a lone surrogate, a missing end) is taken as it is written.
fn decode(literal: &str) -> Cow<'_, str> {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if memchr(b'\\', literal.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str::<String>(literal).map_or(Cow::Borrowed(inner), Cow::Owned)
}
