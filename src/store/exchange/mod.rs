//! Memories in and out: a lossless export that another cmem takes in, claude-mem's database, text to be read, and a
//! copy of the whole database while it is in use.
//!
//! What is taken in twice is there once: content is known by its hash. What was deleted here stays away, and what was
//! deleted there goes to the trash here. An import is one step of the journal and can be undone.

use std::io::Read;
use std::path::Path;

use serde::Serialize;

use super::error::{Result, StoreError};
use crate::memory::ProjectRef;

mod backup;
mod claude_mem;
mod export;
mod import;
mod jsonl;
mod text;

pub use export::{Exported, Format, Selection};

/// What a file to be taken in is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportKind {
    /// A cmem export, one JSON object a line.
    Export,
    /// A cmem database.
    Database,
    /// A claude-mem database.
    ClaudeMem,
}

/// Answers that taking in needs from elsewhere.
pub struct Helpers<'a> {
    /// The type id of a type word, and the word itself when it is another.
    pub type_of: &'a dyn Fn(&str) -> (String, Option<String>),
    /// The project of a session, by what else is known of it (its transcript), given the name the file has for it.
    pub project_of: &'a mut dyn FnMut(&str, &str) -> Option<ProjectRef>,
}

/// What taking in came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Memories added.
    pub added: u64,
    /// Memories that were there already.
    pub known: u64,
    /// Memories left out because they were deleted here.
    pub kept_away: u64,
    /// Memories put into the trash because they were deleted there.
    pub removed: u64,
    /// Lines or rows that could not be read.
    pub faulty: u64,
    /// The first of them: where, and why.
    pub faults: Vec<(u64, String)>,
    /// The step in the journal; `None` when nothing changed, or only counted.
    pub step: Option<i64>,
}

impl Imported {
    fn fault(&mut self, at: u64, why: impl ToString) {
        self.faulty += 1;
        if self.faults.len() < 20 {
            self.faults.push((at, why.to_string()));
        }
    }
}

/// Looks at a file.
#[allow(clippy::disallowed_methods)] // the head of the one file that was named
pub fn kind_of_file(path: &Path) -> Result<ImportKind> {
    let io = |source| StoreError::Io { doing: "could not read", path: path.to_owned(), source };
    let mut head = Vec::with_capacity(100);
    std::fs::File::open(path).map_err(io)?.take(100).read_to_end(&mut head).map_err(io)?;
    if !head.starts_with(b"SQLite format 3\0") {
        return Ok(ImportKind::Export);
    }
    // The application id stands at byte 68 of the header.
    let ours = (super::schema::APPLICATION_ID as u32).to_be_bytes();
    Ok(if head.get(68..72) == Some(&ours) { ImportKind::Database } else { ImportKind::ClaudeMem })
}
