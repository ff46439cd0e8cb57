//! E72–E86: compaction, subagents, lifetime.

use super::*;

fn side(fields: Value) -> Value {
    let mut entry = json!({"isSidechain": true, "agentId": "a1"});
    entry.as_object_mut().expect("object").extend(fields.as_object().expect("object").clone());
    entry
}

#[test]
fn e72_compaction_is_a_mark_and_its_summary_nobodys_words() {
    let mut it = Sheet::new();
    it.user("one").answer("m1", "A.");
    it.entry(json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null, "compactMetadata": {"trigger": "auto"}}));
    it.entry(json!({"type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
        "message": {"content": "This session is being continued … M9"}}));
    it.user("two");
    assert_eq!(
        it.told(),
        ["1 Typed one", "compaction", "1 answer A. .", "1 end NextPrompt", "2 Typed two", "2 end Quiet"]
    );
}

#[test]
fn e73_a_session_that_begins_with_a_summary_has_no_prompt_yet() {
    let mut it = Sheet::new();
    it.entry(
        json!({"type": "user", "isCompactSummary": true, "message": {"content": "This session is being continued"}}),
    );
    it.call("m1", "t1", "Read", json!({})).result("t1", json!("x"));
    let events = it.read();
    assert_eq!(prompts(&events), []);
    assert_eq!(events[0].turn, 0);
}

#[test]
fn e74_a_summary_is_the_title_of_the_session_with_its_leaf() {
    let mut it = Sheet::new();
    it.raw(r#"{"type":"summary","summary":"Fix the cache","leafUuid":"elsewhere"}"#);
    it.raw(r#"{"type":"summary","summary":"No leaf"}"#);
    it.raw(r#"{"type":"ai-title","aiTitle":"Generated","sessionId":"S1"}"#);
    it.raw(r#"{"type":"custom-title","customTitle":"Mine","sessionId":"S1"}"#);
    it.raw(r#"{"type":"ai-title","aiTitle":"Generated again","sessionId":"S1"}"#);
    assert_eq!(it.told(), ["title of elsewhere Fix the cache", "title No leaf", "title Generated", "title Mine"]);
}

#[test]
fn e75_a_warm_up_is_no_work() {
    let mut it = Sheet::new();
    it.entry(side(json!({"type": "user", "message": {"content": "Warmup"}})));
    it.entry(side(
        json!({"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "I am ready."}]}}),
    ));
    assert_eq!(read_as(agent_role("a1"), it.text.as_bytes()).0, []);
    // Somebody who types the word in a session means it.
    let mut it = Sheet::new();
    it.user("Warmup");
    assert_eq!(prompts(&it.read()).len(), 1);
}

fn helper() -> Sheet {
    let mut it = Sheet::new();
    it.entry(side(json!({"type": "user", "message": {"content": "Count the lines."}})));
    it.entry(side(json!({"type": "assistant", "message": {"id": "m1", "content": [
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "wc"}}]}})));
    it.entry(side(json!({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "12"}]}})));
    it.entry(side(json!({"type": "assistant", "message": {"id": "m2", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "12 lines."}]}})));
    it
}

#[test]
fn e76_a_helpers_file_stands_alone_with_or_without_its_parent() {
    let it = helper();
    let (events, _) = read_as(agent_role("a1"), it.text.as_bytes());
    assert_eq!(told(&events), ["0 Bash Ok 12", "0 answer 12 lines. .", "0 end Stopped"]);
    for event in &events {
        assert_eq!((event.session.as_str(), event.agent.as_ref().map(|it| it.as_str())), ("S1", Some("a1")));
        assert_eq!(event.parent_call.as_ref().map(|it| it.as_str()), Some("toolu_p"));
    }
    let untied = FileRole { parent_call: None, ..agent_role("a1") };
    assert_eq!(told(&read_as(untied, it.text.as_bytes()).0), told(&events));
}

#[test]
fn e78_progress_copies_of_a_helpers_lines_are_ignored() {
    let mut it = Sheet::new();
    it.user("go");
    for line in helper().text.lines() {
        let message: Value = serde_json::from_str(line).expect("json");
        it.entry(json!({"type": "progress", "uuid": message["uuid"], "data": {"type": "agent_progress", "agentId": "a1", "message": message}}));
    }
    assert_eq!(it.told(), ["1 Typed go", "1 end Quiet"]);
}

#[test]
fn e79_an_inline_sidechain_is_told_apart_and_tied() {
    let mut it = Sheet::new();
    it.user("go").call("m1", "t1", "Task", json!({"prompt": "Find the tests.", "description": "find"}));
    it.entry(json!({"type": "user", "isSidechain": true, "uuid": "s1", "parentUuid": null, "message": {"content": "Find the tests."}}));
    it.entry(json!({"type": "assistant", "isSidechain": true, "uuid": "s2", "parentUuid": "s1", "message": {"id": "x1", "content": [
        {"type": "tool_use", "id": "t2", "name": "Grep", "input": {}}]}}));
    it.entry(json!({"type": "user", "isSidechain": true, "uuid": "s3", "parentUuid": "s2", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t2", "content": "tests/a.rs"}]}}));
    it.entry(json!({"type": "assistant", "isSidechain": true, "uuid": "s4", "parentUuid": "s3", "message": {"id": "x2", "content": [
        {"type": "text", "text": "In tests/a.rs."}]}}));
    it.result("t1", json!("In tests/a.rs.")).answer("m2", "Found.");
    let events = it.read();
    assert_eq!(
        told(&events),
        [
            "1 Typed go",
            "1 Grep Ok tests/a.rs",
            "1 answer In tests/a.rs.",
            "1 Task Ok In tests/a.rs.",
            "1 answer Found. .",
            "1 end Quiet"
        ]
    );
    for event in &events[1..3] {
        assert_eq!(event.agent.as_ref().map(|it| it.as_str()), Some("inline-s1"));
        assert_eq!(event.parent_call.as_ref().map(|it| it.as_str()), Some("t1"));
    }
    assert!(events[3].agent.is_none() && events[4].agent.is_none());
}

#[test]
fn e80_journals_are_no_work() {
    let mut it = Sheet::new();
    it.raw(r#"{"type":"started","key":"k","agentId":"a1"}"#)
        .raw(r#"{"type":"result","key":"k","agentId":"a1","result":{"x":1}}"#);
    let (events, counts) = read(it.text.as_bytes());
    assert_eq!((events.len(), counts.skipped), (0, 2));
}

#[test]
fn e81_history_at_the_head_of_a_fork_agents_file_is_the_parents() {
    let mut parent = Sheet::new();
    parent.user("go").call("p1", "tp", "Read", json!({})).result("tp", json!("x"));
    let text = format!("{}{}", parent.text, helper().text.replace("\"u", "\"h"));
    let (events, _) = read_as(agent_role("a1"), text.as_bytes());
    let own = parent.read();
    let copy = events.iter().find(|event| event.key.as_str() == "tp").expect("copied");
    assert!(own.iter().any(|event| event.key == copy.key && event.body == copy.body));
    assert!(copy.agent.is_none() && copy.parent_call.is_none());
    assert_eq!(prompts(&events), []);
    assert!(events.iter().any(|event| event.key.as_str() == "t1" && event.agent.is_some()));
}

#[test]
fn e84_two_clients_in_one_file_interleave() {
    let mut it = Sheet::new();
    it.user("go").answer("m1", "One").answer("m2", "Two").answer("m1", "one more").answer("m2", "two more");
    assert_eq!(it.told(), ["1 Typed go", "1 answer One\n\none more", "1 answer Two\n\ntwo more .", "1 end Quiet"]);
}

#[test]
fn e85_unknown_types_are_counted_by_name_and_version() {
    let mut it = Sheet::new();
    it.user("one").entry(json!({"type": "zz-new", "message": 7})).entry(json!({"type": "system", "subtype": "zz-sub"}));
    it.entry(json!({"type": null, "x": 1})).entry(json!({"type": 7})).user("two");
    let (events, counts) = read(it.text.as_bytes());
    assert_eq!(prompts(&events).len(), 2);
    assert_eq!(counts.unknown.get("zz-new"), Some(&1));
    assert_eq!(counts.unknown.get("system/zz-sub"), Some(&1));
    assert_eq!(counts.unknown.get("(none)"), Some(&2));
    assert_eq!(counts.unknown_versions.get(&("zz-new".into(), "2.1.200".into())), Some(&1));
    assert_eq!(counts.malformed, 0);
}

#[test]
fn e86_files_of_other_tools_are_read() {
    let text = concat!(
        r#"{"type":"user","version":"casr","uuid":"c1","message":"plain words","timestamp":"2026-01-01T00:00:00.000Z"}"#,
        "\n",
        r#"{"type":"user","isSidechain":"yes","uuid":42,"sessionId":["a"],"message":{"role":"user","content":"odd"}}"#,
        "\n",
        r#"{"type":"assistant","message":"a string","uuid":"c2","timestamp":"not a time"}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":null,"content":[{"type":"mystery","x":1},7,null]},"uuid":"c3"}"#,
        "\n",
        r#"{"type":"tool_use","name":"x","input":{}}"#,
        "\n",
    );
    let (events, counts) = read(text.as_bytes());
    assert_eq!(told(&events), ["1 Typed plain words", "1 answer a string", "1 end Quiet"]);
    assert_eq!(events[0].version.as_deref(), Some("casr"));
    assert_eq!((counts.malformed, counts.unknown.get("tool_use")), (0, Some(&1)));
}
