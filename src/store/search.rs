//! Full text: words over all fields, newest first at a cost that does not grow, or best first over the newest hits.

use std::collections::{HashMap, HashSet};

use rusqlite::types::Value;

use super::api::{Filter, Hit, Hits, Order};
use super::error::Result;
use super::filter::Conditions;
use super::places::NameBook;
use super::terms::Match;
use super::{Store, rows};
use crate::memory::MemoryId;

/// How many hits, newest first, are ranked by relevance. Ranking all hits of a common word takes ten to a hundred
/// times as long and moves the first page little.
const RANKED: usize = 2_000;

/// How many rows, newest first, are looked through for text that holds no word at all.
const SCANNED: usize = 20_000;

/// Weight of each column in the rank: scope, title, subtitle, narrative, facts, concepts, files.
const WEIGHTS: &str = "0.0, 8.0, 4.0, 1.0, 2.0, 3.0, 3.0";

impl Store {
    /// Rows with the words of `text`, read literally as a person types it: every part must be there, words in their
    /// English forms, the last one perhaps unfinished. Empty text and `*` mean every row (A106). No text is an error
    /// (A105).
    pub fn words(&self, text: &str, filter: &Filter, order: Order, limit: usize) -> Result<Hits> {
        match Match::typed(text) {
            Some(wanted) => self.matching(&wanted, filter, order, limit),
            None if text.trim().is_empty() || text.trim() == "*" => self.newest(filter, order, limit),
            None => self.scan(text.trim(), filter, order, limit),
        }
    }

    /// Rows that match.
    pub fn matching(&self, wanted: &Match, filter: &Filter, order: Order, limit: usize) -> Result<Hits> {
        if let Some(closed) = wanted.closed() {
            let hits = self.matching_exactly(&closed, filter, order, limit)?;
            if hits.more {
                return Ok(hits);
            }
        }
        self.matching_exactly(wanted, filter, order, limit)
    }

    fn matching_exactly(&self, wanted: &Match, filter: &Filter, order: Order, limit: usize) -> Result<Hits> {
        let Some(expression) = wanted.expression() else { return self.newest(filter, order, limit) };
        let conditions = Conditions::of(&self.conn, filter)?;
        if conditions.projects.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Hits::default());
        }
        let expression = everywhere(&conditions, expression);
        let ranked = order == Order::Relevance;
        let direction = if order == Order::Oldest { "ASC" } else { "DESC" };
        // One more than asked for tells whether there are more; globs are decided on the row and need all hits.
        let wanted_rows = match (&conditions.globs, ranked) {
            (Some(_), _) => SCANNED,
            (None, true) => RANKED,
            (None, false) => limit.saturating_add(1),
        };
        let score = if ranked { format!("bm25(memory_fts, {WEIGHTS})") } else { "0.0".into() };
        let sql = format!(
            "SELECT m.id, m.folded_into, {score} FROM memory_fts f CROSS JOIN memory m ON m.ord = f.rowid \
             WHERE memory_fts MATCH ?{} ORDER BY f.rowid {direction} LIMIT {wanted_rows}",
            conditions.sql
        );
        let mut params = vec![Value::from(expression)];
        params.extend(conditions.params.iter().cloned());
        let mut query = self.conn.prepare_cached(&sql)?;
        let mut found: Vec<(i64, f64)> = Vec::new();
        let mut rows_found = query.query(rusqlite::params_from_iter(params))?;
        while let Some(row) = rows_found.next()? {
            let (id, head, score): (i64, i64, f64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            // bm25 is better the smaller it is; a folded row is shown by the row that stands for it.
            found.push((if head == 0 { id } else { head }, -score));
        }
        if ranked {
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        let mut seen = HashSet::new();
        found.retain(|(id, _)| seen.insert(*id));
        self.hits(found, &conditions, limit)
    }

    fn hits(&self, found: Vec<(i64, f64)>, conditions: &Conditions, limit: usize) -> Result<Hits> {
        let book = NameBook::open(&self.conn)?;
        let mut out = Hits::default();
        // Read a page at a time: where globs decide, more may be needed than are asked for.
        for page in found.chunks(limit.saturating_add(1).clamp(16, 500)) {
            let scores: HashMap<i64, f64> = page.iter().copied().collect();
            let ids: Vec<i64> = page.iter().map(|(id, _)| *id).collect();
            let mut images = rows::load_these(&self.conn, &ids)?;
            images.retain(|image| conditions.globs.as_ref().is_none_or(|globs| globs.accept(image)));
            for memory in book.memories(images) {
                if out.hits.len() == limit {
                    out.more = true;
                    return Ok(out);
                }
                let score = scores.get(&memory.id.0).copied().unwrap_or_default();
                out.hits.push(Hit { memory, score });
            }
        }
        Ok(out)
    }

    fn newest(&self, filter: &Filter, order: Order, limit: usize) -> Result<Hits> {
        let mut memories = self.list(filter, order, None, limit.saturating_add(1))?;
        let more = memories.len() > limit;
        memories.truncate(limit);
        Ok(Hits { hits: memories.into_iter().map(|memory| Hit { memory, score: 0.0 }).collect(), more })
    }

    /// Text without a single word (`((`, `->`): looked for as it stands in the newest rows.
    fn scan(&self, text: &str, filter: &Filter, order: Order, limit: usize) -> Result<Hits> {
        let images = self.list_images(filter, order, None, SCANNED)?;
        let mut hits = Hits::default();
        let book = NameBook::open(&self.conn)?;
        for image in images {
            let there = [&image.title, &image.subtitle, &image.narrative].iter().any(|field| field.contains(text))
                || [&image.facts, &image.concepts, &image.files_read, &image.files_modified]
                    .iter()
                    .any(|list| rows::from_json(list).iter().any(|it| it.contains(text)));
            if there {
                if hits.hits.len() == limit {
                    hits.more = true;
                    break;
                }
                hits.hits.extend(book.memories(vec![image]).into_iter().map(|memory| Hit { memory, score: 0.0 }));
            }
        }
        Ok(hits)
    }

    /// How many rows match, counted in full.
    pub fn count_matching(&self, wanted: &Match, filter: &Filter) -> Result<u64> {
        Ok(self.ids_matching(wanted, filter)?.len() as u64)
    }

    /// Ids of all rows that match, newest first.
    pub fn ids_matching(&self, wanted: &Match, filter: &Filter) -> Result<Vec<MemoryId>> {
        if !filter.files.is_empty() {
            let hits = self.matching(wanted, filter, Order::Newest, usize::MAX >> 1)?;
            return Ok(hits.hits.into_iter().map(|hit| hit.memory.id).collect());
        }
        let Some(expression) = wanted.expression() else { return self.ids(filter) };
        let conditions = Conditions::of(&self.conn, filter)?;
        if conditions.projects.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let mut sql = format!(
            "SELECT DISTINCT CASE m.folded_into WHEN 0 THEN m.id ELSE m.folded_into END FROM memory_fts f \
             CROSS JOIN memory m ON m.ord = f.rowid WHERE memory_fts MATCH ?{}",
            conditions.sql
        );
        let mut params = vec![Value::from(everywhere(&conditions, expression))];
        params.extend(conditions.params.iter().cloned());
        sql.push_str(" ORDER BY f.rowid DESC");
        let mut query = self.conn.prepare(&sql)?;
        let found = query.query_map(rusqlite::params_from_iter(params), |row| Ok(MemoryId(row.get(0)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

/// The expression with what the filter wants of the index: the projects, so that a rare one is found among many hits
/// without looking at each, and the parts of paths.
fn everywhere(conditions: &Conditions, expression: String) -> String {
    [conditions.scope(), conditions.words.clone(), Some(format!("({expression})"))]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" AND ")
}
