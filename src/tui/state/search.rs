//! The search line and what belongs to it: the query, its tiers on their way, completion, history, saved views.

use std::collections::HashSet;

use super::LineEdit;
use crate::memory::MemoryId;
use crate::recall::query::{Judge, Query};

/// Which tier the line asks for (Ctrl-T).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tier {
    /// Words as they are.
    #[default]
    Exact,
    /// Misspelt and shortened words too.
    Fuzzy,
    /// A pattern.
    Regex,
}

/// The search.
#[derive(Debug, Default)]
pub struct Search {
    /// The line, while it is being typed.
    pub line: Option<LineEdit>,
    /// The query that holds: as text.
    pub text: String,
    /// The query that holds: as read.
    pub query: Query,
    /// Where its terms stand in a text.
    pub judge: Judge,
    /// What Esc goes back to.
    pub before: String,
    /// Raised with every change: late answers of an older one are dropped.
    pub generation: u64,
    /// Tiers on their way.
    pub running: u32,
    /// Ids that meet the conditions only the source can check, for this query.
    pub ids: Option<HashSet<i64>>,
    /// The source has been asked for them.
    pub asked_ids: bool,
    /// When the second tier is asked: a moment after the last key.
    pub words_at: Option<i64>,
    /// How long the first tier took, in microseconds.
    pub micros: u64,
    /// The tier asked for.
    pub tier: Tier,
    /// Completion of the word at the cursor.
    pub completion: Option<Completion>,
    /// Queries kept before, newest last.
    pub history: Vec<String>,
    /// Where in the history Up has gone.
    pub history_at: Option<usize>,
    /// Suggestions when nothing matches: new text, what it would give.
    pub closest: Vec<Closest>,
    /// The suggestion under the cursor.
    pub closest_at: usize,
}

/// A change of the query that would find something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closest {
    /// The new query.
    pub text: String,
    /// What it is, for people.
    pub label: String,
    /// What it finds.
    pub found: usize,
    /// Why.
    pub note: String,
}

/// Values for the word at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Bytes of the line that a choice replaces.
    pub range: std::ops::Range<usize>,
    /// Value and count.
    pub items: Vec<(String, Option<u64>)>,
    /// The one that Tab takes.
    pub at: usize,
    /// The user has moved in it.
    pub moved: bool,
}

/// A kept query with the view it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SavedView {
    /// Its number, 1 to 9.
    pub number: u8,
    /// The query.
    pub query: String,
    /// Project roots; none: all.
    pub scope: Vec<String>,
}

impl Search {
    /// Something is searched for, not merely filtered.
    pub fn has_terms(&self) -> bool {
        !self.query.groups.is_empty()
    }
}

/// Marks: by id, whatever the list shows.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Marked memories.
    pub ids: std::collections::BTreeSet<MemoryId>,
}

impl Marks {
    /// Marks or unmarks.
    pub fn toggle(&mut self, id: MemoryId) {
        if !self.ids.remove(&id) {
            self.ids.insert(id);
        }
    }
}
