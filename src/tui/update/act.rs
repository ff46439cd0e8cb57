//! What each action does.

use super::{HOLD_BACK_MS, Out, copy, curate, feed, forms, line, mark, may_write, pages, pick, query, refuse, switch};
use crate::tui::action::Action;
use crate::tui::effect::{Effect, Request};
use crate::tui::layout::screen;
use crate::tui::state::{Act, Density, Layout, Popup, State, Tone, View};

/// Carries out an action, a motion `times` times.
pub fn act(state: &mut State, action: Action, times: u32, out: &mut Out) {
    if action.writes() && !may_write(state) {
        return;
    }
    if !matches!(action, Action::Palette | Action::Help) {
        *state.action_uses.entry(action.name()).or_default() += 1;
    }
    if pages::act(state, action, times, out) {
        return;
    }
    let n = i64::from(times);
    match action {
        Action::Down => pages::step(state, n, out),
        Action::Up => pages::step(state, -n, out),
        Action::HalfDown => pages::step(state, n * half(state), out),
        Action::HalfUp => pages::step(state, -n * half(state), out),
        Action::PageDown => pages::step(state, n * 2 * half(state), out),
        Action::PageUp => pages::step(state, -n * 2 * half(state), out),
        Action::Newest => feed::newest(state),
        Action::Oldest => feed::oldest(state),
        Action::PrevHeading => (0..times).for_each(|_| feed::heading(state, false)),
        Action::NextHeading => (0..times).for_each(|_| feed::heading(state, true)),
        Action::Open => open(state, out),
        Action::Back => back(state),
        Action::Escape => escape(state, out),
        Action::NextPane | Action::PrevPane => state.detail_focus = !state.detail_focus && state.detail.id.is_some(),
        Action::PrevItem => feed::step(state, -n),
        Action::NextItem => feed::step(state, n),
        Action::DetailDown => state.detail.scroll = state.detail.scroll.saturating_add(times as usize * 3),
        Action::DetailUp => state.detail.scroll = state.detail.scroll.saturating_sub(times as usize * 3),
        Action::Left | Action::Right | Action::Today => refuse(state, "only in the timeline (2)"),
        Action::Search => line::open(state),
        Action::NextMatch => matches(state, 1),
        Action::PrevMatch => matches(state, -1),
        Action::Legend => pick::legend(state),
        Action::FilterProject | Action::GotoProject => pick::projects(state),
        Action::FilterType => pick::filter_types(state),
        Action::FilterConcept => pick::filter_concepts(state),
        Action::FilterSession => pick::this_session(state, out),
        Action::FilterDate => pick::ask_date(state, true),
        Action::FilterFile => pick::ask_file(state),
        Action::FilterSource => pick::filter_sources(state),
        Action::FilterKind => pick::filter_kinds(state),
        Action::FilterClear => query::clear(state, out),
        Action::Sort => pick::sort(state),
        Action::MarkRelated => mark::related(state),
        Action::SavedOpen => pick::saved(state),
        Action::GotoUnseen => feed::unseen(state),
        Action::GotoDate => pick::ask_date(state, false),
        Action::GotoToday => pages::goto_time(state, pages::today_start(state), out),
        Action::GotoSession => pages::goto_session(state, out),
        Action::GotoFile => pick::this_file(state, out),
        Action::GotoWhy => pages::goto_why(state),
        Action::Follow => {
            switch(state, View::Feed);
            feed::follow(state);
        }
        Action::PauseRecording => refuse(state, "recording is paused in the Observer view (5)"),
        Action::Mark => mark::toggle(state),
        Action::Range => mark::range(state),
        Action::MarkAll => mark::all(state),
        Action::MarkInvert => mark::invert(state),
        Action::Trash => curate::trash(state, out),
        Action::Undo | Action::UndoGlobal => curate::undo(state, out),
        Action::Redo => curate::redo(state, out),
        Action::History => {
            out.push(Effect::Ask(Request::History));
            pick::history(state);
        }
        Action::Retype => pick::retype(state),
        Action::Concepts => curate::concepts(state, out),
        Action::Title => pick::title(state),
        Action::Edit => curate::edit(state, out),
        Action::Pin => curate::pin(state, out),
        Action::Exclude => curate::exclude(state, out),
        Action::Move => pick::move_to(state),
        Action::Merge => forms::merge(state, out),
        Action::Redact => forms::redact(state),
        Action::Purge | Action::EmptyTrash => {
            refuse(state, "only in the trash (6): nothing is removed for ever from here")
        }
        Action::ViewFeed => switch(state, View::Feed),
        Action::ViewTimeline => switch(state, View::Timeline),
        Action::ViewSessions => switch(state, View::Sessions),
        Action::ViewContext => switch(state, View::Context),
        Action::ViewObserver => switch(state, View::Observer),
        Action::ViewTrash => switch(state, View::Trash),
        Action::LastView => switch(state, state.last_view),
        Action::Layout => layout(state),
        Action::ZoomIn | Action::ZoomOut => density(state, action == Action::ZoomIn),
        Action::Wrap => {
            state.detail.no_wrap = !state.detail.no_wrap;
            state.detail.scroll = 0;
        }
        Action::CopyLine
        | Action::CopyId
        | Action::CopyNarrative
        | Action::CopyFiles
        | Action::CopyMarkdown
        | Action::CopyJson
        | Action::CopyCall
        | Action::CopyMode => copy::act(state, action, out),
        Action::OpenFile => copy::open_file(state, out),
        Action::ResumeCommand => copy::resume(state, out),
        Action::Export => pick::export(state),
        Action::LimitLess | Action::LimitMore | Action::Diff | Action::FilterReason => {
            refuse(state, "only in the context view (4)");
        }
        Action::Metric => refuse(state, "only in the timeline (2)"),
        Action::Budget | Action::Log | Action::Report => {
            pages::observer_act(state, action, out);
        }
        Action::InstallHook => out.push(Effect::InstallHook(false)),
        Action::Messages => pick::messages(state),
        Action::Theme => pick::themes(state),
        Action::ToggleMouse => {
            state.mouse = !state.mouse;
            if state.settings.mouse == "off" {
                state.settings.mouse = "wheel".into();
            }
            out.push(Effect::Mouse(state.mouse));
            let said = if state.mouse { "mouse on: shift-drag still selects" } else { "mouse off" };
            state.messages.say(state.now, Tone::Info, said);
        }
        Action::ToggleGuard => {
            state.settings.guard = !state.settings.guard;
            let said = if state.settings.guard { "typing guard on" } else { "typing guard off until the program ends" };
            state.messages.say(state.now, Tone::Info, said);
        }
        Action::Palette => pick::palette(state),
        Action::Help => pick::help(state),
        Action::Redraw => state.redraw = true,
        Action::Suspend => out.push(Effect::Suspend),
        Action::BackOrQuit => close(state),
        Action::Quit => quit(state),
        Action::Demo => out.push(Effect::Demo),
        // Keys of inputs have no meaning outside of one.
        Action::Accept
        | Action::Cancel
        | Action::Complete
        | Action::InputDown
        | Action::InputUp
        | Action::CycleTier
        | Action::ClearLine
        | Action::DeleteWord
        | Action::CursorLeft
        | Action::CursorRight
        | Action::CursorHome
        | Action::CursorEnd
        | Action::DeleteBefore
        | Action::DeleteAfter => {}
    }
}

fn half(state: &State) -> i64 {
    i64::from((super::list_height(state) / 2).max(1))
}

/// Enter: into the detail, then deeper.
fn open(state: &mut State, out: &mut Out) {
    if state.pick {
        if let Some(row) = state.under_cursor() {
            out.push(Effect::Print(row.id.to_string()));
            out.push(Effect::Quit(0));
        }
        return;
    }
    if state.feed.range.is_some() {
        mark::range(state);
        return;
    }
    if state.detail.id.is_none() {
        return;
    }
    let beside = screen(state).detail.width > 0;
    if !beside && !state.detail_focus {
        state.detail_focus = true; // takes the list's place
        state.detail.scroll = 0;
    } else {
        state.detail.level = (state.detail.level + 1).min(4);
    }
}

/// h: one level out, then back to the list.
fn back(state: &mut State) {
    let replaces = screen(state).list.width == 0;
    if state.detail.level > 2 {
        state.detail.level -= 1;
    } else if state.detail_focus {
        state.detail_focus = false;
    } else if state.layout == Layout::Detail && replaces {
        state.layout = Layout::Split;
    } else if state.detail.level > 1 {
        state.detail.level -= 1;
    }
}

/// Esc: one thing a press, never the program.
fn escape(state: &mut State, out: &mut Out) {
    if state.messages.current().is_some_and(|message| message.tone == Tone::Error) {
        state.messages.dismiss();
    } else if let Some(banner) = state.banner.take() {
        state.dismissed.retain(|(about, _)| *about != banner.about);
        state.dismissed.push((banner.about, state.now));
    } else if state.feed.range.take().is_some() || state.pages.timeline.range.take().is_some() {
    } else if state.detail_focus {
        state.detail_focus = false;
    } else if !state.marks.ids.is_empty() {
        let n = state.marks.ids.len();
        state.marks.ids.clear();
        state.messages.say(state.now, Tone::Info, format!("{n} marks dropped"));
    } else if !state.search.text.is_empty() {
        query::apply(state, "", out);
    } else {
        state.messages.dismiss();
    }
}

fn matches(state: &mut State, by: i64) {
    if state.search.has_terms() || !state.search.text.is_empty() {
        feed::step(state, by);
    } else {
        refuse(state, "nothing is searched for; / searches");
    }
}

fn layout(state: &mut State) {
    state.layout = match state.layout {
        Layout::Split => Layout::List,
        Layout::List => Layout::Detail,
        Layout::Detail => Layout::Split,
    };
    state.detail_focus = state.layout == Layout::Detail;
}

fn density(state: &mut State, roomier: bool) {
    let present = crate::tui::layout::shape(state, &screen(state)).density;
    state.feed.density = match (present, roomier) {
        (Density::Mini, true) => Density::One,
        (Density::One, true) | (Density::Two, true) => Density::Two,
        (Density::Two, false) => Density::One,
        _ => Density::Mini,
    };
}

/// q: one step out; at the root of the view the program, after asking when rows are marked.
fn close(state: &mut State) {
    if state.detail_focus {
        state.detail_focus = false;
    } else if state.feed.range.take().is_some() {
    } else if state.view != View::Feed {
        switch(state, View::Feed);
    } else if !state.search.text.is_empty() {
        let mut out = Out::new();
        query::apply(state, "", &mut out);
    } else if !state.marks.ids.is_empty() {
        let n = state.marks.ids.len();
        state.popup = Some(Popup::Strip(curate::question(
            state,
            format!("Quit with {n} marked?"),
            "quit",
            vec!["marks are not kept".into()],
            n,
            Act::Quit,
        )));
    } else {
        quit(state);
    }
}

/// Quits in a moment: a prompt that begins with Q must not end here (D.1).
fn quit(state: &mut State) {
    let at = if state.settings.guard { state.now + HOLD_BACK_MS } else { state.now };
    state.held_back = Some((at, Effect::Quit(0)));
}
