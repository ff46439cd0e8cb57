//! One event: new, waiting elsewhere, decided, or a mark; and the turn it stands in.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::gather::{Known, chars};
use super::super::input::{FileNo, Lane, Refused, has_outcome};
use super::super::judge::{Decided, Offered, StreamId, Verdict};
use super::{Core, OpenTurn, Pending, Waiter, file_decide};
use crate::memory::{Kind, NewMemory, ProjectRef, SessionId, Source, Timestamp, clip_chars, safe_line, safe_text};
use crate::store::api::{LedgerRow, Outcome, Pause, SessionRow};
use crate::transcript::event::{Body, Event, Prompt, PromptKind};

impl Core {
    /// One event. `true`: it has an outcome now.
    pub(super) fn event(
        &mut self,
        no: FileNo,
        epoch: u32,
        event: Event,
        project: Option<Arc<ProjectRef>>,
        elsewhere: bool,
        read_at: Timestamp,
    ) -> bool {
        let stream = stream_of(&event, self.lane(no));
        self.session_news(&event, project.as_deref(), elsewhere);
        if !has_outcome(&event.body) {
            self.mark(no, epoch, &stream, event, project, read_at);
            return false;
        }
        self.guard(no, epoch, &stream, event.turn);
        let Some(file) = self.files.get_mut(&no) else { return false };
        let seq = file.progress.yielded();
        let waiter = Waiter { file: no, epoch, seq };
        if elsewhere {
            file.progress.decide(seq);
            self.maybe_give(&event);
            self.offer(&stream, event, project, Known::Elsewhere, read_at);
            return true;
        }
        let first = match self.pending.contains_key(&event.key) {
            true => Some(event.key.clone()),
            false => event.alias.as_ref().and_then(|alias| {
                self.aliases.get(alias).or_else(|| self.pending.get_key_value(alias).map(|(key, _)| key)).cloned()
            }),
        };
        if let Some(first) = first
            && let Some(pending) = self.pending.get_mut(&first)
        {
            pending.waiters.push(waiter);
            if pending.session != event.session && owns(&self.born, &event.session, &pending.session) {
                pending.read_in.get_or_insert_with(|| pending.session.clone());
                pending.session = event.session.clone();
                pending.time = event.time;
            }
            self.offer(&stream, event, project, Known::Elsewhere, read_at);
            return false;
        }
        if let Some(reason) = self.paused_for(&event) {
            file_decide(&mut self.files, waiter);
            let row = ledger_row(&event, Outcome::Dropped, 0, reason);
            self.writer.add(Verdict::default(), vec![row]);
            return true;
        }
        if let Body::Prompt(prompt) = &event.body
            && let Some(memory) = words_of(&event, prompt, project.as_deref(), read_at)
        {
            // The user's own words are kept as they come; nobody has to judge them.
            file_decide(&mut self.files, waiter);
            let row = ledger_row(&event, Outcome::Stored, 2, "prompt");
            self.writer.add(Verdict { memories: vec![memory], ..Verdict::default() }, vec![row]);
            self.snapshot.last_event_at = Some(read_at);
            self.handled(1);
            self.offer(&stream, event, project, Known::Elsewhere, read_at);
            return true;
        }
        let weight = chars(&event);
        self.held.add(weight);
        if let Some(alias) = &event.alias {
            self.aliases.insert(alias.clone(), event.key.clone());
        }
        let pending = Pending {
            waiters: vec![waiter],
            alias: event.alias.clone(),
            session: event.session.clone(),
            read_in: None,
            kind: event.body.kind(),
            time: event.time,
            weight,
        };
        self.pending.insert(event.key.clone(), pending);
        self.offer(&stream, event, project, Known::New, read_at);
        false
    }

    /// A mark: it changes what is known of others.
    pub(super) fn mark(
        &mut self,
        no: FileNo,
        epoch: u32,
        stream: &StreamId,
        event: Event,
        project: Option<Arc<ProjectRef>>,
        read_at: Timestamp,
    ) {
        match &event.body {
            Body::TurnEnd(_) => {
                self.offer(stream, event, project, Known::New, read_at);
                self.take_verdicts();
                self.release(stream);
                if stream.agent.is_none() {
                    self.end_inline_agents(no, epoch, stream);
                }
                return;
            }
            Body::Rewind(rewind) => {
                self.writer.rewound(event.session.clone(), rewind.first, rewind.last);
            }
            Body::Retraction(keys) => {
                let mut gone = Vec::new();
                for key in keys {
                    if self.judge.retract(stream, key) {
                        self.decide(Decided {
                            key: key.clone(),
                            outcome: Outcome::Skipped,
                            gate: 0,
                            reason: "retracted".into(),
                        });
                    } else {
                        gone.push(key.clone());
                    }
                }
                self.writer.retracted(gone);
            }
            Body::TitleFor(key, title) => self.writer.title_for(key.clone(), safe_line(title)),
            _ => {}
        }
        self.offer(stream, event, project, Known::New, read_at);
    }

    pub(super) fn offer(
        &mut self,
        stream: &StreamId,
        event: Event,
        project: Option<Arc<ProjectRef>>,
        known: Known,
        read_at: Timestamp,
    ) {
        self.judge.take(stream, Offered { event, project, known, read_at }, &mut self.verdicts);
    }

    /// Holds the file's cursor before a turn as long as it is open.
    pub(super) fn guard(&mut self, no: FileNo, epoch: u32, stream: &StreamId, turn: u32) {
        let open = self.open_turns.get(stream);
        if open.is_some_and(|open| open.turn == turn && open.guard.file == no && open.guard.epoch == epoch) {
            return;
        }
        self.release(stream);
        let Some(file) = self.files.get_mut(&no) else { return };
        let guard = Waiter { file: no, epoch, seq: file.progress.yielded() };
        self.open_turns.insert(stream.clone(), OpenTurn { turn, guard });
    }

    pub(super) fn release(&mut self, stream: &StreamId) {
        if let Some(open) = self.open_turns.remove(stream) {
            file_decide(&mut self.files, open.guard);
            self.place_cursor(open.guard.file);
        }
    }

    /// Helper agents whose lines stand in the session's own file (1.x) end with the turn they ran in.
    pub(super) fn end_inline_agents(&mut self, no: FileNo, epoch: u32, main: &StreamId) {
        let inline: Vec<StreamId> = self
            .open_turns
            .iter()
            .filter(|(stream, open)| {
                stream.agent.is_some()
                    && stream.session == main.session
                    && open.guard.file == no
                    && open.guard.epoch == epoch
            })
            .map(|(stream, _)| stream.clone())
            .collect();
        for stream in inline {
            self.judge.settle(&stream, &mut self.verdicts);
            self.take_verdicts();
            self.release(&stream);
        }
    }

    /// Nothing is expected from a file for long.
    pub(super) fn settle_file(&mut self, no: FileNo) {
        let streams: Vec<StreamId> = self
            .open_turns
            .iter()
            .filter(|(_, open)| open.guard.file == no)
            .map(|(stream, _)| stream.clone())
            .collect();
        for stream in streams {
            self.judge.settle(&stream, &mut self.verdicts);
            self.take_verdicts();
            // The cursor may go on though no end was told: an old file is not read again at every start because its
            // last turn never ended.
            self.release(&stream);
        }
    }

    /// Asks about everything gathered, open turns and all.
    pub fn settle_all(&mut self) {
        self.judge.settle_all(&mut self.verdicts);
        self.take_verdicts();
    }

    pub(super) fn refused(&mut self, refused: Refused, decided: bool) {
        let waits = self.pending.contains_key(&refused.key);
        if decided || waits {
            return;
        }
        let Refused { key, alias, session, kind, time, gate, reason } = refused;
        let row = LedgerRow {
            key,
            alias,
            session,
            kind: kind.to_owned(),
            time,
            outcome: Outcome::Dropped,
            gate,
            reason,
            call: None,
            memories: Vec::new(),
        };
        self.snapshot.last_event_at = Some(self.clock.now());
        self.handled(1);
        self.writer.add(Verdict::default(), vec![row]);
    }

    /// A copy was read of an event that is decided: the session that was there first owns it, whichever was read
    /// first (A034).
    pub(super) fn maybe_give(&mut self, event: &Event) {
        if event.agent.is_some() || !self.born.contains_key(&event.session) {
            return;
        }
        if let Some(owner) = self.writer.owner(&event.key)
            && owner != event.session
            && owns(&self.born, &event.session, &owner)
        {
            self.writer.give(event.key.clone(), event.session.clone(), event.time);
        }
    }

    pub(super) fn paused_for(&self, event: &Event) -> Option<&'static str> {
        let time = event.time?;
        let covers = |pause: &Pause| {
            pause.session.as_ref().is_none_or(|session| session == event.session.as_str())
                && pause.since <= time
                && pause.until.is_none_or(|until| time < until)
        };
        self.pauses.iter().any(covers).then_some("paused")
    }

    pub(super) fn session_news(&mut self, event: &Event, project: Option<&ProjectRef>, elsewhere: bool) {
        let title = match &event.body {
            Body::Title(title) => Some(safe_line(title)),
            _ => None,
        };
        if (elsewhere || event.agent.is_some()) && title.is_none() {
            return;
        }
        let last_prompt = match &event.body {
            Body::Prompt(prompt) if is_spoken(&prompt.kind) && event.agent.is_none() => {
                Some(clip_chars(&safe_line(&prompt.text), 400).to_owned())
            }
            _ => None,
        };
        let news = SessionRow {
            session: event.session.as_str().to_owned(),
            project: project.cloned(),
            title,
            started_at: event.time,
            last_at: event.time,
            prompts: if event.agent.is_none() { event.turn } else { 0 },
            last_prompt,
        };
        self.writer.session(news);
    }
}

pub(super) fn stream_of(event: &Event, lane: Lane) -> StreamId {
    StreamId { session: event.session.clone(), agent: event.agent.clone(), lane }
}

/// Whether `one` owns what it shares with `other`: it was begun earlier, or has the smaller name.
fn owns(born: &HashMap<SessionId, Timestamp>, one: &SessionId, other: &SessionId) -> bool {
    match (born.get(one), born.get(other)) {
        (Some(first), Some(second)) => (first, one) < (second, other),
        _ => false,
    }
}

fn ledger_row(event: &Event, outcome: Outcome, gate: u8, reason: &str) -> LedgerRow {
    LedgerRow {
        key: event.key.clone(),
        alias: event.alias.clone(),
        session: event.session.clone(),
        kind: event.body.kind().to_owned(),
        time: event.time,
        outcome,
        gate,
        reason: reason.to_owned(),
        call: None,
        memories: Vec::new(),
    }
}

fn is_spoken(kind: &PromptKind) -> bool {
    match kind {
        PromptKind::Typed | PromptKind::Steering | PromptKind::Slash | PromptKind::Rejection | PromptKind::Choice => {
            true
        }
        // A command line is an act, a plan is the model's text: both are for the observer.
        PromptKind::Shell | PromptKind::Plan => false,
    }
}

/// The memory of the user's own words.
fn words_of(event: &Event, prompt: &Prompt, project: Option<&ProjectRef>, read_at: Timestamp) -> Option<NewMemory> {
    if !is_spoken(&prompt.kind) || event.agent.is_some() || prompt.text.trim().is_empty() {
        return None;
    }
    let text = safe_text(prompt.text.trim());
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    Some(NewMemory {
        kind: Kind::Prompt,
        type_id: "prompt".into(),
        title: crate::gate::correct::cut(&safe_line(first), crate::gate::correct::TITLE_MAX),
        narrative: text,
        project: project.cloned(),
        cwd: event.cwd.clone(),
        branch: event.branch.clone(),
        session: Some(event.session.clone()),
        prompt_number: event.turn,
        created_at: event.time.unwrap_or(read_at),
        source: Source::Offline,
        keys: vec![event.key.clone()],
        abandoned: event.abandoned,
        ..NewMemory::default()
    })
}
