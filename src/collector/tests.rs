//! The whole line without its threads: files on disk, the intake and the core driven by hand, a store in memory.
//! Where files are cut, in which order they come, and when everything is forgotten and begun again must make no
//! difference to the ledger.
#![allow(clippy::disallowed_methods)] // The tests write the files that are read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::bus::Bus;
use super::core::Core;
use super::health::Snapshot;
use super::input::{Held, Input, Order};
use super::intake::{Intake, Pace, Scope, Setup};
use super::judge::OfflineJudge;
use super::write::{Waits, Writer};
use crate::config::{Dirs, Env, Settings};
use crate::memory::{Clock, Kind, Timestamp};
use crate::store::{Filter, Order as Newest, Store};
use crate::transcript::locate::roots;
use crate::transcript::watch::{FileEvent, HandSource};

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_790_000_000).expect("in range")
    }
}

/// A folder of transcripts and a store that outlives the machinery around it.
struct Bench {
    dir: tempfile::TempDir,
    store: Option<Store>,
}

/// The machinery: what a process is.
struct Process<'a> {
    bench: &'a mut Bench,
    intake: Intake,
    core: Option<Core>,
    inbox: Receiver<Input>,
    orders: Sender<Order>,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("claude/projects")).expect("made");
        Self { dir, store: Some(Store::in_memory(Fixed.now()).expect("a store")) }
    }

    fn file(&self, place: &str) -> PathBuf {
        self.dir.path().join("claude/projects").join(place)
    }

    fn append(&self, place: &str, bytes: &[u8]) {
        let path = self.file(place);
        fs::create_dir_all(path.parent().expect("below projects")).expect("made");
        fs::OpenOptions::new().append(true).create(true).open(path).expect("open").write_all(bytes).expect("written");
    }

    /// A process starts. `once`: it settles whatever it has read to the end.
    fn start(&mut self, once: bool) -> Process<'_> {
        let dirs = Dirs::under(&self.dir.path().join("cmem"), &self.dir.path().join("claude"));
        let settings = Settings::default();
        let store = self.store.take().expect("one process at a time");
        let (out, inbox) = channel();
        let (orders, ordered) = channel();
        let held = Arc::new(Held::new(64 << 20));
        let clock = Arc::new(Fixed);
        let pace = Pace {
            // Nothing falls quiet but by being told so.
            confirm: std::time::Duration::from_secs(86_400),
            quiet: std::time::Duration::from_secs(86_400),
            settle: std::time::Duration::from_secs(86_400 * 365 * 20),
            ..Pace::default()
        };
        let setup = Setup {
            roots: roots(&dirs.claude, &[], None),
            settings: settings.clone(),
            env: Env::default(),
            source: Box::new(HandSource::default()),
            clock: clock.clone(),
            pace,
            scope: Scope { once, from_start: true, ..Scope::default() },
            cursors: store.cursors().expect("cursors"),
            projects: Vec::new(),
            excluded: Vec::new(),
            dirs,
        };
        let born = setup.cursors.iter().filter_map(super::intake::born_of).collect();
        let intake = Intake::new(setup, held.clone(), ordered, orders.clone(), out);
        let judge = Box::new(OfflineJudge::new(Arc::new(crate::mode::code())));
        let mut core = Core::new(
            Writer::new(store, Waits::default(), None),
            judge,
            clock,
            Arc::new(Bus::default()),
            held,
            orders.clone(),
            Snapshot::default(),
        );
        core.sessions_born(born);
        let mut process = Process { bench: self, intake, core: Some(core), inbox, orders };
        process.intake.begin();
        process.work();
        process
    }

    fn store(&self) -> &Store {
        self.store.as_ref().expect("no process runs")
    }

    fn ledger(&self) -> Vec<String> {
        let rows = self.store().ledger(None, None, usize::MAX >> 1).expect("ledger");
        let mut rows: Vec<String> = rows
            .into_iter()
            .map(|row| {
                let memories = row.memories.len();
                format!(
                    "{} {} {} {:?} {} {} {:?} {memories}",
                    row.key, row.session, row.kind, row.outcome, row.gate, row.reason, row.time
                )
            })
            .collect();
        rows.sort();
        rows
    }

    fn memories(&self) -> Vec<String> {
        let filter = Filter { kinds: vec![Kind::Observation, Kind::Summary, Kind::Prompt], ..Filter::default() };
        let mut found = self.store().list(&filter, Newest::Oldest, None, 1_000_000).expect("list");
        self.store().fill_keys(&mut found).expect("keys");
        found.iter_mut().for_each(|memory| memory.keys.sort());
        let mut rows: Vec<String> = found
            .into_iter()
            .map(|memory| {
                format!(
                    "{:?} {:?} {:?} {:?} {} {} {} {:?} {} {}",
                    memory.kind,
                    memory.keys,
                    memory.session,
                    memory.agent,
                    memory.prompt_number,
                    memory.type_id,
                    memory.title,
                    memory.files_modified,
                    memory.created_at,
                    memory.narrative
                )
            })
            .collect();
        rows.sort();
        rows
    }

    fn counters(&self) -> Vec<(String, i64)> {
        self.store().counters("", None).expect("counters")
    }
}

impl Process<'_> {
    /// Everything that can be done without waiting.
    fn work(&mut self) {
        loop {
            self.intake.take_orders();
            let read = self.intake.read_some();
            if !read {
                self.intake.when_dry();
            }
            let core = self.core.as_mut().expect("running");
            let mut heard = false;
            while let Ok(input) = self.inbox.try_recv() {
                heard = true;
                match input {
                    Input::Read(delivery) => {
                        assert!(core.read(*delivery).is_ok(), "a store in memory answers");
                    }
                    Input::Counted(no, events) => core.counted(no, events),
                    Input::CountedAll => core.counted_all(),
                    Input::Caught => core.caught_up(),
                    _ => {}
                }
            }
            if !read && !heard {
                core.write_now();
                break;
            }
        }
    }

    /// A file changed, and whoever watches is told.
    fn append(&mut self, place: &str, bytes: &[u8]) {
        self.bench.append(place, bytes);
        let path = self.bench.file(place);
        self.orders.send(Order::File(FileEvent::Changed(path))).expect("the intake listens");
        self.work();
    }

    /// The process is gone at once: nothing more is written.
    fn kill(self) {
        let Process { bench, core, intake, .. } = self;
        drop(intake);
        bench.store = core.map(Core::into_store);
    }
}

/// Transcripts of the shared corpus: place under `projects/` and text. Empty, with a word to the person who runs the
/// tests, where the corpus is not at hand.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let root = std::env::var_os("CMEM_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let mut found = Vec::new();
    let mut todo = vec![(root.join("corpus/projects"), String::new())];
    for entry in fs::read_dir(root.join("client/transcripts")).into_iter().flatten().flatten() {
        todo.push((entry.path(), format!("client-{}", entry.file_name().to_string_lossy())));
    }
    while let Some((dir, below)) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let place = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
            if entry.path().is_dir() {
                todo.push((entry.path(), place));
            } else if name.ends_with(".jsonl") || name.ends_with(".meta.json") {
                found.push((place, fs::read(entry.path()).expect("readable")));
            }
        }
    }
    found.retain(|(place, _)| !place.contains("_stdout"));
    found.sort();
    if found.is_empty() {
        eprintln!("skipped: no corpus at {} (set CMEM_SHARED)", root.display());
    }
    found
}

/// How thorough: every cut with `CMEM_CUTS=all`, else a sample.
fn thorough() -> bool {
    std::env::var("CMEM_CUTS").is_ok_and(|value| value == "all")
}

/// What an uninterrupted run over everything at once comes to.
fn whole(files: &[(String, Vec<u8>)]) -> (Vec<String>, Vec<String>, Vec<(String, i64)>) {
    let mut bench = Bench::new();
    for (place, text) in files {
        bench.append(place, text);
    }
    bench.start(true).kill();
    (bench.ledger(), bench.memories(), bench.counters())
}

#[test]
fn the_corpus_in_three_orders_gives_the_same_ledger() {
    let files = corpus();
    if files.is_empty() {
        return;
    }
    let (ledger, memories, counters) = whole(&files);
    assert!(ledger.len() > 500 && memories.len() > 50, "{} {}", ledger.len(), memories.len());
    let orders: [(&str, fn(&mut Vec<(String, Vec<u8>)>)); 3] = [
        ("by name", |_| {}),
        ("backwards", |files| files.reverse()),
        ("small first", |files| files.sort_by_key(|(_, text)| text.len())),
    ];
    for (name, arrange) in orders {
        let mut files = files.clone();
        arrange(&mut files);
        // One by one, each read to its end and settled before the next is there.
        let mut bench = Bench::new();
        for (place, text) in &files {
            bench.append(place, text);
            bench.start(true).kill();
        }
        assert_same(&ledger, &bench.ledger(), name);
        assert_same(&memories, &bench.memories(), name);
        assert_eq!(counters, bench.counters(), "{name}");
    }
}

fn assert_same(one: &[String], other: &[String], what: &str) {
    if one != other {
        let only =
            |a: &[String], b: &[String]| a.iter().filter(|row| !b.contains(row)).take(12).cloned().collect::<Vec<_>>();
        panic!(
            "{what}: {} against {} rows\nonly in the first: {:#?}\nonly in the second: {:#?}",
            one.len(),
            other.len(),
            only(one, other),
            only(other, one)
        );
    }
}

#[test]
fn a_file_cut_anywhere_gives_the_same_ledger() {
    let files = corpus();
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    let groups = sessions(&files);
    let mut cuts = 0;
    for (at, group) in groups.iter().enumerate() {
        // Without the full check a file in four, and few cuts in each.
        if !thorough() && at % 4 != 0 {
            continue;
        }
        let expected = whole(group);
        for (cut_at, (place, text)) in group.iter().enumerate() {
            let lines = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
            let mut places: Vec<usize> = if thorough() {
                lines.chain((0..1000).map(|_| next(text.len()))).collect()
            } else {
                (0..6).map(|_| next(text.len())).collect()
            };
            places.sort_unstable();
            places.dedup();
            for place_of_cut in places {
                for restart in [false, true] {
                    let mut bench = Bench::new();
                    for (other, (place, text)) in group.iter().enumerate() {
                        if other != cut_at {
                            bench.append(place, text);
                        }
                    }
                    bench.append(place, &text[..place_of_cut]);
                    let mut process = bench.start(false);
                    if restart {
                        process.kill();
                        process = bench.start(false);
                    }
                    process.append(place, &text[place_of_cut..]);
                    process.kill();
                    bench.start(true).kill();
                    let what = format!("{place} cut at {place_of_cut}, restart {restart}");
                    assert_same(&expected.1, &bench.memories(), &what);
                    assert_same(&expected.0, &bench.ledger(), &what);
                    assert_eq!(expected.2, bench.counters(), "{what}");
                    cuts += 1;
                }
            }
        }
    }
    if !files.is_empty() {
        assert!(cuts > 50, "{cuts}");
    }
}

/// Files that belong together: a session with its agents.
fn sessions(files: &[(String, Vec<u8>)]) -> Vec<Vec<(String, Vec<u8>)>> {
    let mut groups: std::collections::BTreeMap<String, Vec<(String, Vec<u8>)>> = Default::default();
    for (place, text) in files {
        let name =
            place.split('/').find(|part| crate::transcript::locate::is_uuid(part.split('.').next().unwrap_or("")));
        let name = name.map_or(place.as_str(), |name| name.split('.').next().unwrap_or(name));
        groups.entry(name.to_owned()).or_default().push((place.clone(), text.clone()));
    }
    groups.into_values().filter(|group| group.iter().any(|(_, text)| text.len() < 600_000)).collect()
}
