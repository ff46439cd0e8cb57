//! `cmem undo`, `redo` and `history`: the changes made by hand.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments of `undo` and `redo`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StepArgs {
    /// How many steps
    #[arg(value_name = "N", default_value_t = 1)]
    pub steps: u32,
}

/// Arguments of `history`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// At most this many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Takes the last steps back.
pub fn undo(_args: StepArgs, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("undo"))
}

/// Makes steps again that were taken back.
pub fn redo(_args: StepArgs, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("redo"))
}

/// Lists the steps.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("history"))
}
