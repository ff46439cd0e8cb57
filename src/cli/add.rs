//! `cmem add`: remembering by hand.

use std::process::ExitCode;

use super::{CliError, Ctx, change, filter, print};
use crate::config::repository::Resolver;
use crate::hub::remember::ByHand;
use crate::memory::{NewMemory, ProjectRef};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// What to remember
    #[arg(value_name = "TEXT", required = true)]
    pub text: Vec<String>,
    /// Type
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    pub type_id: Option<String>,
    /// Title; else the first line of the text
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Concepts
    #[arg(long = "concept", short = 'c', value_name = "CONCEPT", value_delimiter = ',')]
    pub concepts: Vec<String>,
    /// Files it is about
    #[arg(long = "file", short = 'f', value_name = "PATH")]
    pub files: Vec<String>,
    /// Project, by name or directory; else the one this is typed in
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// Always give it to sessions
    #[arg(long)]
    pub pin: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut hub = change::maker(ctx)?;
    if let Some(word) = &args.type_id
        && hub.mode().type_id(word).1.is_some()
    {
        let known: Vec<&str> = hub.mode().types.iter().map(|it| it.id.as_str()).collect();
        return Err(CliError::usage(format!("the mode has no type {}", crate::memory::safe_line(word)))
            .hint(format!("types are {}", known.join(", "))));
    }
    let by_hand = ByHand {
        text: args.text.join(" "),
        title: args.title.clone().unwrap_or_default(),
        type_word: args.type_id.clone().unwrap_or_default(),
        concepts: args.concepts.clone(),
        files: args.files.clone(),
        pin: args.pin,
        ..ByHand::default()
    };
    let project = project(&args, ctx, &hub)?;
    let memory = by_hand.memory(hub.mode(), project, ctx.now()).ok_or_else(|| {
        CliError::usage("there is nothing to remember").hint("what is private in the text is left out")
    })?;
    let memory = NewMemory { cwd: ctx.cwd.as_ref().map(|cwd| cwd.display().to_string()), ..memory };
    let (id, step) = hub.store_mut().add(&memory, change::who(ctx)).map_err(change::failed)?;
    if step.is_none() {
        print::say(format_args!("This is remembered already, as #{}.", id.0));
    }
    if args.json {
        let (memories, _) = hub.show(&[id]).map_err(|error| CliError::store("the memory could not be read", &error))?;
        return match memories.first() {
            Some(memory) => print::json(memory).map(|()| ExitCode::SUCCESS),
            None => Err(CliError::new(format!("#{} is gone again", id.0))),
        };
    }
    if step.is_some() {
        print::data(|out| std::io::Write::write_fmt(out, format_args!("{}\n", id.0)))?;
        print::say(format_args!("Remembered as #{}. `cmem undo` takes it back.", id.0));
    }
    Ok(ExitCode::SUCCESS)
}

/// The project that was named, known or not; else that of the directory this is typed in.
fn project(args: &Args, ctx: &Ctx, hub: &crate::hub::Hub) -> Result<Option<ProjectRef>, CliError> {
    let mut resolver = Resolver::new(&ctx.env);
    let Some(typed) = &args.project else {
        return Ok(ctx.cwd.as_ref().map(|cwd| resolver.resolve(&cwd.display().to_string())));
    };
    // A directory needs not be known yet.
    let path = ctx.cwd.as_deref().map_or_else(|| typed.into(), |cwd| cwd.join(typed));
    if typed.contains(['/', '\\']) || typed.starts_with(['.', '~']) {
        return Ok(Some(resolver.resolve(&path.display().to_string())));
    }
    let named = filter::project(ctx, hub, typed)?;
    let projects = hub.projects().map_err(change::failed)?;
    let project =
        projects.iter().find(|project| named.keys.contains(&project.key()) || named.keys.contains(&project.root));
    Ok(project.map(|project| ProjectRef {
        root: project.root.clone(),
        name: project.name.clone(),
        worktree: project.worktree.clone(),
    }))
}
