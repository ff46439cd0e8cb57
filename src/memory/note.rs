//! A memory without its body: what the telling side needs. Small, so that a session start reads a few hundred of them
//! in well under a millisecond.

use super::{Kind, Memory, MemoryId, Source, Summary, Timestamp};

/// One memory, without its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Row id.
    pub id: MemoryId,
    /// Row kind.
    pub kind: Kind,
    /// Type id.
    pub type_id: String,
    /// The type word was none of the mode's.
    pub wild: bool,
    /// One line.
    pub title: String,
    /// Keywords.
    pub concepts: Vec<String>,
    /// Event time.
    pub created_at: Timestamp,
    /// Session, as a key to group by (not its name); empty for memories that have none.
    pub session: String,
    /// A helper agent's work.
    pub helper: bool,
    /// Who wrote it.
    pub source: Source,
    /// Estimated tokens to read it in full.
    pub tokens: u32,
    /// Tokens spent to produce it.
    pub work_tokens: u32,
    /// Always given.
    pub pinned: bool,
    /// Never given.
    pub excluded: bool,
    /// On a rewound branch.
    pub abandoned: bool,
    /// Replaced by another.
    pub superseded_by: Option<MemoryId>,
    /// Parts of a summary.
    pub summary: Option<Summary>,
    /// Text shown under the row, where the settings ask for whole notes.
    pub detail: Option<String>,
}

impl From<&Memory> for Note {
    fn from(memory: &Memory) -> Self {
        Self {
            id: memory.id,
            kind: memory.kind,
            type_id: memory.type_id.clone(),
            wild: memory.raw_type.is_some(),
            title: memory.title.clone(),
            concepts: memory.concepts.clone(),
            created_at: memory.created_at,
            session: memory.session.as_ref().map(|it| it.0.clone()).unwrap_or_default(),
            helper: memory.agent.is_some(),
            source: memory.source,
            tokens: memory.tokens,
            work_tokens: memory.work_tokens,
            pinned: memory.pinned,
            excluded: memory.excluded,
            abandoned: memory.abandoned,
            superseded_by: memory.superseded_by,
            summary: memory.summary.clone(),
            detail: None,
        }
    }
}

impl Note {
    /// Newest first, the higher id first within one instant.
    pub fn newest_first(a: &Self, b: &Self) -> std::cmp::Ordering {
        (b.created_at, b.id).cmp(&(a.created_at, a.id))
    }
}
