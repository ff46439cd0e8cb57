//! `cmem redact`: a string out of the whole database, for good.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The string
    #[arg(value_name = "STRING")]
    pub text: String,
    /// What stands in its place
    #[arg(long, value_name = "TEXT", default_value = "[redacted]")]
    pub with: String,
    /// Only count where it stands
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("redact"))
}
