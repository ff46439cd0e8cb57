//! `cmem export`: memories written out.

#![allow(clippy::disallowed_methods, reason = "writes the file that was named")]

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use super::{CliError, Ctx, change, print};
use crate::hub::Hub;
use crate::store::StoreError;
use crate::store::exchange::{Exported, Format, Selection};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Only what a query finds; everything otherwise, deletions included
    #[arg(long, short = 'q', value_name = "QUERY")]
    pub query: Option<String>,
    /// Format
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub format: FormatArg,
    /// File to write; else stdout
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
}

/// Format of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FormatArg {
    /// Lossless, one JSON object a line
    #[default]
    Jsonl,
    /// Markdown, to be read
    Md,
    /// A table
    Csv,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Jsonl => Self::Jsonl,
            FormatArg::Md => Self::Markdown,
            FormatArg::Csv => Self::Csv,
        }
    }
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let Some(hub) = ctx.reader()? else {
        return Err(CliError::new("nothing is remembered yet, so there is nothing to write out"));
    };
    let selection = match &args.query {
        Some(query) => Selection::Ids(change::found(ctx, &hub, query)?),
        None => Selection::Everything,
    };
    let done = match &args.output {
        Some(path) => to_file(ctx, &hub, &args, path, &selection)?,
        None => {
            let mut done = Exported::default();
            print::answer(|out| {
                done = hub.store().export(out, args.format.into(), &selection, &mut |_, _| true).map_err(failed)?;
                Ok(())
            })?;
            done
        }
    };
    let deleted = match done.deleted {
        0 => String::new(),
        n => format!(" and {n} marks of deleted ones"),
    };
    print::say(format_args!("{}{deleted} written.", change::memories(done.memories)));
    Ok(ExitCode::SUCCESS)
}

/// Into a file of its own: private like the database, and never over one that is there.
fn to_file(ctx: &Ctx, hub: &Hub, args: &Args, path: &Path, selection: &Selection) -> Result<Exported, CliError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|error| {
        CliError::new(format!("{} cannot be written", path.display()))
            .cause(error)
            .hint("a file that is there is left alone")
    })?;
    let mut out = BufWriter::new(file);
    let bar = change::bar(ctx, "writing");
    let done = hub.store().export(&mut out, args.format.into(), selection, &mut change::onto(&bar)).map_err(failed)?;
    out.flush()?;
    bar.finish_and_clear();
    Ok(done)
}

/// A reader that has gone away is no failure of ours.
fn failed(error: StoreError) -> CliError {
    match error {
        StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => CliError::from(source),
        error => CliError::store("the memories could not be written out", &error),
    }
}
