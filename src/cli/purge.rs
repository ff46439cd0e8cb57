//! `cmem purge`: out of the trash, for good.

use std::process::ExitCode;

use super::{CliError, Ctx};

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
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("purge"))
}
