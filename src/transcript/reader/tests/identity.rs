//! E21–E36: identity and order.

use super::*;

fn keys(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.key.as_str()).collect()
}

#[test]
fn e21_a_repeated_uuid_counts_once() {
    let mut it = Sheet::new();
    it.user("one").user("two");
    let text = format!("{0}{0}", it.text);
    let (events, counts) = read(text.as_bytes());
    assert_eq!(events, it.read());
    assert_eq!(counts.copies, 2);
}

#[test]
fn e22_copies_in_a_fork_carry_the_same_keys() {
    let mut it = Sheet::new();
    it.user("one").answer("m1", "I look.").call("m1", "t1", "Read", json!({})).result("t1", json!("x"));
    it.answer("m2", "Done.");
    let fork = it.text.replace("\"S1\"", "\"S2\"");
    let (copies, _) = read_as(FileRole { session: "S2".into(), ..role() }, fork.as_bytes());
    assert_eq!(keys(&copies), keys(&it.read()));
    assert!(copies.iter().all(|event| event.session.as_str() == "S2"));
}

#[test]
fn e23_copies_with_new_uuids_and_times_are_known_by_their_second_names() {
    let mut it = Sheet::new();
    it.entry(json!({"type": "user", "version": "1.0.117", "message": {"content": "one"}}));
    it.call("msg_01DemCJdQNaqbuHeDTsr", "t1", "Read", json!({})).result("t1", json!("x"));
    it.answer("msg_01APJ7NGJkB7q4YosLUU", "Done.");
    let original = it.read();
    // The resume copy: new uuids, answers re-stamped, prompts keep their time.
    let mut copy = String::new();
    for line in it.text.lines() {
        let mut line: Value = serde_json::from_str(line).expect("json");
        line["uuid"] = json!(format!("new-{}", line["uuid"].as_str().expect("a uuid")));
        if line["type"] == "assistant" {
            line["timestamp"] = json!("2026-03-02T09:00:00.000Z");
        }
        copy.push_str(&format!("{line}\n"));
    }
    let (copies, _) = read(copy.as_bytes());
    assert_eq!(copies.len(), original.len());
    for (copy, original) in copies.iter().zip(&original) {
        match &original.body {
            Body::Tool(_) => assert_eq!(copy.key, original.key),
            Body::TurnEnd(_) => {}
            _ => assert!(copy.alias.is_some() && copy.alias == original.alias, "{original:?}"),
        }
    }
}

#[test]
fn e23_equal_words_at_equal_times_are_no_copies() {
    let mut it = Sheet::new();
    it.user("one").answer("msg_1", "Done.");
    assert!(it.read().iter().all(|event| event.alias.is_none()));
}

#[test]
fn e24_a_forks_own_uuids_point_back() {
    let mut it = Sheet::new();
    it.entry(json!({"type": "user", "uuid": "n1", "message": {"content": "one"},
        "forkedFrom": {"sessionId": "S0", "messageUuid": "old1"}}));
    it.user("new");
    assert_eq!(keys(&it.read())[0], "old1");
    assert!(keys(&it.read()).contains(&"u2"));
}

#[test]
fn e25_the_file_is_the_session_whatever_ids_stand_in_it() {
    let mut it = Sheet::new();
    it.user("one").entry(json!({"type": "user", "sessionId": "other", "message": {"content": "two"}}));
    assert!(it.read().iter().all(|event| event.session.as_str() == "S1"));
}

#[test]
fn e26_lines_without_a_session_belong_to_the_file() {
    let mut it = Sheet::new();
    it.entry(json!({"type": "user", "sessionId": null, "message": {"content": "one"}}));
    assert_eq!(it.read()[0].session.as_str(), "S1");
}

#[test]
fn e27_entries_without_uuid_are_named_by_their_line() {
    let line = |text: &str| json!({"type": "user", "uuid": null, "message": {"content": text}});
    let mut it = Sheet::new();
    it.entry(line("one")).entry(line("two"));
    let events = it.read();
    let own = keys(&events);
    assert!(own[0].starts_with("line:") && own[0] != own[2], "{own:?}");
    assert_eq!(keys(&it.read()), own);
    // Of state that is written again and again the last wins, and it is told once.
    let mut it = Sheet::new();
    for title in ["a", "a", "b", "b"] {
        it.raw(&json!({"type": "ai-title", "aiTitle": title, "sessionId": "S1"}).to_string());
    }
    assert_eq!(it.told(), ["title a", "title b"]);
}

#[test]
fn e28_entries_without_time_have_the_time_before_them() {
    let mut it = Sheet::new();
    it.entry(json!({"type": "user", "timestamp": null, "message": {"content": "early"}})).user("timed");
    it.entry(json!({"type": "user", "timestamp": null, "message": {"content": "late"}}));
    let times: Vec<_> = it.read().iter().filter(|it| it.body.kind() == "prompt").map(|it| it.time).collect();
    assert_eq!(times, [None, "2026-03-01T10:00:02Z".parse().ok(), "2026-03-01T10:00:02Z".parse().ok()]);
}

#[test]
fn e29_order_is_that_of_the_file() {
    let mut it = Sheet::new();
    it.user("one")
        .entry(json!({"type": "user", "timestamp": "2020-01-01T00:00:00.000Z", "message": {"content": "two"}}));
    it.user("three");
    let events = it.read();
    assert_eq!(prompts(&events).iter().map(|it| it.1).collect::<Vec<_>>(), ["one", "two", "three"]);
}

#[test]
fn e30_a_time_that_is_none_costs_only_the_time() {
    let mut it = Sheet::new();
    for time in [json!("not a time"), json!(1_790_000_000), json!({"a": 1}), json!("2026-99-99T00:00:00.000Z")] {
        it.entry(json!({"type": "user", "timestamp": time, "message": {"content": "x"}}));
    }
    let events = it.read();
    assert_eq!(prompts(&events).len(), 4);
    assert!(events.iter().all(|event| event.time.is_none()));
}

#[test]
fn e31_a_parent_that_is_not_there_is_no_parent() {
    let mut it = Sheet::new();
    it.entry(json!({"type": "user", "parentUuid": "gone", "message": {"content": "one"}}));
    it.entry(json!({"type": "user", "uuid": "loop", "parentUuid": "loop", "message": {"content": "two"}}));
    it.entry(json!({"type": "assistant", "isSidechain": true, "uuid": "side", "parentUuid": "side",
        "message": {"id": "m", "content": [{"type": "text", "text": "three"}]}}));
    let events = it.read();
    assert_eq!(prompts(&events).len(), 2);
    assert!(!it.told().iter().any(|line| line.starts_with("rewind")));
}

#[test]
fn e32_a_rewind_marks_the_turns_it_leaves() {
    let mut it = Sheet::new();
    it.user("one").answer("m1", "A."); // u1, u2
    it.user("two").answer("m2", "B.").user("three").answer("m3", "C."); // u3 hangs on u2
    it.entry(json!({"type": "user", "parentUuid": "u2", "message": {"content": "two, better"}}));
    let told = it.told();
    assert!(told.contains(&"rewind 2-3".to_owned()), "{told:?}");
    assert!(told.contains(&"1 answer A. .".to_owned()) && told.contains(&"2 answer B. .".to_owned()));
    assert!(told.contains(&"4 Typed two, better".to_owned()));
}

#[test]
fn e33_directory_branch_and_version_are_those_of_the_line() {
    let mut it = Sheet::new();
    it.user("one").entry(json!({"type": "user", "cwd": "/w/beta", "gitBranch": "topic", "version": "2.1.300",
        "message": {"content": "two"}}));
    let events = it.read();
    let two = events.iter().find(|event| event.key.as_str() == "u2").expect("there");
    assert_eq!(
        (
            events[0].cwd.as_deref(),
            events[0].branch.as_deref(),
            two.cwd.as_deref(),
            two.branch.as_deref(),
            two.version.as_deref()
        ),
        (Some("/w/alpha"), Some("main"), Some("/w/beta"), Some("topic"), Some("2.1.300"))
    );
    // A call belongs to the directory it was made in, also when it changes it.
    let mut it = Sheet::new();
    it.call("m1", "t1", "Bash", json!({"command": "cd b"}));
    it.entry(json!({"type": "user", "cwd": "/w/beta", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": ""}]}}));
    assert_eq!(it.read()[0].cwd.as_deref(), Some("/w/alpha"));
}

#[test]
fn e36_a_session_that_goes_on_after_its_end_only_adds() {
    let mut it = Sheet::new();
    it.user("one").answer("m1", "Done.");
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    reader.feed(it.text.as_bytes(), &mut out);
    reader.close(&mut out);
    assert_eq!(told(&out).last().map(String::as_str), Some("1 end Quiet"));
    let before = out.len();
    let point = reader.safe_point();
    assert_eq!(point.offset, it.text.len() as u64);
    let mut more = Sheet { text: String::new(), count: 2 };
    more.user("weeks later").answer("m2", "Again.");
    let mut resumed = Reader::resume(role(), &point);
    let mut again = Vec::new();
    resumed.feed(more.text.as_bytes(), &mut again);
    resumed.close(&mut again);
    reader.feed(more.text.as_bytes(), &mut out);
    reader.close(&mut out);
    assert_eq!(told(&again), ["2 Typed weeks later", "2 answer Again. .", "2 end Quiet"]);
    assert_eq!(again, out[before..]);
}
