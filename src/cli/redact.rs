//! `cmem redact`: a string out of the whole database, for good.

use std::process::ExitCode;

use super::change::Sure;
use super::{CliError, Ctx, change, print};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The string
    #[arg(value_name = "STRING")]
    pub text: String,
    /// What stands in its place
    #[arg(long, value_name = "TEXT", default_value = "[redacted]")]
    pub with: String,
    /// Only count where it stands
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. The string itself is never printed: it is what must not be seen.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    if args.text.trim().chars().count() < 3 {
        return Err(CliError::usage("a string of fewer than three characters stands in too many places"));
    }
    if args.with.contains(&args.text) {
        return Err(CliError::usage("what stands in its place must not hold the string"));
    }
    let mut hub = change::writer(ctx)?;
    let (memories, trashed) = hub.store().holds(&args.text).map_err(change::failed)?;
    let where_it_stands =
        format!("The string stands in {} and {trashed} more in the trash.", change::memories(memories));
    if args.dry_run {
        if args.json {
            print::json(&serde_json::json!({ "memories": memories, "trashed": trashed }))?;
            return Ok(ExitCode::SUCCESS);
        }
        print::say(format_args!("{where_it_stands}"));
        return Ok(ExitCode::SUCCESS);
    }
    let what = format!("{where_it_stands} It is replaced everywhere in the database; nothing brings it back.");
    if !change::confirm(ctx, format_args!("{what}"), Sure::Word("REDACT"), args.yes)? {
        return Ok(ExitCode::FAILURE);
    }
    let bar = change::bar(ctx, "replacing");
    let done = hub.store_mut().redact(&args.text, &args.with, &mut change::onto(&bar)).map_err(change::failed)?;
    bar.finish_and_clear();
    if args.json {
        print::json(&done)?;
        return Ok(if done.log_cut { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    print::say(format_args!(
        "Replaced in {}, {} in the trash, {} journal entries, {} sessions, {} other places.",
        change::memories(done.memories),
        done.trashed,
        done.journal,
        done.sessions,
        done.other
    ));
    for place in &done.left {
        print::say(format_args!("It still stands in {place}."));
    }
    for place in &done.beyond {
        print::say(format_args!("Not reached: {place}."));
    }
    if !done.log_cut {
        return Err(CliError::new("the write-ahead log could not be cut, because somebody is reading")
            .hint("close other screens of cmem and run it again"));
    }
    Ok(ExitCode::SUCCESS)
}
