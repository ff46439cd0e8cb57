//! One transcript file as it grows: which file it is, how far it was read, and whether what was read still stands.
//!
//! A place in a file is (identity, offset, fingerprint). Identity is device and inode, so a renamed file (the
//! client moves a session into its worktree's folder and back) goes on where it was. The fingerprint covers the
//! first 512 bytes and the last 64 before the offset: a file that was rewritten and has grown past the old offset
//! between two looks (E15) is found out, a file that shrank (E14) even without it. Such a file begins a new
//! generation and is read again from its first byte; the ledger makes that harmless.
//!
//! Nothing here locks, writes, or changes a time stamp. Every look opens the file and closes it again: the client
//! may rename or remove it whenever it likes.
#![allow(clippy::disallowed_methods)] // This file opens transcripts: it is one of the few that touch the disk.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::memory::Timestamp;

/// Bytes of the beginning that the fingerprint covers.
const FIRST: u64 = 512;
/// Bytes before the offset that it covers.
const LAST: u64 = 64;

/// What makes a file the same file under another name: device and inode, as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub String);

impl FileId {
    /// The text form, as in a cursor row.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What the file system says of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    /// Identity.
    pub id: FileId,
    /// Size in bytes.
    pub size: u64,
    /// Last change. Only for "newest first": whether a file has new bytes is never asked of its time (A148).
    pub modified: Timestamp,
}

/// Looks at the file at `path`.
pub fn stat(path: &Path) -> io::Result<Stat> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(stat_of(&meta, path))
}

#[cfg(unix)]
fn stat_of(meta: &fs::Metadata, _path: &Path) -> Stat {
    use std::os::unix::fs::MetadataExt;
    let modified = Timestamp::new(meta.mtime(), i32::try_from(meta.mtime_nsec()).unwrap_or(0));
    Stat {
        id: FileId(format!("{:x}:{:x}", meta.dev(), meta.ino())),
        size: meta.len(),
        modified: modified.unwrap_or(Timestamp::UNIX_EPOCH),
    }
}

#[cfg(not(unix))]
fn stat_of(meta: &fs::Metadata, path: &Path) -> Stat {
    // Without a stable file number the creation time and the file's own name stand for identity: a rename keeps
    // both (the name is the session's), a replacement changes the first.
    let created = meta.created().ok().and_then(|time| Timestamp::try_from(time).ok());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Stat {
        id: FileId(format!("{:x}:{name}", created.map_or(0, |time| time.as_nanosecond()))),
        size: meta.len(),
        modified: meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(Timestamp::UNIX_EPOCH),
    }
}

/// What a look at a followed file showed.
#[derive(Debug, PartialEq)]
pub enum Look {
    /// Nothing behind the offset.
    Same,
    /// Bytes wait behind the offset; the size now.
    Grown(u64),
    /// Shorter than the offset, or not the bytes that were read: begin again at 0.
    Rewritten,
    /// Another file lies at this path now.
    Replaced(Stat),
    /// No file lies at this path.
    Vanished,
}

/// A followed file.
#[derive(Clone, Debug)]
pub struct Tail {
    /// Where it was seen last.
    pub path: PathBuf,
    /// Which file.
    pub id: FileId,
    /// Raised each time it began again.
    pub generation: u32,
    /// Everything before this byte has been read.
    pub offset: u64,
    /// Fingerprint at `offset`.
    print: String,
    /// Size and time of the last look that found nothing amiss: an unchanged file is not opened.
    quiet: Option<(u64, Timestamp)>,
}

impl Tail {
    /// A file never read.
    pub fn new(path: PathBuf, id: FileId) -> Self {
        Self { path, id, generation: 0, offset: 0, print: String::new(), quiet: None }
    }

    /// A file read before, from its cursor row.
    pub fn at(path: PathBuf, id: FileId, generation: u32, offset: u64, print: String) -> Self {
        Self { path, id, generation, offset, print, quiet: None }
    }

    /// Fingerprint at the present offset.
    pub fn fingerprint(&self) -> &str {
        &self.print
    }

    /// Looks whether the file changed. Cheap when it did not: one `stat`.
    pub fn look(&mut self) -> io::Result<Look> {
        let now = match stat(&self.path) {
            Ok(now) => now,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Look::Vanished),
            Err(error) => return Err(error),
        };
        if now.id != self.id {
            return Ok(Look::Replaced(now));
        }
        if now.size < self.offset {
            return Ok(Look::Rewritten);
        }
        let quiet = (now.size, now.modified);
        if self.quiet == Some(quiet) && now.size == self.offset {
            return Ok(Look::Same);
        }
        if self.offset > 0 {
            let mut file = match File::open(&self.path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Look::Vanished),
                Err(error) => return Err(error),
            };
            if fingerprint_of(&mut file, self.offset)?.as_deref() != Some(self.print.as_str()) {
                return Ok(Look::Rewritten);
            }
        }
        self.quiet = Some(quiet);
        Ok(if now.size > self.offset { Look::Grown(now.size) } else { Look::Same })
    }

    /// Reads the next bytes, at most `max`, to the end of `buffer` and moves the offset behind them. The caller looked
    /// first. Returns how many came.
    pub fn read(&mut self, buffer: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let before = buffer.len();
        let count = file.by_ref().take(max as u64).read_to_end(buffer)?;
        debug_assert_eq!(buffer.len() - before, count);
        if count > 0 {
            let offset = self.offset + count as u64;
            match fingerprint_of(&mut file, offset)? {
                Some(print) => {
                    self.offset = offset;
                    self.print = print;
                }
                // It shrank while it was read: nothing of it counts; the next look sees the rewrite.
                None => {
                    buffer.truncate(before);
                    return Ok(0);
                }
            }
        }
        Ok(count)
    }

    /// Begins again: the file was rewritten.
    pub fn restart(&mut self) {
        self.generation += 1;
        self.offset = 0;
        self.print.clear();
        self.quiet = None;
    }
}

/// The fingerprint of the file at `path` for `offset`; `None` when it is shorter than that.
pub fn fingerprint(path: &Path, offset: u64) -> io::Result<Option<String>> {
    if offset == 0 {
        return Ok(Some(String::new()));
    }
    fingerprint_of(&mut File::open(path)?, offset)
}

fn fingerprint_of(file: &mut File, offset: u64) -> io::Result<Option<String>> {
    if offset == 0 {
        return Ok(Some(String::new()));
    }
    let mut hash = Sha256::new();
    let mut bytes = [0u8; FIRST as usize];
    let first = offset.min(FIRST) as usize;
    let last = offset.min(LAST);
    for (from, count) in [(0, first), (offset - last, last as usize)] {
        file.seek(SeekFrom::Start(from))?;
        match file.read_exact(&mut bytes[..count]) {
            Ok(()) => hash.update(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let mut text = String::with_capacity(32);
    for byte in &hash.finalize()[..16] {
        text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
    }
    Ok(Some(text))
}

/// The first bytes of a file, at most `max`.
pub fn head(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Offset behind the last newline at or before `size`: where reading "from now on" begins.
pub fn last_line_end(path: &Path, size: u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut end = size;
    let mut bytes = vec![0u8; 64 * 1024];
    while end > 0 {
        let start = end.saturating_sub(bytes.len() as u64);
        let count = (end - start) as usize;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes[..count])?;
        if let Some(at) = memchr::memrchr(b'\n', &bytes[..count]) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn open(path: &Path) -> Tail {
        Tail::new(path.to_owned(), stat(path).unwrap().id)
    }

    fn drain(tail: &mut Tail) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Look::Grown(_) = tail.look().unwrap() {
            tail.read(&mut bytes, 7).unwrap();
        }
        bytes
    }

    fn append(path: &Path, bytes: &[u8]) {
        fs::OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
    }

    #[test]
    fn a148_growth_is_seen_by_size_within_the_same_second() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        append(&path, b"one\n");
        let mut tail = open(&path);
        assert_eq!(drain(&mut tail), b"one\n");
        assert_eq!(tail.look().unwrap(), Look::Same);
        append(&path, b"two\n");
        assert_eq!(drain(&mut tail), b"two\n");
    }

    #[test]
    fn e14_a_shrunk_file_begins_a_new_generation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        append(&path, b"a long first content\n");
        let mut tail = open(&path);
        drain(&mut tail);
        fs::write(&path, b"stub\n").unwrap();
        assert_eq!(tail.look().unwrap(), Look::Rewritten);
        tail.restart();
        assert_eq!((tail.generation, drain(&mut tail).as_slice()), (1, b"stub\n".as_slice()));
    }

    #[test]
    fn e15_rewritten_and_grown_past_the_old_offset() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        append(&path, b"first\n");
        let mut tail = open(&path);
        drain(&mut tail);
        fs::write(&path, b"other text, and much more of it\n").unwrap();
        assert_eq!(tail.look().unwrap(), Look::Rewritten);
    }

    #[test]
    fn e15_a_change_far_from_both_ends_of_what_was_read_is_found_when_the_tail_moves() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut text = vec![b'x'; 5000];
        text.push(b'\n');
        append(&path, &text);
        let mut tail = open(&path);
        drain(&mut tail);
        // A line was inserted in the middle: the beginning is the same, the bytes before the offset are not.
        let mut other = vec![b'x'; 600];
        other.extend(b"\n{\"inserted\":1}\n");
        other.extend(vec![b'y'; 5000]);
        fs::write(&path, &other).unwrap();
        assert_eq!(tail.look().unwrap(), Look::Rewritten);
    }

    #[test]
    fn e16_a_removed_file_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        append(&path, b"x\n");
        let mut tail = open(&path);
        drain(&mut tail);
        fs::remove_file(&path).unwrap();
        assert_eq!(tail.look().unwrap(), Look::Vanished);
    }

    #[cfg(unix)]
    #[test]
    fn e17_a_moved_file_is_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("s.jsonl"), dir.path().join("t.jsonl"));
        append(&old, b"one\n");
        let mut tail = open(&old);
        drain(&mut tail);
        fs::rename(&old, &new).unwrap();
        append(&new, b"two\n");
        append(&old, b"another file\n");
        assert!(matches!(tail.look().unwrap(), Look::Replaced(_)));
        assert_eq!(stat(&new).unwrap().id, tail.id);
        tail.path = new;
        assert_eq!(drain(&mut tail), b"two\n");
    }

    #[test]
    fn the_fingerprint_survives_a_restart_of_cmem() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        append(&path, b"one\ntwo\n");
        let mut tail = open(&path);
        drain(&mut tail);
        let print = fingerprint(&path, 4).unwrap().unwrap();
        let mut again = Tail::at(path.clone(), tail.id.clone(), 0, 4, print);
        assert_eq!(drain(&mut again), b"two\n");
        let mut stranger = Tail::at(path, tail.id.clone(), 0, 4, "0".repeat(32));
        assert_eq!(stranger.look().unwrap(), Look::Rewritten);
    }

    #[test]
    fn now_begins_behind_the_last_newline() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        append(&path, b"one\ntwo\nhal");
        assert_eq!(last_line_end(&path, 11).unwrap(), 8);
        assert_eq!(last_line_end(&path, 3).unwrap(), 0);
        let long = dir.path().join("long.jsonl");
        let mut text = b"a\n".to_vec();
        text.extend(vec![b'x'; 200_000]);
        append(&long, &text);
        assert_eq!(last_line_end(&long, text.len() as u64).unwrap(), 2);
    }
}
