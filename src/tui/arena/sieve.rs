//! Which rows a query admits: its conditions over the columns, its words over the text.
//!
//! What a row does not carry (concepts, files, what `has:` asks) is decided by the source and handed in as a set of
//! ids. One pass gives the rows, and the counts by type of what the query admits with its type part left out, so that
//! switching one type never changes its own number (tui.md B.9).

use std::collections::{HashSet, VecDeque};

use crate::hub::live::RowFlags;
use crate::memory::Kind;
use crate::recall::query::{Check, Field, Fields, Judge, Query, State as QueryState, TermKind};

use super::{Arena, Needles, Row, RowIx};

/// What a query needs that rows do not carry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outside<'a> {
    /// Project roots the screen is narrowed to; none: all.
    pub scope: &'a [String],
    /// Roots for each project the query names, worktrees included.
    pub named: &'a [Vec<String>],
    /// Types the legend hides, by word.
    pub hidden: Option<&'a HashSet<String>>,
    /// Wild types are hidden together.
    pub hide_wild: bool,
    /// Ids in the next context.
    pub context: Option<&'a HashSet<i64>>,
    /// Rows newer than this time have not been seen.
    pub unseen_after: i64,
    /// Ids that meet the conditions only the source can check.
    pub ids: Option<&'a HashSet<i64>>,
}

/// A query ready to judge rows.
#[derive(Debug)]
pub struct Sieve {
    needles: Needles,
    judge: Option<Judge>,
    only: Vec<Field>,
    types: Vec<bool>,
    shown_types: Vec<bool>,
    projects: Option<Vec<bool>>,
    sessions: Option<Vec<bool>>,
    kinds: Vec<Kind>,
    since: i64,
    until: i64,
    tokens: std::ops::RangeInclusive<u32>,
    ranges: Vec<(i64, i64)>,
    not_ranges: Vec<(i64, i64)>,
    prompt: Option<u32>,
    must: u16,
    must_not: u16,
    wild: Option<bool>,
    inside: Option<(bool, HashSet<i64>)>,
    fresh: Option<(bool, i64)>,
    ids: Option<HashSet<i64>>,
}

/// What passed.
#[derive(Clone, Debug, Default)]
pub struct Sifted {
    /// Rows that pass but for their type, newest first.
    pub pool: VecDeque<RowIx>,
    /// Rows that pass, newest first.
    pub list: VecDeque<RowIx>,
    /// Of `pool`, by type index.
    pub counts: Vec<u32>,
}

/// Whether a query holds conditions that only the source can check.
pub fn needs_source(query: &Query) -> bool {
    let filter = &query.filter;
    !filter.concepts.is_empty()
        || !filter.files.is_empty()
        || !filter.sources.is_empty()
        || query.fields.iter().any(|field| matches!(field, Field::Narrative | Field::Files))
        || query
            .checks
            .iter()
            .any(|check| !matches!(check, Check::State(..) | Check::Wild(_) | Check::NotIds(_) | Check::NotSessions(_)))
}

impl Sieve {
    /// `query` over the rows of `arena` as they are indexed now.
    pub fn new(query: &Query, arena: &Arena, outside: &Outside<'_>) -> Self {
        let filter = &query.filter;
        let listed = |list: &[String], word: &String| list.iter().any(|item| item == word);
        let types = arena
            .types()
            .iter()
            .map(|word| (filter.types.is_empty() || listed(&filter.types, word)) && !listed(&filter.not_types, word));
        let shown = arena.types().iter().map(|word| outside.hidden.is_none_or(|hidden| !hidden.contains(word)));
        let in_projects = |root: &String| {
            let scoped = outside.scope.is_empty() || outside.scope.contains(root);
            let named = query.projects.iter().zip(outside.named);
            let mut wanted = named.clone().filter(|(project, _)| !project.not).peekable();
            let asked = wanted.peek().is_none() || wanted.any(|(_, roots)| roots.contains(root));
            let refused = named.clone().any(|(project, roots)| project.not && roots.contains(root));
            // A project named in the query is looked for everywhere.
            (scoped || query.projects.iter().any(|project| !project.not)) && asked && !refused
        };
        let any_project = outside.scope.is_empty() && query.projects.is_empty();
        let wanted: Vec<String> = query.sessions.iter().map(|word| session_word(word, arena)).collect();
        let in_sessions = |ix: usize| {
            let entry = &arena.sessions()[ix];
            wanted.iter().any(|wanted| names_session(wanted, entry))
        };
        let refused = query.checks.iter().filter_map(|check| match check {
            Check::NotSessions(list) => Some(list),
            _ => None,
        });
        let refused: Vec<String> = refused.flatten().map(|word| session_word(word, arena)).collect();
        let sessions = (!query.sessions.is_empty() || !refused.is_empty()).then(|| {
            (0..arena.sessions().len())
                .map(|ix| {
                    (query.sessions.is_empty() || in_sessions(ix))
                        && !refused.iter().any(|wanted| names_session(wanted, &arena.sessions()[ix]))
                })
                .collect()
        });
        let mut sieve = Self {
            needles: Needles::new(query),
            judge: query
                .groups
                .iter()
                .any(|group| group.len() > 1 || group[0].not || group[0].kind != TermKind::Word)
                .then(|| Judge::new(query)),
            only: query.fields.clone(),
            types: types.collect(),
            shown_types: shown.collect(),
            projects: (!any_project).then(|| arena.projects().iter().map(in_projects).collect()),
            sessions,
            kinds: query.kinds(),
            since: filter.since.map_or(i64::MIN, crate::memory::millis),
            until: filter.until.map_or(i64::MAX, crate::memory::millis),
            tokens: filter.tokens_min.unwrap_or(0)..=filter.tokens_max.unwrap_or(u32::MAX),
            ranges: filter.ids.iter().map(|(from, to)| (from.0, to.0)).collect(),
            not_ranges: Vec::new(),
            prompt: filter.prompt,
            must: 0,
            must_not: 0,
            wild: outside.hide_wild.then_some(false),
            inside: None,
            fresh: None,
            ids: outside.ids.cloned(),
        };
        if !query.fields.is_empty() && !query.groups.is_empty() {
            sieve.judge = Some(Judge::new(query));
        }
        let flags = [
            (filter.pinned, RowFlags::PINNED),
            (filter.excluded, RowFlags::EXCLUDED),
            (filter.edited, RowFlags::EDITED),
            (filter.superseded, RowFlags::SUPERSEDED),
            (filter.helper, RowFlags::HELPER),
        ];
        for (wanted, bit) in flags {
            match wanted {
                Some(true) => sieve.must |= bit,
                Some(false) => sieve.must_not |= bit,
                None => {}
            }
        }
        for check in &query.checks {
            match check {
                Check::Wild(yes) => sieve.wild = Some(*yes),
                Check::NotIds(ranges) => sieve.not_ranges.extend(ranges.iter().map(|(from, to)| (from.0, to.0))),
                Check::State(QueryState::In, yes) => {
                    sieve.inside = Some((*yes, outside.context.cloned().unwrap_or_default()));
                }
                Check::State(QueryState::Out, yes) => {
                    sieve.inside = Some((!*yes, outside.context.cloned().unwrap_or_default()));
                }
                Check::State(QueryState::New, yes) => sieve.fresh = Some((*yes, outside.unseen_after)),
                _ => {}
            }
        }
        sieve
    }

    /// Whether the row passes, its type left out of account.
    pub fn admits(&self, arena: &Arena, row: &Row) -> bool {
        let flags = row.flags;
        if flags.0 & self.must != self.must || flags.0 & self.must_not != 0 || flags.has(RowFlags::GONE) {
            return false;
        }
        if self.projects.as_ref().is_some_and(|set| !set.get(usize::from(row.project_ix)).copied().unwrap_or(false)) {
            return false;
        }
        if self.sessions.as_ref().is_some_and(|set| !set.get(row.session_ix as usize).copied().unwrap_or(false)) {
            return false;
        }
        if row.created_ms < self.since || row.created_ms >= self.until || !self.kinds.contains(&flags.kind()) {
            return false;
        }
        if !self.tokens.contains(&row.tokens) || self.prompt.is_some_and(|prompt| u32::from(row.prompt) != prompt) {
            return false;
        }
        let within = |ranges: &[(i64, i64)]| ranges.iter().any(|(from, to)| (*from..=*to).contains(&row.id));
        if (!self.ranges.is_empty() && !within(&self.ranges)) || within(&self.not_ranges) {
            return false;
        }
        if self.inside.as_ref().is_some_and(|(yes, ids)| ids.contains(&row.id) != *yes)
            || self.fresh.is_some_and(|(yes, after)| (row.created_ms > after) != yes)
            || self.ids.as_ref().is_some_and(|ids| !ids.contains(&row.id))
        {
            return false;
        }
        self.holds_words(arena, row)
    }

    fn holds_words(&self, arena: &Arena, row: &Row) -> bool {
        if !self.needles.is_empty() && !self.needles.all_in(arena.text(row), || arena.original(row).len()) {
            return false;
        }
        let Some(judge) = &self.judge else { return true };
        if self.only.iter().any(|field| matches!(field, Field::Narrative | Field::Files)) {
            return true; // the source has judged those
        }
        let facts: Vec<String> = arena.facts(row).map(str::to_owned).collect();
        let fields =
            Fields { title: arena.title(row), subtitle: arena.subtitle(row), facts: &facts, ..Fields::default() };
        judge.admits(&fields)
    }

    /// Whether a row that is admitted is shown: its type is wanted and not hidden.
    pub fn shows(&self, row: &Row) -> bool {
        let ix = usize::from(row.type_ix);
        let wild = row.flags.has(RowFlags::WILD);
        self.types.get(ix).copied().unwrap_or(true)
            && self.shown_types.get(ix).copied().unwrap_or(true)
            && self.wild.is_none_or(|yes| wild == yes)
            // Summaries and prompts have no type of their own: they go when types are asked for, or all others hidden.
            || (row.flags.0 & (RowFlags::SUMMARY | RowFlags::PROMPT) != 0
                && self.types.iter().all(|wanted| *wanted)
                && self.shown_types.get(ix).copied().unwrap_or(true)
                && self.wild != Some(true))
    }

    /// Sifts `rows`, newest first.
    pub fn sift(&self, arena: &Arena, rows: impl Iterator<Item = RowIx>) -> Sifted {
        let mut out = Sifted { counts: vec![0; arena.types().len()], ..Sifted::default() };
        for ix in rows {
            let row = arena.row(ix);
            if self.admits(arena, row) {
                out.pool.push_back(ix);
                if row.flags.0 & (RowFlags::SUMMARY | RowFlags::PROMPT) == 0 {
                    out.counts[usize::from(row.type_ix)] += 1;
                }
                if self.shows(row) {
                    out.list.push_back(ix);
                }
            }
        }
        out
    }

    /// Whether everything this admits, `before` admitted too: then `before`'s pool is enough to sift.
    pub fn narrows(&self, before: &Self) -> bool {
        self.judge.is_none()
            && before.judge.is_none()
            && self.needles.narrows(&before.needles)
            && self.projects == before.projects
            && self.sessions == before.sessions
            && self.kinds == before.kinds
            && (self.since, self.until, self.prompt) == (before.since, before.until, before.prompt)
            && self.tokens == before.tokens
            && (self.must, self.must_not) == (before.must, before.must_not)
            && self.ranges == before.ranges
            && self.not_ranges == before.not_ranges
            && self.inside == before.inside
            && self.fresh == before.fresh
            && self.ids == before.ids
    }
}

/// The session a word of a query means: its id, the beginning of one, or `S171` for the session of summary 171.
fn session_word(wanted: &str, arena: &Arena) -> String {
    let number = wanted.strip_prefix(['S', 's']).and_then(|digits| digits.parse::<i64>().ok());
    let summary = number.and_then(|id| arena.find(&[crate::memory::MemoryId(id)]).first().copied());
    match summary.map(|ix| arena.row(ix)).filter(|row| row.flags.has(RowFlags::SUMMARY)) {
        Some(row) => arena.session_of(row).id.clone(),
        None => wanted.to_owned(),
    }
}

fn names_session(wanted: &str, entry: &super::SessionEntry) -> bool {
    !entry.id.is_empty() && entry.id.starts_with(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::live::{ListRow, RowBatch};
    use crate::recall::query::{Local, Vocabulary};

    fn arena() -> Arena {
        let mut batch = RowBatch::default();
        let rows = [
            (1, "bugfix", "web", "Refresh race fixed", 0),
            (2, "discovery", "web", "Token table lacks an index", RowFlags::PINNED),
            (3, "discovery", "infra", "Token bucket sized", 0),
            (4, "lint_fix", "web", "Lint step green", RowFlags::WILD),
        ];
        for (id, type_id, project, title, bits) in rows {
            let flags = RowFlags(bits);
            batch.push(&ListRow { id, created_ms: id * 1000, type_id, project, title, flags, ..ListRow::default() });
        }
        let mut arena = Arena::default();
        arena.absorb(batch);
        arena
    }

    fn ids(text: &str, outside: &Outside<'_>) -> (Vec<i64>, Vec<u32>) {
        let arena = arena();
        let local = Local { now: jiff::Timestamp::UNIX_EPOCH, zone: jiff::tz::TimeZone::UTC };
        let query = Query::parse(text, &Vocabulary::default(), &local);
        let sifted = Sieve::new(&query, &arena, outside).sift(&arena, arena.newest_first());
        (sifted.list.iter().map(|ix| arena.row(*ix).id).collect(), sifted.counts)
    }

    #[test]
    fn words_flags_and_scope() {
        let none = Outside::default();
        assert_eq!(ids("token", &none).0, [3, 2]);
        assert_eq!(ids("is:pinned", &none).0, [2]);
        assert_eq!(ids("\"token table\"", &none).0, [2]);
        assert_eq!(ids("token -bucket", &none).0, [2]);
        assert_eq!(ids("refresh | lint", &none).0, [4, 1]);
        let scope = ["web".to_owned()];
        assert_eq!(ids("", &Outside { scope: &scope, ..none }).0, [4, 2, 1]);
    }

    #[test]
    fn counts_leave_the_type_part_out() {
        let hidden = HashSet::from(["discovery".to_owned()]);
        let (list, counts) = ids("", &Outside { hidden: Some(&hidden), ..Outside::default() });
        assert_eq!(list, [4, 1]);
        assert_eq!(counts, [1, 2, 1], "bugfix, discovery, lint_fix");
    }
}
