//! The MCP server: shapes on the wire. No decisions.
//!
//! Four tools, and the order in which to use them: `search` and `timeline` give an index, `get_observations` the
//! details of what matters, `remember` keeps something. `args` is what they take (and the schemas), `text` what they
//! answer, `server` the rest. stdout carries the protocol and nothing else (A159); answers are made of memories, never
//! of settings, so a key cannot leave through them (A100).

mod args;
mod server;
mod text;

pub use server::{Door, Server, serve_stdio};
