//! Answers put together from their lines: one content block stands on each line, and lines of one answer share
//! the message id (transcripts.md §5).
//!
//! Other lines may stand between, so an answer stays open until the turn ends, or until two newer ones have
//! begun on the same thread. Usage is repeated on each line and grows: the most is taken, once.

use std::borrow::Cow;

use super::context::Stamp;
use super::entry::Entry;
use super::event::Answer;
use super::key::{digest, mark};
use crate::memory::{AgentId, EventKey};

/// Answers that may be open on one thread at a time: two clients can write into one file (E84).
const OPEN: usize = 2;
/// Closed answers whose lines are still recognised.
const REMEMBERED: usize = 16;

/// Length from which a message id is taken for one the service made, which no two answers share. Shorter ones are
/// made up, and say nothing about copies.
const SERVED: usize = 20;

/// Stop reasons that end a turn. Anything else (`tool_use`, `pause_turn`, what comes next year) does not.
const FINAL: &[&str] = &["end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded"];

/// An answer on its way.
#[derive(Debug)]
pub struct Group {
    /// `message.id`, else the uuid of its line.
    id: String,
    /// Where and when its last line was.
    pub stamp: Stamp,
    /// Texts, with the key of the line each came from.
    texts: Vec<(EventKey, String)>,
    /// Marks of all its lines.
    lines: Vec<u128>,
    /// It calls a tool.
    pub calls_tool: bool,
    /// Its stop reason ends the turn.
    pub is_final: bool,
    /// The harness speaks, not the model.
    pub is_error: bool,
    /// It was cut while it streamed.
    pub aborted: bool,
    tokens: u64,
    model: Option<String>,
    /// Offset of its first line.
    start: u64,
    /// Offset behind its last line.
    pub end: u64,
}

/// A closed answer.
#[derive(Debug)]
struct Closed {
    id: String,
    lines: Vec<u128>,
    key: Option<EventKey>,
    tokens: u64,
}

/// What closing an answer gives.
#[derive(Debug)]
pub struct Finished {
    /// Key, if it has any text.
    pub key: Option<EventKey>,
    /// Name by message id and text.
    pub alias: Option<EventKey>,
    /// The answer.
    pub answer: Answer,
    /// Where and when.
    pub stamp: Stamp,
    /// Offset behind its last line.
    pub end: u64,
    /// Output tokens not counted yet.
    pub tokens: u64,
}

impl Group {
    /// It has text.
    pub fn has_text(&self) -> bool {
        !self.texts.is_empty()
    }
}

/// Open answers, in the order in which they began.
#[derive(Debug, Default)]
pub struct Answers {
    open: Vec<Group>,
    closed: Vec<Closed>,
}

impl Answers {
    /// Whether the line begins an answer, as against going on with an open one.
    pub fn begins(&self, entry: &Entry<'_>, key: &EventKey, agent: Option<&AgentId>) -> bool {
        self.position(id_of(entry, key), agent).is_none()
    }

    fn position(&self, id: &str, agent: Option<&AgentId>) -> Option<usize> {
        self.open.iter().position(|group| group.id == id && group.stamp.agent.as_ref() == agent)
    }

    /// Adds a line. Gives the answer that had to be closed for it, if one had.
    pub fn add(&mut self, entry: &mut Entry<'_>, key: &EventKey, stamp: Stamp, span: (u64, u64)) -> Option<Finished> {
        let id = id_of(entry, key);
        let agent = stamp.agent.clone();
        let mut pushed_out = None;
        let at = match self.position(id, agent.as_ref()) {
            Some(at) => at,
            None => {
                let same = |group: &&Group| group.stamp.agent == agent;
                if self.open.iter().filter(same).count() >= OPEN {
                    let oldest = self.open.iter().position(|group| group.stamp.agent == agent);
                    pushed_out = oldest.map(|at| self.close_at(at, false));
                }
                self.open.push(Group {
                    id: id.to_owned(),
                    stamp: stamp.clone(),
                    texts: Vec::new(),
                    lines: Vec::new(),
                    calls_tool: false,
                    is_final: false,
                    is_error: false,
                    aborted: false,
                    tokens: 0,
                    model: None,
                    start: span.0,
                    end: span.1,
                });
                self.open.len() - 1
            }
        };
        let group = &mut self.open[at];
        group.lines.push(mark(key.as_str()));
        group.end = span.1;
        group.stamp = stamp;
        group.tokens = group.tokens.max(entry.message.output_tokens);
        group.is_error |= entry.api_error || entry.message.model.is("<synthetic>");
        group.aborted |= entry.aborted;
        group.is_final |= entry.message.stop_reason.get().is_some_and(|reason| FINAL.contains(&reason));
        if let Some(model) = entry.message.model.filled()
            && group.model.as_deref() != Some(model)
        {
            group.model = Some(model.to_owned());
        }
        for text in texts(entry) {
            group.texts.push((key.clone(), text.into_owned()));
        }
        pushed_out
    }

    /// The newest open answer of a thread.
    pub fn last_mut(&mut self, agent: Option<&AgentId>) -> Option<&mut Group> {
        self.open.iter_mut().rev().find(|group| group.stamp.agent.as_ref() == agent)
    }

    /// The newest open answer of a thread.
    pub fn last(&self, agent: Option<&AgentId>) -> Option<&Group> {
        self.open.iter().rev().find(|group| group.stamp.agent.as_ref() == agent)
    }

    /// Closes the open answers of the agent that a call ran.
    pub fn close_of_call(&mut self, call: &EventKey) -> Vec<Finished> {
        self.close_where(|group| group.stamp.parent_call.as_ref() == Some(call), |_| false)
    }

    /// Closes all open answers. `ended` says that the turn came to its end by itself, so that the last answer of
    /// a thread may be its closing one.
    pub fn close_all(&mut self, ended: bool) -> Vec<Finished> {
        self.close_where(|_| true, |_| ended)
    }

    fn close_where(&mut self, which: impl Fn(&Group) -> bool, ended: impl Fn(&Group) -> bool) -> Vec<Finished> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < self.open.len() {
            if which(&self.open[at]) {
                let group = &self.open[at];
                let last = !self.open[at + 1..].iter().any(|later| later.stamp.agent == group.stamp.agent);
                let closing = last && ended(group);
                out.push(self.close_at(at, closing));
            } else {
                at += 1;
            }
        }
        out
    }

    fn close_at(&mut self, at: usize, closing: bool) -> Finished {
        let group = self.open.remove(at);
        let before = self.closed.iter().find(|closed| closed.id == group.id).map_or(0, |closed| closed.tokens);
        let mut text = String::new();
        let mut key = None;
        for (of, piece) in group.texts {
            if key.is_none() {
                (key, text) = (Some(of), piece);
            } else {
                text.push_str("\n\n");
                text.push_str(&piece);
            }
        }
        let key = key.filter(|_| !group.is_error && !text.trim().is_empty());
        if self.closed.len() == REMEMBERED {
            self.closed.remove(0);
        }
        let tokens = group.tokens.max(before);
        self.closed.push(Closed { id: group.id.clone(), lines: group.lines, key: key.clone(), tokens });
        Finished {
            alias: key.as_ref().filter(|_| group.id.len() >= SERVED).map(|_| alias(&group.id, &text)),
            key,
            answer: Answer {
                text,
                model: group.model,
                output_tokens: tokens - before,
                closing: closing && !group.calls_tool && !group.aborted,
            },
            stamp: group.stamp,
            end: group.end,
            tokens: tokens - before,
        }
    }

    /// Takes lines back. Text that was not given out yet is dropped; for the rest the keys it went out under are
    /// returned. The flag says whether anything was dropped.
    pub fn take_back(&mut self, uuid: &str) -> (bool, Option<EventKey>) {
        let line = mark(uuid);
        let mut dropped = false;
        for group in &mut self.open {
            let before = group.texts.len();
            group.texts.retain(|(from, _)| from.as_str() != uuid);
            dropped |= group.texts.len() < before;
        }
        let key = self.closed.iter().rev().find(|closed| closed.lines.contains(&line)).and_then(|it| it.key.clone());
        (dropped, key)
    }

    /// Nothing is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Offset of the oldest open answer that has text.
    pub fn start(&self) -> Option<u64> {
        self.open.iter().filter(|group| group.has_text()).map(|group| group.start).min()
    }
}

/// Second name of an answer: copies made by old clients have new uuids, but keep message id and text (E23).
fn alias(id: &str, text: &str) -> EventKey {
    EventKey(format!("answer:{}", digest(&[id, text])))
}

fn id_of<'a>(entry: &'a Entry<'_>, key: &'a EventKey) -> &'a str {
    entry.message.id.filled().unwrap_or(key.as_str())
}

/// The texts of an assistant line, taken out of it.
fn texts<'a>(entry: &mut Entry<'a>) -> Vec<Cow<'a, str>> {
    use super::content::Content;
    match &mut entry.message.content {
        Content::None => Vec::new(),
        Content::Text(text) => vec![std::mem::take(text)],
        Content::Blocks(blocks) => blocks
            .iter_mut()
            .filter(|block| block.kind.is("text"))
            .filter_map(|block| block.text.0.take())
            .filter(|text| !text.is_empty())
            .collect(),
    }
}
