//! `cmem schema`: JSON schemas, for editors.

use std::process::ExitCode;

use super::{CliError, print};
use crate::config::keys;

/// Arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Of what
    #[arg(value_name = "WHAT")]
    pub what: What,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// config.toml
    Config,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.what {
        What::Config => print::json(&keys::schema())?,
    }
    Ok(ExitCode::SUCCESS)
}
