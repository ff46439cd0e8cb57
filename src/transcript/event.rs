//! What a transcript comes to: normalised events, one for each thing that happened.
//!
//! Everything downstream (gates, observers, ledger) sees events only, never lines. An event owns its text; text
//! is as the transcript has it, except that binary blocks are already placeholders. Privacy and size rules are
//! the gates' business.

use serde::{Deserialize, Serialize};

use crate::memory::{AgentId, EventKey, SessionId, Timestamp};

/// One thing that happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The same wherever a copy of it is read.
    pub key: EventKey,
    /// A second name, for copies that were given new uuids (old resumes, transcripts.md §11): an answer by its
    /// message id and text, a prompt by its time and text. An event is a copy when either name is known.
    pub alias: Option<EventKey>,
    /// Session (file name; for helper agents the parent's).
    pub session: SessionId,
    /// Helper agent whose file or sidechain it stands in.
    pub agent: Option<AgentId>,
    /// The parent's tool call that the agent belongs to, when it could be tied.
    pub parent_call: Option<EventKey>,
    /// Transcript time; the previous timed entry's time when the line has none.
    pub time: Option<Timestamp>,
    /// Working directory of the line, else the last one seen in the file.
    pub cwd: Option<String>,
    /// Git branch, in the same way.
    pub branch: Option<String>,
    /// Client version, in the same way.
    pub version: Option<String>,
    /// `entrypoint` of the line (`cli`, `sdk-cli`, `claude-vscode` …).
    pub entrypoint: Option<String>,
    /// Number of the prompt in this file, from 1; 0 before the first.
    pub turn: u32,
    /// Stands on a branch of the tree that a later prompt rewound away, as far as known when read.
    pub abandoned: bool,
    /// Byte offset in the file just behind the line that completed it.
    pub end_offset: u64,
    /// What happened.
    pub body: Body,
}

impl Event {
    /// An event with nothing known of it but its key, session and body.
    pub fn new(key: EventKey, session: SessionId, body: Body) -> Self {
        Self {
            key,
            alias: None,
            session,
            agent: None,
            parent_call: None,
            time: None,
            cwd: None,
            branch: None,
            version: None,
            entrypoint: None,
            turn: 0,
            abandoned: false,
            end_offset: 0,
            body,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Words of the user (never of a machine), or an act of the user's.
    Prompt(Prompt),
    /// A tool call joined to its result.
    Tool(ToolCall),
    /// The text of one finished answer of the model (all text blocks of one message id).
    Answer(Answer),
    /// A turn is over.
    TurnEnd(TurnEnd),
    /// The context was compacted; a mark, nothing is cut.
    Compaction,
    /// A title for the session (custom, AI, summary), last one wins.
    Title(String),
    /// A pull request was linked: its URL.
    PullRequest(String),
    /// A title for the session that holds the entry with this uuid, mostly another one (`summary` lines; E74).
    TitleFor(EventKey, String),
    /// The user went back to an earlier prompt: what this file did in these turns lies on a dead branch.
    Rewind(Rewind),
    /// These events (by entry uuid or key) were taken back by the client.
    Retraction(Vec<EventKey>),
    /// The user's act or another machine's words that start a turn but are no prompt of a person
    /// (task notification, scheduled turn, peer message): text for context only.
    Notice(Notice),
}

/// How the user spoke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptKind {
    /// Typed at the prompt (or by a program: `sdk`).
    Typed,
    /// Typed while the agent worked (§6).
    Steering,
    /// A slash command with its arguments.
    Slash,
    /// `!` mode: the user's own shell command.
    Shell,
    /// Words given on refusing a tool call: a correction.
    Rejection,
    /// An answer to AskUserQuestion: a decision.
    Choice,
    /// A plan written by the model and approved by the user.
    Plan,
}

/// Words of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// How they were said.
    pub kind: PromptKind,
    /// The words. For a slash command `/name args`, for a choice `question → answer` a line.
    pub text: String,
    /// The tool call the words refer to (rejections, choices).
    pub about: Option<EventKey>,
    /// Pictures and documents that came with it.
    pub attachments: u32,
    /// Typed by a program, not a person (`-p`, SDK; E51).
    pub program: bool,
}

/// A span of turns that was rewound away (A144). The work was done all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewind {
    /// First abandoned turn ([`Event::turn`]).
    pub first: u32,
    /// Last abandoned turn.
    pub last: u32,
}

/// How a tool call came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It ran.
    Ok,
    /// It ran and failed (`is_error`).
    Failed,
    /// The user, a hook or a permission rule refused it.
    Denied,
    /// No result came: interrupted, killed.
    Interrupted,
    /// It was started in the background; its end comes later.
    Started,
    /// A result without a call (compaction, excerpt).
    Orphan,
}

/// A tool call joined to its result by id.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// `tool_use.id`.
    pub id: String,
    /// Tool name as written. `Task` and `Agent` are the same tool; `mcp__server__tool` for MCP.
    pub name: String,
    /// Input object as JSON text; `{}` when missing.
    pub input: String,
    /// The text the model saw as the result (text blocks joined, binary blocks as placeholders).
    pub output: String,
    /// How it came out.
    pub outcome: ToolOutcome,
    /// Few facts from `toolUseResult`, whatever its shape.
    pub facts: ToolFacts,
}

/// Facts taken from the richer copy of a result (transcripts.md §7). All optional.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolFacts {
    /// File the tool worked on (`filePath`, `file.filePath`).
    pub file: Option<String>,
    /// Lines added and removed, from a structured patch.
    pub lines_changed: Option<(u32, u32)>,
    /// Whether a Write created the file.
    pub created: bool,
    /// Exit code, where the text or the object tells it.
    pub exit_code: Option<i32>,
    /// Helper agent that a Task/Agent call ran.
    pub agent: Option<String>,
    /// Number of files or matches found (Grep, Glob).
    pub found: Option<u64>,
    /// Size of an output kept in a side file.
    pub persisted_bytes: Option<u64>,
    /// Id of the background task that was started.
    pub background: Option<String>,
}

/// One finished answer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Answer {
    /// All its text blocks, joined by blank lines.
    pub text: String,
    /// Model name.
    pub model: Option<String>,
    /// Output tokens: the maximum over the lines of one message id.
    pub output_tokens: u64,
    /// No tool call in it: it closes the turn, as far as text can tell.
    pub closing: bool,
}

/// Why a turn is known to be over, best evidence first (transcripts.md §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// `turn_duration` or `stop_hook_summary`.
    Marked,
    /// A closing answer with a stop reason on the allow-list and no open call.
    Stopped,
    /// Text-only last group, and quiet.
    Quiet,
    /// The next prompt came.
    NextPrompt,
    /// The user interrupted it.
    Interrupted,
}

/// Words of a machine that start or accompany a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// `notification`, `peer`, `scheduled`, `machine` (another program's turn), `shell` (output of a `!` command).
    pub kind: &'static str,
    /// Its text.
    pub text: String,
}

impl Body {
    /// The word for it in `cmem events`, the ledger and the counters.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Prompt(_) => "prompt",
            Self::Tool(_) => "tool",
            Self::Answer(_) => "answer",
            Self::TurnEnd(_) => "turn_end",
            Self::Compaction => "compaction",
            Self::Title(_) | Self::TitleFor(..) => "title",
            Self::PullRequest(_) => "pull_request",
            Self::Rewind(_) => "rewind",
            Self::Retraction(_) => "retraction",
            Self::Notice(_) => "notice",
        }
    }
}
