//! Opening a store: the file and its modes, the pragmas, the cheap check, the copy before a migration.
//!
//! This file touches the disk directly: a database file must exist with mode 0600 *before* SQLite opens it, because
//! the `-wal` and `-shm` files take their mode from it (A098).
#![allow(clippy::disallowed_methods)] // files and their modes are this file's subject

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::api::Access;
use super::error::{Result, StoreError};
use super::{Store, schema};
use crate::memory::{Timestamp, millis};

/// How long a writer waits for another one.
const BUSY: Duration = Duration::from_secs(10);

/// The write-ahead log is cut back to this after a checkpoint (A118).
const WAL_LIMIT: i64 = 16 << 20;

impl Store {
    /// Opens the database at `path`. `now` dates a fresh file and a backup before a migration.
    pub fn open(path: &Path, access: Access, now: Timestamp) -> Result<Store> {
        match access {
            Access::ReadOnly => Self::open_read_only(path),
            Access::ReadWrite => Self::open_read_write(path, now),
        }
    }

    /// A store in memory, for tests and `--demo`: never on a disk.
    pub fn in_memory(now: Timestamp) -> Result<Store> {
        let mut conn = Connection::open_in_memory()?;
        set_up_writer(&conn)?;
        let path = PathBuf::from(":memory:");
        schema::bring_up_to_date(&mut conn, &path, schema::MIGRATIONS, now)?;
        Ok(Store { conn, path, access: Access::ReadWrite })
    }

    fn open_read_only(path: &Path) -> Result<Store> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let mut conn = Connection::open_with_flags(path, flags)?;
        set_up_reader(&conn)?;
        let seen = match schema::look(&conn) {
            Ok(seen) => seen,
            // A file in a directory we cannot write has no log of its own: read it as it lies.
            Err(StoreError::Sql(_) | StoreError::ReadOnly) => {
                conn = Connection::open_with_flags(
                    format!("file:{}?immutable=1", uri_path(path)),
                    flags | OpenFlags::SQLITE_OPEN_URI,
                )?;
                set_up_reader(&conn)?;
                schema::look(&conn)?
            }
            Err(err) => return Err(err),
        };
        match seen {
            schema::Seen::Foreign => Err(StoreError::Foreign(path.to_owned())),
            schema::Seen::Empty => Err(StoreError::Missing(path.to_owned())),
            // An older file is brought up by the next writer; a newer one is read as far as it goes.
            schema::Seen::Schema(_) => Ok(Store { conn, path: path.to_owned(), access: Access::ReadOnly }),
        }
    }

    fn open_read_write(path: &Path, now: Timestamp) -> Result<Store> {
        make_private(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut conn = Connection::open_with_flags(path, flags)?;
        conn.busy_timeout(BUSY)?;
        // Look before anything is written: a newer or foreign file stays as it is, to the byte.
        match schema::look(&conn)? {
            schema::Seen::Foreign => return Err(StoreError::Foreign(path.to_owned())),
            schema::Seen::Schema(have) if have > schema::VERSION => {
                return Err(StoreError::Newer { have, know: schema::VERSION });
            }
            _ => {}
        }
        set_up_writer(&conn)?;
        schema::bring_up_to_date(&mut conn, path, schema::MIGRATIONS, now)?;
        let mut store = Store { conn, path: path.to_owned(), access: Access::ReadWrite };
        store.check_cheaply()?;
        store.rebuild_index_if_older()?;
        Ok(store)
    }

    /// What a start can afford: SQLite itself refuses a file that is shorter than its header says; beyond that the
    /// newest rows must be readable. A check of every page is [`Store::check`].
    fn check_cheaply(&self) -> Result<()> {
        for newest in ["SELECT title FROM memory ORDER BY ord DESC", "SELECT key FROM ledger ORDER BY id DESC"] {
            self.conn.query_row(&format!("SELECT count(*) FROM ({newest} LIMIT 1)"), [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Checks every page and the agreement of tables and indexes (`PRAGMA quick_check`, seconds for a large file).
    /// Empty when all is well.
    pub fn check(&self) -> Result<Vec<String>> {
        let mut query = self.conn.prepare("PRAGMA quick_check(20)")?;
        let found: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    /// Sizes in bytes of the database and its write-ahead log.
    pub fn disk(&self) -> (u64, u64) {
        let size = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
        (size(&self.path), size(&with_suffix(&self.path, "-wal")))
    }

    /// Places outside the database that may still hold what was removed from it: copies beside it that are there, and
    /// what no program can know of.
    pub(super) fn beyond_reach(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let (Some(dir), Some(name)) = (self.path.parent(), self.path.file_name()) {
            let name = name.to_string_lossy();
            let mut copies: Vec<String> = fs::read_dir(dir)
                .into_iter()
                .flatten()
                .flatten()
                .filter(|entry| {
                    let it = entry.file_name();
                    let it = it.to_string_lossy();
                    it.starts_with(name.as_ref()) && it.ends_with(".bak")
                })
                .map(|entry| format!("copy from before an upgrade: {}", entry.path().display()))
                .collect();
            copies.sort();
            out.append(&mut copies);
        }
        out.extend([
            "backups and exports made earlier".to_owned(),
            "Claude Code's own transcripts, from which the memories were made".to_owned(),
            "cmem's log files".to_owned(),
            "vectors kept by an external embeddings endpoint, and what was sent to a model".to_owned(),
            "file-system snapshots and blocks that a disk keeps to itself".to_owned(),
        ]);
        out
    }

    /// Writes the log back into the database and cuts it to nothing, if no reader stands in the way. `true` if it did.
    pub fn checkpoint(&self) -> Result<bool> {
        let busy: i64 = self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        Ok(busy == 0)
    }
}

fn set_up_writer(conn: &Connection) -> Result<()> {
    conn.busy_timeout(BUSY)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "secure_delete", "ON")?;
    conn.pragma_update(None, "journal_size_limit", WAL_LIMIT)?;
    conn.pragma_update(None, "cache_size", -8 * 1024)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "trusted_schema", "OFF")?;
    conn.set_prepared_statement_cache_capacity(96);
    Ok(())
}

fn set_up_reader(conn: &Connection) -> Result<()> {
    // Readers never wait for a writer in WAL; only for the first process after a crash, which mends the log.
    conn.busy_timeout(Duration::from_secs(2))?;
    conn.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;")?;
    conn.set_prepared_statement_cache_capacity(48);
    Ok(())
}

/// Makes the directory (0700) and the file (0600), or tightens them, whatever the umask.
fn make_private(path: &Path) -> Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        make_private_dir(dir)?;
    }
    let io = |doing| move |source| StoreError::Io { doing, path: path.to_owned(), source };
    let mut options = fs::OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(err) if err.kind() == std::io::ErrorKind::AlreadyExists => tighten(path, 0o600),
        Err(err) if err.kind() == std::io::ErrorKind::StorageFull => Err(StoreError::Full),
        Err(err) if is_read_only(&err) => Err(StoreError::ReadOnly),
        Err(err) => Err(io("could not create")(err)),
    }
    .and_then(|()| {
        for suffix in ["-wal", "-shm"] {
            let side = with_suffix(path, suffix);
            if side.exists() {
                tighten(&side, 0o600)?;
            }
        }
        Ok(())
    })
}

/// Makes a new private file, in a directory that is left as it is.
pub(super) fn make_private_file(path: &Path) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => tighten(path, 0o600),
        Err(err) if err.kind() == std::io::ErrorKind::StorageFull => Err(StoreError::Full),
        Err(source) => Err(StoreError::Io { doing: "could not create", path: path.to_owned(), source }),
    }
}

fn make_private_dir(dir: &Path) -> Result<()> {
    let io = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::StorageFull => StoreError::Full,
        _ if is_read_only(&source) => StoreError::ReadOnly,
        _ => StoreError::Io { doing: "could not create the directory", path: dir.to_owned(), source },
    };
    if !dir.exists() {
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).map_err(io)?;
        }
        match fs::create_dir(dir) {
            Err(err) if err.kind() == std::io::ErrorKind::AlreadyExists => {}
            res => res.map_err(io)?,
        }
        return tighten(dir, 0o700);
    }
    // A directory that was there before is tightened only if nothing but our own files is in it: it might be a
    // person's home.
    let ours = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        name.starts_with("cmem")
            || ["config.toml", "keys.toml", "themes", "modes", "logs", "log", "state", "data"].contains(&name.as_ref())
    };
    let only_ours = fs::read_dir(dir).map_err(io)?.flatten().all(|entry| ours(&entry.file_name()));
    if only_ours { tighten(dir, 0o700) } else { Ok(()) }
}

#[cfg(unix)]
fn tighten(path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let Ok(meta) = fs::metadata(path) else { return Ok(()) };
    // A file the user made read-only stays so; only what others could do with it is taken away.
    let wanted = if meta.permissions().mode() & 0o200 == 0 { mode & 0o500 } else { mode };
    if meta.permissions().mode() & 0o777 == wanted {
        return Ok(());
    }
    // Not ours to change (another owner): SQLite will say whether it can be used.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(wanted));
    Ok(())
}

#[cfg(not(unix))]
fn tighten(_path: &Path, _mode: u32) -> Result<()> {
    Ok(())
}

fn is_read_only(err: &std::io::Error) -> bool {
    matches!(err.kind(), std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied)
}

/// The copy kept from before a migration: beside the file, named by schema and time, as private as the file.
pub(super) fn copy_before_migration(conn: &Connection, path: &Path, have: i64, now: Timestamp) -> Result<()> {
    if path.as_os_str() == ":memory:" {
        return Ok(());
    }
    let copy = with_suffix(path, &format!(".schema-{have}.{}.bak", millis(now)));
    make_private(&copy)?;
    let mut target = Connection::open(&copy)?;
    let backup = rusqlite::backup::Backup::new(conn, &mut target)?;
    backup.run_to_completion(1024, Duration::ZERO, None)?;
    Ok(())
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A path inside an SQLite URI: what would end the path or start an escape is escaped.
fn uri_path(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}
