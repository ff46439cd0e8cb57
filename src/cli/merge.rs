//! `cmem merge`: one memory of several.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories; the first one stays unless --into says another
    #[arg(value_name = "ID", required = true, num_args = 2..)]
    pub ids: Vec<i64>,
    /// The one that stays
    #[arg(long, value_name = "ID")]
    pub into: Option<i64>,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("merge"))
}
