//! Looking through titles, subtitles and facts one by one: for text inside words and for nearly the same letters.
//!
//! One pass over the small rows; a million of them take tens of milliseconds, so this runs only when the index found
//! nothing or when it is asked for.

use nucleo::pattern::{CaseMatching, Normalization, Pattern};
use nucleo::{Config, Matcher, Utf32Str};

use crate::memory::MemoryId;
use crate::recall::query::{Fields, Judge, Query, TermKind};
use crate::store::{Result, Store};

/// Rows looked through for nearly the same letters, newest written first.
const FUZZY_ROWS: usize = 200_000;
/// Hits kept for sorting.
const KEPT: usize = 5_000;

/// Rows whose title, subtitle or facts pass the judge, as (time, id).
pub(super) fn titles(store: &Store, judge: &Judge, oldest: bool) -> Result<Vec<(i64, MemoryId)>> {
    let mut hits = Vec::new();
    store.titles(None, &mut |row| {
        // The facts are judged as their JSON: a letter more or less at the brackets finds nothing new.
        let facts = [row.facts.to_owned()];
        let fields = Fields { title: row.title, subtitle: row.subtitle, facts: &facts, ..Fields::default() };
        if judge.admits(&fields) {
            hits.push((row.created_ms, row.id));
        }
        hits.len() < KEPT || oldest
    })?;
    Ok(hits)
}

/// Rows with nearly the letters of the query, best first.
pub(super) fn fuzzy(store: &Store, query: &Query, limit: usize) -> Result<Vec<(MemoryId, f64)>> {
    let positive = query.groups.iter().filter_map(|group| group.iter().find(|term| !term.not));
    let words: Vec<&str> =
        positive.filter(|term| term.kind != TermKind::Regex).map(|term| term.text.as_str()).collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    // Each word is a pattern of its own; signs in it are letters.
    let patterns: Vec<Pattern> = words
        .iter()
        .map(|word| Pattern::new(word, CaseMatching::Ignore, Normalization::Smart, nucleo::pattern::AtomKind::Fuzzy))
        .collect();
    let near = Judge::misspelt(&words);
    let mut buffer = Vec::new();
    let mut hits: Vec<(u32, MemoryId)> = Vec::new();
    let mut rows = 0;
    store.titles(None, &mut |row| {
        rows += 1;
        let line = Utf32Str::new(row.title, &mut buffer);
        let mut score = Some(0u32);
        for pattern in &patterns {
            score = score.zip(pattern.score(line, &mut matcher)).map(|(sum, more)| sum + more);
        }
        // Letters swapped or replaced are no subsequence; words are then compared by their distance.
        if score.is_none() {
            let fields = Fields { title: row.title, subtitle: row.subtitle, ..Fields::default() };
            score = near.admits(&fields).then_some(1);
        }
        if let Some(score) = score {
            hits.push((score, row.id));
        }
        rows < FUZZY_ROWS
    })?;
    hits.sort_unstable_by(|a, b| b.cmp(a));
    // Far-fetched hits (letters strewn over a line) say nothing beside good ones.
    let best = hits.first().map_or(0, |hit| hit.0);
    hits.retain(|hit| hit.0 * 3 >= best * 2 || hit.0 == 1);
    hits.truncate(limit);
    Ok(hits.into_iter().map(|(score, id)| (id, f64::from(score))).collect())
}
