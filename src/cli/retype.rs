//! `cmem retype`: another type for memories.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<i64>,
    /// The type
    #[arg(long, value_name = "TYPE")]
    pub to: String,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("retype"))
}
