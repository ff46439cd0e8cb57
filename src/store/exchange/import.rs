//! Taking in a cmem export, or another cmem database through one.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, BufWriter};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::super::api::{Access, SessionRow};
use super::super::curate::{Progress, What, Who, journal};
use super::super::error::{Result, StoreError};
use super::super::rows::{self, Image, write_tx};
use super::super::{Store, pack, places, record};
use super::jsonl::{DeletedLine, Filed, Line, MemoryLine, ProjectLine, SessionLine, VERSION};
use super::{Format, Imported, Selection};
use crate::memory::{EventKey, NewMemory, ProjectRef, Source, millis};

/// The longest line taken: a memory is a few kilobytes, so this is a file that is no export.
const LONGEST: u64 = 16 << 20;

/// Lines a transaction takes: more than a person's changes, for the index is fed faster by the thousand.
pub(super) const CHUNK: usize = 2_000;

/// What is kept between the chunks of an import.
#[derive(Default)]
pub(super) struct Intake {
    pub done: Imported,
    pub step: Option<i64>,
    /// Only count.
    pub dry: bool,
    /// Ids in the file → ids here.
    ids: HashMap<i64, i64>,
    /// Rows here → the row in the file that replaced them, or that they stand behind.
    superseded: Vec<(i64, i64)>,
    folded: Vec<(i64, i64)>,
    /// Content counted in a dry run.
    seen: HashSet<Vec<u8>>,
}

impl Intake {
    pub fn new(dry: bool) -> Intake {
        Intake { dry, ..Intake::default() }
    }

    /// Does something with one line or row, or nothing of it: what the schema refuses costs that line and is told,
    /// what the database cannot do is an error.
    pub fn one(
        &mut self,
        tx: &Connection,
        at: u64,
        who: Who<'_>,
        take: impl FnOnce(&mut Intake) -> Result<()>,
    ) -> Result<()> {
        if !self.dry {
            self.step(tx, who)?;
        }
        tx.prepare_cached("SAVEPOINT one")?.execute([])?;
        let res = take(self);
        if res.is_err() {
            tx.prepare_cached("ROLLBACK TO one")?.execute([])?;
        }
        tx.prepare_cached("RELEASE one")?.execute([])?;
        match res {
            Err(StoreError::Constraint(why) | StoreError::Corrupt(why)) => {
                self.done.fault(at, why);
                Ok(())
            }
            other => other,
        }
    }

    /// Takes in one memory. The file's `id` is kept where it is free.
    pub fn put(&mut self, tx: &Connection, mut image: Image, keys: &[EventKey], who: Who<'_>) -> Result<()> {
        let file_id = image.id;
        let known: Option<i64> = tx
            .prepare_cached("SELECT id FROM memory_body WHERE hash = ?1")?
            .query_row([&image.hash], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            self.ids.insert(file_id, id);
            self.done.known += 1;
            return Ok(());
        }
        if self.dry && !self.seen.insert(image.hash.clone()) {
            self.done.known += 1;
            return Ok(());
        }
        let now_ms = millis(who.now);
        let mut events = Vec::with_capacity(keys.len());
        let session = session_key(tx, image.session)?;
        let origin = NewMemory {
            session: session.map(Into::into),
            created_at: crate::memory::from_millis(image.created_ms),
            source: Source::Import,
            ..NewMemory::default()
        };
        for key in keys {
            match super::super::ledger::event_named(tx, key)? {
                Some(event) => events.push(event),
                None if self.dry => events.push(0),
                None => events.push(record::event_for(tx, key, &origin, now_ms)?),
            }
        }
        if record::is_buried(tx, &image, &events)? {
            self.done.kept_away += 1;
            return Ok(());
        }
        if self.dry {
            self.done.added += 1;
            return Ok(());
        }
        let (superseded_by, folded_into) = (image.superseded_by, image.folded_into);
        image.events = pack::pack_ids(&events);
        (image.superseded_by, image.folded_into, image.ord) = (0, 0, 0);
        if file_id <= 0 || !is_free(tx, file_id)? {
            image.id = 0;
        }
        let step = self.step(tx, who)?;
        let id = rows::insert(tx, &mut image)?;
        for &event in &events {
            record::link(tx, event, &[id])?;
        }
        self.ids.insert(file_id, id);
        if superseded_by != 0 {
            self.superseded.push((id, superseded_by));
        }
        if folded_into != 0 {
            self.folded.push((id, folded_into));
        }
        journal::note(tx, step, What::Add, id, "", "")?;
        self.done.added += 1;
        Ok(())
    }

    pub fn step(&mut self, tx: &Connection, who: Who<'_>) -> Result<i64> {
        match self.step {
            Some(step) => Ok(step),
            // The step is begun before the first row's savepoint, so that a refused row does not take it along.
            None => {
                let step = journal::begin(tx, who, "import", "")?;
                self.step = Some(step);
                Ok(step)
            }
        }
    }

    /// Ties rows to the rows of the same file that stand for them or replaced them.
    fn tie(&mut self, tx: &Connection) -> Result<()> {
        for (id, by) in std::mem::take(&mut self.superseded) {
            if let Some(by) = self.ids.get(&by) {
                tx.prepare_cached("UPDATE memory SET superseded_by = ?2 WHERE id = ?1")?.execute((id, by))?;
            }
        }
        for (id, head) in std::mem::take(&mut self.folded) {
            let (Some(&head), Some(old)) = (self.ids.get(&head), rows::load(tx, id)?) else { continue };
            if head != id {
                rows::replace(tx, &old, &Image { folded_into: head, ..old.clone() })?;
            }
        }
        Ok(())
    }

    fn bury(&mut self, tx: &Connection, line: &DeletedLine, who: Who<'_>) -> Result<()> {
        let hash = rows::from_hex(&line.hash).filter(|it| it.len() == 16);
        let Some(hash) = hash else { return Err(StoreError::Corrupt("a deleted memory without its hash".into())) };
        let live: Option<(i64, i64)> = tx
            .prepare_cached("SELECT id, recorded_ms FROM memory_body WHERE hash = ?1")?
            .query_row([&hash], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match live {
            // Recorded again after it was deleted there: it is wanted.
            Some((_, recorded_ms)) if recorded_ms > millis(line.deleted_at) => return Ok(()),
            Some((id, _)) => {
                self.done.removed += 1;
                if !self.dry {
                    let step = self.step(tx, who)?;
                    super::super::curate::put_into_trash(tx, step, id, who)?;
                }
                return Ok(());
            }
            None => {}
        }
        let buried: bool = tx
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM tombstone WHERE hash = ?1)")?
            .query_row([&hash], |row| row.get(0))?;
        if buried || self.dry {
            return Ok(());
        }
        // Marks from elsewhere count downwards, so that they are nobody's here.
        let mark: i64 = tx
            .prepare_cached("SELECT min(coalesce((SELECT min(memory) FROM tombstone), 0), 0) - 1")?
            .query_row([], |row| row.get(0))?;
        tx.prepare_cached("INSERT INTO tombstone (hash, memory, at_ms) VALUES (?1, ?2, ?3)")?.execute((
            &hash,
            mark,
            millis(line.deleted_at),
        ))?;
        if let Some(kind) = line.kind {
            let origin = NewMemory { created_at: line.deleted_at, source: Source::Import, ..NewMemory::default() };
            for key in &line.keys {
                let event = record::event_for(tx, key, &origin, millis(who.now))?;
                tx.prepare_cached(
                    "INSERT INTO tombstone_event (event, kind, memory) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                )?
                .execute((event, rows::kind_number(kind), mark))?;
            }
        }
        Ok(())
    }

    /// What is left to do at the end, and the answer.
    pub fn finish(mut self, tx: &Connection) -> Result<Imported> {
        self.tie(tx)?;
        if let Some(step) = self.step {
            let label = format!("{} memories", self.done.added + self.done.removed);
            tx.execute("UPDATE step SET label = ?2 WHERE id = ?1", (step, label))?;
            self.done.step = (!journal::drop_if_empty(tx, step)?).then_some(step);
        }
        Ok(self.done)
    }
}

/// A number that no memory has or had here.
fn is_free(tx: &Connection, id: i64) -> Result<bool> {
    let mut query = tx.prepare_cached(
        "SELECT NOT EXISTS (SELECT 1 FROM memory WHERE id = ?1) AND NOT EXISTS (SELECT 1 FROM trash WHERE id = ?1) \
         AND NOT EXISTS (SELECT 1 FROM tombstone WHERE memory = ?1) \
         AND NOT EXISTS (SELECT 1 FROM change WHERE what = 'add' AND target = ?1)",
    )?;
    Ok(query.query_row([id], |row| row.get(0))?)
}

fn session_key(tx: &Connection, session: i64) -> Result<Option<String>> {
    Ok(tx.prepare_cached("SELECT key FROM session WHERE id = ?1")?.query_row([session], |row| row.get(0)).optional()?)
}

impl Filed {
    fn as_project(&self) -> ProjectRef {
        let name = if self.name.is_empty() { self.root.rsplit('/').next().unwrap_or(&self.root) } else { &self.name };
        ProjectRef {
            root: self.root.clone(),
            name: name.to_owned(),
            worktree: (!self.worktree.is_empty()).then(|| self.worktree.clone()),
        }
    }
}

impl Store {
    /// Takes in a cmem export. `total` is its size in bytes for `progress`, 0 if unknown. A line that cannot be read
    /// costs that line.
    pub fn import(
        &mut self,
        input: &mut dyn BufRead,
        total: u64,
        dry: bool,
        who: Who<'_>,
        progress: Progress<'_>,
    ) -> Result<Imported> {
        let mut intake = Intake::new(dry);
        let (mut read, mut number, mut line) = (0u64, 0u64, Vec::new());
        loop {
            let tx = write_tx(&mut self.conn)?;
            let mut end = false;
            for _ in 0..CHUNK {
                line.clear();
                let n = std::io::Read::take(&mut *input, LONGEST).read_until(b'\n', &mut line).map_err(read_failed)?;
                if n == 0 {
                    end = true;
                    break;
                }
                read += n as u64;
                number += 1;
                let text = line.trim_ascii();
                if text.is_empty() {
                    continue;
                }
                match serde_json::from_slice::<Line>(text) {
                    Ok(parsed) => intake.one(&tx, number, who, |intake| take_line(&tx, intake, parsed, who))?,
                    Err(err) if number == 1 => {
                        return Err(StoreError::Refused(format!("this is no cmem export (first line: {err})")));
                    }
                    Err(err) => intake.done.fault(number, err),
                }
            }
            if end {
                let done = intake.finish(&tx)?;
                tx.commit()?;
                return Ok(done);
            }
            tx.commit()?;
            if !progress(read, total.max(read)) {
                let tx = write_tx(&mut self.conn)?;
                let done = intake.finish(&tx)?;
                tx.commit()?;
                return Ok(done);
            }
        }
    }

    /// Takes in another cmem database, which stays as it is.
    pub fn import_database(
        &mut self,
        path: &Path,
        dry: bool,
        who: Who<'_>,
        progress: Progress<'_>,
    ) -> Result<Imported> {
        let other = Store::open(path, Access::ReadOnly, who.now)?;
        let (reader, writer) = std::io::pipe().map_err(read_failed)?;
        std::thread::scope(|scope| {
            let source = scope.spawn(move || {
                let mut out = BufWriter::new(writer);
                other.export(&mut out, Format::Jsonl, &Selection::Everything, &mut |_, _| true)
            });
            let done = self.import(&mut BufReader::new(reader), 0, dry, who, progress);
            match source.join() {
                // A half-read source is told even when what came of it was taken.
                Ok(Err(err)) if done.is_ok() => Err(err),
                _ => done,
            }
        })
    }
}

fn take_line(tx: &Connection, intake: &mut Intake, line: Line, who: Who<'_>) -> Result<()> {
    match line {
        Line::CmemExport { version } if version > VERSION => Err(StoreError::Refused(format!(
            "this export has format {version}, this cmem knows up to {VERSION}: it was written by a newer version"
        ))),
        Line::CmemExport { .. } => Ok(()),
        Line::Project(line) => {
            if intake.dry {
                Ok(())
            } else {
                take_project(tx, &line)
            }
        }
        Line::Session(line) => {
            if intake.dry {
                Ok(())
            } else {
                take_session(tx, line)
            }
        }
        Line::Memory(line) => {
            let keys = line.memory.keys.clone();
            let image = image_of(tx, *line, intake.dry)?;
            intake.put(tx, image, &keys, who)
        }
        Line::Deleted(line) => intake.bury(tx, &line, who),
    }
}

fn take_project(tx: &Connection, line: &ProjectLine) -> Result<()> {
    let here = |filed: &Filed| -> Result<bool> {
        let mut query = tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM project WHERE root = ?1 AND worktree = ?2)")?;
        Ok(query.query_row((&filed.root, &filed.worktree), |row| row.get(0))?)
    };
    let known = here(&line.filed)?;
    let id = places::project_id(tx, Some(&line.filed.as_project()))?;
    // What was said here about a project counts more than what was said there.
    if !known {
        let alias = match &line.alias_of {
            Some(alias) => {
                let alias_known = here(alias)?;
                let alias = places::project_id(tx, Some(&alias.as_project()))?;
                if !alias_known {
                    tx.execute("UPDATE project SET alias_of = 0 WHERE id = ?1", [alias])?;
                }
                // Never a chain: where it stands for another itself, that one is meant.
                tx.query_row(
                    "SELECT CASE alias_of WHEN 0 THEN id ELSE alias_of END FROM project WHERE id = ?1",
                    [alias],
                    |row| row.get::<_, i64>(0),
                )?
            }
            None => 0,
        };
        tx.execute("UPDATE project SET alias_of = CASE ?2 WHEN id THEN 0 ELSE ?2 END WHERE id = ?1", (id, alias))?;
    }
    if line.excluded {
        tx.execute("UPDATE project SET excluded = 1 WHERE id = ?1", [id])?;
    }
    Ok(())
}

fn take_session(tx: &Connection, line: SessionLine) -> Result<()> {
    let known: Option<String> =
        tx.query_row("SELECT title FROM session WHERE key = ?1", [&line.session], |row| row.get(0)).optional()?;
    places::put_session(
        tx,
        &SessionRow {
            project: line.filed.map(|it| it.as_project()),
            // A title given here stays.
            title: Some(line.title).filter(|_| known.is_none_or(|it| it.is_empty())),
            started_at: line.started_at,
            last_at: line.last_at,
            prompts: line.prompts,
            last_prompt: Some(line.last_prompt),
            session: line.session,
        },
    )
}

fn image_of(tx: &Connection, line: MemoryLine, dry: bool) -> Result<Image> {
    let memory = line.memory;
    let text = |it: Option<String>| it.unwrap_or_default();
    let filed = line.filed.map(|it| it.as_project()).or_else(|| {
        (!memory.project_root.is_empty()).then(|| ProjectRef {
            root: memory.project_root.clone(),
            name: memory.project.clone(),
            worktree: None,
        })
    });
    let (project, session) = if dry {
        (0, 0)
    } else {
        let session = memory.session.as_ref().map(|it| places::session_id(tx, it.as_str())).transpose()?;
        (places::project_id(tx, filed.as_ref())?, session.unwrap_or(0))
    };
    let hash = rows::from_hex(&line.hash).filter(|it| it.len() == 16).unwrap_or_else(|| {
        let session = memory.session.as_ref().map_or("", |it| it.as_str());
        rows::content_hash(memory.kind, session, memory.prompt_number, &memory.title, &memory.narrative)
    });
    Ok(Image {
        id: memory.id.0,
        ord: 0,
        created_ms: millis(memory.created_at),
        kind: rows::kind_number(memory.kind),
        type_id: memory.type_id,
        project,
        session,
        prompt_number: memory.prompt_number,
        agent: text(memory.agent.map(|it| it.0)),
        source: rows::source_number(memory.source),
        evidence: rows::evidence_number(memory.evidence),
        tokens: memory.tokens,
        work_tokens: memory.work_tokens,
        pinned: memory.pinned,
        excluded: memory.excluded,
        edited: memory.edited,
        abandoned: memory.abandoned,
        superseded_by: memory.superseded_by.map_or(0, |it| it.0),
        folded_into: line.folded_into.unwrap_or(0),
        count: memory.count,
        title: memory.title,
        subtitle: memory.subtitle,
        facts: rows::to_json(&memory.facts),
        concepts: rows::to_json(&memory.concepts),
        hash,
        recorded_ms: millis(memory.recorded_at),
        narrative: memory.narrative,
        files_read: rows::to_json(&memory.files_read),
        files_modified: rows::to_json(&memory.files_modified),
        cwd: text(memory.cwd),
        branch: text(memory.branch),
        model: text(memory.model),
        raw_type: text(memory.raw_type),
        summary: memory.summary.and_then(|it| serde_json::to_string(&it).ok()).unwrap_or_default(),
        events: Vec::new(),
    })
}

fn read_failed(source: std::io::Error) -> StoreError {
    StoreError::Io { doing: "could not read", path: "the import".into(), source }
}
