//! `cmem merge`: one memory of several.

use std::process::ExitCode;

use super::{CliError, Ctx, change};
use crate::memory::MemoryId;
use crate::store::curate::Edit;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories; the first one stays unless --into says another
    #[arg(value_name = "ID", required = true, num_args = 2..)]
    pub ids: Vec<i64>,
    /// The one that stays
    #[arg(long, value_name = "ID")]
    pub into: Option<i64>,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let ids = change::ids(&args.ids);
    let winner = args.into.map(MemoryId).or_else(|| ids.first().copied()).unwrap_or(MemoryId(0));
    let losers: Vec<MemoryId> = ids.into_iter().filter(|id| *id != winner).collect();
    let mut hub = change::writer(ctx)?;
    let done = hub.store_mut().merge(winner, &losers, &Edit::default(), change::who(ctx)).map_err(change::failed)?;
    change::told(&done, args.json, |_| {
        format!("#{} stands for {} more, which are in the trash.", winner.0, losers.len())
    })
}
