use serde_json::Value;

use super::*;
use crate::memory::{Kind, NewMemory};
use crate::mode;
use crate::recall::tell;

/// A database on disk in a folder of its own, and a project for every directory.
struct Bench {
    dir: tempfile::TempDir,
    excluded: Vec<String>,
}

impl Door for Bench {
    fn open(&self, access: Access) -> Result<Store, StoreError> {
        Store::open(&self.dir.path().join("cmem.db"), access, self.now())
    }
    fn now(&self) -> Timestamp {
        "2026-03-10T09:30:00Z".parse().unwrap()
    }
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }
    fn mode(&self) -> Mode {
        mode::code()
    }
    fn project_of(&self, dir: &str) -> ProjectRef {
        ProjectRef { root: dir.into(), name: dir.rsplit('/').next().unwrap().into(), worktree: None }
    }
    fn client_dir(&self) -> Option<String> {
        None
    }
    fn excluded(&self, _: &[ProjectInfo]) -> Vec<String> {
        self.excluded.clone()
    }
    fn meaning(&self) -> Result<Box<dyn Nearest>, String> {
        Err("off".into())
    }
}

fn server(excluded: &[&str]) -> Server {
    let excluded = excluded.iter().map(|it| (*it).to_owned()).collect();
    let bench = Bench { dir: tempfile::tempdir().unwrap(), excluded };
    let mut store = bench.open(Access::ReadWrite).unwrap();
    let memory = |project: &str, at: &str, title: &str| NewMemory {
        type_id: "bugfix".into(),
        title: title.into(),
        narrative: "The token was refreshed twice.".into(),
        project: Some(bench.project_of(&format!("/w/{project}"))),
        session: Some("s".into()),
        created_at: at.parse().unwrap(),
        ..NewMemory::default()
    };
    let memories = vec![
        memory("alpha", "2026-03-01T10:00:00Z", "Fixed token refresh | race"),
        memory("beta", "2026-03-02T10:00:00Z", "Goat token leak"),
        NewMemory { kind: Kind::Summary, ..memory("alpha", "2026-03-01T10:30:00Z", "Login hardening") },
        NewMemory { kind: Kind::Prompt, ..memory("alpha", "2026-03-01T09:59:00Z", "please fix the token refresh") },
    ];
    store.record(&Commit { memories, now: Some(bench.now()), ..Commit::default() }).unwrap();
    Server::new(Arc::new(bench))
}

fn search(server: &Server, json: &str, roots: &[&str]) -> Result<String, String> {
    let roots: Vec<String> = roots.iter().map(|it| (*it).to_owned()).collect();
    server.do_search(&serde_json::from_str(json).unwrap(), &roots)
}

#[test]
fn search_gives_a_compact_table() {
    let server = server(&[]);
    let expected = "\
3 results for “token”; newest first; looked in all projects; engines: words

| ID | When | T | Title | Project | Read |
|---|---|---|---|---|---|
| 2 | 2026-03-02 10:00a | ● | Goat token leak | beta | ~13 |
| S3 | 2026-03-01 10:30a | 🎯 | Login hardening | alpha | ~13 |
| 1 | 2026-03-01 10:00a | ● | Fixed token refresh \\| race | alpha | ~16 |

Details: get_observations with the ids that matter. Around one: timeline with anchor.
";
    assert_eq!(search(&server, r#"{"query":"token"}"#, &[]).unwrap(), expected);
}

#[test]
fn a088_a109_scope_is_the_argument_else_the_clients_roots_else_all_and_is_named() {
    let server = server(&[]);
    let alpha = search(&server, r#"{"query":"token","project":"alpha"}"#, &["/w/beta"]).unwrap();
    assert!(alpha.contains("looked in project alpha") && !alpha.contains("Goat"));
    let roots = search(&server, r#"{"query":"token"}"#, &["/w/beta"]).unwrap();
    assert!(roots.contains("looked in project beta") && roots.contains("Goat") && !roots.contains("race"));
    // Where the client was started, nothing was ever remembered: everything is looked at, and that is said.
    let install_folder = search(&server, r#"{"query":"token"}"#, &["/opt/p"]).unwrap();
    assert!(install_folder.contains("looked in all projects") && install_folder.contains("race"));
    let all = search(&server, r#"{"query":"token","project":"*"}"#, &["/w/beta"]).unwrap();
    assert!(all.contains("all projects") && all.contains("race"));
    let unknown = search(&server, r#"{"query":"token","project":"gamma"}"#, &[]).unwrap_err();
    assert!(unknown.contains("gamma") && unknown.contains("alpha"));
}

#[test]
fn a094_an_excluded_project_is_not_found() {
    let server = server(&["/w/alpha"]);
    let text = search(&server, r#"{"query":"token"}"#, &[]).unwrap();
    assert!(text.contains("Goat") && !text.contains("race"));
    let args = TimelineArgs { anchor: Some(AnchorArg::Text("2026-03-01".into())), ..TimelineArgs::default() };
    assert!(!server.do_timeline(&args, &[]).unwrap().contains("race"));
}

#[test]
fn arguments_mean_what_they_say() {
    let server = server(&[]);
    let rows = |json: &str| {
        let text = search(&server, json, &[]).unwrap();
        text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ID")).count()
    };
    assert_eq!(rows(r#"{"query":"*"}"#), 3);
    assert_eq!(rows(r#"{"query":"*","limit":1}"#), 1);
    assert_eq!(rows(r#"{"query":"","since":"2026-03-02"}"#), 1);
    assert_eq!(rows(r#"{"query":"token","until":"2026-03-01"}"#), 2);
    assert_eq!(rows(r#"{"query":"token","type":"bugfix"}"#), 3);
    assert_eq!(rows(r#"{"query":"kind:prompt token"}"#), 1);
    assert_eq!(rows(r#"{"query":"token","dateStart":"1772409600000"}"#), 1);
    assert!(search(&server, r#"{"query":"x","type":"bugfx"}"#, &[]).unwrap_err().contains("bugfix"));
    assert!(search(&server, r#"{"query":"x","since":"soon"}"#, &[]).unwrap_err().contains("soon"));
    let fault = search(&server, r#"{"query":"token type:bugfx"}"#, &[]).unwrap();
    assert!(fault.contains("Not understood") && fault.contains("race"));
}

#[test]
fn the_timeline_shows_all_kinds_around_its_middle() {
    let server = server(&[]);
    let expected = "\
Around 1 (Fixed token refresh | race): 1 before, 1 after; looked in project alpha

### Mar 1, 2026
P4 9:59a 💬 please fix the token refresh ~16t
1 10:00a ● Fixed token refresh | race ~16t  <- here
S3 10:30a 🎯 Login hardening ~13t

Details: get_observations with the ids that matter.
";
    for json in [r#"{"anchor":1}"#, r#"{"anchor":" #1 "}"#, r#"{"query":"refresh race"}"#] {
        let args = serde_json::from_str(json).unwrap();
        assert_eq!(server.do_timeline(&args, &[]).unwrap(), expected, "{json}");
    }
    let text = |json: &str| server.do_timeline(&serde_json::from_str(json).unwrap(), &[]);
    assert!(
        text(r#"{"anchor":"2026-03-01T10:15:00Z","depth_before":1,"depth_after":1}"#)
            .unwrap()
            .contains("1 before, 1 after")
    );
    assert!(text(r#"{"anchor":"S3"}"#).unwrap().contains("Login hardening ~13t  <- here"));
    assert!(text(r#"{"query":"nothing of the kind"}"#).unwrap().contains("Nothing matches"));
    for (json, why) in [
        ("{}", "anchor"),
        (r#"{"anchor":1,"query":"x"}"#, "not both"),
        (r#"{"anchor":99}"#, "no memory 99"),
        (r#"{"anchor":"123abc"}"#, "123abc"),
    ] {
        assert!(text(json).unwrap_err().contains(why), "{json}");
    }
}

#[test]
fn details_come_in_one_batch_and_say_what_is_not_there() {
    let server = server(&[]);
    let answer = server.do_get(&GetArgs { ids: vec![3, 1, 99] }).unwrap();
    let value: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(value["observations"][0]["id"], 3);
    assert_eq!(value["observations"][1]["narrative"], "The token was refreshed twice.");
    assert_eq!(value["observations"][1]["created_at"], "2026-03-01T10:00:00Z");
    assert_eq!(value["not_found"], serde_json::json!([99]));
    assert!(value["scope"].as_str().unwrap().contains("all projects"));
    assert!(server.do_get(&GetArgs { ids: vec![] }).is_err());
    assert!(server.do_get(&GetArgs { ids: (0..101).collect() }).is_err());
}

#[test]
fn what_is_remembered_is_found_and_given_to_the_next_session() {
    let server = server(&[]);
    let remember = |json: &str, roots: &[String]| server.do_remember(&serde_json::from_str(json).unwrap(), roots);
    let roots = ["/w/alpha".to_owned()];
    let said = remember(r#"{"text":"We deploy on Tuesdays.","type":"decision"}"#, &roots).unwrap();
    assert_eq!(said, "Remembered as 5: We deploy on Tuesdays. (project alpha)");
    assert!(remember(r#"{"text":"We deploy on Tuesdays.","type":"decision"}"#, &roots).unwrap().starts_with("Already"));
    assert!(search(&server, r#"{"query":"deploy tuesday"}"#, &["/w/alpha"]).unwrap().contains("| 5 |"));
    // The words that must not be kept are not.
    let secret =
        remember(r#"{"text":"key sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789 here","project":"beta"}"#, &[])
            .unwrap();
    assert!(!secret.contains("AbCdEf") && secret.contains("project beta"));
    for json in [r#"{"text":" "}"#, r#"{"text":"<private>x</private>"}"#, r#"{"text":"x","project":"gamma"}"#] {
        assert!(remember(json, &[]).is_err(), "{json}");
    }
    // And the next session is given it, manual or not.
    let store = server.door.open(Access::ReadOnly).unwrap();
    let (excluded, _) = crate::gate::exclude::Exclusions::new(&[], None, crate::config::repository::CaseRule::Distinct);
    let (mode, zone, settings) = (mode::code(), TimeZone::UTC, Default::default());
    let teller = tell::Teller { store: &store, mode: &mode, zone: &zone, settings: &settings, excluded: &excluded };
    let context = teller.session_start(&server.door.project_of("/w/alpha")).unwrap();
    assert!(context.text.contains("5 9:30a ⚖ We deploy on Tuesdays."), "{}", context.text);
}

#[test]
fn before_the_first_memory_every_tool_answers() {
    let empty = Server::new(Arc::new(Bench { dir: tempfile::tempdir().unwrap(), excluded: Vec::new() }));
    assert!(search(&empty, r#"{"query":"x"}"#, &[]).unwrap().contains("Nothing is remembered yet"));
    assert!(empty.do_timeline(&TimelineArgs { query: Some("x".into()), ..TimelineArgs::default() }, &[]).is_ok());
    assert!(empty.do_get(&GetArgs { ids: vec![1] }).unwrap().contains("not_found"));
}

#[test]
fn a110_a160_schemas_come_from_the_arguments_and_reads_are_marked() {
    let tools = Server::tool_router().list_all();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["get_observations", "remember", "search", "timeline"]);
    for tool in &tools {
        let annotations = tool.annotations.as_ref().unwrap();
        let reads = tool.name != "remember";
        assert_eq!(annotations.read_only_hint, Some(reads), "{}", tool.name);
        if !reads {
            assert_eq!(annotations.destructive_hint, Some(false));
        }
        assert!(tool.description.as_ref().is_some_and(|it| it.len() > 60));
        let schema = Value::Object((*tool.input_schema).clone());
        assert_eq!(schema["type"], "object");
        let properties = schema["properties"].as_object().unwrap();
        for (name, property) in properties {
            let described = property["description"].is_string() || property["$ref"].is_string();
            assert!(described, "{} {name}: {property}", tool.name);
        }
        // The name a client gives it stays within what hosts allow.
        let full = format!("mcp__cmem__{}", tool.name);
        assert!(full.len() <= 64 && full.chars().all(|ch| ch.is_ascii_alphanumeric() || ch == '_'));
    }
    let required = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        Value::Object((*tool.input_schema).clone())["required"].clone()
    };
    assert_eq!(required("search"), serde_json::json!(["query"]));
    assert_eq!(required("get_observations"), serde_json::json!(["ids"]));
    assert_eq!(required("remember"), serde_json::json!(["text"]));
}

#[test]
fn roots_are_paths() {
    for (uri, path) in [
        ("file:///w/alpha", Some("/w/alpha")),
        ("file://localhost/w/a%20b", Some("/w/a b")),
        ("file:///C:/w", Some("C:/w")),
        ("file:///w/%E6%94%AF", Some("/w/支")),
        ("https://x", None),
        ("file:///w/%zz", None),
    ] {
        assert_eq!(directory_of(uri).as_deref(), path, "{uri}");
    }
}
