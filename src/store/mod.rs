//! SQLite: where memories, the ledger, cursors, trash and journal are kept.
//!
//! `schema` opens and migrates, `record` is the one writing transaction of the collector, `read`, `search` and
//! `ledger` answer, `curate` changes what a person wants changed (each step in the journal), `exchange` imports,
//! exports and backs up. Absent from it: rules about what is worth keeping.

pub mod api;
