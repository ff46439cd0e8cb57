//! Deleting: to the trash, back from it, out of it for good.
//!
//! A deleted memory leaves every table a reader looks into in one transaction, so context, MCP and other screens stop
//! seeing it at once (A153). Its image waits in the trash; tombstones, by content and by the events it rested on, keep
//! the observer, a re-read, a fork or an older export from bringing it back. Put back, it has its number again, in
//! every index.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::super::error::{Result, StoreError};
use super::super::places::NameBook;
use super::super::rows::{self, write_tx};
use super::super::{Store, pack};
use super::journal::{self, What, image_of, image_text};
use super::{CHUNK, Done, Progress, Who, label_of};
use crate::memory::{Memory, MemoryId, Timestamp, from_millis, millis};

/// A memory in the trash.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trashed {
    /// The memory as it was.
    #[serde(flatten)]
    pub memory: Memory,
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// By whom.
    pub deleted_by: String,
    /// In which step.
    pub step: i64,
    /// The memory it was merged into.
    pub merged_into: Option<MemoryId>,
}

/// How a memory went to the trash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Deleted {
    pub ms: i64,
    pub actor: String,
    pub step: i64,
    pub merged_into: i64,
    /// What it stood behind, when it comes to the trash a second time because a restore is undone: put back alone, it
    /// stands alone.
    pub stood_behind: Option<i64>,
}

impl Deleted {
    pub fn from_text(text: &str) -> Result<Deleted> {
        serde_json::from_str(text).map_err(|err| StoreError::Corrupt(format!("a journal entry cannot be read: {err}")))
    }

    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Whether a memory can come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restored {
    Done,
    NotThere,
    /// The same content is there again under another number.
    Occupied(i64),
}

/// Moves a memory to the trash. `false`: it is not there.
pub(super) fn put(tx: &Connection, id: i64, deleted: &Deleted) -> Result<bool> {
    let vector: Option<(i64, f64, Vec<u8>)> = tx
        .prepare_cached("SELECT model, scale, data FROM vector WHERE memory = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    unfold_children(tx, id)?;
    let Some(mut image) = rows::take(tx, id)? else { return Ok(false) };
    if image.folded_into != 0 {
        tx.prepare_cached("UPDATE memory SET count = count - 1 WHERE id = ?1")?.execute([image.folded_into])?;
    }
    if let Some(head) = deleted.stood_behind {
        image.folded_into = head;
    }
    let (model, scale, data) = vector.unwrap_or_default();
    tx.prepare_cached(
        "INSERT INTO trash (id, ord, indexed, deleted_ms, step, actor, merged_into, folded_into, image, \
         vector_model, vector_scale, vector) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        id,
        image.ord,
        deleted.ms,
        deleted.step,
        deleted.actor,
        deleted.merged_into,
        image.folded_into,
        image_text(&image)?,
        model,
        scale,
        data,
    ])?;
    tx.prepare_cached("INSERT INTO tombstone (hash, memory, at_ms) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
        .execute((&image.hash, id, deleted.ms))?;
    let mut bury = tx.prepare_cached(
        "INSERT INTO tombstone_event (event, kind, memory) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for event in pack::unpack_ids(&image.events) {
        bury.execute((event, image.kind, id))?;
    }
    Ok(true)
}

/// Rows that stood behind one that goes: the first of them stands for the others from now on.
pub(super) fn unfold_children(tx: &Connection, id: i64) -> Result<()> {
    let mut query =
        tx.prepare_cached("SELECT id FROM memory WHERE folded_into = ?1 AND folded_into <> 0 ORDER BY ord")?;
    let children: Vec<i64> = query.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let Some(&head) = children.first() else { return Ok(()) };
    for &child in &children {
        let Some(old) = rows::load(tx, child)? else { continue };
        let mut new = old.clone();
        if child == head {
            new.folded_into = 0;
            new.count = u32::try_from(children.len()).unwrap_or(u32::MAX);
        } else {
            new.folded_into = head;
        }
        rows::replace(tx, &old, &new)?;
    }
    Ok(())
}

/// A tombstone as the journal keeps it: `{"hash", "memory", "at_ms"}`.
pub(super) fn put_tombstone(tx: &Connection, text: &str) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO tombstone (hash, memory, at_ms) SELECT unhex(json_extract(?1, '$.hash')), \
         json_extract(?1, '$.memory'), json_extract(?1, '$.at_ms') WHERE 1 ON CONFLICT DO NOTHING",
    )?
    .execute([text])?;
    Ok(())
}

/// Whether a memory can come back from the trash.
pub(super) fn can_restore(tx: &Connection, id: i64) -> Result<Restored> {
    let image: Option<String> =
        tx.prepare_cached("SELECT image FROM trash WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()?;
    let Some(image) = image else { return Ok(Restored::NotThere) };
    let same: Option<i64> = tx
        .prepare_cached("SELECT id FROM memory_body WHERE hash = ?1")?
        .query_row([image_of(&image)?.hash], |row| row.get(0))
        .optional()?;
    Ok(same.map_or(Restored::Done, Restored::Occupied))
}

/// Brings a memory back from the trash, with its number, its words, its vector.
pub(super) fn take_back(tx: &Connection, id: i64) -> Result<Restored> {
    let can = can_restore(tx, id)?;
    if can != Restored::Done {
        return Ok(can);
    }
    let (text, indexed, model, scale, data): (String, bool, i64, f64, Vec<u8>) = tx
        .prepare_cached("DELETE FROM trash WHERE id = ?1 RETURNING image, indexed, vector_model, vector_scale, vector")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?;
    let mut image = image_of(&text)?;
    if image.folded_into != 0 {
        let head: bool = tx
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM memory WHERE id = ?1 AND folded_into = 0)")?
            .query_row([image.folded_into], |row| row.get(0))?;
        if head {
            tx.prepare_cached("UPDATE memory SET count = count + 1 WHERE id = ?1")?.execute([image.folded_into])?;
        } else {
            image.folded_into = 0;
            image.count = 1;
        }
    }
    if indexed {
        rows::put(tx, &mut image)?;
    } else {
        rows::insert(tx, &mut image)?;
    }
    if !data.is_empty() {
        tx.prepare_cached(
            "INSERT INTO vector (memory, model, scale, data) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        )?
        .execute((id, model, scale, data))?;
    }
    tx.prepare_cached("DELETE FROM tombstone WHERE memory = ?1")?.execute([id])?;
    let mut free = tx.prepare_cached("DELETE FROM tombstone_event WHERE event = ?1 AND memory = ?2")?;
    for event in pack::unpack_ids(&image.events) {
        free.execute((event, id))?;
    }
    Ok(Restored::Done)
}

/// A row with all that stand behind it, those first.
fn group_of(tx: &Connection, id: i64) -> Result<Vec<i64>> {
    let mut query =
        tx.prepare_cached("SELECT id FROM memory WHERE folded_into = ?1 AND folded_into <> 0 ORDER BY id DESC")?;
    let mut ids: Vec<i64> = query.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    ids.push(id);
    Ok(ids)
}

/// Puts one row and what stands behind it into the trash, noted in the step. Returns how many, `None` if it is not
/// there.
pub(super) fn put_noted(tx: &Connection, step: i64, id: i64, who: Who<'_>, merged_into: i64) -> Result<Option<u64>> {
    let deleted = Deleted { ms: millis(who.now), actor: who.actor.to_owned(), step, merged_into, stood_behind: None };
    let mut n = 0;
    for member in group_of(tx, id)? {
        if put(tx, member, &deleted)? {
            let after = if merged_into == 0 { String::new() } else { merged_into.to_string() };
            journal::note(tx, step, What::Trash, member, "", &after)?;
            n += 1;
        }
    }
    Ok((n > 0).then_some(n))
}

/// [`put_noted`] for an import that says it was deleted elsewhere.
pub(in crate::store) fn put_into_trash(tx: &Connection, step: i64, id: i64, who: Who<'_>) -> Result<()> {
    put_noted(tx, step, id, who, 0).map(drop)
}

impl Store {
    /// Puts memories into the trash: one step, in chunks, which `progress` can stop. Pinned ones are left alone unless
    /// `with_pinned` or they are all that is asked for.
    pub fn trash(&mut self, ids: &[MemoryId], with_pinned: bool, who: Who<'_>, progress: Progress<'_>) -> Result<Done> {
        let mut done = Done::default();
        let with_pinned = with_pinned || ids.len() == 1;
        let mut step = None;
        for (at, chunk) in ids.chunks(CHUNK).enumerate() {
            let tx = write_tx(&mut self.conn)?;
            let number = match step {
                Some(number) => number,
                None => journal::begin(&tx, who, "trash", &label_of(ids))?,
            };
            for &id in chunk {
                let pinned: Option<bool> = tx
                    .prepare_cached("SELECT pinned FROM memory WHERE id = ?1")?
                    .query_row([id.0], |row| row.get(0))
                    .optional()?;
                match pinned {
                    None => done.missing.push(id),
                    Some(true) if !with_pinned => done.pinned.push(id),
                    Some(_) => done.rows += put_noted(&tx, number, id.0, who, 0)?.unwrap_or(0),
                }
            }
            step = Some(number);
            tx.commit()?;
            let so_far = ((at + 1) * CHUNK).min(ids.len());
            if !progress(so_far as u64, ids.len() as u64) && so_far < ids.len() {
                done.stopped = true;
                break;
            }
        }
        if let Some(number) = step
            && !journal::drop_if_empty(&self.conn, number)?
        {
            done.step = Some(number);
        }
        Ok(done)
    }

    /// Brings memories back from the trash, with what stood behind them: one step.
    pub fn restore(&mut self, ids: &[MemoryId], who: Who<'_>) -> Result<Done> {
        let mut done = Done::default();
        let tx = write_tx(&mut self.conn)?;
        let step = journal::begin(&tx, who, "restore", &label_of(ids))?;
        let mut occupied = Vec::new();
        for &id in ids {
            let mut group = vec![id.0];
            let mut behind =
                tx.prepare_cached("SELECT id FROM trash WHERE folded_into = ?1 AND folded_into <> 0 ORDER BY ord")?;
            group.extend(behind.query_map([id.0], |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?);
            for member in group {
                let how: Option<Deleted> = tx
                    .prepare_cached(
                        "SELECT deleted_ms, actor, step, merged_into, folded_into FROM trash WHERE id = ?1",
                    )?
                    .query_row([member], |row| {
                        Ok(Deleted {
                            ms: row.get(0)?,
                            actor: row.get(1)?,
                            step: row.get(2)?,
                            merged_into: row.get(3)?,
                            stood_behind: Some(row.get(4)?),
                        })
                    })
                    .optional()?;
                match (how, take_back(&tx, member)?) {
                    (Some(how), Restored::Done) => {
                        journal::note(&tx, step, What::Restore, member, &how.text(), "")?;
                        done.rows += 1;
                    }
                    (_, Restored::Occupied(other)) => occupied.push((member, other)),
                    _ => done.missing.push(MemoryId(member)),
                }
            }
        }
        if let [(id, other), ..] = occupied[..]
            && done.rows == 0
        {
            return Err(StoreError::Refused(format!(
                "#{id} says the same as #{other}, which is there: nothing to put back"
            )));
        }
        done.step = (!journal::drop_if_empty(&tx, step)?).then_some(step);
        tx.commit()?;
        Ok(done)
    }

    /// What is in the trash, last deleted first, from behind a row of an earlier page on.
    pub fn trashed(&self, after: Option<&Trashed>, limit: usize) -> Result<Vec<Trashed>> {
        let (ms, id) = after.map_or((i64::MAX, i64::MAX), |it| (millis(it.deleted_at), it.memory.id.0));
        self.read_trash(
            "WHERE (deleted_ms, id) < (?1, ?2) ORDER BY deleted_ms DESC, id DESC LIMIT ?3",
            params![ms, id, limit as i64],
        )
    }

    /// Memories in the trash by number.
    pub fn trashed_by_id(&self, ids: &[MemoryId]) -> Result<Vec<Trashed>> {
        let mut out = Vec::new();
        for id in ids {
            out.extend(self.read_trash("WHERE id = ?1", params![id.0])?);
        }
        Ok(out)
    }

    /// What was merged into a memory and is still in the trash.
    pub fn merged_into(&self, id: MemoryId) -> Result<Vec<Trashed>> {
        self.read_trash("WHERE merged_into = ?1 ORDER BY id", params![id.0])
    }

    fn read_trash(&self, tail: &str, params: &[&dyn rusqlite::ToSql]) -> Result<Vec<Trashed>> {
        let book = NameBook::open(&self.conn)?;
        let mut query = self
            .conn
            .prepare_cached(&format!("SELECT image, deleted_ms, actor, step, merged_into FROM trash {tail}"))?;
        let mut found = query.query(params)?;
        let mut out = Vec::new();
        while let Some(row) = found.next()? {
            let merged_into: i64 = row.get(4)?;
            // An image that cannot be read hides only itself.
            let Ok(image) = image_of(&row.get::<_, String>(0)?) else { continue };
            for memory in book.memories(vec![image]) {
                out.push(Trashed {
                    memory,
                    deleted_at: from_millis(row.get(1)?),
                    deleted_by: row.get(2)?,
                    step: row.get(3)?,
                    merged_into: (merged_into != 0).then_some(MemoryId(merged_into)),
                });
            }
        }
        Ok(out)
    }

    /// How many memories are in the trash.
    pub fn trash_count(&self) -> Result<u64> {
        let n: i64 = self.conn.prepare_cached("SELECT count(*) FROM trash")?.query_row([], |row| row.get(0))?;
        Ok(n.max(0) as u64)
    }

    /// Removes memories in the trash for good: image, words, journal entries; then the write-ahead log is written back
    /// and cut, so that the text is in no file of ours. Their tombstones stay. Cannot be undone.
    pub fn purge(&mut self, ids: &[MemoryId], progress: Progress<'_>) -> Result<Done> {
        let mut done = Done::default();
        let many = self.rebuild_is_cheaper(ids.len())?;
        for (at, chunk) in ids.chunks(CHUNK).enumerate() {
            let tx = write_tx(&mut self.conn)?;
            for &id in chunk {
                let found: Option<(String, bool)> = tx
                    .prepare_cached("DELETE FROM trash WHERE id = ?1 RETURNING image, indexed")?
                    .query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?;
                let Some((image, indexed)) = found else {
                    done.missing.push(id);
                    continue;
                };
                if indexed && !many {
                    rows::unindex(&tx, &image_of(&image)?)?;
                }
                journal::forget_memory(&tx, id.0)?;
                done.rows += 1;
            }
            tx.commit()?;
            let so_far = ((at + 1) * CHUNK).min(ids.len());
            if !progress(so_far as u64, ids.len() as u64) && so_far < ids.len() {
                done.stopped = true;
                break;
            }
        }
        if many && done.rows > 0 {
            self.rebuild_index(&mut |_| {})?;
        }
        if done.rows > 0 {
            self.checkpoint()?;
        }
        Ok(done)
    }

    /// Whether words of so many rows are out sooner by building the index anew (a word taken out costs about thirty
    /// times a word put in).
    fn rebuild_is_cheaper(&self, rows: usize) -> Result<bool> {
        let all: i64 = self.conn.query_row("SELECT count(*) FROM memory", [], |row| row.get(0))?;
        Ok(rows > 200 && rows as i64 > all / 30)
    }

    /// Removes everything in the trash for good, or what was deleted before a moment.
    pub fn empty_trash(&mut self, before: Option<Timestamp>, progress: Progress<'_>) -> Result<Done> {
        let ids: Vec<MemoryId> = self
            .conn
            .prepare_cached("SELECT id FROM trash WHERE deleted_ms < ?1 ORDER BY id")?
            .query_map([before.map_or(i64::MAX, millis)], |row| Ok(MemoryId(row.get(0)?)))?
            .collect::<Result<_, _>>()?;
        self.purge(&ids, progress)
    }

    /// What the collector does now and then: empties the trash of what lies there longer than `days`, drops journal
    /// steps older than that or beyond the newest `steps`, and figures nobody asks for. Returns memories purged.
    pub fn expire(&mut self, now: Timestamp, days: u32, steps: u32) -> Result<u64> {
        let before = from_millis(millis(now) - i64::from(days) * 86_400_000);
        let done = self.empty_trash(Some(before), &mut |_, _| true)?;
        self.prune_journal(before, steps)?;
        self.prune_figures(now)?;
        Ok(done.rows)
    }
}
