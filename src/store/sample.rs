//! Made-up memories in any number, the same for the same seed: for benches, for `cmem bench ui`, for tests at size.
//!
//! The mix follows tui.md C.2: discovery 50 %, feature 20, change 12, bugfix 6, refactor 4, the rest decisions and
//! wild types; Chinese and Japanese text 5 %, pictures 2 %, hostile escapes 0.1 %. Sessions of about fourteen
//! memories, a dozen projects of which one is most of the work, each memory resting on a few events.

use super::Store;
use super::api::{Commit, LedgerRow, Outcome, SessionRow};
use super::error::Result;
use crate::memory::{
    EventKey, Evidence, Kind, NewMemory, ProjectRef, SessionId, Source, Summary, Timestamp, from_millis,
};

/// How much text a memory has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// About 700 bytes, as the screens were measured with.
    Short,
    /// About 1.5 kB, as disk use is measured with.
    Usual,
}

/// What is made.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// How many memories.
    pub rows: usize,
    /// How much text each has.
    pub size: Size,
    /// Event keys each rests on.
    pub keys: usize,
    /// Another seed gives other memories.
    pub seed: u64,
}

impl Sample {
    /// `rows` short memories with four event keys each.
    pub fn of(rows: usize) -> Sample {
        Sample { rows, size: Size::Short, keys: 4, seed: 7 }
    }

    /// Time of the newest row: 2026-03-01T10:00:00Z, so that "today" can be asked for with a fixed clock.
    pub fn end() -> Timestamp {
        from_millis(END_MS)
    }

    /// The commits that record them, oldest first, about 200 rows each.
    pub fn commits(self) -> impl Iterator<Item = Commit> {
        let mut at = 0;
        std::iter::from_fn(move || {
            if at >= self.rows {
                return None;
            }
            let until = (at + 200).min(self.rows);
            let mut commit = Commit { now: Some(from_millis(END_MS)), ..Commit::default() };
            for row in at..until {
                self.add(row, &mut commit);
            }
            at = until;
            Some(commit)
        })
    }

    /// Records all of them.
    pub fn fill(self, store: &mut Store) -> Result<()> {
        for commit in self.commits() {
            store.record(&commit)?;
        }
        Ok(())
    }

    /// One memory, whatever the order they are asked for in.
    pub fn memory(self, row: usize) -> NewMemory {
        let mut rng = Rng(self.seed ^ (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let session = row / 14;
        let mut session_rng = Rng(self.seed.rotate_left(17) ^ session as u64);
        let project = PROJECTS[session_rng.skewed(PROJECTS.len())];
        let kind = match rng.below(100) {
            0..=4 => Kind::Summary,
            5..=14 => Kind::Prompt,
            _ => Kind::Observation,
        };
        let type_id = match (kind, rng.below(1000)) {
            (Kind::Summary, _) => "summary",
            (Kind::Prompt, _) => "prompt",
            (_, 0..=499) => "discovery",
            (_, 500..=699) => "feature",
            (_, 700..=819) => "change",
            (_, 820..=879) => "bugfix",
            (_, 880..=919) => "refactor",
            (_, 920..=949) => "decision",
            (_, 950..=959) => "security_note",
            (_, n) => WILD[n % WILD.len()],
        };
        let mut title = rng.sentence(5, 11);
        match rng.below(1000) {
            0..=49 => title = format!("{}{}", CJK[rng.below(CJK.len())], CJK[rng.below(CJK.len())]),
            50..=69 => title.push_str(PICTURES[rng.below(PICTURES.len())]),
            70 => title.push_str("\u{1b}]0;owned\u{7}\u{202e}"),
            _ => {}
        }
        // A number keeps near-equal titles from being folded into one: a sample has the rows it was asked for.
        title.push_str(&format!(" {row}"));
        let (sentences, facts) = match self.size {
            Size::Short => (3, 2),
            Size::Usual => (11, 4),
        };
        let narrative = rng.prose(sentences);
        let modified = if rng.below(3) == 0 { vec![rng.path()] } else { Vec::new() };
        let read: Vec<String> = (0..rng.below(4)).map(|_| rng.path()).collect();
        NewMemory {
            kind,
            type_id: type_id.into(),
            raw_type: None,
            subtitle: rng.sentence(6, 12),
            facts: (0..facts).map(|_| rng.sentence(7, 14)).collect(),
            concepts: vec![CONCEPTS[rng.below(CONCEPTS.len())].into()],
            evidence: if modified.is_empty() && read.is_empty() { Evidence::None } else { Evidence::Files },
            files_read: read,
            files_modified: modified,
            project: Some(ProjectRef {
                root: format!("/home/ana/src/{project}"),
                name: project.into(),
                worktree: session.is_multiple_of(29).then(|| "wt-auth".to_owned()),
            }),
            cwd: Some(format!("/home/ana/src/{project}")),
            branch: Some("main".into()),
            agent: (rng.below(12) == 0).then(|| "a1b2c3".into()),
            session: Some(SessionId(uuid_like(self.seed, session as u64))),
            prompt_number: u32::try_from(row % 14 / 3 + 1).unwrap_or(1),
            created_at: from_millis(
                END_MS - ((self.rows - 1 - row) as i64) * self.gap_ms() - (rng.below(40_000) as i64),
            ),
            source: if rng.below(5) == 0 { Source::Offline } else { Source::Observer },
            model: Some("haiku".into()),
            work_tokens: 400 + u32::try_from(rng.below(4_000)).unwrap_or(0),
            summary: (kind == Kind::Summary).then(|| Summary {
                request: title.clone(),
                completed: narrative.clone(),
                next_steps: rng.sentence(6, 12),
                ..Summary::default()
            }),
            keys: (0..self.keys).map(|at| self.key(row, at)).collect(),
            title,
            narrative,
            ..NewMemory::default()
        }
    }

    /// Two years of work, or as long as it takes at one memory a minute.
    fn gap_ms(self) -> i64 {
        (63_072_000_000 / self.rows.max(1) as i64).clamp(63_000, 600_000)
    }

    fn key(self, row: usize, at: usize) -> EventKey {
        EventKey(format!("toolu_01{:022x}", (row as u128) << 8 | at as u128 | (self.seed as u128) << 64))
    }

    fn add(self, row: usize, commit: &mut Commit) {
        let mut memory = self.memory(row);
        let at = commit.memories.len();
        let session = memory.session.clone().unwrap_or_else(|| SessionId::from("-"));
        for key in std::mem::take(&mut memory.keys) {
            commit.ledger.push(LedgerRow {
                key,
                alias: None,
                session: session.clone(),
                kind: "tool".into(),
                time: Some(memory.created_at),
                outcome: Outcome::Stored,
                gate: 5,
                reason: "stored".into(),
                call: None,
                memories: vec![at],
            });
        }
        if row.is_multiple_of(14) {
            commit.sessions.push(SessionRow {
                session: session.0,
                project: memory.project.clone(),
                title: Some(memory.title.clone()),
                started_at: Some(memory.created_at),
                last_at: Some(memory.created_at),
                prompts: 5,
                last_prompt: Some(memory.subtitle.clone()),
            });
        }
        commit.memories.push(memory);
    }
}

const END_MS: i64 = 1_772_359_200_000;

fn uuid_like(seed: u64, n: u64) -> String {
    let mut rng = Rng(seed ^ n.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let (a, b) = (rng.next(), rng.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}

const PROJECTS: [&str; 12] =
    ["webapp", "infra", "cmem", "notes", "orchard", "ledger", "mailer", "atlas", "shop", "docs", "tools", "sandbox"];

const WILD: [&str; 4] = ["milestone", "verification", "progress", "code"];

const CONCEPTS: [&str; 7] =
    ["how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off"];

const CJK: [&str; 6] = [
    "修复支付回调重复",
    "登录令牌刷新",
    "数据库索引缺失",
    "認証ミドルウェアを直した",
    "キャッシュの失効",
    "결제콜백중복",
];

const PICTURES: [&str; 4] = [" 🦀", " 👩‍💻", " 🇩🇪", " ✅"];

const PARTS: [&str; 12] =
    ["auth", "stream", "router", "queue", "worker", "token", "cache", "store", "mailer", "session", "index", "config"];

/// A few common words, many rarer ones: drawn with a skew, so that hits per word range from half the rows to a few.
const WORDS: [&str; 96] = [
    "the",
    "token",
    "request",
    "is",
    "in",
    "and",
    "of",
    "refresh",
    "queue",
    "test",
    "a",
    "to",
    "fixed",
    "index",
    "cache",
    "for",
    "login",
    "with",
    "database",
    "worker",
    "client",
    "server",
    "error",
    "session",
    "retry",
    "pool",
    "config",
    "route",
    "after",
    "handler",
    "schema",
    "build",
    "branch",
    "timeout",
    "deploy",
    "race",
    "lock",
    "row",
    "commit",
    "parser",
    "stream",
    "buffer",
    "migration",
    "middleware",
    "endpoint",
    "metrics",
    "renderer",
    "fixture",
    "payload",
    "webhook",
    "scheduler",
    "callback",
    "audit",
    "checksum",
    "snapshot",
    "pagination",
    "throttle",
    "cursor",
    "rollback",
    "locale",
    "encoder",
    "heartbeat",
    "sandbox",
    "linter",
    "toolchain",
    "docker",
    "gateway",
    "replica",
    "shard",
    "compaction",
    "backoff",
    "idempotent",
    "serializer",
    "validator",
    "quota",
    "tracing",
    "allocator",
    "watchdog",
    "tokenizer",
    "debounce",
    "semaphore",
    "bloom",
    "quorum",
    "manifest",
    "vendored",
    "bisect",
    "flaky",
    "hydrate",
    "memoize",
    "normalise",
    "prefetch",
    "sanitise",
    "telemetry",
    "unblock",
    "zombie",
    "xylophone",
];

/// Small, fast, the same everywhere.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// Below `n`, the small ones far more often.
    fn skewed(&mut self, n: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((unit * unit * unit) * n as f64) as usize
    }

    fn word(&mut self) -> String {
        match self.below(40) {
            0 => format!("{}_{}", PARTS[self.below(12)], PARTS[self.below(12)]),
            1 => format!("{}{}", WORDS[self.below(WORDS.len())], self.below(900)),
            _ => WORDS[self.skewed(WORDS.len())].to_owned(),
        }
    }

    fn sentence(&mut self, from: usize, to: usize) -> String {
        let n = from + self.below(to - from);
        (0..n).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn prose(&mut self, sentences: usize) -> String {
        (0..sentences).map(|_| self.sentence(12, 22) + ".").collect::<Vec<_>>().join(" ")
    }

    fn path(&mut self) -> String {
        format!("src/{}/{}.rs", PARTS[self.below(12)], PARTS[self.below(12)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::api::Filter;

    #[test]
    fn the_same_every_time_and_as_many_as_asked_for() {
        assert_eq!(Sample::of(1000).memory(321), Sample::of(1000).memory(321));
        let mut store = Store::in_memory(Sample::end()).unwrap();
        Sample::of(1000).fill(&mut store).unwrap();
        let all = Filter { kinds: super::super::api::ALL_KINDS.to_vec(), ..Filter::default() };
        assert_eq!(store.count(&all).unwrap(), 1000);
        let counts = store.type_counts(&Filter::default()).unwrap();
        assert_eq!(counts[0].type_id, "discovery");
        let usual: usize = (0..50)
            .map(|row| Sample { size: Size::Usual, ..Sample::of(100) }.memory(row))
            .map(|it| {
                it.title.len()
                    + it.subtitle.len()
                    + it.narrative.len()
                    + it.facts.iter().map(String::len).sum::<usize>()
            })
            .sum();
        assert!((1_300..1_700).contains(&(usual / 50)), "{} bytes of text", usual / 50);
    }
}
