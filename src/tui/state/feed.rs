//! The feed as lines: which rows are on the screen, anchored at the cursor's row.
//!
//! The window is told by the row under the cursor and the line it stands on, never by an index: rows that arrive
//! elsewhere do not move it (D.6). The first line is the heading of the first visible row and stays while rows scroll
//! under it. Nothing is walked but what is visible.

use std::collections::HashMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::rows::Rows;
use crate::memory::{MemoryId, from_millis};
use crate::recall::query::Judge;
use crate::store::api::PageKey;
use crate::tui::arena::{Arena, Row, RowIx};
use crate::tui::width::Widths;

/// How much of a row is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Density {
    /// By the width of the pane.
    #[default]
    Auto,
    /// Two lines: the whole title, or the subtitle below it.
    Two,
    /// One.
    One,
    /// One, without time and id.
    Mini,
}

/// Where the feed stands.
#[derive(Clone, Debug)]
pub struct Feed {
    /// Row under the cursor.
    pub cursor: Option<RowIx>,
    /// Its place in the list.
    pub pos: usize,
    /// The line of the body it stands on.
    pub y: u16,
    /// The user asked to hold here.
    pub held: bool,
    /// The newest row is visible.
    pub at_newest: bool,
    /// The newest row that counts as seen.
    pub seen: PageKey,
    /// The newest visible row and since when it has been.
    pub seeing: Option<(PageKey, i64)>,
    /// Rows that have just come, and until when they are shown so.
    pub fresh: HashMap<RowIx, i64>,
    /// Where a range began.
    pub range: Option<RowIx>,
    /// How much of a row is shown.
    pub density: Density,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            cursor: None,
            pos: 0,
            y: 0,
            held: false,
            at_newest: true,
            seen: PageKey { created_ms: i64::MIN, id: MemoryId(i64::MIN) },
            seeing: None,
            fresh: HashMap::new(),
            range: None,
            density: Density::Auto,
        }
    }
}

/// One line of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Day and session of the row below, or the heading of its tier.
    Heading(usize),
    /// `── 7 new ──`
    Unseen,
    /// A row at a place of the list; the part of it, from 0.
    Row(usize, u8),
}

/// What is visible.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Lines from the top.
    pub lines: Vec<Line>,
    /// The line of the body the cursor's row really stands on.
    pub y: u16,
    /// Place of the first visible row.
    pub first: usize,
    /// Place of the last visible row.
    pub last: usize,
    /// The newest edge is visible.
    pub at_newest: bool,
}

/// Everything the shape of the feed depends on.
pub struct Shape<'a> {
    /// Rows.
    pub arena: &'a Arena,
    /// Which of them.
    pub rows: &'a Rows,
    /// Cells for a title on the first line.
    pub title_cells: usize,
    /// How titles are measured.
    pub widths: Widths,
    /// How much of a row is shown; never `Auto`.
    pub density: Density,
    /// The second line is the rest of the title (else the subtitle).
    pub wraps_title: bool,
    /// Headings are shown.
    pub headings: bool,
    /// Headings are tiers, not days: something is searched for.
    pub tiers: bool,
    /// What is searched for.
    pub judge: Option<&'a Judge>,
    /// Local zone.
    pub zone: &'a TimeZone,
    /// The newest row that counts as seen; the unseen line stands above it.
    pub seen: Option<PageKey>,
}

/// A session's heading is not repeated when another's row stands between, this far.
const LOOK_BACK: usize = 8;

impl Shape<'_> {
    /// Lines of a row.
    pub fn height(&self, pos: usize) -> u16 {
        if self.density != Density::Two {
            return 1;
        }
        let Some(row) = self.rows.get(pos).map(|ix| self.arena.row(ix)) else { return 1 };
        let two = if self.wraps_title {
            self.widths.of(self.arena.title(row)) > self.title_cells || self.matches_elsewhere(row)
        } else {
            row.flags.kind() == crate::memory::Kind::Observation && !self.arena.subtitle(row).is_empty()
        };
        if two { 2 } else { 1 }
    }

    /// The match is not in the title: the second line shows where it is.
    pub fn matches_elsewhere(&self, row: &Row) -> bool {
        self.judge.is_some_and(|judge| judge.marks(self.arena.title(row)).is_empty())
    }

    /// Whether a heading stands above a place, were it not the first visible one.
    pub fn has_heading(&self, pos: usize) -> bool {
        if !self.headings {
            return false;
        }
        if self.tiers {
            return pos == 0 || self.rows.group_of(pos).is_some_and(|(_, at)| at == 0);
        }
        if self.rows.sorted.is_some() {
            return false;
        }
        let (Some(row), Some(before)) = (self.row(pos), pos.checked_sub(1).and_then(|before| self.row(before))) else {
            return true;
        };
        if self.day(row) != self.day(before) {
            return true;
        }
        row.session_ix != before.session_ix
            && !(1..=LOOK_BACK).any(|back| {
                pos.checked_sub(back)
                    .and_then(|at| self.row(at))
                    .is_some_and(|near| near.session_ix == row.session_ix && self.day(near) == self.day(row))
            })
    }

    fn has_unseen_line(&self, pos: usize) -> bool {
        let Some(seen) = self.seen.filter(|_| !self.tiers && self.rows.sorted.is_none()) else { return false };
        let newer = |row: &Row| (row.created_ms, row.id) > (seen.created_ms, seen.id.0);
        pos > 0 && self.row(pos).is_some_and(|row| !newer(row)) && self.row(pos - 1).is_some_and(newer)
    }

    fn row(&self, pos: usize) -> Option<&Row> {
        self.rows.get(pos).map(|ix| self.arena.row(ix))
    }

    /// The local day of a row.
    pub fn day(&self, row: &Row) -> Date {
        from_millis(row.created_ms).to_zoned_datetime(self.zone.clone()).date()
    }

    /// Lines between the row before a place and the place itself.
    fn lines_above(&self, pos: usize) -> u16 {
        u16::from(self.has_heading(pos)) + u16::from(self.has_unseen_line(pos))
    }

    /// Lines of the body: the window without its first heading.
    pub fn body(&self, height: u16) -> u16 {
        height.saturating_sub(u16::from(self.headings))
    }

    /// Lines from the top of one place's row to that of another, at most `max` either way.
    pub fn distance(&self, from: usize, to: usize, max: u16) -> i32 {
        let max = i32::from(max);
        let mut lines = 0;
        if to >= from {
            for pos in from..to {
                lines += i32::from(self.height(pos) + self.lines_above(pos + 1));
                if lines > max {
                    return max;
                }
            }
            lines
        } else {
            for pos in to..from {
                lines += i32::from(self.height(pos) + self.lines_above(pos + 1));
                if lines > max {
                    return -max;
                }
            }
            -lines
        }
    }

    /// The window of `height` lines with the row at `pos` on line `y` of its body, where that can be.
    pub fn window(&self, pos: usize, y: u16, height: u16) -> Window {
        let body = self.body(height);
        if self.rows.is_empty() || height == 0 {
            return Window { at_newest: true, ..Window::default() };
        }
        let pos = pos.min(self.rows.len() - 1);
        let y = y.min(body.saturating_sub(self.height(pos).min(body)));
        // Up from the cursor until its line is reached.
        let mut above: Vec<Line> = Vec::new();
        let mut at = pos;
        let mut first = pos;
        while above.len() < usize::from(y) && at > 0 {
            if self.has_heading(at) {
                above.push(Line::Heading(at));
            }
            if self.has_unseen_line(at) {
                above.push(Line::Unseen);
            }
            at -= 1;
            let height = self.height(at) as u8;
            for part in (0..height).rev() {
                above.push(Line::Row(at, part));
            }
        }
        above.truncate(usize::from(y));
        // A heading as the topmost line would say what the one above it says: the row before it is worth more.
        if let Some(top @ Line::Heading(_)) = above.last_mut()
            && let Line::Heading(below) = *top
        {
            *top = Line::Row(below - 1, self.height(below - 1) as u8 - 1);
        }
        let real_y = above.len() as u16;
        for line in &above {
            if let Line::Row(pos, _) = line {
                first = first.min(*pos);
            }
        }
        let mut lines: Vec<Line> = Vec::with_capacity(usize::from(height));
        if self.headings {
            lines.push(Line::Heading(first));
        }
        lines.extend(above.into_iter().rev());
        let mut last = pos;
        let mut at = pos;
        'down: while at < self.rows.len() {
            if at > pos {
                if self.has_unseen_line(at) {
                    lines.push(Line::Unseen);
                }
                if self.has_heading(at) {
                    lines.push(Line::Heading(at));
                }
            }
            for part in 0..self.height(at) as u8 {
                if lines.len() >= usize::from(height) {
                    break 'down;
                }
                lines.push(Line::Row(at, part));
                last = at;
            }
            if lines.len() >= usize::from(height) {
                break;
            }
            at += 1;
        }
        lines.truncate(usize::from(height));
        let at_newest = first == 0;
        Window { lines, y: real_y, first, last, at_newest }
    }
}

impl Feed {
    /// The cursor goes to a place; the window follows only as far as it must.
    pub fn go(&mut self, shape: &Shape<'_>, to: usize, height: u16) {
        let len = shape.rows.len();
        if len == 0 {
            self.cursor = None;
            self.pos = 0;
            self.y = 0;
            self.at_newest = true;
            return;
        }
        let to = to.min(len - 1);
        let body = shape.body(height);
        let y = i32::from(self.y) + shape.distance(self.pos.min(len - 1), to, body);
        let lowest = i32::from(body.saturating_sub(shape.height(to).min(body)));
        self.pos = to;
        self.cursor = shape.rows.get(to);
        self.y = y.clamp(0, lowest.max(0)) as u16;
        self.settle(shape, height);
    }

    /// What the window really is like, after anything changed.
    pub fn settle(&mut self, shape: &Shape<'_>, height: u16) {
        if shape.rows.is_empty() {
            self.cursor = None;
            self.pos = 0;
            self.y = 0;
            self.at_newest = true;
            return;
        }
        self.pos = self.pos.min(shape.rows.len() - 1);
        self.cursor = shape.rows.get(self.pos);
        let window = shape.window(self.pos, self.y, height);
        self.y = window.y;
        self.at_newest = window.at_newest;
    }

    /// The list is another one: the cursor finds its row, or the nearest to it, on the same line.
    pub fn reanchor(&mut self, shape: &Shape<'_>, height: u16) {
        self.pos = match self.cursor {
            Some(ix) => shape.rows.near(shape.arena, ix),
            None => 0,
        };
        self.settle(shape, height);
    }
}
