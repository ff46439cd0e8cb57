//! The provider against a small server of its own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;
use crate::config::Env;
use crate::gate::reply::Expected;
use crate::memory::Timestamp;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        "2026-03-01T10:00:00Z".parse().expect("a timestamp")
    }
}

/// A server that answers each request with the next of `answers` and tells what it was asked.
fn serve(answers: Vec<(u16, &'static str)>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for (status, body) in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let request = read_request(&mut stream);
            let _ = sender.send(request);
            let head =
                format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
            let _ = stream.write_all(head.as_bytes());
        }
    });
    (url, requests)
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut data = Vec::new();
    let mut chunk = [0u8; 4_096];
    loop {
        let text = String::from_utf8_lossy(&data).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|it| it.to_ascii_lowercase().strip_prefix("content-length:").map(|it| it.trim().to_owned()))
                .and_then(|it| it.parse::<usize>().ok())
                .unwrap_or(0);
            if body.len() >= length {
                return text;
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return text,
            Ok(count) => data.extend_from_slice(&chunk[..count]),
        }
    }
}

fn talk(provider: &str, url: &str, env: &[(&str, &str)], questions: &[&str]) -> Vec<(Reply, Usage)> {
    let settings = ObserverSettings { url: url.into(), model: "small".into(), ..ObserverSettings::default() };
    let env = Env::from_iter(env.iter().copied());
    let (sender, reports) = channel();
    let sink: Sink = Arc::new(move |report| sender.send(report).unwrap_or_default());
    let mut api = Api::new(Setup::of(&settings, provider, &env), Arc::new(Fixed), sink);
    let spec = RunSpec { session: "s".into(), instructions: "the instructions".into(), model: "small".into() };
    api.order(Order::Start { run: RunKey(1), spec });
    let mut out = Vec::new();
    for (n, text) in questions.iter().enumerate() {
        api.order(Order::Ask {
            run: RunKey(1),
            ask: AskKey(n as u64),
            text: (*text).into(),
            batch: Arc::default(),
            expects: Expected::Observations,
        });
        loop {
            let report = reports.recv_timeout(Duration::from_secs(60)).expect("a report");
            if let Said::Answered { ask, reply, usage, .. } = report.said {
                assert_eq!(ask, AskKey(n as u64));
                out.push((reply, usage));
                break;
            }
        }
    }
    api.order(Order::End { run: RunKey(1) });
    let last = reports.recv_timeout(Duration::from_secs(60)).expect("a report");
    assert_eq!(last.said, Said::Gone(Gone::Ended));
    out
}

const GOOD: &str = r#"{"model":"m","choices":[{"message":{"content":"<skip/>"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;

#[test]
fn a062_a_local_server_needs_no_key_and_gets_none() {
    let (url, requests) = serve(vec![(200, GOOD)]);
    let answers = talk("openai", &url, &[("OPENAI_API_KEY", "sk-x")], &["q"]);
    assert_eq!((answers[0].0.text.as_str(), answers[0].1.input), ("<skip/>", 7));
    let request = requests.recv().expect("a request");
    assert!(request.starts_with("POST /v1/chat/completions "), "{request}");
    assert!(!request.to_lowercase().contains("authorization:"));
    assert!(request.contains("the instructions"));
}

#[test]
fn a062_the_services_own_variables_lead_to_a_gateway() {
    let body = r#"{"model":"m","content":[{"type":"text","text":"<skip/>"}],"stop_reason":"end_turn","usage":{"input_tokens":3}}"#;
    let (url, requests) = serve(vec![(200, body)]);
    let answers = talk("anthropic", "", &[("ANTHROPIC_BASE_URL", &url), ("ANTHROPIC_AUTH_TOKEN", "tok")], &["q"]);
    assert_eq!(answers[0].0.text, "<skip/>");
    let request = requests.recv().expect("a request");
    assert!(request.starts_with("POST /v1/messages ") && request.contains("Bearer tok"), "{request}");
}

#[test]
fn a009_what_failed_is_not_in_the_conversation_and_what_went_well_is() {
    let (url, requests) = serve(vec![(200, GOOD), (503, "busy"), (200, GOOD)]);
    let answers = talk("openai", &url, &[], &["first", "second", "third"]);
    assert_eq!(answers[1].0.error.as_ref().map(|it| it.kind), Some(ErrorKind::Server));
    let all: Vec<String> = requests.iter().collect();
    assert!(all[2].contains("first") && all[2].contains("third") && !all[2].contains("second"));
}

#[test]
fn a_key_that_the_service_quotes_is_hidden() {
    let (url, _requests) = serve(vec![(401, r#"{"error":{"message":"Incorrect API key: sk-very-secret"}}"#)]);
    let answers = talk("anthropic", &url, &[("ANTHROPIC_API_KEY", "sk-very-secret")], &["q"]);
    let error = answers[0].0.error.clone().expect("an error");
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Auth, "Incorrect API key: ***"));
}

#[test]
fn nobody_there_is_an_error_with_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let answers = talk("openai", &url, &[], &["q"]);
    let error = answers[0].0.error.clone().expect("an error");
    assert!(error.kind == ErrorKind::Server && error.message.contains(&url), "{error:?}");
}
