//! Claude Code's transcript files as events (transcripts.md is the format; its edge cases have tests by number).
//!
//! `lines` frames bytes, `entry` reads one line tolerantly, `speaker` says who speaks, `turn` finds where turns
//! begin and end, `event` is what comes out, `reader` runs the five over one file. These are pure. `locate`,
//! `tail` and `watch` touch the disk.
//!
//! Absent from it: what an observer is, what is worth keeping.

pub mod event;

pub mod lines;

mod shrink;

mod head;

mod json;

mod content;

mod outcome;

pub mod entry;

pub mod repair;

mod time;

pub mod speaker;

pub mod counts;

mod key;

mod context;

mod calls;

mod answers;

mod queue;

mod tree;

mod sidechain;

mod state;

mod turn;

pub mod reader;
