//! Moving in the feed, and what happens to it when rows come and go.

use std::collections::HashSet;

use super::{FRESH_MS, Out, list_height};
use crate::hub::live::Changes;
use crate::memory::{Kind, MemoryId};
use crate::tui::arena::{Absorbed, RowIx};
use crate::tui::effect::{Effect, Request};
use crate::tui::layout::{screen, shape};
use crate::tui::state::{Feed, State, Tone, View};

/// More changed rows than this, and the list is made anew instead of mended.
const MANY: usize = 300;

/// Runs `with` on the feed and its shape, which borrow different parts of the state.
fn with_feed(state: &mut State, with: impl FnOnce(&mut Feed, &crate::tui::state::Shape<'_>, u16)) {
    let screen = screen(state);
    let height = screen.list_inner().height;
    let mut feed = std::mem::take(&mut state.feed);
    // The shape looks at density and the unseen line: they stay while the rest is out.
    state.feed.density = feed.density;
    state.feed.seen = feed.seen;
    with(&mut feed, &shape(state, &screen), height);
    state.feed = feed;
}

/// The cursor goes to a place.
pub fn go(state: &mut State, to: usize) {
    admit_deferred(state);
    with_feed(state, |feed, shape, height| feed.go(shape, to, height));
    state.detail.scroll = 0;
}

/// The cursor moves by rows.
pub fn step(state: &mut State, by: i64) {
    let last = state.rows.len().saturating_sub(1) as i64;
    let to = (state.feed.pos as i64).saturating_add(by).clamp(0, last);
    if by < 0 && to == 0 && state.feed.pos == 0 {
        return;
    }
    go(state, to as usize);
}

/// To the newest edge, following from there.
pub fn newest(state: &mut State) {
    state.feed.held = false;
    go(state, 0);
    state.feed.y = 0;
}

/// To the oldest edge.
pub fn oldest(state: &mut State) {
    go(state, state.rows.len().saturating_sub(1));
}

/// To the next or previous heading.
pub fn heading(state: &mut State, down: bool) {
    let (len, pos) = (state.rows.len(), state.feed.pos);
    let found = {
        let screen = screen(state);
        let mut shape = shape(state, &screen);
        shape.headings = true;
        if down {
            (pos + 1..len).find(|at| shape.has_heading(*at))
        } else {
            (0..pos).rev().find(|at| *at == 0 || shape.has_heading(*at))
        }
    };
    match found {
        Some(to) => go(state, to),
        None if down => oldest(state),
        None => {}
    }
}

/// `F`: follow the newest edge, or hold here.
pub fn follow(state: &mut State) {
    if state.is_live() {
        state.feed.held = true;
        state.messages.say(state.now, Tone::Info, "holding here; new memories wait above");
    } else {
        newest(state);
    }
}

/// To the first memory that has not been seen: the oldest of the new ones.
pub fn unseen(state: &mut State) {
    let new = crate::tui::counts::unseen(state);
    if new == 0 {
        state.messages.say(state.now, Tone::Info, "nothing new since you looked");
    } else {
        go(state, new - 1);
    }
}

/// After each message: the window is what it can be, and what is visible is being seen.
pub fn settle(state: &mut State) {
    with_feed(state, |feed, shape, height| feed.settle(shape, height));
    let Some(newest) = state.rows.sifted.list.front().map(|ix| state.arena.row(*ix).key()) else { return };
    if state.feed.seen.created_ms == i64::MIN {
        state.feed.seen = newest; // the first look: nothing is new
    }
    let visible = state.view == View::Feed && state.feed.at_newest && !state.search.has_terms();
    match state.feed.seeing {
        Some((key, _)) if visible && key == newest => {}
        _ if visible && newest != state.feed.seen => state.feed.seeing = Some((newest, state.now)),
        _ if !visible => state.feed.seeing = None,
        _ => {}
    }
    // Following with the keys here: what comes is seen as it comes, and no line moves the rows.
    if state.focused && state.is_live() && !state.is_busy() && crate::tui::counts::unseen(state) == 0 {
        state.feed.seen = newest;
        state.feed.seeing = None;
    }
}

/// A key was pressed: what has been looked at long enough is seen now.
pub fn mark_seen(state: &mut State) {
    if let Some((key, i64::MAX)) = state.feed.seeing {
        state.feed.seen = key;
        state.feed.seeing = None;
    }
    state.arena.settle_sessions();
}

/// The memory under the cursor is wanted in full.
pub fn ask_detail(state: &mut State, out: &mut Out) {
    let id = match state.view {
        View::Feed => state.under_cursor().map(|row| row.memory()),
        View::Context => super::pages::context_cursor(state),
        _ => return,
    };
    if state.detail.id != id {
        state.detail.id = id;
        state.detail.scroll = 0;
        state.detail.why.clear();
    }
    let Some(id) = id else { return };
    if state.detail.current().is_none() && state.detail.asked != Some(id) {
        state.detail.asked = Some(id);
        out.push(Effect::Ask(Request::Get(vec![id])));
    }
    if state.detail.level >= 4 && state.detail.why.is_empty() && state.detail.current().is_some() {
        state.detail.why.push(String::new()); // asked for once
        out.push(Effect::Ask(Request::Why(id)));
    }
}

/// Rows came, changed or went.
pub fn changed(state: &mut State, changes: Changes, out: &mut Out) {
    if changes.reload {
        out.push(Effect::Ask(Request::Reload));
        return;
    }
    let live = state.is_live() && !state.is_busy();
    let gone = state.arena.remove(&changes.gone);
    let absorbed = state.arena.absorb(changes.rows);
    replace(state, &absorbed);
    leave(state, &gone);
    arrive(state, &absorbed.added, live, out);
    // A memory that was put back takes the cursor along.
    if let Some(id) = state.restore_cursor
        && go_to_id(state, MemoryId(id))
    {
        state.restore_cursor = None;
    }
    if let Some(id) = state.detail.id
        && changes.gone.contains(&id)
    {
        state.detail.memory = None;
    }
    for id in &changes.gone {
        state.marks.ids.remove(id);
    }
}

/// Rows that stand in another's place: the list, the cursor and the detail follow.
fn replace(state: &mut State, absorbed: &Absorbed) {
    if absorbed.replaced.is_empty() {
        return;
    }
    if absorbed.replaced.len() > MANY {
        let cursor = state.feed.cursor.and_then(|ix| absorbed.replaced.iter().find(|(old, _)| *old == ix));
        state.feed.cursor = cursor.map(|(_, new)| *new).or(state.feed.cursor);
        state.detail.memory = None;
        state.detail.asked = None;
        super::query::forget_pool(state);
        super::query::sift(state);
        return;
    }
    super::query::remake_sieve(state);
    let old: HashSet<RowIx> = absorbed.replaced.iter().map(|(old, _)| *old).collect();
    let cursor = state.feed.cursor;
    for (old, new) in &absorbed.replaced {
        if crate::tui::state::holds(&state.rows.sifted.pool, &state.arena, *old) {
            adjust(state, state.arena.row(*old).type_ix, -1, *old);
        }
        let row = state.arena.row(*new);
        if state.detail.memory.as_ref().is_some_and(|memory| memory.id == row.memory()) {
            state.detail.memory = None;
            state.detail.asked = None;
        }
    }
    state.rows.remove(&old);
    for (_, new) in &absorbed.replaced {
        take_in(state, *new);
    }
    for (old, new) in &absorbed.replaced {
        if cursor == Some(*old) {
            state.feed.cursor = Some(*new);
        }
        if state.feed.range == Some(*old) {
            state.feed.range = Some(*new);
        }
    }
    with_feed(state, |feed, shape, height| feed.reanchor(shape, height));
}

/// Rows that are gone: a cursor on one goes to its neighbour.
fn leave(state: &mut State, gone: &[RowIx]) {
    if gone.is_empty() {
        return;
    }
    for ix in gone {
        if crate::tui::state::holds(&state.rows.sifted.pool, &state.arena, *ix) {
            adjust(state, state.arena.row(*ix).type_ix, -1, *ix);
        }
    }
    let set: HashSet<RowIx> = gone.iter().copied().collect();
    state.rows.remove(&set);
    if let Some(range) = state.feed.range
        && set.contains(&range)
    {
        state.feed.range = None;
    }
    with_feed(state, |feed, shape, height| feed.reanchor(shape, height));
}

/// A row of the pool counts for its type; summaries and prompts have none.
fn adjust(state: &mut State, type_ix: u16, by: i64, ix: RowIx) {
    if state.arena.row(ix).flags.kind() != Kind::Observation {
        return;
    }
    let counts = &mut state.rows.sifted.counts;
    let at = usize::from(type_ix);
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    counts[at] = (i64::from(counts[at]) + by).max(0) as u32;
}

/// Puts a row into pool and list if the query admits it. Returns whether it is listed.
fn take_in(state: &mut State, ix: RowIx) -> bool {
    let Some(sieve) = &state.sieve else { return false };
    let row = state.arena.row(ix);
    if !sieve.admits(&state.arena, row) {
        return false;
    }
    let shows = sieve.shows(row);
    let type_ix = row.type_ix;
    crate::tui::state::insert(&mut state.rows.sifted.pool, &state.arena, ix);
    adjust(state, type_ix, 1, ix);
    if shows {
        state.rows.insert(&state.arena, ix);
    }
    shows
}

/// New rows (newest first) enter. Live: above, pushing the others down, until the cursor would leave the screen. Held:
/// nothing visible moves; what belongs inside the window waits for the next motion.
fn arrive(state: &mut State, added: &[RowIx], live: bool, out: &mut Out) {
    if added.is_empty() {
        return;
    }
    super::query::remake_sieve(state);
    let height = list_height(state);
    let on_newest = state.feed.pos == 0;
    let empty = state.rows.is_empty();
    if added.len() > MANY && state.load.done {
        // A backfill or an import: the list is made anew, the cursor keeps its row and line.
        super::query::forget_pool(state);
        super::query::sift(state);
        return;
    }
    let (from, until) = visible_span(state, height);
    let mut listed = Vec::new();
    for ix in added {
        let row = state.arena.row(*ix);
        let place = (row.created_ms, row.id);
        let inside = !live && !empty && from.is_some_and(|top| place < top) && until.is_some_and(|last| place > last);
        if inside {
            state.rows.deferred.push(*ix);
        } else if take_in(state, *ix) {
            listed.push(*ix);
        }
        notify(state, *ix, out);
    }
    if !live {
        with_feed(state, |feed, shape, height| feed.reanchor(shape, height));
        return;
    }
    state.arena.settle_sessions();
    for ix in &listed {
        state.feed.fresh.insert(*ix, state.now + FRESH_MS);
    }
    with_feed(state, |feed, shape, height| {
        if on_newest || shape.rows.is_empty() {
            feed.pos = 0;
            feed.y = 0;
            feed.settle(shape, height);
            return;
        }
        let before = feed.y;
        feed.reanchor(shape, height);
        let body = shape.body(height);
        let wanted = shape.distance(0, feed.pos, body);
        let fits = wanted + i32::from(shape.height(feed.pos)) <= i32::from(body);
        feed.y = if fits { wanted.max(0) as u16 } else { before };
        feed.settle(shape, height);
    });
}

/// Place in time of the first and last visible row.
fn visible_span(state: &State, height: u16) -> (Option<(i64, i64)>, Option<(i64, i64)>) {
    let screen = screen(state);
    let window = shape(state, &screen).window(state.feed.pos, state.feed.y, height);
    let at = |pos| state.rows.get(pos).map(|ix| state.arena.row(ix)).map(|row| (row.created_ms, row.id));
    (at(window.first), at(window.last))
}

/// Rows that waited for a motion enter.
fn admit_deferred(state: &mut State) {
    if state.rows.deferred.is_empty() {
        return;
    }
    for ix in std::mem::take(&mut state.rows.deferred) {
        take_in(state, ix);
    }
    with_feed(state, |feed, shape, height| feed.reanchor(shape, height));
}

fn notify(state: &State, ix: RowIx, out: &mut Out) {
    let row = state.arena.row(ix);
    let wanted = state.settings.notify.iter().any(|word| word == state.arena.type_of(row));
    if wanted
        && row.flags.kind() == Kind::Observation
        && state.load.done
        && !out.iter().any(|e| matches!(e, Effect::Bell))
    {
        out.push(Effect::Bell);
    }
}

/// The list is another one (a filter, a search): the cursor keeps its row if it is still there.
pub fn relist(state: &mut State) {
    state.rows.deferred.clear();
    with_feed(state, |feed, shape, height| feed.reanchor(shape, height));
}

/// The cursor goes to a memory, if the list has it.
pub fn go_to_id(state: &mut State, id: MemoryId) -> bool {
    let found = state.arena.find(&[id]).first().copied();
    let place = found.and_then(|ix| state.rows.position(&state.arena, ix));
    match place {
        Some(pos) => {
            go(state, pos);
            true
        }
        None => false,
    }
}
