//! The prompt queue: words typed while the agent works, which may stand nowhere else in the file (transcripts.md §6).
//!
//! `remove` means "taken in mid-turn". The same words may also come as an attachment, before or after the
//! `remove`, or as an ordinary entry: one prompt, whatever the number of lines. So a removed text waits until the
//! turn ends for one of the others to claim it.

use super::context::Stamp;
use super::key::short_mark;
use super::speaker::queued_by_machine;
use crate::memory::{EventKey, Timestamp};

/// Turns that may begin while a text waits; then it is taken for left over by a process that died.
const STALE: u8 = 3;

/// A text in the queue, or just out of it.
#[derive(Debug)]
pub struct Queued {
    /// The words.
    pub text: String,
    /// Key it goes out under if no other line claims it.
    pub key: EventKey,
    /// Offset behind the line that removed it.
    pub end: u64,
    /// When it was removed.
    pub stamp: Stamp,
    /// When it was put in.
    since: Option<Timestamp>,
    age: u8,
}

/// The queue of one file.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: Vec<Queued>,
    removed: Vec<Queued>,
    /// Offset of the line with which the queue last ceased to be empty. Lines that take texts out name no text, so
    /// whoever resumes must see them all from there.
    since: u64,
    /// Marks of texts that went out in this turn and whose other lines may still come.
    delivered: Vec<u64>,
}

impl Queue {
    /// A text was put in.
    pub fn enqueue(&mut self, text: String, key: EventKey, time: Option<Timestamp>, start: u64) {
        if self.is_empty() {
            self.since = start;
        }
        self.waiting.push(Queued { text, key, end: start, stamp: Stamp::default(), since: time, age: 0 });
    }

    /// A text left the queue and comes again as an ordinary entry.
    pub fn dequeue(&mut self, text: Option<&str>) {
        self.pop(text);
    }

    /// A text left the queue in mid-turn.
    pub fn remove(&mut self, text: Option<&str>, key: Option<EventKey>, stamp: Stamp, end: u64) {
        let Some(mut queued) = self.pop(text) else { return };
        queued.text = queued.text.trim().to_owned();
        if queued.text.is_empty() || queued_by_machine(&queued.text) || self.claim_delivered(&queued.text) {
            return;
        }
        if let Some(key) = key {
            queued.key = key;
        }
        self.removed.push(Queued { stamp, end, ..queued });
    }

    /// The user took everything back into the editor.
    pub fn pop_all(&mut self) {
        self.waiting.clear();
    }

    /// First in, first out, unless the line names the text.
    fn pop(&mut self, text: Option<&str>) -> Option<Queued> {
        if self.waiting.is_empty() {
            return None;
        }
        let at = text.and_then(|text| self.waiting.iter().position(|queued| queued.text == text)).unwrap_or(0);
        Some(self.waiting.remove(at))
    }

    /// An attachment brings the text, and it goes out; other lines with it need not. Two attachments are two
    /// prompts, also with the same words. One that is older than the text in the queue is a copy of another's.
    pub fn attached(&mut self, text: &str, time: Option<Timestamp>) {
        let older = |queued: &Queued| time.zip(queued.since).is_some_and(|(time, since)| time < since);
        if let Some(at) = self.removed.iter().position(|queued| queued.text == text && !older(queued)) {
            self.removed.remove(at);
        }
        self.delivered.push(short_mark(text));
    }

    /// An ordinary entry brings the text. `false` when it was given out already in this turn.
    pub fn entered(&mut self, text: &str) -> bool {
        if let Some(at) = self.removed.iter().position(|queued| queued.text == text) {
            self.removed.remove(at);
            return true;
        }
        !self.claim_delivered(text)
    }

    fn claim_delivered(&mut self, text: &str) -> bool {
        let mark = short_mark(text);
        match self.delivered.iter().position(|&it| it == mark) {
            Some(at) => {
                self.delivered.remove(at);
                true
            }
            None => false,
        }
    }

    /// The turn is over: texts that nothing else claimed.
    pub fn turn_over(&mut self) -> Vec<Queued> {
        self.delivered.clear();
        std::mem::take(&mut self.removed)
    }

    /// A turn begins. Drops what will never be delivered, and says how many that were.
    pub fn turn_begins(&mut self) -> u64 {
        let before = self.waiting.len();
        self.waiting.retain_mut(|queued| {
            queued.age += 1;
            queued.age < STALE
        });
        (before - self.waiting.len()) as u64
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.removed.is_empty()
    }

    /// Offset from which its lines must be seen to know what is in it.
    pub fn start(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.since)
    }
}
