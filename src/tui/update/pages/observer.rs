//! The observer and the trash: what they ask before they act.

use super::super::{DEAF_MS, Out, curate, pick, refuse};
use super::{cursor_id, edge};
use crate::hub::live::Change;
use crate::memory::{MemoryId, from_millis};
use crate::tui::action::Action;
use crate::tui::effect::{Effect, Request};
use crate::tui::state::{Act, Answer, LineEdit, Popup, State, Strip, Tone};

/// Actions of the observer view. Returns whether this was one.
pub fn observer_act(state: &mut State, action: Action, out: &mut Out) -> bool {
    match action {
        Action::PauseRecording => pause(state, out),
        Action::Log => out.push(Effect::Ask(Request::Log)),
        Action::Report => {
            let text = crate::tui::view::report(state);
            out.push(Effect::Copy { text, what: "a report" });
        }
        Action::Budget => {
            let said = match state.pages.vitals.tokens.as_ref().map(|tokens| tokens.budget) {
                Some(0) | None => "no daily limit; budget.daily_tokens in config.toml sets one".to_owned(),
                Some(limit) => format!("{limit} tokens a day; budget.daily_tokens in config.toml"),
            };
            state.messages.say(state.now, Tone::Info, said);
        }
        Action::Open => problem(state, out),
        Action::Newest => edge(state, true),
        Action::Oldest => edge(state, false),
        Action::PrevHeading | Action::NextHeading | Action::Mark | Action::MarkAll | Action::MarkInvert => {
            refuse(state, "nothing to mark here");
        }
        _ => return false,
    }
    true
}

fn problem(state: &mut State, out: &mut Out) {
    let Some(problem) = state.pages.vitals.problems.get(state.pages.observer.cursor).cloned() else {
        return refuse(state, "no problems");
    };
    if problem.key.is_empty() {
        let when = from_millis(problem.at_ms).to_zoned_datetime(state.zone.clone()).strftime("%d %b %H:%M").to_string();
        let mut lines = vec![format!("{when}  {}", problem.what), String::new()];
        lines.push(format!("events lost  {}", problem.lost));
        lines.push(format!("events kept and tried again  {}", problem.kept));
        pick::show_text(state, "Problem", lines);
    } else {
        curate::change(state, Change::Retry(problem.key), out);
    }
}

/// Pausing asks; going on does not.
fn pause(state: &mut State, out: &mut Out) {
    if state.pages.vitals.rec == crate::hub::live::Rec::Off {
        curate::change(state, Change::Pause(false), out);
        return;
    }
    let live = state.pages.sessions.list.iter().filter(|info| info.live).count();
    let lines = vec![
        format!("{live} sessions are active; what they do until P again is never read"),
        "what waits now is still observed".to_owned(),
    ];
    let strip = curate::question(state, "Pause recording?".into(), "pause", lines, 1, Act::Change(Change::Pause(true)));
    state.popup = Some(Popup::Strip(strip));
}

/// Out of the trash for ever: by number.
pub(super) fn purge(state: &mut State, all: bool) {
    let list = &state.pages.trash.list;
    let marked: Vec<MemoryId> =
        list.iter().map(|row| row.memory.id).filter(|id| state.marks.ids.contains(id)).collect();
    let ids: Vec<MemoryId> = if all {
        list.iter().map(|row| row.memory.id).collect()
    } else if marked.is_empty() {
        cursor_id(state).into_iter().collect()
    } else {
        marked
    };
    if ids.is_empty() {
        return refuse(state, "the trash is empty");
    }
    let count = ids.len();
    let noun = if count == 1 { "memory" } else { "memories" };
    state.popup = Some(Popup::Strip(Strip {
        question: format!("Delete {count} {noun} for ever?"),
        verb: "delete".into(),
        lines: vec!["this cannot be undone".into(), "the observer will not write them again".into()],
        count,
        hidden: 0,
        pinned: Vec::new(),
        with_pinned: false,
        answer: Answer::Count(LineEdit::default()),
        deaf_until: state.now + DEAF_MS,
        act: Act::Change(Change::Purge(ids)),
    }));
}
