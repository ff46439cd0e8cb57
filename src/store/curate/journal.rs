//! The journal: steps, their changes, undo and redo.
//!
//! A change is noted in the transaction that makes it, with what was before and after (for rows in the trash the
//! trash itself is the before-image). Undoing walks the changes of a step backwards, redoing forwards; each change
//! carries its own mark, so a walk that was killed goes on where it stopped, and a walk over many rows lets others
//! write in between. What changed since is never overwritten unasked: the step is then refused with both values.

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value};

use super::super::api::Conflict;
use super::super::error::{Result, StoreError};
use super::super::rows::{self, Image, write_tx};
use super::super::{Store, places};
use super::trash::{self, Deleted, Restored};
use super::{CHUNK, Progress, Who};
use crate::memory::{Timestamp, from_millis, millis};

/// What kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum What {
    /// A memory went to the trash.
    Trash,
    /// A memory came back from the trash; `before` holds how it had gone there.
    Restore,
    /// Fields of a memory changed; both sides hold them.
    Edit,
    /// A memory was added; `before` holds a tombstone that gave way, `after` its image while it is undone.
    Add,
    /// Fields of a project row changed.
    Project,
    /// A project row was made.
    NewProject,
    /// A session's title changed.
    Session,
}

impl What {
    fn word(self) -> &'static str {
        match self {
            Self::Trash => "trash",
            Self::Restore => "restore",
            Self::Edit => "edit",
            Self::Add => "add",
            Self::Project => "project",
            Self::NewProject => "new-project",
            Self::Session => "session",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::Trash, Self::Restore, Self::Edit, Self::Add, Self::Project, Self::NewProject, Self::Session]
            .into_iter()
            .find(|it| it.word() == word)
    }
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// It is in effect and can be undone.
    Done,
    /// It was undone and can be done again.
    Undone,
    /// It can be neither: a later change took its place, or what it touched was purged.
    Gone,
}

/// One act in the journal.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct StepInfo {
    /// Number.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// `trash`, `edit`, `retype` …
    pub verb: String,
    /// On what; never text of a memory.
    pub label: String,
    /// Rows it changed.
    pub rows: u64,
    /// Where it stands.
    pub state: StepState,
}

/// One change of a step.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ChangeInfo {
    /// `trash`, `restore`, `edit`, `add`, `project`, `new-project`, `session`.
    pub what: String,
    /// Row it changed.
    pub target: i64,
    /// Fields before, as JSON.
    pub before: String,
    /// Fields after, as JSON.
    pub after: String,
}

/// What to do where an undo meets a later change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Resolve {
    /// Change nothing and report.
    #[default]
    Ask,
    /// Undo what can be undone, leave those rows as they are.
    Skip,
    /// Undo all the same where the row is still there.
    Force,
}

/// What an undo or redo came to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Undone {
    /// The step.
    pub step: StepInfo,
    /// Rows changed back.
    pub rows: u64,
    /// Rows left as they are.
    pub skipped: Vec<Conflict>,
    /// It was stopped before the end; calling again goes on.
    pub stopped: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    Forth,
}

struct Change {
    id: i64,
    what: What,
    target: i64,
    before: String,
    after: String,
}

/// Begins a step. Steps that were undone can not be done again from now on.
pub(in crate::store) fn begin(tx: &Connection, who: Who<'_>, verb: &str, label: &str) -> Result<i64> {
    tx.prepare_cached("DELETE FROM change WHERE undone = 1")?.execute([])?;
    tx.prepare_cached("UPDATE step SET state = 2 WHERE state = 1")?.execute([])?;
    tx.prepare_cached("INSERT INTO step (at_ms, actor, verb, label) VALUES (?1, ?2, ?3, ?4)")?.execute((
        millis(who.now),
        who.actor,
        verb,
        label,
    ))?;
    Ok(tx.last_insert_rowid())
}

/// Notes a change of a step.
pub(in crate::store) fn note(
    tx: &Connection,
    step: i64,
    what: What,
    target: i64,
    before: &str,
    after: &str,
) -> Result<()> {
    tx.prepare_cached("INSERT INTO change (step, what, target, before, after) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((step, what.word(), target, before, after))?;
    tx.prepare_cached("UPDATE step SET rows = rows + 1 WHERE id = ?1")?.execute([step])?;
    Ok(())
}

/// A step that came to nothing is no step.
pub(in crate::store) fn drop_if_empty(tx: &Connection, step: i64) -> Result<bool> {
    let n =
        tx.execute("DELETE FROM step WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM change WHERE step = ?1)", [step])?;
    Ok(n > 0)
}

/// Takes everything about a memory out of the journal (it was purged). Steps left with nothing are gone.
pub(super) fn forget_memory(tx: &Connection, id: i64) -> Result<()> {
    let mut steps = tx.prepare_cached(
        "DELETE FROM change WHERE target = ?1 AND what IN ('trash', 'restore', 'edit', 'add') RETURNING step",
    )?;
    let steps: Vec<i64> = steps.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for step in steps {
        tx.prepare_cached(
            "UPDATE step SET state = 2 WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM change WHERE step = ?1)",
        )?
        .execute([step])?;
    }
    Ok(())
}

/// The fields in which two images differ, from each side, as JSON objects. The read cost follows from the text and is
/// not among them.
pub(super) fn differences(old: &Image, new: &Image) -> Result<Option<(String, String)>> {
    let (old, new) = (fields_of(old)?, fields_of(new)?);
    let (mut before, mut after) = (Map::new(), Map::new());
    for (name, value) in &new {
        if name != "tokens" && old.get(name) != Some(value) {
            before.insert(name.clone(), old.get(name).cloned().unwrap_or(Value::Null));
            after.insert(name.clone(), value.clone());
        }
    }
    Ok((!after.is_empty()).then(|| (Value::Object(before).to_string(), Value::Object(after).to_string())))
}

fn fields_of(image: &Image) -> Result<Map<String, Value>> {
    match serde_json::to_value(image) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err(StoreError::Corrupt("a memory cannot be written as JSON".into())),
    }
}

fn object(text: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text).map_err(|err| StoreError::Corrupt(format!("a journal entry cannot be read: {err}")))
}

pub(super) fn image_of(text: &str) -> Result<Image> {
    serde_json::from_str(text).map_err(|err| StoreError::Corrupt(format!("a stored image cannot be read: {err}")))
}

pub(super) fn image_text(image: &Image) -> Result<String> {
    serde_json::to_string(image).map_err(|err| StoreError::Corrupt(err.to_string()))
}

fn conflict(what: &str, id: i64, field: &str, expected: impl ToString, found: impl ToString) -> Conflict {
    let (expected, found) = (expected.to_string(), found.to_string());
    Conflict { what: what.into(), id, field: field.into(), expected, found }
}

/// What stands in the way of walking over a change.
fn obstacles(tx: &Connection, change: &Change, way: Way) -> Result<Vec<Conflict>> {
    let id = change.target;
    let goes_to_trash = matches!((change.what, way), (What::Trash, Way::Forth) | (What::Restore, Way::Back));
    let comes_back = matches!((change.what, way), (What::Trash, Way::Back) | (What::Restore, Way::Forth));
    let live = || -> Result<bool> {
        Ok(tx
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM memory WHERE id = ?1)")?
            .query_row([id], |row| row.get(0))?)
    };
    if goes_to_trash {
        return Ok(if live()? { Vec::new() } else { vec![conflict("memory", id, "", "there", "not there")] });
    }
    if comes_back {
        return Ok(match trash::can_restore(tx, id)? {
            Restored::Done => Vec::new(),
            Restored::NotThere => vec![conflict("memory", id, "", "in the trash", "not in the trash")],
            Restored::Occupied(other) => vec![conflict("memory", id, "", "alone", format!("the same as #{other}"))],
        });
    }
    match change.what {
        What::Edit => {
            let Some(image) = rows::load(tx, id)? else {
                return Ok(vec![conflict("memory", id, "", "there", "not there")]);
            };
            let now = fields_of(&image)?;
            let expected = object(if way == Way::Back { &change.after } else { &change.before })?;
            Ok(changed_since(&expected, &now, "memory", id))
        }
        What::Add if way == Way::Back => {
            Ok(if live()? { Vec::new() } else { vec![conflict("memory", id, "", "there", "not there")] })
        }
        What::Add => {
            let image = image_of(&change.after)?;
            let same: Option<i64> = tx
                .prepare_cached("SELECT id FROM memory_body WHERE hash = ?1 OR id = ?2")?
                .query_row((&image.hash, id), |row| row.get(0))
                .optional()?;
            Ok(same
                .map(|other| conflict("memory", id, "", "alone", format!("the same as #{other}")))
                .into_iter()
                .collect())
        }
        What::Project | What::Session => {
            let table = change.what.word();
            let Some(now) = row_fields(tx, change.what, id)? else {
                return Ok(vec![conflict(table, id, "", "there", "not there")]);
            };
            let expected = object(if way == Way::Back { &change.after } else { &change.before })?;
            Ok(changed_since(&expected, &now, table, id))
        }
        _ => Ok(Vec::new()),
    }
}

fn changed_since(expected: &Map<String, Value>, now: &Map<String, Value>, what: &str, id: i64) -> Vec<Conflict> {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    expected
        .iter()
        .filter(|(name, value)| now.get(*name) != Some(value))
        .map(|(name, value)| conflict(what, id, name, plain(value), now.get(name).map(plain).unwrap_or_default()))
        .collect()
}

/// The fields of a project or session row that the journal may hold.
fn row_fields(tx: &Connection, what: What, id: i64) -> Result<Option<Map<String, Value>>> {
    let sql = match what {
        What::Session => "SELECT json_object('title', title) FROM session WHERE id = ?1",
        _ => "SELECT json_object('alias_of', alias_of, 'excluded', excluded, 'name', name) FROM project WHERE id = ?1",
    };
    let text: Option<String> = tx.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    text.map(|text| object(&text)).transpose()
}

pub(super) fn set_row_fields(tx: &Connection, what: What, id: i64, fields: &Map<String, Value>) -> Result<()> {
    for (name, value) in fields {
        let sql = match (what, name.as_str()) {
            (What::Session, "title") => "UPDATE session SET title = ?2 WHERE id = ?1",
            (What::Project, "alias_of") => "UPDATE project SET alias_of = ?2 WHERE id = ?1",
            (What::Project, "excluded") => "UPDATE project SET excluded = ?2 WHERE id = ?1",
            (What::Project, "name") => "UPDATE project SET name = ?2 WHERE id = ?1",
            _ => continue,
        };
        let mut query = tx.prepare_cached(sql)?;
        match value {
            Value::String(text) => query.execute((id, text))?,
            other => query.execute((id, other.as_i64().unwrap_or_else(|| i64::from(other == &Value::Bool(true)))))?,
        };
    }
    Ok(())
}

/// Walks over one change.
fn walk(tx: &Connection, change: &Change, way: Way, step: &StepInfo) -> Result<()> {
    let id = change.target;
    match (change.what, way) {
        (What::Trash, Way::Forth) => {
            let merged_into = change.after.parse().unwrap_or(0);
            let deleted = Deleted {
                ms: millis(step.at),
                actor: step.actor.clone(),
                step: step.id,
                merged_into,
                stood_behind: None,
            };
            trash::put(tx, id, &deleted)?;
        }
        (What::Restore, Way::Back) => {
            trash::put(tx, id, &Deleted::from_text(&change.before)?)?;
        }
        (What::Trash, Way::Back) | (What::Restore, Way::Forth) => {
            trash::take_back(tx, id)?;
        }
        (What::Edit, _) => {
            let Some(old) = rows::load(tx, id)? else { return Ok(()) };
            let mut fields = fields_of(&old)?;
            fields.extend(object(if way == Way::Back { &change.before } else { &change.after })?);
            let mut new: Image = serde_json::from_value(Value::Object(fields))
                .map_err(|err| StoreError::Corrupt(format!("a journal entry cannot be read: {err}")))?;
            new.tokens = rows::read_cost(&new.title, &new.subtitle, &new.narrative, &new.facts);
            rows::replace(tx, &old, &new)?;
        }
        (What::Add, Way::Back) => {
            trash::unfold_children(tx, id)?;
            let Some(image) = rows::remove(tx, id)? else { return Ok(()) };
            tx.prepare_cached("UPDATE change SET after = ?2 WHERE id = ?1")?
                .execute((change.id, image_text(&image)?))?;
            if !change.before.is_empty() {
                trash::put_tombstone(tx, &change.before)?;
            }
        }
        (What::Add, Way::Forth) => {
            let mut image = image_of(&change.after)?;
            tx.prepare_cached("DELETE FROM tombstone WHERE hash = ?1")?.execute([&image.hash])?;
            rows::insert(tx, &mut image)?;
            tx.prepare_cached("UPDATE change SET after = '' WHERE id = ?1")?.execute([change.id])?;
        }
        (What::Project | What::Session, _) => {
            let fields = object(if way == Way::Back { &change.before } else { &change.after })?;
            set_row_fields(tx, change.what, id, &fields)?;
        }
        (What::NewProject, Way::Back) => {
            tx.prepare_cached(
                "DELETE FROM project WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM memory WHERE project = ?1) \
                 AND NOT EXISTS (SELECT 1 FROM session WHERE project = ?1) \
                 AND NOT EXISTS (SELECT 1 FROM project WHERE alias_of = ?1)",
            )?
            .execute([id])?;
        }
        (What::NewProject, Way::Forth) => {
            let row = object(&change.after)?;
            let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let alias_of = row.get("alias_of").and_then(Value::as_i64).unwrap_or(0);
            tx.prepare_cached(
                "INSERT INTO project (id, root, name, worktree, alias_of) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
            )?
            .execute((id, text("root"), text("name"), text("worktree"), alias_of))?;
        }
    }
    Ok(())
}

/// The row of a project, noted in the step when it had to be made.
pub(super) fn project_row(tx: &Connection, step: i64, project: &crate::memory::ProjectRef) -> Result<i64> {
    let before: i64 = tx.query_row("SELECT coalesce(max(id), 0) FROM project", [], |row| row.get(0))?;
    let id = places::project_id(tx, Some(project))?;
    if id > before {
        let alias_of: i64 = tx.query_row("SELECT alias_of FROM project WHERE id = ?1", [id], |row| row.get(0))?;
        let row = serde_json::json!({
            "root": project.root, "name": project.name, "worktree": project.worktree.as_deref().unwrap_or(""),
            "alias_of": alias_of,
        });
        note(tx, step, What::NewProject, id, "", &row.to_string())?;
    }
    Ok(id)
}

const STEP: &str = "SELECT id, at_ms, actor, verb, label, rows, state FROM step";

fn read_step(row: &rusqlite::Row<'_>) -> rusqlite::Result<StepInfo> {
    Ok(StepInfo {
        id: row.get(0)?,
        at: from_millis(row.get(1)?),
        actor: row.get(2)?,
        verb: row.get(3)?,
        label: row.get(4)?,
        rows: row.get::<_, i64>(5)?.max(0) as u64,
        state: match row.get(6)? {
            0u8 => StepState::Done,
            1 => StepState::Undone,
            _ => StepState::Gone,
        },
    })
}

fn step_of(conn: &Connection, id: i64) -> Result<Option<StepInfo>> {
    Ok(conn.prepare_cached(&format!("{STEP} WHERE id = ?1"))?.query_row([id], read_step).optional()?)
}

fn changes_of(conn: &Connection, step: i64, way: Way, limit: usize) -> Result<Vec<Change>> {
    let (undone, order) = if way == Way::Back { (0, "DESC") } else { (1, "ASC") };
    let mut query = conn.prepare_cached(&format!(
        "SELECT id, what, target, before, after FROM change WHERE step = ?1 AND undone = {undone} ORDER BY id {order} LIMIT ?2"
    ))?;
    let rows = query.query_map((step, limit as i64), |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    })?;
    let mut changes = Vec::new();
    for row in rows {
        let (id, what, target, before, after) = row?;
        let Some(what) = What::of(&what) else {
            return Err(StoreError::Refused(format!("this step was made by a newer version ({what})")));
        };
        changes.push(Change { id, what, target, before, after });
    }
    Ok(changes)
}

impl Store {
    /// The newest steps of the journal.
    pub fn history(&self, limit: usize) -> Result<Vec<StepInfo>> {
        let mut query = self.conn.prepare_cached(&format!("{STEP} ORDER BY id DESC LIMIT ?1"))?;
        let rows = query.query_map([limit as i64], read_step)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The changes of a step, in the order they were made.
    pub fn changes(&self, step: i64) -> Result<Vec<ChangeInfo>> {
        let mut query =
            self.conn.prepare_cached("SELECT what, target, before, after FROM change WHERE step = ?1 ORDER BY id")?;
        let rows = query.query_map([step], |row| {
            Ok(ChangeInfo { what: row.get(0)?, target: row.get(1)?, before: row.get(2)?, after: row.get(3)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Undoes the newest step that is in effect. `None`: there is none.
    pub fn undo(&mut self, resolve: Resolve, progress: Progress<'_>) -> Result<Option<Undone>> {
        let step: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT s.id FROM step s WHERE s.state <> 2 \
                 AND EXISTS (SELECT 1 FROM change c WHERE c.step = s.id AND c.undone = 0) ORDER BY s.id DESC LIMIT 1",
            )?
            .query_row([], |row| row.get(0))
            .optional()?;
        step.map(|step| self.walk_step(step, Way::Back, resolve, progress)).transpose()
    }

    /// Undoes one step of the history, whatever came after it.
    pub fn undo_step(&mut self, step: i64, resolve: Resolve, progress: Progress<'_>) -> Result<Undone> {
        match step_of(&self.conn, step)? {
            None => Err(StoreError::NotFound(format!("step {step}"))),
            Some(it) if it.state == StepState::Gone => {
                Err(StoreError::Refused(format!("step {step} ({} {}) cannot be undone any more", it.verb, it.label)))
            }
            Some(it) if it.state == StepState::Undone => {
                Err(StoreError::Refused(format!("step {step} ({} {}) is undone already", it.verb, it.label)))
            }
            Some(_) => self.walk_step(step, Way::Back, resolve, progress),
        }
    }

    /// Does the step again that was undone last. `None`: there is none.
    pub fn redo(&mut self, resolve: Resolve, progress: Progress<'_>) -> Result<Option<Undone>> {
        let step: Option<i64> = self
            .conn
            .prepare_cached("SELECT step FROM change WHERE undone = 1 ORDER BY step, id LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        step.map(|step| self.walk_step(step, Way::Forth, resolve, progress)).transpose()
    }

    fn walk_step(&mut self, step: i64, way: Way, resolve: Resolve, progress: Progress<'_>) -> Result<Undone> {
        let info = step_of(&self.conn, step)?.ok_or_else(|| StoreError::NotFound(format!("step {step}")))?;
        let mut out = Undone { step: info, rows: 0, skipped: Vec::new(), stopped: false };
        let undone = i64::from(way == Way::Forth);
        let total: i64 = self.conn.query_row(
            "SELECT count(*) FROM change WHERE step = ?1 AND undone = ?2",
            (step, undone),
            |row| row.get(0),
        )?;
        if resolve == Resolve::Ask {
            // Look before anything is changed; again in the transaction, for steps of one chunk.
            let conflicts = all_obstacles(&self.conn, step, way)?;
            if !conflicts.is_empty() {
                return Err(StoreError::Conflict(conflicts));
            }
        }
        loop {
            let tx = write_tx(&mut self.conn)?;
            let changes = changes_of(&tx, step, way, CHUNK)?;
            if changes.is_empty() {
                break;
            }
            let walked = changes.len() as u64;
            for change in changes {
                let conflicts = obstacles(&tx, &change, way)?;
                let gone = conflicts.iter().any(|it| it.field.is_empty());
                if conflicts.is_empty() || (resolve == Resolve::Force && !gone) {
                    walk(&tx, &change, way, &out.step)?;
                    out.rows += 1;
                } else {
                    if resolve == Resolve::Ask && total as usize <= CHUNK {
                        return Err(StoreError::Conflict(conflicts));
                    }
                    out.skipped.extend(conflicts);
                }
                tx.prepare_cached("UPDATE change SET undone = ?2 WHERE id = ?1")?.execute((change.id, 1 - undone))?;
            }
            tx.prepare_cached(
                "UPDATE step SET state = EXISTS (SELECT 1 FROM change WHERE step = ?1) \
                 AND NOT EXISTS (SELECT 1 FROM change WHERE step = ?1 AND undone = 0) WHERE id = ?1",
            )?
            .execute([step])?;
            tx.commit()?;
            if !progress(out.rows + out.skipped.len() as u64, total.max(0) as u64) && walked == CHUNK as u64 {
                out.stopped = true;
                break;
            }
        }
        if let Some(info) = step_of(&self.conn, step)? {
            out.step = info;
        }
        Ok(out)
    }

    /// Drops steps older than `before`, and all but the newest `keep`.
    pub(super) fn prune_journal(&mut self, before: Timestamp, keep: u32) -> Result<u64> {
        let tx = write_tx(&mut self.conn)?;
        tx.execute(
            "DELETE FROM step WHERE at_ms < ?1 OR id <= (SELECT id FROM step ORDER BY id DESC LIMIT 1 OFFSET ?2)",
            (millis(before), keep),
        )?;
        let dropped = tx.changes();
        tx.execute("DELETE FROM change WHERE NOT EXISTS (SELECT 1 FROM step WHERE step.id = change.step)", [])?;
        tx.commit()?;
        Ok(dropped)
    }
}

/// Everything that stands in the way of a step, as it would be met: a row that an earlier change of the walk brings
/// back is not missed.
fn all_obstacles(conn: &Connection, step: i64, way: Way) -> Result<Vec<Conflict>> {
    let mut seen = std::collections::HashSet::new();
    let mut conflicts = Vec::new();
    for change in changes_of(conn, step, way, usize::MAX >> 1)? {
        let kind = matches!(change.what, What::Project | What::NewProject | What::Session);
        // Only the first change of a row in this walk meets it as it is now.
        if seen.insert((kind, change.target)) {
            conflicts.extend(obstacles(conn, &change, way)?);
        }
    }
    Ok(conflicts)
}
