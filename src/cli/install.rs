//! `cmem install` and `cmem uninstall`: hooks, MCP server and service.
//!
//! The files belong to others, so: what will change is shown first, a copy is kept, everything that is not ours stays
//! as it is down to the byte, a file that cannot be read is named and left alone, installing twice changes nothing,
//! and uninstalling gives the bytes back. What went in is remembered in the state directory (`record`); where a file
//! was written anew meanwhile, our entries are found by what they do.
#![allow(clippy::disallowed_methods, reason = "this is the file that changes Claude Code's settings on request")]

mod entries;
mod json;
mod record;
mod service;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::ValueEnum;
use similar::TextDiff;

use super::print::{Style, data, say};
use super::{CliError, Ctx};
use entries::{Entry, Program};
use record::{Installed, Record};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Only show what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Whose settings: yours, or those of the project you are in
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub scope: Scope,
    /// Leave the background service alone
    #[arg(long)]
    pub no_service: bool,
}

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// Yours, for every project: settings.json and .claude.json
    #[default]
    User,
    /// The project's, shared with everybody who works on it: .claude/settings.json and .mcp.json
    Project,
    /// Yours, for this project only: .claude/settings.local.json and .claude.json
    Local,
}

/// A file and what belongs into it.
struct Target {
    file: PathBuf,
    entries: Vec<Entry>,
}

/// What becomes of one file.
struct Change {
    file: PathBuf,
    /// `None`: the file is not there.
    before: Option<String>,
    /// `None`: the file goes.
    after: Option<String>,
    /// Text that goes in, for the record.
    pieces: Vec<String>,
    /// The file is ours: it was not there before the first installation.
    created: bool,
}

/// Adds what Claude Code needs to give memories back.
pub fn install(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let program = program(ctx)?;
    let record = Record::read(&record_file(ctx));
    let mut changes = Vec::new();
    let mut faults = Vec::new();
    for target in targets(args.scope, ctx, &program)? {
        match plan_install(&target, &record) {
            Ok(Some(change)) => changes.push(change),
            Ok(None) => say(format_args!("{}: already as it should be", target.file.display())),
            Err(why) => faults.push((target.file, why)),
        }
    }
    if args.scope == Scope::User && !args.no_service {
        changes.extend(service::plan(ctx, &program));
    }
    refuse(&faults)?;
    if !confirmed(&args, ctx, &changes, "Make these changes?")? {
        return Ok(ExitCode::SUCCESS);
    }
    let mut record = record;
    for change in &changes {
        let backup = keep_copy(ctx, change)?;
        write(change)?;
        record.set(&change.file, Installed::new(change.created, change.pieces.clone(), backup));
        // After each file, so that a failure later leaves nothing unrecorded.
        record.write(&record_file(ctx)).map_err(|err| failed(&record_file(ctx), &err))?;
    }
    if changes.iter().any(|change| service::is_unit(ctx, &change.file)) {
        service::started(ctx);
    }
    if !changes.is_empty() {
        say(format_args!(
            "Done. New Claude Code sessions are given your notes; `cmem uninstall` takes it all out again."
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes exactly what was added.
pub fn uninstall(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let program = program(ctx)?;
    let record = Record::read(&record_file(ctx));
    let mut changes = Vec::new();
    let mut faults = Vec::new();
    for target in targets(args.scope, ctx, &program)? {
        match plan_uninstall(&target, &record) {
            Ok(Some(change)) => changes.push(change),
            Ok(None) => say(format_args!("{}: nothing of cmem's in it", target.file.display())),
            Err(why) => faults.push((target.file, why)),
        }
    }
    if args.scope == Scope::User && !args.no_service {
        changes.extend(service::plan_removal(ctx, &record));
    }
    refuse(&faults)?;
    if !confirmed(&args, ctx, &changes, "Take these out?")? {
        return Ok(ExitCode::SUCCESS);
    }
    let mut record = record;
    for change in &changes {
        if service::is_unit(ctx, &change.file) {
            service::stopping(ctx);
        }
        keep_copy(ctx, change)?;
        write(change)?;
        record.remove(&change.file);
        record.write(&record_file(ctx)).map_err(|err| failed(&record_file(ctx), &err))?;
    }
    if !changes.is_empty() {
        say(format_args!("Done. Your memories are untouched."));
    }
    Ok(ExitCode::SUCCESS)
}

fn program(ctx: &Ctx) -> Result<Program, CliError> {
    let path = std::env::current_exe().map_err(|err| CliError::new("cmem cannot tell where it is").cause(err))?;
    let path = path.to_str().ok_or_else(|| CliError::new("the path of cmem is not UTF-8"))?.to_owned();
    // Sessions are not started with the environment of this terminal.
    let named = ["CMEM_HOME"].iter().filter_map(|name| Some(((*name).to_owned(), ctx.env.get(name)?.to_owned())));
    let env = named.map(|(name, value)| {
        let absolute = std::path::absolute(&value).ok().and_then(|path| path.to_str().map(str::to_owned));
        (name, absolute.unwrap_or(value))
    });
    Ok(Program { path, env: env.collect() })
}

fn targets(scope: Scope, ctx: &Ctx, program: &Program) -> Result<Vec<Target>, CliError> {
    let hooks = entries::hooks(program);
    let home = || ctx.dirs.home.clone().ok_or_else(|| CliError::new("no home directory is known"));
    let named = ctx.env.get("CLAUDE_CONFIG_DIR").is_some_and(|dir| !dir.trim().is_empty());
    let settings_dir = ctx.dirs.claude.first().cloned().ok_or_else(|| CliError::new("no home directory is known"))?;
    // With CLAUDE_CONFIG_DIR the client keeps this file in there; else beside the directory.
    let state = if named { settings_dir.join(".claude.json") } else { home()?.join(".claude.json") };
    let here = || ctx.cwd.clone().ok_or_else(|| CliError::new("the current directory is not known"));
    Ok(match scope {
        Scope::User => vec![
            Target { file: settings_dir.join("settings.json"), entries: hooks },
            Target { file: state, entries: vec![entries::server(program, &[])] },
        ],
        Scope::Project => vec![
            Target { file: here()?.join(".claude").join("settings.json"), entries: hooks },
            Target { file: here()?.join(".mcp.json"), entries: vec![entries::server(program, &[])] },
        ],
        Scope::Local => {
            let project = here()?.to_string_lossy().into_owned();
            let under = ["projects".to_owned(), project];
            vec![
                Target { file: here()?.join(".claude").join("settings.local.json"), entries: hooks },
                Target { file: state, entries: vec![entries::server(program, &under)] },
            ]
        }
    })
}

fn plan_install(target: &Target, record: &Record) -> Result<Option<Change>, String> {
    let before = read(&target.file)?;
    let text = before.clone().unwrap_or_default();
    if !text.is_empty() && entries::present(&text, &target.entries) {
        return Ok(None);
    }
    // An older entry of ours (another path) goes first, so that there is never more than one.
    let known = record.get(&target.file);
    let pieces = known.map_or(&[][..], |it| &it.pieces);
    let blank = text.trim_start_matches('\u{feff}').trim().is_empty();
    let clean = if blank { text } else { entries::take_out(&text, &target.entries, pieces)? };
    let (after, pieces) = entries::put_in(&clean, &target.entries)?;
    let created = before.is_none() || known.is_some_and(|it| it.created);
    Ok(Some(Change { file: target.file.clone(), before, after: Some(after), pieces, created }))
}

fn plan_uninstall(target: &Target, record: &Record) -> Result<Option<Change>, String> {
    let Some(before) = read(&target.file)? else { return Ok(None) };
    let known = record.get(&target.file);
    if before.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(None);
    }
    let after = entries::take_out(&before, &target.entries, known.map_or(&[], |it| &it.pieces))?;
    if after == before {
        return Ok(None);
    }
    let gone = known.is_some_and(|it| it.created) && matches!(after.trim(), "" | "{}");
    let after = (!gone).then_some(after);
    Ok(Some(Change { file: target.file.clone(), before: Some(before), after, pieces: Vec::new(), created: false }))
}

fn read(file: &Path) -> Result<Option<String>, String> {
    match fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err.to_string()),
    }
}

fn refuse(faults: &[(PathBuf, String)]) -> Result<(), CliError> {
    let Some((file, why)) = faults.first() else { return Ok(()) };
    let more = if faults.len() > 1 { format!(" (and {} more)", faults.len() - 1) } else { String::new() };
    Err(CliError::new(format!("{} cannot be changed safely{more}; nothing was changed", file.display()))
        .cause(why)
        .hint("mend the file, then run this again"))
}

/// Shows the changes, and asks if a person is there to answer.
fn confirmed(args: &Args, ctx: &Ctx, changes: &[Change], question: &str) -> Result<bool, CliError> {
    data(|out| {
        for change in changes {
            let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
            let name = change.file.display().to_string();
            let diff = TextDiff::from_lines(before, after);
            for line in diff.unified_diff().context_radius(3).header(&name, &name).to_string().lines() {
                let style = match line.as_bytes().first() {
                    Some(b'+') => Style::Good,
                    Some(b'-') => Style::Bad,
                    _ => Style::Quiet,
                };
                writeln!(out, "{}", ctx.terminal.paint(style, line))?;
            }
        }
        Ok(())
    })?;
    if args.dry_run || changes.is_empty() {
        return Ok(false);
    }
    if args.yes || !(ctx.terminal.stdin && ctx.terminal.stderr) {
        return Ok(true);
    }
    let _ = write!(io::stderr().lock(), "{question} [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// A copy of the file as it was, in our data directory.
fn keep_copy(ctx: &Ctx, change: &Change) -> Result<Option<PathBuf>, CliError> {
    let Some(before) = &change.before else { return Ok(None) };
    let dir = ctx.dirs.backups();
    ctx.dirs.create().map_err(|err| failed(&ctx.dirs.data, &err))?;
    crate::config::private_dir(&dir, None).map_err(|err| failed(&dir, &err))?;
    let name = change.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stamp = ctx.now().strftime("%Y%m%dT%H%M%S%3f").to_string();
    let mut copy = dir.join(format!("{stamp}-{}", name.trim_start_matches('.')));
    let mut turn = 1;
    while copy.exists() {
        copy = dir.join(format!("{stamp}-{turn}-{}", name.trim_start_matches('.')));
        turn += 1;
    }
    write_file(&copy, before, Some(0o600)).map_err(|err| failed(&copy, &err))?;
    Ok(Some(copy))
}

fn write(change: &Change) -> Result<(), CliError> {
    let file = &change.file;
    let done = match &change.after {
        Some(text) => match file.parent() {
            Some(parent) => fs::create_dir_all(parent).and_then(|()| write_file(file, text, None)),
            None => write_file(file, text, None),
        },
        None => fs::remove_file(file),
    };
    done.map_err(|err| failed(file, &err))
}

/// Writes all or nothing: beside the file, then in its place. A link stays a link, a mode stays the mode.
pub(super) fn write_file(file: &Path, text: &str, mode: Option<u32>) -> io::Result<()> {
    let place = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = place.with_file_name(format!("{name}.cmem-{}.tmp", std::process::id()));
    let written = (|| {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(mode.unwrap_or(0o600));
        }
        let mut out = options.open(&beside)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        drop(out);
        if let (Ok(meta), None) = (fs::metadata(&place), mode) {
            fs::set_permissions(&beside, meta.permissions())?;
        }
        fs::rename(&beside, &place)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn record_file(ctx: &Ctx) -> PathBuf {
    ctx.dirs.state.join("install.json")
}

fn failed(file: &Path, err: &io::Error) -> CliError {
    CliError::new(format!("{} could not be written", file.display())).cause(err)
}
