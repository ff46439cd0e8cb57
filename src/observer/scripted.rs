//! An observer that follows a script: for tests of everything around an observer, never for memories.
//!
//! It answers, stalls, dies, fails and talks prose on demand, at the speed the script says, and is reached like any
//! other provider: `observer.provider = "scripted"`, with the script's path in `observer.url`. A script has one rule a
//! line, as JSON; the first that fits a question answers it:
//!
//! ```json
//! {"when": "M2", "times": 1, "delay_ms": 20, "say": "error", "kind": "quota", "resets_in": 60}
//! {"say": "observe", "every": 3}
//! ```
//!
//! `when`: text the question must hold. `times`: so many questions, then the rule is used up. `say`: `observe` (one
//! observation for each tool call, or for one in `every`, chosen by its key; decided by the events alone, so that two
//! runs over the same events come to the same memories however their batches were cut), `markers` (one for each word
//! M1, M2 … in the question), `skip`, `reply` (`text` as it stands), `error` (`kind`, `status`, `message`,
//! `resets_in` seconds), `stall` (never an answer), `die` (the run ends in mid-question), `refuse` (no run starts).
//! Without a rule that fits: `markers`.
#![allow(clippy::disallowed_methods, reason = "it reads its script from a file")]

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::batch::Batch;
use super::provider::{AskKey, Gone, Order, Provider, Report, RunKey, Said, Sink, Usage};
use crate::config::monotonic;
use crate::gate::reply::{ErrorKind, Expected, Reply, ReplyError};
use crate::memory::{Timestamp, estimate_tokens};
use crate::transcript::event::Body;

/// A rule of the script.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Rule {
    /// Text the question must hold.
    #[serde(default)]
    pub when: String,
    /// How many questions it answers; without: any number.
    #[serde(default)]
    pub times: Option<u64>,
    /// How long the answer takes.
    #[serde(default)]
    pub delay_ms: u64,
    /// What is answered.
    #[serde(flatten)]
    pub act: Act,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "say", rename_all = "lowercase")]
pub enum Act {
    /// An observation for each tool call whose key is chosen.
    Observe {
        /// One in so many.
        #[serde(default = "one")]
        every: u64,
    },
    /// An observation for each marker word.
    Markers,
    /// Nothing worth keeping.
    Skip,
    /// These words.
    Reply {
        /// They.
        text: String,
    },
    /// An error of the service.
    Error {
        /// `quota`, `rate-limit`, `auth`, `billing`, `model`, `overflow`, `invalid`, `server`.
        kind: String,
        /// HTTP status.
        #[serde(default)]
        status: Option<u16>,
        /// What it says.
        #[serde(default)]
        message: String,
        /// Seconds until it ends.
        #[serde(default)]
        resets_in: Option<i64>,
    },
    /// No answer, ever.
    Stall,
    /// The run ends.
    Die,
    /// No run starts.
    Refuse,
}

fn one() -> u64 {
    1
}

/// Reads a script. A line that is no rule is an error with its number.
pub fn parse(text: &str) -> Result<Vec<Rule>, String> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1)))
        .collect()
}

/// The provider.
pub struct Scripted {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Follows the script in this file. One that cannot be read refuses every run, and says why.
    pub fn from_file(path: &Path, sink: Sink) -> Self {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        match text.and_then(|text| parse(&text).map_err(|error| format!("{}, {error}", path.display()))) {
            Ok(rules) => Self::new(rules, sink),
            Err(why) => Self::start(Vec::new(), Some(why), sink),
        }
    }

    /// Follows these rules.
    pub fn new(rules: Vec<Rule>, sink: Sink) -> Self {
        Self::start(rules, None, sink)
    }

    fn start(rules: Vec<Rule>, broken: Option<String>, sink: Sink) -> Self {
        let (orders, inbox) = channel();
        let mut player = Player { rules, broken, sink, due: Vec::new(), open: HashMap::new() };
        let thread = std::thread::Builder::new().name("scripted".into()).spawn(move || player.play(&inbox)).ok();
        Self { orders: Some(orders), thread }
    }
}

impl Provider for Scripted {
    fn order(&mut self, order: Order) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    fn close(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.close();
    }
}

/// The thread's state.
struct Player {
    rules: Vec<Rule>,
    broken: Option<String>,
    sink: Sink,
    /// Answers on their way.
    due: Vec<(Instant, RunKey, Said)>,
    /// Runs, with the question that is open in each.
    open: HashMap<RunKey, Option<AskKey>>,
}

impl Player {
    fn play(&mut self, inbox: &Receiver<Order>) {
        loop {
            let next = self.due.iter().map(|(at, ..)| *at).min();
            let order = match next {
                None => match inbox.recv() {
                    Ok(order) => order,
                    Err(_) => return self.end_all(),
                },
                Some(at) => match inbox.recv_timeout(at.saturating_duration_since(monotonic())) {
                    Ok(order) => order,
                    Err(RecvTimeoutError::Timeout) => {
                        self.deliver();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return self.end_all(),
                },
            };
            self.obey(order);
        }
    }

    fn say(&self, run: RunKey, said: Said) {
        (self.sink)(Report { run, said });
    }

    fn end_all(&mut self) {
        for run in std::mem::take(&mut self.open).into_keys() {
            self.say(run, Said::Gone(Gone::Ended));
        }
    }

    fn deliver(&mut self) {
        let now = monotonic();
        let (ready, later): (Vec<_>, Vec<_>) = self.due.drain(..).partition(|(at, ..)| *at <= now);
        self.due = later;
        for (_, run, said) in ready {
            if let Said::Gone(_) = said {
                self.open.remove(&run);
            }
            self.say(run, said);
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Start { run, .. } => {
                if let Some(why) = &self.broken {
                    return self.say(run, Said::Gone(Gone::Refused(why.clone())));
                }
                if let Some(at) = self.fitting("", true) {
                    self.use_up(at);
                    return self.say(run, Said::Gone(Gone::Refused("the script says so".into())));
                }
                self.open.insert(run, None);
                self.say(run, Said::Ready { version: None });
            }
            Order::Ask { run, ask, text, batch, expects } => {
                let rule = self.fitting(&text, false).map(|at| self.use_up(at));
                let (act, delay) = rule.map_or((Act::Markers, 0), |rule| (rule.act, rule.delay_ms));
                self.open.insert(run, Some(ask));
                if let Some(said) = answer(&act, ask, &text, &batch, expects, delay) {
                    self.due.push((monotonic() + Duration::from_millis(delay), run, said));
                }
            }
            Order::End { run } | Order::Kill { run } => {
                self.due.retain(|(_, its, _)| *its != run);
                if self.open.remove(&run).is_some() {
                    self.say(run, Said::Gone(Gone::Ended));
                }
            }
        }
    }

    fn fitting(&self, text: &str, starts: bool) -> Option<usize> {
        self.rules.iter().position(|rule| {
            rule.times != Some(0) && (rule.act == Act::Refuse) == starts && (starts || text.contains(&rule.when))
        })
    }

    fn use_up(&mut self, at: usize) -> Rule {
        let rule = &mut self.rules[at];
        rule.times = rule.times.map(|times| times.saturating_sub(1));
        rule.clone()
    }
}

/// What a question is answered with; `None`: nothing.
fn answer(act: &Act, ask: AskKey, text: &str, batch: &Arc<Batch>, expects: Expected, millis: u64) -> Option<Said> {
    let words = match act {
        Act::Stall => return None,
        Act::Die | Act::Refuse => return Some(Said::Gone(Gone::Died("the script says so".into()))),
        Act::Error { kind, status, message, resets_in } => {
            let error = ReplyError {
                kind: error_kind(kind),
                status: *status,
                message: message.clone(),
                resets_at: resets_in.map(|seconds| now().as_second() + seconds),
            };
            let reply = Reply { error: Some(error), ..Reply::default() };
            return Some(Said::Answered { ask, reply, usage: Usage { millis, ..Usage::default() }, model: None });
        }
        Act::Reply { text } => text.clone(),
        Act::Skip => "<skip/>".to_owned(),
        Act::Observe { every } => {
            let chosen = batch.events.iter().filter(|event| {
                matches!(event.body, Body::Tool(_)) && hash(event.key.as_str()).is_multiple_of((*every).max(1))
            });
            let mut out = String::new();
            for event in chosen {
                let key = event.key.as_str();
                let _ = write!(
                    out,
                    "<observation events=\"{key}\"><type>discovery</type><title>Saw {key}</title>\
                     <narrative>What {key} did.</narrative></observation>"
                );
            }
            out
        }
        Act::Markers => {
            let mut out = String::new();
            for marker in markers(text) {
                let _ = write!(
                    out,
                    "<observation><type>discovery</type><title>Found {marker}</title>\
                     <narrative>The work was about {marker}.</narrative></observation>"
                );
            }
            out
        }
    };
    let words = match (words.is_empty(), expects) {
        (true, Expected::Summary) => "<skip_summary/>".to_owned(),
        (true, _) => "<skip/>".to_owned(),
        (false, Expected::Both) if !words.contains("<summary") => format!("{words}<skip_summary/>"),
        (false, Expected::Summary) if words == "<skip/>" || words.starts_with("<observation") => {
            "<skip_summary/>".to_owned()
        }
        (false, _) => words,
    };
    let usage = Usage {
        input: u64::from(estimate_tokens(text)),
        output: u64::from(estimate_tokens(&words)),
        cost: Some(0.0),
        millis,
        ..Usage::default()
    };
    let reply = Reply { text: words, ..Reply::default() };
    Some(Said::Answered { ask, reply, usage, model: Some("scripted".into()) })
}

/// The words M1, M2 … in the order of their numbers, each once.
fn markers(text: &str) -> BTreeSet<String> {
    text.split(|ch: char| !ch.is_ascii_alphanumeric())
        .filter(|word| word.len() > 1 && word.starts_with('M') && word[1..].bytes().all(|byte| byte.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

fn error_kind(word: &str) -> ErrorKind {
    match word {
        "quota" => ErrorKind::Quota,
        "rate-limit" => ErrorKind::RateLimit,
        "auth" => ErrorKind::Auth,
        "billing" => ErrorKind::Billing,
        "model" => ErrorKind::Model,
        "overflow" => ErrorKind::Overflow,
        "invalid" => ErrorKind::Invalid,
        _ => ErrorKind::Server,
    }
}

/// FNV-1a: the choice must be the same in every run.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn now() -> Timestamp {
    crate::memory::Clock::now(&crate::config::SystemClock::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::provider::RunSpec;

    fn ask(provider: &mut Scripted, run: u64, ask: u64, text: &str) {
        provider.order(Order::Ask {
            run: RunKey(run),
            ask: AskKey(ask),
            text: text.into(),
            batch: Arc::new(Batch::default()),
            expects: Expected::Observations,
        });
    }

    fn start(provider: &mut Scripted, run: u64) {
        let spec = RunSpec { session: "s".into(), instructions: "".into(), model: "m".into() };
        provider.order(Order::Start { run: RunKey(run), spec });
    }

    fn text(report: Report) -> String {
        match report.said {
            Said::Answered { reply, .. } => reply.text,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn rules_are_used_in_order_and_used_up() {
        let rules = parse(
            "# first one question about M2 fails, then all is well\n\
             {\"when\": \"M2\", \"times\": 1, \"say\": \"reply\", \"text\": \"nothing here\"}\n\
             {\"when\": \"M3\", \"say\": \"die\"}\n\
             {\"say\": \"markers\", \"delay_ms\": 5}\n",
        )
        .unwrap();
        let (tell, told) = channel();
        let tell = std::sync::Mutex::new(tell);
        let mut provider = Scripted::new(rules, Arc::new(move |report| drop(tell.lock().unwrap().send(report))));
        start(&mut provider, 1);
        assert_eq!(told.recv().unwrap().said, Said::Ready { version: None });
        ask(&mut provider, 1, 1, "about M2");
        assert_eq!(text(told.recv().unwrap()), "nothing here");
        ask(&mut provider, 1, 2, "about M2 and M10, M2 again");
        let words = text(told.recv().unwrap());
        assert_eq!((words.matches("<observation>").count(), words.contains("Found M10")), (2, true));
        ask(&mut provider, 1, 3, "M3");
        assert!(matches!(told.recv().unwrap().said, Said::Gone(Gone::Died(_))));
        start(&mut provider, 2);
        assert_eq!(told.recv().unwrap().said, Said::Ready { version: None });
        provider.close();
        assert_eq!(told.recv().unwrap().said, Said::Gone(Gone::Ended));
    }

    #[test]
    fn a_broken_script_says_so() {
        assert!(parse("{\"say\": \"dance\"}").unwrap_err().starts_with("line 1"));
        let (tell, told) = channel();
        let tell = std::sync::Mutex::new(tell);
        let sink: Sink = Arc::new(move |report| drop(tell.lock().unwrap().send(report)));
        let mut provider = Scripted::from_file(Path::new("/nowhere/script"), sink);
        start(&mut provider, 1);
        assert!(matches!(told.recv().unwrap().said, Said::Gone(Gone::Refused(why)) if why.contains("/nowhere/script")));
    }
}
