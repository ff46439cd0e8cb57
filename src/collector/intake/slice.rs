//! Reading: the next bytes of one file become a delivery.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::super::gather::chars;
use super::super::input::{Delivery, FileNo, Input, Lane, Place, Refused, Step, has_outcome};
use super::Intake;
use super::tracked::{Parked, Tracked, placeholder};
use crate::config::monotonic;
use crate::config::repository::marker_present;
use crate::gate::Verdict;
use crate::memory::EventKey;
use crate::transcript::counts::Counts;
use crate::transcript::event::{Body, Event};
use crate::transcript::locate::AgentMeta;
use crate::transcript::reader::{FileRole, Reader, SafePoint};
use crate::transcript::tail::{self, Look, Tail};

/// Bytes read at a time: small enough to stay in the processor's cache, large enough that opening the file anew for
/// each slice costs nothing.
pub(super) const SLICE: usize = 256 * 1024;

/// An older part larger than this is not read to find out how far the session had come; what follows it is read as if
/// it began there.
const WARM_UP: u64 = 512 << 20;

/// How reading a slice went.
enum Sliced {
    /// There is more.
    More,
    /// The end, for now.
    End,
    /// Nothing to be read: the file went, or cannot be told yet.
    Rest,
}

impl Intake {
    /// [`Intake::slice`], so that a fault in reading one file stops the reading of that file and no other.
    pub(super) fn guarded_slice(&mut self, no: FileNo) {
        let path = self.files[no.0 as usize].tail.path.clone();
        if catch_unwind(AssertUnwindSafe(|| self.slice(no))).is_err() {
            let mut file = placeholder();
            file.ignored = true;
            file.tail.path.clone_from(&path);
            self.files[no.0 as usize] = file;
            self.unqueue(no);
            self.active.remove(&no);
            self.trouble(path, Some("reading it broke off; this is a fault in cmem".into()));
        }
    }

    /// Reads one slice and delivers it.
    pub(super) fn slice(&mut self, no: FileNo) {
        let mut file = std::mem::replace(&mut self.files[no.0 as usize], placeholder());
        let sliced = self.slice_of(no, &mut file);
        let path = file.tail.path.clone();
        self.files[no.0 as usize] = file;
        match sliced {
            Ok(Sliced::More) => {
                // Files that are being written take turns.
                if self.live.front() == Some(&no) {
                    self.live.rotate_left(1);
                }
            }
            Ok(Sliced::End) => {
                self.unqueue(no);
                self.at_end(no);
            }
            Ok(Sliced::Rest) => self.unqueue(no),
            Err(error) => {
                self.unqueue(no);
                self.trouble(path, Some(error.to_string()));
            }
        }
    }

    fn slice_of(&mut self, no: FileNo, file: &mut Tracked) -> io::Result<Sliced> {
        let size = match file.tail.look()? {
            Look::Grown(size) => size,
            Look::Rewritten => {
                self.begin_again(file);
                match file.tail.look()? {
                    Look::Grown(size) => size,
                    _ => return Ok(Sliced::Rest),
                }
            }
            Look::Same if file.stale && file.tail.offset > 0 => {
                file.announced = true;
                file.stale = false;
                let news = Some(file.news(file.known_place()));
                self.deliver(no, file, Delivery { news, at_end: true, ..self.empty(no, file.epoch) });
                return Ok(Sliced::Rest);
            }
            Look::Same if file.reader.is_some() => return Ok(Sliced::End),
            Look::Same => return Ok(Sliced::Rest),
            Look::Replaced(_) | Look::Vanished => {
                self.missing.push((file.tail.path.clone(), monotonic()));
                return Ok(Sliced::Rest);
            }
        };
        if !file.headed {
            self.read_head(file)?;
        }
        if file.ignored || file.session.is_none() {
            return Ok(Sliced::Rest);
        }
        if file.reader.is_none() {
            self.open_reader(file)?;
            self.active.insert(no);
        }
        let end = file.limit.unwrap_or(u64::MAX).min(size);
        let room = end.saturating_sub(file.tail.offset).min(SLICE as u64);
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let count = file.tail.read(&mut buffer, room as usize);
        let mut events = Vec::new();
        if let (Ok(_), Some(reader)) = (&count, file.reader.as_mut()) {
            reader.feed(&buffer, &mut events);
        }
        self.buffer = buffer;
        let count = count?;
        let at_end = count == 0 || file.tail.offset >= end;
        self.hand_over(no, file, events, count as u64, at_end, false);
        file.quieted = false;
        file.settled = false;
        Ok(if at_end { Sliced::End } else { Sliced::More })
    }

    /// The file is not the one that was read, or is to be read once more: from its first byte, in a new generation.
    pub(super) fn begin_again(&mut self, file: &mut Tracked) {
        file.tail.restart();
        file.reader = None;
        file.safe = SafePoint::default();
        file.kept.reader.clear();
        file.epoch += 1;
        file.announced = false;
        file.headed = false;
        file.before = None;
        file.placed = false;
        if file.floor > 0 {
            // The bytes that lay before the first start are somewhere in it, or gone; the times still tell them.
            file.floor_time = self.scope.first_start;
            file.floor = 0;
            file.floor_events = 0;
        }
    }

    fn open_reader(&mut self, file: &mut Tracked) -> io::Result<()> {
        if file.agent.is_some() && file.kept.parent_call.is_none() {
            let call = AgentMeta::beside(&file.tail.path).tool_use_id.map(EventKey);
            let known = file.session.clone().zip(file.agent.clone()).and_then(|pair| self.ties.get(&pair).cloned());
            file.kept.parent_call = call.or(known);
            let waits = !self.scope.once && file.lane == Lane::Live && file.tail.offset == 0;
            if file.kept.parent_call.is_none() && waits && file.parked.is_none() {
                file.parked = Some(Parked { until: monotonic() + self.pace.tie, deliveries: Vec::new() });
            }
        }
        if file.floor_time.is_none() && self.scope.first_start.is_some() && file.tail.offset == 0 && file.floor == 0 {
            // A fork of a session from before the first start brings that history along.
            let lineage = file.kept.lineage.as_deref();
            let copied = |other: &Tracked| other.floor > 0 && other.kept.lineage.as_deref() == lineage;
            if file.lane == Lane::Live && lineage.is_some() && self.files.iter().any(copied) {
                file.floor_time = self.scope.first_start;
            }
        }
        let role = FileRole {
            session: file.session.clone().unwrap_or_else(|| "".into()),
            agent: file.agent.clone(),
            parent_call: file.kept.parent_call.clone(),
        };
        let never = file.safe.state.is_empty() && file.floor > 0;
        let from = if never && file.floor <= WARM_UP { 0 } else { file.safe.offset };
        if from != file.tail.offset {
            let print = tail::fingerprint(&file.tail.path, from)?.unwrap_or_default();
            let (path, id) = (file.tail.path.clone(), file.tail.id.clone());
            file.tail = Tail::at(path, id, file.tail.generation, from, print);
        }
        let reader = if from == 0 { Reader::new(role) } else { Reader::resume(role, &file.safe) };
        file.reader = Some(Box::new(reader));
        Ok(())
    }

    /// Turns events into steps and sends them.
    fn hand_over(
        &mut self,
        no: FileNo,
        file: &mut Tracked,
        events: Vec<Event>,
        bytes: u64,
        at_end: bool,
        settle: bool,
    ) {
        let mut steps = Vec::with_capacity(events.len());
        let mut weight = 0;
        for event in events {
            self.step(file, event, &mut steps, &mut weight);
        }
        if settle {
            steps.push(Step::Settle);
        }
        let counts = file.reader.as_mut().map(|reader| reader.take_counts()).unwrap_or_default();
        // Before the place moves on: a file is made known where its reading began.
        let news = (!file.announced).then(|| file.news(file.known_place()));
        file.announced = true;
        file.stale = false;
        // What lies before the floor is only read to know how far the session has come.
        let warming = file.lane == Lane::Live && file.tail.offset <= file.floor && file.floor > 0;
        let counters = if warming { Vec::new() } else { counters(&counts) };
        let place = if warming { None } else { self.place(file) };
        let delivery = Delivery { news, steps, place, counters, bytes, weight, at_end, ..self.empty(no, file.epoch) };
        if delivery.news.is_some()
            || delivery.place.is_some()
            || !delivery.steps.is_empty()
            || !delivery.counters.is_empty()
        {
            self.deliver(no, file, delivery);
        }
    }

    fn step(&mut self, file: &mut Tracked, event: Event, steps: &mut Vec<Step>, weight: &mut usize) {
        let current = file.kept.project.as_deref();
        let project = self.resolver.follow(current, event.cwd.as_deref());
        if project.as_ref() != current {
            file.kept.project = project.map(Arc::new);
        }
        if let Body::Tool(call) = &event.body
            && let (Some(agent), Some(session)) = (&call.facts.agent, &file.session)
        {
            let pair = (session.clone(), agent.as_str().into());
            if let Some(child) = self.child(&pair) {
                self.tie(child, Some(event.key.clone()));
            }
            self.ties.insert(pair, event.key.clone());
        }
        let older = event.end_offset <= file.floor && file.lane == Lane::Live && file.floor > 0
            || file.floor_time.is_some_and(|first| event.time.is_some_and(|time| time < first));
        if older {
            if let Body::Prompt(_) = event.body {
                file.before = Some(Box::new(event));
            }
            return;
        }
        if let Some(before) = file.before.take()
            && before.turn == event.turn
            && let Verdict::Pass(before) = self.gates.judge(*before, file.kept.project.as_deref())
        {
            *weight += chars(&before);
            steps.push(Step::Older(Box::new(before)));
        }
        if file.lane == Lane::Older && !self.is_chosen(file, &event) {
            if has_outcome(&event.body) {
                file.left += 1;
                steps.push(Step::Left);
            }
            return;
        }
        if self.gates.needs_marker(file.kept.project.as_deref())
            && let Some(project) = file.kept.project.as_deref()
        {
            let present = marker_present(project, event.cwd.as_deref(), &self.marker);
            self.gates.set_marker(&project.root, present);
        }
        let (key, alias, kind, time) = (event.key.clone(), event.alias.clone(), event.body.kind(), event.time);
        let (session, counts) = (event.session.clone(), has_outcome(&event.body));
        file.given += u64::from(counts && file.lane == Lane::Older);
        match self.gates.judge(event, file.kept.project.as_deref()) {
            Verdict::Pass(event) => {
                *weight += chars(&event);
                steps.push(Step::Event(Box::new(event), file.kept.project.clone()));
            }
            Verdict::Drop { gate, reason } if counts => {
                *weight += 128;
                let refused = Refused { key, alias, session, kind, time, gate, reason: reason.to_string() };
                steps.push(Step::Refused(Box::new(refused)));
            }
            Verdict::Drop { .. } => {}
        }
    }

    fn is_chosen(&self, file: &Tracked, event: &Event) -> bool {
        let Some(chosen) = &self.scope.older else { return true };
        let turn = chosen.turns.get(file.tail.id.as_str()).and_then(|turns| turns.get(&event.turn));
        // Marks of a chosen turn always count, so that it ends.
        turn.is_some_and(|events| {
            !has_outcome(&event.body) || events.as_ref().is_none_or(|events| events.contains(&event.key))
        })
    }

    /// The reader's safe place, if it is another than the last one told.
    fn place(&mut self, file: &mut Tracked) -> Option<Place> {
        let safe = file.reader.as_mut()?.safe_point();
        if safe == file.safe && file.placed {
            return None;
        }
        let fingerprint = if safe.offset == file.tail.offset {
            file.tail.fingerprint().to_owned()
        } else {
            // Gone or shorter in this very moment: the next look sees it, and this place is not told.
            tail::fingerprint(&file.tail.path, safe.offset).ok()??
        };
        file.placed = true;
        file.kept.reader.clone_from(&safe.state);
        file.kept.privacy =
            file.session.as_ref().and_then(|session| self.gates.privacy(session)).cloned().map(Box::new);
        let state = serde_json::to_string(&file.kept).unwrap_or_default();
        file.kept.reader.clear();
        let place = Place { offset: safe.offset, fingerprint, state };
        file.safe = safe;
        Some(place)
    }

    fn deliver(&mut self, no: FileNo, file: &mut Tracked, delivery: Delivery) {
        debug_assert_eq!(delivery.file, no);
        self.held.add(delivery.weight);
        match file.parked.as_mut() {
            Some(parked) => parked.deliveries.push(delivery),
            None => self.tell(Input::Read(Box::new(delivery))),
        }
    }

    fn child(&self, pair: &(crate::memory::SessionId, crate::memory::AgentId)) -> Option<FileNo> {
        self.active.iter().copied().find(|no| {
            let file = &self.files[no.0 as usize];
            file.parked.is_some() && file.session.as_ref() == Some(&pair.0) && file.agent.as_ref() == Some(&pair.1)
        })
    }

    /// A helper agent's call is known, or will not be waited for any longer: its events go on.
    pub(super) fn tie(&mut self, no: FileNo, call: Option<EventKey>) {
        let file = &mut self.files[no.0 as usize];
        let Some(parked) = file.parked.take() else { return };
        file.kept.parent_call.clone_from(&call);
        for mut delivery in parked.deliveries {
            if let Some(call) = &call {
                for step in &mut delivery.steps {
                    if let Step::Event(event, _) = step {
                        event.parent_call.get_or_insert_with(|| call.clone());
                    }
                }
            }
            self.tell(Input::Read(Box::new(delivery)));
        }
    }

    /// The end of a file was reached.
    fn at_end(&mut self, no: FileNo) {
        let now = self.clock.now();
        let file = &mut self.files[no.0 as usize];
        file.grown_at = monotonic();
        let settle = jiff::SignedDuration::try_from(self.pace.settle).unwrap_or(jiff::SignedDuration::MAX);
        let old = now.duration_since(file.modified) > settle
            && tail::stat(&file.tail.path).is_ok_and(|stat| now.duration_since(stat.modified) > settle);
        if self.scope.once || file.lane == Lane::Older || old {
            self.settle(no);
        }
    }

    /// A file did not grow for a while.
    pub(super) fn quiet_or_settle(&mut self, no: FileNo, now: Instant) {
        let file = &self.files[no.0 as usize];
        if file.parked.as_ref().is_some_and(|parked| parked.until <= now) {
            self.tie(no, None);
        }
        let file = &self.files[no.0 as usize];
        if file.queued {
            return;
        }
        if !file.settled && file.grown_at + self.pace.settle <= now {
            self.settle(no);
        } else if !file.quieted && file.deadline(&self.pace).is_some_and(|at| at <= now) {
            self.quiet(no, false);
        }
    }

    /// Nothing more is expected of a file: what is open in it is settled, and its reader goes.
    pub(super) fn settle(&mut self, no: FileNo) {
        if self.files[no.0 as usize].reader.is_some() {
            self.tie(no, None);
            self.quiet(no, true);
        }
        let lane = self.files[no.0 as usize].lane;
        let file = &mut self.files[no.0 as usize];
        file.reader = None;
        file.settled = true;
        self.active.remove(&no);
        if lane == Lane::Older {
            self.older_read(no);
        }
    }

    fn quiet(&mut self, no: FileNo, settle: bool) {
        let mut file = std::mem::replace(&mut self.files[no.0 as usize], placeholder());
        let mut events = Vec::new();
        match file.reader.as_mut() {
            // Nothing more is expected: what is open comes out as it is.
            Some(reader) if settle => reader.close(&mut events),
            Some(reader) if !file.quieted => reader.quiet(&mut events),
            _ => {}
        }
        file.quieted = true;
        self.hand_over(no, &mut file, events, 0, true, settle);
        self.files[no.0 as usize] = file;
    }

    /// A delivery with nothing in it.
    pub(super) fn empty(&self, no: FileNo, epoch: u32) -> Delivery {
        Delivery {
            file: no,
            epoch,
            news: None,
            steps: Vec::new(),
            place: None,
            counters: Vec::new(),
            bytes: 0,
            weight: 0,
            read_at: self.clock.now(),
            at_end: false,
        }
    }
}

/// What a reader counted, by the names `status` knows.
fn counters(counts: &Counts) -> Vec<(String, i64)> {
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let mut out: Vec<(String, i64)> = [
        ("lines.read", counts.lines),
        ("lines.malformed", counts.malformed),
        ("lines.repaired", counts.repaired),
        ("lines.skipped", counts.skipped),
    ]
    .into_iter()
    .filter(|(_, n)| *n > 0)
    .map(|(name, n)| (name.to_owned(), number(n)))
    .collect();
    let mut unheard: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for ((kind, version), n) in &counts.unknown_versions {
        *unheard.entry(kind).or_default() += n;
        out.push((format!("unknown_version.{kind}.{version}"), number(*n)));
    }
    out.extend(unheard.into_iter().map(|(kind, n)| (format!("unknown.{kind}"), number(n))));
    out
}
