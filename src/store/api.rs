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
    /// memories resting only on such events move to that session, text and ids untouched.
    pub owners: Vec<(EventKey, SessionId)>,
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
    /// Project roots, worktrees and aliases included by the caller.
    pub projects: Vec<String>,
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
