//! Helpers whose lines stand inside the parent's file, as clients before 2.0 wrote them (E79).
//!
//! There is no agent id on such lines: a helper is the chain of its lines, named after the chain's root, and tied
//! to the call whose instruction equals the root's text.

use std::collections::HashMap;

use super::calls::Calls;
use super::entry::Entry;
use super::key::mark;
use super::speaker;
use crate::memory::{AgentId, EventKey};

/// The chains of the present turn.
#[derive(Debug, Default)]
pub struct Sidechains {
    chains: Vec<(AgentId, Option<EventKey>)>,
    /// Line → chain.
    lines: HashMap<u128, usize>,
}

impl Sidechains {
    /// The helper a line belongs to, and the call it is tied to.
    pub fn thread(&mut self, entry: &Entry<'_>, calls: &mut Calls) -> (AgentId, Option<EventKey>) {
        let uuid = entry.uuid.filled();
        let own = uuid.and_then(|uuid| self.lines.get(&mark(uuid)).copied());
        let parents = || entry.parent.filled().and_then(|parent| self.lines.get(&mark(parent)).copied());
        let named = || {
            let id = entry.agent.filled()?;
            self.chains.iter().position(|(agent, _)| agent.as_str() == id)
        };
        let chain = match own.or_else(parents).or_else(named) {
            Some(chain) => chain,
            None => {
                let agent = match entry.agent.filled() {
                    Some(id) => AgentId::from(id),
                    None => AgentId(format!("inline-{}", uuid.unwrap_or("unknown"))),
                };
                let words = speaker::instruction(entry);
                let call = if words.is_empty() { None } else { calls.tie(words.trim()) };
                self.chains.push((agent, call));
                self.chains.len() - 1
            }
        };
        if let Some(uuid) = uuid {
            self.lines.insert(mark(uuid), chain);
        }
        self.chains[chain].clone()
    }

    /// The turn is over.
    pub fn clear(&mut self) {
        self.chains.clear();
        self.lines.clear();
    }
}
