//! What is known at a place in the file: the values lines inherit from the lines before them.

use std::sync::Arc;

use super::entry::Entry;
use super::event::{Body, Event};
use super::time::instant;
use crate::memory::{AgentId, EventKey, SessionId, Timestamp};

/// Last seen values. Lines without a field of their own inherit them (E28, E33, A027).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// Working directory.
    pub cwd: Option<Arc<str>>,
    /// Git branch.
    pub branch: Option<Arc<str>>,
    /// Client version.
    pub version: Option<Arc<str>>,
    /// Entry point.
    pub entrypoint: Option<Arc<str>>,
    /// Time.
    pub time: Option<Timestamp>,
    /// Number of the prompt.
    pub turn: u32,
}

impl Context {
    /// Takes over what the entry says.
    pub fn update(&mut self, entry: &Entry<'_>) {
        renew(&mut self.cwd, entry.cwd.filled());
        renew(&mut self.branch, entry.branch.filled());
        renew(&mut self.version, entry.version.filled());
        renew(&mut self.entrypoint, entry.entrypoint.filled());
        if let Some(time) = entry.timestamp.get().and_then(instant) {
            self.time = Some(time);
        }
    }
}

fn renew(slot: &mut Option<Arc<str>>, value: Option<&str>) {
    if let Some(value) = value
        && slot.as_deref() != Some(value)
    {
        *slot = Some(Arc::from(value));
    }
}

/// Where and when something happened, and whose work it was.
#[derive(Clone, Debug, Default)]
pub struct Stamp {
    /// Values at its line.
    pub at: Context,
    /// Helper agent.
    pub agent: Option<AgentId>,
    /// The parent's call that the agent belongs to.
    pub parent_call: Option<EventKey>,
}

impl Stamp {
    /// An event with this stamp.
    pub fn event(&self, key: EventKey, session: &SessionId, end_offset: u64, body: Body) -> Event {
        let owned = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        Event {
            agent: self.agent.clone(),
            parent_call: self.parent_call.clone(),
            time: self.at.time,
            cwd: owned(&self.at.cwd),
            branch: owned(&self.at.branch),
            version: owned(&self.at.version),
            entrypoint: owned(&self.at.entrypoint),
            turn: self.at.turn,
            end_offset,
            ..Event::new(key, session.clone(), body)
        }
    }
}
