//! Rows for lists: the newest by time, then everything by id.

use super::Real;
use crate::hub::live::{ListRow, RowBatch, RowFlags, project_key};
use crate::memory::{Kind, Memory, MemoryId, millis};
use crate::store::Result;
use crate::store::api::{Filter, TitleRow};

/// Everything: prompts as well, and what projects the user excluded hold is left out.
pub fn all_kinds() -> Filter {
    Filter { kinds: vec![Kind::Observation, Kind::Summary, Kind::Prompt], ..Filter::default() }
}

impl Real {
    /// The newest rows by event time.
    pub(super) fn newest_rows(&mut self, limit: usize, out: &mut RowBatch) -> Result<()> {
        self.learn_names()?;
        let (memories, _) = self.hub.list(&all_kinds(), None, limit)?;
        for memory in &memories {
            self.push_memory(memory, out);
        }
        Ok(())
    }

    /// A page in descending order of id.
    pub(super) fn page_rows(
        &mut self,
        before: Option<MemoryId>,
        limit: usize,
        facts: bool,
        out: &mut RowBatch,
    ) -> Result<Option<MemoryId>> {
        self.learn_names()?;
        let mut left = limit;
        let mut last = None;
        let this = &*self;
        this.hub.store().titles(before, &mut |row| {
            last = Some(row.id);
            this.push_title(&row, facts, out);
            left -= 1;
            left > 0
        })?;
        Ok(last.filter(|_| left == 0))
    }

    /// Projects and sessions by their numbers.
    pub(super) fn learn_names(&mut self) -> Result<()> {
        let excluded = self.hub.excluded()?;
        for project in self.hub.projects()? {
            // A former name stands for the project it became.
            let root = project.alias_of.as_deref().unwrap_or(&project.root);
            let key = project_key(root, project.worktree.as_deref().unwrap_or(""));
            // What is excluded is known as such and never shown (A094).
            let hidden = project.excluded || excluded.contains(&project.root);
            self.projects.insert(project.id, if hidden { HIDDEN.to_owned() } else { key });
        }
        for (number, id) in self.hub.store().session_numbers(self.last_session)? {
            self.last_session = number;
            self.sessions.insert(number, id);
        }
        Ok(())
    }

    /// Adds a row as the list needs it. Rows of excluded projects are left out.
    pub(super) fn push_title(&self, row: &TitleRow<'_>, facts: bool, out: &mut RowBatch) {
        let project = self.projects.get(&row.project).map_or("", String::as_str);
        if project == HIDDEN {
            return;
        }
        let mut flags = RowFlags::default();
        flags.set(RowFlags::PINNED, row.pinned);
        flags.set(RowFlags::EXCLUDED, row.excluded);
        flags.set(RowFlags::EDITED, row.edited);
        flags.set(RowFlags::SUPERSEDED, row.superseded);
        flags.set(RowFlags::ABANDONED, row.abandoned);
        flags.set(RowFlags::HELPER, row.helper);
        flags.set(RowFlags::WILD, self.is_wild(row.kind, row.type_id));
        let all = if facts { lines_of(row.facts) } else { String::new() };
        out.push(&ListRow {
            id: row.id.0,
            created_ms: row.created_ms,
            kind: row.kind,
            type_id: type_word(row.kind, row.type_id),
            project,
            session: self.sessions.get(&row.session).map_or("", String::as_str),
            prompt: row.prompt_number,
            tokens: row.tokens,
            flags,
            title: row.title,
            subtitle: row.subtitle,
            facts: &all,
        });
    }

    fn push_memory(&self, memory: &Memory, out: &mut RowBatch) {
        let mut flags = RowFlags::default();
        flags.set(RowFlags::PINNED, memory.pinned);
        flags.set(RowFlags::EXCLUDED, memory.excluded);
        flags.set(RowFlags::EDITED, memory.edited);
        flags.set(RowFlags::SUPERSEDED, memory.superseded_by.is_some());
        flags.set(RowFlags::ABANDONED, memory.abandoned);
        flags.set(RowFlags::HELPER, memory.agent.is_some());
        flags.set(RowFlags::WILD, self.is_wild(memory.kind, &memory.type_id));
        // A worktree is told by its label, which is its name behind the project's.
        let worktree = self.projects.values().find(|key| {
            key.strip_prefix(&memory.project_root)
                .and_then(|rest| rest.strip_prefix('#'))
                .is_some_and(|name| memory.project.rsplit('/').next() == Some(name))
        });
        out.push(&ListRow {
            id: memory.id.0,
            created_ms: millis(memory.created_at),
            kind: memory.kind,
            type_id: type_word(memory.kind, &memory.type_id),
            project: worktree.map_or(memory.project_root.as_str(), String::as_str),
            session: memory.session.as_ref().map_or("", |id| id.as_str()),
            prompt: memory.prompt_number,
            tokens: memory.tokens,
            flags,
            title: &memory.title,
            subtitle: &memory.subtitle,
            facts: &memory.facts.join("\n"),
        });
    }

    fn is_wild(&self, kind: Kind, type_id: &str) -> bool {
        kind == Kind::Observation && self.hub.mode().type_def(type_id).is_none()
    }
}

/// Stands for a project whose rows are not shown.
const HIDDEN: &str = "\u{0}";

/// Summaries and prompts have no type.
fn type_word(kind: Kind, type_id: &str) -> &str {
    if kind == Kind::Observation { type_id } else { "" }
}

/// A JSON array of texts as lines.
fn lines_of(json: &str) -> String {
    if json == "[]" {
        return String::new();
    }
    let facts: Vec<std::borrow::Cow<'_, str>> = serde_json::from_str(json).unwrap_or_default();
    facts.join("\n")
}
