//! Secrets of known shapes, masked before anything is kept or sent (A097).
//!
//! One automaton looks for what secrets begin with or stand behind; each place it finds is then read closely. There
//! are four families: tokens known by their prefix (`shapes`), values behind a name that says secret (`assigned`), key
//! blocks, and passwords in URLs. What only looks long or random stays: commit hashes, UUIDs, checksums and
//! identifiers are words to somebody. The mark says what was there: `[masked:github-token]`.

mod assigned;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{Found, splice};

pub(super) use assigned::{Strength, field_is_secret, strength};

/// A secret in a text: where, and what kind.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Secret {
    range: Range<usize>,
    label: &'static str,
}

/// What a place found by the automaton may be.
#[derive(Clone, Copy, Debug)]
enum Lead {
    /// Index into [`shapes::SHAPES`].
    Shape(usize),
    /// A name that says secret.
    Name,
    /// `Bearer `
    Bearer,
    /// `Cookie:`
    Cookie,
    /// `curl `
    Curl,
    /// `://`
    Url,
    /// `-----BEGIN `
    Block,
}

/// What stands in names that say secret.
const NAMES: [&str; 16] = [
    "passw",
    "passp",
    "_pass",
    "pwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "_key",
    "-key",
    "accesskey",
    "accountkey",
    "privatekey",
    "credential",
    "authorization",
];

static LEADS: LazyLock<Vec<(&str, Lead)>> = LazyLock::new(|| {
    let shapes = shapes::SHAPES.iter().enumerate().map(|(at, shape)| (shape.prefix, Lead::Shape(at)));
    let names = NAMES.iter().map(|name| (*name, Lead::Name));
    let others = [
        ("bearer ", Lead::Bearer),
        ("cookie:", Lead::Cookie),
        ("curl ", Lead::Curl),
        ("://", Lead::Url),
        ("-----BEGIN ", Lead::Block),
    ];
    shapes.chain(names).chain(others).collect()
});

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        // A quarter of a megabyte of tables, and one step a byte instead of several.
        .kind(Some(AhoCorasickKind::DFA))
        .build(LEADS.iter().map(|(pattern, _)| pattern))
        .ok()
});

/// `text` with its secrets masked.
pub(super) fn mask<'a>(text: &'a str, found: &mut Found) -> Cow<'a, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    found.secrets += u32::try_from(secrets.len()).unwrap_or(u32::MAX);
    let parts: Vec<_> = secrets.into_iter().map(|secret| (secret.range, mark(secret.label))).collect();
    Cow::Owned(splice(text, &parts))
}

/// What stands in place of a secret.
pub(super) fn mark(label: &str) -> String {
    format!("[masked:{label}]")
}

/// Whether the text holds a secret of a known shape.
pub fn holds_secret(text: &str) -> bool {
    !secrets(text).is_empty()
}

fn secrets(text: &str) -> Vec<Secret> {
    let mut secrets: Vec<Secret> = Vec::new();
    let Some(automaton) = AUTOMATON.as_ref() else { return secrets };
    // Leads inside what was already read are not read again.
    let mut read = 0;
    for lead in automaton.find_iter(text) {
        if lead.start() < read {
            continue;
        }
        let secret = match LEADS[lead.pattern()].1 {
            Lead::Shape(at) => shapes::read(text, lead.start(), at),
            Lead::Name => {
                let (name, secret) = assigned::read(text, lead.range());
                read = read.max(name.end);
                secret
            }
            Lead::Bearer => assigned::bearer(text, lead.end()),
            Lead::Cookie => assigned::cookie(text, lead.end()),
            Lead::Curl => assigned::curl_user(text, lead.end()),
            Lead::Url => url_password(text, lead.end()),
            Lead::Block => block(text, lead.start()),
        };
        if let Some(secret) = secret.filter(|secret| !text[secret.range.clone()].starts_with("[masked:")) {
            if !matches!(LEADS[lead.pattern()].1, Lead::Name) {
                read = read.max(secret.range.end);
            }
            secrets.push(secret);
        }
    }
    secrets.sort_by_key(|secret| secret.range.start);
    secrets.dedup_by(|later, earlier| {
        let overlap = later.range.start < earlier.range.end;
        if overlap {
            // A value behind a name that is also a token of a known shape: the shape says more.
            earlier.range.end = earlier.range.end.max(later.range.end);
            earlier.label = later.label;
        }
        overlap
    });
    secrets
}

/// The password of `scheme://user:password@host`.
fn url_password(text: &str, after: usize) -> Option<Secret> {
    let rest = &text[after..];
    let end = rest
        .find(|ch: char| {
            ch.is_whitespace() || matches!(ch, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '\\' | ',')
        })
        .unwrap_or(rest.len());
    let at = rest[..end].rfind('@')?;
    let colon = rest[..at].find(':')?;
    let password = &rest[colon + 1..at];
    (!assigned::is_placeholder(password)).then(|| Secret { range: after + colon + 1..after + at, label: "password" })
}

/// Longest key block; what is longer was not closed.
const BLOCK: usize = 20_000;

/// A PEM block from its first to its last line; without a last line, as long as lines look like its body.
fn block(text: &str, start: usize) -> Option<Secret> {
    let rest = &text[start..];
    let head_end = rest["-----BEGIN ".len()..].find("-----")? + "-----BEGIN ".len();
    let name = &rest["-----BEGIN ".len()..head_end];
    if name.len() > 60 || !name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ') {
        return None;
    }
    let label = if name.contains("PRIVATE") { "private-key" } else { "pem-block" };
    let body = head_end + "-----".len();
    let window_end = floor(rest, (body + BLOCK).min(rest.len()));
    let window = &rest[body..window_end];
    let end = match window.find("-----END ") {
        Some(at) => {
            let tail = &window[at + "-----END ".len()..];
            body + at + "-----END ".len() + tail.find("-----").map_or(0, |dashes| dashes + "-----".len())
        }
        None => body + unclosed(window),
    };
    // Talk about the first line alone (in code that looks for it) hides nothing.
    (end > body).then(|| Secret { range: start..start + end, label })
}

/// How far lines look like the body of a key block, whatever stands before it on the line (numbers, a diff's sign).
fn unclosed(window: &str) -> usize {
    let mut end = 0;
    for (number, line) in window.split_inclusive('\n').enumerate() {
        let longest =
            line.split(|ch: char| !(ch.is_ascii_alphanumeric() || matches!(ch, '+' | '/' | '='))).map(str::len).max();
        match longest.unwrap_or(0) {
            0..20 if number == 0 && line.trim().is_empty() => {}
            0..20 => break,
            _ => end = line.as_ptr() as usize - window.as_ptr() as usize + line.trim_end().len(),
        }
    }
    end
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
