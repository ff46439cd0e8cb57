//! What may come in and what may be kept, each a function to a verdict with a reason.
//!
//! `gates` runs the first three over an event: `origin` and `exclude` (0), `admit` and `private` (1), `redact` (2).
//! The third gate is the model's own judgement. `reply` and `draft` read its answer (4); `correct` holds what was
//! drafted against `evidence` (5). Absent from it: I/O of any kind, and who asks.

pub mod admit;
pub mod correct;
pub mod draft;
pub mod evidence;
pub mod exclude;
mod gates;
pub mod origin;
pub mod private;
pub mod redact;
pub mod reply;

pub use gates::{Gates, Verdict};
