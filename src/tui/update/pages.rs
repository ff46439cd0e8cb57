//! The views besides the feed: their motions, their data, their own actions.

use super::{DEAF_MS, Out, curate, data, feed, pick, query, refuse, switch};
use crate::hub::live::{Change, SessionInfo};
use crate::memory::{MemoryId, from_millis};
use crate::recall::query::Key as Filter;
use crate::tui::action::Action;
use crate::tui::effect::{Effect, Request};
use crate::tui::state::{
    Act, Answer, LineEdit, ListAt, Metric, Pick, PickItem, Picker, Popup, Purpose, State, Strip, Tone, View, Zoom,
};

/// The timeline shows this much at most.
const TIMELINE_MS: i64 = 400 * 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// A view that has no data yet asks for it.
pub fn ask(state: &mut State, out: &mut Out) {
    if !state.load.first || state.closed.is_some() {
        return;
    }
    match state.view {
        View::Timeline => ask_hours(state, out),
        View::Feed if crate::tui::layout::screen(state).side.width > 0 => ask_hours(state, out),
        View::Sessions => {
            if !state.pages.sessions.loaded {
                state.pages.sessions.loaded = true;
                out.push(Effect::Ask(Request::Sessions));
            }
            let wanted = session_under_cursor(state).map(|info| info.id.clone());
            let have = state.pages.sessions.summary.as_ref().map(|(id, _)| id);
            if let Some(id) = wanted.filter(|id| have != Some(id)) {
                state.pages.sessions.summary = Some((id.clone(), Vec::new()));
                out.push(Effect::Ask(Request::SessionSummary(id)));
            }
        }
        View::Context if state.pages.context.preview.is_none() && !state.pages.context.asked => {
            data::ask_context(state, out);
        }
        View::Trash if !state.pages.trash.loaded => {
            state.pages.trash.loaded = true;
            out.push(Effect::Ask(Request::Trash));
        }
        _ => {}
    }
}

fn ask_hours(state: &mut State, out: &mut Out) {
    if state.pages.timeline.loaded && !state.stale_hours {
        return;
    }
    state.pages.timeline.loaded = true;
    state.stale_hours = false;
    out.push(Effect::Ask(Request::Hours {
        projects: state.scope.clone(),
        since: state.now - TIMELINE_MS,
        until: state.now + 86_400_000,
    }));
}

/// The scope is another one: what depends on it is asked anew.
pub fn scope_changed(state: &mut State, out: &mut Out) {
    state.stale_hours = true;
    state.pages.context.preview = None;
    state.context_ranks.clear();
    data::ask_context(state, out);
}

/// Moves by lines in whatever view it is.
pub fn step(state: &mut State, by: i64, _out: &mut Out) {
    match state.view {
        View::Feed if state.detail_focus => scroll_detail(state, by),
        View::Feed => feed::step(state, by),
        View::Timeline => move_timeline(state, by * lines_of(state.pages.timeline.zoom)),
        View::Sessions => {
            let len = sessions(state).len();
            state.pages.sessions.at.step(by, len);
        }
        View::Context if state.pages.context.text_focus => {
            let scroll = state.pages.context.text_scroll as i64 + by;
            state.pages.context.text_scroll = scroll.max(0) as usize;
        }
        View::Context => {
            let len = context_lines(state).len();
            state.pages.context.at.step(by, len);
        }
        View::Observer => {
            let len = state.pages.vitals.problems.len();
            state.pages.observer.step(by, len);
        }
        View::Trash if state.detail_focus => scroll_detail(state, by),
        View::Trash => state.pages.trash.at.step(by, state.pages.trash.list.len()),
    }
    keep_visible(state);
}

fn scroll_detail(state: &mut State, by: i64) {
    state.detail.scroll = (state.detail.scroll as i64 + by).max(0) as usize;
}

fn keep_visible(state: &mut State) {
    let height = usize::from(super::list_height(state));
    let keep = |at: &mut ListAt, lines: usize| at.top = at.top_for(height.saturating_sub(1), lines);
    keep(&mut state.pages.sessions.at, 3);
    keep(&mut state.pages.context.at, 1);
    keep(&mut state.pages.trash.at, 1);
    keep(&mut state.pages.observer, 1);
}

/// Actions that mean something of their own in a view. Returns whether this was one.
pub fn act(state: &mut State, action: Action, times: u32, out: &mut Out) -> bool {
    match (state.view, action) {
        (View::Feed, _) => false,
        (View::Timeline, _) => timeline_act(state, action, times, out),
        (View::Sessions, Action::Open) => {
            open_session(state, out);
            true
        }
        (View::Sessions, Action::Title) => {
            refuse(state, "a session's title is its own; Claude Code writes it");
            true
        }
        (View::Context, _) => context_act(state, action, out),
        (View::Observer, _) => observer_act(state, action, out),
        (View::Trash, Action::Purge) => {
            purge(state, false);
            true
        }
        (View::Trash, Action::EmptyTrash) => {
            purge(state, true);
            true
        }
        (View::Trash, Action::Open) => {
            state.detail_focus = true;
            true
        }
        (_, Action::Newest) => {
            edge(state, true);
            true
        }
        (_, Action::Oldest) => {
            edge(state, false);
            true
        }
        (
            _,
            Action::PrevHeading
            | Action::NextHeading
            | Action::PrevItem
            | Action::NextItem
            | Action::Retype
            | Action::Concepts
            | Action::Edit
            | Action::Pin
            | Action::Exclude
            | Action::Move
            | Action::Merge
            | Action::Range,
        ) => {
            refuse(state, format!("{} works in the feed (1)", action.name()));
            true
        }
        _ => false,
    }
}

fn edge(state: &mut State, first: bool) {
    let to = |at: &mut ListAt, len: usize| at.cursor = if first { 0 } else { len.saturating_sub(1) };
    match state.view {
        View::Sessions => {
            let len = sessions(state).len();
            to(&mut state.pages.sessions.at, len);
        }
        View::Context => {
            let len = context_lines(state).len();
            to(&mut state.pages.context.at, len);
        }
        View::Trash => to(&mut state.pages.trash.at, state.pages.trash.list.len()),
        View::Observer => to(&mut state.pages.observer, state.pages.vitals.problems.len()),
        View::Feed | View::Timeline => {}
    }
    keep_visible(state);
}

/// The memory under the cursor of the view.
pub fn cursor_id(state: &State) -> Option<MemoryId> {
    match state.view {
        View::Feed => state.under_cursor().map(|row| row.memory()),
        View::Context => context_cursor(state),
        View::Trash => state.pages.trash.list.get(state.pages.trash.at.cursor).map(|row| row.memory.id),
        _ => None,
    }
}

// Timeline

/// Hours since 1970 in local time of an instant.
pub fn local_hour(state: &State, ms: i64) -> i64 {
    let zoned = from_millis(ms).to_zoned_datetime(state.zone.clone());
    (ms + i64::from(zoned.offset().seconds()) * 1000).div_euclid(HOUR_MS)
}

/// The instant a local hour begins.
pub fn hour_start(state: &State, hour: i64) -> i64 {
    let naive = hour * HOUR_MS;
    let offset = i64::from(from_millis(naive).to_zoned_datetime(state.zone.clone()).offset().seconds()) * 1000;
    naive - offset
}

/// Midnight of today.
pub fn today_start(state: &State) -> i64 {
    hour_start(state, local_hour(state, state.now).div_euclid(24) * 24)
}

/// The first cursor: the newest hour that has something, else now.
pub fn place_timeline(state: &mut State) {
    if state.pages.timeline.placed {
        return;
    }
    state.pages.timeline.placed = true;
    let newest = state.pages.timeline.hours.iter().filter(|hour| hour.n > 0).map(|hour| hour.hour).max();
    let at = newest.map_or(state.now, |hour| hour * HOUR_MS);
    state.pages.timeline.cursor = local_hour(state, at);
}

/// Hours that one line of the view is.
fn lines_of(zoom: Zoom) -> i64 {
    match zoom {
        Zoom::Hour => 1,
        Zoom::Day => 24,
        Zoom::Week => 24 * 7,
        Zoom::Month => 24 * 31,
    }
}

/// Down is older in every list; here as well.
fn move_timeline(state: &mut State, hours: i64) {
    let newest = local_hour(state, state.now);
    let at = &mut state.pages.timeline.cursor;
    *at = (*at - hours).clamp(newest - TIMELINE_MS / HOUR_MS, newest);
}

fn timeline_act(state: &mut State, action: Action, times: u32, out: &mut Out) -> bool {
    let n = i64::from(times);
    let cell = |zoom: Zoom| if zoom == Zoom::Hour || zoom == Zoom::Day { 1 } else { 24 };
    match action {
        Action::Left => move_timeline(state, n * cell(state.pages.timeline.zoom)),
        Action::Right => move_timeline(state, -n * cell(state.pages.timeline.zoom)),
        Action::ZoomIn => state.pages.timeline.zoom = state.pages.timeline.zoom.finer(),
        Action::ZoomOut => state.pages.timeline.zoom = state.pages.timeline.zoom.coarser(),
        Action::Today | Action::Newest | Action::GotoToday => {
            state.pages.timeline.cursor = local_hour(state, state.now)
        }
        Action::Oldest => {
            let oldest = state.pages.timeline.hours.iter().map(|hour| hour.hour).min();
            if let Some(hour) = oldest {
                state.pages.timeline.cursor = local_hour(state, hour * HOUR_MS);
            }
        }
        Action::PrevHeading | Action::NextHeading => busy_cell(state, action == Action::NextHeading),
        Action::Metric => {
            let at = Metric::ALL.iter().position(|metric| *metric == state.pages.timeline.metric).unwrap_or(0);
            state.pages.timeline.metric = Metric::ALL[(at + 1) % Metric::ALL.len()];
        }
        Action::Range => {
            let cursor = state.pages.timeline.cursor;
            let range = &mut state.pages.timeline.range;
            *range = if range.is_some() { None } else { Some(cursor) };
        }
        Action::Open => open_range(state, out),
        _ => return false,
    }
    true
}

/// To the next older or newer hour that has something.
fn busy_cell(state: &mut State, older: bool) {
    let cursor = state.pages.timeline.cursor;
    let hours = state.pages.timeline.hours.iter().filter(|hour| hour.n > 0);
    let busy: Vec<i64> = hours.map(|hour| local_hour(state, hour.hour * HOUR_MS)).collect();
    let found = if older {
        busy.into_iter().filter(|hour| *hour < cursor).max()
    } else {
        busy.into_iter().filter(|hour| *hour > cursor).min()
    };
    if let Some(hour) = found {
        state.pages.timeline.cursor = hour;
    }
}

/// The cell or range as local hours, from and to.
pub fn timeline_span(state: &State) -> (i64, i64) {
    let timeline = &state.pages.timeline;
    let len = match timeline.zoom {
        Zoom::Hour | Zoom::Day => 1,
        Zoom::Week | Zoom::Month => 24,
    };
    let floor = |hour: i64| hour.div_euclid(len) * len;
    let (a, b) = (floor(timeline.cursor), floor(timeline.range.unwrap_or(timeline.cursor)));
    (a.min(b), a.max(b) + len)
}

/// The feed for the cell or range, written as `since:` and `until:`.
fn open_range(state: &mut State, out: &mut Out) {
    let (from, to) = timeline_span(state);
    let stamp = |state: &State, hour: i64| from_millis(hour_start(state, hour)).to_string();
    let (since, until) = (stamp(state, from), stamp(state, to));
    state.pages.timeline.range = None;
    let text = crate::recall::query::set_filter(&state.search.text, Filter::Since, &[&since]);
    let text = crate::recall::query::set_filter(&text, Filter::Until, &[&until]);
    switch(state, View::Feed);
    query::apply(state, &text, out);
}

/// The feed at a time.
pub fn goto_time(state: &mut State, ms: i64, _out: &mut Out) {
    if state.view == View::Timeline {
        state.pages.timeline.cursor = local_hour(state, ms);
        return;
    }
    switch(state, View::Feed);
    // The last row of that time or after: the day reads on from there.
    let key = crate::store::api::PageKey { created_ms: ms, id: MemoryId(i64::MIN) };
    let at = state.rows.place(&state.arena, key);
    if at == 0 {
        refuse(state, "nothing that new in this list");
    }
    feed::go(state, at.saturating_sub(1));
}

// Sessions

/// Sessions of the scope, newest first.
pub fn sessions(state: &State) -> Vec<&SessionInfo> {
    let list = state.pages.sessions.list.iter();
    list.filter(|info| state.scope.is_empty() || state.scope.contains(&info.project)).collect()
}

/// The session under the cursor.
pub fn session_under_cursor(state: &State) -> Option<&SessionInfo> {
    sessions(state).get(state.pages.sessions.at.cursor).copied()
}

fn open_session(state: &mut State, out: &mut Out) {
    let Some(info) = session_under_cursor(state).cloned() else { return };
    if let Some(why) = &info.failed {
        state.messages.say(state.now, Tone::Info, format!("nothing was kept: {why}; 5 observer can try again"));
        return;
    }
    switch(state, View::Feed);
    let value = state.arena.session_by_id(&info.id).map_or(info.id.clone(), |entry| entry.word());
    query::set(state, Filter::Session, &[&value], out);
    feed::go(state, 0);
}

/// The view of sessions, at that of the memory under the cursor.
pub fn goto_session(state: &mut State, _out: &mut Out) {
    let Some(id) = state.under_cursor().map(|row| state.arena.session_of(row).id.clone()) else {
        return refuse(state, "no memory here");
    };
    let at = sessions(state).iter().position(|info| info.id == id);
    match at {
        Some(at) => {
            switch(state, View::Sessions);
            state.pages.sessions.at.cursor = at;
            keep_visible(state);
        }
        None => refuse(state, "its session is not known"),
    }
}

/// All memories of a session to the trash: by number, never a live one.
pub fn trash_session(state: &mut State) {
    let Some(info) = session_under_cursor(state).cloned() else { return refuse(state, "no session here") };
    if info.live {
        return refuse(state, "this session is live: its memories would come back; end it first");
    }
    let ids: Vec<MemoryId> = state
        .arena
        .newest_first()
        .map(|ix| state.arena.row(ix))
        .filter(|row| state.arena.session_of(row).id == info.id)
        .map(|row| row.memory())
        .collect();
    if ids.is_empty() {
        return refuse(state, "this session has no memories");
    }
    let mut out = Out::new();
    curate::ask_trash(state, ids, true, &mut out);
}

// Context

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

fn context_act(state: &mut State, action: Action, out: &mut Out) -> bool {
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

// Observer

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

// Trash

/// Out of the trash for ever: by number.
fn purge(state: &mut State, all: bool) {
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
