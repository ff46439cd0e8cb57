//! The collector from start to stop: the lock, the two threads, the loop.
//!
//! [`Collector::start`] answers when the lock is held, the database is open and everything is watched; from then on
//! it runs by itself. The lock is held by the stack frame of the thread that runs, so it cannot outlive it.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::bus::{Bus, Change};
use super::core::Core;
use super::health::{Paused, Problem, Snapshot};
use super::input::{Ask, Delivery, Held, Input, Order};
use super::intake::{self, Intake, Pace, Scope, Setup};
use super::judge::{Judge, OfflineJudge};
use super::lock::{self, NotHeld, ROOM};
use super::write::{Blocked, Writer};
use crate::config::{Dirs, Env, Settings, monotonic};
use crate::memory::{Clock, SessionId, Timestamp};
use crate::mode::Mode;
use crate::store::{Access, Store, StoreError};
use crate::transcript::locate::{Root, roots};
use crate::transcript::watch::{EventSource, NotifySource};

/// Bytes of events in memory at which the intake waits.
const HELD: usize = 24 << 20;
/// A sign of life at least this often.
const BEAT: Duration = Duration::from_secs(10);
/// The live state is published at most this often.
const PUBLISH: Duration = Duration::from_millis(250);
/// A pause that ends this soon is waited for with `--once`.
const SOON: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);
/// Named fact: the folders whose files are followed.
const ROOTS: &str = "collector.roots";
/// Named fact: when cmem was first started.
const FIRST: &str = "collector.first_start";

/// Makes a judge. It is handed the sender by which answers come in and the store's path.
pub type JudgeMaker = Box<dyn FnOnce(Sender<Input>) -> Box<dyn Judge> + Send>;

/// What a collector is started with.
pub struct Options {
    /// Directories.
    pub dirs: Dirs,
    /// Environment.
    pub env: Env,
    /// Settings.
    pub settings: Settings,
    /// What is worth remembering.
    pub mode: Arc<Mode>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// What to read.
    pub scope: Scope,
    /// Patience.
    pub pace: Pace,
    /// File events; the system's own if `None`.
    pub source: Option<Box<dyn EventSource>>,
    /// Who decides; the observer without a model if `None`.
    pub judge: Option<JudgeMaker>,
    /// File of the lock; the collector's own if `None` (a backfill has another).
    pub lock: Option<PathBuf>,
    /// Path of this program, for whoever finds the lock taken.
    pub program: String,
}

impl Options {
    /// Everything as usual.
    pub fn new(dirs: Dirs, env: Env, settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let mode = crate::mode::embedded(&settings.observer.mode).unwrap_or_else(crate::mode::code);
        Self {
            dirs,
            env,
            settings,
            mode: Arc::new(mode),
            clock,
            scope: Scope::default(),
            pace: Pace::default(),
            source: None,
            judge: None,
            lock: None,
            program: String::new(),
        }
    }

    /// With the observer the settings ask for.
    pub fn with_observer(mut self) -> Self {
        self.judge = super::model::judge_for(&self);
        self
    }

    /// The folders that are read.
    pub fn roots(&self) -> Vec<Root> {
        roots(&self.dirs.claude, &self.settings.record.roots, self.dirs.home.as_deref())
    }
}

/// Why a collector did not start.
#[derive(Debug)]
pub enum StartError {
    /// Another one runs.
    Taken(Box<Snapshot>),
    /// The lock file cannot be used.
    Lock(PathBuf, io::Error),
    /// The directories cannot be made.
    Dirs(io::Error),
    /// The database cannot be opened for writing.
    Store(StoreError),
    /// A thread could not be started.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(owner) => write!(f, "a collector already runs: {}", owner.owner()),
            Self::Lock(path, error) => write!(f, "the lock {} cannot be used: {error}", path.display()),
            Self::Dirs(error) => write!(f, "cmem's directories cannot be made: {error}"),
            Self::Store(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "no thread could be started: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

/// How a collector ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// It was asked to.
    Stopped,
    /// Everything there was has an outcome (`--once`).
    Done,
    /// Nothing more could be decided for now (`--once`): why.
    Paused(Paused),
    /// Something broke.
    Failed(String),
}

/// A running collector.
pub struct Collector {
    inputs: Sender<Input>,
    bus: Arc<Bus>,
    live: Arc<Mutex<Snapshot>>,
    thread: Option<JoinHandle<Ended>>,
}

impl Collector {
    /// Starts one. Returns when it watches.
    pub fn start(options: Options) -> Result<Self, StartError> {
        options.dirs.create().map_err(StartError::Dirs)?;
        let (inputs, inbox) = channel();
        let (tell, told) = channel();
        let bus = Arc::new(Bus::default());
        let live = Arc::new(Mutex::new(Snapshot::default()));
        let (to, its_bus, its_live) = (inputs.clone(), bus.clone(), live.clone());
        let thread = thread::Builder::new()
            .name("collector".into())
            .spawn(move || own(options, to, inbox, its_bus, its_live, tell))
            .map_err(StartError::Thread)?;
        match told.recv() {
            Ok(Ok(())) => Ok(Self { inputs, bus, live, thread: Some(thread) }),
            Ok(Err(error)) => {
                let _ = thread.join();
                Err(error)
            }
            Err(_) => Err(StartError::Thread(io::Error::other("the collector ended while it started"))),
        }
    }

    /// Hears of changes, with room for so many.
    pub fn listen(&self, room: usize) -> Receiver<Change> {
        self.bus.listen(room)
    }

    /// The live state.
    pub fn snapshot(&self) -> Snapshot {
        self.live.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Asks for something, without waiting for it.
    pub fn ask(&self, ask: Ask) {
        let _ = self.inputs.send(Input::Ask(ask));
    }

    /// A way to ask from another thread (a signal handler's).
    pub fn asker(&self) -> impl Fn(Ask) + Send + 'static {
        let inputs = self.inputs.clone();
        move |ask| {
            let _ = inputs.send(Input::Ask(ask));
        }
    }

    /// Stops it and waits until what is decided is written.
    pub fn stop(mut self) -> Ended {
        self.ask(Ask::Stop);
        self.join()
    }

    /// Waits until it ends by itself.
    pub fn wait(mut self) -> Ended {
        self.join()
    }

    fn join(&mut self) -> Ended {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Ended::Failed("the collector's thread broke off".into()),
            None => Ended::Stopped,
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.ask(Ask::Stop);
            self.join();
        }
    }
}

/// Owns the lock while it runs.
fn own(
    options: Options,
    inputs: Sender<Input>,
    inbox: Receiver<Input>,
    bus: Arc<Bus>,
    live: Arc<Mutex<Snapshot>>,
    tell: Sender<Result<(), StartError>>,
) -> Ended {
    let path = options.lock.clone().unwrap_or_else(|| options.dirs.lock_file());
    let mut rest = Some((options, inputs, inbox, bus, live));
    // Whoever asks whether the lock is held touches it for an instant: that is no owner.
    for attempt in 0.. {
        let ended = lock::hold(&path, |held| match held {
            Ok(held) => {
                let (options, inputs, inbox, bus, live) = rest.take()?;
                Some(run(options, inputs, inbox, bus, live, held, &path, &tell))
            }
            Err(NotHeld::Taken(_)) if attempt < 3 => None,
            Err(NotHeld::Taken(text)) => {
                let owner = Snapshot::parse(&text).unwrap_or_default();
                let _ = tell.send(Err(StartError::Taken(Box::new(owner))));
                Some(Ended::Stopped)
            }
            Err(NotHeld::Io(error)) => {
                let _ = tell.send(Err(StartError::Lock(path.clone(), error)));
                Some(Ended::Stopped)
            }
        });
        if let Some(ended) = ended {
            return ended;
        }
        thread::sleep(Duration::from_millis(20 << attempt));
    }
    Ended::Stopped
}

/// Tells when the intake is gone, however it went.
struct Farewell(Sender<Input>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let _ = self.0.send(Input::IntakeGone);
    }
}

#[expect(clippy::too_many_arguments, reason = "the pieces of one start, each used once")]
fn run(
    options: Options,
    inputs: Sender<Input>,
    inbox: Receiver<Input>,
    bus: Arc<Bus>,
    live: Arc<Mutex<Snapshot>>,
    mut held_lock: lock::Held<'_>,
    lock_path: &std::path::Path,
    tell: &Sender<Result<(), StartError>>,
) -> Ended {
    let started = options.clock.now();
    let mut snapshot = first_snapshot(&options, lock_path, started);
    let _ = held_lock.write(&snapshot.text(ROOM));
    let mut store = match Store::open(&options.dirs.database(), Access::ReadWrite, started) {
        Ok(store) => store,
        Err(error) => {
            snapshot.read_only = Some(error.to_string());
            snapshot.stopped = true;
            let _ = held_lock.write(&snapshot.text(ROOM));
            let _ = tell.send(Err(StartError::Store(error)));
            return Ended::Stopped;
        }
    };
    let known = match Known::read(&mut store, started) {
        Ok(known) => known,
        Err(error) => {
            let _ = tell.send(Err(StartError::Store(error)));
            return Ended::Stopped;
        }
    };
    let roots = options.roots();
    let (orders, ordered) = channel();
    let held = Arc::new(Held::new(HELD));
    let scope = Scope { known_roots: known.roots.clone(), first_start: Some(known.first), ..options.scope.clone() };
    let resting = scope.once || scope.older.is_some();
    let setup = Setup {
        roots: roots.clone(),
        dirs: options.dirs,
        env: options.env,
        settings: options.settings,
        source: options.source.unwrap_or_else(|| Box::new(NotifySource::default())),
        clock: options.clock.clone(),
        pace: options.pace,
        scope,
        cursors: known.cursors,
        projects: known.projects,
        excluded: known.excluded,
    };
    let born = known.born;
    let judge = match options.judge {
        Some(make) => make(inputs.clone()),
        None => Box::new(OfflineJudge::new(options.mode)),
    };
    let intake = {
        let (held, back, out) = (held.clone(), orders.clone(), inputs.clone());
        thread::Builder::new().name("intake".into()).spawn(move || {
            let farewell = Farewell(out.clone());
            let intake = Intake::new(setup, held, ordered, back, out);
            // A fault in reading one file is caught there; one elsewhere ends the thread, and the farewell says so.
            let _ = catch_unwind(AssertUnwindSafe(|| intake.run()));
            drop(farewell);
        })
    };
    let intake = match intake {
        Ok(intake) => intake,
        Err(error) => {
            let _ = tell.send(Err(StartError::Thread(error)));
            return Ended::Stopped;
        }
    };
    let mut core =
        Core::new(Writer::new(store), judge, options.clock.clone(), bus.clone(), held, orders.clone(), snapshot);
    core.sessions_born(born);
    let mut lap = Loop {
        core,
        inbox,
        orders,
        clock: options.clock,
        live,
        bus: bus.clone(),
        lock: held_lock,
        resting,
        roots,
        known_roots: known.roots,
        parked: VecDeque::new(),
        parked_until: None,
        published: None,
        ready: Some(tell.clone()),
    };
    let ended = lap.turn();
    lap.finish(&ended);
    let _ = intake.join();
    let why = match &ended {
        Ended::Failed(why) => Some(why.clone()),
        _ => None,
    };
    bus.tell(&Change::Stopped(why));
    ended
}

/// The live state a start begins with: what the last run knew of evidence, and who runs now.
fn first_snapshot(options: &Options, lock_path: &std::path::Path, now: Timestamp) -> Snapshot {
    let before = Snapshot::parse(&lock::read(lock_path)).unwrap_or_default();
    Snapshot {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").into(),
        program: options.program.clone(),
        started_at: Some(now),
        beat_at: Some(now),
        watch: "notify".into(),
        last_line_at: before.last_line_at,
        last_event_at: before.last_event_at,
        last_memory_at: before.last_memory_at,
        last_write_at: before.last_write_at,
        errors: before.errors.into_iter().map(|problem| Problem { cleared: true, ..problem }).collect(),
        ..Snapshot::default()
    }
}

/// What the database knows from earlier runs.
struct Known {
    roots: Vec<String>,
    first: Timestamp,
    cursors: Vec<crate::store::api::CursorRow>,
    projects: Vec<String>,
    excluded: Vec<String>,
    born: Vec<(SessionId, Timestamp)>,
}

impl Known {
    fn read(store: &mut Store, now: Timestamp) -> Result<Self, StoreError> {
        let roots = store.state(ROOTS)?.and_then(|row| serde_json::from_str(&row.value).ok()).unwrap_or_default();
        let first = match store.state(FIRST)?.and_then(|row| row.value.parse().ok()) {
            Some(first) => first,
            None => {
                store.set_state(FIRST, &now.to_string(), now)?;
                now
            }
        };
        let projects = store.projects()?;
        let excluded = projects.iter().filter(|project| project.excluded).map(|project| project.root.clone()).collect();
        let cursors = store.cursors()?;
        Ok(Self {
            roots,
            first,
            born: cursors.iter().filter_map(intake::born_of).collect(),
            cursors,
            projects: projects.into_iter().map(|project| project.root).collect(),
            excluded,
        })
    }
}

/// The collector's loop.
struct Loop<'a> {
    core: Core,
    inbox: Receiver<Input>,
    orders: Sender<Order>,
    clock: Arc<dyn Clock>,
    live: Arc<Mutex<Snapshot>>,
    bus: Arc<Bus>,
    lock: lock::Held<'a>,
    /// It ends when everything has an outcome.
    resting: bool,
    roots: Vec<Root>,
    known_roots: Vec<String>,
    /// Deliveries that could not be taken because the database does not answer.
    parked: VecDeque<Box<Delivery>>,
    parked_until: Option<Instant>,
    published: Option<Instant>,
    ready: Option<Sender<Result<(), StartError>>>,
}

impl Loop<'_> {
    /// Takes inputs until the end.
    fn turn(&mut self) -> Ended {
        loop {
            let input = match self.inbox.try_recv() {
                Ok(input) => Some(input),
                Err(TryRecvError::Disconnected) => return Ended::Stopped,
                Err(TryRecvError::Empty) => {
                    self.take_parked();
                    self.core.write_if_due(true);
                    self.publish();
                    if let Some(ended) = self.at_rest() {
                        return ended;
                    }
                    match self.inbox.recv_timeout(self.patience()) {
                        Ok(input) => Some(input),
                        Err(RecvTimeoutError::Timeout) => None,
                        Err(RecvTimeoutError::Disconnected) => return Ended::Stopped,
                    }
                }
            };
            if let Some(input) = input
                && let Some(ended) = self.take(input)
            {
                return ended;
            }
            self.core.tick();
            self.core.write_if_due(false);
        }
    }

    fn take(&mut self, input: Input) -> Option<Ended> {
        match input {
            Input::Read(delivery) => self.read(delivery),
            Input::Caught => {
                self.core.caught_up();
                if self.resting {
                    self.core.settle_all();
                }
            }
            Input::Full => self.core.full(),
            Input::Watching(watching) => {
                let word = watching.word().to_owned();
                let snapshot = self.core.snapshot_mut();
                snapshot.watch = word;
                snapshot.watch_reason = match watching {
                    crate::transcript::watch::Watching::Notify => None,
                    crate::transcript::watch::Watching::Poll(why) => {
                        tracing::warn!("files are looked at again and again: {why}");
                        Some(why)
                    }
                };
            }
            Input::Sources(there, missing) => self.sources(&there, &missing),
            Input::Trouble(path, why) => self.core.trouble(&path.to_string_lossy(), why),
            Input::Counted(no, events) => self.core.counted(no, events),
            Input::CountedAll => self.core.counted_all(),
            Input::Answered(number) => self.core.answered(number),
            Input::Ask(Ask::Stop) => return Some(Ended::Stopped),
            Input::Ask(Ask::Rescan) => {
                let _ = self.orders.send(Order::Rescan);
            }
            Input::Ask(Ask::Flush) => self.core.settle_all(),
            Input::IntakeGone => {
                return Some(Ended::Failed("reading transcripts broke off; this is a fault in cmem".into()));
            }
        }
        None
    }

    /// Takes a delivery, or keeps it for later while the database does not answer or does not take what is decided.
    fn read(&mut self, delivery: Box<Delivery>) {
        let blocked = self.core.writer_mut().blocked().is_some() && self.core.writer_mut().is_full();
        if !self.parked.is_empty() || blocked {
            self.parked.push_back(delivery);
            return;
        }
        if let Err((delivery, error)) = self.core.read(*delivery) {
            tracing::warn!("the ledger cannot be asked: {error}");
            self.parked.push_front(delivery);
            self.parked_until = Some(monotonic() + Duration::from_secs(1));
        }
    }

    fn take_parked(&mut self) {
        if self.parked_until.is_some_and(|at| at > monotonic()) {
            return;
        }
        self.parked_until = None;
        while let Some(delivery) = self.parked.pop_front() {
            self.core.write_if_due(false);
            if self.core.writer_mut().blocked().is_some() && self.core.writer_mut().is_full() {
                self.parked.push_front(delivery);
                return;
            }
            if let Err((delivery, _)) = self.core.read(*delivery) {
                self.parked.push_front(delivery);
                self.parked_until = Some(monotonic() + Duration::from_secs(1));
                return;
            }
        }
    }

    /// The folders were looked at: whatever appears in them from now on is new.
    fn sources(&mut self, there: &[PathBuf], missing: &[PathBuf]) {
        let text = |paths: &[PathBuf]| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>();
        let now = self.clock.now();
        let snapshot = self.core.snapshot_mut();
        snapshot.sources = text(there);
        let what = |path: &str| format!("{path} does not exist yet; it is looked for");
        for path in text(missing) {
            // With several places to look in it is ordinary that one of them is not there.
            if there.is_empty() {
                snapshot.note(Problem { at: now, what: what(&path), lost: 0, kept: 0, cleared: false });
            }
        }
        let found: Vec<String> = text(there).iter().map(|path| what(path)).collect();
        for problem in snapshot.errors.iter_mut() {
            problem.cleared |=
                found.contains(&problem.what) || (!there.is_empty() && problem.what.ends_with("it is looked for"));
        }
        // First what the scan found is written, then that it was found: the other way round a kill between the two
        // would have every old file read from its first byte.
        self.core.write_now();
        if self.core.writer_mut().is_empty() {
            let all: BTreeSet<String> = self
                .known_roots
                .iter()
                .cloned()
                .chain(self.roots.iter().map(|root| root.path.to_string_lossy().into_owned()))
                .collect();
            let all: Vec<String> = all.into_iter().collect();
            if all != self.known_roots {
                let value = serde_json::to_string(&all).unwrap_or_default();
                if self.core.writer_mut().store_mut().set_state(ROOTS, &value, now).is_ok() {
                    self.known_roots = all;
                }
            }
        }
        if let Some(ready) = self.ready.take() {
            let _ = ready.send(Ok(()));
        }
    }

    /// With `--once`: whether it is over.
    fn at_rest(&mut self) -> Option<Ended> {
        if !self.resting || !self.parked.is_empty() {
            return None;
        }
        if self.core.is_done() {
            return Some(Ended::Done);
        }
        let judge_paused = self.core.paused();
        let blocked = self.core.writer_mut().blocked().map(|(why, _)| why.clone());
        match (judge_paused, blocked) {
            (_, Some(Blocked::Refused(why))) => Some(Ended::Failed(why)),
            (_, Some(Blocked::Disk)) => self.core.snapshot().paused.clone().map(Ended::Paused),
            // A hiccup of the service is waited for; what lasts is not.
            (Some(paused), _) => {
                let soon = self.clock.now() + SOON;
                paused.next_try.is_none_or(|at| at > soon).then_some(Ended::Paused(paused))
            }
            _ => None,
        }
    }

    /// How long to wait for the next input at most.
    fn patience(&self) -> Duration {
        let now = monotonic();
        let mut until = self.published.map_or(now, |at| at + BEAT);
        if let Some(at) = self.core.write_due() {
            until = until.min(at);
        }
        if let Some(at) = self.parked_until {
            until = until.min(at);
        }
        let mut wait = until.saturating_duration_since(now);
        if let Some(due) = self.core.due() {
            let left = due.duration_since(self.clock.now());
            wait = wait.min(Duration::try_from(left).unwrap_or(Duration::ZERO));
        }
        wait.max(Duration::from_millis(1))
    }

    /// Makes the live state known, in this process and in the lock file.
    fn publish(&mut self) {
        let now = monotonic();
        let age = self.published.map(|at| now.duration_since(at));
        if age.is_some_and(|age| age < PUBLISH) {
            return;
        }
        self.core.refresh();
        let changed = self.core.take_changed();
        if !changed && age.is_some_and(|age| age < BEAT) {
            return;
        }
        self.published = Some(now);
        self.core.snapshot_mut().beat_at = Some(self.clock.now());
        self.core.take_changed();
        let snapshot = self.core.snapshot().clone();
        // A disk that cannot even take these few bytes in place is told of by the age of the last sign of life.
        let _ = self.lock.write(&snapshot.text(ROOM));
        *self.live.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = snapshot;
        if changed {
            self.bus.tell(&Change::Health);
        }
    }

    fn finish(&mut self, ended: &Ended) {
        let _ = self.orders.send(Order::Stop);
        self.core.stop();
        self.core.write_now();
        if let Some(ready) = self.ready.take() {
            let _ = ready.send(Ok(()));
        }
        let now = self.clock.now();
        if let Ended::Failed(why) = ended {
            self.core.snapshot_mut().note(Problem { at: now, what: why.clone(), lost: 0, kept: 0, cleared: false });
        }
        self.core.refresh();
        let snapshot = self.core.snapshot_mut();
        snapshot.beat_at = Some(now);
        snapshot.stopped = true;
        let snapshot = snapshot.clone();
        let _ = self.lock.write(&snapshot.text(ROOM));
        *self.live.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = snapshot;
    }
}
