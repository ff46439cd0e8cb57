//! What the store costs, measured side by side so that ratios hold from machine to machine.
//!
//! `cargo bench --bench store` measures with 100,000 memories of 1.5 kB; `CMEM_BENCH_ROWS` takes another number.
//! Each line gives the median and the 99th percentile with the row count. Lines to hold stand behind.
#![allow(clippy::disallowed_methods)] // a bench looks at the clock and makes files

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use cmem::memory::{MemoryId, NewMemory, from_millis, millis};
use cmem::store::api::{Access, Filter, Order, PageKey};
use cmem::store::curate::{Resolve, Who};
use cmem::store::exchange::{Format, Selection};
use cmem::store::sample::{Sample, Size};
use cmem::store::{Commit, Store};

fn main() {
    let rows: usize = std::env::var("CMEM_BENCH_ROWS").ok().and_then(|it| it.parse().ok()).unwrap_or(100_000);
    let dir = tempfile::tempdir().expect("a place for the database");
    let path = dir.path().join("cmem.db");
    let sample = Sample { size: Size::Usual, ..Sample::of(rows) };
    println!("{rows} memories of about 1.5 kB, {} event keys each", sample.keys);

    let mut store = Store::open(&path, Access::ReadWrite, Sample::end()).expect("a new store");
    writing(&mut store, sample, dir.path());
    let text: usize = (0..200).map(|row| text_of(&sample.memory(row))).sum();
    store.checkpoint().expect("no reader");
    println!(
        "disk                             {:>9.0} B a memory of {} B text     line: 4,000 B",
        store.disk().0 as f64 / rows as f64,
        text / 200
    );
    drop(store);

    let reader = Store::open(&path, Access::ReadOnly, Sample::end()).expect("a reader");
    reading(&reader, &path, rows);
    searching(&reader, rows);
    drop(reader);

    let mut store = Store::open(&path, Access::ReadWrite, Sample::end()).expect("a writer");
    curating(&mut store, rows);
    exchanging(&store, dir.path(), rows);
}

fn text_of(memory: &NewMemory) -> usize {
    memory.title.len()
        + memory.subtitle.len()
        + memory.narrative.len()
        + memory.facts.iter().map(String::len).sum::<usize>()
}

fn rate(rows: usize, took: Duration) -> f64 {
    rows as f64 / took.as_secs_f64()
}

/// Runs something some times and prints its median and 99th percentile.
fn measure(name: &str, runs: usize, line: &str, mut run: impl FnMut(usize)) -> Duration {
    let mut times: Vec<Duration> = (0..runs)
        .map(|at| {
            let start = Instant::now();
            run(at);
            start.elapsed()
        })
        .collect();
    times.sort();
    let (p50, p99) = (times[runs / 2], times[(runs * 99 / 100).min(runs - 1)]);
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{name:<32} p50 {:>8.3} ms   p99 {:>8.3} ms     {line}", ms(p50), ms(p99));
    p50
}

fn writing(store: &mut Store, sample: Sample, dir: &Path) {
    let commits: Vec<Commit> = sample.commits().collect();
    // The same rows without words, ledger and counters: what SQLite takes for the text alone.
    let bare = rusqlite::Connection::open(dir.join("bare.db")).expect("a file");
    bare.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE m (id INTEGER PRIMARY KEY, ord INTEGER UNIQUE, project TEXT, title TEXT, subtitle TEXT, facts TEXT);
         CREATE TABLE b (id INTEGER PRIMARY KEY, narrative TEXT, files TEXT); CREATE INDEX p ON m (project, ord);",
    )
    .expect("tables");
    let start = Instant::now();
    for commit in &commits {
        bare.execute_batch("BEGIN IMMEDIATE").expect("begin");
        for memory in &commit.memories {
            let root = memory.project.as_ref().map_or("", |it| &it.root);
            bare.prepare_cached("INSERT INTO m (ord, project, title, subtitle, facts) VALUES ((SELECT coalesce(max(ord), 0) + 1 FROM m), ?1, ?2, ?3, ?4)")
                .and_then(|mut it| it.execute((root, &memory.title, &memory.subtitle, memory.facts.join("\n"))))
                .expect("row");
            bare.prepare_cached("INSERT INTO b (narrative, files) VALUES (?1, ?2)")
                .and_then(|mut it| it.execute((&memory.narrative, memory.files_read.join("\n"))))
                .expect("row");
        }
        bare.execute_batch("COMMIT").expect("commit");
    }
    let without = start.elapsed();
    let start = Instant::now();
    for commit in &commits {
        store.record(commit).expect("recorded");
    }
    let with = start.elapsed();
    println!(
        "record, 200 a transaction        {:>9.0} rows/s ({} ledger rows each); bare rows {:>9.0} rows/s; ratio {:.2}",
        rate(sample.rows, with),
        sample.keys,
        rate(sample.rows, without),
        without.as_secs_f64() / with.as_secs_f64()
    );
    let one = Sample { seed: 99, ..sample };
    measure("record, one row a transaction", 300, "", |at| {
        let memory = NewMemory { keys: vec![format!("k{at}").into()], ..one.memory(at) };
        store.record(&Commit { memories: vec![memory], ..Commit::default() }).expect("recorded");
    });
}

fn reading(reader: &Store, path: &Path, rows: usize) {
    measure("open and read 50 rows", 200, "line: about 1 ms", |_| {
        let store = Store::open(path, Access::ReadOnly, Sample::end()).expect("opened");
        black_box(store.list(&Filter::default(), Order::Newest, None, 50).expect("rows"));
    });
    let project = Filter { projects: vec!["/home/ana/src/webapp".into()], ..Filter::default() };
    measure("newest 50 of a project", 300, "", |_| {
        black_box(reader.list(&project, Order::Newest, None, 50).expect("rows"));
    });
    let typed =
        Filter { types: vec!["bugfix".into(), "decision".into()], concepts: vec!["gotcha".into()], ..project.clone() };
    measure("… of two types, one concept", 300, "", |_| {
        black_box(reader.list(&typed, Order::Newest, None, 50).expect("rows"));
    });
    let first = measure("first page of 60", 300, "", |_| {
        black_box(reader.list(&Filter::default(), Order::Newest, None, 60).expect("rows"));
    });
    let mut at = 0;
    let deep: Vec<PageKey> = (0..300)
        .map(|_| {
            at = (at + rows / 7 + 13) % rows;
            let memory = reader.get(&[MemoryId(at as i64 + 1)]).expect("rows");
            memory.first().map_or(PageKey { created_ms: millis(Sample::end()), id: MemoryId(1) }, PageKey::of)
        })
        .collect();
    let any = measure("page of 60 at any depth", 300, "line: 5 ms p99 at 1M", |run| {
        black_box(reader.list(&Filter::default(), Order::Newest, Some(deep[run]), 60).expect("rows"));
    });
    println!("… depth costs                    {:>9.2} times the first page", any.as_secs_f64() / first.as_secs_f64());
    measure("type counts", 100, "line: 1 ms", |_| {
        black_box(reader.type_counts(&project).expect("counts"));
    });
    measure("hours of 14 days", 100, "line: 1 ms", |_| {
        let from = from_millis(millis(Sample::end()) - 14 * 86_400_000);
        black_box(reader.hour_counts(&[], from, Sample::end()).expect("counts"));
    });
    measure("all titles", 5, "line: 120 ms at 100k", |_| {
        let mut bytes = 0;
        reader
            .titles(None, &mut |row| {
                bytes += row.title.len() + row.subtitle.len() + row.facts.len();
                true
            })
            .expect("titles");
        black_box(bytes);
    });
}

fn searching(reader: &Store, rows: usize) {
    let line_newest = "line: 2 ms p99 at 100k";
    let line_ranked = "line: 20 ms at 100k";
    let project = Filter { projects: vec!["/home/ana/src/sandbox".into()], ..Filter::default() };
    for (name, text, filter, order, line) in [
        ("newest: common word", "token", Filter::default(), Order::Newest, line_newest),
        ("newest: rare word", "xylophone", Filter::default(), Order::Newest, line_newest),
        ("newest: two words", "refresh token ", Filter::default(), Order::Newest, line_newest),
        ("newest: a beginning", "mid", Filter::default(), Order::Newest, line_newest),
        ("newest: two letters", "re", Filter::default(), Order::Newest, line_newest),
        ("newest: Chinese", "支付回调", Filter::default(), Order::Newest, line_newest),
        ("newest: identifier", "auth_token", Filter::default(), Order::Newest, line_newest),
        ("newest: common, rare project", "token", project.clone(), Order::Newest, line_newest),
        ("relevance: common word", "token", Filter::default(), Order::Relevance, line_ranked),
        ("relevance: rare word", "xylophone", Filter::default(), Order::Relevance, line_ranked),
        ("relevance: two words", "refresh token ", Filter::default(), Order::Relevance, line_ranked),
    ] {
        measure(name, 200, line, |_| {
            black_box(reader.words(text, &filter, order, 50).expect("hits"));
        });
    }
    let path = Filter { files: vec!["src/auth/token.rs".into()], ..Filter::default() };
    measure("newest 40 about a file", 100, "", |_| {
        black_box(reader.list(&path, Order::Newest, None, 40).expect("rows"));
    });
    println!("                                 ({rows} rows)");
}

fn curating(store: &mut Store, rows: usize) {
    let who = Who { actor: "bench", now: Sample::end() };
    let ids: Vec<MemoryId> = (0..1000).map(|at| MemoryId((rows / 3 + at) as i64)).collect();
    measure("1,000 rows to the trash", 1, "line: 300 ms", |_| {
        black_box(store.trash(&ids, true, who, &mut |_, _| true).expect("trashed"));
    });
    measure("undo of that", 1, "line: 100 ms", |_| {
        black_box(store.undo(Resolve::Ask, &mut |_, _| true).expect("undone"));
    });
    measure("redo of that", 1, "", |_| {
        black_box(store.redo(Resolve::Ask, &mut |_, _| true).expect("redone"));
    });
    let retype = cmem::store::curate::Edit { type_id: Some("change".into()), ..Default::default() };
    let others: Vec<MemoryId> = (0..1000).map(|at| MemoryId((rows / 2 + at) as i64)).collect();
    measure("retype 1,000 rows", 1, "", |_| {
        black_box(store.edit(&others, &retype, who, &mut |_, _| true).expect("edited"));
    });
    measure("purge 200 rows", 1, "", |_| {
        black_box(store.purge(&ids[..200], &mut |_, _| true).expect("purged"));
    });
}

fn exchanging(store: &Store, dir: &Path, rows: usize) {
    let start = Instant::now();
    let mut text = Vec::new();
    store.export(&mut text, Format::Jsonl, &Selection::Everything, &mut |_, _| true).expect("exported");
    println!("export                           {:>9.0} rows/s", rate(rows, start.elapsed()));
    let mut other = Store::open(&dir.join("other.db"), Access::ReadWrite, Sample::end()).expect("a store");
    let who = Who { actor: "bench", now: Sample::end() };
    let start = Instant::now();
    let done = other.import(&mut text.as_slice(), 0, false, who, &mut |_, _| true).expect("imported");
    println!(
        "import                           {:>9.0} rows/s ({} added)     line: 10,000 rows/s",
        rate(done.added as usize, start.elapsed()),
        done.added
    );
}
