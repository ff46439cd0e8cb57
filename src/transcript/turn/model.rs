//! `assistant` entries: answers, tool calls, and what is taken back.

use super::{At, MANY, Machine};
use crate::memory::EventKey;
use crate::transcript::answers::Finished;
use crate::transcript::calls::{OpenCall, input_text};
use crate::transcript::content::Content;
use crate::transcript::entry::Entry;
use crate::transcript::event::{Body, Event};
use crate::transcript::key::{entry_key, part};

impl Machine {
    pub(super) fn assistant(&mut self, entry: &mut Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
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
        if let Content::Blocks(blocks) = &entry.message.content {
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
            self.answer(finished, out);
        }
        if let Some(group) = self.answers.last_mut(agent.as_ref()) {
            group.calls_tool |= calls_tool;
        }
        if main && !by_harness {
            self.touch(&key, at);
        }
    }

    /// An answer is complete.
    pub(super) fn answer(&mut self, finished: Finished, out: &mut Vec<Event>) {
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
    pub(super) fn take_back(&mut self, entry: &Entry<'_>, key: &EventKey, at: At, out: &mut Vec<Event>) {
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
}
