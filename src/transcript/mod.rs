//! Claude Code's transcript files as events (transcripts.md is the format; its edge cases have tests by number).
//!
//! `lines` frames bytes, `repair` and `entry` read one line tolerantly, `speaker` says who speaks, `turn` finds
//! where turns begin and end, `event` is what comes out, `reader` runs them over one file. These are pure.
//! `locate`, `tail` and `watch` touch the disk.
//!
//! Absent from it: what an observer is, what is worth keeping.

pub mod event;

// Bytes to lines.

pub mod lines;

mod shrink;

// A line to entries.

mod json;

mod content;

mod outcome;

pub mod entry;

pub mod repair;

mod head;

mod time;

// Entries to events.

pub mod speaker;

mod key;

mod context;

mod calls;

mod answers;

mod queue;

mod sidechain;

mod tree;

mod state;

pub mod counts;

mod turn;

pub mod reader;

pub mod inspect;

// The disk.

pub mod locate;

pub mod tail;

pub mod watch;
