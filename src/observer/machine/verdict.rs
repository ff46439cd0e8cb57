//! What a reply does to its batch.

use std::collections::HashSet;
use std::sync::Arc;

use crate::gate::reply::{BadKind, Expected, Good, Reply, SkipKind, Verdict, judge};
use crate::memory::{Draft, EventKey, SessionId, Source, Summary, Timestamp, clip_chars, safe_line};
use crate::observer::batch::Batch;
use crate::observer::offline;
use crate::observer::outcome::{CallOutcome, Final};
use crate::observer::prompt::{Remembered, resolve};
use crate::observer::provider::Usage;
use crate::transcript::event::{Body, Event};

use super::session::Flight;
use super::work::{Work, halves, summary_frame};
use super::{Call, Effect, Machine, Settled};

impl Machine {
    /// Weighs a reply and acts on it.
    pub(super) fn weigh(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        flight: Flight,
        reply: &Reply,
        call: Call,
        fresh: bool,
    ) {
        match judge(reply, flight.work.expects) {
            Verdict::Good(good) => {
                self.went_well(now);
                self.off_format = 0;
                self.good(session, flight, good, call);
            }
            Verdict::Skip(kind) => {
                self.went_well(now);
                self.off_format = 0;
                self.skip(now, session, flight, kind, call);
            }
            Verdict::Bad(kind) => {
                // The service works; the format does not.
                self.went_well(now);
                self.bad(now, session, flight, kind, call);
            }
            Verdict::Error(error) => self.failed(now, session, flight, call, &error, fresh),
        }
    }

    fn good(&mut self, session: &SessionId, flight: Flight, good: Good, call: Call) {
        let Flight { work, first_number, .. } = flight;
        if good.unreadable > 0 {
            self.spoil(session); // half of it in a form that must not be learned from
        }
        if good.truncated {
            self.truncated += 1;
        }
        let mut drafts = good.drafts;
        let mut cited: HashSet<EventKey> = HashSet::new();
        let mut on_all = false;
        for draft in &mut drafts {
            draft.cites = resolve(&draft.cites, &work.batch, first_number);
            on_all |= draft.cites.is_empty();
            cited.extend(draft.cites.iter().cloned());
        }
        let wants_summary = work.expects.summary() && good.summary.is_none() && !good.summary_declined;
        let has_summary = good.summary.is_some();
        let rest = if good.truncated { uncovered(&work, &cited, on_all) } else { Vec::new() };
        if good.truncated && !work.rest && !rest.is_empty() {
            let part = self.part(&work, rest, wants_summary);
            let (now_open, later): (Vec<_>, Vec<_>) =
                work.open.iter().cloned().partition(|key| !part.open.contains(key));
            debug_assert_eq!(later.len(), part.open.len());
            let first = Work { open: now_open, ..work };
            let finals = Self::finals(&first, |event| kept(event, &cited, on_all, has_summary));
            let summary = good.summary.map(|it| (it, Source::Observer));
            self.finish(session, &first, drafts, summary, finals, Some((call, CallOutcome::Stored, "truncated")));
            return self.push_front(session, [part]);
        }
        let lost: HashSet<EventKey> = if work.rest { rest.into_iter().collect() } else { HashSet::new() };
        let finals = Self::finals(&work, |event| {
            if lost.contains(&event.key) {
                return Final::Quarantined(BadKind::TruncatedAll.word().to_owned());
            }
            kept(event, &cited, on_all, has_summary)
        });
        let summary = good.summary.map(|it| (it, Source::Observer));
        let reason = if drafts.is_empty() { "summary" } else { "observations" };
        self.finish(session, &work, drafts, summary, finals, Some((call, CallOutcome::Stored, reason)));
        if wants_summary {
            // The observations are safe; the summary is asked for by itself. That it was left out counts as the first
            // failure, so this is the last try.
            let alone = Work { reminder: Some(BadKind::WrongKind), ..summary_only(&work) };
            self.push_front(session, [alone]);
        }
    }

    fn skip(&mut self, now: Timestamp, session: &SessionId, flight: Flight, kind: SkipKind, call: Call) {
        // Only the marker declines a summary for good (A021); words in its place are a failure (A020).
        if kind == SkipKind::Prose && flight.work.expects == Expected::Summary {
            return self.bad(now, session, flight, BadKind::Prose, call);
        }
        let reason = if kind == SkipKind::Marker { "model-skip" } else { "prose" };
        let finals = Self::finals(&flight.work, |event| {
            Final::Skipped(if matches!(event.body, Body::Tool(_)) { reason } else { "context" })
        });
        let word = if kind == SkipKind::Marker { "skip" } else { "prose" };
        self.finish(session, &flight.work, Vec::new(), None, finals, Some((call, CallOutcome::Skipped, word)));
    }

    fn bad(&mut self, now: Timestamp, session: &SessionId, mut flight: Flight, kind: BadKind, call: Call) {
        // Bad replies never stay in a conversation (A009).
        self.spoil(session);
        self.off_format += 1;
        if self.off_format == 3 {
            self.effects.push(Effect::Changed);
        }
        let work = &mut flight.work;
        if kind == BadKind::TruncatedAll {
            self.truncated += 1;
            if let Some((mut one, mut two)) = halves(work) {
                one.reminder = Some(kind);
                two.reminder = Some(kind);
                self.account(call, CallOutcome::Retried, kind.word());
                return self.push_front(session, [one, two]);
            }
        }
        if work.reminder.is_none() {
            work.reminder = Some(kind);
            self.account(call, CallOutcome::Retried, kind.word());
            return self.again(session, flight);
        }
        // Reminded once, and again: that is the answer.
        let nothing_said = matches!(kind, BadKind::Empty | BadKind::EmptyRecords);
        if !nothing_said {
            return self.give_up(now, session, flight, call, kind.word());
        }
        let summary = flight.work.fallback();
        let finals = Self::finals(&flight.work, |event| {
            Final::Skipped(if matches!(event.body, Body::Tool(_)) { kind.word() } else { "context" })
        });
        let outcome = if summary.is_some() { CallOutcome::Stored } else { CallOutcome::Skipped };
        self.finish(session, &flight.work, Vec::new(), summary, finals, Some((call, outcome, kind.word())));
    }

    /// The answer of an observer without a model.
    pub(super) fn keep_judged(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        flight: Flight,
        drafts: Vec<Draft>,
        summary: Option<Summary>,
    ) {
        self.last_success = Some(now);
        let work = flight.work;
        let on_all = drafts.iter().any(|it| it.cites.is_empty());
        let cited: HashSet<EventKey> = drafts.iter().flat_map(|it| it.cites.iter().cloned()).collect();
        let has_summary = summary.is_some() && work.expects.summary();
        let finals = Self::finals(&work, |event| match kept(event, &cited, on_all, has_summary) {
            Final::Skipped("model-skip") => Final::Skipped("routine"),
            other => other,
        });
        let summary = summary.filter(|_| work.expects.summary()).map(|it| (it, Source::Offline));
        self.finish(session, &work, drafts, summary, finals, None);
    }

    /// A part of a batch, asked by itself: the rest of a reply that was cut.
    fn part(&self, work: &Work, keys: Vec<EventKey>, with_summary: bool) -> Work {
        let closing = |event: &Event| with_summary && !matches!(event.body, Body::Tool(_));
        let events: Vec<Event> =
            work.batch.events.iter().filter(|it| keys.contains(&it.key) || closing(it)).cloned().collect();
        let open = work.open.iter().filter(|key| events.iter().any(|it| it.key == **key)).cloned().collect();
        let closes_turn = work.batch.closes_turn && with_summary;
        let batch = Batch { events, closes_turn, ..work.batch.clone_frame() };
        Work {
            batch: Arc::new(batch),
            open,
            expects: if with_summary { Expected::Both } else { Expected::Observations },
            rest: true,
            reminder: None,
            not_before: None,
            ..work.clone()
        }
    }

    /// The final of each open event of a piece of work.
    pub(super) fn finals(work: &Work, of: impl Fn(&Event) -> Final) -> Vec<(EventKey, Final)> {
        work.open
            .iter()
            .map(|key| {
                let event = work.batch.events.iter().find(|it| it.key == *key);
                (key.clone(), event.map_or(Final::Skipped("context"), &of))
            })
            .collect()
    }

    /// A batch has its outcome.
    pub(super) fn finish(
        &mut self,
        session: &SessionId,
        work: &Work,
        drafts: Vec<Draft>,
        summary: Option<(Summary, Source)>,
        finals: Vec<(EventKey, Final)>,
        call: Option<(Call, CallOutcome, &'static str)>,
    ) {
        let call = call.map(|(call, outcome, reason)| {
            self.tally.add(outcome, reason);
            Call { outcome, reason: reason.to_owned(), ..call }
        });
        let given_up = call.as_ref().is_some_and(|it| it.outcome == CallOutcome::Quarantined);
        let mut live = false;
        if let Some(watched) = self.sessions.get_mut(session) {
            live = watched.live;
            watched.span.work |= !work.expects.summary() && !given_up;
            for draft in &drafts {
                let (type_id, _) = self.mode.type_id(&draft.raw_type);
                let title = if draft.title.is_empty() { &draft.narrative } else { &draft.title };
                let title = safe_line(clip_chars(title, 120));
                watched.remember(Remembered { id: None, type_id, title });
            }
        }
        self.effects.push(Effect::Settle(Box::new(Settled {
            session: session.clone(),
            live,
            batch: Arc::clone(&work.batch),
            drafts,
            summary,
            finals,
            call,
        })));
    }

    /// A call that settles nothing yet.
    pub(super) fn account(&mut self, call: Call, outcome: CallOutcome, reason: &str) {
        self.tally.add(outcome, reason);
        self.effects.push(Effect::Account(Call { outcome, reason: reason.to_owned(), ..call }));
    }

    /// The row of a call, its outcome still open.
    pub(super) fn call(&self, session: &SessionId, flight: &Flight, model: String, usage: Usage, cost: f64) -> Call {
        let run = self.sessions.get(session).and_then(|it| it.run.as_ref()).map(|it| it.key);
        Call {
            run: run.unwrap_or(crate::observer::provider::RunKey(0)),
            ask: flight.ask,
            session: session.clone(),
            project_root: flight.work.batch.project.as_ref().map(|it| it.root.clone()).unwrap_or_default(),
            provider: self.config.provider.clone(),
            model,
            outcome: CallOutcome::Retried,
            reason: String::new(),
            usage,
            cost,
        }
    }
}

impl Work {
    /// A summary out of the agent's closing words, when the model gave none (A020).
    pub(super) fn fallback(&self) -> Option<(Summary, Source)> {
        let closing = self.span.closing.trim();
        if !self.expects.summary() || closing.is_empty() {
            return None;
        }
        let told = offline::fallback_summary(std::slice::from_ref(&*self.batch));
        let summary = told.unwrap_or_else(|| Summary {
            request: safe_line(clip_chars(self.span.prompt.as_deref().unwrap_or_default(), 300)),
            completed: clip_chars(closing, 2_000).to_owned(),
            ..Summary::default()
        });
        Some((summary, Source::Fallback))
    }
}

/// A summary asked for by itself: the run has seen the turn, a new one gets the closing words.
fn summary_only(work: &Work) -> Work {
    Work::new(summary_frame(&work.batch), Vec::new(), Expected::Summary, work.since, work.span.clone())
}

/// The final of an event of a batch something was made of.
fn kept(event: &Event, cited: &HashSet<EventKey>, on_all: bool, has_summary: bool) -> Final {
    match &event.body {
        _ if cited.contains(&event.key) => Final::Stored,
        Body::Tool(_) if on_all => Final::Stored,
        Body::Tool(_) => Final::Skipped("model-skip"),
        _ if has_summary => Final::Stored,
        _ => Final::Skipped("context"),
    }
}

/// The tool calls a cut reply does not cover. Replies without references are taken to have gone in order.
fn uncovered(work: &Work, cited: &HashSet<EventKey>, on_all: bool) -> Vec<EventKey> {
    let tools: Vec<&EventKey> = work
        .batch
        .events
        .iter()
        .filter(|it| matches!(it.body, Body::Tool(_)) && work.open.contains(&it.key))
        .map(|it| &it.key)
        .collect();
    if on_all && cited.is_empty() {
        return tools.into_iter().skip(work.batch.events.len().div_ceil(2)).cloned().collect();
    }
    tools.into_iter().filter(|key| !cited.contains(*key)).cloned().collect()
}
