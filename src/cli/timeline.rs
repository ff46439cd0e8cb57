//! `cmem timeline`: what lies around a memory or a moment.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use super::print::{Style, data, json as print_json, say};
use super::{CliError, Ctx};
use crate::config::repository::{CaseRule, Resolver};
use crate::gate::exclude::Exclusions;
use crate::memory::{Kind, Memory, MemoryId, Note, safe_line};
use crate::recall::find::{Ask, Engine, Scope, find, roots_of};
use crate::recall::query::{Local, Query, Sort, TypeWord, Vocabulary, moment};
use crate::recall::render;
use crate::recall::timeline::{Timeline, around_memory, around_moment};
use crate::store::api::Filter;
use crate::store::{Access, Store, StoreError};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Id of a memory, or a time
    #[arg(long, value_name = "ID|TIME")]
    pub anchor: Option<String>,
    /// Around the best hit of a query
    #[arg(long, short = 'q', value_name = "QUERY", conflicts_with = "anchor")]
    pub query: Option<String>,
    /// Only this project; `*` for all
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// How many before
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub before: usize,
    /// How many after
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub after: usize,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. Without an anchor or a query: around now.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let failed = |err: StoreError| CliError::new("the database cannot be read").cause(err).hint("run `cmem doctor`");
    let store = match Store::open(&ctx.dirs.database(), Access::ReadOnly, ctx.now()) {
        Ok(store) => store,
        Err(StoreError::Missing(_)) => {
            return Err(CliError::new("nothing is remembered yet").hint("run `cmem watch` or `cmem tui`"));
        }
        Err(err) => return Err(failed(err)),
    };
    let projects = store.projects().map_err(failed)?;
    let (exclusions, _) = Exclusions::new(&ctx.settings.record.exclude, ctx.dirs.home.as_deref(), CaseRule::of_host());
    let excluded = projects.iter().filter(|it| exclusions.covers_project(&it.root, &it.name));
    let mut scope = Scope::all(excluded.map(|it| it.root.clone()).collect());
    let named = args.project.as_deref().filter(|name| *name != "*");
    if let Some(name) = named {
        let mut keys = roots_of(&projects, name);
        if keys.is_empty() {
            let root = Resolver::new(&ctx.env).resolve(name).root;
            keys = roots_of(&projects, &root);
        }
        if keys.is_empty() {
            return Err(CliError::usage(format!("no project is called \"{}\"", safe_line(name)))
                .hint("`cmem project list` names them"));
        }
        scope.base.projects = keys;
        scope.label = name.to_owned();
    }

    let (mode, _) = crate::hub::active_mode(&ctx.dirs, &ctx.settings);
    let local = Local { now: ctx.now(), zone: ctx.zone.clone() };
    let anchor = match (&args.anchor, &args.query) {
        (Some(text), _) => {
            let digits = text.trim().trim_start_matches('#').trim_start_matches(['S', 'P']);
            match digits.parse() {
                Ok(id) => Ok(MemoryId(id)),
                Err(_) => Err(moment(text, &local)
                    .ok_or_else(|| {
                        CliError::usage(format!("\"{}\" is neither an id nor a time", safe_line(text)))
                            .hint("a time is written 2026-03-01, 7d, yesterday or 2026-03-01T10:00:00Z")
                    })?
                    .start()),
            }
        }
        (None, Some(text)) => {
            let types = mode.types.iter();
            let types = types.map(|it| TypeWord { id: it.id.clone(), letter: it.letter, label: it.label.clone() });
            let vocabulary = Vocabulary { types: types.collect(), ..Vocabulary::default() };
            let query = Query::parse(text, &vocabulary, &local);
            let meaning = crate::recall::nearest::by_setting(&ctx.settings.meaning);
            let ask = Ask {
                query: &query,
                scope: &scope,
                engine: Engine::Auto,
                sort: Sort::Relevance,
                limit: 1,
                meaning: meaning.as_ref().map(|it| &**it).map_err(String::as_str),
                is: None,
            };
            let found = find(&store, &ask).map_err(failed)?;
            match found.items.first() {
                Some(item) => Ok(item.memory.id),
                None => {
                    return Err(CliError::new("nothing matches").cause(format!("engines: {}", found.engines_line())));
                }
            }
        }
        (None, None) => Err(ctx.now()),
    };
    let filter = |scope: &Scope| Filter { not_projects: scope.excluded.clone(), ..scope.base.clone() };
    let timeline = match anchor {
        Ok(id) => {
            let known = store.get(&[id]).map_err(failed)?.pop();
            let memory = known.ok_or_else(|| CliError::new(format!("there is no memory {}", id.0)))?;
            // Around a memory means in its project, unless a project (or all) is asked for.
            if args.project.is_none() && !memory.project_root.is_empty() {
                scope.base.projects = vec![memory.project_root.clone()];
                scope.label = memory.project.clone();
            }
            let around = around_memory(&store, id, &filter(&scope), args.before, args.after).map_err(failed)?;
            around.ok_or_else(|| CliError::new(format!("there is no memory {}", id.0)))?
        }
        Err(at) => around_moment(&store, at, &filter(&scope), args.before, args.after).map_err(failed)?,
    };
    let scope = if scope.label.is_empty() { "all projects".to_owned() } else { format!("project {}", scope.label) };
    if args.json {
        print_json(&json!({
            "anchor": timeline.anchor, "at": timeline.at, "scope": scope, "items": timeline.items,
        }))?;
    } else {
        print(&timeline, ctx, &mode)?;
        say(format_args!("{scope}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn print(timeline: &Timeline, ctx: &Ctx, mode: &crate::mode::Mode) -> Result<(), CliError> {
    let sign = |memory: &Memory| match memory.kind {
        Kind::Summary => "S".to_owned(),
        Kind::Prompt => ">".to_owned(),
        Kind::Observation => render::glyph(mode, &Note::from(memory)).to_owned(),
    };
    data(|out| {
        let mut day = None;
        for memory in &timeline.items {
            let date = render::day(memory.created_at, &ctx.zone);
            if day != Some(date) {
                day = Some(date);
                writeln!(out, "{}", ctx.terminal.paint(Style::Strong, &render::day_heading(date)))?;
            }
            let here = Some(memory.id) == timeline.anchor;
            let title = render::title(&memory.title);
            let title = if here { ctx.terminal.paint(Style::Accent, &title) } else { title };
            let mark = if here { "▸" } else { " " };
            let time =
                ctx.terminal.paint(Style::Quiet, &format!("{:>6}", render::row_time(memory.created_at, &ctx.zone)));
            writeln!(out, "{mark} {:>6} {time} {} {title}", memory.id.0, sign(memory))?;
        }
        Ok(())
    })
}
