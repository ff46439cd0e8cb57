//! How far a file's cursor may move: bookkeeping with no work in it.
//!
//! Reading a file yields events and, now and then, a *mark*: a place from which reading again would yield every
//! event that has not been yielded yet. A mark may be written down once every event yielded before it has an outcome.
//! That is the whole rule behind "nothing lost, nothing twice": what was yielded has an outcome in the ledger, what
//! was not comes again from the mark.

use std::collections::VecDeque;

/// The number an event gets when its file yields it, from 0.
pub type Seq = u64;

/// Outcomes and marks of one file.
#[derive(Clone, Debug)]
pub struct Progress<M> {
    /// Every event below this number has an outcome.
    low: Seq,
    /// Whether the event `low + index` has one.
    decided: VecDeque<bool>,
    /// Marks, each with the number of events yielded before it; numbers rise.
    marks: VecDeque<(Seq, M)>,
    /// Events that will never get an outcome (left to a later backfill): no mark behind them may be written.
    barred: bool,
}

impl<M> Default for Progress<M> {
    fn default() -> Self {
        Self { low: 0, decided: VecDeque::new(), marks: VecDeque::new(), barred: false }
    }
}

impl<M> Progress<M> {
    /// The file yields an event.
    pub fn yielded(&mut self) -> Seq {
        self.decided.push_back(false);
        self.low + self.decided.len() as Seq - 1
    }

    /// The event has an outcome. A second outcome is as good as the first.
    pub fn decide(&mut self, seq: Seq) {
        let Some(index) = seq.checked_sub(self.low) else { return };
        if let Some(flag) = self.decided.get_mut(index as usize) {
            *flag = true;
        }
        while self.decided.front() == Some(&true) {
            self.decided.pop_front();
            self.low += 1;
        }
    }

    /// The file can be read again from `mark` for whatever it has not yielded so far. Marks behind a bar are dropped.
    pub fn mark(&mut self, mark: M, merge: impl FnOnce(&mut M, M)) {
        if self.barred {
            return;
        }
        let seq = self.low + self.decided.len() as Seq;
        match self.marks.back_mut() {
            // A later place behind the same events replaces the earlier one.
            Some(last) if last.0 == seq => merge(&mut last.1, mark),
            _ => self.marks.push_back((seq, mark)),
        }
    }

    /// An event was left out on purpose and must be met again by a later reading.
    pub fn bar(&mut self) {
        self.barred = true;
    }

    /// The furthest mark that may be written now, if it is a new one.
    pub fn ready(&mut self) -> Option<M> {
        let mut found = None;
        while self.marks.front().is_some_and(|(seq, _)| *seq <= self.low) {
            found = self.marks.pop_front().map(|(_, mark)| mark);
        }
        found
    }

    /// The next mark that may be written now. Marks come in order.
    pub fn ready_one(&mut self) -> Option<M> {
        if self.has_ready() { self.marks.pop_front().map(|(_, mark)| mark) } else { None }
    }

    /// Whether a mark may be written now.
    pub fn has_ready(&self) -> bool {
        self.marks.front().is_some_and(|(seq, _)| *seq <= self.low)
    }

    /// Events without an outcome.
    pub fn waiting(&self) -> usize {
        self.decided.iter().filter(|flag| !**flag).count()
    }

    /// Nothing waits and no mark is left to write.
    pub fn is_settled(&self) -> bool {
        self.decided.is_empty() && self.marks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn replace<M>(old: &mut M, new: M) {
        *old = new;
    }

    #[test]
    fn a_mark_waits_for_every_event_before_it() {
        let mut progress = Progress::default();
        progress.mark("start", replace);
        assert_eq!(progress.ready(), Some("start"));
        let (first, second) = (progress.yielded(), progress.yielded());
        progress.mark("behind two", replace);
        progress.decide(second);
        assert_eq!(progress.ready(), None);
        progress.decide(first);
        progress.decide(first);
        assert_eq!(progress.ready(), Some("behind two"));
        assert!(progress.is_settled());
    }

    #[test]
    fn what_was_left_out_bars_every_later_mark() {
        let mut progress = Progress::default();
        let first = progress.yielded();
        progress.mark(1, replace);
        progress.bar();
        progress.mark(2, replace);
        progress.decide(first);
        assert_eq!(progress.ready(), Some(1));
        assert_eq!(progress.ready(), None);
    }

    /// A model of a file: events 0..n in order; the reader has yielded some; a mark at place `p` re-reads from `p`.
    #[derive(Clone, Debug)]
    enum Step {
        Yield,
        Mark,
        Decide(usize),
        Write,
        Kill,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => Just(Step::Yield),
            2 => Just(Step::Mark),
            4 => (0usize..8).prop_map(Step::Decide),
            2 => Just(Step::Write),
            1 => Just(Step::Kill),
        ];
        prop::collection::vec(step, 0..120)
    }

    proptest! {
        /// Whatever order outcomes come in and whenever the process dies: an event is asked about again only if it
        /// has no outcome, and none before the written cursor lacks one.
        #[test]
        fn nothing_is_lost_and_nothing_is_decided_twice(steps in steps()) {
            let mut ledger: HashSet<u64> = HashSet::new(); // durable
            let mut cursor = 0u64; // durable: events before it are never read again
            let mut progress = Progress::default();
            let mut next = 0u64; // next event the reader yields
            let mut open: Vec<(u64, Seq)> = Vec::new();
            let mut outbox: Vec<(u64, Seq)> = Vec::new();
            for step in steps {
                match step {
                    Step::Yield => {
                        let seq = progress.yielded();
                        if ledger.contains(&next) {
                            progress.decide(seq);
                        } else {
                            open.push((next, seq));
                        }
                        next += 1;
                    }
                    Step::Mark => progress.mark(next, replace),
                    Step::Decide(which) => {
                        if !open.is_empty() {
                            let (event, seq) = open.remove(which % open.len());
                            outbox.push((event, seq));
                        }
                    }
                    Step::Write => {
                        // One transaction: the outcomes and the cursor they allow.
                        for (event, seq) in outbox.drain(..) {
                            prop_assert!(ledger.insert(event), "decided twice");
                            progress.decide(seq);
                        }
                        if let Some(mark) = progress.ready() {
                            cursor = mark;
                        }
                        for event in 0..cursor {
                            prop_assert!(ledger.contains(&event), "lost {event}");
                        }
                    }
                    Step::Kill => {
                        progress = Progress::default();
                        next = cursor;
                        open.clear();
                        outbox.clear();
                    }
                }
            }
        }
    }
}
