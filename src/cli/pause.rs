//! `cmem pause` and `cmem resume`: recording off and on. A paused span is never read later.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// One session only
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
}

/// Stops recording.
pub fn pause(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("pause"))
}

/// Records again.
pub fn resume(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("resume"))
}
