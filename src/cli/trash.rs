//! `cmem trash`: deleting, with time to think again.

use std::process::ExitCode;

use super::change::Sure;
use super::{CliError, Ctx, change};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required_unless_present = "query")]
    pub ids: Vec<i64>,
    /// All that a query finds
    #[arg(long, short = 'q', value_name = "QUERY", conflicts_with = "ids")]
    pub query: Option<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. One memory goes at once, since it can be brought back; many are asked about.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut hub = change::writer(ctx)?;
    let ids = match &args.query {
        Some(query) => change::found(ctx, &hub, query)?,
        None => change::ids(&args.ids),
    };
    let (count, screen) = (ids.len() as u64, &ctx.settings.tui);
    let what = format!("{} go to the trash for {} days.", change::memories(count), ctx.settings.trash.days);
    let number = count.to_string();
    let sure = if count >= u64::from(screen.type_count_from) { Sure::Word(&number) } else { Sure::Yes };
    if count >= u64::from(screen.confirm_from) && !change::confirm(ctx, format_args!("{what}"), sure, args.yes)? {
        return Ok(ExitCode::FAILURE);
    }
    let bar = change::bar(ctx, "deleting");
    // What was named one by one is meant, pinned or not; a query may have caught more than was thought of.
    let with_pinned = args.query.is_none();
    let done =
        hub.store_mut().trash(&ids, with_pinned, change::who(ctx), &mut change::onto(&bar)).map_err(change::failed)?;
    bar.finish_and_clear();
    change::told(&done, args.json, |rows| format!("{} in the trash.", change::memories(rows)))
}
