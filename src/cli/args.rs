//! What can be typed: the commands, and the options they share. Completions and the manual page come from here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::{
    add, backfill, backup, bench, completions, config, doctor, edit, events, exclude, export, history, hook, import,
    inject, inspect, install, keys, list, man, mcp, merge, mode, pause, pin, project, purge, redact, refine, relocate,
    restore, retype, schema, search, serve, show, split, status, timeline, trash, tui, watch, why,
};

/// A memory across sessions for Claude Code, and a terminal to see, search and curate it.
///
/// Without a command: the screen, as `cmem tui`.
#[derive(Debug, Parser)]
#[command(name = "cmem", version, disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// Settings file to use in place of the usual one
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
    /// A setting for this run, as in --set observer.provider=offline
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = setting, help_heading = "Global options")]
    pub settings: Vec<(String, String)>,
    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    pub color: When,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.to_owned())),
        None => Err("a setting is written KEY=VALUE, as in trash.days=7".into()),
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The browser: memories as they come, beside the agent
    Tui(tui::Args),
    /// The browser in a pane of its own: tmux, zellij, WezTerm, kitty
    Split(split::Args),
    /// The keys of the browser as they apply
    Keys(keys::Args),
    /// Collect without a screen
    Watch(watch::Args),
    /// Read transcripts from before the first start
    Backfill(backfill::Args),
    /// Whether recording works, from evidence
    Status(status::Args),
    /// Check each stage by running it
    Doctor(doctor::Args),
    /// What became of an event, or where a memory came from
    Why(why::Args),
    /// What the reader finds in transcripts
    Inspect(inspect::Args),
    /// The events of transcripts, one JSON object a line
    Events(events::Args),
    /// Memories, newest first
    List(list::Args),
    /// Memories in full
    Show(show::Args),
    /// Find memories
    Search(search::Args),
    /// What lies around a memory or a moment
    Timeline(timeline::Args),
    /// Exactly what a session would be given
    Context(inject::Args),
    /// Called by Claude Code: JSON in, JSON out
    Hook(hook::Args),
    /// Remember by hand
    Add(add::Args),
    /// Change a memory's text
    Edit(edit::Args),
    /// Give memories another type
    Retype(retype::Args),
    /// File memories under another project
    Move(relocate::Args),
    /// Make one memory of several
    Merge(merge::Args),
    /// Always give a memory to sessions
    Pin(pin::Args),
    /// Never give a memory to sessions
    Exclude(exclude::Args),
    /// Delete memories; they can be brought back for a time
    Trash(trash::Args),
    /// Bring memories back from the trash
    Restore(restore::Args),
    /// Delete memories in the trash for good
    Purge(purge::Args),
    /// Take the last change back
    Undo(history::StepArgs),
    /// Make a change again that was taken back
    Redo(history::StepArgs),
    /// The changes made by hand
    History(history::Args),
    /// Have a model tell memories anew that were made without one
    Refine(refine::Args),
    /// Remove a string everywhere in the database, for good
    Redact(redact::Args),
    /// Projects: list, join, exclude
    Project(project::Args),
    /// Stop recording, everywhere or in one session
    Pause(pause::Args),
    /// Record again
    Resume(pause::Args),
    /// Take in a claude-mem database or a cmem export
    Import(import::Args),
    /// Write memories out
    Export(export::Args),
    /// Copy the database while it is in use
    Backup(backup::Args),
    /// MCP server on stdio
    Mcp(mcp::Args),
    /// Local HTTP API, for this machine only
    Serve(serve::Args),
    /// Add hooks and the MCP server to Claude Code's settings
    Install(install::Args),
    /// Take them out again
    Uninstall(install::Args),
    /// The settings: where they are, whether they are right
    Config(config::Args),
    /// What is worth remembering: list, show, check, begin a mode
    Mode(mode::Args),
    /// Shell completions
    Completions(completions::Args),
    /// The manual page
    Man(man::Args),
    /// JSON schemas
    Schema(schema::Args),
    /// How fast the browser is on this machine
    #[command(hide = true)]
    Bench(bench::Args),
    /// Pictures of the browser over sample memories
    #[command(hide = true)]
    Pictures(bench::Pictures),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_option_has_a_line_of_help() {
        fn check(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{} has no help", command.get_name());
            for arg in command.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {} has no help", command.get_name(), arg.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
