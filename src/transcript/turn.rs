//! From entries to events: the state of one file between its lines.
//!
//! This file owns where turns begin and end (transcripts.md §9) and the order in which things held back are given
//! out; what is held back is the business of `calls`, `answers` and `queue`, who speaks that of `speaker`. Turn
//! ends are found by evidence, best first, and never by the name of one event.

mod harness;
mod model;
mod person;
mod results;

use super::answers::Answers;
use super::calls::Calls;
use super::context::{Context, Stamp};
use super::counts::Counts;
use super::entry::Entry;
use super::event::{Body, Event, Prompt, PromptKind, ToolCall, ToolOutcome, TurnEnd};
use super::head::passed_over;
use super::key::{end_key, mark, short_mark};
use super::queue::Queue;
use super::reader::FileRole;
use super::sidechain::Sidechains;
use super::state::{Points, Snapshot};
use super::tree::{Prompts, Seen};
use crate::memory::{AgentId, EventKey};
use person::prompt_of;

/// Events in one turn after which a place to resume from is made inside it.
const MANY: usize = 512;

/// Where an entry stands.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Start of its line.
    pub start: u64,
    /// Behind its line.
    pub end: u64,
    /// It is the first on its line.
    pub first: bool,
    /// Its figures were not counted before.
    pub counts: bool,
}

/// The last line of the open turn.
#[derive(Clone, Debug, Default)]
struct Last {
    at: Context,
    end: u64,
}

/// The state.
#[derive(Debug)]
pub struct Machine {
    role: FileRole,
    here: Context,
    open: bool,
    /// Key of the line that began the turn, and how often the turn has ended (work can go on after an end).
    start: Option<EventKey>,
    ends: u32,
    last: Last,
    /// The harness reported an error in this turn: it may be tried again.
    failed: bool,
    title: (u8, u64),
    mute: bool,
    given_any: bool,
    calls: Calls,
    answers: Answers,
    queue: Queue,
    sidechains: Sidechains,
    prompts: Prompts,
    seen_lines: Seen,
    seen_keys: Seen,
    points: Points,
    counts: Counts,
    counted: u64,
}

/// What the reader waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// Nothing: the turn is over.
    Nothing,
    /// The client said that the answer is final: a moment of quiet ends the turn.
    Confirmation,
    /// Text without a tool call stands last: seconds of quiet end the turn.
    Text,
    /// The model or a tool is at work.
    Work,
}

impl Machine {
    /// At the start of a file, or resumed.
    pub fn new(role: FileRole, offset: u64, snapshot: Snapshot, prompts: Prompts, given: &[u64], counted: u64) -> Self {
        let mut machine = Self {
            role,
            here: snapshot.here.clone(),
            open: snapshot.open,
            start: snapshot.start.clone(),
            ends: snapshot.ends,
            last: Last { at: snapshot.here.clone(), end: offset },
            failed: false,
            title: snapshot.title,
            mute: snapshot.mute,
            given_any: offset > 0,
            calls: Calls::default(),
            answers: Answers::default(),
            queue: Queue::default(),
            sidechains: Sidechains::default(),
            prompts,
            seen_lines: Seen::default(),
            seen_keys: Seen::default(),
            points: Points::new(offset, snapshot),
            counts: Counts::default(),
            counted,
        };
        for &mark in given {
            machine.seen_keys.insert(u128::from(mark));
            machine.points.given(mark);
        }
        machine
    }

    /// Figures.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Figures, to be changed.
    pub fn counts_mut(&mut self) -> &mut Counts {
        &mut self.counts
    }

    /// Whether a line that ends here was counted before.
    pub fn was_counted(&self, end: u64) -> bool {
        end <= self.counted
    }

    /// What is known now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            here: self.here.clone(),
            open: self.open,
            start: self.start.clone(),
            ends: self.ends,
            title: self.title,
            mute: self.mute,
            prompts: self.prompts.len(),
        }
    }

    /// Places to resume from.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Forgets places to resume from that are no longer needed.
    pub fn prune(&mut self) {
        let needed = self.needed();
        self.points.prune(needed);
    }

    /// Prompts so far.
    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// Nothing is held back and no turn is open: any line start is a place to resume from.
    pub fn idle(&self) -> bool {
        !self.open && self.calls.is_empty() && self.answers.is_empty() && self.queue.is_empty()
    }

    /// What it waits for.
    pub fn awaits(&self) -> Awaits {
        if !self.open {
            return Awaits::Nothing;
        }
        if self.failed || self.calls.main_open(&self.stamp_main()) {
            return Awaits::Work;
        }
        match self.answers.last(self.role.agent.as_ref()) {
            Some(group) if group.calls_tool || group.is_error || group.aborted => Awaits::Work,
            Some(group) if group.is_final && group.has_text() => Awaits::Confirmation,
            Some(group) if group.has_text() => Awaits::Text,
            _ => Awaits::Work,
        }
    }

    /// Offset before which nothing is held back.
    fn needed(&self) -> u64 {
        [self.calls.start(), self.answers.start(), self.queue.start()].into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    /// A line that holds entries begins.
    pub fn line_begins(&mut self, start: u64) {
        if self.idle() {
            let snapshot = self.snapshot();
            self.points.push(start, snapshot, u64::MAX);
        }
    }

    /// One entry.
    pub fn entry(&mut self, entry: &mut Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
        let kind = entry.kind.get().unwrap_or("(none)");
        if passed_over(kind) {
            if at.counts {
                self.counts.skip(kind);
            }
            return;
        }
        if let Some(uuid) = entry.uuid.filled()
            && (!self.seen_lines.insert(mark(uuid)) || self.prompts.knows(uuid))
        {
            self.copy(at);
            return;
        }
        match kind {
            "user" => self.user(entry, raw, at, out),
            "assistant" => self.assistant(entry, raw, at, out),
            "system" => self.system(entry, raw, at, out),
            "attachment" => self.attachment(entry, raw, at, out),
            "queue-operation" => self.queue_operation(entry, raw, at),
            "summary" | "custom-title" | "ai-title" | "agent-name" => self.titled(entry, at, out),
            "pr-link" => self.pull_request(entry, at, out),
            other => {
                if at.counts {
                    let version = entry.version.filled().or(self.here.version.as_deref()).unwrap_or("");
                    self.counts.unheard(other, version);
                }
            }
        }
    }

    fn copy(&mut self, at: At) {
        if at.counts {
            self.counts.copies += 1;
        }
    }

    fn give(&mut self, event: Event, out: &mut Vec<Event>) {
        if self.mute {
            return;
        }
        // The same short mark that cursors hold, so that what was given out before a restart is known after it.
        let mark = short_mark(event.key.as_str());
        if !self.seen_keys.insert(u128::from(mark)) {
            self.counts.copies += 1;
            return;
        }
        self.points.given(mark);
        self.given_any = true;
        out.push(event);
    }

    /// Stamp of the main thread of the file.
    fn stamp_main(&self) -> Stamp {
        Stamp { at: self.here.clone(), agent: self.role.agent.clone(), parent_call: self.role.parent_call.clone() }
    }

    /// Stamp of an entry's thread; `true` if it is the main one.
    fn stamp(&mut self, entry: &Entry<'_>) -> (Stamp, bool) {
        let at = self.here.clone();
        if let Some(agent) = &self.role.agent {
            // Lines of the parent's history in a fork agent's file (E81) are not the agent's work.
            let copied = !entry.sidechain && entry.agent.filled().is_none();
            let agent = if copied { None } else { Some(agent.clone()) };
            let parent_call = if copied { None } else { self.role.parent_call.clone() };
            return (Stamp { at, agent, parent_call }, true);
        }
        if entry.sidechain {
            let (agent, parent_call) = self.sidechains.thread(entry, &mut self.calls);
            return (Stamp { at, agent: Some(agent), parent_call }, false);
        }
        let agent = entry.agent.filled().map(AgentId::from);
        let main = agent.is_none();
        (Stamp { at, agent, parent_call: None }, main)
    }

    /// The open turn goes on with this line.
    fn touch(&mut self, key: &EventKey, at: At) {
        self.open = true;
        self.start.get_or_insert_with(|| key.clone());
        self.last = Last { at: self.here.clone(), end: at.end };
    }

    /// The turn is over. `all` says that calls without a result have none to come.
    fn end_turn(&mut self, evidence: TurnEnd, all: bool, out: &mut Vec<Event>) {
        let awaited = self.awaits();
        for queued in self.queue.turn_over() {
            let prompt = Prompt { kind: PromptKind::Steering, ..prompt_of(queued.text) };
            self.prompt(queued.key, None, prompt, queued.stamp, queued.end, out);
        }
        if all {
            for call in self.calls.take_all() {
                for finished in self.answers.close_of_call(&call.key) {
                    self.answer(finished, out);
                }
                let id = call.key.as_str().to_owned();
                let tool = ToolCall {
                    id,
                    name: call.name,
                    input: call.input,
                    output: String::new(),
                    outcome: ToolOutcome::Interrupted,
                    facts: Default::default(),
                };
                let event = call.stamp.event(call.key, &self.role.session, self.last.end, Body::Tool(tool));
                self.give(event, out);
            }
        }
        let by_itself = evidence != TurnEnd::Interrupted && matches!(awaited, Awaits::Confirmation | Awaits::Text);
        for finished in self.answers.close_all(by_itself) {
            self.answer(finished, out);
        }
        self.sidechains.clear();
        if !self.open {
            return;
        }
        self.open = false;
        self.failed = false;
        self.ends += 1;
        let Some(start) = &self.start else { return };
        let key = end_key(start, self.ends);
        let evidence = match (evidence, awaited) {
            (TurnEnd::NextPrompt | TurnEnd::Quiet, Awaits::Confirmation) => TurnEnd::Stopped,
            _ => evidence,
        };
        let stamp = Stamp { at: self.last.at.clone(), ..self.stamp_main() };
        let event = stamp.event(key, &self.role.session, self.last.end, Body::TurnEnd(evidence));
        self.give(event, out);
    }

    /// The file was quiet for a while.
    pub fn quiet(&mut self, out: &mut Vec<Event>) {
        if matches!(self.awaits(), Awaits::Confirmation | Awaits::Text) {
            self.end_turn(TurnEnd::Quiet, false, out);
        }
    }

    /// Nothing more will come for a long time, or ever.
    pub fn close(&mut self, out: &mut Vec<Event>) {
        self.end_turn(TurnEnd::Quiet, true, out);
    }
}
