//! `cmem show`: memories in full.

use std::io::Write;
use std::process::ExitCode;

use super::rows::Look;
use super::{CliError, Ctx, print};
use crate::memory::MemoryId;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<i64>,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. What is found is shown; ids that name nothing make it fail afterwards.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let ids: Vec<MemoryId> = args.ids.iter().copied().map(MemoryId).collect();
    let (memories, missing, look);
    let hub = ctx.reader()?;
    match &hub {
        Some(hub) => {
            (memories, missing) =
                hub.show(&ids).map_err(|error| CliError::store("the memories could not be read", &error))?;
            look = Some(Look { terminal: ctx.terminal, zone: &ctx.zone, mode: hub.mode() });
        }
        None => (memories, missing, look) = (Vec::new(), ids, None),
    }
    if args.json {
        print::json(&memories)?;
    } else if let Some(look) = look {
        print::data(|out| {
            memories.iter().enumerate().try_for_each(|(number, memory)| {
                let gap = if number > 0 { "\n" } else { "" };
                write!(out, "{gap}{}", look.page(memory))
            })
        })?;
    }
    if missing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let ids: Vec<String> = missing.iter().map(|id| format!("#{}", id.0)).collect();
    Err(CliError::new(format!("no memory has the id {}", ids.join(", ")))
        .hint("`cmem list` shows ids; the trash is not searched"))
}
