//! The typing guard (tui.md B.20, D.1): somebody types a prompt into the wrong pane.
//!
//! Six printable keys, four of them different, within 900 ms, are no sequence of commands. The screen then goes back to
//! where it was before the first of them, changes made by them are taken back, and further keys do nothing until Esc.
//! Runs of motions (`jjjjjj`) do not count. Text typed into an input counts only when the input was opened in the
//! middle of such a run, or, where Enter would change a memory, when nobody could have read what opened.
//!
//! Pure bookkeeping: what was, and whether it is a burst. Reversing is `update`'s business.

use std::collections::VecDeque;

/// Keys of a burst.
const KEYS: usize = 6;
/// Different ones among them.
const DIFFERENT: usize = 4;
/// Milliseconds in which they come.
const WITHIN: i64 = 900;
/// Milliseconds before an input that changes something takes a key for meant.
const READING: i64 = 250;

/// What has been typed lately.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    recent: VecDeque<(i64, char)>,
    /// Steps of the journal that the present run of keys has made.
    pub steps: Vec<i64>,
    /// Changes asked for in this run and not yet answered.
    pub unanswered: u32,
    /// Changes of a burst that are still under way: taken back when they are answered, whatever happens meanwhile.
    pub take_back: u32,
    /// Set while keys are ignored: how many were, how many changes were taken back.
    pub tripped: Option<Tripped>,
    /// When the input that is open was opened, and whether in the middle of a run.
    input: Option<(i64, bool, bool)>,
}

/// The guard stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tripped {
    /// Keys that did nothing.
    pub ignored: u32,
    /// Changes taken back.
    pub taken_back: u32,
}

impl Guard {
    /// A run of keys begins with the next one: what is before it can be forgotten.
    pub fn is_quiet(&self, now: i64) -> bool {
        self.recent.back().is_none_or(|(at, _)| now - at > WITHIN)
    }

    /// A run begins: nothing belongs to it yet.
    pub fn begin(&mut self) {
        self.recent.clear();
        self.steps.clear();
    }

    /// A printable key outside an input, or inside one that counts. `motion`: a plain motion, which proves nothing.
    /// Returns whether this is a burst now.
    pub fn key(&mut self, now: i64, key: char, motion: bool) -> bool {
        while self.recent.front().is_some_and(|(at, _)| now - at > WITHIN) {
            self.recent.pop_front();
        }
        // Motions are kept too, so that `is_quiet` sees them; letters of a prompt are motions now and then.
        self.recent.push_back((now, key));
        if motion && self.distinct() < DIFFERENT {
            return false;
        }
        self.recent.len() >= KEYS && self.distinct() >= DIFFERENT
    }

    fn distinct(&self) -> usize {
        let mut seen: Vec<char> = Vec::with_capacity(KEYS);
        for (_, key) in &self.recent {
            if !seen.contains(key) {
                seen.push(*key);
            }
        }
        seen.len()
    }

    /// An input opens. `writes`: accepting it changes a memory.
    pub fn input_opened(&mut self, now: i64, writes: bool) {
        let amid = self.recent.iter().filter(|(at, _)| now - at <= WITHIN).count() > 1;
        self.input = Some((now, amid, writes));
    }

    /// The input is closed.
    pub fn input_closed(&mut self) {
        self.input = None;
    }

    /// Whether a key typed into the open input belongs to the run outside of it.
    pub fn counts_in_input(&mut self, now: i64) -> bool {
        let Some((opened, amid, writes)) = &mut self.input else { return false };
        if now - *opened > WITHIN && !*amid {
            return false;
        }
        let hasty = *writes && now - *opened < READING;
        if hasty {
            *amid = true;
        }
        if !*amid {
            return false;
        }
        // Once there was time to read, it is typing that is meant.
        let still = self.recent.back().is_some_and(|(at, _)| now - at < READING);
        *amid = still;
        still
    }

    /// Keys do nothing from now on.
    pub fn trip(&mut self) {
        self.tripped = Some(Tripped { ignored: self.recent.len() as u32, taken_back: 0 });
        self.take_back += std::mem::take(&mut self.unanswered);
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(text: &str, gap: i64, motions: &str) -> bool {
        let mut guard = Guard::default();
        text.chars().enumerate().any(|(at, ch)| guard.key(at as i64 * gap, ch, motions.contains(ch)))
    }

    #[test]
    fn prose_is_a_burst_and_commands_are_not() {
        assert!(burst("please fix the tests", 60, "jk"));
        assert!(burst("delete everything", 120, "jk"));
        assert!(!burst("jjjjjjjjkkkk", 30, "jk"), "motions");
        assert!(!burst("jjd", 50, "jk"));
        assert!(!burst("gpjjd", 100, "jk"), "five keys");
        assert!(!burst("dududududu", 50, "jk"), "two different keys");
        assert!(!burst("slowly typed", 400, "jk"));
    }

    #[test]
    fn an_input_opened_first_is_meant_and_one_opened_amid_a_run_is_not() {
        let mut guard = Guard::default();
        guard.key(0, '/', false);
        guard.input_opened(0, false);
        assert!(!guard.counts_in_input(20));
        let mut guard = Guard::default();
        for (at, ch) in "fix".chars().enumerate() {
            guard.key(at as i64 * 60, ch, false);
        }
        guard.key(180, ':', false);
        guard.input_opened(180, false);
        assert!(guard.counts_in_input(240));
        let mut guard = Guard::default();
        guard.key(0, 'r', false);
        guard.input_opened(0, true);
        assert!(guard.counts_in_input(60), "nobody has read the title yet");
        let mut guard = Guard::default();
        guard.key(0, 'r', false);
        guard.input_opened(0, true);
        assert!(!guard.counts_in_input(700), "a pause to read, then typing");
    }
}
