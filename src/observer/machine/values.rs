//! The values that go into the machine and come out of it: inputs, effects, settled batches, calls, settings, status.

use std::sync::Arc;

use jiff::SignedDuration;

use crate::config::{BudgetSettings, Settings};
use crate::memory::{Draft, EventKey, ProjectRef, SessionId, Source, Summary, Timestamp};
use crate::mode::Mode;
use crate::observer::batch::Batch;
use crate::observer::budget::Spend;
use crate::observer::outcome::{CallOutcome, Final, PauseReason, Tally};
use crate::observer::prompt::Remembered;
use crate::observer::provider::{AskKey, Order, Report, RunKey, Usage};
use crate::transcript::event::Event;

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
