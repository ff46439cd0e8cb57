//! `cmem restore`: back from the trash.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<i64>,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("restore"))
}
