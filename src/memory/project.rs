//! Which project an event belongs to: a canonical repository or a directory, and a label for people.

use serde::{Deserialize, Serialize};

/// A project as the resolver (`config::repository`) names it. Identity is `root`; `name` is a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProjectRef {
    /// Absolute path of the main checkout (parent of the common git directory), else of the directory.
    pub root: String,
    /// Last component of `root`, for display. Two projects may share it.
    pub name: String,
    /// Name of the linked worktree the event happened in, if it was one.
    pub worktree: Option<String>,
}
