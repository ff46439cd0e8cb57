//! `cmem watch`: the collector without a screen.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use super::{CliError, Ctx, print};
use crate::collector::health::Paused;
use crate::collector::input::Ask;
use crate::collector::intake::Scope;
use crate::collector::ready;
use crate::collector::run::{Collector, Ended, Options, StartError};
use crate::store::StoreError;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Read what is there, wait until everything has an outcome, leave
    #[arg(long)]
    pub once: bool,
    /// Also what was written before the first start
    #[arg(long)]
    pub from_start: bool,
    /// Every file again from its first byte; what is known is not asked again
    #[arg(long)]
    pub reread: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut options = options(ctx);
    options.scope = Scope { once: args.once, from_start: args.from_start, reread: args.reread, ..Scope::default() };
    let signals = Signals::catch();
    let collector = Collector::start(options).map_err(cannot_start)?;
    if let Some(signals) = &signals {
        signals.tell(collector.asker());
    }
    if let Some(socket) = ctx.env.get("NOTIFY_SOCKET") {
        let _ = ready::notify(socket, "READY=1\nSTATUS=recording\n");
    }
    let ended = collector.wait();
    if let Some(socket) = ctx.env.get("NOTIFY_SOCKET") {
        let _ = ready::notify(socket, "STOPPING=1\n");
    }
    drop(signals);
    match ended {
        Ended::Done | Ended::Stopped => Ok(ExitCode::SUCCESS),
        Ended::Paused(paused) => Err(paused_error(&paused)),
        Ended::Failed(why) => Err(CliError::new("recording ended").cause(why).hint("run `cmem doctor`")),
    }
}

/// The collector's options as every command uses them.
pub fn options(ctx: &Ctx) -> Options {
    let mut options = Options::new(ctx.dirs.clone(), ctx.env.clone(), ctx.settings.clone(), Arc::new(ctx.clock));
    options.program = crate::config::program();
    let (mode, warnings) = crate::hub::active_mode(&ctx.dirs, &ctx.settings);
    for warning in warnings {
        say(&format!("warning: {warning}"));
    }
    options.mode = Arc::new(mode);
    options.with_observer()
}

/// A start that failed, in words.
pub fn cannot_start(error: StartError) -> CliError {
    match error {
        StartError::Taken(owner) => CliError::new("another collector already records here")
            .cause(owner.owner())
            .hint("stop that one first, or just use `cmem tui`: it shows what the running one records"),
        StartError::Store(error @ StoreError::Newer { .. }) => {
            CliError::new("the database is left as it is").cause(error).hint("update cmem")
        }
        error => CliError::new("recording could not start").cause(error).hint("run `cmem doctor`"),
    }
}

/// A pause that ended a run, in words.
pub fn paused_error(paused: &Paused) -> CliError {
    let what = match paused.reason.as_str() {
        "disk" => "the disk is full",
        "quota" => "the account's limit is reached",
        "auth" => "the observer is not signed in",
        "billing" => "the account cannot be billed",
        "model" => "the observer's model is unknown",
        "budget" => "today's budget is spent",
        "rate-limit" => "the service asks to wait",
        "server" => "the service is in trouble",
        "not-found" => "claude was not found",
        "cannot-start" => "claude cannot be started",
        "user" => "by your own wish",
        other => other,
    };
    let mut error = CliError::state(format!("recording is paused: {what}"));
    if !paused.detail.is_empty() {
        error = error.cause(&paused.detail);
    }
    match paused.next_try.or(paused.until) {
        Some(at) => error.cause(format!("tried again at {at:.0}")),
        None => error,
    }
    .hint("what was read and not decided stays in the transcripts; the next run goes on there")
}

/// Catches signals until it is dropped. SIGINT and SIGTERM ask the collector to stop, SIGHUP to look at everything;
/// a second SIGINT or SIGTERM ends the process as if nobody caught it.
pub struct Signals {
    to: Arc<Mutex<Waiting>>,
    #[cfg(unix)]
    handle: signal_hook::iterator::Handle,
    #[cfg(unix)]
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Whom to tell, and what came before there was anybody.
#[derive(Default)]
struct Waiting {
    ask: Option<Box<dyn Fn(Ask) + Send>>,
    early: Vec<Ask>,
}

impl Waiting {
    fn say(&mut self, what: Ask) {
        match &self.ask {
            Some(ask) => ask(what),
            None => self.early.push(what),
        }
    }
}

impl Signals {
    /// Catches them from now on. A signal that comes before the collector has started is kept for it.
    #[cfg(unix)]
    pub fn catch() -> Option<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]).ok()?;
        let handle = signals.handle();
        let to = Arc::new(Mutex::new(Waiting::default()));
        let its = Arc::clone(&to);
        let thread = std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                let mut asked = false;
                for signal in signals.forever() {
                    let mut to = its.lock().unwrap_or_else(PoisonError::into_inner);
                    match signal {
                        SIGHUP => to.say(Ask::Rescan),
                        _ if asked => {
                            let _ = signal_hook::low_level::emulate_default_handler(signal);
                        }
                        _ => {
                            asked = true;
                            to.say(Ask::Stop);
                        }
                    }
                }
            })
            .ok()?;
        Some(Self { to, handle, thread: Some(thread) })
    }

    /// Control-C ends the process here; the cursor makes that harmless.
    #[cfg(not(unix))]
    pub fn catch() -> Option<Self> {
        None
    }

    /// Tells `ask` from now on, and what came before.
    pub fn tell(&self, ask: impl Fn(Ask) + Send + 'static) {
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        to.early.drain(..).for_each(&ask);
        to.ask = Some(Box::new(ask));
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            self.handle.close();
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

/// Says something while a long command runs.
pub fn say(text: &str) {
    print::say(format_args!("{text}"));
}
