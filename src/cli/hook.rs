//! `cmem hook`: called by Claude Code, JSON on stdin, JSON on stdout.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The moment
    #[arg(value_name = "MOMENT")]
    pub moment: MomentArg,
}

/// The moment a hook is called at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MomentArg {
    /// A session starts, resumes, or goes on after compaction
    SessionStart,
    /// A file is about to be read
    PreRead,
    /// A prompt was sent
    Prompt,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("hook"))
}
