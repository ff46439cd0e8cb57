//! What is to be written, gathered into one transaction, and what is done when it cannot be written.
//!
//! Nothing in here is ever thrown away because of an error: a busy database is waited for, a full disk paused on with
//! a long back-off, and the same transaction is tried again, larger by what was decided meanwhile. A row that breaks
//! a rule of the schema is set aside alone (quarantined, with the reason), so that it cannot stop the others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::judge::Verdict;
use crate::config::monotonic;
use crate::memory::{EventKey, MemoryId, SessionId, Timestamp};
use crate::store::api::{Commit, CursorRow, LedgerRow, Outcome, Recorded, SessionRow};
use crate::store::{Store, StoreError, event_mark};

/// Rows after which a transaction is written though more is at hand.
const FULL_ROWS: usize = 1500;
/// How long writing waits after a failure before it is tried again.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// First and longest wait for a busy database.
    pub busy: (Duration, Duration),
    /// First and longest pause on a full disk.
    pub disk: (Duration, Duration),
    /// Pause when the database refuses for good (newer, read-only, damaged): a person has to do something.
    pub refused: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            busy: (Duration::from_millis(250), Duration::from_secs(10)),
            disk: (Duration::from_secs(5), Duration::from_secs(300)),
            refused: Duration::from_secs(60),
        }
    }
}

/// A fault to be had in place of a write: tests fill the disk with it.
pub type Fault = Arc<dyn Fn() -> Option<StoreError> + Send + Sync>;

/// Why nothing is written for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Another process writes.
    Busy,
    /// No room.
    Disk,
    /// It will not be written: why, in a sentence.
    Refused(String),
}

/// The writer.
pub struct Writer {
    store: Store,
    waits: Waits,
    fault: Option<Fault>,
    commit: Commit,
    /// Keys and second names decided in `commit`, with the session they were given to.
    decided: HashMap<EventKey, SessionId>,
    /// Marks of all that is decided, while a great deal is read (`Store::event_marks`), and the last row they cover.
    marks: Option<(i64, HashSet<u64>)>,
    version: i64,
    counters: HashMap<String, i64>,
    sessions: HashMap<String, SessionRow>,
    cursors: HashMap<String, CursorRow>,
    blocked: Option<(Blocked, Instant, Duration)>,
    /// Cursor or ledger rows wait that are in no hurry.
    idle_since: Option<Instant>,
    urgent: bool,
}

impl Writer {
    /// Writes to `store`.
    pub fn new(store: Store, waits: Waits, fault: Option<Fault>) -> Self {
        Self {
            store,
            waits,
            fault,
            commit: Commit::default(),
            decided: HashMap::new(),
            marks: None,
            version: -1,
            counters: HashMap::new(),
            sessions: HashMap::new(),
            cursors: HashMap::new(),
            blocked: None,
            idle_since: None,
            urgent: false,
        }
    }

    /// The store, when all else is gone.
    #[cfg(test)]
    pub(super) fn into_store(self) -> Store {
        self.store
    }

    /// The store, for reading.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The store, for small writes of its own (facts, pauses).
    pub fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Which of `keys` have an outcome, written or about to be.
    pub fn known(&mut self, keys: &[EventKey]) -> Result<HashSet<EventKey>, StoreError> {
        let mut known = match self.marks() {
            Some(marks) => {
                let doubtful: Vec<EventKey> =
                    keys.iter().filter(|key| marks.contains(&event_mark(key))).cloned().collect();
                self.store.decided(&doubtful)?
            }
            None => self.store.decided(keys)?,
        };
        known.extend(keys.iter().filter(|key| self.decided.contains_key(*key)).cloned());
        Ok(known)
    }

    /// A great deal is about to be read: what is decided is held in memory, so that the ledger is not asked about each
    /// event.
    pub fn expect_much(&mut self) {
        self.marks = self.store.event_marks().ok();
    }

    /// The marks, as long as nobody else has decided about events.
    fn marks(&mut self) -> Option<&HashSet<u64>> {
        let (end, _) = self.marks.as_ref()?;
        let version = self.store.data_version().ok();
        if version != Some(self.version) {
            // Somebody has written: vectors, a pin, or rows of the ledger.
            if self.store.ledger_end().ok() != Some(*end) {
                self.expect_much();
            }
            self.version = version.unwrap_or(-1);
        }
        self.marks.as_ref().map(|(_, marks)| marks)
    }

    /// The session an event was given to.
    pub fn owner(&self, key: &EventKey) -> Option<SessionId> {
        if let Some(session) = self.decided.get(key) {
            return Some(session.clone());
        }
        self.store.ledger_of(key).ok().flatten().map(|entry| entry.session)
    }

    /// Adds a verdict. `rows` are the ledger rows of its events, without the memories that rest on them.
    pub fn add(&mut self, verdict: Verdict, rows: Vec<LedgerRow>) {
        let first = self.commit.memories.len();
        let mut at: HashMap<&EventKey, Vec<usize>> = HashMap::new();
        for (index, memory) in verdict.memories.iter().enumerate() {
            for key in &memory.keys {
                at.entry(key).or_default().push(first + index);
            }
        }
        for mut row in rows {
            *self.counters.entry(format!("gate.{}.{}", row.gate, row.reason)).or_default() += 1;
            row.memories = at.get(&row.key).cloned().unwrap_or_default();
            self.note_decided(&row);
            self.commit.ledger.push(row);
        }
        self.urgent |= !verdict.memories.is_empty();
        self.commit.memories.extend(verdict.memories);
        if verdict.call.is_some() {
            // One call a transaction: its ledger rows refer to it.
            self.commit.call = verdict.call;
            self.urgent = true;
        }
        self.touch();
    }

    /// Whether a verdict with a call has to wait until what is gathered is written.
    pub fn has_call(&self) -> bool {
        self.commit.call.is_some()
    }

    fn note_decided(&mut self, row: &LedgerRow) {
        if let Some(alias) = &row.alias {
            self.decided.insert(alias.clone(), row.session.clone());
        }
        self.decided.insert(row.key.clone(), row.session.clone());
    }

    /// Adds counters.
    pub fn count(&mut self, counters: Vec<(String, i64)>) {
        for (name, n) in counters {
            *self.counters.entry(name).or_default() += n;
        }
        self.touch();
    }

    /// Sets a cursor.
    pub fn cursor(&mut self, row: CursorRow) {
        self.cursors.insert(row.file_id.clone(), row);
        self.touch();
    }

    /// What is newly known of a session.
    pub fn session(&mut self, news: SessionRow) {
        let known = self
            .sessions
            .entry(news.session.clone())
            .or_insert_with(|| SessionRow { session: news.session.clone(), ..SessionRow::default() });
        known.project = known.project.take().or(news.project);
        known.title = news.title.or(known.title.take());
        known.started_at = match (known.started_at, news.started_at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        known.last_at = known.last_at.max(news.last_at);
        known.prompts = known.prompts.max(news.prompts);
        known.last_prompt = news.last_prompt.or(known.last_prompt.take());
        self.touch();
    }

    /// An event belongs to another session than the ledger says.
    pub fn give(&mut self, key: EventKey, owner: SessionId, time: Option<Timestamp>) {
        self.decided.insert(key.clone(), owner.clone());
        self.commit.owners.push((key, owner, time));
        self.touch();
    }

    /// The client took events back.
    pub fn retracted(&mut self, keys: Vec<EventKey>) {
        self.commit.retracted.extend(keys);
        self.touch();
    }

    /// Turns were rewound away.
    pub fn rewound(&mut self, session: SessionId, first: u32, last: u32) {
        self.commit.rewound.push((session, first, last));
        self.touch();
    }

    /// A title for the session that holds an entry.
    pub fn title_for(&mut self, key: EventKey, title: String) {
        self.commit.titles.push((key, title));
        self.touch();
    }

    fn touch(&mut self) {
        self.idle_since.get_or_insert_with(monotonic);
    }

    /// Whether there is so much that it should be written before more is gathered.
    pub fn is_full(&self) -> bool {
        self.commit.ledger.len() + self.commit.memories.len() * 4 >= FULL_ROWS
    }

    /// Whether there is something a reader waits for.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Whether nothing waits to be written.
    pub fn is_empty(&self) -> bool {
        self.idle_since.is_none()
    }

    /// Since when something waits.
    pub fn waits_since(&self) -> Option<Instant> {
        self.idle_since
    }

    /// When it may be tried again, and why not now.
    pub fn blocked(&self) -> Option<(&Blocked, Instant)> {
        self.blocked.as_ref().map(|(why, at, _)| (why, *at))
    }

    /// Writes everything gathered. `None`: nothing was to be written, or it could not be (see [`Writer::blocked`]).
    pub fn write(&mut self, now: Timestamp) -> Option<Recorded> {
        if self.is_empty() {
            return None;
        }
        self.commit.now = Some(now);
        self.commit.counters = self.counters.iter().map(|(name, n)| (name.clone(), *n)).collect();
        self.commit.counters.sort();
        self.commit.sessions = self.sessions.values().cloned().collect();
        self.commit.sessions.sort_by(|one, other| one.session.cmp(&other.session));
        self.commit.cursors = self.cursors.values().cloned().collect();
        let fault = self.fault.as_ref().and_then(|fault| fault());
        let result = fault.map_or_else(|| self.store.record(&self.commit), Err);
        match result {
            Ok(recorded) => {
                self.clear();
                Some(recorded)
            }
            Err(StoreError::Constraint(why)) => self.set_aside(&why, now),
            Err(error) => {
                self.block(error);
                None
            }
        }
    }

    fn clear(&mut self) {
        self.commit = Commit::default();
        if let Some((end, marks)) = &mut self.marks {
            marks.extend(self.decided.keys().map(event_mark));
            *end = self.store.ledger_end().unwrap_or(*end);
        }
        self.decided.clear();
        self.counters.clear();
        self.sessions.clear();
        self.cursors.clear();
        self.blocked = None;
        self.idle_since = None;
        self.urgent = false;
    }

    fn block(&mut self, error: StoreError) {
        let (why, (first, most)) = match error {
            StoreError::Busy | StoreError::Interrupted => (Blocked::Busy, self.waits.busy),
            StoreError::Full => (Blocked::Disk, self.waits.disk),
            other => (Blocked::Refused(other.to_string()), (self.waits.refused, self.waits.refused)),
        };
        let pause = match &self.blocked {
            Some((before, _, pause)) if *before == why => (*pause * 2).min(most),
            _ => first,
        };
        self.blocked = Some((why, monotonic() + pause, pause));
    }

    /// A row breaks a rule: the memories are tried one by one, those that cannot be are left out, and the events they
    /// rest on are quarantined with the reason (A022).
    fn set_aside(&mut self, why: &str, now: Timestamp) -> Option<Recorded> {
        let mut bad: Vec<usize> = Vec::new();
        for (index, memory) in self.commit.memories.iter().enumerate() {
            let rows = self.commit.ledger.iter().filter(|row| row.memories == [index]);
            let ledger = rows.map(|row| LedgerRow { memories: vec![0], ..row.clone() }).collect();
            let alone = Commit { memories: vec![memory.clone()], ledger, now: Some(now), ..Commit::default() };
            match self.store.record(&alone) {
                // Written already: the whole commit finds it by its content and only adds the links.
                Ok(_) => {}
                Err(StoreError::Constraint(_)) => bad.push(index),
                Err(error) => {
                    self.block(error);
                    return None;
                }
            }
        }
        if bad.is_empty() {
            // No memory is to blame: a person has to look at it.
            self.block(StoreError::Constraint(why.to_owned()));
            return None;
        }
        for row in &mut self.commit.ledger {
            if row.memories.iter().any(|at| bad.contains(at)) && row.memories.iter().all(|at| bad.contains(at)) {
                row.outcome = Outcome::Quarantined;
                row.reason = "constraint".into();
                row.gate = 5;
            }
            row.memories = row
                .memories
                .iter()
                .filter(|at| !bad.contains(at))
                .map(|at| at - bad.iter().filter(|gone| *gone < at).count())
                .collect();
        }
        let mut index = 0;
        self.commit.memories.retain(|_| {
            index += 1;
            !bad.contains(&(index - 1))
        });
        match self.store.record(&self.commit) {
            Ok(recorded) => {
                self.clear();
                Some(recorded)
            }
            Err(error) => {
                self.block(error);
                None
            }
        }
    }
}

/// Ids of a commit's new rows.
pub fn new_ids(recorded: &Recorded) -> Vec<MemoryId> {
    recorded.ids.iter().flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::NewMemory;

    fn now() -> Timestamp {
        Timestamp::from_second(1_790_000_000).expect("in range")
    }

    fn memory(title: &str, session: &str, key: &str) -> NewMemory {
        NewMemory {
            title: title.into(),
            type_id: "discovery".into(),
            session: Some(session.into()),
            created_at: now(),
            keys: vec![key.into()],
            ..NewMemory::default()
        }
    }

    fn row(key: &str) -> LedgerRow {
        LedgerRow {
            key: key.into(),
            alias: None,
            session: "s".into(),
            kind: "tool".into(),
            time: None,
            outcome: Outcome::Stored,
            gate: 5,
            reason: "stored".into(),
            call: None,
            memories: Vec::new(),
        }
    }

    #[test]
    fn a022_a_row_that_breaks_a_rule_is_set_aside_alone() {
        let store = Store::in_memory(now()).expect("a store");
        let mut writer = Writer::new(store, Waits::default(), None);
        // The schema has no session without a name.
        let memories = vec![memory("one", "s", "k1"), memory("bad", "", "k2"), memory("three", "s", "k3")];
        let verdict = Verdict { memories, ..Verdict::default() };
        writer.add(verdict, vec![row("k1"), row("k2"), row("k3")]);
        let recorded = writer.write(now()).expect("written");
        assert!(writer.blocked().is_none() && writer.is_empty());
        assert_eq!(recorded.ids.iter().flatten().count(), 2);
        let outcome = |key: &str| {
            let entry = writer.store().ledger_of(&key.into()).expect("asked").expect("there");
            (entry.outcome, entry.reason, entry.memories.len())
        };
        assert_eq!(outcome("k1"), (Outcome::Stored, "stored".into(), 1));
        assert_eq!(outcome("k2"), (Outcome::Quarantined, "constraint".into(), 0));
        assert_eq!(outcome("k3"), (Outcome::Stored, "stored".into(), 1));
    }

    #[test]
    fn a117_waits_grow_and_nothing_is_thrown_away() {
        let full = Arc::new(std::sync::Mutex::new(true));
        let its = Arc::clone(&full);
        let fault: Fault = Arc::new(move || its.lock().expect("whole").then_some(StoreError::Full));
        let waits = Waits { disk: (Duration::from_secs(1), Duration::from_secs(3)), ..Waits::default() };
        let mut writer = Writer::new(Store::in_memory(now()).expect("a store"), waits, Some(fault));
        writer.add(Verdict { memories: vec![memory("one", "s", "k1")], ..Verdict::default() }, vec![row("k1")]);
        let mut pauses = Vec::new();
        for _ in 0..4 {
            let before = monotonic();
            assert!(writer.write(now()).is_none());
            let (why, at) = writer.blocked().expect("blocked");
            assert_eq!(*why, Blocked::Disk);
            pauses.push((at - before).as_secs());
        }
        assert_eq!(pauses, [1, 2, 3, 3]);
        *full.lock().expect("whole") = false;
        assert_eq!(writer.write(now()).expect("written").new, 1);
        assert!(writer.blocked().is_none());
    }
}
