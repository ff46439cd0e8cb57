use super::*;
use crate::mode;
use crate::transcript::event::{Body, ToolCall, ToolFacts, ToolOutcome};

fn event(key: &str, name: &str, path: &str, outcome: ToolOutcome) -> Event {
    Event {
        alias: None,
        key: EventKey::from(key),
        session: SessionId::from("s"),
        agent: None,
        parent_call: None,
        time: format!("2026-03-01T10:00:0{}Z", key.len() % 10).parse().ok(),
        cwd: Some("/w/alpha".into()),
        branch: Some("main".into()),
        version: None,
        entrypoint: None,
        turn: 3,
        abandoned: false,
        end_offset: 0,
        body: Body::Tool(ToolCall {
            id: key.into(),
            name: name.into(),
            input: serde_json::json!({ "file_path": path }).to_string(),
            output: String::new(),
            outcome,
            facts: ToolFacts::default(),
        }),
    }
}

fn origin() -> Origin {
    Origin {
        session: Some(SessionId::from("s")),
        project: Some(ProjectRef { root: "/w/alpha".into(), name: "alpha".into(), worktree: None }),
        ..Origin::default()
    }
}

fn draft(title: &str, cites: &[&str]) -> Draft {
    Draft { title: title.into(), cites: cites.iter().map(|key| EventKey::from(*key)).collect(), ..Draft::default() }
}

#[test]
fn each_draft_gets_the_files_of_the_events_it_cites() {
    let events = [
        event("a", "Edit", "/w/alpha/src/a.rs", ToolOutcome::Ok),
        event("bb", "Read", "/w/alpha/src/b.rs", ToolOutcome::Ok),
        event("ccc", "Write", "/tmp/c.rs", ToolOutcome::Ok),
    ];
    let drafts = vec![draft("one", &["a"]), draft("two", &["bb", "ccc"]), draft("all", &[]), draft("made up", &["zz"])];
    let got = correct(drafts, &events, &origin(), &mode::code());
    let files: Vec<_> = got.iter().map(|it| (it.files_read.join(","), it.files_modified.join(","))).collect();
    assert_eq!(files[0], (String::new(), "src/a.rs".into()));
    assert_eq!(files[1], ("src/b.rs".into(), "/tmp/c.rs".into()));
    assert_eq!(files[2], ("src/b.rs".into(), "src/a.rs,/tmp/c.rs".into()));
    assert_eq!(files[2], files[3]);
    assert_eq!(got[1].created_at.to_string(), "2026-03-01T10:00:03Z");
    assert_eq!(got[0].prompt_number, 3);
    assert_eq!(got[0].branch.as_deref(), Some("main"));
    assert_eq!(got[0].keys, [EventKey::from("a")]);
}

#[test]
fn claims_of_changed_files_are_not_believed_and_read_ones_are_added() {
    let events = [event("a", "Read", "/w/alpha/src/a.rs", ToolOutcome::Ok)];
    let mut it = draft("t", &[]);
    it.files_modified = vec!["src/secret.rs".into()];
    it.files_read = vec!["/w/alpha/src/a.rs".into(), "src/b.rs".into()];
    let got = correct(vec![it], &events, &origin(), &mode::code());
    assert_eq!(got[0].files_modified, Vec::<String>::new());
    assert_eq!(got[0].files_read, ["src/a.rs", "src/b.rs"]);
    assert_eq!(got[0].evidence, Evidence::Files);
}

#[test]
fn a025_a_denied_edit_modifies_nothing() {
    let events = [event("a", "Edit", "/w/alpha/a.rs", ToolOutcome::Denied)];
    let mut it = draft("Edit of a.rs was denied", &["a"]);
    it.files_modified = vec!["a.rs".into()];
    let got = correct(vec![it], &events, &origin(), &mode::code());
    assert_eq!(got[0].files_modified, Vec::<String>::new());
    assert_eq!(got[0].evidence, Evidence::None);
}

#[test]
fn a016_empty_records_are_refused() {
    let mut concept_only = Draft { raw_type: "discovery".into(), concepts: vec!["gotcha".into()], ..Draft::default() };
    let mut subtitle_only = concept_only.clone();
    subtitle_only.subtitle = "x".into();
    let blank = Draft { title: " \n".into(), facts: vec!["".into()], ..Draft::default() };
    let got = correct(vec![concept_only.clone(), subtitle_only, blank], &[], &origin(), &mode::code());
    assert_eq!(got, Vec::new());
    concept_only.facts = vec!["The cache is per process".into()];
    let got = correct(vec![concept_only], &[], &origin(), &mode::code());
    assert_eq!(got[0].title, "The cache is per process");
}

#[test]
fn a017_unknown_and_missing_types_are_neutral() {
    let mut unknown = draft("t", &[]);
    unknown.raw_type = "root-cause-analysis".into();
    let got = correct(vec![unknown, draft("u", &[])], &[], &origin(), &mode::code());
    assert_eq!((got[0].type_id.as_str(), got[0].raw_type.as_deref()), ("discovery", Some("root-cause-analysis")));
    assert_eq!((got[1].type_id.as_str(), got[1].raw_type.as_deref()), ("discovery", None));
}

#[test]
fn a018_concepts_come_down_to_their_keyword() {
    let mut it = draft("t", &[]);
    it.concepts = vec!["gotcha: wasm urls differ".into(), "Gotcha".into()];
    assert_eq!(correct(vec![it], &[], &origin(), &mode::code())[0].concepts, ["gotcha"]);
}

#[test]
fn a019_what_a_draft_replaces_is_passed_on() {
    let mut it = draft("t", &[]);
    it.supersedes = vec![crate::memory::MemoryId(7)];
    assert_eq!(correct(vec![it], &[], &origin(), &mode::code())[0].supersedes, [crate::memory::MemoryId(7)]);
}

#[test]
fn long_titles_are_cut_on_words_and_graphemes() {
    let words = "word ".repeat(60);
    let cut_words = cut(words.trim(), 21);
    assert_eq!(cut_words, "word word word word…");
    let family = "👨‍👩‍👧‍👦".repeat(30);
    let cut_family = cut(&family, 5);
    assert_eq!(cut_family, format!("{}…", "👨‍👩‍👧‍👦".repeat(4)));
    assert_eq!(cut("支付回调的幂等键", 5), "支付回调…");
    assert_eq!(cut("short", 5), "short");
}

#[test]
fn control_characters_never_reach_a_row() {
    let mut it = draft("a\u{1b}[31m\nb", &[]);
    it.narrative = "x\u{202e}y\n\nz".into();
    let got = correct(vec![it], &[], &origin(), &mode::code());
    assert!(!got[0].title.contains(['\u{1b}', '\n']) && !got[0].narrative.contains('\u{202e}'));
    assert!(got[0].narrative.contains("\n\n"));
}

#[test]
fn cost_is_shared_and_never_counted_twice() {
    let mut origin = origin();
    origin.work_tokens = 900;
    let got = correct(vec![draft("a", &[]), draft("b", &[]), Draft::default()], &[], &origin, &mode::code());
    assert_eq!(got.iter().map(|it| it.work_tokens).collect::<Vec<_>>(), [450, 450]);
}
