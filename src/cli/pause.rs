//! `cmem pause` and `cmem resume`: recording off and on. A paused span is never read later.

use std::process::ExitCode;

use super::{CliError, Ctx, print};
use crate::store::{Access, Store};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// One session only
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
}

/// Stops recording.
pub fn pause(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let session = args.session.as_deref();
    open(ctx)?.pause(session, ctx.now()).map_err(|error| failed(&error))?;
    print::say(format_args!(
        "Recording of {} is off. What is written meanwhile is never read, not even later.",
        session.map_or_else(|| "everything".to_owned(), |session| format!("session {session}"))
    ));
    Ok(ExitCode::SUCCESS)
}

/// Records again.
pub fn resume(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let session = args.session.as_deref();
    let was = open(ctx)?.resume(session, ctx.now()).map_err(|error| failed(&error))?;
    let what = session.map_or_else(|| "everything".to_owned(), |session| format!("session {session}"));
    if was {
        print::say(format_args!("Recording of {what} is on again."));
    } else {
        print::say(format_args!("Recording of {what} was not off."));
    }
    Ok(ExitCode::SUCCESS)
}

fn open(ctx: &Ctx) -> Result<Store, CliError> {
    ctx.dirs.create().map_err(|error| CliError::new("cmem's directories cannot be made").cause(error))?;
    Store::open(&ctx.dirs.database(), Access::ReadWrite, ctx.now()).map_err(|error| failed(&error))
}

fn failed(error: &crate::store::StoreError) -> CliError {
    CliError::new("recording could not be switched").cause(error)
}
