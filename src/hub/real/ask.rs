//! Questions: searching, projects, sessions, hours, context, trash, journal, where things come from.

use super::Real;
use super::rows::all_kinds;
use crate::config::repository::CaseRule;
use crate::gate::exclude::Exclusions;
use crate::hub::Question;
use crate::hub::live::{
    ContextAsk, ContextItem, ContextPreview, HourCount, ProjectInfo, RedactReach, SessionInfo, StepInfo, StepState,
    TrashRow, WordHits, project_key,
};
use crate::memory::{Kind, Memory, MemoryId, ProjectRef, from_millis, millis};
use crate::recall::context::Verdict;
use crate::recall::find::{Engine, holds};
use crate::recall::injected;
use crate::recall::query::{Judge, Local, Query, Sort};
use crate::recall::tell::Teller;
use crate::store::api::{Filter, Outcome};
use crate::store::{Order, Result, curate};

/// A session that was heard of this lately is live.
const LIVE_MS: i64 = 10 * 60_000;
/// Text around a match.
const SNIPPET: usize = 160;
const DAY_MS: i64 = 86_400_000;

impl Real {
    fn local(&self) -> Local {
        Local { now: self.now(), zone: self.setup.zone.clone() }
    }

    pub(super) fn find_words(&self, query: &str, projects: &[String], limit: usize) -> Result<WordHits> {
        let question = Question {
            text: query.to_owned(),
            base: Filter { projects: projects.to_vec(), ..all_kinds() },
            label: String::new(),
            engine: Engine::Words,
            sort: Sort::Newest,
            limit,
            ..Question::default()
        };
        let answer = self.hub.search(&question, &self.local())?;
        let read = Query::parse(query, &self.hub.vocabulary()?, &self.local());
        let judge = Judge::new(&read);
        let hits = answer.found.items.iter().map(|item| (item.memory.id, snippet(&judge, &item.memory)));
        Ok(WordHits { hits: hits.collect(), more: answer.found.more })
    }

    /// Ids that meet conditions a list cannot check: from the index where it knows them, else row by row.
    pub(super) fn find_matching(&self, query: &str) -> Result<Vec<MemoryId>> {
        let read = Query::parse(query, &self.hub.vocabulary()?, &self.local());
        let filter = Filter { kinds: read.kinds(), ..read.filter.clone() };
        let judged = !read.fields.is_empty() && !read.groups.is_empty();
        if read.checks.is_empty() && !judged {
            return self.hub.store().ids(&filter);
        }
        let judge = Judge::new(&read);
        let mut out = Vec::new();
        let mut after = None;
        loop {
            let page = self.hub.store().list(&filter, Order::Newest, after, 2_000)?;
            let full = page.len() == 2_000;
            after = page
                .last()
                .map(|memory| crate::store::PageKey { created_ms: millis(memory.created_at), id: memory.id });
            let meets = |memory: &&Memory| {
                read.checks.iter().all(|check| holds(check, memory, None))
                    && (!judged || judge.admits(&crate::recall::query::Fields::from(*memory)))
            };
            out.extend(page.iter().filter(meets).map(|memory| memory.id));
            if !full {
                return Ok(out);
            }
        }
    }

    pub(super) fn all_projects(&self) -> Result<Vec<ProjectInfo>> {
        let excluded = self.hub.excluded()?;
        let mut out: Vec<ProjectInfo> = self
            .hub
            .projects()?
            .into_iter()
            .filter(|project| project.alias_of.is_none())
            .map(|project| ProjectInfo {
                excluded: project.excluded || excluded.contains(&project.root),
                memories: project.observations,
                worktree: project.worktree.unwrap_or_default(),
                root: project.root,
                name: project.name,
            })
            .collect();
        // A worktree stands below its main checkout, projects with most memories first.
        let weight: std::collections::HashMap<String, u64> = out.iter().fold(Default::default(), |mut all, project| {
            *all.entry(project.root.clone()).or_insert(0) += project.memories;
            all
        });
        out.sort_by(|a, b| {
            let of = |project: &ProjectInfo| weight.get(&project.root).copied().unwrap_or(0);
            of(b).cmp(&of(a)).then_with(|| a.root.cmp(&b.root)).then_with(|| a.worktree.cmp(&b.worktree))
        });
        Ok(out)
    }

    pub(super) fn newest_sessions(&self, limit: usize) -> Result<Vec<SessionInfo>> {
        let now = millis(self.now());
        let projects = self.hub.projects()?;
        let sessions = self.hub.store().sessions(&[], None, limit)?;
        let infos = sessions.into_iter().map(|info| {
            let last_ms = info.last_at.map_or(0, millis);
            let worktree = projects.iter().find(|project| {
                project.root == info.project_root
                    && project.worktree.as_deref().is_some_and(|name| info.project.rsplit('/').next() == Some(name))
            });
            SessionInfo {
                id: info.session.as_str().to_owned(),
                title: info.title,
                project: project_key(&info.project_root, worktree.and_then(|p| p.worktree.as_deref()).unwrap_or("")),
                started_ms: info.started_at.map_or(0, millis),
                last_ms,
                prompts: info.prompts,
                observations: info.observations,
                summaries: info.summaries,
                last_prompt: info.last_prompt,
                live: now - last_ms < LIVE_MS,
                failed: None,
                cwd: info.project_root,
            }
        });
        Ok(infos.collect())
    }

    pub(super) fn session_summaries(&self, session: &str) -> Result<Vec<Memory>> {
        let filter = Filter { sessions: vec![session.to_owned()], kinds: vec![Kind::Summary], ..Filter::default() };
        self.hub.store().list(&filter, Order::Oldest, None, 50)
    }

    pub(super) fn hour_counts(&self, projects: &[String], since: i64, until: i64) -> Result<Vec<HourCount>> {
        let counts = self.hub.store().hour_counts(projects, from_millis(since), from_millis(until))?;
        let of_observations = counts.into_iter().filter(|count| count.kind == Kind::Observation);
        Ok(of_observations
            .map(|count| HourCount {
                hour: count.hour,
                type_id: count.type_id,
                n: u32::try_from(count.n).unwrap_or(u32::MAX),
                tokens: count.tokens,
                work_tokens: count.work_tokens,
            })
            .collect())
    }

    /// What the next session gets, by the function the hook calls.
    pub(super) fn preview(&self, ask: &ContextAsk) -> Result<ContextPreview> {
        let mut settings = self.setup.settings.context.clone();
        if let Some(limit) = ask.limit {
            settings.observations = limit;
        }
        let projects = self.hub.projects()?;
        // Without a project in view: the one with the newest memory.
        let newest = || projects.iter().max_by_key(|project| project.last_at).map(|project| project.root.clone());
        let root = if ask.project.is_empty() { newest().unwrap_or_default() } else { ask.project.clone() };
        let name = projects.iter().find(|project| project.root == root).map(|project| project.name.clone());
        let name = name.unwrap_or_else(|| root.rsplit('/').next().unwrap_or(&root).to_owned());
        let project = ProjectRef { root: root.clone(), name: name.clone(), worktree: None };
        let home = self.setup.dirs.home.as_deref();
        let (excluded, _) = Exclusions::new(&self.setup.settings.record.exclude, home, CaseRule::of_host());
        let teller = Teller {
            store: self.hub.store(),
            mode: self.hub.mode(),
            zone: &self.setup.zone,
            settings: &settings,
            excluded: &excluded,
        };
        let context = teller.session_start(&project)?;
        let item = |verdict: &Verdict| ContextItem {
            id: verdict.id,
            reason: verdict.reason.word().to_owned(),
            detail: verdict.reason.sentence(),
        };
        let (_, summaries) = context.counts();
        Ok(ContextPreview {
            tokens: context.tokens,
            within: context.chosen.iter().map(item).collect(),
            out: context.left_out.iter().map(item).collect(),
            limit: settings.observations,
            summaries: summaries as u32,
            mode: self.hub.mode().id.clone(),
            project: name,
            last_text: injected::last(&self.setup.dirs.state, &root).map(|last| last.text),
            text: context.text,
        })
    }

    pub(super) fn trash_rows(&self, limit: usize) -> Result<Vec<TrashRow>> {
        let days = i64::from(self.setup.settings.trash.days);
        let trashed = self.hub.store().trashed(None, limit)?;
        let mut batch: std::collections::HashMap<i64, u32> = std::collections::HashMap::new();
        for row in &trashed {
            *batch.entry(row.step).or_default() += 1;
        }
        Ok(trashed
            .into_iter()
            .map(|row| TrashRow {
                batch: batch.get(&row.step).copied().unwrap_or(1),
                leaves_at: from_millis(millis(row.deleted_at).saturating_add(days * DAY_MS)),
                deleted_at: row.deleted_at,
                actor: actor_word(&row.deleted_by),
                step: row.step,
                merged_into: row.merged_into,
                memory: row.memory,
            })
            .collect())
    }

    pub(super) fn steps(&self, limit: usize) -> Result<Vec<StepInfo>> {
        let steps = self.hub.store().history(limit)?;
        Ok(steps
            .into_iter()
            .map(|step| StepInfo {
                id: step.id,
                at: step.at,
                actor: actor_word(&step.actor),
                label: format!("{} {}", step.verb, step.label),
                rows: u32::try_from(step.rows).unwrap_or(u32::MAX),
                state: match step.state {
                    curate::StepState::Done => StepState::Done,
                    curate::StepState::Undone => StepState::Undone,
                    curate::StepState::Gone => StepState::Gone,
                },
            })
            .collect())
    }

    pub(super) fn reach_of(&self, needle: &str) -> Result<RedactReach> {
        let (live, trashed) = self.hub.store().holds(needle)?;
        let mut places = Vec::new();
        for (word, n) in [("memories", live), ("trash", trashed)] {
            if n > 0 {
                places.push((word.to_owned(), u32::try_from(n).unwrap_or(u32::MAX)));
            }
        }
        let beyond = vec![
            "the index, the vectors, the journal and freed pages are rewritten too".to_owned(),
            "backups, exports, and Claude Code's transcripts keep the old text".to_owned(),
        ];
        Ok(RedactReach { places, ids: Vec::new(), samples: Vec::new(), beyond })
    }

    /// Each event a memory rests on, and how it came through the gates.
    pub(super) fn where_from(&self, id: MemoryId) -> Result<Vec<String>> {
        let store = self.hub.store();
        let Some(memory) = store.get(&[id])?.pop() else { return Ok(Vec::new()) };
        let mut lines = Vec::new();
        for key in memory.keys.iter().take(12) {
            let Some(entry) = store.ledger_of(key)? else { continue };
            let outcome = match entry.outcome {
                Outcome::Stored => "stored",
                Outcome::Skipped => "skipped",
                Outcome::Dropped => "dropped",
                Outcome::Quarantined => "put aside",
            };
            let call = entry.call.map_or_else(String::new, |call| format!(", call {call}"));
            lines.push(format!(
                "{} {}: {outcome} at gate {}, {}{call}",
                entry.kind,
                key.as_str(),
                entry.gate,
                entry.reason
            ));
        }
        if memory.keys.len() > 12 {
            lines.push(format!("{} more events", memory.keys.len() - 12));
        }
        if lines.is_empty() {
            lines.push("written by hand or brought by an import: no event stands behind it".into());
        }
        Ok(lines)
    }

    /// The tail of the newest log file.
    pub(super) fn log_lines(&self, wanted: usize) -> Vec<String> {
        const TAIL: u64 = 64 * 1024;
        let newest = std::fs::read_dir(self.setup.dirs.logs())
            .ok()
            .and_then(|entries| entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).max());
        let Some(path) = newest else { return vec!["there is no log yet".into()] };
        let text = (|| {
            use std::io::{Read, Seek, SeekFrom};
            let mut file = std::fs::File::open(&path)?;
            let len = file.metadata()?.len();
            file.seek(SeekFrom::Start(len.saturating_sub(TAIL)))?;
            let mut bytes = Vec::new();
            file.take(TAIL).read_to_end(&mut bytes)?;
            Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).into_owned())
        })();
        match text {
            Ok(text) => {
                let lines: Vec<&str> = text.lines().collect();
                let mut out = vec![path.display().to_string(), String::new()];
                out.extend(lines[lines.len().saturating_sub(wanted)..].iter().map(|line| (*line).to_owned()));
                out
            }
            Err(error) => vec![format!("{} could not be read: {error}", path.display())],
        }
    }
}

/// The journal's actor as people read it.
fn actor_word(actor: &str) -> String {
    if actor == "tui" { "you".to_owned() } else { actor.to_owned() }
}

/// The narrative around the first match.
fn snippet(judge: &Judge, memory: &Memory) -> String {
    let text = &memory.narrative;
    let Some(mark) = judge.marks(text).into_iter().next() else { return String::new() };
    let from = text[..mark.start].rfind(['.', '\n']).map_or(0, |at| at + 1);
    // A sentence that begins far before the match would hide it.
    let from = if mark.start - from > 60 { text.floor_char_boundary(mark.start - 40) } else { from };
    crate::memory::clip_chars(text[from..].trim_start(), SNIPPET).to_owned()
}
