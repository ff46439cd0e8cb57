//! Which action a key is: guard first, then what lies over the view, then the line being typed, then the keymap.

use super::{Out, act, curate, feed, forms, line, pages, pick, query};
use crate::tui::effect::{Effect, Request};
use crate::tui::key::{Code, Key};
use crate::tui::keymap::{Lookup, Place};
use crate::tui::state::{Popup, State, Tone, View};
use crate::tui::term::input::{Mouse, MouseWhat};

/// A key was pressed.
pub fn key(state: &mut State, key: Key, out: &mut Out) {
    if state.guard.tripped.is_some() {
        tripped(state, key);
        return;
    }
    if state.held_back.is_some() && key.typed().is_some() {
        // Somebody goes on typing: what would have left the screen was not meant.
        state.held_back = None;
        state.messages.say(state.now, Tone::Info, "keys came too fast: not done");
    }
    if guarded(state, key, out) {
        return;
    }
    if state.popup.is_some() {
        popup(state, key, out);
    } else if state.search.line.is_some() {
        line::key(state, key, out);
    } else {
        command(state, key, out);
    }
    // After what the key meant: `gn` still finds the line that was there.
    if state.pending.is_empty() {
        feed::mark_seen(state);
    }
}

/// Whether the guard stepped in.
fn guarded(state: &mut State, key: Key, out: &mut Out) -> bool {
    let Some(ch) = key.typed().filter(|_| state.settings.guard) else { return false };
    let counts = if takes_text(state) { state.guard.counts_in_input(state.now) } else { true };
    if !counts {
        return false;
    }
    if state.guard.is_quiet(state.now) {
        state.guard.begin();
        state.before_run = Some(Box::new(state.snapshot()));
    }
    let motion = state.popup.is_none()
        && matches!(state.keymap.lookup(state.view.place(), &[key]), Lookup::Action(action) if action.is_motion());
    if !state.guard.key(state.now, ch, motion) {
        return false;
    }
    trip(state, out);
    true
}

/// Printable keys are text now.
fn takes_text(state: &State) -> bool {
    match &state.popup {
        None => state.search.line.is_some(),
        Some(Popup::Picker(picker)) => picker.filtering,
        Some(Popup::Line(_) | Popup::Redact(_)) => true,
        Some(Popup::Strip(strip)) => matches!(strip.answer, crate::tui::state::Answer::Count(_)),
        Some(Popup::Legend(_) | Popup::Merge(_) | Popup::Text(_)) => false,
    }
}

/// A burst: the screen goes back to where it was, and what was changed is taken back.
fn trip(state: &mut State, out: &mut Out) {
    state.guard.trip();
    if let Some(snapshot) = state.before_run.take() {
        let cursor = snapshot.cursor_id(&state.arena);
        let text = state.restore(*snapshot);
        state.restore_cursor = cursor;
        query::apply(state, &text, out);
        query::relist_types(state);
    }
    state.guard.input_closed();
    let steps = std::mem::take(&mut state.guard.steps);
    for step in steps.into_iter().rev() {
        out.push(Effect::Ask(Request::Undo(Some(step))));
        if let Some(tripped) = &mut state.guard.tripped {
            tripped.taken_back += 1;
        }
    }
}

fn tripped(state: &mut State, key: Key) {
    if key == Key::plain(Code::Esc) || key == Key::ctrl('c') {
        state.guard.tripped = None;
        state.guard.begin();
        return;
    }
    if let Some(tripped) = &mut state.guard.tripped {
        tripped.ignored += 1;
    }
}

/// Text was pasted. Outside of an input it is never keys; it is offered as search text.
pub fn paste(state: &mut State, text: &str, out: &mut Out) {
    if state.guard.tripped.is_some() {
        return;
    }
    // Terminals send a pasted line's end as a carriage return.
    let text = crate::memory::safe_line(&text.replace('\r', "\n"));
    let short = crate::memory::clip_chars(&text, 200);
    match &mut state.popup {
        Some(Popup::Line(line)) => line.edit.insert(short),
        Some(Popup::Redact(form)) if !form.confirming => form.needle.insert(short),
        Some(Popup::Picker(picker)) if picker.filtering => {
            picker.filter.insert(short);
            picker.settle();
        }
        Some(_) => {}
        None => {
            let open = state.search.line.is_some();
            if !open {
                line::open(state);
                state.messages.say(state.now, Tone::Info, "pasted text is looked for, not run as keys");
            }
            line::insert(state, short, out);
        }
    }
}

/// The mouse did something (only when it is captured).
pub fn mouse(state: &mut State, mouse: Mouse, out: &mut Out) {
    if state.popup.is_some() || state.guard.tripped.is_some() {
        return;
    }
    match mouse.what {
        MouseWhat::WheelDown => pages::step(state, 3, out),
        MouseWhat::WheelUp => pages::step(state, -3, out),
        MouseWhat::Press if state.settings.mouse == "full" && state.view == View::Feed => {
            let screen = crate::tui::layout::screen(state);
            let area = screen.list_inner();
            if !area.contains((mouse.x, mouse.y).into()) {
                return;
            }
            let window = crate::tui::layout::shape(state, &screen).window(state.feed.pos, state.feed.y, area.height);
            if let Some(crate::tui::state::Line::Row(pos, _)) = window.lines.get(usize::from(mouse.y - area.y)) {
                feed::go(state, *pos);
            }
        }
        MouseWhat::Press => {}
    }
}

/// What lies over the view takes the key.
fn popup(state: &mut State, key: Key, out: &mut Out) {
    let Some(popup) = state.popup.take() else { return };
    let kept = match popup {
        Popup::Legend(legend) => pick::legend_key(state, legend, key, out),
        Popup::Picker(picker) => pick::key(state, picker, key, out),
        Popup::Strip(strip) => curate::strip_key(state, strip, key, out),
        Popup::Line(line) => pick::line_key(state, line, key, out),
        Popup::Merge(form) => forms::merge_key(state, form, key, out),
        Popup::Redact(form) => forms::redact_key(state, form, key, out),
        Popup::Text(text) => pick::text_key(state, text, key),
    };
    // What a popup opened in its place stays.
    if state.popup.is_none() {
        state.popup = kept;
    }
    if state.popup.is_none() {
        state.guard.input_closed();
    }
}

/// Keys of the view: counts, sequences, actions.
fn command(state: &mut State, key: Key, out: &mut Out) {
    // A second Esc, or any other key that ends a sequence.
    if key == Key::plain(Code::Esc) && (!state.pending.is_empty() || state.count.is_some()) {
        state.pending.clear();
        state.count = None;
        return;
    }
    if state.pending.is_empty()
        && let Some(digit) = key.typed().and_then(|ch| ch.to_digit(10))
        && counts(state, key)
    {
        state.count = Some((state.count.unwrap_or(0) * 10 + digit).min(99_999));
        return;
    }
    state.pending.push(key);
    let place: Place = state.view.place();
    match state.keymap.lookup(place, &state.pending) {
        Lookup::Action(action) => {
            state.pending.clear();
            let times = state.count.take().filter(|_| action.is_motion()).unwrap_or(1);
            act::act(state, action, times, out);
        }
        Lookup::Prefix => state.pending_since = state.now,
        Lookup::Nothing => {
            let typed = crate::tui::key::sequence_name(&state.pending);
            let sequence = state.pending.len() > 1;
            state.pending.clear();
            state.count = None;
            if sequence {
                state.messages.say(state.now, Tone::Info, format!("{typed}: nothing has these keys; ? lists them"));
            }
        }
    }
}

/// A digit counts when it goes on a count, or when it means nothing by itself (1–6 are the views).
fn counts(state: &State, key: Key) -> bool {
    state.count.is_some() || state.keymap.lookup(state.view.place(), &[key]) == Lookup::Nothing
}
