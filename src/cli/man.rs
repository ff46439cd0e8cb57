//! `cmem man`: the manual page, from the same definitions as the command line.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap_mangen::Man;

use super::{Cli, CliError, print};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the command: the main page, then one section for each command.
pub fn run(_args: Args) -> Result<ExitCode, CliError> {
    let mut page = Vec::new();
    render(&mut page)?;
    print::data(|out| out.write_all(&page))?;
    Ok(ExitCode::SUCCESS)
}

fn render(page: &mut Vec<u8>) -> io::Result<()> {
    let mut command = Cli::command();
    command.build();
    Man::new(command.clone()).render(page)?;
    for sub in command.get_subcommands() {
        writeln!(page, ".SH \"{}\"", format!("cmem {}", sub.get_name()).to_uppercase())?;
        let man = Man::new(sub.clone());
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        if sub.get_arguments().next().is_some() {
            man.render_options_section(page)?;
        }
    }
    Ok(())
}
