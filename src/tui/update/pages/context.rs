//! The context view: its lines, its limit, its reasons.

use super::super::{Out, data, refuse, switch};
use super::{cursor_id, edge, keep_visible};
use crate::memory::MemoryId;
use crate::tui::action::Action;
use crate::tui::effect::Effect;
use crate::tui::state::{Pick, PickItem, Picker, Popup, Purpose, State, Tone, View};

/// One line of the context view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextLine {
    /// In, at this place.
    In(usize),
    /// The cut.
    Cut,
    /// Out, at this place.
    Out(usize),
}

/// Lines of the context view: in, the cut, out of the chosen reason.
pub fn context_lines(state: &State) -> Vec<ContextLine> {
    let Some(preview) = &state.pages.context.preview else { return Vec::new() };
    let reason = &state.pages.context.reason;
    let mut lines: Vec<ContextLine> = (0..preview.within.len()).map(ContextLine::In).collect();
    lines.push(ContextLine::Cut);
    let out = preview.out.iter().enumerate().filter(|(_, item)| reason.is_empty() || item.reason == *reason);
    lines.extend(out.map(|(at, _)| ContextLine::Out(at)));
    lines
}

/// The memory under the cursor of the context view.
pub fn context_cursor(state: &State) -> Option<MemoryId> {
    let preview = state.pages.context.preview.as_ref()?;
    match context_lines(state).get(state.pages.context.at.cursor)? {
        ContextLine::In(at) => preview.within.get(*at).map(|item| item.id),
        ContextLine::Out(at) => preview.out.get(*at).map(|item| item.id),
        ContextLine::Cut => None,
    }
}

/// From a memory to its line in the context view.
pub fn goto_why(state: &mut State) {
    let Some(id) = cursor_id(state) else { return refuse(state, "no memory here") };
    let Some(preview) = &state.pages.context.preview else {
        let why = match state.pages.context.trouble.as_str() {
            "" => "the context is being made; try again".to_owned(),
            trouble => format!("not known: {trouble}"),
        };
        return refuse(state, why);
    };
    let lines: Vec<ContextLine> = (0..preview.within.len())
        .map(ContextLine::In)
        .chain([ContextLine::Cut])
        .chain((0..preview.out.len()).map(ContextLine::Out))
        .collect();
    let at = lines.iter().position(|line| match line {
        ContextLine::In(at) => preview.within[*at].id == id,
        ContextLine::Out(at) => preview.out[*at].id == id,
        ContextLine::Cut => false,
    });
    let Some(at) = at else {
        return refuse(state, "it is no candidate: another project, or a kind that is never injected");
    };
    switch(state, View::Context);
    state.pages.context.reason.clear();
    state.pages.context.at.cursor = at;
    keep_visible(state);
}

pub(super) fn context_act(state: &mut State, action: Action, out: &mut Out) -> bool {
    match action {
        Action::LimitLess | Action::LimitMore => {
            let now = state.pages.context.preview.as_ref().map_or(50, |preview| preview.limit);
            let limit = state.pages.context.limit.unwrap_or(now);
            let limit = if action == Action::LimitMore { limit.saturating_add(1) } else { limit.saturating_sub(1) };
            state.pages.context.limit = Some(limit.min(500));
            data::ask_context(state, out);
        }
        Action::Diff => {
            let known = state.pages.context.preview.as_ref().is_some_and(|preview| preview.last_text.is_some());
            if known {
                state.pages.context.diff = !state.pages.context.diff;
                state.pages.context.text_scroll = 0;
            } else {
                refuse(state, "nothing has been injected for this project yet");
            }
        }
        Action::FilterReason => reasons(state),
        Action::NextPane | Action::PrevPane => state.pages.context.text_focus = !state.pages.context.text_focus,
        Action::Open => {
            if let Some(limit) = state.pages.context.limit {
                let said = format!("a session gets {limit} with context.observations = {limit} in config.toml");
                state.messages.say(state.now, Tone::Info, said);
            } else if crate::tui::layout::screen(state).detail.width == 0 {
                state.detail_focus = true;
            }
        }
        Action::CopyLine => {
            let text = state.pages.context.preview.as_ref().map(|preview| preview.text.clone());
            match text {
                Some(text) => out.push(Effect::Copy { text, what: "the exact text" }),
                None => refuse(state, "nothing to copy yet"),
            }
        }
        Action::Newest => edge(state, true),
        Action::Oldest => edge(state, false),
        Action::Merge | Action::Range => refuse(state, format!("{} works in the feed (1)", action.name())),
        _ => return false,
    }
    true
}

/// Reasons with their counts.
fn reasons(state: &mut State) {
    let Some(preview) = &state.pages.context.preview else { return };
    let mut counts: Vec<(String, usize)> = Vec::new();
    for item in &preview.out {
        match counts.iter_mut().find(|(word, _)| *word == item.reason) {
            Some((_, n)) => *n += 1,
            None => counts.push((item.reason.clone(), 1)),
        }
    }
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let mut items = vec![PickItem::new("all", preview.out.len().to_string(), Pick::Reason(String::new()))];
    items.extend(counts.into_iter().map(|(word, n)| PickItem::new(word.clone(), n.to_string(), Pick::Reason(word))));
    state.popup = Some(Popup::Picker(Picker::new("Out, and why", Purpose::Choose, items)));
}
