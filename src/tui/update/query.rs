//! Search and filters: one text decides what the feed lists.
//!
//! The first tier is sifted here, at once, from the rows in memory. Full text is asked a moment later and appended in a
//! group of its own; fuzzy comes only when asked for or when little was found. Late answers of an older query are
//! dropped by their generation, and old rows stay until there are new ones.

use std::collections::HashSet;

use jiff::Timestamp;

use super::{Out, feed};
use crate::memory::MemoryId;
use crate::recall::query::{Judge, Key, Local, Query, TermKind, remove_filter, set_filter, values_of};
use crate::tui::arena::{Outside, RowIx, Sieve, needs_source};
use crate::tui::effect::{Effect, Request};
use crate::tui::state::{Closest, Group, Order, State, Tier};

/// The second tier waits so long for the next key.
const WORDS_AFTER_MS: i64 = 30;
/// Rows it brings.
const WORDS_LIMIT: usize = 200;
/// Fewer hits than this, and fuzzy adds its own.
const FEW: usize = 20;
/// Fuzzy looks at so many of the newest rows.
const FUZZY_ROWS: usize = 200_000;

/// Where and when queries are read.
pub fn local(state: &State) -> Local {
    let now = Timestamp::from_millisecond(state.now).unwrap_or(Timestamp::UNIX_EPOCH);
    Local { now, zone: state.zone.clone() }
}

fn read(state: &State, text: &str) -> Query {
    let projects = state.pages.projects.iter().map(|project| project.name.clone()).collect();
    Query::parse(text, &state.alphabet.vocabulary(projects), &local(state))
}

/// The query is `text` from now on.
pub fn apply(state: &mut State, text: &str, out: &mut Out) {
    let query = read(state, text);
    if query.parts == state.search.query.parts && state.sieve.is_some() && query.text == state.search.text {
        return;
    }
    state.search.generation += 1;
    state.search.text = text.to_owned();
    state.search.judge = Judge::new(&query);
    state.search.ids = None;
    state.search.asked_ids = false;
    state.search.closest.clear();
    state.search.running = 0;
    state.rows.order = match query.sort {
        Some(crate::recall::query::Sort::Oldest) => Order::Oldest,
        Some(crate::recall::query::Sort::Relevance) => Order::Relevance,
        _ if values_of(text, Key::Sort).iter().any(|word| word == "tokens") => Order::Tokens,
        _ => Order::Newest,
    };
    let groups_stay = !state.search.query.groups.is_empty() && !query.groups.is_empty();
    state.search.query = query;
    if needs_source(&state.search.query) {
        // Old rows stay until the answer comes.
        state.search.asked_ids = true;
        state.search.running += 1;
        out.push(Effect::Ask(Request::Matching { generation: state.search.generation, query: text.to_owned() }));
        return;
    }
    sift(state);
    if !groups_stay {
        state.rows.groups.clear();
    }
    schedule_words(state);
    if state.rows.exact() == 0 {
        find_closest(state);
    }
}

/// The rows of the query are sifted anew, all of them or only the pool it had.
pub fn sift(state: &mut State) {
    let sieve = make_sieve(state);
    let narrower = state.sieve.as_ref().is_some_and(|before| sieve.narrows(before));
    let sifted = if narrower && state.load.done {
        let pool: Vec<RowIx> = state.rows.sifted.pool.iter().copied().collect();
        sieve.sift(&state.arena, pool.into_iter())
    } else {
        sieve.sift(&state.arena, state.arena.newest_first())
    };
    state.sieve = Some(sieve);
    let known: HashSet<RowIx> =
        if state.rows.groups.is_empty() { HashSet::new() } else { sifted.list.iter().copied().collect() };
    for group in &mut state.rows.groups {
        drop_known(group, &known);
    }
    state.rows.groups.retain(|group| !group.rows.is_empty());
    state.rows.sifted = sifted;
    sort(state);
    feed::relist(state);
}

/// The pool holds rows that are no more: the next sifting looks at all rows.
pub fn forget_pool(state: &mut State) {
    state.sieve = None;
}

fn drop_known(group: &mut Group, known: &HashSet<RowIx>) {
    let keep: Vec<bool> = group.rows.iter().map(|ix| !known.contains(ix)).collect();
    let mut flags = keep.iter();
    group.rows.retain(|_| *flags.next().unwrap_or(&true));
    let mut flags = keep.iter();
    group.snippets.retain(|_| *flags.next().unwrap_or(&true));
}

/// Another type was hidden or shown: the pool stays, only the list is made anew.
pub fn relist_types(state: &mut State) {
    let sieve = make_sieve(state);
    let pool: Vec<RowIx> = state.rows.sifted.pool.iter().copied().collect();
    state.rows.sifted = sieve.sift(&state.arena, pool.into_iter());
    state.sieve = Some(sieve);
    sort(state);
    feed::relist(state);
}

fn make_sieve(state: &State) -> Sieve {
    let named: Vec<Vec<String>> =
        state.search.query.projects.iter().map(|wanted| roots_of(state, &wanted.name, wanted.exact)).collect();
    let context: HashSet<i64> = state.context_ranks.keys().copied().collect();
    let outside = Outside {
        scope: &state.scope,
        named: &named,
        hidden: Some(&state.hidden),
        hide_wild: state.hide_wild,
        context: Some(&context),
        unseen_after: state.feed.seen.created_ms,
        ids: state.search.ids.as_ref(),
    };
    Sieve::new(&state.search.query, &state.arena, &outside)
}

/// The arena may know new types, projects or sessions: the sieve learns them.
pub fn remake_sieve(state: &mut State) {
    state.sieve = Some(make_sieve(state));
}

/// The keys of the projects a name stands for, linked worktrees included unless it must be exactly this one.
pub fn roots_of(state: &State, name: &str, exact: bool) -> Vec<String> {
    let same = |other: &str| other.eq_ignore_ascii_case(name);
    let base = |root: &str| root.rsplit('/').next().unwrap_or(root).to_owned();
    let mut roots: Vec<String> = Vec::new();
    for project in &state.pages.projects {
        let key = project.key();
        let hit = same(&project.name) || same(&project.root) || (!exact && same(&base(&project.root)));
        let plain = project.worktree.is_empty();
        if (hit && (plain || !exact)) || (!project.worktree.is_empty() && same(&project.worktree)) {
            roots.push(key);
        }
    }
    for key in state.arena.projects() {
        let known = state.pages.projects.iter().any(|project| project.key() == *key);
        if !known && same(&base(key)) {
            roots.push(key.clone());
        }
    }
    roots
}

/// The first tier in the order asked for.
fn sort(state: &mut State) {
    let list = &state.rows.sifted.list;
    let arena = &state.arena;
    let mut sorted: Vec<RowIx> = match state.rows.order {
        Order::Newest => {
            state.rows.sorted = None;
            return;
        }
        Order::Oldest => list.iter().rev().copied().collect(),
        _ => list.iter().copied().collect(),
    };
    match state.rows.order {
        Order::Tokens => sorted.sort_by_key(|ix| std::cmp::Reverse(arena.row(*ix).tokens)),
        Order::Relevance => {
            let judge = &state.search.judge;
            sorted.sort_by_key(|ix| std::cmp::Reverse(score(judge, arena, *ix)));
        }
        _ => {}
    }
    state.rows.sorted = Some(sorted);
}

/// Hits in the title count most, early ones more; ties keep their order, newest first.
fn score(judge: &Judge, arena: &crate::tui::arena::Arena, ix: RowIx) -> u32 {
    let row = arena.row(ix);
    let title = judge.marks(arena.title(row));
    let first = title.first().map_or(0, |mark| 100u32.saturating_sub(mark.start as u32));
    let elsewhere =
        judge.marks(arena.subtitle(row)).len() + arena.facts(row).map(|f| judge.marks(f).len()).sum::<usize>();
    title.len() as u32 * 1000 + first + elsewhere.min(50) as u32 * 10
}

fn schedule_words(state: &mut State) {
    let search = &mut state.search;
    let wordy = search.query.groups.iter().flatten().any(|term| !term.not && term.text.chars().count() >= 2);
    search.words_at = (wordy && state.load.first).then_some(state.now + WORDS_AFTER_MS);
    if search.words_at.is_some() {
        search.running += 1;
    }
}

/// The second tier, and the third if it is wanted.
pub fn ask_words(state: &mut State, out: &mut Out) {
    state.search.words_at = None;
    let generation = state.search.generation;
    let query = state.search.text.clone();
    // A project named in the query is looked for everywhere.
    let projects = if state.search.query.projects.is_empty() { state.scope.clone() } else { Vec::new() };
    out.push(Effect::Ask(Request::Words { generation, query, projects, limit: WORDS_LIMIT }));
    let fuzzy_wanted = state.search.tier == Tier::Fuzzy
        || state.search.query.groups.iter().flatten().any(|term| term.kind == TermKind::Fuzzy)
        || state.rows.exact() < FEW;
    let plain = fuzzy_text(state);
    if fuzzy_wanted && plain.chars().count() >= 3 {
        state.search.running += 1;
        out.push(Effect::Fuzzy { generation, pattern: plain, texts: state.arena.share(FUZZY_ROWS) });
    }
}

fn fuzzy_text(state: &State) -> String {
    let terms = state.search.query.groups.iter().flatten();
    let words = terms.filter(|term| !term.not && !matches!(term.kind, TermKind::Regex));
    words.map(|term| term.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Full text answered.
pub fn words_found(state: &mut State, generation: u64, hits: crate::hub::live::WordHits) {
    if generation != state.search.generation {
        return;
    }
    state.search.running = state.search.running.saturating_sub(1);
    let ids: Vec<MemoryId> = hits.hits.iter().map(|(id, _)| *id).collect();
    let snippet_of: std::collections::HashMap<i64, &String> = hits.hits.iter().map(|(id, text)| (id.0, text)).collect();
    let mut found = state.arena.find(&ids);
    found.sort_by_key(|ix| std::cmp::Reverse((state.arena.row(*ix).created_ms, state.arena.row(*ix).id)));
    let found: Vec<RowIx> = found.into_iter().filter(|ix| admitted_but_words(state, *ix)).collect();
    let snippets = found.iter().map(|ix| {
        let text = snippet_of.get(&state.arena.row(*ix).id).map_or("", |text| text.as_str());
        crate::memory::safe_line(text)
    });
    let group = Group { title: "narrative".into(), snippets: snippets.collect(), rows: found.clone(), more: hits.more };
    set_group(state, 0, group);
}

/// The fuzzy search answered.
pub fn fuzzy_found(state: &mut State, generation: u64, found: &[RowIx]) {
    if generation != state.search.generation {
        return;
    }
    state.search.running = state.search.running.saturating_sub(1);
    let rows: Vec<RowIx> = found.iter().copied().filter(|ix| admitted_but_words(state, *ix)).take(FEW).collect();
    let title = if state.search.tier == Tier::Fuzzy { "fuzzy" } else { "few exact hits: fuzzy adds" };
    set_group(state, 1, Group { title: title.into(), snippets: vec![String::new(); rows.len()], rows, more: false });
}

/// A row meets every condition of the query but its words: those another tier has judged.
fn admitted_but_words(state: &State, ix: RowIx) -> bool {
    let mut query = state.search.query.clone();
    query.groups.retain(|group| group.iter().any(|term| term.not));
    query.fields.clear();
    let named: Vec<Vec<String>> =
        query.projects.iter().map(|wanted| roots_of(state, &wanted.name, wanted.exact)).collect();
    let outside = Outside {
        scope: &state.scope,
        named: &named,
        hidden: Some(&state.hidden),
        hide_wild: state.hide_wild,
        ids: state.search.ids.as_ref(),
        unseen_after: state.feed.seen.created_ms,
        context: None,
    };
    let sieve = Sieve::new(&query, &state.arena, &outside);
    let row = state.arena.row(ix);
    sieve.admits(&state.arena, row) && sieve.shows(row)
}

/// Puts a later tier's rows in. What an earlier tier has is left out; nothing above is reordered.
fn set_group(state: &mut State, rank: usize, mut group: Group) {
    let fuzzy = |title: &str| title.contains("fuzzy");
    let mut known: HashSet<RowIx> = state.rows.sifted.list.iter().copied().collect();
    for other in state.rows.groups.iter().filter(|other| rank == 1 && !fuzzy(&other.title)) {
        known.extend(other.rows.iter().copied());
    }
    drop_known(&mut group, &known);
    let fresh: HashSet<RowIx> = group.rows.iter().copied().collect();
    state.rows.groups.retain(|other| fuzzy(&other.title) != (rank == 1));
    if rank == 0 {
        for other in &mut state.rows.groups {
            drop_known(other, &fresh);
        }
    }
    if !group.rows.is_empty() {
        let at = if rank == 0 { 0 } else { state.rows.groups.len() };
        state.rows.groups.insert(at, group);
    }
    state.rows.groups.retain(|group| !group.rows.is_empty());
    feed::relist(state);
}

/// The source told which ids meet the conditions it alone can check.
pub fn ids_found(state: &mut State, generation: u64, ids: &[MemoryId]) {
    if generation != state.search.generation {
        return;
    }
    state.search.running = state.search.running.saturating_sub(1);
    state.search.ids = Some(ids.iter().map(|id| id.0).collect());
    sift(state);
    schedule_words(state);
    if state.rows.exact() == 0 {
        find_closest(state);
    }
}

/// Nothing matches: which single change of the query would find something (tui.md, *filtered to nothing*).
fn find_closest(state: &mut State) {
    let text = state.search.text.clone();
    let mut tries: Vec<(String, String, String)> = Vec::new();
    for fault in &state.search.query.faults {
        if let Some(better) = &fault.suggestion {
            let mut fixed = text.clone();
            if text.is_char_boundary(fault.span.start) && text.is_char_boundary(fault.span.end) {
                fixed.replace_range(fault.span.clone(), better);
                tries.push((fixed, better.clone(), fault.what.clone()));
            }
        }
    }
    for key in [Key::Type, Key::Project, Key::Since, Key::On, Key::Concept, Key::File, Key::Session, Key::Is] {
        let without = remove_filter(&text, key);
        if without != text.split_whitespace().collect::<Vec<_>>().join(" ") {
            tries.push((without, format!("drop {}:", key.word()), String::new()));
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if !state.search.query.groups.is_empty()
        && words.len() > 1
        && let Some((_, rest)) = words.split_last()
    {
        tries.push((rest.join(" "), format!("drop “{}”", words[words.len() - 1]), String::new()));
    }
    if !state.hidden.is_empty() {
        tries.push((text.clone(), "show all types".into(), "types are hidden".into()));
    }
    if !state.scope.is_empty() {
        tries.push((format!("{text} "), "look in all projects".into(), String::new()));
    }
    let mut found: Vec<Closest> = Vec::new();
    for (text, label, note) in tries.into_iter().take(8) {
        let query = read(state, &text);
        if needs_source(&query) || found.iter().any(|other| other.text == text) {
            continue;
        }
        let named: Vec<Vec<String>> =
            query.projects.iter().map(|wanted| roots_of(state, &wanted.name, wanted.exact)).collect();
        let everywhere = label == "look in all projects";
        let outside = Outside {
            scope: if everywhere { &[] } else { &state.scope },
            named: &named,
            hidden: (label != "show all types").then_some(&state.hidden),
            ..Outside::default()
        };
        let sieve = Sieve::new(&query, &state.arena, &outside);
        let count = sieve.sift(&state.arena, state.arena.newest_first()).list.len();
        if count > 0 {
            found.push(Closest { text, label, found: count, note });
        }
    }
    state.search.closest = found;
    state.search.closest_at = 0;
}

/// Applies a suggestion for a query that finds nothing.
pub fn take_closest(state: &mut State, out: &mut Out) -> bool {
    let Some(closest) = state.search.closest.get(state.search.closest_at).cloned() else { return false };
    match closest.label.as_str() {
        "show all types" => {
            state.hidden.clear();
            state.hide_wild = false;
            sift(state);
        }
        "look in all projects" => {
            state.scope.clear();
            state.scope_name = "all projects".into();
            sift(state);
        }
        _ => {
            if let Some(line) = &mut state.search.line {
                line.set(closest.text.clone());
            }
            apply(state, &closest.text, out);
        }
    }
    state.search.closest.clear();
    true
}

/// A filter by key: written into the text, where it can be read, changed and saved.
pub fn set(state: &mut State, key: Key, values: &[&str], out: &mut Out) {
    let text = set_filter(&state.search.text, key, values);
    apply(state, &text, out);
}

/// Everything is shown again.
pub fn clear(state: &mut State, out: &mut Out) {
    state.hidden.clear();
    state.hide_wild = false;
    apply(state, "", out);
    relist_types(state);
}
