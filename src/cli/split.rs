//! `cmem split`: the screen in a pane of its own beside the agent.
#![allow(clippy::disallowed_methods, reason = "asks the multiplexer for a pane")]

use std::io::Write;
use std::process::{Command, ExitCode};

use super::{CliError, Ctx, print};
use crate::tui::split::Host;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Columns of the pane
    #[arg(long, default_value_t = 50, value_name = "COLUMNS")]
    pub width: u16,
    /// Show one project: a name, a path, or * for all
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// Only print the commands
    #[arg(long)]
    pub dry_run: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let Some(host) = Host::of(&ctx.env) else {
        return Err(CliError::new("this is no tmux, zellij, WezTerm or kitty")
            .hint("open a second pane by hand and run `cmem tui` in it"));
    };
    let mut program = vec![crate::config::program(), "tui".to_owned()];
    if let Some(project) = &args.project {
        program.extend(["--project".to_owned(), project.clone()]);
    }
    let commands = host.commands(&ctx.env, args.width.max(12), &program);
    if args.dry_run {
        print::data(|out| commands.iter().try_for_each(|line| writeln!(out, "{}", line.join(" "))))?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in &commands {
        let failed = |why: String| {
            let error = CliError::new(format!("{} did not open a pane", host.name())).cause(why);
            match host {
                Host::Kitty => error.hint("kitty needs `allow_remote_control yes` in kitty.conf"),
                _ => error,
            }
        };
        let status = Command::new(&line[0]).args(&line[1..]).status().map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(format!("{} ended with {status}", line[0])));
        }
    }
    Ok(ExitCode::SUCCESS)
}
