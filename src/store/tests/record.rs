use super::*;
use crate::memory::{MemoryId, Source};
use crate::store::api::{CallRow, CursorRow, Filter, Order, PageKey, SessionRow};
use crate::store::{StoreError, api};

#[test]
fn everything_of_a_commit_is_there_afterwards() {
    let mut store = store();
    let commit = Commit {
        memories: vec![NewMemory {
            subtitle: "sub".into(),
            narrative: "narrative".into(),
            facts: vec!["f1".into()],
            concepts: vec!["gotcha".into()],
            files_read: vec!["src/a.rs".into()],
            files_modified: vec!["src/b.rs".into()],
            branch: Some("main".into()),
            cwd: Some("/w/alpha".into()),
            ..memory("title")
        }],
        ledger: vec![row("toolu_1", Outcome::Stored, vec![0]), row("toolu_2", Outcome::Dropped, vec![])],
        cursors: vec![CursorRow {
            file_id: "1:2".into(),
            path: "/t/S1.jsonl".into(),
            offset: 77,
            ..Default::default()
        }],
        sessions: vec![SessionRow {
            session: "S1".into(),
            project: Some(project("/w/alpha")),
            title: Some("Hardening".into()),
            started_at: Some(at(0)),
            last_at: Some(at(9)),
            prompts: 2,
            last_prompt: Some("go on".into()),
        }],
        call: Some(CallRow { outcome: "stored".into(), input_tokens: 10, output_tokens: 5, ..Default::default() }),
        counters: vec![("lines.read".into(), 12)],
        now: Some(at(10)),
        ..Commit::default()
    };
    let recorded = store.record(&commit).unwrap();
    assert_eq!((recorded.new, recorded.repeated), (1, 0));
    let found = store.get(&[recorded.ids[0].unwrap()]).unwrap().remove(0);
    assert_eq!(found.keys, [EventKey::from("toolu_1")]);
    assert_eq!((found.project.as_str(), found.project_root.as_str()), ("alpha", "/w/alpha"));
    assert_eq!(
        (found.files_modified.as_slice(), found.facts.as_slice()),
        (&["src/b.rs".into()][..], &["f1".into()][..])
    );
    assert_eq!((found.created_at, found.recorded_at), (at(0), at(10)));
    assert_eq!(store.cursors().unwrap()[0].offset, 77);
    assert_eq!(store.counters("lines.", None).unwrap(), [("lines.read".to_owned(), 12)]);
    let session = store.session("S1").unwrap().unwrap();
    assert_eq!((session.title.as_str(), session.observations, session.prompts), ("Hardening", 1, 2));
    let entry = store.ledger_of(&"toolu_1".into()).unwrap().unwrap();
    assert_eq!((entry.outcome, entry.memories.as_slice(), entry.call), (Outcome::Stored, &[found.id][..], Some(1)));
    assert_eq!(store.decided(&["toolu_2".into(), "toolu_3".into()]).unwrap().len(), 1);

    // The same commit again (a crash after the commit, before anybody heard of it).
    let again = store.record(&Commit { counters: Vec::new(), call: None, ..commit }).unwrap();
    assert_eq!((again.new, again.repeated, again.ids), (0, 2, recorded.ids));
    assert_eq!(store.list(&Filter::default(), Order::Newest, None, 10).unwrap().len(), 1);
}

#[test]
fn a_failing_row_leaves_nothing_behind_and_says_that_it_always_will_a022() {
    let mut store = store();
    let bad = NewMemory { session: Some(SessionId::from("")), ..memory("M1") };
    let err = store.record(&Commit { memories: vec![memory("M0"), bad], ..Commit::default() }).unwrap_err();
    assert!(matches!(err, StoreError::Constraint(_)) && err.is_permanent_for_item() && !err.is_transient(), "{err}");
    assert!(store.list(&Filter::default(), Order::Newest, None, 10).unwrap().is_empty());
    assert!(store.words("M0", &Filter::default(), Order::Newest, 10).unwrap().hits.is_empty());
    assert_eq!(keep(&mut store, vec![memory("M2")]).new, 1);
}

#[test]
fn a029_equal_content_is_one_row_by_a_unique_constraint() {
    let mut store = store();
    let first = keep(&mut store, vec![memory("M1"), memory("M1")]);
    assert_eq!((first.new, first.ids[0]), (1, first.ids[1]));
    // Other sessions say the same in their own right.
    let other = NewMemory { session: Some(SessionId::from("S2")), ..memory("M1") };
    assert_eq!(keep(&mut store, vec![other]).new, 1);
    // A person who says "continue" twice said it twice.
    assert_eq!(keep(&mut store, vec![prompt("continue", 1), prompt("continue", 2), prompt("continue", 2)]).new, 2);
}

#[test]
fn a030_near_same_titles_on_the_same_file_collapse_to_one_row() {
    let mut store = store();
    let finding = |title: &str, second: i64| NewMemory {
        files_modified: vec!["src/client.rs".into()],
        created_at: at(second),
        ..memory(title)
    };
    let recorded = keep(
        &mut store,
        vec![
            finding("Token refresh race fixed in client", 1),
            finding("Token refresh race repaired in client", 2),
            finding("Token refresh race mended in client", 3),
            finding("Token refresh race fixed in server", 4),
        ],
    );
    assert_eq!(recorded.new, 4);
    let listed = store.list(&Filter::default(), Order::Oldest, None, 10).unwrap();
    assert_eq!(listed.len(), 1, "{:?}", titles(&listed));
    assert_eq!(listed[0].count, 4);
    let behind = store.folded(listed[0].id).unwrap();
    assert_eq!(behind.len(), 3);
    assert_eq!(store.type_counts(&Filter::default()).unwrap()[0].n, 1);
    // A word that only a folded row says finds the row that stands for it, once.
    let hits = store.words("mended", &Filter::default(), Order::Newest, 10).unwrap();
    assert_eq!(hits.hits.iter().map(|hit| hit.memory.id).collect::<Vec<_>>(), [listed[0].id]);
    // The same words about another file are another finding; so is the same bug when it is fixed.
    let other =
        NewMemory { files_modified: vec!["src/server.rs".into()], ..memory("Token refresh race fixed in the client") };
    let fixed = NewMemory { type_id: "bugfix".into(), ..finding("Token refresh race solved in client", 6) };
    keep(&mut store, vec![other, fixed]);
    assert_eq!(store.list(&Filter::default(), Order::Newest, None, 10).unwrap().len(), 3);
}

#[test]
fn an_event_is_known_by_its_second_name_too() {
    let mut store = store();
    let first = LedgerRow { alias: Some("msg_1#ab".into()), ..row("u1", Outcome::Stored, vec![]) };
    let copy = LedgerRow { alias: Some("msg_1#ab".into()), ..row("u9", Outcome::Skipped, vec![]) };
    store.record(&Commit { ledger: vec![first], ..Commit::default() }).unwrap();
    assert_eq!(store.record(&Commit { ledger: vec![copy], ..Commit::default() }).unwrap().repeated, 1);
    for name in ["u1", "u9", "msg_1#ab"] {
        let entry = store.ledger_of(&name.into()).unwrap().unwrap();
        assert_eq!((entry.key.as_str(), entry.outcome), ("u1", Outcome::Stored), "{name}");
    }
    assert_eq!(store.ledger_counts().unwrap(), [1, 0, 0, 0]);
}

#[test]
fn events_and_their_memories_move_to_the_session_that_owns_them() {
    let mut store = store();
    let commit = Commit {
        memories: vec![memory("both"), memory("one")],
        ledger: vec![row("k1", Outcome::Stored, vec![0, 1]), row("k2", Outcome::Stored, vec![0])],
        ..Commit::default()
    };
    let ids = store.record(&commit).unwrap().ids;
    store.record(&Commit { owners: vec![("k1".into(), "S0".into(), None)], ..Commit::default() }).unwrap();
    let sessions = |store: &Store| -> Vec<String> {
        store.get(&[ids[0].unwrap(), ids[1].unwrap()]).unwrap().into_iter().map(|it| it.session.unwrap().0).collect()
    };
    assert_eq!(sessions(&store), ["S1", "S0"], "a memory moves when all it rests on has moved");
    store.record(&Commit { owners: vec![("k2".into(), "S0".into(), None)], ..Commit::default() }).unwrap();
    assert_eq!(sessions(&store), ["S0", "S0"]);
    // It is that session's content now: told again there, it is the same row.
    let again = NewMemory { session: Some(SessionId::from("S0")), ..memory("one") };
    assert_eq!(keep(&mut store, vec![again]).ids, [ids[1]]);
}

#[test]
fn what_was_taken_back_or_rewound_is_marked() {
    let mut store = store();
    let commit = Commit {
        memories: vec![memory("kept"), NewMemory { prompt_number: 3, ..memory("rewound") }],
        ledger: vec![row("k1", Outcome::Stored, vec![0]), row("k2", Outcome::Stored, vec![0])],
        ..Commit::default()
    };
    let ids = store.record(&commit).unwrap().ids;
    let abandoned = |store: &Store| -> Vec<bool> {
        store.get(&[ids[0].unwrap(), ids[1].unwrap()]).unwrap().iter().map(|it| it.abandoned).collect()
    };
    store
        .record(&Commit { retracted: vec!["k1".into()], rewound: vec![("S1".into(), 3, 4)], ..Commit::default() })
        .unwrap();
    assert_eq!(abandoned(&store), [false, true]);
    store.record(&Commit { retracted: vec!["k2".into()], ..Commit::default() }).unwrap();
    assert_eq!(abandoned(&store), [true, true]);
}

#[test]
fn a_title_finds_its_session_by_an_entry_of_it() {
    let mut store = store();
    let uuid = "0b9f3a1c-0000-4abc-8def-0123456789ab";
    store
        .record(&Commit { ledger: vec![row(&format!("{uuid}#answer"), Outcome::Skipped, vec![])], ..Commit::default() })
        .unwrap();
    store.record(&Commit { titles: vec![(uuid.into(), "Named elsewhere".into())], ..Commit::default() }).unwrap();
    assert_eq!(store.session("S1").unwrap().unwrap().title, "Named elsewhere");
}

#[test]
fn pages_hold_every_row_once_whatever_the_order_of_writing() {
    let mut store = store();
    // Written out of order, many in one second, more than eight in one millisecond.
    let memories: Vec<NewMemory> =
        (0..100).map(|n| NewMemory { created_at: at([50, 3, 3, 70, 3][n % 5]), ..memory(&format!("M{n}")) }).collect();
    keep(&mut store, memories);
    for order in [Order::Newest, Order::Oldest] {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = store.list(&Filter::default(), order, after, 7).unwrap();
            let Some(last) = page.last() else { break };
            after = Some(PageKey::of(last));
            all.extend(page);
        }
        assert_eq!(all.len(), 100);
        let times: Vec<_> = all.iter().map(|it| it.created_at).collect();
        let mut sorted = times.clone();
        sorted.sort();
        if order == Order::Newest {
            sorted.reverse();
        }
        assert_eq!(times, sorted);
        let mut ids: Vec<_> = all.iter().map(|it| it.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 100);
    }
}

#[test]
fn filters_are_hard_conditions() {
    let mut store = store();
    let beta = Some(project("/w/beta"));
    let worktree = Some(ProjectRef { worktree: Some("wt-ci".into()), ..project("/w/alpha") });
    keep(
        &mut store,
        vec![
            NewMemory {
                concepts: vec!["gotcha".into()],
                files_modified: vec!["src/auth/a.rs".into()],
                ..memory("one")
            },
            NewMemory { project: beta, type_id: "bugfix".into(), pinned: true, created_at: at(60), ..memory("two") },
            NewMemory {
                project: worktree,
                files_read: vec!["src/auth/deep/b.rs".into()],
                created_at: at(120),
                ..memory("three")
            },
            NewMemory { source: Source::Offline, project: None, session: None, created_at: at(180), ..memory("four") },
            prompt("five", 1),
        ],
    );
    let found = |filter: Filter| -> Vec<String> {
        let filter = Filter { ids: filter.ids.clone(), ..filter };
        let listed = store.list(&filter, Order::Newest, None, 10).unwrap();
        assert_eq!(store.count(&filter).unwrap(), listed.len() as u64);
        assert_eq!(store.ids(&filter).unwrap().len(), listed.len());
        listed.into_iter().map(|it| it.title).collect()
    };
    let strings = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    assert_eq!(found(Filter::default()), ["four", "three", "two", "one"]);
    assert_eq!(found(Filter { projects: strings(&["/w/alpha"]), ..Filter::default() }), ["three", "one"]);
    assert_eq!(found(Filter { projects: strings(&["=/w/alpha"]), ..Filter::default() }), ["one"]);
    assert_eq!(found(Filter { projects: strings(&["/w/alpha#wt-ci"]), ..Filter::default() }), ["three"]);
    assert_eq!(found(Filter { projects: strings(&["/w"]), ..Filter::default() }), Vec::<String>::new());
    assert_eq!(
        found(Filter { projects: strings(&["/w/beta", "/w/alpha"]), ..Filter::default() }),
        ["three", "two", "one"]
    );
    assert_eq!(found(Filter { not_projects: strings(&["/w/alpha"]), ..Filter::default() }), ["four", "two"]);
    assert_eq!(found(Filter { types: strings(&["bugfix"]), ..Filter::default() }), ["two"]);
    assert_eq!(found(Filter { not_types: strings(&["discovery"]), ..Filter::default() }), ["two"]);
    assert_eq!(found(Filter { concepts: strings(&["gotcha"]), ..Filter::default() }), ["one"]);
    assert_eq!(found(Filter { concepts: strings(&["gotch"]), ..Filter::default() }), Vec::<String>::new());
    assert_eq!(found(Filter { files: strings(&["src/auth/**"]), ..Filter::default() }), ["three", "one"]);
    assert_eq!(found(Filter { files: strings(&["src/auth/*"]), ..Filter::default() }), ["one"]);
    assert_eq!(found(Filter { files: strings(&["b.rs"]), ..Filter::default() }), ["three"]);
    assert_eq!(found(Filter { files: strings(&["src/*/a.r?"]), ..Filter::default() }), ["one"]);
    assert_eq!(found(Filter { files: strings(&["src/auth"]), modified_only: true, ..Filter::default() }), ["one"]);
    assert_eq!(found(Filter { sessions: strings(&["S1"]), ..Filter::default() }), ["three", "two", "one"]);
    assert_eq!(found(Filter { ids: vec![(MemoryId(2), MemoryId(3))], ..Filter::default() }), ["three", "two"]);
    assert_eq!(found(Filter { since: Some(at(60)), until: Some(at(120)), ..Filter::default() }), ["two"]);
    assert_eq!(found(Filter { kinds: vec![Kind::Prompt], ..Filter::default() }), ["five"]);
    assert_eq!(found(Filter { sources: strings(&["offline"]), ..Filter::default() }), ["four"]);
    assert_eq!(found(Filter { pinned: Some(true), ..Filter::default() }), ["two"]);
    assert_eq!(found(Filter { pinned: Some(false), tokens_max: Some(0), ..Filter::default() }), Vec::<String>::new());
    assert_eq!(found(Filter { prompt: Some(1), kinds: api::ALL_KINDS.to_vec(), ..Filter::default() }), ["five"]);
}
