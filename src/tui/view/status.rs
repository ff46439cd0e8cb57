//! The last line: what was just said, else the keys that help here; marks and trash at its right.

use super::ui::{Ui, thousands};
use crate::tui::action::Action;
use crate::tui::keymap::Place;
use crate::tui::layout::Breadth;
use crate::tui::state::{Popup, Tone, View};
use crate::tui::theme::Role;

/// The line.
pub fn draw(ui: &mut Ui<'_>) {
    let area = ui.screen.status;
    let state = ui.state;
    let right = marks(ui);
    let right_cells = ui.cells(&right);
    if !right.is_empty() {
        ui.text_right(area.right().saturating_sub(1), area.y, right_cells, &right, Role::Mark);
    }
    let room = area.width.saturating_sub(right_cells + if right_cells > 0 { 3 } else { 1 });
    if let Some(message) = state.messages.current() {
        let role = match message.tone {
            Tone::Info => Role::Text,
            Tone::Undo => Role::Ok,
            Tone::Error => Role::Error,
        };
        ui.text(area.x + 1, area.y, room, &message.text, role);
        return;
    }
    if let Some(count) = state.count {
        ui.text(area.x + 1, area.y, room, &format!("{count} …"), Role::Accent);
        return;
    }
    let hints = hints(ui);
    let mut x = area.x + 1;
    let end = area.x + 1 + room;
    for (key, word) in hints {
        let cells = ui.cells(&key) + 1 + ui.cells(word);
        if x + cells > end {
            break;
        }
        x = ui.text(x, area.y, end - x, &key, Role::Accent) + 1;
        x = ui.text(x, area.y, end.saturating_sub(x), word, Role::Muted) + 2;
    }
}

/// `2 marked (1 hidden) · trash 3`, and what is still to be written.
fn marks(ui: &Ui<'_>) -> String {
    let state = ui.state;
    let mut parts = Vec::new();
    let n = state.marks.ids.len();
    let breadth = ui.screen.breadth();
    if n > 0 {
        let hidden = state.hidden_marks();
        let mut text = match breadth {
            Breadth::Slim => format!("{}mk", thousands(n as u64)),
            Breadth::Stack => format!("{} mk", thousands(n as u64)),
            _ => format!("{} marked", thousands(n as u64)),
        };
        if hidden > 0 {
            text.push_str(&format!(" ({hidden} hidden)"));
        }
        parts.push(text);
    }
    if state.changing > 0 {
        parts.push(format!("{} pending", state.changing));
    }
    let trash = state.pages.trash.list.len();
    if breadth >= Breadth::Full && trash > 0 {
        parts.push(format!("trash {trash}"));
    }
    parts.join(" · ")
}

/// Keys that help here: one line of them for the first starts, then only the help's.
fn hints(ui: &Ui<'_>) -> Vec<(String, &'static str)> {
    let state = ui.state;
    let place = state.view.place();
    let key = |action: Action| state.keymap.hint(place, action);
    let mut out: Vec<(String, &'static str)> = Vec::new();
    if state.search.line.is_some() {
        let input = |action: Action| state.keymap.hint(Place::Input, action);
        out.push((input(Action::Accept), "keep"));
        out.push((input(Action::Cancel), "restore"));
        out.push((input(Action::Complete), "complete"));
        out.push((input(Action::CycleTier), "exact/fuzzy/regex"));
        return out;
    }
    if matches!(state.popup, Some(Popup::Picker(_) | Popup::Text(_))) {
        return out;
    }
    if state.feed.range.is_some() {
        out.push((key(Action::Range), "keep range"));
        out.push((key(Action::Escape), "drop"));
        return out;
    }
    let wanted: &[(Action, &str)] = match state.view {
        View::Feed if state.detail_focus => &[
            (Action::Back, "back"),
            (Action::Open, "deeper"),
            (Action::NextItem, "next"),
            (Action::Wrap, "wrap"),
            (Action::Edit, "edit"),
            (Action::Help, "help"),
        ],
        View::Feed if ui.screen.breadth() == Breadth::Slim => {
            &[(Action::Open, "open"), (Action::Search, "find"), (Action::Help, "")]
        }
        View::Feed if ui.screen.breadth() == Breadth::Stack => &[
            (Action::Search, "find"),
            (Action::Mark, "mark"),
            (Action::Trash, "del"),
            (Action::Undo, "undo"),
            (Action::Help, "help"),
        ],
        View::Feed => &[
            (Action::Open, "open"),
            (Action::Search, "search"),
            (Action::Mark, "mark"),
            (Action::Trash, "delete"),
            (Action::Undo, "undo"),
            (Action::Pin, "pin"),
            (Action::Exclude, "exclude"),
            (Action::Retype, "type"),
            (Action::Edit, "edit"),
            (Action::Follow, "follow"),
            (Action::Palette, "command"),
            (Action::Help, "help"),
        ],
        View::Timeline => &[
            (Action::Left, "hour"),
            (Action::Down, "day"),
            (Action::Range, "range"),
            (Action::Open, "show in feed"),
            (Action::Today, "today"),
            (Action::NextHeading, "busy cell"),
            (Action::ZoomIn, "finer"),
            (Action::ZoomOut, "coarser"),
            (Action::Metric, "metric"),
            (Action::BackOrQuit, "back"),
        ],
        View::Sessions => &[
            (Action::Open, "items"),
            (Action::ResumeCommand, "resume command"),
            (Action::Trash, "trash its memory"),
            (Action::BackOrQuit, "back"),
        ],
        View::Context => &[
            (Action::GotoWhy, "why"),
            (Action::Pin, "pin"),
            (Action::Exclude, "exclude"),
            (Action::Retype, "type"),
            (Action::Concepts, "concepts"),
            (Action::LimitLess, "limit"),
            (Action::LimitMore, ""),
            (Action::Diff, "diff"),
            (Action::NextPane, "text"),
            (Action::BackOrQuit, "back"),
        ],
        View::Observer => &[
            (Action::Open, "details"),
            (Action::PauseRecording, "pause"),
            (Action::Budget, "budget"),
            (Action::Log, "log"),
            (Action::Report, "copy report"),
            (Action::BackOrQuit, "back"),
        ],
        View::Trash => &[
            (Action::Open, "view"),
            (Action::Undo, "put back"),
            (Action::MarkRelated, "same batch"),
            (Action::Purge, "delete for ever"),
            (Action::EmptyTrash, "empty"),
            (Action::BackOrQuit, "back"),
        ],
    };
    out.extend(wanted.iter().map(|(action, word)| (key(*action), *word)));
    out
}
