//! What the five views besides the feed keep: their data as it last came, and where their cursors stand.

use crate::hub::live::{ContextPreview, HourCount, ProjectInfo, SessionInfo, StepInfo, TrashRow, Vitals};

/// The timeline.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Counts by hour, as they last came, with the time they are for.
    pub hours: Vec<HourCount>,
    /// They have come.
    pub loaded: bool,
    /// How coarse.
    pub zoom: Zoom,
    /// The cell under the cursor: the hour it begins with, counted from 1970 in local time.
    pub cursor: i64,
    /// The cursor has been put somewhere.
    pub placed: bool,
    /// What is counted.
    pub metric: Metric,
    /// Where a range began.
    pub range: Option<i64>,
}

/// How coarse the timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Zoom {
    /// Hours of a day as bars.
    Hour,
    /// Days by hours.
    #[default]
    Day,
    /// Weeks by days.
    Week,
    /// Months by days.
    Month,
}

impl Zoom {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// Finer.
    pub fn finer(self) -> Self {
        match self {
            Self::Month => Self::Week,
            Self::Week => Self::Day,
            _ => Self::Hour,
        }
    }

    /// Coarser.
    pub fn coarser(self) -> Self {
        match self {
            Self::Hour => Self::Day,
            Self::Day => Self::Week,
            _ => Self::Month,
        }
    }
}

/// What the timeline counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Metric {
    /// Memories.
    #[default]
    Memories,
    /// Tokens to read them.
    Tokens,
    /// Tokens spent on them.
    Work,
}

impl Metric {
    /// All, in the order `c` goes through them.
    pub const ALL: [Self; 3] = [Self::Memories, Self::Tokens, Self::Work];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memories => "observations",
            Self::Tokens => "tokens to read",
            Self::Work => "tokens of work",
        }
    }

    /// What an hour counts.
    pub fn of(self, hour: &HourCount) -> u64 {
        match self {
            Self::Memories => u64::from(hour.n),
            Self::Tokens => hour.tokens,
            Self::Work => hour.work_tokens,
        }
    }
}

/// A list with a cursor and a first visible line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListAt {
    /// Line under the cursor.
    pub cursor: usize,
    /// First visible line.
    pub top: usize,
}

impl ListAt {
    /// Moves by some lines in a list of `len`.
    pub fn step(&mut self, by: i64, len: usize) {
        let last = len.saturating_sub(1) as i64;
        self.cursor = (self.cursor as i64).saturating_add(by).clamp(0, last) as usize;
    }

    /// The first visible line so that the cursor is among `height`, each item `lines` high.
    pub fn top_for(&self, height: usize, lines: usize) -> usize {
        let fit = (height / lines.max(1)).max(1);
        if self.cursor < self.top {
            self.cursor
        } else if self.cursor >= self.top + fit {
            self.cursor + 1 - fit
        } else {
            self.top
        }
    }
}

/// The sessions view.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    /// As they last came, newest first.
    pub list: Vec<SessionInfo>,
    /// They have come.
    pub loaded: bool,
    /// Cursor.
    pub at: ListAt,
    /// The summary of the session under the cursor, once it has come.
    pub summary: Option<(String, Vec<crate::memory::Memory>)>,
}

/// The context view.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// As it last came.
    pub preview: Option<ContextPreview>,
    /// Another number of observations, not saved.
    pub limit: Option<u32>,
    /// Cursor over in and out.
    pub at: ListAt,
    /// Only this reason.
    pub reason: String,
    /// The exact text has the focus.
    pub text_focus: bool,
    /// Its first visible line.
    pub text_scroll: usize,
    /// The difference to the last injection is shown.
    pub diff: bool,
    /// Asked for and not yet here.
    pub asked: bool,
    /// Why it could not be made.
    pub trouble: String,
}

/// The trash view.
#[derive(Clone, Debug, Default)]
pub struct Trash {
    /// As it last came, newest first.
    pub list: Vec<TrashRow>,
    /// They have come.
    pub loaded: bool,
    /// Cursor.
    pub at: ListAt,
}

/// Data of all views.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    /// Timeline.
    pub timeline: Timeline,
    /// Sessions.
    pub sessions: Sessions,
    /// Context.
    pub context: Context,
    /// Trash.
    pub trash: Trash,
    /// Observer: the problem under the cursor.
    pub observer: ListAt,
    /// Is it recording.
    pub vitals: Vitals,
    /// Projects with counts.
    pub projects: Vec<ProjectInfo>,
    /// The journal, as it last came.
    pub history: Vec<StepInfo>,
}
