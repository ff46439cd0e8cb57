//! Search: the one core behind the command line, the screen, MCP and HTTP (A109).
//!
//! Hard conditions first, in SQL; then an order. The newest come first unless relevance is asked for. Four engines:
//! `words` (full text, word forms, the last word perhaps unfinished), `exact` (the text as it stands, also inside
//! words), `fuzzy` (nearly the same letters), `meaning` (vectors). Where the words leave nothing, or relevance is
//! wanted, words and meaning are ranked apart and fused by reciprocal rank. An engine that cannot answer is named
//! with the reason and never turns an answer into "nothing found" (A107).
//!
//! `check` knows the conditions that SQL cannot say, `scope` which projects and sessions a name means, `words` puts a
//! query as full text, `scan` looks through titles, `fuse` joins rankings, `count` counts.

mod check;
mod count;
mod fuse;
mod scan;
mod scope;
mod words;

use std::collections::HashSet;

use crate::memory::{Memory, MemoryId};
use crate::store::api::{Filter, Order};
use crate::store::{Result, Store};

use super::query::{Fault, Fields, Judge, Query, Sort, State};

pub use check::holds;
pub use count::total;
pub use fuse::fuse;
pub use scope::{Scope, roots_of};
pub use words::{expression, is_filler};

/// How to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Engine {
    /// Words first, then whatever else helps.
    #[default]
    Auto,
    /// The text as it stands.
    Exact,
    /// Full text.
    Words,
    /// Nearly the same letters.
    Fuzzy,
    /// Nearly the same meaning.
    Meaning,
}

impl Engine {
    /// Its name in answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Exact => "exact",
            Self::Words => "words",
            Self::Fuzzy => "fuzzy",
            Self::Meaning => "meaning",
        }
    }
}

/// What ranks by meaning. Absent where the build or the settings have none.
pub trait Nearest: Send {
    /// The memories nearest in meaning to `text`, nearest first, with a likeness of 0 to 1; at most `limit`. `Err`
    /// says in a few words why there is no answer.
    fn nearest(&self, store: &Store, text: &str, limit: usize) -> std::result::Result<Vec<(MemoryId, f32)>, String>;

    /// Likeness from which two texts may be called related.
    fn threshold(&self) -> f32;

    /// How many memories have no vector yet.
    fn pending(&self, _store: &Store) -> u64 {
        0
    }

    /// Makes vectors for at most `limit` memories that lack one, newest first, and keeps them; 0 means that none is left
    /// to make. Meant to be called behind the writes, a few at a time.
    fn fill(&self, _store: &mut Store, _limit: usize) -> std::result::Result<usize, String> {
        Ok(0)
    }

    /// A vector takes so long here that nobody should wait for one.
    fn is_slow(&self) -> bool {
        false
    }
}

/// A question.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// What to find.
    pub query: &'a Query,
    /// Where: conditions beyond those of the query (a project chosen elsewhere), and what is never found.
    pub scope: &'a Scope,
    /// How to look.
    pub engine: Engine,
    /// Order, unless the query names one.
    pub sort: Sort,
    /// At most this many.
    pub limit: usize,
    /// Ranking by meaning, or why there is none.
    pub meaning: std::result::Result<&'a dyn Nearest, &'a str>,
    /// States only the asker knows (in the next injection, new, trashed).
    pub is: Option<&'a dyn Fn(&Memory, State) -> bool>,
}

/// One memory of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The memory.
    pub memory: Memory,
    /// Higher is better; 0 where the order is by time.
    pub score: f64,
    /// Engines that found it.
    pub why: Vec<Engine>,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Engines that ran.
    pub engines: Vec<Engine>,
    /// Engines that could not, and why: `meaning: unavailable (…)`.
    pub notes: Vec<String>,
    /// What was found.
    pub items: Vec<Item>,
    /// There is more than was asked for.
    pub more: bool,
    /// Where it was looked for, in words.
    pub scope: String,
    /// What of the query did not parse, or named nothing.
    pub faults: Vec<Fault>,
}

impl Found {
    /// `words + meaning; fuzzy: unavailable (…)`.
    pub fn engines_line(&self) -> String {
        let ran: Vec<&str> = self.engines.iter().map(|engine| engine.word()).collect();
        let mut out = ran.join(" + ");
        for note in &self.notes {
            out.push_str(if out.is_empty() { "" } else { "; " });
            out.push_str(note);
        }
        out
    }
}

/// Looked through at most, where conditions can only be checked on the row.
const DEEPEST: usize = 20_000;
/// How deep rankings are fused.
const FUSED: usize = 200;
/// Share of the likeness of related texts below which a memory is a stranger: where nobody asked for meaning by name, it
/// is left out, since something is always nearest.
const STRANGER: f64 = 0.5;
/// What a word in common adds to a likeness.
const WORD_IN_COMMON: f64 = 0.01;

/// Answers. Only the database itself can fail.
pub fn find(store: &Store, ask: &Ask<'_>) -> Result<Found> {
    let query = ask.query;
    let mut found = Found { faults: query.faults.clone(), ..Found::default() };
    let filter = ask.scope.filter(store, query, &mut found)?;
    if ask.is.is_none() {
        found.faults.extend(query.checks.iter().filter_map(|check| check::unknowable(query, check)));
    }
    let sort = query.sort.unwrap_or(ask.sort);
    let search = Search { store, ask, filter, order: order(sort) };
    if query.is_open() {
        found.engines.push(Engine::Words);
        (found.items, found.more) = search.newest(&Judge::default(), Engine::Words)?;
        return Ok(found);
    }
    match ask.engine {
        Engine::Words => search.run_words(&mut found)?,
        Engine::Exact => search.run_exact(&mut found, true)?,
        Engine::Fuzzy => search.run_fuzzy(&mut found)?,
        Engine::Meaning => {
            let (near, _) = search.near(&mut found)?;
            found.items = search.taken(near, Engine::Meaning);
            found.more = found.items.len() > ask.limit;
            found.items.truncate(ask.limit);
        }
        Engine::Auto => search.run_auto(sort, &mut found)?,
    }
    Ok(found)
}

fn order(sort: Sort) -> Order {
    match sort {
        Sort::Newest => Order::Newest,
        Sort::Oldest => Order::Oldest,
        Sort::Relevance => Order::Relevance,
    }
}

struct Search<'a> {
    store: &'a Store,
    ask: &'a Ask<'a>,
    filter: Filter,
    order: Order,
}

impl Search<'_> {
    fn run_auto(&self, sort: Sort, found: &mut Found) -> Result<()> {
        let query = self.ask.query;
        // Only misspelt words: the letters decide. A pattern alone: the text decides.
        let fuzzy_only =
            query.groups.iter().flatten().all(|term| term.kind == super::query::TermKind::Fuzzy && !term.not);
        if fuzzy_only {
            return self.run_fuzzy(found);
        }
        if sort != Sort::Relevance {
            self.run_words(found)?;
            if !found.items.is_empty() || words::expression(query).is_none() {
                return Ok(());
            }
            // Inside words: an identifier's middle, the rest of a name. A sentence is not looked for so.
            if query.groups.len() == 1 {
                self.run_exact(found, false)?;
            }
            if !found.items.is_empty() {
                return Ok(());
            }
        }
        self.run_hybrid(found)?;
        if found.items.is_empty() {
            self.run_fuzzy(found)?;
        }
        Ok(())
    }

    fn run_words(&self, found: &mut Found) -> Result<()> {
        found.engines.push(Engine::Words);
        (found.items, found.more) = self.by_words(self.order, self.ask.limit)?;
        Ok(())
    }

    fn by_words(&self, order: Order, limit: usize) -> Result<(Vec<Item>, bool)> {
        let query = self.ask.query;
        match words::expression(query) {
            Some(wanted) => {
                let judge = words::judge_rest(query);
                let deep = !judge.is_empty() || !query.checks.is_empty();
                let mut depth = if deep { limit.saturating_mul(4).max(64) } else { limit };
                loop {
                    let hits = self.store.matching(&wanted, &self.filter, order, depth)?;
                    let more = hits.more;
                    let mut items: Vec<Item> = hits
                        .hits
                        .into_iter()
                        .filter(|hit| self.passes(&hit.memory, &judge))
                        .map(|hit| Item { memory: hit.memory, score: hit.score, why: vec![Engine::Words] })
                        .collect();
                    if items.len() >= limit || !more || depth >= DEEPEST {
                        let more = more || items.len() > limit;
                        items.truncate(limit);
                        return Ok((items, more));
                    }
                    depth = depth.saturating_mul(8).min(DEEPEST);
                }
            }
            // Nothing that an index can look up (a pattern, a negation, signs): the rows decide.
            None => {
                let order = if order == Order::Relevance { Order::Newest } else { order };
                let search = Search { filter: self.filter.clone(), order, ..*self };
                search.newest(&Judge::new(query), Engine::Words)
            }
        }
    }

    /// Rows in order of time that meet the conditions and pass the judge.
    fn newest(&self, judge: &Judge, why: Engine) -> Result<(Vec<Item>, bool)> {
        let limit = self.ask.limit;
        let order = if self.order == Order::Relevance { Order::Newest } else { self.order };
        let open = judge.is_empty() && self.ask.query.checks.is_empty();
        let (mut items, mut after, mut seen) = (Vec::new(), None, 0);
        loop {
            let page = if open { limit + 1 } else { 500 };
            let rows = self.store.list(&self.filter, order, after, page)?;
            seen += rows.len();
            let full = rows.len() == page;
            after = rows.last().map(crate::store::PageKey::of);
            for memory in rows {
                if self.passes(&memory, judge) {
                    items.push(Item { memory, score: 0.0, why: vec![why] });
                }
            }
            if items.len() > limit || !full || seen >= DEEPEST {
                let more = items.len() > limit;
                items.truncate(limit);
                return Ok((items, more));
            }
        }
    }

    /// The text as it stands: in all titles, subtitles and facts; with `prose`, also in the newest rows' prose.
    fn run_exact(&self, found: &mut Found, prose: bool) -> Result<()> {
        found.engines.push(Engine::Exact);
        let judge = Judge::new(self.ask.query);
        let mut ids = scan::titles(self.store, &judge, self.order == Order::Oldest)?;
        if prose {
            let (rows, _) = self.newest(&judge, Engine::Exact)?;
            ids.extend(rows.iter().map(|item| (item.memory.created_at.as_millisecond(), item.memory.id)));
        }
        ids.sort_unstable();
        ids.dedup();
        if self.order != Order::Oldest {
            ids.reverse();
        }
        let ids: Vec<(MemoryId, f64)> = ids.into_iter().map(|(_, id)| (id, 0.0)).collect();
        let items = self.hydrate(&ids, &judge, self.ask.limit + 1)?;
        found.items = self.taken(items, Engine::Exact);
        found.more = found.items.len() > self.ask.limit;
        found.items.truncate(self.ask.limit);
        Ok(())
    }

    fn run_fuzzy(&self, found: &mut Found) -> Result<()> {
        found.engines.push(Engine::Fuzzy);
        let ids = scan::fuzzy(self.store, self.ask.query, FUSED.max(self.ask.limit * 4))?;
        let judge = words::judge_negations(self.ask.query);
        let items = self.hydrate(&ids, &judge, self.ask.limit + 1)?;
        found.items = self.taken(items, Engine::Fuzzy);
        found.more = found.items.len() > self.ask.limit;
        found.items.truncate(self.ask.limit);
        Ok(())
    }

    /// Words and meaning, each ranked, then fused.
    fn run_hybrid(&self, found: &mut Found) -> Result<()> {
        let query = self.ask.query;
        let mut rankings: Vec<(f64, Vec<Item>)> = Vec::new();
        if !found.engines.contains(&Engine::Words) {
            found.engines.push(Engine::Words);
        }
        let (all, _) = self.by_words(Order::Relevance, FUSED)?;
        let all_words = all.len();
        rankings.push((1.5, all));
        let (mut near, judged) = self.near(found)?;
        if all_words < self.ask.limit
            && let Some(any) = words::any_of(query)
        {
            let judge = words::judge_rest(query);
            let hits = self.store.matching(&any, &self.filter, Order::Relevance, FUSED)?;
            let hits = hits.hits.into_iter().filter(|hit| self.passes(&hit.memory, &judge));
            let items = hits.map(|hit| Item { memory: hit.memory, score: hit.score, why: vec![Engine::Words] });
            // One word in common says less than meaning does: where meaning has an opinion of a memory, such a hit only
            // decides between equals. One it has none of (no vector yet) keeps its full weight.
            let (known, unknown): (Vec<Item>, Vec<Item>) = items.partition(|item| judged.contains(&item.memory.id));
            for item in &mut near {
                if known.iter().any(|other| other.memory.id == item.memory.id) {
                    item.score += WORD_IN_COMMON;
                    item.why.push(Engine::Words);
                }
            }
            near.sort_by(|a, b| b.score.total_cmp(&a.score));
            rankings.push((1.0, unknown));
        }
        for item in &mut near {
            item.why.push(Engine::Meaning);
        }
        rankings.push((1.0, near));
        found.items = fuse(rankings);
        found.more = found.items.len() > self.ask.limit;
        found.items.truncate(self.ask.limit);
        Ok(())
    }

    /// The nearest in meaning that meet the conditions, and all that meaning had an opinion of. Notes why, if there is no
    /// answer.
    fn near(&self, found: &mut Found) -> Result<(Vec<Item>, HashSet<MemoryId>)> {
        let text = self.ask.query.plain();
        let meaning = match self.ask.meaning {
            Ok(meaning) if !text.is_empty() => meaning,
            Ok(_) => return Ok((Vec::new(), HashSet::new())),
            Err(why) => {
                found.notes.push(format!("meaning: unavailable ({why})"));
                return Ok((Vec::new(), HashSet::new()));
            }
        };
        // Filter before rank: read on until enough of the nearest meet the conditions.
        let mut depth = FUSED;
        let judge = words::judge_negations(self.ask.query);
        loop {
            let nearest = match meaning.nearest(self.store, &text, depth) {
                Ok(nearest) => nearest,
                Err(why) => {
                    found.notes.push(format!("meaning: unavailable ({why})"));
                    return Ok((Vec::new(), HashSet::new()));
                }
            };
            let end = nearest.len() < depth || depth >= DEEPEST;
            let judged: HashSet<MemoryId> = nearest.iter().map(|(id, _)| *id).collect();
            let mut ids: Vec<(MemoryId, f64)> = nearest.iter().map(|(id, like)| (*id, f64::from(*like))).collect();
            if self.ask.engine == Engine::Auto {
                ids.retain(|(_, like)| *like >= STRANGER * f64::from(meaning.threshold()));
            }
            let end = end || ids.len() < nearest.len();
            let items = self.hydrate(&ids, &judge, FUSED)?;
            if items.len() >= self.ask.limit || end {
                found.engines.push(Engine::Meaning);
                return Ok((items, judged));
            }
            depth = depth.saturating_mul(10).min(DEEPEST);
        }
    }

    fn taken(&self, items: Vec<Item>, engine: Engine) -> Vec<Item> {
        items.into_iter().map(|item| item.by(engine)).collect()
    }

    /// The memories of ranked ids that meet the conditions, in their order, at most `limit`.
    fn hydrate(&self, ranked: &[(MemoryId, f64)], judge: &Judge, limit: usize) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        for chunk in ranked.chunks(200) {
            let ids: Vec<(MemoryId, MemoryId)> = chunk.iter().map(|(id, _)| (*id, *id)).collect();
            let mut filter = self.filter.clone();
            if filter.ids.is_empty() {
                filter.ids = ids;
            } else {
                let inside = |id: MemoryId| self.filter.ids.iter().any(|(from, to)| (*from..=*to).contains(&id));
                filter.ids = ids.into_iter().filter(|(id, _)| inside(*id)).collect();
                if filter.ids.is_empty() {
                    continue;
                }
            }
            let mut rows = self.store.list(&filter, Order::Newest, None, chunk.len())?;
            for (id, score) in chunk {
                let Some(at) = rows.iter().position(|memory| memory.id == *id) else { continue };
                let memory = rows.swap_remove(at);
                if self.passes(&memory, judge) {
                    items.push(Item { memory, score: *score, why: Vec::new() });
                    if items.len() == limit {
                        return Ok(items);
                    }
                }
            }
        }
        Ok(items)
    }

    fn passes(&self, memory: &Memory, judge: &Judge) -> bool {
        self.ask.query.checks.iter().all(|check| holds(check, memory, self.ask.is))
            && judge.admits(&Fields::from(memory))
    }
}

impl Item {
    fn by(mut self, engine: Engine) -> Self {
        self.why = vec![engine];
        self
    }
}

#[cfg(test)]
mod tests;
