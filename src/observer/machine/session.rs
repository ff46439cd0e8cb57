//! One session: what waits in it, the piece of work that is asked about, its run, and the span its next summary
//! covers.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::SignedDuration;

use crate::gate::reply::Expected;
use crate::memory::{EventKey, ProjectRef, Timestamp};
use crate::observer::batch::Batch;
use crate::observer::prompt::{self, Limits, Remembered, substantial};
use crate::observer::provider::{AskKey, RunKey};
use crate::transcript::event::{Body, Event, PromptKind};

use super::work::{Span, Work, summary_frame};
use super::{Config, Observed};

/// Most memories kept for the digest.
const DIGEST_ROWS: usize = 60;

/// A session with everything the machine knows of it.
#[derive(Debug)]
pub(super) struct Watched {
    pub live: bool,
    /// Events not yet in a piece of work, in order.
    pending: VecDeque<Waiting>,
    pending_chars: usize,
    /// Pieces that are asked before anything pending: again, or the rest of one.
    pub work: VecDeque<Work>,
    pub flight: Option<Flight>,
    pub run: Option<Run>,
    digest: Digest,
    /// Titles of this session that may not be written yet, newest last.
    unsaved: Vec<Remembered>,
    /// What waits is due at once; whether the turn counts as over.
    settled: Option<bool>,
    pub span: Span,
    /// Frame of the last batch, for a summary asked for later.
    last: Option<Batch>,
    /// Last input or answer.
    pub touched: Timestamp,
    /// Number of the next event in questions.
    pub next_number: u64,
}

/// An event that waits.
#[derive(Debug)]
struct Waiting {
    observed: Observed,
    since: Timestamp,
    chars: usize,
    weight: Weight,
}

/// How much an event asks to be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// Something was done or decided.
    Work,
    /// Goes along with work.
    Along,
    /// The end of a turn.
    End,
}

/// What is known of the session's memories.
#[derive(Debug)]
enum Digest {
    Unknown,
    Asked,
    Known(Vec<Remembered>),
}

/// A run of this session.
#[derive(Debug)]
pub(super) struct Run {
    pub key: RunKey,
    /// Ordered to end; its slot is free when it is gone.
    pub ending: bool,
    /// To be ended as soon as nothing is open in it: a bad reply stands in it, it is full, or its instructions are
    /// old.
    pub spoiled: bool,
    /// Nothing was asked in it yet: the first question carries the digest.
    pub fresh: bool,
    /// Tokens in its conversation.
    pub context: u64,
    pub last_used: Timestamp,
}

/// An open question.
#[derive(Debug)]
pub(super) struct Flight {
    pub ask: AskKey,
    pub work: Work,
    pub first_number: u64,
    pub sent: Timestamp,
    pub deadline: Timestamp,
    /// Tokens reserved for it.
    pub estimate: u64,
    /// Length of the question.
    pub chars: usize,
}

impl Watched {
    pub(super) fn new(now: Timestamp, live: bool) -> Self {
        Self {
            live,
            pending: VecDeque::new(),
            pending_chars: 0,
            work: VecDeque::new(),
            flight: None,
            run: None,
            digest: Digest::Unknown,
            unsaved: Vec::new(),
            settled: None,
            span: Span::default(),
            last: None,
            touched: now,
            next_number: 1,
        }
    }

    /// Events that have no outcome yet.
    pub(super) fn waiting(&self) -> usize {
        self.pending.len()
            + self.work.iter().map(|it| it.open.len()).sum::<usize>()
            + self.flight.as_ref().map_or(0, |it| it.work.open.len())
    }

    pub(super) fn waiting_chars(&self) -> usize {
        self.pending_chars
    }

    /// When the oldest of them came in.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        let pending = self.pending.front().map(|it| it.since);
        let work = self.work.iter().map(|it| it.born).min();
        let open = self.flight.as_ref().map(|it| it.work.born);
        [pending, work, open].into_iter().flatten().min()
    }

    /// Since when something is due.
    pub(super) fn due_since(&self) -> Option<Timestamp> {
        let work = self.work.iter().map(|it| it.since).min();
        let open = self.flight.as_ref().map(|it| it.work.since);
        [work, open].into_iter().flatten().min()
    }

    pub(super) fn retract(&mut self, key: &EventKey) -> bool {
        let Some(at) = self.pending.iter().position(|it| it.observed.event.key == *key) else { return false };
        let gone = self.pending.remove(at);
        self.pending_chars = self.pending_chars.saturating_sub(gone.map_or(0, |it| it.chars));
        true
    }

    pub(super) fn settle(&mut self, now: Timestamp, over: bool) {
        if !self.pending.is_empty() || (over && self.span.work) {
            self.settled = Some(over || self.settled == Some(true));
            self.touched = now;
        }
    }

    /// Settled with nothing waiting, and a summary still owed.
    pub(super) fn owes_summary(&self) -> bool {
        self.settled == Some(true) && self.pending.is_empty()
    }

    pub(super) fn push(&mut self, now: Timestamp, observed: Observed, along: bool) {
        let weight = match &observed.event.body {
            _ if along => Weight::Along,
            Body::Tool(_) => Weight::Work,
            Body::Prompt(prompt)
                if matches!(prompt.kind, PromptKind::Plan | PromptKind::Choice | PromptKind::Rejection) =>
            {
                Weight::Work
            }
            // A helper's turn is no turn of the session.
            Body::TurnEnd(_) if observed.event.agent.is_none() => Weight::End,
            _ => Weight::Along,
        };
        let chars = prompt::cost(&observed.event, Limits::default());
        self.pending_chars += chars;
        self.pending.push_back(Waiting { observed, since: now, chars, weight });
        self.touched = now;
    }

    /// What is on file, and what is about to be.
    pub(super) fn know(&mut self, mut remembered: Vec<Remembered>) {
        let on_file = |title: &str, known: &[Remembered]| {
            known.iter().any(|it| {
                it.title == title || (!it.title.is_empty() && title.starts_with(it.title.trim_end_matches('…')))
            })
        };
        self.unsaved.retain(|it| !on_file(&it.title, &remembered));
        remembered.extend(self.unsaved.iter().cloned());
        let extra = remembered.len().saturating_sub(DIGEST_ROWS);
        remembered.drain(..extra);
        self.digest = Digest::Known(remembered);
    }

    /// A title that is being written.
    pub(super) fn remember(&mut self, remembered: Remembered) {
        self.unsaved.push(remembered);
        let extra = self.unsaved.len().saturating_sub(DIGEST_ROWS);
        self.unsaved.drain(..extra);
    }

    /// The run is gone; the next one is told anew what is on file.
    pub(super) fn run_gone(&mut self) {
        self.run = None;
        self.digest = Digest::Unknown;
    }

    /// The memories on file, or `None` after asking for them when they are not known.
    pub(super) fn digest(&mut self) -> Result<&[Remembered], NeedsDigest> {
        match &mut self.digest {
            Digest::Known(known) => Ok(known),
            Digest::Asked => Err(NeedsDigest { ask: false }),
            unknown => {
                *unknown = Digest::Asked;
                Err(NeedsDigest { ask: true })
            }
        }
    }

    pub(super) fn spoil_run(&mut self) {
        if let Some(run) = &mut self.run {
            run.spoiled = true;
        }
    }

    /// When the pending events are to be asked about, or settled without asking.
    pub(super) fn due(&self, config: &Config) -> Option<Timestamp> {
        let last = self.pending.back()?.since;
        if self.settled.is_some() {
            return Some(last);
        }
        if self.pending.len() >= config.batch_events || self.pending_chars >= config.batch_chars {
            return Some(last);
        }
        if self.live && self.pending.iter().any(|it| it.weight == Weight::End) {
            return Some(last); // the turn is over, nothing is to be gained by waiting
        }
        let oldest = self.pending.iter().find(|it| it.weight != Weight::Along).map(|it| it.since);
        // Words alone wait for work, for the turn's end, or until nobody comes back.
        let Some(oldest) = oldest else { return Some(last + config.idle) };
        let gather = if self.live { config.gather } else { SignedDuration::ZERO };
        let burst = (last + config.linger).min(oldest + gather + config.linger * 5);
        Some(burst.max(oldest + gather))
    }

    /// Freezes the next batch out of what is pending: events of one project, up to `most_chars`, in a live session
    /// up to the end of a turn with work behind it.
    pub(super) fn freeze(&mut self, now: Timestamp, config: &Config, most_chars: usize) -> Option<Frozen> {
        let since = self.pending.front()?.since;
        let (mut chars, mut taken) = (0, 0);
        let mut project = None;
        for waiting in &self.pending {
            let fits = taken == 0 || (chars + waiting.chars <= most_chars && taken < config.batch_events);
            // Another project begins another batch (A090); an unknown one goes along.
            let own = &waiting.observed.project;
            if !fits || (own.is_some() && project.is_some() && *own != project) {
                break;
            }
            project = project.or_else(|| own.clone());
            chars += waiting.chars;
            taken += 1;
            // A live turn is a batch of its own; old work is asked about in as few questions as it fits into.
            if self.live && waiting.weight == Weight::End {
                break;
            }
        }
        let items: Vec<Waiting> = self.pending.drain(..taken).collect();
        self.pending_chars = self.pending_chars.saturating_sub(chars);
        let has_work = items.iter().any(|it| it.weight == Weight::Work);
        let behind_end = items.iter().rev().take_while(|it| it.weight != Weight::End).count();
        let ended =
            items.len() > behind_end && !items[items.len() - behind_end..].iter().any(|it| it.weight == Weight::Work);
        let last = self.pending.is_empty();
        let closes_turn = ended || (last && self.settled == Some(true));
        if last {
            self.settled = None;
        }
        let events: Vec<Event> = items.into_iter().map(|it| it.observed.event).collect();
        self.span.take_in(&events);
        let to_sum_up = has_work || self.span.work || substantial(&self.span.closing);
        let batch = self.frame(events, project, closes_turn);
        let expects = match (closes_turn && to_sum_up, has_work) {
            (true, true) => Expected::Both,
            (true, false) => Expected::Summary,
            (false, true) => Expected::Observations,
            (false, false) => return Some(Frozen::Nothing(Arc::new(batch))),
        };
        let open = batch.keys().cloned().collect();
        let work = Work { born: since, ..Work::new(batch, open, expects, now, self.span.clone()) };
        if closes_turn {
            self.span = Span { prompt: self.span.prompt.take(), ..Span::default() };
        }
        Some(Frozen::Ask(work))
    }

    /// A batch of these events with what its memories need.
    fn frame(&mut self, events: Vec<Event>, project: Option<ProjectRef>, closes_turn: bool) -> Batch {
        let mut agents = events.iter().map(|it| it.agent.as_ref());
        let agent = agents.next().flatten().cloned();
        let agent = agent.filter(|first| agents.all(|it| it == Some(first)));
        let batch = Batch {
            session: events.first().map(|it| it.session.clone()),
            project,
            cwd: events.iter().find_map(|it| it.cwd.clone()),
            branch: events.iter().find_map(|it| it.branch.clone()),
            agent,
            prompt_number: events.iter().map(|it| it.turn).find(|it| *it > 0).unwrap_or_default(),
            prompt: self.span.prompt.clone(),
            closes_turn,
            events,
        };
        self.last = Some(summary_frame(&batch));
        batch
    }

    /// The summary of a span whose turn never said that it was over: asked for once, when the session falls silent.
    pub(super) fn idle_summary(&mut self, now: Timestamp) -> Option<Work> {
        self.settled = None;
        if !self.span.work {
            return None;
        }
        let batch = self.last.clone()?;
        let work = Work::new(batch, Vec::new(), Expected::Summary, now, self.span.clone());
        self.span = Span { prompt: self.span.prompt.take(), ..Span::default() };
        Some(work)
    }

    /// Nothing waits and nothing is open.
    pub(super) fn at_rest(&self) -> bool {
        self.pending.is_empty() && self.work.is_empty() && self.flight.is_none()
    }
}

/// The digest is not known.
pub(super) struct NeedsDigest {
    /// It has to be asked for.
    pub ask: bool,
}

/// What became of pending events.
pub(super) enum Frozen {
    /// To be asked.
    Ask(Work),
    /// Words and marks without any work: settled without asking.
    Nothing(Arc<Batch>),
}
