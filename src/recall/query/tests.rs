use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

fn local() -> Local {
    Local { now: "2026-03-10T09:30:00Z".parse().unwrap(), zone: TimeZone::UTC }
}

fn vocabulary() -> Vocabulary {
    let word = |id: &str, letter| TypeWord { id: id.into(), letter, label: id.replace('_', " ") };
    Vocabulary {
        types: vec![word("bugfix", 'b'), word("discovery", 'o'), word("decision", 'd'), word("security_note", 'k')],
        concepts: vec!["gotcha".into()],
        projects: vec!["webapp".into()],
    }
}

fn read(text: &str) -> Query {
    Query::parse(text, &vocabulary(), &local())
}

/// The terms in short: `word`, `!not`, alternatives with `|`, the kind by its sign.
fn terms(text: &str) -> String {
    let sign = |kind| match kind {
        TermKind::Word => "",
        TermKind::Phrase => "\"",
        TermKind::Fuzzy => "~",
        TermKind::Whole => "'",
        TermKind::TitleStart => "^",
        TermKind::TitleEnd => "$",
        TermKind::TitleIs => "=",
        TermKind::Regex => "/",
    };
    let term = |t: &Term| format!("{}{}{}", if t.not { "!" } else { "" }, sign(t.kind), t.text);
    let group = |g: &Vec<Term>| g.iter().map(term).collect::<Vec<_>>().join("|");
    read(text).groups.iter().map(group).collect::<Vec<_>>().join(" & ")
}

#[test]
fn every_form_of_the_table_is_read() {
    for (text, expected) in [
        ("redis pool", "redis & pool"),
        ("\"row lock\"", "\"row lock"),
        ("-cache", "!cache"),
        ("!cache", "!cache"),
        ("redis | valkey", "redis|valkey"),
        ("a b | c d", "a & b|c & d"),
        ("~refrsh", "~refrsh"),
        ("'lock", "'lock"),
        ("^fix", "^fix"),
        ("lock$", "$lock"),
        ("^lock$", "=lock"),
        ("/tok(en)?s/", "/tok(en)?s"),
        ("-\"row lock\"", "!\"row lock"),
    ] {
        assert_eq!(terms(text), expected, "{text}");
        assert_eq!(read(text).faults, [], "{text}");
    }
}

#[test]
fn a105_what_is_no_syntax_is_literal() {
    for text in [
        "foo-bar",
        "C++",
        "a AND",
        "NEAR(",
        "path/x:y",
        "'",
        "^",
        "$",
        "~",
        "-",
        "!",
        "http://x.y/z",
        "std::vec",
        "C:\\x",
        "c:\\x",
        "--dry-run",
        "->",
        "!=",
        "~/notes",
        "$HOME",
        "#include",
        "100%_done",
        "don't",
        "a\"b",
        "/usr/local/bin",
        "key=value",
        "支付回调",
    ] {
        let query = read(text);
        assert_eq!(query.faults, [], "{text}");
        let expected = text.split(' ').collect::<Vec<_>>().join(" & ");
        assert_eq!(terms(text), expected);
        assert_eq!(query.filter, Filter::default(), "{text}");
    }
    // A lone quote is left out, the rest is searched for.
    let query = read("\"open");
    assert_eq!(query.plain(), "open");
    assert_eq!(query.faults.len(), 1);
    assert_eq!(query.faults[0].span, 0..1);
}

#[test]
fn filters_are_read() {
    let filter = |text: &str| {
        let query = read(text);
        assert_eq!(query.faults, [], "{text}");
        query.filter
    };
    assert_eq!(filter("type:b,d t:security_note").types, ["bugfix", "decision", "security_note"]);
    assert_eq!(filter("-type:bugfix").not_types, ["bugfix"]);
    assert_eq!(filter("c:gotcha concept:Trade-Off").concepts, ["gotcha", "trade-off"]);
    let files = filter("file:!src/auth/** f:\"a b.rs\"");
    assert_eq!((files.files, files.modified_only), (vec!["src/auth/**".to_owned(), "a b.rs".to_owned()], true));
    assert_eq!(filter("file:!").files, [] as [String; 0]);
    assert!(filter("file:!").modified_only);
    let id = MemoryId;
    assert_eq!(filter("#2039 #2041..2030 #S7").ids, [(id(2039), id(2039)), (id(2030), id(2041)), (id(7), id(7))]);
    assert_eq!(filter("prompt:7").prompt, Some(7));
    assert_eq!((filter("tokens:>2k").tokens_min, filter("tokens:<500").tokens_max), (Some(2001), Some(499)));
    assert_eq!(filter("tokens:1k..5k"), Filter { tokens_min: Some(1000), tokens_max: Some(5000), ..Filter::default() });
    assert_eq!(filter("source:claude"), Filter::default());
    assert_eq!(filter("source:manual").sources, ["manual"]);
    assert_eq!(filter("is:pinned -is:edited").pinned, Some(true));
    assert_eq!(filter("is:pinned -is:edited").edited, Some(false));
    assert_eq!(filter("kind:obs,prompt").kinds, [Kind::Observation, Kind::Prompt]);
    assert_eq!(filter("-kind:obs").kinds, [Kind::Summary, Kind::Prompt]);
    let query = read("p:webapp p:=\"my app\" -project:old s:S171 has:facts type:wild is:new in:title sort:relevance");
    let projects: Vec<_> = query.projects.iter().map(|p| (p.name.as_str(), p.exact, p.not)).collect();
    assert_eq!(projects, [("webapp", false, false), ("my app", true, false), ("old", false, true)]);
    assert_eq!(query.sessions, ["S171"]);
    let checks = [Check::Has(Presence::Facts, true), Check::Wild(true), Check::State(State::New, true)];
    assert_eq!(query.checks, checks);
    assert_eq!(query.fields, [Field::Title]);
    assert_eq!(query.sort, Some(Sort::Relevance));
}

#[test]
fn times_are_the_readers_own() {
    let zone = TimeZone::posix("JST-9").unwrap();
    let local = Local { now: "2026-03-10T20:00:00Z".parse().unwrap(), zone }; // the 11th, 05:00, in Tokyo
    let read = |text: &str| {
        let found = moment(text, &local).unwrap_or_else(|| panic!("{text}"));
        format!("{} {}", found.start(), found.end())
    };
    for (text, expected) in [
        ("today", "2026-03-10T15:00:00Z 2026-03-11T15:00:00Z"),
        ("yesterday", "2026-03-09T15:00:00Z 2026-03-10T15:00:00Z"),
        ("7d", "2026-03-03T20:00:00Z 2026-03-03T20:00:00Z"),
        ("27aug", "2025-08-26T15:00:00Z 2025-08-27T15:00:00Z"),
        ("aug27", "2025-08-26T15:00:00Z 2025-08-27T15:00:00Z"),
        ("27aug2024", "2024-08-26T15:00:00Z 2024-08-27T15:00:00Z"),
        ("29feb", "2024-02-28T15:00:00Z 2024-02-29T15:00:00Z"),
        ("2026-03", "2026-02-28T15:00:00Z 2026-03-31T15:00:00Z"),
        ("2026-03-01", "2026-02-28T15:00:00Z 2026-03-01T15:00:00Z"),
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z 2026-03-01T10:00:00Z"),
        ("2026-03-01T10:00", "2026-03-01T01:00:00Z 2026-03-01T01:00:00Z"),
        ("wed", "2026-03-10T15:00:00Z 2026-03-11T15:00:00Z"),
        ("tue", "2026-03-09T15:00:00Z 2026-03-10T15:00:00Z"),
        ("04:30", "2026-03-10T19:30:00Z 2026-03-10T19:30:00Z"),
        ("1772323200000", "2026-03-01T00:00:00Z 2026-03-01T00:00:00Z"),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    let filter = Query::parse("since:7d until:yesterday", &vocabulary(), &local).filter;
    assert_eq!(filter.until.unwrap().to_string(), "2026-03-10T15:00:00Z");
    let filter = Query::parse("on:27aug", &vocabulary(), &local).filter;
    assert_eq!(filter.since.unwrap().to_string(), "2025-08-26T15:00:00Z");
    for text in ["", "tomorow", "32jan", "2026-13", "25:00", "99999999999d", "aug", "-3d"] {
        assert_eq!(moment(text, &local), None, "{text}");
    }
}

#[test]
fn a_part_that_does_not_parse_is_reported_with_its_place_and_a_suggestion() {
    for (text, span, suggestion) in [
        ("redis type:bugfx pool", 6..16, Some("type:bugfix")),
        ("-type:bugfx", 0..11, Some("-type:bugfix")),
        ("tpye:bugfix", 0..11, Some("type:bugfix")),
        ("since:yesteday", 0..14, Some("since:yesterday")),
        ("is:pined", 0..8, Some("is:pinned")),
        ("has:fcts", 0..8, Some("has:facts")),
        ("tokens:many", 0..11, None),
        ("prompt:x", 0..8, None),
        ("/tok(en/", 0..8, None),
        ("type:", 0..5, None),
        ("| a", 0..1, None),
        ("a |", 2..3, None),
        ("a | type:b", 2..3, None),
        ("\"\"", 0..2, None),
        ("file:\"a b", 0..7, Some("file:\"a\"")),
    ] {
        let query = read(text);
        assert_eq!(query.faults.len(), 1, "{text}: {:?}", query.faults);
        assert_eq!(query.faults[0].span, span, "{text}");
        assert_eq!(query.faults[0].suggestion.as_deref(), suggestion, "{text}");
    }
    let query = read("redis type:bugfx pool");
    assert_eq!((query.plain().as_str(), query.filter.types.len()), ("redis pool", 0));
}

#[test]
fn a_filter_chosen_with_a_key_is_text() {
    assert_eq!(set_filter("redis", Key::Type, &["bugfix", "decision"]), "redis type:bugfix,decision");
    assert_eq!(set_filter("t:b redis type:d", Key::Type, &["discovery"]), "type:discovery redis");
    assert_eq!(remove_filter("redis type:d \"a b\"", Key::Type), "redis \"a b\"");
    assert_eq!(set_filter("-type:b", Key::Type, &["d"]), "-type:b type:d");
    assert_eq!(toggle_value("type:b,d", Key::Type, "b"), "type:d");
    assert_eq!(toggle_value("type:b", Key::Type, "b"), "");
    assert_eq!(set_filter("", Key::Project, &["my app", "x"]), "project:\"my app\",x");
}

#[test]
fn alternatives_become_separate_lookups() {
    assert_eq!(read("a | b c").plain_alternatives(8), ["a c", "b c"]);
    assert_eq!(read("a | -b c").plain_alternatives(8), ["c"]);
    assert_eq!(read("-b").plain_alternatives(8), [""]);
}

#[test]
fn the_judge_finds_text_where_it_stands() {
    let facts = ["Tokens live 15 minutes".to_owned()];
    let files = ["src/auth/refresh.rs".to_owned()];
    let fields = Fields {
        title: "Fixed the row  lock in naïve SQLite pool",
        narrative: "修复支付回调重复",
        facts: &facts,
        files_modified: &files,
        ..Fields::default()
    };
    let admits = |text: &str| Judge::new(&read(text)).admits(&fields);
    for text in [
        "row lock",
        "lock row",
        "\"row lock\"",
        "naive",
        "sqlite",
        "SQLite",
        "支付回调",
        "refresh.rs",
        "~tokns",
        "~tokesn",
        "'lock",
        "^fixed",
        "pool$",
        "/tok(en)?s/",
        "nothing | pool",
        "-cache",
        "in:facts tokens",
        "-in:title row",
        "15",
        "",
    ] {
        assert!(admits(text), "{text}");
    }
    for text in [
        "-lock",
        "Sqlite",
        "\"lock row\"",
        "'loc",
        "^the",
        "^pool",
        "lock$",
        "/^tok$/",
        "in:title tokens",
        "cache",
        "~xyz",
        "nothing | none",
        "-\"row lock\"",
    ] {
        assert!(!admits(text), "{text}");
    }
    let negations = |text: &str| Judge::of(&read(text), |group| group.iter().all(|term| term.not));
    assert!(negations("caching pools").is_empty() && !negations("-cache").is_empty());
    assert!(!negations("nothing -lock").admits(&fields));
}

#[test]
fn a156_marks_stand_on_characters_of_the_original() {
    let judge = Judge::new(&read("stanbul i"));
    for text in ["İstanbul ẞ 击", "ISTANBUL", "naïve i\u{307}", "🦀 Grantで取得"] {
        for mark in judge.marks(text) {
            assert!(text.is_char_boundary(mark.start) && text.is_char_boundary(mark.end), "{text}");
        }
    }
    assert_eq!(Judge::new(&read("naive")).marks("a naïve NAIVE"), [2..8, 9..14]);
    assert_eq!(Judge::new(&read("支付")).marks("x支付y"), std::iter::once(1..7).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any string at all: read without error, faults inside the text, and its own text reads the same again.
    #[test]
    fn no_string_is_an_error(text in "([ a-z|~'^$/\"#:,.!=<>()\\\\\\-]|type:|file:|p:|since:|支付|İ|\\PC){0,24}", any in any::<String>()) {
        for text in [text, any] {
            let query = read(&text);
            for fault in &query.faults {
                prop_assert!(text.get(fault.span.clone()).is_some());
            }
            let again = read(&query.to_text());
            prop_assert_eq!(&again.groups, &query.groups);
            prop_assert_eq!(&again.filter, &query.filter);
            prop_assert_eq!(&again.projects, &query.projects);
            prop_assert_eq!(&again.sessions, &query.sessions);
            prop_assert_eq!(&again.checks, &query.checks);
            prop_assert_eq!(again.sort, query.sort);
            prop_assert_eq!(again.faults.len(), query.faults.len());
            let judge = Judge::new(&query);
            let _ = judge.admits(&Fields { title: &text, ..Fields::default() });
            for mark in judge.marks(&text) {
                prop_assert!(text.get(mark).is_some());
            }
        }
    }

    /// A value of any kind survives being written and read.
    #[test]
    fn a_written_value_reads_the_same(value in "\\PC{1,12}") {
        prop_assume!(!value.trim().is_empty());
        let text = set_filter("redis", Key::Concept, &[&value]);
        prop_assert_eq!(values_of(&text, Key::Concept), [value.trim()]);
    }
}
