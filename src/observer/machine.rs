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
//! In the folder: `session` (what waits and how it becomes a batch), `flow` (whose turn it is), `verdict` (what a
//! reply does to its batch), `pause` (when nobody is asked).

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use crate::config::{BudgetSettings, Settings};
use crate::memory::{Draft, EventKey, ProjectRef, SessionId, Source, Summary, Timestamp};
use crate::mode::Mode;
use crate::transcript::event::Event;

use super::batch::Batch;
use super::budget::{Budget, Spend};
use super::outcome::{CallOutcome, Final, PauseReason, Tally};
use super::prompt::{self, Remembered};
use super::provider::{AskKey, Order, Report, RunKey, Usage};
use super::slots::Slots;

mod flow;
mod pause;
mod session;
mod verdict;

use pause::Pause;
use session::Watched;

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// Events of one session (its helper agents' included) that came through gates 0–2, in file order. Keys that have
    /// an outcome already are left out by the caller.
    Events {
        /// Session.
        session: SessionId,
        /// Whether somebody is working in it now. Backfill (`false`) comes after all live sessions.
        live: bool,
        /// The events.
        events: Vec<Observed>,
    },
    /// The answer to [`Effect::Digest`]: what the session has on file, oldest first. May be empty.
    Digest {
        /// Session.
        session: SessionId,
        /// Its memories.
        remembered: Vec<Remembered>,
    },
    /// A provider said something.
    Report(Report),
    /// Words of the user that are no event of their own here (a turn that began before recording did): they tell what
    /// the following work is about.
    Prompt {
        /// Session.
        session: SessionId,
        /// The words.
        text: String,
    },
    /// Nothing more is expected in this session for long: what waits is asked about now.
    Settle {
        /// Session.
        session: SessionId,
        /// Its turn counts as over, though nothing said so.
        over: bool,
    },
    /// The time of the newest [`Effect::WakeAt`] has come.
    Tick,
    /// The user does not want anybody asked (`true`), or wants it again. Work is kept.
    Hold(bool),
    /// The user or the settings changed something that may end a pause: try at once.
    TryNow,
    /// New settings, from the next batch on. Runs of other instructions end when they are idle.
    Configure(Box<Config>, Arc<Mode>),
    /// The end: nothing more is asked, all runs are ended. What is open is given up; the transcript still has it.
    Stop,
}

/// An event and where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The event, stripped and masked.
    pub event: Event,
    /// Its project. A batch holds events of one project.
    pub project: Option<ProjectRef>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Tell the provider.
    Order(Order),
    /// Say what the session has on file: [`Input::Digest`].
    Digest {
        /// Session.
        session: SessionId,
    },
    /// A batch has its outcome: write it.
    Settle(Box<Settled>),
    /// A call that settles nothing yet.
    Account(Call),
    /// Feed [`Input::Tick`] then. Replaces any earlier one.
    WakeAt(Timestamp),
    /// What people should see has changed: a pause began or ended, a warning came up. Read [`Machine::status`].
    Changed,
}

/// A batch with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// Session.
    pub session: SessionId,
    /// Whether it was live.
    pub live: bool,
    /// The events with everything frozen. Evidence comes from these.
    pub batch: Arc<Batch>,
    /// Observations for gate 5; `cites` are event keys.
    pub drafts: Vec<Draft>,
    /// The summary of the span that ends here, and who wrote it.
    pub summary: Option<(Summary, Source)>,
    /// One for each event whose outcome was open. Events of the batch that are missing here were settled before.
    pub finals: Vec<(EventKey, Final)>,
    /// The call that decided, if one did.
    pub call: Option<Call>,
}

/// One call, for accounting.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Run.
    pub run: RunKey,
    /// Ask; names the call.
    pub ask: AskKey,
    /// Session.
    pub session: SessionId,
    /// Project root, empty when unknown.
    pub project_root: String,
    /// Provider.
    pub provider: String,
    /// Model as reported, else as set.
    pub model: String,
    /// Outcome.
    pub outcome: CallOutcome,
    /// Finer reason, a stable word.
    pub reason: String,
    /// What it cost.
    pub usage: Usage,
    /// In dollars, reported or estimated.
    pub cost: f64,
}

/// What becomes of read-only events of helper agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HelperReads {
    /// Like any other event.
    Ask,
    /// They go along with a batch that is asked about anyway, one line each (A055).
    #[default]
    Fold,
    /// Not observed.
    Skip,
}

/// The settings of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// For call rows: `claude`, `anthropic`, `openai`, `offline`, `scripted`.
    pub provider: String,
    /// Model.
    pub model: String,
    /// Language of the memories.
    pub language: String,
    /// A burst is gathered this long after its last event.
    pub linger: SignedDuration,
    /// While a turn is running, events may wait this long for company; its end makes them due at once.
    pub gather: SignedDuration,
    /// First back-off.
    pub retry_min: SignedDuration,
    /// Longest back-off of a single batch.
    pub retry_max: SignedDuration,
    /// Longest silence of an open question.
    pub turn_timeout: SignedDuration,
    /// A run with nothing to do ends after this.
    pub idle: SignedDuration,
    /// Runs at once.
    pub slots: u32,
    /// Largest batch in characters.
    pub batch_chars: usize,
    /// Largest batch in events.
    pub batch_events: usize,
    /// A run is replaced when its conversation holds this many tokens.
    pub context_tokens: u64,
    /// Read-only events of helpers.
    pub helper_reads: HelperReads,
    /// What may be spent.
    pub budget: BudgetSettings,
    /// Whether the observer is a model. Without one nothing is spent and no budget asked.
    pub paid: bool,
    /// What is wanted this time besides the mode's instructions; usually nothing.
    pub task: String,
}

impl Config {
    /// From the user's settings. `provider` is the one really used (`auto` is decided by whoever starts it).
    pub fn of(settings: &Settings, provider: &str) -> Self {
        let it = &settings.observer;
        let seconds = |value: f64| SignedDuration::try_from_secs_f64(value.max(0.0)).unwrap_or(SignedDuration::MAX);
        Self {
            provider: provider.to_owned(),
            model: it.model.clone(),
            language: it.language.clone(),
            linger: seconds(it.linger),
            gather: seconds(it.gather),
            retry_min: seconds(it.retry_min.max(0.05)),
            retry_max: seconds(it.retry_max),
            turn_timeout: seconds(it.turn_timeout.max(0.05)),
            idle: seconds(it.idle),
            slots: it.slots,
            batch_chars: it.batch_chars.max(1_000),
            batch_events: it.batch_events.max(1),
            context_tokens: it.context_tokens.max(1_000),
            helper_reads: match it.helper_reads.as_str() {
                "ask" => HelperReads::Ask,
                "skip" => HelperReads::Skip,
                _ => HelperReads::Fold,
            },
            budget: settings.budget.clone(),
            paid: provider != "offline",
            task: String::new(),
        }
    }
}

/// How it stands, for `status` and the screen.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Status {
    /// Why nobody is asked, if so.
    pub pause: Option<PauseStatus>,
    /// Events that wait, those in open questions included.
    pub waiting: usize,
    /// When the oldest of them came in.
    pub oldest: Option<Timestamp>,
    /// Since when something is due that is not answered yet.
    pub due: Option<Timestamp>,
    /// Questions open now.
    pub asking: usize,
    /// Slots held and there are.
    pub slots: (usize, usize),
    /// By session: waiting events, since when, whether a question is open.
    pub sessions: Vec<(SessionId, usize, Option<Timestamp>, bool)>,
    /// Calls by outcome since the start.
    pub tally: Tally,
    /// Spent today.
    pub today: Spend,
    /// Silences that ended in a kill.
    pub timeouts: u64,
    /// Replies cut at their limit.
    pub truncated: u64,
    /// What a person should do something about.
    pub warnings: Vec<String>,
}

/// A pause as people see it (A059).
#[derive(Clone, Debug, PartialEq)]
pub struct PauseStatus {
    /// Why.
    pub reason: PauseReason,
    /// Since when.
    pub since: Timestamp,
    /// When it is tried again; `None`: when the user says so.
    pub retry_at: Option<Timestamp>,
    /// What was said, for people.
    pub detail: String,
}

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
