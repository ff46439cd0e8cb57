//! `cmem serve` from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::support::{Home, memory};

struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(home: &Home) -> Self {
        let mut child = home.command(&["serve", "--port", "0"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(';').next()?.parse().ok()).expect(&line);
        let token = std::fs::read_to_string(home.cmem().join("serve.token")).unwrap();
        Self { child, port, token }
    }

    fn open(&self, head: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "{head} HTTP/1.1\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream
    }

    fn raw(&self, head: &str, headers: &str, body: &str) -> (u16, Value) {
        let mut answer = String::new();
        self.open(head, headers, body).read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(!head.to_lowercase().contains("access-control"), "{head}");
        (status, serde_json::from_str(body).unwrap())
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.port)
    }

    fn get(&self, path: &str) -> (u16, Value) {
        self.raw(&format!("GET {path}"), &self.host(), "")
    }

    fn post(&self, body: &Value, token: &str) -> (u16, Value) {
        let headers = format!("{}Authorization: Bearer {token}\r\n", self.host());
        self.raw("POST /api/memories", &headers, &body.to_string())
    }
}

#[test]
fn a099_a100_questions_are_answered_here_only_and_writing_needs_the_token() {
    let home = Home::new();
    home.remember(vec![
        memory("Token race", "/w/alpha", "2026-03-01T10:00:00Z"),
        memory("Token leak", "/w/beta", "2026-03-01T11:00:00Z"),
    ]);
    let server = Server::start(&home);
    assert_eq!(server.get("/api/health").1["ok"], true);
    let found = server.get("/api/memories?q=token&project=alpha").1;
    assert_eq!(found["items"][0]["title"], "Token race");
    assert_eq!((found["items"].as_array().unwrap().len(), &found["scope"]), (1, &json!("project alpha")));
    assert_eq!(server.get("/api/memories/2").1["title"], "Token leak");
    assert_eq!(server.get("/api/timeline?anchor=1").1["items"].as_array().unwrap().len(), 2);
    assert!(server.get("/api/context?project=/w/alpha").1["text"].as_str().unwrap().contains("Token race"));
    assert_eq!(server.get("/api/projects").1.as_array().unwrap().len(), 2);
    for (path, status) in [
        ("/", 404),
        ("/api/memories/99", 404),
        ("/api/memories/x", 400),
        ("/api/memories?project=gamma", 404),
        ("/api/memories?limit=x", 400),
        ("/api/context?project=alpha", 400),
        ("/api/settings", 404),
        ("/../../etc/passwd", 404),
    ] {
        assert_eq!(server.get(path).0, status, "{path}");
    }
    let port = server.port;
    for headers in [
        "Host: evil\r\n".to_owned(),
        format!("{}Origin: http://evil\r\n", server.host()),
        format!("Host: evil:{port}\r\n"),
        String::new(),
    ] {
        assert_eq!(server.raw("GET /api/memories", &headers, "").0, 403, "{headers}");
    }

    let note = json!({ "text": "Deploys happen on Tuesdays", "project": "alpha", "type": "decision" });
    assert_eq!(server.post(&note, "").0, 401);
    assert_eq!(server.post(&note, &"0".repeat(server.token.len())).0, 401);
    assert_eq!(server.get("/api/memories?q=tuesdays").1["items"], json!([]));
    let (status, kept) = server.post(&note, &server.token);
    assert_eq!(
        (status, &kept["type"], &kept["project"], &kept["source"]),
        (201, &json!("decision"), &json!("alpha"), &json!("manual"))
    );
    assert_eq!(server.post(&note, &server.token).0, 200, "once is enough");
    assert_eq!(server.post(&json!({ "text": "x", "colour": 1 }), &server.token).0, 400);
    assert_eq!(server.raw("DELETE /api/memories/1", &server.host(), "").0, 405);
}

#[test]
fn what_is_new_comes_over_the_stream() {
    let home = Home::new();
    home.remember(vec![memory("Old", "/w/alpha", "2026-03-01T10:00:00Z")]);
    let server = Server::start(&home);
    let mut stream = BufReader::new(server.open("GET /api/stream", &server.host(), ""));
    let mut lines = Vec::new();
    let mut until = |wanted: &str| loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended: {lines:?}");
        let line = line.trim_end().to_owned();
        lines.push(line.clone());
        if line.starts_with(wanted) {
            return line;
        }
    };
    until(": cmem");
    home.remember(vec![memory("New to all", "/w/alpha", "2026-03-01T12:00:00Z")]);
    until("event: memory");
    assert_eq!(until("id: "), "id: 2");
    let data: Value = serde_json::from_str(until("data: ").strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(data["title"], "New to all");
    until("event: changed");
}

#[test]
fn a099_it_listens_on_this_machine_alone() {
    let home = Home::new();
    let server = Server::start(&home);
    // The address is this machine's own and no other.
    let taken = std::net::TcpListener::bind(("127.0.0.1", server.port));
    assert!(taken.is_err());
    let other = std::net::TcpListener::bind(("127.0.0.2", server.port));
    assert!(other.is_ok() || !cfg!(target_os = "linux"), "it listens on 127.0.0.1 alone");
}
