//! `cmem retype`: another type for memories.

use std::process::ExitCode;

use super::{CliError, Ctx, change};
use crate::store::curate::Edit;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required_unless_present = "query")]
    pub ids: Vec<i64>,
    /// All that a query finds, as in --query is:wild
    #[arg(long, short = 'q', value_name = "QUERY", conflicts_with = "ids")]
    pub query: Option<String>,
    /// The type
    #[arg(long, value_name = "TYPE")]
    pub to: String,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut hub = change::writer(ctx)?;
    let (type_id, unknown) = hub.mode().type_id(&args.to);
    if unknown.is_some() {
        let known: Vec<&str> = hub.mode().types.iter().map(|it| it.id.as_str()).collect();
        return Err(CliError::usage(format!("the mode has no type {}", crate::memory::safe_line(&args.to)))
            .hint(format!("types are {}", known.join(", "))));
    }
    let edit = Edit { type_id: Some(type_id.clone()), ..Edit::default() };
    let ids = change::chosen(ctx, &hub, &args.ids, args.query.as_deref())?;
    let bar = change::bar(ctx, "changing");
    let done = hub.store_mut().edit(&ids, &edit, change::who(ctx), &mut change::onto(&bar)).map_err(change::failed)?;
    bar.finish_and_clear();
    change::told(&done, args.json, |rows| format!("{} now of type {type_id}.", change::memories(rows)))
}
