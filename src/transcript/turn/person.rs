//! `user` entries that are not tool results: prompts, commands, notices, interruptions.

use super::{At, Awaits, Machine, Stamp};
use crate::memory::EventKey;
use crate::transcript::entry::Entry;
use crate::transcript::event::{Body, Event, Notice, Prompt, PromptKind, Rewind, TurnEnd};
use crate::transcript::key::{digest, entry_key, part};
use crate::transcript::speaker::{self, Speaker, speaker};
use crate::transcript::time::instant;

impl Machine {
    pub(super) fn user(&mut self, entry: &mut Entry<'_>, raw: &str, at: At, out: &mut Vec<Event>) {
        let key = entry_key(entry, raw, &self.role.session);
        let (who, words) = speaker(entry);
        match who {
            Speaker::ToolResult => self.results(entry, &key, at, out),
            Speaker::Sidechain => self.instruction(entry, &key, at, out),
            _ if self.role.agent.is_some() => self.instruction(entry, &key, at, out),
            Speaker::Interrupt => self.interrupted(entry, out),
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
    pub(super) fn typed(
        &mut self,
        entry: &Entry<'_>,
        key: &EventKey,
        who: Speaker,
        words: String,
        at: At,
        out: &mut Vec<Event>,
    ) {
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

    pub(super) fn prompt(
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
    pub(super) fn begin_turn(&mut self, entry: &Entry<'_>, key: &EventKey, at: At, out: &mut Vec<Event>) {
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

    pub(super) fn notice(
        &mut self,
        entry: &Entry<'_>,
        key: &EventKey,
        kind: &'static str,
        at: At,
        out: &mut Vec<Event>,
    ) {
        self.begin_turn(entry, key, at, out);
        self.prompts.add(entry.uuid.filled().unwrap_or(key.as_str()), None, self.here.turn);
        let text = speaker::instruction(entry);
        let event =
            self.stamp_main().event(key.clone(), &self.role.session, at.end, Body::Notice(Notice { kind, text }));
        self.give(event, out);
    }

    pub(super) fn local_command(
        &mut self,
        entry: &Entry<'_>,
        key: &EventKey,
        words: &str,
        at: At,
        out: &mut Vec<Event>,
    ) {
        self.here.update(entry);
        let text = speaker::slash_command(words);
        let prompt = Prompt { kind: PromptKind::Slash, ..prompt_of(text) };
        self.prompt(key.clone(), None, prompt, self.stamp_main(), at.end, out);
    }

    pub(super) fn shell(&mut self, entry: &Entry<'_>, key: &EventKey, words: &str, at: At, out: &mut Vec<Event>) {
        self.here.update(entry);
        let text = speaker::tagged(words, "bash-input").unwrap_or(words).to_owned();
        let alias = alias_of(entry, &text);
        let prompt = Prompt { kind: PromptKind::Shell, ..prompt_of(text) };
        self.prompt(key.clone(), alias, prompt, self.stamp_main(), at.end, out);
    }

    pub(super) fn shell_output(
        &mut self,
        entry: &Entry<'_>,
        key: &EventKey,
        words: &str,
        at: At,
        out: &mut Vec<Event>,
    ) {
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
    pub(super) fn instruction(&mut self, entry: &Entry<'_>, key: &EventKey, at: At, out: &mut Vec<Event>) {
        let words = speaker::instruction(entry);
        if speaker::mark_of(&words) == Some(Speaker::Interrupt) {
            return self.interrupted(entry, out);
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

    pub(super) fn interrupted(&mut self, entry: &Entry<'_>, out: &mut Vec<Event>) {
        if entry.sidechain && self.role.agent.is_none() {
            self.here.update(entry);
            return;
        }
        self.end_turn(TurnEnd::Interrupted, true, out);
        self.here.update(entry);
    }
}

/// Words of the person, typed.
pub(super) fn prompt_of(text: String) -> Prompt {
    Prompt { kind: PromptKind::Typed, text, about: None, attachments: 0, program: false }
}

/// Second name of a prompt: copies made by clients before 2.1 have new uuids, but keep time and text (E23). Later
/// clients keep the uuid, so there the weaker name is not used: it could make one of two equal prompts.
fn alias_of(entry: &Entry<'_>, text: &str) -> Option<EventKey> {
    let old = entry.version.get().is_some_and(|version| version.starts_with("1.") || version.starts_with("2.0."));
    let time = entry.timestamp.get().and_then(instant).filter(|_| old && !text.is_empty())?;
    Some(EventKey(format!("prompt:{}", digest(&[&time.as_millisecond().to_string(), text]))))
}
