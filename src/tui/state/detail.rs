//! The memory that is read: which, how deep, and its text laid out once per width.

use crate::memory::{Memory, MemoryId};

/// What is open beside the list.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// The memory asked for: the one under the cursor.
    pub id: Option<MemoryId>,
    /// It, once it has come.
    pub memory: Option<Memory>,
    /// Asked for and not yet here.
    pub asked: Option<MemoryId>,
    /// 1 to 4: how much is shown.
    pub level: u8,
    /// First visible line.
    pub scroll: usize,
    /// Long lines are wrapped.
    pub no_wrap: bool,
    /// Why it is there, for level 4: asked for when opened.
    pub why: Vec<String>,
}

impl Detail {
    /// The memory if it is the one wanted.
    pub fn current(&self) -> Option<&Memory> {
        self.memory.as_ref().filter(|memory| Some(memory.id) == self.id)
    }
}
