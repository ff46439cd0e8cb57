//! `cmem refine`: memories made by rules, told anew by a model, within the budget; ids and times stay.
//!
//! What the model is shown is what is on file (already stripped and masked), not the transcript: each memory is an event
//! of a batch, and the event numbers of an answer say which memory it tells anew. So the whole machine serves: batches,
//! pauses, bounded tries, budget, usage. Each change is a step in the journal and can be undone. A memory the model
//! leaves alone stays as it is.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use jiff::tz::TimeZone;

use super::model::{ProviderMaker, call_row, reason_word, spent_today};
use crate::gate::correct::{Origin, correct};
use crate::memory::{Clock, EventKey, Memory, MemoryId, ProjectRef, SessionId};
use crate::mode::Mode;
use crate::observer::machine::{Config, Effect, Input, Machine, Observed, PauseStatus, Settled};
use crate::observer::provider::{Report, Sink};
use crate::store::api::Commit;
use crate::store::curate::{Edit, Who};
use crate::store::{Store, StoreError};
use crate::transcript::event::{Body, Event, ToolCall, ToolFacts, ToolOutcome};

/// What the model is told besides the mode's instructions.
const TASK: &str = "Each <event> with the tool `note` is a note about finished work that simple rules made. Write every \
    note that is worth keeping anew as one <observation>: say what it comes to, choose type and concepts with care, keep \
    every fact, add none that is not in it. In <events> put the number of the note it stands for, one number for each \
    observation. Leave out notes that cannot be told better. The notes are not yet remembered.\n";

/// A pause that ends sooner is waited for.
const SOON: jiff::SignedDuration = jiff::SignedDuration::from_secs(90);

/// How it went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Memories told anew.
    pub refined: Vec<MemoryId>,
    /// Memories asked about and left as they are.
    pub left: u64,
    /// Why it ended before all were asked about.
    pub paused: Option<Pause>,
    /// Calls made.
    pub calls: u64,
}

/// Why it ended early.
#[derive(Clone, Debug, PartialEq)]
pub struct Pause {
    /// The word of `status`.
    pub reason: String,
    /// What was said.
    pub detail: String,
}

/// It could not be done.
#[derive(Debug)]
pub struct Failed(pub StoreError);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What refining is done with.
pub struct Tools<'a> {
    /// Written to.
    pub store: &'a mut Store,
    /// Of the observer.
    pub config: Config,
    /// Who answers.
    pub provider: ProviderMaker,
    /// What is worth remembering.
    pub mode: Arc<Mode>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// The zone of the budget's day.
    pub zone: TimeZone,
    /// Told how many of the memories have an outcome; answers whether to go on.
    pub progress: &'a mut dyn FnMut(u64) -> bool,
}

/// Has `memories` told anew.
pub fn refine(memories: &[Memory], tools: Tools<'_>) -> Result<Outcome, Failed> {
    let Tools { store, mut config, provider, mode, clock, zone, progress } = tools;
    config.task = TASK.to_owned();
    let now = clock.now();
    let (sender, reports) = channel::<Report>();
    let sink: Sink = Arc::new(move |report| {
        let _ = sender.send(report); // nobody listens when it has ended
    });
    let (mut provider, _) = provider(sink);
    let seed = uuid::Uuid::new_v4().as_u128() as u64;
    let spent = spent_today(store, &zone, now);
    let mut machine = Machine::new(config, Arc::clone(&mode), zone, now, seed, spent);
    let mut run = Run { store, mode, outcome: Outcome::default(), asked: 0, done: HashSet::new() };
    let mut sessions: BTreeMap<SessionId, Vec<Observed>> = BTreeMap::new();
    for memory in memories {
        let session = memory.session.clone().unwrap_or_else(|| "no session".into());
        sessions.entry(session).or_default().push(as_event(memory));
    }
    let mut inputs = Vec::new();
    for (session, events) in sessions {
        inputs.push(Input::Events { session: session.clone(), live: false, events });
        inputs.push(Input::Settle { session, over: false });
    }
    inputs.reverse();
    let ended = loop {
        while let Some(input) = inputs.pop() {
            for effect in machine.step(clock.now(), input) {
                match effect {
                    Effect::Order(order) => provider.order(order),
                    // What is on file is what is asked about: nothing of it counts as remembered.
                    Effect::Digest { session } => inputs.push(Input::Digest { session, remembered: Vec::new() }),
                    Effect::Settle(settled) => run.take(*settled, clock.now())?,
                    Effect::Account(call) => run.account(&call, clock.now())?,
                    Effect::WakeAt(_) | Effect::Changed => {}
                }
            }
        }
        if !progress(run.asked) {
            break None;
        }
        let status = machine.status();
        let lasting = |pause: &PauseStatus| pause.retry_at.is_none_or(|at| at > clock.now() + SOON);
        if let Some(pause) = status.pause.filter(lasting) {
            break Some(Pause { reason: reason_word(pause.reason).to_owned(), detail: pause.detail });
        }
        if status.waiting == 0 && !machine.busy() {
            break None;
        }
        let wait = machine.wakes_at().map_or(jiff::SignedDuration::from_secs(1), |at| at.duration_since(clock.now()));
        let wait = Duration::try_from(wait).unwrap_or_default().clamp(Duration::from_millis(1), Duration::from_secs(1));
        match reports.recv_timeout(wait) {
            Ok(report) => inputs.push(Input::Report(report)),
            Err(RecvTimeoutError::Timeout) => inputs.push(Input::Tick),
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    for effect in machine.step(clock.now(), Input::Stop) {
        if let Effect::Order(order) = effect {
            provider.order(order);
        }
    }
    provider.close();
    run.outcome.paused = ended;
    Ok(run.outcome)
}

struct Run<'a> {
    store: &'a mut Store,
    mode: Arc<Mode>,
    outcome: Outcome,
    asked: u64,
    done: HashSet<MemoryId>,
}

impl Run<'_> {
    fn take(&mut self, settled: Settled, now: crate::memory::Timestamp) -> Result<(), Failed> {
        let Settled { drafts, finals, call, .. } = settled;
        let model = call.as_ref().map(|it| it.model.clone()).unwrap_or_default();
        if let Some(call) = &call {
            self.account(call, now)?;
        }
        let asked: Vec<MemoryId> = finals.iter().filter_map(|(key, _)| id_of(key)).collect();
        self.asked += asked.len() as u64;
        for draft in drafts {
            // One answer, one memory: an answer for several would make them all say the same.
            let ids: Vec<MemoryId> = draft.cites.iter().filter_map(id_of).collect();
            let Some(id) = ids.into_iter().find(|it| asked.contains(it) && !self.done.contains(it)) else { continue };
            let Some(new) = correct(vec![draft], &[], &Origin::default(), &self.mode).pop() else { continue };
            let edit = Edit {
                type_id: Some(new.type_id),
                title: Some(new.title),
                subtitle: Some(new.subtitle),
                narrative: Some(new.narrative),
                facts: Some(new.facts),
                concepts: Some(new.concepts),
                by_model: Some(model.clone()),
                ..Edit::default()
            };
            self.store.edit(&[id], &edit, Who { actor: "refine", now }, &mut |_, _| true).map_err(Failed)?;
            self.done.insert(id);
            self.outcome.refined.push(id);
        }
        self.outcome.left = self.asked - self.done.len() as u64;
        Ok(())
    }

    fn account(&mut self, call: &crate::observer::machine::Call, now: crate::memory::Timestamp) -> Result<(), Failed> {
        self.outcome.calls += 1;
        let commit = Commit { call: Some(call_row(call)), now: Some(now), ..Commit::default() };
        self.store.record(&commit).map(|_| ()).map_err(Failed)
    }
}

/// The memory as an event to be asked about.
fn as_event(memory: &Memory) -> Observed {
    let input = serde_json::json!({
        "type": memory.type_id,
        "title": memory.title,
        "subtitle": memory.subtitle,
        "facts": memory.facts.join("\n"),
        "files_modified": memory.files_modified.join(", "),
        "files_read": memory.files_read.join(", "),
    });
    let call = ToolCall {
        id: String::new(),
        name: "note".into(),
        input: input.to_string(),
        output: memory.narrative.clone(),
        outcome: ToolOutcome::Ok,
        facts: ToolFacts::default(),
    };
    let session = memory.session.clone().unwrap_or_else(|| "no session".into());
    let mut event = Event::new(key_of(memory.id), session, Body::Tool(call));
    event.time = Some(memory.created_at);
    event.cwd.clone_from(&memory.cwd);
    event.branch.clone_from(&memory.branch);
    event.turn = memory.prompt_number;
    let project = (!memory.project_root.is_empty()).then(|| ProjectRef {
        root: memory.project_root.clone(),
        name: memory.project.clone(),
        worktree: None,
    });
    Observed { event, project }
}

fn key_of(id: MemoryId) -> EventKey {
    EventKey(format!("memory#{}", id.0))
}

fn id_of(key: &EventKey) -> Option<MemoryId> {
    key.as_str().strip_prefix("memory#")?.parse().ok().map(MemoryId)
}
