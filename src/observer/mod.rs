//! Who decides what is worth remembering: a conversation run by a pure machine, or rules without a model.
//!
//! `batch` is what is asked about, `outcome` what can come of it. Absent from it: the database.

pub mod batch;
