//! When what is gathered is written, where cursors may move to, and what is said when it cannot be written.

use std::time::{Duration, Instant};

use super::super::bus::Change;
use super::super::health::{Paused, Problem};
use super::super::input::{FileNews, FileNo, Place};
use super::super::write::{Blocked, new_ids};
use super::Core;
use crate::config::monotonic;
use crate::memory::Timestamp;
use crate::store::api::CursorRow;

/// Cursors and refusals alone are written this long after they came.
const LAZY: Duration = Duration::from_millis(1000);

impl Core {
    /// Whether something is to be written now; if so, it is.
    pub fn write_if_due(&mut self, inbox_empty: bool) {
        let now = monotonic();
        if let Some((_, at)) = self.writer.blocked()
            && at > now
        {
            return;
        }
        let lazy = self.writer.waits_since().is_some_and(|since| now.duration_since(since) >= LAZY);
        let retry = self.writer.blocked().is_some();
        let urgent = inbox_empty && self.writer.is_urgent();
        let last = inbox_empty && self.caught && self.pending.is_empty();
        if self.writer.is_full() || lazy || urgent || retry || last {
            self.write_now();
        }
    }

    /// When something is due to be written.
    pub fn write_due(&self) -> Option<Instant> {
        if let Some((_, at)) = self.writer.blocked() {
            return Some(at);
        }
        self.writer.waits_since().map(|since| since + LAZY)
    }

    /// Writes what is gathered.
    pub fn write_now(&mut self) {
        let now = self.clock.now();
        let was_blocked = self.writer.blocked().map(|(why, _)| why.clone());
        match self.writer.write(now) {
            Some(recorded) => {
                self.snapshot.last_write_at = Some(now);
                self.wrote = true;
                if was_blocked.is_some() {
                    self.unblocked();
                }
                let ids = new_ids(&recorded);
                self.stored += u64::from(recorded.new);
                if !ids.is_empty() {
                    self.snapshot.last_memory_at = Some(now);
                    self.bus.tell(&Change::Remembered(ids));
                }
                self.snapshot_changed = true;
            }
            None => {
                if let Some((why, at)) = self.writer.blocked().map(|(why, at)| (why.clone(), at)) {
                    self.blocked(&why, at, now);
                }
            }
        }
    }

    pub(super) fn blocked(&mut self, why: &Blocked, at: Instant, now: Timestamp) {
        let kept = self.pending.len() as u64;
        let next_try =
            now + jiff::SignedDuration::try_from(at.saturating_duration_since(monotonic())).unwrap_or_default();
        let (what, reason) = match why {
            // Waiting for another process is ordinary; only when it lasts it is worth a word.
            Blocked::Busy => ("the database is in use by another process; recording waits".to_owned(), None),
            Blocked::Disk => (
                "the disk is full; recording is paused and goes on by itself when there is room".to_owned(),
                Some("disk"),
            ),
            Blocked::Refused(why) => (format!("the database cannot be written: {why}"), None),
        };
        if let Blocked::Refused(why) = why {
            self.snapshot.read_only = Some(why.clone());
        }
        if let Some(reason) = reason {
            let since = self
                .snapshot
                .paused
                .as_ref()
                .filter(|paused| paused.reason == reason)
                .map_or(now, |paused| paused.since);
            self.snapshot.paused = Some(Paused {
                reason: reason.into(),
                since,
                until: None,
                next_try: Some(next_try),
                detail: String::new(),
            });
        }
        let known = self.snapshot.errors.iter().any(|problem| !problem.cleared && problem.what == what);
        if !known {
            tracing::warn!("{what}");
        }
        self.snapshot.note(Problem { at: now, what, lost: 0, kept, cleared: false });
        self.snapshot_changed = true;
    }

    pub(super) fn unblocked(&mut self) {
        self.snapshot.read_only = None;
        if self.snapshot.paused.as_ref().is_some_and(|paused| paused.reason == "disk") {
            self.snapshot.paused = None;
        }
        for problem in &mut self.snapshot.errors {
            if problem.what.starts_with("the disk is full") || problem.what.starts_with("the database") {
                problem.cleared = true;
            }
        }
        tracing::info!("the database can be written again");
    }

    /// Moves a file's cursor as far as outcomes allow.
    pub(super) fn place_cursor(&mut self, no: FileNo) {
        let Some(file) = self.files.get_mut(&no) else { return };
        if !file.progress.has_ready() {
            return;
        }
        let mut counters = Vec::new();
        while let Some((place, counted)) = file.progress.ready_one() {
            file.place = place;
            add_counters(&mut counters, counted);
        }
        if !counters.is_empty() {
            self.writer.count(counters);
        }
        self.write_cursor(no);
    }

    pub(super) fn write_cursor(&mut self, no: FileNo) {
        let Some(file) = self.files.get(&no) else { return };
        self.writer.cursor(cursor_row(&file.news, &file.place));
    }
}

pub(super) fn cursor_row(news: &FileNews, place: &Place) -> CursorRow {
    CursorRow {
        file_id: news.file_id.clone(),
        path: news.path.clone(),
        session: news.session.as_ref().map_or_else(String::new, |session| session.as_str().to_owned()),
        offset: place.offset,
        generation: news.generation,
        fingerprint: place.fingerprint.clone(),
        state: place.state.clone(),
        gone: news.gone,
        backlog_end: news.backlog_end,
        backlog_events: news.backlog_events,
    }
}

/// Notes in a place's state that the older part was counted (`intake::files::Kept`).
pub(super) fn mark_older_counted(place: &mut Place) {
    if let Ok(serde_json::Value::Object(mut state)) = serde_json::from_str(&place.state) {
        state.insert("n".into(), true.into());
        place.state = serde_json::Value::Object(state).to_string();
    }
}

pub(super) fn add_counters(to: &mut Vec<(String, i64)>, from: Vec<(String, i64)>) {
    for (name, n) in from {
        match to.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += n,
            None => to.push((name, n)),
        }
    }
}
