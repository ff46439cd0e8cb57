//! What goes between the collector's two threads: closed sets of values, nothing shared but a byte count.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::memory::{AgentId, EventKey, ProjectRef, SessionId, Timestamp};
use crate::transcript::event::{Body, Event};
use crate::transcript::watch::{FileEvent, Watching};

/// A followed file, by the number the intake gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileNo(pub u32);

/// Which bytes of a file are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// What is written from the first start on.
    Live,
    /// What was there before it (`backfill`, `--from-start`).
    Older,
}

/// What the collector waits for.
#[derive(Debug)]
pub enum Input {
    /// The intake read something.
    Read(Box<Delivery>),
    /// The intake has read everything there is; told once for each time it ran dry.
    Caught,
    /// There is no room for more events; the intake waits.
    Full,
    /// How changes are noticed from now on.
    Watching(Watching),
    /// A file or folder cannot be read; `None`: it can again.
    Trouble(PathBuf, Option<String>),
    /// The roots under which something is there, and those that are missing.
    Sources(Vec<PathBuf>, Vec<PathBuf>),
    /// Events counted in the older part of a file (first start).
    Counted(FileNo, u64),
    /// All older parts are counted.
    CountedAll,
    /// Somebody asks for something.
    Ask(Ask),
    /// An observer answers; the number is the judge's own.
    Answered(u64),
    /// The intake ended though nobody asked it to.
    IntakeGone,
}

/// What can be asked of a running collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// End: give back what is in flight, write what is decided.
    Stop,
    /// Look at every file now.
    Rescan,
    /// Ask about what was gathered so far, though turns are open.
    Flush,
}

/// What the intake waits for.
#[derive(Debug)]
pub enum Order {
    /// A file event.
    File(FileEvent),
    /// There is room again.
    Room,
    /// Do not read this file for now: its session has enough waiting.
    Hold(FileNo),
    /// Read it again.
    Release(FileNo),
    /// Look at every file.
    Rescan,
    /// The projects the user excluded are these now.
    Excluded(Vec<String>),
    /// Read the files of this session again from their first byte: events of it were taken out of the ledger.
    Reread(SessionId),
    /// End.
    Stop,
}

/// A slice of one file.
#[derive(Debug)]
pub struct Delivery {
    /// File.
    pub file: FileNo,
    /// Raised when the file began again: what belongs to an earlier one no longer moves its cursor.
    pub epoch: u32,
    /// What is new about the file itself.
    pub news: Option<FileNews>,
    /// Events in file order, each with its verdict.
    pub steps: Vec<Step>,
    /// From here every event not delivered yet would come again.
    pub place: Option<Place>,
    /// Counters to add, in the transaction that moves the cursor.
    pub counters: Vec<(String, i64)>,
    /// Bytes read.
    pub bytes: u64,
    /// Weight of the steps against [`Held`].
    pub weight: usize,
    /// When it was read.
    pub read_at: Timestamp,
    /// Nothing more waits in the file for now.
    pub at_end: bool,
}

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FileNews {
    /// Identity, with `#backlog` for the older lane.
    pub file_id: String,
    /// Where it is.
    pub path: String,
    /// Session.
    pub session: Option<SessionId>,
    /// Helper agent.
    pub agent: Option<AgentId>,
    /// Times it began again.
    pub generation: u32,
    /// The older part ends here; 0: none is left.
    pub backlog_end: u64,
    /// Events in it, as far as counted.
    pub backlog_events: u64,
    /// When its first own line was written.
    pub born: Option<Timestamp>,
    /// It is gone.
    pub gone: bool,
    /// Where reading stands before anything of it was delivered (first start, known cursor).
    pub place: Option<Place>,
}

/// A place a cursor may take.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Place {
    /// Offset.
    pub offset: u64,
    /// Fingerprint there.
    pub fingerprint: String,
    /// The reader's state there and what the intake adds to it.
    pub state: String,
}

/// One thing in a delivery.
#[derive(Debug)]
pub enum Step {
    /// An event that passed gates 0–2.
    Event(Box<Event>, Option<Arc<ProjectRef>>),
    /// One that did not.
    Refused(Box<Refused>),
    /// The user's words of a turn that began before the first start: to be known, not to be recorded.
    Older(Box<Event>),
    /// An event left to a later backfill.
    Left,
    /// Nothing will follow for long: what was gathered is asked about as it is.
    Settle,
}

/// An event a gate refused. No text of it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Event.
    pub key: EventKey,
    /// Its second name.
    pub alias: Option<EventKey>,
    /// Session.
    pub session: SessionId,
    /// What kind of event.
    pub kind: &'static str,
    /// Event time.
    pub time: Option<Timestamp>,
    /// Gate.
    pub gate: u8,
    /// Why.
    pub reason: String,
}

/// Whether an event gets a row in the ledger. The others are marks: they change what is known of others.
pub fn has_outcome(body: &Body) -> bool {
    match body {
        Body::Prompt(_) | Body::Tool(_) | Body::Answer(_) | Body::Notice(_) | Body::PullRequest(_) => true,
        Body::TurnEnd(_)
        | Body::Compaction
        | Body::Title(_)
        | Body::TitleFor(..)
        | Body::Rewind(_)
        | Body::Retraction(_) => false,
    }
}

/// Bytes of events in memory, counted by both threads. Back-pressure is not reading on.
#[derive(Debug)]
pub struct Held {
    bytes: AtomicUsize,
    hungry: AtomicBool,
    limit: usize,
}

impl Held {
    /// Room for `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { bytes: AtomicUsize::new(0), hungry: AtomicBool::new(false), limit }
    }

    /// The intake is about to read more: whether there is room. If not, it will be told when there is.
    pub fn has_room(&self) -> bool {
        if self.bytes.load(Ordering::Acquire) < self.limit {
            return true;
        }
        self.hungry.store(true, Ordering::SeqCst);
        // Looked at once more, lest the last bytes went between the look and the sign.
        self.bytes.load(Ordering::SeqCst) < self.limit / 2 && self.hungry.swap(false, Ordering::SeqCst)
    }

    /// Bytes come in.
    pub fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Bytes are done with. `true`: the intake waits and there is room again.
    pub fn take(&self, bytes: usize) -> bool {
        let before = self.bytes.fetch_sub(bytes, Ordering::SeqCst);
        debug_assert!(before >= bytes, "more taken than added");
        let now = before.saturating_sub(bytes);
        now < self.limit / 2 && self.hungry.swap(false, Ordering::SeqCst)
    }

    /// Bytes now.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_pressure_wakes_the_intake_once() {
        let held = Held::new(100);
        held.add(100);
        assert!(!held.has_room());
        assert!(!held.take(40));
        assert!(held.take(20));
        assert!(!held.take(10));
        assert!(held.has_room());
    }
}
