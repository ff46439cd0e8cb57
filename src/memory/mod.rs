//! What is remembered: the words every other floor speaks.
//!
//! This floor owns the shapes of a memory from proposal ([`Draft`]) over what is about to be written
//! ([`NewMemory`]) to what is kept ([`Memory`]; [`Note`] without its body), the ids that tie them to transcripts ([`EventKey`],
//! [`SessionId`]), event time, text made safe for terminals, and the token estimate.
//!
//! Absent from it: any idea of where a memory came from or how it is stored.

mod id;
mod item;
mod note;
mod project;
mod text;
mod time;
mod tokens;

pub use id::{AgentId, EventKey, MemoryId, RunId, SessionId};
pub use item::{Draft, Evidence, Kind, Memory, NewMemory, Source, Summary};
pub use note::Note;
pub use project::ProjectRef;
pub use text::{clip_chars, safe_line, safe_text};
pub use time::{Clock, Timestamp, from_millis, millis};
pub use tokens::estimate_tokens;
