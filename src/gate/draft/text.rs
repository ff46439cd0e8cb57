//! The text of fields: lists, references, entities and CDATA, and prose where fields belong.

use crate::memory::{EventKey, MemoryId};

use super::scan::{self, Tag, Token, tokens};

/// The items of a list field: its inner elements, else its lines (`- a`), else its comma-separated words.
pub(super) fn items(raw: &str, inner: Tag) -> Vec<String> {
    let tokens: Vec<Token> = tokens(raw).into_iter().filter(|it| it.tag == inner).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].closes || tokens[at].empty {
            at += 1;
            continue;
        }
        // The last closing tag before the next opening: a mention of `</fact>` in a fact is text.
        let next = (at + 1..tokens.len()).find(|&it| !tokens[it].closes).unwrap_or(tokens.len());
        let close = (at + 1..next).rev().find(|&it| tokens[it].closes);
        let end = close.map_or_else(|| tokens.get(next).map_or(raw.len(), |it| it.start), |it| tokens[it].start);
        out.push(clean(&raw[tokens[at].end..end]));
        at = next;
    }
    if out.is_empty() {
        let plain = clean(raw);
        let lines: Vec<&str> = plain.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        return match lines.as_slice() {
            [one] if inner != Tag::Fact => split_list(one),
            _ => lines.iter().map(|it| it.trim_start_matches(['-', '*', '•']).trim().to_owned()).collect(),
        };
    }
    out
}

pub(super) fn append(into: &mut Vec<String>, items: Vec<String>) {
    for item in items {
        if !item.is_empty() && !into.contains(&item) {
            into.push(item);
        }
    }
}

pub(super) fn split_list(text: &str) -> Vec<String> {
    text.split([',', ';', '\n']).map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// Event references as written: `41, 42`, `#41`, `e41`, or whole keys.
pub(super) fn cites(text: &str) -> Vec<EventKey> {
    text.split(|ch: char| ch.is_whitespace() || matches!(ch, ',' | ';'))
        .map(|it| it.trim_matches(|ch| matches!(ch, '#' | '[' | ']' | '"' | '.')))
        .filter(|it| !it.is_empty())
        .map(EventKey::from)
        .collect()
}

pub(super) fn ids(text: &str) -> Vec<MemoryId> {
    text.split(|ch: char| !ch.is_ascii_digit()).filter_map(|it| it.parse().ok()).map(MemoryId).collect()
}

/// A field's text: CDATA taken out of its wrapping, entities resolved, ends trimmed.
pub(super) fn clean(raw: &str) -> String {
    let raw = raw.trim();
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(start) = rest.find("<![CDATA[") {
        out.push_str(&scan::unescape(&rest[..start]));
        let body = &rest[start + 9..];
        let (inside, after) = body.split_once("]]>").unwrap_or((body, ""));
        out.push_str(inside);
        rest = after;
    }
    out.push_str(&scan::unescape(rest));
    out.trim().to_owned()
}

/// Prose out of a block without fields: foreign tags and comments are dropped. Too little of it is nothing.
pub(super) fn salvage(loose: &str) -> String {
    let mut out = String::with_capacity(loose.len());
    let mut rest = loose;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        let tag_like = tail[1..].starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '/' || ch == '!');
        match tail.find('>') {
            Some(end) if tag_like => {
                out.push(' ');
                rest = &tail[end + 1..];
            }
            _ => {
                out.push('<');
                rest = &tail[1..];
            }
        }
    }
    out.push_str(rest);
    let text = clean(&out).split_whitespace().collect::<Vec<_>>().join(" ");
    let words = text.split_whitespace().count();
    let dense = text.chars().filter(|ch| ch.is_alphabetic() && !ch.is_ascii()).count();
    if words >= 4 || dense >= 8 { text } else { String::new() }
}

pub(super) fn first_sentence(text: &str) -> String {
    let end = text
        .char_indices()
        .find(|&(at, ch)| {
            matches!(ch, '。' | '！' | '？')
                || (matches!(ch, '.' | '!' | '?') && text[at + 1..].chars().next().is_none_or(char::is_whitespace))
        })
        .map_or(text.len(), |(at, ch)| if ch.is_ascii() { at } else { at + ch.len_utf8() });
    text[..end].trim().to_owned()
}
