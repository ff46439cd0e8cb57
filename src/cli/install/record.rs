//! What `cmem install` put where, so that it can be taken out again to the byte.
#![allow(clippy::disallowed_methods, reason = "this is the file that keeps the record of an installation")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// All files that were changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    #[serde(default)]
    files: BTreeMap<PathBuf, Installed>,
}

/// What was done to one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Installed {
    /// The file did not exist before.
    #[serde(default)]
    pub created: bool,
    /// Text that went in, in order.
    #[serde(default)]
    pub pieces: Vec<String>,
    /// The copy of the file as it was.
    #[serde(default)]
    pub backup: Option<PathBuf>,
}

impl Installed {
    /// One file's entry.
    pub fn new(created: bool, pieces: Vec<String>, backup: Option<PathBuf>) -> Self {
        Self { created, pieces, backup }
    }
}

impl Record {
    /// Reads it. A missing or damaged record is an empty one: entries are then found by what they do.
    pub fn read(file: &Path) -> Self {
        fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Writes it; an empty one leaves no file behind.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        if self.files.is_empty() {
            return match fs::remove_file(file) {
                Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
                _ => Ok(()),
            };
        }
        if let Some(dir) = file.parent() {
            crate::config::private_dir(dir, None)?;
        }
        super::write_file(file, &serde_json::to_string_pretty(self)?, Some(0o600))
    }

    /// What was done to `file`.
    pub fn get(&self, file: &Path) -> Option<&Installed> {
        self.files.get(file)
    }

    /// Notes what was done to `file`.
    pub fn set(&mut self, file: &Path, installed: Installed) {
        self.files.insert(file.to_owned(), installed);
    }

    /// Forgets `file`.
    pub fn remove(&mut self, file: &Path) {
        self.files.remove(file);
    }
}
