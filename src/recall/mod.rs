//! Finding and telling: the query language, search, timeline, and what a session is given back.
//!
//! `query` reads what a user types, `find` answers it, `timeline` shows what lies around a moment, `context` and
//! `file_context` choose what a session is told, `render` writes lines. Absent from it: terminals, sockets.

pub mod context;
pub mod fetch;
pub mod file_context;
pub mod find;
pub mod query;
pub mod render;
