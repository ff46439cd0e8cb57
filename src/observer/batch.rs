//! A batch: events of one session that are asked about together, frozen when they are.

use crate::memory::{AgentId, EventKey, ProjectRef, SessionId, Timestamp};
use crate::transcript::event::Event;

/// Events of one session (and its helper agents) with everything a memory made from them needs. Frozen: what
/// happens in the session afterwards does not change it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Batch {
    /// Session.
    pub session: Option<SessionId>,
    /// Project of the events.
    pub project: Option<ProjectRef>,
    /// Working directory of the first event that has one.
    pub cwd: Option<String>,
    /// Branch of the first event that has one.
    pub branch: Option<String>,
    /// Helper agent, when all events are one agent's.
    pub agent: Option<AgentId>,
    /// Number of the prompt the events belong to.
    pub prompt_number: u32,
    /// The user's words that started the turn, already stripped and masked.
    pub prompt: Option<String>,
    /// The events, in file order, already through gates 0–2.
    pub events: Vec<Event>,
    /// The turn is over with the last event: a closing answer can be read as such.
    pub closes_turn: bool,
}

impl Batch {
    /// Keys of the events, in order.
    pub fn keys(&self) -> impl Iterator<Item = &EventKey> {
        self.events.iter().map(|event| &event.key)
    }

    /// Everything but the events.
    pub fn clone_frame(&self) -> Self {
        Self {
            session: self.session.clone(),
            project: self.project.clone(),
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            agent: self.agent.clone(),
            prompt_number: self.prompt_number,
            prompt: self.prompt.clone(),
            events: Vec::new(),
            closes_turn: self.closes_turn,
        }
    }

    /// Time of the last timed event.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.events.iter().rev().find_map(|event| event.time)
    }
}
