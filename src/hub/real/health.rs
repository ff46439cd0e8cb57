//! Is it recording: the collector's report as the screen shows it. Ages are evidence, never a flag (A066).

use std::sync::PoisonError;

use super::Real;
use crate::collector::health::{Health, Snapshot, State};
use crate::collector::report::{Report, report};
use crate::hub::live::{Funnel, Problem, QueueRow, Rec, TokensToday, Vitals};
use crate::memory::{Timestamp, millis};

impl Real {
    pub(super) fn health(&mut self) -> Vitals {
        let now = self.now();
        let found = report(&self.setup.dirs, &self.setup.settings, now, &self.setup.zone);
        let mut vitals = Vitals::default();
        let (own, trouble) = {
            let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            (own.collector.is_some(), own.trouble.clone())
        };
        vitals.own = own;
        vitals.rec = rec_of(&found);
        vitals.cause = trouble.unwrap_or_else(|| cause_of(&found));
        fill(&mut vitals, &found);
        let (db, wal) = self.hub.store().disk();
        vitals.db_bytes = Some(db).filter(|n| *n > 0);
        vitals.wal_bytes = Some(wal).filter(|n| *n > 0);
        vitals.funnel = self.funnel(now).ok();
        vitals.tokens = self.tokens(now, &found.health).ok();
        vitals
    }

    fn day_start(&self, at: Timestamp) -> Timestamp {
        at.to_zoned_datetime(self.setup.zone.clone()).start_of_day().map_or(at, |day| day.timestamp())
    }

    /// Today's events by the gate that decided.
    fn funnel(&self, now: Timestamp) -> crate::store::Result<Funnel> {
        let store = self.hub.store();
        let mut funnel = Funnel::default();
        for (name, n) in store.counters("gate.", Some(self.day_start(now)))? {
            let n = u64::try_from(n).unwrap_or(0);
            let rest = &name["gate.".len()..];
            let gate = rest.split('.').next().and_then(|gate| gate.parse::<u8>().ok()).unwrap_or(0);
            funnel.seen += n;
            match gate {
                0..=2 => funnel.blocked += n,
                3 => funnel.skipped += n,
                4 => funnel.rejected += n,
                _ => {}
            }
        }
        funnel.sent = funnel.seen - funnel.blocked;
        let from = self.day_start(now);
        let hours = store.hour_counts(&[], from, Timestamp::MAX)?;
        funnel.kept =
            hours.iter().filter(|hour| hour.kind == crate::memory::Kind::Observation).map(|hour| hour.n).sum();
        Ok(funnel)
    }

    fn tokens(&self, now: Timestamp, health: &Health) -> crate::store::Result<TokensToday> {
        let mut day = self.day_start(now);
        let mut today = TokensToday { budget: health.budget.tokens, ..TokensToday::default() };
        let mut until = Timestamp::MAX;
        for back in 0..7 {
            let spends = self.hub.store().spend(day, until)?;
            let sum: u64 = spends.iter().map(|spend| spend.input_tokens + spend.output_tokens).sum();
            today.week.insert(0, sum);
            if back == 0 {
                today.input = spends.iter().map(|spend| spend.input_tokens).sum();
                today.output = spends.iter().map(|spend| spend.output_tokens).sum();
                today.cached = spends.iter().map(|spend| spend.cached_tokens).sum();
                let cost: f64 = spends.iter().map(|spend| spend.cost).sum();
                today.cost = (cost > 0.0).then_some(cost);
            }
            until = day;
            day = self.day_start(day.saturating_sub(jiff::SignedDuration::from_secs(1)).unwrap_or(day));
        }
        Ok(today)
    }
}

fn rec_of(report: &Report) -> Rec {
    let health = &report.health;
    let snapshot = report.snapshot.as_ref();
    let ms = |at: Option<Timestamp>| at.map_or(0, millis);
    match health.state {
        State::Ok => {
            let event = snapshot.and_then(|it| it.last_event_at).or(health.last_memory_at).or(health.last_line_at);
            event.map_or(Rec::Idle, |at| Rec::Ok(millis(at)))
        }
        State::Idle => Rec::Idle,
        State::Lag => Rec::Lag(ms(health.oldest_waiting_at)),
        State::Wait => {
            let until = health.paused.as_ref().and_then(|paused| paused.next_try.or(paused.until));
            Rec::Wait(ms(until))
        }
        State::Gap => Rec::Gap(ms(snapshot.and_then(|it| it.gaps.first()).map(|gap| gap.since))),
        State::Off => Rec::Off,
        State::Down => Rec::Down(ms(snapshot.and_then(|it| it.beat_at))),
        State::ReadOnly => Rec::ReadOnly,
    }
}

fn cause_of(report: &Report) -> String {
    let snapshot = report.snapshot.as_ref();
    match report.health.state {
        State::Down => match snapshot {
            Some(it) if it.stopped => format!("the collector (pid {}) has ended", it.pid),
            Some(it) if report.alive => format!("the collector (pid {}) gives no sign of life", it.pid),
            Some(it) => format!("the collector (pid {}) is gone", it.pid),
            None => "no collector has run yet".into(),
        },
        State::Gap => {
            snapshot.and_then(|it| it.gaps.first()).map_or_else(String::new, |gap| format!("{}: {}", gap.path, gap.why))
        }
        State::Wait => report.health.paused.as_ref().map_or_else(String::new, |paused| match paused.reason.as_str() {
            "quota" => "the account's limit is reached; events are kept".into(),
            "auth" => "the observer is not signed in; events are kept".into(),
            "billing" => "the account cannot be billed; events are kept".into(),
            "budget" => "today's budget is spent; events are kept".into(),
            "disk" => "the disk is full; events are kept".into(),
            other => format!("{other}; events are kept"),
        }),
        State::ReadOnly => {
            report.store_error.clone().or_else(|| snapshot.and_then(|it| it.read_only.clone())).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn fill(vitals: &mut Vitals, report: &Report) {
    let health = &report.health;
    let ms = |at: Option<Timestamp>| at.map(millis);
    vitals.last_line_ms = ms(health.last_line_at);
    vitals.last_memory_ms = ms(health.last_memory_at);
    vitals.oldest_waiting_ms = ms(health.oldest_waiting_at);
    vitals.waiting = health.waiting;
    vitals.backlog = health.backlog;
    vitals.watch = health.watch.clone();
    vitals.observer = if health.model.is_empty() {
        health.provider.clone()
    } else {
        format!("{} · {}", health.provider, health.model)
    };
    vitals.problems = health
        .errors
        .iter()
        .map(|problem| Problem {
            at_ms: millis(problem.at),
            what: problem.what.clone(),
            lost: problem.lost,
            kept: problem.kept,
            open: !problem.cleared,
            ..Problem::default()
        })
        .collect();
    // Open ones first, each group newest first.
    vitals.problems.sort_by_key(|problem| !problem.open);
    if let Some(snapshot) = &report.snapshot {
        of_snapshot(vitals, snapshot, report.alive);
    }
}

fn of_snapshot(vitals: &mut Vitals, snapshot: &Snapshot, alive: bool) {
    let ms = |at: Option<Timestamp>| at.map(millis);
    vitals.last_answer_ms = ms(snapshot.last_event_at);
    vitals.last_write_ms = ms(snapshot.last_write_at);
    if !alive {
        return;
    }
    vitals.pid = Some(snapshot.pid);
    vitals.since_ms = ms(snapshot.started_at);
    let used = snapshot.queue.iter().filter(|queue| queue.slot.is_some()).count() as u32;
    let highest = snapshot.queue.iter().filter_map(|queue| queue.slot).max().unwrap_or(0);
    vitals.slots = (used > 0).then_some((used, highest.max(used)));
    vitals.queue = snapshot
        .queue
        .iter()
        .map(|queue| QueueRow {
            session: queue.session.clone(),
            project: queue.project.clone(),
            waiting: u32::try_from(queue.waiting).unwrap_or(u32::MAX),
            oldest_ms: queue.oldest_at.map_or(0, millis),
            slot: queue.slot,
            last: queue.note.clone(),
        })
        .collect();
}
