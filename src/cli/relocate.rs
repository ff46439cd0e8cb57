//! `cmem move`: filing memories under another project.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<i64>,
    /// The project, by name or root
    #[arg(long, value_name = "PROJECT")]
    pub to: String,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("move"))
}
