//! The third tier: fuzzy matching off the screen's thread, over titles and subtitles of the newest rows.
//!
//! One thread, one search at a time; of searches that pile up only the newest is done. Its items are built when fuzzy
//! is first wanted and kept until the rows change.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use nucleo::pattern::{CaseMatching, Normalization, Pattern};
use nucleo::{Config, Matcher, Utf32Str};

use super::arena::{RowIx, Shared};
use super::msg::Msg;

/// Results that are kept.
const BEST: usize = 200;
/// Every so many rows a newer search is looked for.
const LOOK_EVERY: usize = 4_096;

struct Wanted {
    generation: u64,
    pattern: String,
    texts: Shared,
}

/// The thread.
pub struct Fuzzy {
    searches: Option<Sender<Wanted>>,
    thread: Option<JoinHandle<()>>,
}

impl Fuzzy {
    /// Starts the thread; it sleeps until it is asked.
    pub fn start(say: impl Fn(Msg) + Send + 'static) -> Self {
        let (searches, wanted) = channel();
        let thread = std::thread::Builder::new().name("fuzzy".into()).spawn(move || run(&wanted, &say)).ok();
        Self { searches: Some(searches), thread }
    }

    /// Searches; the answer carries the generation.
    pub fn search(&self, generation: u64, pattern: String, texts: Shared) {
        if let Some(searches) = &self.searches {
            let _ = searches.send(Wanted { generation, pattern, texts });
        }
    }

    /// Ends the thread.
    pub fn stop(mut self) {
        self.searches = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(searches: &Receiver<Wanted>, say: &impl Fn(Msg)) {
    let mut next = None;
    loop {
        let Some(mut wanted) = next.take().or_else(|| searches.recv().ok()) else { return };
        while let Ok(newer) = searches.try_recv() {
            wanted = newer;
        }
        match find(&wanted.pattern, &wanted.texts, || {
            next = searches.try_recv().ok();
            next.is_some()
        }) {
            Some(found) => say(Msg::Fuzzy(wanted.generation, found)),
            None => continue, // a newer one came
        }
    }
}

/// Rows by score, best first, newest first among equals. `None`: given up, because `stale` said so.
pub fn find(pattern: &str, texts: &Shared, mut stale: impl FnMut() -> bool) -> Option<Vec<RowIx>> {
    let pattern = Pattern::parse(pattern, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut best: Vec<(u32, usize, RowIx)> = Vec::new();
    for (at, (ix, text)) in texts.texts().enumerate() {
        if at % LOOK_EVERY == LOOK_EVERY - 1 && stale() {
            return None;
        }
        let Some(score) = pattern.score(Utf32Str::new(text, &mut buffer), &mut matcher) else { continue };
        best.push((score, at, ix));
        if best.len() >= BEST * 8 {
            keep_best(&mut best);
        }
    }
    keep_best(&mut best);
    Some(best.into_iter().map(|(_, _, ix)| ix).collect())
}

fn keep_best(best: &mut Vec<(u32, usize, RowIx)>) {
    best.sort_by_key(|(score, at, _)| (std::cmp::Reverse(*score), *at));
    best.truncate(BEST);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::live::{ListRow, RowBatch};
    use crate::tui::arena::Arena;

    #[test]
    fn a_misspelt_word_is_found_and_stale_searches_stop() {
        let mut batch = RowBatch::default();
        for (id, title) in [(1, "Refresh loop in the dev server"), (2, "Token table"), (3, "Half-fresh data")] {
            batch.push(&ListRow { id, created_ms: id, title, ..ListRow::default() });
        }
        let mut arena = Arena::default();
        arena.absorb(batch);
        let texts = arena.share(100);
        let found = find("rfrsh", &texts, || false).unwrap();
        assert_eq!(found.iter().map(|ix| arena.row(*ix).id).collect::<Vec<_>>()[0], 1);
        assert!(find("zzzz", &texts, || false).unwrap().is_empty());
    }
}
