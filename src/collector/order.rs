//! In which order files are read when several have unread bytes: newest first, but an original before its copies
//! and a session before its helper agents.
//!
//! A fork, a resume and a branch begin with the history they copied. Whoever is read first owns the events, so the
//! order must not depend on how the files happened to be listed: copies of one history (same first entry) form a
//! lineage and are read by age, the original first.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::memory::{AgentId, SessionId, Timestamp};

/// What the order rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Last change of the file.
    pub modified: Timestamp,
    /// Session.
    pub session: SessionId,
    /// Helper agent.
    pub agent: Option<AgentId>,
    /// First entry's uuid (`transcript::locate::Head`); known for files never read.
    pub lineage: Option<String>,
    /// Time of the first timed line.
    pub born: Option<Timestamp>,
}

/// Indexes of `files` in the order to read them.
pub fn order(files: &[Waiting]) -> Vec<usize> {
    // A session's group is the lineage of its main file; its agents go with it, whatever their own first entry is.
    let mut lineage_of: HashMap<&SessionId, &str> = HashMap::new();
    for file in files.iter().filter(|file| file.agent.is_none()) {
        if let Some(lineage) = &file.lineage {
            lineage_of.insert(&file.session, lineage);
        }
    }
    let group = |file: &Waiting| -> String {
        match lineage_of.get(&file.session).copied().or(file.lineage.as_deref()) {
            Some(lineage) => format!("l{lineage}"),
            None => format!("s{}", file.session),
        }
    };
    let mut newest: HashMap<String, Timestamp> = HashMap::new();
    for file in files {
        let entry = newest.entry(group(file)).or_insert(file.modified);
        *entry = (*entry).max(file.modified);
    }
    let mut indexes: Vec<usize> = (0..files.len()).collect();
    indexes.sort_by_cached_key(|index| {
        let file = &files[*index];
        let group = group(file);
        let recency = Reverse(newest.get(&group).copied().unwrap_or(file.modified));
        let age = file.born.unwrap_or(Timestamp::MAX);
        (recency, group, file.agent.is_some(), age, file.session.clone(), file.agent.clone())
    });
    indexes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn file(session: &str, agent: Option<&str>, lineage: &str, born: i64, modified: i64) -> Waiting {
        Waiting {
            modified: at(modified),
            session: session.into(),
            agent: agent.map(AgentId::from),
            lineage: (!lineage.is_empty()).then(|| lineage.to_owned()),
            born: Some(at(born)),
        }
    }

    #[test]
    fn a034_an_original_is_read_before_its_copies_whichever_is_newer() {
        let files = [
            file("fork", None, "u1", 50, 900),
            file("other", None, "u9", 10, 500),
            file("original", None, "u1", 10, 100),
            file("original", Some("a1"), "a-u1", 20, 90),
        ];
        let order: Vec<_> = order(&files).into_iter().map(|index| files[index].session.as_str()).collect();
        assert_eq!(order, ["original", "fork", "original", "other"]);
    }

    #[test]
    fn a_fork_agent_that_begins_with_its_parents_history_comes_behind_the_parent() {
        let files = [file("s", Some("a1"), "u1", 50, 900), file("s", None, "u1", 10, 100)];
        assert_eq!(order(&files), [1, 0]);
    }

    proptest! {
        #[test]
        fn the_order_does_not_depend_on_the_listing(
            picks in prop::collection::vec((0u8..4, prop::option::of(0u8..2), 0u8..3, 0i64..4, 0i64..4), 0..8),
            seed in any::<u64>(),
        ) {
            let mut files: Vec<Waiting> = picks.iter().map(|(session, agent, lineage, born, modified)| {
                let agent = agent.map(|agent| format!("a{agent}"));
                file(&format!("s{session}"), agent.as_deref(), &format!("u{lineage}"), *born, *modified)
            }).collect();
            // One file a (session, agent), as on disk.
            files.sort_by(|a, b| (&a.session, &a.agent).cmp(&(&b.session, &b.agent)));
            files.dedup_by(|a, b| a.session == b.session && a.agent == b.agent);
            let one: Vec<Waiting> = order(&files).into_iter().map(|index| files[index].clone()).collect();
            let count = files.len().max(1);
            files.rotate_left(seed as usize % count);
            files.reverse();
            let two: Vec<Waiting> = order(&files).into_iter().map(|index| files[index].clone()).collect();
            prop_assert_eq!(one, two);
        }
    }
}
