//! Who decides about gathered events: one door for the observer without a model, the scripted one and the machine.
//!
//! A judge is given events in file order and, sooner or later, gives a verdict about each that has no outcome yet.
//! It may give verdicts at once (offline), or when an answer comes, in any order between sessions. It keeps what it was
//! given in memory only.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::gather::{Gather, Known};
use super::health::{Paused, Queue};
use super::input::{Lane, has_outcome};
use crate::gate::correct::{Origin, correct};
use crate::memory::{AgentId, EventKey, NewMemory, ProjectRef, SessionId, Source, Timestamp};
use crate::mode::Mode;
use crate::observer::batch::Batch;
use crate::observer::offline;
use crate::store::api::{CallRow, Outcome};
use crate::transcript::event::Event;

/// One line of work: a session, or a helper agent in it, in its newer or its older part.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId {
    /// Session.
    pub session: SessionId,
    /// Helper agent.
    pub agent: Option<AgentId>,
    /// Which part.
    pub lane: Lane,
}

/// An event on its way to a judge.
#[derive(Debug)]
pub struct Offered {
    /// Event.
    pub event: Event,
    /// Project.
    pub project: Option<Arc<ProjectRef>>,
    /// Whether it still needs an outcome.
    pub known: Known,
    /// When it was read.
    pub read_at: Timestamp,
}

/// What became of one event.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// Event.
    pub key: EventKey,
    /// Outcome.
    pub outcome: Outcome,
    /// Gate that decided.
    pub gate: u8,
    /// Why.
    pub reason: Cow<'static, str>,
}

/// What a judge decided: to be written in one piece.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Events.
    pub decided: Vec<Decided>,
    /// Memories; each names the events it rests on.
    pub memories: Vec<NewMemory>,
    /// The call that was made for it.
    pub call: Option<CallRow>,
}

/// Decides about events.
pub trait Judge: Send {
    /// The next event of a stream, in file order. Marks (turn ends and the like) come too.
    fn take(&mut self, stream: &StreamId, offered: Offered, out: &mut Vec<Verdict>);

    /// Nothing will follow in this stream for long: what was gathered is asked about as it is.
    fn settle(&mut self, stream: &StreamId, out: &mut Vec<Verdict>);

    /// The same for every stream.
    fn settle_all(&mut self, out: &mut Vec<Verdict>);

    /// The client took an event back. Whether it was here.
    fn retract(&mut self, stream: &StreamId, key: &EventKey) -> bool;

    /// The answer with this number came in.
    fn answered(&mut self, _number: u64, _now: Timestamp, _out: &mut Vec<Verdict>) {}

    /// When [`Judge::tick`] wants to be called.
    fn due(&self) -> Option<Timestamp> {
        None
    }

    /// Time has come.
    fn tick(&mut self, _now: Timestamp, _out: &mut Vec<Verdict>) {}

    /// Why nothing is decided for now.
    fn paused(&self) -> Option<Paused> {
        None
    }

    /// Since when the oldest event waits that could be decided.
    fn oldest_due(&self) -> Option<Timestamp> {
        None
    }

    /// Sessions with waiting events.
    fn queue(&self) -> Vec<Queue> {
        Vec::new()
    }

    /// Who it is: provider and model, as `status` shows them.
    fn name(&self) -> (String, String);

    /// Whether it still has something to bring to its end, though no event waits (a summary).
    fn is_busy(&self) -> bool {
        false
    }

    /// What a person should do something about, one sentence each; gone from here when it is over.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether more of this stream's events are welcome. When not, they stay in the transcript until they are.
    fn has_room(&self, _stream: &StreamId) -> bool {
        true
    }

    /// Whether it takes its time: then what waits in memory is no sign that it should be hurried.
    fn is_slow(&self) -> bool {
        false
    }

    /// The collector ends: whatever is in flight is given back.
    fn stop(&mut self) {}
}

/// The observer without a model: a verdict as soon as a turn is over.
pub struct OfflineJudge {
    mode: Arc<Mode>,
    gathers: HashMap<StreamId, Gather>,
    batches: Vec<Batch>,
}

impl OfflineJudge {
    /// A judge by this mode.
    pub fn new(mode: Arc<Mode>) -> Self {
        Self { mode, gathers: HashMap::new(), batches: Vec::new() }
    }

    fn decide(&mut self, read_at: Timestamp, out: &mut Vec<Verdict>) {
        for batch in self.batches.drain(..) {
            out.push(observe(&batch, &self.mode, read_at));
        }
    }
}

impl Judge for OfflineJudge {
    fn take(&mut self, stream: &StreamId, offered: Offered, out: &mut Vec<Verdict>) {
        let read_at = offered.read_at;
        let gather = match self.gathers.get_mut(stream) {
            Some(gather) => gather,
            None => self.gathers.entry(stream.clone()).or_default(),
        };
        gather.take(offered.event, offered.project, offered.known, &mut self.batches);
        if gather.is_idle() {
            self.gathers.remove(stream);
        }
        self.decide(read_at, out);
    }

    fn settle(&mut self, stream: &StreamId, out: &mut Vec<Verdict>) {
        if let Some(gather) = self.gathers.get_mut(stream) {
            gather.flush(&mut self.batches);
            self.decide(Timestamp::UNIX_EPOCH, out);
        }
    }

    fn settle_all(&mut self, out: &mut Vec<Verdict>) {
        let mut streams: Vec<StreamId> = self.gathers.keys().cloned().collect();
        streams.sort();
        streams.iter().for_each(|stream| self.settle(stream, out));
    }

    fn retract(&mut self, stream: &StreamId, key: &EventKey) -> bool {
        self.gathers.get_mut(stream).is_some_and(|gather| gather.retract(key))
    }

    fn name(&self) -> (String, String) {
        ("offline".into(), String::new())
    }
}

/// What the observer without a model makes of a batch.
pub fn observe(batch: &Batch, mode: &Mode, read_at: Timestamp) -> Verdict {
    let drafts = offline::observe(batch, mode);
    let origin = origin_of(batch, Source::Offline, read_at);
    let mut memories = correct(drafts, &batch.events, &origin, mode);
    let marks: std::collections::HashSet<&EventKey> =
        batch.events.iter().filter(|event| !has_outcome(&event.body)).map(|event| &event.key).collect();
    for memory in &mut memories {
        memory.keys.retain(|key| !marks.contains(key));
    }
    Verdict { decided: decide(batch, &memories, "routine"), memories, call: None }
}

/// Where the memories of a batch come from.
pub fn origin_of(batch: &Batch, source: Source, read_at: Timestamp) -> Origin {
    Origin {
        session: batch.session.clone(),
        project: batch.project.clone(),
        cwd: batch.cwd.clone(),
        branch: batch.branch.clone(),
        agent: batch.agent.clone(),
        prompt_number: batch.prompt_number,
        source,
        model: None,
        work_tokens: 0,
        time: batch.ended_at().unwrap_or(read_at),
    }
}

/// Outcomes of a batch's events: stored where a memory rests on them, else skipped for `reason`.
pub fn decide(batch: &Batch, memories: &[NewMemory], reason: &'static str) -> Vec<Decided> {
    let rests_on: std::collections::HashSet<&EventKey> = memories.iter().flat_map(|memory| &memory.keys).collect();
    batch
        .events
        .iter()
        .filter(|event| has_outcome(&event.body))
        .map(|event| {
            let key = &event.key;
            let stored = rests_on.contains(key);
            Decided {
                key: key.clone(),
                outcome: if stored { Outcome::Stored } else { Outcome::Skipped },
                gate: if stored { 5 } else { 3 },
                reason: Cow::Borrowed(if stored { "stored" } else { reason }),
            }
        })
        .collect()
}
