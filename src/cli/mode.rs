//! `cmem mode`: what is worth remembering, as files: which there are, what they say, whether they are right, a new one.
#![allow(clippy::disallowed_methods, reason = "lists the folder of modes, reads a named file, writes a new one")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::{CliError, Ctx, print};
use crate::config::mode_text;
use crate::mode::{self, EMBEDDED, Loaded, Mode, ModeError, embedded_text};
use crate::observer::prompt::instructions;

/// Arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with modes.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Action {
    /// The modes there are; the one in use is marked
    List {
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// A mode's types and concepts, and the instructions it comes to
    Show {
        /// Mode; the one in use if left out
        id: Option<String>,
        /// One JSON document
        #[arg(long)]
        json: bool,
        /// The mode's own file, to copy from
        #[arg(long, conflicts_with = "json")]
        file: bool,
    },
    /// What is wrong with modes; exit code 3 if anything
    Check {
        /// Modes or files; all modes if left out
        names: Vec<String>,
    },
    /// A new mode to be edited, in your folder of modes
    New {
        /// Its id: lower-case words joined by hyphens; PARENT--NAME changes a part of PARENT
        id: String,
    },
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    match args.action {
        Action::List { json } => list(ctx, json)?,
        Action::Show { id, json, file } => show(ctx, id.as_deref(), json, file)?,
        Action::Check { names } => return check(ctx, &names),
        Action::New { id } => new(ctx, &id)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The text of a mode: the user's own file first.
fn text_of(ctx: &Ctx, id: &str) -> Option<String> {
    mode_text(&ctx.dirs, id).or_else(|| embedded_text(id))
}

fn load(ctx: &Ctx, id: &str) -> Result<Loaded, CliError> {
    mode::load(id, &|id| text_of(ctx, id)).map_err(|error| cannot_load(&error))
}

fn cannot_load(error: &ModeError) -> CliError {
    let failed = CliError::new("the mode cannot be used").cause(error);
    match error {
        ModeError::NotFound(_) | ModeError::BadId(_) => failed.hint("`cmem mode list` names those there are"),
        ModeError::NotJson { .. } | ModeError::NoTypes(_) => {
            failed.hint("`cmem mode show code --file` prints one to compare with")
        }
    }
}

/// Ids of all modes, shipped and own, and whether they are the user's.
fn ids(ctx: &Ctx) -> Vec<(String, bool)> {
    let mut own: Vec<String> = fs::read_dir(ctx.dirs.modes())
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|it| it.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .filter(|it| mode::valid_id(it))
        .collect();
    own.sort();
    let shipped = EMBEDDED.iter().map(|(id, _)| (*id).to_owned()).filter(|id| !own.contains(id));
    let mut all: Vec<(String, bool)> = shipped.map(|id| (id, false)).collect();
    all.extend(own.into_iter().map(|id| (id, true)));
    all
}

fn list(ctx: &Ctx, as_json: bool) -> Result<(), CliError> {
    let active = ctx.settings.observer.mode.as_str();
    let mut rows = Vec::new();
    for (id, own) in ids(ctx) {
        let loaded = mode::load(&id, &|id| text_of(ctx, id));
        let (name, description, warnings) = match loaded {
            Ok(Loaded { mode, warnings }) => (mode.name, mode.description, warnings),
            Err(error) => (id.clone(), String::new(), vec![error.to_string()]),
        };
        rows.push((id, own, name, description, warnings));
    }
    if as_json {
        let rows: Vec<_> = rows
            .into_iter()
            .map(|(id, own, name, description, warnings)| {
                json!({"active": id == active, "id": id, "own": own, "name": name, "description": description,
                       "warnings": warnings})
            })
            .collect();
        return print::json(&rows);
    }
    print::data(|out| {
        for (id, own, _, description, warnings) in &rows {
            let mark = if id == active { "*" } else { " " };
            let whose = if *own { " (yours)" } else { "" };
            writeln!(out, "{mark} {id:<22}{description}{whose}")?;
            for warning in warnings {
                writeln!(out, "    {warning}")?;
            }
        }
        Ok(())
    })
}

fn show(ctx: &Ctx, id: Option<&str>, as_json: bool, file: bool) -> Result<(), CliError> {
    let id = id.unwrap_or(&ctx.settings.observer.mode);
    if file {
        let text = text_of(ctx, id).ok_or_else(|| cannot_load(&ModeError::NotFound(id.to_owned())))?;
        return print::data(|out| out.write_all(text.as_bytes()));
    }
    let Loaded { mode, warnings } = load(ctx, id)?;
    let text = instructions(&mode, &ctx.settings.observer.language);
    if as_json {
        return print::json(&as_value(&mode, &warnings, &text));
    }
    print::data(|out| {
        writeln!(out, "{} ({})\n{}\n\ntypes (neutral: {})", mode.name, mode.id, mode.description, mode.neutral)?;
        for def in &mode.types {
            writeln!(out, "  {} {} {:<24}{}", def.letter, def.glyph, def.id, def.description)?;
        }
        writeln!(out, "\nconcepts")?;
        for def in &mode.concepts {
            writeln!(out, "  {:<28}{}", def.id, def.description)?;
        }
        writeln!(out, "\ninstructions\n")?;
        for line in text.lines() {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    })?;
    for warning in warnings {
        print::say(format_args!("warning: {warning}"));
    }
    Ok(())
}

fn as_value(mode: &Mode, warnings: &[String], instructions: &str) -> serde_json::Value {
    let types: Vec<_> = mode
        .types
        .iter()
        .map(|it| {
            json!({"id": it.id, "label": it.label, "glyph": it.glyph, "letter": it.letter.to_string(), "description": it.description})
        })
        .collect();
    let concepts: Vec<_> =
        mode.concepts.iter().map(|it| json!({"id": it.id, "label": it.label, "description": it.description})).collect();
    json!({
        "id": mode.id, "name": mode.name, "description": mode.description, "neutral": mode.neutral,
        "language": mode.language, "types": types, "concepts": concepts, "warnings": warnings,
        "instructions": instructions,
    })
}

fn check(ctx: &Ctx, names: &[String]) -> Result<ExitCode, CliError> {
    let names: Vec<String> =
        if names.is_empty() { ids(ctx).into_iter().map(|(id, _)| id).collect() } else { names.to_vec() };
    let mut faults: Vec<String> = Vec::new();
    for name in &names {
        let loaded = match as_file(name) {
            Some((id, text)) => mode::parse(&id, &text, &|id| text_of(ctx, id)),
            None => mode::load(name, &|id| text_of(ctx, id)),
        };
        match loaded {
            Ok(loaded) => faults.extend(loaded.warnings.iter().map(|it| format!("{name}: {it}"))),
            Err(error) => faults.push(format!("{name}: {error}")),
        }
    }
    print::data(|out| faults.iter().try_for_each(|it| writeln!(out, "{it}")))?;
    match faults.len() {
        0 => {
            print::say(format_args!("Nothing is wrong with {}.", names.join(", ")));
            Ok(ExitCode::SUCCESS)
        }
        1 => Err(CliError::state("1 thing is wrong")),
        n => Err(CliError::state(format!("{n} things are wrong"))),
    }
}

/// A file named on the command line: its id is its stem.
fn as_file(name: &str) -> Option<(String, String)> {
    let path = Path::new(name);
    if path.extension().is_none_or(|it| it != "json") {
        return None;
    }
    Some((path.file_stem()?.to_str()?.to_owned(), fs::read_to_string(path).ok()?))
}

fn new(ctx: &Ctx, id: &str) -> Result<(), CliError> {
    if !mode::valid_id(id) {
        return Err(cannot_load(&ModeError::BadId(id.to_owned())));
    }
    let path = ctx.dirs.modes().join(format!("{id}.json"));
    let text = match id.split_once("--") {
        Some((parent, _)) => {
            let parent = load(ctx, parent)?.mode;
            skeleton_of_override(&parent)
        }
        None => SKELETON.replace("NAME", id),
    };
    fs::create_dir_all(ctx.dirs.modes()).and_then(|()| write_new(&path, &text)).map_err(|error| {
        let failed = CliError::new(format!("{} cannot be written", path.display())).cause(&error);
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            failed.hint("edit that one, or choose another id")
        } else {
            failed
        }
    })?;
    print::data(|out| writeln!(out, "{}", path.display()))?;
    print::say(format_args!(
        "Edit it, then `cmem mode check {id}`; `observer.mode = \"{id}\"` in the settings puts it to use."
    ));
    Ok(())
}

/// Never over what is there.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// An override that changes what is recorded and what is skipped; everything else stays the parent's.
fn skeleton_of_override(parent: &Mode) -> String {
    let value = json!({
        "name": format!("{}, changed", parent.name),
        "description": "",
        "prompts": {"record": parent.prompts.record, "skip": parent.prompts.skip},
    });
    format!("{value:#}\n")
}

const SKELETON: &str = r#"{
  "name": "NAME",
  "description": "one line: for which work",
  "neutral": "note",
  "observation_types": [
    { "id": "note", "label": "Note", "glyph": "○", "description": "something worth remembering that is nothing below" },
    { "id": "decision", "label": "Decision", "glyph": "⚖", "description": "a choice, and its reason" }
  ],
  "observation_concepts": [
    { "id": "gotcha", "label": "Gotcha", "description": "a trap that surprises" }
  ],
  "prompts": {
    "role": "You keep the notes of … You read along and write down what will be needed later. You take no part in the work and nobody answers you.",
    "record": [
      "what to write down, one matter a line"
    ],
    "skip": [
      "what to leave out, one matter a line"
    ],
    "fields": [
      "title: the finding itself in one line"
    ],
    "examples": []
  }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_new_mode_begins_with_has_no_fault() {
        let loaded = mode::parse("mine", &SKELETON.replace("NAME", "mine"), &|_| None).expect("a mode");
        assert_eq!(loaded.warnings, Vec::<String>::new());
        let text = skeleton_of_override(&mode::code());
        let loaded = mode::parse("code--mine", &text, &embedded_text).expect("a mode");
        assert_eq!(loaded.warnings, Vec::<String>::new());
        assert_eq!(loaded.mode.types, mode::code().types);
    }
}
