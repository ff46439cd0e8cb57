//! Everything the screen knows. Plain data: `update` changes it, `view` reads it, nothing in it touches anything.

mod alphabet;
mod detail;
mod edit;
mod feed;
mod guard;
mod messages;
mod pages;
mod picker;
mod popup;
mod rows;
mod search;

use std::collections::{BTreeSet, HashSet};

use jiff::tz::TimeZone;

pub use alphabet::{Alphabet, TypeLook};
pub use detail::Detail;
pub use edit::LineEdit;
pub use feed::{Density, Feed, Line, Shape, Window};
pub use guard::{Guard, Tripped};
pub use messages::{Message, Messages, Tone};
pub use pages::{Context, ListAt, Metric, Pages, Sessions, Timeline, Trash, Zoom};
pub use picker::{Pick, PickItem, Picker, Purpose, Tick};
pub use popup::{Act, Answer, Legend, LineBox, LineFor, MergeForm, Popup, RedactForm, Strip, TextBox};
pub use rows::{Group, Order, Rows, holds, insert, place};
pub use search::{Closest, Completion, Marks, SavedView, Search, Tier};

use super::arena::{Arena, RowIx, Sieve};
use super::key::Key;
use super::keymap::{Keymap, Place};
use super::theme::{Depth, GlyphSet, Signs, Theme, ThemeFile};
use super::width::Widths;
use crate::config::TuiSettings;
use crate::hub::live::Opened;

/// The six views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs)] // the names say it
pub enum View {
    #[default]
    Feed,
    Timeline,
    Sessions,
    Context,
    Observer,
    Trash,
}

impl View {
    /// All, in the order of the number row.
    pub const ALL: [Self; 6] = [Self::Feed, Self::Timeline, Self::Sessions, Self::Context, Self::Observer, Self::Trash];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Feed => "Feed",
            Self::Timeline => "Timeline",
            Self::Sessions => "Sessions",
            Self::Context => "Context",
            Self::Observer => "Observer",
            Self::Trash => "Trash",
        }
    }

    /// By its name in settings and flags.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name().eq_ignore_ascii_case(name))
    }

    /// Where its keys are.
    pub fn place(self) -> Place {
        match self {
            Self::Feed => Place::Feed,
            Self::Timeline => Place::Timeline,
            Self::Sessions => Place::Sessions,
            Self::Context => Place::Context,
            Self::Observer => Place::Observer,
            Self::Trash => Place::Trash,
        }
    }
}

/// What `z` goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// List and detail, where there is room.
    #[default]
    Split,
    /// Only the list.
    List,
    /// Only the detail.
    Detail,
}

/// How things are drawn.
#[derive(Clone, Debug)]
pub struct Look {
    /// The theme as read.
    pub file: ThemeFile,
    /// The theme at the terminal's depth.
    pub theme: Theme,
    /// Colours of the terminal.
    pub depth: Depth,
    /// Signs.
    pub glyphs: GlyphSet,
    /// How text is measured.
    pub widths: Widths,
    /// The terminal's background, if it told us.
    pub background: Option<(u8, u8, u8)>,
}

impl Look {
    /// `file` at `depth`.
    pub fn new(file: ThemeFile, depth: Depth, glyphs: GlyphSet, ambiguous: u8) -> Self {
        let theme = Theme::new(&file, depth);
        Self { file, theme, depth, glyphs, widths: Widths { ambiguous }, background: None }
    }

    /// The signs.
    pub fn signs(&self) -> &'static Signs {
        self.glyphs.signs()
    }

    /// Another theme.
    pub fn set_theme(&mut self, file: ThemeFile) {
        self.theme = Theme::new(&file, self.depth);
        self.file = file;
    }
}

/// The project the screen is to be narrowed to, once projects are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ScopeWanted {
    /// None, or it has been done.
    #[default]
    Settled,
    /// That of the working directory, by root; all, when it has no memories.
    Auto(String),
    /// One that was named.
    Named(String),
}

/// How far loading is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The first page has come.
    pub first: bool,
    /// All have.
    pub done: bool,
}

/// Something the screen must tell until it is dismissed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Banner {
    /// Why it stands there.
    pub lines: Vec<String>,
    /// What it is about, so that it comes once.
    pub about: &'static str,
}

/// Everything.
#[derive(Debug)]
pub struct State {
    /// The present, in milliseconds since 1970.
    pub now: i64,
    /// Local zone.
    pub zone: TimeZone,
    /// Columns and lines of the terminal.
    pub size: (u16, u16),
    /// The pane has the keyboard, as far as the terminal tells.
    pub focused: bool,
    /// Settings of the screen.
    pub settings: TuiSettings,
    /// How things are drawn.
    pub look: Look,
    /// Keys.
    pub keymap: Keymap,
    /// Types of the mode.
    pub alphabet: Alphabet,
    /// What the source said when it was opened.
    pub opened: Opened,
    /// Why it could not be opened.
    pub closed: Option<crate::hub::live::Trouble>,
    /// How far loading is.
    pub load: Load,
    /// Every row.
    pub arena: Arena,
    /// Rows the feed lists.
    pub rows: Rows,
    /// What decides that; made anew with the query.
    pub sieve: Option<Sieve>,
    /// Project roots the screen is narrowed to; none: all.
    pub scope: Vec<String>,
    /// The name of the scope, for people.
    pub scope_name: String,
    /// What the scope is to be, once projects are known.
    pub scope_wanted: ScopeWanted,
    /// Types the legend hides.
    pub hidden: HashSet<String>,
    /// Wild types are hidden together.
    pub hide_wild: bool,
    /// The view.
    pub view: View,
    /// The one before.
    pub last_view: View,
    /// Split, list or detail.
    pub layout: Layout,
    /// The detail has the keys.
    pub detail_focus: bool,
    /// The feed.
    pub feed: Feed,
    /// The memory that is read.
    pub detail: Detail,
    /// The search.
    pub search: Search,
    /// Kept queries.
    pub saved: Vec<SavedView>,
    /// Marked memories.
    pub marks: Marks,
    /// What the next context holds: id and rank from 1.
    pub context_ranks: std::collections::HashMap<i64, u32>,
    /// The other views.
    pub pages: Pages,
    /// What lies over the view.
    pub popup: Option<Popup>,
    /// Keys of a sequence that is not finished.
    pub pending: Vec<Key>,
    /// Since when.
    pub pending_since: i64,
    /// A count typed before a motion.
    pub count: Option<u32>,
    /// The typing guard.
    pub guard: Guard,
    /// The screen as it was before the present run of keys.
    pub before_run: Option<Box<Snapshot>>,
    /// An effect that leaves the screen, held back for a moment (D.1): a prompt's first letter must not start an editor
    /// or quit.
    pub held_back: Option<(i64, super::effect::Effect)>,
    /// What is said.
    pub messages: Messages,
    /// A line at the top until Esc.
    pub banner: Option<Banner>,
    /// When a banner was dismissed, by what it is about.
    pub dismissed: Vec<(&'static str, i64)>,
    /// Faults of configuration, keys and theme.
    pub faults: Vec<String>,
    /// How often the program was started, for hints.
    pub starts: u32,
    /// The mouse is captured.
    pub mouse: bool,
    /// Changes asked for and not answered.
    pub changing: u32,
    /// When sessions were last asked for.
    pub sessions_at: i64,
    /// Hours of the last fourteen days for the side panel are wanted anew.
    pub stale_hours: bool,
    /// Choose one and leave (`--pick`).
    pub pick: bool,
    /// Everything is drawn again from nothing.
    pub redraw: bool,
    /// The screen ends.
    pub quitting: bool,
    /// Id the cursor goes to once it is loaded (from the last run).
    pub restore_cursor: Option<i64>,
    /// Types recorded by hand lately, for retype by use.
    pub action_uses: std::collections::HashMap<&'static str, u32>,
}

/// What a burst of keys can have changed about the screen.
#[derive(Clone, Debug)]
pub struct Snapshot {
    view: View,
    last_view: View,
    layout: Layout,
    detail_focus: bool,
    level: u8,
    cursor: Option<RowIx>,
    y: u16,
    held: bool,
    density: Density,
    marks: Marks,
    query: String,
    hidden: HashSet<String>,
    hide_wild: bool,
    scope: Vec<String>,
    scope_name: String,
}

impl Snapshot {
    /// The memory that was under the cursor.
    pub fn cursor_id(&self, arena: &Arena) -> Option<i64> {
        self.cursor.map(|ix| arena.row(ix).id)
    }
}

impl State {
    /// A screen that knows nothing yet.
    pub fn new(
        settings: TuiSettings,
        look: Look,
        keymap: Keymap,
        alphabet: Alphabet,
        zone: TimeZone,
        now: i64,
    ) -> Self {
        let mut state = Self {
            now,
            zone,
            size: (0, 0),
            focused: true,
            look,
            keymap,
            alphabet,
            opened: Opened::default(),
            closed: None,
            load: Load::default(),
            arena: Arena::default(),
            rows: Rows::default(),
            sieve: None,
            scope: Vec::new(),
            scope_name: String::new(),
            scope_wanted: ScopeWanted::Settled,
            hidden: HashSet::new(),
            hide_wild: false,
            view: View::by_name(&settings.view).unwrap_or_default(),
            last_view: View::Feed,
            layout: Layout::Split,
            detail_focus: false,
            feed: Feed::default(),
            detail: Detail { level: settings.detail_level.clamp(1, 4), ..Detail::default() },
            search: Search::default(),
            saved: Vec::new(),
            marks: Marks::default(),
            context_ranks: std::collections::HashMap::new(),
            pages: Pages::default(),
            popup: None,
            pending: Vec::new(),
            pending_since: 0,
            count: None,
            guard: Guard::default(),
            before_run: None,
            held_back: None,
            messages: Messages::default(),
            banner: None,
            dismissed: Vec::new(),
            faults: Vec::new(),
            starts: u32::MAX,
            mouse: settings.mouse != "off",
            changing: 0,
            sessions_at: 0,
            stale_hours: false,
            pick: false,
            redraw: false,
            quitting: false,
            restore_cursor: None,
            action_uses: std::collections::HashMap::new(),
            settings,
        };
        state.feed.density = match state.settings.density.as_str() {
            "two-line" => Density::Two,
            "one-line" => Density::One,
            "mini" => Density::Mini,
            _ => Density::Auto,
        };
        state
    }

    /// The memory under the feed's cursor.
    pub fn under_cursor(&self) -> Option<&super::arena::Row> {
        self.feed.cursor.map(|ix| self.arena.row(ix))
    }

    /// Ids an action is about: the marked ones, else the one under the cursor.
    pub fn targets(&self) -> Vec<crate::memory::MemoryId> {
        if !self.marks.ids.is_empty() {
            return self.marks.ids.iter().copied().collect();
        }
        self.under_cursor().map(|row| row.memory()).into_iter().collect()
    }

    /// Marked memories that the list does not show.
    pub fn hidden_marks(&self) -> usize {
        if self.marks.ids.is_empty() {
            return 0;
        }
        let listed: BTreeSet<i64> = (0..self.rows.len())
            .filter_map(|pos| self.rows.get(pos))
            .map(|ix| self.arena.row(ix).id)
            .filter(|id| self.marks.ids.contains(&crate::memory::MemoryId(*id)))
            .collect();
        self.marks.ids.len() - listed.len()
    }

    /// Nothing may be changed here, and why.
    pub fn read_only(&self) -> Option<&str> {
        self.opened.read_only.as_deref()
    }

    /// Something is in the way of following: a search, marks, a range, a popup (tui.md B.7).
    pub fn is_busy(&self) -> bool {
        self.popup.is_some()
            || self.search.line.is_some()
            || !self.marks.ids.is_empty()
            || self.feed.range.is_some()
            || self.guard.tripped.is_some()
    }

    /// The newest row is visible and new ones push in above it.
    pub fn is_live(&self) -> bool {
        self.feed.at_newest && !self.feed.held && self.view == View::Feed && self.rows.order == Order::Newest
    }

    /// What a burst of keys could change.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            view: self.view,
            last_view: self.last_view,
            layout: self.layout,
            detail_focus: self.detail_focus,
            level: self.detail.level,
            cursor: self.feed.cursor,
            y: self.feed.y,
            held: self.feed.held,
            density: self.feed.density,
            marks: self.marks.clone(),
            query: self.search.text.clone(),
            hidden: self.hidden.clone(),
            hide_wild: self.hide_wild,
            scope: self.scope.clone(),
            scope_name: self.scope_name.clone(),
        }
    }

    /// Back to a snapshot. Returns the query it had, for `update` to apply.
    pub fn restore(&mut self, snapshot: Snapshot) -> String {
        self.view = snapshot.view;
        self.last_view = snapshot.last_view;
        self.layout = snapshot.layout;
        self.detail_focus = snapshot.detail_focus;
        self.detail.level = snapshot.level;
        self.feed.cursor = snapshot.cursor;
        self.feed.y = snapshot.y;
        self.feed.held = snapshot.held;
        self.feed.density = snapshot.density;
        self.feed.range = None;
        self.marks = snapshot.marks;
        self.hidden = snapshot.hidden;
        self.hide_wild = snapshot.hide_wild;
        self.scope = snapshot.scope;
        self.scope_name = snapshot.scope_name;
        self.popup = None;
        self.search.line = None;
        self.search.completion = None;
        self.pending.clear();
        self.count = None;
        self.held_back = None;
        snapshot.query
    }
}
