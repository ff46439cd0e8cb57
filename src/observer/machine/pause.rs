//! When nobody is asked, and what an error does: wait for the account, wait a little, make it smaller, or give up.
//!
//! Pauses are account-wide and end by themselves: at the time that was told, else at intervals that grow. The first
//! question after a pause goes alone; a good answer ends the pause, a failure prolongs it. Work is kept throughout.

use jiff::SignedDuration;

use crate::gate::reply::{ErrorKind, ReplyError};
use crate::memory::{SessionId, Timestamp};
use crate::observer::budget::{Denied, Spend};
use crate::observer::outcome::{CallOutcome, Final, PauseReason};

use super::session::Flight;
use super::work::{backoff, halves};
use super::{Call, Effect, Machine, PauseStatus};

/// After so many troubles in a row the service is taken to be down, not slow.
const DOWN_AFTER: u32 = 6;
/// A batch is given up after so many failures while others went well.
const TRIES: u32 = 6;
/// And after so many when nothing went well either.
const TRIES_ALONE: u32 = 9;

/// A pause of the whole account.
#[derive(Clone, Debug)]
pub(super) struct Pause {
    pub reason: PauseReason,
    pub since: Timestamp,
    pub until: Option<Timestamp>,
    pub detail: String,
    /// How often it was prolonged.
    pub times: u32,
}

impl Machine {
    pub(super) fn pause_status(&self) -> Option<PauseStatus> {
        if let Some(since) = self.held {
            return Some(PauseStatus { reason: PauseReason::User, since, retry_at: None, detail: String::new() });
        }
        self.pause.as_ref().map(|it| PauseStatus {
            reason: it.reason,
            since: it.since,
            retry_at: it.until,
            detail: it.detail.clone(),
        })
    }

    pub(super) fn try_now(&mut self, now: Timestamp) {
        self.streak = 0;
        if let Some(pause) = &mut self.pause {
            pause.until = Some(now);
        }
        for watched in self.sessions.values_mut() {
            for work in &mut watched.work {
                work.not_before = None;
            }
        }
    }

    /// A good answer: whatever was wrong with the account is over.
    pub(super) fn went_well(&mut self, now: Timestamp) {
        self.streak = 0;
        self.same_error = (String::new(), 0);
        self.last_success = Some(now);
        if self.pause.take().is_some() {
            self.effects.push(Effect::Changed);
        }
    }

    pub(super) fn denied(&mut self, now: Timestamp, denied: Denied) {
        if denied.brief {
            self.brief = Some(denied.until);
        } else {
            let reason = if denied.limit == "window_share" { PauseReason::Quota } else { PauseReason::Budget };
            self.begin(now, reason, Some(denied.until), denied.limit.to_owned());
        }
    }

    /// Begins a pause, or prolongs it when it is for the same reason.
    fn begin(&mut self, now: Timestamp, reason: PauseReason, until: Option<Timestamp>, detail: String) {
        let (since, times) = match &self.pause {
            Some(pause) if pause.reason == reason => (pause.since, pause.times + 1),
            _ => (now, 0),
        };
        let doubled = |first: i64, most: i64| {
            let minutes = first.saturating_mul(1 << times.min(10)).min(most);
            now + SignedDuration::from_mins(minutes)
        };
        let until = until.filter(|at| *at > now).or_else(|| match reason {
            PauseReason::User => None,
            PauseReason::NotFound => Some(now + SignedDuration::from_secs(60)),
            PauseReason::Quota => Some(doubled(15, 120)),
            PauseReason::Auth | PauseReason::Billing | PauseReason::Model => Some(doubled(5, 60)),
            PauseReason::Budget => Some(self.budget.day_end()),
            PauseReason::Server | PauseReason::Spawn | PauseReason::RateLimit => Some(now + self.account_backoff()),
        });
        self.pause = Some(Pause { reason, since, until, detail, times });
        self.effects.push(Effect::Changed);
    }

    /// How long the account waits after the present row of troubles.
    fn account_backoff(&self) -> SignedDuration {
        if self.streak >= DOWN_AFTER {
            let times = (self.streak - DOWN_AFTER).min(2);
            return SignedDuration::from_mins(15 << times);
        }
        backoff(self.config.retry_min, self.streak.max(1), self.config.retry_max)
    }

    /// An error in place of a reply.
    pub(super) fn failed(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        flight: Flight,
        call: Call,
        error: &ReplyError,
        fresh: bool,
    ) {
        // What failed stays in the conversation; the next try starts without it.
        self.spoil(session);
        let pause = match error.kind {
            ErrorKind::Quota => PauseReason::Quota,
            ErrorKind::RateLimit => PauseReason::RateLimit,
            ErrorKind::Auth => PauseReason::Auth,
            ErrorKind::Billing => PauseReason::Billing,
            ErrorKind::Model => PauseReason::Model,
            ErrorKind::Overflow => return self.too_long(now, session, flight, call, fresh, "too-long"),
            ErrorKind::Invalid => return self.too_long(now, session, flight, call, true, "invalid-request"),
            ErrorKind::Timeout => return self.trouble(now, session, flight, call, "timeout", error),
            ErrorKind::Interrupted => return self.trouble(now, session, flight, call, "interrupted", error),
            ErrorKind::Server => return self.trouble(now, session, flight, call, "server", error),
        };
        self.note_error(&error.message);
        if pause == PauseReason::RateLimit {
            self.streak += 1;
        }
        let until = error.resets_at.and_then(|at| Timestamp::from_second(at).ok());
        self.begin(now, pause, until, error.message.clone());
        self.account(call, CallOutcome::Paused, pause.word());
        self.again(session, flight);
    }

    /// The service, the connection or the run failed: the same again, later, a bounded number of times.
    pub(super) fn trouble(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        mut flight: Flight,
        call: Call,
        reason: &'static str,
        error: &ReplyError,
    ) {
        self.note_error(&error.message);
        self.spoil(session);
        self.streak += 1;
        let work = &mut flight.work;
        work.tries += 1;
        let first = *work.first_try.get_or_insert(flight.sent);
        let others_went_well = self.last_success.is_some_and(|at| at > first);
        if work.tries >= TRIES_ALONE || (work.tries >= TRIES && others_went_well) {
            return self.give_up(now, session, flight, call, reason);
        }
        work.not_before = Some(now + backoff(self.config.retry_min, work.tries, self.config.retry_max));
        // One silence is that question's; troubles of the service are everybody's.
        if reason != "timeout" || self.streak > 1 {
            self.begin(now, PauseReason::Server, None, error.message.clone());
        }
        self.account(call, CallOutcome::Retried, reason);
        // A question that twice took too long is too large for whoever answers.
        let smaller =
            (reason == "timeout" && flight.work.tries.is_multiple_of(2)).then(|| halves(&flight.work)).flatten();
        match smaller {
            Some((one, two)) => self.push_front(session, [one, two]),
            None => self.again(session, flight),
        }
    }

    /// The question does not fit, or is refused for what is in it: never the same again (A013).
    fn too_long(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        mut flight: Flight,
        call: Call,
        fresh: bool,
        reason: &'static str,
    ) {
        if !fresh {
            // The conversation was full, not the question: a new one starts without the history.
            self.account(call, CallOutcome::Retried, reason);
            return self.again(session, flight);
        }
        if reason == "too-long" {
            let known = self.refused_chars.unwrap_or(usize::MAX);
            self.refused_chars = Some(known.min(flight.chars.max(2_000)));
        }
        if let Some((one, two)) = halves(&flight.work) {
            self.account(call, CallOutcome::Retried, reason);
            return self.push_front(session, [one, two]);
        }
        match flight.work.narrower() {
            Some(limits) => {
                flight.work.limits = limits;
                self.account(call, CallOutcome::Retried, reason);
                self.again(session, flight);
            }
            None => self.give_up(now, session, flight, call, reason),
        }
    }

    /// Given up: visible, with its reason; a summary falls back on the closing words.
    pub(super) fn give_up(
        &mut self,
        _now: Timestamp,
        session: &SessionId,
        flight: Flight,
        call: Call,
        reason: &'static str,
    ) {
        let lost = flight.work.has_work();
        let finals = Self::finals(&flight.work, |_| {
            if lost { Final::Quarantined(reason.to_owned()) } else { Final::Skipped("context") }
        });
        let summary = flight.work.fallback();
        let outcome = match (lost, &summary) {
            (true, _) => CallOutcome::Quarantined,
            (false, Some(_)) => CallOutcome::Stored,
            // A summary nobody could make, and nothing to make it of: no work is lost by it.
            (false, None) => CallOutcome::Skipped,
        };
        self.finish(session, &flight.work, Vec::new(), summary, finals, Some((call, outcome, reason)));
    }

    pub(super) fn not_found(&mut self, now: Timestamp, session: &SessionId, flight: Option<Flight>, looked: &[String]) {
        self.unsent(now, session, flight);
        self.begin(now, PauseReason::NotFound, None, format!("looked in {}", looked.join(", ")));
    }

    pub(super) fn not_started(&mut self, now: Timestamp, session: &SessionId, flight: Option<Flight>, why: String) {
        self.unsent(now, session, flight);
        self.streak += 1;
        self.note_error(&why);
        self.begin(now, PauseReason::Spawn, None, why);
    }

    /// A question that never left: no call, its reservation is given back.
    fn unsent(&mut self, now: Timestamp, session: &SessionId, flight: Option<Flight>) {
        if let Some(flight) = flight {
            self.budget.settle(now, flight.estimate, Spend::default());
            self.again(session, flight);
        }
    }

    /// The same piece of work, next of its session.
    pub(super) fn again(&mut self, session: &SessionId, flight: Flight) {
        self.push_front(session, [flight.work]);
    }

    pub(super) fn push_front<const N: usize>(&mut self, session: &SessionId, work: [super::work::Work; N]) {
        if let Some(watched) = self.sessions.get_mut(session) {
            for piece in work.into_iter().rev() {
                watched.work.push_front(piece);
            }
        }
    }

    pub(super) fn spoil(&mut self, session: &SessionId) {
        if let Some(watched) = self.sessions.get_mut(session) {
            watched.spoil_run();
        }
    }

    fn note_error(&mut self, message: &str) {
        if self.same_error.0 == message {
            self.same_error.1 += 1;
        } else {
            self.same_error = (message.to_owned(), 1);
        }
        if self.same_error.1 == 5 {
            self.effects.push(Effect::Changed);
        }
    }
}
