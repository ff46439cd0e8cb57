//! Whether a text holds what a query looks for, and where.
//!
//! Matching is literal: case counts only where the query has a capital (smart case), combining marks of alphabetic
//! scripts are folded away (`naive` finds `naïve`), and nothing a user types is an operator here. The same judge
//! serves the exact engine, the conditions that full text cannot say, and the highlighting of hits, so a row is
//! never shown without the place that made it a hit.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use crate::memory::Memory;

use super::value::distance;
use super::{Field, Query, Term, TermKind};

/// The texts of a memory that terms are looked for in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    /// Title.
    pub title: &'a str,
    /// Subtitle.
    pub subtitle: &'a str,
    /// Prose.
    pub narrative: &'a str,
    /// Facts.
    pub facts: &'a [String],
    /// Concepts.
    pub concepts: &'a [String],
    /// Files read.
    pub files_read: &'a [String],
    /// Files modified.
    pub files_modified: &'a [String],
    /// Parts of a summary.
    pub summary: [&'a str; 6],
}

impl<'a> From<&'a Memory> for Fields<'a> {
    fn from(memory: &'a Memory) -> Self {
        let summary = memory.summary.as_ref().map(|it| {
            [&it.request, &it.investigated, &it.learned, &it.completed, &it.next_steps, &it.notes].map(String::as_str)
        });
        Self {
            title: &memory.title,
            subtitle: &memory.subtitle,
            narrative: &memory.narrative,
            facts: &memory.facts,
            concepts: &memory.concepts,
            files_read: &memory.files_read,
            files_modified: &memory.files_modified,
            summary: summary.unwrap_or_default(),
        }
    }
}

impl<'a> Fields<'a> {
    /// The texts of one field.
    pub fn texts(&self, field: Field) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        let strings = |list: &'a [String]| list.iter().map(String::as_str);
        match field {
            Field::Title => Box::new([self.title, self.subtitle].into_iter()),
            Field::Facts => Box::new(strings(self.facts)),
            Field::Narrative => Box::new(std::iter::once(self.narrative).chain(self.summary)),
            Field::Files => Box::new(strings(self.files_read).chain(strings(self.files_modified))),
        }
    }

    fn all(&self) -> impl Iterator<Item = &'a str> {
        let [title, facts, narrative, files] =
            [Field::Title, Field::Facts, Field::Narrative, Field::Files].map(|field| self.texts(field));
        title.chain(facts).chain(narrative).chain(files).chain(self.concepts.iter().map(String::as_str))
    }
}

/// The terms of a query, made ready.
#[derive(Debug, Default)]
pub struct Judge {
    groups: Vec<Vec<Needle>>,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Needle {
    kind: TermKind,
    not: bool,
    /// Ignore case.
    lower: bool,
    text: String,
    regex: Option<Regex>,
    /// The beginning of the word, for one that full text found by its stem.
    stem: Option<String>,
}

impl Judge {
    /// All terms, as they are written.
    pub fn new(query: &Query) -> Self {
        let groups = query.groups.iter().map(|group| group.iter().map(|term| Needle::new(term, false)).collect());
        Self { groups: groups.collect(), fields: query.fields.clone() }
    }

    /// Only the groups that `keep` picks: those that another engine has not decided.
    pub fn of(query: &Query, keep: impl Fn(&[Term]) -> bool) -> Self {
        let kept = query.groups.iter().filter(|group| keep(group));
        let groups = kept.map(|group| group.iter().map(|term| Needle::new(term, true)).collect());
        Self { groups: groups.collect(), fields: query.fields.clone() }
    }

    /// Words that may be misspelt or shortened.
    pub fn misspelt(words: &[&str]) -> Self {
        let term = |word: &&str| Term { kind: TermKind::Fuzzy, text: (*word).to_owned(), not: false };
        Self { groups: words.iter().map(|word| vec![Needle::new(&term(word), true)]).collect(), fields: Vec::new() }
    }

    /// Nothing to judge: everything passes.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether the memory holds what is looked for.
    pub fn admits(&self, fields: &Fields<'_>) -> bool {
        self.groups.iter().all(|group| group.iter().any(|needle| needle.holds(fields, &self.fields) != needle.not))
    }

    /// Where in `text` the terms stand, in order and without overlaps. For highlighting.
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        for needle in self.groups.iter().flatten().filter(|needle| !needle.not) {
            needle.places(text, &mut marks);
        }
        marks.sort_by_key(|mark| (mark.start, mark.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(marks.len());
        for mark in marks {
            match merged.last_mut() {
                Some(last) if mark.start <= last.end => last.end = last.end.max(mark.end),
                _ => merged.push(mark),
            }
        }
        merged
    }
}

impl Needle {
    fn new(term: &Term, stems: bool) -> Self {
        let lower = !term.text.chars().any(char::is_uppercase) || stems;
        let text = fold(&term.text, lower).into_owned();
        let regex = (term.kind == TermKind::Regex).then(|| regex(&term.text).ok()).flatten();
        let stem = (stems && term.kind == TermKind::Word).then(|| stem(&text).to_owned());
        Self { kind: term.kind, not: term.not, lower, text, regex, stem }
    }

    fn holds(&self, fields: &Fields<'_>, only: &[Field]) -> bool {
        let title = || fold(fields.title, self.lower);
        let words = || -> Box<dyn Iterator<Item = &str>> {
            let near = fields.texts(Field::Title).chain(fields.texts(Field::Facts));
            if only.is_empty() { Box::new(near) } else { Box::new(only.iter().flat_map(|f| fields.texts(*f))) }
        };
        match self.kind {
            TermKind::TitleStart => title().trim_start().starts_with(&self.text),
            TermKind::TitleEnd => title().trim_end().ends_with(&self.text),
            TermKind::TitleIs => title().trim() == self.text,
            TermKind::Regex => self.regex.as_ref().is_some_and(|regex| words().any(|text| regex.is_match(text))),
            TermKind::Fuzzy => words().any(|text| fuzzy_word(&fold(text, self.lower), &self.text).is_some()),
            TermKind::Word | TermKind::Phrase | TermKind::Whole => {
                let inside = |text: &str| self.inside(&fold(text, self.lower)).is_some();
                if only.is_empty() {
                    fields.all().any(inside)
                } else {
                    only.iter().any(|field| fields.texts(*field).any(inside))
                }
            }
        }
    }

    /// The first place in a folded text.
    fn inside(&self, folded: &str) -> Option<Range<usize>> {
        let found = |needle: &str| folded.find(needle).map(|at| at..at + needle.len());
        match self.kind {
            TermKind::Whole => whole_word(folded, &self.text),
            TermKind::Phrase => found(&self.text).or_else(|| spaced(folded, &self.text)),
            _ => found(&self.text).or_else(|| self.stem.as_deref().and_then(found)),
        }
    }

    fn places(&self, text: &str, marks: &mut Vec<Range<usize>>) {
        if let Some(regex) = &self.regex {
            marks.extend(regex.find_iter(text).map(|found| found.range()).filter(|range| !range.is_empty()));
            return;
        }
        let (folded, map) = fold_mapped(text, self.lower);
        let original = |range: Range<usize>| map[range.start]..map[range.end];
        let mut from = 0;
        while from < folded.len() && !self.text.is_empty() {
            let rest = &folded[from..];
            let found = match self.kind {
                TermKind::Fuzzy => fuzzy_word(rest, &self.text),
                TermKind::TitleStart => {
                    rest.starts_with(&self.text).then_some(0..self.text.len()).filter(|_| from == 0)
                }
                TermKind::TitleEnd => rest.ends_with(&self.text).then(|| rest.len() - self.text.len()..rest.len()),
                TermKind::TitleIs => (rest == self.text).then_some(0..rest.len()).filter(|_| from == 0),
                _ => self.inside(rest),
            };
            let Some(found) = found.filter(|found| !found.is_empty()) else { break };
            marks.push(original(from + found.start..from + found.end));
            from += found.end;
        }
    }
}

/// A pattern of the query, smart case, bounded in size.
pub(super) fn regex(pattern: &str) -> Result<Regex, regex::Error> {
    let mut escaped = false;
    let capital = pattern.chars().any(|ch| {
        let counts = ch.is_uppercase() && !escaped;
        escaped = ch == '\\' && !escaped;
        counts
    });
    regex::RegexBuilder::new(pattern).case_insensitive(!capital).size_limit(1 << 20).build()
}

/// `text` without combining marks of alphabetic scripts, in lower case if asked.
///
/// Marks stay in Japanese and Korean, where they make another letter.
pub fn fold(text: &str, lower: bool) -> Cow<'_, str> {
    if text.is_ascii() {
        let changes = lower && text.bytes().any(|b| b.is_ascii_uppercase());
        return if changes { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) };
    }
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        fold_char(ch, lower, &mut |folded| out.push(folded));
    }
    Cow::Owned(out)
}

/// [`fold`] with the byte of the original for every byte of the result, and one more for its end.
fn fold_mapped(text: &str, lower: bool) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut map = Vec::with_capacity(text.len() + 1);
    for (at, ch) in text.char_indices() {
        fold_char(ch, lower, &mut |folded| {
            out.push(folded);
            map.resize(out.len(), at);
        });
    }
    map.push(text.len());
    (out, map)
}

fn fold_char(ch: char, lower: bool, push: &mut dyn FnMut(char)) {
    let mut put = |ch: char| {
        if lower {
            ch.to_lowercase().filter(|c| !is_combining_mark(*c)).for_each(&mut *push);
        } else {
            push(ch);
        }
    };
    let code = ch as u32;
    if code < 0x80 {
        put(ch);
    } else if (0x3040..0xA000).contains(&code) || (0xAC00..0xD7B0).contains(&code) {
        push(ch);
    } else if is_combining_mark(ch) {
        // Folded away, except where it belongs to kana (U+3099, U+309A are above).
    } else {
        decompose_canonical(ch, |part| {
            if !is_combining_mark(part) {
                put(part);
            }
        });
    }
}

/// The needle not glued to further letters. In scripts without spaces any place counts.
fn whole_word(folded: &str, needle: &str) -> Option<Range<usize>> {
    let glues = |a: Option<char>, b: Option<char>| {
        let wordy = |c: char| (c.is_alphanumeric() || c == '_') && !unspaced(c);
        a.is_some_and(wordy) && b.is_some_and(wordy)
    };
    folded.match_indices(needle).map(|(at, found)| at..at + found.len()).find(|range| {
        let (before, after) = (&folded[..range.start], &folded[range.end..]);
        !glues(before.chars().next_back(), needle.chars().next())
            && !glues(needle.chars().next_back(), after.chars().next())
    })
}

fn unspaced(ch: char) -> bool {
    matches!(ch as u32, 0x3040..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// The words of a phrase in a row, whatever white space or punctuation stands between them.
fn spaced(folded: &str, phrase: &str) -> Option<Range<usize>> {
    let mut words = phrase.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next()?;
    let rest: Vec<&str> = words.collect();
    if rest.is_empty() {
        return None;
    }
    folded.match_indices(first).find_map(|(start, _)| {
        let mut end = start + first.len();
        for word in &rest {
            let gap = folded[end..].find(|c: char| c.is_alphanumeric())?;
            if gap == 0 || !folded[end + gap..].starts_with(word) {
                return None;
            }
            end += gap + word.len();
        }
        Some(start..end)
    })
}

/// The first word that `needle` is a misspelling or a shortening of.
fn fuzzy_word(folded: &str, needle: &str) -> Option<Range<usize>> {
    let letters = needle.chars().count();
    let allowed = (letters / 4).max(1);
    let mut start = None;
    let ends = folded.char_indices().map(|(at, ch)| (at, Some(ch))).chain([(folded.len(), None)]);
    for (at, ch) in ends {
        match (start, ch.is_some_and(|ch| ch.is_alphanumeric() || ch == '_')) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                let word = &folded[from..at];
                let length = word.chars().count();
                let shortened = word.chars().next() == needle.chars().next() && subsequence(word, needle);
                if (shortened && length <= letters * 3)
                    || (length.abs_diff(letters) <= allowed && distance(word, needle) <= allowed)
                {
                    return Some(from..at);
                }
                start = None;
            }
            _ => {}
        }
    }
    None
}

fn subsequence(word: &str, needle: &str) -> bool {
    let mut letters = word.chars();
    needle.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

/// The beginning that the forms of an English word share. Other scripts and short words stay whole.
fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 5 {
        return word;
    }
    for ending in ["ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 3) {
            return stem;
        }
    }
    word
}
