//! The reader over real transcripts. They are not part of the repository: without them these tests say so and pass.
#![allow(clippy::disallowed_methods)] // These tests read sample files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::transcript::inspect::inspect;

/// A folder of samples beside the repository (or in `$CMEM_SHARED`).
fn shared(folder: &str) -> Option<PathBuf> {
    let base = std::env::var_os("CMEM_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = base.join(folder);
    if path.is_dir() {
        Some(path)
    } else {
        eprintln!("skipped: no samples at {}", path.display());
        None
    }
}

/// Every transcript below a folder.
fn transcripts(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).expect("a readable folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|it| it == "jsonl")
                && !path.to_string_lossy().ends_with("_stdout.stream.jsonl")
                && path.file_name().is_some_and(|it| it != "EXPECTED.jsonl")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn role_of(path: &Path) -> FileRole {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match stem.strip_prefix("agent-") {
        Some(agent) => FileRole {
            session: SessionId::from("parent"),
            agent: Some(AgentId::from(agent)),
            parent_call: Some(EventKey::from("toolu_parent")),
        },
        None => FileRole { session: SessionId(stem), agent: None, parent_call: None },
    }
}

fn read_cut(role: &FileRole, bytes: &[u8], cuts: &[usize]) -> Vec<Event> {
    let mut reader = Reader::new(role.clone());
    let mut out = Vec::new();
    let mut from = 0;
    for &to in cuts.iter().chain([&bytes.len()]) {
        reader.feed(&bytes[from..to], &mut out);
        from = to;
    }
    reader.close(&mut out);
    out
}

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

#[test]
fn inspection_equals_the_oracle_in_every_key() {
    let Some(corpus) = shared("corpus") else { return };
    let expected = fs::read_to_string(corpus.join("EXPECTED.jsonl")).expect("expectations");
    let mut faults = Vec::new();
    for line in expected.lines() {
        let mut expected: serde_json::Value = serde_json::from_str(line).expect("an object a line");
        let file = expected.as_object_mut().and_then(|it| it.remove("file")).expect("a file name");
        let file = file.as_str().expect("a string").to_owned();
        let bytes = fs::read(corpus.join(&file)).expect("a sample");
        let found = serde_json::to_value(inspect(&bytes)).expect("figures");
        let (expected, found) = (expected.as_object().expect("keys"), found.as_object().expect("keys"));
        let keys: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
        for key in keys {
            if expected.get(key) != found.get(key) {
                faults.push(format!("{file} {key}: expected {:?}, found {:?}", expected.get(key), found.get(key)));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn real_clients_files_have_no_malformed_line() {
    for folder in
        ["client/transcripts", "client/transcripts-2.1.240", "client/transcripts-2.1.150", "client/transcripts-2.1.50"]
    {
        let Some(dir) = shared(folder) else { return };
        let files = transcripts(&dir);
        assert!(files.len() > 20, "{folder}: {}", files.len());
        for path in files.iter().filter(|path| path.file_name().is_some_and(|it| it != "history.jsonl")) {
            let bytes = fs::read(path).expect("a sample");
            let mut reader = Reader::new(role_of(path));
            let mut out = Vec::new();
            reader.feed(&bytes, &mut out);
            reader.close(&mut out);
            let counts = reader.counts();
            assert_eq!((counts.malformed, counts.repaired), (0, 0), "{}", path.display());
            assert!(counts.unknown_versions.is_empty(), "{}: {:?}", path.display(), counts.unknown_versions);
        }
    }
}

#[test]
fn chunks_cut_anywhere_give_the_same_events() {
    let Some(corpus) = shared("corpus") else { return };
    let mut numbers = Numbers(7);
    for path in transcripts(&corpus) {
        let bytes = fs::read(&path).expect("a sample");
        let role = role_of(&path);
        let whole = read_cut(&role, &bytes, &[]);
        let lines: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        assert!(read_cut(&role, &bytes, &lines) == whole, "{} cut at its lines", path.display());
        for _ in 0..3 {
            let mut cuts: Vec<usize> = (0..1 + numbers.below(400)).map(|_| numbers.below(bytes.len())).collect();
            cuts.sort_unstable();
            assert!(read_cut(&role, &bytes, &cuts) == whole, "{} cut at {cuts:?}", path.display());
        }
    }
}

/// Reading up to a place, and resuming from the safe point there, gives every event once.
#[test]
fn resuming_at_any_line_gives_what_was_not_given() {
    let Some(corpus) = shared("corpus") else { return };
    let mut numbers = Numbers(99);
    for path in transcripts(&corpus) {
        let bytes = fs::read(&path).expect("a sample");
        let role = role_of(&path);
        let whole = read_cut(&role, &bytes, &[]);
        let lines: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        let most = if bytes.len() < 120_000 { usize::MAX } else { 24 };
        let places: Vec<usize> = if lines.len() <= most {
            lines.iter().copied().chain([bytes.len() / 2, bytes.len()]).collect()
        } else {
            (0..most).map(|_| lines[numbers.below(lines.len())]).collect()
        };
        for place in places {
            let mut first = Vec::new();
            let mut reader = Reader::new(role.clone());
            reader.feed(&bytes[..place], &mut first);
            let point = reader.safe_point();
            assert!(point.offset <= place as u64, "{}", path.display());
            let mut second = Vec::new();
            let mut resumed = Reader::resume(role.clone(), &point);
            resumed.feed(&bytes[usize::try_from(point.offset).expect("fits")..], &mut second);
            resumed.close(&mut second);
            compare(&path, place, &point, &whole, first, second);
        }
    }
}

fn compare(path: &Path, place: usize, point: &SafePoint, whole: &[Event], first: Vec<Event>, second: Vec<Event>) {
    let context = format!("{} at {place}, safe point {}", path.display(), point.offset);
    let given: BTreeSet<EventKey> = first.iter().map(|event| event.key.clone()).collect();
    // Copies of lines that lie before the safe point may come again; their keys say so.
    let again: Vec<Event> = second.into_iter().filter(|event| !given.contains(&event.key)).collect();
    let both: Vec<&Event> = first.iter().chain(&again).collect();
    let missing: Vec<&Event> = whole.iter().filter(|event| !both.contains(event)).collect();
    let spare: Vec<&&Event> = both.iter().filter(|event| !whole.contains(event)).collect();
    assert!(
        missing.is_empty() && spare.is_empty(),
        "{context}\nmissing {missing:#?}\nspare {spare:#?}\n{}",
        point.state
    );
}
