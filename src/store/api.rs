//! The values that go in and out of the store.

use serde::{Deserialize, Serialize};

use crate::memory::{EventKey, Kind, MemoryId, NewMemory, ProjectRef, SessionId, Timestamp};

/// Everything one writing transaction records: what the bytes up to a cursor led to (architecture §1.1).
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// Memories to keep. Equal content hashes and tombstones are left out in the same transaction and reported.
    pub memories: Vec<NewMemory>,
    /// One row per event key that now has an outcome. A key that has one keeps it (insert or ignore).
    pub ledger: Vec<LedgerRow>,
    /// Cursors that move with it.
    pub cursors: Vec<CursorRow>,
    /// What is newly known of sessions.
    pub sessions: Vec<SessionRow>,
    /// A model call that this answers, for accounting.
    pub call: Option<CallRow>,
    /// Events that another session turned out to own (a fork was read before its original): ledger row and
    /// memories resting only on such events move to that session, text and ids untouched. With the time the event
    /// has there (a fork made in mid-call tells another).
    pub owners: Vec<(EventKey, SessionId, Option<Timestamp>)>,
    /// Events the client took back: memories resting only on them are marked abandoned.
    pub retracted: Vec<EventKey>,
    /// Turns that were rewound away: session, first and last prompt number. Their memories are marked abandoned
    /// (A144); the work was done all the same.
    pub rewound: Vec<(SessionId, u32, u32)>,
    /// Titles for the session that holds the entry with this uuid (an event key, or the part of one before `#`).
    pub titles: Vec<(EventKey, String)>,
    /// Counters to add: (`lines.read`, 12), (`gate.2.secret`, 1), (`unknown.zz-new`, 1) …
    pub counters: Vec<(String, i64)>,
    /// Record time.
    pub now: Option<Timestamp>,
}

/// What [`Commit`] came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Ids in the order of `Commit::memories`; an id that existed already for equal content; `None` where a
    /// tombstone keeps it away.
    pub ids: Vec<Option<MemoryId>>,
    /// How many rows are new.
    pub new: u32,
    /// Rows of `Commit::ledger` whose key had an outcome already.
    pub repeated: u32,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A memory rests on it.
    Stored,
    /// Judged not worth remembering.
    Skipped,
    /// Refused by a gate before anybody was asked.
    Dropped,
    /// Given up after bounded tries; can be retried from `why`.
    Quarantined,
}

/// One event's row in the ledger. No payload.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRow {
    /// Event.
    pub key: EventKey,
    /// Its second name (`Event::alias`): whoever asks for the one or the other finds this row.
    pub alias: Option<EventKey>,
    /// Session it was read in first.
    pub session: SessionId,
    /// `prompt`, `tool`, `answer` …
    pub kind: String,
    /// Event time.
    pub time: Option<Timestamp>,
    /// What became of it.
    pub outcome: Outcome,
    /// Gate that decided: 0–5.
    pub gate: u8,
    /// Why, as a stable word: `excluded-project`, `skip-tool`, `private-turn`, `routine`, `model-skip` …
    pub reason: String,
    /// Call that decided, if one did.
    pub call: Option<i64>,
    /// Indexes into `Commit::memories` that rest on it.
    pub memories: Vec<usize>,
}

/// Where reading of one transcript file stands.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CursorRow {
    /// Device and inode (or file id) as text; the key.
    pub file_id: String,
    /// Where the file was seen last. Changes on rename.
    pub path: String,
    /// Session.
    pub session: String,
    /// Behind the last newline whose events all have an outcome.
    pub offset: u64,
    /// Raised when the file shrank or was rewritten.
    pub generation: u32,
    /// Hash of the first 512 committed bytes and the last 64 before the offset.
    pub fingerprint: String,
    /// The reader's state at the offset, as JSON. Holds no text of the transcript.
    pub state: String,
    /// Set when the file is gone.
    pub gone: bool,
    /// Bytes present when cmem first started: older work, read only by `backfill`. 0: none (left).
    ///
    /// The backfill's own progress in `0..backlog_end` is a second row whose `file_id` ends in `#backlog`.
    pub backlog_end: u64,
    /// Events counted in what is still unread of `0..backlog_end`.
    pub backlog_events: u64,
}

/// A span in which recording was switched off by the user. Events whose time lies in it are never recorded,
/// whenever they are read (A096). Kept as rows, so that any process can start or end one and the collector sees
/// it through `data_version`. Store: `pause(session, now)`, `resume(session, now)`, `pauses()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The session; `None`: every session.
    pub session: Option<String>,
    /// From, inclusive.
    pub since: Timestamp,
    /// Until, exclusive; `None`: still paused.
    pub until: Option<Timestamp>,
}

/// What is known of a session.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SessionRow {
    /// Session.
    pub session: String,
    /// Project of its first directory.
    pub project: Option<ProjectRef>,
    /// Title, last one wins.
    pub title: Option<String>,
    /// First event time.
    pub started_at: Option<Timestamp>,
    /// Last event time.
    pub last_at: Option<Timestamp>,
    /// Prompts seen.
    pub prompts: u32,
    /// The user's last words, stripped and masked.
    pub last_prompt: Option<String>,
}

/// One call to a model.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CallRow {
    /// Observer run.
    pub run: i64,
    /// Session.
    pub session: String,
    /// Project root, for spend by project.
    pub project_root: String,
    /// Provider and model.
    pub provider: String,
    /// Model.
    pub model: String,
    /// `stored`, `skipped`, `retried`, `paused`, `quarantined`.
    pub outcome: String,
    /// Finer reason.
    pub reason: String,
    /// Input tokens, uncached.
    pub input_tokens: u64,
    /// Input tokens read from cache.
    pub cached_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars, as reported or estimated.
    pub cost: f64,
    /// Milliseconds it took.
    pub millis: u64,
}

/// Hard conditions of a list or search. Empty means no condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Projects by root (`ROOT`: with worktrees and former names; `=ROOT`: the main checkout alone;
    /// `ROOT#WORKTREE`: one worktree).
    pub projects: Vec<String>,
    /// The same words, for projects left out (excluded by a setting).
    pub not_projects: Vec<String>,
    /// Type ids.
    pub types: Vec<String>,
    /// Type ids left out.
    pub not_types: Vec<String>,
    /// Concepts, any of.
    pub concepts: Vec<String>,
    /// Globs over files read or modified, any of.
    pub files: Vec<String>,
    /// Only files modified.
    pub modified_only: bool,
    /// Sessions.
    pub sessions: Vec<String>,
    /// Ids or ranges, any of.
    pub ids: Vec<(MemoryId, MemoryId)>,
    /// From, inclusive.
    pub since: Option<Timestamp>,
    /// Until, exclusive.
    pub until: Option<Timestamp>,
    /// Row kinds; empty: observations and summaries.
    pub kinds: Vec<Kind>,
    /// Prompt number.
    pub prompt: Option<u32>,
    /// Sources.
    pub sources: Vec<String>,
    /// Tokens to read it, at least.
    pub tokens_min: Option<u32>,
    /// Tokens to read it, at most.
    pub tokens_max: Option<u32>,
    /// `Some(true)`: only pinned, `Some(false)`: only not.
    pub pinned: Option<bool>,
    /// Likewise, kept from injection by the user.
    pub excluded: Option<bool>,
    /// Likewise, changed by a person.
    pub edited: Option<bool>,
    /// Likewise, replaced by another.
    pub superseded: Option<bool>,
    /// Likewise, made by a helper agent.
    pub helper: Option<bool>,
    /// Rows of projects the user excluded are shown too (hidden by default, A094).
    pub with_excluded_projects: bool,
}

/// Where a page begins: behind this row, in the page's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// Event time in milliseconds.
    pub created_ms: i64,
    /// Row.
    pub id: MemoryId,
}

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The file is made and brought up to date where needed.
    ReadWrite,
    /// Nothing is created or changed; a newer file can be read as far as it goes.
    ReadOnly,
}

/// In which order rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// By event time, newest first; equal times by id, highest first.
    #[default]
    Newest,
    /// The other way round.
    Oldest,
    /// Best match first (searches only), over the newest two thousand hits.
    Relevance,
}

impl PageKey {
    /// The page behind `memory`.
    pub fn of(memory: &crate::memory::Memory) -> Self {
        Self { created_ms: crate::memory::millis(memory.created_at), id: memory.id }
    }
}

/// One hit of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The row; the one that stands for it when the hit was folded into another.
    pub memory: crate::memory::Memory,
    /// Higher is better; 0 when the order was by time.
    pub score: f64,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// In the order asked for.
    pub hits: Vec<Hit>,
    /// More rows match than were asked for.
    pub more: bool,
}

/// The short form of a row, for a list kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TitleRow<'a> {
    /// Row.
    pub id: MemoryId,
    /// Event time in milliseconds.
    pub created_ms: i64,
    /// Kind.
    pub kind: Kind,
    /// Type id.
    pub type_id: &'a str,
    /// Number of the project (`ProjectInfo::id`); 0 unknown.
    pub project: i64,
    /// Title.
    pub title: &'a str,
    /// Subtitle.
    pub subtitle: &'a str,
    /// Facts, as a JSON array.
    pub facts: &'a str,
    /// Estimated tokens to read it.
    pub tokens: u32,
    /// Always injected.
    pub pinned: bool,
    /// Never injected.
    pub excluded: bool,
    /// Number of the session (see `Store::session_numbers`); 0 none.
    pub session: i64,
    /// Prompt number.
    pub prompt_number: u32,
    /// Changed by a person.
    pub edited: bool,
    /// On a rewound branch.
    pub abandoned: bool,
    /// Replaced by another.
    pub superseded: bool,
    /// Made by a helper agent.
    pub helper: bool,
}

/// A project with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProjectInfo {
    /// Row; also `TitleRow::project`.
    pub id: i64,
    /// Identity: absolute path.
    pub root: String,
    /// Label.
    pub name: String,
    /// Linked worktree, if this row is one.
    pub worktree: Option<String>,
    /// Root of the project it was renamed or merged into.
    pub alias_of: Option<String>,
    /// Switched off by the user.
    pub excluded: bool,
    /// Observations.
    pub observations: u64,
    /// Summaries.
    pub summaries: u64,
    /// Prompts.
    pub prompts: u64,
    /// Newest event time.
    pub last_at: Option<Timestamp>,
}

impl ProjectInfo {
    /// The word for `Filter::projects` that names this row alone if it is a worktree, else the project with all
    /// its worktrees and former names.
    pub fn key(&self) -> String {
        match &self.worktree {
            Some(worktree) => format!("{}#{worktree}", self.root),
            None => self.root.clone(),
        }
    }
}

/// A session with its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionInfo {
    /// Session.
    pub session: SessionId,
    /// Project label; empty when unknown.
    pub project: String,
    /// Project identity; empty when unknown.
    pub project_root: String,
    /// Title; empty when it has none.
    pub title: String,
    /// First event.
    pub started_at: Option<Timestamp>,
    /// Last event.
    pub last_at: Option<Timestamp>,
    /// Prompts seen.
    pub prompts: u32,
    /// The user's last words.
    pub last_prompt: String,
    /// Observations kept.
    pub observations: u32,
    /// Summaries kept.
    pub summaries: u32,
}

/// How many memories a type has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypeCount {
    /// Kind.
    pub kind: Kind,
    /// Type id.
    #[serde(rename = "type")]
    pub type_id: String,
    /// Rows.
    pub n: u64,
    /// Estimated tokens to read them all.
    pub tokens: u64,
}

/// What one hour of event time holds. Hours are counted in UTC from 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HourCount {
    /// Hours since 1970.
    pub hour: i64,
    /// Type id.
    #[serde(rename = "type")]
    pub type_id: String,
    /// Kind.
    pub kind: Kind,
    /// Rows.
    pub n: u64,
    /// Tokens to read them.
    pub tokens: u64,
    /// Tokens spent to produce them.
    pub work_tokens: u64,
}

/// An event's row in the ledger, as kept.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerEntry {
    /// Event.
    pub key: EventKey,
    /// Session.
    pub session: SessionId,
    /// What kind of event.
    pub kind: String,
    /// Event time.
    pub time: Option<Timestamp>,
    /// When it was decided.
    pub recorded_at: Timestamp,
    /// What became of it.
    pub outcome: Outcome,
    /// Gate that decided.
    pub gate: u8,
    /// Why.
    pub reason: String,
    /// Call that decided.
    pub call: Option<i64>,
    /// Memories that rest on it, also deleted ones.
    pub memories: Vec<MemoryId>,
}

/// A named fact in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRow {
    /// Name, dotted: `collector.heartbeat`.
    pub key: String,
    /// Value, its form is its writer's business.
    pub value: String,
    /// When it was set.
    pub at: Timestamp,
}

/// A field that an undo would overwrite though it changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// `memory`, `project` or `session`.
    pub what: String,
    /// Its row.
    pub id: i64,
    /// Which field; empty: the whole row (gone, or back already).
    pub field: String,
    /// What the step left there.
    pub expected: String,
    /// What is there now.
    pub found: String,
}

/// Calls of one outcome for one project in a span of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spend {
    /// Project root; empty when unknown.
    pub project_root: String,
    /// `stored`, `skipped`, `retried`, `paused`, `quarantined`.
    pub outcome: String,
    /// Calls.
    pub calls: u64,
    /// Input tokens, uncached.
    pub input_tokens: u64,
    /// Input tokens from cache.
    pub cached_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars.
    pub cost: f64,
}

/// Every kind of row.
pub const ALL_KINDS: [Kind; 3] = [Kind::Observation, Kind::Summary, Kind::Prompt];
