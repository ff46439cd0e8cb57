//! What became of events; where reading stands; pauses; runs and calls; counters; named facts. All small questions
//! about the pipeline, none about the text of memories.

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::api::{CursorRow, LedgerEntry, Outcome, Pause, Spend, StateRow};
use super::error::Result;
use super::record::{outcome_number, outcome_of, put_cursor};
use super::rows::write_tx;
use super::{Store, pack};
use crate::memory::{EventKey, MemoryId, RunId, SessionId, Timestamp, from_millis, millis};

const ENTRY: &str = "SELECT l.key, coalesce(s.key, ''), k.text, l.time_ms, l.recorded_ms, l.outcome, l.gate, r.text, l.call, l.memories \
    FROM ledger l LEFT JOIN session s ON s.id = l.session JOIN word k ON k.id = l.kind JOIN word r ON r.id = l.reason";

fn read_entry(row: &Row<'_>) -> rusqlite::Result<LedgerEntry> {
    let (time, call): (i64, i64) = (row.get(3)?, row.get(8)?);
    Ok(LedgerEntry {
        key: pack::unpack_key(&row.get::<_, Vec<u8>>(0)?),
        session: SessionId(row.get(1)?),
        kind: row.get(2)?,
        time: (time != 0).then(|| from_millis(time)),
        recorded_at: from_millis(row.get(4)?),
        outcome: outcome_of(row.get(5)?),
        gate: row.get(6)?,
        reason: row.get(7)?,
        call: (call != 0).then_some(call),
        memories: pack::unpack_ids(&row.get::<_, Vec<u8>>(9)?).into_iter().map(MemoryId).collect(),
    })
}

/// The ledger row of an event, by its first or second name.
pub(super) fn event_named(conn: &Connection, key: &EventKey) -> Result<Option<i64>> {
    let packed = pack::pack_key(key);
    for table in ["SELECT id FROM ledger WHERE key = ?1", "SELECT event FROM ledger_alias WHERE key = ?1"] {
        let found = conn.prepare_cached(table)?.query_row([&packed], |row| row.get(0)).optional()?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The mark of an event's name, as in [`Store::event_marks`].
pub fn event_mark(key: &EventKey) -> u64 {
    mark_of(&pack::pack_key(key))
}

/// FNV-1a.
fn mark_of(packed: &[u8]) -> u64 {
    packed.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Keys of ledger rows, in the order of the rows.
pub(super) fn keys_of(conn: &Connection, events: &[i64]) -> Result<Vec<EventKey>> {
    let mut query = conn.prepare_cached("SELECT key FROM ledger WHERE id = ?1")?;
    let mut keys = Vec::with_capacity(events.len());
    for event in events {
        if let Some(key) = query.query_row([event], |row| row.get::<_, Vec<u8>>(0)).optional()? {
            keys.push(pack::unpack_key(&key));
        }
    }
    Ok(keys)
}

impl Store {
    /// Those of `keys` that have an outcome already, by their first or second name.
    pub fn decided(&self, keys: &[EventKey]) -> Result<HashSet<EventKey>> {
        let mut decided = HashSet::new();
        for key in keys {
            if event_named(&self.conn, key)?.is_some() {
                decided.insert(key.clone());
            }
        }
        Ok(decided)
    }

    /// A mark of every name in the ledger. Who reads a great deal holds these in memory: a key whose mark is not among
    /// them is surely new, and need not be asked about. With [`Store::ledger_end`] at that moment.
    pub fn event_marks(&self) -> Result<(i64, HashSet<u64>)> {
        let end = self.ledger_end()?;
        let mut marks = HashSet::new();
        let mut query = self.conn.prepare("SELECT key FROM ledger UNION ALL SELECT key FROM ledger_alias")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            marks.insert(mark_of(row.get_ref(0)?.as_blob().unwrap_or_default()));
        }
        Ok((end, marks))
    }

    /// The newest row of the ledger; 0 when there is none.
    pub fn ledger_end(&self) -> Result<i64> {
        let mut query = self.conn.prepare_cached("SELECT coalesce(max(id), 0) FROM ledger")?;
        Ok(query.query_row([], |row| row.get(0))?)
    }

    /// What became of an event.
    pub fn ledger_of(&self, key: &EventKey) -> Result<Option<LedgerEntry>> {
        let Some(event) = event_named(&self.conn, key)? else { return Ok(None) };
        let mut query = self.conn.prepare_cached(&format!("{ENTRY} WHERE l.id = ?1"))?;
        Ok(query.query_row([event], read_entry).optional()?)
    }

    /// The newest ledger rows, optionally of one outcome and one session.
    pub fn ledger(&self, outcome: Option<Outcome>, session: Option<&str>, limit: usize) -> Result<Vec<LedgerEntry>> {
        let mut sql = format!("{ENTRY} WHERE 1");
        let mut params: Vec<Value> = Vec::new();
        match outcome {
            // Said as a constant, so that the index of quarantined rows can be used.
            Some(Outcome::Quarantined) => sql.push_str(" AND l.outcome = 3"),
            Some(outcome) => {
                sql.push_str(" AND l.outcome = ?");
                params.push(Value::from(outcome_number(outcome)));
            }
            None => {}
        }
        if let Some(session) = session {
            sql.push_str(" AND s.key = ?");
            params.push(Value::from(session.to_owned()));
        }
        sql.push_str(&format!(" ORDER BY l.id DESC LIMIT {limit}"));
        let mut query = self.conn.prepare_cached(&sql)?;
        let rows = query.query_map(rusqlite::params_from_iter(params), read_entry)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Rows of the ledger by outcome: stored, skipped, dropped, quarantined.
    pub fn ledger_counts(&self) -> Result<[u64; 4]> {
        let mut out = [0; 4];
        let mut query = self.conn.prepare_cached("SELECT outcome, count(*) FROM ledger GROUP BY outcome")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(slot) = out.get_mut(usize::from(row.get::<_, u8>(0)?)) {
                *slot = row.get::<_, i64>(1)? as u64;
            }
        }
        Ok(out)
    }

    /// Takes quarantined events out of the ledger, so that reading them again asks again. Others stay. Returns how
    /// many.
    pub fn requeue(&mut self, keys: &[EventKey]) -> Result<usize> {
        let tx = write_tx(&mut self.conn)?;
        let mut n = 0;
        for key in keys {
            let Some(event) = event_named(&tx, key)? else { continue };
            let gone = tx.prepare_cached("DELETE FROM ledger WHERE id = ?1 AND outcome = 3")?.execute([event])?;
            if gone > 0 {
                tx.prepare_cached("DELETE FROM ledger_alias WHERE event = ?1")?.execute([event])?;
            }
            n += gone;
        }
        tx.commit()?;
        Ok(n)
    }

    /// Every cursor.
    pub fn cursors(&self) -> Result<Vec<CursorRow>> {
        let mut query = self.conn.prepare_cached(
            "SELECT file_id, path, session, offset, generation, fingerprint, state, gone, backlog_end, backlog_events \
             FROM cursor",
        )?;
        let rows = query.query_map([], |row| {
            let size = |at: usize| -> rusqlite::Result<u64> { Ok(row.get::<_, i64>(at)?.max(0) as u64) };
            Ok(CursorRow {
                file_id: row.get(0)?,
                path: row.get(1)?,
                session: row.get(2)?,
                offset: size(3)?,
                generation: row.get(4)?,
                fingerprint: row.get(5)?,
                state: row.get(6)?,
                gone: row.get(7)?,
                backlog_end: size(8)?,
                backlog_events: size(9)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Writes cursors alone (first start, renames).
    pub fn put_cursors(&mut self, cursors: &[CursorRow]) -> Result<()> {
        let tx = write_tx(&mut self.conn)?;
        for cursor in cursors {
            put_cursor(&tx, cursor)?;
        }
        Ok(tx.commit()?)
    }

    /// Forgets cursors of files that are gone for good. Memories stay (A145).
    pub fn drop_cursors(&mut self, file_ids: &[String]) -> Result<()> {
        let tx = write_tx(&mut self.conn)?;
        for id in file_ids {
            tx.prepare_cached("DELETE FROM cursor WHERE file_id = ?1")?.execute([id])?;
        }
        Ok(tx.commit()?)
    }

    /// Stops recording from `now` on, for one session or for all. Pausing what is paused changes nothing.
    pub fn pause(&mut self, session: Option<&str>, now: Timestamp) -> Result<()> {
        let tx = write_tx(&mut self.conn)?;
        tx.execute(
            "INSERT INTO pause (session, since_ms) SELECT ?1, ?2 \
             WHERE NOT EXISTS (SELECT 1 FROM pause WHERE session = ?1 AND until_ms = 0)",
            (session.unwrap_or(""), millis(now)),
        )?;
        Ok(tx.commit()?)
    }

    /// Ends a pause. `false` if there was none.
    pub fn resume(&mut self, session: Option<&str>, now: Timestamp) -> Result<bool> {
        let n = self.conn.execute(
            "UPDATE pause SET until_ms = ?2 WHERE session = ?1 AND until_ms = 0",
            (session.unwrap_or(""), millis(now)),
        )?;
        Ok(n > 0)
    }

    /// Every pause there was, oldest first.
    pub fn pauses(&self) -> Result<Vec<Pause>> {
        let mut query = self.conn.prepare_cached("SELECT session, since_ms, until_ms FROM pause ORDER BY id")?;
        let rows = query.query_map([], |row| {
            let (session, until): (String, i64) = (row.get(0)?, row.get(2)?);
            Ok(Pause {
                session: (!session.is_empty()).then_some(session),
                since: from_millis(row.get(1)?),
                until: (until != 0).then(|| from_millis(until)),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A new run of the observer begins.
    pub fn start_run(&mut self, session: &str, provider: &str, model: &str, now: Timestamp) -> Result<RunId> {
        self.conn
            .prepare_cached("INSERT INTO run (session, provider, model, started_ms) VALUES (?1, ?2, ?3, ?4)")?
            .execute((session, provider, model, millis(now)))?;
        Ok(RunId(self.conn.last_insert_rowid()))
    }

    /// A run is over, and why.
    pub fn end_run(&mut self, run: RunId, reason: &str, now: Timestamp) -> Result<()> {
        self.conn.prepare_cached("UPDATE run SET ended_ms = ?2, end_reason = ?3 WHERE id = ?1")?.execute((
            run.0,
            millis(now),
            reason,
        ))?;
        Ok(())
    }

    /// Calls, tokens and cost of a span of record time, by outcome and project. A local day is the caller's to name:
    /// `from` its first instant, `until` the next day's.
    pub fn spend(&self, from: Timestamp, until: Timestamp) -> Result<Vec<Spend>> {
        let mut query = self.conn.prepare_cached(
            "SELECT project_root, outcome, count(*), sum(input_tokens), sum(cached_tokens), sum(output_tokens), \
             sum(cost) FROM call WHERE at_ms >= ?1 AND at_ms < ?2 GROUP BY project_root, outcome",
        )?;
        let rows = query.query_map((millis(from), millis(until)), |row| {
            let count = |at: usize| -> rusqlite::Result<u64> { Ok(row.get::<_, i64>(at)?.max(0) as u64) };
            Ok(Spend {
                project_root: row.get(0)?,
                outcome: row.get(1)?,
                calls: count(2)?,
                input_tokens: count(3)?,
                cached_tokens: count(4)?,
                output_tokens: count(5)?,
                cost: row.get(6)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Counters whose name begins with `prefix`: in total, or since the hour of `since`. Hourly figures are kept for
    /// 40 days.
    pub fn counters(&self, prefix: &str, since: Option<Timestamp>) -> Result<Vec<(String, i64)>> {
        let end = format!("{prefix}\u{10ffff}");
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found = match since {
            None => {
                let mut query = self
                    .conn
                    .prepare_cached("SELECT name, n FROM counter WHERE name >= ?1 AND name < ?2 ORDER BY name")?;
                query.query_map((prefix, end), read)?.collect::<Result<_, _>>()?
            }
            Some(since) => {
                let mut query = self.conn.prepare_cached(
                    "SELECT name, sum(n) FROM counter_hour WHERE hour >= ?3 AND name >= ?1 AND name < ?2 \
                     GROUP BY name ORDER BY name",
                )?;
                query.query_map((prefix, end, millis(since).div_euclid(3_600_000)), read)?.collect::<Result<_, _>>()?
            }
        };
        Ok(found)
    }

    /// Sets a named fact.
    pub fn set_state(&mut self, key: &str, value: &str, now: Timestamp) -> Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO state (key, value, at_ms) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value, at_ms = excluded.at_ms",
            )?
            .execute((key, value, millis(now)))?;
        Ok(())
    }

    /// A named fact.
    pub fn state(&self, key: &str) -> Result<Option<StateRow>> {
        let mut query = self.conn.prepare_cached("SELECT key, value, at_ms FROM state WHERE key = ?1")?;
        Ok(query.query_row([key], read_state).optional()?)
    }

    /// Named facts that begin with `prefix`.
    pub fn states(&self, prefix: &str) -> Result<Vec<StateRow>> {
        let mut query = self
            .conn
            .prepare_cached("SELECT key, value, at_ms FROM state WHERE key >= ?1 AND key < ?2 ORDER BY key")?;
        let rows = query.query_map((prefix, format!("{prefix}\u{10ffff}")), read_state)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Forgets a named fact.
    pub fn clear_state(&mut self, key: &str) -> Result<()> {
        self.conn.prepare_cached("DELETE FROM state WHERE key = ?1")?.execute([key])?;
        Ok(())
    }

    /// Drops hourly counters and ended runs that nobody asks for any more.
    pub(super) fn prune_figures(&mut self, now: Timestamp) -> Result<()> {
        let hour = millis(now).div_euclid(3_600_000) - 40 * 24;
        self.conn.execute("DELETE FROM counter_hour WHERE hour < ?1", params![hour])?;
        Ok(())
    }

    /// Calls by outcome, ever. The outcomes add up to the calls made.
    pub fn calls_by_outcome(&self) -> Result<Vec<(String, u64)>> {
        let mut query =
            self.conn.prepare_cached("SELECT outcome, count(*) FROM call GROUP BY outcome ORDER BY outcome")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

fn read_state(row: &Row<'_>) -> rusqlite::Result<StateRow> {
    Ok(StateRow { key: row.get(0)?, value: row.get(1)?, at: from_millis(row.get(2)?) })
}
