//! One followed file: what the intake knows of it, and what of that stands in its cursor row.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::super::input::{Delivery, FileNews, Lane, Place};
use super::Pace;
use crate::config::monotonic;
use crate::gate::private::SessionPrivacy;
use crate::memory::{AgentId, EventKey, ProjectRef, SessionId, Timestamp};
use crate::store::api::CursorRow;
use crate::transcript::event::Event;
use crate::transcript::locate::{self, FileKind};
use crate::transcript::reader::{Awaits, Reader, SafePoint};
use crate::transcript::tail::{self, FileId, Stat, Tail};

/// Suffix of the cursor row that tells how far the older part of a file was read.
pub const OLDER: &str = "#backlog";

/// What the intake keeps in a cursor row beside the offset. No text of the transcript.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The reader's state.
    #[serde(rename = "r", skip_serializing_if = "String::is_empty")]
    pub reader: String,
    /// Project the session was in.
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<ProjectRef>>,
    /// When its first own line was written.
    #[serde(rename = "b", skip_serializing_if = "Option::is_none")]
    pub born: Option<Timestamp>,
    /// First entry's uuid.
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    pub lineage: Option<String>,
    /// The parent's call, for a helper agent.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub parent_call: Option<EventKey>,
    /// The older part was counted.
    #[serde(rename = "n", skip_serializing_if = "std::ops::Not::not")]
    pub older_counted: bool,
    /// What is private in its session: a helper agent's file may still be read when the session's own has gone on.
    #[serde(rename = "v", skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Box<SessionPrivacy>>,
}

/// When the session of a cursor row was begun, if the row says so. Helper agents' rows do not count.
pub fn born_of(row: &CursorRow) -> Option<(SessionId, Timestamp)> {
    let is_agent = locate::classify(Path::new(&row.path)).is_agent();
    let kept: Kept = serde_json::from_str(&row.state).ok()?;
    Some((SessionId::from(row.session.as_str()), kept.born.filter(|_| !is_agent && !row.session.is_empty())?))
}

/// One followed file.
pub struct Tracked {
    pub tail: Tail,
    pub lane: Lane,
    pub kind: FileKind,
    /// `None`: not known yet (a free name, or a flat agent whose first line is not there).
    pub session: Option<SessionId>,
    pub agent: Option<AgentId>,
    pub modified: Timestamp,
    pub kept: Kept,
    /// Events completed up to here belong to the older part.
    pub floor: u64,
    /// Events in the older part, as far as counted.
    pub floor_events: u64,
    /// After a rewrite the floor's bytes are anywhere: events older than this are the older part.
    pub floor_time: Option<Timestamp>,
    /// The older lane reads up to here.
    pub limit: Option<u64>,
    /// In the older lane: events left out on purpose, and events delivered, in this reading.
    pub left: u64,
    pub given: u64,
    pub reader: Option<Box<Reader>>,
    /// Safe place the reader can be made again from.
    pub safe: SafePoint,
    /// Prompt of the turn that was open at the floor.
    pub before: Option<Box<Event>>,
    pub epoch: u32,
    /// Whether the collector knows the file as it is now.
    pub announced: bool,
    /// Whether its cursor row says another path than where it is.
    pub stale: bool,
    pub headed: bool,
    /// Never to be read (an inner agent, a file with a free name that is no session).
    pub ignored: bool,
    pub gone: bool,
    pub on_hold: bool,
    pub queued: bool,
    pub grown_at: Instant,
    pub quieted: bool,
    pub settled: bool,
    /// Deliveries of a helper agent that waits to be tied to its parent's call.
    pub parked: Option<Parked>,
    /// The safe place as it is now was told.
    pub placed: bool,
}

/// Deliveries that wait.
pub struct Parked {
    pub until: Instant,
    pub deliveries: Vec<Delivery>,
}

impl Tracked {
    /// A file nothing is known of but where it is.
    pub fn new(tail: Tail, lane: Lane, kind: FileKind, stat: &Stat) -> Self {
        let (session, agent) = match &kind {
            FileKind::Session(session) => (Some(session.clone()), None),
            FileKind::Agent(session, agent) => (Some(session.clone()), Some(agent.clone())),
            FileKind::FlatAgent(agent) => (None, Some(agent.clone())),
            _ => (None, None),
        };
        Self {
            tail,
            lane,
            kind,
            session,
            agent,
            modified: stat.modified,
            kept: Kept::default(),
            floor: 0,
            floor_events: 0,
            floor_time: None,
            limit: None,
            left: 0,
            given: 0,
            reader: None,
            safe: SafePoint::default(),
            before: None,
            epoch: 0,
            announced: false,
            stale: false,
            headed: false,
            ignored: false,
            gone: false,
            on_hold: false,
            queued: false,
            grown_at: monotonic(),
            quieted: true,
            settled: true,
            parked: None,
            placed: false,
        }
    }

    /// When something is due without the file growing.
    pub fn deadline(&self, pace: &Pace) -> Option<Instant> {
        let parked = self.parked.as_ref().map(|parked| parked.until);
        let confirmed = self.reader.as_ref().is_some_and(|reader| reader.awaits() == Awaits::Confirmation);
        let quiet = if self.queued {
            None
        } else if !self.quieted && confirmed {
            Some(self.grown_at + pace.confirm)
        } else if !self.quieted {
            Some(self.grown_at + pace.quiet)
        } else if !self.settled {
            Some(self.grown_at + pace.settle)
        } else {
            None
        };
        match (parked, quiet) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Nothing of it was read but, maybe, its first lines: it has been followed since the first start, and did not
    /// grow.
    pub fn is_unread(&self) -> bool {
        self.reader.is_none() && self.safe.state.is_empty()
    }

    /// The key of its cursor row.
    pub fn row_id(&self) -> String {
        match self.lane {
            Lane::Live => self.tail.id.0.clone(),
            Lane::Older => format!("{}{OLDER}", self.tail.id.0),
        }
    }

    /// The place its cursor row has, as far as it was told.
    pub fn known_place(&self) -> Option<Place> {
        let offset = self.safe.offset;
        let fingerprint = if offset == self.tail.offset {
            self.tail.fingerprint().to_owned()
        } else {
            tail::fingerprint(&self.tail.path, offset).ok()??
        };
        let kept = Kept { reader: self.safe.state.clone(), ..self.kept.clone() };
        Some(Place { offset, fingerprint, state: serde_json::to_string(&kept).unwrap_or_default() })
    }

    /// What the collector is told of it.
    pub fn news(&self, place: Option<Place>) -> FileNews {
        FileNews {
            file_id: self.row_id(),
            path: self.tail.path.to_string_lossy().into_owned(),
            session: self.session.clone(),
            agent: self.agent.clone(),
            generation: self.tail.generation,
            backlog_end: if self.lane == Lane::Live { self.floor } else { self.limit.unwrap_or(0) },
            backlog_events: self.floor_events.saturating_sub(self.given),
            born: self.kept.born,
            gone: self.gone,
            place,
        }
    }
}

/// Stands in for a file while it is worked on outside the list.
pub fn placeholder() -> Tracked {
    let stat = Stat { id: FileId(String::new()), size: 0, modified: Timestamp::UNIX_EPOCH };
    Tracked::new(Tail::new(PathBuf::new(), FileId(String::new())), Lane::Live, FileKind::Other, &stat)
}
