//! One transcript file, bytes in, events out.
//!
//! The reader owns the order of the steps: frame, pass over or parse, hand entries to the machine. It touches no
//! disk: bytes are handed in, in chunks of any size, and silence is told to it. Where the chunks are cut makes no
//! difference to what comes out.
//!
//! Absent from it: which file this is and where it lies (`locate`, `tail`).

use super::counts::Counts;
use super::event::Event;
use super::head::skim;
use super::lines::{Line, Lines};
use super::repair::{LineKind, Report, entries};
use super::state::{Snapshot, Written};
use super::tree::Prompts;
use super::turn::{At, Machine};
use crate::memory::{AgentId, EventKey, SessionId};

pub use super::state::SafePoint;
pub use super::turn::Awaits;

/// What a file is, as its name and its neighbours tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRole {
    /// Session: the stem of the file name; for a helper's file the parent's.
    pub session: SessionId,
    /// Helper agent, for a helper's file.
    pub agent: Option<AgentId>,
    /// The parent's call that the helper belongs to, when it is known.
    pub parent_call: Option<EventKey>,
}

/// Reads one file.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    machine: Machine,
    /// Length of the unfinished line when it was taken as complete.
    taken: usize,
}

impl Reader {
    /// From the first byte of the file.
    pub fn new(role: FileRole) -> Self {
        let machine = Machine::new(role, 0, Snapshot::default(), Prompts::default(), &[], 0);
        Self { lines: Lines::at(0), machine, taken: 0 }
    }

    /// From a safe point: gives every event that was not given before it. A state that cannot be read (a damaged
    /// cursor, another version) is no state: then events come again, with the keys they had.
    pub fn resume(role: FileRole, point: &SafePoint) -> Self {
        let written: Written = serde_json::from_str(&point.state).unwrap_or_default();
        let mut prompts = Prompts::default();
        prompts.restore(written.prompts());
        let given: Vec<u64> = written.given().collect();
        let machine = Machine::new(role, point.offset, written.snapshot(), prompts, &given, written.counted);
        Self { lines: Lines::at(point.offset), machine, taken: 0 }
    }

    /// Takes the next bytes of the file. The unfinished line at their end is kept here.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        let Self { lines, machine, taken } = self;
        lines.feed(bytes, |line| {
            read_line(machine, line, std::mem::take(taken), out);
        });
    }

    /// The file was quiet for a while: a last line that is complete but for its newline is taken, and a turn whose
    /// last answer calls no tool is over. [`Reader::awaits`] says how long a while should be.
    pub fn quiet(&mut self, out: &mut Vec<Event>) {
        self.take_unfinished(out);
        self.machine.quiet(out);
    }

    /// Nothing more is expected (the client is gone, or the file is old): like [`Reader::quiet`], and what is still
    /// open comes out as it is. Reading can go on all the same.
    pub fn close(&mut self, out: &mut Vec<Event>) {
        self.take_unfinished(out);
        self.machine.close(out);
    }

    fn take_unfinished(&mut self, out: &mut Vec<Event>) {
        let rest = self.lines.rest();
        if rest.len() <= self.taken {
            return;
        }
        let complete = self.taken == 0 && entries(rest, &mut |_, _| {}).kind == LineKind::Ok;
        if complete {
            let start = self.lines.line_start();
            self.machine.line_begins(start);
            let line = Line { bytes: rest, start, end: self.lines.position(), cut: false };
            // After a restart it may be taken again; its figures are counted once.
            let counts = !self.machine.was_counted(line.end);
            read_entries(&mut self.machine, line, counts, out);
            self.taken = rest.len();
        }
    }

    /// What the reader waits for.
    pub fn awaits(&self) -> Awaits {
        self.machine.awaits()
    }

    /// The latest place from which [`Reader::resume`] gives every event not given yet: the start of the open turn,
    /// or of the oldest line something is held back of.
    pub fn safe_point(&mut self) -> SafePoint {
        let start = self.lines.line_start();
        let counted = if self.taken > 0 { self.lines.position() } else { start };
        if self.machine.idle() && self.taken == 0 {
            let written = Written::new(&self.machine.snapshot(), self.machine.prompts(), std::iter::empty(), counted);
            return SafePoint { offset: start, state: to_json(&written) };
        }
        self.machine.prune();
        let (offset, snapshot, given) = self.machine.points().oldest();
        let written = Written::new(snapshot, self.machine.prompts(), given, counted);
        SafePoint { offset, state: to_json(&written) }
    }

    /// Offset behind the last byte fed.
    pub fn position(&self) -> u64 {
        self.lines.position()
    }

    /// Figures since they were last taken.
    pub fn counts(&self) -> &Counts {
        self.machine.counts()
    }

    /// Figures since they were last taken; they start from nothing again.
    pub fn take_counts(&mut self) -> Counts {
        std::mem::take(self.machine.counts_mut())
    }
}

fn to_json(written: &Written) -> String {
    serde_json::to_string(written).unwrap_or_default()
}

/// One line that ended in a newline; its first `taken` bytes were read before that came.
fn read_line(machine: &mut Machine, line: Line<'_>, taken: usize, out: &mut Vec<Event>) {
    let counts = !machine.was_counted(line.end);
    if counts {
        let figures = machine.counts_mut();
        figures.lines += 1;
        figures.shortened += u64::from(line.cut);
    }
    if taken > 0 && line.bytes.get(taken..).unwrap_or_default().trim_ascii().is_empty() {
        return; // what was taken has got its newline
    }
    if let Some(kind) = skim(line.bytes) {
        if counts {
            machine.counts_mut().skip(kind);
        }
        return;
    }
    if taken > 0 {
        let rest = line.bytes.get(taken..).unwrap_or_default();
        // Something was appended to a line that looked complete: read what is new.
        read_entries(machine, Line { bytes: rest, ..line }, counts, out);
        return;
    }
    machine.line_begins(line.start);
    read_entries(machine, line, counts, out);
}

fn read_entries(machine: &mut Machine, line: Line<'_>, counts: bool, out: &mut Vec<Event>) {
    let mut first = true;
    let Report { kind, mended } = entries(line.bytes, &mut |entry, raw| {
        let at = At { start: line.start, end: line.end, first, counts };
        machine.entry(entry, raw, at, out);
        first = false;
    });
    if counts {
        let figures = machine.counts_mut();
        figures.malformed += u64::from(matches!(kind, LineKind::Bad | LineKind::Torn | LineKind::Hole));
        figures.repaired += u64::from(mended || matches!(kind, LineKind::Glued | LineKind::Torn));
    }
}

#[cfg(test)]
mod script;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod tests_corpus;
