//! What `update` wants done, as data. `run` does it.

use crate::hub::live::{Change, ContextAsk};
use crate::memory::{Memory, MemoryId};

use super::arena::Shared;

/// One thing to do outside of the state.
#[derive(Clone, Debug)]
pub enum Effect {
    /// A question or change for the source.
    Ask(Request),
    /// Fuzzy search over these texts.
    Fuzzy {
        /// Which search it is for.
        generation: u64,
        /// What to look for.
        pattern: String,
        /// In which texts.
        texts: Shared,
    },
    /// Text to the clipboard.
    Copy {
        /// The text.
        text: String,
        /// What it is, for the message.
        what: &'static str,
    },
    /// Plain text outside the frame until a key is pressed.
    ShowPlain(String),
    /// Memories into the user's editor. What comes back is a message.
    Edit(Vec<Memory>),
    /// The same file again, with what is wrong in it.
    EditAgain {
        /// As they were.
        memories: Vec<Memory>,
        /// The text as left.
        text: String,
        /// Line and what is wrong.
        faults: Vec<(usize, String)>,
    },
    /// A file into the user's editor.
    OpenFile {
        /// As recorded; relative to `cwd`.
        path: String,
        /// Directory it is relative to.
        cwd: Option<String>,
    },
    /// The configuration file into the user's editor.
    EditConfig,
    /// Write a file.
    Write {
        /// Where; relative to the directory the program was started in.
        path: String,
        /// What.
        text: String,
        /// How many memories it holds, for the message.
        memories: usize,
    },
    /// Stop until `fg`.
    Suspend,
    /// The bell.
    Bell,
    /// Capture the mouse, or stop.
    Mouse(bool),
    /// A theme by name, read from disk or the shipped ones.
    LoadTheme(String),
    /// Show sample memories instead.
    Demo,
    /// Install the injection hook; `false`: only show what would change.
    InstallHook(bool),
    /// Print this on stdout when the screen is gone (`--pick`).
    Print(String),
    /// End, with this exit code.
    Quit(u8),
}

/// What is asked of the source's thread.
#[derive(Clone, Debug)]
pub enum Request {
    /// Open and load everything.
    Open,
    /// Load everything again.
    Reload,
    /// Memories in full.
    Get(Vec<MemoryId>),
    /// Memories in full, to be merged or edited.
    GetFor(Vec<MemoryId>, GetFor),
    /// Full text.
    Words {
        /// Which search it is for.
        generation: u64,
        /// The query.
        query: String,
        /// Projects; none: all.
        projects: Vec<String>,
        /// How many.
        limit: usize,
    },
    /// Ids that meet what only the source can check.
    Matching {
        /// Which search it is for.
        generation: u64,
        /// The query.
        query: String,
    },
    /// Projects with counts.
    Projects,
    /// Sessions.
    Sessions,
    /// What a session left behind: its summaries.
    SessionSummary(String),
    /// Hours.
    Hours {
        /// Projects; none: all.
        projects: Vec<String>,
        /// From.
        since: i64,
        /// Until.
        until: i64,
    },
    /// Is it recording.
    Vitals,
    /// What the next session would get.
    Context(ContextAsk),
    /// What is in the trash.
    Trash,
    /// The journal.
    History,
    /// A change.
    Apply(Change),
    /// Undo a step; `None`: the last.
    Undo(Option<i64>),
    /// Undo every step back to and with this one.
    UndoTo(i64),
    /// Redo.
    Redo,
    /// Where a string stands.
    Reach(String),
    /// Where a memory comes from.
    Why(MemoryId),
    /// Last log lines.
    Log,
}

/// What full memories are wanted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GetFor {
    /// The editor.
    Edit,
    /// The merge form.
    Merge,
    /// The concepts checklist.
    Concepts,
    /// The clipboard, in this form.
    Copy(CopyForm),
    /// A file; its ending says how: md, json, jsonl, csv.
    Export(String),
}

/// How a memory is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum CopyForm {
    Narrative,
    Files,
    Markdown,
    Json,
}
