//! `cmem context`: exactly what a session would be given.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Directory of the session; else the one this is typed in
    #[arg(long, value_name = "DIR")]
    pub project: Option<String>,
    /// The moment: session-start, file PATH, or prompt TEXT
    #[arg(long, value_names = ["MOMENT", "TEXT"], num_args = 1..=2)]
    pub at: Vec<String>,
    /// Every candidate, in or out, and why
    #[arg(long)]
    pub explain: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("context"))
}
