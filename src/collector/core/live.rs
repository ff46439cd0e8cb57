//! The live state as `status` and the screen show it: files that cannot be read, warnings, what waits.

use super::super::health::{Gap, Problem};
use super::Core;

impl Core {
    /// A file or folder cannot be read, or can again.
    pub fn trouble(&mut self, path: &str, why: Option<String>) {
        let now = self.clock.now();
        self.snapshot.gaps.retain(|gap| gap.path != path || why.is_some());
        match why {
            Some(why) => {
                let what = format!("{path} cannot be read: {why}");
                match self.snapshot.gaps.iter_mut().find(|gap| gap.path == path) {
                    Some(gap) => gap.why = why,
                    None => {
                        tracing::warn!("{what}");
                        self.snapshot.gaps.push(Gap { path: path.to_owned(), since: now, why });
                    }
                }
                self.snapshot.note(Problem { at: now, what, lost: 0, kept: 0, cleared: false });
            }
            None => {
                let what = format!("{path} cannot be read: ");
                for problem in self.snapshot.errors.iter_mut().filter(|problem| problem.what.starts_with(&what)) {
                    problem.cleared = true;
                }
            }
        }
        self.snapshot_changed = true;
    }

    /// The judge's warnings among the problems: new ones come up, those that are over are cleared.
    pub(super) fn heed(&mut self, warnings: Vec<String>) {
        if warnings == self.heeded {
            return;
        }
        let (now, kept) = (self.clock.now(), self.pending.len() as u64);
        for problem in &mut self.snapshot.errors {
            problem.cleared |= self.heeded.contains(&problem.what) && !warnings.contains(&problem.what);
        }
        for what in warnings.iter().filter(|it| !self.heeded.contains(it)) {
            tracing::warn!("{what}");
            self.snapshot.note(Problem { at: now, what: what.clone(), lost: 0, kept, cleared: false });
        }
        self.heeded = warnings;
        self.snapshot_changed = true;
    }

    /// Brings the live state up to date.
    pub fn refresh(&mut self) {
        let waiting = self.pending.len() as u64;
        let (provider, model) = self.judge.name();
        let own = self.snapshot.paused.as_ref().is_some_and(|paused| paused.reason == "disk");
        let paused = self.judge.paused();
        self.heed(self.judge.warnings());
        let snapshot = &mut self.snapshot;
        let before = (snapshot.waiting, snapshot.oldest_waiting_at, snapshot.paused.clone());
        snapshot.waiting = waiting;
        snapshot.oldest_waiting_at = self.judge.oldest_due();
        if !own {
            snapshot.paused = paused;
        }
        snapshot.provider = provider;
        snapshot.model = model;
        snapshot.queue = self.judge.queue();
        if before != (snapshot.waiting, snapshot.oldest_waiting_at, snapshot.paused.clone()) {
            self.snapshot_changed = true;
        }
    }
}
