//! The pipeline, running: from the bytes of a transcript to a row in the database.
//!
//! Two threads. The *intake* follows files, reads what is new, joins it to events and puts them through gates 0–2. The
//! *collector* proper keeps events until they have an outcome, asks the observer, and writes rows, ledger and
//! cursors in one transaction. `progress` is the rule that ties the two: a cursor moves only behind events that have
//! an outcome. What waits in memory is lost with the process and read again from the cursor; nothing else needs to be
//! kept.
//!
//! Absent from it: who is watching (`bus` tells whoever listens and may drop).

pub mod backfill;
pub mod bus;
pub mod core;
pub mod gather;
pub mod health;
pub mod input;
pub mod intake;
pub mod judge;
pub mod lock;
pub mod model;
pub mod order;
pub mod progress;
pub mod ready;
pub mod refine;
pub mod report;
pub mod run;
pub mod upkeep;
pub mod vectors;
pub mod write;

#[cfg(test)]
mod tests;
