//! `cmem completions`: from the same definitions as the command line.

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, CliError, print};

/// Arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode, CliError> {
    // Into memory first: the generator panics when its writer fails, and a closed pipe is no fault.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cmem", &mut script);
    print::data(|out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}
