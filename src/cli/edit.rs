//! `cmem edit`: changing a memory's text, in the editor or by options.

use std::process::ExitCode;

use super::{CliError, Ctx, change, print};
use crate::gate::redact::clean;
use crate::memory::MemoryId;
use crate::store::curate::Edit;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Id of the memory
    #[arg(value_name = "ID")]
    pub id: i64,
    /// New title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// New subtitle
    #[arg(long, value_name = "TEXT")]
    pub subtitle: Option<String>,
    /// New narrative
    #[arg(long, value_name = "TEXT")]
    pub narrative: Option<String>,
    /// New facts, all of them
    #[arg(long = "fact", value_name = "TEXT")]
    pub facts: Option<Vec<String>>,
    /// New concepts, all of them
    #[arg(long = "concept", short = 'c', value_name = "CONCEPT", value_delimiter = ',')]
    pub concepts: Option<Vec<String>>,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let text = |text: &String| clean(text).into_owned();
    let list = |items: &Vec<String>| items.iter().map(|item| clean(item).into_owned()).collect::<Vec<_>>();
    let edit = Edit {
        title: args.title.as_ref().map(text),
        subtitle: args.subtitle.as_ref().map(text),
        narrative: args.narrative.as_ref().map(text),
        facts: args.facts.as_ref().map(list),
        concepts: args.concepts.as_ref().map(list),
        ..Edit::default()
    };
    if edit == Edit::default() {
        return Err(CliError::usage("nothing is said about what to change")
            .hint("give --title, --subtitle, --narrative, --fact or --concept; `e` in `cmem tui` opens an editor"));
    }
    let mut hub = change::writer(ctx)?;
    let id = MemoryId(args.id);
    let done = hub.store_mut().edit(&[id], &edit, change::who(ctx), &mut |_, _| true).map_err(change::failed)?;
    if args.json && done.missing.is_empty() {
        let (memories, _) = hub.show(&[id]).map_err(|error| CliError::store("the memory could not be read", &error))?;
        return match memories.first() {
            Some(memory) => print::json(memory).map(|()| ExitCode::SUCCESS),
            None => Err(CliError::new(format!("#{} is gone again", id.0))),
        };
    }
    change::told(&done, args.json, |_| format!("#{} changed.", id.0))
}
