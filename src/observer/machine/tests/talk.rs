//! A driver for tests: simulated time, a provider that is told what to answer, and a record of everything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use crate::config::Settings;
use crate::gate::reply::{ErrorKind, Expected, Reply, ReplyError, Stop};
use crate::memory::{EventKey, MemoryId, ProjectRef, SessionId, Timestamp, estimate_tokens};
use crate::observer::batch::Batch;
use crate::observer::budget::Spend;
use crate::observer::machine::{Call, Config, Effect, Input, Machine, Observed, Settled};
use crate::observer::outcome::Final;
use crate::observer::prompt::Remembered;
use crate::observer::provider::{AskKey, Gone, Order, Report, RunKey, Said, Usage};
use crate::transcript::event::{Answer, Body, Event, Prompt, PromptKind, ToolCall, ToolFacts, ToolOutcome, TurnEnd};

pub(super) fn start() -> Timestamp {
    "2026-03-01T10:00:00Z".parse().expect("a timestamp")
}

pub(super) fn project(name: &str) -> ProjectRef {
    ProjectRef { root: format!("/w/{name}"), name: name.into(), worktree: None }
}

/// An event of session `session`; its key is `session/name`.
pub(super) fn event(session: &str, name: &str, body: Body) -> Event {
    Event {
        key: EventKey(format!("{session}/{name}")),
        alias: None,
        session: session.into(),
        agent: None,
        parent_call: None,
        time: Some(start()),
        cwd: Some("/w/alpha".into()),
        branch: Some("main".into()),
        version: None,
        entrypoint: None,
        turn: 1,
        abandoned: false,
        end_offset: 0,
        body,
    }
}

pub(super) fn tool(session: &str, name: &str, tool: &str, input: &str, output: &str) -> Event {
    let call = ToolCall {
        id: name.into(),
        name: tool.into(),
        input: input.into(),
        output: output.into(),
        outcome: ToolOutcome::Ok,
        facts: ToolFacts::default(),
    };
    event(session, name, Body::Tool(call))
}

/// A shell call whose output is its own name.
pub(super) fn bash(session: &str, name: &str) -> Event {
    tool(session, name, "Bash", r#"{"command":"x"}"#, name)
}

pub(super) fn edit(session: &str, name: &str) -> Event {
    tool(session, name, "Edit", r#"{"file_path":"/w/alpha/a.rs","old_string":"a","new_string":"b"}"#, "ok")
}

pub(super) fn prompt(session: &str, name: &str, text: &str) -> Event {
    let body = Prompt { kind: PromptKind::Typed, text: text.into(), about: None, attachments: 0, program: false };
    event(session, name, Body::Prompt(body))
}

pub(super) fn answer(session: &str, name: &str, text: &str) -> Event {
    event(session, name, Body::Answer(Answer { text: text.into(), closing: true, ..Answer::default() }))
}

pub(super) fn turn_end(session: &str, name: &str) -> Event {
    event(session, name, Body::TurnEnd(TurnEnd::Marked))
}

/// A question that was put.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub run: RunKey,
    pub ask: AskKey,
    pub text: String,
    pub batch: Arc<Batch>,
    pub expects: Expected,
    pub at: Timestamp,
}

impl Asked {
    pub(super) fn session(&self) -> &str {
        self.batch.session.as_ref().map_or("", SessionId::as_str)
    }

    pub(super) fn mentions(&self, name: &str) -> bool {
        self.text.contains(name)
    }
}

/// What the provider does with a question.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// This reply.
    Say(String),
    /// This reply, cut at the limit.
    Cut(String),
    /// An error.
    Fail(ErrorKind),
    /// An error with this message, and perhaps a reset.
    FailWith(ReplyError),
    /// A tool call instead of an answer.
    Tool,
    /// A reply the client made up itself.
    Synthetic(String),
    /// The run dies.
    Die,
    /// Nothing, ever.
    Hang,
}

pub(super) fn xml(title: &str) -> String {
    format!("<observation><type>change</type><title>{title}</title></observation>")
}

/// A good answer to whatever was asked.
pub(super) fn good(asked: &Asked, title: &str) -> Act {
    let summary = "<summary><completed>c</completed></summary>";
    Act::Say(match asked.expects {
        Expected::Observations => xml(title),
        Expected::Summary => summary.into(),
        Expected::Both => format!("{}{summary}", xml(title)),
    })
}

/// What the provider does by itself with a question.
type Script = Box<dyn FnMut(&Asked) -> Option<Act>>;

pub(super) struct Talk {
    pub machine: Machine,
    pub now: Timestamp,
    pub asked: Vec<Asked>,
    pub open: VecDeque<Asked>,
    pub settled: Vec<Settled>,
    pub accounts: Vec<Call>,
    pub alive: BTreeSet<RunKey>,
    pub starts: usize,
    pub peak: usize,
    /// How runs fail to start, first come first.
    pub refuse: VecDeque<Gone>,
    /// Answers at once instead of waiting for `say`.
    pub script: Option<Script>,
    /// How long the script takes.
    pub takes: SignedDuration,
    /// Usage is that of the texts, conversations growing with every turn; otherwise the same figures for every answer.
    pub measured: bool,
    /// Tokens that were sent, when measured.
    pub prompt_tokens: u64,
    contexts: BTreeMap<RunKey, u64>,
    answers: Vec<(Timestamp, Asked, Act)>,
    wake: Option<Timestamp>,
    next_id: i64,
    pub on_file: BTreeMap<SessionId, Vec<Remembered>>,
    pub events: BTreeMap<EventKey, u32>,
}

impl Talk {
    pub(super) fn new() -> Self {
        Self::with(|_, _| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut Config, &mut Settings)) -> Self {
        let mut settings = Settings::default();
        settings.budget.daily_tokens = 0;
        settings.budget.requests_per_minute = 0;
        let mut config = Config::of(&settings, "scripted");
        change(&mut config, &mut settings);
        let machine = Machine::new(config, Arc::new(crate::mode::code()), TimeZone::UTC, start(), 7, Spend::default());
        Self {
            machine,
            now: start(),
            asked: Vec::new(),
            open: VecDeque::new(),
            settled: Vec::new(),
            accounts: Vec::new(),
            alive: BTreeSet::new(),
            starts: 0,
            peak: 0,
            refuse: VecDeque::new(),
            script: None,
            takes: SignedDuration::ZERO,
            measured: false,
            prompt_tokens: 0,
            contexts: BTreeMap::new(),
            answers: Vec::new(),
            wake: None,
            next_id: 1,
            on_file: BTreeMap::new(),
            events: BTreeMap::new(),
        }
    }

    /// The script answers every question.
    pub(super) fn play(mut self, script: impl FnMut(&Asked) -> Act + 'static) -> Self {
        let mut script = script;
        self.script = Some(Box::new(move |asked| Some(script(asked))));
        self
    }

    pub(super) fn feed(&mut self, events: impl IntoIterator<Item = Event>) {
        self.feed_as(true, events);
    }

    pub(super) fn feed_as(&mut self, live: bool, events: impl IntoIterator<Item = Event>) {
        let events: Vec<Event> = events.into_iter().collect();
        let Some(first) = events.first() else { return };
        let session = first.session.clone();
        for event in &events {
            self.events.entry(event.key.clone()).or_default();
        }
        let events = events.into_iter().map(|event| Observed { event, project: Some(project("alpha")) }).collect();
        self.step(Input::Events { session, live, events });
    }

    pub(super) fn step(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.machine.step(self.now, input) {
                match effect {
                    Effect::Order(order) => inputs.extend(self.obey(order)),
                    Effect::Digest { session } => {
                        let remembered = self.on_file.get(&session).cloned().unwrap_or_default();
                        inputs.push_back(Input::Digest { session, remembered });
                    }
                    Effect::Settle(settled) => {
                        for (key, _) in &settled.finals {
                            *self.events.get_mut(key).expect("a key that was fed") += 1;
                        }
                        let on_file = self.on_file.entry(settled.session.clone()).or_default();
                        for draft in &settled.drafts {
                            self.next_id += 1;
                            let id = Some(MemoryId(self.next_id));
                            on_file.push(Remembered { id, type_id: "change".into(), title: draft.title.clone() });
                        }
                        self.settled.push(*settled);
                    }
                    Effect::Account(call) => self.accounts.push(call),
                    Effect::WakeAt(at) => self.wake = Some(at),
                    Effect::Changed => {}
                }
            }
        }
    }

    fn obey(&mut self, order: Order) -> Vec<Input> {
        let report = |run, said| Input::Report(Report { run, said });
        match order {
            Order::Start { run, spec } => {
                self.starts += 1;
                self.contexts.insert(run, u64::from(estimate_tokens(&spec.instructions)));
                if let Some(how) = self.refuse.pop_front() {
                    return vec![report(run, Said::Gone(how))];
                }
                assert!(self.alive.insert(run), "a run starts once");
                self.peak = self.peak.max(self.alive.len());
                vec![report(run, Said::Ready { version: None })]
            }
            Order::Ask { run, ask, text, batch, expects } => {
                assert!(!text.starts_with('/'), "no text may be a command");
                if !self.alive.contains(&run) {
                    return Vec::new(); // refused before it was asked
                }
                let asked = Asked { run, ask, text: text.to_string(), batch, expects, at: self.now };
                self.asked.push(asked.clone());
                match self.script.as_mut().and_then(|it| it(&asked)) {
                    Some(act) if self.takes == SignedDuration::ZERO => return self.answer_to(&asked, act),
                    Some(act) => self.answers.push((self.now + self.takes, asked, act)),
                    None => self.open.push_back(asked),
                }
                Vec::new()
            }
            Order::End { run } | Order::Kill { run } => {
                assert!(self.alive.remove(&run), "only a living run is ended");
                self.open.retain(|it| it.run != run);
                self.answers.retain(|(_, it, _)| it.run != run);
                vec![report(run, Said::Gone(Gone::Ended))]
            }
        }
    }

    fn answer_to(&mut self, asked: &Asked, act: Act) -> Vec<Input> {
        let mut usage = Usage { input: 1_000, output: 100, millis: 5, ..Usage::default() };
        if self.measured {
            let context = self.contexts.entry(asked.run).or_default();
            *context += u64::from(estimate_tokens(&asked.text));
            self.prompt_tokens += *context;
            usage.input = *context;
            if let Act::Say(text) = &act {
                usage.output = u64::from(estimate_tokens(text));
                *context += usage.output;
            }
        }
        let said = |reply: Reply| {
            let said = Said::Answered { ask: asked.ask, reply, usage, model: Some("m".into()) };
            vec![Input::Report(Report { run: asked.run, said })]
        };
        match act {
            Act::Say(text) => said(Reply { text, ..Reply::default() }),
            Act::Cut(text) => said(Reply { text, stop: Stop::Limit, ..Reply::default() }),
            Act::Fail(kind) => said(Reply {
                error: Some(ReplyError { kind, message: format!("{kind:?}"), ..ReplyError::default() }),
                ..Reply::default()
            }),
            Act::FailWith(error) => said(Reply { error: Some(error), ..Reply::default() }),
            Act::Tool => said(Reply { tool_call: true, ..Reply::default() }),
            Act::Synthetic(text) => said(Reply { text, synthetic: true, ..Reply::default() }),
            Act::Die => {
                self.alive.remove(&asked.run);
                vec![Input::Report(Report { run: asked.run, said: Said::Gone(Gone::Died("killed".into())) })]
            }
            Act::Hang => {
                self.open.push_back(asked.clone());
                Vec::new()
            }
        }
    }

    /// Answers the oldest open question.
    pub(super) fn act(&mut self, act: Act) {
        let asked = self.open.pop_front().expect("an open question");
        for input in self.answer_to(&asked, act) {
            self.step(input);
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        self.act(Act::Say(text.into()));
    }

    /// Lets time pass; wakes and delayed answers come when they are due.
    pub(super) fn pass(&mut self, seconds: i64) {
        self.pass_to(self.now + SignedDuration::from_secs(seconds));
    }

    pub(super) fn pass_to(&mut self, end: Timestamp) {
        loop {
            let answer = self.answers.iter().map(|it| it.0).min();
            let next = [self.wake, answer].into_iter().flatten().filter(|at| *at <= end).min();
            let Some(next) = next else { break };
            self.now = self.now.max(next);
            if answer == Some(next) {
                let at = self.answers.iter().position(|it| it.0 == next).expect("found above");
                let (_, asked, act) = self.answers.remove(at);
                for input in self.answer_to(&asked, act) {
                    self.step(input);
                }
            } else {
                self.wake = None;
                self.step(Input::Tick);
            }
        }
        self.now = end;
    }

    /// Titles of everything settled.
    pub(super) fn titles(&self) -> Vec<&str> {
        self.settled.iter().flat_map(|it| it.drafts.iter().map(|draft| draft.title.as_str())).collect()
    }

    /// The final of an event, if it has one.
    pub(super) fn fate(&self, key: &str) -> Option<Final> {
        self.settled.iter().flat_map(|it| &it.finals).find(|(it, _)| it.as_str() == key).map(|(_, it)| it.clone())
    }

    /// The tally as `outcome/reason=n`, in order.
    pub(super) fn tally(&self) -> String {
        let tally = self.machine.status().tally;
        assert_eq!(tally.calls, tally.by.values().sum::<u64>());
        tally.by.iter().map(|(key, count)| format!("{key}={count}")).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn pause(&self) -> Option<(&'static str, i64)> {
        let pause = self.machine.status().pause?;
        let left = pause.retry_at.map_or(-1, |at| at.duration_since(self.now).as_secs());
        Some((pause.reason.word(), left))
    }

    /// Every event that was fed has exactly one final.
    pub(super) fn all_settled_once(&self) {
        for (key, count) in &self.events {
            assert_eq!(*count, 1, "{key}");
        }
    }
}
