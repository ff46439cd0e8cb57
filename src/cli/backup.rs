//! `cmem backup`: a copy of the database while it is in use.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The copy to write
    #[arg(value_name = "FILE")]
    pub file: std::path::PathBuf,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("backup"))
}
