//! Finding files and following them: which there are, which is which after a rename, which are gone.
#![allow(clippy::disallowed_methods)] // This file looks at which transcripts there are.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::super::input::{Delivery, FileNews, FileNo, Input, Lane, Place};
use super::super::order::{Waiting, order};
use super::{Intake, Pace};
use crate::config::monotonic;
use crate::gate::private::SessionPrivacy;
use crate::memory::{AgentId, EventKey, ProjectRef, SessionId, Timestamp};
use crate::store::api::CursorRow;
use crate::transcript::event::Event;
use crate::transcript::locate::{self, AgentMeta, FileKind, HEAD_BYTES, Head};
use crate::transcript::reader::{Reader, SafePoint};
use crate::transcript::tail::{self, FileId, Look, Stat, Tail};
use crate::transcript::watch::Watching;

/// Suffix of the cursor row that tells how far the older part of a file was read.
pub const OLDER: &str = "#backlog";

/// What the intake keeps in a cursor row beside the offset. No text of the transcript.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The reader's state.
    #[serde(rename = "r", skip_serializing_if = "String::is_empty")]
    pub reader: String,
    /// Project the session was in.
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<ProjectRef>>,
    /// When its first own line was written.
    #[serde(rename = "b", skip_serializing_if = "Option::is_none")]
    pub born: Option<Timestamp>,
    /// First entry's uuid.
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    pub lineage: Option<String>,
    /// The parent's call, for a helper agent.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub parent_call: Option<EventKey>,
    /// The older part was counted.
    #[serde(rename = "n", skip_serializing_if = "std::ops::Not::not")]
    pub older_counted: bool,
    /// What is private in its session: a helper agent's file may still be read when the session's own has gone on.
    #[serde(rename = "v", skip_serializing_if = "Option::is_none")]
    pub privacy: Option<Box<SessionPrivacy>>,
}

/// When the session of a cursor row was begun, if the row says so. Helper agents' rows do not count.
pub fn born_of(row: &CursorRow) -> Option<(SessionId, Timestamp)> {
    let is_agent = locate::classify(Path::new(&row.path)).is_agent();
    let kept: Kept = serde_json::from_str(&row.state).ok()?;
    Some((SessionId::from(row.session.as_str()), kept.born.filter(|_| !is_agent && !row.session.is_empty())?))
}

/// One followed file.
pub struct Tracked {
    pub tail: Tail,
    pub lane: Lane,
    pub kind: FileKind,
    /// `None`: not known yet (a free name, or a flat agent whose first line is not there).
    pub session: Option<SessionId>,
    pub agent: Option<AgentId>,
    pub modified: Timestamp,
    pub kept: Kept,
    /// Events completed up to here belong to the older part.
    pub floor: u64,
    /// Events in the older part, as far as counted.
    pub floor_events: u64,
    /// After a rewrite the floor's bytes are anywhere: events older than this are the older part.
    pub floor_time: Option<Timestamp>,
    /// The older lane reads up to here.
    pub limit: Option<u64>,
    /// In the older lane: events left out on purpose, and events delivered, in this reading.
    pub left: u64,
    pub given: u64,
    pub reader: Option<Box<Reader>>,
    /// Safe place the reader can be made again from.
    pub safe: SafePoint,
    /// Prompt of the turn that was open at the floor.
    pub before: Option<Box<Event>>,
    pub epoch: u32,
    /// Whether the collector knows the file as it is now.
    pub announced: bool,
    /// Whether its cursor row says another path than where it is.
    pub stale: bool,
    pub headed: bool,
    /// Never to be read (an inner agent, a file with a free name that is no session).
    pub ignored: bool,
    pub gone: bool,
    pub on_hold: bool,
    pub queued: bool,
    pub grown_at: Instant,
    pub quieted: bool,
    pub settled: bool,
    /// Deliveries of a helper agent that waits to be tied to its parent's call.
    pub parked: Option<Parked>,
    /// The safe place as it is now was told.
    pub placed: bool,
}

/// Deliveries that wait.
pub struct Parked {
    pub until: Instant,
    pub deliveries: Vec<Delivery>,
}

impl Tracked {
    fn new(tail: Tail, lane: Lane, kind: FileKind, stat: &Stat) -> Self {
        let (session, agent) = match &kind {
            FileKind::Session(session) => (Some(session.clone()), None),
            FileKind::Agent(session, agent) => (Some(session.clone()), Some(agent.clone())),
            FileKind::FlatAgent(agent) => (None, Some(agent.clone())),
            _ => (None, None),
        };
        Self {
            tail,
            lane,
            kind,
            session,
            agent,
            modified: stat.modified,
            kept: Kept::default(),
            floor: 0,
            floor_events: 0,
            floor_time: None,
            limit: None,
            left: 0,
            given: 0,
            reader: None,
            safe: SafePoint::default(),
            before: None,
            epoch: 0,
            announced: false,
            stale: false,
            headed: false,
            ignored: false,
            gone: false,
            on_hold: false,
            queued: false,
            grown_at: monotonic(),
            quieted: true,
            settled: true,
            parked: None,
            placed: false,
        }
    }

    /// When something is due without the file growing.
    pub fn deadline(&self, pace: &Pace) -> Option<Instant> {
        let parked = self.parked.as_ref().map(|parked| parked.until);
        let quiet = if self.queued {
            None
        } else if !self.quieted {
            Some(self.grown_at + pace.quiet)
        } else if !self.settled {
            Some(self.grown_at + pace.settle)
        } else {
            None
        };
        match (parked, quiet) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Nothing of it was read but, maybe, its first lines: it has been followed since the first start, and did not
    /// grow.
    pub fn is_unread(&self) -> bool {
        self.reader.is_none() && self.safe.state.is_empty()
    }

    /// The key of its cursor row.
    pub fn row_id(&self) -> String {
        match self.lane {
            Lane::Live => self.tail.id.0.clone(),
            Lane::Older => format!("{}{OLDER}", self.tail.id.0),
        }
    }

    /// The place its cursor row has, as far as it was told.
    pub fn known_place(&self) -> Option<Place> {
        let offset = self.safe.offset;
        let fingerprint = if offset == self.tail.offset {
            self.tail.fingerprint().to_owned()
        } else {
            tail::fingerprint(&self.tail.path, offset).ok()??
        };
        let kept = Kept { reader: self.safe.state.clone(), ..self.kept.clone() };
        Some(Place { offset, fingerprint, state: serde_json::to_string(&kept).unwrap_or_default() })
    }

    /// What the collector is told of it.
    pub fn news(&self, place: Option<Place>) -> FileNews {
        FileNews {
            file_id: self.row_id(),
            path: self.tail.path.to_string_lossy().into_owned(),
            session: self.session.clone(),
            agent: self.agent.clone(),
            generation: self.tail.generation,
            backlog_end: if self.lane == Lane::Live { self.floor } else { self.limit.unwrap_or(0) },
            backlog_events: self.floor_events.saturating_sub(self.given),
            born: self.kept.born,
            gone: self.gone,
            older_done: false,
            place,
        }
    }
}

impl Intake {
    /// Looks at every file for the first time.
    pub(super) fn first_scan(&mut self) {
        let roots = self.roots.clone();
        for root in &roots {
            let dir = root.projects();
            let known = self.scope.known_roots.iter().any(|known| Path::new(known) == root.path);
            let baseline = !known && !self.scope.from_start && !self.scope.reread;
            self.scan(&dir, baseline);
        }
        self.tell_sources();
        // Files that were followed once and are not there any more.
        let lost: Vec<FileNews> = self
            .cursors
            .values()
            .filter(|row| !row.gone && !row.file_id.ends_with(OLDER) && !Path::new(&row.path).exists())
            .filter(|row| !self.by_id.contains_key(&(FileId(row.file_id.clone()), Lane::Live)))
            .map(|row| FileNews {
                file_id: row.file_id.clone(),
                path: row.path.clone(),
                session: Some(SessionId::from(row.session.as_str())),
                generation: row.generation,
                gone: true,
                place: Some(Place {
                    offset: row.offset,
                    fingerprint: row.fingerprint.clone(),
                    state: row.state.clone(),
                }),
                ..FileNews::default()
            })
            .collect();
        if self.scope.older.is_none() {
            for news in lost {
                let no = FileNo(u32::MAX);
                let delivery = Delivery { news: Some(news), at_end: true, ..self.empty(no, 0) };
                self.tell(Input::Read(Box::new(delivery)));
            }
        }
        // Rows of files found are in `files` now; the rest is of no more use.
        self.cursors.clear();
        self.cursors.shrink_to_fit();
        if self.scope.older.is_some() {
            self.choose_older();
        } else if self.scope.from_start {
            let with_older: Vec<FileNo> = self.with_older_part();
            with_older.into_iter().for_each(|no| self.open_older(no));
            self.sort_older();
        }
        self.next_rescan = monotonic() + self.rescan_pause();
        self.next_look = monotonic() + self.pace.look;
    }

    /// Watches the folders that exist and are not watched yet.
    pub(super) fn watch(&mut self) {
        let there: Vec<PathBuf> = self.roots.iter().map(locate::Root::projects).filter(|dir| dir.is_dir()).collect();
        let new: Vec<PathBuf> = there.iter().filter(|dir| !self.watched.contains(dir)).cloned().collect();
        if new.is_empty() && !self.watched.is_empty() {
            return;
        }
        let sink = self.sink();
        let watching = self.source.watch(&new, sink);
        if watching == Watching::Notify {
            self.watched = there;
        }
        self.watching = watching.clone();
        self.tell(Input::Watching(watching));
    }

    pub(super) fn poll_from_now(&mut self, why: String) {
        let watching = Watching::Poll(why);
        if self.watching != watching {
            self.watching = watching.clone();
            self.next_rescan = monotonic();
            self.tell(Input::Watching(watching));
        }
    }

    fn tell_sources(&mut self) {
        let (there, missing): (Vec<_>, Vec<_>) =
            self.roots.iter().map(locate::Root::projects).partition(|dir| dir.is_dir());
        let sources = Some((there.clone(), missing.clone()));
        if self.missing_told != sources {
            self.missing_told = sources;
            self.tell(Input::Sources(there, missing));
        }
    }

    /// Everything below `dir`. `baseline`: files without a cursor are followed from their present end only.
    fn scan(&mut self, dir: &Path, baseline: bool) {
        let (found, unread) = locate::walk(dir, Some(&self.skip_slug));
        for file in found {
            match self.by_path.get(&file.path) {
                Some(no) => self.look(*no),
                None => self.adopt(file.path, file.kind, baseline),
            }
        }
        for trouble in unread {
            self.trouble(trouble.path, Some(trouble.error.to_string()));
        }
    }

    /// The slow net: everything is looked at, events or not.
    pub(super) fn rescan(&mut self) {
        if let Watching::Notify = self.watching {
            self.watch();
        }
        self.resolver.forget();
        self.gates.forget_markers();
        let roots = self.roots.clone();
        for root in &roots {
            self.scan(&root.projects(), false);
        }
        self.tell_sources();
        let followed: Vec<FileNo> = self.by_path.values().copied().collect();
        for no in followed {
            let file = &self.files[no.0 as usize];
            if !file.gone && !file.tail.path.exists() {
                self.missing.push((file.tail.path.clone(), monotonic() + self.pace.gone));
            }
        }
        let troubled: Vec<PathBuf> = self.troubled.iter().cloned().collect();
        for path in troubled {
            if path.is_dir() && std::fs::read_dir(&path).is_ok() {
                self.trouble(path, None);
            }
        }
    }

    /// An event names a path.
    pub(super) fn path_changed(&mut self, path: &Path) {
        if let Some(no) = self.by_path.get(path) {
            let no = *no;
            self.files[no.0 as usize].gone = false;
            self.look(no);
            return;
        }
        let kind = locate::classify(path);
        if let FileKind::Meta(_) = kind {
            self.meta_changed(path);
        } else if kind.is_transcript() {
            let own = path.components().any(|part| part.as_os_str().to_str() == Some(&self.skip_slug));
            if !own && self.roots.iter().any(|root| path.starts_with(root.projects())) {
                self.adopt(path.to_owned(), kind, false);
            }
        } else if path.is_dir() {
            if self.roots.iter().any(|root| path == root.projects() || path == root.path) {
                self.watch();
            }
            self.scan(path, false);
        }
    }

    /// Follows a file that was not at this path before: one that moved, one known from an earlier run, or a new one.
    fn adopt(&mut self, path: PathBuf, kind: FileKind, baseline: bool) {
        let stat = match tail::stat(&path) {
            Ok(stat) => stat,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return self.trouble(path, Some(error.to_string())),
        };
        if let Some(no) = self.by_id.get(&(stat.id.clone(), Lane::Live)).copied() {
            return self.moved(no, path);
        }
        let older_only = self.scope.older.is_some();
        let mut file = match self.cursors.get(stat.id.as_str()).cloned() {
            // The number of a removed file is given out again: another session's place says nothing.
            Some(row) if self.still_stands(&row, &path, &kind) => {
                let kept: Kept = serde_json::from_str(&row.state).unwrap_or_default();
                let tail = Tail::at(path, stat.id.clone(), row.generation, row.offset, row.fingerprint.clone());
                let mut file = Tracked::new(tail, Lane::Live, kind, &stat);
                if !row.session.is_empty() {
                    file.session = Some(SessionId::from(row.session.as_str()));
                }
                file.safe = SafePoint { offset: row.offset, state: kept.reader.clone() };
                file.headed = kept.lineage.is_some() || kept.born.is_some();
                file.kept = kept;
                self.remember_privacy(&mut file);
                file.floor = row.backlog_end;
                file.floor_events = row.backlog_events;
                file.stale = row.path != file.tail.path.to_string_lossy() || row.gone;
                if self.scope.reread && !older_only {
                    file.tail.restart();
                    file.safe = SafePoint::default();
                    file.kept.reader.clear();
                    file.floor = 0;
                    file.announced = false;
                }
                file
            }
            row => {
                let mut file = Tracked::new(Tail::new(path, stat.id.clone()), Lane::Live, kind, &stat);
                file.tail.generation = row.map_or(0, |row| row.generation + 1);
                if older_only {
                    // A backfill leaves to the collector what the collector has not begun.
                    return;
                }
                if baseline {
                    return self.begin_now(file, &stat);
                }
                file
            }
        };
        file.modified = stat.modified;
        let no = self.insert(file);
        if !older_only {
            self.count_later(no);
            self.look(no);
        }
    }

    /// First start: the file is followed from its last newline on.
    fn begin_now(&mut self, mut file: Tracked, stat: &Stat) {
        if let Err(error) = self.read_head(&mut file) {
            return self.trouble(file.tail.path.clone(), Some(error.to_string()));
        }
        if file.ignored {
            self.insert(file);
            return;
        }
        let begun = tail::last_line_end(&file.tail.path, stat.size)
            .and_then(|offset| Ok((offset, tail::fingerprint(&file.tail.path, offset)?.unwrap_or_default())));
        let (offset, fingerprint) = match begun {
            Ok(begun) => begun,
            Err(error) => return self.trouble(file.tail.path.clone(), Some(error.to_string())),
        };
        file.tail = Tail::at(file.tail.path, file.tail.id, 0, offset, fingerprint.clone());
        // A last line without its newline was written before now as well, if it is whole.
        file.floor = stat.size;
        file.safe = SafePoint { offset, state: String::new() };
        let state = serde_json::to_string(&file.kept).unwrap_or_default();
        let news = file.news(Some(Place { offset, fingerprint, state }));
        file.announced = true;
        let no = self.insert(file);
        let epoch = self.files[no.0 as usize].epoch;
        let delivery = Delivery { news: Some(news), at_end: true, ..self.empty(no, epoch) };
        self.tell(Input::Read(Box::new(delivery)));
        self.count_later(no);
    }

    /// Whether a cursor speaks of the file at `path`.
    fn still_stands(&self, row: &CursorRow, path: &Path, kind: &FileKind) -> bool {
        let same_name = Path::new(&row.path).file_name() == path.file_name();
        let same_session = match kind {
            FileKind::Session(session) | FileKind::Agent(session, _) => session.as_str() == row.session,
            _ => true,
        };
        if same_name && same_session {
            return true; // A rewrite is found by `Tail::look`, as its next generation.
        }
        tail::fingerprint(path, row.offset).is_ok_and(|print| print.as_deref() == Some(row.fingerprint.as_str()))
            && row.offset > 0
            && same_session
    }

    fn insert(&mut self, file: Tracked) -> FileNo {
        let no = FileNo(u32::try_from(self.files.len()).unwrap_or(u32::MAX - 1));
        self.by_id.insert((file.tail.id.clone(), file.lane), no);
        if file.lane == Lane::Live {
            self.by_path.insert(file.tail.path.clone(), no);
        }
        self.files.push(file);
        no
    }

    /// A followed file turned up at another path.
    fn moved(&mut self, no: FileNo, path: PathBuf) {
        let file = &mut self.files[no.0 as usize];
        if file.tail.path != path {
            // Hard links and folders linked twice are one file at two paths: the first stays.
            if !file.gone && tail::stat(&file.tail.path).is_ok_and(|stat| stat.id == file.tail.id) {
                return;
            }
            let old = std::mem::replace(&mut file.tail.path, path.clone());
            file.gone = false;
            file.announced = false;
            file.stale = true;
            if self.by_path.get(&old) == Some(&no) {
                self.by_path.remove(&old);
            }
            self.by_path.insert(path, no);
        }
        self.look(no);
    }

    /// Looks whether a followed file has something to read, and queues it if so.
    pub(super) fn look(&mut self, no: FileNo) {
        let file = &mut self.files[no.0 as usize];
        if file.ignored || file.queued || file.lane == Lane::Older {
            return;
        }
        let path = file.tail.path.clone();
        match file.tail.look() {
            // Nothing but what was there at the first start.
            Ok(Look::Grown(size)) if size <= file.floor && file.is_unread() => self.trouble_over(&path),
            // A file that only moved: the slice tells of it.
            Ok(Look::Same) => {
                if file.stale && file.tail.offset > 0 {
                    self.queue(no);
                }
                self.trouble_over(&path);
            }
            Ok(Look::Grown(_) | Look::Rewritten) => {
                self.queue(no);
                self.trouble_over(&path);
            }
            Ok(Look::Replaced(_)) => {
                self.missing.push((path.clone(), monotonic() + self.pace.gone));
                self.by_path.remove(&path);
                self.adopt(path.clone(), locate::classify(&path), false);
            }
            Ok(Look::Vanished) => self.missing.push((path, monotonic() + self.pace.gone)),
            Err(error) => self.trouble(path, Some(error.to_string())),
        }
    }

    fn queue(&mut self, no: FileNo) {
        let file = &mut self.files[no.0 as usize];
        if file.queued {
            return;
        }
        file.queued = true;
        self.dry_told = false;
        if file.tail.offset == 0 && file.reader.is_none() {
            if let Ok(stat) = tail::stat(&file.tail.path) {
                file.modified = stat.modified;
            }
            self.fresh.push(no);
            self.fresh_sorted = false;
        } else {
            self.live.push_back(no);
        }
    }

    /// The older part of a file was read to its end. Where nothing was left out, none is left.
    pub(super) fn older_read(&mut self, no: FileNo) {
        let file = &mut self.files[no.0 as usize];
        let whole = file.limit.is_some_and(|limit| file.tail.offset >= limit);
        let done = whole && file.left == 0;
        if whole {
            // Whatever was left out is what is left.
            file.floor_events = file.left;
            file.given = 0;
        }
        let news = FileNews { older_done: done, ..file.news(None) };
        let (epoch, id) = (file.epoch, file.tail.id.clone());
        let delivery = Delivery { news: Some(news), at_end: true, ..self.empty(no, epoch) };
        self.tell(Input::Read(Box::new(delivery)));
        if !done {
            return;
        }
        let Some(live) = self.by_id.get(&(id, Lane::Live)).copied() else { return };
        let file = &mut self.files[live.0 as usize];
        file.floor = 0;
        file.floor_events = 0;
        let Some(place) = file.known_place() else { return };
        let (news, epoch) = (file.news(Some(place)), file.epoch);
        let delivery = Delivery { news: Some(news), at_end: true, ..self.empty(live, epoch) };
        self.tell(Input::Read(Box::new(delivery)));
    }

    /// A file is allowed to be read again.
    pub(super) fn wake(&mut self, no: FileNo) {
        self.dry_told = false;
        if !self.files[no.0 as usize].queued {
            self.look(no);
        }
    }

    /// The file has nothing more to read for now.
    pub(super) fn unqueue(&mut self, no: FileNo) {
        self.files[no.0 as usize].queued = false;
        self.live.retain(|other| *other != no);
        self.fresh.retain(|other| *other != no);
        self.older.retain(|other| *other != no);
    }

    /// Orders files never read; the next to read stands last.
    pub(super) fn sort_fresh(&mut self) {
        let mut waiting = Vec::with_capacity(self.fresh.len());
        let fresh = std::mem::take(&mut self.fresh);
        for no in &fresh {
            let mut file = std::mem::replace(&mut self.files[no.0 as usize], placeholder());
            if !file.headed {
                // A file that cannot be opened now is reported when it is read.
                let _ = self.read_head(&mut file);
            }
            waiting.push(Waiting {
                modified: file.modified,
                session: file.session.clone().unwrap_or_else(|| SessionId::from("")),
                agent: file.agent.clone(),
                lineage: file.kept.lineage.clone(),
                born: file.kept.born,
            });
            self.files[no.0 as usize] = file;
        }
        self.fresh = order(&waiting).into_iter().rev().map(|at| fresh[at]).collect();
        self.fresh_sorted = true;
    }

    /// Reads what the first lines say of a file.
    pub(super) fn read_head(&mut self, file: &mut Tracked) -> std::io::Result<()> {
        let mut bytes = tail::head(&file.tail.path, 8 * 1024)?;
        let mut head = Head::of(&bytes);
        if (head.lineage.is_none() || head.session.is_none()) && bytes.len() == 8 * 1024 {
            bytes = tail::head(&file.tail.path, HEAD_BYTES)?;
            head = Head::of(&bytes);
        }
        let complete = bytes.contains(&b'\n');
        if let FileKind::Candidate(stem) = &file.kind
            && complete
        {
            if head.names(stem) {
                file.session = Some(SessionId::from(stem.as_str()));
            } else {
                file.ignored = true;
            }
        }
        if let FileKind::FlatAgent(agent) = &file.kind
            && file.session.is_none()
            && complete
        {
            let alone = || SessionId(format!("agent-{agent}"));
            file.session = Some(head.session.clone().unwrap_or_else(alone));
        }
        if file.kind.is_agent() && head.warmup {
            file.ignored = true;
        }
        file.kept.lineage = head.lineage.or(file.kept.lineage.take());
        file.kept.born = head.born.or(file.kept.born);
        file.headed = complete;
        Ok(())
    }

    /// Paths nothing was at: a file that is nowhere else by now is gone.
    pub(super) fn look_for_missing(&mut self, now: Instant) {
        while self.missing.first().is_some_and(|(_, at)| *at <= now) {
            let (path, _) = self.missing.remove(0);
            let gone: Vec<FileNo> = match self.by_path.get(&path) {
                Some(no) => vec![*no],
                // The path has another file now; whoever still claims it is gone.
                None => (0..self.files.len() as u32)
                    .map(FileNo)
                    .filter(|no| {
                        let file = &self.files[no.0 as usize];
                        file.lane == Lane::Live && !file.gone && file.tail.path == path
                    })
                    .collect(),
            };
            for no in gone {
                let file = &self.files[no.0 as usize];
                let there = tail::stat(&path).is_ok_and(|stat| stat.id == file.tail.id);
                if there || file.gone {
                    continue;
                }
                self.vanished(no);
            }
            if path.is_dir() {
                self.scan(&path, false);
            } else if self.by_path.keys().any(|known| known.starts_with(&path) && known != &path) {
                // A folder went, with the files in it.
                let below: Vec<PathBuf> =
                    self.by_path.keys().filter(|known| known.starts_with(&path)).cloned().collect();
                let at = monotonic() + self.pace.gone;
                self.missing.extend(below.into_iter().filter(|known| known != &path).map(|known| (known, at)));
            }
        }
    }

    fn vanished(&mut self, no: FileNo) {
        self.unqueue(no);
        self.settle(no);
        let file = &mut self.files[no.0 as usize];
        file.gone = true;
        file.reader = None;
        let path = file.tail.path.clone();
        let news = file.news(None);
        let (epoch, id) = (file.epoch, file.tail.id.clone());
        self.active.remove(&no);
        if self.by_path.get(&path) == Some(&no) {
            self.by_path.remove(&path);
        }
        self.by_id.remove(&(id, Lane::Live));
        self.trouble_over(&path);
        let delivery = Delivery { news: Some(news), at_end: true, ..self.empty(no, epoch) };
        self.tell(Input::Read(Box::new(delivery)));
    }

    /// An agent's meta file appeared: its parent's call may be known now.
    fn meta_changed(&mut self, meta: &Path) {
        let name = meta.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let Some(stem) = name.strip_suffix(".meta.json") else { return };
        let transcript = meta.with_file_name(format!("{stem}.jsonl"));
        if let Some(no) = self.by_path.get(&transcript).copied()
            && self.files[no.0 as usize].parked.is_some()
            && let Some(call) = AgentMeta::beside(&transcript).tool_use_id
        {
            self.tie(no, Some(EventKey(call)));
        }
    }

    pub(super) fn trouble(&mut self, path: PathBuf, why: Option<String>) {
        match &why {
            Some(_) => self.troubled.insert(path.clone()),
            None => self.troubled.remove(&path),
        };
        self.tell(Input::Trouble(path, why));
    }

    pub(super) fn trouble_over(&mut self, path: &Path) {
        if !self.troubled.is_empty() && self.troubled.contains(path) {
            self.trouble(path.to_owned(), None);
        }
    }

    fn with_older_part(&self) -> Vec<FileNo> {
        let numbers = (0..self.files.len() as u32).map(FileNo);
        numbers
            .filter(|no| {
                let file = &self.files[no.0 as usize];
                file.lane == Lane::Live && file.floor > 0 && !file.ignored
            })
            .collect()
    }

    /// Reads the older part of a file beside its newer one.
    fn open_older(&mut self, no: FileNo) {
        let live = &self.files[no.0 as usize];
        let Ok(stat) = tail::stat(&live.tail.path) else { return };
        let (path, id) = (live.tail.path.clone(), live.tail.id.clone());
        let row = self.older_rows.get(&format!("{}{OLDER}", id.0)).cloned();
        let live = &self.files[no.0 as usize];
        let mut file = Tracked::new(Tail::new(path.clone(), id.clone()), Lane::Older, live.kind.clone(), &stat);
        file.session = live.session.clone();
        file.limit = Some(live.floor);
        file.floor_events = live.floor_events;
        file.kept.lineage.clone_from(&live.kept.lineage);
        file.kept.born = live.kept.born;
        file.headed = true;
        file.tail.generation = live.tail.generation;
        if let Some(row) = row
            && row.generation == file.tail.generation
            && row.offset > 0
            && row.backlog_end == live.floor
        {
            file.floor_events = row.backlog_events;
            file.kept = serde_json::from_str(&row.state).unwrap_or_default();
            self.remember_privacy(&mut file);
            file.safe = SafePoint { offset: row.offset, state: file.kept.reader.clone() };
            file.tail = Tail::at(path, id, row.generation, row.offset, row.fingerprint);
        }
        file.queued = true;
        let no = self.insert(file);
        self.older.push_back(no);
    }

    /// Hands what a cursor row knows of a session's private turns back to the gates.
    fn remember_privacy(&mut self, file: &mut Tracked) {
        if let (Some(session), Some(privacy)) = (&file.session, file.kept.privacy.take()) {
            self.gates.restore_privacy(session.clone(), *privacy);
        }
    }

    fn sort_older(&mut self) {
        let numbers: Vec<FileNo> = std::mem::take(&mut self.older).into();
        let mut waiting = Vec::with_capacity(numbers.len());
        for no in &numbers {
            let mut file = std::mem::replace(&mut self.files[no.0 as usize], placeholder());
            let _ = self.read_head(&mut file);
            waiting.push(Waiting {
                modified: file.modified,
                session: file.session.clone().unwrap_or_else(|| SessionId::from("")),
                agent: file.agent.clone(),
                lineage: file.kept.lineage.clone(),
                born: file.kept.born,
            });
            self.files[no.0 as usize] = file;
        }
        self.older = order(&waiting).into_iter().map(|at| numbers[at]).collect();
    }

    fn choose_older(&mut self) {
        let Some(chosen) = self.scope.older.clone() else { return };
        let with_older = self.with_older_part();
        for id in &chosen.order {
            let found = with_older.iter().find(|no| self.files[no.0 as usize].tail.id.as_str() == id);
            if let Some(no) = found.copied() {
                self.open_older(no);
            }
        }
        // The choice is newest first; originals still come before their copies.
        self.sort_older();
    }
}

/// Stands in for a file while it is worked on outside the list.
pub(super) fn placeholder() -> Tracked {
    let stat = Stat { id: FileId(String::new()), size: 0, modified: Timestamp::UNIX_EPOCH };
    Tracked::new(Tail::new(PathBuf::new(), FileId(String::new())), Lane::Live, FileKind::Other, &stat)
}
