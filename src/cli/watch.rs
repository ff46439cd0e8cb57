//! `cmem watch`: the collector without a screen.

use std::process::ExitCode;

use super::{CliError, Ctx};

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
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("watch"))
}
