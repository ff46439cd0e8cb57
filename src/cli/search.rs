//! `cmem search`: finding memories with the query language.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use super::list::{LIMIT, nothing_yet};
use super::rows::Look;
use super::{CliError, Ctx, print};
use crate::hub::{Answer, Question};
use crate::memory::{Memory, safe_line};
use crate::recall::find::{Engine, Item};
use crate::recall::query::{Local, Sort};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// What to find; several words are one query. Behind -- it may begin with a dash
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Which memories
    #[command(flatten)]
    pub filter: super::filter::FilterArgs,
    /// How to look
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub engine: EngineArg,
    /// Order of the answer
    #[arg(long, value_name = "ORDER")]
    pub sort: Option<SortArg>,
    /// At most this many
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<usize>,
    /// One JSON document
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// One JSON object a line
    #[arg(long)]
    pub jsonl: bool,
}

/// How to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineArg {
    /// Words first, then whatever else helps
    #[default]
    Auto,
    /// The text as it stands
    Exact,
    /// Words of the full-text index
    Words,
    /// Nearly the same letters
    Fuzzy,
    /// Nearly the same meaning
    Meaning,
}

/// Order of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SortArg {
    /// Newest first
    Newest,
    /// Best first
    Relevance,
}

impl From<EngineArg> for Engine {
    fn from(engine: EngineArg) -> Self {
        match engine {
            EngineArg::Auto => Self::Auto,
            EngineArg::Exact => Self::Exact,
            EngineArg::Words => Self::Words,
            EngineArg::Fuzzy => Self::Fuzzy,
            EngineArg::Meaning => Self::Meaning,
        }
    }
}

/// An answer as JSON. The names are a contract.
#[derive(Serialize)]
struct Document<'a> {
    engines: Vec<&'static str>,
    notes: &'a [String],
    scope: &'a str,
    faults: Vec<String>,
    total: u64,
    items: Vec<Row<'a>>,
}

/// A memory of an answer as JSON.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    memory: &'a Memory,
    score: f64,
    why: Vec<&'static str>,
}

impl<'a> Row<'a> {
    fn of(item: &'a Item) -> Self {
        Self { memory: &item.memory, score: item.score, why: item.why.iter().map(|engine| engine.word()).collect() }
    }
}

/// More than a search ever looks through.
pub const EVERYTHING: usize = 1_000_000;

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let Some(hub) = ctx.reader()? else {
        if args.json {
            let empty = Document { engines: vec![], notes: &[], scope: "", faults: vec![], total: 0, items: vec![] };
            print::json(&empty)?;
        }
        return nothing_yet(false);
    };
    let (base, label) = args.filter.labelled(ctx, &hub)?;
    let limit = match args.limit.unwrap_or(LIMIT) {
        0 => EVERYTHING,
        limit => limit,
    };
    let question = Question {
        text: args.query.join(" "),
        base,
        label,
        engine: args.engine.into(),
        sort: match args.sort {
            Some(SortArg::Relevance) => Sort::Relevance,
            _ => Sort::Newest,
        },
        limit,
        count: args.json,
        keys: args.json || args.jsonl,
    };
    let local = Local { now: ctx.now(), zone: ctx.zone.clone() };
    let answer =
        hub.search(&question, &local).map_err(|error| CliError::store("the memories could not be searched", &error))?;
    let Answer { found, total } = &answer;
    let faults: Vec<String> = found.faults.iter().map(fault_line).collect();
    if args.json {
        print::json(&Document {
            engines: found.engines.iter().map(|engine| engine.word()).collect(),
            notes: &found.notes,
            scope: &found.scope,
            faults,
            total: total.unwrap_or_default(),
            items: found.items.iter().map(Row::of).collect(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    faults.iter().for_each(|fault| print::say(format_args!("note: {fault}")));
    if args.jsonl {
        print::json_lines(found.items.iter().map(Row::of))?;
    } else {
        let look = Look { terminal: ctx.terminal, zone: &ctx.zone, mode: hub.mode() };
        print::data(|out| found.items.iter().try_for_each(|item| writeln!(out, "{}", look.line(&item.memory))))?;
    }
    let more = if found.more { "the first " } else { "" };
    print::say(format_args!("{more}{} in {} ({})", found.items.len(), safe_line(&found.scope), found.engines_line()));
    Ok(ExitCode::SUCCESS)
}

fn fault_line(fault: &crate::recall::query::Fault) -> String {
    let what = safe_line(&fault.what);
    match &fault.suggestion {
        Some(suggestion) => format!("{what}; did you mean {}?", safe_line(suggestion)),
        None => what,
    }
}
