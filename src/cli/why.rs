//! `cmem why`: what became of an event, or where a memory came from.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Key of an event (tool_use id, entry uuid), or id of a memory
    #[arg(value_name = "KEY|ID")]
    pub key: String,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("why"))
}
