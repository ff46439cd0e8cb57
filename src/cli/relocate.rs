//! `cmem move`: filing memories under another project.

use std::process::ExitCode;

use super::{CliError, Ctx, change, filter};
use crate::memory::ProjectRef;
use crate::store::curate::Edit;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Ids of memories
    #[arg(value_name = "ID", required_unless_present = "query")]
    pub ids: Vec<i64>,
    /// All that a query finds
    #[arg(long, short = 'q', value_name = "QUERY", conflicts_with = "ids")]
    pub query: Option<String>,
    /// The project, by name or root
    #[arg(long, value_name = "PROJECT")]
    pub to: String,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut hub = change::writer(ctx)?;
    let named = filter::project(ctx, &hub, &args.to)?;
    let [key] = named.keys.as_slice() else {
        return Err(CliError::usage(named.note.unwrap_or_else(|| "more than one project is meant".into()))
            .hint("name the project by the path of its root"));
    };
    let projects = hub.projects().map_err(change::failed)?;
    let project = projects.iter().find(|project| project.key() == *key || project.root == *key);
    let Some(project) = project else { return Err(CliError::new(format!("no project is called {}", named.label))) };
    let to = ProjectRef { root: project.root.clone(), name: project.name.clone(), worktree: project.worktree.clone() };
    let edit = Edit { project: Some(to), ..Edit::default() };
    let ids = change::chosen(ctx, &hub, &args.ids, args.query.as_deref())?;
    let bar = change::bar(ctx, "changing");
    let done = hub.store_mut().edit(&ids, &edit, change::who(ctx), &mut change::onto(&bar)).map_err(change::failed)?;
    bar.finish_and_clear();
    change::told(&done, args.json, |rows| format!("{} now in project {}.", change::memories(rows), named.label))
}
