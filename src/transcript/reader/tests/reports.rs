//! Field reports about the format and about duplicates, as far as they concern the reader.

use super::*;

#[test]
fn a026_lifecycle_lines_give_nothing() {
    let mut it = Sheet::new();
    it.user("ping").answer("m1", "HEARTBEAT_OK");
    for _ in 0..10 {
        it.entry(json!({"type": "system", "subtype": "informational", "content": "reconnected"}));
    }
    assert_eq!(it.told(), ["1 Typed ping", "1 answer HEARTBEAT_OK .", "1 end Quiet"]);
}

#[test]
fn a027_an_event_without_directory_inherits_it() {
    let mut it = Sheet::new();
    it.call("m1", "t1", "Read", json!({})).result("t1", json!("1"));
    it.entry(json!({"type": "assistant", "cwd": null, "message": {"id": "m2", "content": [
        {"type": "tool_use", "id": "t2", "name": "Read", "input": {}}]}}));
    it.entry(json!({"type": "user", "cwd": null, "message": {"content": [{"type": "tool_result", "tool_use_id": "t2", "content": "2"}]}}));
    assert!(it.read().iter().all(|event| event.cwd.as_deref() == Some("/w/alpha")));
}

#[test]
fn a031_lines_written_twice_are_told_once() {
    let mut it = Sheet::new();
    it.user("go").call("m1", "t1", "Bash", json!({})).result("t1", json!("M1"));
    let doubled: String = it.text.lines().map(|line| format!("{line}\n{line}\n")).collect();
    assert_eq!(
        read(doubled.as_bytes()).0.iter().map(|it| &it.key).collect::<Vec<_>>(),
        it.read().iter().map(|it| &it.key).collect::<Vec<_>>()
    );
}

#[test]
fn a032_history_written_again_by_a_second_compaction_is_told_once_across_a_restart() {
    let mut it = Sheet::new();
    it.user("one").call("m1", "t1", "Bash", json!({})).result("t1", json!("M1")).answer("m2", "Done.").user("two");
    let history = it.text.clone();
    it.entry(json!({"type": "system", "subtype": "compact_boundary"}));
    it.text.push_str(&history);
    let split = it.text.len();
    it.user("three");
    let (whole, _) = read(it.text.as_bytes());
    let mut keys: Vec<_> = whole.iter().map(|event| event.key.clone()).collect();
    let told = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), told);
    assert_eq!(prompts(&whole).iter().map(|it| it.1).collect::<Vec<_>>(), ["one", "two", "three"]);
    for place in [history.len(), split - 10, split] {
        let mut reader = Reader::new(role());
        let mut first = Vec::new();
        reader.feed(&it.text.as_bytes()[..place], &mut first);
        let point = reader.safe_point();
        let mut resumed = Reader::resume(role(), &point);
        let mut second = Vec::new();
        resumed.feed(&it.text.as_bytes()[usize::try_from(point.offset).expect("fits")..], &mut second);
        resumed.close(&mut second);
        // Prompts are known across the restart; so turns are numbered as without it.
        let words: Vec<_> = prompts(&first).into_iter().chain(prompts(&second)).map(|it| it.1).collect();
        assert_eq!(words, ["one", "two", "three"], "restart at {place}");
        let third = second.iter().find(|event| event.body.kind() == "prompt" && event.turn == 3);
        assert!(third.is_some(), "restart at {place}: {second:?}");
    }
}

#[test]
fn a035_partial_lines_of_one_answer_are_merged() {
    let mut it = Sheet::new();
    for (block, tokens) in [
        (json!({"type": "text", "text": "a"}), 5),
        (json!({"type": "text", "text": "b"}), 9),
        (json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "M1"}}), 40),
    ] {
        it.entry(json!({"type": "assistant", "requestId": "r1", "message": {"id": "m1", "content": [block], "usage": {"output_tokens": tokens}}}));
    }
    let (events, counts) = read(it.text.as_bytes());
    assert_eq!(told(&events), ["0 Bash Interrupted ", "0 answer a\n\nb", "0 end Quiet"]);
    assert_eq!(counts.output_tokens, 40);
}

#[test]
fn a036_a037_side_files_belong_to_the_session_and_to_their_agent() {
    let line = |agent: &str, id: &str| {
        format!(
            "{}\n",
            json!({"type": "assistant", "isSidechain": true, "sessionId": "S1", "agentId": agent, "uuid": format!("u-{id}"),
            "message": {"id": id, "content": [{"type": "text", "text": "done"}]}})
        )
    };
    for agent in ["9f", "a0"] {
        let (events, _) = read_as(agent_role(agent), line(agent, agent).as_bytes());
        assert!(!events.is_empty());
        assert!(
            events
                .iter()
                .all(|it| it.session.as_str() == "S1" && it.agent.as_ref().is_some_and(|it| it.as_str() == agent))
        );
    }
}

#[test]
fn a131_half_written_line_waits() {
    let mut it = Sheet::new();
    it.call("m1", "t1", "Bash", json!({})).result("t1", json!("M1"));
    let second = it.text.find('\n').expect("two lines") + 1;
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    reader.feed(&it.text.as_bytes()[..second + 40], &mut out);
    reader.quiet(&mut out);
    reader.quiet(&mut out);
    reader.feed(&it.text.as_bytes()[second + 40..], &mut out);
    assert_eq!(only_tool(&out).output, "M1");
    assert_eq!(reader.counts().malformed, 0);
}

#[test]
fn a132_a_line_that_will_never_parse_is_left_behind_for_good() {
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    reader.feed(b"{\"broken\n", &mut out);
    assert_eq!(reader.take_counts().malformed, 1);
    let point = reader.safe_point();
    assert_eq!(point.offset, 9);
    let mut it = Sheet::new();
    it.result("t1", json!("M1"));
    let mut resumed = Reader::resume(role(), &point);
    resumed.feed(it.text.as_bytes(), &mut out);
    assert_eq!(only_tool(&out).output, "M1");
    assert_eq!(resumed.counts().malformed, 0);
    // Inside an open turn the line is read again, but not counted again.
    let mut it = Sheet::new();
    it.user("go").raw("{\"broken");
    let mut reader = Reader::new(role());
    reader.feed(it.text.as_bytes(), &mut out);
    let point = reader.safe_point();
    assert!(point.offset < it.text.len() as u64);
    let mut resumed = Reader::resume(role(), &point);
    resumed.feed(&it.text.as_bytes()[usize::try_from(point.offset).expect("fits")..], &mut out);
    assert_eq!((resumed.counts().malformed, resumed.counts().lines), (0, 0));
}

#[test]
fn a134_a_compaction_summary_is_nobodys_words() {
    let mut it = Sheet::new();
    it.entry(
        json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "This continues… M9"}}),
    );
    assert_eq!(it.read(), []);
}

#[test]
fn a135_results_of_any_shape_close_their_calls() {
    let mut it = Sheet::new();
    it.user("go");
    for (number, content) in [json!([{"type": "text", "text": "M1"}]), json!("M2"), json!([])].into_iter().enumerate() {
        let id = format!("t{number}");
        it.call("m1", &id, "Bash", json!({})).result(&id, content);
    }
    it.call("m1", "t3", "Bash", json!({}))
        .entry(json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t3"}]}}));
    let events = it.read();
    let outputs: Vec<_> = tools(&events).iter().map(|it| (it.outcome, it.output.as_str())).collect();
    assert_eq!(
        outputs,
        [(ToolOutcome::Ok, "M1"), (ToolOutcome::Ok, "M2"), (ToolOutcome::Ok, ""), (ToolOutcome::Ok, "")]
    );
}

#[test]
fn a136_rows_with_earlier_times_are_read_like_others() {
    let mut it = Sheet::new();
    for time in ["2026-03-01T10:05:00.000Z", "2026-03-01T10:01:00.000Z"] {
        it.entry(json!({"type": "user", "timestamp": time, "message": {"content": time}}));
    }
    let events = it.read();
    let times: Vec<_> =
        events.iter().filter(|it| it.body.kind() == "prompt").map(|it| it.time.map(|it| it.to_string())).collect();
    assert_eq!(times, [Some("2026-03-01T10:05:00Z".to_owned()), Some("2026-03-01T10:01:00Z".to_owned())]);
}

#[test]
fn a137_a_preview_of_a_missing_side_file_is_enough() {
    let mut it = Sheet::new();
    it.call("m1", "t1", "Bash", json!({}));
    it.result("t1", json!("<persisted-output>… full output in …/tool-results/x.txt … M1"));
    assert!(only_tool(&it.read()).output.ends_with("M1"));
}

#[test]
fn a138_a_line_of_16_mb_between_others_is_read() {
    let mut it = Sheet::new();
    let huge = format!("M2 {} M2", "x".repeat(16 << 20));
    it.user("before").call("m1", "t1", "Read", json!({})).result("t1", json!(huge)).user("after");
    let mut reader = Reader::new(role());
    let mut out = Vec::new();
    for chunk in it.text.as_bytes().chunks(64 << 10) {
        reader.feed(chunk, &mut out);
    }
    let tool = only_tool(&out);
    assert!(tool.output.starts_with("M2 ") && tool.output.ends_with(" M2"));
    assert_eq!(prompts(&out).len(), 2);
}

#[test]
fn a139_a_new_line_type_stops_nothing() {
    let mut it = Sheet::new();
    it.user("one").entry(json!({"type": "progress"})).entry(json!({"type": "zz-new", "message": 7})).user("two");
    let (events, counts) = read(it.text.as_bytes());
    assert_eq!(prompts(&events).len(), 2);
    let unknown: Vec<_> = counts.unknown.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(unknown, [("progress", 1), ("zz-new", 1)]);
}

#[test]
fn a140_a_run_of_nul_bytes_costs_one_line() {
    let mut it = Sheet::new();
    it.user("one").raw(&"\0".repeat(4096)).user("two");
    let (events, counts) = read(it.text.as_bytes());
    assert_eq!((prompts(&events).len(), counts.malformed), (2, 1));
}

#[test]
fn a141_line_separators_inside_a_string_are_no_line_ends() {
    let text = "{\"type\":\"user\",\"uuid\":\"u1\",\"message\":{\"content\":\"a\u{2028}b\u{85}c\"}}\n";
    let (events, counts) = read(text.as_bytes());
    assert_eq!(prompts(&events), [(PromptKind::Typed, "a\u{2028}b\u{85}c")]);
    assert_eq!((counts.lines, counts.malformed), (1, 0));
}

#[test]
fn a142_a_queued_prompt_is_a_prompt() {
    let mut it = Sheet::new();
    it.entry(json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "also fix M5"}}));
    it.entry(json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": [{"type": "text", "text": "and M6"}]}}));
    assert_eq!(prompts(&it.read()), [(PromptKind::Steering, "also fix M5"), (PromptKind::Steering, "and M6")]);
}

#[test]
fn a143_an_agent_without_parent_is_read() {
    let mut it = Sheet::new();
    it.call("m1", "t1", "Read", json!({})).result("t1", json!("M1"));
    let (events, _) = read_as(FileRole { parent_call: None, ..agent_role("a") }, it.text.as_bytes());
    assert_eq!(only_tool(&events).output, "M1");
}

#[test]
fn a144_work_on_a_branch_left_behind_is_kept_and_marked() {
    let mut it = Sheet::new();
    it.user("one").answer("m1", "A.").user("u3").call("m2", "t1", "Edit", json!({})).result("t1", json!("done"));
    it.entry(json!({"type": "user", "parentUuid": "u2", "message": {"content": "u3'"}})).answer("m3", "C.");
    let told = it.told();
    assert!(told.contains(&"2 Edit Ok done".to_owned()));
    assert!(told.contains(&"rewind 2-2".to_owned()) && told.contains(&"3 Typed u3'".to_owned()), "{told:?}");
}
