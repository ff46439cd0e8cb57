//! Gate 1: which events are worth a look at all.
//!
//! Bookkeeping tools are skipped by name. What a person answers to AskUserQuestion still comes through: the reader
//! makes it an event of its own, the user's words. Our own memory tools are skipped always: what they return has been
//! remembered before.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use memchr::memmem;

use crate::transcript::event::ToolCall;

/// The tools that are never observed.
#[derive(Clone, Debug)]
pub struct SkipTools {
    names: Vec<String>,
    patterns: GlobSet,
}

impl SkipTools {
    /// Reads names; those with `*` are patterns.
    pub fn new(tools: &[String]) -> Self {
        let mut patterns = GlobSetBuilder::new();
        let (globs, names): (Vec<_>, Vec<_>) = tools
            .iter()
            .map(|tool| tool.trim().to_owned())
            .filter(|tool| !tool.is_empty())
            .partition(|tool| tool.contains('*'));
        for glob in globs.iter().filter_map(|glob| GlobBuilder::new(glob).build().ok()) {
            patterns.add(glob);
        }
        Self { names, patterns: patterns.build().unwrap_or_default() }
    }

    /// Why the call is not looked at, if it is not.
    pub fn refuses(&self, call: &ToolCall) -> Option<&'static str> {
        if call.name.starts_with("mcp__cmem__") {
            return Some("own-tool");
        }
        if self.names.contains(&call.name) || (!self.patterns.is_empty() && self.patterns.is_match(&call.name)) {
            return Some("skip-tool");
        }
        // Claude Code's own notes about a session are its bookkeeping, not somebody's work.
        let on_file = matches!(call.name.as_str(), "Edit" | "Write" | "Read" | "MultiEdit" | "NotebookEdit");
        let input = call.input.as_bytes();
        if on_file && memmem::find(input, b"/session-memory/").is_some() && names_session_memory(&call.input) {
            return Some("session-memory");
        }
        None
    }
}

fn names_session_memory(input: &str) -> bool {
    let Ok(input) = serde_json::from_str::<serde_json::Value>(input) else { return false };
    ["file_path", "notebook_path"]
        .iter()
        .filter_map(|name| input[*name].as_str())
        .any(|path| path.contains("/.claude/") && path.contains("/session-memory/"))
}
