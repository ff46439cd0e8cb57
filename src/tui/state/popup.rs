//! What lies over the view and takes the keys: strips, forms, lists, lines.

use super::{LineEdit, Picker};
use crate::hub::live::{Change, EditFields, RedactReach};
use crate::memory::{Memory, MemoryId};

/// What takes the keys.
#[derive(Clone, Debug)]
pub enum Popup {
    /// The type legend: letters toggle.
    Legend(Legend),
    /// A list to choose from.
    Picker(Picker),
    /// A question about a change that touches many rows.
    Strip(Strip),
    /// A line to type: a title, a date, a path.
    Line(LineBox),
    /// Several memories into one.
    Merge(Box<MergeForm>),
    /// A string out of everything, for good.
    Redact(Box<RedactForm>),
    /// Lines to read.
    Text(TextBox),
}

/// The type legend while its keys hold.
#[derive(Clone, Debug, Default)]
pub struct Legend {
    /// The next letter shows only its type.
    pub only: bool,
    /// First line, where it does not fit.
    pub scroll: usize,
}

/// How a strip is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// `y`.
    Yes,
    /// The number of rows, typed.
    Count(LineEdit),
}

/// What the user says yes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Change memories.
    Change(Change),
    /// Leave although rows are marked.
    Quit,
}

/// A confirm strip: the default keeps, `y` or the number acts.
#[derive(Clone, Debug)]
pub struct Strip {
    /// The question.
    pub question: String,
    /// What `y` does, in a word.
    pub verb: String,
    /// Lines below the question.
    pub lines: Vec<String>,
    /// Rows it is about.
    pub count: usize,
    /// How many of them the filter hides.
    pub hidden: usize,
    /// Pinned rows among them, and whether `!` has let them in.
    pub pinned: Vec<MemoryId>,
    /// `!` was pressed: pinned rows too.
    pub with_pinned: bool,
    /// How it is answered.
    pub answer: Answer,
    /// Keys before this time do nothing (D.2).
    pub deaf_until: i64,
    /// What it is about.
    pub act: Act,
}

/// What a typed line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineFor {
    /// A new title.
    Title(MemoryId),
    /// Go to this date.
    Date,
    /// Filter by this date.
    FilterDate,
    /// Filter by this file.
    FilterFile,
    /// Another type, by name.
    Retype(Vec<MemoryId>),
    /// Where to export: path and ids.
    Export(Vec<MemoryId>),
    /// A setting: `guard off`.
    Set,
    /// Save the present view under a number.
    SaveView,
    /// A new concept.
    Concept(Vec<MemoryId>),
}

impl LineFor {
    /// Accepting the line changes a memory.
    pub fn writes(&self) -> bool {
        matches!(self, Self::Title(_) | Self::Retype(_) | Self::Concept(_))
    }
}

/// A line to type.
#[derive(Clone, Debug)]
pub struct LineBox {
    /// Heading.
    pub title: String,
    /// The line.
    pub edit: LineEdit,
    /// What it is for.
    pub purpose: LineFor,
    /// What is wrong with it, or a hint.
    pub note: String,
}

/// Lines to read.
#[derive(Clone, Debug)]
pub struct TextBox {
    /// Heading.
    pub title: String,
    /// Lines; already safe.
    pub lines: Vec<String>,
    /// First visible line.
    pub scroll: usize,
}

/// The merge form.
#[derive(Clone, Debug)]
pub struct MergeForm {
    /// The memories, as they are; the first is kept.
    pub sources: Vec<Memory>,
    /// Line under the cursor.
    pub field: usize,
    /// Whose title.
    pub title: usize,
    /// Whose type.
    pub kind: usize,
    /// Narrative: whose, or `sources.len()` for joined with dates.
    pub narrative: usize,
    /// Newest time (else the oldest).
    pub newest: bool,
    /// Keys before this time do nothing.
    pub deaf_until: i64,
}

impl MergeForm {
    /// How many fields can be chosen.
    pub const FIELDS: usize = 4;

    /// What the result will be.
    pub fn result(&self) -> EditFields {
        let keep = &self.sources[0];
        let union = |list: fn(&Memory) -> &Vec<String>| {
            let mut out: Vec<String> = Vec::new();
            for item in self.sources.iter().flat_map(list) {
                if !out.iter().any(|have| have.eq_ignore_ascii_case(item)) {
                    out.push(item.clone());
                }
            }
            out
        };
        let narrative = match self.sources.get(self.narrative) {
            Some(source) => source.narrative.clone(),
            None => {
                let mut dated: Vec<&Memory> = self.sources.iter().filter(|m| !m.narrative.is_empty()).collect();
                dated.sort_by_key(|memory| memory.created_at);
                let parts = dated.iter().map(|m| format!("{}: {}", m.created_at.strftime("%Y-%m-%d"), m.narrative));
                parts.collect::<Vec<_>>().join("\n\n")
            }
        };
        EditFields {
            type_id: self.sources[self.kind.min(self.sources.len() - 1)].type_id.clone(),
            title: self.sources[self.title.min(self.sources.len() - 1)].title.clone(),
            subtitle: keep.subtitle.clone(),
            narrative,
            facts: union(|m| &m.facts),
            concepts: union(|m| &m.concepts),
            files_read: union(|m| &m.files_read),
            files_modified: union(|m| &m.files_modified),
        }
    }

    /// Facts of all sources, and how many fall away as equal.
    pub fn facts(&self) -> (usize, usize) {
        let all: usize = self.sources.iter().map(|memory| memory.facts.len()).sum();
        let kept = self.result().facts.len();
        (kept, all - kept)
    }
}

/// The redact form: first the string, then the word REDACT.
#[derive(Clone, Debug, Default)]
pub struct RedactForm {
    /// The string to remove.
    pub needle: LineEdit,
    /// What stands in its place.
    pub replacement: String,
    /// Where it was found; `None`: not asked yet.
    pub reach: Option<RedactReach>,
    /// The word that goes on.
    pub confirm: LineEdit,
    /// The word is being typed.
    pub confirming: bool,
}
