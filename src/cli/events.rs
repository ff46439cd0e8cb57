//! `cmem events`: the normalised events of transcripts.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Transcript files or folders
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<std::path::PathBuf>,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("events"))
}
