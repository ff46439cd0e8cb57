//! Finding files and following them: which there are, which is which after a rename, which are gone.
#![allow(clippy::disallowed_methods)] // This file looks at which transcripts there are.

use std::path::{Path, PathBuf};

use super::super::input::{Delivery, FileNews, FileNo, Input, Lane, Place};
use super::super::order::{Waiting, order};
use super::Intake;
use super::tracked::{Kept, OLDER, Tracked, placeholder};
use crate::config::monotonic;
use crate::memory::SessionId;
use crate::store::api::CursorRow;
use crate::transcript::locate::{self, FileKind, HEAD_BYTES, Head};
use crate::transcript::reader::SafePoint;
use crate::transcript::tail::{self, FileId, Stat, Tail};
use crate::transcript::watch::Watching;

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
            .filter(|row| !row.gone && !row.file_id.ends_with(OLDER) && !locate::is_there(Path::new(&row.path)))
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
        let there: Vec<PathBuf> =
            self.roots.iter().map(locate::Root::projects).filter(|dir| locate::is_folder(dir)).collect();
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

    pub(super) fn tell_sources(&mut self) {
        let (there, missing): (Vec<_>, Vec<_>) =
            self.roots.iter().map(locate::Root::projects).partition(|dir| locate::is_folder(dir));
        let sources = Some((there.clone(), missing.clone()));
        if self.missing_told != sources {
            self.missing_told = sources;
            self.tell(Input::Sources(there, missing));
        }
    }

    /// Everything below `dir`. `baseline`: files without a cursor are followed from their present end only.
    pub(super) fn scan(&mut self, dir: &Path, baseline: bool) {
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
            if !file.gone && !locate::is_there(&file.tail.path) {
                self.missing.push((file.tail.path.clone(), monotonic() + self.pace.gone));
            }
        }
        let troubled: Vec<PathBuf> = self.troubled.iter().cloned().collect();
        for path in troubled {
            if locate::can_list(&path) {
                self.trouble(path, None);
            }
        }
    }

    /// Follows a file that was not at this path before: one that moved, one known from an earlier run, or a new one.
    pub(super) fn adopt(&mut self, path: PathBuf, kind: FileKind, baseline: bool) {
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

    pub(super) fn insert(&mut self, file: Tracked) -> FileNo {
        let no = FileNo(u32::try_from(self.files.len()).unwrap_or(u32::MAX - 1));
        self.by_id.insert((file.tail.id.clone(), file.lane), no);
        if file.lane == Lane::Live {
            self.by_path.insert(file.tail.path.clone(), no);
        }
        self.files.push(file);
        no
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

    /// Hands what a cursor row knows of a session's private turns back to the gates.
    pub(super) fn remember_privacy(&mut self, file: &mut Tracked) {
        if let (Some(session), Some(privacy)) = (&file.session, file.kept.privacy.take()) {
            self.gates.restore_privacy(session.clone(), *privacy);
        }
    }
}
