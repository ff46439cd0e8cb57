//! A memory on its way: proposed, about to be written, kept.

use serde::{Deserialize, Serialize};

use super::{AgentId, EventKey, MemoryId, ProjectRef, SessionId, Timestamp};

/// What kind of row a memory is. The JSON and query words are `obs`, `sum` and `prompt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Kind {
    /// Something learned, decided, built or mended.
    #[default]
    #[serde(rename = "obs")]
    Observation,
    /// What a span of a session came to.
    #[serde(rename = "sum")]
    Summary,
    /// The user's own words.
    #[serde(rename = "prompt")]
    Prompt,
}

/// Who wrote a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A model that watched the session.
    #[default]
    Observer,
    /// The observer without a model; a model may take such rows up later (`cmem refine`).
    Offline,
    /// A person, by hand.
    Manual,
    /// Another database or an export.
    Import,
    /// Made from the closing answer because the model failed.
    Fallback,
}

/// What is known of the files a memory touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Tool calls show which files.
    Files,
    /// Tool calls show that no file was touched.
    None,
    /// Something ran that may have touched files (a shell command).
    #[default]
    Unknown,
}

/// A proposed observation: what an observer answered, before evidence corrects it (gate 5).
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Draft {
    /// The type word as given; empty when it was missing.
    pub raw_type: String,
    /// One line.
    pub title: String,
    /// One line more.
    pub subtitle: String,
    /// The story in prose.
    pub narrative: String,
    /// Statements that stand alone.
    pub facts: Vec<String>,
    /// Concept words as given.
    pub concepts: Vec<String>,
    /// Files claimed to have been read.
    pub files_read: Vec<String>,
    /// Files claimed to have been modified. A claim only: evidence decides.
    pub files_modified: Vec<String>,
    /// Events the draft says it rests on; empty means the whole batch.
    pub cites: Vec<EventKey>,
    /// Made from prose that was no well-formed observation (A003).
    pub salvaged: bool,
    /// Earlier memories this one replaces (A019).
    pub supersedes: Vec<MemoryId>,
}

/// The parts of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// What was asked for.
    #[serde(default)]
    pub request: String,
    /// What was looked into.
    #[serde(default)]
    pub investigated: String,
    /// What was found out.
    #[serde(default)]
    pub learned: String,
    /// What was done.
    #[serde(default)]
    pub completed: String,
    /// What is left to do.
    #[serde(default)]
    pub next_steps: String,
    /// Anything else.
    #[serde(default)]
    pub notes: String,
}

/// A memory about to be written: everything but its id. Text in it is already stripped and masked.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NewMemory {
    /// Row kind.
    pub kind: Kind,
    /// Type id of the active mode (its neutral type when the word was unknown).
    pub type_id: String,
    /// The type word as given, when it differs from `type_id`.
    pub raw_type: Option<String>,
    /// One line. A prompt's own first line for prompts, the request for summaries.
    pub title: String,
    /// One line more.
    pub subtitle: String,
    /// The story in prose; a prompt's full text.
    pub narrative: String,
    /// Statements that stand alone.
    pub facts: Vec<String>,
    /// Concept keywords of the mode, and unknown words as text.
    pub concepts: Vec<String>,
    /// Files read, project-relative where inside the project.
    pub files_read: Vec<String>,
    /// Files modified, by evidence alone.
    pub files_modified: Vec<String>,
    /// What the file lists rest on.
    pub evidence: Evidence,
    /// Project; `None` when no line ever named a directory.
    pub project: Option<ProjectRef>,
    /// Working directory of the event, raw.
    pub cwd: Option<String>,
    /// Git branch of the event.
    pub branch: Option<String>,
    /// Helper agent, if one did the work.
    pub agent: Option<AgentId>,
    /// Session the memory belongs to; manual memories have none.
    pub session: Option<SessionId>,
    /// Number of the prompt in its session, from 1; 0 before the first.
    pub prompt_number: u32,
    /// Event time.
    pub created_at: Timestamp,
    /// Who wrote it.
    pub source: Source,
    /// Model, when one wrote it.
    pub model: Option<String>,
    /// Tokens the observer spent to produce it (its share of the call).
    pub work_tokens: u32,
    /// Summary parts, for summaries.
    pub summary: Option<Summary>,
    /// Events it rests on.
    pub keys: Vec<EventKey>,
    /// Always injected.
    pub pinned: bool,
    /// Lies on a branch of the transcript that was rewound away (A144).
    pub abandoned: bool,
    /// Earlier memories this one replaces.
    pub supersedes: Vec<MemoryId>,
}

/// A memory as kept. Field names are the JSON contract of commands.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Row id.
    pub id: MemoryId,
    /// Row kind.
    pub kind: Kind,
    /// Type id of the mode.
    #[serde(rename = "type")]
    pub type_id: String,
    /// Type word as given, when it was another.
    pub raw_type: Option<String>,
    /// One line.
    pub title: String,
    /// One line more.
    pub subtitle: String,
    /// Prose.
    pub narrative: String,
    /// Statements.
    pub facts: Vec<String>,
    /// Keywords.
    pub concepts: Vec<String>,
    /// Files read.
    pub files_read: Vec<String>,
    /// Files modified.
    pub files_modified: Vec<String>,
    /// What the file lists rest on.
    pub evidence: Evidence,
    /// Project label; empty when unknown.
    pub project: String,
    /// Project identity; empty when unknown.
    pub project_root: String,
    /// Raw working directory.
    pub cwd: Option<String>,
    /// Git branch.
    pub branch: Option<String>,
    /// Helper agent.
    pub agent: Option<AgentId>,
    /// Session.
    pub session: Option<SessionId>,
    /// Prompt number.
    pub prompt_number: u32,
    /// Event time.
    pub created_at: Timestamp,
    /// When the row was written.
    pub recorded_at: Timestamp,
    /// Who wrote it.
    pub source: Source,
    /// Model.
    pub model: Option<String>,
    /// Estimated tokens to read it in full.
    pub tokens: u32,
    /// Tokens spent to produce it.
    pub work_tokens: u32,
    /// Always injected.
    pub pinned: bool,
    /// Never injected.
    pub excluded: bool,
    /// Changed by a person.
    pub edited: bool,
    /// On a rewound branch.
    pub abandoned: bool,
    /// The memory that replaced it.
    pub superseded_by: Option<MemoryId>,
    /// How many near-equal findings were folded into this row, itself included (A030).
    pub count: u32,
    /// Summary parts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<Summary>,
    /// Events it rests on.
    pub keys: Vec<EventKey>,
}
