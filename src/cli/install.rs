//! `cmem install` and `cmem uninstall`: hooks, MCP server and service.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Only show what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// Adds what Claude Code needs to give memories back.
pub fn install(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("install"))
}

/// Removes exactly what was added.
pub fn uninstall(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("uninstall"))
}
