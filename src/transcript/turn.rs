//! From entries to events: the state of one file between its lines.
//!
//! This file owns where turns begin and end (transcripts.md §9) and the order in which things held back are given
//! out; what is held back is the business of `calls`, `answers` and `queue`, who speaks that of `speaker`. Turn
//! ends are found by evidence, best first, and never by the name of one event.

use super::answers::{Answers, Finished};
use super::calls::{self, Calls, OpenCall, input_text, join};
use super::context::{Context, Stamp};
use super::counts::Counts;
use super::entry::Entry;
use super::event::{Body, Event, Notice, Prompt, PromptKind, Rewind, ToolCall, ToolOutcome, TurnEnd};
use super::head::passed_over;
use super::key::{digest, end_key, entry_key, line_key, mark, part, short_mark};
use super::queue::Queue;
use super::reader::FileRole;
use super::sidechain::Sidechains;
use super::speaker::{self, Speaker, speaker};
use super::state::{Points, Snapshot};
use super::tree::{Prompts, Seen};
use crate::memory::{AgentId, EventKey, Timestamp};

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
        let mut seen_given = Vec::with_capacity(given.len());
        seen_given.extend_from_slice(given);
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
        for mark in seen_given {
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

    // ---- user -------------------------------------------------------------------------------------------------

    fn user(&mut self, entry: &mut Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
        let key = entry_key(entry, raw, &self.role.session);
        let (who, words) = speaker(entry);
        match who {
            Speaker::ToolResult => self.results(entry, &key, at, out),
            Speaker::Sidechain => self.instruction(entry, &key, at, out),
            _ if self.role.agent.is_some() => self.instruction(entry, &key, at, out),
            Speaker::Interrupt => self.interrupted(entry, at, out),
            Speaker::Human | Speaker::Plan => self.typed(entry, &key, who, words, at, out),
            Speaker::Slash if speaker::is_local_command(&words) => self.local_command(entry, &key, &words, at, out),
            Speaker::Slash => self.typed(entry, &key, who, words, at, out),
            Speaker::BashInput => self.shell(entry, &key, &words, at, out),
            Speaker::BashOutput => self.shell_output(entry, &key, &words, at, out),
            Speaker::Notification => self.notice(entry, &key, "notification", at, out),
            Speaker::Peer => self.notice(entry, &key, "peer", at, out),
            Speaker::Scheduled => self.notice(entry, &key, "scheduled", at, out),
            Speaker::Machine => self.notice(entry, &key, "machine", at, out),
            Speaker::CompactSummary
            | Speaker::Meta
            | Speaker::LocalOutput
            | Speaker::Injected
            | Speaker::Context
            | Speaker::Empty => self.here.update(entry),
        }
    }

    /// The person speaks at the prompt.
    fn typed(&mut self, entry: &Entry<'_>, key: &EventKey, who: Speaker, words: String, at: At, out: &mut Vec<Event>) {
        let in_mid_turn = entry.prompt_source.is("queued") || self.awaits() == Awaits::Work;
        if in_mid_turn && !self.queue.entered(&words) {
            self.here.update(entry);
            self.copy(at);
            return;
        }
        self.begin_turn(entry, key, at, out);
        let parent = entry.parent.filled();
        if let Some(first) = self.prompts.rewinds_to(parent) {
            let rewind = Rewind { first, last: self.here.turn };
            let event = self.stamp_main().event(part(key, "rewind"), &self.role.session, at.end, Body::Rewind(rewind));
            self.give(event, out);
        }
        self.here.turn += 1;
        self.last.at.turn = self.here.turn;
        self.prompts.add(entry.uuid.filled().unwrap_or(key.as_str()), parent, self.here.turn);
        let (kind, text) = match who {
            Speaker::Plan => (PromptKind::Plan, words),
            Speaker::Slash => (PromptKind::Slash, speaker::slash_command(&words)),
            _ => (PromptKind::Typed, words),
        };
        let alias = alias_of(entry, &text);
        let prompt = Prompt {
            kind,
            text,
            about: None,
            attachments: entry.message.content.attachments(),
            program: entry.prompt_source.is("sdk") || entry.turn_origin.is("sdk"),
        };
        self.prompt(key.clone(), alias, prompt, self.stamp_main(), at.end, out);
    }

    fn prompt(
        &mut self,
        key: EventKey,
        alias: Option<EventKey>,
        prompt: Prompt,
        stamp: Stamp,
        end: u64,
        out: &mut Vec<Event>,
    ) {
        let mut event = stamp.event(key, &self.role.session, end, Body::Prompt(prompt));
        event.alias = alias;
        self.give(event, out);
    }

    /// A turn begins: what was open is over, and reading can be taken up here.
    fn begin_turn(&mut self, entry: &Entry<'_>, key: &EventKey, at: At, out: &mut Vec<Event>) {
        self.end_turn(TurnEnd::NextPrompt, true, out);
        let undelivered = self.queue.turn_begins();
        if at.counts {
            self.counts.undelivered += undelivered;
        }
        if at.first {
            let (snapshot, needed) = (self.snapshot(), self.needed());
            self.points.push(at.start, snapshot, needed);
        }
        self.here.update(entry);
        self.failed = false;
        (self.start, self.ends) = (None, 0);
        self.touch(key, at);
    }

    fn notice(&mut self, entry: &Entry<'_>, key: &EventKey, kind: &'static str, at: At, out: &mut Vec<Event>) {
        self.begin_turn(entry, key, at, out);
        self.prompts.add(entry.uuid.filled().unwrap_or(key.as_str()), None, self.here.turn);
        let text = speaker::instruction(entry);
        let event =
            self.stamp_main().event(key.clone(), &self.role.session, at.end, Body::Notice(Notice { kind, text }));
        self.give(event, out);
    }

    fn local_command(&mut self, entry: &Entry<'_>, key: &EventKey, words: &str, at: At, out: &mut Vec<Event>) {
        self.here.update(entry);
        let text = speaker::slash_command(words);
        let prompt = Prompt { kind: PromptKind::Slash, ..prompt_of(text) };
        self.prompt(key.clone(), None, prompt, self.stamp_main(), at.end, out);
    }

    fn shell(&mut self, entry: &Entry<'_>, key: &EventKey, words: &str, at: At, out: &mut Vec<Event>) {
        self.here.update(entry);
        let text = speaker::tagged(words, "bash-input").unwrap_or(words).to_owned();
        let alias = alias_of(entry, &text);
        let prompt = Prompt { kind: PromptKind::Shell, ..prompt_of(text) };
        self.prompt(key.clone(), alias, prompt, self.stamp_main(), at.end, out);
    }

    fn shell_output(&mut self, entry: &Entry<'_>, key: &EventKey, words: &str, at: At, out: &mut Vec<Event>) {
        self.here.update(entry);
        let texts = ["bash-stdout", "bash-stderr"].map(|tag| speaker::tagged(words, tag).unwrap_or(""));
        let text = texts.join("\n").trim().to_owned();
        if !text.is_empty() {
            let notice = Body::Notice(Notice { kind: "shell", text });
            let event = self.stamp_main().event(key.clone(), &self.role.session, at.end, notice);
            self.give(event, out);
        }
    }

    /// A model instructs a helper: no event, but in the helper's own file a turn begins.
    fn instruction(&mut self, entry: &Entry<'_>, key: &EventKey, at: At, out: &mut Vec<Event>) {
        let words = speaker::instruction(entry);
        if speaker::mark_of(&words) == Some(Speaker::Interrupt) {
            return self.interrupted(entry, at, out);
        }
        if self.role.agent.is_some() {
            let speaks = !entry.meta && !entry.compact_summary && !entry.transcript_only && !words.is_empty();
            if speaks && words == "Warmup" && !self.given_any {
                self.mute = true;
            }
            if speaks {
                return self.begin_turn(entry, key, at, out);
            }
        }
        self.here.update(entry);
        if self.role.agent.is_none() {
            self.stamp(entry);
        }
    }

    fn interrupted(&mut self, entry: &Entry<'_>, at: At, out: &mut Vec<Event>) {
        if entry.sidechain && self.role.agent.is_none() {
            self.here.update(entry);
            return;
        }
        self.end_turn(TurnEnd::Interrupted, true, out);
        self.here.update(entry);
        let _ = at;
    }

    // ---- tool results -----------------------------------------------------------------------------------------

    fn results(&mut self, entry: &mut Entry<'_>, key: &EventKey, at: At, out: &mut Vec<Event>) {
        self.here.update(entry);
        let (stamp, main) = self.stamp(entry);
        let mut beside = Vec::new();
        let mut refused = None;
        let super::content::Content::Blocks(blocks) = std::mem::take(&mut entry.message.content) else { return };
        for (number, block) in blocks.into_iter().enumerate() {
            if !block.kind.is("tool_result") {
                if block.kind.is("text") {
                    beside.extend(block.text.0);
                }
                continue;
            }
            let (id, call) = match block.tool_use_id.filled() {
                Some(id) => (EventKey::from(id), self.calls.take(id)),
                None => match self.calls.take_nameless() {
                    Some(call) => (call.key.clone(), Some(call)),
                    None => (part(key, &format!("result{number}")), None),
                },
            };
            let mut its = stamp.clone();
            if let Some(call) = &call {
                its = Stamp { at: Context { time: stamp.at.time, ..call.stamp.at.clone() }, ..call.stamp.clone() };
            }
            for finished in self.answers.close_of_call(&id) {
                self.answer(finished, at, out);
            }
            let tool = join(call, id.as_str(), entry, block);
            refused = Some((id.clone(), tool.outcome));
            let said = words_in(&tool, entry);
            let event = its.event(id.clone(), &self.role.session, at.end, Body::Tool(tool));
            self.give(event, out);
            for (suffix, kind, text) in said {
                let prompt = Prompt { kind, about: Some(id.clone()), ..prompt_of(text) };
                self.prompt(part(key, suffix), None, prompt, its.clone(), at.end, out);
            }
        }
        self.beside(&beside, refused, key, &stamp, at, out);
        if main {
            self.touch(key, at);
        }
    }

    /// Text beside a result: what the user said with a refusal, or typed at that moment; or a reminder.
    fn beside(
        &mut self,
        texts: &[std::borrow::Cow<'_, str>],
        of: Option<(EventKey, ToolOutcome)>,
        key: &EventKey,
        stamp: &Stamp,
        at: At,
        out: &mut Vec<Event>,
    ) {
        let text = texts
            .iter()
            .map(|text| speaker::without_additions(text))
            .filter(|text| !text.is_empty() && speaker::mark_of(text).is_none())
            .collect::<Vec<_>>()
            .join("\n");
        if text.is_empty() || stamp.agent.is_some() {
            return;
        }
        let (kind, about) = match of {
            Some((id, ToolOutcome::Denied)) => (PromptKind::Rejection, Some(id)),
            _ => (PromptKind::Steering, None),
        };
        let prompt = Prompt { kind, about, ..prompt_of(text) };
        self.prompt(part(key, "text"), None, prompt, stamp.clone(), at.end, out);
    }

    // ---- assistant --------------------------------------------------------------------------------------------

    fn assistant(&mut self, entry: &mut Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
        let key = entry_key(entry, raw, &self.role.session);
        self.here.update(entry);
        self.take_back(entry, &key, at, out);
        let (stamp, main) = self.stamp(entry);
        let by_harness = entry.api_error || entry.message.model.is("<synthetic>");
        if by_harness {
            if main && self.open {
                self.failed |= entry.api_error;
            }
        } else if main {
            self.failed = false;
        }
        let begins = self.answers.begins(entry, &key, stamp.agent.as_ref());
        if begins && at.first && self.points.since_newest() >= MANY {
            let (snapshot, needed) = (self.snapshot(), self.needed());
            self.points.push(at.start, snapshot, needed);
        }
        if by_harness && !self.open {
            return; // "No response requested." behind a turn that is over
        }
        if let super::content::Content::Blocks(blocks) = &entry.message.content {
            for (number, block) in blocks.iter().enumerate().filter(|(_, block)| block.kind.is("tool_use")) {
                let named = block.id.filled();
                let id = named.map_or_else(|| part(&key, &format!("call{number}")), EventKey::from);
                self.calls.made(OpenCall {
                    key: id,
                    name: block.name.get().unwrap_or_default().to_owned(),
                    input: input_text(block.input),
                    start: at.start,
                    stamp: stamp.clone(),
                    tied: false,
                    nameless: named.is_none(),
                });
            }
        }
        let calls_tool = entry.message.content.blocks().iter().any(|block| block.kind.is("tool_use"));
        let agent = stamp.agent.clone();
        if let Some(finished) = self.answers.add(entry, &key, stamp, (at.start, at.end)) {
            self.answer(finished, at, out);
        }
        if let Some(group) = self.answers.last_mut(agent.as_ref()) {
            group.calls_tool |= calls_tool;
        }
        if main && !by_harness {
            self.touch(&key, at);
        }
    }

    /// An answer is complete.
    fn answer(&mut self, finished: Finished, at: At, out: &mut Vec<Event>) {
        let _ = at;
        if !self.was_counted(finished.end) {
            self.counts.output_tokens += finished.tokens;
        }
        if let Some(key) = finished.key {
            let mut event = finished.stamp.event(key, &self.role.session, finished.end, Body::Answer(finished.answer));
            event.alias = finished.alias;
            self.give(event, out);
        }
    }

    /// `supersedesUuids`, `retractedMessageUuids`.
    fn take_back(&mut self, entry: &Entry<'_>, key: &EventKey, at: At, out: &mut Vec<Event>) {
        let mut gone = Vec::new();
        for uuid in &entry.taken_back {
            let (dropped, key) = self.answers.take_back(uuid);
            if dropped {
                if at.counts {
                    self.counts.retracted += 1;
                }
                continue;
            }
            gone.push(EventKey::from(uuid.as_ref()));
            gone.extend(key.filter(|key| key.as_str() != uuid));
        }
        if !gone.is_empty() {
            let stamp = self.stamp(entry).0;
            let event = stamp.event(part(key, "retracts"), &self.role.session, at.end, Body::Retraction(gone));
            self.give(event, out);
        }
    }

    // ---- the rest ---------------------------------------------------------------------------------------------

    fn system(&mut self, entry: &Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
        let key = entry_key(entry, raw, &self.role.session);
        let inline = entry.sidechain && self.role.agent.is_none();
        match entry.subtype.get().unwrap_or_default() {
            "compact_boundary" => {
                self.here.update(entry);
                let event = self.stamp_main().event(key.clone(), &self.role.session, at.end, Body::Compaction);
                self.give(event, out);
            }
            "turn_duration" if !inline => self.end_turn(TurnEnd::Marked, false, out),
            "stop_hook_summary" if !inline && (!entry.hook_errors || entry.prevented) => {
                self.end_turn(TurnEnd::Marked, false, out);
            }
            "local_command" => {
                let text = entry.content.texts().next().unwrap_or_default().trim();
                if speaker::mark_of(text) == Some(Speaker::Slash) && self.role.agent.is_none() {
                    self.local_command(entry, &key, text, at, out);
                }
            }
            known if KNOWN_NOTICES.contains(&known) => {}
            other if at.counts => {
                let version = entry.version.filled().or(self.here.version.as_deref()).unwrap_or("");
                self.counts.unheard(&format!("system/{other}"), version);
            }
            _ => {}
        }
        self.here.update(entry);
        self.take_back(entry, &key, at, out);
    }

    fn attachment(&mut self, entry: &Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
        self.here.update(entry);
        if !entry.attachment.type_name.is("queued_command") {
            if at.counts {
                self.counts.skip("attachment");
            }
            return;
        }
        let key = entry_key(entry, raw, &self.role.session);
        let text = entry.attachment.prompt.texts().collect::<Vec<_>>().join("\n");
        let text = speaker::without_additions(&text).to_owned();
        let by_machine = entry.attachment.origin.get().is_some_and(|origin| origin != "human")
            || entry.attachment.mode.get().is_some_and(|mode| mode != "prompt")
            || speaker::queued_by_machine(&text);
        let attachments = entry.attachment.prompt.attachments();
        if (text.is_empty() && attachments == 0) || self.role.agent.is_some() && !by_machine {
            return;
        }
        let stamp = self.stamp_main();
        if by_machine {
            let notice = Body::Notice(Notice { kind: "notification", text });
            let event = stamp.event(key, &self.role.session, at.end, notice);
            self.give(event, out);
        } else {
            self.queue.attached(&text, entry.timestamp.get().and_then(super::time::instant));
            let alias = alias_of(entry, &text);
            let prompt = Prompt { kind: PromptKind::Steering, attachments, ..prompt_of(text) };
            self.prompt(key, alias, prompt, stamp, at.end, out);
        }
    }

    fn queue_operation(&mut self, entry: &Entry<'_>, raw: &str, at: At) {
        let time = entry.timestamp.get().and_then(super::time::instant);
        let text = match &entry.content {
            super::content::Content::None => None,
            content => Some(content.texts().collect::<Vec<_>>().join("\n")),
        };
        match entry.operation.get().unwrap_or_default() {
            "enqueue" => {
                let key = line_key(raw, &self.role.session);
                self.queue.enqueue(text.unwrap_or_default(), key, time, at.start);
            }
            "dequeue" => self.queue.dequeue(text.as_deref()),
            "remove" => {
                let mut stamp = self.stamp_main();
                stamp.at.time = time.or(stamp.at.time);
                let key = entry.command.filled().map(EventKey::from);
                self.queue.remove(text.as_deref(), key, stamp, at.end);
            }
            "popAll" => self.queue.pop_all(),
            other => {
                if at.counts {
                    self.counts.unheard(&format!("queue-operation/{other}"), "");
                }
            }
        }
    }

    /// Titles: the user's own before a generated one before a summary; of equals the last wins.
    fn titled(&mut self, entry: &Entry<'_>, at: At, out: &mut Vec<Event>) {
        let Some(title) = entry.title.filled().map(str::trim).filter(|title| !title.is_empty()) else { return };
        if self.role.agent.is_some() {
            return;
        }
        let rank = match entry.kind.get() {
            Some("custom-title") => 4,
            Some("agent-name") => 3,
            Some("ai-title") => 2,
            _ => 1,
        };
        let session = &self.role.session;
        let leaf = entry.leaf.filled();
        let (key, body) = match leaf {
            Some(leaf) if rank == 1 => {
                // A summary speaks of the session that holds its leaf, mostly another one (E74). Whether it is this
                // file's own would depend on how much of the file was read: that is for the ledger to say.
                let key = EventKey(format!("title:{}", digest(&[leaf, title])));
                (key, Body::TitleFor(EventKey::from(leaf), title.to_owned()))
            }
            _ => {
                let now = (rank, short_mark(title));
                if rank < self.title.0 || now == self.title {
                    return;
                }
                self.title = now;
                let key = EventKey(format!("title:{}", digest(&[session.as_str(), title])));
                (key, Body::Title(title.to_owned()))
            }
        };
        let event = self.stamp_main().event(key, session, at.end, body);
        self.give(event, out);
    }

    fn pull_request(&mut self, entry: &Entry<'_>, at: At, out: &mut Vec<Event>) {
        self.here.update(entry);
        let Some(url) = entry.pr_url.filled() else { return };
        let session = &self.role.session;
        let key = EventKey(format!("pr:{}", digest(&[session.as_str(), url])));
        let event = self.stamp_main().event(key, session, at.end, Body::PullRequest(url.to_owned()));
        if self.seen_keys.contains(u128::from(short_mark(event.key.as_str()))) {
            return; // written again and again at the tail
        }
        self.give(event, out);
    }

    // ---- the end of a turn ------------------------------------------------------------------------------------

    /// The turn is over. `all` says that calls without a result have none to come.
    fn end_turn(&mut self, evidence: TurnEnd, all: bool, out: &mut Vec<Event>) {
        let awaited = self.awaits();
        let here = At { start: self.last.end, end: self.last.end, first: false, counts: true };
        for queued in self.queue.turn_over() {
            let alias = steering_alias(queued.stamp.at.time, &queued.text);
            let prompt = Prompt { kind: PromptKind::Steering, ..prompt_of(queued.text) };
            self.prompt(queued.key, alias, prompt, queued.stamp, queued.end, out);
        }
        if all {
            for call in self.calls.take_all() {
                for finished in self.answers.close_of_call(&call.key) {
                    self.answer(finished, here, out);
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
            self.answer(finished, here, out);
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

/// System notices that are known to say nothing worth keeping.
const KNOWN_NOTICES: &[&str] = &[
    "",
    "turn_duration",
    "stop_hook_summary",
    "api_error",
    "microcompact_boundary",
    "informational",
    "away_summary",
    "api_refusal",
    "model_refusal_fallback",
    "model_consent_fallback",
    "bridge_status",
    "scheduled_task_fire",
    "agents_killed",
    "session_start",
    "error",
];

fn prompt_of(text: String) -> Prompt {
    Prompt { kind: PromptKind::Typed, text, about: None, attachments: 0, program: false }
}

/// Second name of a prompt: copies made by old clients have new uuids but keep time and text (E23).
fn alias_of(entry: &Entry<'_>, text: &str) -> Option<EventKey> {
    steering_alias(entry.timestamp.get().and_then(super::time::instant), text)
}

fn steering_alias(time: Option<Timestamp>, text: &str) -> Option<EventKey> {
    let time = time?.as_millisecond().to_string();
    (!text.is_empty()).then(|| EventKey(format!("prompt:{}", digest(&[&time, text]))))
}

/// The user's words inside a tool result (E46, E48, plan edits).
fn words_in(tool: &ToolCall, entry: &Entry<'_>) -> Vec<(&'static str, PromptKind, String)> {
    let mut said = Vec::new();
    if matches!(tool.outcome, ToolOutcome::Denied | ToolOutcome::Interrupted)
        && let Some(words) = speaker::words_of_refusal(&tool.output)
    {
        said.push(("said", PromptKind::Rejection, words.into_owned()));
    }
    let Some(outcome) = entry.outcome.as_deref() else { return said };
    if !outcome.answers.is_empty() || !outcome.remarks.is_empty() {
        let lines: Vec<String> = outcome
            .answers
            .iter()
            .chain(&outcome.remarks)
            .map(|(question, answer)| format!("{question} → {answer}"))
            .collect();
        said.push(("choice", PromptKind::Choice, lines.join("\n")));
    }
    if tool.name == "ExitPlanMode"
        && tool.outcome == ToolOutcome::Ok
        && let Some(plan) = outcome.plan.filled()
        && calls::plan_of(&tool.input).is_some_and(|proposed| proposed.trim() != plan.trim())
    {
        said.push(("plan", PromptKind::Plan, plan.to_owned()));
    }
    said
}
