//! `cmem pin`: memories that sessions are always given.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<i64>,
    /// Take the pin out
    #[arg(long)]
    pub off: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("pin"))
}
