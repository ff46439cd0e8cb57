//! The loop: inputs in, one at a time; what is due in between; an end.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::bus::{Bus, Change};
use super::super::core::Core;
use super::super::health::{Problem, Snapshot};
use super::super::input::{Ask, Delivery, Input, Order};
use super::super::lock::{self, ROOM};
use super::super::upkeep::Upkeep;
use super::super::write::Blocked;
use super::{Ended, ROOTS, StartError};
use crate::config::monotonic;
use crate::memory::Clock;
use crate::transcript::locate::Root;

/// A sign of life at least this often.
const BEAT: Duration = Duration::from_secs(10);
/// The live state is published at most this often.
const PUBLISH: Duration = Duration::from_millis(250);
/// A pause that ends this soon is waited for with `--once`.
const SOON: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);

/// The collector's loop.
pub(super) struct Loop<'a> {
    pub(super) core: Core,
    pub(super) inbox: Receiver<Input>,
    pub(super) orders: Sender<Order>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) live: Arc<Mutex<Snapshot>>,
    pub(super) bus: Arc<Bus>,
    pub(super) lock: lock::Held<'a>,
    /// It ends when everything has an outcome.
    pub(super) resting: bool,
    pub(super) roots: Vec<Root>,
    pub(super) known_roots: Vec<String>,
    /// Whether this run looks at every file, so that what it saw is what there was.
    pub(super) looks_at_all: bool,
    pub(super) upkeep: Upkeep,
    /// Deliveries that could not be taken because the database does not answer.
    pub(super) parked: VecDeque<Box<Delivery>>,
    pub(super) parked_until: Option<Instant>,
    pub(super) published: Option<Instant>,
    pub(super) ready: Option<Sender<Result<(), StartError>>>,
}

impl Loop<'_> {
    /// Takes inputs until the end.
    pub(super) fn turn(&mut self) -> Ended {
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
                    self.keep_up();
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
        if let Input::Read(_) | Input::Answered(_) = input {
            self.upkeep.busy(monotonic(), false);
        }
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
        if self.looks_at_all && self.core.writer_mut().is_empty() {
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
                let hiccup = matches!(paused.reason.as_str(), "server" | "rate-limit");
                let waited_for = hiccup && paused.next_try.is_some_and(|at| at <= soon);
                (!waited_for).then_some(Ended::Paused(paused))
            }
            _ => None,
        }
    }

    /// Something useful while nothing comes in.
    fn keep_up(&mut self) {
        let now = monotonic();
        if self.core.take_wrote() {
            self.upkeep.busy(now, true);
        } else if !self.resting {
            let time = self.clock.now();
            self.upkeep.work(self.core.writer_mut().store_mut(), now, time);
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
        if let Some(at) = self.upkeep.due().filter(|_| !self.resting) {
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
        *self.live.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
        if changed {
            self.bus.tell(&Change::Health);
        }
    }

    pub(super) fn finish(&mut self, ended: &Ended) {
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
        *self.live.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }
}
