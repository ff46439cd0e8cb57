//! What the reader remembers of lines it has passed: which ones were seen, and where prompts hang in the tree.
//!
//! The file is a tree written as a list. Copies of lines come back with the same uuid (branch, second compaction),
//! and a prompt whose parent already has another prompt below it means that the user went back (E32, A144). The
//! memory is bounded: old marks are forgotten, and the ledger still knows their events.

use std::collections::{HashMap, HashSet};

use super::key::short_mark;

/// Marks kept at most, in two generations of half that many.
const MARKS: usize = 1 << 18;
/// Prompts kept at most.
const PROMPTS: usize = 512;

/// A set that forgets its older half when it is full.
#[derive(Debug, Default)]
pub struct Seen {
    newer: HashSet<u128>,
    older: HashSet<u128>,
}

impl Seen {
    /// `true` when the mark is new.
    pub fn insert(&mut self, mark: u128) -> bool {
        if self.newer.contains(&mark) || self.older.contains(&mark) {
            return false;
        }
        if self.newer.len() >= MARKS / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(mark)
    }

    /// Whether the mark is remembered.
    pub fn contains(&self, mark: u128) -> bool {
        self.newer.contains(&mark) || self.older.contains(&mark)
    }
}

/// A line that began a turn: a prompt, or a machine's notice (which has no parent here).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prompt {
    /// Mark of its uuid.
    pub uuid: u64,
    /// Mark of its parent's; 0 for a root.
    pub parent: u64,
    /// Its turn.
    pub turn: u32,
}

/// The lines that began turns, in order.
#[derive(Debug, Default)]
pub struct Prompts {
    list: Vec<Prompt>,
    known: HashSet<u64>,
    /// Parent → turn of the latest prompt below it.
    below: HashMap<u64, u32>,
}

impl Prompts {
    /// Whether a prompt with this uuid was seen.
    pub fn knows(&self, uuid: &str) -> bool {
        !self.known.is_empty() && self.known.contains(&short_mark(uuid))
    }

    /// Turn of the prompt that already hangs below this parent: the user went back to before it.
    pub fn rewinds_to(&self, parent: Option<&str>) -> Option<u32> {
        self.below.get(&short_mark(parent?)).copied()
    }

    /// A prompt came.
    pub fn add(&mut self, uuid: &str, parent: Option<&str>, turn: u32) {
        self.push(Prompt { uuid: short_mark(uuid), parent: parent.map_or(0, short_mark), turn });
    }

    fn push(&mut self, prompt: Prompt) {
        self.known.insert(prompt.uuid);
        if prompt.parent != 0 {
            self.below.insert(prompt.parent, prompt.turn);
        }
        self.list.push(prompt);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The latest of the first `count`, for a cursor.
    pub fn first(&self, count: usize) -> &[Prompt] {
        let end = count.min(self.list.len());
        &self.list[end.saturating_sub(PROMPTS)..end]
    }

    /// From a cursor.
    pub fn restore(&mut self, prompts: impl IntoIterator<Item = Prompt>) {
        for prompt in prompts {
            self.push(prompt);
        }
    }
}
