//! `cmem inspect`: what the reader finds in transcripts.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;

use super::{CliError, Ctx, print, transcripts};
use crate::transcript::inspect::{Inspection, Inspector};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Transcript files or folders
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<std::path::PathBuf>,
    /// One JSON object a file
    #[arg(long)]
    pub json: bool,
}

/// The figures of one file, under its name.
#[derive(Serialize)]
struct Row<'a> {
    file: &'a str,
    #[serde(flatten)]
    figures: &'a Inspection,
}

/// Runs the command. A file that cannot be read costs that file: the others are told all the same.
pub fn run(args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut code = ExitCode::SUCCESS;
    for file in transcripts::named(&args.paths)? {
        let mut inspector = Inspector::default();
        if let Err(error) = transcripts::chunks(&file.path, |bytes| inspector.feed(bytes)) {
            print::say(format_args!("{error}"));
            code = ExitCode::FAILURE;
            continue;
        }
        let figures = inspector.finish();
        if file.found && !figures.is_transcript() {
            continue;
        }
        if args.json {
            print::json_lines([Row { file: &file.shown, figures: &figures }])?;
        } else {
            print::data(|out| writeln!(out, "{}\n{}", file.shown, told(&figures)))?;
        }
    }
    Ok(code)
}

/// The figures for a person.
fn told(it: &Inspection) -> String {
    let mut lines = vec![
        format!("  {} bytes, {} lines, {} entries", it.bytes, it.lines, it.entries),
        format!(
            "  {} prompts, {} answers ({} output tokens), {} tool calls ({} failed, {} without a result)",
            it.human_prompts + it.plan_handoffs + it.steering_prompts,
            it.assistant_messages,
            it.output_tokens,
            it.tool_calls,
            it.tool_errors,
            it.calls_without_result
        ),
    ];
    let odd: Vec<String> = it
        .line_kinds
        .iter()
        .filter(|(kind, _)| **kind != "ok")
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    if !odd.is_empty() {
        lines.push(format!("  lines that are not one whole object: {}", odd.join(", ")));
    }
    if it.repeated_uuids > 0 {
        lines.push(format!("  {} entries seen before", it.repeated_uuids));
    }
    for (name, values) in [("directories", &it.cwds), ("branches", &it.branches), ("versions", &it.versions)] {
        if !values.is_empty() {
            lines.push(format!("  {name}: {}", values.join(", ")));
        }
    }
    if let Some(prompt) = &it.first_prompt {
        lines.push(format!("  first prompt: {prompt}"));
    }
    lines.iter().map(|line| crate::memory::safe_text(line)).collect::<Vec<_>>().join("\n")
}
