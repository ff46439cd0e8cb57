//! `cmem refine`: a model tells memories anew that were made without one.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use super::change::Sure;
use super::filter::FilterArgs;
use super::{CliError, Ctx, change, print, watch};
use crate::collector::model::{estimate, provider_for, provider_now};
use crate::collector::refine::{Tools, refine};
use crate::memory::{Kind, Memory, Source};
use crate::observer::machine::Config;
use crate::store::api::{Filter, Order, PageKey};

/// Rows read at a time.
const PAGE: usize = 500;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Which memories
    #[command(flatten)]
    pub filter: FilterArgs,
    /// At most this many, newest first
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Only the estimate
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut hub = change::writer(ctx)?;
    let filter = args.filter.filter(ctx, &hub)?;
    let memories = by_rules(&hub, &filter, args.limit.unwrap_or(usize::MAX))?;
    if memories.is_empty() {
        print::say(format_args!("No memory made without a model is among them."));
        return Ok(ExitCode::SUCCESS);
    }
    let options = watch::options(ctx);
    let provider = provider_now(&options);
    let Some((name, maker)) = provider_for(&options, provider) else {
        return Err(CliError::new("there is no model to tell them anew")
            .hint("`observer.provider` names one; `cmem doctor` says why it cannot be used"));
    };
    let config = Config::of(&ctx.settings, name);
    let chars: usize = memories.iter().map(|it| it.narrative.len() + it.title.len() + 200).sum();
    let cost = estimate(&config, &options.mode, memories.len() as u64, chars as u64);
    let price = cost.cost.map_or_else(|| "unknown price".to_owned(), |dollars| format!("about ${dollars:.2}"));
    let text = format!(
        "{} by {} ({}): about {} requests, {} tokens in, {} out, {price}. This is an estimate.",
        change::memories(memories.len() as u64),
        config.provider,
        config.model,
        cost.calls,
        cost.input_tokens,
        cost.output_tokens
    );
    if args.dry_run {
        print::data(|out| writeln!(out, "{text}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    print::say(format_args!("{text}"));
    if !change::confirm(ctx, format_args!("Ids and times stay, each change can be undone."), Sure::Yes, args.yes)? {
        return Ok(ExitCode::FAILURE);
    }
    let bar = change::bar(ctx, "asking");
    bar.set_length(memories.len() as u64);
    let tools = Tools {
        store: hub.store_mut(),
        config,
        provider: maker,
        mode: Arc::clone(&options.mode),
        clock: Arc::new(ctx.clock),
        zone: ctx.zone.clone(),
        progress: &mut |asked| {
            bar.set_position(asked);
            true
        },
    };
    let outcome = refine(&memories, tools).map_err(|error| change::failed(error.0))?;
    bar.finish_and_clear();
    print::say(format_args!(
        "{} told anew, {} left as they are; {} requests.",
        change::memories(outcome.refined.len() as u64),
        outcome.left,
        outcome.calls
    ));
    match outcome.paused {
        None => Ok(ExitCode::SUCCESS),
        Some(pause) => Err(CliError::state(format!("it stopped before the end: {}", pause.reason))
            .cause(pause.detail)
            .hint("run it again later; what is done is done")),
    }
}

/// Observations made without a model and not changed by a person, oldest first.
fn by_rules(hub: &crate::hub::Hub, filter: &Filter, limit: usize) -> Result<Vec<Memory>, CliError> {
    let filter = Filter { kinds: vec![Kind::Observation], edited: Some(false), ..filter.clone() };
    let mut found: Vec<Memory> = Vec::new();
    let mut after: Option<PageKey> = None;
    loop {
        let page = hub.store().list(&filter, Order::Newest, after, PAGE).map_err(change::failed)?;
        let Some(last) = page.last() else { break };
        after = Some(PageKey { created_ms: crate::memory::millis(last.created_at), id: last.id });
        let full = page.len() == PAGE;
        found.extend(page.into_iter().filter(|it| it.source == Source::Offline));
        if !full || found.len() >= limit {
            break;
        }
    }
    found.truncate(limit);
    found.reverse();
    Ok(found)
}
