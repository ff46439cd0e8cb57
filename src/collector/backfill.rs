//! Older work: what was written before the first start, how much it is, and which of it is to be read.
//!
//! Planning reads every older part once, through the same reader and gates as recording does, and asks nobody. What it
//! finds are turns; those wanted are chosen newest first. Reading them is the collector's ordinary work, with its
//! cursors beside those of what is written now, so it can be broken off at any moment and goes on there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::Path;

use super::gather::chars;
use super::input::has_outcome;
use super::intake::Chosen;
use crate::config::repository::{Resolver, marker_present};
use crate::config::{Dirs, Env, Settings};
use crate::gate::{Gates, Verdict};
use crate::memory::{EventKey, ProjectRef, SessionId, Timestamp};
use crate::store::api::CursorRow;
use crate::store::{Store, StoreError};
use crate::transcript::event::Event;
use crate::transcript::locate::{self, AgentMeta, FileKind, HEAD_BYTES, Head};
use crate::transcript::reader::{FileRole, Reader};
use crate::transcript::tail::{self, FileId, Tail};

/// Which older work is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// From this time on.
    pub since: Option<Timestamp>,
    /// Up to this time, exclusive.
    pub until: Option<Timestamp>,
    /// Only this project: its name, or the path of its root.
    pub project: Option<String>,
    /// At most so many events, newest first.
    pub limit: Option<u64>,
}

/// One turn of older work with events that have no outcome yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// File (identity).
    pub file: String,
    /// Number in its file.
    pub turn: u32,
    /// Session.
    pub session: SessionId,
    /// Project, where the lines name one.
    pub project: Option<ProjectRef>,
    /// Time of its last event.
    pub at: Option<Timestamp>,
    /// Events without an outcome, in file order, and their length.
    pub events: Vec<(EventKey, usize)>,
    /// Not all of them are wanted: those in `events` alone.
    pub part: bool,
}

/// What there is to be read, and how much of it is wanted.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The wanted turns, newest first.
    pub turns: Vec<Turn>,
    /// Turns that have nothing left to be decided, as file and number.
    pub settled: Vec<(String, u32)>,
    /// Events in all of the older work without an outcome, wanted or not.
    pub left: u64,
    /// Files that could not be read, and why.
    pub unread: Vec<(String, String)>,
}

impl Plan {
    /// Wanted events.
    pub fn events(&self) -> u64 {
        self.turns.iter().map(|turn| turn.events.len() as u64).sum()
    }

    /// Their characters.
    pub fn chars(&self) -> u64 {
        self.turns.iter().flat_map(|turn| &turn.events).map(|(_, chars)| *chars as u64).sum()
    }

    /// Sessions they lie in.
    pub fn sessions(&self) -> usize {
        self.turns.iter().map(|turn| &turn.session).collect::<HashSet<_>>().len()
    }

    /// First and last time.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let times = || self.turns.iter().filter_map(|turn| turn.at);
        Some((times().min()?, times().max()?))
    }

    /// The choice, as the collector takes it.
    pub fn chosen(&self) -> Chosen {
        let mut chosen = Chosen::default();
        for turn in &self.turns {
            if !chosen.order.contains(&turn.file) {
                chosen.order.push(turn.file.clone());
            }
            let keys = || turn.events.iter().map(|(key, _)| key.clone()).collect::<BTreeSet<EventKey>>();
            chosen.turns.entry(turn.file.clone()).or_default().insert(turn.turn, turn.part.then(keys));
        }
        // Read along, so that they do not count as left: the ledger knows their outcomes.
        for (file, turn) in &self.settled {
            if !chosen.order.contains(file) {
                chosen.order.push(file.clone());
            }
            chosen.turns.entry(file.clone()).or_default().entry(*turn).or_default();
        }
        chosen
    }
}

/// Looks through all older work. `progress` is told the bytes read so far and those there are.
pub fn plan(
    store: &Store,
    dirs: &Dirs,
    env: &Env,
    settings: &Settings,
    wanted: &Wanted,
    mut progress: impl FnMut(u64, u64),
) -> Result<Plan, StoreError> {
    let rows = store.cursors()?;
    let done: HashMap<&str, &CursorRow> =
        rows.iter().filter_map(|row| Some((row.file_id.strip_suffix("#backlog")?, row))).collect();
    let open: Vec<&CursorRow> = rows
        .iter()
        .filter(|row| row.backlog_end > 0 && !row.gone && !row.file_id.ends_with("#backlog"))
        .filter(|row| !done.get(row.file_id.as_str()).is_some_and(|done| is_done(done, row.backlog_end)))
        .collect();
    let all: u64 = open.iter().map(|row| row.backlog_end).sum();
    let mut looker = Looker {
        gates: Gates::new(settings, dirs),
        resolver: Resolver::new(env),
        marker: settings.record.marker.clone(),
        seen: HashSet::new(),
    };
    for project in store.projects()? {
        if project.excluded {
            looker.gates.exclude_root(&project.root);
        }
    }
    let (mut plan, mut turns, mut read) = (Plan::default(), Vec::new(), 0);
    // Sessions before their helpers: a private turn hides its helpers' work.
    let mut open = open;
    open.sort_by_key(|row| (locate::classify(Path::new(&row.path)).is_agent(), row.path.clone()));
    for row in open {
        match looker.file(row, store) {
            Ok(found) => turns.extend(found?),
            Err(error) => plan.unread.push((row.path.clone(), error.to_string())),
        }
        read += row.backlog_end;
        progress(read, all);
    }
    plan.left = turns.iter().map(|turn| turn.events.len() as u64).sum();
    plan.settled =
        turns.iter().filter(|turn| turn.events.is_empty()).map(|turn| (turn.file.clone(), turn.turn)).collect();
    plan.turns = choose(turns, wanted, &mut looker.resolver);
    Ok(plan)
}

/// Whether the row of an older part says that nothing of it is left.
pub fn is_done(row: &CursorRow, backlog_end: u64) -> bool {
    row.backlog_end == backlog_end && row.backlog_events == 0 && !row.state.is_empty()
}

/// The wanted turns, newest first.
fn choose(mut turns: Vec<Turn>, wanted: &Wanted, resolver: &mut Resolver) -> Vec<Turn> {
    turns.retain(|turn| !turn.events.is_empty());
    let path =
        wanted.project.as_deref().filter(|text| text.contains(['/', '\\'])).map(|text| resolver.resolve(text).root);
    turns.retain(|turn| {
        let in_time = wanted.since.is_none_or(|since| turn.at.is_some_and(|at| at >= since))
            && wanted.until.is_none_or(|until| turn.at.is_some_and(|at| at < until));
        let in_project = wanted.project.as_deref().is_none_or(|wanted| {
            turn.project.as_ref().is_some_and(|project| {
                project.name == wanted || project.root == wanted || path.as_deref() == Some(project.root.as_str())
            })
        });
        in_time && in_project
    });
    turns.sort_by(|one, other| (other.at, &one.file, other.turn).cmp(&(one.at, &other.file, one.turn)));
    let Some(limit) = wanted.limit else { return turns };
    let mut room = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut chosen = Vec::new();
    for mut turn in turns {
        if room == 0 {
            break;
        }
        if turn.events.len() > room {
            // Of the last turn that fits only in part, its newest events.
            turn.events.drain(..turn.events.len() - room);
            turn.part = true;
        }
        room -= turn.events.len();
        chosen.push(turn);
    }
    chosen
}

/// Reads older parts.
struct Looker {
    gates: Gates,
    resolver: Resolver,
    marker: String,
    /// Events met already: copies count once.
    seen: HashSet<EventKey>,
}

impl Looker {
    fn file(&mut self, row: &CursorRow, store: &Store) -> io::Result<Result<Vec<Turn>, StoreError>> {
        let path = Path::new(&row.path);
        let kind = locate::classify(path);
        let head = Head::of(&tail::head(path, HEAD_BYTES)?);
        let agent = match &kind {
            FileKind::Agent(_, agent) | FileKind::FlatAgent(agent) => Some(agent.clone()),
            _ => None,
        };
        if agent.is_some() && head.warmup {
            return Ok(Ok(Vec::new()));
        }
        let session = SessionId::from(row.session.as_str());
        let parent_call = agent.as_ref().and_then(|_| AgentMeta::beside(path).tool_use_id).map(EventKey);
        let mut reader = Reader::new(FileRole { session: session.clone(), agent, parent_call });
        let mut tail = Tail::new(path.to_owned(), FileId(row.file_id.clone()));
        let mut turns: BTreeMap<u32, Turn> = BTreeMap::new();
        let (mut buffer, mut events, mut project) = (Vec::new(), Vec::new(), None);
        loop {
            buffer.clear();
            let room = row.backlog_end.saturating_sub(tail.offset).min(256 * 1024) as usize;
            let count = if room == 0 { 0 } else { tail.read(&mut buffer, room)? };
            reader.feed(&buffer, &mut events);
            if count == 0 {
                reader.close(&mut events);
            }
            if let Err(error) = self.sort_in(&mut events, row, &mut project, &mut turns, store) {
                return Ok(Err(error));
            }
            if count == 0 {
                return Ok(Ok(turns.into_values().collect()));
            }
        }
    }

    /// Events into the turns they belong to, but for those that have an outcome or would be refused.
    fn sort_in(
        &mut self,
        events: &mut Vec<Event>,
        row: &CursorRow,
        project: &mut Option<ProjectRef>,
        turns: &mut BTreeMap<u32, Turn>,
        store: &Store,
    ) -> Result<(), StoreError> {
        let keys: Vec<EventKey> =
            events.iter().flat_map(|event| std::iter::once(&event.key).chain(&event.alias)).cloned().collect();
        let known = store.decided(&keys)?;
        for event in events.drain(..) {
            let decided = |key: &EventKey| known.contains(key);
            let elsewhere = decided(&event.key) || event.alias.as_ref().is_some_and(decided);
            *project = self.resolver.follow(project.as_ref(), event.cwd.as_deref());
            if self.gates.needs_marker(project.as_ref())
                && let Some(project) = project.as_ref()
            {
                let present = marker_present(project, event.cwd.as_deref(), &self.marker);
                self.gates.set_marker(&project.root, present);
            }
            let counts = has_outcome(&event.body);
            let (number, session) = (event.turn, event.session.clone());
            let turn = turns.entry(number).or_insert_with(|| Turn {
                file: row.file_id.clone(),
                turn: number,
                session,
                project: project.clone(),
                at: None,
                events: Vec::new(),
                part: false,
            });
            let Verdict::Pass(event) = self.gates.judge(event, project.as_ref()) else { continue };
            if !counts || elsewhere || !self.seen.insert(event.key.clone()) {
                continue;
            }
            turn.at = turn.at.max(event.time);
            turn.events.push((event.key.clone(), chars(&event)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(file: &str, number: u32, second: i64, events: usize, project: &str) -> Turn {
        Turn {
            file: file.into(),
            turn: number,
            session: "s".into(),
            project: Some(ProjectRef { root: format!("/w/{project}"), name: project.into(), worktree: None }),
            at: Some(Timestamp::from_second(second).unwrap()),
            events: (0..events).map(|n| (EventKey(format!("{file}-{number}-{n}")), 10)).collect(),
            part: false,
        }
    }

    fn chosen(wanted: Wanted) -> Vec<(String, u32, usize)> {
        let turns = vec![turn("a", 1, 10, 4, "alpha"), turn("a", 2, 20, 4, "alpha"), turn("b", 1, 15, 4, "beta")];
        let mut resolver = Resolver::new(&Env::default());
        choose(turns, &wanted, &mut resolver).into_iter().map(|it| (it.file, it.turn, it.events.len())).collect()
    }

    #[test]
    fn a038_the_newest_events_up_to_the_limit() {
        let limit = |n| Wanted { limit: Some(n), ..Wanted::default() };
        assert_eq!(chosen(Wanted::default()), [("a".into(), 2, 4), ("b".into(), 1, 4), ("a".into(), 1, 4)]);
        assert_eq!(chosen(limit(6)), [("a".into(), 2, 4), ("b".into(), 1, 2)]);
        assert_eq!(chosen(limit(3)), [("a".into(), 2, 3)]);
        assert!(chosen(limit(0)).is_empty());
    }

    #[test]
    fn by_time_and_project() {
        let at = |second| Some(Timestamp::from_second(second).unwrap());
        assert_eq!(chosen(Wanted { since: at(15), until: at(20), ..Wanted::default() }), [("b".into(), 1, 4)]);
        for name in ["beta", "/w/beta"] {
            assert_eq!(chosen(Wanted { project: Some(name.into()), ..Wanted::default() }), [("b".into(), 1, 4)]);
        }
    }
}
