//! Killed at any moment, begun again: nothing is lost, nothing comes twice, the database is whole.
#![allow(clippy::disallowed_methods, reason = "tests run the program and kill it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use cmem::memory::{Kind, Timestamp};
use cmem::store::api::Outcome;
use cmem::store::{Access, Filter, Order, Store};

use super::rig::{Lines, append, session};
use super::support::Home;

/// How often it is killed: `CMEM_KILLS`, else a few times.
fn kills() -> u32 {
    std::env::var("CMEM_KILLS").ok().and_then(|value| value.parse().ok()).unwrap_or(15)
}

/// Transcripts: the shared corpus where it is at hand, and sessions of our own.
fn fill(home: &Home) {
    let projects = home.claude().join("projects");
    for n in 1..=6 {
        let mut lines = Lines::of(&session(n), &format!("{n:08x}"));
        for turn in 0..8 {
            lines = lines.work(&format!("M{}", n * 100 + turn));
        }
        append(&projects.join(format!("-w-alpha/{}.jsonl", session(n))), &lines.text());
    }
    // A fork, so that copies are among them.
    let fork = Lines::of(&session(1), "00000001").work("M100").work("M101").forked(&session(7)).work("M777");
    append(&projects.join(format!("-w-alpha/{}.jsonl", session(7))), &fork.text());
    let shared = std::env::var_os("CMEM_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let corpus = shared.join("corpus/projects");
    if !corpus.is_dir() {
        eprintln!("without the corpus: none at {}", corpus.display());
        return;
    }
    super::support::walk(&corpus, &mut |path| {
        let place = path.strip_prefix(&corpus).unwrap();
        append(&projects.join(place), &String::from_utf8_lossy(&std::fs::read(path).unwrap()));
    });
}

fn watch(home: &Home, script: &Path) -> Command {
    let mut command = home.command(&["watch", "--once", "--from-start"]);
    command
        .env_remove("CMEM_NOW")
        .env("CMEM_OBSERVER_PROVIDER", "scripted")
        .env("CMEM_OBSERVER_URL", script)
        .env("CMEM_OBSERVER_LINGER", "0")
        .env("CMEM_BUDGET_DAILY_TOKENS", "0")
        .env("CMEM_BUDGET_REQUESTS_PER_MINUTE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// What stands in the ledger and what was remembered, without what depends on how batches were cut.
fn result(home: &Home) -> (BTreeMap<String, (String, Outcome)>, Vec<String>) {
    let store = Store::open(&home.cmem().join("cmem.db"), Access::ReadOnly, Timestamp::UNIX_EPOCH).unwrap();
    let rows = store.ledger(None, None, usize::MAX >> 1).unwrap();
    let count = rows.len();
    let ledger: BTreeMap<_, _> =
        rows.into_iter().map(|row| (row.key.to_string(), (row.session.to_string(), row.outcome))).collect();
    assert_eq!(ledger.len(), count, "an event has two rows");
    let kinds = vec![Kind::Observation, Kind::Summary, Kind::Prompt];
    let found = store.list(&Filter { kinds, ..Filter::default() }, Order::Oldest, None, usize::MAX >> 1).unwrap();
    let mut memories: Vec<String> = found
        .into_iter()
        .map(|memory| {
            format!(
                "{:?} {:?} {} {} {:?} {}",
                memory.kind,
                memory.session,
                memory.prompt_number,
                memory.title,
                memory.files_modified,
                memory.created_at
            )
        })
        .collect();
    memories.sort();
    (ledger, memories)
}

fn differences<T: PartialEq + std::fmt::Debug>(one: &[T], other: &[T]) -> String {
    let only = |a: &[T], b: &[T]| {
        a.iter().filter(|it| !b.contains(it)).take(8).map(|it| format!("{it:?}")).collect::<Vec<_>>()
    };
    format!("only in the first {:#?}\nonly in the second {:#?}", only(one, other), only(other, one))
}

#[test]
fn a023_a113_killed_at_random_moments_the_result_is_that_of_one_run() {
    let script = |home: &Home, delay: u64| {
        let path = home.path("script.jsonl");
        std::fs::write(&path, format!("{{\"say\": \"observe\", \"every\": 3, \"delay_ms\": {delay}}}\n")).unwrap();
        path
    };
    let whole = Home::new();
    fill(&whole);
    let rules = script(&whole, 0);
    let output = watch(&whole, &rules).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = result(&whole);
    assert!(expected.0.len() > 100 && expected.1.len() > 60, "{} {}", expected.0.len(), expected.1.len());

    let home = Home::new();
    fill(&home);
    // Slow enough that the kills are spread over the whole of it.
    let rules = script(&home, (2 * u64::from(kills())).min(120));
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut killed = 0;
    for _ in 0..kills() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut child = watch(&home, &rules).spawn().unwrap();
        // The moment is meant to be any: some come before the first line is read, some between two answers.
        std::thread::sleep(Duration::from_millis(random % 250));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let rules = script(&home, 0);
    let output = watch(&home, &rules).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = result(&home);
    let rows = |ledger: &BTreeMap<String, (String, Outcome)>| ledger.clone().into_iter().collect::<Vec<_>>();
    assert!(found.0 == expected.0, "{}", differences(&rows(&expected.0), &rows(&found.0)));
    assert!(found.1 == expected.1, "{}", differences(&expected.1, &found.1));
    assert!(killed >= kills().min(10) / 2, "only {killed} were alive when they were killed");
    let database = rusqlite::Connection::open(home.cmem().join("cmem.db")).unwrap();
    let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_cleanly_and_what_waited_comes_again() {
    let home = Home::new();
    let path = home.claude().join(format!("projects/-w-alpha/{}.jsonl", session(1)));
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    let script = home.path("script.jsonl");
    std::fs::write(&script, "{\"say\": \"stall\"}\n").unwrap();
    let mut child = watch(&home, &script).spawn().unwrap();
    // It has begun when the lock file names it.
    let lock = home.cmem().join("collector.lock");
    let pid = format!("\"pid\":{}", child.id());
    while !std::fs::read_to_string(&lock).is_ok_and(|text| text.contains(&pid) && text.contains("\"waiting\":")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        std::thread::yield_now();
    }
    let number = i32::try_from(child.id()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(number).unwrap(), rustix::process::Signal::TERM)
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(std::fs::read_to_string(&lock).unwrap().contains("\"stopped\":true"));
    std::fs::write(&script, "{\"say\": \"markers\"}\n").unwrap();
    assert!(watch(&home, &script).status().unwrap().success());
    let memories = result(&home).1;
    assert_eq!(memories.iter().filter(|row| row.contains("Found M1")).count(), 1, "{memories:#?}");
}
