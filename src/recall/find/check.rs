//! Conditions that SQL cannot say, checked on the whole memory.

use crate::gate::redact::holds_secret;
use crate::memory::{Kind, Memory, Source};
use crate::recall::query::{Body, Check, Fault, Key, Presence, Query, State};

use super::scope::glob_matches;

/// Whether a memory meets a condition that SQL cannot say. A state nobody can tell counts as met.
pub fn holds(check: &Check, memory: &Memory, is: Option<&dyn Fn(&Memory, State) -> bool>) -> bool {
    match check {
        Check::Has(presence, wanted) => {
            let there = match presence {
                Presence::Facts => !memory.facts.is_empty(),
                Presence::Files => !memory.files_read.is_empty() || !memory.files_modified.is_empty(),
                Presence::Narrative => !memory.narrative.trim().is_empty(),
                Presence::Dupe => memory.count > 1,
                Presence::Note => memory.source == Source::Manual,
                Presence::Secret => {
                    let texts = [&memory.title, &memory.subtitle, &memory.narrative];
                    texts.into_iter().chain(&memory.facts).any(|text| holds_secret(text))
                }
            };
            there == *wanted
        }
        // What is in the trash is no row here. Other states without somebody who knows them are named as a fault.
        Check::State(State::Trashed, wanted) if is.is_none() => !wanted,
        Check::State(state, wanted) => is.is_none_or(|is| is(memory, *state) == *wanted),
        Check::Wild(wanted) => (memory.raw_type.is_some() && memory.kind == Kind::Observation) == *wanted,
        Check::NotConcepts(concepts) => {
            !memory.concepts.iter().any(|it| concepts.iter().any(|no| no.eq_ignore_ascii_case(it)))
        }
        Check::NotFiles(globs, modified_only) => {
            let read = memory.files_read.iter().filter(|_| !modified_only);
            !read.chain(&memory.files_modified).any(|path| globs.iter().any(|glob| glob_matches(glob, path)))
        }
        Check::NotSessions(sessions) => {
            !memory.session.as_ref().is_some_and(|it| sessions.iter().any(|no| it.as_str().starts_with(no.as_str())))
        }
        Check::NotIds(ids) => !ids.iter().any(|(from, to)| (*from..=*to).contains(&memory.id)),
        Check::NotSources(sources) => {
            let word = serde_json::to_value(memory.source).unwrap_or_default();
            !sources.iter().any(|no| word == no.as_str())
        }
    }
}

/// A state that nobody here can tell: it is left out of the query, and that is said.
pub(super) fn unknowable(query: &Query, check: &Check) -> Option<Fault> {
    let Check::State(state, _) = check else { return None };
    let word = match state {
        State::In => "in",
        State::Out => "out",
        State::New => "new",
        State::Trashed => return None,
    };
    let part = query
        .parts
        .iter()
        .find(|part| matches!(&part.body, Body::Filter(Key::Is, values) if values.iter().any(|it| it == word)));
    let span = part.map_or(0..0, |part| part.span.clone());
    Some(Fault { span, what: format!("“is:{word}” is known to the screen only"), suggestion: None })
}
