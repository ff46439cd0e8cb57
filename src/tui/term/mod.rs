//! The terminal: its modes, its input, its output. The only place that touches it.

pub mod guard;
pub mod input;
pub mod out;
pub mod signal;
pub mod tty;
