//! The observer behind an HTTP endpoint: Anthropic's Messages API, or OpenAI-style chat completions (OpenRouter, Ollama,
//! LM Studio, LiteLLM, vLLM, Gemini's compatible endpoint).
//!
//! Three settings: URL, model, key. A run is a conversation kept here, bounded by `history`; each run has a thread of
//! its own that makes one blocking request at a time. No retries here: the machine decides about those. In the folder:
//! `wire` (requests and answers as text, pure), `history` (what fits, pure), `key` (where the key comes from).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::config::{Env, ObserverSettings, monotonic};
use crate::gate::reply::{ErrorKind, Reply, ReplyError};
use crate::memory::Clock;

use super::provider::{AskKey, Gone, Order, Provider, Report, RunKey, RunSpec, Said, Sink, Usage};

pub mod history;
pub mod key;
pub mod wire;

use history::History;
use key::{KeySource, Secret};
use wire::{Dialect, Outgoing};

/// Largest answer that is read.
const BODY_MAX: u64 = 16 << 20;

/// How an endpoint is reached.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which language it speaks.
    pub dialect: Dialect,
    /// Full URL requests go to.
    pub url: String,
    /// Model, as the endpoint knows it.
    pub model: String,
    /// Where the key comes from.
    pub key: KeySource,
    /// How long one request may take.
    pub timeout: Duration,
    /// How many tokens a request may have.
    pub context_tokens: u64,
}

impl Setup {
    /// From the settings; `provider` is `anthropic` or `openai`.
    pub fn of(settings: &ObserverSettings, provider: &str, env: &Env) -> Self {
        let dialect = if provider == "anthropic" { Dialect::Anthropic } else { Dialect::OpenAi };
        let base = match (settings.url.trim(), dialect) {
            ("", Dialect::Anthropic) => env.get("ANTHROPIC_BASE_URL").unwrap_or_default(),
            (url, _) => url,
        };
        Self {
            dialect,
            url: wire::endpoint(dialect, base),
            model: wire::model(dialect, &settings.model),
            key: KeySource::of(settings, dialect, env),
            timeout: Duration::try_from_secs_f64(settings.turn_timeout.max(1.0)).unwrap_or(Duration::from_secs(180)),
            context_tokens: settings.context_tokens.max(1_000),
        }
    }
}

/// The provider.
pub struct Api {
    setup: Setup,
    clock: Arc<dyn Clock>,
    sink: Sink,
    runs: BTreeMap<RunKey, (Sender<Task>, JoinHandle<()>)>,
}

/// What a run's thread is told.
enum Task {
    Ask(AskKey, Arc<str>),
}

impl Api {
    /// Nothing is sent yet.
    pub fn new(setup: Setup, clock: Arc<dyn Clock>, sink: Sink) -> Self {
        Self { setup, clock, sink, runs: BTreeMap::new() }
    }

    fn start(&mut self, run: RunKey, spec: RunSpec) {
        let (tasks, inbox) = channel();
        let (setup, clock, sink) = (self.setup.clone(), Arc::clone(&self.clock), Arc::clone(&self.sink));
        let thread = std::thread::Builder::new().name("cmem-observer-http".into());
        match thread.spawn(move || converse(run, &spec, &setup, &*clock, &sink, &inbox)) {
            Ok(handle) => {
                self.runs.insert(run, (tasks, handle));
            }
            Err(err) => (self.sink)(Report { run, said: Said::Gone(Gone::Refused(err.to_string())) }),
        }
    }
}

impl Provider for Api {
    fn order(&mut self, order: Order) {
        match order {
            Order::Start { run, spec } => self.start(run, spec),
            Order::Ask { run, ask, text, .. } => {
                if let Some((tasks, _)) = self.runs.get(&run) {
                    let _ = tasks.send(Task::Ask(ask, text)); // a thread that is gone has said so
                }
            }
            Order::End { run } | Order::Kill { run } => {
                // A request that is under way cannot be called back; its answer is not listened to, and its thread
                // ends with the request's own time limit at the latest.
                if self.runs.remove(&run).is_some() {
                    (self.sink)(Report { run, said: Said::Gone(Gone::Ended) });
                }
            }
        }
    }

    fn close(&mut self) {
        let runs: Vec<RunKey> = self.runs.keys().copied().collect();
        for run in runs {
            self.order(Order::End { run });
        }
    }
}

/// A run's thread: one question after another until nobody can ask any more.
fn converse(run: RunKey, spec: &RunSpec, setup: &Setup, clock: &dyn Clock, sink: &Sink, inbox: &Receiver<Task>) {
    let said = |said| sink(Report { run, said });
    let mut endpoint = Endpoint::new(setup);
    let mut history = History::new(&spec.instructions, setup.context_tokens);
    said(Said::Ready { version: None });
    while let Ok(Task::Ask(ask, text)) = inbox.recv() {
        let newest = history.fit(&text);
        let begun = monotonic();
        let answer = endpoint.ask(&history, &newest, clock);
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (reply, usage, model) = match answer {
            Ok(answer) => {
                // Only a reply that can be used is remembered; what failed is as if it had not been said.
                if answer.reply.error.is_none() {
                    history.push(newest, answer.reply.text.clone());
                }
                (answer.reply, answer.usage, answer.model)
            }
            Err(error) => (Reply { error: Some(error), ..Reply::default() }, Usage::default(), None),
        };
        said(Said::Answered { ask, reply, usage: Usage { millis, ..usage }, model });
    }
}

/// One endpoint, with its connection and key.
pub struct Endpoint {
    setup: Setup,
    agent: ureq::Agent,
    key: Option<Secret>,
}

impl Endpoint {
    /// Nothing is opened yet.
    pub fn new(setup: &Setup) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(setup.timeout))
            .timeout_connect(Some(Duration::from_secs(15).min(setup.timeout)))
            .http_status_as_error(false)
            .max_redirects(0) // a key is never carried elsewhere
            .build();
        Self { setup: setup.clone(), agent: config.into(), key: None }
    }

    /// Puts one question with its history; also the error in a service's answer.
    pub fn ask(&mut self, history: &History, newest: &str, clock: &dyn Clock) -> Result<wire::Incoming, ReplyError> {
        if self.key.is_none() {
            self.key = self.setup.key.read()?;
        }
        let outgoing = wire::request(self.setup.dialect, &self.setup.url, &self.setup.model, history, newest);
        let answer = self.send(&outgoing).map_err(|err| self.connection_error(&err));
        let (status, retry_after, body) = answer?;
        let mut incoming = wire::answer(self.setup.dialect, status, retry_after.as_deref(), &body, clock.now());
        if let Some(error) = &mut incoming.reply.error {
            if let Some(key) = &self.key {
                error.message = key.hide(&error.message);
            }
            if error.kind == ErrorKind::Auth {
                self.key = None; // it is read anew the next time
            }
        }
        Ok(incoming)
    }

    fn send(&self, outgoing: &Outgoing) -> Result<(u16, Option<String>, String), ureq::Error> {
        let mut request = self.agent.post(&outgoing.url).header("content-type", "application/json");
        for (name, value) in &outgoing.headers {
            request = request.header(*name, value);
        }
        if let Some(key) = &self.key {
            let (name, value) = key.header();
            request = request.header(name, value);
        }
        let mut response = request.send(&outgoing.body)?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get("retry-after").and_then(|it| it.to_str().ok()).map(str::to_owned);
        let body = response.body_mut().with_config().limit(BODY_MAX).read_to_string()?;
        Ok((status, retry_after, body))
    }

    fn connection_error(&self, err: &ureq::Error) -> ReplyError {
        let kind = match err {
            ureq::Error::Timeout(_) => ErrorKind::Timeout,
            // No waiting helps against a wrong address.
            ureq::Error::BadUri(_) | ureq::Error::InvalidProxyUrl => ErrorKind::Model,
            _ => ErrorKind::Server,
        };
        let message = format!("{}: {err}", self.setup.url);
        let message = self.key.as_ref().map_or(message.clone(), |key| key.hide(&message));
        ReplyError { kind, message, ..ReplyError::default() }
    }
}

#[cfg(test)]
mod tests;
