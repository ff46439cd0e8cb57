//! `cmem mcp` as a client sees it: lines of JSON-RPC on stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use cmem::memory::NewMemory;
use serde_json::{Value, json};

use super::support::{Home, memory};

struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    roots: Option<Vec<String>>,
    id: u64,
    lines: Vec<String>,
}

impl Client {
    fn start(home: &Home, roots: Option<&[&str]>, env: &[(&str, &str)]) -> Self {
        let mut command = home.command(&["mcp"]);
        command.envs(env.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let roots = roots.map(|roots| roots.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        let mut client = Self { child, stdin, stdout, roots, id: 0, lines: Vec::new() };
        let capabilities = if client.roots.is_some() { json!({ "roots": {} }) } else { json!({}) };
        let hello = client.call(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities,
                    "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "cmem");
        assert!(hello["result"]["instructions"].as_str().unwrap().contains("get_observations"));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server ended");
            self.lines.push(line.clone());
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|err| panic!("{err}: {line}"));
            if message["method"] == "roots/list" {
                let roots = self.roots.clone().unwrap_or_default();
                let roots: Vec<Value> = roots.iter().map(|it| json!({ "uri": format!("file://{it}") })).collect();
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": roots } }));
            } else if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool and gives its text; `Err` where the tool says that it failed.
    fn tool(&mut self, name: &str, arguments: Value) -> Result<String, String> {
        let answer = self.call("tools/call", json!({ "name": name, "arguments": arguments }));
        if let Some(error) = answer["error"]["message"].as_str() {
            return Err(error.to_owned());
        }
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        if answer["result"]["isError"] == true { Err(text) } else { Ok(text) }
    }

    /// Closes stdin and waits for the server to end by itself; everything it ever wrote to stdout.
    fn end(mut self) -> Vec<String> {
        drop(self.stdin);
        let mut rest = String::new();
        while self.stdout.read_line(&mut rest).unwrap() > 0 {
            self.lines.push(std::mem::take(&mut rest));
        }
        assert!(self.child.wait().unwrap().success());
        self.lines
    }
}

fn two_projects(home: &Home) {
    home.remember(vec![
        memory("Token race in alpha", "/w/alpha", "2026-03-01T10:00:00Z"),
        memory("Token leak in beta", "/w/beta", "2026-03-01T11:00:00Z"),
        NewMemory { type_id: "decision".into(), ..memory("Keep SQLite", "/w/alpha", "2026-03-01T12:00:00Z") },
    ]);
}

#[test]
fn a_client_searches_looks_around_reads_and_remembers() {
    let home = Home::new();
    two_projects(&home);
    let mut client = Client::start(&home, None, &[]);
    let tools = client.call("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 4);
    let found = client.tool("search", json!({ "query": "token" })).unwrap();
    assert!(found.contains("2 results") && found.contains("all projects"), "{found}");
    let around = client.tool("timeline", json!({ "anchor": 1 })).unwrap();
    assert!(around.contains("Keep SQLite") && around.contains("project alpha") && !around.contains("beta"), "{around}");
    let details = client.tool("get_observations", json!({ "ids": [1, 3] })).unwrap();
    let details: Value = serde_json::from_str(&details).unwrap();
    assert_eq!(details["observations"][1]["title"], "Keep SQLite");
    let kept = client.tool("remember", json!({ "text": "Deploys happen on Tuesdays", "project": "alpha" })).unwrap();
    assert!(kept.contains("Remembered as 4"), "{kept}");
    assert!(client.tool("search", json!({ "query": "tuesday" })).unwrap().contains("| 4 |"));
    let missing = client.tool("search", json!({})).unwrap_err();
    assert!(missing.contains("query"), "{missing}");
    assert!(client.tool("search", json!({ "query": "x", "colour": 1 })).unwrap_err().contains("colour"));
    assert!(client.tool("no_such_tool", json!({})).is_err());
    client.end();
}

#[test]
fn a088_the_clients_roots_are_the_scope_and_never_the_directory_of_the_server() {
    let home = Home::new();
    two_projects(&home);
    let mut client = Client::start(&home, Some(&["/w/beta"]), &[]);
    let found = client.tool("search", json!({ "query": "token" })).unwrap();
    assert!(found.contains("project beta") && !found.contains("race"), "{found}");
    let named = client.tool("search", json!({ "query": "token", "project": "alpha" })).unwrap();
    assert!(named.contains("project alpha") && !named.contains("leak"), "{named}");
    let kept = client.tool("remember", json!({ "text": "Goats leak" })).unwrap();
    assert!(kept.contains("project beta"), "{kept}");
    client.end();
    // Without roots the client's own variable counts.
    let mut by_variable = Client::start(&home, None, &[("CLAUDE_PROJECT_DIR", "/w/alpha")]);
    let found = by_variable.tool("search", json!({ "query": "token" })).unwrap();
    assert!(found.contains("project alpha") && !found.contains("leak"), "{found}");
    by_variable.end();
    let mut install_folder = Client::start(&home, Some(&["/opt/p"]), &[]);
    let found = install_folder.tool("search", json!({ "query": "token" })).unwrap();
    assert!(found.contains("all projects") && found.contains("race"), "{found}");
    install_folder.end();
}

#[test]
fn a159_stdout_carries_the_protocol_and_nothing_else() {
    let home = Home::new();
    two_projects(&home);
    std::fs::write(home.cmem().join("config.toml"), "[context]\ntpyes = 1\n").unwrap();
    let env = [("RUST_LOG", "trace"), ("CMEM_LOG_LEVEL", "trace"), ("RUST_BACKTRACE", "1")];
    let mut client = Client::start(&home, None, &env);
    client.tool("search", json!({ "query": "token" })).unwrap();
    client.send(&json!("no request at all"));
    client.tool("timeline", json!({ "query": "token" })).unwrap();
    for line in client.end() {
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|err| panic!("{err}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
    }
}

#[test]
fn a100_a_key_never_leaves() {
    let home = Home::new();
    two_projects(&home);
    let key = "sk-ant-api03-ThisIsTheUsersOwnKey0123456789abcdef";
    let env = [("ANTHROPIC_API_KEY", key), ("CMEM_OBSERVER_KEY_ENV", "ANTHROPIC_API_KEY")];
    let mut client = Client::start(&home, None, &env);
    client.call("tools/list", json!({}));
    let _ = client.tool("search", json!({ "query": "key sk-ant" }));
    let _ = client.tool("remember", json!({ "text": format!("the key is {key}"), "project": "alpha" }));
    let _ = client.tool("get_observations", json!({ "ids": [1, 2, 3, 4] }));
    for line in client.end() {
        assert!(!line.contains("ThisIsTheUsersOwnKey"), "{line}");
    }
}
