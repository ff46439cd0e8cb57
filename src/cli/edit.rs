//! `cmem edit`: changing a memory's text, in the editor or by options.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Id of the memory
    #[arg(value_name = "ID")]
    pub id: i64,
    /// New title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// New subtitle
    #[arg(long, value_name = "TEXT")]
    pub subtitle: Option<String>,
    /// New narrative
    #[arg(long, value_name = "TEXT")]
    pub narrative: Option<String>,
    /// New facts, all of them
    #[arg(long = "fact", value_name = "TEXT")]
    pub facts: Option<Vec<String>>,
    /// New concepts, all of them
    #[arg(long = "concept", short = 'c', value_name = "CONCEPT", value_delimiter = ',')]
    pub concepts: Option<Vec<String>>,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("edit"))
}
