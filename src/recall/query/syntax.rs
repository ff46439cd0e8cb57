//! Text cut into parts. Loses nothing and fails never; what each part means is `value`'s business.

use std::ops::Range;

use crate::memory::MemoryId;

use super::value::closest;

/// One part of a query and the bytes it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// Written with `-` or `!`.
    pub not: bool,
    /// What it is.
    pub body: Body,
}

/// What a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// `|`
    Or,
    /// Something to look for.
    Term(TermKind, String),
    /// `#2039`, `#2030..2041`, `#1,5`
    Ids(Vec<(MemoryId, MemoryId)>),
    /// `key:value,value`
    Filter(Key, Vec<String>),
    /// Not understood: why, and what may have been meant.
    Fault(String, Option<String>),
}

/// How a term is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// Anywhere, also inside a longer word.
    Word,
    /// These words in this order.
    Phrase,
    /// `~word`
    Fuzzy,
    /// `'word`
    Whole,
    /// `^word`
    TitleStart,
    /// `word$`
    TitleEnd,
    /// `^word$`
    TitleIs,
    /// `/pattern/`
    Regex,
}

/// A word before a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// `type:` `t:`
    Type,
    /// `project:` `p:`
    Project,
    /// `concept:` `c:`
    Concept,
    /// `file:` `f:`
    File,
    /// `session:` `s:`
    Session,
    /// `since:`
    Since,
    /// `until:`
    Until,
    /// `on:`
    On,
    /// `prompt:`
    Prompt,
    /// `source:`
    Source,
    /// `tokens:`
    Tokens,
    /// `has:`
    Has,
    /// `is:`
    Is,
    /// `in:`
    In,
    /// `kind:`
    Kind,
    /// `sort:`
    Sort,
}

impl Key {
    /// All keys with the words that name them, the full word first.
    pub const ALL: [(Self, &'static [&'static str]); 16] = [
        (Self::Type, &["type", "t", "types"]),
        (Self::Project, &["project", "p", "projects"]),
        (Self::Concept, &["concept", "c", "concepts"]),
        (Self::File, &["file", "f", "files"]),
        (Self::Session, &["session", "s", "sessions"]),
        (Self::Since, &["since"]),
        (Self::Until, &["until"]),
        (Self::On, &["on"]),
        (Self::Prompt, &["prompt"]),
        (Self::Source, &["source"]),
        (Self::Tokens, &["tokens"]),
        (Self::Has, &["has"]),
        (Self::Is, &["is"]),
        (Self::In, &["in"]),
        (Self::Kind, &["kind"]),
        (Self::Sort, &["sort"]),
    ];

    /// The full word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(key, _)| *key == self).map_or("", |(_, words)| words[0])
    }

    fn of(word: &str) -> Option<Self> {
        let lower = word.to_ascii_lowercase();
        Self::ALL.iter().find(|(_, words)| words.contains(&lower.as_str())).map(|(key, _)| *key)
    }
}

/// Cuts `text` into parts.
pub fn parts(text: &str) -> Vec<Part> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| !c.is_whitespace()).map(|skip| at + skip) {
        let part = part_at(text, start);
        at = part.span.end.max(start + 1);
        debug_assert!(text.is_char_boundary(at));
        out.push(part);
    }
    out
}

fn part_at(text: &str, start: usize) -> Part {
    let rest = &text[start..];
    if rest.starts_with('|') {
        return Part { span: start..start + 1, not: false, body: Body::Or };
    }
    let not = negates(rest);
    let at = start + usize::from(not);
    let (len, body) = body_at(&text[at..]);
    Part { span: start..at + len, not, body }
}

/// `-cache` is a negation; `--dry-run`, `->`, `-` and `!=` are text.
fn negates(rest: &str) -> bool {
    let mut chars = rest.chars();
    matches!(chars.next(), Some('-' | '!'))
        && chars.next().is_some_and(|next| next.is_alphanumeric() || next == '_' || "\"'~^/#".contains(next))
}

/// The part at the beginning of `rest` (not empty, no white space first): its length and what it is.
fn body_at(rest: &str) -> (usize, Body) {
    if let Some(inner) = rest.strip_prefix('"') {
        return quoted(inner, 1, TermKind::Phrase);
    }
    if let Some(inner) = rest.strip_prefix("^\"") {
        return quoted(inner, 2, TermKind::TitleStart);
    }
    if let Some(found) = key_value(rest) {
        return found;
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let word = &rest[..end];
    let body = ids(word).map(Body::Ids).or_else(|| marked_term(word));
    (end, body.unwrap_or_else(|| Body::Term(TermKind::Word, word.to_owned())))
}

fn quoted(inner: &str, open: usize, kind: TermKind) -> (usize, Body) {
    match inner.find('"') {
        Some(end) if inner[..end].trim().is_empty() => {
            (open + end + 1, Body::Fault("nothing between the quotes".into(), None))
        }
        Some(end) => (open + end + 1, Body::Term(kind, inner[..end].trim().to_owned())),
        // Only the quote is left out: what follows is searched for as words.
        None => (open, Body::Fault("the quote is not closed".into(), Some(format!("\"{}\"", inner.trim())))),
    }
}

/// `~fuzzy`, `'whole`, `^start`, `end$`, `/pattern/`; anything else is a plain word.
fn marked_term(word: &str) -> Option<Body> {
    let term = |kind, text: &str| Some(Body::Term(kind, text.to_owned()));
    let starts_word = |text: &str| text.chars().next().is_some_and(char::is_alphanumeric);
    if let Some(text) = word.strip_prefix('~').filter(|text| starts_word(text)) {
        return term(TermKind::Fuzzy, text);
    }
    if let Some(text) = word.strip_prefix('\'').filter(|text| starts_word(text)) {
        return term(TermKind::Whole, text);
    }
    if let Some(text) = word.strip_prefix('/').and_then(|text| text.strip_suffix('/'))
        && !text.is_empty()
        && !text.replace("\\/", "").contains('/')
    {
        return term(TermKind::Regex, text);
    }
    if let Some(text) = word.strip_prefix('^').filter(|text| starts_word(text)) {
        return match text.strip_suffix('$').filter(|text| !text.is_empty()) {
            Some(text) => term(TermKind::TitleIs, text),
            None => term(TermKind::TitleStart, text),
        };
    }
    if let Some(text) = word.strip_suffix('$').filter(|text| starts_word(text)) {
        return term(TermKind::TitleEnd, text);
    }
    None
}

/// `#12`, `#S12`, `#12..20`, `#12,15`. Any other word behind `#` is text (`#foo` is often meant so).
fn ids(word: &str) -> Option<Vec<(MemoryId, MemoryId)>> {
    fn number(text: &str) -> Option<MemoryId> {
        let text = text.strip_prefix('#').unwrap_or(text);
        let digits = text.strip_prefix(['S', 'P', 's', 'p']).unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| digits.parse().ok().map(MemoryId)).flatten()
    }
    let list = word.strip_prefix('#')?;
    let mut out = Vec::new();
    for item in list.split(',') {
        out.push(match item.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                (first.min(last), first.max(last))
            }
            None => (number(item)?, number(item)?),
        });
    }
    Some(out)
}

/// `key:value`; `None` when it is plain text after all (`http://x`, `std::vec`, `C:\x`).
fn key_value(rest: &str) -> Option<(usize, Body)> {
    let colon = rest.find(|c: char| !c.is_ascii_alphabetic())?;
    let (word, value) = (&rest[..colon], rest[colon..].strip_prefix(':')?);
    if word.is_empty() || value.starts_with(':') || value.starts_with("//") {
        return None;
    }
    let Some(key) = Key::of(word) else {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let near = near_key(word).filter(|_| end > colon + 1)?;
        let suggestion = format!("{near}{}", &rest[colon..end]);
        return Some((end, Body::Fault(format!("there is no “{word}:”"), Some(suggestion))));
    };
    // A drive letter or an absolute path is text, unless paths are what the key takes.
    let takes_paths = matches!(key, Key::Project | Key::File);
    if word.len() == 1 && (value.starts_with('\\') || (value.starts_with('/') && !takes_paths)) {
        return None;
    }
    let (len, values) = values(value);
    let whole = colon + 1 + len;
    let body = match values {
        None => {
            let closed = format!("{}:\"{}\"", key.word(), value[..len].replace('"', ""));
            Body::Fault("the quote is not closed".into(), Some(closed))
        }
        Some(values) if values.is_empty() => Body::Fault(format!("“{word}:” needs a value"), None),
        Some(values) => Body::Filter(key, values),
    };
    Some((whole, body))
}

fn near_key(word: &str) -> Option<&'static str> {
    if word.len() < 4 {
        return None;
    }
    let words: Vec<&'static str> = Key::ALL.iter().map(|(_, words)| words[0]).filter(|w| w.len() >= 4).collect();
    closest(&word.to_ascii_lowercase(), words.iter().copied(), 1)
}

/// Comma-separated values up to white space; a quoted value may hold anything, `\"` and `\\\\` stand for the
/// characters themselves.
/// The length taken, and the values (`None`: a quote is not closed).
fn values(text: &str) -> (usize, Option<Vec<String>>) {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, ch)) = chars.next() {
        match ch {
            '"' => {
                let mut closed = false;
                while let Some((_, inner)) = chars.next() {
                    match inner {
                        '\\' if chars.as_str().starts_with(['"', '\\']) => value.extend(chars.next().map(|(_, c)| c)),
                        '"' => {
                            closed = true;
                            break;
                        }
                        _ => value.push(inner),
                    }
                }
                if !closed {
                    // As for a lone quote elsewhere: give up this word only, not the rest of the line.
                    return (text.find(char::is_whitespace).unwrap_or(text.len()), None);
                }
            }
            ',' => push(&mut values, &mut value),
            _ if ch.is_whitespace() => {
                end = at;
                break;
            }
            _ => value.push(ch),
        }
    }
    push(&mut values, &mut value);
    (end, Some(values))
}

fn push(values: &mut Vec<String>, value: &mut String) {
    let value = std::mem::take(value);
    if !value.trim().is_empty() {
        values.push(value.trim().to_owned());
    }
}

/// `value` as it may stand behind a colon.
pub(super) fn written_value(value: &str) -> String {
    if value.is_empty()
        || value.starts_with(':')
        || value.starts_with("//")
        || value.contains(|c: char| c.is_whitespace() || c == ',' || c == '"')
    {
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        value.to_owned()
    }
}
