//! The seam between a face that stays open and the data behind it.
//!
//! A [`Source`] answers questions and carries out changes; it is used from one thread of its own, so its methods may
//! block. The real one stands on the store ([`super::real`]); the screen's demo brings another that touches nothing.
//! What a list needs of a row travels in a [`RowBatch`], one text and one array for many rows, because a million rows
//! as a million structs of strings cost more time and memory than all else the screen does.
//!
//! Absent from it: how a screen looks, and any rule about what is worth keeping.

mod batch;
mod change;
mod vitals;

use std::fmt;

use crate::memory::{Memory, MemoryId};

pub use batch::{BatchRow, ListRow, RowBatch, RowFlags};
pub use change::{Applied, Change, EditFields, MergePlan, RedactReach, StepInfo, StepState, TrashRow};
pub use vitals::{
    ContextAsk, ContextItem, ContextPreview, Funnel, HourCount, Problem, ProjectInfo, QueueRow, Rec, SessionInfo,
    TokensToday, Vitals, Window, project_key,
};

/// Something did not work: a sentence, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What kind, for those who react to it.
    pub kind: TroubleKind,
    /// What happened, as a sentence without a full stop.
    pub what: String,
    /// What to do; empty when nothing can be done.
    pub hint: String,
}

/// Kinds of trouble a face reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// There is no database yet.
    Missing,
    /// Somebody else is writing; try again.
    Busy,
    /// The database cannot be written: newer schema, no permission.
    ReadOnly,
    /// No room on the disk.
    DiskFull,
    /// What it was about has changed or gone.
    Conflict,
    /// Not possible with this source.
    Unsupported,
    /// Anything else.
    Other,
}

impl Trouble {
    /// Trouble of a kind, without a hint.
    pub fn new(kind: TroubleKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), hint: String::new() }
    }

    /// With a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// A part that this source does not have.
    pub fn unsupported(what: &str) -> Self {
        Self::new(TroubleKind::Unsupported, what)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Trouble {}

/// What is known once a source is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Where the data is, for people.
    pub place: String,
    /// Rows there are, deleted ones not counted; an estimate is fine.
    pub rows: u64,
    /// Why nothing can be changed, if so.
    pub read_only: Option<String>,
    /// Sample memories.
    pub demo: bool,
}

/// How far a follower has seen the data. Made by the source, opaque to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The database's own version of its content; moves when another connection commits.
    pub version: i64,
    /// Highest memory id seen.
    pub memory: i64,
    /// Highest journal step seen.
    pub step: i64,
    /// Anything else a source counts.
    pub other: i64,
}

/// What happened since.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Rows that are new or changed.
    pub rows: RowBatch,
    /// Rows that are gone from the lists.
    pub gone: Vec<MemoryId>,
    /// More changed than can be told: load everything again.
    pub reload: bool,
}

impl Changes {
    /// Nothing a list would show.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.gone.is_empty() && !self.reload
    }
}

/// What full text found, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordHits {
    /// Rows with the place that made them hits, when it is not in title or facts.
    pub hits: Vec<(MemoryId, String)>,
    /// There are more.
    pub more: bool,
}

/// The data behind a face.
pub trait Source: Send {
    /// What is known once it is open.
    fn opened(&mut self) -> Result<Opened, Trouble>;

    /// The newest `limit` rows by event time: what the first frame shows.
    fn newest(&mut self, limit: usize, out: &mut RowBatch) -> Result<(), Trouble>;

    /// The next `limit` rows below `before` in descending order of id, in which they lie on disk. `facts`: with their
    /// facts. Returns where the next page begins, or `None` at the end.
    fn page(
        &mut self,
        before: Option<MemoryId>,
        limit: usize,
        facts: bool,
        out: &mut RowBatch,
    ) -> Result<Option<MemoryId>, Trouble>;

    /// What happened since `seen`, which moves. `None`: nothing. Must be cheap when nothing did.
    fn changes(&mut self, seen: &mut Seen) -> Result<Option<Changes>, Trouble>;

    /// Memories in full; missing ones are left out.
    fn get(&mut self, ids: &[MemoryId]) -> Result<Vec<Memory>, Trouble>;

    /// Rows of some projects (none: all) whose full text holds `query` (the query language), newest first.
    fn words(&mut self, query: &str, projects: &[String], limit: usize) -> Result<WordHits, Trouble>;

    /// Ids that meet conditions a list cannot check itself (`concept:`, `file:`, `has:` …), as a query.
    fn matching(&mut self, query: &str) -> Result<Vec<MemoryId>, Trouble>;

    /// Projects with their counts, most memories first.
    fn projects(&mut self) -> Result<Vec<ProjectInfo>, Trouble>;

    /// Sessions, newest first.
    fn sessions(&mut self, limit: usize) -> Result<Vec<SessionInfo>, Trouble>;

    /// Summaries of a session in full, oldest first.
    fn summaries(&mut self, session: &str) -> Result<Vec<Memory>, Trouble>;

    /// Memories by hour of event time between two instants (milliseconds), for some projects (none: all).
    fn hours(&mut self, projects: &[String], since: i64, until: i64) -> Result<Vec<HourCount>, Trouble>;

    /// Is it recording.
    fn vitals(&mut self) -> Result<Vitals, Trouble>;

    /// What the next session would get.
    fn context(&mut self, ask: &ContextAsk) -> Result<ContextPreview, Trouble>;

    /// What is in the trash, newest deletion first.
    fn trash(&mut self, limit: usize) -> Result<Vec<TrashRow>, Trouble>;

    /// The undo journal, newest step first.
    fn history(&mut self, limit: usize) -> Result<Vec<StepInfo>, Trouble>;

    /// Carries out a change, in one step of the journal.
    fn apply(&mut self, change: &Change) -> Result<Applied, Trouble>;

    /// Undoes a step (`None`: the last one that is done).
    fn undo(&mut self, step: Option<i64>) -> Result<Applied, Trouble>;

    /// Does the last undone step again.
    fn redo(&mut self) -> Result<Applied, Trouble>;

    /// What a redaction of `needle` would reach, before it is done.
    fn redact_reach(&mut self, needle: &str) -> Result<RedactReach, Trouble>;

    /// Why a memory is there: each gate's verdict, batch, run and evidence, as lines for people.
    fn why(&mut self, id: MemoryId) -> Result<Vec<String>, Trouble>;

    /// Last lines of the log, oldest first.
    fn log(&mut self, lines: usize) -> Result<Vec<String>, Trouble>;

    /// `poke` is called whenever something changed that this process knows of at once. Sources that know nothing of
    /// the kind are asked for [`Source::changes`] now and then.
    fn on_change(&mut self, poke: Box<dyn Fn() + Send>) {
        drop(poke);
    }
}
