//! The first of the two threads: it follows files and turns new bytes into deliveries.
//!
//! It owns everything about files: where they are, how far each was read, the reader of each, the gates' state. It
//! waits on one channel, with a deadline for what has no event: the slow rescan, files that fell quiet, helper
//! agents that wait to be tied to their parent. Files that are being written come first, then those never read,
//! newest first and originals before copies (`order`). When the collector has enough in memory the intake does not
//! read on; what waits stays in the transcript.
//!
//! `files` finds, `follow` looks at what was found, `slice` reads, `older` is for what was there before the first start;
//! `tracked` is one file.

mod files;
mod follow;
mod older;
mod slice;
mod tracked;

pub use tracked::born_of;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::{Duration, Instant};

use super::input::{FileNo, Held, Input, Lane, Order};
use crate::config::repository::Resolver;
use crate::config::{Dirs, Env, Settings, monotonic};
use crate::gate::Gates;
use crate::memory::{AgentId, Clock, EventKey, SessionId, Timestamp};
use crate::store::api::CursorRow;
use crate::transcript::locate::Root;
use crate::transcript::tail::FileId;
use crate::transcript::watch::{EventSource, FileEvent, Sink, Watching};

use tracked::{OLDER, Tracked};

/// How patient the intake is. Tests make it quick.
#[derive(Clone, Debug)]
pub struct Pace {
    /// A file whose last answer the client called final, and that did not grow for this long: the turn is over.
    pub confirm: Duration,
    /// Any other file that did not grow for this long is told quiet: a turn of an old client may be over, a last line
    /// without newline counts.
    pub quiet: Duration,
    /// A turn that did not grow for this long is asked about as it is.
    pub settle: Duration,
    /// Files in use are looked at this often, events or not.
    pub look: Duration,
    /// Every file is looked at this often, with file events and without.
    pub rescan: Duration,
    /// Without file events.
    pub rescan_polling: Duration,
    /// How often a folder that does not exist yet is looked for.
    pub missing: Duration,
    /// How long a helper agent's first events wait for their parent's call to be known.
    pub tie: Duration,
    /// How long a path may be gone before its file counts as removed (a rename tells its two halves apart).
    pub gone: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            confirm: Duration::from_millis(300),
            quiet: Duration::from_secs(3),
            settle: Duration::from_secs(600),
            look: Duration::from_secs(3),
            rescan: Duration::from_secs(60),
            rescan_polling: Duration::from_secs(5),
            missing: Duration::from_secs(2),
            tie: Duration::from_secs(3),
            gone: Duration::from_millis(500),
        }
    }
}

/// What is to be read.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Read what is there, settle everything, and rest.
    pub once: bool,
    /// Also what was written before the first start.
    pub from_start: bool,
    /// Every file again from its first byte.
    pub reread: bool,
    /// Only older parts: those chosen by `choose` (a backfill).
    pub older: Option<Chosen>,
    /// Folders whose files began to be followed earlier: what is new in them is read from its first byte.
    pub known_roots: Vec<String>,
    /// When cmem was first started.
    pub first_start: Option<Timestamp>,
}

/// The older turns a backfill is to read.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// File (identity) → turn → its events, if not all of them.
    pub turns: HashMap<String, HashMap<u32, Option<BTreeSet<EventKey>>>>,
    /// Files in the order to read them.
    pub order: Vec<String>,
}

/// The intake's equipment.
pub struct Setup {
    /// Folders.
    pub roots: Vec<Root>,
    /// Our own directories: the observer's transcripts are refused by their folder.
    pub dirs: Dirs,
    /// Environment, for the project resolver.
    pub env: Env,
    /// Settings.
    pub settings: Settings,
    /// File events.
    pub source: Box<dyn EventSource>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Patience.
    pub pace: Pace,
    /// What to read.
    pub scope: Scope,
    /// Cursors known from earlier runs.
    pub cursors: Vec<CursorRow>,
    /// Projects known from earlier runs.
    pub projects: Vec<String>,
    /// Projects the user excluded.
    pub excluded: Vec<String>,
}

/// The intake.
pub struct Intake {
    roots: Vec<Root>,
    skip_slug: String,
    source: Box<dyn EventSource>,
    watching: Watching,
    watched: Vec<PathBuf>,
    missing_told: Option<(Vec<PathBuf>, Vec<PathBuf>)>,
    clock: Arc<dyn Clock>,
    pace: Pace,
    scope: Scope,
    gates: Gates,
    marker: String,
    resolver: Resolver,
    cursors: HashMap<String, CursorRow>,
    older_rows: HashMap<String, CursorRow>,

    files: Vec<Tracked>,
    by_id: HashMap<(FileId, Lane), FileNo>,
    by_path: HashMap<PathBuf, FileNo>,
    /// Paths no file was at when last looked; dealt with after `Pace::gone`.
    missing: Vec<(PathBuf, Instant)>,
    /// Parent's calls, by the agent they ran.
    ties: HashMap<(SessionId, AgentId), EventKey>,

    live: VecDeque<FileNo>,
    fresh: Vec<FileNo>,
    fresh_sorted: bool,
    older: VecDeque<FileNo>,
    to_count: VecDeque<FileNo>,
    counting: Option<older::Counting>,
    counted_told: bool,
    /// Files with a reader in memory.
    active: BTreeSet<FileNo>,
    troubled: HashSet<PathBuf>,

    buffer: Vec<u8>,
    held: Arc<Held>,
    orders: Receiver<Order>,
    back: Sender<Order>,
    out: Sender<Input>,
    next_rescan: Instant,
    next_look: Instant,
    dry_told: bool,
    full_told: bool,
    stopped: bool,
}

impl Intake {
    /// An intake that has looked at nothing yet. `orders` is what it waits on, `back` a sender to the same channel for
    /// file events.
    pub fn new(
        setup: Setup,
        held: Arc<Held>,
        orders: Receiver<Order>,
        back: Sender<Order>,
        out: Sender<Input>,
    ) -> Self {
        let now = monotonic();
        let mut resolver = Resolver::new(&setup.env);
        setup.projects.iter().for_each(|root| resolver.learn(root));
        let observer = setup.dirs.observer();
        let mut gates = Gates::new(&setup.settings, &setup.dirs);
        setup.excluded.iter().for_each(|root| gates.exclude_root(root));
        let (older_rows, cursors) = setup
            .cursors
            .into_iter()
            .map(|row| (row.file_id.clone(), row))
            .partition::<HashMap<_, _>, _>(|(id, _)| id.ends_with(OLDER));
        Self {
            roots: setup.roots,
            skip_slug: crate::transcript::locate::slug(&observer.to_string_lossy()),
            source: setup.source,
            watching: Watching::Notify,
            watched: Vec::new(),
            missing_told: None,
            clock: setup.clock,
            pace: setup.pace,
            scope: setup.scope,
            gates,
            marker: setup.settings.record.marker.clone(),
            resolver,
            cursors,
            older_rows,
            files: Vec::new(),
            by_id: HashMap::new(),
            by_path: HashMap::new(),
            missing: Vec::new(),
            ties: HashMap::new(),
            live: VecDeque::new(),
            fresh: Vec::new(),
            fresh_sorted: true,
            older: VecDeque::new(),
            to_count: VecDeque::new(),
            counting: None,
            counted_told: false,
            active: BTreeSet::new(),
            troubled: HashSet::new(),
            buffer: Vec::new(),
            held,
            orders,
            back,
            out,
            next_rescan: now,
            next_look: now,
            dry_told: false,
            full_told: false,
            stopped: false,
        }
    }

    /// Runs until it is told to stop or nobody listens.
    pub fn run(mut self) {
        self.begin();
        while !self.stopped {
            self.take_orders();
            if self.stopped {
                break;
            }
            self.timers();
            if self.read_some() {
                continue;
            }
            self.when_dry();
            self.wait();
        }
    }

    /// Watches, and looks at everything for the first time.
    pub(super) fn begin(&mut self) {
        if !self.scope.once && self.scope.older.is_none() {
            self.watch();
        }
        self.first_scan();
    }

    /// Takes whatever was ordered meanwhile, without waiting.
    pub(super) fn take_orders(&mut self) {
        loop {
            match self.orders.try_recv() {
                Ok(order) => self.obey(order),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.stopped = true;
                    break;
                }
            }
        }
    }

    /// Waits for an order or the next deadline.
    fn wait(&mut self) {
        let now = monotonic();
        let order = match self.next_deadline() {
            Some(at) if at <= now => return,
            Some(at) => match self.orders.recv_timeout(at - now) {
                Ok(order) => order,
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => {
                    self.stopped = true;
                    return;
                }
            },
            None => match self.orders.recv() {
                Ok(order) => order,
                Err(_) => {
                    self.stopped = true;
                    return;
                }
            },
        };
        self.obey(order);
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Stop => self.stopped = true,
            Order::Room => self.full_told = false,
            Order::Rescan => {
                self.next_rescan = monotonic();
                self.dry_told = false;
            }
            Order::Excluded(roots) => self.gates.set_excluded(&roots),
            Order::Reread(session) => self.reread(&session),
            Order::Hold(no) => {
                if let Some(file) = self.files.get_mut(no.0 as usize) {
                    file.on_hold = true;
                }
            }
            Order::Release(no) => {
                if let Some(file) = self.files.get_mut(no.0 as usize) {
                    file.on_hold = false;
                    self.wake(no);
                }
            }
            Order::File(event) => {
                self.dry_told = false;
                match event {
                    FileEvent::Changed(path) => self.path_changed(&path),
                    FileEvent::Gone(path) => self.missing.push((path, monotonic() + self.pace.gone)),
                    FileEvent::Overflow => self.next_rescan = monotonic(),
                    FileEvent::Broken(why) => self.poll_from_now(why),
                }
            }
        }
    }

    /// One slice of the file whose turn it is. `false`: nothing to read, or no room.
    pub(super) fn read_some(&mut self) -> bool {
        let Some(no) = self.pick() else {
            return self.count_some();
        };
        if !self.held.has_room() {
            if !self.full_told {
                self.full_told = true;
                self.tell(Input::Full);
            }
            return false;
        }
        self.guarded_slice(no);
        true
    }

    /// The file to read next: written ones in turn, then those never read in their order, then older parts.
    fn pick(&mut self) -> Option<FileNo> {
        let ready = |files: &[Tracked], no: &FileNo| !files[no.0 as usize].on_hold;
        if let Some(at) = self.live.iter().position(|no| ready(&self.files, no)) {
            return self.live.get(at).copied();
        }
        if !self.fresh_sorted {
            self.sort_fresh();
        }
        if let Some(no) = self.fresh.iter().rev().find(|no| ready(&self.files, no)) {
            return Some(*no);
        }
        self.older.iter().find(|no| ready(&self.files, no)).copied()
    }

    /// Nothing is left to read: files fall quiet at once where nothing is to come (`once`), and whoever waits is told.
    pub(super) fn when_dry(&mut self) {
        // A file that is held has more to read: its session's observer has to answer first.
        if self.dry_told || !self.live.is_empty() || !self.fresh.is_empty() || !self.older.is_empty() {
            return;
        }
        if self.scope.once || self.scope.older.is_some() {
            let files: Vec<FileNo> = self.active.iter().copied().collect();
            for no in files {
                self.settle(no);
            }
        }
        self.dry_told = true;
        self.tell(Input::Caught);
    }

    fn next_deadline(&self) -> Option<Instant> {
        if self.scope.once || self.scope.older.is_some() {
            return None;
        }
        let mut next = self.next_rescan;
        if !self.active.is_empty() {
            next = next.min(self.next_look);
        }
        if let Some((_, at)) = self.missing.first() {
            next = next.min(*at);
        }
        for no in &self.active {
            if let Some(at) = self.files[no.0 as usize].deadline(&self.pace) {
                next = next.min(at);
            }
        }
        Some(next)
    }

    pub(super) fn timers(&mut self) {
        if self.scope.once || self.scope.older.is_some() {
            return;
        }
        let now = monotonic();
        self.look_for_missing(now);
        let due: Vec<FileNo> = self
            .active
            .iter()
            .copied()
            .filter(|no| self.files[no.0 as usize].deadline(&self.pace).is_some_and(|at| at <= now))
            .collect();
        for no in due {
            self.quiet_or_settle(no, now);
        }
        if now >= self.next_rescan {
            self.rescan();
            self.next_rescan = monotonic() + self.rescan_pause();
        }
        if now >= self.next_look {
            let active: Vec<FileNo> = self.active.iter().copied().collect();
            active.into_iter().for_each(|no| self.look(no));
            self.next_look = monotonic() + self.pace.look;
        }
    }

    fn rescan_pause(&self) -> Duration {
        let watched_all = self.roots.iter().all(|root| self.watched.contains(&root.projects()));
        match self.watching {
            Watching::Poll(_) => self.pace.rescan_polling,
            Watching::Notify if !watched_all => self.pace.missing,
            Watching::Notify => self.pace.rescan,
        }
    }

    fn sink(&self) -> Sink {
        // The sender is used from the watcher's thread; a mutex makes it shareable and is held only to send.
        let back = std::sync::Mutex::new(self.back.clone());
        Arc::new(move |event| {
            let back = back.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let _ = back.send(Order::File(event));
        })
    }

    fn tell(&mut self, input: Input) {
        if self.out.send(input).is_err() {
            self.stopped = true;
        }
    }
}
