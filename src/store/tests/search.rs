use proptest::prelude::*;

use super::*;
use crate::memory::MemoryId;
use crate::store::api::{Filter, Order};
use crate::store::terms::{Field, Match};

fn found(store: &Store, text: &str) -> Vec<String> {
    let hits = store.words(text, &Filter::default(), Order::Newest, 10).unwrap();
    hits.hits.into_iter().map(|hit| hit.memory.title).collect()
}

fn with(rows: &[&str]) -> Store {
    let mut store = store();
    keep(&mut store, rows.iter().map(|title| memory(title)).collect());
    store
}

#[test]
fn a104_chinese_japanese_and_korean_of_any_length() {
    let store =
        with(&["修复支付回调重复", "今日は支払いのコールバックを直した", "결제콜백이중복되었다", "Redis缓存v2上线"]);
    for (query, title) in [
        ("支付回调", "修复支付回调重复"),
        ("支", "修复支付回调重复"),
        ("回调重复", "修复支付回调重复"),
        ("支払", "今日は支払いのコールバックを直した"),
        ("コール", "今日は支払いのコールバックを直した"),
        ("콜백", "결제콜백이중복되었다"),
        ("缓存", "Redis缓存v2上线"),
        ("redis缓存", "Redis缓存v2上线"),
        ("v2", "Redis缓存v2上线"),
    ] {
        assert!(found(&store, query).contains(&title.to_owned()), "{query} → {title}");
    }
    assert!(found(&store, "付支").is_empty(), "a run of characters is a phrase");
    assert!(found(&store, "支付重复").is_empty());
}

#[test]
fn a105_any_typed_text_is_legal_and_literal() {
    let store = with(&[
        "call foo_bar(baz) twice",
        "written in C++",
        "see refresh.rs",
        "the foo-bar switch",
        "path/x:y moved",
        "F# too",
    ]);
    for (query, title) in [
        ("foo_bar(baz)", "call foo_bar(baz) twice"),
        ("C++", "written in C++"),
        ("refresh.rs", "see refresh.rs"),
        ("refresh", "see refresh.rs"),
        ("foo-bar", "the foo-bar switch"),
        ("path/x:y", "path/x:y moved"),
        ("F#", "F# too"),
        ("\"open", ""),
        ("a AND", ""),
        ("NEAR(", ""),
        ("'", ""),
        ("^", ""),
        ("title:x", ""),
        ("-", "the foo-bar switch"),
        ("((", ""),
        ("OR", ""),
        ("{title}: x", ""),
        ("\u{0}", ""),
    ] {
        let titles = found(&store, query);
        assert!(title.is_empty() || titles.contains(&title.to_owned()), "{query}: {titles:?}");
    }
    assert!(!found(&store, "C++").contains(&"F# too".to_owned()));
    assert!(found(&store, "D++").is_empty());
}

#[test]
fn a106_empty_or_a_star_means_the_newest() {
    let mut store = store();
    keep(&mut store, (0..5).map(|n| NewMemory { created_at: at(n), ..memory(&format!("M{n}")) }).collect());
    for query in ["", "  ", "*"] {
        let hits = store.words(query, &Filter::default(), Order::Newest, 3).unwrap();
        assert_eq!(hits.hits.iter().map(|hit| hit.memory.title.as_str()).collect::<Vec<_>>(), ["M4", "M3", "M2"]);
        assert!(hits.more);
    }
}

#[test]
fn newest_is_by_event_time_also_when_older_work_is_read_later() {
    let mut store = store();
    for second in [50, 10, 90, 30] {
        keep(&mut store, vec![NewMemory { created_at: at(second), ..memory(&format!("pool at {second}")) }]);
    }
    assert_eq!(found(&store, "pool"), ["pool at 90", "pool at 50", "pool at 30", "pool at 10"]);
}

#[test]
fn words_are_found_in_their_forms_in_any_order_and_as_beginnings() {
    let store = with(&["token refresh race fixed"]);
    for query in ["refresh token", "fixes", "tokens races", "refre", "token ref", "TOKEN", "tökén"] {
        assert_eq!(found(&store, query).len(), 1, "{query}");
    }
    for query in ["refre token", "tok refresh ", "resh"] {
        assert!(found(&store, query).is_empty(), "{query}");
    }
}

#[test]
fn relevance_prefers_the_title_and_scope_is_hard() {
    let mut store = store();
    keep(
        &mut store,
        vec![
            NewMemory { narrative: "the pool of connections".into(), created_at: at(9), ..memory("Late note") },
            NewMemory { created_at: at(1), ..memory("Pool exhausted") },
            NewMemory { project: Some(project("/w/beta")), created_at: at(5), ..memory("Pool elsewhere") },
        ],
    );
    let filter = Filter { projects: vec!["/w/alpha".into()], ..Filter::default() };
    let titles = |order| -> Vec<String> {
        store.words("pool", &filter, order, 10).unwrap().hits.into_iter().map(|hit| hit.memory.title).collect()
    };
    assert_eq!(titles(Order::Relevance), ["Pool exhausted", "Late note"]);
    assert_eq!(titles(Order::Newest), ["Late note", "Pool exhausted"]);
    assert_eq!(titles(Order::Oldest), ["Pool exhausted", "Late note"]);
    // The word the scope is kept by is nobody's text.
    assert!(found(&store, "p1").is_empty());
    assert_eq!(store.ids_matching(&Match::Phrase("pool".into()), &filter).unwrap().len(), 2);
}

#[test]
fn fields_and_exclusions() {
    let mut store = store();
    keep(
        &mut store,
        vec![
            NewMemory { narrative: "cache".into(), ..memory("one pool") },
            NewMemory { files_read: vec!["src/pool.rs".into()], ..memory("two cache") },
        ],
    );
    let ids = |wanted: Match| store.ids_matching(&wanted, &Filter::default()).unwrap();
    let word = |text: &str| Match::Phrase(text.into());
    assert_eq!(ids(Match::In(vec![Field::Title], Box::new(word("cache")))), [MemoryId(2)]);
    assert_eq!(ids(Match::In(vec![Field::Files], Box::new(word("pool")))), [MemoryId(2)]);
    assert_eq!(
        ids(Match::Without(Box::new(word("pool")), Box::new(Match::In(vec![Field::Files], Box::new(word("pool")))))),
        [MemoryId(1)]
    );
    assert_eq!(ids(Match::Any(vec![word("one"), word("two")])).len(), 2);
}

#[test]
fn a108_summaries_and_files_are_found_and_pictures_too() {
    let mut store = store();
    let summary = crate::memory::Summary { next_steps: "measure the bundle".into(), ..Default::default() };
    keep(
        &mut store,
        vec![
            NewMemory { kind: Kind::Summary, summary: Some(summary), ..memory("Request") },
            NewMemory { files_modified: vec!["src/auth/stream.ts".into()], ..memory("Edit") },
            memory("crab 🦀 and → arrow"),
        ],
    );
    assert_eq!(found(&store, "bundle"), ["Request"]);
    assert_eq!(found(&store, "auth/stream.ts"), ["Edit"]);
    assert_eq!(found(&store, "🦀"), ["crab 🦀 and → arrow"]);
    assert_eq!(found(&store, "→"), ["crab 🦀 and → arrow"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_ever_an_error(text in "\\PC{0,40}|[ -~]{0,40}|[\\x00-\\x7f支付カ한🦀+#\"'*^():{}-]{0,24}") {
        let store = with(&["a row"]);
        for order in [Order::Newest, Order::Relevance] {
            store.words(&text, &Filter::default(), order, 5).unwrap();
        }
        for wanted in [Match::Phrase(text.clone()), Match::Prefix(text.clone()), Match::Forms(text.clone())] {
            store.matching(&Match::In(vec![Field::Title], Box::new(wanted)), &Filter::default(), Order::Newest, 5).unwrap();
        }
    }

    #[test]
    fn what_a_row_says_finds_it(text in "[a-zA-Z0-9_.+#/支付回调カナ한국🦀é -]{1,30}") {
        let store = with(&[&text]);
        let hits = store.words(&text, &Filter::default(), Order::Newest, 5).unwrap();
        prop_assert_eq!(hits.hits.len(), 1, "{:?}", text);
        for part in text.split_whitespace() {
            prop_assert_eq!(store.words(part, &Filter::default(), Order::Newest, 5).unwrap().hits.len(), 1, "{:?} in {:?}", part, text);
        }
    }
}
