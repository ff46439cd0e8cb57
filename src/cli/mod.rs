//! The command line. The only floor where an error becomes words and an exit code, and where text is printed.
//!
//! `args` is what can be typed, `context` what every command is handed, `print` and `error` what it may say. Each
//! command has a file with its arguments, help text and body. Absent from it: decisions; they are the hub's.

mod apart;
pub mod args;
pub mod change;
pub mod context;
pub mod error;
pub mod filter;
pub mod print;
pub mod rows;

pub mod add;
pub mod backfill;
pub mod backup;
pub mod bench;
pub mod completions;
pub mod config;
pub mod doctor;
pub mod edit;
pub mod events;
pub mod exclude;
pub mod export;
pub mod history;
pub mod hook;
pub mod import;
pub mod inject;
pub mod inspect;
pub mod install;
pub mod keys;
pub mod list;
pub mod man;
pub mod mcp;
pub mod merge;
pub mod mode;
pub mod pause;
pub mod pin;
pub mod project;
pub mod purge;
pub mod redact;
pub mod refine;
pub mod relocate;
pub mod restore;
pub mod retype;
pub mod schema;
pub mod search;
pub mod serve;
pub mod show;
pub mod split;
pub mod status;
pub mod timeline;
pub mod transcripts;
pub mod trash;
pub mod tui;
pub mod watch;
pub mod why;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

pub use args::{Cli, Command};
pub use context::Ctx;
pub use error::CliError;

/// Runs one command line and returns the exit code: 0 fine, 1 failed, 2 wrong usage, 3 the state asked about is bad.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    // Asked by scripts and prompts, so it does not wait for the other definitions.
    if args.len() == 2 && (args[1] == "--version" || args[1] == "-V") {
        return print::data(|out| writeln!(out, "cmem {}", env!("CARGO_PKG_VERSION")))
            .map_or_else(fail, |()| ExitCode::SUCCESS);
    }
    // The client takes exit code 2 of a hook as "stop": a hook that is called wrongly says nothing.
    let is_hook = args.get(1).is_some_and(|arg| arg == "hook");
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if is_hook && error.use_stderr() => return ExitCode::SUCCESS,
        Err(error) => {
            // Help and version go to stdout with code 0, wrong usage to stderr with code 2. A closed pipe is no fault.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    dispatch(cli).unwrap_or_else(fail)
}

fn fail(error: CliError) -> ExitCode {
    if !error.is_closed_pipe() {
        print::say(format_args!("{error}"));
    }
    ExitCode::from(error.code())
}

fn dispatch(cli: Cli) -> Result<ExitCode, CliError> {
    let command = cli.command.unwrap_or_else(|| Command::Tui(tui::Args::default()));
    // These say nothing of the machine, so they need nothing from it.
    match command {
        Command::Completions(args) => return completions::run(args),
        Command::Man(args) => return man::run(args),
        Command::Schema(args) => return schema::run(args),
        Command::Pictures(args) => return bench::pictures(args),
        _ => {}
    }
    let mut ctx = match Ctx::load(&cli.global) {
        // A hook never disturbs a session: on any trouble it says nothing and succeeds.
        Err(_) if matches!(command, Command::Hook(_)) => return Ok(ExitCode::SUCCESS),
        ctx => ctx?,
    };
    // The screen shows warnings itself, `config check` is about them, and the rest must keep silent.
    if !matches!(command, Command::Hook(_) | Command::Mcp(_) | Command::Tui(_) | Command::Config(_)) {
        for warning in &ctx.warnings {
            print::say(format_args!("warning: {warning}"));
        }
    }
    match command {
        Command::Tui(mut args) => {
            args.from_start |= args.folder.is_some();
            let _apart = args.folder.as_deref().map(|folder| apart::Apart::from(&mut ctx, folder)).transpose()?;
            tui::run(args, &ctx)
        }
        Command::Split(args) => split::run(args, &ctx),
        Command::Keys(args) => keys::run(args, &ctx),
        Command::Bench(args) => bench::run(args, &ctx),
        Command::Watch(args) => watch::run(args, &ctx),
        Command::Backfill(args) => backfill::run(args, &ctx),
        Command::Status(args) => status::run(args, &ctx),
        Command::Doctor(args) => doctor::run(args, &ctx),
        Command::Why(args) => why::run(args, &ctx),
        Command::Inspect(args) => inspect::run(args, &ctx),
        Command::Events(args) => events::run(args, &ctx),
        Command::List(args) => list::run(args, &ctx),
        Command::Show(args) => show::run(args, &ctx),
        Command::Search(args) => search::run(args, &ctx),
        Command::Timeline(args) => timeline::run(args, &ctx),
        Command::Context(args) => inject::run(args, &ctx),
        Command::Hook(args) => Ok(hook::run(args, &ctx).unwrap_or(ExitCode::SUCCESS)),
        Command::Add(args) => add::run(args, &ctx),
        Command::Edit(args) => edit::run(args, &ctx),
        Command::Retype(args) => retype::run(args, &ctx),
        Command::Move(args) => relocate::run(args, &ctx),
        Command::Merge(args) => merge::run(args, &ctx),
        Command::Pin(args) => pin::run(args, &ctx),
        Command::Exclude(args) => exclude::run(args, &ctx),
        Command::Trash(args) => trash::run(args, &ctx),
        Command::Restore(args) => restore::run(args, &ctx),
        Command::Purge(args) => purge::run(args, &ctx),
        Command::Undo(args) => history::undo(args, &ctx),
        Command::Redo(args) => history::redo(args, &ctx),
        Command::History(args) => history::run(args, &ctx),
        Command::Redact(args) => redact::run(args, &ctx),
        Command::Refine(args) => refine::run(args, &ctx),
        Command::Project(args) => project::run(args, &ctx),
        Command::Pause(args) => pause::pause(args, &ctx),
        Command::Resume(args) => pause::resume(args, &ctx),
        Command::Import(args) => import::run(args, &ctx),
        Command::Export(args) => export::run(args, &ctx),
        Command::Backup(args) => backup::run(args, &ctx),
        Command::Mcp(args) => mcp::run(args, &ctx),
        Command::Serve(args) => serve::run(args, &ctx),
        Command::Install(args) => install::install(args, &ctx),
        Command::Uninstall(args) => install::uninstall(args, &ctx),
        Command::Config(args) => config::run(args, &ctx),
        Command::Mode(args) => mode::run(args, &ctx),
        Command::Completions(_) | Command::Man(_) | Command::Schema(_) | Command::Pictures(_) => Ok(ExitCode::SUCCESS),
    }
}
