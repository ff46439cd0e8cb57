//! `cmem undo`, `redo` and `history`: the changes made by hand.

use std::io::Write;
use std::process::ExitCode;

use super::{CliError, Ctx, change, print};
use crate::memory::safe_line;
use crate::store::StoreError;
use crate::store::curate::{Resolve, StepInfo, StepState, Undone};

/// Arguments of `undo` and `redo`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StepArgs {
    /// How many steps
    #[arg(value_name = "N", default_value_t = 1)]
    pub steps: u32,
    /// Where a memory was changed again since: leave it as it is, and do the rest
    #[arg(long, conflicts_with = "force")]
    pub skip: bool,
    /// Where a memory was changed again since: overwrite that change
    #[arg(long)]
    pub force: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `history`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// At most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Takes the last steps back.
pub fn undo(args: StepArgs, ctx: &Ctx) -> Result<ExitCode, CliError> {
    walk(args, ctx, "undone", "There is nothing to undo.", |hub, resolve| {
        hub.store_mut().undo(resolve, &mut |_, _| true)
    })
}

/// Makes steps again that were taken back.
pub fn redo(args: StepArgs, ctx: &Ctx) -> Result<ExitCode, CliError> {
    walk(args, ctx, "done again", "There is nothing to do again.", |hub, resolve| {
        hub.store_mut().redo(resolve, &mut |_, _| true)
    })
}

fn walk(
    args: StepArgs,
    ctx: &Ctx,
    verb: &str,
    nothing: &str,
    mut step: impl FnMut(&mut crate::hub::Hub, Resolve) -> crate::store::Result<Option<Undone>>,
) -> Result<ExitCode, CliError> {
    let resolve = match (args.skip, args.force) {
        (true, _) => Resolve::Skip,
        (_, true) => Resolve::Force,
        _ => Resolve::Ask,
    };
    let mut hub = change::writer(ctx)?;
    let mut walked = Vec::new();
    for number in 0..args.steps {
        match step(&mut hub, resolve).map_err(conflict)? {
            Some(done) if args.json => walked.push(done),
            Some(done) => {
                print::say(format_args!("{} {verb}: {}.", line(&done.step), change::memories(done.rows)));
                if !done.skipped.is_empty() {
                    print::say(format_args!("Changed since and left alone: {}.", done.skipped.len()));
                }
            }
            None if number == 0 && !args.json => print::say(format_args!("{nothing}")),
            None => break,
        }
    }
    if args.json {
        print::json(&walked)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn conflict(error: StoreError) -> CliError {
    match error {
        StoreError::Conflict(conflicts) => CliError::new(format!(
            "{} changed again since; nothing was changed",
            change::memories(conflicts.len() as u64)
        ))
        .hint("--skip leaves those as they are and does the rest, --force overwrites the later change"),
        error => change::failed(error),
    }
}

/// Lists the steps.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let steps = match ctx.reader()? {
        Some(hub) => {
            hub.store().history(args.limit).map_err(|error| CliError::store("the history could not be read", &error))?
        }
        None => Vec::new(),
    };
    if args.json {
        print::json(&steps)?;
        return Ok(ExitCode::SUCCESS);
    }
    print::data(|out| {
        steps.iter().try_for_each(|step| {
            let time = step.at.to_zoned_datetime(ctx.zone.clone()).strftime("%Y-%m-%d %H:%M");
            let state = match step.state {
                StepState::Done => "",
                StepState::Undone => "  undone",
                StepState::Gone => "  cannot be undone any more",
            };
            writeln!(
                out,
                "{:>5}  {time}  {:<4} {}  {} rows{state}",
                step.id,
                safe_line(&step.actor),
                line(step),
                step.rows
            )
        })
    })?;
    Ok(ExitCode::SUCCESS)
}

fn line(step: &StepInfo) -> String {
    safe_line(&format!("{} {}", step.verb, step.label))
}
