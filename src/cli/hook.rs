//! `cmem hook`: called by Claude Code, JSON on stdin, JSON on stdout.
//!
//! A session waits for this process, so the work is watched and given up at the deadline (`context.deadline`), wherever
//! it then is: in a read of stdin that never ends, in a disk that is asleep, in a database another process repairs. The
//! exit code is 0 in every case.
#![allow(clippy::disallowed_methods, reason = "this is the file that is a hook's process")]

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::{CliError, Ctx};
use crate::config::repository::{CaseRule, Resolver};
use crate::gate::exclude::Exclusions;
use crate::hook::{Input, Moment, Settled, answer};
use crate::recall::find::Nearest;

/// More than this is no hook's input.
const INPUT_MAX: u64 = 32 << 20;

/// Arguments.
///
/// What is given can be switched off for good (`context.enabled = false` in the settings), for one session (start it
/// with CMEM_CONTEXT_ENABLED=false), or for a project (the same variable under "env" in its .claude/settings.json, or
/// `cmem project exclude`). Each moment has a switch of its own: context.pre_read, context.prompt,
/// context.after_compact, context.on_resume.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The moment
    #[arg(value_name = "MOMENT")]
    pub moment: MomentArg,
}

/// The moment a hook is called at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MomentArg {
    /// A session starts, resumes, or goes on after compaction
    SessionStart,
    /// A file is about to be read
    PreRead,
    /// A prompt was sent
    Prompt,
}

impl MomentArg {
    fn moment(self) -> Moment {
        match self {
            Self::SessionStart => Moment::SessionStart,
            Self::PreRead => Moment::PreRead,
            Self::Prompt => Moment::Prompt,
        }
    }
}

/// The hook has an answer, or has given up: whoever says so first decides.
const WORKING: u8 = 0;
const DONE: u8 = 1;
const LATE: u8 = 2;

/// Runs the command.
///
/// The work is done in this thread and watched by another: memory of the first thread grows in large steps, of others
/// page by page, which costs a process this short a tenth of its time.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    // A fault of ours is no business of the session's.
    std::panic::set_hook(Box::new(|_| {}));
    let deadline = Duration::from_millis(u64::from(ctx.settings.context.deadline));
    let state = Arc::new(AtomicU8::new(WORKING));
    let (done, waiting) = mpsc::channel::<()>();
    let watched = state.clone();
    std::thread::Builder::new().name("deadline".into()).spawn(move || {
        // Ends early when the sender is dropped.
        let late = waiting.recv_timeout(deadline) == Err(mpsc::RecvTimeoutError::Timeout);
        if late && watched.compare_exchange(WORKING, LATE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            // Nothing was printed, nothing is half written, and nobody could end the work in any other way.
            std::process::exit(0);
        }
    })?;
    let moment = args.moment.moment();
    let text = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| said(moment, ctx))).ok().flatten();
    let in_time = state.compare_exchange(WORKING, DONE, Ordering::AcqRel, Ordering::Acquire).is_ok();
    drop(done);
    if let Some(text) = text.filter(|_| in_time) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
    Ok(ExitCode::SUCCESS)
}

fn said(moment: Moment, ctx: &Ctx) -> Option<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(INPUT_MAX).read_to_end(&mut bytes).ok()?;
    let input = Input::parse(&bytes)?;
    let (excluded, _) = Exclusions::new(&ctx.settings.record.exclude, ctx.dirs.home.as_deref(), CaseRule::of_host());
    let (mode, _) = crate::hub::active_mode(&ctx.dirs, &ctx.settings);
    let settled = Settled {
        dirs: &ctx.dirs,
        settings: &ctx.settings,
        excluded: &excluded,
        mode: &mode,
        zone: &ctx.zone,
        now: ctx.now(),
        meaning: &|| -> Result<Box<dyn Nearest>, String> { crate::recall::nearest::by_setting(&ctx.settings.meaning) },
    };
    let output = answer(moment, &input, &mut Resolver::new(&ctx.env), &settled)?;
    Some(output.to_json())
}
