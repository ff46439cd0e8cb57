//! `cmem tui`: the browser.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Show one project: a name, a path, or * for all
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// Start with this query
    #[arg(long, short = 'q', value_name = "QUERY")]
    pub query: Option<String>,
    /// View shown first: feed, timeline, sessions, context, observer, trash
    #[arg(long, value_name = "VIEW")]
    pub view: Option<String>,
    /// Theme
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Sample memories with a live stream; nothing is read or written
    #[arg(long)]
    pub demo: bool,
    /// Show what the transcripts in DIR come to, without a model, in a store that is thrown away
    #[arg(long, value_name = "DIR", conflicts_with_all = ["demo", "no_collect", "read_only"])]
    pub folder: Option<std::path::PathBuf>,
    /// Lines instead of a screen, for screen readers and pipes
    #[arg(long)]
    pub plain: bool,
    /// Change nothing, collect nothing
    #[arg(long)]
    pub read_only: bool,
    /// Never collect, only look
    #[arg(long)]
    pub no_collect: bool,
    /// When collecting: also what was written before the first start
    #[arg(long)]
    pub from_start: bool,
    /// No mouse, whatever the settings say
    #[arg(long)]
    pub no_mouse: bool,
    /// Rows to use below the prompt, instead of the whole screen
    #[arg(long, value_name = "ROWS")]
    pub inline: Option<u16>,
    /// Print the chosen memories' ids to stdout on leaving
    #[arg(long)]
    pub pick: bool,
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("tui"))
}
