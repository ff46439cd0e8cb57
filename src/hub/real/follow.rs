//! What another process, or our own collector, has changed since we last looked.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Real;
use crate::hub::live::{BatchRow, Changes, RowBatch, Seen};
use crate::memory::MemoryId;
use crate::store::Result;
use crate::store::curate::StepState;

/// The collector mends rows it has just written: so many of the newest are compared with what was told of them.
const WATCHED: usize = 300;
/// Journal steps that are compared.
const STEPS: usize = 50;
/// More changed rows than this, and the list is loaded anew.
const MOST: u64 = 5_000;

/// What was told so far.
#[derive(Default)]
pub struct Told {
    /// The newest rows, by id, with what they looked like.
    newest: HashMap<i64, u64>,
    /// Journal steps and where they stood.
    steps: Vec<(i64, StepState)>,
    /// Our own connection has written: its own version does not move for that.
    pub dirty: bool,
}

impl Real {
    /// What changed since `seen`. One pragma when nothing did.
    pub(super) fn changed(&mut self, seen: &mut Seen) -> Result<Option<Changes>> {
        let version = self.hub.store().data_version()?;
        let first = seen.version == 0;
        if version == seen.version && !self.told.dirty {
            return Ok(None);
        }
        seen.version = version;
        self.told.dirty = false;
        self.learn_names()?;
        let steps: Vec<_> =
            self.hub.store().history(STEPS)?.into_iter().map(|step| (step.id, step.state, step.rows)).collect();
        let rows = self.newest_by_id(seen.memory)?;
        let mut changes = Changes::default();
        if !first {
            self.by_journal(&steps, &mut changes)?;
            self.by_comparing(&rows, seen.memory, &mut changes);
        }
        self.told.steps = steps.into_iter().map(|(id, state, _)| (id, state)).collect();
        self.told.newest = rows.rows.iter().take(WATCHED * 2).map(|row| (row.id, looks(&rows, row))).collect();
        seen.memory = seen.memory.max(self.hub.store().last_id()?);
        Ok((!first && !changes.is_empty()).then_some(changes))
    }

    /// Every row newer than `known`, and the watched ones below it.
    fn newest_by_id(&self, known: i64) -> Result<RowBatch> {
        let mut rows = RowBatch::default();
        let mut below = 0;
        self.hub.store().titles(None, &mut |row| {
            if row.id.0 <= known {
                below += 1;
            }
            if known == 0 && rows.len() >= WATCHED {
                return false;
            }
            self.push_title(&row, true, &mut rows);
            below < WATCHED
        })?;
        Ok(rows)
    }

    /// Rows that steps of the journal have touched: done, undone or done again since.
    fn by_journal(&self, steps: &[(i64, StepState, u64)], changes: &mut Changes) -> Result<()> {
        let mut targets: HashSet<i64> = HashSet::new();
        for (id, state, rows) in steps {
            if self.told.steps.contains(&(*id, *state)) {
                continue;
            }
            if *rows > MOST {
                changes.reload = true;
                return Ok(());
            }
            for change in self.hub.store().changes(*id)? {
                // A project was renamed or merged: any row may be filed elsewhere now.
                if change.what.contains("project") {
                    changes.reload = true;
                    return Ok(());
                }
                targets.insert(change.target);
            }
        }
        let mut ids: Vec<i64> = targets.into_iter().collect();
        ids.sort_unstable();
        self.rows_of(&ids, changes)
    }

    /// Rows by id as they are now; those that are not there are gone.
    fn rows_of(&self, ids: &[i64], changes: &mut Changes) -> Result<()> {
        for id in ids {
            let mut found = false;
            self.hub.store().titles(Some(MemoryId(id.saturating_add(1))), &mut |row| {
                if row.id.0 == *id {
                    found = true;
                    self.push_title(&row, true, &mut changes.rows);
                }
                false
            })?;
            if !found {
                changes.gone.push(MemoryId(*id));
            }
        }
        Ok(())
    }

    /// New rows, and watched ones that look otherwise or are gone (folded into another).
    fn by_comparing(&self, rows: &RowBatch, known: i64, changes: &mut Changes) {
        let done: HashSet<i64> = changes.rows.rows.iter().map(|row| row.id).collect();
        let mut present: HashSet<i64> = HashSet::new();
        let mut lowest = i64::MAX;
        for row in &rows.rows {
            present.insert(row.id);
            lowest = lowest.min(row.id);
            let same = self.told.newest.get(&row.id).is_some_and(|before| *before == looks(rows, row));
            let new = row.id > known;
            if !done.contains(&row.id) && (new || (!same && self.told.newest.contains_key(&row.id))) {
                copy(rows, row, &mut changes.rows);
            }
        }
        for id in self.told.newest.keys().filter(|id| **id >= lowest && !present.contains(id)) {
            if !changes.gone.contains(&MemoryId(*id)) {
                changes.gone.push(MemoryId(*id));
            }
        }
    }
}

/// A row as a number: equal numbers, equal looks.
fn looks(batch: &RowBatch, row: &BatchRow) -> u64 {
    let at = row.at as usize;
    let mut hasher = DefaultHasher::new();
    batch.text[at..at + row.len()].hash(&mut hasher);
    (row.flags.0, row.tokens, row.created_ms, row.prompt).hash(&mut hasher);
    (&batch.types[usize::from(row.type_ix)], &batch.projects[usize::from(row.project_ix)]).hash(&mut hasher);
    batch.sessions[row.session_ix as usize].hash(&mut hasher);
    hasher.finish()
}

fn copy(from: &RowBatch, row: &BatchRow, to: &mut RowBatch) {
    let at = row.at as usize;
    let text = &from.text[at..];
    let (title, subtitle, facts) = (usize::from(row.title), usize::from(row.subtitle), usize::from(row.facts));
    to.push(&crate::hub::live::ListRow {
        id: row.id,
        created_ms: row.created_ms,
        kind: row.flags.kind(),
        type_id: &from.types[usize::from(row.type_ix)],
        project: &from.projects[usize::from(row.project_ix)],
        session: &from.sessions[row.session_ix as usize],
        prompt: u32::from(row.prompt),
        tokens: row.tokens,
        flags: row.flags,
        title: &text[..title],
        subtitle: &text[title + 1..title + 1 + subtitle],
        facts: &text[title + subtitle + 2..title + subtitle + 2 + facts].replace('\u{1f}', "\n"),
    });
}
