//! `cmem project`: which projects there are, and which are one.

use std::io::Write;
use std::process::ExitCode;

use super::{CliError, Ctx, change, filter, print};
use crate::hub::Hub;
use crate::memory::safe_line;

/// Arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with projects.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Action {
    /// All projects with counts
    List {
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Say that a project has moved: OLD is now NEW
    Alias {
        /// Old name or root
        #[arg(value_name = "OLD")]
        old: String,
        /// New name or root
        #[arg(value_name = "NEW")]
        new: String,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// File everything of one project under another
    Merge {
        /// The project that goes
        #[arg(value_name = "FROM")]
        from: String,
        /// The project that stays
        #[arg(value_name = "INTO")]
        into: String,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// File a linked worktree's memories under its project
    Fold {
        /// Name or root
        #[arg(value_name = "PROJECT")]
        project: String,
        /// The worktree
        #[arg(value_name = "WORKTREE")]
        worktree: String,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Never record, inject or find a project
    Exclude {
        /// Name or root
        #[arg(value_name = "PROJECT")]
        project: String,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// Take an exclusion back
    Include {
        /// Name or root
        #[arg(value_name = "PROJECT")]
        project: String,
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    match args.action {
        Action::List { json } => list(ctx, json),
        Action::Alias { old, new, json } => {
            let mut hub = change::writer(ctx)?;
            let old = root(ctx, &hub, &old)?;
            // The new place needs not be known yet: nothing may have happened there.
            let new = root(ctx, &hub, &new).or_else(|error| path(ctx, &new).ok_or(error))?;
            let done = hub.store_mut().alias_project(&old, &new, change::who(ctx)).map_err(change::failed)?;
            change::told(&done, json, |_| format!("{old} is now {new}."))
        }
        Action::Merge { from, into, json } => {
            let mut hub = change::writer(ctx)?;
            let (from, into) = (root(ctx, &hub, &from)?, root(ctx, &hub, &into)?);
            let done = hub.store_mut().merge_projects(&from, &into, change::who(ctx)).map_err(change::failed)?;
            change::told(&done, json, |_| format!("What was filed under {from} is now {into}'s."))
        }
        Action::Fold { project, worktree, json } => {
            let mut hub = change::writer(ctx)?;
            let root = root(ctx, &hub, &project)?;
            let done = hub.store_mut().fold_worktree(&root, &worktree, change::who(ctx)).map_err(change::failed)?;
            change::told(&done, json, |rows| {
                format!("{} of the worktree {worktree} now filed under {root}.", change::memories(rows))
            })
        }
        Action::Exclude { project, json } => exclude(ctx, &project, true, json),
        Action::Include { project, json } => exclude(ctx, &project, false, json),
    }
}

fn exclude(ctx: &Ctx, project: &str, excluded: bool, json: bool) -> Result<ExitCode, CliError> {
    // A project can be kept out before anything of it was recorded.
    let mut hub = change::maker(ctx)?;
    let root = root(ctx, &hub, project).or_else(|error| path(ctx, project).ok_or(error))?;
    let done = hub.store_mut().exclude_project(&root, excluded, change::who(ctx)).map_err(change::failed)?;
    let state =
        if excluded { "no longer recorded, given to sessions or found" } else { "recorded, given and found again" };
    change::told(&done, json, |_| format!("{root} is {state}."))
}

/// The root of the one project that was named.
fn root(ctx: &Ctx, hub: &Hub, typed: &str) -> Result<String, CliError> {
    let named = filter::project(ctx, hub, typed)?;
    match named.keys.as_slice() {
        [key] => Ok(key.split('#').next().unwrap_or(key).to_owned()),
        _ => Err(CliError::usage(named.note.unwrap_or_else(|| "more than one project is meant".into()))
            .hint("name the project by the path of its root")),
    }
}

/// What was typed as a path, if it is one.
fn path(ctx: &Ctx, typed: &str) -> Option<String> {
    let is_path = typed.contains(['/', '\\']) || typed.starts_with(['.', '~']);
    let path = ctx.cwd.as_deref().map_or_else(|| typed.into(), |cwd| cwd.join(typed));
    is_path.then(|| crate::config::repository::Resolver::new(&ctx.env).resolve(&path.display().to_string()).root)
}

fn list(ctx: &Ctx, json: bool) -> Result<ExitCode, CliError> {
    let (projects, excluded) = match ctx.reader()? {
        Some(hub) => {
            let failed = |error| CliError::store("the projects could not be read", &error);
            (hub.projects().map_err(failed)?, hub.excluded().map_err(failed)?)
        }
        None => (Vec::new(), Vec::new()),
    };
    if json {
        print::json(&projects)?;
        return Ok(ExitCode::SUCCESS);
    }
    print::data(|out| {
        projects.iter().filter(|project| project.alias_of.is_none()).try_for_each(|project| {
            let name = match &project.worktree {
                Some(worktree) => format!("{}/{worktree}", project.name),
                None => project.name.clone(),
            };
            let count = project.observations + project.summaries;
            let state = match project.excluded || excluded.contains(&project.root) {
                true => "  excluded",
                false => "",
            };
            writeln!(out, "{count:>6}  {:<24} {}{state}", safe_line(&name), safe_line(&project.root))
        })
    })?;
    Ok(ExitCode::SUCCESS)
}
