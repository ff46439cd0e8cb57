//! `cmem list`: memories, newest first.

use std::io::Write;
use std::process::ExitCode;

use super::print::Out;
use super::rows::Look;
use super::{CliError, Ctx, print};
use crate::hub::Hub;
use crate::memory::Memory;
use crate::store::api::{Filter, PageKey};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Which memories
    #[command(flatten)]
    pub filter: super::filter::FilterArgs,
    /// At most this many
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<usize>,
    /// One JSON document
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// One JSON object a line
    #[arg(long)]
    pub jsonl: bool,
}

/// Rows shown unless asked for otherwise.
pub const LIMIT: usize = 50;

/// Rows read at a time.
const PAGE: usize = 500;

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let Some(hub) = ctx.reader()? else {
        return nothing_yet(args.json);
    };
    let filter = args.filter.filter(ctx, &hub)?;
    let limit = match args.limit.unwrap_or(LIMIT) {
        0 => usize::MAX,
        limit => limit,
    };
    let mut pages = Pages { hub: &hub, filter, after: None, left: limit, more: true, keys: args.json || args.jsonl };
    print::answer(|out| {
        if args.json {
            return write_array(out, &mut pages);
        }
        let look = Look { terminal: ctx.terminal, zone: &ctx.zone, mode: hub.mode() };
        while let Some(memories) = pages.next()? {
            for memory in &memories {
                if args.jsonl {
                    serde_json::to_writer(&mut *out, memory)?;
                    writeln!(out)?;
                } else {
                    writeln!(out, "{}", look.line(memory))?;
                }
            }
        }
        Ok(())
    })?;
    if pages.more && args.limit.is_none() {
        print::say(format_args!("The newest {LIMIT} are shown; --limit 0 shows all."));
    }
    Ok(ExitCode::SUCCESS)
}

/// Said where there is no database yet. Having remembered nothing is no failure.
pub fn nothing_yet(json: bool) -> Result<ExitCode, CliError> {
    if json {
        print::data(|out| writeln!(out, "[]"))?;
    }
    print::say(format_args!("Nothing is remembered yet. `cmem tui` or `cmem watch` begins."));
    Ok(ExitCode::SUCCESS)
}

/// Page after page, so that a long list needs no more memory than a short one.
struct Pages<'a> {
    hub: &'a Hub,
    filter: Filter,
    after: Option<PageKey>,
    left: usize,
    more: bool,
    /// Whether event keys are wanted too.
    keys: bool,
}

impl Pages<'_> {
    fn next(&mut self) -> Result<Option<Vec<Memory>>, CliError> {
        let failed = |error| CliError::store("the memories could not be read", &error);
        if self.left == 0 || !self.more {
            return Ok(None);
        }
        let (mut memories, more) = self.hub.list(&self.filter, self.after, self.left.min(PAGE)).map_err(failed)?;
        if self.keys {
            self.hub.store().fill_keys(&mut memories).map_err(failed)?;
        }
        self.left -= memories.len();
        self.more = more;
        self.after = memories.last().map(PageKey::of);
        Ok((!memories.is_empty()).then_some(memories))
    }
}

/// One JSON array, a memory a line.
fn write_array(out: &mut Out, pages: &mut Pages<'_>) -> Result<(), CliError> {
    let mut before = "[\n";
    while let Some(memories) = pages.next()? {
        for memory in &memories {
            out.write_all(before.as_bytes())?;
            serde_json::to_writer(&mut *out, memory)?;
            before = ",\n";
        }
    }
    writeln!(out, "{}", if before == "[\n" { "[]" } else { "\n]" })?;
    Ok(())
}
