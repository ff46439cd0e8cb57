//! The one door for every face: open the store, ask, curate, follow changes, own or follow the collector.
//!
//! `ask` opens the store and answers questions once; `names` knows which project a typed name means; `remember` keeps
//! what is written by hand; `live` is the seam of a face that stays open. Absent from it: wire formats, widgets.

mod ask;
mod names;

pub use ask::{Answer, Hub, Question, active_mode};
pub use names::{Named, Unknown, named};

/// The seam of a face that stays open.
pub mod live;
/// This machine's memories behind that seam.
pub mod real;
/// Remembering by hand.
pub mod remember;
