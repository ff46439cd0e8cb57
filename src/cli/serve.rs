//! `cmem serve`: the local HTTP API.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Port on 127.0.0.1
    #[arg(long, value_name = "N", default_value_t = 37_700)]
    pub port: u16,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("serve"))
}
