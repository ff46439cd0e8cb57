//! Changes: each one step of the store's journal, with what came of it in words.

use super::{Real, trouble_of};
use crate::hub::live::{Applied, Change, EditFields, Trouble, TroubleKind};
use crate::memory::{MemoryId, ProjectRef};
use crate::store::Result;
use crate::store::api::Conflict;
use crate::store::curate::{Done, Edit, Resolve, Undone, Who};

/// Nobody watches and nobody stops it: the screen shows `pending` meanwhile.
fn on(_done: u64, _of: u64) -> bool {
    true
}

impl Real {
    pub(super) fn carry_out(&mut self, change: &Change) -> std::result::Result<Applied, Trouble> {
        let now = self.now();
        self.told.dirty = true;
        let who = Who { actor: "tui", now };
        match change {
            Change::Trash(ids) => {
                let done = self.hub.store_mut().trash(ids, true, who, &mut on).map_err(trouble_of)?;
                self.applied("trashed", ids, done)
            }
            Change::PutBack(ids) => {
                let done = self.hub.store_mut().restore(ids, who).map_err(trouble_of)?;
                self.applied("put back", ids, done)
            }
            Change::Purge(ids) => {
                let done = self.hub.store_mut().purge(ids, &mut on).map_err(trouble_of)?;
                Ok(Applied { label: format!("deleted {} for ever", done.rows), ids: ids.clone(), ..Applied::default() })
            }
            Change::Retype(ids, type_id) => {
                let edit = Edit { type_id: Some(type_id.clone()), ..Edit::default() };
                self.edit_all(ids, &edit, &format!("as {type_id}: retyped"), who)
            }
            Change::Concepts { ids, add, remove } => {
                let edit = Edit { add_concepts: add.clone(), drop_concepts: remove.clone(), ..Edit::default() };
                self.edit_all(ids, &edit, "concepts of", who)
            }
            Change::Title(id, title) => {
                let edit = Edit { title: Some(title.clone()), ..Edit::default() };
                self.edit_all(&[*id], &edit, "title changed:", who)
            }
            Change::Edit(edits) => self.edit_each(edits, who),
            Change::Pin(ids, on) => {
                let edit = Edit { pinned: Some(*on), ..Edit::default() };
                self.edit_all(ids, &edit, if *on { "pinned" } else { "unpinned" }, who)
            }
            Change::Exclude(ids, on) => {
                let edit = Edit { excluded: Some(*on), ..Edit::default() };
                self.edit_all(ids, &edit, if *on { "excluded" } else { "allowed" }, who)
            }
            Change::Move(ids, root) => {
                let name = self.name_of(root);
                let project = Some(ProjectRef { root: root.clone(), name, worktree: None });
                self.edit_all(ids, &Edit { project, ..Edit::default() }, "moved", who)
            }
            Change::Fold { root, worktree } => {
                let done = self.hub.store_mut().fold_worktree(root, worktree, who).map_err(trouble_of)?;
                self.applied("folded", &[], done)
            }
            Change::Merge(plan) => {
                let edit = Edit { pinned: Some(plan.pinned), ..edit_of(&plan.fields) };
                let done = self.hub.store_mut().merge(plan.keep, &plan.fold, &edit, who).map_err(trouble_of)?;
                let label = format!("merged {} into #{}", plan.fold.len() + 1, plan.keep.0);
                Ok(Applied { step: done.step, label, ids: vec![plan.keep], left: Vec::new() })
            }
            Change::Redact { needle, replacement } => {
                let done = self.hub.store_mut().redact(needle, replacement, &mut on).map_err(trouble_of)?;
                let label = format!("redacted in {} memories and {} in the trash", done.memories, done.trashed);
                Ok(Applied { label, ..Applied::default() })
            }
            Change::Pause(true) => {
                self.hub.store_mut().pause(None, now).map_err(trouble_of)?;
                Ok(Applied { label: "recording paused".into(), ..Applied::default() })
            }
            Change::Pause(false) => {
                self.hub.store_mut().resume(None, now).map_err(trouble_of)?;
                Ok(Applied { label: "recording goes on".into(), ..Applied::default() })
            }
            Change::Retry(key) => {
                let n = self.hub.store_mut().requeue(&[key.as_str().into()]).map_err(trouble_of)?;
                let label = if n > 0 { "tried again with the next reading" } else { "nothing to try again" };
                Ok(Applied { label: label.into(), ..Applied::default() })
            }
        }
    }

    fn edit_all(
        &mut self,
        ids: &[MemoryId],
        edit: &Edit,
        word: &str,
        who: Who<'_>,
    ) -> std::result::Result<Applied, Trouble> {
        let done = self.hub.store_mut().edit(ids, edit, who, &mut on).map_err(trouble_of)?;
        self.applied(word, ids, done)
    }

    /// What the editor brought back. Several memories are several steps of the journal: the first fault stops, and says
    /// how far it came.
    fn edit_each(&mut self, edits: &[(MemoryId, EditFields)], who: Who<'_>) -> std::result::Result<Applied, Trouble> {
        let mut all = Applied::default();
        for (id, fields) in edits {
            match self.hub.store_mut().edit(&[*id], &edit_of(fields), who, &mut on) {
                Ok(done) => {
                    all.step = done.step.or(all.step);
                    all.ids.push(*id);
                }
                Err(error) if all.ids.is_empty() => return Err(trouble_of(error)),
                Err(error) => {
                    all.left.push((*id, error.to_string()));
                    break;
                }
            }
        }
        all.label = format!("edited {}", all.ids.len());
        Ok(all)
    }

    fn applied(&self, word: &str, ids: &[MemoryId], done: Done) -> std::result::Result<Applied, Trouble> {
        if done.rows == 0 && !done.missing.is_empty() {
            return Err(Trouble::new(TroubleKind::Conflict, "it was removed by another program"));
        }
        let mut left: Vec<(MemoryId, String)> = Vec::new();
        left.extend(done.pinned.iter().map(|id| (*id, "pinned".to_owned())));
        left.extend(done.missing.iter().map(|id| (*id, "gone".to_owned())));
        let ids = ids.iter().copied().filter(|id| !left.iter().any(|(other, _)| other == id)).collect();
        Ok(Applied { step: done.step, label: format!("{word} {}", done.rows), ids, left })
    }

    pub(super) fn take_back(&mut self, step: Option<i64>) -> std::result::Result<Applied, Trouble> {
        self.told.dirty = true;
        let undone = match step {
            Some(step) => self.hub.store_mut().undo_step(step, Resolve::Ask, &mut on).map(Some),
            None => self.hub.store_mut().undo(Resolve::Ask, &mut on),
        };
        self.undone(undone, "nothing to undo")
    }

    pub(super) fn do_again(&mut self) -> std::result::Result<Applied, Trouble> {
        self.told.dirty = true;
        let redone = self.hub.store_mut().redo(Resolve::Ask, &mut on);
        self.undone(redone, "nothing to redo")
    }

    fn undone(&self, undone: Result<Option<Undone>>, nothing: &str) -> std::result::Result<Applied, Trouble> {
        let Some(undone) = undone.map_err(trouble_of)? else {
            return Err(Trouble::new(TroubleKind::Other, nothing));
        };
        let targets = self.hub.store().changes(undone.step.id).map_err(trouble_of)?;
        Ok(Applied {
            step: Some(undone.step.id),
            label: format!("{} {}", undone.step.verb, undone.step.label),
            ids: targets.iter().map(|change| MemoryId(change.target)).collect(),
            left: undone.skipped.iter().map(|conflict| (MemoryId(conflict.id), conflict.field.clone())).collect(),
        })
    }

    fn name_of(&self, root: &str) -> String {
        let known = self.hub.projects().ok().and_then(|projects| projects.into_iter().find(|p| p.root == root));
        known.map_or_else(|| root.rsplit('/').next().unwrap_or(root).to_owned(), |project| project.name)
    }
}

/// Both values where an undo would overwrite somebody's later work.
pub fn conflict(conflicts: &[Conflict]) -> Trouble {
    let what = match conflicts.first() {
        Some(first) => {
            let cut = |text: &str| crate::memory::clip_chars(&crate::memory::safe_line(text), 40).to_owned();
            let more = conflicts.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let field = if first.field.is_empty() { "it" } else { &first.field };
            format!(
                "#{} changed since: {field} is “{}”, was “{}”{more}",
                first.id,
                cut(&first.found),
                cut(&first.expected)
            )
        }
        None => "something changed since".to_owned(),
    };
    Trouble::new(TroubleKind::Conflict, what).hint("undo the later change first (U lists them)")
}

fn edit_of(fields: &EditFields) -> Edit {
    Edit {
        type_id: Some(fields.type_id.clone()).filter(|word| !word.is_empty()),
        title: Some(fields.title.clone()),
        subtitle: Some(fields.subtitle.clone()),
        narrative: Some(fields.narrative.clone()),
        facts: Some(fields.facts.clone()),
        concepts: Some(fields.concepts.clone()),
        files_read: Some(fields.files_read.clone()),
        files_modified: Some(fields.files_modified.clone()),
        ..Edit::default()
    }
}
