//! `cmem exclude`: memories that sessions are never given.

use std::process::ExitCode;

use super::{CliError, Ctx, change};
use crate::store::curate::Edit;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<i64>,
    /// Give them again
    #[arg(long)]
    pub off: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let edit = Edit { excluded: Some(!args.off), ..Edit::default() };
    let mut hub = change::writer(ctx)?;
    let done = hub
        .store_mut()
        .edit(&change::ids(&args.ids), &edit, change::who(ctx), &mut |_, _| true)
        .map_err(change::failed)?;
    let state = if args.off { "given to sessions again" } else { "never given to sessions" };
    change::told(&done, args.json, |rows| format!("{} {state}.", change::memories(rows)))
}
