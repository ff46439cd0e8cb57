//! What a session is told when it starts: a pure function of (notes, project, settings) → bytes.
//!
//! Bounded, deterministic, dated, and no instruction: the same notes give the same bytes at any time of day (no
//! clock is read; ages are counted from the newest note, and the head names the newest note's time), the text never
//! passes the limits, never ends inside a row, and says of itself that it holds records.
//!
//! `select` chooses and says why for every candidate, `text` writes. Absent from it: the database (`recall::fetch`
//! reads the candidates) and any idea of hooks.

mod select;
mod text;

use jiff::tz::TimeZone;

use crate::config::ContextSettings;
use crate::memory::{Kind, MemoryId, estimate_tokens};
use crate::mode::Mode;

use crate::memory::Note;

pub use select::{Reason, Verdict};

/// Where the notes are told, and in which words.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// Project label for the head, with the worktree behind a slash if there is one.
    pub project: &'a str,
    /// The active mode.
    pub mode: &'a Mode,
    /// The reader's zone.
    pub zone: TimeZone,
}

/// The text and how it came about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// Exactly what is given. Empty: nothing is said.
    pub text: String,
    /// Its estimated tokens.
    pub tokens: u32,
    /// Candidates that are in, best first.
    pub chosen: Vec<Verdict>,
    /// Candidates that are out, newest first.
    pub left_out: Vec<Verdict>,
    /// Settings that had no effect, and why.
    pub warnings: Vec<String>,
}

/// Builds the text. `notes` may come in any order and hold more than fits.
pub fn build(notes: &[Note], place: &Place<'_>, settings: &ContextSettings) -> Context {
    let mut context = Context::default();
    let nothing = settings.observations == 0 && settings.sessions == 0;
    if !settings.enabled || nothing || settings.max_tokens == 0 || settings.max_bytes == 0 {
        return context;
    }
    let selection = select::select(notes, place.mode, settings, &mut context.warnings);
    let (text, chosen, no_room) = text::fit(selection.ranked, &selection.summaries, place, settings);
    context.left_out = selection.left_out;
    context.left_out.extend(no_room.into_iter().map(|note| Verdict::new(note, Reason::Budget)));
    context.left_out.sort_by_key(|it| std::cmp::Reverse((it.created_at, it.id)));
    context.tokens = estimate_tokens(&text);
    context.text = text;
    context.chosen = chosen;
    context
}

impl Context {
    /// Ids of what is in the text, in rank order.
    pub fn ids(&self) -> Vec<MemoryId> {
        self.chosen.iter().map(|verdict| verdict.id).collect()
    }

    /// How many observations and how many summaries are in.
    pub fn counts(&self) -> (usize, usize) {
        let summaries = self.chosen.iter().filter(|verdict| verdict.kind == Kind::Summary).count();
        (self.chosen.len() - summaries, summaries)
    }
}

#[cfg(test)]
mod tests;
