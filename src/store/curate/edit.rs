//! Changing what a memory says, how it is typed, where it is filed, whether it is given back.

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::super::api::Conflict;
use super::super::error::{Result, StoreError};
use super::super::rows::{self, Image, write_tx};
use super::super::{Store, places};
use super::journal::{self, What};
use super::{CHUNK, Done, Progress, Who, label_of};
use crate::memory::{Memory, MemoryId, ProjectRef, Source, Summary};

/// A change of some fields; `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Edit {
    /// Type id.
    #[serde(rename = "type")]
    pub type_id: Option<String>,
    /// One line, not empty.
    pub title: Option<String>,
    /// One line more.
    pub subtitle: Option<String>,
    /// Prose.
    pub narrative: Option<String>,
    /// Statements.
    pub facts: Option<Vec<String>>,
    /// Keywords, all of them.
    pub concepts: Option<Vec<String>>,
    /// Keywords to add.
    pub add_concepts: Vec<String>,
    /// Keywords to take away.
    pub drop_concepts: Vec<String>,
    /// Files read.
    pub files_read: Option<Vec<String>>,
    /// Files modified.
    pub files_modified: Option<Vec<String>>,
    /// Always injected.
    pub pinned: Option<bool>,
    /// Never injected.
    pub excluded: Option<bool>,
    /// Replaced by another memory; `Some(None)`: no longer.
    pub superseded_by: Option<Option<MemoryId>>,
    /// File it under another project.
    #[serde(skip)]
    pub project: Option<ProjectRef>,
    /// Not a person's change but a model's, and which: the row counts as observed by it, not as edited by hand.
    #[serde(skip)]
    pub by_model: Option<String>,
}

impl Edit {
    /// What the journal calls it.
    fn verb(&self) -> &'static str {
        let text = self.title.is_some()
            || self.subtitle.is_some()
            || self.narrative.is_some()
            || self.facts.is_some()
            || self.files_read.is_some()
            || self.files_modified.is_some();
        match self {
            Edit { by_model: Some(_), .. } => "refine",
            _ if text => "edit",
            Edit { type_id: Some(_), .. } => "retype",
            Edit { project: Some(_), .. } => "move",
            Edit { pinned: Some(true), .. } => "pin",
            Edit { pinned: Some(false), .. } => "unpin",
            Edit { excluded: Some(true), .. } => "exclude",
            Edit { excluded: Some(false), .. } => "include",
            Edit { superseded_by: Some(_), .. } => "supersede",
            _ => "concepts",
        }
    }

    fn check(&self) -> Result<()> {
        if self.title.as_ref().is_some_and(|title| title.trim().is_empty()) {
            return Err(StoreError::Refused("the title cannot be empty".into()));
        }
        if self.type_id.as_ref().is_some_and(|it| it.trim().is_empty()) {
            return Err(StoreError::Refused("the type cannot be empty".into()));
        }
        if *self == Edit::default() {
            return Err(StoreError::Refused("there is nothing to change".into()));
        }
        Ok(())
    }

    /// `old` with the change made.
    fn applied_to(&self, old: &Image, project: Option<i64>) -> Image {
        let mut new = old.clone();
        let line = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(type_id) = &self.type_id {
            new.type_id = type_id.trim().to_owned();
            // A person has said what it is: it is no longer a word that the mode does not know.
            new.raw_type.clear();
        }
        if let Some(title) = &self.title {
            new.title = line(title);
        }
        if let Some(subtitle) = &self.subtitle {
            new.subtitle = line(subtitle);
        }
        if let Some(narrative) = &self.narrative {
            new.narrative = narrative.trim_end().to_owned();
            // A summary's prose is made of its parts; told anew it has no parts.
            if *narrative != old.narrative && !new.summary.is_empty() {
                let summary =
                    Summary { request: new.title.clone(), completed: new.narrative.clone(), ..Summary::default() };
                new.summary = serde_json::to_string(&summary).unwrap_or_default();
            }
        }
        for (list, slot) in [
            (&self.facts, &mut new.facts),
            (&self.concepts, &mut new.concepts),
            (&self.files_read, &mut new.files_read),
            (&self.files_modified, &mut new.files_modified),
        ] {
            if let Some(list) = list {
                *slot = rows::to_json(list);
            }
        }
        if !self.add_concepts.is_empty() || !self.drop_concepts.is_empty() {
            let mut concepts = rows::from_json(&new.concepts);
            concepts.retain(|it| !self.drop_concepts.contains(it));
            for concept in &self.add_concepts {
                if !concepts.contains(concept) {
                    concepts.push(concept.clone());
                }
            }
            new.concepts = rows::to_json(&concepts);
        }
        new.pinned = self.pinned.unwrap_or(new.pinned);
        new.excluded = self.excluded.unwrap_or(new.excluded);
        if let Some(by) = self.superseded_by {
            new.superseded_by = by.filter(|by| by.0 != old.id).map_or(0, |by| by.0);
        }
        new.project = project.unwrap_or(new.project);
        new.tokens = rows::read_cost(&new.title, &new.subtitle, &new.narrative, &new.facts);
        let what_it_says = |image: &Image| {
            (
                [&image.type_id, &image.title, &image.subtitle, &image.narrative].map(String::clone),
                [&image.facts, &image.concepts, &image.files_read, &image.files_modified].map(String::clone),
            )
        };
        match &self.by_model {
            Some(model) => {
                new.source = rows::source_number(Source::Observer);
                new.model.clone_from(model);
            }
            None if what_it_says(&new) != what_it_says(old) => new.edited = true,
            None => {}
        }
        new
    }
}

/// Makes a change to one row, noted in the step. `false`: it is that way already, or not there.
pub(super) fn apply_noted(tx: &Connection, step: i64, id: i64, edit: &Edit) -> Result<Option<bool>> {
    let Some(old) = rows::load(tx, id)? else { return Ok(None) };
    let project = edit.project.as_ref().map(|project| journal::project_row(tx, step, project)).transpose()?;
    replace_noted(tx, step, &old, &edit.applied_to(&old, project)).map(Some)
}

pub(super) fn replace_noted(tx: &Connection, step: i64, old: &Image, new: &Image) -> Result<bool> {
    let Some((before, after)) = journal::differences(old, new)? else { return Ok(false) };
    rows::replace(tx, old, new)?;
    journal::note(tx, step, What::Edit, old.id, &before, &after)?;
    Ok(true)
}

/// Fields of a memory, by the names a conflict is told with.
fn shown(memory: &Memory) -> Vec<(&'static str, String)> {
    let list = |list: &[String]| list.join("\n");
    vec![
        ("type", memory.type_id.clone()),
        ("title", memory.title.clone()),
        ("subtitle", memory.subtitle.clone()),
        ("narrative", memory.narrative.clone()),
        ("facts", list(&memory.facts)),
        ("concepts", list(&memory.concepts)),
        ("files_read", list(&memory.files_read)),
        ("files_modified", list(&memory.files_modified)),
        ("project", memory.project_root.clone()),
    ]
}

impl Store {
    /// Changes memories: one step, in chunks, which `progress` can stop. A row filed under another project takes what
    /// stands behind it along.
    pub fn edit(&mut self, ids: &[MemoryId], edit: &Edit, who: Who<'_>, progress: Progress<'_>) -> Result<Done> {
        edit.check()?;
        let mut done = Done::default();
        let mut step = None;
        for (at, chunk) in ids.chunks(CHUNK).enumerate() {
            let tx = write_tx(&mut self.conn)?;
            let number = match step {
                Some(number) => number,
                None => journal::begin(&tx, who, edit.verb(), &label_of(ids))?,
            };
            for &id in chunk {
                match apply_noted(&tx, number, id.0, edit)? {
                    Some(changed) => done.rows += u64::from(changed),
                    None => done.missing.push(id),
                }
                if edit.project.is_some() {
                    let mut behind = tx.prepare_cached(
                        "SELECT id FROM memory WHERE folded_into = ?1 AND folded_into <> 0 ORDER BY id",
                    )?;
                    let behind: Vec<i64> = behind.query_map([id.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
                    for id in behind {
                        done.rows += u64::from(apply_noted(&tx, number, id, edit)?.unwrap_or(false));
                    }
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

    /// [`Store::edit`] of one memory as it was `seen`: when what it says changed meanwhile, nothing is changed and the
    /// differing fields are told, so that a person can choose.
    pub fn edit_seen(&mut self, seen: &Memory, edit: &Edit, who: Who<'_>) -> Result<Done> {
        let Some(now) = self.get(&[seen.id])?.pop() else {
            return Err(StoreError::NotFound(format!("memory #{}", seen.id.0)));
        };
        let conflicts: Vec<Conflict> = shown(seen)
            .into_iter()
            .zip(shown(&now))
            .filter(|(was, is)| was.1 != is.1)
            .map(|((field, expected), (_, found))| Conflict {
                what: "memory".into(),
                id: seen.id.0,
                field: field.into(),
                expected,
                found,
            })
            .collect();
        if !conflicts.is_empty() {
            return Err(StoreError::Conflict(conflicts));
        }
        self.edit(&[seen.id], edit, who, &mut |_, _| true)
    }

    /// The title of a session, one step.
    pub fn rename_session(&mut self, session: &str, title: &str, who: Who<'_>) -> Result<Done> {
        let tx = write_tx(&mut self.conn)?;
        let found: Option<(i64, String)> = {
            use rusqlite::OptionalExtension;
            tx.query_row("SELECT id, title FROM session WHERE key = ?1", [session], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?
        };
        let Some((id, old)) = found else { return Err(StoreError::NotFound(format!("session {session}"))) };
        let mut done = Done::default();
        if old != title {
            let step = journal::begin(&tx, who, "rename-session", session)?;
            let (before, after) = (serde_json::json!({ "title": old }), serde_json::json!({ "title": title }));
            tx.execute("UPDATE session SET title = ?2 WHERE id = ?1", (id, title))?;
            journal::note(&tx, step, What::Session, id, &before.to_string(), &after.to_string())?;
            (done.step, done.rows) = (Some(step), 1);
        }
        tx.commit()?;
        Ok(done)
    }

    /// Files every memory of a linked worktree under its main checkout, and what is still to come: one step, one
    /// changed row. Returns how many memories that concerns.
    pub fn fold_worktree(&mut self, root: &str, worktree: &str, who: Who<'_>) -> Result<Done> {
        let rows = places::Projects::load(&self.conn)?;
        let Some(row) = rows.rows.iter().find(|it| it.root == root && it.worktree == worktree && !worktree.is_empty())
        else {
            return Err(StoreError::NotFound(format!("worktree {worktree} of {root}")));
        };
        let main = ProjectRef {
            root: row.root.clone(),
            name: rows
                .rows
                .iter()
                .find(|it| it.root == root && it.worktree.is_empty())
                .map_or(row.name.clone(), |it| it.name.clone()),
            worktree: None,
        };
        let label = format!("{root}#{worktree} → {root}");
        self.alias_rows(&[row.id], &label, "fold", who, |_| main.clone())
    }
}
