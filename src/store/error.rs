//! What can go wrong with the store, classed by what a caller does about it: wait (`Busy`), pause (`Full`), refuse
//! (`Newer`, `ReadOnly`, `Foreign`), set the item aside (`Constraint`), tell the user (`Corrupt`, `Io`, `Missing`).

use std::fmt;
use std::path::PathBuf;

use rusqlite::ErrorCode;

/// Why the store could not do it.
#[derive(Debug)]
pub enum StoreError {
    /// Another process held the write lock longer than we wait. The whole transaction can be tried again.
    Busy,
    /// No room on the disk (or the quota is used up). Nothing was written; pause and try later.
    Full,
    /// The file was written by a newer cmem. It is never changed.
    Newer {
        /// Schema number of the file.
        have: i64,
        /// Highest schema number this program knows.
        know: i64,
    },
    /// The file, or its directory, cannot be written.
    ReadOnly,
    /// Not a database of ours.
    Foreign(PathBuf),
    /// There is no database yet.
    Missing(PathBuf),
    /// The database is damaged.
    Corrupt(String),
    /// The row breaks a rule of the schema. Permanent: trying again gives the same (A022).
    Constraint(String),
    /// Stopped by the caller (`interrupt`).
    Interrupted,
    /// Nothing has that id, name or key.
    NotFound(String),
    /// What was asked for makes no sense; says what and why.
    Refused(String),
    /// Undoing would overwrite a later change. Nothing was changed; see what differs.
    Conflict(Vec<super::api::Conflict>),
    /// A file could not be read or written.
    Io {
        /// What was being done, as in "could not create the directory".
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Anything else SQLite reports.
    Sql(String),
}

impl StoreError {
    /// Trying again may help without anybody doing anything.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Busy | Self::Full | Self::Interrupted)
    }

    /// This item will never be accepted: set it aside and go on with the next.
    pub fn is_permanent_for_item(&self) -> bool {
        matches!(self, Self::Constraint(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the database is in use by another process"),
            Self::Full => f.write_str("the disk is full"),
            Self::Newer { have, know } => write!(
                f,
                "the database has schema {have}, this cmem knows up to {know}: it was written by a newer version and is left as it is"
            ),
            Self::ReadOnly => f.write_str("the database cannot be written"),
            Self::Foreign(path) => write!(f, "{} is not a cmem database", path.display()),
            Self::Missing(path) => write!(f, "there is no database at {}", path.display()),
            Self::Corrupt(what) => write!(f, "the database is damaged: {what}"),
            Self::Constraint(what) => write!(f, "the row breaks a rule of the database: {what}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::NotFound(what) => write!(f, "there is no {what}"),
            Self::Refused(what) => f.write_str(what),
            Self::Conflict(conflicts) => {
                write!(f, "{} changed since and would be overwritten", count_of(conflicts.len(), "row"))
            }
            Self::Io { doing, path, source } => write!(f, "{doing} {}: {source}", path.display()),
            Self::Sql(what) => write!(f, "the database reports: {what}"),
        }
    }
}

fn count_of(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(err: rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(code, message) = &err else {
            return Self::Sql(err.to_string());
        };
        let text = || message.clone().unwrap_or_else(|| code.to_string());
        match code.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::ReadOnly => Self::ReadOnly,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Corrupt(text()),
            ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch => Self::Constraint(text()),
            ErrorCode::OperationInterrupted => Self::Interrupted,
            // The shared-memory file could not grow: the same full disk, reported by another call.
            ErrorCode::SystemIoFailure if code.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => Self::Full,
            _ => Self::Sql(text()),
        }
    }
}

/// The store's results.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
