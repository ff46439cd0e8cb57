//! What the harness writes: system entries, attachments, the prompt queue, titles, links.

use super::person::prompt_of;
use super::{At, Machine};
use crate::memory::EventKey;
use crate::transcript::content::Content;
use crate::transcript::entry::Entry;
use crate::transcript::event::{Body, Event, Notice, Prompt, PromptKind, TurnEnd};
use crate::transcript::key::{digest, entry_key, line_key, short_mark};
use crate::transcript::speaker::{self, Speaker};
use crate::transcript::time::instant;

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

impl Machine {
    pub(super) fn system(&mut self, entry: &Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
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

    pub(super) fn attachment(&mut self, entry: &Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
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
            self.queue.attached(&text, entry.timestamp.get().and_then(instant));
            let prompt = Prompt { kind: PromptKind::Steering, attachments, ..prompt_of(text) };
            self.prompt(key, None, prompt, stamp, at.end, out);
        }
    }

    pub(super) fn queue_operation(&mut self, entry: &Entry<'_>, raw: &str, at: At) {
        let time = entry.timestamp.get().and_then(instant);
        let text = match &entry.content {
            Content::None => None,
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
    pub(super) fn titled(&mut self, entry: &Entry<'_>, at: At, out: &mut Vec<Event>) {
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

    pub(super) fn pull_request(&mut self, entry: &Entry<'_>, at: At, out: &mut Vec<Event>) {
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
}
