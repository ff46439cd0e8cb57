//! What a person changes. Every act is one step in a journal that stays (30 days or 1,000 steps, by the settings):
//! it can be undone and done again, days later, from any face, over a kill. The exceptions say so in their names:
//! purging the trash and redacting are final.
//!
//! An act on many rows runs in chunks, each one transaction, all in one step: it can be watched and stopped, other
//! writers get their turn in between, and what was done is undone like any step.

use crate::memory::{MemoryId, Timestamp};

mod edit;
pub(super) mod journal;
mod notes;
mod projects;
mod redact;
mod trash;

pub use edit::Edit;
pub use journal::{ChangeInfo, Resolve, StepInfo, StepState, Undone};
pub use notes::Cluster;
pub use redact::{MARK, Redacted};
pub use trash::Trashed;

pub(super) use journal::What;
pub(super) use trash::put_into_trash;

/// Rows a chunk changes before others get their turn.
pub(super) const CHUNK: usize = 500;

/// Who acts, and when.
#[derive(Clone, Copy, Debug)]
pub struct Who<'a> {
    /// `tui`, `cli`, `mcp`, `http`.
    pub actor: &'a str,
    /// The moment, for the journal.
    pub now: Timestamp,
}

/// Told how far an act has come (done, of); answers whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// What an act came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Done {
    /// The step in the journal; `None` when nothing changed.
    pub step: Option<i64>,
    /// Rows changed.
    pub rows: u64,
    /// Rows left alone because they are pinned.
    pub pinned: Vec<MemoryId>,
    /// Rows that are not there.
    pub missing: Vec<MemoryId>,
    /// It was stopped before the end.
    pub stopped: bool,
}

fn label_of(ids: &[MemoryId]) -> String {
    match ids {
        [id] => format!("#{}", id.0),
        // No text of the memories: a purge must not leave any behind in the journal.
        _ => format!("{} memories", ids.len()),
    }
}
