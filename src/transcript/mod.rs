//! Claude Code's transcript files as events (transcripts.md is the format; its edge cases have tests by number).
//!
//! `lines` frames bytes, `entry` reads one line tolerantly, `speaker` says who speaks, `turn` finds where turns
//! begin and end, `event` is what comes out, `reader` runs the five over one file. These are pure. `locate`,
//! `tail` and `watch` touch the disk.
//!
//! Absent from it: what an observer is, what is worth keeping.

pub mod event;
pub mod locate;
pub mod tail;
pub mod watch;
