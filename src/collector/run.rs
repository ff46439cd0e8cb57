//! The collector from start to stop: the lock, the two threads, the loop.
//!
//! [`Collector::start`] answers when the lock is held, the database is open and everything is watched; from then on
//! it runs by itself. The lock is held by the stack frame of the thread that runs, so it cannot outlive it.

mod lap;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::bus::{Bus, Change};
use super::core::Core;
use super::health::{Paused, Problem, Snapshot};
use super::input::{Ask, Held, Input};
use super::intake::{self, Intake, Pace, Scope, Setup};
use super::judge::{Judge, OfflineJudge};
use super::lock::{self, NotHeld, ROOM};
use super::upkeep::Upkeep;
use super::vectors::Filler;
use super::write::{Fault, Waits, Writer};
use crate::config::{Dirs, Env, Settings};
use crate::memory::{Clock, SessionId, Timestamp};
use crate::mode::Mode;
use crate::store::{Access, Store, StoreError};
use crate::transcript::locate::{Root, roots};
use crate::transcript::watch::{EventSource, NotifySource};
use lap::Loop;

/// Bytes of events in memory at which the intake waits.
const HELD: usize = 24 << 20;
/// Named fact: the folders whose files are followed.
const ROOTS: &str = "collector.roots";
/// Named fact: when cmem was first started.
pub const FIRST: &str = "collector.first_start";

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
    /// How long writing waits after a failure.
    pub waits: Waits,
    /// A fault in place of writes, for tests.
    pub fault: Option<Fault>,
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
            waits: Waits::default(),
            fault: None,
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

    /// Whether it has ended by itself.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
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
    let looks_at_all = scope.older.is_none();
    let filler = Filler::start(options.dirs.database(), &options.settings, options.clock.clone());
    let much = scope.from_start || scope.reread || scope.older.is_some();
    let upkeep = Upkeep::new(&options.settings, crate::config::monotonic());
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
    let _filler = filler;
    let born = known.born;
    let mut writer = Writer::new(store, options.waits, options.fault);
    if much {
        writer.expect_much();
    }
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
    let mut core = Core::new(writer, judge, options.clock.clone(), bus.clone(), held, orders.clone(), snapshot);
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
        looks_at_all,
        upkeep,
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
