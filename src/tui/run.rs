//! The loop: wait for the terminal, a signal, an answer or a deadline; take everything that is there; draw once.
//!
//! One thread owns state and terminal. It sleeps in `poll` until something happens, so an idle screen costs nothing,
//! and what it draws is the difference to what is shown, so a screen on which nothing changes sends no byte (D.14).
//! Keys are drawn at once; data at no more than `fps` frames a second, four when the pane has no focus.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::effect::Effect;
use super::fuzzy::Fuzzy;
use super::msg::Msg;
use super::perform::{Kept, copy, edit_text, editor_command, load, open_file, save};
use super::state::State;
use super::term::guard::Guard;
use super::term::input::{Input, Parser, Reply};
use super::term::out::Screen;
use super::term::signal::{Signals, Waker};
use super::term::tty::Tty;
use super::theme::{self, Appearance};
use super::update::{self, next_deadline, update, write_edit};
use super::view;
use super::worker::{Opener, Worker};
use crate::config::{Env, monotonic};

/// A sequence cut in two waits so long for its rest.
const ESCAPE_MS: u64 = 25;
/// The first frame waits so long for the first page.
const FIRST_PAGE_MS: u64 = 12;
/// Two frames after input are at least so far apart: a resize storm is one frame a refresh.
const INPUT_FRAME: Duration = Duration::from_millis(16);
/// Frames without the focus.
const UNFOCUSED_FRAME: Duration = Duration::from_millis(250);
/// The end waits so long for an answer that is still to come from the terminal.
const LAST_REPLY_MS: u64 = 100;

/// Everything the loop needs beside the state.
pub struct Options {
    /// Opens the memories.
    pub open: Opener,
    /// The present, in milliseconds since 1970.
    pub clock: Box<dyn Fn() -> i64>,
    /// Environment, for clipboard and editor.
    pub env: Env,
    /// What the screen remembers between starts; none: nothing.
    pub keep: Option<PathBuf>,
    /// Where the editor's file and the last resort of copying go.
    pub state_dir: PathBuf,
    /// The configuration file, for `:config edit`.
    pub config_file: Option<PathBuf>,
    /// A theme's text by name, from the user's files.
    pub themes: Box<dyn Fn(&str) -> Option<String>>,
    /// Looks whether the configuration changed. Called on the worker's thread.
    pub reload: Box<dyn FnMut() -> Option<Msg> + Send>,
    /// Installs the injection hook, or shows what would change.
    pub hook: Box<dyn FnMut(bool) -> Result<Vec<String>, String>>,
    /// Sample memories, for `:demo`.
    pub demo: Box<dyn FnMut() -> (Opener, Box<dyn Fn() -> i64>)>,
    /// What the last run left is not put back (a query or view was asked for).
    pub fresh: bool,
}

/// How it ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Exit code.
    pub code: u8,
    /// What is to be printed on stdout.
    pub printed: Vec<String>,
}

/// Runs the screen until the user leaves.
pub fn run(mut state: State, options: Options) -> io::Result<Outcome> {
    let tty = Tty::open()?;
    state.size = tty.size().unwrap_or((80, 24));
    let kept = options.keep.as_deref().map(load);
    if let Some(kept) = kept {
        let (saved, history, starts) = (kept.saved.clone(), kept.history.clone(), kept.starts);
        if options.fresh {
            state.saved = saved;
            state.search.history = history;
            state.starts = starts;
        } else {
            kept.into_state(&mut state);
        }
    }
    let signals = Signals::new()?;
    let (say, heard) = channel();
    let waker = signals.waker()?;
    // Loading begins before the terminal is asked for anything.
    let mut options = options;
    let open = std::mem::replace(&mut options.open, Box::new(|| Err(crate::hub::live::Trouble::unsupported("opened"))));
    let reload = std::mem::replace(&mut options.reload, Box::new(|| None));
    let worker = Worker::start(open, speaker(&say, &waker), reload);
    let fuzzy = Fuzzy::start(speaker(&say, &waker));
    let guard = Guard::new(&tty, state.mouse)?;
    let mut app = App {
        screen: Screen::default(),
        buffer: Buffer::default(),
        parser: Parser::default(),
        outcome: Outcome::default(),
        ended: false,
        asked_background: false,
        typed: false,
        last_frame: None,
        state,
        options,
        tty,
        guard,
        signals,
        worker,
        fuzzy,
        heard,
    };
    let result = app.run();
    let App { outcome, guard, worker, fuzzy, state, options, .. } = app;
    drop(guard); // the terminal first: whatever is still to be done, the user has it back
    if let Some(path) = &options.keep {
        let _ = save(path, &Kept::of(&state)); // not worth a word on the way out
    }
    fuzzy.stop();
    worker.stop();
    result.map(|()| outcome)
}

fn speaker(say: &Sender<Msg>, waker: &Waker) -> impl Fn(Msg) + Send + 'static {
    let (say, waker) = (say.clone(), waker.clone());
    move |msg| {
        if say.send(msg).is_ok() {
            waker.wake();
        }
    }
}

struct App {
    state: State,
    options: Options,
    tty: Tty,
    guard: Guard,
    screen: Screen,
    buffer: Buffer,
    parser: Parser,
    signals: Signals,
    worker: Worker,
    fuzzy: Fuzzy,
    heard: Receiver<Msg>,
    outcome: Outcome,
    ended: bool,
    /// The terminal was asked for its background and has not answered.
    asked_background: bool,
    /// Input came since the last look.
    typed: bool,
    last_frame: Option<Instant>,
}

/// Why the next frame is drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    None,
    Data,
    Input,
}

impl App {
    fn run(&mut self) -> io::Result<()> {
        let effects = update::start(&self.state);
        self.perform(effects)?;
        self.first_frame()?;
        let mut urgency = Urgency::None;
        while !self.ended {
            let due = self.frame_due(urgency);
            if urgency > Urgency::None && due.is_none_or(|due| due <= monotonic()) {
                self.draw()?;
                urgency = Urgency::None;
            }
            self.wait(self.timeout(due.filter(|_| urgency > Urgency::None)))?;
            urgency = urgency.max(self.take_all()?);
        }
        self.await_last_reply();
        Ok(())
    }

    /// Draws as soon as the first page is there, or after a moment without it.
    fn first_frame(&mut self) -> io::Result<()> {
        let until = monotonic() + Duration::from_millis(FIRST_PAGE_MS);
        while !self.state.load.first {
            let left = until.saturating_duration_since(monotonic());
            if left.is_zero() {
                break;
            }
            match self.heard.recv_timeout(left) {
                Ok(msg) => self.take(msg)?,
                Err(_) => break,
            }
        }
        self.draw()?;
        self.ask_background()
    }

    /// After the first frame, and only when the answer would change something.
    fn ask_background(&mut self) -> io::Result<()> {
        let theme = &self.state.look.theme;
        let unknown = self.state.settings.appearance == "auto" && theme.appearance != Appearance::Any;
        if unknown && self.options.env.get("COLORFGBG").is_none() {
            // The device attributes come last: once they are here, nothing else will come.
            self.tty.write(b"\x1b]11;?\x07\x1b[c")?;
            self.asked_background = true;
        }
        Ok(())
    }

    fn frame_due(&self, urgency: Urgency) -> Option<Instant> {
        let last = self.last_frame?;
        let fps = u64::from(self.state.settings.fps.clamp(1, 60));
        let gap = match urgency {
            Urgency::Input => INPUT_FRAME,
            _ if self.state.focused => Duration::from_millis(1_000 / fps),
            _ => UNFOCUSED_FRAME,
        };
        Some(last + gap)
    }

    fn timeout(&self, frame: Option<Instant>) -> Option<Duration> {
        let now = (self.options.clock)();
        let deadline = next_deadline(&self.state).map(|at| Duration::from_millis((at - now).max(0) as u64));
        let frame = frame.map(|at| at.saturating_duration_since(monotonic()));
        let escape = self.parser.waiting().then(|| Duration::from_millis(ESCAPE_MS));
        [deadline, frame, escape].into_iter().flatten().min()
    }

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let timespec = timeout.and_then(|t| Timespec::try_from(t).ok());
        let (input, wake) = (self.tty.input(), self.signals.wake_fd());
        let mut fds = [
            PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN),
        ];
        match poll(&mut fds, timespec.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let typed = !fds[0].revents().is_empty();
        if !fds[1].revents().is_empty() {
            self.signals.drain();
        }
        if typed {
            self.read_input()?;
        } else if self.parser.waiting() {
            let mut inputs = Vec::new();
            self.parser.flush(&mut inputs);
            self.take_inputs(inputs)?;
        }
        Ok(())
    }

    fn read_input(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        let read = self.tty.read(&mut buffer)?;
        if read == 0 {
            self.ended = true; // the terminal is gone
            return Ok(());
        }
        let mut inputs = Vec::new();
        self.parser.feed(&buffer[..read], &mut inputs);
        self.take_inputs(inputs)
    }

    fn take_inputs(&mut self, inputs: Vec<Input>) -> io::Result<()> {
        for input in inputs {
            match input {
                Input::Reply(Reply::DeviceAttributes) => self.asked_background = false,
                Input::FocusIn => self.worker.set_focused(true),
                Input::FocusOut => self.worker.set_focused(false),
                _ => {}
            }
            let begun = monotonic();
            let generation = self.state.search.generation;
            self.take(Msg::Input(input))?;
            if self.state.search.generation != generation {
                self.state.search.micros = begun.elapsed().as_micros() as u64;
            }
            self.typed = true;
        }
        Ok(())
    }

    /// Signals, answers, time.
    fn take_all(&mut self) -> io::Result<Urgency> {
        let mut urgency = if std::mem::take(&mut self.typed) { Urgency::Input } else { Urgency::None };
        if self.signals.take_stop() {
            self.take(Msg::Stop)?;
        }
        if self.signals.take_suspend() {
            self.suspend()?;
        }
        if self.signals.take_resized() | self.signals.take_resumed() {
            let size = self.tty.size().unwrap_or(self.state.size);
            if size != self.state.size {
                self.take(Msg::Resize(size.0, size.1))?;
            }
            urgency = Urgency::Input;
        }
        while let Ok(msg) = self.heard.try_recv() {
            self.take(msg)?;
            urgency = urgency.max(Urgency::Data);
        }
        let now = (self.options.clock)();
        if next_deadline(&self.state).is_some_and(|at| at <= now) {
            self.take(Msg::Tick)?;
            urgency = urgency.max(Urgency::Data);
        }
        Ok(urgency)
    }

    fn take(&mut self, msg: Msg) -> io::Result<()> {
        let now = (self.options.clock)();
        let effects = update(&mut self.state, now, msg);
        self.perform(effects)
    }

    fn draw(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.state.redraw) {
            self.screen.forget();
        }
        let (width, height) = self.state.size;
        self.buffer.resize(Rect::new(0, 0, width, height));
        self.buffer.reset();
        let cursor = view::draw(&self.state, &mut self.buffer);
        let bytes = self.screen.frame(&self.buffer, cursor, self.state.look.widths);
        if !bytes.is_empty() {
            self.tty.write(&bytes)?;
        }
        self.last_frame = Some(monotonic());
        Ok(())
    }

    fn perform(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            if let Some(msg) = self.perform_one(effect)? {
                self.take(msg)?;
            }
        }
        Ok(())
    }

    fn perform_one(&mut self, effect: Effect) -> io::Result<Option<Msg>> {
        match effect {
            Effect::Ask(request) => self.worker.ask(request),
            Effect::Fuzzy { generation, pattern, texts } => self.fuzzy.search(generation, pattern, texts),
            Effect::Copy { text, what } => {
                let (setting, env) = (self.state.settings.clipboard.clone(), &self.options.env);
                let tty = &self.tty;
                let dir = Some(self.options.state_dir.as_path());
                return Ok(Some(Msg::Copied(copy(&text, what, &setting, env, dir, |bytes| tty.write(bytes).is_ok()))));
            }
            Effect::ShowPlain(text) => return self.show_plain(&text).map(Some),
            Effect::Edit(memories) => {
                let text = write_edit(&memories, &self.state.alphabet, &[]);
                return self.edit(memories, text).map(Some);
            }
            Effect::EditAgain { memories, text, faults } => {
                let noted = update::note_faults(&text, &faults);
                return self.edit(memories, noted).map(Some);
            }
            Effect::OpenFile { path, cwd } => {
                let command = editor_command(&self.state.settings.editor, &self.options.env);
                let opened = self.away(|| open_file(&command, &path, cwd.as_deref()))?;
                return Ok(Some(said(opened)));
            }
            Effect::EditConfig => {
                let Some(file) = self.options.config_file.clone() else {
                    return Ok(Some(Msg::Done(Err("there is no configuration here".into()))));
                };
                let command = editor_command(&self.state.settings.editor, &self.options.env);
                let opened = self.away(|| open_file(&command, &file.to_string_lossy(), None))?;
                return Ok(Some(said(opened)));
            }
            Effect::Write { path, text, memories } => {
                return Ok(Some(Msg::Done(super::perform::write_file(&path, &text, memories))));
            }
            Effect::Suspend => self.suspend()?,
            Effect::Bell => self.tty.write(b"\x07")?,
            Effect::Mouse(on) => self.guard.set_mouse(on)?,
            Effect::LoadTheme(name) => {
                let (file, faults) = theme::load(&name, &|name| (self.options.themes)(name));
                let faults = faults.iter().map(|f| format!("theme {}:{}  {}", f.theme, f.line, f.what)).collect();
                return Ok(Some(Msg::Theme(Box::new(file), faults)));
            }
            Effect::Demo => {
                let (open, clock) = (self.options.demo)();
                self.options.clock = clock;
                self.options.keep = None; // sample memories leave nothing behind
                self.state.now = 0;
                self.worker.become_source(open);
            }
            Effect::InstallHook(really) => {
                return Ok(Some(match (self.options.hook)(really) {
                    Ok(lines) => Msg::HookDiff(lines),
                    Err(why) => Msg::Done(Err(why)),
                }));
            }
            Effect::Print(line) => self.outcome.printed.push(line),
            Effect::Quit(code) => {
                self.outcome.code = code;
                self.ended = true;
            }
        }
        Ok(None)
    }

    /// The terminal belongs to somebody else meanwhile.
    fn away<T>(&mut self, with: impl FnOnce() -> T) -> io::Result<T> {
        self.guard.leave();
        let result = with();
        self.guard.enter()?;
        self.screen.forget();
        // A Ctrl-C in the editor was the editor's.
        self.signals.take_stop();
        if let Some(size) = self.tty.size() {
            self.state.size = size;
        }
        Ok(result)
    }

    fn edit(&mut self, memories: Vec<crate::memory::Memory>, text: String) -> io::Result<Msg> {
        let command = editor_command(&self.state.settings.editor, &self.options.env);
        let dir = self.options.state_dir.clone();
        let edited = self.away(|| edit_text(&command, &dir, &text))?;
        Ok(match edited {
            Ok(text) => Msg::Edited(memories, text),
            Err(why) => Msg::Done(Err(why)),
        })
    }

    /// The text on the ordinary screen until a key is pressed.
    fn show_plain(&mut self, text: &str) -> io::Result<Msg> {
        self.guard.leave();
        let shown = format!("\r\n{}\r\n\r\n(enter goes back)\r\n", text.replace('\n', "\r\n"));
        self.tty.write(shown.as_bytes())?;
        let mut buffer = [0; 64];
        self.tty.read(&mut buffer)?;
        self.guard.enter()?;
        self.screen.forget();
        Ok(Msg::Resumed)
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.guard.leave();
        self.signals.stop_here()?;
        self.guard.enter()?;
        self.screen.forget();
        self.take(Msg::Resumed)
    }

    /// An answer of the terminal that is still on its way must not end up in the shell.
    fn await_last_reply(&mut self) {
        if !self.asked_background {
            return;
        }
        let until = monotonic() + Duration::from_millis(LAST_REPLY_MS);
        while self.asked_background {
            let left = until.saturating_duration_since(monotonic());
            if left.is_zero() || self.wait(Some(left)).is_err() {
                return;
            }
        }
    }
}

fn said(opened: Result<String, String>) -> Msg {
    match opened {
        Ok(text) if text.is_empty() => Msg::Resumed,
        other => Msg::Done(other),
    }
}
