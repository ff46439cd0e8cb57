//! A list to choose from: projects, types, concepts, commands, help, history, themes … One shape for all.

use super::LineEdit;
use crate::memory::MemoryId;
use crate::tui::action::Action;

/// What a choice does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Carry out an action.
    Act(Action),
    /// Switch to these projects; none: all.
    Scope(Vec<String>),
    /// Put `key:value` into the query, or take it out.
    Filter(crate::recall::query::Key, String),
    /// Another type for these rows.
    Retype(Vec<MemoryId>, String),
    /// Move these rows to a project root.
    Move(Vec<MemoryId>, String),
    /// Fold a worktree (its name) into its parent (its root).
    FoldWorktree(String, String),
    /// A concept, ticked or not, for the rows of the list.
    Concept(String),
    /// Undo back to a step.
    UndoTo(i64),
    /// A theme by name.
    Theme(String),
    /// A saved view by number.
    View(usize),
    /// An order of the list.
    Sort(&'static str),
    /// Only rows out for this reason (Context view); empty: all.
    Reason(String),
    /// A metric of the timeline.
    Metric(usize),
    /// Only something to read.
    Nothing,
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickItem {
    /// What it is.
    pub label: String,
    /// What stands at the right: a count, a key.
    pub right: String,
    /// A key that chooses it at once.
    pub key: Option<char>,
    /// For checklists: all, some or none of the rows have it.
    pub tick: Option<Tick>,
    /// Why it cannot be chosen; empty: it can.
    pub disabled: String,
    /// What it does.
    pub pick: Pick,
}

/// A tick in a checklist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// None of the rows.
    Off,
    /// Some, as it is.
    Some,
    /// All.
    On,
}

impl PickItem {
    /// A line that can be chosen.
    pub fn new(label: impl Into<String>, right: impl Into<String>, pick: Pick) -> Self {
        Self { label: label.into(), right: right.into(), key: None, tick: None, disabled: String::new(), pick }
    }

    /// Chosen by a key at once.
    pub fn key(mut self, key: char) -> Self {
        self.key = Some(key);
        self
    }

    /// A heading, or a line that only says something.
    pub fn heading(label: impl Into<String>) -> Self {
        Self { disabled: " ".into(), ..Self::new(label, "", Pick::Nothing) }
    }

    /// Cannot be chosen, and why.
    pub fn disabled(mut self, why: impl Into<String>) -> Self {
        self.disabled = why.into();
        self
    }

    /// Whether it is a heading.
    pub fn is_heading(&self) -> bool {
        self.disabled == " "
    }
}

/// What a list is for, where that matters beyond its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The help of a view.
    Help,
    /// Commands by name.
    Palette,
    /// Choosing something; a filter line narrows it.
    Choose,
    /// One key chooses; no filter line until `/`.
    OneKey,
    /// Ticks; Enter applies them.
    Check,
    /// Seen at once while moving; Esc restores.
    Theme,
    /// Lines to read.
    Read,
}

/// The list.
#[derive(Clone, Debug)]
pub struct Picker {
    /// Heading of the box.
    pub title: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Everything.
    pub items: Vec<PickItem>,
    /// What is typed to narrow it.
    pub filter: LineEdit,
    /// The filter line takes printable keys.
    pub filtering: bool,
    /// Index into [`Picker::shown`].
    pub cursor: usize,
    /// A line below.
    pub note: String,
    /// Rows a checklist is about.
    pub ids: Vec<MemoryId>,
}

impl Picker {
    /// A list with its cursor on the first line that can be chosen.
    pub fn new(title: impl Into<String>, purpose: Purpose, items: Vec<PickItem>) -> Self {
        let filtering = matches!(purpose, Purpose::Help | Purpose::Palette | Purpose::Choose | Purpose::Theme);
        let mut picker = Self {
            title: title.into(),
            purpose,
            items,
            filter: LineEdit::default(),
            filtering,
            cursor: 0,
            note: String::new(),
            ids: Vec::new(),
        };
        picker.settle();
        picker
    }

    /// A line below.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The items that the filter admits, best first where something is typed.
    pub fn shown(&self) -> Vec<usize> {
        let typed = self.filter.text().trim().to_lowercase();
        if typed.is_empty() {
            return (0..self.items.len()).collect();
        }
        let mut found: Vec<(u32, usize)> = self
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| !item.is_heading())
            .filter_map(|(at, item)| {
                rank(&item.label.to_lowercase(), &item.right.to_lowercase(), &typed).map(|r| (r, at))
            })
            .collect();
        found.sort();
        found.into_iter().map(|(_, at)| at).collect()
    }

    /// The item under the cursor.
    pub fn current(&self) -> Option<&PickItem> {
        self.shown().get(self.cursor).and_then(|at| self.items.get(*at))
    }

    /// Moves the cursor, over headings.
    pub fn step(&mut self, by: isize) {
        let shown = self.shown();
        let mut at = self.cursor as isize;
        loop {
            at += by.signum();
            match usize::try_from(at).ok().and_then(|at| shown.get(at)) {
                Some(item) if self.items[*item].is_heading() && self.purpose != Purpose::Read => {}
                Some(_) => {
                    self.cursor = at as usize;
                    return;
                }
                None => return,
            }
        }
    }

    /// The filter changed: the cursor goes to the first line.
    pub fn settle(&mut self) {
        let shown = self.shown();
        self.cursor = shown.iter().position(|at| !self.items[*at].is_heading()).unwrap_or(0);
    }
}

/// Lower is better; `None`: not there. Every word must occur; a beginning beats a middle, the label beats the rest.
fn rank(label: &str, right: &str, typed: &str) -> Option<u32> {
    let mut rank = 0;
    for word in typed.split_whitespace() {
        rank += match label.find(word) {
            Some(0) => 0,
            Some(at) if label[..at].ends_with([' ', '-', '_', '/']) => 1,
            Some(_) => 2,
            None => right.find(word).map(|_| 3)?,
        };
    }
    Some(rank)
}
