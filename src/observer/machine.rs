//! The observer's conversation, run by a pure machine: an [`Input`] and the time go in, [`Effect`]s come out.
//!
//! It knows sessions with what waits in them, runs and their slots, the budget, the account's pauses, and which
//! question is open where. It knows no clock, process, network, file or database.
//!
//! How to drive it (the collector does, and so do the tests):
//! - Call [`Machine::step`] with everything that happens, and carry out the effects in order. Nothing in an effect
//!   may be dropped, but for [`Effect::WakeAt`], of which only the newest counts.
//! - The driver owns the only timer: when the time of the newest `WakeAt` has come, feed [`Input::Tick`]. A tick too
//!   many does no harm.
//! - [`Effect::Order`] goes to the provider; its reports come back as [`Input::Report`].
//! - [`Effect::Digest`] comes before each new run and is answered with [`Input::Digest`]; until then nothing of that
//!   session is asked.
//! - [`Effect::Settle`] is the end of a batch: run gate 5 over the drafts and write everything in one transaction. If
//!   it cannot be written, keep it and try again; the machine has let go of it.
//! - [`Effect::Account`] is a call whose events are not settled yet (retried, paused): write its row.
//! - Before reading on in a transcript ask [`Machine::room`]: what waits stays in the file, not in memory (A060).
//!
//! Every event handed in gets exactly one [`Final`] through exactly one `Settle`, unless the machine is stopped first;
//! then the transcript is read again from the last safe point. Every call is granted by the budget before it is made
//! and has exactly one outcome, so the tally adds up to the calls.
//!
//! In the folder: `values` (what goes in and comes out), `session` (what waits and how it becomes a batch), `work` (a
//! batch on its way to an outcome), `flow` (whose turn it is), `verdict` (what a reply does to its batch), `pause`
//! (when nobody is asked).

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::memory::{EventKey, SessionId, Timestamp};
use crate::mode::Mode;

use super::budget::{Budget, Spend};
use super::outcome::Tally;
use super::prompt;
use super::provider::Order;
use super::slots::Slots;

mod flow;
mod pause;
mod session;
mod values;
mod verdict;
mod work;

use pause::Pause;
use session::Watched;
pub use values::{Call, Config, Effect, HelperReads, Input, Observed, PauseStatus, Settled, Status};

/// The machine.
pub struct Machine {
    config: Config,
    mode: Arc<Mode>,
    instructions: Arc<str>,
    sessions: BTreeMap<SessionId, Watched>,
    slots: Slots,
    budget: Budget,
    pause: Option<Pause>,
    /// Held by the user, since when.
    held: Option<Timestamp>,
    stopped: bool,
    next_run: u64,
    next_ask: u64,
    random: u64,
    tally: Tally,
    timeouts: u64,
    truncated: u64,
    /// Troubles in a row without a good answer between them, account-wide.
    streak: u32,
    /// When the last good answer came.
    last_success: Option<Timestamp>,
    /// Replies in a row that did not keep to the format.
    off_format: u32,
    /// The same error in a row, for people (A064).
    same_error: (String, u32),
    /// A size that was refused as too long; batches stay below it.
    refused_chars: Option<usize>,
    /// When the limit of requests a minute lets go.
    brief: Option<Timestamp>,
    last_wake: Option<Timestamp>,
    effects: Vec<Effect>,
}

impl Machine {
    /// A machine with nothing to do yet. `seed` feeds the fences' random words; `spent` is what today's calls cost
    /// before this start.
    pub fn new(config: Config, mode: Arc<Mode>, zone: TimeZone, now: Timestamp, seed: u64, spent: Spend) -> Self {
        let instructions = told(&config, &mode);
        // Runs are told apart over restarts by the clock.
        let first = u64::try_from(now.as_millisecond()).unwrap_or_default() * 1_000;
        Self {
            slots: Slots::new(config.slots),
            budget: Budget::new(config.budget.clone(), zone, now, spent),
            config,
            mode,
            instructions,
            sessions: BTreeMap::new(),
            pause: None,
            held: None,
            stopped: false,
            next_run: first,
            next_ask: first,
            random: seed,
            tally: Tally::default(),
            timeouts: 0,
            truncated: 0,
            streak: 0,
            last_success: None,
            off_format: 0,
            same_error: (String::new(), 0),
            refused_chars: None,
            brief: None,
            last_wake: None,
            effects: Vec::new(),
        }
    }

    /// Takes in what happened at `now` and says what is to be done.
    pub fn step(&mut self, now: Timestamp, input: Input) -> Vec<Effect> {
        match input {
            Input::Events { session, live, events } => self.take_in(now, session, live, events),
            Input::Digest { session, remembered } => {
                if let Some(watched) = self.sessions.get_mut(&session) {
                    watched.know(remembered);
                }
            }
            Input::Prompt { session, text } => {
                let watched = self.sessions.entry(session).or_insert_with(|| Watched::new(now, true));
                watched.span.prompt = Some(text);
            }
            Input::Settle { session, over } => {
                if let Some(watched) = self.sessions.get_mut(&session) {
                    watched.settle(now, over);
                }
            }
            Input::Report(report) => self.hear(now, report),
            Input::Tick => {}
            Input::Hold(hold) => {
                self.held = hold.then_some(self.held.unwrap_or(now));
                self.effects.push(Effect::Changed);
            }
            Input::TryNow => self.try_now(now),
            Input::Configure(config, mode) => self.configure(*config, mode),
            Input::Stop => self.stop(),
        }
        if !self.stopped {
            self.pump(now);
        }
        self.say_when(now);
        std::mem::take(&mut self.effects)
    }

    /// Whether more of this session's events are welcome. When not, they stay in the transcript until it is again.
    pub fn room(&self, session: &SessionId) -> bool {
        self.sessions.get(session).is_none_or(|it| {
            it.waiting_chars() < self.config.batch_chars * 2 && it.waiting() < self.config.batch_events * 4
        })
    }

    /// Nothing waits, nothing is open, no run is left.
    pub fn idle(&self) -> bool {
        self.slots.used() == 0 && self.sessions.values().all(|it| it.waiting() == 0 && it.flight.is_none())
    }

    /// Takes an event back that waits and is in no question yet. Whether it was there: then it gets no outcome here.
    pub fn retract(&mut self, session: &SessionId, key: &EventKey) -> bool {
        self.sessions.get_mut(session).is_some_and(|it| it.retract(key))
    }

    /// The sessions that have something waiting or open.
    pub fn sessions(&self) -> Vec<SessionId> {
        self.sessions.iter().filter(|(_, it)| it.waiting() > 0).map(|(id, _)| id.clone()).collect()
    }

    /// When [`Input::Tick`] is wanted: the time of the newest [`Effect::WakeAt`].
    pub fn wakes_at(&self) -> Option<Timestamp> {
        self.last_wake
    }

    /// Something is asked or about to be, events or not.
    pub fn busy(&self) -> bool {
        self.sessions.values().any(|it| it.flight.is_some() || !it.work.is_empty())
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        let mut sessions: Vec<_> = self
            .sessions
            .iter()
            .filter(|(_, it)| it.waiting() > 0 || it.flight.is_some())
            .map(|(id, it)| (id.clone(), it.waiting(), it.oldest(), it.flight.is_some()))
            .collect();
        sessions.sort_by_key(|it| it.2);
        let mut warnings = Vec::new();
        if self.off_format >= 3 {
            warnings.push(format!("observer not following format ({} replies in a row)", self.off_format));
        }
        if self.same_error.1 >= 5 {
            warnings.push(format!("the same error {} times: {}", self.same_error.1, self.same_error.0));
        }
        Status {
            pause: self.pause_status(),
            waiting: self.sessions.values().map(Watched::waiting).sum(),
            oldest: self.sessions.values().filter_map(Watched::oldest).min(),
            due: self.sessions.values().filter_map(Watched::due_since).min(),
            asking: self.sessions.values().filter(|it| it.flight.is_some()).count(),
            slots: (self.slots.used(), self.slots.limit()),
            sessions,
            tally: self.tally.clone(),
            today: self.budget.today(),
            timeouts: self.timeouts,
            truncated: self.truncated,
            warnings,
        }
    }

    /// The budget, to look at.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The mode in force.
    pub fn mode(&self) -> &Arc<Mode> {
        &self.mode
    }

    fn configure(&mut self, config: Config, mode: Arc<Mode>) {
        self.slots.resize(config.slots);
        self.budget.configure(config.budget.clone());
        let instructions = told(&config, &mode);
        let other = instructions != self.instructions || config.model != self.config.model;
        if other {
            for watched in self.sessions.values_mut() {
                watched.spoil_run();
            }
        }
        self.instructions = instructions;
        self.config = config;
        self.mode = mode;
        self.pause = None;
        self.effects.push(Effect::Changed);
    }

    fn stop(&mut self) {
        self.stopped = true;
        for watched in self.sessions.values_mut() {
            let Some(run) = &mut watched.run else { continue };
            if run.ending {
                continue;
            }
            run.ending = true;
            let order = if watched.flight.take().is_some() {
                Order::Kill { run: run.key }
            } else {
                Order::End { run: run.key }
            };
            self.effects.push(Effect::Order(order));
        }
    }

    /// The next word of the fences: letters and digits nobody can foretell from what is observed.
    fn fence(&mut self) -> String {
        // splitmix64: a fixed, well spread sequence from the seed.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^= word >> 31;
        const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        (0..8).map(|at| char::from(ALPHABET[(word >> (5 * at)) as usize & 31])).collect()
    }
}

/// The instructions of runs.
fn told(config: &Config, mode: &Mode) -> Arc<str> {
    let mut text = prompt::instructions(mode, &config.language);
    if !config.task.is_empty() {
        text.push_str("\n# This time\n");
        text.push_str(&config.task);
    }
    text.into()
}

#[cfg(test)]
mod tests;
