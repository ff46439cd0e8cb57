//! `cmem import`: a claude-mem database or a cmem export.

#![allow(clippy::disallowed_methods, reason = "reads the file that was named, and the transcripts it speaks of")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{CliError, Ctx, change, print};
use crate::config::repository::Resolver;
use crate::hub::Hub;
use crate::memory::{ProjectRef, safe_line};
use crate::store::Result as StoreResult;
use crate::store::curate::Progress;
use crate::store::exchange::{Helpers, ImportKind, Imported, kind_of_file};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The file
    #[arg(value_name = "FILE")]
    pub file: std::path::PathBuf,
    /// Only count
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let failed = |error| CliError::store(&format!("{} could not be taken in", args.file.display()), &error);
    let kind = kind_of_file(&args.file).map_err(failed)?;
    let mut hub = change::maker(ctx)?;
    let bar = change::bar(ctx, "reading");
    let done = take(ctx, &mut hub, &args, kind, &mut change::onto(&bar)).map_err(failed)?;
    bar.finish_and_clear();
    if args.json {
        print::json(&done)?;
    } else {
        report(&done, args.dry_run);
    }
    Ok(ExitCode::SUCCESS)
}

fn take(ctx: &Ctx, hub: &mut Hub, args: &Args, kind: ImportKind, progress: Progress<'_>) -> StoreResult<Imported> {
    let (who, dry) = (change::who(ctx), args.dry_run);
    match kind {
        ImportKind::Export => {
            let io = |source| crate::store::StoreError::Io { doing: "could not read", path: args.file.clone(), source };
            let file = File::open(&args.file).map_err(io)?;
            let total = file.metadata().map_or(0, |meta| meta.len());
            hub.store_mut().import(&mut BufReader::new(file), total, dry, who, progress)
        }
        ImportKind::Database => hub.store_mut().import_database(&args.file, dry, who, progress),
        ImportKind::ClaudeMem => {
            let mode = hub.mode().clone();
            let mut projects = Projects::new(ctx);
            let mut helpers = Helpers {
                type_of: &|word| mode.type_id(word),
                project_of: &mut |session, _name| projects.of_session(session),
            };
            hub.store_mut().import_claude_mem(&args.file, dry, who, &mut helpers, progress)
        }
    }
}

fn report(done: &Imported, dry: bool) {
    let would = if dry { " would be" } else { "" };
    let undo = if done.step.is_some() { " `cmem undo` takes it back." } else { "" };
    print::say(format_args!("{}{would} added, {} known already.{undo}", change::memories(done.added), done.known));
    if done.removed > 0 {
        print::say(format_args!(
            "{}{would} moved to the trash, as they were deleted there.",
            change::memories(done.removed)
        ));
    }
    if done.kept_away > 0 {
        print::say(format_args!("{} left out, as they were deleted here.", change::memories(done.kept_away)));
    }
    if done.faulty > 0 {
        print::say(format_args!("{} lines or rows could not be read:", done.faulty));
        for (at, why) in &done.faults {
            print::say(format_args!("  {at}: {}", safe_line(why)));
        }
    }
}

/// The project of a session that another memory tool knew only by name: its transcript, if it is still there, says
/// where the session worked.
struct Projects {
    folders: Vec<PathBuf>,
    resolver: Resolver,
}

impl Projects {
    fn new(ctx: &Ctx) -> Self {
        let folders = ctx.dirs.claude.iter().filter_map(|dir| std::fs::read_dir(dir.join("projects")).ok());
        let folders = folders.flat_map(|entries| entries.flatten().map(|entry| entry.path())).collect();
        Self { folders, resolver: Resolver::new(&ctx.env) }
    }

    fn of_session(&mut self, session: &str) -> Option<ProjectRef> {
        // It becomes part of a path, so it must be nothing but a name (A101).
        let plain = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let name = plain.then(|| format!("{session}.jsonl"))?;
        let cwd = self.folders.iter().find_map(|folder| first_cwd(&folder.join(&name)))?;
        Some(self.resolver.resolve(&cwd))
    }
}

/// The first working directory a transcript names, in its first lines.
fn first_cwd(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    let lines = BufReader::new(file).lines().take(200).map_while(Result::ok);
    lines
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(&line).ok())
        .find_map(|line| line.get("cwd")?.as_str().filter(|cwd| !cwd.is_empty()).map(str::to_owned))
}
