//! The screen: `cmem tui`.
//!
//! One loop (`run`) turns what the terminal sends and what the data says into messages; [`update`] is a plain function
//! from state and message to new state and effects; `view` reads the state and paints a buffer. Only `term` touches the
//! terminal, only `run` and `worker` touch threads. Keys (`keys.toml`), themes (`themes/`) and everything a person can
//! do ([`action`]) are data.
//!
//! Absent from it: SQL, and any rule about memories. What is asked for goes through `hub::live::Source`.

pub mod action;
pub mod arena;
pub mod counts;
pub mod demo;
pub mod effect;
pub mod fuzzy;
pub mod gallery;
pub mod headless;
pub mod key;
pub mod keymap;
pub mod layout;
pub mod measure;
pub mod msg;
pub mod paint;
pub mod perform;
pub mod picture;
pub mod plain;
pub mod run;
pub mod split;
pub mod state;
pub mod term;
pub mod theme;
pub mod update;
pub mod view;
pub mod width;
pub mod worker;

#[cfg(test)]
mod tests;
