//! Is it recording, and what is there: values a screen shows beside the memories.

use crate::memory::MemoryId;

/// The state of recording, from evidence with ages (A066).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rec {
    /// Not known yet.
    #[default]
    Unknown,
    /// An event was handled at this time.
    Ok(i64),
    /// No session is active.
    Idle,
    /// The oldest queued event is from this time.
    Lag(i64),
    /// A limit or budget until then.
    Wait(i64),
    /// A transcript grows and its cursor stands still, since then.
    Gap(i64),
    /// Paused by the user.
    Off,
    /// No collector since then (0: never seen).
    Down(i64),
    /// This program cannot write.
    ReadOnly,
}

/// One session's queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueRow {
    /// Session.
    pub session: String,
    /// Project label.
    pub project: String,
    /// Events that wait.
    pub waiting: u32,
    /// Since when the oldest does.
    pub oldest_ms: i64,
    /// The slot that works on it, from 1.
    pub slot: Option<u32>,
    /// What happened last.
    pub last: String,
}

/// Today's events through the gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Funnel {
    /// Events read.
    pub seen: u64,
    /// Dropped by a rule.
    pub blocked: u64,
    /// Given to an observer.
    pub sent: u64,
    /// Judged not worth it.
    pub skipped: u64,
    /// Memories kept.
    pub kept: u64,
    /// Answers refused.
    pub rejected: u64,
    /// Put aside after bounded tries.
    pub quarantined: u64,
}

/// Tokens the observer used today.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokensToday {
    /// Read, not from cache.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from cache.
    pub cached: u64,
    /// Daily limit; 0: none.
    pub budget: u64,
    /// The last seven days, oldest first.
    pub week: Vec<u64>,
    /// US dollars, if known.
    pub cost: Option<f64>,
}

/// A usage window of the account.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Share used, 0–1.
    pub used: f64,
    /// When it begins anew.
    pub resets_ms: Option<i64>,
    /// Told by the account, not estimated.
    pub from_account: bool,
}

/// Something that went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// When.
    pub at_ms: i64,
    /// Session, if about one.
    pub session: String,
    /// What, one line.
    pub what: String,
    /// Events lost.
    pub lost: u64,
    /// Events kept and tried again.
    pub kept: u64,
    /// Still to be looked at.
    pub open: bool,
    /// What `Retry` takes.
    pub key: String,
}

/// Everything the recording cell and the Observer view show. Unknown is `None`, never 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vitals {
    /// In one word.
    pub rec: Rec,
    /// Why, in a sentence, when something is wrong.
    pub cause: String,
    /// The collector's process, if one runs.
    pub pid: Option<u32>,
    /// It is this process.
    pub own: bool,
    /// Up since.
    pub since_ms: Option<i64>,
    /// Last line read.
    pub last_line_ms: Option<i64>,
    /// Last answer of an observer.
    pub last_answer_ms: Option<i64>,
    /// Last write.
    pub last_write_ms: Option<i64>,
    /// Last memory kept.
    pub last_memory_ms: Option<i64>,
    /// Oldest waiting event.
    pub oldest_waiting_ms: Option<i64>,
    /// Last injection.
    pub last_context_ms: Option<i64>,
    /// The injection hook is installed; `None`: not known.
    pub hook: Option<bool>,
    /// Events without an outcome.
    pub waiting: u64,
    /// Events older than the first start.
    pub backlog: u64,
    /// Observer slots in use and in all.
    pub slots: Option<(u32, u32)>,
    /// By session.
    pub queue: Vec<QueueRow>,
    /// Today.
    pub funnel: Option<Funnel>,
    /// Tokens.
    pub tokens: Option<TokensToday>,
    /// Five-hour window.
    pub five_hour: Option<Window>,
    /// Seven-day window.
    pub seven_day: Option<Window>,
    /// Observer: provider and model.
    pub observer: String,
    /// `notify` or `poll`.
    pub watch: String,
    /// Bytes of the database.
    pub db_bytes: Option<u64>,
    /// Bytes of its write-ahead log.
    pub wal_bytes: Option<u64>,
    /// Memory of the collector's process.
    pub rss_bytes: Option<u64>,
    /// Newest first.
    pub problems: Vec<Problem>,
}

/// A project with its counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectInfo {
    /// Identity.
    pub root: String,
    /// Label.
    pub name: String,
    /// Worktree, if it is one; its root is the main checkout's.
    pub worktree: String,
    /// Memories.
    pub memories: u64,
    /// Excluded by the user.
    pub excluded: bool,
}

impl ProjectInfo {
    /// What rows carry: the root, and for a linked worktree its name behind a `#`, as the store writes it.
    pub fn key(&self) -> String {
        project_key(&self.root, &self.worktree)
    }
}

/// What a row carries for its project.
pub fn project_key(root: &str, worktree: &str) -> String {
    if worktree.is_empty() { root.to_owned() } else { format!("{root}#{worktree}") }
}

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: String,
    /// Title; empty: none.
    pub title: String,
    /// Project root.
    pub project: String,
    /// First event.
    pub started_ms: i64,
    /// Last event.
    pub last_ms: i64,
    /// Prompts.
    pub prompts: u32,
    /// Observations.
    pub observations: u32,
    /// Summaries.
    pub summaries: u32,
    /// The user's last words.
    pub last_prompt: String,
    /// Events were read in the last minutes.
    pub live: bool,
    /// Why nothing was kept, if something failed.
    pub failed: Option<String>,
    /// Working directory.
    pub cwd: String,
}

/// Memories of an hour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HourCount {
    /// Hours since 1970, UTC.
    pub hour: i64,
    /// Type id.
    pub type_id: String,
    /// How many.
    pub n: u32,
    /// Tokens to read them.
    pub tokens: u64,
    /// Tokens spent on them.
    pub work_tokens: u64,
}

/// What a preview is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextAsk {
    /// Directory the session would start in, or a project root.
    pub project: String,
    /// `session-start`, or a file's path.
    pub at: String,
    /// Another number of observations than the setting.
    pub limit: Option<u32>,
}

/// A candidate of the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextItem {
    /// The memory.
    pub id: MemoryId,
    /// Why it is in or out, a stable word: `pinned`, `recent`, `limit`, `type`, `concept`, `excluded` …
    pub reason: String,
    /// The sentence behind the word.
    pub detail: String,
}

/// What the next session would get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextPreview {
    /// The exact text.
    pub text: String,
    /// Estimated tokens of it.
    pub tokens: u32,
    /// In, in order.
    pub within: Vec<ContextItem>,
    /// Out, with the reason.
    pub out: Vec<ContextItem>,
    /// Observations asked for.
    pub limit: u32,
    /// Summaries in it.
    pub summaries: u32,
    /// Mode.
    pub mode: String,
    /// Project label.
    pub project: String,
    /// The text that was last injected, if it is known.
    pub last_text: Option<String>,
}
