//! Health for anyone who asks, from the lock file, the database and the transcripts: works whether a collector runs
//! or not, and never takes the lock or writes.
#![allow(clippy::disallowed_methods)] // This file looks at the sizes of transcripts.

use std::collections::HashMap;

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::health::{Calls, Evidence, Health, Limits, Lines, Paused, ProjectSpend, SILENT, Snapshot};
use super::lock;
use crate::config::{Dirs, Settings};
use crate::memory::Timestamp;
use crate::store::{Access, Store, StoreError};
use crate::transcript::locate::{self, roots};
use crate::transcript::tail;

/// Sessions that were written this recently count as active, where nothing else is known.
const ACTIVE: SignedDuration = SignedDuration::from_secs(600);

/// Health and what it was told from.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The answer of `status`.
    pub health: Health,
    /// The collector's own account, of the one that runs or the last one that ran.
    pub snapshot: Option<Snapshot>,
    /// A living process holds the lock.
    pub alive: bool,
    /// Why the database could not be read, if so.
    pub store_error: Option<String>,
}

/// How it stands.
pub fn report(dirs: &Dirs, settings: &Settings, now: Timestamp, zone: &TimeZone) -> Report {
    let lock_file = dirs.lock_file();
    let snapshot = Snapshot::parse(&lock::read(&lock_file));
    let alive = lock::is_held(&lock_file);
    let (store, store_error) = match Store::open(&dirs.database(), Access::ReadOnly, now) {
        Ok(store) => (Some(store), None),
        // Before the first start there is none: that is no fault.
        Err(StoreError::Missing(_)) => (None, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut health = store.as_ref().and_then(|store| counted(store, settings, now, zone).ok()).unwrap_or_default();
    let user_pause = store.as_ref().and_then(|store| store.pauses().ok()).and_then(|pauses| {
        pauses.into_iter().find(|pause| pause.session.is_none() && pause.since <= now && pause.until.is_none())
    });
    let silent =
        !alive || snapshot.as_ref().and_then(|it| it.beat_at).is_some_and(|at| now.duration_since(at) > SILENT);
    let unread = silent && is_unread(dirs, settings, store.as_ref(), snapshot.as_ref(), now);
    let evidence = Evidence {
        snapshot: snapshot.as_ref(),
        alive,
        user_paused: user_pause.is_some(),
        read_only: store_error.is_some(),
        unread,
    };
    health.state = evidence.state(now);
    fill(&mut health, snapshot.as_ref(), alive, settings);
    if let Some(pause) = user_pause {
        health.paused = Some(Paused {
            reason: "user".into(),
            since: pause.since,
            until: None,
            next_try: None,
            detail: String::new(),
        });
    }
    Report { health, snapshot, alive, store_error }
}

/// What the running (or last) collector tells of itself.
fn fill(health: &mut Health, snapshot: Option<&Snapshot>, alive: bool, settings: &Settings) {
    health.budget = Limits {
        tokens: settings.budget.daily_tokens,
        cost: settings.budget.daily_cost,
        calls: settings.budget.daily_calls,
    };
    health.watch = "notify".into();
    health.provider = settings.observer.provider.clone();
    health.model = settings.observer.model.clone();
    let Some(snapshot) = snapshot else { return };
    health.last_line_at = snapshot.last_line_at;
    health.last_memory_at = snapshot.last_memory_at;
    health.errors = snapshot.errors.clone();
    if !snapshot.watch.is_empty() {
        health.watch = snapshot.watch.clone();
    }
    if !snapshot.provider.is_empty() {
        health.provider = snapshot.provider.clone();
        health.model = snapshot.model.clone();
    }
    if alive {
        health.waiting = snapshot.waiting;
        health.oldest_waiting_at = snapshot.oldest_waiting_at;
        health.paused = snapshot.paused.clone();
    }
}

/// Figures from the database.
fn counted(store: &Store, settings: &Settings, now: Timestamp, zone: &TimeZone) -> Result<Health, StoreError> {
    let _ = settings;
    let mut health = Health::default();
    let number = |n: i64| u64::try_from(n).unwrap_or(0);
    let lines: HashMap<String, i64> = store.counters("lines.", None)?.into_iter().collect();
    let line = |name: &str| number(lines.get(name).copied().unwrap_or(0));
    health.lines = Lines {
        read: line("lines.read"),
        malformed: line("lines.malformed"),
        repaired: line("lines.repaired"),
        skipped: line("lines.skipped"),
    };
    for (name, n) in store.counters("unknown.", None)? {
        health.unknown_types.insert(name["unknown.".len()..].to_owned(), number(n));
    }
    for (name, n) in store.counters("gate.", None)? {
        if let Some((gate, reason)) = name["gate.".len()..].split_once('.') {
            *health.gates.entry(gate.to_owned()).or_default().entry(reason.to_owned()).or_default() += number(n);
        }
    }
    let backlog: HashMap<String, u64> = backlog_of(store)?;
    health.backlog = backlog.values().sum();
    let day = now.to_zoned_datetime(zone.clone()).start_of_day().map_or(now, |day| day.timestamp());
    for spend in store.spend(day, Timestamp::MAX)? {
        health.tokens_today += spend.input_tokens + spend.cached_tokens + spend.output_tokens;
        health.cost_today += spend.cost;
        health.calls.add(&spend.outcome, spend.calls);
        let known = health.spend.iter_mut().position(|it| it.project == spend.project_root);
        let at = known.unwrap_or_else(|| {
            health.spend.push(ProjectSpend { project: spend.project_root.clone(), ..ProjectSpend::default() });
            health.spend.len() - 1
        });
        let row = &mut health.spend[at];
        row.calls += spend.calls;
        row.input_tokens += spend.input_tokens;
        row.cached_tokens += spend.cached_tokens;
        row.output_tokens += spend.output_tokens;
        row.cost += spend.cost;
    }
    let size = |it: &ProjectSpend| it.input_tokens + it.output_tokens;
    health.spend.sort_by(|one, other| other.cost.total_cmp(&one.cost).then(size(other).cmp(&size(one))));
    for count in store.type_counts(&crate::store::Filter {
        kinds: vec![crate::memory::Kind::Observation, crate::memory::Kind::Summary, crate::memory::Kind::Prompt],
        with_excluded_projects: true,
        ..Default::default()
    })? {
        health.memories += count.n;
    }
    health.sessions = store.session_count()?;
    health.projects = store.projects()?.iter().filter(|project| project.alias_of.is_none()).count() as u64;
    Ok(health)
}

/// Events of each file that are older than the first start and not read yet.
pub fn backlog_of(store: &Store) -> Result<HashMap<String, u64>, StoreError> {
    let rows = store.cursors()?;
    let live = rows.iter().filter(|row| row.backlog_end > 0 && !row.gone && !row.file_id.ends_with("#backlog"));
    let mut left: HashMap<String, u64> = live.clone().map(|row| (row.file_id.clone(), row.backlog_events)).collect();
    let ends: HashMap<&str, u64> = live.map(|row| (row.file_id.as_str(), row.backlog_end)).collect();
    for row in &rows {
        // How far the older part was read since; a row of the file as it was before a rewrite says nothing.
        if let Some(id) = row.file_id.strip_suffix("#backlog")
            && ends.get(id) == Some(&row.backlog_end)
            && let Some(events) = left.get_mut(id)
        {
            *events = (*events).min(row.backlog_events);
        }
    }
    Ok(left)
}

impl Calls {
    fn add(&mut self, outcome: &str, n: u64) {
        self.total += n;
        *match outcome {
            "stored" => &mut self.stored,
            "skipped" => &mut self.skipped,
            "retried" => &mut self.retried,
            "paused" => &mut self.paused,
            _ => &mut self.quarantined,
        } += n;
    }
}

/// Whether transcripts have grown since the last collector ended, or are being written where none ever ran.
fn is_unread(
    dirs: &Dirs,
    settings: &Settings,
    store: Option<&Store>,
    snapshot: Option<&Snapshot>,
    now: Timestamp,
) -> bool {
    let cursors: HashMap<String, u64> = store
        .and_then(|store| store.cursors().ok())
        .unwrap_or_default()
        .into_iter()
        .map(|row| (row.file_id, row.offset))
        .collect();
    let since = snapshot.and_then(|snapshot| snapshot.beat_at).unwrap_or(now - ACTIVE);
    let skip = locate::slug(&dirs.observer().to_string_lossy());
    roots(&dirs.claude, &settings.record.roots, dirs.home.as_deref()).iter().any(|root| {
        let (found, _) = locate::walk(&root.projects(), Some(&skip));
        found.iter().any(|file| {
            tail::stat(&file.path).is_ok_and(|stat| {
                stat.modified > since && cursors.get(stat.id.as_str()).is_none_or(|offset| stat.size > *offset)
            })
        })
    })
}
