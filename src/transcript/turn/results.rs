//! Tool results: joined to their calls, and what the user said in or beside them.

use std::borrow::Cow;

use super::person::prompt_of;
use super::{At, Machine};
use crate::memory::EventKey;
use crate::transcript::calls::{self, join};
use crate::transcript::content::Content;
use crate::transcript::context::{Context, Stamp};
use crate::transcript::entry::Entry;
use crate::transcript::event::{Body, Event, Prompt, PromptKind, ToolCall, ToolOutcome};
use crate::transcript::key::part;
use crate::transcript::speaker;

impl Machine {
    pub(super) fn results(&mut self, entry: &mut Entry<'_>, key: &EventKey, at: At, out: &mut Vec<Event>) {
        self.here.update(entry);
        let (stamp, main) = self.stamp(entry);
        let mut beside = Vec::new();
        let mut refused = None;
        let Content::Blocks(blocks) = std::mem::take(&mut entry.message.content) else { return };
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
                self.answer(finished, out);
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
    pub(super) fn beside(
        &mut self,
        texts: &[Cow<'_, str>],
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
