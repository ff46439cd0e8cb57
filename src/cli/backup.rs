//! `cmem backup`: a copy of the database while it is in use.

use std::process::ExitCode;

use super::{CliError, Ctx, change, print};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The copy to write
    #[arg(value_name = "FILE")]
    pub file: std::path::PathBuf,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let Some(hub) = ctx.reader()? else {
        return Err(CliError::new("nothing is remembered yet, so there is nothing to copy"));
    };
    let bar = change::bar(ctx, "copying");
    let bytes = hub
        .store()
        .backup(&args.file, &mut change::onto(&bar))
        .map_err(|error| CliError::store("the copy was not made", &error))?;
    bar.finish_and_clear();
    print::say(format_args!("{} holds a complete copy, {bytes} bytes.", args.file.display()));
    Ok(ExitCode::SUCCESS)
}
