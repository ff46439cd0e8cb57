//! Whose turn it is: from waiting events over claims and slots to questions, and from reports back.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::gate::reply::{ErrorKind, Reply, ReplyError};
use crate::memory::{Draft, SessionId, Summary, Timestamp};
use crate::observer::batch::Batch;
use crate::observer::budget::Spend;
use crate::observer::outcome::Final;
use crate::observer::prompt::{self, Question, is_read_only};
use crate::observer::provider::{AskKey, Gone, Order, Report, RunKey, RunSpec, Said, Usage};
use crate::observer::slots::Claim;
use crate::transcript::event::{Body, Event};

use super::session::{Flight, Frozen, Run, Watched};
use super::{Effect, HelperReads, Machine, Observed, Settled};

impl Machine {
    pub(super) fn take_in(&mut self, now: Timestamp, session: SessionId, live: bool, events: Vec<Observed>) {
        if events.is_empty() {
            return;
        }
        let (skipped, events): (Vec<Observed>, Vec<Observed>) = match self.config.helper_reads {
            HelperReads::Skip => events.into_iter().partition(|it| is_helper_read(&it.event)),
            HelperReads::Ask | HelperReads::Fold => (Vec::new(), events),
        };
        if !skipped.is_empty() {
            let events = skipped.into_iter().map(|it| it.event).collect();
            self.settle_unasked(&session, live, Arc::new(Batch { events, ..Batch::default() }));
        }
        if events.is_empty() {
            return;
        }
        let watched = self.sessions.entry(session).or_insert_with(|| Watched::new(now, live));
        watched.live = live;
        for observed in events {
            let along = self.config.helper_reads == HelperReads::Fold && is_helper_read(&observed.event);
            watched.push(now, observed, along);
        }
    }

    /// Events nobody is asked about: words and marks without work, and what helpers only looked at.
    fn settle_unasked(&mut self, session: &SessionId, live: bool, batch: Arc<Batch>) {
        let finals = batch
            .events
            .iter()
            .map(|it| {
                let reason = if matches!(it.body, Body::Tool(_)) { "helper-read" } else { "no-work" };
                (it.key.clone(), Final::Skipped(reason))
            })
            .collect();
        self.effects.push(Effect::Settle(Box::new(Settled {
            session: session.clone(),
            live,
            batch,
            drafts: Vec::new(),
            summary: None,
            finals,
            call: None,
        })));
    }

    pub(super) fn hear(&mut self, now: Timestamp, report: Report) {
        if let Said::Window(window) = report.said {
            // A window that is full is found by the next grant; a refusal comes with its own error.
            self.budget.window(window);
            return;
        }
        let owner = self.sessions.iter().find(|(_, it)| it.run.as_ref().is_some_and(|run| run.key == report.run));
        let Some(session) = owner.map(|(id, _)| id.clone()) else {
            self.slots.release(report.run);
            return;
        };
        match report.said {
            Said::Ready { .. } | Said::Alive => self.alive(now, &session),
            Said::Window(_) => {}
            Said::Answered { ask, reply, usage, model } => self.answered(now, &session, ask, reply, usage, model),
            Said::Judged { ask, drafts, summary } => self.judged(now, &session, ask, drafts, summary),
            Said::Gone(how) => self.gone(now, &session, report.run, how),
        }
    }

    fn alive(&mut self, now: Timestamp, session: &SessionId) {
        let limit = self.config.turn_timeout;
        if let Some(flight) = self.sessions.get_mut(session).and_then(|it| it.flight.as_mut()) {
            // A sign of life moves the watchdog, but not for ever.
            flight.deadline = (now + limit).min(flight.sent + limit * 3);
        }
    }

    fn answered(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        ask: AskKey,
        reply: Reply,
        usage: Usage,
        model: Option<String>,
    ) {
        let model = model.unwrap_or_else(|| self.config.model.clone());
        let cost = crate::observer::price::cost(&model, &usage);
        let spend = Spend { calls: 1, input: usage.input, cached: usage.cached, output: usage.output, cost };
        let Some(flight) = self.land(now, session, Some(ask)) else {
            // An answer to what was given up: what it cost is spent all the same. Its call is counted already.
            self.budget.settle(now, 0, Spend { calls: 0, ..spend });
            return;
        };
        self.budget.settle(now, flight.estimate, spend);
        let mut fresh = false;
        if let Some(run) = self.sessions.get_mut(session).and_then(|it| it.run.as_mut()) {
            fresh = run.context == 0;
            run.context = usage.context();
            run.spoiled |= run.context >= self.config.context_tokens;
        }
        let call = self.call(session, &flight, model, usage, cost);
        self.weigh(now, session, flight, &reply, call, fresh);
    }

    /// Takes the open question of a session, if it is `ask` (`None`: whatever is open).
    fn land(&mut self, now: Timestamp, session: &SessionId, ask: Option<AskKey>) -> Option<Flight> {
        let watched = self.sessions.get_mut(session)?;
        let matches = watched.flight.as_ref().is_some_and(|it| ask.is_none_or(|ask| ask == it.ask));
        if !matches {
            return None;
        }
        watched.touched = now;
        if let Some(run) = &mut watched.run {
            run.last_used = now;
        }
        watched.flight.take()
    }

    fn judged(
        &mut self,
        now: Timestamp,
        session: &SessionId,
        ask: AskKey,
        drafts: Vec<Draft>,
        summary: Option<Summary>,
    ) {
        let Some(flight) = self.land(now, session, Some(ask)) else { return };
        self.budget.settle(now, flight.estimate, Spend::default());
        self.keep_judged(now, session, flight, drafts, summary);
    }

    fn gone(&mut self, now: Timestamp, session: &SessionId, run: RunKey, how: Gone) {
        self.slots.release(run);
        let flight = self.land(now, session, None);
        if let Some(watched) = self.sessions.get_mut(session) {
            watched.run_gone();
        }
        match (how, flight) {
            (Gone::NotFound { looked }, flight) => self.not_found(now, session, flight, &looked),
            (Gone::Refused(why), flight) => self.not_started(now, session, flight, why),
            (Gone::Died(why), Some(flight)) => self.died(now, session, flight, &why),
            (Gone::Ended, Some(flight)) => self.died(now, session, flight, "it ended in the middle of a question"),
            (Gone::Died(_) | Gone::Ended, None) => {}
        }
    }

    fn died(&mut self, now: Timestamp, session: &SessionId, flight: Flight, why: &str) {
        let spend = Spend { calls: 1, ..Spend::default() };
        self.budget.settle(now, flight.estimate, spend);
        let call = self.call(session, &flight, self.config.model.clone(), Usage::default(), 0.0);
        let error = ReplyError { message: why.to_owned(), ..ReplyError::default() };
        self.trouble(now, session, flight, call, "died", &error);
    }

    /// The watchdog: silences that have lasted too long.
    fn expire(&mut self, now: Timestamp) {
        let late: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|(_, it)| it.flight.as_ref().is_some_and(|flight| flight.deadline <= now))
            .map(|(id, _)| id.clone())
            .collect();
        for session in late {
            let Some(flight) = self.land(now, &session, None) else { continue };
            if let Some(run) = self.sessions.get_mut(&session).and_then(|it| it.run.as_mut()) {
                run.ending = true;
                self.effects.push(Effect::Order(Order::Kill { run: run.key }));
            }
            self.timeouts += 1;
            self.budget.settle(now, flight.estimate, Spend { calls: 1, ..Spend::default() });
            let millis = u64::try_from(now.duration_since(flight.sent).as_millis()).unwrap_or_default();
            let call =
                self.call(&session, &flight, self.config.model.clone(), Usage { millis, ..Usage::default() }, 0.0);
            let error = ReplyError {
                kind: ErrorKind::Timeout,
                message: format!("no answer for {} s", self.config.turn_timeout.as_secs()),
                ..ReplyError::default()
            };
            self.trouble(now, &session, flight, call, "timeout", &error);
        }
    }

    /// Everything that follows from the present state and time.
    pub(super) fn pump(&mut self, now: Timestamp) {
        self.expire(now);
        self.prepare(now);
        self.end_runs(now);
        self.ask_all(now);
        self.forget(now);
    }

    /// Pending events that are due become work; silent sessions get their summary.
    fn prepare(&mut self, now: Timestamp) {
        let most = self.refused_chars.map_or(self.config.batch_chars, |it| (it / 2).min(self.config.batch_chars));
        let (config, idle) = (&self.config, self.config.idle);
        let ready = |it: &Watched| {
            it.flight.is_none()
                && it.work.is_empty()
                && (it.due(config).is_some_and(|at| at <= now)
                    || (it.at_rest() && (it.touched + idle <= now || it.owes_summary())))
        };
        let ids: Vec<SessionId> = self.sessions.iter().filter(|(_, it)| ready(it)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            let mut nothing = Vec::new();
            let Some(watched) = self.sessions.get_mut(&id) else { continue };
            let live = watched.live;
            while watched.flight.is_none() && watched.work.is_empty() {
                if watched.due(&self.config).is_none_or(|at| at > now) {
                    break;
                }
                match watched.freeze(now, &self.config, most) {
                    Some(Frozen::Ask(work)) => watched.work.push_back(work),
                    Some(Frozen::Nothing(batch)) => nothing.push(batch),
                    None => break,
                }
            }
            if watched.at_rest() && (watched.touched + self.config.idle <= now || watched.owes_summary()) {
                let summary = watched.idle_summary(now);
                watched.work.extend(summary);
            }
            for batch in nothing {
                self.settle_unasked(&id, live, batch);
            }
        }
    }

    /// Runs that are spoiled or idle are ended.
    fn end_runs(&mut self, now: Timestamp) {
        for watched in self.sessions.values_mut() {
            let rest = watched.at_rest() && watched.touched + self.config.idle <= now;
            let Some(run) = &mut watched.run else { continue };
            if !run.ending && watched.flight.is_none() && (run.spoiled || rest) {
                run.ending = true;
                self.effects.push(Effect::Order(Order::End { run: run.key }));
            }
        }
    }

    fn ask_all(&mut self, now: Timestamp) {
        if self.held.is_some() {
            return;
        }
        let probing = match &self.pause {
            Some(pause) if pause.until.is_none_or(|at| at > now) => return,
            Some(_) => true,
            None => false,
        };
        // After a pause one question goes first; the rest follow when it is answered.
        if probing && self.sessions.values().any(|it| it.flight.is_some()) {
            return;
        }
        let mut claims: Vec<Claim> = self
            .sessions
            .iter()
            .filter(|(_, it)| it.flight.is_none())
            .filter_map(|(id, it)| {
                let work = it.work.front().filter(|work| work.not_before.is_none_or(|at| at <= now))?;
                Some(Claim { backfill: !it.live, since: work.since, session: id.clone() })
            })
            .collect();
        claims.sort();
        if probing {
            // What failed before is not what finds out whether the service is back: it may be the trouble itself.
            let tries = |id: &SessionId| self.sessions.get(id).and_then(|it| it.work.front()).map_or(0, |it| it.tries);
            claims.sort_by_key(|it| tries(&it.session));
        }
        let mut ending = self.sessions.values().filter(|it| it.run.as_ref().is_some_and(|run| run.ending)).count();
        let mut served: BTreeSet<SessionId> = BTreeSet::new();
        for claim in claims {
            let id = claim.session;
            served.insert(id.clone());
            let Some(watched) = self.sessions.get_mut(&id) else { continue };
            match watched.digest() {
                Ok(_) => {}
                Err(needs) => {
                    if needs.ask {
                        self.effects.push(Effect::Digest { session: id });
                    }
                    continue;
                }
            }
            match &watched.run {
                Some(run) if run.ending || run.spoiled => continue, // its end frees the slot
                Some(_) => {}
                None if self.slots.free() > 0 => {}
                None => {
                    // Somebody who has nothing to ask, or asks later, makes room.
                    if ending > 0 {
                        ending -= 1;
                    } else {
                        self.make_room(claim.backfill, &served);
                    }
                    continue;
                }
            }
            if !self.ask(now, &id) {
                return;
            }
            if probing {
                return;
            }
        }
    }

    /// Ends the run that was used longest ago of those that have nothing open and whose session was not served yet.
    fn make_room(&mut self, backfill: bool, served: &BTreeSet<SessionId>) {
        let idle = self
            .sessions
            .iter_mut()
            .filter(|(id, it)| {
                let waits = !it.work.is_empty() || it.waiting() > 0;
                // Old work never takes the place of a session somebody works in and that has something to say.
                it.flight.is_none() && !served.contains(*id) && !(backfill && it.live && waits)
            })
            .filter_map(|(_, it)| it.run.as_mut().filter(|run| !run.ending))
            .min_by_key(|it| it.last_used);
        if let Some(run) = idle {
            run.ending = true;
            self.effects.push(Effect::Order(Order::End { run: run.key }));
        }
    }

    /// Puts the next question of a session; `false` when the budget does not grant it.
    fn ask(&mut self, now: Timestamp, id: &SessionId) -> bool {
        let fence = self.fence();
        let Some(watched) = self.sessions.get_mut(id) else { return true };
        let fresh = watched.run.as_ref().is_none_or(|it| it.fresh);
        let (context, first_number) = (watched.run.as_ref().map_or(0, |it| it.context), watched.next_number);
        let Ok(remembered) = watched.digest().map(<[_]>::to_vec) else { return true };
        let Some(work) = watched.work.front() else { return true };
        let text = prompt::question(&Question {
            batch: &work.batch,
            first_number,
            expects: work.expects,
            fence: &fence,
            remembered: fresh.then_some(remembered.as_slice()),
            reminder: work.reminder,
            limits: work.limits,
            closing: (work.expects.summary() && !work.span.closing.is_empty()).then_some(work.span.closing.as_str()),
            fold_helpers: self.config.helper_reads != HelperReads::Ask,
        });
        let estimate = if self.config.paid { prompt::estimate(&self.instructions, &text, context) } else { 0 };
        if self.config.paid
            && let Err(denied) = self.budget.grant(now, estimate)
        {
            self.denied(now, denied);
            return false;
        }
        let work = watched.work.pop_front().expect("looked at above");
        let run = match &mut watched.run {
            Some(run) => run.key,
            None => {
                let key = RunKey(self.next_run);
                self.next_run += 1;
                let reserved = self.slots.reserve(key);
                debug_assert!(reserved, "a free slot was seen before");
                let run = Run { key, ending: false, spoiled: false, fresh: true, context: 0, last_used: now };
                watched.run = Some(run);
                let spec = RunSpec {
                    session: id.clone(),
                    instructions: Arc::clone(&self.instructions),
                    model: self.config.model.clone(),
                };
                self.effects.push(Effect::Order(Order::Start { run: key, spec }));
                key
            }
        };
        if let Some(run) = &mut watched.run {
            run.fresh = false;
            run.last_used = now;
        }
        let ask = AskKey(self.next_ask);
        self.next_ask += 1;
        watched.next_number += work.batch.events.len() as u64;
        self.effects.push(Effect::Order(Order::Ask {
            run,
            ask,
            batch: Arc::clone(&work.batch),
            expects: work.expects,
            text: Arc::from(text.as_str()),
        }));
        let deadline = now + self.config.turn_timeout;
        watched.flight = Some(Flight { ask, work, first_number, sent: now, deadline, estimate, chars: text.len() });
        true
    }

    /// Sessions with nothing left are forgotten; their memories are looked up again when they come back. Old ones at
    /// once: a backfill goes through thousands.
    fn forget(&mut self, now: Timestamp) {
        let idle = self.config.idle;
        self.sessions.retain(|_, it| {
            let over = !it.live && !it.span.work;
            !(it.at_rest() && it.run.is_none() && (over || it.touched + idle <= now))
        });
    }

    /// Says when to come back.
    pub(super) fn say_when(&mut self, now: Timestamp) {
        let mut times: Vec<Timestamp> = Vec::new();
        if !self.stopped {
            for watched in self.sessions.values() {
                match &watched.flight {
                    Some(flight) => times.push(flight.deadline),
                    None => {
                        times.extend(watched.work.front().and_then(|it| it.not_before));
                        if watched.work.is_empty() {
                            times.extend(watched.due(&self.config));
                        }
                        if watched.at_rest() {
                            times.push(watched.touched + self.config.idle);
                        }
                    }
                }
            }
            times.extend(self.pause.as_ref().and_then(|it| it.until));
            times.extend(self.brief);
        }
        let next = times.into_iter().filter(|at| *at > now).min();
        if next != self.last_wake {
            self.last_wake = next;
            self.effects.extend(next.map(Effect::WakeAt));
        }
    }
}

fn is_helper_read(event: &Event) -> bool {
    event.agent.is_some() && is_read_only(event)
}
