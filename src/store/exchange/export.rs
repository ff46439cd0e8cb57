//! Writing out.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use rusqlite::types::Value;
use serde::Serialize;

use super::super::api::{ALL_KINDS, Filter, Order, PageKey};
use super::super::error::{Result, StoreError};
use super::super::places::{NameBook, ProjectRow, Projects};
use super::super::terms::Match;
use super::super::{Store, ledger, pack, rows};
use super::jsonl::{DeletedLine, Filed, Line, MemoryLine, ProjectLine, SessionLine, VERSION};
use super::text;
use crate::memory::{EventKey, MemoryId, from_millis};

/// How memories are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line, lossless.
    Jsonl,
    /// Markdown, to be read.
    Markdown,
    /// A table.
    Csv,
}

/// What is written out.
#[derive(Clone, Debug)]
pub enum Selection {
    /// Everything, with projects, sessions and what was deleted.
    Everything,
    /// What a filter and words ask for.
    Found(Box<Filter>, Option<Match>),
    /// These.
    Ids(Vec<MemoryId>),
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Memories.
    pub memories: u64,
    /// Marks of deleted ones.
    pub deleted: u64,
}

/// Rows read at a time.
const PAGE: usize = 500;

impl Store {
    /// Writes memories out, oldest first, from one view of the database. Not among them: vectors and counters (they
    /// follow from the rows), the journal and what is in the trash, cursors and calls (they belong to this machine).
    pub fn export(
        &self,
        out: &mut dyn Write,
        format: Format,
        selection: &Selection,
        progress: super::super::curate::Progress<'_>,
    ) -> Result<Exported> {
        // A reading transaction: rows that are added meanwhile are not half in it.
        let tx = self.conn.unchecked_transaction()?;
        let done = match format {
            Format::Jsonl => self.export_lines(out, selection, progress),
            _ => self.export_text(out, format, selection, progress),
        }?;
        out.flush().map_err(write_failed)?;
        tx.commit()?;
        Ok(done)
    }

    fn export_lines(
        &self,
        out: &mut dyn Write,
        selection: &Selection,
        progress: super::super::curate::Progress<'_>,
    ) -> Result<Exported> {
        let mut done = Exported::default();
        let everything = matches!(selection, Selection::Everything);
        write_line(out, &Line::CmemExport { version: VERSION })?;
        let projects = Projects::load(&self.conn)?;
        let mut used: BTreeSet<(i64, i64)> = BTreeSet::new();
        if !everything {
            self.each_page(selection, &mut |images| {
                used.extend(images.iter().map(|image| (image.project, image.session)));
                Ok(true)
            })?;
        }
        let is_used = |project: i64| everything || used.iter().any(|(it, _)| *it == project);
        // What an alias points to belongs with it.
        let wanted = |row: &ProjectRow| {
            is_used(row.id) || projects.rows.iter().any(|it| it.alias_of == row.id && is_used(it.id))
        };
        let mut lines: Vec<ProjectLine> = projects
            .rows
            .iter()
            .filter(|row| wanted(row))
            .map(|row| ProjectLine {
                filed: filed(row),
                alias_of: projects.get(row.alias_of).map(filed),
                excluded: row.excluded,
            })
            .collect();
        lines.sort_by(|a, b| a.filed.cmp(&b.filed));
        for line in lines {
            write_line(out, &Line::Project(line))?;
        }
        let mut sessions = self.conn.prepare(
            "SELECT id, key, project, title, started_ms, last_ms, prompts, last_prompt FROM session ORDER BY key",
        )?;
        let mut found = sessions.query([])?;
        while let Some(row) = found.next()? {
            let id: i64 = row.get(0)?;
            if !everything && !used.iter().any(|(_, session)| *session == id) {
                continue;
            }
            let time = |ms: i64| (ms != 0).then(|| from_millis(ms));
            let line = SessionLine {
                session: row.get(1)?,
                filed: projects.get(row.get(2)?).map(filed),
                title: row.get(3)?,
                started_at: time(row.get(4)?),
                last_at: time(row.get(5)?),
                prompts: row.get(6)?,
                last_prompt: row.get(7)?,
            };
            write_line(out, &Line::Session(line))?;
        }
        let book = NameBook::open(&self.conn)?;
        let total = self.conn.query_row("SELECT count(*) FROM memory", [], |row| row.get::<_, i64>(0))?.max(0) as u64;
        self.each_page(selection, &mut |images| {
            for image in images {
                let (hash, project, folded_into) = (rows::to_hex(&image.hash), image.project, image.folded_into);
                let events = pack::unpack_ids(&image.events);
                for mut memory in book.memories(vec![image]) {
                    memory.keys = sorted_keys(&self.conn, &events)?;
                    let line = MemoryLine {
                        memory,
                        filed: projects.get(project).map(filed),
                        hash: hash.clone(),
                        folded_into: (folded_into != 0).then_some(folded_into),
                    };
                    write_line(out, &Line::Memory(Box::new(line)))?;
                    done.memories += 1;
                }
            }
            Ok(progress(done.memories, total))
        })?;
        if everything {
            done.deleted = self.export_deleted(out)?;
        }
        Ok(done)
    }

    fn export_deleted(&self, out: &mut dyn Write) -> Result<u64> {
        let mut events: HashMap<i64, (u8, Vec<i64>)> = HashMap::new();
        let mut query =
            self.conn.prepare("SELECT memory, kind, event FROM tombstone_event ORDER BY memory, kind, event")?;
        let mut found = query.query([])?;
        while let Some(row) = found.next()? {
            let slot = events.entry(row.get(0)?).or_insert((row.get(1)?, Vec::new()));
            slot.1.push(row.get(2)?);
        }
        let mut n = 0;
        let mut query = self.conn.prepare("SELECT hash, memory, at_ms FROM tombstone ORDER BY hash")?;
        let mut found = query.query([])?;
        while let Some(row) = found.next()? {
            let (kind, keys) = match events.get(&row.get(1)?) {
                Some((kind, events)) => (Some(rows::kind_of(*kind)), sorted_keys(&self.conn, events)?),
                None => (None, Vec::new()),
            };
            let hash = rows::to_hex(&row.get::<_, Vec<u8>>(0)?);
            write_line(out, &Line::Deleted(DeletedLine { hash, deleted_at: from_millis(row.get(2)?), kind, keys }))?;
            n += 1;
        }
        Ok(n)
    }

    fn export_text(
        &self,
        out: &mut dyn Write,
        format: Format,
        selection: &Selection,
        progress: super::super::curate::Progress<'_>,
    ) -> Result<Exported> {
        let mut done = Exported::default();
        let book = NameBook::open(&self.conn)?;
        let mut writer = text::Writer::new(format);
        writer.begin(out).map_err(write_failed)?;
        self.each_page(selection, &mut |images| {
            let events: Vec<Vec<u8>> = images.iter().map(|image| image.events.clone()).collect();
            for (mut memory, events) in book.memories(images).into_iter().zip(events) {
                memory.keys = sorted_keys(&self.conn, &pack::unpack_ids(&events))?;
                writer.memory(out, &memory).map_err(write_failed)?;
                done.memories += 1;
            }
            Ok(progress(done.memories, done.memories))
        })?;
        Ok(done)
    }

    /// Hands out the selected rows in order of time, oldest first, with what is folded behind them.
    fn each_page(&self, selection: &Selection, each: &mut dyn FnMut(Vec<rows::Image>) -> Result<bool>) -> Result<()> {
        if matches!(selection, Selection::Everything) {
            let mut last = i64::MIN;
            loop {
                let ids = format!("SELECT id, ord FROM memory WHERE ord > ? ORDER BY ord LIMIT {PAGE}");
                let images = rows::load_all(&self.conn, &ids, &[Value::from(last)], "m.ord ASC")?;
                let Some(end) = images.last() else { return Ok(()) };
                last = end.ord;
                if !each(images)? {
                    return Err(StoreError::Interrupted);
                }
            }
        }
        let ids = match selection {
            Selection::Ids(ids) => ids.clone(),
            Selection::Found(filter, Some(wanted)) => self.ids_matching(wanted, &all_kinds(filter))?,
            Selection::Found(filter, None) => {
                let mut ids = Vec::new();
                let (filter, mut after) = (all_kinds(filter), None);
                loop {
                    let page = self.list_images(&filter, Order::Oldest, after, PAGE)?;
                    let Some(end) = page.last() else { break ids };
                    after = Some(PageKey { created_ms: end.created_ms, id: MemoryId(end.id) });
                    ids.extend(page.iter().map(|it| MemoryId(it.id)));
                }
            }
            Selection::Everything => Vec::new(),
        };
        let mut places: Vec<(i64, i64)> = Vec::new();
        let mut query =
            self.conn.prepare("SELECT ord, id FROM memory WHERE id = ?1 OR (folded_into = ?1 AND folded_into <> 0)")?;
        for id in ids {
            let found = query.query_map([id.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            for place in found {
                places.push(place?);
            }
        }
        places.sort_unstable();
        places.dedup();
        for chunk in places.chunks(PAGE) {
            let ids: Vec<i64> = chunk.iter().map(|(_, id)| *id).collect();
            if !each(rows::load_these(&self.conn, &ids)?)? {
                return Err(StoreError::Interrupted);
            }
        }
        Ok(())
    }
}

/// In the order of their letters: that of the ledger is another in another database.
fn sorted_keys(conn: &rusqlite::Connection, events: &[i64]) -> Result<Vec<EventKey>> {
    let mut keys = ledger::keys_of(conn, events)?;
    keys.sort();
    Ok(keys)
}

fn all_kinds(filter: &Filter) -> Filter {
    let kinds = if filter.kinds.is_empty() { ALL_KINDS.to_vec() } else { filter.kinds.clone() };
    Filter { kinds, ..filter.clone() }
}

fn filed(row: &ProjectRow) -> Filed {
    Filed { root: row.root.clone(), name: row.name.clone(), worktree: row.worktree.clone() }
}

fn write_line(out: &mut dyn Write, line: &Line) -> Result<()> {
    let text = serde_json::to_string(line).map_err(|err| StoreError::Corrupt(err.to_string()))?;
    out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).map_err(write_failed)
}

pub(super) fn write_failed(source: std::io::Error) -> StoreError {
    if source.kind() == std::io::ErrorKind::StorageFull {
        return StoreError::Full;
    }
    StoreError::Io { doing: "could not write", path: "the export".into(), source }
}
