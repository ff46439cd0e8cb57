use super::*;

fn now() -> Timestamp {
    "2026-03-01T10:00:00Z".parse().expect("a timestamp")
}

fn failed(status: u16, body: &str) -> ReplyError {
    answer(Dialect::OpenAi, status, None, body, now()).reply.error.expect("an error")
}

#[test]
fn urls_as_people_write_them() {
    for (base, url) in [
        ("", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://api.deepseek.com", "https://api.deepseek.com/chat/completions"),
        ("http://localhost:1234/v1/", "http://localhost:1234/v1/chat/completions"),
        ("https://g.example/v1/chat/completions", "https://g.example/v1/chat/completions"),
        ("https://g.example/V1/Chat/Completions/", "https://g.example/V1/Chat/Completions"),
        ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
    ] {
        assert_eq!(endpoint(Dialect::OpenAi, base), url);
    }
    for (base, url) in [
        ("", "https://api.anthropic.com/v1/messages"),
        ("http://127.0.0.1:9/as/observer", "http://127.0.0.1:9/as/observer/v1/messages"),
        ("https://g.example/v1", "https://g.example/v1/messages"),
    ] {
        assert_eq!(endpoint(Dialect::Anthropic, base), url);
    }
}

#[test]
fn a_request_to_anthropic_has_its_cache_marks_and_a_stable_prefix() {
    let mut history = History::new("instructions", 10_000);
    let first = request(Dialect::Anthropic, "u", "m", &history, "q1");
    history.push("q1".into(), "a1".into());
    let second = request(Dialect::Anthropic, "u", "m", &history, "q2");
    let (first, second): (Value, Value) =
        (serde_json::from_str(&first.body).expect("JSON"), serde_json::from_str(&second.body).expect("JSON"));
    assert_eq!(first["system"], second["system"]);
    assert_eq!(first["system"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(first["messages"][0]["content"][0]["text"], second["messages"][0]["content"][0]["text"]);
    assert_eq!(second["messages"][2]["content"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(second["messages"][0]["content"][0].get("cache_control"), None);
    assert!(first["max_tokens"].as_u64() > Some(4_096));
}

#[test]
fn answers_of_both_dialects_are_one_shape() {
    let body = r#"{"model":"claude-haiku-4-5","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"<skip/>"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":3}}"#;
    let incoming = answer(Dialect::Anthropic, 200, None, body, now());
    assert_eq!(incoming.reply, Reply { text: "<skip/>".into(), ..Reply::default() });
    assert_eq!((incoming.usage.input, incoming.usage.cached, incoming.usage.output), (15, 100, 3));

    let body = r#"{"model":"q","choices":[{"message":{"content":"<skip/>"},"finish_reason":"length"}],"usage":{"prompt_tokens":110,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":100},"cost":0.01}}"#;
    let incoming = answer(Dialect::OpenAi, 200, None, body, now());
    assert_eq!((incoming.reply.text.as_str(), incoming.reply.stop), ("<skip/>", Stop::Limit));
    assert_eq!((incoming.usage.input, incoming.usage.cached, incoming.usage.cost), (10, 100, Some(0.01)));
}

#[test]
fn thoughts_of_local_models_are_no_part_of_the_answer() {
    for (text, expected) in [
        ("<think>what is <observation>?</think>\n<skip/>", "\n<skip/>"),
        ("let me see</think><skip/>", "<skip/>"),
        ("<think>for ever", ""),
        (
            "<observation><title>about </think> tags</title></observation>",
            "<observation><title>about </think> tags</title></observation>",
        ),
        ("<skip/>", "<skip/>"),
    ] {
        assert_eq!(without_thoughts(text), expected);
    }
}

#[test]
fn a058_errors_are_classed_by_what_helps() {
    for (status, body, kind) in [
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
            ErrorKind::Quota,
        ),
        (429, r#"{"error":{"message":"Rate limit reached for requests"}}"#, ErrorKind::RateLimit),
        (402, r#"{"error":{"message":"Insufficient credits","code":402}}"#, ErrorKind::Billing),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
            ErrorKind::Billing,
        ),
        (401, r#"{"error":{"message":"Incorrect API key provided"}}"#, ErrorKind::Auth),
        (403, "forbidden", ErrorKind::Auth),
        (404, r#"{"error":{"message":"model \"zz\" not found, try pulling it first"}}"#, ErrorKind::Model),
        (404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: zz"}}"#, ErrorKind::Model),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
            ErrorKind::Overflow,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 212345 tokens > 200000 maximum"}}"#,
            ErrorKind::Overflow,
        ),
        (413, "", ErrorKind::Overflow),
        (400, r#"{"error":{"message":"messages: bad shape"}}"#, ErrorKind::Invalid),
        (503, "<html>busy</html>", ErrorKind::Server),
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, ErrorKind::Server),
        (200, r#"{"error":{"message":"Provider returned error","code":502}}"#, ErrorKind::Server),
        (200, "not json", ErrorKind::Server),
        (301, "", ErrorKind::Server),
    ] {
        assert_eq!(failed(status, body).kind, kind, "{status} {body}");
    }
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let resets =
        |text: &str| answer(Dialect::OpenAi, 429, Some(text), "{}", now()).reply.error.expect("error").resets_at;
    assert_eq!(resets("5"), Some(now().as_second() + 5));
    assert_eq!(resets("Sun, 01 Mar 2026 10:01:00 GMT"), Some(now().as_second() + 60));
    assert_eq!(resets("soon"), None);
}
