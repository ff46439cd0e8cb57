//! `cmem export`: memories written out.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Only what a query finds; everything otherwise, deletions included
    #[arg(long, short = 'q', value_name = "QUERY")]
    pub query: Option<String>,
    /// Format
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub format: FormatArg,
    /// File to write; else stdout
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
}

/// Format of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FormatArg {
    /// Lossless, one JSON object a line
    #[default]
    Jsonl,
    /// Markdown, to be read
    Md,
    /// A table
    Csv,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("export"))
}
