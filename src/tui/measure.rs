//! How fast the screen is: frames, keys, searches over many rows, without a terminal (tui.md C).
//!
//! Rows are made on the fly from their number, so that a million of them cost no more memory than the screen itself
//! keeps. The clock is handed in.

use std::time::Duration;

use super::demo::words::{self, Dice};
use super::headless::Headless;
use super::key::Key;
use super::state::State;
use crate::hub::live::{
    Applied, Change, Changes, ContextAsk, ContextPreview, HourCount, ListRow, Opened, ProjectInfo, RedactReach,
    RowBatch, Seen, SessionInfo, Source, StepInfo, TrashRow, Trouble, Vitals, WordHits,
};
use crate::memory::{Memory, MemoryId};

/// `n` rows that nobody keeps.
#[derive(Debug)]
pub struct Bulk {
    n: i64,
    end_ms: i64,
}

impl Bulk {
    /// Rows 1 to `n`, a minute apart, the newest at `end_ms`.
    pub fn new(n: u64, end_ms: i64) -> Self {
        Self { n: n as i64, end_ms }
    }

    fn push(&self, id: i64, facts: bool, out: &mut RowBatch) {
        let mut dice = Dice::new(id as u64 ^ 0x5eed);
        let type_id = words::type_word(&mut dice);
        let (subject, file) = *dice.pick(&words::SUBJECTS);
        let (phrase, subtitle) = *dice.pick(words::phrases(type_id));
        let wide = dice.below(20) == 0;
        let title = if wide {
            (*dice.pick(&words::WIDE)).to_owned()
        } else {
            format!("{} in {file}", phrase.replace("{}", subject))
        };
        let facts: Vec<&str> = (0..if facts { dice.below(4) } else { 0 }).map(|_| *dice.pick(&words::FACTS)).collect();
        let session = format!("{:08x}", id / 14);
        out.push(&ListRow {
            id,
            created_ms: self.end_ms - (self.n - id) * 60_000,
            type_id,
            project: ["/w/webapp", "/w/infra", "/w/notes"][(id / 14 % 3) as usize],
            session: &session,
            tokens: 200,
            title: &title,
            subtitle,
            facts: &facts.join("\n"),
            ..ListRow::default()
        });
    }
}

impl Source for Bulk {
    fn opened(&mut self) -> Result<Opened, Trouble> {
        Ok(Opened { place: "made up".into(), rows: self.n as u64, read_only: None, demo: true })
    }

    fn newest(&mut self, limit: usize, out: &mut RowBatch) -> Result<(), Trouble> {
        for back in 0..(limit as i64).min(self.n) {
            self.push(self.n - back, true, out);
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
        let top = before.map_or(self.n, |id| id.0 - 1);
        let low = (top - limit as i64).max(0);
        for id in (low + 1..=top).rev() {
            self.push(id, facts, out);
        }
        Ok((low > 0).then_some(MemoryId(low + 1)))
    }

    fn changes(&mut self, _seen: &mut Seen) -> Result<Option<Changes>, Trouble> {
        Ok(None)
    }

    fn get(&mut self, _ids: &[MemoryId]) -> Result<Vec<Memory>, Trouble> {
        Ok(Vec::new())
    }

    fn words(&mut self, _query: &str, _projects: &[String], _limit: usize) -> Result<WordHits, Trouble> {
        Ok(WordHits::default())
    }

    fn matching(&mut self, _query: &str) -> Result<Vec<MemoryId>, Trouble> {
        Ok(Vec::new())
    }

    fn projects(&mut self) -> Result<Vec<ProjectInfo>, Trouble> {
        Ok(Vec::new())
    }

    fn sessions(&mut self, _limit: usize) -> Result<Vec<SessionInfo>, Trouble> {
        Ok(Vec::new())
    }

    fn summaries(&mut self, _session: &str) -> Result<Vec<Memory>, Trouble> {
        Ok(Vec::new())
    }

    fn hours(&mut self, _projects: &[String], _since: i64, _until: i64) -> Result<Vec<HourCount>, Trouble> {
        Ok(Vec::new())
    }

    fn vitals(&mut self) -> Result<Vitals, Trouble> {
        Ok(Vitals::default())
    }

    fn context(&mut self, _ask: &ContextAsk) -> Result<ContextPreview, Trouble> {
        Ok(ContextPreview::default())
    }

    fn trash(&mut self, _limit: usize) -> Result<Vec<TrashRow>, Trouble> {
        Ok(Vec::new())
    }

    fn history(&mut self, _limit: usize) -> Result<Vec<StepInfo>, Trouble> {
        Ok(Vec::new())
    }

    fn apply(&mut self, _change: &Change) -> Result<Applied, Trouble> {
        Err(Trouble::unsupported("nothing can be changed here"))
    }

    fn undo(&mut self, _step: Option<i64>) -> Result<Applied, Trouble> {
        Err(Trouble::unsupported("nothing can be changed here"))
    }

    fn redo(&mut self) -> Result<Applied, Trouble> {
        Err(Trouble::unsupported("nothing can be changed here"))
    }

    fn redact_reach(&mut self, _needle: &str) -> Result<RedactReach, Trouble> {
        Ok(RedactReach::default())
    }

    fn why(&mut self, _id: MemoryId) -> Result<Vec<String>, Trouble> {
        Ok(Vec::new())
    }

    fn log(&mut self, _lines: usize) -> Result<Vec<String>, Trouble> {
        Ok(Vec::new())
    }
}

/// A measured thing: its times, sorted.
#[derive(Debug)]
pub struct Measured {
    /// What.
    pub what: String,
    /// How long each took, shortest first.
    pub times: Vec<Duration>,
}

impl Measured {
    fn new(what: impl Into<String>, mut times: Vec<Duration>) -> Self {
        times.sort();
        Self { what: what.into(), times }
    }

    /// The time below which `share` of all lie.
    pub fn at(&self, share: f64) -> Duration {
        let last = self.times.len().saturating_sub(1);
        self.times.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    }
}

/// Queries that are typed, letter by letter.
const QUERIES: [&str; 6] = ["refresh tok", "race fixed", "支付", "why sqlite", "e", "type:bugfix order"];

/// Measures a screen of `rows` rows. `now` is a clock that only goes forward.
pub fn measure(state: State, rows: u64, size: (u16, u16), script: &str, now: &dyn Fn() -> Duration) -> Vec<Measured> {
    let mut out = Vec::new();
    let took = |with: &mut dyn FnMut()| {
        let begun = now();
        with();
        now().saturating_sub(begun)
    };
    let end = state.now;
    let mut stage = None;
    let mut state = Some(state);
    let load = took(&mut || {
        let state = state.take().unwrap_or_else(|| unreachable!("loaded once"));
        stage = Some(Headless::new(state, Bulk::new(rows, end), size));
    });
    out.push(Measured::new("load all titles", vec![load]));
    let Some(mut stage) = stage else { return out };
    let frames = (0..300).map(|_| took(&mut || drop(stage.draw()))).collect();
    out.push(Measured::new(format!("frame {}x{}", size.0, size.1), frames));
    let keys = Key::parse_sequence(script).unwrap_or_default();
    let moves = keys.iter().cycle().take(400).map(|key| {
        stage.now += 1_000;
        took(&mut || {
            stage.key(*key);
            drop(stage.draw());
        })
    });
    out.push(Measured::new("key to frame, moving", moves.collect()));
    let mut typed = Vec::new();
    for query in QUERIES {
        stage.keys("esc /");
        stage.key(Key::ctrl('u'));
        for ch in query.chars() {
            stage.now += 10; // the second tier never gets its turn: it is measured apart
            typed.push(took(&mut || stage.key(Key::char(ch))));
        }
        stage.keys("esc");
    }
    out.push(Measured::new("exact search, per key", typed));
    let texts = stage.state.arena.share(200_000);
    let patterns = ["rfrsh", "sqlte bsy", "chekout"];
    let fuzzy = patterns.iter().map(|pattern| took(&mut || drop(super::fuzzy::find(pattern, &texts, || false))));
    out.push(Measured::new("fuzzy, newest 200k", fuzzy.collect()));
    out
}
