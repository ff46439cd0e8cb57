//! The lines of a lossless export. A field that is added later is one that older programs pass over.

use serde::{Deserialize, Serialize};

use crate::memory::{EventKey, Kind, Memory, Timestamp};

/// Raised when a line can no longer be understood by older programs.
pub(super) const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub(super) enum Line {
    /// The first line.
    CmemExport { version: u32 },
    /// A project.
    Project(ProjectLine),
    /// A session.
    Session(SessionLine),
    /// A memory.
    Memory(Box<MemoryLine>),
    /// Something that was deleted.
    Deleted(DeletedLine),
}

/// Where a memory or session is filed, before aliases.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Filed {
    pub root: String,
    #[serde(default)]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub worktree: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProjectLine {
    #[serde(flatten)]
    pub filed: Filed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias_of: Option<Filed>,
    #[serde(default)]
    pub excluded: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionLine {
    pub session: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filed: Option<Filed>,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    #[serde(default)]
    pub last_at: Option<Timestamp>,
    #[serde(default)]
    pub prompts: u32,
    #[serde(default)]
    pub last_prompt: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MemoryLine {
    #[serde(flatten)]
    pub memory: Memory,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filed: Option<Filed>,
    /// Of the content as it was recorded, in hexadecimal; an edited memory keeps it.
    #[serde(default)]
    pub hash: String,
    /// The id of the row that stands for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded_into: Option<i64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DeletedLine {
    pub hash: String,
    pub deleted_at: Timestamp,
    #[serde(default)]
    pub kind: Option<Kind>,
    #[serde(default)]
    pub keys: Vec<EventKey>,
}
