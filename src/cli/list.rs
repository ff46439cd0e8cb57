//! `cmem list`: memories, newest first.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Which memories
    #[command(flatten)]
    pub filter: super::filter::FilterArgs,
    /// At most this many
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<usize>,
    /// One JSON document
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// One JSON object a line
    #[arg(long)]
    pub jsonl: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("list"))
}
