//! `cmem search`: finding memories with the query language.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// What to find; several words are one query
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    pub query: Vec<String>,
    /// Which memories
    #[command(flatten)]
    pub filter: super::filter::FilterArgs,
    /// How to look
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub engine: EngineArg,
    /// Order of the answer
    #[arg(long, value_name = "ORDER")]
    pub sort: Option<SortArg>,
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

/// How to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineArg {
    /// Words first, then whatever else helps
    #[default]
    Auto,
    /// The text as it stands
    Exact,
    /// Words of the full-text index
    Words,
    /// Nearly the same letters
    Fuzzy,
    /// Nearly the same meaning
    Meaning,
}

/// Order of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SortArg {
    /// Newest first
    Newest,
    /// Best first
    Relevance,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("search"))
}
