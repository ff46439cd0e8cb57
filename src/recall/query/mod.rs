//! The query language (tui.md B.5): text in, hard conditions, terms and faults out.
//!
//! Three rules hold it together. Nothing is an error: a part that does not parse is reported with its place and a
//! suggestion, and left out, and the rest still works. The text is the model: a filter chosen with a key is
//! written into the text (`edit`), so it can be seen, changed and saved. And whatever is no syntax is literal:
//! `C++`, `std::vec`, `--dry-run` and `~/notes` are words.
//!
//! `syntax` cuts text into parts, `value` and `when` read what stands behind a colon, `judge` decides whether a text holds
//! the terms. Absent from it: the store's SQL, and any knowledge of which projects exist (names are resolved by
//! `find`).

mod edit;
mod judge;
mod syntax;
mod value;
mod when;

use std::ops::Range;

use jiff::tz::TimeZone;

use crate::memory::{Kind, MemoryId, Timestamp};
use crate::store::api::Filter;

pub use edit::{remove_filter, set_filter, toggle_value, values_of};
pub use judge::{Fields, Judge, fold};
pub use syntax::{Body, Key, Part, TermKind, parts};
pub use value::closest;
pub use when::{Moment, moment};

/// Where and when a query is read: dates are the reader's own.
#[derive(Clone, Debug)]
pub struct Local {
    /// The present.
    pub now: Timestamp,
    /// The reader's zone.
    pub zone: TimeZone,
}

/// Words that a query may name, for reading and for suggestions.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    /// Types of the active mode.
    pub types: Vec<TypeWord>,
    /// Concepts; any other word is accepted as well.
    pub concepts: Vec<String>,
    /// Project names.
    pub projects: Vec<String>,
}

/// One type as a query may call it.
#[derive(Clone, Debug, Default)]
pub struct TypeWord {
    /// Id.
    pub id: String,
    /// Letter.
    pub letter: char,
    /// Label.
    pub label: String,
}

/// In which order an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sort {
    /// By event time, newest first.
    #[default]
    Newest,
    /// By event time, oldest first.
    Oldest,
    /// Best first.
    Relevance,
}

/// A part that did not parse. It is left out; the rest holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Bytes of the text it stands in.
    pub span: Range<usize>,
    /// What is wrong, one short sentence.
    pub what: String,
    /// What may have been meant, as text for the same place.
    pub suggestion: Option<String>,
}

/// One thing to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// How to look.
    pub kind: TermKind,
    /// What to look for: a word, a phrase, or a pattern.
    pub text: String,
    /// It must not be there.
    pub not: bool,
}

/// A project as named in a query; `find` knows which roots that means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectWanted {
    /// Name or root.
    pub name: String,
    /// Exactly this one, no worktrees, no part of a name.
    pub exact: bool,
    /// Everything but this one.
    pub not: bool,
}

/// What must be there in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Facts.
    Facts,
    /// Files.
    Files,
    /// A narrative.
    Narrative,
    /// It is near-equal to another.
    Dupe,
    /// It looks as if it held a key.
    Secret,
    /// A note: written by hand.
    Note,
}

/// A state that only the one who asks may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Part of the next injection.
    In,
    /// Not part of it.
    Out,
    /// Not looked at yet.
    New,
    /// In the trash.
    Trashed,
}

/// A condition that the store's filter cannot say; it is checked on the whole memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// `has:`
    Has(Presence, bool),
    /// `is:in` …
    State(State, bool),
    /// `type:wild`
    Wild(bool),
    /// None of these concepts.
    NotConcepts(Vec<String>),
    /// None of these globs; only modified files when set.
    NotFiles(Vec<String>, bool),
    /// None of these sessions.
    NotSessions(Vec<String>),
    /// None of these ids.
    NotIds(Vec<(MemoryId, MemoryId)>),
    /// None of these sources.
    NotSources(Vec<String>),
}

/// Where terms are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Title and subtitle.
    Title,
    /// Facts.
    Facts,
    /// The narrative, a summary's parts, a prompt's text.
    Narrative,
    /// Files read and modified.
    Files,
}

/// A query that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// As typed.
    pub text: String,
    /// All parts with their places, for the one who draws the input.
    pub parts: Vec<Part>,
    /// Terms: every group must hold, and in a group any one.
    pub groups: Vec<Vec<Term>>,
    /// Hard conditions. Projects and sessions are not in it yet: see `projects` and `sessions`.
    pub filter: Filter,
    /// Projects named.
    pub projects: Vec<ProjectWanted>,
    /// Sessions named: an id, the beginning of one, or `S171` for the session of summary 171.
    pub sessions: Vec<String>,
    /// Conditions beyond the filter.
    pub checks: Vec<Check>,
    /// Where to look; empty means everywhere.
    pub fields: Vec<Field>,
    /// Order, if the query names one.
    pub sort: Option<Sort>,
    /// What did not parse.
    pub faults: Vec<Fault>,
}

impl Query {
    /// Reads `text`. Never fails.
    pub fn parse(text: &str, vocabulary: &Vocabulary, local: &Local) -> Self {
        let mut query = Self { text: text.to_owned(), parts: parts(text), ..Self::default() };
        let mut or_pending = false;
        let parts = query.parts.clone();
        for (at, part) in parts.iter().enumerate() {
            let joins_terms = |other: Option<&Part>| matches!(other.map(|p| &p.body), Some(Body::Term(..)));
            match &part.body {
                Body::Or => {
                    let before = at.checked_sub(1).and_then(|before| parts.get(before));
                    if joins_terms(before) && joins_terms(parts.get(at + 1)) && !query.groups.is_empty() {
                        or_pending = true;
                    } else {
                        query.fault(part, "needs a word on both sides", None);
                    }
                }
                // A lone star is everything (A106).
                Body::Term(TermKind::Word, star) if star == "*" && !part.not => {}
                Body::Term(kind, words) => match value::term(*kind, words) {
                    Ok(()) => {
                        let term = Term { kind: *kind, text: words.clone(), not: part.not };
                        match query.groups.last_mut() {
                            Some(group) if or_pending => group.push(term),
                            _ => query.groups.push(vec![term]),
                        }
                        or_pending = false;
                    }
                    Err(what) => {
                        query.fault(part, &what, None);
                        or_pending = false;
                    }
                },
                Body::Ids(ids) => {
                    if part.not {
                        query.checks.push(Check::NotIds(ids.clone()));
                    } else {
                        query.filter.ids.extend(ids.iter().copied());
                    }
                }
                Body::Filter(key, values) => {
                    value::apply(&mut query, part, *key, values, vocabulary, local);
                }
                Body::Fault(what, suggestion) => query.fault(part, what, suggestion.clone()),
            }
        }
        query
    }

    fn fault(&mut self, part: &Part, what: &str, suggestion: Option<String>) {
        self.faults.push(Fault { span: part.span.clone(), what: what.to_owned(), suggestion });
    }

    /// The same query as text with one space between parts. Reading it again gives the same query.
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        for part in &self.parts {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&self.text[part.span.clone()]);
        }
        out
    }

    /// Nothing to look for: the answer is the newest rows that meet the conditions (A106).
    pub fn is_open(&self) -> bool {
        self.groups.is_empty()
    }

    /// The words that must be there, as plain text: for full text and for meaning. In a group of alternatives the
    /// first one.
    pub fn plain(&self) -> String {
        let words = self.groups.iter().filter_map(|group| group.iter().find(|term| term.is_wordlike()));
        words.map(|term| term.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Every combination of alternatives as plain text: `a | b c` gives `a c` and `b c`. At most `max`.
    pub fn plain_alternatives(&self, max: usize) -> Vec<String> {
        let mut out = vec![String::new()];
        for group in &self.groups {
            let words: Vec<&str> = group.iter().filter(|t| t.is_wordlike()).map(|t| t.text.as_str()).collect();
            // One alternative that no index can look up (a pattern, a negation) frees the whole group.
            if words.is_empty() || words.len() < group.len() {
                continue;
            }
            let mut next = Vec::new();
            for left in &out {
                for word in &words {
                    if next.len() < max {
                        next.push(if left.is_empty() { (*word).to_owned() } else { format!("{left} {word}") });
                    }
                }
            }
            out = next;
        }
        out
    }

    /// Kinds that are listed: as named, else observations and summaries.
    pub fn kinds(&self) -> Vec<Kind> {
        if self.filter.kinds.is_empty() { vec![Kind::Observation, Kind::Summary] } else { self.filter.kinds.clone() }
    }
}

impl Term {
    /// Full text can look it up: words that must be there as they are.
    pub fn is_wordlike(&self) -> bool {
        !self.not
            && matches!(
                self.kind,
                TermKind::Word
                    | TermKind::Phrase
                    | TermKind::Whole
                    | TermKind::TitleStart
                    | TermKind::TitleEnd
                    | TermKind::TitleIs
            )
    }
}

#[cfg(test)]
mod tests;
