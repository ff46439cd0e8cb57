//! `cmem backfill`: transcripts from before the first start, with an estimate first.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Only what was written from this time on
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what was written up to this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only this project
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// At most this many events, newest first
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Only the estimate
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("backfill"))
}
