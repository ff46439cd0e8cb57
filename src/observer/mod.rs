//! Who decides what is worth remembering: a conversation run by a pure machine, or rules without a model.
//!
//! `batch` is what is asked about, `prompt` how it is put into words, `provider` the seam to whoever answers,
//! `machine` the conversation itself, with `slots` and `budget` as its two limits and `outcome` as the closed set of
//! what can come of a call. Absent from it: the database.

pub mod api;
pub mod auto;
pub mod batch;
pub mod budget;
pub mod claude;
pub mod machine;
pub mod offline;
pub mod outcome;
pub mod price;
pub mod prompt;
pub mod provider;
pub mod scripted;
pub mod slots;
