use super::*;
use crate::gate::reply::{BadKind, Expected, Verdict, judge};

/// What a stream came to, one word for each turn of ours.
fn outcomes(lines: &[(char, String)]) -> Vec<String> {
    let mut stream = Stream::default();
    let mut out = Vec::new();
    for (direction, line) in lines {
        match direction {
            '>' => {
                let value: Value = serde_json::from_str(line).unwrap_or_default();
                if value["type"] == "user" {
                    // Recordings put several lines at once; cmem never does, so the last one is awaited here.
                    stream.expect(value["uuid"].as_str().unwrap_or_default());
                    stream.awaited = value["uuid"].as_str().map(str::to_owned).or(Some(String::new()));
                }
            }
            '<' => match stream.hear(line) {
                Heard::Finished(Some(finished)) => out.push(word(&finished)),
                Heard::Finished(None) => out.push("other".into()),
                Heard::Unsafe(why) => out.push(format!("unsafe: {why}")),
                Heard::Refused(why) => out.push(format!("refused: {why}")),
                Heard::Windows(windows) => {
                    out.extend(windows.iter().filter(|it| it.rejected).map(|it| format!("{} full", it.window)))
                }
                Heard::Ready | Heard::Alive | Heard::Nothing => {}
            },
            _ => {}
        }
    }
    out
}

fn word(finished: &Finished) -> String {
    match judge(&finished.reply, Expected::Observations) {
        Verdict::Good(good) => format!("good {}", good.drafts.len()),
        Verdict::Skip(kind) => format!("skip {kind:?}"),
        // The recordings answer `<observation>ok</observation>`: an answer, if an empty one.
        Verdict::Bad(BadKind::EmptyRecords) => "answer".into(),
        Verdict::Bad(kind) => format!("bad {kind:?}"),
        Verdict::Error(error) => match error.resets_at {
            Some(at) => format!("error {:?} until {at}", error.kind),
            None => format!("error {:?}", error.kind),
        },
    }
}

fn lines(text: &str) -> Vec<(char, String)> {
    text.lines().filter(|it| !it.trim().is_empty()).map(|it| ('<', it.to_owned())).collect()
}

fn turn(text: &str) -> Finished {
    let mut stream = Stream::default();
    stream.expect("u1");
    lines(text)
        .iter()
        .find_map(|(_, line)| match stream.hear(line) {
            Heard::Finished(Some(finished)) => Some(*finished),
            _ => None,
        })
        .expect("a finished turn")
}

#[test]
fn the_texts_of_a_turn_are_one_reply_and_usage_is_the_results() {
    let finished = turn(
        r#"{"type":"system","subtype":"init","tools":[],"mcp_servers":[],"claude_code_version":"2.1.332"}
{"type":"assistant","message":{"id":"m","model":"claude-haiku-4-5","content":[{"type":"thinking","thinking":"hm"}],"usage":{"output_tokens":1}}}
{"type":"assistant","message":{"id":"m","model":"claude-haiku-4-5","content":[{"type":"text","text":"<observation><title>T</title>"}]}}
{"type":"assistant","message":{"id":"m2","model":"claude-haiku-4-5","content":[{"type":"text","text":"</observation>"}]}}
{"duration_ms":34,"total_cost_usd":0.002,"usage":{"input_tokens":1,"cache_creation_input_tokens":378,"cache_read_input_tokens":50,"output_tokens":7},"is_error":false,"subtype":"success","result":"</observation>","type":"result","stop_reason":"end_turn","user_message_uuids":["u1"]}"#,
    );
    assert_eq!(word(&finished), "good 1");
    assert_eq!(finished.model.as_deref(), Some("claude-haiku-4-5"));
    let Usage { input, cached, output, cost, millis } = finished.usage;
    assert_eq!((input, cached, output, millis), (379, 50, 7, 34));
    assert!((cost.expect("told") - 0.002).abs() < 1e-9);
}

#[test]
fn cost_is_the_difference_of_a_running_total() {
    let mut stream = Stream::default();
    let mut costs = Vec::new();
    for total in ["0.001", "0.0035"] {
        stream.expect("u");
        let line = format!(r#"{{"type":"result","subtype":"success","result":"<skip/>","total_cost_usd":{total}}}"#);
        if let Heard::Finished(Some(finished)) = stream.hear(&line) {
            costs.push((finished.usage.cost.expect("told") * 10_000.0).round());
        }
    }
    assert_eq!(costs, [10.0, 25.0]);
}

#[test]
fn a045_a_tool_call_and_the_turn_limit_it_runs_into_are_one_fault() {
    let finished = turn(
        r#"{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
{"type":"result","subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns","stop_reason":"tool_use","usage":{}}"#,
    );
    assert_eq!(word(&finished), "bad ToolCall");
}

#[test]
fn a045_a_child_that_offers_tools_is_not_used() {
    let mut stream = Stream::default();
    let heard = stream.hear(r#"{"type":"system","subtype":"init","tools":["Bash"],"mcp_servers":[{"name":"x"}]}"#);
    assert_eq!(heard, Heard::Unsafe("the client offers the observer tools or servers: Bash, x".into()));
}

#[test]
fn a_result_of_a_turn_that_was_given_up_is_not_ours() {
    let mut stream = Stream::default();
    stream.expect("new");
    let old = r#"{"type":"result","subtype":"success","result":"old","user_message_uuids":["old"]}"#;
    assert_eq!(stream.hear(old), Heard::Finished(None));
    let new = r#"{"type":"result","subtype":"success","result":"<skip/>","user_message_uuids":["new"]}"#;
    assert!(matches!(stream.hear(new), Heard::Finished(Some(_))));
}

#[test]
fn error_fields_decide_and_old_clients_have_fewer_of_them() {
    let error = |assistant: &str, result: &str| {
        let finished = turn(&format!(
            r#"{{"type":"assistant","message":{{"model":"<synthetic>","content":[{{"type":"text","text":"words"}}]}}{assistant}}}
{{"type":"result","subtype":"success","is_error":true,"result":"words"{result}}}"#
        ));
        word(&finished)
    };
    for (assistant, result, expected) in [
        (r#","error":"authentication_failed""#, r#","api_error_status":401"#, "error Auth"),
        (r#","error":"authentication_failed""#, "", "error Auth"),
        (r#","error":"billing_error""#, r#","api_error_status":400"#, "error Billing"),
        (r#","error":"rate_limit""#, "", "error RateLimit"),
        (r#","error":"rate_limit""#, r#","api_error_status":429"#, "error Quota"),
        (r#","error":"rate_limit","api_error":"usage_limit_reached""#, r#","api_error_status":429"#, "error Quota"),
        (r#","error":"overloaded""#, r#","api_error_status":529"#, "error Server"),
        (r#","error":"model_not_found""#, r#","api_error_status":404"#, "error Model"),
        (
            r#","error":"invalid_request""#,
            r#","api_error_status":400,"terminal_reason":"prompt_too_long""#,
            "error Overflow",
        ),
        (
            r#","error":"invalid_request""#,
            r#","api_error_status":413,"terminal_reason":"image_error""#,
            "error Overflow",
        ),
        (r#","error":"invalid_request""#, r#","api_error_status":400"#, "error Invalid"),
        (r#","error":"unknown""#, r#","api_error_status":400"#, "error Invalid"),
        (r#","error":"unknown""#, "", "error Server"),
        (r#","error":"a_word_of_tomorrow""#, r#","api_error_status":503"#, "error Server"),
        ("", r#","api_error_status":402"#, "error Billing"),
        ("", r#","terminal_reason":"aborted_streaming""#, "error Interrupted"),
    ] {
        assert_eq!(error(assistant, result), expected, "{assistant} {result}");
    }
}

#[test]
fn a_line_written_never_begins_with_anything_but_json_and_acts_on_nothing() {
    let line = user("/clear @/etc/passwd\n\"x\"", "u");
    let value: Value = serde_json::from_str(&line).expect("one JSON line");
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(value["client_composed"], true);
    assert_eq!(value["message"]["content"], "/clear @/etc/passwd\n\"x\"");
    assert!(initialize("a\nb").contains(r#""systemPrompt":["a\nb"]"#));
    assert!(interrupt().contains("cancel_queued"));
}

#[test]
fn nothing_a_child_writes_stops_the_reader() {
    let mut stream = Stream::default();
    for line in [
        "",
        "plain words",
        "{",
        "[]",
        "null",
        r#"{"type":7}"#,
        r#"{"type":"result"}"#,
        r#"{"type":"assistant","message":"x"}"#,
        r#"{"type":"rate_limit_event"}"#,
        r#"{"type":"zz-new","x":{}}"#,
    ] {
        stream.hear(line);
    }
}

/// What each recorded run of the real client comes to. `other`: the result of a line that was followed by others.
const RECORDED: &[(&str, &[&str])] = &[
    ("batching", &["other", "other", "answer"]),
    ("batching-100-lines", &["answer", "other"]),
    ("batching-mixed-kinds", &["other", "answer", "other", "other"]),
    ("batching-no-uuid", &["answer", "other"]),
    ("batching-synthetic", &["other", "other"]),
    ("connection-dropped", &["error Server"]),
    ("control-requests", &["answer"]),
    ("empty-answers", &["bad Prose", "bad Prose", "skip Marker", "answer"]),
    ("eof-before-input", &[]),
    ("eof-while-busy", &["answer", "other"]),
    ("http-400", &["error Invalid"]),
    ("http-401", &["error Auth"]),
    ("http-403", &["error Auth", "answer"]),
    ("http-404", &["error Model"]),
    ("http-413", &["error Overflow", "answer"]),
    ("http-429-retry-after-3600", &["error Quota"]),
    ("http-429-retry-after-5", &["error RateLimit"]),
    ("http-529", &["error Server"]),
    ("http-529-default-retries", &["error Server"]),
    ("interrupt-request", &["other", "answer", "answer"]),
    ("max-turns", &["bad ToolCall", "answer"]),
    ("no-credit", &["error Billing", "answer"]),
    ("no-first-byte", &["answer"]),
    ("not-logged-in", &["error Auth", "error Auth"]),
    ("prompt-too-long-compacted", &["answer", "answer", "answer", "answer"]),
    ("prompt-too-long-no-compaction", &["answer", "answer", "error Overflow", "answer"]),
    ("quota-api-key", &["answer", "answer", "error Quota", "answer"]),
    ("quota-oauth", &["answer", "answer", "five_hour full", "error Quota until 1796040000", "answer"]),
    ("replay-user-messages", &["answer"]),
    ("should-query-false", &["other", "bad Empty", "answer"]),
    ("sigint-busy", &["error Interrupted"]),
    ("sigterm-busy", &[]),
    ("sigterm-idle", &["answer"]),
    ("slash-commands", &["error Server", "bad Empty", "error Server", "answer", "answer", "bad Empty"]),
    ("stream-cut-before-stop", &["answer"]),
    ("stream-cut-in-text", &["answer"]),
    ("stream-hangs-300s", &["answer"]),
    ("tool-use-denied", &["bad ToolCall"]),
    ("unknown-lines", &["answer"]),
];

#[test]
fn recorded_streams_of_the_real_client_come_to_what_happened() {
    #[allow(clippy::disallowed_methods, reason = "a test looks for recordings beside the repository")]
    let (shared, entries) = {
        let shared =
            std::env::var("CMEM_SHARED").unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../shared").into());
        let entries = std::fs::read_dir(format!("{shared}/client/protocol"));
        (shared, entries)
    };
    let Ok(entries) = entries else {
        eprintln!("skipped: no recordings under {shared}/client/protocol");
        return;
    };
    let mut paths: Vec<_> = entries.flatten().map(|it| it.path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "jsonl"));
    paths.sort();
    assert!(paths.len() >= 38, "{}", paths.len());
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        #[allow(clippy::disallowed_methods, reason = "a test reads a recording")]
        let text = std::fs::read_to_string(&path).expect("readable");
        let lines: Vec<(char, String)> = text
            .lines()
            .map(|it| serde_json::from_str::<Value>(it).expect("a recording is JSON"))
            .map(|it| {
                let direction = it["dir"].as_str().and_then(|it| it.chars().next()).unwrap_or('-');
                (direction, it["line"].as_str().unwrap_or_default().to_owned())
            })
            .collect();
        let got = outcomes(&lines);
        let expected = RECORDED.iter().find(|(it, _)| *it == name).map(|(_, it)| it.to_vec());
        assert_eq!(Some(got.iter().map(String::as_str).collect::<Vec<_>>()), expected, "{name}");
    }
}
