//! What reaches the state: input, answers, time.

use crate::hub::live::{
    Applied, Changes, ContextPreview, EditFields, HourCount, Opened, ProjectInfo, RedactReach, RowBatch, SessionInfo,
    StepInfo, TrashRow, Trouble, Vitals, WordHits,
};
use crate::memory::{Memory, MemoryId};

use super::arena::RowIx;
use super::effect::GetFor;
use super::term::input::Input;

/// One thing that happened.
#[derive(Debug)]
pub enum Msg {
    /// The terminal sent something.
    Input(Input),
    /// The terminal has another size.
    Resize(u16, u16),
    /// Time has passed; nothing else.
    Tick,
    /// The source answered.
    Data(Answer),
    /// The fuzzy search found this, best first, for a generation.
    Fuzzy(u64, Vec<RowIx>),
    /// Something was copied, or not: what the message says.
    Copied(Result<String, String>),
    /// Something else was done by `run`: what the message says.
    Done(Result<String, String>),
    /// The editor is back: memories as they were, the text as left.
    Edited(Vec<Memory>, String),
    /// A theme was read.
    Theme(Box<super::theme::ThemeFile>, Vec<String>),
    /// The configuration was read again: settings, keys, faults, what changed.
    Config(Box<Reloaded>),
    /// The hook's change, as lines.
    HookDiff(Vec<String>),
    /// The program came back from a suspension or a child: everything is drawn again.
    Resumed,
    /// SIGTERM or SIGHUP: leave.
    Stop,
}

/// The configuration, read again.
#[derive(Debug)]
pub struct Reloaded {
    /// Settings of the screen.
    pub settings: crate::config::TuiSettings,
    /// Keys.
    pub keymap: super::keymap::Keymap,
    /// Theme.
    pub theme: super::theme::ThemeFile,
    /// What does not apply.
    pub faults: Vec<String>,
}

/// An answer of the source's thread.
#[derive(Debug)]
pub enum Answer {
    /// It is open, or why not.
    Opened(Result<Opened, Trouble>),
    /// A page of rows; `done`: the last one.
    Page {
        /// Rows.
        rows: RowBatch,
        /// That was all.
        done: bool,
        /// The first page of a load: what was there goes.
        first: bool,
    },
    /// Something changed.
    Changes(Changes),
    /// Memories in full.
    Memories(Vec<Memory>),
    /// Memories in full for a purpose.
    MemoriesFor(Vec<Memory>, GetFor),
    /// Full text found this.
    Words(u64, WordHits),
    /// These ids meet the conditions.
    Matching(u64, Vec<MemoryId>),
    /// Projects.
    Projects(Vec<ProjectInfo>),
    /// Sessions.
    Sessions(Vec<SessionInfo>),
    /// Summaries of a session.
    SessionSummary(String, Vec<Memory>),
    /// Hours.
    Hours(Vec<HourCount>),
    /// Is it recording.
    Vitals(Vitals),
    /// What the next session would get.
    Context(Result<ContextPreview, Trouble>),
    /// Trash.
    Trash(Vec<TrashRow>),
    /// Journal.
    History(Vec<StepInfo>),
    /// A change was carried out, or not.
    Applied(Done, Result<Applied, Trouble>),
    /// Where a string stands.
    Reach(Result<RedactReach, Trouble>),
    /// Where a memory comes from.
    Why(MemoryId, Vec<String>),
    /// Log lines.
    Log(Vec<String>),
    /// A question could not be answered.
    Trouble(Trouble),
}

/// What kind of change was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// A change.
    Change,
    /// An undo.
    Undo,
    /// A redo.
    Redo,
}

/// New contents for memories, from the editor.
pub type Edits = Vec<(MemoryId, EditFields)>;
