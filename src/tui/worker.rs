//! The source's own thread: questions and changes in, answers out, and between them the rest of the rows.
//!
//! It loads newest rows first and answers questions before it loads on, so that the screen is never behind its
//! loading. It looks for changes when it is poked, and now and then: every 250 ms while the pane has the focus, every
//! second otherwise. A database that is not there or is locked is tried again with a growing pause.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::effect::Request;
use super::msg::{Answer, Done, Msg};
use crate::hub::live::{Applied, RowBatch, Seen, Source, StepState, Trouble, TroubleKind, Vitals};
use crate::memory::MemoryId;

/// Rows of the first page: more than any screen.
const FIRST: usize = 200;
/// Rows of the next page, and of all further ones.
const SECOND: usize = 5_000;
const FURTHER: usize = 50_000;
/// Facts are kept in memory up to this many bytes of text; older rows' facts are found by full text.
const FACTS_BYTES: usize = 60 << 20;
const SESSIONS: usize = 2_000;
const TRASH: usize = 5_000;
const HISTORY: usize = 1_000;
const LOG_LINES: usize = 200;
const FOCUSED: Duration = Duration::from_millis(250);
const UNFOCUSED: Duration = Duration::from_millis(1_000);
/// Health is looked at every so many looks for changes.
const VITALS_EVERY: u32 = 8;

/// Opens a source, on the worker's thread.
pub type Opener = Box<dyn FnMut() -> Result<Box<dyn Source>, Trouble> + Send>;

/// The thread and the way to it.
pub struct Worker {
    requests: Option<Sender<Task>>,
    focused: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

enum Task {
    Ask(Request),
    Poke,
    Become(Opener),
    /// The bench holds a sender of its own, so the end is said, not seen.
    Stop,
}

impl Worker {
    /// Starts the thread. `say` brings answers to the loop and wakes it; `beside` is called now and then for what else
    /// is to be watched.
    pub fn start(
        open: Opener,
        say: impl Fn(Msg) + Send + 'static,
        beside: impl FnMut() -> Option<Msg> + Send + 'static,
    ) -> Self {
        let (requests, tasks) = channel();
        let focused = Arc::new(AtomicBool::new(true));
        let at = Arc::clone(&focused);
        let own = requests.clone();
        let thread = std::thread::Builder::new()
            .name("source".into())
            .spawn(move || {
                let mut bench = Bench {
                    open,
                    source: None,
                    seen: Seen::default(),
                    load: Load::Idle,
                    text: 0,
                    vitals: None,
                    tick: 0,
                    wait: FOCUSED,
                    focused: at,
                    say: Box::new(say),
                    beside: Box::new(beside),
                    own,
                };
                bench.run(&tasks);
            })
            .ok();
        Self { requests: Some(requests), focused, thread }
    }

    /// Asks.
    pub fn ask(&self, request: Request) {
        if let Some(requests) = &self.requests {
            let _ = requests.send(Task::Ask(request)); // a thread that has ended is told by its last answer
        }
    }

    /// Another source from now on.
    pub fn become_source(&self, open: Opener) {
        if let Some(requests) = &self.requests {
            let _ = requests.send(Task::Become(open));
        }
    }

    /// Whether the pane has the focus.
    pub fn set_focused(&self, focused: bool) {
        self.focused.store(focused, Ordering::Relaxed);
    }

    /// Ends the thread once it has answered what it is at. A source with a collector stops it cleanly.
    pub fn stop(mut self) {
        if let Some(requests) = self.requests.take() {
            let _ = requests.send(Task::Stop);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is still to be loaded.
enum Load {
    Idle,
    Newest,
    Below(Option<MemoryId>, usize),
}

struct Bench {
    open: Opener,
    source: Option<Box<dyn Source>>,
    seen: Seen,
    load: Load,
    /// Bytes of text loaded so far.
    text: usize,
    vitals: Option<Vitals>,
    tick: u32,
    wait: Duration,
    focused: Arc<AtomicBool>,
    say: Box<dyn Fn(Msg) + Send>,
    beside: Box<dyn FnMut() -> Option<Msg> + Send>,
    own: Sender<Task>,
}

impl Bench {
    fn run(&mut self, tasks: &Receiver<Task>) {
        loop {
            // Questions first; then a page; then waiting.
            let task = match self.load {
                Load::Idle => match tasks.recv_timeout(self.pause()) {
                    Ok(task) => Some(task),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return,
                },
                _ => match tasks.try_recv() {
                    Ok(task) => Some(task),
                    Err(std::sync::mpsc::TryRecvError::Empty) => {
                        self.load_on();
                        continue;
                    }
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                },
            };
            match task {
                Some(Task::Ask(request)) => self.answer(request),
                Some(Task::Poke) => self.look(),
                Some(Task::Stop) => return,
                Some(Task::Become(open)) => {
                    self.open = open;
                    self.source = None;
                    self.answer(Request::Open);
                }
                None if self.source.is_none() => self.answer(Request::Open),
                None => {
                    self.tick = self.tick.wrapping_add(1);
                    self.look();
                    if self.tick.is_multiple_of(VITALS_EVERY) {
                        self.look_at_vitals();
                        if let Some(msg) = (self.beside)() {
                            (self.say)(msg);
                        }
                    }
                }
            }
        }
    }

    fn pause(&self) -> Duration {
        if self.source.is_none() {
            return self.wait;
        }
        if self.focused.load(Ordering::Relaxed) { FOCUSED } else { UNFOCUSED }
    }

    fn tell(&self, answer: Answer) {
        (self.say)(Msg::Data(answer));
    }

    fn look(&mut self) {
        let Some(source) = &mut self.source else { return };
        match source.changes(&mut self.seen) {
            Ok(None) => {}
            Ok(Some(changes)) => {
                self.tell(Answer::Changes(changes));
                self.look_at_vitals();
            }
            Err(trouble) if trouble.kind == TroubleKind::Busy => {} // it will be there the next time
            Err(trouble) => self.tell(Answer::Trouble(trouble)),
        }
    }

    fn look_at_vitals(&mut self) {
        let Some(source) = &mut self.source else { return };
        if let Ok(vitals) = source.vitals()
            && self.vitals.as_ref() != Some(&vitals)
        {
            self.vitals = Some(vitals.clone());
            self.tell(Answer::Vitals(vitals));
        }
    }

    fn open(&mut self) {
        let opened = (self.open)().and_then(|mut source| {
            let opened = source.opened()?;
            Ok((source, opened))
        });
        match opened {
            Ok((mut source, opened)) => {
                let own = self.own.clone();
                source.on_change(Box::new(move || drop(own.send(Task::Poke))));
                // What happens from now on is told as a change; everything before is loaded.
                self.seen = Seen::default();
                let _ = source.changes(&mut self.seen);
                self.wait = FOCUSED;
                self.vitals = None;
                // Projects come before the first page: it is narrowed to one of them at once.
                let projects = source.projects();
                self.source = Some(source);
                self.tell(Answer::Opened(Ok(opened)));
                if let Ok(projects) = projects {
                    self.tell(Answer::Projects(projects));
                }
                self.load = Load::Newest;
            }
            Err(trouble) => {
                self.wait = (self.wait * 2).min(Duration::from_secs(5));
                self.tell(Answer::Opened(Err(trouble)));
            }
        }
    }

    /// One page.
    fn load_on(&mut self) {
        let Some(source) = &mut self.source else {
            self.load = Load::Idle;
            return;
        };
        let mut rows = RowBatch::default();
        let first = matches!(self.load, Load::Newest);
        let next = match self.load {
            Load::Newest => {
                self.text = 0;
                source.newest(FIRST, &mut rows).map(|()| Some((None, SECOND)))
            }
            Load::Below(before, limit) => {
                let facts = self.text < FACTS_BYTES;
                source.page(before, limit, facts, &mut rows).map(|next| next.map(|id| (Some(id), FURTHER)))
            }
            Load::Idle => return,
        };
        self.text += rows.text.len();
        match next {
            Ok(next) => {
                // Fewer than a page: that was all of it.
                let next = next.filter(|_| !(first && rows.len() < FIRST));
                self.load = next.map_or(Load::Idle, |(before, limit)| Load::Below(before, limit));
                self.tell(Answer::Page { rows, done: next.is_none(), first });
            }
            Err(trouble) => {
                self.load = Load::Idle;
                self.tell(Answer::Trouble(trouble));
                self.tell(Answer::Page { rows, done: true, first });
            }
        }
    }

    fn answer(&mut self, request: Request) {
        match request {
            Request::Open => return self.open(),
            Request::Reload => {
                self.load = Load::Newest;
                return;
            }
            _ => {}
        }
        let Some(source) = &mut self.source else {
            if let Some(answer) = refusal(&request) {
                self.tell(answer);
            }
            return;
        };
        let changes = matches!(request, Request::Apply(_) | Request::Undo(_) | Request::UndoTo(_) | Request::Redo);
        let answer = ask(source.as_mut(), request);
        match answer {
            Ok(Answer::Vitals(vitals)) => {
                self.vitals = Some(vitals.clone());
                self.tell(Answer::Vitals(vitals));
            }
            Ok(answer) => self.tell(answer),
            Err(trouble) => self.tell(Answer::Trouble(trouble)),
        }
        if changes {
            self.look();
        }
    }
}

/// A change that cannot be carried out says so; a question is asked again when there is somebody to ask.
fn refusal(request: &Request) -> Option<Answer> {
    let trouble = || Err(Trouble::new(TroubleKind::Missing, "there is no database"));
    match request {
        Request::Apply(_) => Some(Answer::Applied(Done::Change, trouble())),
        Request::Undo(_) | Request::UndoTo(_) => Some(Answer::Applied(Done::Undo, trouble())),
        Request::Redo => Some(Answer::Applied(Done::Redo, trouble())),
        _ => None,
    }
}

/// One question, answered.
pub fn ask(source: &mut dyn Source, request: Request) -> Result<Answer, Trouble> {
    Ok(match request {
        Request::Open | Request::Reload => Answer::Trouble(Trouble::unsupported("not a question")),
        Request::Get(ids) => Answer::Memories(source.get(&ids)?),
        Request::GetFor(ids, wanted) => Answer::MemoriesFor(source.get(&ids)?, wanted),
        Request::Words { generation, query, projects, limit } => {
            Answer::Words(generation, source.words(&query, &projects, limit)?)
        }
        Request::Matching { generation, query } => Answer::Matching(generation, source.matching(&query)?),
        Request::Projects => Answer::Projects(source.projects()?),
        Request::Sessions => Answer::Sessions(source.sessions(SESSIONS)?),
        Request::SessionSummary(id) => {
            let summaries = source.summaries(&id)?;
            Answer::SessionSummary(id, summaries)
        }
        Request::Hours { projects, since, until } => Answer::Hours(source.hours(&projects, since, until)?),
        Request::Vitals => Answer::Vitals(source.vitals()?),
        Request::Context(wanted) => Answer::Context(source.context(&wanted)),
        Request::Trash => Answer::Trash(source.trash(TRASH)?),
        Request::History => Answer::History(source.history(HISTORY)?),
        Request::Apply(change) => Answer::Applied(Done::Change, source.apply(&change)),
        Request::Undo(step) => Answer::Applied(Done::Undo, source.undo(step)),
        Request::UndoTo(step) => Answer::Applied(Done::Undo, undo_to(source, step)),
        Request::Redo => Answer::Applied(Done::Redo, source.redo()),
        Request::Reach(needle) => Answer::Reach(source.redact_reach(&needle)),
        Request::Why(id) => Answer::Why(id, source.why(id)?),
        Request::Log => Answer::Log(source.log(LOG_LINES)?),
    })
}

/// Undoes every step that is done, newest first, back to and with `step`.
fn undo_to(source: &mut dyn Source, step: i64) -> Result<Applied, Trouble> {
    let steps: Vec<i64> = source
        .history(HISTORY)?
        .into_iter()
        .filter(|info| info.id >= step && info.state == StepState::Done)
        .map(|info| info.id)
        .collect();
    let mut all = Applied::default();
    for id in &steps {
        match source.undo(Some(*id)) {
            Ok(applied) => all.ids.extend(applied.ids),
            // What was undone stays undone, and is said.
            Err(trouble) if !all.ids.is_empty() => {
                all.left.push((MemoryId(*id), trouble.what));
                break;
            }
            Err(trouble) => return Err(trouble),
        }
    }
    all.label = format!("{} steps", steps.len());
    Ok(all)
}
