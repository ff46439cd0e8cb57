//! The collector's one writing transaction: memories, their words, the ledger, cursors, sessions, the call and the
//! counters, all or nothing. A cursor moves only together with what its bytes led to (architecture §1.1), so a kill
//! at any moment loses nothing and repeats nothing.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use super::api::{CallRow, Commit, CursorRow, LedgerRow, Outcome, Recorded};
use super::error::Result;
use super::ledger::event_named;
use super::rows::write_tx;
use super::{Store, fold, pack, places, rows};
use crate::memory::{EventKey, MemoryId, NewMemory, SessionId, Source, Timestamp, millis};

impl Store {
    /// Records what bytes led to. Calling it again with the same commit changes nothing more.
    pub fn record(&mut self, commit: &Commit) -> Result<Recorded> {
        let tx = write_tx(&mut self.conn)?;
        let recorded = write(&tx, commit)?;
        tx.commit()?;
        Ok(recorded)
    }
}

fn write(tx: &Connection, commit: &Commit) -> Result<Recorded> {
    let now = commit.now.unwrap_or(Timestamp::UNIX_EPOCH);
    let now_ms = millis(now);
    for session in &commit.sessions {
        places::put_session(tx, session)?;
    }
    let call = commit.call.as_ref().map(|call| put_call(tx, call, now_ms)).transpose()?;

    let mut recorded = Recorded::default();
    let mut known = Known::default();
    let mut links: HashMap<i64, Vec<i64>> = HashMap::new(); // event → memories
    let mut fresh: HashSet<i64> = HashSet::new(); // events that are linked to nothing yet
    let mut events_of: Vec<Vec<i64>> = vec![Vec::new(); commit.memories.len()];
    for row in &commit.ledger {
        let (event, new) = put_event(tx, row, call, now_ms, &mut known)?;
        if new {
            fresh.insert(event);
        }
        recorded.repeated += u32::from(!new);
        for &at in &row.memories {
            if let Some(events) = events_of.get_mut(at) {
                events.push(event);
            }
        }
    }
    for (memory, mut events) in commit.memories.iter().zip(events_of) {
        for key in &memory.keys {
            events.push(event_for(tx, key, memory, now_ms)?);
        }
        events.sort_unstable();
        events.dedup();
        let (id, new) = put_memory(tx, memory, &events, now_ms)?;
        recorded.new += u32::from(new);
        recorded.ids.push(id.map(MemoryId));
        if let Some(id) = id {
            events.iter().for_each(|&event| links.entry(event).or_default().push(id));
        }
    }
    for (event, ids) in links {
        if fresh.contains(&event) {
            set_links(tx, event, &pack::pack_ids(&ids))?;
            continue;
        }
        link(tx, event, &ids)?;
    }
    for (key, session, time) in &commit.owners {
        give_to(tx, key, session, *time)?;
    }
    for key in &commit.retracted {
        retract(tx, key)?;
    }
    for (session, first, last) in &commit.rewound {
        tx.prepare_cached(
            "UPDATE memory SET abandoned = 1 WHERE session = (SELECT id FROM session WHERE key = ?1) \
             AND prompt_number BETWEEN ?2 AND ?3",
        )?
        .execute((session.as_str(), first, last))?;
    }
    for (key, title) in &commit.titles {
        put_title(tx, key, title)?;
    }
    for cursor in &commit.cursors {
        put_cursor(tx, cursor)?;
    }
    add_counters(tx, &commit.counters, now_ms)?;
    Ok(recorded)
}

/// Writes a memory unless its content is there already (its id then), or a tombstone keeps it away (`None`).
pub(super) fn put_memory(tx: &Connection, new: &NewMemory, events: &[i64], now_ms: i64) -> Result<(Option<i64>, bool)> {
    let project = places::project_id(tx, new.project.as_ref())?;
    let session = match &new.session {
        Some(session) => places::session_id(tx, session.as_str())?,
        None => 0,
    };
    let mut image = rows::Image::of_new(new, project, session, millis(new.created_at), now_ms);
    image.events = pack::pack_ids(events);
    let known: Option<i64> = tx
        .prepare_cached("SELECT id FROM memory_body WHERE hash = ?1")?
        .query_row([&image.hash], |row| row.get(0))
        .optional()?;
    if known.is_some() {
        return Ok((known, false));
    }
    if new.source == Source::Manual {
        // A person's own words are never kept away by what was deleted before.
        tx.prepare_cached("DELETE FROM tombstone WHERE hash = ?1")?.execute([&image.hash])?;
    } else if is_buried(tx, &image, events)? {
        return Ok((None, false));
    }
    image.folded_into = fold::head_for(tx, &image)?.unwrap_or(0);
    let id = rows::insert(tx, &mut image)?;
    if image.folded_into != 0 {
        tx.prepare_cached("UPDATE memory SET count = count + 1 WHERE id = ?1")?.execute([image.folded_into])?;
    }
    for old in new.supersedes.iter().filter(|old| old.0 != id) {
        tx.prepare_cached("UPDATE memory SET superseded_by = ?2 WHERE id = ?1")?.execute((old.0, id))?;
    }
    Ok((Some(id), true))
}

/// Deleted by the user: the same content, or a memory of the same kind that rests on nothing but events of deleted
/// memories (the same turn told in other words).
pub(super) fn is_buried(tx: &Connection, image: &rows::Image, events: &[i64]) -> Result<bool> {
    let by_content: bool = tx
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM tombstone WHERE hash = ?1)")?
        .query_row([&image.hash], |row| row.get(0))?;
    if by_content || events.is_empty() {
        return Ok(by_content);
    }
    let mut buried =
        tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM tombstone_event WHERE event = ?1 AND kind = ?2)")?;
    for event in events {
        if !buried.query_row((event, image.kind), |row| row.get::<_, bool>(0))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Numbers looked up once in a commit: thousands of rows name the same few sessions and words.
#[derive(Default)]
struct Known {
    words: HashMap<String, i64>,
    sessions: HashMap<String, i64>,
}

impl Known {
    fn word(&mut self, tx: &Connection, text: &str) -> Result<i64> {
        if let Some(&id) = self.words.get(text) {
            return Ok(id);
        }
        let id = word(tx, text)?;
        self.words.insert(text.to_owned(), id);
        Ok(id)
    }

    fn session(&mut self, tx: &Connection, session: &str) -> Result<i64> {
        // An event that came without a session (a deletion from elsewhere) has none.
        if session == NO_SESSION {
            return Ok(0);
        }
        if let Some(&id) = self.sessions.get(session) {
            return Ok(id);
        }
        let id = places::session_id(tx, session)?;
        self.sessions.insert(session.to_owned(), id);
        Ok(id)
    }
}

fn put_event(
    tx: &Connection,
    row: &LedgerRow,
    call: Option<i64>,
    now_ms: i64,
    known: &mut Known,
) -> Result<(i64, bool)> {
    let there = match event_named(tx, &row.key)? {
        Some(event) => Some(event),
        None => row.alias.as_ref().map(|alias| event_named(tx, alias)).transpose()?.flatten(),
    };
    let (event, new) = match there {
        Some(event) => (event, false),
        None => insert_event(tx, row, call, now_ms, known)?,
    };
    // From now on it is known by every name it came with.
    for name in [Some(&row.key).filter(|_| !new), row.alias.as_ref()].into_iter().flatten() {
        tx.prepare_cached(
            "INSERT INTO ledger_alias (key, event) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM ledger WHERE key = ?1) \
             ON CONFLICT DO NOTHING",
        )?
        .execute((pack::pack_key(name), event))?;
    }
    Ok((event, new))
}

fn insert_event(
    tx: &Connection,
    row: &LedgerRow,
    call: Option<i64>,
    now_ms: i64,
    known: &mut Known,
) -> Result<(i64, bool)> {
    let session = known.session(tx, row.session.as_str())?;
    let (kind, reason) = (known.word(tx, &row.kind)?, known.word(tx, &row.reason)?);
    let key = pack::pack_key(&row.key);
    // Gates 0–2 decide before anybody is asked; from 3 on the call of this commit decided.
    let call = row.call.or(call.filter(|_| row.gate >= 3)).unwrap_or(0);
    tx.prepare_cached(
        "INSERT INTO ledger (key, session, kind, time_ms, recorded_ms, outcome, gate, reason, call) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        key,
        session,
        kind,
        row.time.map_or(0, millis),
        now_ms,
        outcome_number(row.outcome),
        row.gate,
        reason,
        call,
    ])?;
    Ok((tx.last_insert_rowid(), true))
}

/// Stands for a session in a row that has none; no transcript's name begins with a NUL.
const NO_SESSION: &str = "\0none";

/// The ledger row of an event that a memory rests on, made where there is none (an import, a late summary).
pub(super) fn event_for(tx: &Connection, key: &EventKey, memory: &NewMemory, now_ms: i64) -> Result<i64> {
    if let Some(event) = event_named(tx, key)? {
        return Ok(event);
    }
    let row = LedgerRow {
        key: key.clone(),
        alias: None,
        session: memory.session.clone().unwrap_or_else(|| SessionId::from(NO_SESSION)),
        kind: "event".into(),
        time: Some(memory.created_at),
        outcome: Outcome::Stored,
        gate: 5,
        reason: if memory.source == Source::Import { "import" } else { "stored" }.into(),
        call: None,
        memories: Vec::new(),
    };
    Ok(put_event(tx, &row, None, now_ms, &mut Known::default())?.0)
}

pub(super) fn link(tx: &Connection, event: i64, ids: &[i64]) -> Result<()> {
    let have: Vec<u8> =
        tx.prepare_cached("SELECT memories FROM ledger WHERE id = ?1")?.query_row([event], |row| row.get(0))?;
    let mut all = pack::unpack_ids(&have);
    all.extend_from_slice(ids);
    let packed = pack::pack_ids(&all);
    if packed == have { Ok(()) } else { set_links(tx, event, &packed) }
}

fn set_links(tx: &Connection, event: i64, packed: &[u8]) -> Result<()> {
    tx.prepare_cached("UPDATE ledger SET memories = ?2 WHERE id = ?1")?.execute((event, packed))?;
    Ok(())
}

/// Moves an event to the session that turned out to own it, and with it memories that rest on its events alone.
fn give_to(tx: &Connection, key: &EventKey, owner: &SessionId, time: Option<Timestamp>) -> Result<()> {
    let session = places::session_id(tx, owner.as_str())?;
    let Some(event) = event_named(tx, key)? else { return Ok(()) };
    let (from, memories): (i64, Vec<u8>) = tx
        .prepare_cached("SELECT session, memories FROM ledger WHERE id = ?1")?
        .query_row([event], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if from == session {
        return Ok(());
    }
    tx.prepare_cached("UPDATE ledger SET session = ?2, time_ms = coalesce(?3, time_ms) WHERE id = ?1")?.execute((
        event,
        session,
        time.map(millis),
    ))?;
    for id in pack::unpack_ids(&memories) {
        let Some(image) = rows::load(tx, id)? else { continue };
        if image.session == session || !all_events(tx, &image, "session = ?2", session)? {
            continue;
        }
        let mut moved = image.clone();
        moved.session = session;
        if !image.edited {
            let hash = rows::content_hash(
                rows::kind_of(image.kind),
                owner.as_str(),
                image.prompt_number,
                &image.title,
                &image.narrative,
            );
            let taken: bool = tx
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM memory_body WHERE hash = ?1)")?
                .query_row([&hash], |row| row.get(0))?;
            if !taken {
                moved.hash = hash;
            }
        }
        rows::replace(tx, &image, &moved)?;
    }
    Ok(())
}

/// Marks memories abandoned whose events were all taken back by the client.
fn retract(tx: &Connection, key: &EventKey) -> Result<()> {
    let Some(event) = event_named(tx, key)? else { return Ok(()) };
    let memories: Vec<u8> =
        tx.prepare_cached("SELECT memories FROM ledger WHERE id = ?1")?.query_row([event], |row| row.get(0))?;
    let retracted = word(tx, "retracted")?;
    tx.prepare_cached("UPDATE ledger SET reason = ?2 WHERE id = ?1")?.execute((event, retracted))?;
    for id in pack::unpack_ids(&memories) {
        let Some(image) = rows::load(tx, id)? else { continue };
        if all_events(tx, &image, "reason = ?2", retracted)? {
            tx.prepare_cached("UPDATE memory SET abandoned = 1 WHERE id = ?1")?.execute([id])?;
        }
    }
    Ok(())
}

/// A title that another session's file gives to the session that holds an entry.
fn put_title(tx: &Connection, key: &EventKey, title: &str) -> Result<()> {
    let event = match event_named(tx, key)? {
        Some(event) => Some(event),
        None => {
            // Parts of one entry are `uuid#part`: the first key that begins so.
            let mut from = pack::pack_key(key);
            from.push(b'#');
            let mut until = from.clone();
            if let Some(last) = until.last_mut() {
                *last += 1;
            }
            tx.prepare_cached("SELECT id FROM ledger WHERE key >= ?1 AND key < ?2 LIMIT 1")?
                .query_row((from, until), |row| row.get(0))
                .optional()?
        }
    };
    if let Some(event) = event {
        tx.prepare_cached("UPDATE session SET title = ?2 WHERE id = (SELECT session FROM ledger WHERE id = ?1)")?
            .execute((event, title))?;
    }
    Ok(())
}

fn all_events(tx: &Connection, image: &rows::Image, condition: &str, value: i64) -> Result<bool> {
    let mut query =
        tx.prepare_cached(&format!("SELECT EXISTS (SELECT 1 FROM ledger WHERE id = ?1 AND {condition})"))?;
    for event in pack::unpack_ids(&image.events) {
        if !query.query_row((event, value), |row| row.get::<_, bool>(0))? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn put_cursor(tx: &Connection, cursor: &CursorRow) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO cursor (file_id, path, session, offset, generation, fingerprint, state, gone, backlog_end, \
         backlog_events) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
         ON CONFLICT (file_id) DO UPDATE SET path = excluded.path, session = excluded.session, \
         offset = excluded.offset, generation = excluded.generation, fingerprint = excluded.fingerprint, \
         state = excluded.state, gone = excluded.gone, backlog_end = excluded.backlog_end, \
         backlog_events = excluded.backlog_events",
    )?
    .execute(params![
        cursor.file_id,
        cursor.path,
        cursor.session,
        to_i64(cursor.offset),
        cursor.generation,
        cursor.fingerprint,
        cursor.state,
        cursor.gone,
        to_i64(cursor.backlog_end),
        to_i64(cursor.backlog_events),
    ])?;
    Ok(())
}

fn put_call(tx: &Connection, call: &CallRow, now_ms: i64) -> Result<i64> {
    tx.prepare_cached(
        "INSERT INTO call (at_ms, run, session, project_root, provider, model, outcome, reason, input_tokens, \
         cached_tokens, output_tokens, cost, millis) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        now_ms,
        call.run,
        call.session,
        call.project_root,
        call.provider,
        call.model,
        call.outcome,
        call.reason,
        to_i64(call.input_tokens),
        to_i64(call.cached_tokens),
        to_i64(call.output_tokens),
        call.cost,
        to_i64(call.millis),
    ])?;
    Ok(tx.last_insert_rowid())
}

fn add_counters(tx: &Connection, counters: &[(String, i64)], now_ms: i64) -> Result<()> {
    let hour = now_ms.div_euclid(3_600_000);
    for (name, n) in counters.iter().filter(|(_, n)| *n != 0) {
        tx.prepare_cached(
            "INSERT INTO counter (name, n) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET n = n + excluded.n",
        )?
        .execute((name, n))?;
        tx.prepare_cached(
            "INSERT INTO counter_hour (hour, name, n) VALUES (?1, ?2, ?3) \
             ON CONFLICT (hour, name) DO UPDATE SET n = n + excluded.n",
        )?
        .execute((hour, name, n))?;
    }
    Ok(())
}

/// The number of a repeated word.
pub(super) fn word(tx: &Connection, text: &str) -> Result<i64> {
    let known: Option<i64> =
        tx.prepare_cached("SELECT id FROM word WHERE text = ?1")?.query_row([text], |row| row.get(0)).optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    tx.prepare_cached("INSERT INTO word (text) VALUES (?1)")?.execute([text])?;
    Ok(tx.last_insert_rowid())
}

pub(super) fn outcome_number(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Stored => 0,
        Outcome::Skipped => 1,
        Outcome::Dropped => 2,
        Outcome::Quarantined => 3,
    }
}

pub(super) fn outcome_of(number: u8) -> Outcome {
    match number {
        0 => Outcome::Stored,
        1 => Outcome::Skipped,
        2 => Outcome::Dropped,
        _ => Outcome::Quarantined,
    }
}

pub(super) fn to_i64(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
