//! A collector inside the test, with hands on its seams: file events sent by hand, a quick pace, a scripted clock;
//! and transcripts written in a few letters (the notation of the field reports).
#![allow(clippy::disallowed_methods, reason = "tests write transcripts")]
#![allow(dead_code, reason = "not every helper is used by every subject")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cmem::collector::bus::Change;
use cmem::collector::intake::{Pace, Scope};
use cmem::collector::run::{Collector, Ended, Options, StartError};
use cmem::collector::write::Waits;
use cmem::config::{Dirs, Env, Settings, SystemClock};
use cmem::memory::{Kind, Memory};
use cmem::store::{Access, Filter, Order, Store, StoreError};
use cmem::transcript::watch::HandSource;
use serde_json::{Value, json};

/// A session id that has the form of one.
pub fn session(n: u32) -> String {
    format!("{n:08x}-0000-4000-8000-000000000001")
}

/// Lines of one transcript, each a second after the one before.
#[derive(Clone)]
pub struct Lines {
    session: String,
    cwd: String,
    next: u64,
    prefix: String,
    parent: Option<String>,
    day: String,
    extra: Value,
    out: Vec<String>,
}

impl Lines {
    /// Of this session. `prefix` keeps uuids of different files apart; copies share it.
    pub fn of(session: &str, prefix: &str) -> Self {
        Self {
            session: session.to_owned(),
            cwd: "/w/alpha".to_owned(),
            next: 0,
            prefix: prefix.to_owned(),
            parent: None,
            day: "2026-03-01T10".to_owned(),
            extra: json!({}),
            out: Vec::new(),
        }
    }

    /// In another directory.
    pub fn cwd(mut self, cwd: &str) -> Self {
        self.cwd = cwd.to_owned();
        self
    }

    /// In another hour (`2026-03-01T10`).
    pub fn hour(mut self, hour: &str) -> Self {
        self.day = hour.to_owned();
        self
    }

    /// With these fields on each line.
    pub fn with(mut self, extra: Value) -> Self {
        self.extra = extra;
        self
    }

    fn line(mut self, mut body: Value) -> Self {
        let uuid = format!("{}-0000-4000-9000-{:012x}", self.prefix, self.next);
        let time = format!("{}:{:02}:{:02}.000Z", self.day, self.next / 60, self.next % 60);
        let mut line = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": self.cwd,
            "sessionId": self.session, "version": "2.1.332", "gitBranch": "main", "uuid": uuid, "timestamp": time,
        });
        for part in [&mut body, &mut self.extra.clone()] {
            for (name, value) in part.as_object().unwrap() {
                line[name] = value.clone();
            }
        }
        self.parent = Some(uuid);
        self.next += 1;
        self.out.push(line.to_string());
        self
    }

    /// The user says.
    pub fn u(self, text: &str) -> Self {
        self.line(json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    /// A tool is called.
    pub fn t(self, id: &str, tool: &str, input: Value) -> Self {
        self.line(json!({"type": "assistant", "requestId": format!("req_{id}"), "message": {
            "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "claude-sonnet-5",
            "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": format!("toolu_{id}"), "name": tool,
            "input": input}], "usage": {"input_tokens": 10, "output_tokens": 5}}}))
    }

    /// Its result.
    pub fn r(self, id: &str, text: &str) -> Self {
        self.line(json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("toolu_{id}"), "content": text}]}}))
    }

    /// The agent answers, and the turn is over.
    pub fn a(self, id: &str, text: &str) -> Self {
        self.line(json!({"type": "assistant", "requestId": format!("req_{id}"), "message": {
            "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "claude-sonnet-5",
            "stop_reason": "end_turn", "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 10, "output_tokens": 5}}}))
    }

    /// The client marks the end of the turn.
    pub fn end(self) -> Self {
        self.line(json!({"type": "system", "subtype": "turn_duration", "durationMs": 1000, "isMeta": false}))
    }

    /// Any other line.
    pub fn x(self, body: Value) -> Self {
        self.line(body)
    }

    /// A line as it stands, without an envelope.
    pub fn raw(mut self, line: &str) -> Self {
        self.out.push(line.to_owned());
        self
    }

    /// A whole turn with work worth remembering: the marker is in the words, the file and the answer.
    pub fn work(self, marker: &str) -> Self {
        let file = format!("/w/alpha/src/{}.rs", marker.to_lowercase());
        self.u(&format!("Please fix the retry bug {marker} in the payment module"))
            .t(&format!("{marker}e"), "Edit", json!({"file_path": file, "old_string": "retry(3)", "new_string": "retry(5)"}))
            .r(&format!("{marker}e"), "The file has been updated successfully.")
            .a(
                &format!("{marker}a"),
                &format!("Fixed {marker}: the payment module gave up after three retries; it now retries five times with back-off."),
            )
            .end()
    }

    /// The text so far.
    pub fn text(&self) -> String {
        self.out.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Each line so far, with its newline.
    pub fn lines(&self) -> Vec<String> {
        self.out.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The same history under another session, as a fork copies it: uuids and times stay.
    pub fn forked(&self, session: &str) -> Self {
        let out = self.out.iter().map(|line| line.replace(&self.session, session)).collect();
        Self { session: session.to_owned(), out, ..self.clone() }
    }
}

/// Appends to a file, making it and its folders.
pub fn append(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A home for collectors.
pub struct Rig {
    dir: tempfile::TempDir,
    pub settings: Settings,
    pub source: HandSource,
    pub pace: Pace,
    pub scope: Scope,
    /// What writing comes to instead, while it is set.
    pub fault: Arc<Mutex<Option<fn() -> StoreError>>>,
}

/// No waiting but where a test asks for it.
pub fn quick() -> Pace {
    Pace {
        confirm: Duration::from_millis(20),
        quiet: Duration::from_millis(40),
        settle: Duration::from_secs(3600),
        look: Duration::from_secs(3600),
        rescan: Duration::from_secs(3600),
        rescan_polling: Duration::from_millis(30),
        missing: Duration::from_millis(30),
        tie: Duration::from_millis(60),
        gone: Duration::from_millis(20),
    }
}

impl Rig {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("claude/projects")).unwrap();
        let mut settings = Settings::default();
        settings.observer.provider = "offline".into();
        let source = HandSource::default();
        Self { dir, settings, source, pace: quick(), scope: Scope::default(), fault: Arc::default() }
    }

    pub fn dirs(&self) -> Dirs {
        Dirs::under(&self.dir.path().join("cmem"), &self.dir.path().join("claude"))
    }

    /// A path under `projects/`.
    pub fn file(&self, place: &str) -> PathBuf {
        // The system tells of real paths; a temporary folder may be behind a link.
        fs::canonicalize(self.dir.path()).unwrap().join("claude/projects").join(place)
    }

    /// The transcript of a session.
    pub fn transcript(&self, session: &str) -> PathBuf {
        self.file(&format!("-w-alpha/{session}.jsonl"))
    }

    pub fn options(&self) -> Options {
        let clock = Arc::new(SystemClock::default());
        let claude = fs::canonicalize(self.dir.path()).unwrap().join("claude");
        let dirs = Dirs { claude: vec![claude], home: Some("/home/u".into()), ..self.dirs() };
        let mut options = Options::new(dirs, Env::default(), self.settings.clone(), clock);
        options.scope = self.scope.clone();
        options.pace = self.pace.clone();
        options.source = Some(Box::new(self.source.clone()));
        let millis = Duration::from_millis;
        options.waits = Waits { busy: (millis(5), millis(20)), disk: (millis(20), millis(80)), refused: millis(50) };
        let fault = Arc::clone(&self.fault);
        options.fault = Some(Arc::new(move || fault.lock().unwrap().map(|make| make())));
        options
    }

    pub fn try_start(&self) -> Result<Running, StartError> {
        let collector = Collector::start(self.options())?;
        let changes = collector.listen(1024);
        Ok(Running { collector, changes, source: self.source.clone() })
    }

    pub fn start(&self) -> Running {
        self.try_start().unwrap()
    }

    /// Reads what is there, from its first byte, and ends.
    pub fn once(&self) -> Ended {
        let mut options = self.options();
        options.scope = Scope { once: true, from_start: true, ..self.scope.clone() };
        Collector::start(options).unwrap().wait()
    }

    pub fn store(&self) -> Store {
        Store::open(&self.dirs().database(), Access::ReadOnly, cmem::memory::Timestamp::UNIX_EPOCH).unwrap()
    }

    /// Memories of a kind, oldest first.
    pub fn memories(&self, kind: Kind) -> Vec<Memory> {
        let filter = Filter { kinds: vec![kind], ..Filter::default() };
        let mut found = self.store().list(&filter, Order::Oldest, None, 10_000).unwrap();
        self.store().fill_keys(&mut found).unwrap();
        found
    }

    /// Observations that name a marker.
    pub fn stored(&self, marker: &str) -> usize {
        let names = |memory: &Memory| {
            [&memory.title, &memory.subtitle, &memory.narrative].iter().any(|text| text.contains(marker))
                || memory.facts.iter().any(|fact| fact.contains(marker))
        };
        self.memories(Kind::Observation).iter().filter(|memory| names(memory)).count()
    }

    /// The ledger as text that can be compared: key, session, kind, outcome, reason.
    pub fn ledger(&self) -> Vec<String> {
        ledger_of(&self.store())
    }
}

/// The ledger as text that can be compared.
pub fn ledger_of(store: &Store) -> Vec<String> {
    let mut rows: Vec<String> = store
        .ledger(None, None, usize::MAX >> 1)
        .unwrap()
        .into_iter()
        .map(|row| {
            format!(
                "{} {} {} {:?} {} {:?} memories={}",
                row.key,
                row.session,
                row.kind,
                row.outcome,
                row.reason,
                row.time,
                row.memories.len()
            )
        })
        .collect();
    rows.sort();
    rows
}

/// Memories as text that can be compared: everything but row numbers and record times.
pub fn memories_of(store: &Store) -> Vec<String> {
    let filter = Filter {
        kinds: vec![Kind::Observation, Kind::Summary, Kind::Prompt],
        with_excluded_projects: true,
        ..Filter::default()
    };
    let mut found = store.list(&filter, Order::Oldest, None, 1_000_000).unwrap();
    store.fill_keys(&mut found).unwrap();
    let mut rows: Vec<String> = found
        .into_iter()
        .map(|memory| {
            let mut value = serde_json::to_value(&memory).unwrap();
            let fields = value.as_object_mut().unwrap();
            fields.remove("id");
            fields.remove("recorded_at");
            if let Some(Value::Array(keys)) = fields.get_mut("keys") {
                keys.sort_by_key(Value::to_string);
            }
            value.to_string()
        })
        .collect();
    rows.sort();
    rows
}

/// A running collector.
pub struct Running {
    pub collector: Collector,
    changes: Receiver<Change>,
    source: HandSource,
}

impl Running {
    /// Tells that a file changed.
    pub fn changed(&self, path: &Path) {
        assert!(self.source.changed(path), "nobody watches");
    }

    /// Waits for changes until `seen` holds. Fails after a generous while.
    pub fn until(&self, what: &str, mut seen: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !seen() {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never: {what}; {:?}", self.collector.snapshot());
            // A change may have come before this listener looked: the state is asked again anyway.
            let _ = self.changes.recv_timeout(left.min(Duration::from_millis(50)));
        }
    }

    pub fn stop(self) -> Ended {
        self.collector.stop()
    }
}
