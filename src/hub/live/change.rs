//! What a person can change, and what came of it.

use crate::memory::{Memory, MemoryId, Timestamp};

/// One act of a person. Each is one step of the journal, except [`Change::Redact`], [`Change::Purge`] and the pause.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// To the trash.
    Trash(Vec<MemoryId>),
    /// Back from the trash.
    PutBack(Vec<MemoryId>),
    /// Out of the trash for ever; none: all of it.
    Purge(Vec<MemoryId>),
    /// Another type.
    Retype(Vec<MemoryId>, String),
    /// Concepts to add and to take away.
    Concepts {
        /// Rows.
        ids: Vec<MemoryId>,
        /// Concepts they get.
        add: Vec<String>,
        /// Concepts they lose.
        remove: Vec<String>,
    },
    /// Another title.
    Title(MemoryId, String),
    /// New contents from the editor, all in one step.
    Edit(Vec<(MemoryId, EditFields)>),
    /// Pin or unpin.
    Pin(Vec<MemoryId>, bool),
    /// Exclude from context or allow again.
    Exclude(Vec<MemoryId>, bool),
    /// To another project, by root.
    Move(Vec<MemoryId>, String),
    /// A linked worktree folded into its parent: every row of it goes to the main checkout.
    Fold {
        /// Root of the main checkout.
        root: String,
        /// Name of the worktree.
        worktree: String,
    },
    /// Several into one.
    Merge(MergePlan),
    /// A string replaced everywhere, for good.
    Redact {
        /// The string.
        needle: String,
        /// What stands in its place.
        replacement: String,
    },
    /// Stop recording (`true`) or go on.
    Pause(bool),
    /// Try a quarantined event again, or forget a problem: its key.
    Retry(String),
}

/// What an editor may change of a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditFields {
    /// Type id.
    pub type_id: String,
    /// Title.
    pub title: String,
    /// Subtitle.
    pub subtitle: String,
    /// Narrative.
    pub narrative: String,
    /// Facts.
    pub facts: Vec<String>,
    /// Concepts.
    pub concepts: Vec<String>,
    /// Files read.
    pub files_read: Vec<String>,
    /// Files modified.
    pub files_modified: Vec<String>,
}

impl From<&Memory> for EditFields {
    fn from(memory: &Memory) -> Self {
        Self {
            type_id: memory.type_id.clone(),
            title: memory.title.clone(),
            subtitle: memory.subtitle.clone(),
            narrative: memory.narrative.clone(),
            facts: memory.facts.clone(),
            concepts: memory.concepts.clone(),
            files_read: memory.files_read.clone(),
            files_modified: memory.files_modified.clone(),
        }
    }
}

/// A merge as its form decided.
#[derive(Clone, Debug, PartialEq)]
pub struct MergePlan {
    /// The row that stays.
    pub keep: MemoryId,
    /// Rows that go to the trash, marked as merged into it.
    pub fold: Vec<MemoryId>,
    /// Its new contents.
    pub fields: EditFields,
    /// Its event time.
    pub created_at: Timestamp,
    /// Pinned from any.
    pub pinned: bool,
}

/// What came of a change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// Its step in the journal, if it can be undone.
    pub step: Option<i64>,
    /// What was done, for people: `trashed 14`, `retyped 3 as bugfix`.
    pub label: String,
    /// Rows it reached.
    pub ids: Vec<MemoryId>,
    /// Rows it left alone, and why.
    pub left: Vec<(MemoryId, String)>,
}

/// Where a step of the journal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// Done.
    Done,
    /// Undone, can be done again.
    Undone,
    /// Undone, and something else was done since.
    Gone,
}

/// A step of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepInfo {
    /// Its number.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Who: `you`, `cli`, `mcp` …
    pub actor: String,
    /// What, for people.
    pub label: String,
    /// Rows it reached.
    pub rows: u32,
    /// Where it stands.
    pub state: StepState,
}

/// A row in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashRow {
    /// The memory as it was.
    pub memory: Memory,
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// By whom.
    pub actor: String,
    /// The step that did it: rows of one step went together.
    pub step: i64,
    /// How many went together.
    pub batch: u32,
    /// The memory it was merged into.
    pub merged_into: Option<MemoryId>,
    /// When it leaves for ever.
    pub leaves_at: Timestamp,
}

/// Where a string to be redacted stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactReach {
    /// Place and how often: `title`, `facts`, `narrative`, `trash`, `journal` …
    pub places: Vec<(String, u32)>,
    /// Rows that hold it.
    pub ids: Vec<MemoryId>,
    /// A few lines around it, the string itself covered.
    pub samples: Vec<(String, String)>,
    /// What cannot be reached, for people.
    pub beyond: Vec<String>,
}
