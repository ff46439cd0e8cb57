//! A batch seen as turns: who asked, what was done, how it was answered.
//!
//! A helper agent's events belong to the turn of the call that started it, else to the turn they stand in.

use std::collections::HashMap;

use crate::memory::EventKey;
use crate::observer::batch::Batch;
use crate::transcript::event::{Body, Event, Prompt, PromptKind, TurnEnd};

/// One turn of the main agent with everything that happened in it.
#[derive(Debug, Default)]
pub struct Turn<'a> {
    /// All events, helpers' included, in order.
    pub events: Vec<&'a Event>,
    /// The words that started it.
    pub request: Option<&'a str>,
    /// The request is a plan the user approved.
    pub is_plan: bool,
    /// Words said while it ran: steering, refusals with words, choices, in order.
    pub words: Vec<(&'a Event, &'a Prompt)>,
    /// Texts of the main agent's answers, in order.
    pub answers: Vec<&'a str>,
    /// The last answer closes the turn.
    pub closed: bool,
    /// The user stopped it.
    pub interrupted: bool,
    /// All of it is a helper agent's own work.
    pub helper_only: bool,
}

impl<'a> Turn<'a> {
    /// The answer that ends the turn; empty when there is none. A preamble to a tool call is no closing answer.
    pub fn closing(&self) -> &'a str {
        if self.closed { self.answers.last().copied().unwrap_or("") } else { "" }
    }

    /// Keys of all its events.
    pub fn keys(&self) -> Vec<EventKey> {
        self.events.iter().map(|event| event.key.clone()).collect()
    }
}

/// The turns of `batch`, in order.
pub fn split(batch: &Batch) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut by_number: HashMap<u32, usize> = HashMap::new();
    let mut by_call: HashMap<&EventKey, usize> = HashMap::new();
    let helper_only = batch.events.iter().all(|event| event.agent.is_some());
    for event in &batch.events {
        let at = if event.agent.is_some() && !helper_only {
            let tied = event.parent_call.as_ref().and_then(|call| by_call.get(call));
            match tied {
                Some(at) => *at,
                None if turns.is_empty() => {
                    turns.push(Turn::default());
                    0
                }
                None => turns.len() - 1,
            }
        } else {
            let number = if helper_only { 0 } else { event.turn };
            *by_number.entry(number).or_insert_with(|| {
                turns.push(Turn { helper_only, ..Turn::default() });
                turns.len() - 1
            })
        };
        by_call.insert(&event.key, at);
        turns[at].add(event);
    }
    let last = turns.len();
    for (at, turn) in turns.iter_mut().enumerate() {
        turn.settle(batch, at + 1 == last);
    }
    turns
}

/// A slash command of the client's own.
fn is_client_command(text: &str) -> bool {
    let name = text.trim_start_matches('/').split_whitespace().next().unwrap_or("");
    CLIENT_COMMANDS.contains(&name)
}

#[rustfmt::skip]
const CLIENT_COMMANDS: &[&str] = &[
    "add-dir", "agents", "branch", "bug", "clear", "compact", "config", "context", "copy", "cost", "doctor", "effort", "exit", "export", "extra-usage", "fast", "feedback", "fork",
    "help", "hooks", "ide", "init", "keybindings", "login", "logout", "mcp", "memory", "mobile", "model", "output-style", "permissions", "plugin", "privacy-settings", "quit",
    "release-notes", "reload-plugins", "remote-control", "rename", "resume", "rewind", "sandbox", "skills", "stats", "status", "statusline", "tasks", "terminal-setup", "theme", "todos",
    "upgrade", "usage", "vim", "voice",
];

impl<'a> Turn<'a> {
    fn add(&mut self, event: &'a Event) {
        self.events.push(event);
        if event.agent.is_some() && !self.helper_only {
            return;
        }
        match &event.body {
            Body::Prompt(prompt) => match prompt.kind {
                // `/model`, `/compact` and the like work the client, not the agent.
                PromptKind::Slash if is_client_command(&prompt.text) => {}
                PromptKind::Typed | PromptKind::Slash | PromptKind::Plan if self.request.is_none() => {
                    self.request = Some(&prompt.text);
                    self.is_plan = prompt.kind == PromptKind::Plan;
                }
                // The user's own shell commands are no request to the agent.
                PromptKind::Shell => {}
                _ => self.words.push((event, prompt)),
            },
            Body::Answer(answer) if !answer.text.trim().is_empty() => {
                self.answers.push(&answer.text);
                self.closed = answer.closing;
            }
            // Something ran after the last text: that text was no closing one.
            Body::Tool(_) => self.closed = false,
            Body::TurnEnd(end) => self.interrupted = *end == TurnEnd::Interrupted,
            _ => {}
        }
    }

    fn settle(&mut self, batch: &'a Batch, is_last: bool) {
        if self.request.is_none() && (is_last || self.helper_only) {
            self.request = batch
                .prompt
                .as_deref()
                .filter(|_| self.helper_only || self.events.iter().any(|event| event.turn == batch.prompt_number));
        }
        if is_last && batch.closes_turn && !self.interrupted && !self.answers.is_empty() {
            // Older clients mark no end; the batch knows that nothing follows.
            let last = self.events.iter().rev().find(|event| event.agent.is_none() || self.helper_only);
            let ends_in_text = self
                .events
                .iter()
                .rev()
                .filter(|event| event.agent.is_none() || self.helper_only)
                .find(|event| matches!(event.body, Body::Answer(_) | Body::Tool(_)))
                .is_some_and(|event| matches!(event.body, Body::Answer(_)));
            self.closed |= last.is_some() && ends_in_text;
        }
        if self.interrupted {
            self.closed = false;
        }
    }
}
