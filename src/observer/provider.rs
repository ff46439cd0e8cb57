//! The seam between the machine and whoever answers: orders go down, reports come up. All of it plain values.
//!
//! A *run* is one conversation: a child process, a history kept for an HTTP endpoint, or nothing at all for the
//! observer without a model. The machine names runs and asks; a provider never invents one.
//!
//! What a provider owes:
//! - After [`Order::Start`] it says [`Said::Gone`] exactly once, on every path: refused, died, ended, killed. The slot
//!   of the run is free from then on and not before.
//! - An [`Order::Ask`] may come before the run is ready; it waits inside the provider.
//! - Each ask is answered by [`Said::Answered`] (or [`Said::Judged`]), or ended by `Gone`. Errors of the service are
//!   answers too: they carry `reply.error`.
//! - [`Said::Alive`] for every sign that something is going on (retries of its own, parts of a stream). It moves the
//!   watchdog.
//! - It never retries a request by its own decision beyond what the client program does in itself.

use std::sync::Arc;

use crate::gate::reply::{Expected, Reply};
use crate::memory::{Draft, SessionId, Summary};

use super::batch::Batch;

/// One conversation. Unique over restarts (it starts from the clock).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey(pub u64);

/// One question in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskKey(pub u64);

/// What the machine wants of a provider.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Begin a conversation.
    Start {
        /// Its name.
        run: RunKey,
        /// How.
        spec: RunSpec,
    },
    /// Put a question. At most one is open in a run.
    Ask {
        /// Run.
        run: RunKey,
        /// Its name.
        ask: AskKey,
        /// What is said to a model. Never starts with `/`.
        text: Arc<str>,
        /// What it is about, for an observer that reads events instead of text.
        batch: Arc<Batch>,
        /// What is wanted.
        expects: Expected,
    },
    /// End the run politely: nothing is open in it.
    End {
        /// Run.
        run: RunKey,
    },
    /// End it at once: interrupt, terminate, kill. What is open in it is given up.
    Kill {
        /// Run.
        run: RunKey,
    },
}

/// How a run is begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// Session it observes, for logs.
    pub session: SessionId,
    /// The instructions, byte-equal for all runs of one mode and language (a stable cache prefix).
    pub instructions: Arc<str>,
    /// Model name or alias, as set.
    pub model: String,
}

/// What a provider says about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Run.
    pub run: RunKey,
    /// What.
    pub said: Said,
}

/// What a provider says.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The run can be asked.
    Ready {
        /// Version of the program that runs it, when one does.
        version: Option<String>,
    },
    /// Something is going on.
    Alive,
    /// How far an allowance of the account is used.
    Window(WindowUse),
    /// A model's reply, or an error in its place.
    Answered {
        /// Question.
        ask: AskKey,
        /// Reply with its structure.
        reply: Reply,
        /// What it cost.
        usage: Usage,
        /// Model that wrote it, as the service names it.
        model: Option<String>,
    },
    /// The answer of an observer that needs no words.
    Judged {
        /// Question.
        ask: AskKey,
        /// Observations.
        drafts: Vec<Draft>,
        /// Summary, if one was expected and there is one.
        summary: Option<Summary>,
    },
    /// The run is over and its resources are free.
    Gone(Gone),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gone {
    /// As ordered.
    Ended,
    /// The program was not found.
    NotFound {
        /// Where it was looked for.
        looked: Vec<String>,
    },
    /// It could not be started or does not understand us.
    Refused(String),
    /// It ended by itself.
    Died(String),
}

/// What a reply cost.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Usage {
    /// Input tokens that were not cached, newly cached ones included.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// US dollars as the provider reports it; `None`: to be estimated.
    pub cost: Option<f64>,
    /// Milliseconds.
    pub millis: u64,
}

impl Usage {
    /// What the conversation holds after the reply.
    pub fn context(&self) -> u64 {
        self.input + self.cached + self.output
    }
}

/// How far an allowance is used, as the account reports it (observer.md §3.6).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WindowUse {
    /// `five_hour`, `seven_day`, `seven_day_opus` …
    pub window: String,
    /// 0–1.
    pub used: Option<f64>,
    /// Requests are refused.
    pub rejected: bool,
    /// Seconds since the epoch.
    pub resets_at: Option<i64>,
}

/// Where reports go. Called from a provider's own thread; must not block.
pub type Sink = Arc<dyn Fn(Report) + Send + Sync>;

/// Somebody who answers.
pub trait Provider: Send {
    /// Takes an order. Never blocks; what comes of it is reported.
    fn order(&mut self, order: Order);

    /// Waits until every run is gone, after the machine has ended them; what is not gone within a few seconds is
    /// killed.
    fn close(&mut self);
}
