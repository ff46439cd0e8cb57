//! Where things stand: the breakpoints of tui.md B.3 as one function of the size and the state. Saturating throughout;
//! there is no size at which it refuses.

use ratatui::layout::Rect;

use super::state::{Density, Layout, Shape, State, View};

/// What the width allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breadth {
    /// The recording cell alone: fewer than 12 columns.
    Rec,
    /// Project, recording, new: 12–23 columns, or fewer than 6 lines.
    Ticker,
    /// List only: 24–39.
    Slim,
    /// List over detail, no borders: 40–59.
    Stack,
    /// List over detail: 60–89.
    Tall,
    /// List beside detail: 90–139.
    Split,
    /// Legend, list, detail: 140 and more.
    Full,
}

/// Everything's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// What the width allows.
    pub breadth: Option<Breadth>,
    /// First header line: project, recording.
    pub header: Rect,
    /// Second header line: legend and views. Empty where there is none.
    pub bar: Rect,
    /// Banner lines.
    pub banner: Rect,
    /// The search line with its completion.
    pub search: Rect,
    /// Legend, projects, days.
    pub side: Rect,
    /// The list with its frame.
    pub list: Rect,
    /// The detail with its frame. Empty: none.
    pub detail: Rect,
    /// The last line.
    pub status: Rect,
    /// Panes have frames.
    pub framed: bool,
}

impl Screen {
    /// What the width allows.
    pub fn breadth(&self) -> Breadth {
        self.breadth.unwrap_or(Breadth::Rec)
    }

    /// The list without its frame.
    pub fn list_inner(&self) -> Rect {
        inner(self.list, self.framed)
    }

    /// The detail without its frame or heading.
    pub fn detail_inner(&self) -> Rect {
        if self.framed {
            return inner(self.detail, true);
        }
        // A rule with the title above it, one column of air left of it.
        let Rect { x, y, width, height } = self.detail;
        Rect {
            x: x + 1.min(width),
            y: y + 1.min(height),
            width: width.saturating_sub(2),
            height: height.saturating_sub(1),
        }
    }
}

/// A rectangle without its border.
pub fn inner(area: Rect, framed: bool) -> Rect {
    if !framed {
        return area;
    }
    Rect {
        x: area.x + 1.min(area.width),
        y: area.y + 1.min(area.height),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

/// What a size allows.
pub fn breadth(width: u16, height: u16) -> Breadth {
    match (width, height) {
        (0..=11, _) => Breadth::Rec,
        (12..=23, _) | (_, 0..=5) => Breadth::Ticker,
        (24..=39, _) => Breadth::Slim,
        (40..=59, _) => Breadth::Stack,
        (60..=89, _) => Breadth::Tall,
        (90..=139, _) => Breadth::Split,
        _ => Breadth::Full,
    }
}

/// Columns of the side panel.
const SIDE: u16 = 26;

/// Where everything stands.
pub fn screen(state: &State) -> Screen {
    let (width, height) = state.size;
    let breadth = breadth(width, height);
    let mut screen = Screen { breadth: Some(breadth), ..Screen::default() };
    if breadth <= Breadth::Ticker {
        screen.header = Rect { x: 0, y: 0, width, height: height.min(1) };
        screen.list = Rect { x: 0, y: 1.min(height), width, height: height.saturating_sub(1) };
        return screen;
    }
    screen.framed = breadth >= Breadth::Tall && state.settings.glyphs != "letters";
    let mut y = 0;
    let mut take = |lines: u16| {
        let lines = lines.min(height.saturating_sub(y).saturating_sub(1));
        let area = Rect { x: 0, y, width, height: lines };
        y += lines;
        area
    };
    screen.header = take(1);
    let wants_bar = state.view == View::Feed && breadth >= Breadth::Stack && height >= 10;
    screen.bar = take(u16::from(wants_bar || (breadth >= Breadth::Split && height >= 10)));
    if let Some(banner) = &state.banner {
        screen.banner = take((banner.lines.len() as u16).min(height / 4));
    }
    if state.search.line.is_some() {
        // The second line is for completion and faults; it stays, so that nothing moves while somebody types.
        screen.search = take(1 + u16::from(breadth >= Breadth::Stack && height >= 12));
    }
    let top = y;
    let bottom = height.saturating_sub(1);
    screen.status = Rect { x: 0, y: bottom, width, height: 1 };
    let body = Rect { x: 0, y: top, width, height: bottom.saturating_sub(top) };
    split(state, breadth, body, &mut screen);
    screen
}

fn split(state: &State, breadth: Breadth, mut body: Rect, screen: &mut Screen) {
    if breadth == Breadth::Full && state.view == View::Feed && body.height >= 16 {
        screen.side = Rect { width: SIDE, ..body };
        body.x += SIDE;
        body.width -= SIDE;
    }
    screen.list = body;
    if !has_detail_view(state.view) {
        return;
    }
    // Typing a query, the place of the match says more than the whole of one memory.
    if state.search.line.is_some() && breadth == Breadth::Split && state.layout == Layout::Split {
        return;
    }
    match (state.layout, breadth) {
        (Layout::List, _) => {}
        (Layout::Detail, _) => {
            screen.list = Rect { width: 0, height: 0, ..body };
            screen.detail = body;
        }
        // A narrow or low pane has no room for both: what has the keys is shown.
        (Layout::Split, Breadth::Slim) => {
            if state.detail_focus {
                screen.list = Rect { width: 0, height: 0, ..body };
                screen.detail = body;
            }
        }
        (Layout::Split, _) if state.size.1 < 24 => {
            if state.detail_focus {
                screen.list = Rect { width: 0, height: 0, ..body };
                screen.detail = body;
            }
        }
        (Layout::Split, Breadth::Stack | Breadth::Tall) => {
            let below = body.height * 2 / 5;
            screen.list.height = body.height - below;
            screen.detail = Rect { y: body.y + body.height - below, height: below, ..body };
        }
        (Layout::Split, _) => {
            let right = match state.view {
                View::Sessions => body.width * 58 / 100,
                View::Context | View::Feed if breadth == Breadth::Split => body.width * 44 / 100,
                _ => body.width * 45 / 100,
            };
            screen.list.width = body.width - right;
            screen.detail = Rect { x: body.x + body.width - right, width: right, ..body };
        }
    }
}

/// Views that have something to read beside their list.
fn has_detail_view(view: View) -> bool {
    matches!(view, View::Feed | View::Sessions | View::Context | View::Trash)
}

/// The shape of the feed on this screen.
pub fn shape<'a>(state: &'a State, screen: &Screen) -> Shape<'a> {
    let breadth = screen.breadth();
    let area = screen.list_inner();
    let density = match state.feed.density {
        Density::Auto if breadth == Breadth::Stack => Density::Two,
        Density::Auto => Density::One,
        Density::Two if breadth <= Breadth::Slim => Density::One,
        density => density,
    };
    let tiers = state.search.has_terms();
    Shape {
        arena: &state.arena,
        rows: &state.rows,
        title_cells: usize::from(
            area.width.saturating_sub(row_indent(breadth, density, tiers, id_cells(state)) + row_tail(breadth)),
        ),
        widths: state.look.widths,
        density,
        wraps_title: breadth <= Breadth::Stack,
        headings: breadth >= Breadth::Stack && area.height >= 5,
        tiers,
        judge: tiers.then_some(&state.search.judge),
        zone: &state.zone,
        seen: (state.feed.seen.created_ms > i64::MIN).then_some(state.feed.seen),
    }
}

/// Columns before a title: cursor, mark, context, id, time, type.
pub fn row_indent(breadth: Breadth, density: Density, dated: bool, id_cells: u16) -> u16 {
    let date = if dated { 7 } else { 0 };
    match (breadth, density) {
        (_, Density::Mini) => 6,
        (Breadth::Slim, _) => 10,
        (Breadth::Stack, _) => 11,
        _ => 13 + id_cells + date,
    }
}

/// Digits of the newest id, at least four, so that ids stand in one column.
pub fn id_cells(state: &State) -> u16 {
    let newest = state.arena.newest_first().next().map_or(0, |ix| state.arena.row(ix).id);
    (newest.max(1).ilog10() as u16 + 1).max(4)
}

/// Columns behind a title.
pub fn row_tail(breadth: Breadth) -> u16 {
    match breadth {
        Breadth::Full => 6,
        _ => 0,
    }
}
