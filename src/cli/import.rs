//! `cmem import`: a claude-mem database or a cmem export.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: std::path::PathBuf,
    /// Only count
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("import"))
}
