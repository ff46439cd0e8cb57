//! What the commands that change memories share: opening for writing, asking first, saying what was done.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{CliError, Ctx, print};
use crate::hub::{Hub, Question};
use crate::memory::MemoryId;
use crate::recall::find::Engine;
use crate::recall::query::Local;
use crate::store::StoreError;
use crate::store::api::Access;
use crate::store::curate::{Done, Who};

/// Who the journal says it was.
pub fn who(ctx: &Ctx) -> Who<'static> {
    Who { actor: "cli", now: ctx.now() }
}

/// The store, to be changed. There must be one already.
pub fn writer(ctx: &Ctx) -> Result<Hub, CliError> {
    if ctx.reader()?.is_none() {
        return Err(CliError::new("nothing is remembered yet").hint("`cmem tui` or `cmem watch` begins"));
    }
    open(ctx)
}

/// The store, to be changed; made if there is none.
pub fn maker(ctx: &Ctx) -> Result<Hub, CliError> {
    ctx.dirs.create().map_err(|error| {
        CliError::new("cmem's directories cannot be made")
            .cause(error)
            .hint("`cmem config path` shows where they should be")
    })?;
    open(ctx)
}

fn open(ctx: &Ctx) -> Result<Hub, CliError> {
    Hub::open(&ctx.dirs, &ctx.settings, Access::ReadWrite, ctx.now())
        .map_err(|error| CliError::store("the memories cannot be changed", &error))
}

/// An error of a change.
pub fn failed(error: StoreError) -> CliError {
    CliError::store("nothing was changed", &error)
}

/// Says what a change came to, on stdout as JSON if asked for. Ids that name nothing make the command fail after the
/// rest was done.
pub fn told(done: &Done, json: bool, what: impl FnOnce(u64) -> String) -> Result<ExitCode, CliError> {
    if json {
        print::json(done)?;
    } else if done.rows > 0 || done.step.is_some() {
        let undo = if done.step.is_some() { " `cmem undo` takes it back." } else { "" };
        print::say(format_args!("{}{undo}", what(done.rows)));
    } else if done.missing.is_empty() && done.pinned.is_empty() {
        print::say(format_args!("Nothing to change."));
    }
    if !json && !done.pinned.is_empty() {
        print::say(format_args!("Pinned and left alone: {}.", ids_line(&done.pinned)));
    }
    if !json && done.stopped {
        print::say(format_args!("Stopped before the end."));
    }
    if done.missing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(CliError::new(format!("no memory has the id {}", ids_line(&done.missing))).hint("`cmem list` shows ids"))
}

/// `1 memory`, `7 memories`.
pub fn memories(count: u64) -> String {
    if count == 1 { "1 memory".into() } else { format!("{count} memories") }
}

fn ids_line(ids: &[MemoryId]) -> String {
    ids.iter().map(|id| format!("#{}", id.0)).collect::<Vec<_>>().join(", ")
}

/// Ids as typed.
pub fn ids(typed: &[i64]) -> Vec<MemoryId> {
    typed.iter().copied().map(MemoryId).collect()
}

/// All memories that a query finds, in the query language.
pub fn found(ctx: &Ctx, hub: &Hub, query: &str) -> Result<Vec<MemoryId>, CliError> {
    // What it says, to the word: nothing is changed for being only like it, nor for a word that only begins so (which
    // the last word of an unfinished line may; the blank finishes it).
    let question = Question {
        text: format!("{query} "),
        engine: Engine::Words,
        limit: super::search::EVERYTHING,
        ..Question::default()
    };
    let local = Local { now: ctx.now(), zone: ctx.zone.clone() };
    let answer = hub.search(&question, &local).map_err(failed)?;
    // A part that was not understood must not make a change reach further than was meant.
    if let Some(fault) = answer.found.faults.first() {
        return Err(CliError::usage(format!("the query is not clear: {}", crate::memory::safe_line(&fault.what)))
            .hint("nothing was changed; `cmem search` shows what a query finds"));
    }
    Ok(answer.found.items.iter().map(|item| item.memory.id).collect())
}

/// Ids as typed, or all that a query finds.
pub fn chosen(ctx: &Ctx, hub: &Hub, typed: &[i64], query: Option<&str>) -> Result<Vec<MemoryId>, CliError> {
    query.map_or_else(|| Ok(ids(typed)), |query| found(ctx, hub, query))
}

/// How sure a person must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sure<'a> {
    /// Yes or no.
    Yes,
    /// The word must be typed.
    Word(&'a str),
}

/// Asks, unless `yes` was given. Where nobody can be asked, that is wrong usage, never a silent yes.
pub fn confirm(ctx: &Ctx, question: fmt::Arguments<'_>, sure: Sure<'_>, yes: bool) -> Result<bool, CliError> {
    if yes {
        return Ok(true);
    }
    if !ctx.terminal.stdin || !ctx.terminal.stderr {
        return Err(
            CliError::usage("this asks first, and nobody can be asked here").hint("--yes says that it is meant")
        );
    }
    let expected = match sure {
        Sure::Yes => "y",
        Sure::Word(word) => word,
    };
    let mut talk = io::stderr().lock();
    match sure {
        Sure::Yes => write!(talk, "{question} [y/N] ")?,
        Sure::Word(word) => write!(talk, "{question} Type {word} to go on: ")?,
    }
    talk.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let answer = line.trim();
    let meant = answer == expected || (sure == Sure::Yes && answer.eq_ignore_ascii_case("yes"));
    if !meant {
        print::say(format_args!("Nothing was changed."));
    }
    Ok(meant)
}

/// A bar on a terminal; nothing anywhere else. The closure goes on until the bar is gone.
pub fn bar(ctx: &Ctx, what: &'static str) -> ProgressBar {
    let target = if ctx.terminal.stderr { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(what);
    bar
}

/// What the store tells its progress to.
pub fn onto(bar: &ProgressBar) -> impl FnMut(u64, u64) -> bool {
    let bar = bar.clone();
    move |done, of| {
        bar.set_length(of);
        bar.set_position(done);
        true
    }
}
