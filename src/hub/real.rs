//! The memories of this machine as a [`Source`]: the store for questions and changes, the collector inside this process
//! when no other one runs, and its health.
//!
//! The collector starts beside the first page, never before it: setting up its watch may take longer than the first
//! frame. When another process writes, `data_version` moves; what is new is then read by its id, what was changed by a
//! person through the journal, and what the collector mended (folded, superseded) by comparing the newest rows with
//! what was told of them.
#![allow(clippy::disallowed_methods, reason = "reads the tail of the log file")]

mod apply;
mod ask;
mod follow;
mod health;
mod rows;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::TimeZone;

use super::Hub;
use super::live::{
    Applied, Change, Changes, ContextAsk, ContextPreview, HourCount, Opened, ProjectInfo, RedactReach, RowBatch, Seen,
    SessionInfo, Source, StepInfo, TrashRow, Trouble, TroubleKind, Vitals, WordHits,
};
use crate::collector::run::{Collector, Options, StartError};
use crate::config::{Dirs, Env, Settings};
use crate::memory::{Clock, Memory, MemoryId, Timestamp};
use crate::store::{Access, StoreError};

/// What a real source is opened with.
#[derive(Clone)]
pub struct Setup {
    /// Directories.
    pub dirs: Dirs,
    /// Environment.
    pub env: Env,
    /// Settings.
    pub settings: Settings,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Local zone.
    pub zone: TimeZone,
    /// Change nothing, collect nothing.
    pub read_only: bool,
    /// Makes the options of the collector that is to run inside; none: only look.
    pub collect: Option<Arc<dyn Fn() -> Options + Send + Sync>>,
}

/// The memories of this machine.
pub struct Real {
    setup: Setup,
    hub: Hub,
    /// Why nothing can be written.
    read_only: Option<String>,
    /// The collector, once it has started inside.
    own: Arc<Mutex<Own>>,
    starter: Option<std::thread::JoinHandle<()>>,
    projects: HashMap<i64, String>,
    sessions: HashMap<i64, String>,
    last_session: i64,
    told: follow::Told,
}

/// The collector inside this process.
#[derive(Default)]
struct Own {
    collector: Option<Collector>,
    /// The source is gone: a collector that starts now must stop at once.
    ended: bool,
    /// Why it did not start, when nobody else collects either.
    trouble: Option<String>,
}

impl Real {
    /// Opens the store; for writing unless that is not wanted or not possible.
    pub fn open(setup: Setup) -> Result<Self, Trouble> {
        let now = setup.clock.now();
        let open = |access| Hub::open(&setup.dirs, &setup.settings, access, now);
        let mut read_only = setup.read_only.then(|| "started with --read-only".to_owned());
        // Looking alone creates nothing: whoever collects makes the database.
        let looks_only = setup.read_only || (setup.collect.is_none() && !setup.dirs.database().exists());
        let opened = if looks_only { open(Access::ReadOnly) } else { open(Access::ReadWrite) };
        let hub = match opened {
            Ok(hub) => hub,
            Err(error @ (StoreError::ReadOnly | StoreError::Newer { .. })) => {
                read_only = Some(error.to_string());
                open(Access::ReadOnly).map_err(trouble_of)?
            }
            Err(error) => return Err(trouble_of(error)),
        };
        Ok(Self {
            setup,
            hub,
            read_only,
            own: Arc::default(),
            starter: None,
            projects: HashMap::new(),
            sessions: HashMap::new(),
            last_session: 0,
            told: follow::Told::default(),
        })
    }

    fn now(&self) -> Timestamp {
        self.setup.clock.now()
    }

    fn writable(&self) -> Result<(), Trouble> {
        match &self.read_only {
            Some(why) => Err(Trouble::new(TroubleKind::ReadOnly, why.clone())),
            None => Ok(()),
        }
    }

    /// Starts the collector beside, and pokes whenever it has written.
    fn start_collector(&mut self, poke: Box<dyn Fn() + Send>) {
        let Some(options) = self.setup.collect.clone().filter(|_| self.read_only.is_none()) else { return };
        let own = Arc::clone(&self.own);
        let run = move || {
            let started = Collector::start(options());
            let changes = {
                let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
                match started {
                    Ok(collector) if own.ended => {
                        collector.stop();
                        return;
                    }
                    Ok(collector) => {
                        let changes = collector.listen(256);
                        own.collector = Some(collector);
                        changes
                    }
                    // Another one collects; its writes are seen like anybody's.
                    Err(StartError::Taken(_)) => return,
                    Err(error) => {
                        own.trouble = Some(error.to_string());
                        return;
                    }
                }
            };
            poke();
            while changes.recv().is_ok() {
                poke();
            }
        };
        self.starter = std::thread::Builder::new().name("own-collector".into()).spawn(run).ok();
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let collector = {
            let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            own.ended = true;
            own.collector.take()
        };
        if let Some(collector) = collector {
            collector.stop(); // waits until what is decided is written
        }
        if let Some(starter) = self.starter.take() {
            let _ = starter.join();
        }
    }
}

/// What a store's error means to a face.
fn trouble_of(error: StoreError) -> Trouble {
    let text = error.to_string();
    match error {
        StoreError::Missing(path) => Trouble::new(TroubleKind::Missing, format!("nothing is at {}", path.display()))
            .hint("cmem tui and cmem watch make it when they collect"),
        StoreError::Busy => Trouble::new(TroubleKind::Busy, text),
        StoreError::ReadOnly | StoreError::Newer { .. } => Trouble::new(TroubleKind::ReadOnly, text),
        StoreError::Full => Trouble::new(TroubleKind::DiskFull, text).hint("nothing was changed; free some room"),
        StoreError::Conflict(conflicts) => apply::conflict(&conflicts),
        StoreError::NotFound(_) => Trouble::new(TroubleKind::Conflict, text),
        StoreError::Corrupt(_) => Trouble::new(TroubleKind::Other, text).hint("cmem doctor checks the database"),
        _ => Trouble::new(TroubleKind::Other, text),
    }
}

impl Source for Real {
    fn opened(&mut self) -> Result<Opened, Trouble> {
        let store = self.hub.store();
        Ok(Opened {
            place: store.path().display().to_string(),
            rows: store.last_id().map_err(trouble_of)?.max(0) as u64,
            read_only: self.read_only.clone(),
            demo: false,
        })
    }

    fn newest(&mut self, limit: usize, out: &mut RowBatch) -> Result<(), Trouble> {
        self.newest_rows(limit, out).map_err(trouble_of)
    }

    fn page(
        &mut self,
        before: Option<MemoryId>,
        limit: usize,
        facts: bool,
        out: &mut RowBatch,
    ) -> Result<Option<MemoryId>, Trouble> {
        self.page_rows(before, limit, facts, out).map_err(trouble_of)
    }

    fn changes(&mut self, seen: &mut Seen) -> Result<Option<Changes>, Trouble> {
        self.changed(seen).map_err(trouble_of)
    }

    fn get(&mut self, ids: &[MemoryId]) -> Result<Vec<Memory>, Trouble> {
        self.hub.store().get(ids).map_err(trouble_of)
    }

    fn words(&mut self, query: &str, projects: &[String], limit: usize) -> Result<WordHits, Trouble> {
        self.find_words(query, projects, limit).map_err(trouble_of)
    }

    fn matching(&mut self, query: &str) -> Result<Vec<MemoryId>, Trouble> {
        self.find_matching(query).map_err(trouble_of)
    }

    fn projects(&mut self) -> Result<Vec<ProjectInfo>, Trouble> {
        self.all_projects().map_err(trouble_of)
    }

    fn sessions(&mut self, limit: usize) -> Result<Vec<SessionInfo>, Trouble> {
        self.newest_sessions(limit).map_err(trouble_of)
    }

    fn summaries(&mut self, session: &str) -> Result<Vec<Memory>, Trouble> {
        self.session_summaries(session).map_err(trouble_of)
    }

    fn hours(&mut self, projects: &[String], since: i64, until: i64) -> Result<Vec<HourCount>, Trouble> {
        self.hour_counts(projects, since, until).map_err(trouble_of)
    }

    fn vitals(&mut self) -> Result<Vitals, Trouble> {
        Ok(self.health())
    }

    fn context(&mut self, ask: &ContextAsk) -> Result<ContextPreview, Trouble> {
        self.preview(ask).map_err(trouble_of)
    }

    fn trash(&mut self, limit: usize) -> Result<Vec<TrashRow>, Trouble> {
        self.trash_rows(limit).map_err(trouble_of)
    }

    fn history(&mut self, limit: usize) -> Result<Vec<StepInfo>, Trouble> {
        self.steps(limit).map_err(trouble_of)
    }

    fn apply(&mut self, change: &Change) -> Result<Applied, Trouble> {
        self.writable()?;
        self.carry_out(change)
    }

    fn undo(&mut self, step: Option<i64>) -> Result<Applied, Trouble> {
        self.writable()?;
        self.take_back(step)
    }

    fn redo(&mut self) -> Result<Applied, Trouble> {
        self.writable()?;
        self.do_again()
    }

    fn redact_reach(&mut self, needle: &str) -> Result<RedactReach, Trouble> {
        self.reach_of(needle).map_err(trouble_of)
    }

    fn why(&mut self, id: MemoryId) -> Result<Vec<String>, Trouble> {
        self.where_from(id).map_err(trouble_of)
    }

    fn log(&mut self, lines: usize) -> Result<Vec<String>, Trouble> {
        Ok(self.log_lines(lines))
    }

    fn on_change(&mut self, poke: Box<dyn Fn() + Send>) {
        self.start_collector(poke);
    }
}
