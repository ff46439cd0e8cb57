//! The second of the two threads, without the thread: what is known of events between their reading and their
//! outcome, and when what is written.
//!
//! For each event the core finds out whether it is new, waiting elsewhere (a copy in another file), or decided. New
//! ones go to the judge; its verdicts, and the cursors they allow to move, go into one transaction. A turn that is
//! open holds its file's cursor at its start, so that a restart reads the turn whole; what of it is decided already
//! is known from the ledger.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::bus::{Bus, Change};
use super::gather::{Known, chars};
use super::health::{Gap, Paused, Problem, Snapshot};
use super::input::{Delivery, FileNews, FileNo, Held, Lane, Order, Place, Refused, Step, has_outcome};
use super::judge::{Decided, Judge, Offered, StreamId, Verdict};
use super::progress::{Progress, Seq};
use super::write::{Blocked, Writer, new_ids};
use crate::config::monotonic;
use crate::memory::{
    Clock, EventKey, Kind, NewMemory, ProjectRef, SessionId, Source, Timestamp, clip_chars, safe_line, safe_text,
};
use crate::store::StoreError;
use crate::store::api::{CursorRow, LedgerRow, Outcome, Pause, SessionRow};
use crate::transcript::event::{Body, Event, Prompt, PromptKind};

/// Cursors and refusals alone are written this long after they came.
const LAZY: Duration = Duration::from_millis(1000);

/// A mark of a file's progress: the place, and the lines read on the way to it.
type Mark = (Place, Vec<(String, i64)>);

/// A file as the core knows it.
#[derive(Default)]
struct File {
    news: FileNews,
    epoch: u32,
    progress: Progress<Mark>,
    /// Place written last, so that a change of path alone can be written.
    place: Place,
    /// Lines counted since the last mark.
    counters: Vec<(String, i64)>,
}

/// Who waits for an event's outcome.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    file: FileNo,
    epoch: u32,
    seq: Seq,
}

/// An event without an outcome.
struct Pending {
    waiters: Vec<Waiter>,
    alias: Option<EventKey>,
    session: SessionId,
    /// Session it was read in first, when another turned out to own it.
    read_in: Option<SessionId>,
    kind: &'static str,
    time: Option<Timestamp>,
    weight: usize,
}

/// A turn that is open in a stream: its file's cursor stays before it.
struct OpenTurn {
    turn: u32,
    guard: Waiter,
}

/// The core.
pub struct Core {
    writer: Writer,
    judge: Box<dyn Judge>,
    clock: Arc<dyn Clock>,
    bus: Arc<Bus>,
    held: Arc<Held>,
    orders: Sender<Order>,

    files: HashMap<FileNo, File>,
    pending: HashMap<EventKey, Pending>,
    /// Second names of pending events.
    aliases: HashMap<EventKey, EventKey>,
    open_turns: HashMap<StreamId, OpenTurn>,
    /// When sessions' own first lines were written: within a lineage the oldest owns what they share.
    born: HashMap<SessionId, Timestamp>,
    verdicts: Vec<Verdict>,

    pauses: Vec<Pause>,
    data_version: i64,
    snapshot: Snapshot,
    snapshot_changed: bool,
    caught: bool,
    counted_all: bool,
    stored: u64,
    /// The judge's warnings as they were told last.
    heeded: Vec<String>,
}

impl Core {
    /// A core that knows nothing yet.
    pub fn new(
        writer: Writer,
        judge: Box<dyn Judge>,
        clock: Arc<dyn Clock>,
        bus: Arc<Bus>,
        held: Arc<Held>,
        orders: Sender<Order>,
        snapshot: Snapshot,
    ) -> Self {
        let mut core = Self {
            writer,
            judge,
            clock,
            bus,
            held,
            orders,
            files: HashMap::new(),
            pending: HashMap::new(),
            aliases: HashMap::new(),
            open_turns: HashMap::new(),
            born: HashMap::new(),
            verdicts: Vec::new(),
            pauses: Vec::new(),
            data_version: -1,
            snapshot,
            snapshot_changed: true,
            caught: false,
            counted_all: false,
            stored: 0,
            heeded: Vec::new(),
        };
        core.look_at_pauses();
        core
    }

    /// When sessions known from earlier runs were begun.
    pub fn sessions_born(&mut self, born: Vec<(SessionId, Timestamp)>) {
        self.born.extend(born);
    }

    /// The live state.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The live state, to be changed.
    pub fn snapshot_mut(&mut self) -> &mut Snapshot {
        self.snapshot_changed = true;
        &mut self.snapshot
    }

    /// Whether the live state changed since it was asked last.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.snapshot_changed)
    }

    /// The store, when all else is gone.
    #[cfg(test)]
    pub(super) fn into_store(self) -> crate::store::Store {
        self.writer.into_store()
    }

    /// The writer.
    pub fn writer_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Memories stored since the start.
    pub fn stored(&self) -> u64 {
        self.stored
    }

    /// The intake has read everything and every event read has an outcome that is written.
    pub fn is_done(&self) -> bool {
        let at_rest = self.caught && self.counted_all && self.pending.is_empty() && self.writer.is_empty();
        at_rest && !self.judge.is_busy()
    }

    /// Events without an outcome.
    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// The user may have paused or resumed in another process.
    pub fn look_at_pauses(&mut self) {
        let Ok(version) = self.writer.store().data_version() else { return };
        if version == self.data_version {
            return;
        }
        self.data_version = version;
        if let Ok(pauses) = self.writer.store().pauses() {
            self.pauses = pauses;
        }
    }

    /// What the intake read. An error means that the database cannot be asked: the delivery is to be given again.
    pub fn read(&mut self, delivery: Delivery) -> Result<(), (Box<Delivery>, StoreError)> {
        let keys: Vec<EventKey> = delivery
            .steps
            .iter()
            .flat_map(|step| match step {
                Step::Event(event, _) if has_outcome(&event.body) => {
                    [Some(event.key.clone()), event.alias.clone()].into_iter().flatten().collect()
                }
                Step::Refused(refused) => {
                    [Some(refused.key.clone()), refused.alias.clone()].into_iter().flatten().collect()
                }
                _ => Vec::new(),
            })
            .collect();
        let known = match self.writer.known(&keys) {
            Ok(known) => known,
            Err(error) => return Err((Box::new(delivery), error)),
        };
        self.look_at_pauses();
        self.caught = false;
        let Delivery { file: no, epoch, news, steps, place, counters, bytes, weight, read_at, at_end: _ } = delivery;
        if let Some(news) = news {
            self.news(no, epoch, news);
        }
        if bytes > 0 {
            self.snapshot.last_line_at = Some(read_at);
            self.snapshot_changed = true;
        }
        let fresh: std::cell::RefCell<std::collections::HashSet<EventKey>> = Default::default();
        for step in steps {
            match step {
                Step::Event(event, project) => {
                    let decided = |key: &EventKey| known.contains(key) || fresh.borrow().contains(key);
                    let elsewhere = decided(&event.key) || event.alias.as_ref().is_some_and(decided);
                    let names = [Some(event.key.clone()), event.alias.clone()];
                    if self.event(no, epoch, *event, project, elsewhere, read_at) {
                        fresh.borrow_mut().extend(names.into_iter().flatten());
                    }
                }
                Step::Refused(refused) => {
                    let decided = known.contains(&refused.key)
                        || refused.alias.as_ref().is_some_and(|alias| known.contains(alias))
                        || fresh.borrow().contains(&refused.key);
                    self.refused(no, *refused, decided);
                }
                Step::Older(event) => {
                    let stream = stream_of(&event, self.lane(no));
                    self.offer(&stream, *event, None, Known::Older, read_at);
                }
                Step::Left => {
                    if let Some(file) = self.files.get_mut(&no) {
                        file.progress.bar();
                    }
                }
                Step::Settle => self.settle_file(no),
            }
            self.take_verdicts();
        }
        if let Some(file) = self.files.get_mut(&no)
            && file.epoch == epoch
        {
            add_counters(&mut file.counters, counters);
            if let Some(place) = place {
                let counters = std::mem::take(&mut file.counters);
                file.progress.mark((place, counters), |old, new| {
                    old.0 = new.0;
                    add_counters(&mut old.1, new.1);
                });
            }
        }
        self.place_cursor(no);
        if self.held.take(weight) {
            let _ = self.orders.send(Order::Room);
        }
        Ok(())
    }

    /// The intake has nothing more to read.
    pub fn caught_up(&mut self) {
        self.caught = true;
    }

    /// Every older part is counted.
    pub fn counted_all(&mut self) {
        self.counted_all = true;
        self.snapshot_mut().counting = false;
    }

    /// Events in an older part.
    pub fn counted(&mut self, no: FileNo, events: u64) {
        self.snapshot_mut().counting = true;
        self.counted_all = false;
        if let Some(file) = self.files.get_mut(&no) {
            file.news.backlog_events = events;
            mark_older_counted(&mut file.place);
            self.write_cursor(no);
        }
    }

    fn lane(&self, no: FileNo) -> Lane {
        match self.files.get(&no) {
            Some(file) if file.news.file_id.ends_with("#backlog") => Lane::Older,
            _ => Lane::Live,
        }
    }

    fn news(&mut self, no: FileNo, epoch: u32, mut news: FileNews) {
        if let (Some(born), Some(session), None) = (news.born, &news.session, &news.agent) {
            self.born.insert(session.clone(), born);
        }
        if news.gone && !self.files.contains_key(&no) {
            // Known from an earlier run only.
            let place = news.place.take().unwrap_or_default();
            self.writer.cursor(cursor_row(&news, &place));
            return;
        }
        let file = self.files.entry(no).or_default();
        if file.epoch != epoch {
            // It began again: outcomes of what it held before no longer move its cursor.
            *file = File { epoch, ..File::default() };
        }
        let moved = file.news != FileNews::default() && file.news != news;
        let place = news.place.take();
        let done = news.older_done;
        file.news = news;
        if let Some(place) = place
            // A place the core knows is further on, or held back by events that wait.
            && file.place == Place::default()
        {
            file.place = place;
            self.write_cursor(no);
        } else if moved && file.place != Place::default() {
            self.write_cursor(no);
        }
        if done && let Some(file) = self.files.get(&no) {
            self.writer.forget_cursor(file.news.file_id.clone());
        }
    }

    /// One event. `true`: it has an outcome now.
    fn event(
        &mut self,
        no: FileNo,
        epoch: u32,
        event: Event,
        project: Option<Arc<ProjectRef>>,
        elsewhere: bool,
        read_at: Timestamp,
    ) -> bool {
        let stream = stream_of(&event, self.lane(no));
        self.session_news(&event, project.as_deref(), elsewhere);
        if !has_outcome(&event.body) {
            self.mark(no, epoch, &stream, event, project, read_at);
            return false;
        }
        self.guard(no, epoch, &stream, event.turn);
        let Some(file) = self.files.get_mut(&no) else { return false };
        let seq = file.progress.yielded();
        let waiter = Waiter { file: no, epoch, seq };
        if elsewhere {
            file.progress.decide(seq);
            self.maybe_give(&event);
            self.offer(&stream, event, project, Known::Elsewhere, read_at);
            return true;
        }
        let first = match self.pending.contains_key(&event.key) {
            true => Some(event.key.clone()),
            false => event.alias.as_ref().and_then(|alias| {
                self.aliases.get(alias).or_else(|| self.pending.get_key_value(alias).map(|(key, _)| key)).cloned()
            }),
        };
        if let Some(first) = first
            && let Some(pending) = self.pending.get_mut(&first)
        {
            pending.waiters.push(waiter);
            if pending.session != event.session && owns(&self.born, &event.session, &pending.session) {
                pending.read_in.get_or_insert_with(|| pending.session.clone());
                pending.session = event.session.clone();
                pending.time = event.time;
            }
            self.offer(&stream, event, project, Known::Elsewhere, read_at);
            return false;
        }
        if let Some(reason) = self.paused_for(&event) {
            file_decide(&mut self.files, waiter);
            let row = ledger_row(&event, Outcome::Dropped, 0, reason);
            self.writer.add(Verdict::default(), vec![row]);
            return true;
        }
        if let Body::Prompt(prompt) = &event.body
            && let Some(memory) = words_of(&event, prompt, project.as_deref(), read_at)
        {
            // The user's own words are kept as they come; nobody has to judge them.
            file_decide(&mut self.files, waiter);
            let row = ledger_row(&event, Outcome::Stored, 2, "prompt");
            self.writer.add(Verdict { memories: vec![memory], ..Verdict::default() }, vec![row]);
            self.snapshot.last_event_at = Some(read_at);
            self.offer(&stream, event, project, Known::Elsewhere, read_at);
            return true;
        }
        let weight = chars(&event);
        self.held.add(weight);
        if let Some(alias) = &event.alias {
            self.aliases.insert(alias.clone(), event.key.clone());
        }
        let pending = Pending {
            waiters: vec![waiter],
            alias: event.alias.clone(),
            session: event.session.clone(),
            read_in: None,
            kind: event.body.kind(),
            time: event.time,
            weight,
        };
        self.pending.insert(event.key.clone(), pending);
        self.offer(&stream, event, project, Known::New, read_at);
        false
    }

    /// A mark: it changes what is known of others.
    fn mark(
        &mut self,
        no: FileNo,
        epoch: u32,
        stream: &StreamId,
        event: Event,
        project: Option<Arc<ProjectRef>>,
        read_at: Timestamp,
    ) {
        match &event.body {
            Body::TurnEnd(_) => {
                self.offer(stream, event, project, Known::New, read_at);
                self.take_verdicts();
                self.release(stream);
                if stream.agent.is_none() {
                    self.end_inline_agents(no, epoch, stream);
                }
                return;
            }
            Body::Rewind(rewind) => {
                self.writer.rewound(event.session.clone(), rewind.first, rewind.last);
            }
            Body::Retraction(keys) => {
                let mut gone = Vec::new();
                for key in keys {
                    if self.judge.retract(stream, key) {
                        self.decide(Decided {
                            key: key.clone(),
                            outcome: Outcome::Skipped,
                            gate: 0,
                            reason: "retracted".into(),
                        });
                    } else {
                        gone.push(key.clone());
                    }
                }
                self.writer.retracted(gone);
            }
            Body::TitleFor(key, title) => self.writer.title_for(key.clone(), safe_line(title)),
            _ => {}
        }
        self.offer(stream, event, project, Known::New, read_at);
    }

    fn offer(
        &mut self,
        stream: &StreamId,
        event: Event,
        project: Option<Arc<ProjectRef>>,
        known: Known,
        read_at: Timestamp,
    ) {
        self.judge.take(stream, Offered { event, project, known, read_at }, &mut self.verdicts);
    }

    /// Holds the file's cursor before a turn as long as it is open.
    fn guard(&mut self, no: FileNo, epoch: u32, stream: &StreamId, turn: u32) {
        let open = self.open_turns.get(stream);
        if open.is_some_and(|open| open.turn == turn && open.guard.file == no && open.guard.epoch == epoch) {
            return;
        }
        self.release(stream);
        let Some(file) = self.files.get_mut(&no) else { return };
        let guard = Waiter { file: no, epoch, seq: file.progress.yielded() };
        self.open_turns.insert(stream.clone(), OpenTurn { turn, guard });
    }

    fn release(&mut self, stream: &StreamId) {
        if let Some(open) = self.open_turns.remove(stream) {
            file_decide(&mut self.files, open.guard);
            self.place_cursor(open.guard.file);
        }
    }

    /// Helper agents whose lines stand in the session's own file (1.x) end with the turn they ran in.
    fn end_inline_agents(&mut self, no: FileNo, epoch: u32, main: &StreamId) {
        let inline: Vec<StreamId> = self
            .open_turns
            .iter()
            .filter(|(stream, open)| {
                stream.agent.is_some()
                    && stream.session == main.session
                    && open.guard.file == no
                    && open.guard.epoch == epoch
            })
            .map(|(stream, _)| stream.clone())
            .collect();
        for stream in inline {
            self.judge.settle(&stream, &mut self.verdicts);
            self.take_verdicts();
            self.release(&stream);
        }
    }

    /// Nothing is expected from a file for long.
    fn settle_file(&mut self, no: FileNo) {
        let streams: Vec<StreamId> = self
            .open_turns
            .iter()
            .filter(|(_, open)| open.guard.file == no)
            .map(|(stream, _)| stream.clone())
            .collect();
        for stream in streams {
            self.judge.settle(&stream, &mut self.verdicts);
            self.take_verdicts();
            // The cursor may go on though no end was told: an old file is not read again at every start because its
            // last turn never ended.
            self.release(&stream);
        }
    }

    /// Asks about everything gathered, open turns and all.
    pub fn settle_all(&mut self) {
        self.judge.settle_all(&mut self.verdicts);
        self.take_verdicts();
    }

    /// There is no room for more: with a judge that decides at once, what is gathered is decided.
    pub fn full(&mut self) {
        if !self.judge.is_slow() {
            self.settle_all();
        }
    }

    /// An answer came in.
    pub fn answered(&mut self, number: u64) {
        let now = self.clock.now();
        self.judge.answered(number, now, &mut self.verdicts);
        self.take_verdicts();
    }

    /// The judge's time has come.
    pub fn tick(&mut self) {
        let now = self.clock.now();
        if self.judge.due().is_some_and(|due| due <= now) {
            self.judge.tick(now, &mut self.verdicts);
            self.take_verdicts();
        }
    }

    /// When the judge wants to be asked.
    pub fn due(&self) -> Option<Timestamp> {
        self.judge.due()
    }

    /// The collector ends.
    pub fn stop(&mut self) {
        self.judge.stop();
    }

    /// Whether the judge is paused, and why.
    pub fn paused(&self) -> Option<Paused> {
        self.judge.paused()
    }

    fn take_verdicts(&mut self) {
        for mut verdict in std::mem::take(&mut self.verdicts) {
            if verdict.call.is_some() && self.writer.has_call() {
                self.write_now();
            }
            let decided = std::mem::take(&mut verdict.decided);
            let mut rows = Vec::with_capacity(decided.len());
            for one in decided {
                if let Some(row) = self.row_of(one) {
                    rows.push(row);
                }
            }
            if rows.is_empty() && verdict.memories.is_empty() && verdict.call.is_none() {
                continue;
            }
            self.snapshot.last_event_at = Some(self.clock.now());
            self.writer.add(verdict, rows);
        }
    }

    /// Gives one event its outcome.
    fn decide(&mut self, decided: Decided) {
        if let Some(row) = self.row_of(decided) {
            self.writer.add(Verdict::default(), vec![row]);
        }
    }

    /// The ledger row of a pending event, which is pending no more.
    fn row_of(&mut self, decided: Decided) -> Option<LedgerRow> {
        let pending = self.pending.remove(&decided.key)?;
        if let Some(alias) = &pending.alias {
            self.aliases.remove(alias);
        }
        if self.held.take(pending.weight) {
            let _ = self.orders.send(Order::Room);
        }
        for waiter in &pending.waiters {
            file_decide(&mut self.files, *waiter);
        }
        for waiter in &pending.waiters {
            self.place_cursor(waiter.file);
        }
        let session = match &pending.read_in {
            // The memory is filed where it was read; it moves with its events once it is written.
            Some(read_in) => {
                self.writer.give(decided.key.clone(), pending.session.clone(), pending.time);
                read_in.clone()
            }
            None => pending.session.clone(),
        };
        Some(LedgerRow {
            key: decided.key,
            alias: pending.alias,
            session,
            kind: pending.kind.to_owned(),
            time: pending.time,
            outcome: decided.outcome,
            gate: decided.gate,
            reason: decided.reason.into_owned(),
            call: None,
            memories: Vec::new(),
        })
    }

    fn refused(&mut self, no: FileNo, refused: Refused, decided: bool) {
        let waits = self.pending.contains_key(&refused.key);
        if decided || waits {
            return;
        }
        let Refused { key, alias, session, kind, time, gate, reason } = refused;
        let row = LedgerRow {
            key,
            alias,
            session,
            kind: kind.to_owned(),
            time,
            outcome: Outcome::Dropped,
            gate,
            reason,
            call: None,
            memories: Vec::new(),
        };
        self.snapshot.last_event_at = Some(self.clock.now());
        let _ = no;
        self.writer.add(Verdict::default(), vec![row]);
    }

    /// A copy was read of an event that is decided: the session that was there first owns it, whichever was read
    /// first (A034).
    fn maybe_give(&mut self, event: &Event) {
        if event.agent.is_some() || !self.born.contains_key(&event.session) {
            return;
        }
        if let Some(owner) = self.writer.owner(&event.key)
            && owner != event.session
            && owns(&self.born, &event.session, &owner)
        {
            self.writer.give(event.key.clone(), event.session.clone(), event.time);
        }
    }

    fn paused_for(&self, event: &Event) -> Option<&'static str> {
        let time = event.time?;
        let covers = |pause: &Pause| {
            pause.session.as_ref().is_none_or(|session| session == event.session.as_str())
                && pause.since <= time
                && pause.until.is_none_or(|until| time < until)
        };
        self.pauses.iter().any(covers).then_some("paused")
    }

    fn session_news(&mut self, event: &Event, project: Option<&ProjectRef>, elsewhere: bool) {
        let title = match &event.body {
            Body::Title(title) => Some(safe_line(title)),
            _ => None,
        };
        if (elsewhere || event.agent.is_some()) && title.is_none() {
            return;
        }
        let last_prompt = match &event.body {
            Body::Prompt(prompt) if is_spoken(&prompt.kind) && event.agent.is_none() => {
                Some(clip_chars(&safe_line(&prompt.text), 400).to_owned())
            }
            _ => None,
        };
        let news = SessionRow {
            session: event.session.as_str().to_owned(),
            project: project.cloned(),
            title,
            started_at: event.time,
            last_at: event.time,
            prompts: if event.agent.is_none() { event.turn } else { 0 },
            last_prompt,
        };
        self.writer.session(news);
    }

    /// Moves a file's cursor as far as outcomes allow.
    fn place_cursor(&mut self, no: FileNo) {
        let Some(file) = self.files.get_mut(&no) else { return };
        if !file.progress.has_ready() {
            return;
        }
        let mut counters = Vec::new();
        while let Some((place, counted)) = file.progress.ready_one() {
            file.place = place;
            add_counters(&mut counters, counted);
        }
        if !counters.is_empty() {
            self.writer.count(counters);
        }
        self.write_cursor(no);
    }

    fn write_cursor(&mut self, no: FileNo) {
        let Some(file) = self.files.get(&no) else { return };
        self.writer.cursor(cursor_row(&file.news, &file.place));
    }

    /// Whether something is to be written now; if so, it is.
    pub fn write_if_due(&mut self, inbox_empty: bool) {
        let now = monotonic();
        if let Some((_, at)) = self.writer.blocked()
            && at > now
        {
            return;
        }
        let lazy = self.writer.waits_since().is_some_and(|since| now.duration_since(since) >= LAZY);
        let retry = self.writer.blocked().is_some();
        let urgent = inbox_empty && self.writer.is_urgent();
        let last = inbox_empty && self.caught && self.pending.is_empty();
        if self.writer.is_full() || lazy || urgent || retry || last {
            self.write_now();
        }
    }

    /// When something is due to be written.
    pub fn write_due(&self) -> Option<Instant> {
        if let Some((_, at)) = self.writer.blocked() {
            return Some(at);
        }
        self.writer.waits_since().map(|since| since + LAZY)
    }

    /// Writes what is gathered.
    pub fn write_now(&mut self) {
        let now = self.clock.now();
        let was_blocked = self.writer.blocked().map(|(why, _)| why.clone());
        match self.writer.write(now) {
            Some(recorded) => {
                self.snapshot.last_write_at = Some(now);
                if was_blocked.is_some() {
                    self.unblocked();
                }
                let ids = new_ids(&recorded);
                self.stored += u64::from(recorded.new);
                if !ids.is_empty() {
                    self.snapshot.last_memory_at = Some(now);
                    self.bus.tell(&Change::Remembered(ids));
                }
                self.snapshot_changed = true;
            }
            None => {
                if let Some((why, at)) = self.writer.blocked().map(|(why, at)| (why.clone(), at)) {
                    self.blocked(&why, at, now);
                }
            }
        }
    }

    fn blocked(&mut self, why: &Blocked, at: Instant, now: Timestamp) {
        let kept = self.pending.len() as u64;
        let next_try =
            now + jiff::SignedDuration::try_from(at.saturating_duration_since(monotonic())).unwrap_or_default();
        let (what, reason) = match why {
            // Waiting for another process is ordinary; only when it lasts it is worth a word.
            Blocked::Busy => ("the database is in use by another process; recording waits".to_owned(), None),
            Blocked::Disk => (
                "the disk is full; recording is paused and goes on by itself when there is room".to_owned(),
                Some("disk"),
            ),
            Blocked::Refused(why) => (format!("the database cannot be written: {why}"), None),
        };
        if let Blocked::Refused(why) = why {
            self.snapshot.read_only = Some(why.clone());
        }
        if let Some(reason) = reason {
            let since = self
                .snapshot
                .paused
                .as_ref()
                .filter(|paused| paused.reason == reason)
                .map_or(now, |paused| paused.since);
            self.snapshot.paused = Some(Paused {
                reason: reason.into(),
                since,
                until: None,
                next_try: Some(next_try),
                detail: String::new(),
            });
        }
        let known = self.snapshot.errors.iter().any(|problem| !problem.cleared && problem.what == what);
        if !known {
            tracing::warn!("{what}");
        }
        self.snapshot.note(Problem { at: now, what, lost: 0, kept, cleared: false });
        self.snapshot_changed = true;
    }

    fn unblocked(&mut self) {
        self.snapshot.read_only = None;
        if self.snapshot.paused.as_ref().is_some_and(|paused| paused.reason == "disk") {
            self.snapshot.paused = None;
        }
        for problem in &mut self.snapshot.errors {
            if problem.what.starts_with("the disk is full") || problem.what.starts_with("the database") {
                problem.cleared = true;
            }
        }
        tracing::info!("the database can be written again");
    }

    /// A file or folder cannot be read, or can again.
    pub fn trouble(&mut self, path: &str, why: Option<String>) {
        let now = self.clock.now();
        self.snapshot.gaps.retain(|gap| gap.path != path || why.is_some());
        match why {
            Some(why) => {
                let what = format!("{path} cannot be read: {why}");
                match self.snapshot.gaps.iter_mut().find(|gap| gap.path == path) {
                    Some(gap) => gap.why = why,
                    None => {
                        tracing::warn!("{what}");
                        self.snapshot.gaps.push(Gap { path: path.to_owned(), since: now, why });
                    }
                }
                self.snapshot.note(Problem { at: now, what, lost: 0, kept: 0, cleared: false });
            }
            None => {
                let what = format!("{path} cannot be read: ");
                for problem in self.snapshot.errors.iter_mut().filter(|problem| problem.what.starts_with(&what)) {
                    problem.cleared = true;
                }
            }
        }
        self.snapshot_changed = true;
    }

    /// The judge's warnings among the problems: new ones come up, those that are over are cleared.
    fn heed(&mut self, warnings: Vec<String>) {
        if warnings == self.heeded {
            return;
        }
        let (now, kept) = (self.clock.now(), self.pending.len() as u64);
        for problem in &mut self.snapshot.errors {
            problem.cleared |= self.heeded.contains(&problem.what) && !warnings.contains(&problem.what);
        }
        for what in warnings.iter().filter(|it| !self.heeded.contains(it)) {
            tracing::warn!("{what}");
            self.snapshot.note(Problem { at: now, what: what.clone(), lost: 0, kept, cleared: false });
        }
        self.heeded = warnings;
        self.snapshot_changed = true;
    }

    /// Brings the live state up to date.
    pub fn refresh(&mut self) {
        let waiting = self.pending.len() as u64;
        let (provider, model) = self.judge.name();
        let own = self.snapshot.paused.as_ref().is_some_and(|paused| paused.reason == "disk");
        let paused = self.judge.paused();
        self.heed(self.judge.warnings());
        let snapshot = &mut self.snapshot;
        let before = (snapshot.waiting, snapshot.oldest_waiting_at, snapshot.paused.clone());
        snapshot.waiting = waiting;
        snapshot.oldest_waiting_at = self.judge.oldest_due();
        if !own {
            snapshot.paused = paused;
        }
        snapshot.provider = provider;
        snapshot.model = model;
        snapshot.queue = self.judge.queue();
        if before != (snapshot.waiting, snapshot.oldest_waiting_at, snapshot.paused.clone()) {
            self.snapshot_changed = true;
        }
    }
}

fn file_decide(files: &mut HashMap<FileNo, File>, waiter: Waiter) {
    if let Some(file) = files.get_mut(&waiter.file)
        && file.epoch == waiter.epoch
    {
        file.progress.decide(waiter.seq);
    }
}

fn stream_of(event: &Event, lane: Lane) -> StreamId {
    StreamId { session: event.session.clone(), agent: event.agent.clone(), lane }
}

/// Whether `one` owns what it shares with `other`: it was begun earlier, or has the smaller name.
fn owns(born: &HashMap<SessionId, Timestamp>, one: &SessionId, other: &SessionId) -> bool {
    match (born.get(one), born.get(other)) {
        (Some(first), Some(second)) => (first, one) < (second, other),
        _ => false,
    }
}

fn cursor_row(news: &FileNews, place: &Place) -> CursorRow {
    CursorRow {
        file_id: news.file_id.clone(),
        path: news.path.clone(),
        session: news.session.as_ref().map_or_else(String::new, |session| session.as_str().to_owned()),
        offset: place.offset,
        generation: news.generation,
        fingerprint: place.fingerprint.clone(),
        state: place.state.clone(),
        gone: news.gone,
        backlog_end: news.backlog_end,
        backlog_events: news.backlog_events,
    }
}

/// Notes in a place's state that the older part was counted (`intake::files::Kept`).
fn mark_older_counted(place: &mut Place) {
    if let Ok(serde_json::Value::Object(mut state)) = serde_json::from_str(&place.state) {
        state.insert("n".into(), true.into());
        place.state = serde_json::Value::Object(state).to_string();
    }
}

fn add_counters(to: &mut Vec<(String, i64)>, from: Vec<(String, i64)>) {
    for (name, n) in from {
        match to.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += n,
            None => to.push((name, n)),
        }
    }
}

fn ledger_row(event: &Event, outcome: Outcome, gate: u8, reason: &str) -> LedgerRow {
    LedgerRow {
        key: event.key.clone(),
        alias: event.alias.clone(),
        session: event.session.clone(),
        kind: event.body.kind().to_owned(),
        time: event.time,
        outcome,
        gate,
        reason: reason.to_owned(),
        call: None,
        memories: Vec::new(),
    }
}

fn is_spoken(kind: &PromptKind) -> bool {
    match kind {
        PromptKind::Typed | PromptKind::Steering | PromptKind::Slash | PromptKind::Rejection | PromptKind::Choice => {
            true
        }
        // A command line is an act, a plan is the model's text: both are for the observer.
        PromptKind::Shell | PromptKind::Plan => false,
    }
}

/// The memory of the user's own words.
fn words_of(event: &Event, prompt: &Prompt, project: Option<&ProjectRef>, read_at: Timestamp) -> Option<NewMemory> {
    if !is_spoken(&prompt.kind) || event.agent.is_some() || prompt.text.trim().is_empty() {
        return None;
    }
    let text = safe_text(prompt.text.trim());
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    Some(NewMemory {
        kind: Kind::Prompt,
        type_id: "prompt".into(),
        title: crate::gate::correct::cut(&safe_line(first), crate::gate::correct::TITLE_MAX),
        narrative: text,
        project: project.cloned(),
        cwd: event.cwd.clone(),
        branch: event.branch.clone(),
        session: Some(event.session.clone()),
        prompt_number: event.turn,
        created_at: event.time.unwrap_or(read_at),
        source: Source::Offline,
        keys: vec![event.key.clone()],
        abandoned: event.abandoned,
        ..NewMemory::default()
    })
}
