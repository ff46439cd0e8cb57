//! `cmem project`: which projects there are, and which are one.

use std::process::ExitCode;

use super::{CliError, Ctx};

/// Arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with projects.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Action {
    /// All projects with counts
    List {
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Say that a project has moved: OLD is now NEW
    Alias {
        /// Old name or root
        #[arg(value_name = "OLD")]
        old: String,
        /// New name or root
        #[arg(value_name = "NEW")]
        new: String,
    },
    /// File everything of one project under another
    Merge {
        /// The project that goes
        #[arg(value_name = "FROM")]
        from: String,
        /// The project that stays
        #[arg(value_name = "INTO")]
        into: String,
    },
    /// Never record, inject or find a project
    Exclude {
        /// Name or root
        #[arg(value_name = "PROJECT")]
        project: String,
    },
    /// Take an exclusion back
    Include {
        /// Name or root
        #[arg(value_name = "PROJECT")]
        project: String,
    },
}

/// Runs the command.
pub fn run(_args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    Err(CliError::unavailable("project"))
}
