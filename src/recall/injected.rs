//! What was told to whom: small files in the state directory, so that a hook needs no writing connection.
//!
//! Two sorts. `injected/<project>.json` is the last text a session of a project was given at its start, for the
//! screen to compare with. `told/<session>` lists the files and notes a running session was told of, so that nothing
//! is said twice (A123). File names are hashes: an id from outside never becomes a path (A101). All of it may be lost
//! at any time; then something is said twice, and the comparison has nothing to compare with.
#![allow(clippy::disallowed_methods, reason = "this is the file that keeps what was told")]

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::memory::{MemoryId, Timestamp};

/// A session's list is kept this long after it was last added to.
const KEPT: Duration = Duration::from_secs(3 * 86_400);

/// The last text given at a session start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Injected {
    /// Project it was given in.
    pub project_root: String,
    /// Session it was given to.
    pub session: String,
    /// When.
    pub at: Timestamp,
    /// The rows in it, best first.
    pub ids: Vec<MemoryId>,
    /// The text.
    pub text: String,
}

/// Keeps `injected`.
pub fn keep(state: &Path, injected: &Injected) -> io::Result<()> {
    let dir = state.join("injected");
    let file = dir.join(format!("{}.json", name(&injected.project_root)));
    make_dir(state, &dir)?;
    let beside = dir.join(format!("{}.{}.tmp", name(&injected.project_root), std::process::id()));
    let written = create(&beside, true).and_then(|mut out| {
        out.write_all(&serde_json::to_vec(injected)?)?;
        fs::rename(&beside, &file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The last text given in a project, if any is known.
pub fn last(state: &Path, project_root: &str) -> Option<Injected> {
    let file = state.join("injected").join(format!("{}.json", name(project_root)));
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// What a session was told so far.
#[derive(Debug)]
pub struct Told {
    state: PathBuf,
    file: PathBuf,
    files: HashSet<String>,
    notes: Vec<MemoryId>,
}

impl Told {
    /// Reads it. Nothing there, or nothing readable: nothing was told.
    pub fn read(state: &Path, session: &str) -> Self {
        let file = state.join("told").join(name(session));
        let text = fs::read_to_string(&file).unwrap_or_default();
        let mut it = Self { state: state.to_owned(), file, files: HashSet::new(), notes: Vec::new() };
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("f", hash)) => drop(it.files.insert(hash.to_owned())),
                Some(("m", id)) => it.notes.extend(id.parse().map(MemoryId)),
                _ => {}
            }
        }
        it
    }

    /// Whether notes about a file were given.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(&name(path))
    }

    /// The notes that were given.
    pub fn notes(&self) -> &[MemoryId] {
        &self.notes
    }

    /// Adds a file and notes. One write, so that hooks running side by side do not mix their lines.
    pub fn add(&mut self, path: Option<&str>, notes: &[MemoryId]) -> io::Result<()> {
        let mut lines = String::new();
        if let Some(path) = path {
            let hash = name(path);
            lines.push_str(&format!("f {hash}\n"));
            self.files.insert(hash);
        }
        for id in notes {
            lines.push_str(&format!("m {}\n", id.0));
        }
        self.notes.extend(notes);
        if let Some(dir) = self.file.parent() {
            make_dir(&self.state, dir)?;
        }
        create(&self.file, false)?.write_all(lines.as_bytes())
    }

    /// The session's context is new: nothing of what was told is in it any more. Lists of sessions long gone go too.
    pub fn forget(&mut self) {
        let _ = fs::remove_file(&self.file);
        self.files.clear();
        self.notes.clear();
        let Some(entries) = self.file.parent().and_then(|dir| fs::read_dir(dir).ok()) else { return };
        for entry in entries.flatten().take(500) {
            let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
            if age.is_some_and(|age| age > KEPT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn name(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash[..12].iter().fold(String::with_capacity(24), |out, byte| out + &format!("{byte:02x}"))
}

fn make_dir(state: &Path, dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    crate::config::private_dir(state, None)?;
    crate::config::private_dir(dir, None)
}

fn create(file: &Path, fresh: bool) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.create(true).append(!fresh).write(true).truncate(fresh);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a123_what_was_told_is_remembered_until_the_context_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let mut told = Told::read(dir.path(), "s1");
        assert!(!told.has_file("/w/a.rs"));
        told.add(Some("/w/a.rs"), &[MemoryId(3), MemoryId(5)]).unwrap();
        Told::read(dir.path(), "s1").add(None, &[MemoryId(7)]).unwrap();
        let again = Told::read(dir.path(), "s1");
        assert!(again.has_file("/w/a.rs") && !again.has_file("/w/b.rs"));
        assert_eq!(again.notes(), [MemoryId(3), MemoryId(5), MemoryId(7)]);
        assert!(!Told::read(dir.path(), "s2").has_file("/w/a.rs"));
        told.forget();
        assert!(!Told::read(dir.path(), "s1").has_file("/w/a.rs"));
    }

    #[test]
    fn the_last_text_of_a_project_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(last(dir.path(), "/w/a"), None);
        for text in ["first", "second"] {
            let injected = Injected {
                project_root: "/w/a".into(),
                session: "s".into(),
                at: "2026-03-10T09:30:00Z".parse().unwrap(),
                ids: vec![MemoryId(1)],
                text: text.into(),
            };
            keep(dir.path(), &injected).unwrap();
            assert_eq!(last(dir.path(), "/w/a"), Some(injected));
        }
        assert_eq!(last(dir.path(), "/w/b"), None);
    }

    #[test]
    fn a101_an_id_is_never_a_path() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        for session in ["../../x", "..\\y", "/etc/passwd", "", "\u{0}"] {
            Told::read(&state, session).add(Some("../f"), &[]).unwrap();
        }
        let told: Vec<_> = fs::read_dir(state.join("told")).unwrap().collect();
        assert_eq!(told.len(), 5);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a098_these_files_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let mut told = Told::read(dir.path(), "s1");
        told.add(Some("f"), &[]).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&told.file), mode(told.file.parent().unwrap())), (0o600, 0o700));
    }
}
