//! `cmem restore`: back from the trash.

use std::process::ExitCode;

use super::{CliError, Ctx, change};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<i64>,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut hub = change::writer(ctx)?;
    let done = hub.store_mut().restore(&change::ids(&args.ids), change::who(ctx)).map_err(change::failed)?;
    change::told(&done, args.json, |rows| format!("{} back from the trash.", change::memories(rows)))
}
