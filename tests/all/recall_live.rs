//! Giving memory back to the real client, which runs against a scripted API on the loopback.
//!
//! Runs only where `CMEM_REALCLIENT` names the folder of an installed client and the scripted API lies with the shared
//! test data; elsewhere it says that it was skipped.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cmem::memory::NewMemory;
use serde_json::{Value, json};

use super::support::{Home, Run, memory, shared};

/// The scripted API, ended with the value.
struct Api {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Api {
    fn start(tools: &Path, home: &Home, script: &Value) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (file, log) = (home.path("script.json"), home.path("log"));
        fs::write(&file, script.to_string()).unwrap();
        let child = Command::new("python3")
            .arg(tools.join("fake_messages_api.py"))
            .args(["--port", &port.to_string(), "--script"])
            .arg(&file)
            .arg("--log-dir")
            .arg(&log)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let api = Self { child, port, log };
        let began = Instant::now();
        while !api.answers() {
            assert!(began.elapsed() < Duration::from_secs(20), "the scripted API does not start");
            std::thread::yield_now();
        }
        api
    }

    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let _ = stream.write_all(b"GET /__health HTTP/1.0\r\n\r\n");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).is_ok() && answer.contains("\"ok\": true")
    }

    /// Everything that the last request put into the model's context, in order.
    fn last_request(&self) -> Vec<String> {
        let mut files: Vec<PathBuf> = fs::read_dir(&self.log).unwrap().flatten().map(|entry| entry.path()).collect();
        files.retain(|file| file.to_string_lossy().ends_with("-primary.json"));
        files.sort();
        let logged: Value = serde_json::from_slice(&fs::read(files.last().unwrap()).unwrap()).unwrap();
        let mut texts = Vec::new();
        for message in logged["body"]["messages"].as_array().unwrap() {
            match &message["content"] {
                Value::String(text) => texts.push(text.clone()),
                parts => texts.extend(
                    parts
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(|part| part["text"].as_str().map_or_else(|| part.to_string(), str::to_owned)),
                ),
            }
        }
        texts
    }

    /// How often notes stand in the last request.
    fn notes_given(&self) -> usize {
        self.last_request().iter().map(|text| text.matches("<cmem-context>").count()).sum()
    }
}

struct Bench {
    home: Home,
    tools: PathBuf,
    client: PathBuf,
    api: Api,
    project: PathBuf,
}

impl Bench {
    fn new() -> Option<Self> {
        let Some(client) = std::env::var_os("CMEM_REALCLIENT").map(PathBuf::from) else {
            eprintln!("skipped: CMEM_REALCLIENT names no installed client");
            return None;
        };
        let tools = shared()?.join("client");
        let home = Home::new();
        let project = home.path("shop");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(project.join("src/ledger.rs"), "// a line\n".repeat(400)).unwrap();
        let git = |args: &[&str]| Command::new("git").arg("-C").arg(&project).args(args).output().unwrap();
        git(&["init", "-q"]);
        let script = json!({ "scenes": {
            "plain": [{ "text": "All good." }],
            "read": [{ "tool": "Read", "input": { "file_path": "{{cwd}}/src/ledger.rs" } }, { "text": "Read it." }],
            "memory": [
                { "tool": "ToolSearch", "input": { "query":
                    "select:mcp__cmem__search,mcp__cmem__timeline,mcp__cmem__get_observations,mcp__cmem__remember" } },
                { "tool": "mcp__cmem__search", "input": { "query": "ledger" } },
                { "tool": "mcp__cmem__timeline", "input": { "anchor": 1 } },
                { "tool": "mcp__cmem__get_observations", "input": { "ids": [1, 2] } },
                { "tool": "mcp__cmem__remember", "input": { "text": "The shop deploys on Tuesdays." } },
                { "text": "Done." }
            ]
        } });
        let api = Api::start(&tools, &home, &script);
        let bench = Self { home, tools, client, api, project };
        bench.home.remember(vec![
            NewMemory {
                files_modified: vec!["src/ledger.rs".into()],
                ..bench.memory("Ledger writes in one transaction", "2026-03-01T10:00:00Z")
            },
            bench.memory("Keep SQLite for the ledger", "2026-03-01T11:00:00Z"),
        ]);
        Some(bench)
    }

    fn memory(&self, title: &str, at: &str) -> NewMemory {
        memory(title, self.project.to_str().unwrap(), at)
    }

    /// One run of the client. Nothing of this environment reaches it but what is named.
    fn client(&self, args: &[&str], settings: &[(&str, &str)]) -> Run {
        let mut command = Command::new(self.tools.join("client.sh"));
        command
            .args(["-p", "--model", "sonnet", "--dangerously-skip-permissions"])
            .args(["--output-format", "stream-json", "--verbose"])
            .args(args)
            .env("REALCLIENT_PORT", self.api.port.to_string())
            .env("REALCLIENT_ROOT", &self.client)
            .env("REALCLIENT_HOME", self.home.path(""))
            .env("REALCLIENT_ENV_CLAUDE_CONFIG_DIR", self.home.claude())
            .env("REALCLIENT_ENV_IS_SANDBOX", "1")
            .env("REALCLIENT_ENV_TZ", "UTC")
            // A busy machine must not make the hook silent here.
            .env("REALCLIENT_ENV_CMEM_CONTEXT_DEADLINE", "20000")
            .current_dir(&self.project)
            .stdin(Stdio::null());
        for (name, value) in settings {
            command.env(format!("REALCLIENT_ENV_{name}"), value);
        }
        Run::of(command.output().unwrap()).ok()
    }
}

#[test]
fn the_real_client_is_given_notes_uses_the_tools_and_is_left_as_it_was() {
    let Some(bench) = Bench::new() else { return };
    let (settings, servers) = (bench.home.claude().join("settings.json"), bench.home.claude().join(".claude.json"));
    let before = "{\n    \"env\": {\n        \"A\": \"b\"\n    }\n}\n";
    fs::write(&settings, before).unwrap();
    bench.home.run(&["install", "--no-service"]).ok();

    // A new session: its first request holds the notes, byte for byte as `cmem context` prints them.
    let session = "00000001-0000-4000-8000-000000000001";
    bench.client(&["--session-id", session, "Look. [[play:read]]"], &[]);
    let printed = bench.home.run(&["context", "--project", bench.project.to_str().unwrap()]).ok().out;
    let texts = bench.api.last_request();
    assert!(texts.iter().any(|text| text.contains(&printed)), "{texts:?}");
    let about_file =
        texts.iter().position(|text| text.contains("Notes about src/ledger.rs")).expect("notes of the file");
    assert!(texts[about_file].contains("Ledger writes in one transaction"));
    assert_eq!(bench.api.notes_given(), 2);

    // Resumed: the same text is not said twice; what is new since is.
    bench.client(&["--resume", session, "On. [[play:plain]]"], &[]);
    assert_eq!(bench.api.notes_given(), 2);
    bench.home.remember(vec![bench.memory("Crates are counted from one", "2026-03-01T12:00:00Z")]);
    bench.client(&["--resume", session, "On. [[play:plain]]"], &[("CMEM_CONTEXT_ON_RESUME", "false")]);
    assert_eq!(bench.api.notes_given(), 2);
    bench.client(&["--resume", session, "On. [[play:plain]]"], &[]);
    assert_eq!(bench.api.notes_given(), 3);
    assert!(bench.api.last_request().concat().contains("Crates are counted from one"));

    // Compacted: the notes come again, unless the setting says no.
    bench.client(&["--resume", session, "/compact"], &[]);
    bench.client(&["--resume", session, "On. [[play:plain]]"], &[("CMEM_CONTEXT_ON_RESUME", "false")]);
    assert_eq!(bench.api.notes_given(), 1);
    bench.client(&["--resume", session, "/compact"], &[("CMEM_CONTEXT_AFTER_COMPACT", "false")]);
    bench.client(&["--resume", session, "On. [[play:plain]]"], &[("CMEM_CONTEXT_ON_RESUME", "false")]);
    assert_eq!(bench.api.notes_given(), 0);

    // The model calls all four tools.
    let session = "00000002-0000-4000-8000-000000000001";
    let run = bench.client(&["--session-id", session, "Recall. [[play:memory]]"], &[]);
    let results: Vec<Value> = run
        .out
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["type"] == "user")
        .flat_map(|line| line["message"]["content"].as_array().cloned().unwrap_or_default())
        .filter(|part| part["type"] == "tool_result")
        .collect();
    assert_eq!(results.len(), 5, "{}", run.out);
    let text = |at: usize| results[at]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(results.iter().all(|result| result["is_error"] != true), "{results:?}");
    assert!(text(1).contains("2 results") && text(1).contains("looked in project shop"), "{}", text(1));
    assert!(text(2).contains("Keep SQLite for the ledger"), "{}", text(2));
    assert!(text(3).contains("told at length"), "{}", text(3));
    assert!(text(4).contains("Remembered as 4") && text(4).contains("project shop"), "{}", text(4));

    // cmem reads those sessions and makes no memory of what it gave.
    let collected = bench.home.run(&["watch", "--once", "--from-start"]);
    assert_eq!(collected.code, 0, "{collected:?}");
    let rows = bench.home.run(&["list", "--json", "--limit", "500", "--kind", "obs,sum,prompt"]).ok().json();
    let rows = rows.as_array().unwrap();
    assert!(rows.iter().any(|row| row["session"] == session), "the sessions were read");
    for row in rows.iter().filter(|row| !row["session"].is_null()) {
        let row = row.to_string();
        for own in
            ["cmem-context", "recent context", "Crates are counted", "Keep SQLite for the ledger", "get_observations"]
        {
            assert!(!row.contains(own), "{own}: {row}");
        }
    }

    // And everything is as it was.
    bench.home.run(&["uninstall", "--no-service"]).ok();
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
    assert!(!fs::read_to_string(&servers).unwrap().contains("cmem"));
}
