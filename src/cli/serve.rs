//! `cmem serve`: the local HTTP API.
#![allow(clippy::disallowed_methods, reason = "this is the file that keeps the token of this run")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use super::print::say;
use super::{CliError, Ctx};
use crate::http::{House, listen, serve};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 37_700)]
    pub port: u16,
}

/// Runs the command, until it is stopped.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let listener = listen(args.port).map_err(|err| {
        CliError::new(format!("127.0.0.1:{} cannot be listened on", args.port)).cause(err).hint("choose another --port")
    })?;
    let address = listener.local_addr().map_err(CliError::from)?;
    ctx.dirs.create().map_err(|err| CliError::new("the state directory cannot be made").cause(err))?;
    let token = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
    let file = ctx.dirs.state.join("serve.token");
    keep(&file, &token).map_err(|err| CliError::new("the token cannot be kept").cause(err))?;
    say(format_args!("Listening on http://{address}; the token for writing is in {}", file.display()));
    let house = House {
        dirs: ctx.dirs.clone(),
        settings: ctx.settings.clone(),
        env: ctx.env.clone(),
        clock: Box::new(ctx.clock),
        zone: ctx.zone.clone(),
        token,
    };
    let served = serve(&listener, house);
    let _ = fs::remove_file(&file);
    served.map_err(|err| CliError::new("the server ended").cause(err))?;
    Ok(ExitCode::SUCCESS)
}

/// A new file each time, readable by its owner alone: one that somebody else put there is not written into.
fn keep(file: &Path, token: &str) -> std::io::Result<()> {
    let _ = fs::remove_file(file);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(token.as_bytes())
}
