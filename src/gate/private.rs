//! Gate 1: turns that are nobody's business.
//!
//! A turn whose prompt is wholly `<private>` is dropped with everything that happened in it, its helper agents
//! included. The decision is made from the prompt, before anything of the turn can go anywhere; a turn whose prompt
//! was never seen is a fault of the reading, not a wish for privacy, and passes.
//!
//! Helper agents write files of their own, which are read apart and may lag behind: their events are tied to the turn
//! by time, and an agent that began in a private turn stays private to its end. So a session's state outlives the
//! turn; it is small, holds no text, and is meant to be kept beside the file cursor.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::memory::{Timestamp, millis};
use crate::transcript::event::{Body, Event};

/// What is private in one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionPrivacy {
    /// Private turns of the session's own file.
    turns: BTreeSet<u32>,
    /// Their times in milliseconds; the last one may be open.
    spans: Vec<(i64, Option<i64>)>,
    /// Agents that began in a private turn.
    agents: BTreeSet<String>,
    /// Calls of private turns that ran an agent.
    calls: BTreeSet<String>,
    /// Agents that began in another.
    open_agents: BTreeSet<String>,
    /// Hashes of titles given in private turns: the client writes a title again and again, later too.
    titles: BTreeSet<u64>,
}

impl SessionPrivacy {
    /// Nothing in the session is private so far.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The user spoke in `turn`. Words that are wholly private make the rest of the turn private; words that are not
    /// end a private turn only by beginning another.
    pub fn prompt(&mut self, turn: u32, time: Option<Timestamp>, wholly_private: bool) {
        let at = time.map_or(i64::MIN, millis);
        let open = self.spans.last().is_some_and(|(_, end)| end.is_none());
        if wholly_private {
            self.turns.insert(turn);
            // A prompt that is read again opens nothing again.
            if !open && !self.spans.iter().any(|(from, _)| *from == at) {
                self.spans.push((at, None));
            }
        } else if !self.turns.contains(&turn)
            && let Some((from, end @ None)) = self.spans.last_mut()
            && *from < at
        {
            *end = Some(at);
        }
    }

    /// Takes in what another file of the session knew.
    pub fn merge(&mut self, other: Self) {
        self.turns.extend(other.turns);
        self.agents.extend(other.agents);
        self.calls.extend(other.calls);
        self.open_agents.extend(other.open_agents);
        self.titles.extend(other.titles);
        for (from, to) in other.spans {
            match self.spans.iter_mut().find(|(known, _)| *known == from) {
                // Who has seen its end knows better.
                Some((_, end)) => *end = end.or(to),
                None => self.spans.push((from, to)),
            }
        }
        self.spans.sort_unstable();
    }

    /// Whether the event belongs to a private turn.
    pub fn hides(&mut self, event: &Event) -> bool {
        let Some(agent) = &event.agent else {
            let hidden = self.turns.contains(&event.turn);
            if hidden
                && let Body::Tool(call) = &event.body
                && matches!(call.name.as_str(), "Task" | "Agent")
            {
                self.calls.insert(event.key.to_string());
            }
            return hidden;
        };
        if self.agents.contains(agent.as_str()) {
            return true;
        }
        // The call says it for certain; it is read only when it has come back, so time must do until then.
        if event.parent_call.as_ref().is_some_and(|call| self.calls.contains(call.as_str())) {
            self.agents.insert(agent.to_string());
            return true;
        }
        if self.open_agents.contains(agent.as_str()) {
            return false;
        }
        let hidden = match event.time.map(millis) {
            Some(at) => self.spans.iter().any(|(from, to)| *from <= at && to.is_none_or(|to| at < to)),
            None => self.spans.last().is_some_and(|(_, to)| to.is_none()),
        };
        if hidden {
            self.agents.insert(agent.to_string())
        } else {
            self.open_agents.insert(agent.to_string())
        };
        hidden
    }

    /// A title that was given in a private turn.
    pub fn hide_title(&mut self, title: &str) {
        self.titles.insert(hash(title));
    }

    /// Whether the title was first given in a private turn.
    pub fn hides_title(&self, title: &str) -> bool {
        self.titles.contains(&hash(title))
    }
}

/// FNV-1a: the hash is kept on disk, so it must be the same in every build.
fn hash(text: &str) -> u64 {
    text.trim().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
