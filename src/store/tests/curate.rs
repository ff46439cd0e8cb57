use std::fmt::Write as _;

use proptest::prelude::*;
use rusqlite::types::ValueRef;

use super::*;
use crate::memory::{Memory, MemoryId, Source};
use crate::store::api::{ALL_KINDS, Filter, Order, SessionRow};
use crate::store::curate::{Edit, Resolve, StepState, Who};
use crate::store::vectors::Vector;
use crate::store::{Access, StoreError};

const ME: fn(i64) -> Who<'static> = |second| Who { actor: "test", now: at(1000 + second) };

fn go(_: u64, _: u64) -> bool {
    true
}

fn all(store: &Store) -> Vec<Memory> {
    let filter = Filter { kinds: ALL_KINDS.to_vec(), with_excluded_projects: true, ..Filter::default() };
    store.list(&filter, Order::Oldest, None, 1000).unwrap()
}

/// Everything a user could tell apart, as text: rows, words in the index, counters, trash, tombstones. Vectors are not
/// among it: they follow from the text and are made anew behind.
pub fn dump(store: &Store) -> String {
    store
        .conn
        .execute_batch(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', 'memory_fts', 'instance')",
        )
        .unwrap();
    let mut out = String::new();
    for sql in [
        "SELECT * FROM memory ORDER BY id",
        "SELECT * FROM memory_body ORDER BY id",
        "SELECT * FROM project ORDER BY id",
        "SELECT * FROM session ORDER BY id",
        "SELECT id, ord, deleted_ms, step, actor, merged_into, folded_into, image FROM trash ORDER BY id",
        "SELECT * FROM tombstone ORDER BY hash",
        "SELECT * FROM tombstone_event ORDER BY event, kind, memory",
        "SELECT * FROM type_count ORDER BY 1, 2, 3",
        "SELECT * FROM hour_count ORDER BY 1, 2, 3, 4",
        "SELECT term, doc, col, offset FROM temp.terms ORDER BY 2, 3, 4, 1",
    ] {
        let mut query = store.conn.prepare(sql).unwrap();
        let columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        let _ = writeln!(out, "-- {sql}");
        while let Some(row) = rows.next().unwrap() {
            for at in 0..columns {
                let _ = match row.get_ref(at).unwrap() {
                    ValueRef::Null => write!(out, "-|"),
                    ValueRef::Integer(n) => write!(out, "{n}|"),
                    ValueRef::Real(n) => write!(out, "{n}|"),
                    ValueRef::Text(text) => write!(out, "{}|", String::from_utf8_lossy(text)),
                    ValueRef::Blob(blob) => write!(out, "{blob:?}|"),
                };
            }
            out.push('\n');
        }
    }
    out
}

fn difference(a: &str, b: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.lines().collect(), b.lines().collect());
    let only = |left: &[&str], right: &[&str], sign: &str| -> Vec<String> {
        left.iter().filter(|line| !right.contains(line)).take(12).map(|line| format!("{sign} {line}")).collect()
    };
    [only(&a, &b, "-"), only(&b, &a, "+")].concat().join("\n")
}

/// Twenty memories of every sort: folded, replaced, pinned, of two projects and a worktree, with events and vectors.
pub fn fill(store: &mut Store) {
    let finding = |title: &str, second: i64| NewMemory {
        files_modified: vec!["src/client.rs".into()],
        created_at: at(second),
        ..memory(title)
    };
    let mut memories = vec![
        finding("Token refresh race fixed in client", 1),
        finding("Token refresh race repaired in client", 2),
        finding("Token refresh race mended in client", 3),
        prompt("please go on", 1),
        NewMemory {
            kind: Kind::Summary,
            summary: Some(crate::memory::Summary { request: "the login".into(), ..Default::default() }),
            ..memory("the login")
        },
    ];
    for n in 0..15 {
        memories.push(NewMemory {
            created_at: at(10 * n),
            project: Some(ProjectRef {
                worktree: (n % 5 == 0).then(|| "wt-ci".to_owned()),
                ..project(if n % 3 == 0 { "/w/beta" } else { "/w/alpha" })
            }),
            session: Some(SessionId(format!("S{}", n % 4))),
            type_id: ["bugfix", "discovery", "odd_type"][n as usize % 3].into(),
            raw_type: (n % 3 == 2).then(|| "Odd Type".to_owned()),
            narrative: format!("story {n} 支付 of foo_bar"),
            facts: vec![format!("fact {n}")],
            concepts: vec!["gotcha".into()],
            pinned: n % 7 == 0,
            keys: vec![EventKey(format!("key-{n}")), EventKey(format!("key-{}", n + 1))],
            supersedes: if n == 9 { vec![MemoryId(7), MemoryId(8)] } else { Vec::new() },
            ..memory(&format!("memory number {n}"))
        });
    }
    keep(store, memories);
    let sessions = (0..4)
        .map(|n| SessionRow { session: format!("S{n}"), title: Some(format!("session {n}")), ..SessionRow::default() })
        .collect();
    store.record(&Commit { sessions, ..Commit::default() }).unwrap();
    let vectors: Vec<Vector> =
        (1..=12).map(|id| Vector { id: MemoryId(id), scale: 0.5, data: vec![id as i8, -1, 3, 4] }).collect();
    store.put_vectors("m", 4, &vectors).unwrap();
}

#[test]
fn a152_deleting_takes_it_out_of_everything_and_undo_brings_it_all_back() {
    let mut store = store();
    fill(&mut store);
    let before = dump(&store);
    let id = all(&store).iter().find(|it| it.title == "memory number 4").unwrap().id;
    let done = store.trash(&[id], false, ME(0), &mut go).unwrap();
    assert_eq!(done.rows, 1);
    let filter = Filter::default();
    assert!(store.get(&[id]).unwrap().is_empty());
    assert!(!all(&store).iter().any(|it| it.id == id));
    assert!(
        store
            .words("\"memory number 4\"", &filter, Order::Newest, 50)
            .unwrap()
            .hits
            .iter()
            .all(|it| it.memory.id != id)
    );
    assert!(store.words("story 4", &filter, Order::Relevance, 50).unwrap().hits.iter().all(|it| it.memory.id != id));
    let mut with_vector = Vec::new();
    store.vectors("m", 4, &mut |id, _, _| with_vector.push(id)).unwrap();
    assert!(!with_vector.contains(&id));
    assert_eq!(store.trashed(None, 10).unwrap().iter().map(|it| it.memory.id).collect::<Vec<_>>(), [id]);
    let undone = store.undo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!((undone.rows, undone.step.verb.as_str(), undone.step.state), (1, "trash", StepState::Undone));
    assert_eq!(difference(&before, &dump(&store)), "");
    store.vectors("m", 4, &mut |found, _, _| with_vector.extend((found == id).then_some(id))).unwrap();
    assert!(with_vector.contains(&id));
    assert_eq!(store.words("story 4", &filter, Order::Newest, 50).unwrap().hits[0].memory.id, id);
}

#[test]
fn a153_deleting_is_one_transaction_and_a_failure_leaves_it_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    let mut store = Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    fill(&mut store);
    let before = dump(&store);
    let mut reader = Store::open(&path, Access::ReadOnly, at(0)).unwrap();
    let err = reader.trash(&[MemoryId(6)], false, ME(0), &mut go).unwrap_err();
    assert!(matches!(err, StoreError::ReadOnly), "{err}");
    // The index refuses in the middle of the act.
    store
        .conn
        .execute_batch("CREATE TEMP TRIGGER no BEFORE INSERT ON tombstone BEGIN SELECT raise(ABORT, 'no'); END")
        .unwrap();
    assert!(store.trash(&[MemoryId(6)], false, ME(0), &mut go).is_err());
    assert_eq!(difference(&before, &dump(&store)), "");
    assert!(store.history(5).unwrap().is_empty());
    store.conn.execute_batch("DROP TRIGGER no").unwrap();
    assert_eq!(store.trash(&[MemoryId(6)], false, ME(0), &mut go).unwrap().rows, 1);
}

#[test]
fn what_was_deleted_stays_deleted_until_it_is_put_back() {
    let mut store = store();
    let commit = |session: &str, title: &str, key: &str| Commit {
        memories: vec![NewMemory {
            session: Some(SessionId::from(session)),
            keys: vec![EventKey::from(key)],
            ..memory(title)
        }],
        now: Some(at(5)),
        ..Commit::default()
    };
    let id = store.record(&commit("S1", "the finding", "k1")).unwrap().ids[0].unwrap();
    store.trash(&[id], false, ME(0), &mut go).unwrap();
    // Read again, told in other words, told by a fork's session: the same events.
    assert_eq!(store.record(&commit("S1", "the finding", "k1")).unwrap().ids, [None]);
    assert_eq!(store.record(&commit("S1", "the finding", "k7")).unwrap().ids, [None], "same content, other events");
    assert_eq!(store.record(&commit("S1", "in other words", "k1")).unwrap().ids, [None]);
    assert_eq!(store.record(&commit("S2", "the finding", "k1")).unwrap().ids, [None]);
    // Something else of the session is not kept away, nor another kind of row about the same events.
    assert!(store.record(&commit("S1", "another", "k2")).unwrap().ids[0].is_some());
    let summary = NewMemory { kind: Kind::Summary, keys: vec!["k1".into()], ..memory("what it came to") };
    assert!(keep(&mut store, vec![summary]).ids[0].is_some());
    // Purged for good, it stays away all the same.
    store.purge(&[id], &mut go).unwrap();
    assert_eq!(store.record(&commit("S1", "the finding", "k1")).unwrap().ids, [None]);
    // A person who says it again is heard; undone, the tombstone stands again.
    let note = NewMemory { source: Source::Manual, ..memory("the finding") };
    let (added, step) = store.add(&note, ME(9)).unwrap();
    assert!(step.is_some() && added != id);
    store.undo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(store.record(&commit("S1", "the finding", "k9")).unwrap().ids, [None]);
    store.redo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(store.get(&[added]).unwrap()[0].title, "the finding");
}

#[test]
fn pinned_rows_stay_out_of_a_bulk_delete() {
    let mut store = store();
    fill(&mut store);
    let ids: Vec<MemoryId> = all(&store).iter().map(|it| it.id).collect();
    let done = store.trash(&ids, false, ME(0), &mut go).unwrap();
    assert_eq!(done.pinned.len(), 3);
    assert_eq!(all(&store).len(), 3);
    assert_eq!(done.rows, 17, "what stands behind a row goes with it");
    let pinned = done.pinned[0];
    assert_eq!(store.trash(&[pinned], false, ME(1), &mut go).unwrap().rows, 1, "one that is asked for by itself goes");
}

#[test]
fn a_bulk_act_is_one_step_in_chunks_that_can_be_stopped() {
    let mut store = store();
    keep(&mut store, (0..1300).map(|n| NewMemory { created_at: at(n), ..memory(&format!("M{n}")) }).collect());
    let before = dump(&store);
    let ids = store.ids(&Filter::default()).unwrap();
    let mut seen = Vec::new();
    let done = store
        .trash(&ids, false, ME(0), &mut |at, of| {
            seen.push((at, of));
            at < 1000
        })
        .unwrap();
    assert_eq!((done.rows, done.stopped, seen.as_slice()), (1000, true, &[(500, 1300), (1000, 1300)][..]));
    assert_eq!(store.count(&Filter::default()).unwrap(), 300);
    assert_eq!(store.history(5).unwrap().len(), 1);
    // An undo that stops half-way (or is killed there) goes on where it stopped; the other way too.
    let undone = store.undo(Resolve::Ask, &mut |_, _| false).unwrap().unwrap();
    assert!(undone.stopped);
    assert_eq!(store.count(&Filter::default()).unwrap(), 800);
    store.redo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(store.count(&Filter::default()).unwrap(), 300);
    store.undo(Resolve::Ask, &mut |_, _| false).unwrap().unwrap();
    store.undo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(difference(&before, &dump(&store)), "");
    assert!(store.undo(Resolve::Ask, &mut go).unwrap().is_none());
}

#[test]
fn an_undo_never_overwrites_a_later_change_unasked() {
    let mut store = store();
    fill(&mut store);
    let id = MemoryId(7);
    let title = |store: &Store| store.get(&[id]).unwrap()[0].title.clone();
    let edit = |title: &str| Edit { title: Some(title.into()), ..Edit::default() };
    let first = store.edit(&[id], &edit("one"), ME(0), &mut go).unwrap().step.unwrap();
    store.edit(&[id], &edit("two"), ME(1), &mut go).unwrap();
    let err = store.undo_step(first, Resolve::Ask, &mut go).unwrap_err();
    let StoreError::Conflict(conflicts) = err else { panic!("{err}") };
    assert_eq!(
        (conflicts[0].field.as_str(), conflicts[0].expected.as_str(), conflicts[0].found.as_str()),
        ("title", "one", "two")
    );
    assert_eq!(title(&store), "two");
    store.undo_step(first, Resolve::Force, &mut go).unwrap();
    assert_eq!(title(&store), "memory number 1");
    // Edited from an old view: both are shown, nothing is changed.
    let seen = store.get(&[MemoryId(9)]).unwrap().remove(0);
    store.edit(&[MemoryId(9)], &edit("theirs"), ME(2), &mut go).unwrap();
    assert!(matches!(store.edit_seen(&seen, &edit("mine"), ME(3)), Err(StoreError::Conflict(_))));
    assert!(matches!(store.edit(&[id], &edit(" "), ME(4), &mut go), Err(StoreError::Refused(_))));
}

#[test]
fn retyping_a_whole_database_of_wild_types_at_one_go() {
    let mut store = store();
    fill(&mut store);
    let wild = Filter { types: vec!["odd_type".into()], ..Filter::default() };
    let ids = store.ids(&wild).unwrap();
    assert_eq!(ids.len(), 5);
    let edit = Edit { type_id: Some("change".into()), ..Edit::default() };
    let done = store.edit(&ids, &edit, ME(0), &mut go).unwrap();
    assert_eq!((done.rows, store.count(&wild).unwrap()), (5, 0));
    assert!(store.get(&ids).unwrap().iter().all(|it| it.raw_type.is_none() && it.edited), "the mode knows them now");
    let counts = store.type_counts(&Filter::default()).unwrap();
    assert_eq!(counts.iter().find(|it| it.type_id == "change").unwrap().n, 5);
    assert_eq!(store.history(1).unwrap()[0].verb, "retype");
}

#[test]
fn a091_a_renamed_project_shows_its_old_rows_and_leaves_its_sibling_alone() {
    let mut store = store();
    let in_project = |root: &str, title: &str| NewMemory { project: Some(project(root)), ..memory(title) };
    keep(
        &mut store,
        vec![in_project("/w/old", "one"), in_project("/w/old2", "two"), in_project("/w/old/sub", "three")],
    );
    let before = dump(&store);
    let of = |store: &Store, root: &str| -> Vec<String> {
        let filter = Filter { projects: vec![root.into()], ..Filter::default() };
        let mut titles: Vec<String> =
            store.list(&filter, Order::Newest, None, 10).unwrap().into_iter().map(|it| it.title).collect();
        assert_eq!(store.words("", &filter, Order::Newest, 10).unwrap().hits.len(), titles.len());
        titles.sort();
        titles
    };
    assert_eq!(store.alias_project("/w/old", "/w/new", ME(0)).unwrap().rows, 2);
    assert_eq!(of(&store, "/w/new"), ["one"]);
    assert_eq!(of(&store, "/w/new/sub"), ["three"]);
    assert_eq!(of(&store, "/w/old2"), ["two"]);
    assert_eq!(of(&store, "/w/old"), ["one"], "the old name still finds it");
    let one = store.words("one", &Filter::default(), Order::Newest, 1).unwrap().hits.remove(0).memory;
    assert_eq!((one.project.as_str(), one.project_root.as_str()), ("new", "/w/new"));
    // What still comes from the old path is the new project's too; a second rename takes both along.
    keep(&mut store, vec![in_project("/w/old", "four"), in_project("/w/new", "five")]);
    assert_eq!(of(&store, "/w/new"), ["five", "four", "one"]);
    store.alias_project("/w/new", "/w/newest", ME(1)).unwrap();
    assert_eq!(of(&store, "/w/newest"), ["five", "four", "one"]);
    // Back again: no circle.
    store.alias_project("/w/newest", "/w/old", ME(2)).unwrap();
    assert_eq!(of(&store, "/w/old"), ["five", "four", "one"]);
    assert!(store.alias_project("/w/old", "/w/old/x", ME(3)).is_err());
    while store.undo(Resolve::Ask, &mut go).unwrap().is_some() {}
    let added: Vec<MemoryId> =
        all(&store).iter().filter(|it| ["four", "five"].contains(&it.title.as_str())).map(|it| it.id).collect();
    let mut conn_rows = added.len();
    for id in added {
        super::super::rows::remove(&store.conn, id.0).unwrap();
        conn_rows -= 1;
    }
    assert_eq!(conn_rows, 0);
    store.conn.execute_batch("DELETE FROM project WHERE root = '/w/new'").unwrap();
    assert_eq!(difference(&before, &dump(&store)), "");
}

#[test]
fn a094_an_excluded_project_is_hidden_until_asked_for() {
    let mut store = store();
    fill(&mut store);
    let n =
        |store: &Store, filter: Filter| store.words("memory number", &filter, Order::Newest, 50).unwrap().hits.len();
    let (whole, beta) =
        (n(&store, Filter::default()), n(&store, Filter { projects: vec!["/w/beta".into()], ..Filter::default() }));
    store.exclude_project("/w/beta", true, ME(0)).unwrap();
    assert_eq!(n(&store, Filter::default()), whole - beta);
    assert_eq!(n(&store, Filter { projects: vec!["/w/beta".into()], ..Filter::default() }), 0);
    assert_eq!(n(&store, Filter { with_excluded_projects: true, ..Filter::default() }), whole);
    assert!(store.projects().unwrap().iter().any(|it| it.root == "/w/beta" && it.excluded));
    store.exclude_project("/w/beta", false, ME(1)).unwrap();
    assert_eq!(n(&store, Filter::default()), whole);
    // One that is not known yet is kept out from the start.
    store.exclude_project("/w/secret", true, ME(2)).unwrap();
    keep(&mut store, vec![NewMemory { project: Some(project("/w/secret")), ..memory("memory number secret") }]);
    assert_eq!(n(&store, Filter::default()), whole);
}

#[test]
fn a_worktree_is_folded_into_its_project_and_merging_lists_its_sources() {
    let mut store = store();
    fill(&mut store);
    let of = |store: &Store, key: &str| {
        store.count(&Filter { projects: vec![key.into()], kinds: ALL_KINDS.to_vec(), ..Filter::default() }).unwrap()
    };
    let (main, wt) = (of(&store, "=/w/alpha"), of(&store, "/w/alpha#wt-ci"));
    assert!(wt > 0);
    assert_eq!(store.fold_worktree("/w/alpha", "wt-ci", ME(0)).unwrap().rows, wt);
    assert_eq!(of(&store, "=/w/alpha"), main + wt);
    let (winner, losers) = (MemoryId(7), [MemoryId(8), MemoryId(10)]);
    let edit = Edit { title: Some("one of three".into()), ..Edit::default() };
    let before = dump(&store);
    store.merge(winner, &losers, &edit, ME(1)).unwrap();
    let merged = store.get(&[winner]).unwrap().remove(0);
    assert_eq!(merged.title, "one of three");
    assert!(merged.keys.len() >= 5, "{:?}", merged.keys);
    assert_eq!(store.merged_into(winner).unwrap().iter().map(|it| it.memory.id).collect::<Vec<_>>(), losers);
    store.undo(Resolve::Ask, &mut go).unwrap().unwrap();
    assert_eq!(difference(&before, &dump(&store)), "");
}

#[test]
fn look_alikes_are_proposed() {
    let mut store = store();
    keep(
        &mut store,
        vec![
            memory("Rate limit of the login endpoint added today"),
            NewMemory { session: Some("S2".into()), ..memory("Rate limit of the login endpoint added") },
            memory("Something else about the endpoint of another thing"),
        ],
    );
    let clusters = store.duplicates(&Filter::default()).unwrap();
    assert_eq!(clusters.len(), 1);
    assert_eq!(clusters[0].ids, [MemoryId(1), MemoryId(2)]);
}

#[test]
fn what_a_deleted_memory_had_replaced_stands_for_itself_again() {
    let mut store = store();
    fill(&mut store);
    let replaced = |store: &Store| {
        store.list(&Filter { superseded: Some(true), ..Filter::default() }, Order::Newest, None, 9).unwrap().len()
    };
    assert_eq!(replaced(&store), 2);
    store.trash(&[MemoryId(15)], false, ME(0), &mut go).unwrap();
    assert_eq!(replaced(&store), 0);
    store.restore(&[MemoryId(15)], ME(1)).unwrap();
    assert_eq!(replaced(&store), 2);
}

#[test]
fn the_trash_and_the_journal_end_by_the_settings() {
    let mut store = store();
    fill(&mut store);
    store.trash(&[MemoryId(6)], false, ME(0), &mut go).unwrap();
    let later = crate::memory::from_millis(crate::memory::millis(at(1000)) + 31 * 86_400_000);
    store.trash(&[MemoryId(7)], false, Who { actor: "test", now: later }, &mut go).unwrap();
    assert_eq!(store.expire(later, 30, 1000).unwrap(), 1);
    assert_eq!(store.trashed(None, 9).unwrap().iter().map(|it| it.memory.id).collect::<Vec<_>>(), [MemoryId(7)]);
    assert_eq!(store.history(9).unwrap().len(), 1);
    for n in 0..5 {
        let edit = Edit { title: Some(format!("t{n}")), ..Edit::default() };
        store.edit(&[MemoryId(9)], &edit, Who { actor: "test", now: later }, &mut go).unwrap();
    }
    store.expire(later, 30, 3).unwrap();
    assert_eq!(store.history(9).unwrap().len(), 3);
}

#[derive(Clone, Debug)]
enum Act {
    Trash(Vec<u8>, bool),
    Restore(Vec<u8>),
    Edit(Vec<u8>, u8),
    Merge(u8, Vec<u8>),
    Add(u8),
    Alias(u8, u8),
    Exclude(u8, bool),
    Fold,
    Rename(u8),
    Undo,
    Redo,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let ids = || proptest::collection::vec(1u8..24, 1..6);
    let act = prop_oneof![
        4 => (ids(), any::<bool>()).prop_map(|(ids, pinned)| Act::Trash(ids, pinned)),
        2 => ids().prop_map(Act::Restore),
        6 => (ids(), 0u8..9).prop_map(|(ids, n)| Act::Edit(ids, n)),
        2 => (1u8..24, ids()).prop_map(|(winner, losers)| Act::Merge(winner, losers)),
        2 => (0u8..6).prop_map(Act::Add),
        1 => (0u8..4, 0u8..4).prop_map(|(a, b)| Act::Alias(a, b)),
        1 => (0u8..4, any::<bool>()).prop_map(|(a, on)| Act::Exclude(a, on)),
        1 => Just(Act::Fold),
        1 => (0u8..4).prop_map(Act::Rename),
        2 => Just(Act::Undo),
        1 => Just(Act::Redo),
    ];
    proptest::collection::vec(act, 1..30)
}

fn perform(store: &mut Store, act: &Act, n: i64) {
    let ids = |ids: &[u8]| -> Vec<MemoryId> { ids.iter().map(|&id| MemoryId(id.into())).collect() };
    let root = |n: u8| ["/w/alpha", "/w/beta", "/w/gamma", "/w/delta"][usize::from(n)];
    // A refusal is an answer; that it changes nothing is what the comparison shows.
    let _ = match act {
        Act::Trash(list, pinned) => store.trash(&ids(list), *pinned, ME(n), &mut go).map(drop),
        Act::Restore(list) => store.restore(&ids(list), ME(n)).map(drop),
        Act::Edit(list, what) => {
            let edit = match what {
                0 => Edit { title: Some(format!("title {n} 回调")), ..Edit::default() },
                1 => Edit { narrative: Some(format!("told anew {n}")), facts: Some(vec![]), ..Edit::default() },
                2 => Edit { type_id: Some("feature".into()), ..Edit::default() },
                3 => Edit { pinned: Some(n % 2 == 0), ..Edit::default() },
                4 => Edit { excluded: Some(n % 2 == 0), ..Edit::default() },
                5 => Edit { project: Some(project("/w/gamma")), ..Edit::default() },
                6 => Edit {
                    add_concepts: vec!["pattern".into()],
                    drop_concepts: vec!["gotcha".into()],
                    ..Edit::default()
                },
                7 => Edit { superseded_by: Some(Some(MemoryId(n % 20 + 1))), ..Edit::default() },
                _ => Edit {
                    files_modified: Some(vec!["src/x.rs".into()]),
                    subtitle: Some("s".into()),
                    ..Edit::default()
                },
            };
            store.edit(&ids(list), &edit, ME(n), &mut go).map(drop)
        }
        Act::Merge(winner, losers) => {
            store.merge(MemoryId((*winner).into()), &ids(losers), &Edit::default(), ME(n)).map(drop)
        }
        Act::Add(which) => store.add(&memory(&format!("memory number {which}")), ME(n)).map(drop),
        Act::Alias(a, b) => store.alias_project(root(*a), root(*b), ME(n)).map(drop),
        Act::Exclude(a, on) => store.exclude_project(root(*a), *on, ME(n)).map(drop),
        Act::Fold => store.fold_worktree("/w/alpha", "wt-ci", ME(n)).map(drop),
        Act::Rename(which) => store.rename_session(&format!("S{which}"), &format!("name {n}"), ME(n)).map(drop),
        Act::Undo => store.undo(Resolve::Ask, &mut go).map(drop),
        Act::Redo => store.redo(Resolve::Ask, &mut go).map(drop),
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn undoing_all_gives_the_beginning_and_redoing_all_the_end(acts in acts()) {
        let mut store = store();
        fill(&mut store);
        let beginning = dump(&store);
        for (n, act) in acts.iter().enumerate() {
            perform(&mut store, act, n as i64);
        }
        let end = dump(&store);
        let redoable = store.history(99).unwrap().iter().filter(|it| it.state == StepState::Undone).count();
        let mut undone = 0;
        while store.undo(Resolve::Ask, &mut go).unwrap().is_some() {
            undone += 1;
        }
        prop_assert_eq!(difference(&beginning, &dump(&store)), "");
        for _ in 0..undone {
            store.redo(Resolve::Ask, &mut go).unwrap().unwrap();
        }
        prop_assert_eq!(difference(&end, &dump(&store)), "");
        let left = store.history(99).unwrap().iter().filter(|it| it.state == StepState::Undone).count();
        prop_assert_eq!(left, redoable);
        prop_assert!(store.check().unwrap().is_empty());
    }
}

#[test]
fn undo_and_redo_work_over_a_reopen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cmem.db");
    let open = || Store::open(&path, Access::ReadWrite, at(0)).unwrap();
    let mut store = open();
    fill(&mut store);
    let beginning = dump(&store);
    perform(&mut store, &Act::Trash(vec![1, 2, 7, 9], true), 1);
    perform(&mut store, &Act::Edit(vec![10, 11], 0), 2);
    perform(&mut store, &Act::Merge(12, vec![13, 14]), 3);
    let end = dump(&store);
    drop(store);
    while open().undo(Resolve::Ask, &mut go).unwrap().is_some() {}
    assert_eq!(difference(&beginning, &dump(&open())), "");
    while open().redo(Resolve::Ask, &mut go).unwrap().is_some() {}
    assert_eq!(difference(&end, &dump(&open())), "");
}
