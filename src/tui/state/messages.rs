//! What the program says: one line at the bottom, and a list of all that was said.

use std::collections::VecDeque;

/// How long a line stays, and how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// 4 seconds.
    Info,
    /// 10 seconds: it says how to undo.
    Undo,
    /// Until Esc.
    Error,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// When it was said.
    pub at: i64,
    /// How.
    pub tone: Tone,
    /// What.
    pub text: String,
}

/// All lines of this run, newest last.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    all: VecDeque<Message>,
    until: Option<i64>,
    shown: bool,
}

/// More than anybody reads.
const KEPT: usize = 500;

impl Messages {
    /// Says something.
    pub fn say(&mut self, now: i64, tone: Tone, text: impl Into<String>) {
        let text = crate::memory::safe_line(&text.into());
        self.until = match tone {
            Tone::Info => Some(now + 4_000),
            Tone::Undo => Some(now + 10_000),
            Tone::Error => None,
        };
        self.shown = true;
        self.all.push_back(Message { at: now, tone, text });
        if self.all.len() > KEPT {
            self.all.pop_front();
        }
    }

    /// The line to show now.
    pub fn current(&self) -> Option<&Message> {
        self.all.back().filter(|_| self.shown)
    }

    /// Everything that was said.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.all.iter()
    }

    /// When the present line goes.
    pub fn deadline(&self) -> Option<i64> {
        self.until.filter(|_| self.shown)
    }

    /// Time has passed.
    pub fn tick(&mut self, now: i64) {
        if self.until.is_some_and(|until| now >= until) {
            self.dismiss();
        }
    }

    /// The line goes. Returns whether there was one.
    pub fn dismiss(&mut self) -> bool {
        self.until = None;
        std::mem::take(&mut self.shown)
    }
}
