//! A piece of work: a batch on its way to an outcome, how it is made smaller, and the span its summary covers.

use std::sync::Arc;

use jiff::SignedDuration;

use crate::gate::reply::{BadKind, Expected};
use crate::memory::{EventKey, Timestamp};
use crate::observer::batch::Batch;
use crate::observer::prompt::{self, Limits};
use crate::transcript::event::{Body, Event, PromptKind};

/// A batch on its way to an outcome.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub batch: Arc<Batch>,
    /// Events whose outcome is open. Others of the batch are settled and only shown.
    pub open: Vec<EventKey>,
    pub expects: Expected,
    /// Since when it is due.
    pub since: Timestamp,
    /// When the oldest of its events came in.
    pub born: Timestamp,
    /// Not before this time.
    pub not_before: Option<Timestamp>,
    /// Failures of the service, of the run, of the clock.
    pub tries: u32,
    /// When the first of them was.
    pub first_try: Option<Timestamp>,
    /// What was wrong with the reply before.
    pub reminder: Option<BadKind>,
    pub limits: Limits,
    /// The rest of a reply that was cut: not divided again.
    pub rest: bool,
    /// Words for a summary when the model gives none.
    pub span: Span,
}

/// What the next summary is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    /// There is something to sum up: a batch of the span came to its end and was not given up.
    pub work: bool,
    /// The words that started it.
    pub prompt: Option<String>,
    /// The agent's last words.
    pub closing: String,
}

impl Work {
    /// Whether the outcome of any act is open in it, not only of words and marks.
    pub(super) fn has_work(&self) -> bool {
        let acts = |event: &Event| matches!(event.body, Body::Tool(_) | Body::Prompt(_));
        self.batch.events.iter().any(|it| acts(it) && self.open.contains(&it.key))
    }

    /// Narrower limits under which less of it is shown, if any do.
    pub(super) fn narrower(&self) -> Option<Limits> {
        let shown = |limits| self.batch.events.iter().map(|it| prompt::cost(it, limits)).sum::<usize>();
        let now = shown(self.limits);
        let mut limits = self.limits.halved()?;
        while shown(limits) >= now {
            limits = limits.halved()?;
        }
        Some(limits)
    }

    pub(super) fn new(batch: Batch, open: Vec<EventKey>, expects: Expected, since: Timestamp, span: Span) -> Self {
        Self {
            batch: Arc::new(batch),
            open,
            expects,
            since,
            born: since,
            not_before: None,
            tries: 0,
            first_try: None,
            reminder: None,
            limits: Limits::default(),
            rest: false,
            span,
        }
    }
}

impl Span {
    pub(super) fn take_in(&mut self, events: &[Event]) {
        for event in events.iter().filter(|it| it.agent.is_none()) {
            match &event.body {
                Body::Prompt(prompt) if prompt.kind != PromptKind::Rejection => self.prompt = Some(prompt.text.clone()),
                Body::Answer(answer) if !answer.text.trim().is_empty() => self.closing.clone_from(&answer.text),
                _ => {}
            }
        }
    }
}

/// The batch without its events but the last: what a summary asked for by itself needs.
pub(super) fn summary_frame(batch: &Batch) -> Batch {
    let mut frame = Batch { events: Vec::new(), closes_turn: true, ..batch.clone_frame() };
    frame.events.extend(batch.events.last().cloned());
    frame
}

/// `base` times three for each failure before the last, up to `most`.
pub(super) fn backoff(base: SignedDuration, failures: u32, most: SignedDuration) -> SignedDuration {
    let factor = 3i32.saturating_pow(failures.saturating_sub(1).min(12));
    base.checked_mul(factor).unwrap_or(most).min(most)
}

/// Splits a batch in two halves of about equal length of text, each with work in it; `None` when there is too little.
pub(super) fn halves(work: &Work) -> Option<(Work, Work)> {
    let events = &work.batch.events;
    let is_work = |event: &Event| matches!(event.body, Body::Tool(_)) && work.open.contains(&event.key);
    let count = events.iter().filter(|it| is_work(it)).count();
    if count < 2 {
        return None;
    }
    let costs: Vec<usize> = events.iter().map(|it| prompt::cost(it, work.limits)).collect();
    let total: usize = costs.iter().sum();
    // Behind a call, at the first place where the first part is half of it, or else before the last call.
    let (mut sum, mut seen, mut at) = (0, 0, 0);
    for (index, event) in events.iter().enumerate() {
        sum += costs[index];
        if is_work(event) {
            seen += 1;
            at = index + 1;
            if sum * 2 >= total || seen == count - 1 {
                break;
            }
        }
    }
    let part = |range: std::ops::Range<usize>, closes: bool| {
        let mut batch = (*work.batch).clone();
        batch.events = work.batch.events[range].to_vec();
        batch.closes_turn = closes;
        let open: Vec<EventKey> =
            work.open.iter().filter(|key| batch.events.iter().any(|it| it.key == **key)).cloned().collect();
        let expects = match (work.expects, closes) {
            (Expected::Both | Expected::Summary, true) => work.expects,
            (Expected::Both | Expected::Observations, _) => Expected::Observations,
            (Expected::Summary, false) => Expected::Observations,
        };
        Work { batch: Arc::new(batch), open, expects, not_before: None, ..work.clone() }
    };
    let closes = work.batch.closes_turn;
    Some((part(0..at, false), part(at..events.len(), closes)))
}
