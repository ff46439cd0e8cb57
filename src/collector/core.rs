//! The second of the two threads, without the thread: what is known of events between their reading and their
//! outcome, and when what is written.
//!
//! For each event the core finds out whether it is new, waiting elsewhere (a copy in another file), or decided. New
//! ones go to the judge; its verdicts, and the cursors they allow to move, go into one transaction. A turn that is
//! open holds its file's cursor at its start, so that a restart reads the turn whole; what of it is decided already
//! is known from the ledger.

mod events;
mod live;
mod writing;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::bus::Bus;
use super::gather::Known;
use super::health::{Paused, Snapshot};
use super::input::{Delivery, FileNews, FileNo, Held, Lane, Order, Place, Step, has_outcome};
use super::judge::{Decided, Judge, StreamId, Verdict};
use super::progress::{Progress, Seq};
use super::write::Writer;
use crate::memory::{Clock, EventKey, SessionId, Timestamp};
use crate::store::StoreError;
use crate::store::api::{LedgerRow, Pause};

use events::stream_of;
use writing::{add_counters, cursor_row, mark_older_counted};

/// Named fact: sessions to be read again, because events of them are to have a second try.
pub const REREAD: &str = "collector.reread";

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
    wrote: bool,
    /// Files that are not read on because their stream has enough waiting.
    on_hold: HashMap<FileNo, StreamId>,
    excluded: Option<Vec<String>>,
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
            wrote: false,
            on_hold: HashMap::new(),
            excluded: None,
            heeded: Vec::new(),
        };
        core.look_at_wishes();
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

    /// Whether something was written since this was asked last.
    pub fn take_wrote(&mut self) -> bool {
        std::mem::take(&mut self.wrote)
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

    /// The user may have paused, excluded a project, or asked for a second try, in another process.
    pub fn look_at_wishes(&mut self) {
        let Ok(version) = self.writer.store().data_version() else { return };
        if version == self.data_version {
            return;
        }
        self.data_version = version;
        if let Ok(pauses) = self.writer.store().pauses() {
            self.pauses = pauses;
        }
        if let Ok(projects) = self.writer.store().projects() {
            let mut roots: Vec<String> =
                projects.into_iter().filter(|project| project.excluded).map(|project| project.root).collect();
            roots.sort();
            if self.excluded.replace(roots.clone()).is_some_and(|before| before != roots) {
                let _ = self.orders.send(Order::Excluded(roots));
            }
        }
        if let Ok(Some(wish)) = self.writer.store().state(REREAD) {
            let sessions: Vec<SessionId> = serde_json::from_str(&wish.value).unwrap_or_default();
            for session in sessions {
                let _ = self.orders.send(Order::Reread(session));
            }
            let _ = self.writer.store_mut().clear_state(REREAD);
        }
    }

    /// Holds the file of a stream that has enough waiting, and lets those go on whose streams have room again.
    fn mind_the_room(&mut self, no: FileNo, stream: Option<&StreamId>) {
        if let Some(stream) = stream
            && !self.judge.has_room(stream)
            && self.on_hold.insert(no, stream.clone()).is_none()
        {
            let _ = self.orders.send(Order::Hold(no));
        }
    }

    fn release_files(&mut self) {
        let judge = &self.judge;
        let orders = &self.orders;
        self.on_hold.retain(|no, stream| {
            let held = !judge.has_room(stream);
            if !held {
                let _ = orders.send(Order::Release(*no));
            }
            held
        });
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
        self.look_at_wishes();
        self.caught = false;
        let Delivery { file: no, epoch, news, steps, place, counters, bytes, weight, read_at, at_end: _ } = delivery;
        if let Some(news) = news {
            self.news(no, epoch, news);
        }
        if bytes > 0 {
            self.snapshot.last_line_at = Some(read_at);
            self.snapshot_changed = true;
        }
        let mut fresh: HashSet<EventKey> = HashSet::new();
        let mut last_stream = None;
        for step in steps {
            match step {
                Step::Event(event, project) => {
                    if last_stream.is_none() {
                        last_stream = Some(stream_of(&event, self.lane(no)));
                    }
                    let names = [Some(event.key.clone()), event.alias.clone()];
                    let mut its = names.iter().flatten();
                    let elsewhere = its.any(|key| known.contains(key) || fresh.contains(key));
                    if self.event(no, epoch, *event, project, elsewhere, read_at) {
                        fresh.extend(names.into_iter().flatten());
                    }
                }
                Step::Refused(refused) => {
                    let decided = [Some(&refused.key), refused.alias.as_ref()]
                        .into_iter()
                        .flatten()
                        .any(|key| known.contains(key) || fresh.contains(key));
                    self.refused(*refused, decided);
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
        self.mind_the_room(no, last_stream.as_ref());
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
        if !self.verdicts.is_empty() && !self.on_hold.is_empty() {
            self.release_files();
        }
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
            self.handled(rows.len());
            self.writer.add(verdict, rows);
        }
    }

    fn handled(&mut self, events: usize) {
        self.snapshot.handled += events as u64;
        self.snapshot_changed = true;
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
}

fn file_decide(files: &mut HashMap<FileNo, File>, waiter: Waiter) {
    if let Some(file) = files.get_mut(&waiter.file)
        && file.epoch == waiter.epoch
    {
        file.progress.decide(waiter.seq);
    }
}
