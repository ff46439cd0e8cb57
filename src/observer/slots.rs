//! How many conversations there may be at once, and whose turn it is.
//!
//! A slot is reserved before a run is started and released when the run is gone, never in between (A072, A073). Turns
//! go by how long a session has been waiting with something to ask: live sessions before backfill, then first come,
//! first served. A session that was just served goes to the end by itself, because its next work is younger.

use std::collections::BTreeSet;

use crate::memory::{SessionId, Timestamp};

use super::provider::RunKey;

/// Most slots there can be, whatever is configured.
pub const HARD_CAP: usize = 10;

/// The slots and who holds them.
#[derive(Clone, Debug)]
pub struct Slots {
    limit: usize,
    held: BTreeSet<RunKey>,
}

impl Slots {
    /// `wanted` slots, at least one and at most [`HARD_CAP`].
    pub fn new(wanted: u32) -> Self {
        Self { limit: (wanted as usize).clamp(1, HARD_CAP), held: BTreeSet::new() }
    }

    /// Another number. Runs beyond it are not ended; no new one starts until there is room.
    pub fn resize(&mut self, wanted: u32) {
        self.limit = (wanted as usize).clamp(1, HARD_CAP);
    }

    /// Takes a slot for `run`, if one is free.
    pub fn reserve(&mut self, run: RunKey) -> bool {
        let free = self.free() > 0;
        if free {
            self.held.insert(run);
        }
        free
    }

    /// Gives the slot of `run` back. Doing so twice gives back one.
    pub fn release(&mut self, run: RunKey) {
        self.held.remove(&run);
    }

    /// Slots nobody holds.
    pub fn free(&self) -> usize {
        self.limit.saturating_sub(self.held.len())
    }

    /// Slots held.
    pub fn used(&self) -> usize {
        self.held.len()
    }

    /// How many there are.
    pub fn limit(&self) -> usize {
        self.limit
    }
}

/// A session that has something to ask.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// Backfill comes after live sessions: `false` sorts first.
    pub backfill: bool,
    /// Since when.
    pub since: Timestamp,
    /// Whose.
    pub session: SessionId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a072_no_more_than_the_limit_and_never_more_than_the_cap() {
        let mut slots = Slots::new(2);
        assert!(slots.reserve(RunKey(1)) && slots.reserve(RunKey(2)) && !slots.reserve(RunKey(3)));
        assert_eq!(Slots::new(0).limit(), 1);
        assert_eq!(Slots::new(500).limit(), HARD_CAP);
    }

    #[test]
    fn a073_a_slot_given_back_twice_is_one_slot() {
        let mut slots = Slots::new(2);
        slots.reserve(RunKey(1));
        slots.release(RunKey(1));
        slots.release(RunKey(1));
        assert_eq!((slots.free(), slots.used()), (2, 0));
    }

    #[test]
    fn live_sessions_first_then_the_longest_wait() {
        let at = |second| Timestamp::from_second(second).expect("in range");
        let claim = |backfill, second, name: &str| Claim { backfill, since: at(second), session: name.into() };
        let mut claims = [claim(true, 1, "old work"), claim(false, 9, "b"), claim(false, 5, "a")];
        claims.sort();
        assert_eq!(claims.iter().map(|it| it.session.as_str()).collect::<Vec<_>>(), ["a", "b", "old work"]);
    }
}
