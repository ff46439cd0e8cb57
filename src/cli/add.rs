//! `cmem add`: remembering by hand.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// What to remember
    #[arg(value_name = "TEXT", required = true)]
    pub text: Vec<String>,
    /// Type
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    pub type_id: Option<String>,
    /// Title; else the first line of the text
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Concepts
    #[arg(long = "concept", short = 'c', value_name = "CONCEPT", value_delimiter = ',')]
    pub concepts: Vec<String>,
    /// Files it is about
    #[arg(long = "file", short = 'f', value_name = "PATH")]
    pub files: Vec<String>,
    /// Project, by name or directory; else the one this is typed in
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// Always give it to sessions
    #[arg(long)]
    pub pin: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("add"))
}
