//! What recall costs: telling a session, searching, and the whole process of a hook.
//!
//! `cargo bench --bench recall` measures with 100,000 memories; `CMEM_BENCH_ROWS` takes another number. Each line gives
//! the median and the 99th percentile, and behind them the line to hold.
#![allow(clippy::disallowed_methods)] // a bench looks at the clock, makes files and starts the program

use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cmem::config::Settings;
use cmem::config::repository::CaseRule;
use cmem::gate::exclude::Exclusions;
use cmem::memory::ProjectRef;
use cmem::recall::find::{Ask, Engine, Scope, find};
use cmem::recall::query::{Local, Query, Sort, Vocabulary};
use cmem::recall::tell::Teller;
use cmem::store::api::Access;
use cmem::store::sample::Sample;
use cmem::store::{Store, api::Filter, api::Order};
use jiff::tz::TimeZone;

fn main() {
    let rows: usize = std::env::var("CMEM_BENCH_ROWS").ok().and_then(|it| it.parse().ok()).unwrap_or(100_000);
    let dir = tempfile::tempdir().expect("a place for the database");
    let path = dir.path().join("cmem.db");
    let mut store = Store::open(&path, Access::ReadWrite, Sample::end()).expect("a new store");
    Sample::of(rows).fill(&mut store).expect("made-up memories");
    store.checkpoint().expect("no reader");
    drop(store);
    println!("{rows} memories");
    let store = Store::open(&path, Access::ReadOnly, Sample::end()).expect("a reader");
    telling(&store);
    searching(&store);
    drop(store);
    whole_processes(dir.path());
}

/// Runs something some times and prints its median and 99th percentile.
fn measure(name: &str, runs: usize, line: &str, mut run: impl FnMut()) {
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (p50, p99) = (times[runs / 2], times[(runs * 99 / 100).min(runs - 1)]);
    println!("{name:<40} p50 {:>8.3} ms   p99 {:>8.3} ms     {line}", ms(p50), ms(p99));
}

/// The project with most memories.
fn busiest(store: &Store) -> ProjectRef {
    let projects = store.projects().expect("projects");
    let it = projects.iter().find(|it| it.worktree.is_none()).expect("a project");
    ProjectRef { root: it.root.clone(), name: it.name.clone(), worktree: None }
}

fn telling(store: &Store) {
    let (mode, zone) = (cmem::mode::code(), TimeZone::UTC);
    let (excluded, _) = Exclusions::new(&[], None, CaseRule::Distinct);
    let project = busiest(store);
    for (name, selection) in [("context, our selection", "cmem"), ("context, the newest", "recent")] {
        let mut settings = Settings::default().context;
        settings.selection = selection.into();
        let teller = Teller { store, mode: &mode, zone: &zone, settings: &settings, excluded: &excluded };
        let bytes = teller.session_start(&project).expect("context").text.len();
        measure(&format!("{name} ({bytes} B)"), 300, "line: 1 ms", || {
            black_box(teller.session_start(&project).expect("context"));
        });
    }
}

fn searching(store: &Store) {
    let local = Local { now: Sample::end(), zone: TimeZone::UTC };
    let scope = Scope::default();
    let newest = store.list(&Filter::default(), Order::Newest, None, 1).expect("a row");
    let common = newest[0].title.split_whitespace().find(|word| word.len() > 4).unwrap_or("token").to_owned();
    for (name, text, sort, line) in [
        ("words, newest first", common.clone(), Sort::Newest, "line: p99 2 ms"),
        ("words, newest first, two letters", common.chars().take(2).collect(), Sort::Newest, "line: p99 2 ms"),
        ("words, by relevance", format!("{common} cache"), Sort::Relevance, "line: p99 20 ms"),
        (
            "a sentence, hybrid without vectors",
            format!("how did we mend the {common} of the cache"),
            Sort::Newest,
            "line: 15 ms",
        ),
        ("inside words", common.chars().skip(1).collect(), Sort::Newest, ""),
        ("nearly the letters", format!("~{common}x"), Sort::Newest, "line: 60 ms"),
    ] {
        let query = Query::parse(&text, &Vocabulary::default(), &local);
        let ask =
            Ask { query: &query, scope: &scope, engine: Engine::Auto, sort, limit: 20, meaning: Err("off"), is: None };
        let engines = find(store, &ask).expect("an answer").engines_line();
        measure(&format!("{name} [{engines}]"), 60, line, || {
            black_box(find(store, &ask).expect("an answer"));
        });
    }
}

/// The program from start to end, as Claude Code or a shell calls it.
fn whole_processes(home: &Path) {
    let store = Store::open(&home.join("cmem.db"), Access::ReadOnly, Sample::end()).expect("a reader");
    let project = busiest(&store);
    let with_file =
        store.list(&Filter { projects: vec![project.root.clone()], ..Filter::default() }, Order::Newest, None, 200);
    let file = with_file.expect("rows").into_iter().find_map(|it| it.files_modified.first().cloned()).expect("a file");
    drop(store);
    // The file must be there to be read; its project need not be.
    let cwd = project.root;
    let input = |event: &str| {
        format!(r#"{{"session_id":"{event}","cwd":"{cwd}","source":"startup","tool_input":{{"file_path":"{file}"}}}}"#)
    };
    let run = |args: &[&str], input: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cmem"))
            .args(args)
            .env("CMEM_HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program");
        child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("taken");
        child.wait_with_output().expect("ended").stdout
    };
    let given = run(&["hook", "session-start"], &input("SessionStart"));
    assert!(!given.is_empty(), "the hook gives something");
    measure("process: --version", 100, "line: 2 ms", || {
        black_box(run(&["--version"], ""));
    });
    measure("process: hook session-start", 200, "line: p50 5 ms, p99 12 ms", || {
        black_box(run(&["hook", "session-start"], &input("SessionStart")));
    });
    measure("process: hook prompt, switched off", 100, "", || {
        black_box(run(&["hook", "prompt"], &input("UserPromptSubmit")));
    });
    measure("process: search, a common word", 100, "line: 6 ms", || {
        black_box(run(&["search", "cache"], ""));
    });
    measure("process: list", 100, "line: 6 ms", || {
        black_box(run(&["list"], ""));
    });
    measure("process: context", 100, "", || {
        black_box(run(&["context", "--project", &cwd], ""));
    });
}
