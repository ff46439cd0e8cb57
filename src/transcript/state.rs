//! Where reading can be taken up again, and with which knowledge.
//!
//! A reader holds things back: an answer until it is complete, a call until its result comes, queued words until
//! they are delivered. So the place to resume from is not where it stands but a [`Point`] before the oldest thing
//! it holds back, together with what was known there and which events have been given out since. The point lies
//! at the start of the open turn, so that whoever resumes sees the turn's prompt again.
//!
//! The state is written into cursors: it holds ids, directories and times, never text of the transcript.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::context::Context;
use super::tree::{Prompt, Prompts};
use crate::memory::{EventKey, Timestamp};

/// A place to resume from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SafePoint {
    /// Offset of the first byte to read again; always the start of a line.
    pub offset: u64,
    /// The reader's state there, as small JSON.
    pub state: String,
}

/// What is known at the start of a line, beside the prompts before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Inherited values.
    pub here: Context,
    /// The turn is open.
    pub open: bool,
    /// Key of the line that began the turn.
    pub start: Option<EventKey>,
    /// How often the turn has ended.
    pub ends: u32,
    /// Rank and mark of the title in force.
    pub title: (u8, u64),
    /// Nothing is made of this file.
    pub mute: bool,
    /// Number of prompts before it.
    pub prompts: usize,
}

/// A place in the file with everything needed to go on from it.
#[derive(Clone, Debug)]
pub struct Point {
    /// Start of a line.
    pub offset: u64,
    /// What is known there.
    pub snapshot: Snapshot,
    /// Marks of the events given out by lines at or behind it.
    pub given: Vec<u64>,
}

/// The places that are still needed, oldest first; never empty.
#[derive(Debug)]
pub struct Points {
    points: VecDeque<Point>,
}

impl Points {
    /// With a first place.
    pub fn new(offset: u64, snapshot: Snapshot) -> Self {
        Self { points: VecDeque::from([Point { offset, snapshot, given: Vec::new() }]) }
    }

    /// A new place, now. Places before `needed` go, but for the last of them.
    pub fn push(&mut self, offset: u64, snapshot: Snapshot, needed: u64) {
        self.points.push_back(Point { offset, snapshot, given: Vec::new() });
        self.prune(needed);
    }

    /// Forgets places that nothing held back lies behind.
    pub fn prune(&mut self, needed: u64) {
        while self.points.get(1).is_some_and(|next| next.offset <= needed) {
            self.points.pop_front();
        }
    }

    /// An event was given out.
    pub fn given(&mut self, mark: u64) {
        if let Some(point) = self.points.back_mut() {
            point.given.push(mark);
        }
    }

    /// Events given out since the newest place.
    pub fn since_newest(&self) -> usize {
        self.points.back().map_or(0, |point| point.given.len())
    }

    /// The oldest place, and all events given out behind it.
    pub fn oldest(&self) -> (u64, &Snapshot, impl Iterator<Item = u64>) {
        let first = &self.points[0];
        (first.offset, &first.snapshot, self.points.iter().flat_map(|point| point.given.iter().copied()))
    }
}

/// The state as it is written.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entrypoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
    turn: u32,
    open: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    ends: u32,
    title: (u8, u64),
    mute: bool,
    /// Lines up to here were counted.
    pub counted: u64,
    /// Marks of events given out, 16 hex digits each.
    given: String,
    /// Prompts, 40 hex digits each.
    prompts: String,
}

impl Written {
    /// To be written.
    pub fn new(snapshot: &Snapshot, prompts: &Prompts, given: impl Iterator<Item = u64>, counted: u64) -> Self {
        use std::fmt::Write;
        let owned = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let here = &snapshot.here;
        let mut out = Self {
            cwd: owned(&here.cwd),
            branch: owned(&here.branch),
            version: owned(&here.version),
            entrypoint: owned(&here.entrypoint),
            time: here.time.map(Timestamp::as_millisecond),
            turn: here.turn,
            open: snapshot.open,
            start: snapshot.start.as_ref().map(|key| key.as_str().to_owned()),
            ends: snapshot.ends,
            title: snapshot.title,
            mute: snapshot.mute,
            counted,
            ..Self::default()
        };
        for mark in given {
            let _ = write!(out.given, "{mark:016x}");
        }
        for prompt in prompts.first(snapshot.prompts) {
            let _ = write!(out.prompts, "{:016x}{:016x}{:08x}", prompt.uuid, prompt.parent, prompt.turn);
        }
        out
    }

    /// What was known.
    pub fn snapshot(&self) -> Snapshot {
        let shared = |text: &Option<String>| text.as_deref().map(Arc::from);
        Snapshot {
            here: Context {
                cwd: shared(&self.cwd),
                branch: shared(&self.branch),
                version: shared(&self.version),
                entrypoint: shared(&self.entrypoint),
                time: self.time.and_then(|millis| Timestamp::from_millisecond(millis).ok()),
                turn: self.turn,
            },
            open: self.open,
            start: self.start.as_deref().map(EventKey::from),
            ends: self.ends,
            title: self.title,
            mute: self.mute,
            prompts: self.prompts().count(),
        }
    }

    /// Events given out before.
    pub fn given(&self) -> impl Iterator<Item = u64> {
        chunks(&self.given, 16).filter_map(|digits| u64::from_str_radix(digits, 16).ok())
    }

    /// Prompts before.
    pub fn prompts(&self) -> impl Iterator<Item = Prompt> {
        chunks(&self.prompts, 40).filter_map(|digits| {
            Some(Prompt {
                uuid: u64::from_str_radix(digits.get(..16)?, 16).ok()?,
                parent: u64::from_str_radix(digits.get(16..32)?, 16).ok()?,
                turn: u32::from_str_radix(digits.get(32..)?, 16).ok()?,
            })
        })
    }
}

fn chunks(text: &str, size: usize) -> impl Iterator<Item = &str> {
    (0..text.len() / size).filter_map(move |at| text.get(at * size..(at + 1) * size))
}
