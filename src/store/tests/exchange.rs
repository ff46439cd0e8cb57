#![allow(clippy::disallowed_methods)] // files go in and out here

use std::fs;
use std::io::BufReader;
use std::path::Path;

use super::curate::{dump, fill};
use super::*;
use crate::memory::{Evidence, MemoryId, Source, Summary};
use crate::store::StoreError;
use crate::store::api::{ALL_KINDS, Access, Filter, Order, SessionRow};
use crate::store::curate::{Edit, Resolve, Who};
use crate::store::exchange::{Format, Helpers, ImportKind, Imported, Selection, kind_of_file};
use crate::store::terms::Match;

const ME: Who<'static> = Who { actor: "test", now: Timestamp::UNIX_EPOCH };

fn go(_: u64, _: u64) -> bool {
    true
}

fn export(store: &Store) -> String {
    let mut out = Vec::new();
    store.export(&mut out, Format::Jsonl, &Selection::Everything, &mut go).unwrap();
    String::from_utf8(out).unwrap()
}

fn import(store: &mut Store, text: &str) -> Imported {
    store.import(&mut BufReader::new(text.as_bytes()), 0, false, ME, &mut go).unwrap()
}

/// Twenty rows with every field set, and everything a person can have done to them.
fn worked_on() -> Store {
    let mut store = store();
    fill(&mut store);
    let full = NewMemory {
        raw_type: Some("odd".into()),
        subtitle: "sub \"quoted\"".into(),
        narrative: "line one\nline two\ttab \u{1f980} 支付".into(),
        facts: vec!["a".into(), "b \\ c".into()],
        concepts: vec!["gotcha".into(), "own word".into()],
        files_read: vec!["src/r.rs".into()],
        files_modified: vec!["src/m.rs".into()],
        evidence: Evidence::Files,
        cwd: Some("/w/alpha/sub".into()),
        branch: Some("feat/x".into()),
        agent: Some("a9".into()),
        prompt_number: 3,
        source: Source::Fallback,
        model: Some("haiku".into()),
        work_tokens: 77,
        summary: Some(Summary { learned: "much".into(), ..Summary::default() }),
        keys: vec!["toolu_full".into(), "0b9f3a1c-0000-4abc-8def-0123456789ab#answer".into()],
        pinned: true,
        abandoned: true,
        ..memory("every field")
    };
    let id = keep(&mut store, vec![full]).ids[0].unwrap();
    store
        .edit(&[id], &Edit { title: Some("edited title".into()), excluded: Some(true), ..Edit::default() }, ME, &mut go)
        .unwrap();
    store.trash(&[MemoryId(10), MemoryId(11)], true, ME, &mut go).unwrap();
    store.purge(&[MemoryId(10)], &mut go).unwrap();
    store.alias_project("/w/beta", "/w/moved", ME).unwrap();
    store.exclude_project("/w/secret", true, ME).unwrap();
    let session = SessionRow {
        session: "S1".into(),
        started_at: Some(at(1)),
        last_at: Some(at(2)),
        prompts: 4,
        last_prompt: Some("bye".into()),
        ..SessionRow::default()
    };
    store.record(&Commit { sessions: vec![session], ..Commit::default() }).unwrap();
    store
}

#[test]
fn a154_export_import_export_is_the_same_to_the_byte_and_twice_adds_nothing() {
    let first = worked_on();
    let text = export(&first);
    let mut second = store();
    let done = import(&mut second, &text);
    assert_eq!((done.added, done.known, done.kept_away, done.faulty), (19, 0, 0, 0), "{done:?}");
    let again = export(&second);
    for (a, b) in text.lines().zip(again.lines()) {
        assert_eq!(a, b);
    }
    assert_eq!(text, again);
    let before = dump(&second);
    let twice = import(&mut second, &text);
    assert_eq!((twice.added, twice.known, twice.step), (0, 19, None));
    assert_eq!(dump(&second), before);
    assert_eq!(import(&mut worked_on(), &text).added, 0);
    // An import is one step and can be taken back, and made again.
    second.undo(Resolve::Ask, &mut go).unwrap().unwrap();
    let all = Filter { kinds: ALL_KINDS.to_vec(), with_excluded_projects: true, ..Filter::default() };
    assert_eq!(second.count(&all).unwrap(), 0);
    second.redo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(export(&second), text);
}

#[test]
fn what_is_taken_in_is_found_at_once_and_not_asked_about_again() {
    let mut second = store();
    import(&mut second, &export(&worked_on()));
    let found = second.words("every line two", &Filter::default(), Order::Newest, 5).unwrap().hits;
    assert_eq!(found.len(), 0, "the title was edited");
    let found =
        second.words("edited line two 支付", &Filter::default(), Order::Newest, 5).unwrap().hits.remove(0).memory;
    assert_eq!(second.decided(&["toolu_full".into()]).unwrap().len(), 1);
    let entry = second.ledger_of(&"toolu_full".into()).unwrap().unwrap();
    assert_eq!((entry.memories.as_slice(), entry.reason.as_str()), (&[found.id][..], "import"));
    assert_eq!(second.folded(MemoryId(1)).unwrap().len(), 2);
    let filter = Filter { projects: vec!["/w/moved".into()], kinds: ALL_KINDS.to_vec(), ..Filter::default() };
    assert!(second.count(&filter).unwrap() > 0, "aliases travel");
}

#[test]
fn deletions_travel_and_an_older_export_brings_nothing_back() {
    let mut first = store();
    fill(&mut first);
    let old = export(&first);
    let mut second = store();
    import(&mut second, &old);
    first.trash(&[MemoryId(12)], true, Who { actor: "test", now: at(99) }, &mut go).unwrap();
    // There it goes to the trash too, and can be put back.
    let done = import(&mut second, &export(&first));
    assert_eq!((done.added, done.removed), (0, 1));
    assert!(second.get(&[MemoryId(12)]).unwrap().is_empty());
    // Here it stays away, from the export made before.
    let done = import(&mut first, &old);
    assert_eq!((done.added, done.kept_away), (0, 1));
    // A third that never had it keeps it away as well.
    let mut third = store();
    import(&mut third, &export(&first));
    assert_eq!(import(&mut third, &old).kept_away, 1);
    second.undo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(second.get(&[MemoryId(12)]).unwrap().len(), 1);
}

#[test]
fn ids_that_are_taken_give_way_and_links_follow() {
    let mut second = store();
    keep(&mut second, (0..5).map(|n| memory(&format!("mine {n}"))).collect());
    let mut first = store();
    fill(&mut first);
    import(&mut second, &export(&first));
    let by_title = |title: &str| {
        second
            .words(title, &Filter::default(), Order::Newest, 50)
            .unwrap()
            .hits
            .into_iter()
            .find(|it| it.memory.title == title)
            .unwrap()
            .memory
    };
    let (replaced, by) = (by_title("memory number 1"), by_title("memory number 9"));
    assert_eq!(replaced.superseded_by, Some(by.id));
    assert_eq!(by_title("Token refresh race fixed in client").count, 3);
    assert_eq!(second.folded(by_title("Token refresh race fixed in client").id).unwrap().len(), 2);
}

#[test]
fn a_damaged_line_costs_that_line() {
    let text = export(&worked_on());
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = lines.iter().position(|line| line.contains("memory number 3")).unwrap();
    lines[at].truncate(40);
    lines.insert(at, "{\"record\":\"something-new\"}".into());
    let bad_kind = lines.iter().position(|line| line.contains("memory number 7")).unwrap();
    lines[bad_kind] = lines[bad_kind].replace("\"session\":\"S3\"", "\"session\":\"\"");
    let mut second = store();
    let done = import(&mut second, &lines.join("\n"));
    assert_eq!((done.added, done.faulty), (17, 3), "{:?}", done.faults);
    assert!(second.check().unwrap().is_empty());
    let err = store().import(&mut BufReader::new(&b"hello\n"[..]), 0, false, ME, &mut go).unwrap_err();
    assert!(matches!(err, StoreError::Refused(_)));
    let newer = "{\"record\":\"cmem-export\",\"version\":99}\n";
    assert!(store().import(&mut BufReader::new(newer.as_bytes()), 0, false, ME, &mut go).is_err());
}

#[test]
fn counting_first_changes_nothing() {
    let text = export(&worked_on());
    let mut second = store();
    let before = dump(&second);
    let done = second.import(&mut BufReader::new(text.as_bytes()), 0, true, ME, &mut go).unwrap();
    assert_eq!((done.added, done.step), (19, None));
    assert_eq!(dump(&second), before);
    assert!(second.history(9).unwrap().is_empty());
}

#[test]
fn a_part_can_be_written_out_and_read_by_people() {
    let store = worked_on();
    let filter = Filter { projects: vec!["/w/alpha".into()], ..Filter::default() };
    let mut out = Vec::new();
    let part = Selection::Found(Box::new(filter.clone()), Match::typed("Token refresh"));
    let done = store.export(&mut out, Format::Jsonl, &part, &mut go).unwrap();
    assert_eq!(done.memories, 3, "with what is folded behind it");
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains("/w/moved") && text.contains("\"session\":\"S1\""));
    let mut out = Vec::new();
    store.export(&mut out, Format::Markdown, &Selection::Found(Box::new(filter), None), &mut go).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("# Memories\n\n## 2026-03-01\n\n### #"), "{text}");
    assert!(text.contains("- b \\ c\n") && text.contains("Modified: `src/m.rs`"), "{text}");
    let mut out = Vec::new();
    store.export(&mut out, Format::Csv, &Selection::Everything, &mut go).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("\"sub \"\"quoted\"\"\""));
}

#[test]
fn a_backup_is_complete_private_and_taken_in_like_an_export() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("cmem.db"), Access::ReadWrite, at(0)).unwrap();
    fill(&mut store);
    let copy = dir.path().join("copy.db");
    assert!(store.backup(&copy, &mut go).unwrap() > 0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(matches!(store.backup(&copy, &mut go), Err(StoreError::Refused(_))));
    let stopped = dir.path().join("stopped.db");
    assert!(matches!(store.backup(&stopped, &mut |_, _| false), Err(StoreError::Interrupted)));
    assert!(!stopped.exists());
    assert_eq!(export(&Store::open(&copy, Access::ReadOnly, at(0)).unwrap()), export(&store));
    assert_eq!(kind_of_file(&copy).unwrap(), ImportKind::Database);
    let mut other = self::store();
    assert_eq!(other.import_database(&copy, false, ME, &mut go).unwrap().added, 20);
    assert_eq!(export(&other), export(&store));
}

/// A database as claude-mem 13 lays it out, with invented rows; `older` leaves out what version 12 had not.
fn claude_mem(path: &Path, older: bool) {
    let conn = rusqlite::Connection::open(path).unwrap();
    let extra = if older { "" } else { ", merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT" };
    conn.execute_batch(&format!(
        "CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE, applied_at TEXT);
         CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
             memory_session_id TEXT UNIQUE, project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude',
             user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, status TEXT, custom_title TEXT);
         CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
             text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,
             files_read TEXT, files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0,
             created_at TEXT, created_at_epoch INTEGER NOT NULL, content_hash TEXT, generated_by_model TEXT{extra});
         CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT,
             request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, files_read TEXT,
             files_edited TEXT, prompt_number INTEGER, discovery_tokens INTEGER, created_at TEXT, created_at_epoch INTEGER);
         CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
             prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT, created_at_epoch INTEGER);
         INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at_epoch, custom_title)
             VALUES ('c1', 'm1', 'orchard', 1773000000000, 'Pears'), ('c2', 'm2', 'orchard/graft', 1773000100000, NULL),
                    ('manual-content-orchard', 'manual-orchard', 'orchard', 1773000200000, NULL);
         INSERT INTO observations (memory_session_id, project, type, title, subtitle, facts, narrative, concepts, files_read,
             files_modified, prompt_number, discovery_tokens, created_at_epoch) VALUES
             ('m1', 'orchard', 'discovery', 'Pear importer reads CSV', 'In chunks', '[\"Buffer is 65536 bytes\"]', 'It streams.',
                 '[\"how-it-works\"]', '[\"/home/ana/orchard/src/pear.rs\"]', '[]', 1, 1800, 1773000001000),
             ('m1', 'orchard', 'milestone', 'Release shipped', NULL, 'plain fact', NULL, NULL, NULL,
                 '[\"/home/ana/orchard/Cargo.toml\",\"/etc/hosts\"]', 2, 0, 1773000002000),
             ('m2', 'orchard/graft', 'bugfix', NULL, NULL, '[]', 'Only a story is told. More.', '[]', '[]', '[]', 0, 5, 1773000003),
             ('manual-orchard', 'orchard', 'discovery', 'By hand', 'Manual memory', '[]', 'By hand', '[]', '[]', '[]', NULL, 0, 1773000004000),
             ('gone', 'orchard', 'discovery', 'Of a lost session', '', '[]', 'x', '[]', '[]', '[]', 1, 0, 1773000005000),
             ('m1', 'orchard', 'discovery', NULL, NULL, '[]', NULL, '[]', '[]', '[]', 1, 0, 1773000006000);
         INSERT INTO session_summaries (memory_session_id, project, request, learned, next_steps, created_at_epoch) VALUES
             ('m1', 'orchard', 'Import pears', 'Chunks matter', 'Measure', 1773000007000),
             ('m1', 'orchard', 'Import pears', 'Chunks matter less', 'Rest', 1773000008000);
         INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text, created_at_epoch) VALUES
             ('c1', 1, 'import the pears\nplease', 1773000000500), ('c1', 2, 'continue', 1773000000600), ('c1', 3, 'continue', 1773000000700);"
    ))
    .unwrap();
}

#[test]
fn a108_a_claude_mem_database_of_either_version_is_taken_in_once_and_found() {
    for older in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claude-mem.db");
        claude_mem(&path, older);
        assert_eq!(kind_of_file(&path).unwrap(), ImportKind::ClaudeMem);
        let before = fs::read(&path).unwrap();
        let mut store = store();
        let type_of = |word: &str| match word {
            "discovery" | "bugfix" => (word.to_owned(), None),
            wild => ("discovery".to_owned(), Some(wild.to_owned())),
        };
        let mut helpers = Helpers { type_of: &type_of, project_of: &mut |_, _| None };
        let dry = store.import_claude_mem(&path, true, ME, &mut helpers, &mut go).unwrap();
        assert!(store.history(1).unwrap().is_empty());
        let done = store.import_claude_mem(&path, false, ME, &mut helpers, &mut go).unwrap();
        assert_eq!((done.added, done.faulty), (10, 1), "{done:?}");
        assert_eq!(dry.added, done.added);
        let twice = store.import_claude_mem(&path, false, ME, &mut helpers, &mut go).unwrap();
        assert_eq!((twice.added, twice.known, twice.step), (0, 10, None));
        assert_eq!(fs::read(&path).unwrap(), before);

        let one = |words: &str| {
            let filter = Filter { kinds: ALL_KINDS.to_vec(), ..Filter::default() };
            store.words(words, &filter, Order::Newest, 1).unwrap().hits.remove(0).memory
        };
        let pear = one("pear importer");
        assert_eq!((pear.session.unwrap().0.as_str(), pear.project_root.as_str()), ("c1", "/home/ana/orchard"));
        assert_eq!((pear.files_read.as_slice(), pear.work_tokens), (&["src/pear.rs".to_owned()][..], 1800));
        assert_eq!(crate::memory::millis(pear.created_at), 1_773_000_001_000);
        let wild = one("release shipped");
        assert_eq!((wild.type_id.as_str(), wild.raw_type.as_deref()), ("discovery", Some("milestone")));
        assert_eq!(wild.facts, ["plain fact"]);
        assert_eq!(wild.files_modified, ["Cargo.toml", "/etc/hosts"]);
        let told = one("story told");
        assert_eq!(
            (told.title.as_str(), told.created_at),
            ("Only a story is told. More.", crate::memory::from_millis(1_773_000_003_000))
        );
        assert_eq!(one("by hand").session, None);
        assert_eq!(one("lost session").session.unwrap().0, "gone");
        assert_eq!(one("chunks matter less").summary.unwrap().next_steps, "Rest");
        assert_eq!(one("import the pears please").kind, Kind::Prompt);
        assert_eq!(store.session("c1").unwrap().unwrap().title, "Pears");
        let worktrees: Vec<_> = store.projects().unwrap().into_iter().filter_map(|it| it.worktree).collect();
        assert_eq!(worktrees, ["graft"]);
        store.undo(Resolve::Ask, &mut go).unwrap().unwrap();
        assert_eq!(store.count(&Filter::default()).unwrap(), 0);
    }
}
