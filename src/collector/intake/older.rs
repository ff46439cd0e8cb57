//! What was written before the first start: counted once, read beside what is new when it is asked for.

use super::super::backfill::is_done;
use super::super::input::{Delivery, FileNo, Input, Lane, has_outcome};
use super::super::order::{Waiting, order};
use super::Intake;
use super::slice::SLICE;
use super::tracked::{OLDER, Tracked, placeholder};
use crate::memory::SessionId;
use crate::transcript::reader::{FileRole, Reader, SafePoint};
use crate::transcript::tail::{self, Tail};

/// Counting the older part of a file.
pub struct Counting {
    no: FileNo,
    reader: Box<Reader>,
    tail: Tail,
    events: u64,
}

impl Intake {
    /// The older part of a file was read to its end. Where nothing was left out, none is left.
    pub(super) fn older_read(&mut self, no: FileNo) {
        let file = &mut self.files[no.0 as usize];
        let whole = file.limit.is_some_and(|limit| file.tail.offset >= limit);
        if whole {
            // Whatever was left out is what is left.
            file.floor_events = file.left;
            file.given = 0;
        }
        let (news, epoch) = (file.news(None), file.epoch);
        let delivery = Delivery { news: Some(news), at_end: true, ..self.empty(no, epoch) };
        self.tell(Input::Read(Box::new(delivery)));
    }

    pub(super) fn with_older_part(&self) -> Vec<FileNo> {
        let numbers = (0..self.files.len() as u32).map(FileNo);
        numbers
            .filter(|no| {
                let file = &self.files[no.0 as usize];
                file.lane == Lane::Live && file.floor > 0 && !file.ignored
            })
            .collect()
    }

    /// Reads the older part of a file beside its newer one.
    pub(super) fn open_older(&mut self, no: FileNo) {
        let live = &self.files[no.0 as usize];
        let Ok(stat) = tail::stat(&live.tail.path) else { return };
        let (path, id) = (live.tail.path.clone(), live.tail.id.clone());
        let row = self.older_rows.get(&format!("{}{OLDER}", id.0)).cloned();
        let live = &self.files[no.0 as usize];
        if row.as_ref().is_some_and(|row| row.generation == live.tail.generation && is_done(row, live.floor)) {
            return;
        }
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

    pub(super) fn sort_older(&mut self) {
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

    pub(super) fn choose_older(&mut self) {
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

    /// The older part of this file is counted when there is nothing better to do.
    pub(super) fn count_later(&mut self, no: FileNo) {
        let file = &self.files[no.0 as usize];
        if file.floor > 0 && !file.kept.older_counted && !file.ignored && self.scope.older.is_none() {
            self.to_count.push_back(no);
        }
    }

    /// Counts some of an older part. `false`: nothing is left to count.
    pub(super) fn count_some(&mut self) -> bool {
        let mut counting = match self.counting.take() {
            Some(counting) => counting,
            None => {
                let Some(no) = self.to_count.pop_front() else {
                    if !self.counted_told {
                        self.counted_told = true;
                        self.tell(Input::CountedAll);
                    }
                    return false;
                };
                self.counted_told = false;
                let file = &self.files[no.0 as usize];
                if file.floor == 0 {
                    return true;
                }
                let role = FileRole {
                    session: file.session.clone().unwrap_or_else(|| "".into()),
                    agent: file.agent.clone(),
                    parent_call: None,
                };
                let tail = Tail::new(file.tail.path.clone(), file.tail.id.clone());
                Counting { no, reader: Box::new(Reader::new(role)), tail, events: 0 }
            }
        };
        let no = counting.no;
        let floor = self.files[no.0 as usize].floor;
        let room = floor.saturating_sub(counting.tail.offset).min(SLICE as u64) as usize;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let read = if room == 0 { Ok(0) } else { counting.tail.read(&mut buffer, room) };
        let mut events = Vec::new();
        counting.reader.feed(&buffer, &mut events);
        self.buffer = buffer;
        let over = !matches!(read, Ok(count) if count > 0);
        if over {
            counting.reader.close(&mut events);
        }
        counting.events += events.iter().filter(|event| has_outcome(&event.body)).count() as u64;
        if over {
            let file = &mut self.files[no.0 as usize];
            file.floor_events = counting.events;
            file.kept.older_counted = true;
            file.placed = false;
            self.tell(Input::Counted(no, counting.events));
        } else {
            self.counting = Some(counting);
        }
        true
    }
}
