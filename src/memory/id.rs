//! Ids as types, so that one cannot be handed in for another.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The row number of a memory, the same for observations, summaries and prompts. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoryId(pub i64);

/// One run of the observer: from its instructions to its end. For accounting only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text. It is data from outside: never a file name, never part of a path.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// A session: the stem of its transcript's file name (transcripts.md §0 rule 1).
    SessionId
}
text_id! {
    /// A helper agent inside a session (`agent-<id>.jsonl`).
    AgentId
}
text_id! {
    /// What makes an event the same event wherever it is read: the tool_use id, else the entry's uuid,
    /// else a hash of the line (architecture §4). Copies made by resume, fork, branch and compaction
    /// carry the same keys. Further parts of one line are told apart by a suffix (`uuid#answer`).
    EventKey
}
