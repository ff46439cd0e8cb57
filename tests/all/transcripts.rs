//! `inspect` and `events` over transcript files and folders.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::support::{Home, Script, shared};

const SESSION: &str = "11111111-0000-4000-8000-000000000001";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn events_are_told_in_the_shape_that_is_promised() {
    let home = Home::new();
    let mut it = Script::new(SESSION, "/w/alpha");
    it.user("mend it").tool("toolu_1", "Edit", json!({"file_path": "/w/alpha/a.rs"}), "updated").answer("Done.");
    let path = home.transcript(&format!("-w-alpha/{SESSION}.jsonl"), it.text());
    let helper = home.transcript(
        &format!("-w-alpha/{SESSION}/subagents/agent-a1.jsonl"),
        Script::new(SESSION, "/w/alpha")
            .line(
                "assistant",
                json!({"isSidechain": true, "agentId": "a1", "message": {"id": "m1", "content": [
                {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {"file_path": "/w/alpha/b.rs"}}]}}),
            )
            .text(),
    );
    std::fs::write(helper.with_extension("meta.json"), r#"{"toolUseId": "toolu_1"}"#).unwrap();

    let told = lines(&home.run(&["events", path.to_str().unwrap()]).ok().out);
    let kinds: Vec<&str> = told.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["prompt", "tool", "answer", "turn_end"]);
    for name in [
        "key",
        "kind",
        "session",
        "turn",
        "time",
        "cwd",
        "branch",
        "agent",
        "tool",
        "ok",
        "files_read",
        "files_modified",
        "text_chars",
    ] {
        assert!(told.iter().all(|event| event.get(name).is_some()), "{name}");
    }
    let tool = &told[1];
    assert_eq!((&tool["key"], &tool["tool"], &tool["ok"]), (&json!("toolu_1"), &json!("Edit"), &json!(true)));
    assert_eq!(tool["files_modified"], json!(["/w/alpha/a.rs"]));
    assert_eq!(
        (&told[0]["session"], &told[0]["turn"], &told[0]["text_chars"]),
        (&json!(SESSION), &json!(1), &json!(7))
    );

    // A folder: helpers too, each under its session.
    let all = lines(&home.run(&["events", home.claude().to_str().unwrap()]).ok().out);
    let helpers: Vec<&Value> = all.iter().filter(|event| event["agent"] == "a1").collect();
    assert!(!helpers.is_empty() && helpers.iter().all(|event| event["session"] == SESSION));
    assert_eq!(all.len(), told.len() + helpers.len());
}

#[test]
fn a_file_that_is_not_there_is_one_sentence() {
    let home = Home::new();
    for command in ["inspect", "events"] {
        let run = home.run(&[command, "/nowhere/at/all.jsonl"]);
        assert_eq!((run.code, run.out.as_str()), (1, ""), "{run:?}");
        assert!(run.err.contains("cannot read /nowhere/at/all.jsonl"), "{run:?}");
    }
}

#[test]
fn inspection_of_a_folder_equals_the_oracle() {
    let Some(shared) = shared() else { return };
    let corpus = shared.join("corpus");
    let by_file = |text: &str| -> BTreeMap<String, Value> {
        lines(text)
            .into_iter()
            .map(|mut it| (it.as_object_mut().unwrap().remove("file").unwrap().as_str().unwrap().to_owned(), it))
            .collect()
    };
    let expected = by_file(&std::fs::read_to_string(corpus.join("EXPECTED.jsonl")).unwrap());
    let found = by_file(&Home::new().run(&["inspect", corpus.to_str().unwrap(), "--json"]).ok().out);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (file, figures) in &expected {
        assert_eq!(&found[file], figures, "{file}");
    }
}
