//! What a reader counted, so that nothing is lost without a number that says so.

use std::collections::BTreeMap;

/// How many names of unknown types are told apart; the rest are counted together.
const NAMES: usize = 256;

/// Figures since they were last taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines read, whatever they held.
    pub lines: u64,
    /// Records that could not be read and are lost.
    pub malformed: u64,
    /// Lines that could be read only after repair.
    pub repaired: u64,
    /// Entries passed over on purpose by their type.
    pub skipped: u64,
    /// Lines so long that text in them was shortened.
    pub shortened: u64,
    /// Entries or events that were seen before in this file.
    pub copies: u64,
    /// Queued prompts that were never delivered.
    pub undelivered: u64,
    /// Answers taken back before they were given out.
    pub retracted: u64,
    /// Output tokens of all answers, each counted once.
    pub output_tokens: u64,
    /// Entry types nothing is made of, by name: those passed over on purpose and those never heard of.
    pub unknown: BTreeMap<String, u64>,
    /// Of the latter, how often in which client version (`type`, `version`).
    pub unknown_versions: BTreeMap<(String, String), u64>,
}

impl Counts {
    /// An entry that is passed over on purpose.
    pub(super) fn skip(&mut self, kind: &str) {
        self.skipped += 1;
        self.name(kind);
    }

    /// An entry of a type never heard of.
    pub(super) fn unheard(&mut self, kind: &str, version: &str) {
        self.name(kind);
        let key = (clipped(kind), clipped(version));
        if self.unknown_versions.len() < NAMES || self.unknown_versions.contains_key(&key) {
            *self.unknown_versions.entry(key).or_default() += 1;
        }
    }

    fn name(&mut self, kind: &str) {
        if let Some(count) = self.unknown.get_mut(kind) {
            *count += 1;
        } else {
            let name = if self.unknown.len() < NAMES { clipped(kind) } else { "(other)".to_owned() };
            *self.unknown.entry(name).or_default() += 1;
        }
    }

    /// Adds another reader's figures.
    pub fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.malformed += other.malformed;
        self.repaired += other.repaired;
        self.skipped += other.skipped;
        self.shortened += other.shortened;
        self.copies += other.copies;
        self.undelivered += other.undelivered;
        self.retracted += other.retracted;
        self.output_tokens += other.output_tokens;
        for (name, count) in &other.unknown {
            *self.unknown.entry(name.clone()).or_default() += count;
        }
        for (key, count) in &other.unknown_versions {
            *self.unknown_versions.entry(key.clone()).or_default() += count;
        }
    }
}

/// Names come from files: they are cut, so that no name can fill the memory.
fn clipped(name: &str) -> String {
    crate::memory::clip_chars(name, 64).to_owned()
}
