//! Whether recording works, told from evidence with an age, never from a flag set at start.
//!
//! The running collector keeps a [`Snapshot`] in its lock file; counters and rows stand in the database. Anyone can
//! put the two together ([`Health`]), the collector running or not. The state is a function of these and of the time
//! (tui.md B.12).

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::memory::Timestamp;

/// An event waits longer than this: `lag`.
pub const LAG: SignedDuration = SignedDuration::from_secs(30);
/// It waits longer than this: stalled, which is a bad state.
pub const STALLED: SignedDuration = SignedDuration::from_secs(300);
/// No sign of life for longer than this while there is work: `down`.
pub const SILENT: SignedDuration = SignedDuration::from_secs(30);
/// A file that cannot be read for longer than this while it grows: `gap`.
pub const GAP: SignedDuration = SignedDuration::from_secs(10);
/// Nothing came for longer than this: `idle`.
pub const IDLE: SignedDuration = SignedDuration::from_secs(300);

/// The words of `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Events are handled as they come.
    Ok,
    /// No session is active.
    #[default]
    Idle,
    /// The oldest event that could be handled waits for more than 30 seconds.
    Lag,
    /// Paused by a limit, a sign-in, a full disk; events are kept.
    Wait,
    /// A transcript grows and the cursor in it does not.
    Gap,
    /// Paused by the user.
    Off,
    /// No collector, or none that gives a sign of life, while there is something to read.
    Down,
    /// The database cannot be written by this cmem.
    ReadOnly,
}

impl State {
    /// The word as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Idle => "idle",
            Self::Lag => "lag",
            Self::Wait => "wait",
            Self::Gap => "gap",
            Self::Off => "off",
            Self::Down => "down",
            Self::ReadOnly => "read_only",
        }
    }
}

/// Why nothing is handled for now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// `quota`, `rate-limit`, `auth`, `billing`, `model`, `budget`, `server`, `not-found`, `cannot-start`, `disk`,
    /// `user`.
    pub reason: String,
    /// From when.
    pub since: Timestamp,
    /// Until when, where it is known.
    pub until: Option<Timestamp>,
    /// When it is tried again.
    pub next_try: Option<Timestamp>,
    /// What was said, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Something went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// When.
    pub at: Timestamp,
    /// One sentence.
    pub what: String,
    /// Events lost by it.
    pub lost: u64,
    /// Events kept and tried again.
    pub kept: u64,
    /// It is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleared: bool,
}

/// A transcript that grows and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The file.
    pub path: String,
    /// From when.
    pub since: Timestamp,
    /// Why, as the system says it.
    pub why: String,
}

/// One session's queue.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Queue {
    /// Session.
    pub session: String,
    /// Project label.
    pub project: String,
    /// Events without an outcome.
    pub waiting: u64,
    /// When the oldest of them came.
    pub oldest_at: Option<Timestamp>,
    /// Slot that works on it, from 1.
    pub slot: Option<u32>,
    /// What it waits for, in a few words.
    pub note: String,
}

/// The collector's live state, as it stands in the lock file.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// Process.
    pub pid: u32,
    /// cmem version.
    pub version: String,
    /// Path of the program.
    pub program: String,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// Last sign of life.
    pub beat_at: Option<Timestamp>,
    /// It ended of its own accord.
    pub stopped: bool,
    /// `notify` or `poll`.
    pub watch: String,
    /// Why it polls.
    pub watch_reason: Option<String>,
    /// Who observes.
    pub provider: String,
    /// Model, where there is one.
    pub model: String,
    /// Folders that are read.
    pub sources: Vec<String>,
    /// When a line was last read.
    pub last_line_at: Option<Timestamp>,
    /// When an event was last given an outcome.
    pub last_event_at: Option<Timestamp>,
    /// When a memory was last stored.
    pub last_memory_at: Option<Timestamp>,
    /// When the database was last written.
    pub last_write_at: Option<Timestamp>,
    /// Events given an outcome since the start.
    pub handled: u64,
    /// Events without an outcome.
    pub waiting: u64,
    /// When the oldest event came that could be handled now (its turn is over, its batch is due).
    pub oldest_waiting_at: Option<Timestamp>,
    /// Paused, and why.
    pub paused: Option<Paused>,
    /// Files that cannot be read.
    pub gaps: Vec<Gap>,
    /// Sessions with waiting events, longest wait first.
    pub queue: Vec<Queue>,
    /// What went wrong, newest first.
    pub errors: Vec<Problem>,
    /// Older work is still being counted.
    pub counting: bool,
    /// Why the database cannot be written.
    pub read_only: Option<String>,
}

impl Snapshot {
    /// The snapshot kept as `text`; `None` when it is not one (or only half written).
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// As text of at most `room` bytes: lists give way first.
    pub fn text(&self, room: usize) -> String {
        let mut snapshot = self.clone();
        loop {
            let text = serde_json::to_string(&snapshot).unwrap_or_default();
            if text.len() <= room {
                return text;
            }
            let Snapshot { errors, queue, gaps, sources, .. } = &mut snapshot;
            if errors.len() + queue.len() + gaps.len() + sources.len() == 0 {
                // Only names are left, and one of them is absurdly long: the numbers still fit.
                snapshot.program.clear();
                snapshot.read_only = None;
                snapshot.watch_reason = None;
                snapshot.paused = None;
                return serde_json::to_string(&snapshot).unwrap_or_default();
            }
            errors.truncate(errors.len() / 2);
            queue.truncate(queue.len() / 2);
            gaps.truncate(gaps.len() / 2);
            sources.truncate(sources.len() / 2);
        }
    }

    /// Who it is, for the second one that comes (A120).
    pub fn owner(&self) -> String {
        let since = self.started_at.map(|at| format!(", since {at:.0}")).unwrap_or_default();
        format!("pid {}, cmem {}, {}{since}", self.pid, self.version, self.program)
    }

    /// Notes a problem: newest first, at most fifty, the same sentence once.
    pub fn note(&mut self, problem: Problem) {
        if let Some(at) = self.errors.iter().position(|known| !known.cleared && known.what == problem.what) {
            let known = self.errors.remove(at);
            let lost = known.lost + problem.lost;
            self.errors.insert(0, Problem { lost, kept: problem.kept.max(known.kept), ..problem });
        } else {
            self.errors.insert(0, problem);
        }
        self.errors.truncate(50);
    }
}

/// Lines read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lines {
    /// All.
    pub read: u64,
    /// Cost their line.
    pub malformed: u64,
    /// Were mended.
    pub repaired: u64,
    /// Hold nothing for a memory.
    pub skipped: u64,
}

/// Calls to a model today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Calls {
    /// All; the other five add up to it.
    pub total: u64,
    /// Gave memories.
    pub stored: u64,
    /// Found nothing worth one.
    pub skipped: u64,
    /// Failed and were tried again.
    pub retried: u64,
    /// Paused the observer.
    pub paused: u64,
    /// Gave up with a reason.
    pub quarantined: u64,
}

/// What a project's calls cost today.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ProjectSpend {
    /// Root; empty for sessions that never named a directory.
    pub project: String,
    /// Calls.
    pub calls: u64,
    /// Input tokens not read from a cache.
    pub input_tokens: u64,
    /// Input tokens read from a cache.
    pub cached_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars.
    pub cost: f64,
}

/// What may be spent in a day; 0 is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
    /// Calls.
    pub calls: u64,
}

/// The answer of `cmem status --json` (commands.md).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Health {
    /// The state.
    pub state: State,
    /// When a line was last read.
    pub last_line_at: Option<Timestamp>,
    /// When a memory was last stored.
    pub last_memory_at: Option<Timestamp>,
    /// When the oldest event came that waits for its outcome.
    pub oldest_waiting_at: Option<Timestamp>,
    /// Events without an outcome.
    pub waiting: u64,
    /// Events older than the first start.
    pub backlog: u64,
    /// Paused, and why.
    pub paused: Option<Paused>,
    /// `notify` or `poll`.
    pub watch: String,
    /// Who observes.
    pub provider: String,
    /// Model.
    pub model: String,
    /// Lines.
    pub lines: Lines,
    /// Types the reader does not know, with counts.
    pub unknown_types: BTreeMap<String, u64>,
    /// Gate → reason → events.
    pub gates: BTreeMap<String, BTreeMap<String, u64>>,
    /// Calls today.
    pub calls: Calls,
    /// Tokens today.
    pub tokens_today: u64,
    /// US dollars today.
    pub cost_today: f64,
    /// The same by project, dearest first.
    #[serde(default)]
    pub spend: Vec<ProjectSpend>,
    /// What may be spent.
    pub budget: Limits,
    /// Memories kept.
    pub memories: u64,
    /// Sessions known.
    pub sessions: u64,
    /// Projects known.
    pub projects: u64,
    /// What went wrong, newest first.
    pub errors: Vec<Problem>,
}

/// What the state is told from.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'a> {
    /// The collector's own account.
    pub snapshot: Option<&'a Snapshot>,
    /// A living process holds the lock.
    pub alive: bool,
    /// The user paused everything.
    pub user_paused: bool,
    /// The database cannot be written.
    pub read_only: bool,
    /// Transcripts have grown since the collector last read them.
    pub unread: bool,
}

impl Evidence<'_> {
    /// The state at `now`.
    pub fn state(&self, now: Timestamp) -> State {
        let older = |at: Option<Timestamp>, than: SignedDuration| at.is_some_and(|at| now.duration_since(at) > than);
        if self.read_only || self.snapshot.is_some_and(|it| it.read_only.is_some() && self.alive) {
            return State::ReadOnly;
        }
        if self.user_paused {
            return State::Off;
        }
        let Some(snapshot) = self.snapshot else {
            return if self.unread { State::Down } else { State::Idle };
        };
        let silent = !self.alive || older(snapshot.beat_at, SILENT);
        if silent && (self.unread || (self.alive && snapshot.waiting > 0)) {
            return State::Down;
        }
        if !self.alive {
            return State::Idle;
        }
        if snapshot.paused.is_some() {
            return State::Wait;
        }
        if snapshot.gaps.iter().any(|gap| older(Some(gap.since), GAP)) {
            return State::Gap;
        }
        if older(snapshot.oldest_waiting_at, LAG) {
            return State::Lag;
        }
        let last = snapshot.last_event_at.max(snapshot.last_line_at);
        match last {
            Some(at) if now.duration_since(at) <= IDLE => State::Ok,
            _ => State::Idle,
        }
    }
}

impl Health {
    /// Whether a script should worry: exit code 3.
    pub fn is_bad(&self, now: Timestamp) -> bool {
        match self.state {
            State::Ok | State::Idle | State::Off => false,
            State::Lag => self.oldest_waiting_at.is_some_and(|at| now.duration_since(at) > STALLED),
            State::Wait | State::Gap | State::Down | State::ReadOnly => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn alive(snapshot: &Snapshot) -> Evidence<'_> {
        Evidence { snapshot: Some(snapshot), alive: true, ..Evidence::default() }
    }

    #[test]
    fn a066_a_wait_of_an_hour_is_a_bad_state_and_a_flag_set_at_start_is_not_asked() {
        let snapshot = Snapshot {
            beat_at: Some(at(3600)),
            last_line_at: Some(at(0)),
            waiting: 5,
            oldest_waiting_at: Some(at(0)),
            ..Snapshot::default()
        };
        let state = alive(&snapshot).state(at(3600));
        assert_eq!(state, State::Lag);
        let health = Health { state, oldest_waiting_at: Some(at(0)), ..Health::default() };
        assert!(health.is_bad(at(3600)));
        assert!(!health.is_bad(at(60)));
    }

    #[test]
    fn each_state_has_its_evidence() {
        let fresh = Snapshot { beat_at: Some(at(0)), last_line_at: Some(at(0)), ..Snapshot::default() };
        assert_eq!(alive(&fresh).state(at(4)), State::Ok);
        assert_eq!(alive(&Snapshot { last_line_at: None, ..fresh.clone() }).state(at(4)), State::Idle);
        let paused =
            Paused { reason: "quota".into(), since: at(0), until: None, next_try: None, detail: String::new() };
        assert_eq!(alive(&Snapshot { paused: Some(paused), ..fresh.clone() }).state(at(4)), State::Wait);
        let gap = Gap { path: "x".into(), since: at(0), why: "permission denied".into() };
        assert_eq!(alive(&Snapshot { gaps: vec![gap], ..fresh.clone() }).state(at(20)), State::Gap);
        let gone = Evidence { snapshot: Some(&fresh), unread: true, ..Evidence::default() };
        assert_eq!(gone.state(at(4)), State::Down);
        assert_eq!(Evidence { unread: false, ..gone.clone() }.state(at(4)), State::Idle);
        assert_eq!(Evidence { alive: true, ..gone.clone() }.state(at(60)), State::Down);
        assert_eq!(Evidence { user_paused: true, ..gone.clone() }.state(at(4)), State::Off);
        assert_eq!(Evidence { read_only: true, ..gone }.state(at(4)), State::ReadOnly);
        assert_eq!(Evidence::default().state(at(0)), State::Idle);
    }

    #[test]
    fn a_snapshot_fits_its_file_whatever_happens() {
        let mut snapshot = Snapshot { pid: 7, program: "/usr/bin/cmem".into(), ..Snapshot::default() };
        for n in 0..80 {
            snapshot.note(Problem { at: at(n), what: "x".repeat(900 + n as usize), lost: 0, kept: 1, cleared: false });
        }
        assert_eq!(snapshot.errors.len(), 50);
        let text = snapshot.text(4096);
        assert!(text.len() <= 4096);
        assert_eq!(Snapshot::parse(&text).unwrap().pid, 7);
    }

    #[test]
    fn a117_the_same_trouble_is_one_message() {
        let mut snapshot = Snapshot::default();
        for n in 0..1000 {
            snapshot.note(Problem { at: at(n), what: "the disk is full".into(), lost: 0, kept: 3, cleared: false });
        }
        assert_eq!(snapshot.errors.len(), 1);
        assert_eq!(snapshot.errors[0].at, at(999));
    }
}
