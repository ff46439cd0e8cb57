//! The judge that asks a model: the observer's machine, driven.
//!
//! Events go into the machine in file order, its orders to the provider, the provider's reports back into it, and
//! what it settles through gate 5 into verdicts. Reports come on the provider's own threads; each wakes the
//! collector's loop by an `Answered` input. The database is read here for one thing only: what a session has on file
//! when a new run begins.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError};

use jiff::tz::TimeZone;

use super::gather::Known;
use super::health::{Paused, Queue};
use super::input::{Input as LoopInput, Lane};
use super::judge::{Judge, Offered, StreamId, Verdict};
use super::run::{JudgeMaker, Options};
use crate::memory::{Clock, EventKey, Kind, SessionId, Timestamp, estimate_tokens};
use crate::mode::Mode;
use crate::observer::api::{self, Api};
use crate::observer::auto::{Auto, Lack};
use crate::observer::budget::Spend;
use crate::observer::claude::{self, Claude};
use crate::observer::machine::{Config, Effect, Input, Machine, Observed};
use crate::observer::outcome::PauseReason;
use crate::observer::prompt::Remembered;
use crate::observer::provider::{Provider, Report, Sink};
use crate::observer::scripted::Scripted;
use crate::store::Store;
use crate::store::api::{Access, Filter, Order};
use crate::transcript::event::Body;

mod verdict;

pub(super) use verdict::call_row;
pub use verdict::verdict;

/// Most memories told to a new run.
const ON_FILE: usize = 60;
/// Marks the machine's name of a session's older part, which is asked about apart from its newer one.
const OLDER: &str = "#older";

/// Makes a provider, given where its reports go.
pub type ProviderMaker = Box<dyn FnOnce(Sink) -> (Box<dyn Provider>, Option<Lack>) + Send>;

/// Who would answer if a question were put now: `auto` is decided by whether the program can be found.
pub fn provider_now(options: &Options) -> &'static str {
    match options.settings.observer.provider.as_str() {
        "offline" => "offline",
        "claude" => "claude",
        "anthropic" => "anthropic",
        "openai" => "openai",
        "scripted" => "scripted",
        _ => {
            let setup = claude::Setup::of(&options.settings.observer.claude_path, &options.env, &options.dirs);
            if claude::find::find_now(&setup).is_ok() { "claude" } else { "offline" }
        }
    }
}

/// The judge the settings ask for; `None`: the observer without a model, which needs none of this.
pub fn judge_for(options: &Options) -> Option<JudgeMaker> {
    // Without the program `auto` is the rules themselves, on whole turns and without a wait for slots or budget. It is
    // looked for again at the next start; where it is there but does not start, `Auto` stands in.
    if provider_now(options) == "offline" {
        return None;
    }
    let (provider, maker) = provider_for(options, options.settings.observer.provider.as_str())?;
    Some(judge_with(options, Config::of(&options.settings, provider), maker))
}

/// The provider of that name, and what call rows name it; `None` for `offline`.
pub fn provider_for(options: &Options, wanted: &str) -> Option<(&'static str, ProviderMaker)> {
    let setup = claude::Setup::of(&options.settings.observer.claude_path, &options.env, &options.dirs);
    let mode = Arc::clone(&options.mode);
    Some(match wanted {
        "offline" => return None,
        "claude" => ("claude", Box::new(move |sink| (Box::new(Claude::new(setup, sink)) as Box<dyn Provider>, None))),
        "anthropic" | "openai" => {
            let setup = api::Setup::of(&options.settings.observer, wanted, &options.env);
            let clock = Arc::clone(&options.clock);
            let name = if wanted == "anthropic" { "anthropic" } else { "openai" };
            (name, Box::new(move |sink| (Box::new(Api::new(setup, clock, sink)) as Box<dyn Provider>, None)))
        }
        // For tests: it follows a script.
        "scripted" => {
            let script = std::path::PathBuf::from(&options.settings.observer.url);
            let maker = move |sink| (Box::new(Scripted::from_file(&script, sink)) as Box<dyn Provider>, None);
            ("scripted", Box::new(maker))
        }
        _ => (
            "claude",
            Box::new(move |sink| {
                let auto = Auto::new(mode, sink, |sink| Box::new(Claude::new(setup, sink)));
                let lack = auto.without_model();
                (Box::new(auto) as Box<dyn Provider>, Some(lack))
            }),
        ),
    })
}

/// A judge with this provider.
pub fn judge_with(options: &Options, config: Config, provider: ProviderMaker) -> JudgeMaker {
    let (clock, mode, database) = (Arc::clone(&options.clock), Arc::clone(&options.mode), options.dirs.database());
    let zone = crate::config::local_zone();
    Box::new(move |inputs: Sender<LoopInput>| {
        let now = clock.now();
        // The collector has just opened it for writing, so it is there and of our schema.
        let store = Store::open(&database, Access::ReadOnly, now).ok();
        let spent = store.as_ref().map_or_else(Spend::default, |store| spent_today(store, &zone, now));
        let (sender, reports) = channel();
        let sink: Sink = Arc::new(move |report| {
            // Nobody listens any more when the collector has ended.
            if sender.send(report).is_ok() {
                let _ = inputs.send(LoopInput::Answered(0));
            }
        });
        let (provider, lack) = provider(sink);
        let seed = uuid::Uuid::new_v4().as_u128() as u64;
        let names = (config.provider.clone(), config.model.clone());
        let machine = Machine::new(config, Arc::clone(&mode), zone, now, seed, spent);
        Box::new(ModelJudge {
            machine,
            provider,
            lack,
            reports,
            inputs: Vec::new(),
            store,
            clock,
            mode,
            names,
            projects: HashMap::new(),
        })
    })
}

/// What today's calls cost so far.
pub(super) fn spent_today(store: &Store, zone: &TimeZone, now: Timestamp) -> Spend {
    let day = now.to_zoned_datetime(zone.clone()).start_of_day().map_or(now, |day| day.timestamp());
    let mut sum = Spend::default();
    for row in store.spend(day, Timestamp::MAX).unwrap_or_default() {
        sum.calls += row.calls;
        sum.input += row.input_tokens;
        sum.cached += row.cached_tokens;
        sum.output += row.output_tokens;
        sum.cost += row.cost;
    }
    sum
}

/// The judge.
pub struct ModelJudge {
    machine: Machine,
    provider: Box<dyn Provider>,
    lack: Option<Lack>,
    reports: Receiver<Report>,
    /// What came in since the machine was stepped last.
    inputs: Vec<Input>,
    store: Option<Store>,
    clock: Arc<dyn Clock>,
    mode: Arc<Mode>,
    names: (String, String),
    /// Project labels of sessions, for the queue.
    projects: HashMap<SessionId, String>,
}

impl ModelJudge {
    /// Steps the machine through everything that came in, and carries out what it wants.
    fn run(&mut self, now: Timestamp, out: &mut Vec<Verdict>) {
        for input in std::mem::take(&mut self.inputs) {
            self.step(now, input, out);
        }
        while let Ok(report) = self.reports.try_recv() {
            self.step(now, Input::Report(report), out);
        }
    }

    fn step(&mut self, now: Timestamp, input: Input, out: &mut Vec<Verdict>) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            for effect in self.machine.step(now, input) {
                match effect {
                    Effect::Order(order) => self.provider.order(order),
                    Effect::Digest { session } => {
                        let remembered = self.on_file(&session);
                        inputs.push(Input::Digest { session, remembered });
                    }
                    Effect::Settle(settled) => out.push(verdict(*settled, &self.mode, now)),
                    Effect::Account(call) => {
                        out.push(Verdict { call: Some(call_row(&call)), ..Verdict::default() });
                    }
                    Effect::WakeAt(_) | Effect::Changed => {}
                }
            }
        }
    }

    /// What a session has on file, oldest first.
    fn on_file(&self, session: &SessionId) -> Vec<Remembered> {
        let Some(store) = &self.store else { return Vec::new() };
        let session = session.as_str().trim_end_matches(OLDER).to_owned();
        let filter = Filter { sessions: vec![session], kinds: vec![Kind::Observation], ..Filter::default() };
        let mut rows = store.list(&filter, Order::Newest, None, ON_FILE).unwrap_or_default();
        rows.reverse();
        rows.into_iter()
            .filter(|row| row.superseded_by.is_none())
            .map(|row| Remembered { id: Some(row.id), type_id: row.type_id, title: row.title })
            .collect()
    }

    fn lacks(&self) -> Option<String> {
        self.lack.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Judge for ModelJudge {
    fn take(&mut self, stream: &StreamId, offered: Offered, _out: &mut Vec<Verdict>) {
        let Offered { event, project, known, read_at: _ } = offered;
        let session = name_of(stream);
        let words = matches!(event.body, Body::Prompt(_));
        if let Some(project) = &project {
            self.projects.insert(session.clone(), project.name.clone());
        }
        match known {
            Known::Older => {
                if let Body::Prompt(prompt) = event.body {
                    self.inputs.push(Input::Prompt { session, text: prompt.text });
                }
            }
            // Copies and what is decided are left out; the user's words are not: the rest cannot be understood
            // without them. Their outcome stands already.
            Known::Elsewhere if !words => {}
            Known::New | Known::Elsewhere => {
                let observed = Observed { event, project: project.as_deref().cloned() };
                let live = stream.lane == Lane::Live;
                match self.inputs.last_mut() {
                    Some(Input::Events { session: last, events, .. }) if *last == session => events.push(observed),
                    _ => self.inputs.push(Input::Events { session, live, events: vec![observed] }),
                }
            }
        }
    }

    fn settle(&mut self, stream: &StreamId, out: &mut Vec<Verdict>) {
        // A helper's work is done, but its session's turn goes on.
        self.inputs.push(Input::Settle { session: name_of(stream), over: stream.agent.is_none() });
        self.run(self.clock.now(), out);
    }

    fn settle_all(&mut self, out: &mut Vec<Verdict>) {
        let now = self.clock.now();
        self.run(now, out);
        for session in self.machine.sessions() {
            self.step(now, Input::Settle { session, over: false }, out);
        }
    }

    fn retract(&mut self, stream: &StreamId, key: &EventKey) -> bool {
        let session = name_of(stream);
        for input in &mut self.inputs {
            if let Input::Events { session: its, events, .. } = input
                && *its == session
                && let Some(at) = events.iter().position(|it| it.event.key == *key)
            {
                events.remove(at);
                return true;
            }
        }
        self.machine.retract(&session, key)
    }

    fn answered(&mut self, _number: u64, now: Timestamp, out: &mut Vec<Verdict>) {
        self.run(now, out);
    }

    fn due(&self) -> Option<Timestamp> {
        if self.inputs.is_empty() { self.machine.wakes_at() } else { Some(Timestamp::UNIX_EPOCH) }
    }

    fn tick(&mut self, now: Timestamp, out: &mut Vec<Verdict>) {
        self.inputs.push(Input::Tick);
        self.run(now, out);
    }

    fn paused(&self) -> Option<Paused> {
        let pause = self.machine.status().pause?;
        Some(Paused {
            reason: reason_word(pause.reason).to_owned(),
            since: pause.since,
            until: None,
            next_try: pause.retry_at,
            detail: pause.detail,
        })
    }

    fn oldest_due(&self) -> Option<Timestamp> {
        self.machine.status().due
    }

    fn queue(&self) -> Vec<Queue> {
        let status = self.machine.status();
        let mut slot = 0;
        let mut queue: Vec<Queue> = status
            .sessions
            .into_iter()
            .map(|(session, waiting, oldest_at, asking)| {
                if asking {
                    slot += 1;
                }
                Queue {
                    project: self.projects.get(&session).cloned().unwrap_or_default(),
                    session: session.as_str().trim_end_matches(OLDER).to_owned(),
                    waiting: waiting as u64,
                    oldest_at,
                    slot: asking.then_some(slot),
                    note: if asking { "being asked about".into() } else { String::new() },
                }
            })
            .collect();
        queue.truncate(50);
        queue
    }

    fn name(&self) -> (String, String) {
        match self.lacks() {
            Some(_) => ("offline".into(), String::new()),
            None => self.names.clone(),
        }
    }

    fn is_busy(&self) -> bool {
        !self.inputs.is_empty() || self.machine.busy()
    }

    fn warnings(&self) -> Vec<String> {
        let mut out = self.machine.status().warnings;
        out.extend(self.lacks().map(|why| format!("{why}; memories are made by rules, without a model")));
        out
    }

    fn has_room(&self, stream: &StreamId) -> bool {
        self.machine.room(&name_of(stream))
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn stop(&mut self) {
        let now = self.clock.now();
        for effect in self.machine.step(now, Input::Stop) {
            if let Effect::Order(order) = effect {
                self.provider.order(order);
            }
        }
        self.provider.close();
    }
}

/// The machine's name of a stream: its session, the older part apart. Helpers belong to their session.
fn name_of(stream: &StreamId) -> SessionId {
    match stream.lane {
        Lane::Live => stream.session.clone(),
        Lane::Older => SessionId(format!("{}{OLDER}", stream.session)),
    }
}

pub(super) fn reason_word(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::Quota => "quota",
        PauseReason::RateLimit => "rate-limit",
        PauseReason::Auth => "auth",
        PauseReason::Billing => "billing",
        PauseReason::Model => "model",
        PauseReason::Budget => "budget",
        PauseReason::Server => "server",
        PauseReason::NotFound => "not-found",
        PauseReason::Spawn => "cannot-start",
        PauseReason::User => "user",
    }
}

/// What reading this much older work would cost, for a person to agree to before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Estimate {
    /// Calls.
    pub calls: u64,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars, where the model's price is known.
    pub cost: Option<f64>,
}

/// The estimate for `events` waiting events whose shown text has about `chars` characters.
pub fn estimate(config: &Config, mode: &Mode, events: u64, chars: u64) -> Estimate {
    if !config.paid || events == 0 {
        return Estimate::default();
    }
    let instructions = u64::from(estimate_tokens(&crate::observer::prompt::instructions(mode, &config.language)));
    let by_size = chars.div_ceil(config.batch_chars as u64);
    let by_count = events.div_ceil(config.batch_events as u64);
    let calls = by_size.max(by_count).max(1);
    // A run is replaced when it is full, so on the average half of that is read again with each call.
    let history = config.context_tokens / 2;
    let own = chars.div_ceil(4);
    let input_tokens = own + calls * (instructions + history.min(own));
    let output_tokens = calls * 600;
    let cost = crate::observer::price::price(&config.model).map(|price| {
        (own as f64 * price.input
            + (calls * (instructions + history.min(own))) as f64 * price.cached
            + output_tokens as f64 * price.output)
            / 1e6
    });
    Estimate { calls, input_tokens, output_tokens, cost }
}

#[cfg(test)]
mod tests;
