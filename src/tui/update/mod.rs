//! What everything means: a plain function from state and message to new state and effects. No clock (time comes with
//! the message), no terminal, no database.
//!
//! One file a subject: `keys` (which action a key is, the typing guard), `act` (what an action does), `feed` (motion,
//! the live stream), `query` (search and filters), `line` (typing a query), `mark`, `curate` (changes and their
//! confirmation), `forms` (merge, redact), `edited` (back from the editor), `pick` (lists to choose from), `pages` (the
//! other views), `copy`, `data` (answers of the source).

mod act;
mod copy;
mod curate;
mod data;
mod edited;
mod feed;
mod forms;
mod keys;
mod line;
mod mark;
mod pages;
mod pick;
mod query;

use super::effect::{Effect, Request};
use super::msg::Msg;
use super::state::{State, Tone, View};
use super::term::input::Input;
use super::{layout, theme};

pub use copy::markdown;
pub use edited::{note_faults, parse_edit, write_edit};
pub use pages::{ContextLine, context_lines, hour_start, local_hour, session_under_cursor, sessions, timeline_span};
pub use query::apply as apply_query;

/// Effects in the order they are to be carried out.
pub type Out = Vec<Effect>;

/// A new memory is shown as new for so long.
const FRESH_MS: i64 = 3_000;
/// Visible for so long while focused: seen.
const SEEN_MS: i64 = 2_000;
/// A prefix key shows what can follow after so long.
pub const PREFIX_MS: i64 = 300;
/// Relative times are drawn anew after so long.
const AGES_MS: i64 = 30_000;
/// An effect that leaves the screen waits so long for a key that takes it back (D.1).
const HOLD_BACK_MS: i64 = 250;
/// Keys do nothing for so long after a question appears (D.2).
const DEAF_MS: i64 = 250;

/// What happens at the very start.
pub fn start(_state: &State) -> Out {
    vec![Effect::Ask(Request::Open)]
}

/// Takes a message at `now` (milliseconds since 1970).
pub fn update(state: &mut State, now: i64, msg: Msg) -> Out {
    let mut out = Out::new();
    state.now = now.max(state.now);
    time(state, &mut out);
    match msg {
        Msg::Tick => {}
        Msg::Input(input) => self::input(state, input, &mut out),
        Msg::Resize(width, height) => state.size = (width, height),
        Msg::Data(answer) => data::answer(state, answer, &mut out),
        Msg::Fuzzy(generation, found) => query::fuzzy_found(state, generation, &found),
        Msg::Copied(Ok(said)) | Msg::Done(Ok(said)) => state.messages.say(state.now, Tone::Info, said),
        Msg::Copied(Err(said)) | Msg::Done(Err(said)) => state.messages.say(state.now, Tone::Error, said),
        Msg::Edited(memories, text) => edited::back(state, memories, &text, &mut out),
        Msg::Theme(file, faults) => {
            state.look.set_theme(*file);
            for fault in faults {
                state.messages.say(state.now, Tone::Error, fault);
            }
        }
        Msg::Config(reloaded) => config(state, *reloaded),
        Msg::HookDiff(lines) => pick::show_text(state, "Injection hook: what would change", lines),
        Msg::Resumed => state.redraw = true,
        Msg::Stop => out.push(Effect::Quit(0)),
    }
    settle(state, &mut out);
    out
}

fn input(state: &mut State, input: Input, out: &mut Out) {
    match input {
        Input::Key(key) => keys::key(state, key, out),
        Input::Paste(text) => keys::paste(state, &text, out),
        Input::FocusIn => {
            state.focused = true;
            state.feed.seeing = None;
        }
        Input::FocusOut => state.focused = false,
        Input::Mouse(mouse) => keys::mouse(state, mouse, out),
        Input::Reply(super::term::input::Reply::Background(r, g, b)) => background(state, (r, g, b), out),
        Input::Reply(_) => {}
    }
}

/// The terminal told its background: a theme made for the other kind of screen is exchanged for its sibling.
fn background(state: &mut State, rgb: (u8, u8, u8), out: &mut Out) {
    state.look.background = Some(rgb);
    if state.settings.appearance != "auto" {
        return;
    }
    let light = theme::luminance(rgb) > 0.4;
    let Some(sibling) = theme::sibling(&state.look.theme.name, light) else { return };
    out.push(Effect::LoadTheme(sibling.to_owned()));
}

fn config(state: &mut State, new: super::msg::Reloaded) {
    let mut changed = Vec::new();
    if new.settings != state.settings {
        changed.push("settings");
    }
    if new.theme.name != state.look.theme.name {
        changed.push("theme");
    }
    state.settings = new.settings;
    state.keymap = new.keymap;
    state.look.set_theme(new.theme);
    if let Some(glyphs) = theme::GlyphSet::by_name(&state.settings.glyphs) {
        state.look.glyphs = glyphs;
    }
    state.look.widths.ambiguous = state.settings.ambiguous.clamp(1, 2);
    state.faults = new.faults;
    match state.faults.first() {
        Some(fault) => state.messages.say(state.now, Tone::Error, fault.clone()),
        None if changed.is_empty() => state.messages.say(state.now, Tone::Info, "configuration read again"),
        None => state.messages.say(state.now, Tone::Info, format!("configuration read again: {}", changed.join(", "))),
    }
}

/// What time alone does.
fn time(state: &mut State, out: &mut Out) {
    let now = state.now;
    state.messages.tick(now);
    state.feed.fresh.retain(|_, until| *until > now);
    if let Some((key, since)) = state.feed.seeing
        && state.focused
        && now - since >= SEEN_MS
    {
        // Counted as seen; the line stays where it is until the next key.
        state.feed.seeing = Some((key, i64::MAX));
    }
    if state.held_back.as_ref().is_some_and(|(at, _)| now >= *at)
        && let Some((_, effect)) = state.held_back.take()
    {
        if matches!(effect, Effect::Quit(_)) {
            state.quitting = true;
        }
        out.push(effect);
    }
    if state.search.words_at.is_some_and(|at| now >= at) {
        query::ask_words(state, out);
    }
}

/// When `update` wants to be called though nothing happens.
pub fn next_deadline(state: &State) -> Option<i64> {
    let now = state.now;
    let mut at: Vec<i64> = Vec::new();
    at.extend(state.messages.deadline());
    at.extend(state.feed.fresh.values().min());
    at.extend(state.held_back.as_ref().map(|(at, _)| *at));
    at.extend(state.search.words_at);
    if !state.pending.is_empty() && now - state.pending_since < PREFIX_MS {
        at.push(state.pending_since + PREFIX_MS);
    }
    if let Some((_, since)) = state.feed.seeing
        && state.focused
        && since != i64::MAX
    {
        at.push(since + SEEN_MS);
    }
    if super::view::shows_ages(state) {
        at.push((now / AGES_MS + 1) * AGES_MS);
    }
    at.into_iter().min()
}

/// After everything: the feed stands right, the detail is asked for, a view has its data.
fn settle(state: &mut State, out: &mut Out) {
    feed::settle(state);
    if state.detail.scroll > 0 && state.view == View::Feed {
        state.detail.scroll = state.detail.scroll.min(super::view::last_scroll(state));
    }
    feed::ask_detail(state, out);
    pages::ask(state, out);
}

/// Says that something cannot be done here, and why.
fn refuse(state: &mut State, why: impl Into<String>) {
    state.messages.say(state.now, Tone::Info, why);
}

/// Whether memories may be changed; says so when not.
fn may_write(state: &mut State) -> bool {
    match state.read_only().map(str::to_owned) {
        Some(why) => {
            state.messages.say(state.now, Tone::Error, format!("read only: {why}"));
            false
        }
        None => true,
    }
}

/// Switches the view.
fn switch(state: &mut State, view: View) {
    if state.view != view {
        state.last_view = state.view;
        state.view = view;
        state.detail_focus = false;
        state.feed.range = None;
    }
}

/// Height of the list on the present screen.
fn list_height(state: &State) -> u16 {
    layout::screen(state).list_inner().height
}
