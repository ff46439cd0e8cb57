//! `cmem purge`: out of the trash, for good.

use std::process::ExitCode;

use super::change::Sure;
use super::{CliError, Ctx, change, print};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories in the trash
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub ids: Vec<i64>,
    /// Everything in the trash
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. There is no way back, so it asks whatever the number.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut hub = change::writer(ctx)?;
    let count = match args.all {
        true => hub.store().trash_count().map_err(change::failed)?,
        false => args.ids.len() as u64,
    };
    if count == 0 {
        print::say(format_args!("The trash is empty."));
        return Ok(ExitCode::SUCCESS);
    }
    let what = format!("{} go for good; nothing brings them back.", change::memories(count));
    if !change::confirm(ctx, format_args!("{what}"), Sure::Word("PURGE"), args.yes)? {
        return Ok(ExitCode::FAILURE);
    }
    let bar = change::bar(ctx, "removing");
    let store = hub.store_mut();
    let done = match args.all {
        true => store.empty_trash(None, &mut change::onto(&bar)),
        false => store.purge(&change::ids(&args.ids), &mut change::onto(&bar)),
    };
    let done = done.map_err(change::failed)?;
    bar.finish_and_clear();
    if done.missing.is_empty() && !args.json {
        print::say(format_args!("{} gone for good.", change::memories(done.rows)));
        return Ok(ExitCode::SUCCESS);
    }
    change::told(&done, args.json, |rows| format!("{} gone for good.", change::memories(rows)))
}
