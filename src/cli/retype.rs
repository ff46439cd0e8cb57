//! `cmem retype`: another type for memories.

use std::process::ExitCode;

use super::{CliError, Ctx, change};
use crate::store::curate::Edit;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<i64>,
    /// The type
    #[arg(long, value_name = "TYPE")]
    pub to: String,
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
    let done = hub
        .store_mut()
        .edit(&change::ids(&args.ids), &edit, change::who(ctx), &mut |_, _| true)
        .map_err(change::failed)?;
    change::told(&done, |rows| format!("{} now of type {type_id}.", change::memories(rows)))
}
