//! Transcript files named on the command line: a file as it is, a folder with everything below it.
#![allow(clippy::disallowed_methods)] // The user names files here, and this reads them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::CliError;

/// A file to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Where it is.
    pub path: PathBuf,
    /// Its name in the answer: as given, or relative to the folder that was given.
    pub shown: String,
    /// It was found in a folder, not named itself.
    pub found: bool,
}

/// The files that were named, and the `.jsonl` files below the folders that were, each folder's own files first.
pub fn named(paths: &[PathBuf]) -> Result<Vec<Named>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        let kind = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if kind.is_dir() {
            below(path, path, &mut files)?;
        } else {
            files.push(Named { path: path.clone(), shown: path.display().to_string(), found: false });
        }
    }
    Ok(files)
}

fn below(root: &Path, dir: &Path, files: &mut Vec<Named>) -> Result<(), CliError> {
    let mut entries: Vec<_> =
        fs::read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(|error| unreadable(dir, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.path();
        // Links to folders are not followed: they may lead back.
        let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
        if kind.is_dir() {
            folders.push(path);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file() {
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            files.push(Named { path, shown, found: true });
        }
    }
    folders.into_iter().try_for_each(|folder| below(root, &folder, files))
}

/// Hands a file on in chunks, so that its size does not matter.
pub fn chunks(path: &Path, mut each: impl FnMut(&[u8])) -> Result<(), CliError> {
    let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => each(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(path, &error)),
        }
    }
}

/// The first bytes of a file, as many as say what it is.
pub fn head(path: &Path, most: usize) -> Result<Vec<u8>, CliError> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    file.take(most as u64).read_to_end(&mut head).map_err(|error| unreadable(path, &error))?;
    Ok(head)
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    CliError::new(format!("cannot read {}", path.display())).cause(error)
}
