//! The schema and how a file is brought up to it.
//!
//! Rules: a shipped migration stays as it is, the next one mends it. Each looks at what is there before it changes
//! anything (A115), all that are due run in one transaction behind a copy of the file, and a failing one leaves the
//! file as it was. A file of a newer schema is never written (A116).

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::{Result, StoreError};
use crate::memory::{Timestamp, millis};

/// Marks the file as ours (`PRAGMA application_id`): "cmem".
pub(super) const APPLICATION_ID: i64 = 0x636d_656d;

/// One numbered change of the schema.
pub(super) struct Migration {
    /// `user_version` after it.
    pub version: i64,
    /// Makes the change. Must cope with a file that has part of it already.
    pub run: fn(&Transaction<'_>) -> Result<()>,
}

/// All of them, ascending.
pub(super) const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    run: |tx| {
        tx.execute_batch(include_str!("sql/001_initial.sql"))?;
        Ok(())
    },
}];

/// The schema this program writes.
pub const VERSION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing in it yet.
    Empty,
    /// Ours, of this schema.
    Schema(i64),
    /// Somebody else's database.
    Foreign,
}

/// Looks at a file without changing it.
pub(super) fn look(conn: &Connection) -> Result<Seen> {
    let number = |pragma: &str| conn.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let version = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    if application == APPLICATION_ID {
        return Ok(Seen::Schema(version));
    }
    let tables: i64 = number("SELECT count(*) FROM sqlite_schema")?;
    Ok(if application == 0 && version == 0 && tables == 0 { Seen::Empty } else { Seen::Foreign })
}

/// Brings the file up to the last of `migrations`.
pub(super) fn bring_up_to_date(
    conn: &mut Connection,
    path: &Path,
    migrations: &[Migration],
    now: Timestamp,
) -> Result<()> {
    let know = migrations.last().map_or(0, |it| it.version);
    let have = version_to_start_from(conn, path, know)?;
    if have == know {
        return Ok(());
    }
    if have > 0 {
        super::open::copy_before_migration(conn, path, have, now)?;
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    // Another process may have done it while we waited for the lock.
    let have = version_to_start_from(&tx, path, know)?;
    for migration in migrations.iter().filter(|it| it.version > have) {
        (migration.run)(&tx)?;
    }
    if have == 0 {
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.execute(
            "INSERT INTO state (key, value, at_ms) VALUES ('store.created', '', ?1), ('store.index', ?2, ?1)",
            (millis(now), super::terms::INDEX_VERSION.to_string()),
        )?;
    }
    if have < know {
        tx.pragma_update(None, "user_version", know)?;
    }
    tx.commit()?;
    Ok(())
}

fn version_to_start_from(conn: &Connection, path: &Path, know: i64) -> Result<i64> {
    match look(conn)? {
        Seen::Foreign => Err(StoreError::Foreign(path.to_owned())),
        Seen::Schema(have) if have > know => Err(StoreError::Newer { have, know }),
        Seen::Schema(have) => Ok(have),
        Seen::Empty => Ok(0),
    }
}

/// Adds a column unless it is there (a file that an interrupted or foreign upgrade half-migrated).
#[allow(dead_code, reason = "the first shipped schema has nothing to add; the next migration will")]
pub(super) fn add_column(tx: &Transaction<'_>, table: &str, column: &str, declaration: &str) -> Result<()> {
    let there: bool =
        tx.query_row("SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)", (table, column), |row| {
            row.get(0)
        })?;
    if !there {
        tx.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {declaration}"))?;
    }
    Ok(())
}
