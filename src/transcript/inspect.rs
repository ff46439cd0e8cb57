//! What is in a transcript file, counted: the figures of `cmem inspect`.
//!
//! Unlike the reader, which gives out events and forgets, this counts everything on every line, progress reports
//! included. It shares the framing, the repair and the question who speaks, so its figures say what the reader
//! sees. The bytes are fed in chunks; nothing of the file's size is kept but names and ids.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::Serialize;

use super::content::{Block, Content};
use super::entry::Entry;
use super::key::mark;
use super::lines::Lines;
use super::repair::{LineKind, entries};
use super::speaker::{Speaker, queued_by_machine, speaker};

/// The figures of one file. Field names are a contract (`corpus/EXPECTED.jsonl`).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Inspection {
    /// Size of the file.
    pub bytes: u64,
    /// Lines that end in a newline.
    pub lines: u64,
    /// Bytes behind the last newline.
    pub tail_bytes: u64,
    /// Lines by what they turned out to be.
    pub line_kinds: BTreeMap<&'static str, u64>,
    /// Objects read.
    pub entries: u64,
    /// Entries whose uuid was seen before; they count for nothing below.
    pub repeated_uuids: u64,
    /// Entries by type and subtype.
    pub types: BTreeMap<String, u64>,
    /// `user` entries by who speaks.
    pub user_kinds: BTreeMap<&'static str, u64>,
    /// Prompts of the person.
    pub human_prompts: u64,
    /// Plans handed over.
    pub plan_handoffs: u64,
    /// Prompts that stand only in the queue.
    pub steering_prompts: u64,
    /// Answers, one for each message id.
    pub assistant_messages: u64,
    /// Answers that are errors of the harness.
    pub assistant_api_errors: u64,
    /// Output tokens, the most for each message id.
    pub output_tokens: u64,
    /// Thinking blocks, empty ones too.
    pub thinking_blocks: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Calls that a result came for.
    pub tool_results: u64,
    /// Results that are errors.
    pub tool_errors: u64,
    /// Calls no result came for.
    pub calls_without_result: u64,
    /// Results whose call is not in the file.
    pub results_without_call: u64,
    /// Turns whose last answer calls no tool and is no error.
    pub turns_with_final_text: u64,
    /// Compactions.
    pub compactions: u64,
    /// Helper agents that calls name.
    pub subagents_spawned: BTreeSet<String>,
    /// Helper agents that lines name.
    pub agent_ids_in_file: BTreeSet<String>,
    /// Client versions, in order.
    pub versions: Vec<String>,
    /// Working directories, in order.
    pub cwds: Vec<String>,
    /// Branches, in order.
    pub branches: Vec<String>,
    /// Session ids, in order.
    pub session_ids: Vec<String>,
    /// Start of the first thing the user said or did.
    pub first_prompt: Option<String>,
}

impl Inspection {
    /// Whether the file can be a transcript: not when it holds whole objects and none of them has a type.
    pub fn is_transcript(&self) -> bool {
        self.entries == 0 || self.types.keys().any(|kind| kind != "None")
    }
}

/// Characters of the first prompt that are shown.
const FIRST: usize = 80;

/// The figures of a file that is in memory.
pub fn inspect(bytes: &[u8]) -> Inspection {
    let mut inspector = Inspector::default();
    inspector.feed(bytes);
    inspector.finish()
}

/// Counts a file chunk by chunk.
#[derive(Debug, Default)]
pub struct Inspector {
    lines: Lines,
    tally: Tally,
}

impl Inspector {
    /// The next bytes of the file.
    pub fn feed(&mut self, bytes: &[u8]) {
        let tally = &mut self.tally;
        self.lines.feed(bytes, |line| {
            tally.figures.lines += 1;
            tally.line(line.bytes, false);
        });
    }

    /// The figures. What stands behind the last newline is taken if it is complete.
    pub fn finish(mut self) -> Inspection {
        self.tally.figures.bytes = self.lines.position();
        self.tally.figures.tail_bytes = self.lines.position() - self.lines.line_start();
        let rest = self.lines.rest();
        if !rest.is_empty() {
            self.tally.line(rest, true);
        } else if self.tally.figures.tail_bytes > 0 {
            // A tail too long to be kept whole is not complete as far as can be told.
            *self.tally.figures.line_kinds.entry("tail_incomplete").or_default() += 1;
        }
        self.tally.finish()
    }
}

#[derive(Debug, Default)]
struct Tally {
    figures: Inspection,
    uuids: HashSet<u128>,
    messages: HashMap<Option<String>, Message>,
    calls: BTreeSet<Option<String>>,
    results: HashSet<Option<String>>,
    queue: Vec<String>,
    steering: Vec<String>,
    taken: HashSet<u128>,
    /// The last answer of each turn.
    turns: Vec<Option<Option<String>>>,
}

#[derive(Debug, Default)]
struct Message {
    calls_tool: bool,
    is_error: bool,
    tokens: u64,
}

impl Tally {
    fn line(&mut self, bytes: &[u8], tail: bool) {
        let report = entries(bytes, &mut |entry, _| self.entry(entry));
        let kind = match report.kind {
            LineKind::Ok => "ok",
            LineKind::Glued => "glued",
            LineKind::Torn => "torn",
            LineKind::Bad if tail => "tail_incomplete",
            LineKind::Bad => "bad",
            LineKind::Blank | LineKind::Hole => "blank",
        };
        *self.figures.line_kinds.entry(kind).or_default() += 1;
    }

    fn entry(&mut self, entry: &mut Entry<'_>) {
        self.figures.entries += 1;
        let kind = entry.kind.get().unwrap_or("None");
        if kind != "progress"
            && let Some(uuid) = entry.uuid.get()
            && !self.uuids.insert(mark(uuid))
        {
            self.figures.repeated_uuids += 1;
            return;
        }
        let name = match entry.sub() {
            Some(sub) => format!("{kind}/{sub}"),
            None => kind.to_owned(),
        };
        *self.figures.types.entry(name).or_default() += 1;
        if kind == "progress" {
            return;
        }
        note(&mut self.figures.versions, entry.version.get());
        note(&mut self.figures.cwds, entry.cwd.get());
        note(&mut self.figures.branches, entry.branch.get());
        note(&mut self.figures.session_ids, entry.session.get());
        if let Some(agent) = entry.agent.filled() {
            self.figures.agent_ids_in_file.insert(agent.to_owned());
        }
        match kind {
            "user" => self.user(entry),
            "assistant" => self.assistant(entry),
            "queue-operation" => self.queue_operation(entry),
            "system" if entry.subtype.is("compact_boundary") => self.figures.compactions += 1,
            _ => {}
        }
    }

    fn user(&mut self, entry: &Entry<'_>) {
        let (who, words) = speaker(entry);
        *self.figures.user_kinds.entry(who.name()).or_default() += 1;
        if matches!(who, Speaker::Human | Speaker::Plan | Speaker::Slash | Speaker::BashInput) {
            self.taken.insert(mark(&words));
            if self.figures.first_prompt.is_none() {
                self.figures.first_prompt = Some(words.chars().take(FIRST).collect());
            }
        }
        let starts_turn = matches!(
            who,
            Speaker::Human
                | Speaker::Plan
                | Speaker::Slash
                | Speaker::Notification
                | Speaker::Peer
                | Speaker::Scheduled
                | Speaker::Machine
        );
        if starts_turn {
            self.turns.push(None);
        }
        if !entry.message.object {
            return;
        }
        for block in entry.message.content.blocks().iter().filter(|block| block.kind.is("tool_result")) {
            let failed = block.is_error.0;
            self.figures.tool_errors += u64::from(failed);
            self.results.insert(owned(block.tool_use_id.get()));
            if let Some(agent) = entry.outcome.as_deref().and_then(|outcome| outcome.agent.filled()) {
                self.figures.subagents_spawned.insert(agent.to_owned());
            }
        }
    }

    fn assistant(&mut self, entry: &Entry<'_>) {
        let id = owned(entry.message.id.filled().or(entry.uuid.get()));
        let message = self.messages.entry(id.clone()).or_default();
        message.tokens = message.tokens.max(entry.message.output_tokens);
        message.is_error |= entry.api_error;
        let blocks: &[Block<'_>] = if entry.message.object { entry.message.content.blocks() } else { &[] };
        for block in blocks {
            match block.kind.get() {
                Some("tool_use") => {
                    message.calls_tool = true;
                    *self.figures.tools.entry(block.name.get().unwrap_or("None").to_owned()).or_default() += 1;
                    self.calls.insert(owned(block.id.get()));
                }
                Some("thinking") => self.figures.thinking_blocks += 1,
                _ => {}
            }
        }
        if let Some(turn) = self.turns.last_mut() {
            *turn = Some(id);
        }
    }

    fn queue_operation(&mut self, entry: &Entry<'_>) {
        let text = match &entry.content {
            Content::None => None,
            content => Some(content.texts().collect::<Vec<_>>().join("\n")),
        };
        match entry.operation.get().unwrap_or_default() {
            "enqueue" => self.queue.push(text.unwrap_or_default()),
            "popAll" => self.queue.clear(),
            operation @ ("dequeue" | "remove") if !self.queue.is_empty() => {
                let at = self.queue.iter().position(|queued| Some(queued) == text.as_ref()).unwrap_or(0);
                let queued = self.queue.remove(at);
                if operation == "remove" && !queued.trim().is_empty() && !queued_by_machine(&queued) {
                    self.steering.push(queued.trim().to_owned());
                }
            }
            _ => {}
        }
    }

    fn finish(self) -> Inspection {
        let count = |number: usize| number as u64;
        let mut it = self.figures;
        let of_kind = |who: Speaker| it.user_kinds.get(who.name()).copied().unwrap_or(0);
        it.human_prompts = of_kind(Speaker::Human);
        it.plan_handoffs = of_kind(Speaker::Plan);
        it.steering_prompts = count(self.steering.iter().filter(|text| !self.taken.contains(&mark(text))).count());
        it.assistant_messages = count(self.messages.len());
        it.assistant_api_errors = count(self.messages.values().filter(|message| message.is_error).count());
        it.output_tokens = self.messages.values().map(|message| message.tokens).sum();
        it.tool_calls = it.tools.values().sum();
        it.tool_results = count(self.results.len());
        it.calls_without_result = count(self.calls.iter().filter(|id| !self.results.contains(*id)).count());
        it.results_without_call = count(self.results.iter().filter(|id| !self.calls.contains(*id)).count());
        let closed = |id: &Option<String>| self.messages.get(id).is_some_and(|it| !it.calls_tool && !it.is_error);
        it.turns_with_final_text = count(self.turns.iter().flatten().filter(|id| id.is_some() && closed(id)).count());
        it
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

/// Adds a value to a list of those seen, in order.
fn note(list: &mut Vec<String>, value: Option<&str>) {
    if let Some(value) = value.filter(|value| !value.is_empty())
        && !list.iter().any(|seen| seen == value)
    {
        list.push(value.to_owned());
    }
}
