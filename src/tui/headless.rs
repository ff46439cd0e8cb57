//! The screen without a terminal: keys in, a buffer out, time as it is told. Everything a source is asked is answered
//! at once, on the same thread. For tests, pictures and measurements; what they see is what `run` draws.

use ratatui::buffer::Buffer;

use super::effect::{Effect, Request};
use super::fuzzy;
use super::key::Key;
use super::msg::{Answer, Done, Msg};
use super::paint::lines_of;
use super::state::State;
use super::term::input::Input;
use super::theme;
use super::update::{self, update};
use super::view;
use super::worker::ask;
use crate::hub::live::{Change, Changes, RowBatch, Seen, Source, Trouble};

/// A screen without a terminal.
pub struct Headless<S: Source> {
    /// The state.
    pub state: State,
    /// Where its memories come from.
    pub source: S,
    /// The present.
    pub now: i64,
    /// Effects that reach outside, in order: copies, editors, quitting.
    pub asides: Vec<Effect>,
    /// Changes that were carried out, undo and redo among them.
    pub changes: usize,
    seen: Seen,
    /// Answers are held back until [`Headless::answer`]: to see what happens meanwhile.
    pub slow: bool,
    waiting: Vec<Request>,
}

impl<S: Source> Headless<S> {
    /// A screen of a size over a source, everything loaded.
    pub fn new(state: State, mut source: S, size: (u16, u16)) -> Self {
        let mut seen = Seen::default();
        let _ = source.changes(&mut seen);
        let now = state.now;
        let mut this =
            Self { state, source, now, asides: Vec::new(), changes: 0, seen, slow: false, waiting: Vec::new() };
        this.state.size = size;
        this.tell(Msg::Resize(size.0, size.1));
        this.load();
        this
    }

    /// Opens the source and loads every row, in the pages `run` would see.
    pub fn load(&mut self) {
        let opened = self.source.opened();
        self.tell(Msg::Data(Answer::Opened(opened)));
        if let Ok(projects) = self.source.projects() {
            self.tell(Msg::Data(Answer::Projects(projects)));
        }
        let mut rows = RowBatch::default();
        let _ = self.source.newest(200, &mut rows);
        self.tell(Msg::Data(Answer::Page { rows, done: false, first: true }));
        let mut before = None;
        loop {
            let mut rows = RowBatch::default();
            let next = self.source.page(before, 50_000, true, &mut rows).ok().flatten();
            self.tell(Msg::Data(Answer::Page { rows, done: next.is_none(), first: false }));
            match next {
                Some(id) => before = Some(id),
                None => return,
            }
        }
    }

    /// A message, and everything that follows from it.
    pub fn tell(&mut self, msg: Msg) {
        let effects = update(&mut self.state, self.now, msg);
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Ask(Request::Open | Request::Reload) => {}
            Effect::Ask(request) if self.slow => self.waiting.push(request),
            Effect::Ask(request) => self.ask(request),
            Effect::Fuzzy { generation, pattern, texts } => {
                let found = fuzzy::find(&pattern, &texts, || false).unwrap_or_default();
                self.tell(Msg::Fuzzy(generation, found));
            }
            Effect::LoadTheme(name) => {
                let (file, _) = theme::load(&name, &|_| None);
                self.tell(Msg::Theme(Box::new(file), Vec::new()));
            }
            other => self.asides.push(other),
        }
    }

    fn ask(&mut self, request: Request) {
        let changes = matches!(request, Request::Apply(_) | Request::Undo(_) | Request::UndoTo(_) | Request::Redo);
        let answer = ask(&mut self.source, request).unwrap_or_else(Answer::Trouble);
        if matches!(answer, Answer::Applied(_, Ok(_))) {
            self.changes += 1;
        }
        self.tell(Msg::Data(answer));
        if changes {
            self.poll();
        }
    }

    /// Answers what was held back.
    pub fn answer(&mut self) {
        for request in std::mem::take(&mut self.waiting) {
            self.ask(request);
        }
    }

    /// Looks for changes, as the worker does now and then.
    pub fn poll(&mut self) {
        if let Ok(Some(changes)) = self.source.changes(&mut self.seen) {
            self.tell(Msg::Data(Answer::Changes(changes)));
        }
    }

    /// Tells of changes made up by a test.
    pub fn changed(&mut self, changes: Changes) {
        self.tell(Msg::Data(Answer::Changes(changes)));
    }

    /// Keys as `keys.toml` writes them, apart by spaces; a pause between them that no guard minds.
    pub fn keys(&mut self, keys: &str) {
        for word in keys.split_whitespace() {
            for key in Key::parse_sequence(word).unwrap_or_default() {
                self.now += 1_000;
                self.tell(Msg::Input(Input::Key(key)));
            }
        }
        self.settle();
    }

    /// One key, right now.
    pub fn key(&mut self, key: Key) {
        self.tell(Msg::Input(Input::Key(key)));
    }

    /// Text typed quickly: a key every `gap` milliseconds. A newline is Enter.
    pub fn typed(&mut self, text: &str, gap: i64) {
        for ch in text.chars() {
            self.now += gap;
            let key = if ch == '\n' { Key::parse("enter") } else { Some(Key::char(ch)) };
            if let Some(key) = key {
                self.key(key);
            }
        }
    }

    /// Time passes, tick by tick where something waits for it.
    pub fn wait(&mut self, ms: i64) {
        let until = self.now + ms;
        while let Some(at) = update::next_deadline(&self.state).filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.tell(Msg::Tick);
            if at > self.now {
                break;
            }
            if update::next_deadline(&self.state).is_some_and(|next| next <= self.now) {
                break; // a deadline that does not go away would be a busy loop: tests look at it
            }
        }
        self.now = until;
        self.tell(Msg::Tick);
    }

    /// The moment in which held-back effects happen and the second tier is asked.
    pub fn settle(&mut self) {
        self.wait(260);
    }

    /// Another size.
    pub fn resize(&mut self, width: u16, height: u16) {
        self.tell(Msg::Resize(width, height));
    }

    /// The screen as cells.
    pub fn draw(&self) -> Buffer {
        view::render(&self.state)
    }

    /// The screen as text, trailing spaces dropped.
    pub fn text(&self) -> String {
        lines_of(&self.draw(), self.state.look.widths).join("\n")
    }

    /// A change, carried out as another face would: the screen hears of it with the next look.
    pub fn change_from_outside(&mut self, change: &Change) -> Result<(), Trouble> {
        self.source.apply(change).map(drop)
    }

    /// Undo and redo answered as the worker would.
    pub fn answered(&mut self, done: Done, result: Result<crate::hub::live::Applied, Trouble>) {
        self.tell(Msg::Data(Answer::Applied(done, result)));
    }
}
