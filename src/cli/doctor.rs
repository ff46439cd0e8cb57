//! `cmem doctor`: checks each stage by running it, and names the failing one with what helps.
//!
//! What exists is looked at as it is; the pipeline is run on a sample transcript in a place of its own, with the
//! observer the settings name, so that a reply is really asked for and really kept. With `--no-call` no model is asked.

mod stages;

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use super::print::Style;
use super::{CliError, Ctx, print};
use crate::memory::safe_line;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// One JSON document
    #[arg(long)]
    pub json: bool,
    /// Ask no model: try the pipeline with the observer that needs none
    #[arg(long)]
    pub no_call: bool,
}

/// How a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// It works.
    Ok,
    /// It works, and something is worth knowing.
    Note,
    /// It does not work.
    Fail,
}

/// One stage that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stage.
    pub stage: &'static str,
    /// How it is.
    pub mark: Mark,
    /// What was seen.
    pub detail: String,
    /// What helps; empty where nothing is needed.
    pub remedy: String,
}

impl Finding {
    fn ok(stage: &'static str, detail: impl Into<String>) -> Self {
        Self { stage, mark: Mark::Ok, detail: detail.into(), remedy: String::new() }
    }

    fn note(stage: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { stage, mark: Mark::Note, detail: detail.into(), remedy: remedy.into() }
    }

    fn fail(stage: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { stage, mark: Mark::Fail, detail: detail.into(), remedy: remedy.into() }
    }
}

/// Runs the command. Exit code 3 if a stage fails.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut findings = vec![
        stages::settings(ctx),
        stages::directories(ctx),
        stages::mode(ctx),
        stages::transcripts(ctx),
        stages::database(ctx),
        stages::index(ctx),
        stages::installed(ctx),
    ];
    findings.extend(stages::pipeline(ctx, args.no_call));
    let failed = findings.iter().filter(|finding| finding.mark == Mark::Fail).count();
    if args.json {
        print::json(&findings)?;
    } else {
        print::data(|out| findings.iter().try_for_each(|finding| writeln!(out, "{}", line(ctx, finding))))?;
    }
    match failed {
        0 => Ok(ExitCode::SUCCESS),
        1 => Err(CliError::state("1 stage does not work")),
        n => Err(CliError::state(format!("{n} stages do not work"))),
    }
}

fn line(ctx: &Ctx, finding: &Finding) -> String {
    let (word, style) = match finding.mark {
        Mark::Ok => ("ok", Style::Good),
        Mark::Note => ("note", Style::Careful),
        Mark::Fail => ("FAIL", Style::Bad),
    };
    let mut line = format!(
        "{} {:<12} {}",
        ctx.terminal.paint(style, &format!("{word:<4}")),
        finding.stage,
        safe_line(&finding.detail)
    );
    if !finding.remedy.is_empty() {
        line.push_str(&format!("\n                  {}", safe_line(&finding.remedy)));
    }
    line
}
