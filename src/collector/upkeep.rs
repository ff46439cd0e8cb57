//! What is done when there is nothing to do: the log of the database written back, the trash emptied of what lay there
//! long enough. None of it is worth an error: what fails is tried again later. Vectors have a thread of their own
//! (`vectors`).

use std::time::{Duration, Instant};

use crate::config::Settings;
use crate::memory::Timestamp;
use crate::store::Store;

/// Nothing is done before the collector has been at rest this long.
const REST: Duration = Duration::from_secs(2);
/// How often the trash is looked at.
const EXPIRE: Duration = Duration::from_secs(3600);
/// A log larger than this is written back (A118).
const LOG: u64 = 4 << 20;

/// When what was done last.
#[derive(Debug)]
pub struct Upkeep {
    trash_days: u32,
    steps: u32,
    /// Something was written since the log was last written back.
    written: bool,
    expired: Option<Instant>,
    busy_at: Instant,
}

impl Upkeep {
    /// As the settings ask.
    pub fn new(settings: &Settings, now: Instant) -> Self {
        Self {
            trash_days: settings.trash.days,
            steps: settings.trash.steps,
            written: true,
            expired: None,
            busy_at: now,
        }
    }

    /// The collector works.
    pub fn busy(&mut self, now: Instant, wrote: bool) {
        self.busy_at = now;
        self.written |= wrote;
    }

    /// When there is something to do.
    pub fn due(&self) -> Option<Instant> {
        let rested = self.busy_at + REST;
        if self.written {
            return Some(rested);
        }
        Some(self.expired.map_or(rested, |at| rested.max(at + EXPIRE)))
    }

    /// Does a little of it.
    pub fn work(&mut self, store: &mut Store, now: Instant, time: Timestamp) {
        if self.due().is_none_or(|at| at > now) {
            return;
        }
        if self.written {
            self.written = false;
            let (_, log) = store.disk();
            if log > LOG
                && let Err(error) = store.checkpoint()
            {
                tracing::debug!("the log was not written back: {error}");
            }
            return;
        }
        if self.expired.is_none_or(|at| at + EXPIRE <= now) {
            self.expired = Some(now);
            match store.expire(time, self.trash_days, self.steps) {
                Ok(0) => {}
                Ok(gone) => tracing::info!("{gone} memories left the trash for good"),
                Err(error) => tracing::debug!("the trash was not looked at: {error}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::monotonic;

    #[test]
    fn nothing_is_done_while_there_is_work() {
        let now = monotonic();
        let time = Timestamp::from_second(1_790_000_000).expect("in range");
        let mut upkeep = Upkeep::new(&Settings::default(), now);
        let mut store = Store::in_memory(time).expect("a store");
        assert_eq!(upkeep.due(), Some(now + REST));
        upkeep.work(&mut store, now, time);
        assert!(upkeep.written, "it waits for rest");
        let later = now + REST;
        upkeep.work(&mut store, later, time);
        upkeep.work(&mut store, later, time);
        assert_eq!(upkeep.due(), Some(later + EXPIRE));
        upkeep.busy(later, true);
        assert_eq!(upkeep.due(), Some(later + REST));
    }
}
