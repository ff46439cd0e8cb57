//! What lies around a memory or a moment, in one project or in all: observations, summaries and prompts in the order
//! of time.

use crate::memory::{Kind, Memory, MemoryId, Timestamp, millis};
use crate::store::api::{Filter, Order, PageKey};
use crate::store::{Result, Store};

/// More than this on one side is a listing, not a neighbourhood.
pub const DEEPEST: usize = 200;

/// A neighbourhood.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The memory in the middle, if it is one.
    pub anchor: Option<MemoryId>,
    /// The moment in the middle.
    pub at: Timestamp,
    /// What was before, the anchor, and what came after, oldest first.
    pub items: Vec<Memory>,
}

impl Timeline {
    /// How many items stand before and after the middle.
    pub fn depths(&self) -> (usize, usize) {
        let is_before = |memory: &&Memory| match self.anchor {
            Some(anchor) => memory.id != anchor && (memory.created_at, memory.id) < (self.at, anchor),
            None => memory.created_at < self.at,
        };
        let before = self.items.iter().filter(is_before).count();
        (before, self.items.len() - before - usize::from(self.anchor.is_some()))
    }
}

/// The neighbourhood of a memory. `filter` says where to look (its kinds: all, unless it names some); the memory itself
/// is in it in any case. `None`: there is no such memory.
pub fn around_memory(
    store: &Store,
    id: MemoryId,
    filter: &Filter,
    before: usize,
    after: usize,
) -> Result<Option<Timeline>> {
    let Some(mut anchor) = store.get(&[id])?.pop() else { return Ok(None) };
    anchor.keys.clear();
    let at = PageKey::of(&anchor);
    let mut items = side(store, filter, Order::Newest, at, before)?;
    items.reverse();
    let time = anchor.created_at;
    items.push(anchor);
    items.extend(side(store, filter, Order::Oldest, at, after)?);
    Ok(Some(Timeline { anchor: Some(id), at: time, items }))
}

/// The neighbourhood of a moment; what happened at that very moment counts as after.
pub fn around_moment(store: &Store, at: Timestamp, filter: &Filter, before: usize, after: usize) -> Result<Timeline> {
    let key = PageKey { created_ms: millis(at), id: MemoryId(0) };
    let mut items = side(store, filter, Order::Newest, key, before)?;
    items.reverse();
    items.extend(side(store, filter, Order::Oldest, key, after)?);
    Ok(Timeline { anchor: None, at, items })
}

fn side(store: &Store, filter: &Filter, order: Order, from: PageKey, depth: usize) -> Result<Vec<Memory>> {
    let mut filter = filter.clone();
    if filter.kinds.is_empty() {
        filter.kinds = vec![Kind::Observation, Kind::Summary, Kind::Prompt];
    }
    store.list(&filter, order, Some(from), depth.min(DEEPEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{NewMemory, ProjectRef};
    use crate::store::Commit;

    /// Ids 1 to 9, a minute apart; 4 is a summary, 5 a prompt, 6 another project's; 8 and 9 at one instant.
    fn store() -> Store {
        let start: Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
        let memory = |n: i64| NewMemory {
            kind: match n {
                4 => Kind::Summary,
                5 => Kind::Prompt,
                _ => Kind::Observation,
            },
            title: format!("Memory {n}"),
            type_id: "discovery".into(),
            session: Some("s".into()),
            project: Some(ProjectRef {
                root: if n == 6 { "/w/beta" } else { "/w/alpha" }.into(),
                name: "p".into(),
                worktree: None,
            }),
            created_at: start + jiff::SignedDuration::from_mins(if n == 9 { 8 } else { n }),
            ..NewMemory::default()
        };
        let mut store = Store::in_memory(start).unwrap();
        let commit = Commit { memories: (1..=9).map(memory).collect(), now: Some(start), ..Commit::default() };
        store.record(&commit).unwrap();
        store
    }

    fn ids(timeline: &Timeline) -> Vec<i64> {
        timeline.items.iter().map(|memory| memory.id.0).collect()
    }

    #[test]
    fn around_a_memory() {
        let store = store();
        let all = Filter::default();
        let around = |id, filter: &Filter, before, after| {
            around_memory(&store, MemoryId(id), filter, before, after).unwrap().unwrap()
        };
        let timeline = around(5, &all, 2, 2);
        assert_eq!((ids(&timeline), timeline.depths()), (vec![3, 4, 5, 6, 7], (2, 2)));
        assert_eq!(ids(&around(5, &all, 0, 0)), [5]);
        assert_eq!(ids(&around(1, &all, 3, 1)), [1, 2]);
        assert_eq!(around(8, &all, 1, 5).depths(), (1, 1));
        let alpha = Filter { projects: vec!["/w/alpha".into()], ..Filter::default() };
        assert_eq!(ids(&around(5, &alpha, 2, 2)), [3, 4, 5, 7, 8]);
        // The anchor is there whatever the filter.
        assert_eq!(ids(&around(6, &alpha, 1, 1)), [5, 6, 7]);
        let observations = Filter { kinds: vec![Kind::Observation], ..Filter::default() };
        assert_eq!(ids(&around(5, &observations, 2, 1)), [2, 3, 5, 6]);
        assert_eq!(around_memory(&store, MemoryId(99), &all, 1, 1).unwrap(), None);
    }

    #[test]
    fn around_a_moment() {
        let store = store();
        let at = "2026-03-01T10:03:00Z".parse().unwrap();
        let timeline = around_moment(&store, at, &Filter::default(), 2, 2).unwrap();
        assert_eq!((ids(&timeline), timeline.depths()), (vec![1, 2, 3, 4], (2, 2)));
        let early = "2020-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(ids(&around_moment(&store, early, &Filter::default(), 5, 2).unwrap()), [1, 2]);
    }
}
