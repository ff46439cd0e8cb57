//! The sample memories behind the seam of a face that stays open.

use super::journal::Shelf;
use super::make::{PROJECTS, time};
use super::{Demo, key_of, words};
use crate::hub::live::{
    Applied, Change, Changes, ContextAsk, ContextPreview, HourCount, Opened, ProjectInfo, RedactReach, RowBatch, Seen,
    SessionInfo, Source, StepInfo, TrashRow, Trouble, Vitals, WordHits, project_key,
};
use crate::memory::{Kind, Memory, MemoryId, millis};
use crate::recall::query::{Fields, Judge};

impl Source for Demo {
    fn opened(&mut self) -> Result<Opened, Trouble> {
        let rows = self.shelf.memories.len() as u64;
        Ok(Opened { place: "sample memories".into(), rows, read_only: None, demo: true })
    }

    fn newest(&mut self, limit: usize, out: &mut RowBatch) -> Result<(), Trouble> {
        for memory in self.newest_first().into_iter().take(limit) {
            self.push(memory, true, out);
        }
        Ok(())
    }

    fn page(
        &mut self,
        before: Option<MemoryId>,
        limit: usize,
        facts: bool,
        out: &mut RowBatch,
    ) -> Result<Option<MemoryId>, Trouble> {
        let below = before.map_or(i64::MAX, |id| id.0);
        let mut last = None;
        for memory in self.shelf.memories.range(..below).rev().take(limit).map(|(_, memory)| memory) {
            self.push(memory, facts, out);
            last = Some(memory.id);
        }
        Ok(last.filter(|id| self.shelf.memories.range(..id.0).next().is_some()))
    }

    fn changes(&mut self, seen: &mut Seen) -> Result<Option<Changes>, Trouble> {
        self.stream();
        seen.version += 1;
        if self.shelf.touched.is_empty() {
            return Ok(None);
        }
        let mut changes = Changes::default();
        let mut touched = std::mem::take(&mut self.shelf.touched);
        touched.sort_unstable();
        touched.dedup();
        for id in touched {
            match self.shelf.memories.get(&id) {
                Some(memory) => self.push(memory, true, &mut changes.rows),
                None => changes.gone.push(MemoryId(id)),
            }
        }
        Ok(Some(changes))
    }

    fn get(&mut self, ids: &[MemoryId]) -> Result<Vec<Memory>, Trouble> {
        Ok(ids.iter().filter_map(|id| self.shelf.memories.get(&id.0)).cloned().collect())
    }

    fn words(&mut self, query: &str, _projects: &[String], limit: usize) -> Result<WordHits, Trouble> {
        let query = self.read(query);
        let judge = Judge::new(&query);
        let mut out = WordHits::default();
        for memory in self.newest_first() {
            if judge.admits(&Fields::from(memory)) {
                if out.hits.len() == limit {
                    out.more = true;
                    break;
                }
                let near = judge.marks(&memory.narrative).first().map(|mark| {
                    let from = memory.narrative[..mark.start].rfind(". ").map_or(0, |at| at + 2);
                    crate::memory::clip_chars(&memory.narrative[from..], 160).to_owned()
                });
                out.hits.push((memory.id, near.unwrap_or_default()));
            }
        }
        Ok(out)
    }

    fn matching(&mut self, query: &str) -> Result<Vec<MemoryId>, Trouble> {
        let query = self.read(query);
        let filter = &query.filter;
        let concept = |memory: &Memory| {
            filter.concepts.is_empty() || memory.concepts.iter().any(|word| filter.concepts.contains(word))
        };
        let file = |memory: &Memory| {
            let read = if filter.modified_only { &[][..] } else { &memory.files_read[..] };
            filter.files.is_empty()
                || memory.files_modified.iter().chain(read).any(|path| {
                    filter.files.iter().any(|glob| path == glob || path.starts_with(glob.trim_end_matches("**")))
                })
        };
        Ok(self.newest_first().into_iter().filter(|m| concept(m) && file(m)).map(|m| m.id).collect())
    }

    fn projects(&mut self) -> Result<Vec<ProjectInfo>, Trouble> {
        let mut out: Vec<ProjectInfo> = PROJECTS
            .iter()
            .map(|(root, name, worktree)| {
                let key = project_key(root, worktree);
                let memories = self.shelf.memories.values().filter(|memory| key_of(memory) == key).count() as u64;
                ProjectInfo {
                    root: (*root).into(),
                    name: (*name).into(),
                    worktree: (*worktree).into(),
                    memories,
                    excluded: false,
                }
            })
            .collect();
        out.sort_by_key(|project| (project.root != "/home/dev/webapp", std::cmp::Reverse(project.memories)));
        Ok(out)
    }

    fn sessions(&mut self, limit: usize) -> Result<Vec<SessionInfo>, Trouble> {
        let mut out: Vec<SessionInfo> = Vec::new();
        for memory in self.newest_first() {
            let Some(id) = memory.session.as_ref().map(|id| id.as_str()) else { continue };
            let at = millis(memory.created_at);
            if out.last().is_none_or(|last| last.id != id) && !out.iter().any(|info| info.id == id) {
                let nth = out.len();
                out.push(SessionInfo {
                    id: id.into(),
                    title: if nth % 7 == 3 {
                        String::new()
                    } else {
                        words::SESSIONS[nth % words::SESSIONS.len()].into()
                    },
                    project: key_of(memory),
                    last_ms: at,
                    last_prompt: words::LAST_WORDS[nth % words::LAST_WORDS.len()].into(),
                    live: nth == 0,
                    cwd: memory.project_root.clone(),
                    ..SessionInfo::default()
                });
            }
            if let Some(info) = out.iter_mut().find(|info| info.id == id) {
                info.started_ms = at;
                info.prompts = info.prompts.max(memory.prompt_number);
                match memory.kind {
                    Kind::Summary => info.summaries += 1,
                    _ => info.observations += 1,
                }
            }
        }
        out.truncate(limit);
        Ok(out)
    }

    fn summaries(&mut self, session: &str) -> Result<Vec<Memory>, Trouble> {
        let of = |memory: &&Memory| memory.session.as_ref().is_some_and(|id| id.as_str() == session);
        let summaries = self.shelf.memories.values().filter(of).filter(|memory| memory.kind == Kind::Summary);
        Ok(summaries.cloned().collect())
    }

    fn hours(&mut self, projects: &[String], since: i64, until: i64) -> Result<Vec<HourCount>, Trouble> {
        let mut out: std::collections::BTreeMap<(i64, String), HourCount> = std::collections::BTreeMap::new();
        for memory in self.shelf.memories.values().filter(|memory| memory.kind == Kind::Observation) {
            let at = millis(memory.created_at);
            if at < since || at >= until || !(projects.is_empty() || projects.contains(&key_of(memory))) {
                continue;
            }
            let hour = at.div_euclid(3_600_000);
            let slot = out.entry((hour, memory.type_id.clone())).or_insert_with(|| HourCount {
                hour,
                type_id: memory.type_id.clone(),
                ..HourCount::default()
            });
            slot.n += 1;
            slot.tokens += u64::from(memory.tokens);
            slot.work_tokens += u64::from(memory.work_tokens);
        }
        Ok(out.into_values().collect())
    }

    fn vitals(&mut self) -> Result<Vitals, Trouble> {
        Ok(self.sample_vitals())
    }

    fn context(&mut self, ask: &ContextAsk) -> Result<ContextPreview, Trouble> {
        Ok(self.sample_context(ask))
    }

    fn trash(&mut self, limit: usize) -> Result<Vec<TrashRow>, Trouble> {
        let mut rows: Vec<TrashRow> = self
            .shelf
            .trash
            .values()
            .map(|trashed| TrashRow {
                memory: trashed.memory.clone(),
                deleted_at: time(trashed.at),
                actor: "you".into(),
                step: trashed.step,
                batch: self.shelf.trash.values().filter(|other| other.step == trashed.step).count() as u32,
                merged_into: trashed.merged_into,
                leaves_at: time(Shelf::leaves_at(trashed.at)),
            })
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.deleted_at, row.memory.id)));
        rows.truncate(limit);
        Ok(rows)
    }

    fn history(&mut self, limit: usize) -> Result<Vec<StepInfo>, Trouble> {
        let mut steps = self.shelf.history();
        steps.truncate(limit);
        Ok(steps)
    }

    fn apply(&mut self, change: &Change) -> Result<Applied, Trouble> {
        self.shelf.apply(change, self.clock.now())
    }

    fn undo(&mut self, step: Option<i64>) -> Result<Applied, Trouble> {
        self.shelf.undo(step)
    }

    fn redo(&mut self) -> Result<Applied, Trouble> {
        self.shelf.redo()
    }

    fn redact_reach(&mut self, needle: &str) -> Result<RedactReach, Trouble> {
        let mut reach = RedactReach::default();
        let mut counts = [("title", 0u32), ("facts", 0), ("narrative", 0), ("trash", 0)];
        for memory in self.shelf.memories.values() {
            let facts = memory.facts.iter().map(|fact| fact.matches(needle).count()).sum::<usize>();
            let hits = [memory.title.matches(needle).count(), facts, memory.narrative.matches(needle).count()];
            for (slot, n) in counts.iter_mut().zip(hits) {
                slot.1 += n as u32;
            }
            if hits.iter().any(|n| *n > 0) {
                reach.ids.push(memory.id);
                if hits[0] > 0 && reach.samples.len() < 3 {
                    reach.samples.push((format!("#{}", memory.id.0), memory.title.replace(needle, "████")));
                }
            }
        }
        counts[3].1 = self.shelf.trash.values().map(|t| t.memory.title.matches(needle).count() as u32).sum();
        reach.places = counts.into_iter().filter(|(_, n)| *n > 0).map(|(word, n)| (word.to_owned(), n)).collect();
        reach.beyond = vec!["backups, and Claude Code's own transcripts".into()];
        Ok(reach)
    }

    fn why(&mut self, id: MemoryId) -> Result<Vec<String>, Trouble> {
        let Some(memory) = self.shelf.memories.get(&id.0) else { return Ok(Vec::new()) };
        Ok(vec![
            format!("event {} passed gates 0 to 2", memory.keys.first().map_or("-", |key| key.as_str())),
            "batch of 3 tool calls and an answer, sent once".into(),
            format!("run 12, {} tokens of work, stored", memory.work_tokens),
        ])
    }

    fn log(&mut self, _lines: usize) -> Result<Vec<String>, Trouble> {
        Ok(vec!["14:29:02 batch of S171 answered in 2.1 s".into(), "14:31:02 batch of S171 answered in 1.8 s".into()])
    }
}
