//! Finding and telling: the query language, search, timeline, and what a session is given back.
//!
//! `query` reads what a user types, `find` answers it, `timeline` shows what lies around a moment, `context` and
//! `file_context` choose what a session is told, `render` writes lines. Absent from it: terminals, and sockets but for
//! `endpoint`'s, which is used only where the settings name a service.

/// What a session is told when it starts.
pub mod context;

/// Meaning from a service of the user's choice.
pub mod endpoint;

/// The rows the telling side chooses from.
pub mod fetch;

/// What a session is told before a file is read.
pub mod file_context;

/// Search.
pub mod find;

/// What was told to whom.
pub mod injected;

/// What a session is told with a prompt.
pub mod prompt_context;

/// Vectors, and what is near in meaning.
#[cfg(feature = "meaning")]
pub mod meaning;

/// Which engine ranks by meaning.
pub mod nearest;

/// The query language.
pub mod query;

/// Names a file had before.
pub mod renames;

/// How a line, a time and a title are written.
pub mod render;

/// From a moment to its text.
pub mod tell;

/// What lies around a memory or a moment.
pub mod timeline;
