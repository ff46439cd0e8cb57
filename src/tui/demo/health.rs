//! What recording and the next context look like in the demo.

use super::make::START_MS;
use super::{Demo, EVERY_MS};
use crate::hub::live::{
    ContextAsk, ContextItem, ContextPreview, Funnel, Problem, QueueRow, Rec, TokensToday, Vitals, Window,
};
use crate::memory::{Kind, Memory};

impl Demo {
    pub(super) fn sample_vitals(&self) -> Vitals {
        let now = self.clock.now();
        let last = START_MS + self.arrived as i64 * EVERY_MS - 4_000;
        let rec = match self.rec {
            Some(rec) => rec,
            None if self.shelf.paused => Rec::Off,
            None => Rec::Ok(last),
        };
        Vitals {
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
        }
    }

    pub(super) fn sample_context(&self, ask: &ContextAsk) -> ContextPreview {
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
        preview
    }
}
