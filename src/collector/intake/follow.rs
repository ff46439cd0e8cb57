//! Following files: which has something to read, which is which after a rename, which are gone, which cannot be read.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::input::{Delivery, FileNo, Input, Lane};
use super::Intake;
use super::tracked::placeholder;
use crate::config::monotonic;
use crate::memory::{EventKey, SessionId};
use crate::transcript::locate::{self, AgentMeta, FileKind};
use crate::transcript::tail::{self, Look};
use crate::transcript::watch::Watching;

impl Intake {
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

    pub(super) fn queue(&mut self, no: FileNo) {
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

    /// Reads the files of a session again: the ledger knows what of them is decided.
    pub(super) fn reread(&mut self, session: &SessionId) {
        for at in 0..self.files.len() {
            let file = &self.files[at];
            if file.lane != Lane::Live || file.gone || file.ignored || file.session.as_ref() != Some(session) {
                continue;
            }
            let mut file = std::mem::replace(&mut self.files[at], placeholder());
            let floor = (file.floor, file.floor_events);
            self.begin_again(&mut file);
            // The bytes are the same: so is where the older part of them ends.
            (file.floor, file.floor_events) = floor;
            file.floor_time = None;
            self.files[at] = file;
            if let Ok(no) = u32::try_from(at) {
                self.look(FileNo(no));
            }
        }
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

    /// A followed file turned up at another path.
    pub(super) fn moved(&mut self, no: FileNo, path: PathBuf) {
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
            if locate::is_folder(&path) {
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

    pub(super) fn vanished(&mut self, no: FileNo) {
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
    pub(super) fn meta_changed(&mut self, meta: &Path) {
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
        } else if locate::is_folder(path) {
            if self.roots.iter().any(|root| path == root.projects() || path == root.path) {
                self.watch();
            }
            self.scan(path, false);
        }
    }

    pub(super) fn poll_from_now(&mut self, why: String) {
        let watching = Watching::Poll(why);
        if self.watching != watching {
            self.watching = watching.clone();
            self.next_rescan = monotonic();
            self.tell(Input::Watching(watching));
        }
    }
}
