//! The real client as observer, against a scripted API on loopback: every scenario and what it must come to.
//!
//! Run where `CMEM_REALCLIENT` names a folder with an installed client (`bin/claude`) and the client kit of the shared
//! test data is at hand; told to be skipped elsewhere. Each scenario is a home of its own, a server of its own, and one
//! `cmem watch --once` (or two, where the first ends in a pause), so that what is checked is the whole line: outcome of
//! each call, rows, the cursor, and that no process is left.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::support::{Home, Run};

/// The kit, if it is here with what it needs.
fn kit_alone() -> Option<PathBuf> {
    let shared = std::env::var_os("CMEM_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let kit = shared.join("client");
    let python = Command::new("python3").arg("--version").output().is_ok_and(|it| it.status.success());
    if python && kit.join("fake_messages_api.py").is_file() {
        return Some(kit);
    }
    eprintln!("skipped: no client kit (CMEM_SHARED) or no python3");
    None
}

/// The installed client and the kit, if both are here.
fn kit() -> Option<(PathBuf, PathBuf)> {
    let shared = std::env::var_os("CMEM_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let client = std::env::var_os("CMEM_REALCLIENT").map(|it| PathBuf::from(it).join("bin/claude"));
    match client {
        Some(client) if client.is_file() && shared.join("client/fake_messages_api.py").is_file() => {
            Some((client, shared.join("client")))
        }
        _ => {
            eprintln!("skipped: no real client (CMEM_REALCLIENT) or no client kit (CMEM_SHARED)");
            None
        }
    }
}

/// The scripted API. Stopped with the value.
struct Server {
    child: Child,
    log: PathBuf,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(home: &Home, kit: &Path, script: &Path) -> Self {
        let (log, port_file) = (home.path("api-log"), home.path("api-port"));
        // Of an earlier server in this home.
        let _ = std::fs::remove_file(&port_file);
        let _ = std::fs::remove_dir_all(&log);
        let child = Command::new("python3")
            .arg(kit.join("fake_messages_api.py"))
            .args(["--port", "0", "--port-file"])
            .arg(&port_file)
            .arg("--log-dir")
            .arg(&log)
            .arg("--script")
            .arg(script)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = std::time::Instant::now();
        let port = loop {
            let text = std::fs::read_to_string(&port_file).unwrap_or_default();
            if let Ok(port) = text.trim().parse() {
                break port;
            }
            assert!(begun.elapsed().as_secs() < 30, "the scripted API did not start");
            std::thread::yield_now();
        };
        Self { child, log, port }
    }

    /// Requests of the observer: status and body.
    fn requests(&self) -> Vec<Value> {
        let mut names: Vec<PathBuf> = std::fs::read_dir(&self.log)
            .unwrap()
            .flatten()
            .map(|it| it.path())
            .filter(|it| it.to_string_lossy().ends_with("-observer.json"))
            .collect();
        names.sort();
        names
            .iter()
            .filter_map(|it| serde_json::from_str::<Value>(&std::fs::read_to_string(it).ok()?).ok())
            .filter(|it| it["body"]["messages"].is_array())
            .collect()
    }
}

fn watch(home: &Home, client: &Path, server: &Server, auth: &str, more: &[(&str, &str)]) -> Run {
    let mut command = home.command(&["watch", "--once", "--from-start"]);
    command
        .env_remove("CMEM_NOW")
        .env_remove("CLAUDE_CONFIG_DIR")
        .env("CLAUDE_CONFIG_DIR", home.claude())
        .env("CMEM_OBSERVER_PROVIDER", "claude")
        .env("CMEM_OBSERVER_CLAUDE_PATH", client)
        .env("CMEM_OBSERVER_RETRY_MIN", "0.2")
        .env("CMEM_OBSERVER_RETRY_MAX", "1")
        .env("CMEM_OBSERVER_SLOTS", "1")
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}/as/observer", server.port))
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_ERROR_REPORTING", "1");
    match auth {
        "oauth" => command.env("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-fake-for-loopback"),
        "none" => &mut command,
        _ => command.env("ANTHROPIC_API_KEY", "sk-ant-fake-for-loopback"),
    };
    for (name, value) in more {
        command.env(name, value);
    }
    Run::of(command.output().unwrap())
}

/// `sessions` sessions of one turn with `calls` tool calls each.
fn transcripts(home: &Home, sessions: usize, calls: usize) {
    for n in 1..=sessions {
        let session = format!("5e551011-0000-4000-8000-{n:012}");
        let mut lines = Vec::new();
        let mut line = |kind: &str, message: Value| {
            let at = lines.len();
            let value = json!({
                "type": kind, "uuid": format!("{session}-{at}"), "sessionId": session, "cwd": "/w/alpha",
                "version": "2.1.200", "isSidechain": false, "timestamp": format!("2026-03-01T10:{n:02}:{at:02}Z"),
                "message": message,
            });
            lines.push(value.to_string());
        };
        line("user", json!({"role": "user", "content": format!("look at number {n}")}));
        for call in 1..=calls {
            let id = format!("toolu_{n}_{call}");
            line(
                "assistant",
                json!({"id": format!("m{n}-{call}"), "role": "assistant", "stop_reason": "tool_use",
                "content": [{"type": "tool_use", "id": id, "name": "Bash",
                             "input": {"command": format!("run {n} @/etc/passwd /clear")}}]}),
            );
            line(
                "user",
                json!({"role": "user", "content":
                [{"type": "tool_result", "tool_use_id": id, "content": format!("MARK{n}-{call}")}]}),
            );
        }
        home.transcript(&format!("-w-alpha/{session}.jsonl"), &(lines.join("\n") + "\n"));
    }
}

/// The same without the client: cmem asks the scripted API itself.
fn watch_http(home: &Home, server: &Server, key: &str) -> Run {
    let mut command = home.command(&["watch", "--once", "--from-start"]);
    command
        .env_remove("CMEM_NOW")
        .env("CMEM_OBSERVER_PROVIDER", "anthropic")
        .env("CMEM_OBSERVER_RETRY_MIN", "0.2")
        .env("CMEM_OBSERVER_RETRY_MAX", "1")
        .env("CMEM_OBSERVER_TURN_TIMEOUT", "20")
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}/as/observer", server.port))
        .env("ANTHROPIC_API_KEY", key);
    Run::of(command.output().unwrap())
}

/// What a scenario came to: exit code, calls by outcome, observations, events in quarantine, requests at the API.
fn outcome(home: &Home, run: &Run, server: &Server) -> String {
    let status: Value = serde_json::from_str(&home.run(&["status", "--json"]).out).unwrap();
    let calls: BTreeMap<String, u64> = ["stored", "skipped", "retried", "paused", "quarantined"]
        .iter()
        .map(|it| ((*it).to_owned(), status["calls"][*it].as_u64().unwrap_or_default()))
        .filter(|(_, count)| *count > 0)
        .collect();
    let total: u64 = calls.values().sum();
    assert_eq!(status["calls"]["total"].as_u64(), Some(total), "totals add up: {}", status["calls"]);
    let rows = home.run(&["list", "--json", "--kind", "obs", "--limit", "0"]).ok().json();
    let count = rows.as_array().unwrap().len();
    let calls: Vec<String> = calls.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let why = if run.code == 0 { String::new() } else { format!(" ({})", run.err.lines().next().unwrap_or_default()) };
    format!("exit {}{why}; {}; {count} memories; {} requests", run.code, calls.join(", "), server.requests().len())
}

/// Nothing that was started from this home is left.
fn nobody_left(home: &Home) {
    let needle = home.path("").display().to_string();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).into_owned();
        assert!(
            !cwd.starts_with(&needle) || command.is_empty() || command.contains("fake_messages_api"),
            "{command} is left in {}",
            cwd.display()
        );
    }
    let made: Vec<String> =
        home.files().into_iter().filter(|it| it.starts_with("claude/projects") && !it.contains("-w-alpha")).collect();
    assert_eq!(made, Vec::<String>::new(), "a041: no transcript of the observer's own");
}

/// One way through a scenario.
struct Case {
    /// File in the kit.
    scenario: &'static str,
    /// Sign-in, sessions, calls in each.
    world: (&'static str, usize, usize),
    /// Settings.
    set: &'static [(&'static str, &'static str)],
    /// What it must come to.
    expected: &'static str,
}

const fn case(scenario: &'static str, expected: &'static str) -> Case {
    Case { scenario, world: ("key", 1, 1), set: &[], expected }
}

/// Every scenario of the kit. Most answer with an observation and leave the summary out, which is then asked for once
/// by itself, in vain: that is the skipped call in them.
const CASES: &[Case] = &[
    // The service hiccups; the client or the machine tries again, and nothing is lost or doubled.
    case("break-after-start", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("break-bad-json", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("break-before-headers", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("break-error-event", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("break-hang", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("break-mid-text", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("break-no-stop", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("break-reset", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("http-401-once", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("http-429-short", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("http-529-twice", "exit 0; skipped 1, stored 1; 1 memories; 4 requests"),
    case("slow", "exit 0; skipped 1, stored 1; 1 memories; 2 requests"),
    case("trickle", "exit 0; skipped 1, stored 1; 1 memories; 2 requests"),
    // What the model answers.
    case("echo", "exit 0; skipped 1; 0 memories; 1 requests"),
    case("fixed", "exit 0; skipped 1, stored 1; 1 memories; 2 requests"),
    case("skip", "exit 0; skipped 1; 0 memories; 1 requests"),
    case("prose", "exit 0; skipped 1; 0 memories; 1 requests"),
    // The client asks again by itself when an answer is empty.
    case("empty", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    case("empty-always", "exit 0; retried 1, skipped 1; 0 memories; 4 requests"),
    // The client has the model go on after its limit; the broken-off beginning is no memory.
    case("max-tokens", "exit 0; skipped 1, stored 1; 1 memories; 3 requests"),
    Case { world: ("key", 6, 1), ..case("mixed", "exit 0; skipped 6, stored 5; 6 memories; 11 requests") },
    case("tool-use", "exit 0; retried 1, skipped 1, stored 1; 1 memories; 3 requests"),
    // The account: nothing is lost, and no second call is made.
    Case {
        world: ("none", 1, 1),
        ..case(
            "fixed",
            "exit 3 (error: recording is paused: the observer is not signed in); paused 1; 0 memories; 0 requests",
        )
    },
    case(
        "http-401",
        "exit 3 (error: recording is paused: the observer is not signed in); paused 1; 0 memories; 4 requests",
    ),
    case(
        "http-403",
        "exit 3 (error: recording is paused: the observer is not signed in); paused 1; 0 memories; 1 requests",
    ),
    case(
        "http-403-once",
        "exit 3 (error: recording is paused: the observer is not signed in); paused 1; 0 memories; 1 requests; then exit 0; \
         paused 1, skipped 1, stored 1; 1 memories; 3 requests",
    ),
    case(
        "no-credit",
        "exit 3 (error: recording is paused: the account cannot be billed); paused 1; 0 memories; 1 requests",
    ),
    case(
        "http-404",
        "exit 3 (error: recording is paused: the observer's model is unknown); paused 1; 0 memories; 2 requests",
    ),
    case(
        "http-429-long",
        "exit 3 (error: recording is paused: the account's limit is reached); paused 1; 0 memories; 1 requests; then exit 0; \
         paused 1, skipped 1, stored 1; 1 memories; 3 requests",
    ),
    case(
        "quota-prose",
        "exit 3 (error: recording is paused: the account's limit is reached); paused 1; 0 memories; 1 requests",
    ),
    // A share of the five-hour window is left to the user, so the second session waits …
    Case {
        world: ("oauth", 4, 1),
        ..case(
            "quota",
            "exit 3 (error: recording is paused: the account's limit is reached); stored 1; 1 memories; 1 requests",
        )
    },
    // … and without a share the refusal itself is met, once.
    Case {
        world: ("oauth", 4, 1),
        set: &[("CMEM_BUDGET_WINDOW_SHARE", "0")],
        ..case(
            "quota",
            "exit 3 (error: recording is paused: the account's limit is reached); paused 1, stored 1; 1 memories; 2 requests",
        )
    },
    // Trouble that lasts: six tries, wider and wider apart, then a pause; the work is kept.
    case(
        "http-500",
        "exit 3 (error: recording is paused: the service is in trouble); retried 6; 0 memories; 24 requests",
    ),
    case(
        "http-529",
        "exit 3 (error: recording is paused: the service is in trouble); retried 6; 0 memories; 24 requests",
    ),
    // Too long: a fresh conversation first, and never the same again.
    Case {
        world: ("key", 1, 4),
        set: &[("CMEM_OBSERVER_BATCH_EVENTS", "1")],
        ..case("prompt-too-long", "exit 0; retried 2, skipped 1, stored 4; 1 memories; 7 requests")
    },
    case("prompt-too-long-always", "exit 0; quarantined 1; 0 memories; 1 requests"),
    // Nothing comes back: the watchdog ends it, twice, and the third is answered.
    Case {
        set: &[("CMEM_OBSERVER_TURN_TIMEOUT", "3")],
        ..case("hold", "exit 0; retried 2, skipped 1, stored 1; 1 memories; 4 requests")
    },
];

fn run_case(case: &Case, client: &Path, kit: &Path) -> String {
    let home = Home::new();
    let (auth, sessions, calls) = case.world;
    transcripts(&home, sessions, calls);
    let server = Server::start(&home, kit, &kit.join(format!("scenarios/{}.json", case.scenario)));
    let run = watch(&home, client, &server, auth, case.set);
    let mut got = outcome(&home, &run, &server);
    nobody_left(&home);
    if case.expected.contains("; then ") {
        // What waits is asked about when cmem is started again.
        let run = watch(&home, client, &server, auth, case.set);
        got = format!("{got}; then {}", outcome(&home, &run, &server));
        nobody_left(&home);
    }
    got
}

#[test]
fn every_scenario_comes_to_what_it_must() {
    let Some((client, kit)) = kit() else { return };
    for entry in std::fs::read_dir(kit.join("scenarios")).unwrap().flatten() {
        let name = entry.path().file_stem().unwrap().to_string_lossy().into_owned();
        assert!(CASES.iter().any(|it| it.scenario == name), "{name} is in no case");
    }
    let only = std::env::var("CMEM_SCENARIO").ok();
    let work = Mutex::new(CASES.iter().filter(|it| only.as_deref().is_none_or(|only| it.scenario.contains(only))));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(case) = work.lock().unwrap().next() else { return };
                    let got = run_case(case, &client, &kit);
                    if got != case.expected {
                        failures
                            .lock()
                            .unwrap()
                            .push(format!("{}:\n  {got}\n  expected\n  {}", case.scenario, case.expected));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_cache_prefix_is_the_same_bytes_from_turn_to_turn() {
    let Some((client, kit)) = kit() else { return };
    let home = Home::new();
    transcripts(&home, 1, 5);
    let server = Server::start(&home, &kit, &kit.join("scenarios/skip.json"));
    watch(&home, &client, &server, "key", &[("CMEM_OBSERVER_BATCH_EVENTS", "1")]).ok();
    let requests = server.requests();
    assert!(requests.len() >= 5, "{}", requests.len());
    // Marks move on with the newest message; texts never change.
    fn plain(value: &Value) -> String {
        match value {
            Value::Array(items) => items.iter().map(plain).collect(),
            Value::Object(map) => map
                .iter()
                .filter(|(name, _)| *name != "cache_control")
                .map(|(name, it)| format!("{name}={}", plain(it)))
                .collect(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
    let texts = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        other => other.as_array().into_iter().flatten().filter_map(|it| it["text"].as_str()).collect(),
    };
    for pair in requests.windows(2) {
        let (one, two) = (&pair[0]["body"], &pair[1]["body"]);
        assert_eq!(plain(&one["system"]), plain(&two["system"]));
        let (one, two) = (one["messages"].as_array().unwrap(), two["messages"].as_array().unwrap());
        assert!(two.len() > one.len());
        for (before, after) in one.iter().zip(two) {
            assert_eq!(texts(before), texts(after));
        }
    }
    let first = &requests[0]["body"];
    assert_eq!(first["tools"].as_array().map_or(0, Vec::len), 0, "no tools are offered");
    let all = requests.iter().map(|it| it["body"].to_string()).collect::<String>();
    assert!(!all.contains("root:x:"), "no file that observed text names is attached");
}

#[test]
fn a046_no_hook_of_the_users_runs_and_the_sign_in_in_settings_is_used() {
    let Some((client, kit)) = kit() else { return };
    for with_env in [false, true] {
        let home = Home::new();
        transcripts(&home, 1, 1);
        let server = Server::start(&home, &kit, &kit.join("scenarios/fixed.json"));
        let touched = home.path("hooked");
        let hook = json!([{"hooks": [{"type": "command", "command": format!("touch {}", touched.display())}]}]);
        let mut settings =
            json!({"hooks": {"SessionStart": hook, "UserPromptSubmit": hook, "Stop": hook, "SessionEnd": hook}});
        if with_env {
            settings["env"] = json!({"ANTHROPIC_API_KEY": "sk-ant-from-settings"});
        }
        std::fs::write(home.claude().join("settings.json"), settings.to_string()).unwrap();
        std::fs::write(home.claude().join("CLAUDE.md"), "Always answer MARKER-OF-CLAUDE-MD.").unwrap();
        let auth = if with_env { "none" } else { "key" };
        watch(&home, &client, &server, auth, &[]).ok();
        assert!(!touched.exists(), "a hook ran");
        let requests = server.requests();
        assert!(!home.claude().join("history.jsonl").exists(), "a044: nothing of ours in the lists of the client");
        assert_eq!(requests.len(), 2);
        assert!(!requests[0]["body"].to_string().contains("MARKER-OF-CLAUDE-MD"));
        nobody_left(&home);
    }
}

#[test]
fn a070_the_real_client_is_gone_when_cmem_is_killed() {
    let Some((client, kit)) = kit() else { return };
    let home = Home::new();
    transcripts(&home, 1, 1);
    let server = Server::start(&home, &kit, &kit.join("scenarios/hold.json"));
    let mut command = home.command(&["watch", "--from-start"]);
    command
        .env_remove("CMEM_NOW")
        .env("CMEM_OBSERVER_PROVIDER", "claude")
        .env("CMEM_OBSERVER_CLAUDE_PATH", &client)
        .env("CMEM_OBSERVER_GATHER", "0")
        .env("CMEM_OBSERVER_LINGER", "0")
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}/as/observer", server.port))
        .env("ANTHROPIC_API_KEY", "sk-ant-fake-for-loopback");
    let mut cmem = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = std::time::Instant::now();
    while server.requests().is_empty() {
        assert!(begun.elapsed().as_secs() < 60, "no request came");
        std::thread::yield_now();
    }
    cmem.kill().unwrap();
    cmem.wait().unwrap();
    let killed = std::time::Instant::now();
    let observer = home.cmem().join("observer");
    let left = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|it| {
            std::fs::read_link(it.path().join("cwd")).is_ok_and(|cwd| cwd == observer)
                && std::fs::read(it.path().join("cmdline")).is_ok_and(|it| !it.is_empty())
        })
    };
    while left() {
        assert!(killed.elapsed().as_secs() < 5, "the client is still there");
        std::thread::yield_now();
    }
    // What was in flight is asked again, and stored once.
    drop(server);
    let server = Server::start(&home, &kit, &kit.join("scenarios/fixed.json"));
    let run = watch(&home, &client, &server, "key", &[]);
    assert_eq!(outcome(&home, &run, &server), "exit 0; skipped 1, stored 1; 1 memories; 2 requests");
}

#[test]
fn a072_many_sessions_share_two_children() {
    let Some((client, kit)) = kit() else { return };
    let home = Home::new();
    transcripts(&home, 12, 1);
    let server = Server::start(&home, &kit, &kit.join("scenarios/fixed.json"));
    let observer = home.cmem().join("observer");
    let done = std::sync::atomic::AtomicBool::new(false);
    let (run, peak) = std::thread::scope(|scope| {
        let counter = scope.spawn(|| {
            let mut peak = 0;
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                let now = std::fs::read_dir("/proc")
                    .unwrap()
                    .flatten()
                    .filter(|it| std::fs::read_link(it.path().join("cwd")).is_ok_and(|cwd| cwd == observer))
                    .count();
                peak = peak.max(now);
                std::thread::yield_now();
            }
            peak
        });
        let run = watch(&home, &client, &server, "key", &[("CMEM_OBSERVER_SLOTS", "2")]);
        done.store(true, std::sync::atomic::Ordering::Release);
        (run, counter.join().unwrap())
    });
    assert_eq!(outcome(&home, &run, &server), "exit 0; skipped 12, stored 12; 12 memories; 24 requests");
    assert!((1..=2).contains(&peak), "{peak} children");
}

/// Scenarios over HTTP, without a client in between.
const HTTP: &[(&str, &str)] = &[
    ("break-before-headers", "exit 0; retried 1, skipped 1, stored 1; 1 memories; 3 requests"),
    ("break-reset", "exit 0; skipped 1, stored 1; 1 memories; 2 requests"),
    ("empty", "exit 0; retried 1, skipped 1, stored 1; 1 memories; 3 requests"),
    ("empty-always", "exit 0; retried 1, skipped 1; 0 memories; 2 requests"),
    ("fixed", "exit 0; skipped 1, stored 1; 1 memories; 2 requests"),
    ("skip", "exit 0; skipped 1; 0 memories; 1 requests"),
    ("prose", "exit 0; skipped 1; 0 memories; 1 requests"),
    (
        "http-401",
        "exit 3 (error: recording is paused: the observer is not signed in); paused 1; 0 memories; 1 requests",
    ),
    (
        "http-403-once",
        "exit 3 (error: recording is paused: the observer is not signed in); paused 1; 0 memories; 1 requests",
    ),
    (
        "http-404",
        "exit 3 (error: recording is paused: the observer's model is unknown); paused 1; 0 memories; 1 requests",
    ),
    (
        "http-429-long",
        "exit 3 (error: recording is paused: the service asks to wait); paused 1; 0 memories; 1 requests",
    ),
    ("http-429-short", "exit 0; paused 1, skipped 1, stored 1; 1 memories; 3 requests"),
    ("http-500", "exit 3 (error: recording is paused: the service is in trouble); retried 6; 0 memories; 6 requests"),
    ("http-529", "exit 3 (error: recording is paused: the service is in trouble); retried 6; 0 memories; 6 requests"),
    ("http-529-twice", "exit 0; retried 2, skipped 1, stored 1; 1 memories; 4 requests"),
    ("max-tokens", "exit 0; retried 1, skipped 1, stored 1; 1 memories; 3 requests"),
    (
        "no-credit",
        "exit 3 (error: recording is paused: the account cannot be billed); paused 1; 0 memories; 1 requests",
    ),
    ("prompt-too-long-always", "exit 0; quarantined 1; 0 memories; 1 requests"),
    (
        "quota",
        "exit 3 (error: recording is paused: the service asks to wait); paused 1, stored 1; 1 memories; 2 requests",
    ),
    (
        "quota-prose",
        "exit 3 (error: recording is paused: the account's limit is reached); paused 1; 0 memories; 1 requests",
    ),
    ("slow", "exit 0; skipped 1, stored 1; 1 memories; 2 requests"),
    ("tool-use", "exit 0; retried 1, skipped 1, stored 1; 1 memories; 3 requests"),
];

#[test]
fn the_http_provider_comes_to_the_same_outcomes() {
    let Some(kit) = kit_alone() else { return };
    let mut failures = Vec::new();
    for (name, expected) in HTTP {
        let home = Home::new();
        transcripts(&home, 1, 1);
        let server = Server::start(&home, &kit, &kit.join(format!("scenarios/{name}.json")));
        let run = watch_http(&home, &server, "sk-ant-fake-for-loopback");
        let got = outcome(&home, &run, &server);
        assert!(!run.err.contains("sk-ant-fake"), "a key is never shown");
        if got != *expected {
            failures.push(format!("{name}:\n  {got}\n  expected\n  {expected}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
