//! Changes to sample memories, with undo: the real thing's rules in memory, so that the demo and the tests of the
//! screen behave as the database does.

use std::collections::BTreeMap;

use super::make::time;
use crate::hub::live::{Applied, Change, StepInfo, StepState, Trouble, TroubleKind};
use crate::memory::{Memory, MemoryId};

const DAY_MS: i64 = 86_400_000;

/// A memory in the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct Trashed {
    /// As it was.
    pub memory: Memory,
    /// When.
    pub at: i64,
    /// Which step.
    pub step: i64,
    /// Into which memory it was merged.
    pub merged_into: Option<MemoryId>,
}

/// What a step changed: before and after, in the lists and in the trash.
#[derive(Clone, Debug, Default)]
struct Images {
    before: BTreeMap<i64, Option<Memory>>,
    after: BTreeMap<i64, Option<Memory>>,
    trash_before: BTreeMap<i64, Option<Trashed>>,
    trash_after: BTreeMap<i64, Option<Trashed>>,
}

#[derive(Clone, Debug)]
struct Step {
    info: StepInfo,
    images: Images,
}

/// Sample memories and their journal.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// Memories by id.
    pub memories: BTreeMap<i64, Memory>,
    /// Trash by id.
    pub trash: BTreeMap<i64, Trashed>,
    /// Ids touched since they were last asked for.
    pub touched: Vec<i64>,
    /// Recording is paused.
    pub paused: bool,
    steps: Vec<Step>,
}

impl Shelf {
    /// The journal, newest first.
    pub fn history(&self) -> Vec<StepInfo> {
        self.steps.iter().rev().map(|step| step.info.clone()).collect()
    }

    /// The last step's number.
    pub fn last_step(&self) -> i64 {
        self.steps.last().map_or(0, |step| step.info.id)
    }

    /// Carries out a change.
    pub fn apply(&mut self, change: &Change, now: i64) -> Result<Applied, Trouble> {
        let step = self.last_step() + 1;
        let mut images = Images::default();
        let (label, ids) = match change {
            Change::Pause(on) => {
                self.paused = *on;
                let label = if *on { "recording paused" } else { "recording goes on" };
                return Ok(Applied { label: label.into(), ..Applied::default() });
            }
            Change::Purge(ids) => return Ok(self.purge(ids)),
            Change::Redact { needle, replacement } => return Ok(self.redact(needle, replacement)),
            Change::Retry(_) => return Err(Trouble::unsupported("nothing to try again in the demo")),
            Change::Trash(ids) => {
                let done = self.move_to_trash(ids, step, now, None, &mut images);
                (format!("trashed {}", done.len()), done)
            }
            Change::PutBack(ids) => {
                let done: Vec<MemoryId> = ids.iter().copied().filter(|id| self.trash.contains_key(&id.0)).collect();
                for id in &done {
                    let trashed = self.trash.remove(&id.0);
                    images.trash_before.insert(id.0, trashed.clone());
                    images.trash_after.insert(id.0, None);
                    images.before.insert(id.0, None);
                    if let Some(trashed) = trashed {
                        images.after.insert(id.0, Some(trashed.memory.clone()));
                        self.memories.insert(id.0, trashed.memory);
                    }
                }
                (format!("put back {}", done.len()), done)
            }
            Change::Merge(plan) => {
                let folded = self.move_to_trash(&plan.fold, step, now, Some(plan.keep), &mut images);
                self.edit(&[plan.keep], &mut images, |memory| {
                    plan.fields.clone_into_memory(memory);
                    memory.created_at = plan.created_at;
                    memory.pinned |= plan.pinned;
                    memory.count += folded.len() as u32;
                });
                (format!("merged {} into #{}", folded.len() + 1, plan.keep.0), vec![plan.keep])
            }
            Change::Retype(ids, word) => {
                let done = self.edit(ids, &mut images, |memory| memory.type_id.clone_from(word));
                (format!("retyped {} as {word}", done.len()), done)
            }
            Change::Concepts { ids, add, remove } => {
                let done = self.edit(ids, &mut images, |memory| {
                    memory.concepts.retain(|word| !remove.contains(word));
                    for word in add {
                        if !memory.concepts.contains(word) {
                            memory.concepts.push(word.clone());
                        }
                    }
                });
                (format!("concepts of {}", done.len()), done)
            }
            Change::Title(id, title) => {
                let done = self.edit(&[*id], &mut images, |memory| memory.title.clone_from(title));
                ("title changed".to_owned(), done)
            }
            Change::Edit(edits) => {
                let mut done = Vec::new();
                for (id, fields) in edits {
                    done.extend(self.edit(&[*id], &mut images, |memory| fields.clone_into_memory(memory)));
                }
                (format!("edited {}", done.len()), done)
            }
            Change::Pin(ids, on) => {
                let done = self.edit(ids, &mut images, |memory| memory.pinned = *on);
                (format!("{} {}", if *on { "pinned" } else { "unpinned" }, done.len()), done)
            }
            Change::Exclude(ids, on) => {
                let done = self.edit(ids, &mut images, |memory| memory.excluded = *on);
                (format!("{} {}", if *on { "excluded" } else { "allowed" }, done.len()), done)
            }
            Change::Move(ids, root) => {
                let done = self.edit(ids, &mut images, |memory| move_memory(memory, root));
                (format!("moved {}", done.len()), done)
            }
            Change::Fold { root: to, worktree } => {
                let ids: Vec<MemoryId> = self
                    .memories
                    .values()
                    .filter(|memory| memory.project == *worktree)
                    .map(|memory| memory.id)
                    .collect();
                let done = self.edit(&ids, &mut images, |memory| move_memory(memory, to));
                (format!("folded {} of {worktree}", done.len()), done)
            }
        };
        if ids.is_empty() {
            return Err(Trouble::new(TroubleKind::Conflict, "it was removed by another program"));
        }
        self.record(step, label, ids, images, now)
    }

    fn record(
        &mut self,
        step: i64,
        label: String,
        ids: Vec<MemoryId>,
        images: Images,
        now: i64,
    ) -> Result<Applied, Trouble> {
        for step in &mut self.steps {
            if step.info.state == StepState::Undone {
                step.info.state = StepState::Gone;
            }
        }
        self.touched.extend(images.before.keys());
        let info = StepInfo {
            id: step,
            at: time(now),
            actor: "you".into(),
            label: label.clone(),
            rows: ids.len() as u32,
            state: StepState::Done,
        };
        self.steps.push(Step { info, images });
        Ok(Applied { step: Some(step), label, ids, left: Vec::new() })
    }

    fn edit(&mut self, ids: &[MemoryId], images: &mut Images, with: impl Fn(&mut Memory)) -> Vec<MemoryId> {
        let mut done = Vec::new();
        for id in ids {
            let Some(memory) = self.memories.get_mut(&id.0) else { continue };
            images.before.entry(id.0).or_insert_with(|| Some(memory.clone()));
            with(memory);
            memory.edited = true;
            images.after.insert(id.0, Some(memory.clone()));
            done.push(*id);
        }
        done
    }

    fn move_to_trash(
        &mut self,
        ids: &[MemoryId],
        step: i64,
        at: i64,
        merged_into: Option<MemoryId>,
        images: &mut Images,
    ) -> Vec<MemoryId> {
        let mut done = Vec::new();
        for id in ids {
            let Some(memory) = self.memories.remove(&id.0) else { continue };
            let trashed = Trashed { memory: memory.clone(), at, step, merged_into };
            images.before.insert(id.0, Some(memory));
            images.after.insert(id.0, None);
            images.trash_before.insert(id.0, None);
            images.trash_after.insert(id.0, Some(trashed.clone()));
            self.trash.insert(id.0, trashed);
            done.push(*id);
        }
        done
    }

    fn purge(&mut self, ids: &[MemoryId]) -> Applied {
        let done: Vec<MemoryId> =
            self.trash.keys().map(|id| MemoryId(*id)).filter(|id| ids.is_empty() || ids.contains(id)).collect();
        for id in &done {
            self.trash.remove(&id.0);
        }
        Applied { label: format!("deleted {} for ever", done.len()), ids: done, ..Applied::default() }
    }

    fn redact(&mut self, needle: &str, replacement: &str) -> Applied {
        let mut ids = Vec::new();
        let clean = |memory: &mut Memory| {
            let mut hit = false;
            let mut text = |field: &mut String| {
                if field.contains(needle) {
                    *field = field.replace(needle, replacement);
                    hit = true;
                }
            };
            text(&mut memory.title);
            text(&mut memory.subtitle);
            text(&mut memory.narrative);
            memory.facts.iter_mut().for_each(&mut text);
            hit
        };
        for memory in self.memories.values_mut() {
            if clean(memory) {
                ids.push(memory.id);
            }
        }
        for trashed in self.trash.values_mut() {
            clean(&mut trashed.memory);
        }
        for step in &mut self.steps {
            let images = &mut step.images;
            for memory in images.before.values_mut().chain(images.after.values_mut()).flatten() {
                clean(memory);
            }
            for trashed in images.trash_before.values_mut().chain(images.trash_after.values_mut()).flatten() {
                clean(&mut trashed.memory);
            }
        }
        self.touched.extend(ids.iter().map(|id| id.0));
        Applied { label: format!("redacted in {} memories", ids.len()), ids, ..Applied::default() }
    }

    /// Undoes a step, the last done one when none is named.
    pub fn undo(&mut self, step: Option<i64>) -> Result<Applied, Trouble> {
        let at = self.steps.iter().rposition(|known| match step {
            Some(id) => known.info.id == id,
            None => known.info.state == StepState::Done,
        });
        let Some(at) = at.filter(|at| self.steps[*at].info.state == StepState::Done) else {
            return Err(Trouble::new(TroubleKind::Other, "nothing to undo"));
        };
        let found = self.steps[at].clone();
        // A field that changed since is somebody's work: it is shown, not overwritten.
        let conflict = found.images.after.iter().find(|(id, after)| self.memories.get(id) != after.as_ref());
        if let Some((id, _)) = conflict {
            let what = format!("#{id} has been changed since; undo the later change first");
            return Err(Trouble::new(TroubleKind::Conflict, what));
        }
        self.put(&found.images.before, &found.images.trash_before);
        self.steps[at].info.state = StepState::Undone;
        Ok(applied(&found))
    }

    /// Does the last undone step again.
    pub fn redo(&mut self) -> Result<Applied, Trouble> {
        // The oldest of the undone ones at the end of the journal comes first.
        let at = self.steps.iter().position(|step| step.info.state == StepState::Undone);
        let Some(at) = at else { return Err(Trouble::new(TroubleKind::Other, "nothing to redo")) };
        let found = self.steps[at].clone();
        self.put(&found.images.after, &found.images.trash_after);
        self.steps[at].info.state = StepState::Done;
        Ok(applied(&found))
    }

    fn put(&mut self, memories: &BTreeMap<i64, Option<Memory>>, trash: &BTreeMap<i64, Option<Trashed>>) {
        for (id, image) in memories {
            match image {
                Some(memory) => drop(self.memories.insert(*id, memory.clone())),
                None => drop(self.memories.remove(id)),
            }
            self.touched.push(*id);
        }
        for (id, image) in trash {
            match image {
                Some(trashed) => drop(self.trash.insert(*id, trashed.clone())),
                None => drop(self.trash.remove(id)),
            }
        }
    }

    /// When a row of the trash leaves.
    pub fn leaves_at(at: i64) -> i64 {
        at + 30 * DAY_MS
    }
}

fn applied(step: &Step) -> Applied {
    Applied {
        step: Some(step.info.id),
        label: step.info.label.clone(),
        ids: step.images.before.keys().map(|id| MemoryId(*id)).collect(),
        left: Vec::new(),
    }
}

fn move_memory(memory: &mut Memory, root: &str) {
    memory.project_root = root.to_owned();
    memory.project = root.rsplit('/').next().unwrap_or(root).to_owned();
}

impl crate::hub::live::EditFields {
    fn clone_into_memory(&self, memory: &mut Memory) {
        memory.type_id.clone_from(&self.type_id);
        memory.title.clone_from(&self.title);
        memory.subtitle.clone_from(&self.subtitle);
        memory.narrative.clone_from(&self.narrative);
        memory.facts.clone_from(&self.facts);
        memory.concepts.clone_from(&self.concepts);
        memory.files_read.clone_from(&self.files_read);
        memory.files_modified.clone_from(&self.files_modified);
    }
}
