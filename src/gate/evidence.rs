//! Gate 5, first half: which files a tool call touched, told by its input and by how it came out.
//!
//! A model's word is a claim; this is the evidence. An edit counts only when it was carried out: failed, denied
//! and interrupted edits leave no file behind (A025). A shell command that may have written something makes the
//! answer "unknown", never "none"; only plain moves and removals are read from a command line, because there the
//! words are the files. Absent from here: what a memory says ([`super::correct`]), and any look at the disk.

mod paths;
mod shell;

use serde_json::{Map, Value};

use crate::memory::Evidence;
use crate::transcript::event::{Body, Event, ToolCall, ToolOutcome};

pub use paths::Roots;
pub use shell::{Program, segments};

/// Files of one event, as written in the tool's input, and whether more may have been touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Files whose content the agent saw.
    pub read: Vec<String>,
    /// Files that were changed, made, moved or removed.
    pub modified: Vec<String>,
    /// Something ran that may have written files which cannot be named.
    pub unknown: bool,
}

impl Touched {
    /// The three states of architecture §3: files, none, unknown.
    pub fn state(&self) -> Evidence {
        if !self.read.is_empty() || !self.modified.is_empty() {
            Evidence::Files
        } else if self.unknown {
            Evidence::Unknown
        } else {
            Evidence::None
        }
    }

    /// Takes in what another event touched, each file once, in order of first touch.
    pub fn absorb(&mut self, other: Touched) {
        for file in other.read {
            push_new(&mut self.read, file);
        }
        for file in other.modified {
            push_new(&mut self.modified, file);
        }
        self.unknown |= other.unknown;
    }
}

/// What all of `events` touched, with paths made one form by `roots` (project-relative inside it, else absolute).
pub fn of_all<'a>(events: impl IntoIterator<Item = &'a Event>, roots: &Roots) -> Touched {
    let mut all = Touched::default();
    for event in events {
        let Body::Tool(call) = &event.body else { continue };
        let mut touched = of_call(call);
        for file in touched.read.iter_mut().chain(&mut touched.modified) {
            *file = roots.normalise(file, event.cwd.as_deref());
        }
        touched.read.retain(|file| !file.is_empty());
        touched.modified.retain(|file| !file.is_empty());
        all.absorb(touched);
    }
    all
}

/// What one call touched; paths as written.
pub fn of_call(call: &ToolCall) -> Touched {
    match kind_of(&call.name) {
        Kind::Reads => reads(call),
        Kind::Writes => writes(call),
        Kind::Patch => patch(call),
        Kind::Shell => shell_command(call),
        Kind::NoFiles => Touched::default(),
        Kind::Helper => helper(call),
        Kind::TextEditor => match text_input(call, "command").as_deref() {
            Some("view") => reads(call),
            _ => writes(call),
        },
        Kind::Mcp => mcp(call),
        Kind::Foreign => foreign(call),
    }
}

/// The file a call is about, as written, whatever came of it: for telling what was tried.
pub fn subject(call: &ToolCall) -> Option<String> {
    let input = object(call);
    path_of(&input).or_else(|| call.facts.file.clone())
}

/// What a tool does with files, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Reads,
    Writes,
    Patch,
    Shell,
    NoFiles,
    Helper,
    TextEditor,
    Mcp,
    Foreign,
}

fn kind_of(name: &str) -> Kind {
    match name {
        "Read" | "NotebookRead" | "read_file" | "View" => Kind::Reads,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" | "Update" | "Create" | "edit_file" | "write_file" => {
            Kind::Writes
        }
        "apply_patch" | "ApplyPatch" => Kind::Patch,
        "Bash" | "PowerShell" | "shell" => Kind::Shell,
        "str_replace_editor" | "str_replace_based_edit_tool" => Kind::TextEditor,
        "Task" | "Agent" => Kind::Helper,
        // Searching shows lines, not files; the rest works on lists, plans, the web and other processes.
        "Grep"
        | "Glob"
        | "LS"
        | "WebFetch"
        | "WebSearch"
        | "TodoWrite"
        | "TodoRead"
        | "AskUserQuestion"
        | "ExitPlanMode"
        | "EnterPlanMode"
        | "BashOutput"
        | "KillShell"
        | "KillBash"
        | "SlashCommand"
        | "ToolSearch"
        | "LSP"
        | "ListMcpResourcesTool"
        | "ReadMcpResourceTool"
        | "SendMessage"
        | "Monitor"
        | "ScheduleWakeup"
        | "TaskCreate"
        | "TaskUpdate"
        | "TaskList"
        | "TaskGet"
        | "TaskOutput"
        | "TaskStop"
        | "CronCreate"
        | "CronList"
        | "CronDelete"
        | "EnterWorktree"
        | "ExitWorktree" => Kind::NoFiles,
        _ if name.starts_with("mcp__") => Kind::Mcp,
        _ => Kind::Foreign,
    }
}

fn reads(call: &ToolCall) -> Touched {
    let mut touched = Touched::default();
    if call.outcome == ToolOutcome::Ok {
        // A long output that the client keeps in a side file of its own is no file of the user's.
        touched.read.extend(subject(call).filter(|path| !path.contains("/tool-results/")));
    }
    touched
}

/// Write-type tools. Only a carried-out call counts; a result whose call is lost counts when its own record
/// shows a change.
fn writes(call: &ToolCall) -> Touched {
    let mut touched = Touched::default();
    match call.outcome {
        ToolOutcome::Ok => touched.modified.extend(subject(call)),
        ToolOutcome::Orphan => touched = foreign(call),
        ToolOutcome::Failed | ToolOutcome::Denied | ToolOutcome::Interrupted | ToolOutcome::Started => {}
    }
    touched
}

fn patch(call: &ToolCall) -> Touched {
    let mut touched = Touched::default();
    if call.outcome != ToolOutcome::Ok {
        return touched;
    }
    let input = object(call);
    let text = ["input", "patch", "patchText", "diff"].iter().find_map(|key| input.get(*key)?.as_str());
    match text {
        Some(text) => touched.modified = shell::patched_files(text),
        None => touched.unknown = true,
    }
    touched.unknown |= touched.modified.is_empty();
    touched
}

fn shell_command(call: &ToolCall) -> Touched {
    let mut touched = Touched::default();
    let Some(command) = text_input(call, "command") else {
        touched.unknown = call.outcome != ToolOutcome::Denied;
        return touched;
    };
    match call.outcome {
        // Refused before it ran.
        ToolOutcome::Denied => {}
        ToolOutcome::Ok | ToolOutcome::Orphan => touched = shell::touched(&command),
        // It may have done half of its work; which half is not told.
        ToolOutcome::Failed | ToolOutcome::Interrupted | ToolOutcome::Started => {
            touched.unknown = !shell::only_looks(&command);
        }
    }
    touched
}

/// A helper agent's work comes as events of its own. Where those are missing, it may have written anything,
/// except for the kinds that cannot write.
fn helper(call: &ToolCall) -> Touched {
    let kind = text_input(call, "subagent_type").unwrap_or_default();
    let looks_only = matches!(kind.as_str(), "Explore" | "Plan" | "claude-code-guide" | "statusline-setup");
    Touched { unknown: call.outcome != ToolOutcome::Denied && !looks_only, ..Touched::default() }
}

/// MCP tools by rule: the verb in the tool's name says what it does, path-like arguments say to what. A file in
/// somebody's repository on a server (`owner`, `repo`) is no file here.
fn mcp(call: &ToolCall) -> Touched {
    let mut touched = Touched::default();
    if call.outcome != ToolOutcome::Ok {
        touched.unknown = call.outcome != ToolOutcome::Denied && mcp_runs(&call.name);
        return touched;
    }
    let input = object(call);
    if input.contains_key("owner") || input.contains_key("repo") || input.contains_key("repository") {
        return touched;
    }
    let files = paths_of(&input);
    match mcp_verb(&call.name) {
        Verb::Writes => touched.modified = files,
        Verb::Reads => touched.read = files,
        Verb::Other => touched.unknown = mcp_runs(&call.name),
    }
    touched
}

enum Verb {
    Reads,
    Writes,
    Other,
}

fn mcp_verb(name: &str) -> Verb {
    let tool = name.rsplit("__").next().unwrap_or(name);
    let mut words = tool.split(['_', '-', '.']).map(str::to_ascii_lowercase);
    let starts = |verbs: &[&str], word: &str| verbs.iter().any(|verb| word.starts_with(verb));
    let found = words.find_map(|word| {
        if starts(
            &["write", "edit", "create", "replac", "insert", "move", "renam", "delet", "remov", "patch", "append"],
            &word,
        ) || starts(&["appl", "overwrit", "update", "save"], &word)
        {
            Some(Verb::Writes)
        } else if starts(&["read", "view", "open", "get", "show", "cat"], &word) {
            Some(Verb::Reads)
        } else {
            None
        }
    });
    found.unwrap_or(Verb::Other)
}

/// Whether an MCP tool runs commands or code.
fn mcp_runs(name: &str) -> bool {
    let tool = name.rsplit("__").next().unwrap_or(name).to_ascii_lowercase();
    ["exec", "shell", "run", "eval", "terminal", "command"].iter().any(|word| tool.contains(word))
}

/// A tool we do not know, or a result without its call: only its own record of a change is evidence.
fn foreign(call: &ToolCall) -> Touched {
    let mut touched = Touched::default();
    let carried_out = matches!(call.outcome, ToolOutcome::Ok | ToolOutcome::Orphan);
    let changed = call.facts.lines_changed.is_some_and(|lines| lines != (0, 0)) || call.facts.created;
    match &call.facts.file {
        Some(file) if carried_out && changed => touched.modified.push(file.clone()),
        _ => touched.unknown = !matches!(call.outcome, ToolOutcome::Denied),
    }
    touched
}

/// The input as an object; empty when it is something else.
fn object(call: &ToolCall) -> Map<String, Value> {
    // Edit inputs carry whole texts; parsing all of it is still one pass, and nothing below copies them.
    match serde_json::from_str(&call.input) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// A text field of the input.
pub fn text_input(call: &ToolCall, key: &str) -> Option<String> {
    match object(call).remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

const PATH_KEYS: [&str; 8] =
    ["file_path", "notebook_path", "path", "filePath", "relative_path", "filepath", "file", "filename"];

fn path_of(input: &Map<String, Value>) -> Option<String> {
    PATH_KEYS.iter().find_map(|key| input.get(*key)?.as_str()).filter(|path| !path.is_empty()).map(String::from)
}

fn paths_of(input: &Map<String, Value>) -> Vec<String> {
    let mut files = Vec::new();
    files.extend(path_of(input));
    for key in ["source", "destination", "from", "to", "old_path", "new_path"] {
        if let Some(path) = input.get(key).and_then(Value::as_str)
            && path.contains(['/', '\\', '.'])
        {
            push_new(&mut files, path.to_owned());
        }
    }
    for key in ["paths", "files"] {
        for item in input.get(key).and_then(Value::as_array).into_iter().flatten() {
            let path = item.as_str().or_else(|| item.get("path")?.as_str());
            if let Some(path) = path {
                push_new(&mut files, path.to_owned());
            }
        }
    }
    if let Some(path) = input.get("uri").and_then(Value::as_str).and_then(|uri| uri.strip_prefix("file://")) {
        push_new(&mut files, path.to_owned());
    }
    files
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests;
