//! Everything a person can do, once.
//!
//! Each variant has the name `keys.toml` uses, the group it stands in, and the line help and palette show. Keymap,
//! help, palette, `cmem keys` and the README's table are drawn from this table; `update` gives each its meaning.

/// Where an action stands in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Moving about.
    Move,
    /// Narrowing and jumping.
    Find,
    /// The stream.
    Live,
    /// Changes to memories. All undoable, unless the line says otherwise.
    Change,
    /// Ways of looking.
    Look,
    /// Inside an input.
    Input,
}

impl Group {
    /// The heading in the help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Move => "MOVE",
            Self::Find => "FIND",
            Self::Live => "LIVE",
            Self::Change => "CHANGE (undoable unless it says so)",
            Self::Look => "LOOK",
            Self::Input => "INSIDE AN INPUT",
        }
    }
}

macro_rules! actions {
    ($($group:ident { $($variant:ident $name:literal $help:literal,)* })*) => {
        /// One thing a person can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $($(#[doc = $help] $variant,)*)*
        }

        impl Action {
            /// Every action, in the order of the help.
            pub const ALL: &'static [Self] = &[$($(Self::$variant,)*)*];

            /// The name in `keys.toml` and in the palette.
            pub fn name(self) -> &'static str {
                match self { $($(Self::$variant => $name,)*)* }
            }

            /// One line for the help.
            pub fn help(self) -> &'static str {
                match self { $($(Self::$variant => $help,)*)* }
            }

            /// Where it stands in the help.
            pub fn group(self) -> Group {
                match self { $($(Self::$variant => Group::$group,)*)* }
            }
        }
    };
}

actions! {
    Move {
        Down "down" "one line down",
        Up "up" "one line up",
        Newest "newest" "to the newest edge, and follow",
        Oldest "oldest" "to the oldest edge",
        HalfDown "half-down" "half a page down",
        HalfUp "half-up" "half a page up",
        PageDown "page-down" "a page down",
        PageUp "page-up" "a page up",
        PrevHeading "prev-heading" "previous session or day",
        NextHeading "next-heading" "next session or day",
        Open "open" "open, one level deeper",
        Back "back" "back, one level out",
        Escape "escape" "close, drop range, drop marks, drop search: one a press",
        NextPane "next-pane" "next pane",
        PrevPane "prev-pane" "previous pane",
        PrevItem "prev-item" "previous memory while reading one",
        NextItem "next-item" "next memory while reading one",
        DetailDown "detail-down" "scroll the detail down from the list",
        DetailUp "detail-up" "scroll the detail up from the list",
        Left "left" "previous cell (timeline)",
        Right "right" "next cell (timeline)",
        Today "today" "the cell of today (timeline)",
    }
    Find {
        Search "search" "search and filter as you type",
        NextMatch "next-match" "next match",
        PrevMatch "prev-match" "previous match",
        Legend "legend" "types: a letter toggles, A all, I invert, O only, . wild",
        FilterProject "filter-project" "filter by project",
        FilterType "filter-type" "filter by type",
        FilterConcept "filter-concept" "filter by concept",
        FilterSession "filter-session" "only this session",
        FilterDate "filter-date" "filter by date",
        FilterFile "filter-file" "filter by file",
        FilterSource "filter-source" "filter by source",
        FilterKind "filter-kind" "filter by kind: obs, sum, prompt",
        FilterClear "filter-clear" "clear all filters",
        Sort "sort" "newest, oldest, tokens, relevance",
        MarkRelated "mark-related" "mark what is related: same session and file, or same batch",
        SavedOpen "saved-views" "open a saved view, 1 to 9; m saves this one",
        GotoUnseen "goto-unseen" "first memory you have not seen",
        GotoProject "goto-project" "switch project",
        GotoDate "goto-date" "go to a date",
        GotoToday "goto-today" "go to today",
        GotoSession "goto-session" "go to this memory's session",
        GotoFile "goto-file" "memories about this memory's file",
        GotoWhy "goto-why" "why it is in or out of the next context",
    }
    Live {
        Follow "follow" "jump to the newest edge and follow; again: hold here",
        PauseRecording "pause-recording" "pause or resume recording (asks)",
    }
    Change {
        Mark "mark" "mark and step down",
        Range "range" "mark a range: start, move, again or enter keeps",
        MarkAll "mark-all" "mark all that match",
        MarkInvert "mark-invert" "invert the marks",
        Trash "trash" "to the trash, kept for 30 days",
        Undo "undo" "undo; in Trash: put back",
        UndoGlobal "undo-last" "undo the last change, in any view",
        Redo "redo" "redo",
        History "history" "all changes; undo from any point",
        Retype "retype" "give another type",
        Concepts "concepts" "choose concepts",
        Title "title" "edit the title in place",
        Edit "edit" "edit in your editor; marked ones in one file",
        Pin "pin" "pin: always in the next context",
        Exclude "exclude" "exclude: kept and findable, never injected",
        Move "move" "move to another project",
        Merge "merge" "merge the marked ones",
        Redact "redact" "remove a string for good (not undoable)",
        Purge "purge" "Trash: delete for ever (not undoable)",
        EmptyTrash "empty-trash" "Trash: empty it (not undoable)",
    }
    Look {
        ViewFeed "view-feed" "Feed",
        ViewTimeline "view-timeline" "Timeline",
        ViewSessions "view-sessions" "Sessions",
        ViewContext "view-context" "Context: what the next session gets",
        ViewObserver "view-observer" "Observer: is it recording",
        ViewTrash "view-trash" "Trash",
        LastView "last-view" "the view before this one",
        Layout "layout" "split, list only, detail only",
        ZoomIn "zoom-in" "roomier rows; in Timeline a finer zoom",
        ZoomOut "zoom-out" "denser rows; in Timeline a coarser zoom",
        Wrap "wrap" "wrap on or off in the detail",
        CopyLine "copy-line" "copy the line",
        CopyId "copy-id" "copy the id",
        CopyNarrative "copy-narrative" "copy the narrative",
        CopyFiles "copy-files" "copy the file names",
        CopyMarkdown "copy-markdown" "copy as markdown",
        CopyJson "copy-json" "copy as JSON",
        CopyCall "copy-call" "copy a get_observations call",
        CopyMode "copy-mode" "plain text outside the frame, for your terminal's own selection",
        OpenFile "open-file" "open the file in your editor",
        ResumeCommand "resume-command" "the command that resumes this session, copied",
        Export "export" "export what is marked or matches",
        LimitLess "limit-less" "Context: one memory fewer",
        LimitMore "limit-more" "Context: one memory more",
        Diff "diff" "Context: compare with what was last injected",
        FilterReason "filter-reason" "Context: only one reason",
        Metric "metric" "Timeline: observations, tokens, errors, skipped",
        Budget "budget" "Observer: the budget",
        Log "log" "Observer: last log lines",
        Report "report" "copy a report without memory text",
        InstallHook "install-hook" "install the injection hook (shows the change first)",
        Messages "messages" "all messages of this run",
        Theme "theme" "choose a theme, seen at once",
        ToggleMouse "mouse" "mouse on or off",
        ToggleGuard "guard" "typing guard on or off",
        Palette "palette" "commands by name",
        Help "help" "this help; type to filter",
        Redraw "redraw" "draw everything again",
        Suspend "suspend" "suspend; `fg` comes back",
        BackOrQuit "close" "back; at the root of a view: quit",
        Quit "quit" "quit; cursor, view and filter come back next time",
        Demo "demo" "sample memories with a live stream",
    }
    Input {
        Accept "input-accept" "keep",
        Cancel "input-cancel" "close the completion, then restore",
        Complete "input-complete" "complete",
        InputDown "input-down" "next result or suggestion",
        InputUp "input-up" "previous result, suggestion, or search before",
        CycleTier "input-tier" "exact, fuzzy, regex",
        ClearLine "input-clear" "clear",
        DeleteWord "input-delete-word" "delete the word before",
        CursorLeft "input-left" "left",
        CursorRight "input-right" "right",
        CursorHome "input-home" "to the beginning",
        CursorEnd "input-end" "to the end",
        DeleteBefore "input-backspace" "delete the character before",
        DeleteAfter "input-delete" "delete the character here",
    }
}

impl Action {
    /// The action of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Whether it changes memories, and so is refused when the database cannot be written.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Trash
                | Self::Undo
                | Self::UndoGlobal
                | Self::Redo
                | Self::Retype
                | Self::Concepts
                | Self::Title
                | Self::Edit
                | Self::Pin
                | Self::Exclude
                | Self::Move
                | Self::Merge
                | Self::Redact
                | Self::Purge
                | Self::EmptyTrash
                | Self::PauseRecording
        )
    }

    /// Plain motions: they may be counted (`5j`), and a run of them is no prompt typed by mistake.
    pub fn is_motion(self) -> bool {
        matches!(
            self,
            Self::Down
                | Self::Up
                | Self::HalfDown
                | Self::HalfUp
                | Self::PageDown
                | Self::PageUp
                | Self::PrevHeading
                | Self::NextHeading
                | Self::DetailDown
                | Self::DetailUp
                | Self::PrevItem
                | Self::NextItem
                | Self::Left
                | Self::Right
                | Self::NextMatch
                | Self::PrevMatch
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        let mut seen = std::collections::HashSet::new();
        for action in Action::ALL {
            assert!(seen.insert(action.name()), "{} twice", action.name());
            assert_eq!(Action::by_name(action.name()), Some(*action));
        }
    }
}
