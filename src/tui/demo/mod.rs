//! Sample memories with a live stream: what `--demo`, the tapes, the pictures and the tests of the screen look at. It
//! touches nothing: no file, no clock of the system, no network.

mod health;
mod journal;
mod make;
mod source;
pub mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

pub use make::{PROJECTS, START_MS, make};

use self::journal::Shelf;
use self::make::{arriving, session_id};
use crate::hub::live::{ListRow, Rec, RowBatch, RowFlags, project_key};
use crate::memory::{Kind, Memory, MemoryId, from_millis, millis};
use crate::recall::query::{Local, Query, Vocabulary};

/// Memories in the demo.
pub const SIZE: usize = 2_000;
/// A new one comes this often.
const EVERY_MS: i64 = 7_000;

/// The demo's time: begins at [`START_MS`] and goes on only as far as it is told.
#[derive(Clone, Debug)]
pub struct DemoClock(Arc<AtomicI64>);

impl Default for DemoClock {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(START_MS)))
    }
}

impl DemoClock {
    /// The present.
    pub fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// So many milliseconds have passed since the beginning.
    pub fn set_elapsed(&self, ms: i64) {
        self.0.store(START_MS + ms, Ordering::Relaxed);
    }
}

/// The sample memories as a source.
#[derive(Debug)]
pub struct Demo {
    clock: DemoClock,
    shelf: Shelf,
    types: Vec<String>,
    arrived: usize,
    streaming: bool,
    live_from: i64,
    /// What recording is like, for those who want to see it otherwise.
    pub rec: Option<Rec>,
}

impl Demo {
    /// `n` memories.
    pub fn new(clock: DemoClock, n: usize, streaming: bool) -> Self {
        let made = make(n, 42);
        let mut shelf = Shelf::default();
        for memory in made.memories {
            shelf.memories.insert(memory.id.0, memory);
        }
        let types = crate::mode::code().types.into_iter().map(|def| def.id).collect();
        Self { live_from: n as i64, clock, shelf, types, arrived: 0, streaming, rec: None }
    }

    /// Puts a memory there, as an observer would: for tests.
    pub fn arrive(&mut self, memory: Memory) {
        self.shelf.touched.push(memory.id.0);
        self.shelf.memories.insert(memory.id.0, memory);
    }

    /// The memories that are there, oldest first: for tests.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.shelf.memories.values()
    }

    /// Steps of the journal: for tests.
    pub fn steps(&self) -> usize {
        self.shelf.history().len()
    }

    fn push(&self, memory: &Memory, facts: bool, out: &mut RowBatch) {
        let mut flags = RowFlags::default();
        flags.set(RowFlags::PINNED, memory.pinned);
        flags.set(RowFlags::EXCLUDED, memory.excluded);
        flags.set(RowFlags::EDITED, memory.edited);
        flags.set(RowFlags::SUPERSEDED, memory.superseded_by.is_some());
        flags.set(RowFlags::WILD, memory.kind == Kind::Observation && !self.types.contains(&memory.type_id));
        let all = if facts { memory.facts.join("\n") } else { String::new() };
        out.push(&ListRow {
            id: memory.id.0,
            created_ms: millis(memory.created_at),
            kind: memory.kind,
            type_id: &memory.type_id,
            project: &key_of(memory),
            session: memory.session.as_ref().map_or("", |id| id.as_str()),
            prompt: memory.prompt_number,
            tokens: memory.tokens,
            flags,
            title: &memory.title,
            subtitle: &memory.subtitle,
            facts: &all,
        });
    }

    fn newest_first(&self) -> Vec<&Memory> {
        let mut all: Vec<&Memory> = self.shelf.memories.values().collect();
        all.sort_by_key(|memory| std::cmp::Reverse((memory.created_at, memory.id)));
        all
    }

    fn stream(&mut self) {
        if !self.streaming || self.shelf.paused {
            return;
        }
        let due = ((self.clock.now() - START_MS) / EVERY_MS).max(0) as usize;
        while self.arrived < due {
            self.arrived += 1;
            let at = START_MS + self.arrived as i64 * EVERY_MS;
            let id = self.live_from + self.arrived as i64;
            self.arrive(arriving(id, at, self.arrived));
        }
    }

    fn read(&self, query: &str) -> Query {
        let local = Local { now: from_millis(self.clock.now()), zone: jiff::tz::TimeZone::UTC };
        Query::parse(query, &Vocabulary::default(), &local)
    }
}

/// One sample memory: for tests.
pub fn sample(id: i64) -> Memory {
    let mut memory = make(1, id as u64).memories.remove(0);
    memory.id = MemoryId(id);
    memory.kind = Kind::Observation;
    memory.type_id = "discovery".into();
    memory
}

fn key_of(memory: &Memory) -> String {
    let known = PROJECTS.iter().find(|(root, name, worktree)| {
        *root == memory.project_root && (if worktree.is_empty() { name } else { worktree }) == &memory.project
    });
    project_key(&memory.project_root, known.map_or("", |(_, _, worktree)| worktree))
}

/// The live session's id: for tests.
pub fn live_session() -> String {
    session_id(1)
}
