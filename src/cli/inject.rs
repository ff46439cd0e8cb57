//! `cmem context`: exactly what a session would be given.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::print::{data, json as print_json, say};
use super::{CliError, Ctx};
use crate::config::repository::{CaseRule, Resolver};
use crate::gate::exclude::Exclusions;
use crate::hook::file_facts_of;
use crate::memory::safe_line;
use crate::recall::context::{Context, Verdict};
use crate::recall::tell::Teller;
use crate::store::{Access, Store, StoreError};

/// How long a person may wait for git to name a file's earlier names.
const GIT: std::time::Duration = std::time::Duration::from_secs(5);

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Directory of the session; else the one this is typed in
    #[arg(long, value_name = "DIR")]
    pub project: Option<String>,
    /// The moment: session-start, file PATH, or prompt TEXT
    #[arg(long, value_names = ["MOMENT", "TEXT"], num_args = 1..=2)]
    pub at: Vec<String>,
    /// Every candidate, in or out, and why
    #[arg(long)]
    pub explain: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. Without options the text is printed byte for byte as the hook gives it.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let context = build(&args, ctx)?;
    for warning in &context.warnings {
        say(format_args!("warning: {}", safe_line(warning)));
    }
    if args.json {
        let verdict = |it: &Verdict| json!({ "id": it.id, "reason": it.reason.word(), "why": it.reason.sentence(), "title": it.title, "kind": it.kind });
        let mut document = json!({
            "text": context.text,
            "tokens": context.tokens,
            "in": context.ids(),
            "out": context.left_out.iter().map(verdict).collect::<Vec<_>>(),
        });
        if args.explain {
            document["in_why"] = context.chosen.iter().map(verdict).collect();
        }
        print_json(&document)?;
    } else if args.explain {
        explain(&context)?;
    } else {
        data(|out| {
            out.write_all(context.text.as_bytes())?;
            if ctx.terminal.stdout && !context.text.is_empty() { writeln!(out) } else { Ok(()) }
        })?;
        if context.text.is_empty() {
            say(format_args!("Nothing would be given here; `cmem context --explain` says why."));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn build(args: &Args, ctx: &Ctx) -> Result<Context, CliError> {
    let dir = match &args.project {
        Some(dir) => std::path::absolute(crate::config::expand_home(dir, ctx.dirs.home.as_deref()))
            .map_err(|err| CliError::usage("the project is no directory").cause(err))?,
        None => ctx.cwd.clone().ok_or_else(|| CliError::new("the current directory is not known"))?,
    };
    let project = Resolver::new(&ctx.env).resolve(&dir.to_string_lossy());
    let store = match Store::open(&ctx.dirs.database(), Access::ReadOnly, ctx.now()) {
        Ok(store) => store,
        Err(StoreError::Missing(_)) => return Ok(Context::default()),
        Err(err) => return Err(CliError::new("the database cannot be opened").cause(err).hint("run `cmem doctor`")),
    };
    let (excluded, _) = Exclusions::new(&ctx.settings.record.exclude, ctx.dirs.home.as_deref(), CaseRule::of_host());
    let (mode, warnings) = crate::hub::active_mode(&ctx.dirs, &ctx.settings);
    let teller =
        Teller { store: &store, mode: &mode, zone: &ctx.zone, settings: &ctx.settings.context, excluded: &excluded };
    let failed = |err: StoreError| CliError::new("the database cannot be read").cause(err).hint("run `cmem doctor`");
    let words: Vec<&str> = args.at.iter().map(String::as_str).collect();
    let mut context = match words.as_slice() {
        [] | ["session-start"] => teller.session_start(&project).map_err(failed)?,
        ["file" | "pre-read", path] => {
            let facts = file_facts_of(&dir.join(Path::new(path)), &project, &ctx.dirs.state, GIT);
            let Some(file) = facts else {
                return Err(CliError::usage(format!("{} is no file", safe_line(path))));
            };
            teller.before_read(&project, &file, &[]).map_err(failed)?
        }
        ["prompt", text] => {
            let meaning = crate::recall::nearest::by_setting(&ctx.settings.meaning);
            let meaning = meaning.as_ref().map(|it| &**it).map_err(String::as_str);
            teller.with_prompt(&project, text, meaning, &[]).map_err(failed)?
        }
        _ => {
            return Err(CliError::usage("that is no moment")
                .hint("it is written --at session-start, --at file PATH, or --at prompt TEXT"));
        }
    };
    context.warnings.extend(warnings);
    Ok(context)
}

fn explain(context: &Context) -> Result<(), CliError> {
    data(|out| {
        for (word, verdicts) in [("in", &context.chosen), ("out", &context.left_out)] {
            for (rank, it) in verdicts.iter().enumerate() {
                let rank = if word == "in" { (rank + 1).to_string() } else { "-".into() };
                let title = crate::recall::render::line(&it.title, 60);
                let reason = it.reason.sentence();
                writeln!(out, "{word:<3} {rank:>3} {:<10} {:>6} {title}  ({reason})", it.reason.word(), it.id.0)?;
            }
        }
        let (observations, summaries) = context.counts();
        writeln!(
            out,
            "{observations} observations, {summaries} summaries in; {} out; {} bytes, about {} tokens",
            context.left_out.len(),
            context.text.len(),
            context.tokens
        )
    })
}
