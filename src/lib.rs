//! cmem gives Claude Code a memory across sessions, and its user a terminal to see, search and curate it.
//!
//! The modules stand in the order of the story: what a memory is → what is worth keeping → where it comes from →
//! what may pass → who decides → where it is kept → how it is found → the pipeline that runs → the door → the
//! faces. A module may use only what stands above it in this list (`tests/all/floors.rs` reads the imports).

/// What is remembered: ids, drafts, memories, event time, safe text. Nothing here knows where it came from.
pub mod memory;

/// Settings, directories, the project resolver. No secrets in `Debug` output.
pub mod config;

/// What is worth remembering: mode files. Texts are handed in, no file is read.
pub mod mode;

/// Claude Code's files as events. Nothing here knows what an observer is.
pub mod transcript;

/// What may come in and what may be kept: functions to a verdict with a reason. No I/O, no idea who asks.
pub mod gate;

/// Who decides: the machine, the observer without a model, the providers. No database.
pub mod observer;

/// SQLite: where it is kept. No rules about what is worth keeping.
pub mod store;

/// Finding and telling: queries, search, timeline, context. No terminals, no sockets.
pub mod recall;

/// The pipeline, running. It never knows who watches.
pub mod collector;

/// The one door for every face. No wire formats, no widgets.
pub mod hub;

/// The screen. No SQL.
pub mod tui;

/// The MCP server: shapes on the wire. No decisions.
pub mod mcp;

/// The optional local HTTP API: shapes on the wire. No decisions.
pub mod http;

/// Claude Code hooks: JSON in, JSON out, silence on trouble.
pub mod hook;

/// The command line; the only place where an error becomes words and an exit code.
pub mod cli;
