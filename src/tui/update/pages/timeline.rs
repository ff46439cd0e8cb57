//! The timeline: its cursor is an hour of local time, counted from 1970.

use super::super::{Out, feed, query, refuse, switch};
use crate::memory::{MemoryId, from_millis};
use crate::recall::query::Key as Filter;
use crate::tui::action::Action;
use crate::tui::effect::{Effect, Request};
use crate::tui::state::{Metric, State, View, Zoom};

/// The timeline shows this much at most.
const TIMELINE_MS: i64 = 400 * 86_400_000;

const HOUR_MS: i64 = 3_600_000;

pub(super) fn ask_hours(state: &mut State, out: &mut Out) {
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
pub(super) fn lines_of(zoom: Zoom) -> i64 {
    match zoom {
        Zoom::Hour => 1,
        Zoom::Day => 24,
        Zoom::Week => 24 * 7,
        Zoom::Month => 24 * 31,
    }
}

/// Down is older in every list; here as well.
pub(super) fn move_timeline(state: &mut State, hours: i64) {
    let newest = local_hour(state, state.now);
    let at = &mut state.pages.timeline.cursor;
    *at = (*at - hours).clamp(newest - TIMELINE_MS / HOUR_MS, newest);
}

pub(super) fn timeline_act(state: &mut State, action: Action, times: u32, out: &mut Out) -> bool {
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
