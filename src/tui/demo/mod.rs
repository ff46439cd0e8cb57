//! Sample memories with a live stream: what `--demo`, the tapes, the pictures and the tests of the screen look at. It
//! touches nothing: no file, no clock of the system, no network.

mod journal;
mod make;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

pub use make::{PROJECTS, START_MS, make};

use self::journal::Shelf;
use self::make::{arriving, session_id, time};
use crate::hub::live::{
    Applied, Change, Changes, ContextAsk, ContextItem, ContextPreview, Funnel, HourCount, ListRow, Opened, Problem,
    ProjectInfo, QueueRow, Rec, RedactReach, RowBatch, RowFlags, Seen, SessionInfo, Source, StepInfo, TokensToday,
    TrashRow, Trouble, Vitals, Window, WordHits, project_key,
};
use crate::memory::{Kind, Memory, MemoryId, from_millis, millis};
use crate::recall::query::{Fields, Judge, Local, Query, Vocabulary};

/// Memories in the demo.
pub const SIZE: usize = 2_000;
/// A new one comes this often.
const EVERY_MS: i64 = 7_000;

/// The demo's time: begins at [`START_MS`] and goes on only as far as it is told.
#[derive(Clone, Debug)]
pub struct DemoClock(Arc<AtomicI64>);

impl Default for DemoClock {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(START_MS)))
    }
}

impl DemoClock {
    /// The present.
    pub fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// So many milliseconds have passed since the beginning.
    pub fn set_elapsed(&self, ms: i64) {
        self.0.store(START_MS + ms, Ordering::Relaxed);
    }
}

/// The sample memories as a source.
#[derive(Debug)]
pub struct Demo {
    clock: DemoClock,
    shelf: Shelf,
    types: Vec<String>,
    arrived: usize,
    streaming: bool,
    live_from: i64,
    /// What recording is like, for those who want to see it otherwise.
    pub rec: Option<Rec>,
}

impl Demo {
    /// `n` memories.
    pub fn new(clock: DemoClock, n: usize, streaming: bool) -> Self {
        let made = make(n, 42);
        let mut shelf = Shelf::default();
        for memory in made.memories {
            shelf.memories.insert(memory.id.0, memory);
        }
        let types = crate::mode::code().types.into_iter().map(|def| def.id).collect();
        Self { live_from: n as i64, clock, shelf, types, arrived: 0, streaming, rec: None }
    }

    /// Puts a memory there, as an observer would: for tests.
    pub fn arrive(&mut self, memory: Memory) {
        self.shelf.touched.push(memory.id.0);
        self.shelf.memories.insert(memory.id.0, memory);
    }

    /// The memories that are there, oldest first: for tests.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.shelf.memories.values()
    }

    /// Steps of the journal: for tests.
    pub fn steps(&self) -> usize {
        self.shelf.history().len()
    }

    fn push(&self, memory: &Memory, facts: bool, out: &mut RowBatch) {
        let mut flags = RowFlags::default();
        flags.set(RowFlags::PINNED, memory.pinned);
        flags.set(RowFlags::EXCLUDED, memory.excluded);
        flags.set(RowFlags::EDITED, memory.edited);
        flags.set(RowFlags::SUPERSEDED, memory.superseded_by.is_some());
        flags.set(RowFlags::WILD, memory.kind == Kind::Observation && !self.types.contains(&memory.type_id));
        let all = if facts { memory.facts.join("\n") } else { String::new() };
        out.push(&ListRow {
            id: memory.id.0,
            created_ms: millis(memory.created_at),
            kind: memory.kind,
            type_id: &memory.type_id,
            project: &key_of(memory),
            session: memory.session.as_ref().map_or("", |id| id.as_str()),
            prompt: memory.prompt_number,
            tokens: memory.tokens,
            flags,
            title: &memory.title,
            subtitle: &memory.subtitle,
            facts: &all,
        });
    }

    fn newest_first(&self) -> Vec<&Memory> {
        let mut all: Vec<&Memory> = self.shelf.memories.values().collect();
        all.sort_by_key(|memory| std::cmp::Reverse((memory.created_at, memory.id)));
        all
    }

    fn stream(&mut self) {
        if !self.streaming || self.shelf.paused {
            return;
        }
        let due = ((self.clock.now() - START_MS) / EVERY_MS).max(0) as usize;
        while self.arrived < due {
            self.arrived += 1;
            let at = START_MS + self.arrived as i64 * EVERY_MS;
            let id = self.live_from + self.arrived as i64;
            self.arrive(arriving(id, at, self.arrived));
        }
    }

    fn read(&self, query: &str) -> Query {
        let local = Local { now: from_millis(self.clock.now()), zone: jiff::tz::TimeZone::UTC };
        Query::parse(query, &Vocabulary::default(), &local)
    }
}

/// One sample memory: for tests.
pub fn sample(id: i64) -> Memory {
    let mut memory = make(1, id as u64).memories.remove(0);
    memory.id = MemoryId(id);
    memory.kind = Kind::Observation;
    memory.type_id = "discovery".into();
    memory
}

fn key_of(memory: &Memory) -> String {
    let known = PROJECTS.iter().find(|(root, name, worktree)| {
        *root == memory.project_root && (if worktree.is_empty() { name } else { worktree }) == &memory.project
    });
    project_key(&memory.project_root, known.map_or("", |(_, _, worktree)| worktree))
}

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
        let now = self.clock.now();
        let last = START_MS + self.arrived as i64 * EVERY_MS - 4_000;
        let rec = match self.rec {
            Some(rec) => rec,
            None if self.shelf.paused => Rec::Off,
            None => Rec::Ok(last),
        };
        Ok(Vitals {
            rec,
            cause: if matches!(rec, Rec::Down(_)) { "the collector (pid 4120) is gone".into() } else { String::new() },
            pid: Some(4120),
            own: true,
            since_ms: Some(START_MS - 34 * 3_600_000),
            last_line_ms: Some(last + 1_000),
            last_answer_ms: Some(last),
            last_write_ms: Some(last),
            last_memory_ms: Some(last),
            oldest_waiting_ms: Some(START_MS - 41_000 + (now - START_MS) / 60_000 * 60_000),
            last_context_ms: Some(START_MS - 5 * 3_600_000),
            hook: Some(true),
            waiting: 3,
            backlog: 0,
            slots: Some((1, 2)),
            queue: vec![
                QueueRow {
                    session: "S171".into(),
                    project: "webapp".into(),
                    waiting: 2,
                    oldest_ms: START_MS - 6_000,
                    slot: Some(1),
                    last: "ok".into(),
                },
                QueueRow {
                    session: "S172".into(),
                    project: "infra".into(),
                    waiting: 1,
                    oldest_ms: START_MS - 41_000,
                    slot: None,
                    last: "waits for a slot".into(),
                },
            ],
            funnel: Some(Funnel {
                seen: 214,
                blocked: 31,
                sent: 183,
                skipped: 130,
                kept: 42,
                rejected: 9,
                quarantined: 2,
            }),
            tokens: Some(TokensToday {
                input: 9_300,
                output: 3_100,
                cached: 88_000,
                budget: 200_000,
                week: vec![31_000, 52_000, 78_000, 24_000, 9_000, 11_000, 96_000],
                cost: Some(0.21),
            }),
            five_hour: Some(Window { used: 0.31, resets_ms: Some(START_MS + 157 * 60_000), from_account: true }),
            seven_day: Some(Window { used: 0.12, resets_ms: Some(START_MS + 4 * 86_400_000), from_account: true }),
            observer: "claude · haiku".into(),
            watch: "notify".into(),
            db_bytes: Some(24_000_000),
            wal_bytes: Some(1_200_000),
            rss_bytes: Some(13_000_000),
            problems: vec![
                Problem {
                    at_ms: START_MS - 321 * 60_000,
                    session: "S164".into(),
                    what: "S164 infra  observer timed out after 180 s".into(),
                    lost: 0,
                    kept: 4,
                    open: true,
                    key: String::new(),
                },
                Problem {
                    at_ms: START_MS - 91 * 60_000,
                    session: "S170".into(),
                    what: "S170 webapp  observer answered in prose, batch tried again".into(),
                    lost: 0,
                    kept: 1,
                    open: false,
                    key: String::new(),
                },
                Problem {
                    at_ms: START_MS - 106 * 60_000,
                    session: String::new(),
                    what: "account  rate limit: 5-hour window full".into(),
                    lost: 0,
                    kept: 6,
                    open: false,
                    key: String::new(),
                },
            ],
        })
    }

    fn context(&mut self, ask: &ContextAsk) -> Result<ContextPreview, Trouble> {
        let limit = ask.limit.unwrap_or(50);
        let root = if ask.project.is_empty() { "/home/dev/webapp" } else { &ask.project };
        let mut preview = ContextPreview {
            limit,
            mode: "code".into(),
            project: root.rsplit('/').next().unwrap_or(root).into(),
            summaries: 10,
            ..ContextPreview::default()
        };
        let item = |memory: &Memory, reason: &str, detail: &str| ContextItem {
            id: memory.id,
            reason: reason.into(),
            detail: detail.into(),
        };
        let newest = self.newest_first();
        let here = newest.iter().filter(|memory| memory.kind == Kind::Observation && memory.project_root == root);
        let mut text = format!("# Memory of {}\n\n", preview.project);
        let (mut chosen, mut later) = (Vec::new(), Vec::new());
        for memory in here {
            if memory.excluded {
                preview.out.push(item(memory, "excluded", "excluded by you: kept, searchable, never injected"));
            } else if memory.pinned {
                chosen.insert(0, item(memory, "pinned", "pinned by you: always in"));
            } else if !self.types.contains(&memory.type_id) {
                let detail =
                    format!("type “{}” is not in mode “code”, so it is never injected: T retypes it", memory.type_id);
                preview.out.push(item(memory, "type", &detail));
            } else if (chosen.len() as u32) < limit {
                chosen.push(item(memory, "recent", "among the newest of this project"));
            } else {
                later.push(item(
                    memory,
                    "limit",
                    &format!("{limit} newer ones fill the limit: > raises it, p pins it"),
                ));
            }
        }
        later.truncate(400);
        for item in &chosen {
            if let Some(memory) = self.shelf.memories.get(&item.id.0) {
                let at = memory.created_at.strftime("%H:%M");
                text.push_str(&format!("#{} {at} {} {}\n", memory.id.0, memory.type_id, memory.title));
            }
        }
        preview.out.splice(0..0, later);
        preview.tokens = crate::memory::estimate_tokens(&text);
        preview.within = chosen;
        let dropped = text.lines().skip(8).collect::<Vec<_>>().join("\n");
        preview.last_text = Some(format!("# Memory of {}\n\n{dropped}\n", preview.project));
        preview.text = text;
        Ok(preview)
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

/// The live session's id: for tests.
pub fn live_session() -> String {
    session_id(1)
}
