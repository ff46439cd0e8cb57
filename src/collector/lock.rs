//! One collector a user, held by an open file lock: it is gone with the process, however that ended.
//!
//! The same file holds the collector's live state ([`Snapshot`](super::health::Snapshot)) as text: who holds it, since
//! when, what it waits for. It is overwritten in place and never grows, so that even with a full disk `status` can
//! tell of the full disk. Whoever only looks never takes the lock.
#![allow(clippy::disallowed_methods)] // This file owns the lock file: it is one of the few that touch the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use fd_lock::{RwLock, RwLockWriteGuard};

/// Bytes the file has from the start. A longer text is cut by its writer.
pub const ROOM: usize = 16 * 1024;

/// The lock, held.
pub struct Held<'a> {
    file: RwLockWriteGuard<'a, File>,
}

impl Held<'_> {
    /// Replaces the text, in place, padded with spaces to the room the file already has.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        let mut bytes = text.as_bytes().to_vec();
        if bytes.len() > ROOM {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the state is too long for the lock file"));
        }
        bytes.resize(ROOM, b' ');
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&bytes)
    }
}

/// Why the lock could not be had.
#[derive(Debug)]
pub enum NotHeld {
    /// Another process has it; the text it keeps there.
    Taken(String),
    /// The file could not be opened or locked.
    Io(io::Error),
}

/// Takes the lock at `path` for as long as `run` runs.
pub fn hold<T>(path: &Path, run: impl FnOnce(Result<Held<'_>, NotHeld>) -> T) -> T {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) => return run(Err(NotHeld::Io(error))),
    };
    let mut lock = RwLock::new(file);
    match lock.try_write() {
        Ok(file) => run(Ok(Held { file })),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => run(Err(NotHeld::Taken(read(path)))),
        Err(error) => run(Err(NotHeld::Io(error))),
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    let missing = (ROOM as u64).saturating_sub(file.metadata()?.len());
    if missing > 0 {
        file.seek(SeekFrom::End(0))?;
        file.write_all(&vec![b' '; missing as usize])?;
    }
    Ok(file)
}

/// Text kept in the lock file; empty when there is none.
pub fn read(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(ROOM as u64).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).trim_end_matches([' ', '\0']).to_owned()
}

/// Whether a living process holds the lock.
pub fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    // A shared lock would be refused while the collector holds its own. It is given back at once; a collector that
    // starts in this instant tries more than once.
    let lock = RwLock::new(file);
    match lock.try_read() {
        Ok(_) => false,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a120_the_second_owner_reads_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("collector.lock");
        assert!(!is_held(&path));
        hold(&path, |first| {
            let mut first = first.unwrap_or_else(|_| panic!("free"));
            first.write("pid 1").unwrap();
            assert!(is_held(&path));
            hold(&path, |second| match second {
                Err(NotHeld::Taken(text)) => assert_eq!(text, "pid 1"),
                _ => panic!("two owners"),
            });
            first.write("p").unwrap();
            assert_eq!(read(&path), "p");
        });
        assert!(!is_held(&path));
        assert_eq!(read(&path), "p");
        hold(&path, |again| assert!(again.is_ok()));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private_and_never_grows() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("collector.lock");
        hold(&path, |held| {
            let mut held = held.unwrap_or_else(|_| panic!("free"));
            held.write(&"x".repeat(ROOM)).unwrap();
            assert!(held.write(&"x".repeat(ROOM + 1)).is_err());
        });
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!((meta.len(), meta.mode() & 0o777), (ROOM as u64, 0o600));
    }
}
