//! What is on the disk: what was removed is in no file of ours, the log stays small, locks are waited for.
#![allow(clippy::disallowed_methods)] // files are what is looked at

use std::fs;
use std::path::Path;

use super::*;
use crate::memory::MemoryId;
use crate::store::api::{Access, Filter, Order, SessionRow};
use crate::store::curate::{Edit, Resolve, Who};
use crate::store::vectors::Vector;

const ME: Who<'static> = Who { actor: "test", now: Timestamp::UNIX_EPOCH };

fn go(_: u64, _: u64) -> bool {
    true
}

/// Whether any file in `dir` holds `needle`, in any case of its letters.
fn on_disk(dir: &Path, needle: &str) -> Vec<String> {
    let needle = needle.to_lowercase();
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes: Vec<u8> = fs::read(&path).unwrap().iter().map(u8::to_ascii_lowercase).collect();
        if bytes.windows(needle.len()).any(|window| window == needle.as_bytes()) {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

/// A store on disk where a secret stands everywhere it can.
fn with_secret(dir: &Path) -> (Store, MemoryId) {
    let mut store = Store::open(&dir.join("cmem.db"), Access::ReadWrite, at(0)).unwrap();
    // Neighbours, so that index pages are shared with other words.
    keep(
        &mut store,
        (0..300)
            .map(|n| NewMemory { narrative: format!("plain text {n} zqhuman zqhunter"), ..memory(&format!("M{n}")) })
            .collect(),
    );
    let secret = NewMemory {
        subtitle: "zqhunter2 in the subtitle".into(),
        narrative: "the password is \"zqhunter2\" 支付".into(),
        facts: vec!["pw=zqhunter2".into()],
        concepts: vec!["zqhunter2".into()],
        files_read: vec!["src/zqhunter2/a.rs".into()],
        branch: Some("zqhunter2".into()),
        ..memory("Found zqhunter2 in a log")
    };
    let id = keep(&mut store, vec![secret]).ids[0].unwrap();
    keep(&mut store, (300..400).map(|n| memory(&format!("M{n}"))).collect());
    (store, id)
}

#[test]
fn a_purged_memory_is_in_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, id) = with_secret(dir.path());
    store.edit(&[id], &Edit { title: Some("still zqhunter2".into()), ..Edit::default() }, ME, &mut go).unwrap();
    store.trash(&[id], false, ME, &mut go).unwrap();
    assert!(!on_disk(dir.path(), "zqhunter2").is_empty(), "in the trash it is kept");
    store.empty_trash(None, &mut go).unwrap();
    assert_eq!(on_disk(dir.path(), "zqhunter2"), Vec::<String>::new());
    assert!(store.undo(Resolve::Ask, &mut go).unwrap().is_none(), "the journal has forgotten it");
    assert!(store.check().unwrap().is_empty());
    assert_eq!(store.words("zqhunter", &Filter::default(), Order::Newest, 500).unwrap().hits.len(), 300);
}

#[test]
fn a_redacted_string_is_in_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, id) = with_secret(dir.path());
    let other =
        keep(&mut store, vec![NewMemory { narrative: "zqhunter2 again".into(), ..memory("second") }]).ids[0].unwrap();
    let title = |title: &str| Edit { title: Some(title.into()), ..Edit::default() };
    store.edit(&[id], &title("edited zqhunter2"), ME, &mut go).unwrap();
    store.edit(&[id], &title("edited again"), ME, &mut go).unwrap();
    store.trash(&[other], false, ME, &mut go).unwrap();
    store.put_vectors("m", 2, &[Vector { id, scale: 1.0, data: vec![1, 2] }]).unwrap();
    let session =
        SessionRow { session: "S1".into(), last_prompt: Some("it is zqhunter2".into()), ..SessionRow::default() };
    store.record(&Commit { sessions: vec![session], ..Commit::default() }).unwrap();
    store.set_state("note", "zqhunter2", at(0)).unwrap();
    assert_eq!(store.holds("zqhunter2").unwrap(), (1, 1));
    let done = store.redact("zqhunter2", "[redacted]", &mut go).unwrap();
    assert_eq!((done.memories, done.trashed, done.sessions, done.vectors, done.log_cut), (1, 1, 1, 1, true));
    assert!(done.journal >= 2 && done.left.is_empty() && !done.beyond.is_empty(), "{done:?}");
    assert_eq!(on_disk(dir.path(), "zqhunter2"), Vec::<String>::new());
    assert!(store.words("zqhunter2", &Filter::default(), Order::Newest, 5).unwrap().hits.is_empty());
    let found = store.words("redacted", &Filter::default(), Order::Newest, 5).unwrap().hits.remove(0).memory;
    assert_eq!((found.id, found.facts.as_slice()), (id, &["pw=[redacted]".to_owned()][..]));
    // The trash and the journal still work, on redacted text.
    store.undo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(store.get(&[other]).unwrap()[0].narrative, "[redacted] again");
    assert_eq!(store.words("redacted second", &Filter::default(), Order::Newest, 5).unwrap().hits.len(), 1);
    store.undo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(store.get(&[id]).unwrap()[0].title, "edited [redacted]");
    assert!(store.check().unwrap().is_empty());
    assert!(store.redact("ab", "x", &mut go).is_err());
}

#[test]
fn a_string_with_marks_is_redacted_inside_lists_too() {
    let mut store = store();
    let id =
        keep(&mut store, vec![NewMemory { facts: vec!["say \"a\\b\nc\" now".into()], ..memory("x") }]).ids[0].unwrap();
    assert_eq!(store.redact("\"a\\b\nc\"", "[redacted]", &mut go).unwrap().memories, 1);
    assert_eq!(store.get(&[id]).unwrap()[0].facts, ["say [redacted] now"]);
}

#[test]
fn a118_the_log_stays_small_while_a_reader_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    let mut store = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    let reader = Store::open(&path, Access::ReadOnly, at(0)).unwrap();
    for n in 0..5_000 {
        keep(
            &mut store,
            vec![NewMemory { narrative: "word ".repeat(60), created_at: at(n), ..memory(&format!("M{n}")) }],
        );
        if n % 100 == 0 {
            reader.list(&Filter::default(), Order::Newest, None, 50).unwrap();
        }
    }
    let (_, log) = store.disk();
    assert!(log < 64 << 20, "{log} bytes of log");
    assert!(store.checkpoint().unwrap());
    assert_eq!(store.disk().1, 0);
}

#[test]
fn a112_a_lock_of_another_process_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    let mut store = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; INSERT INTO state VALUES ('x', 'y', 0)").unwrap();
    let (locked, release) = std::sync::mpsc::channel::<()>();
    let holder = std::thread::spawn(move || {
        // Held until the writer has been waiting: its first tries are refused within this time.
        let _ = release.recv_timeout(std::time::Duration::from_millis(700));
        other.execute_batch("COMMIT").unwrap();
    });
    assert_eq!(keep(&mut store, vec![memory("M1")]).new, 1);
    drop(locked);
    holder.join().unwrap();
}

#[test]
fn a114_ten_thousand_events_cost_little() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("cmem.db"), Access::ReadWrite, at(0)).unwrap();
    let ledger = (0..10_000).map(|n| row(&format!("toolu_01{n:022}"), Outcome::Skipped, vec![])).collect();
    store.record(&Commit { ledger, ..Commit::default() }).unwrap();
    store.checkpoint().unwrap();
    let (size, _) = store.disk();
    assert!(size < 2 << 20, "{size} bytes for 10,000 events");
}

#[cfg(target_os = "linux")]
#[test]
fn a117_a_full_disk_is_told_as_such_and_nothing_is_half_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("cmem.db"), Access::ReadWrite, at(0)).unwrap();
    keep(&mut store, vec![memory("before")]);
    // The database may grow by a few pages only: what a full disk answers, without filling one.
    let pages: i64 = store.conn.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    store.conn.pragma_update(None, "max_page_count", pages + 2).unwrap();
    let big = (0..200)
        .map(|n| NewMemory { narrative: format!("text {n} ").repeat(200), ..memory(&format!("M{n}")) })
        .collect();
    let err = store.record(&Commit { memories: big, ..Commit::default() }).unwrap_err();
    assert!(matches!(err, crate::store::StoreError::Full) && err.is_transient(), "{err}");
    assert_eq!(store.count(&Filter::default()).unwrap(), 1);
    store.conn.pragma_update(None, "max_page_count", 1 << 30).unwrap();
    assert_eq!(keep(&mut store, vec![memory("after")]).new, 1);
    assert!(store.check().unwrap().is_empty());
}
