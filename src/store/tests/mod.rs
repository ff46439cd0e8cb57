//! Tests of the store over several of its files, and the small makers they share.

mod curate;
mod disk;
mod exchange;
mod open;
mod record;
mod search;

use super::Store;
use super::api::{Commit, LedgerRow, Outcome, Recorded};
use crate::memory::{EventKey, Kind, NewMemory, ProjectRef, SessionId, Timestamp, from_millis};

/// 2026-03-01T10:00:00Z, and so many seconds.
pub fn at(seconds: i64) -> Timestamp {
    from_millis(1_772_359_200_000 + seconds * 1000)
}

pub fn project(root: &str) -> ProjectRef {
    ProjectRef { root: root.into(), name: root.rsplit('/').next().unwrap_or(root).into(), worktree: None }
}

/// An observation of session S1 in /w/alpha at second 0.
pub fn memory(title: &str) -> NewMemory {
    NewMemory {
        type_id: "discovery".into(),
        title: title.into(),
        project: Some(project("/w/alpha")),
        session: Some(SessionId::from("S1")),
        created_at: at(0),
        ..NewMemory::default()
    }
}

pub fn prompt(text: &str, number: u32) -> NewMemory {
    NewMemory {
        kind: Kind::Prompt,
        type_id: "prompt".into(),
        narrative: text.into(),
        prompt_number: number,
        ..memory(text)
    }
}

pub fn store() -> Store {
    Store::in_memory(at(0)).unwrap()
}

pub fn keep(store: &mut Store, memories: Vec<NewMemory>) -> Recorded {
    store.record(&Commit { memories, now: Some(at(5)), ..Commit::default() }).unwrap()
}

pub fn row(key: &str, outcome: Outcome, memories: Vec<usize>) -> LedgerRow {
    LedgerRow {
        key: EventKey::from(key),
        alias: None,
        session: SessionId::from("S1"),
        kind: "tool".into(),
        time: Some(at(0)),
        outcome,
        gate: 5,
        reason: "test".into(),
        call: None,
        memories,
    }
}

pub fn titles(memories: &[crate::memory::Memory]) -> Vec<&str> {
    memories.iter().map(|it| it.title.as_str()).collect()
}
