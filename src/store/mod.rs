//! SQLite: where memories, the ledger, cursors, trash and journal are kept.
//!
//! `open` and `schema` make the file and bring it up to date, `record` is the one writing transaction of the
//! collector, `read`, `search` and `ledger` answer, `curate` changes what a person wants changed (each step in the
//! journal), `exchange` imports, exports and backs up. `rows` is the only place that writes a memory, its body, its
//! words in the index and its counters, so that the four never part. Absent from it: rules about what is worth
//! keeping.
//!
//! A [`Store`] is one connection: one for the writer (the collector, or a person's change), one for each reader
//! thread. WAL lets readers read while one writes; who writes waits its turn (`busy_timeout`). A pool was not
//! taken: a reader opens in well under a millisecond, and threads that read for long keep their own.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, InterruptHandle};

/// The values that go in and out.
pub mod api;

/// Errors by what a caller does about them.
mod error;

/// Event keys and row numbers in few bytes.
mod pack;

/// Words: how text is indexed, how queries are put.
pub mod terms;

/// The schema and its migrations.
mod schema;

/// Opening: files, modes, pragmas, the cheap check.
mod open;

/// Memories as rows: written, read back, removed, with their words and counters.
mod rows;

/// Hard conditions as SQL.
mod filter;

/// Sessions and projects.
mod places;

/// Near-equal findings in one session.
mod fold;

/// The one writing transaction.
mod record;

/// Lists, rows by id, titles, counts.
mod read;

/// Made-up memories in any number.
pub mod sample;

/// Full text.
mod search;

/// Small rows for what a session is told.
mod notes;

/// What became of events, cursors, pauses, calls, counters, named facts.
mod ledger;

/// Meaning vectors.
pub mod vectors;

/// What a person changes.
pub mod curate;

/// Memories in and out.
pub mod exchange;

pub use api::{Access, Commit, Filter, Order, PageKey, Recorded};
pub use error::{Result, StoreError};
pub use ledger::event_mark;
pub use notes::NotesWanted;

/// One connection to the database.
pub struct Store {
    pub(crate) conn: Connection,
    path: PathBuf,
    access: Access,
}

impl Store {
    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it was opened.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Stops a running query of this connection from another thread; the query ends with
    /// [`StoreError::Interrupted`].
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.conn.get_interrupt_handle()
    }

    /// A number that changes when another connection has written.
    pub fn data_version(&self) -> Result<i64> {
        Ok(self.conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
    }
}

#[cfg(test)]
mod tests;
