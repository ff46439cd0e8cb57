//! `cmem trash`: deleting, with time to think again.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required_unless_present = "query")]
    pub ids: Vec<i64>,
    /// All that a query finds
    #[arg(long, short = 'q', value_name = "QUERY", conflicts_with = "ids")]
    pub query: Option<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("trash"))
}
