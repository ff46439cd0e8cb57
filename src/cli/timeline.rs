//! `cmem timeline`: what lies around a memory or a moment.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Id of a memory, or a time
    #[arg(long, value_name = "ID|TIME")]
    pub anchor: Option<String>,
    /// Around the best hit of a query
    #[arg(long, short = 'q', value_name = "QUERY")]
    pub query: Option<String>,
    /// Only this project
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// How many before
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub before: usize,
    /// How many after
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub after: usize,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("timeline"))
}
