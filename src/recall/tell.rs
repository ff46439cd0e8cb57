//! Telling: from a moment to its text. What the hook gives, what `cmem context` prints and what the screen previews
//! all come from here, so they cannot differ.

use jiff::tz::TimeZone;

use crate::config::ContextSettings;
use crate::gate::exclude::Exclusions;
use crate::memory::{MemoryId, ProjectRef};
use crate::mode::Mode;
use crate::store::{Result, Store};

use super::context::{self, Context, Place};
use super::file_context::{self, FileFacts};
use super::find::Nearest;
use super::{fetch, prompt_context};

/// Everything a text depends on besides the moment.
#[derive(Clone, Copy)]
pub struct Teller<'a> {
    /// The database.
    pub store: &'a Store,
    /// The active mode.
    pub mode: &'a Mode,
    /// The reader's zone.
    pub zone: &'a TimeZone,
    /// Settings.
    pub settings: &'a ContextSettings,
    /// What the settings leave out: the predicate of recording and search (A094).
    pub excluded: &'a Exclusions,
}

impl Teller<'_> {
    /// At the start of a session in `project`.
    pub fn session_start(&self, project: &ProjectRef) -> Result<Context> {
        if !self.settings.enabled || self.excluded.covers(Some(project), None) {
            return Ok(Context::default());
        }
        let notes = fetch::for_session(self.store, &keys(project), &[], self.settings)?;
        let label = label(project);
        Ok(context::build(&notes, &self.place(&label), self.settings))
    }

    /// Before a file is read. Notes in `told` were given in this session and are not given again.
    pub fn before_read(&self, project: &ProjectRef, file: &FileFacts, told: &[MemoryId]) -> Result<Context> {
        let on = self.settings.enabled && self.settings.pre_read && file.bytes >= file_context::MIN_BYTES;
        if !on || self.excluded.covers(Some(project), None) {
            return Ok(Context::default());
        }
        let mut notes = fetch::for_file(self.store, &keys(project), &[], &file.spellings)?;
        notes.retain(|it| !told.contains(&it.note.id));
        let label = label(project);
        Ok(file_context::build(&notes, file, &self.place(&label), self.settings))
    }

    /// With a prompt. Notes in `told` were given in this session and are not given again.
    pub fn with_prompt(
        &self,
        project: &ProjectRef,
        prompt: &str,
        meaning: std::result::Result<&dyn Nearest, &str>,
        told: &[MemoryId],
    ) -> Result<Context> {
        let on = self.settings.enabled && self.settings.prompt && prompt_context::worth_asking(prompt);
        if !on || self.excluded.covers(Some(project), None) {
            return Ok(Context::default());
        }
        let mut hits = prompt_context::fetch(self.store, &keys(project), prompt, meaning)?;
        hits.retain(|hit| !told.contains(&hit.memory.id));
        let label = label(project);
        Ok(prompt_context::build(&hits, &self.place(&label), self.settings))
    }

    fn place<'p>(&'p self, label: &'p str) -> Place<'p> {
        Place { project: label, mode: self.mode, zone: self.zone.clone() }
    }
}

/// The words of `Filter::projects` for a project: with its worktrees and former names.
pub fn keys(project: &ProjectRef) -> Vec<String> {
    vec![project.root.clone()]
}

/// What the project is called at the head: `orchard`, in a worktree `orchard/graft`.
pub fn label(project: &ProjectRef) -> String {
    match &project.worktree {
        Some(worktree) => format!("{}/{worktree}", project.name),
        None => project.name.clone(),
    }
}
