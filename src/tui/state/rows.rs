//! What the feed lists: the rows a query admits, and behind them what later tiers of the search found.

use std::collections::VecDeque;

use crate::store::api::PageKey;
use crate::tui::arena::{Arena, RowIx, Sifted};

/// In which order the first tier stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest first: the order in which rows arrive.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
    /// Most tokens first.
    Tokens,
    /// Best match first: only when asked for.
    Relevance,
}

impl Order {
    /// By the word of `sort:` and of the sort menu.
    pub fn by_name(name: &str) -> Self {
        match name {
            "oldest" => Self::Oldest,
            "tokens" => Self::Tokens,
            "relevance" => Self::Relevance,
            _ => Self::Newest,
        }
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Tokens => "tokens",
            Self::Relevance => "relevance",
        }
    }
}

/// What one later tier found and the tiers before it did not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Its heading: `narrative`, `fuzzy adds` …
    pub title: String,
    /// Rows, in the tier's order.
    pub rows: Vec<RowIx>,
    /// For each row the text around the match, where it is not in title or facts.
    pub snippets: Vec<String>,
    /// There are more.
    pub more: bool,
}

/// The rows of the feed.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The first tier.
    pub sifted: Sifted,
    /// The order it stands in.
    pub order: Order,
    /// The first tier in that order, when it is not newest first.
    pub sorted: Option<Vec<RowIx>>,
    /// Later tiers.
    pub groups: Vec<Group>,
    /// Rows that came while the screen was held and belong inside the visible window: they enter with the next motion
    /// (D.6: a held screen does not move).
    pub deferred: Vec<RowIx>,
}

impl Rows {
    /// How many rows of the first tier.
    pub fn exact(&self) -> usize {
        self.sifted.list.len()
    }

    /// How many rows in all.
    pub fn len(&self) -> usize {
        self.exact() + self.groups.iter().map(|group| group.rows.len()).sum::<usize>()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row at a place.
    pub fn get(&self, pos: usize) -> Option<RowIx> {
        if pos < self.exact() {
            return match &self.sorted {
                Some(sorted) => sorted.get(pos).copied(),
                None => self.sifted.list.get(pos).copied(),
            };
        }
        let mut rest = pos - self.exact();
        for group in &self.groups {
            match group.rows.get(rest) {
                Some(ix) => return Some(*ix),
                None => rest -= group.rows.len(),
            }
        }
        None
    }

    /// The group a place is in (`None`: the first tier) and its place in it.
    pub fn group_of(&self, pos: usize) -> Option<(&Group, usize)> {
        let mut rest = pos.checked_sub(self.exact())?;
        for group in &self.groups {
            if rest < group.rows.len() {
                return Some((group, rest));
            }
            rest -= group.rows.len();
        }
        None
    }

    /// Where a row is.
    pub fn position(&self, arena: &Arena, ix: RowIx) -> Option<usize> {
        let place = match (&self.sorted, self.order) {
            (None, _) => {
                let at = self.place(arena, arena.row(ix).key());
                (self.sifted.list.get(at) == Some(&ix)).then_some(at)
            }
            (Some(sorted), _) => sorted.iter().position(|other| *other == ix),
        };
        place.or_else(|| {
            let mut at = self.exact();
            for group in &self.groups {
                if let Some(found) = group.rows.iter().position(|other| *other == ix) {
                    return Some(at + found);
                }
                at += group.rows.len();
            }
            None
        })
    }

    /// Where in the first tier, newest first, a place in time is or would be.
    pub fn place(&self, arena: &Arena, key: PageKey) -> usize {
        place(&self.sifted.list, arena, key)
    }

    /// The nearest row to one that may have left the list.
    pub fn near(&self, arena: &Arena, ix: RowIx) -> usize {
        let last = self.len().saturating_sub(1);
        self.position(arena, ix).unwrap_or_else(|| match self.sorted {
            None => self.place(arena, arena.row(ix).key()).min(last),
            Some(_) => 0,
        })
    }

    /// Puts a new row into the first tier.
    pub fn insert(&mut self, arena: &Arena, ix: RowIx) {
        insert(&mut self.sifted.list, arena, ix);
        if let Some(sorted) = &mut self.sorted {
            sorted.push(ix); // its proper place comes with the next sorting: nothing above the cursor is reordered
        }
    }

    /// Takes rows out everywhere.
    pub fn remove(&mut self, gone: &std::collections::HashSet<RowIx>) {
        self.sifted.list.retain(|ix| !gone.contains(ix));
        self.sifted.pool.retain(|ix| !gone.contains(ix));
        self.deferred.retain(|ix| !gone.contains(ix));
        if let Some(sorted) = &mut self.sorted {
            sorted.retain(|ix| !gone.contains(ix));
        }
        for group in &mut self.groups {
            let mut at = 0;
            let keep: Vec<bool> = group.rows.iter().map(|ix| !gone.contains(ix)).collect();
            group.rows.retain(|_| {
                at += 1;
                keep[at - 1]
            });
            let mut at = 0;
            group.snippets.retain(|_| {
                at += 1;
                keep.get(at - 1).copied().unwrap_or(true)
            });
        }
    }
}

/// Where in a newest-first list a place in time is or would be.
pub fn place(list: &VecDeque<RowIx>, arena: &Arena, key: PageKey) -> usize {
    list.partition_point(|ix| {
        let row = arena.row(*ix);
        (row.created_ms, row.id) > (key.created_ms, key.id.0)
    })
}

/// Whether a newest-first list holds a row.
pub fn holds(list: &VecDeque<RowIx>, arena: &Arena, ix: RowIx) -> bool {
    list.get(place(list, arena, arena.row(ix).key())) == Some(&ix)
}

/// Puts a row at its place in a newest-first list, once.
pub fn insert(list: &mut VecDeque<RowIx>, arena: &Arena, ix: RowIx) {
    let at = place(list, arena, arena.row(ix).key());
    if list.get(at).is_some_and(|old| arena.row(*old).id == arena.row(ix).id) {
        list[at] = ix;
    } else {
        list.insert(at, ix);
    }
}
