//! The rows that the telling side chooses from: the only place in it that asks the database.

use crate::config::ContextSettings;
use crate::memory::{Memory, Note};
use crate::store::api::{Filter, Order};
use crate::store::terms::{Field, Match};
use crate::store::{NotesWanted, Result, Store};

use super::file_context::{CANDIDATES, FileNote};

/// Types that outlive their day.
const LASTING_TYPES: [&str; 3] = ["decision", "security_alert", "security_note"];
/// Concepts that do.
const LASTING_CONCEPTS: [&str; 3] = ["gotcha", "trade-off", "why-it-exists"];

/// Candidates for a session start in `projects` (words of `Filter::projects`).
pub fn for_session(
    store: &Store,
    projects: &[String],
    not_projects: &[String],
    settings: &ContextSettings,
) -> Result<Vec<Note>> {
    let observations = settings.observations as usize;
    let recent = settings.selection == "recent";
    // Room for what is passed over: repeated findings, steps of helper agents, types not asked for.
    let filtered = !settings.types.is_empty() || !settings.concepts.is_empty();
    let factor = if filtered { 12 } else { 2 };
    let types: Vec<&str> = LASTING_TYPES.iter().copied().chain(settings.types.iter().map(String::as_str)).collect();
    let lasting = if recent { 0 } else { 16.max(if filtered { observations } else { 0 }) };
    let mut notes = store.notes(
        projects,
        not_projects,
        &NotesWanted {
            recent: if observations == 0 { 0 } else { (observations * factor).clamp(60, 1_500) },
            // One more than is shown: the compatible selection shows a summary at the time of the one before.
            summaries: if settings.sessions == 0 { 0 } else { settings.sessions as usize + 1 },
            types: if observations == 0 { &[] } else { &types },
            concepts: if observations == 0 { &[] } else { &LASTING_CONCEPTS },
            lasting: if observations == 0 { 0 } else { lasting },
            pinned: if observations == 0 { 0 } else { 100 },
        },
    )?;
    if settings.full > 0 {
        // Some of the newest are passed over, so a few more are read than can be told in full.
        notes.sort_by(Note::newest_first);
        let newest = notes.iter().filter(|note| note.kind == crate::memory::Kind::Observation);
        let ids: Vec<_> = newest.map(|note| note.id).take(settings.full as usize * 3).collect();
        for memory in store.get(&ids)? {
            let facts = settings.full_field == "facts";
            let text = if facts { memory.facts.join("\n") } else { memory.narrative };
            for note in notes.iter_mut().filter(|note| note.id == memory.id) {
                note.detail = Some(text.clone());
            }
        }
    }
    Ok(notes)
}

/// Notes that name a file under any of its spellings, newest first.
pub fn for_file(
    store: &Store,
    projects: &[String],
    not_projects: &[String],
    spellings: &[String],
) -> Result<Vec<FileNote>> {
    let phrases: Vec<Match> = spellings.iter().map(|path| Match::Phrase(path.clone())).collect();
    let wanted = Match::In(vec![Field::Files], Box::new(Match::Any(phrases)));
    let filter = Filter {
        projects: projects.to_vec(),
        not_projects: not_projects.to_vec(),
        kinds: vec![crate::memory::Kind::Observation],
        ..Filter::default()
    };
    // The index knows words, not paths: some hits are of files that only end alike.
    let hits = store.matching(&wanted, &filter, Order::Newest, CANDIDATES * 2)?;
    Ok(hits.hits.iter().map(|hit| FileNote::from(&hit.memory)).collect())
}

impl From<&Memory> for FileNote {
    fn from(memory: &Memory) -> Self {
        Self { note: Note::from(memory), read: memory.files_read.clone(), modified: memory.files_modified.clone() }
    }
}
