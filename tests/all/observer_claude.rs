//! The `claude` provider against a fake program: what it is started with, what it reads, and how it ends.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use cmem::config::Env;
use cmem::gate::reply::Expected;
use cmem::observer::claude::{Claude, Setup};
use cmem::observer::provider::{AskKey, Gone, Order, Provider, Report, RunKey, RunSpec, Said};

/// Long enough for a loaded machine; nothing waits this long when all is well.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that notes what it is given and then does `body` for each line after `initialize`.
fn fake(dir: &Path, body: &str) -> PathBuf {
    let notes = dir.join("notes");
    std::fs::create_dir_all(&notes).unwrap();
    let path = dir.join("claude");
    let script = format!(
        r#"#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.332 (Claude Code)'; exit 0; fi
N='{notes}'
printf '%s\n' "$@" > "$N/argv"; env > "$N/env"; pwd > "$N/cwd"; echo $$ >> "$N/pids"
read -r line; printf '%s\n' "$line" > "$N/lines"
echo '{{"type":"control_response","response":{{"subtype":"success","request_id":"initialize","response":{{}}}}}}'
while read -r line; do
  printf '%s\n' "$line" >> "$N/lines"
  uuid=$(printf '%s' "$line" | sed -n 's/.*"uuid":"\([^"]*\)".*/\1/p')
  {body}
done
"#,
        notes = notes.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Answers every line with a skip.
const SKIP: &str = r#"echo '{"type":"system","subtype":"init","tools":[],"mcp_servers":[]}'
  echo '{"type":"assistant","message":{"model":"m-1","content":[{"type":"text","text":"<skip/>"}]}}'
  echo '{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2},"user_message_uuids":["'$uuid'"]}'"#;

struct Talk {
    provider: Claude,
    reports: Receiver<Report>,
}

impl Talk {
    fn new(program: &Path, home: &Path, env: &[(&str, &str)]) -> Self {
        let (sender, reports) = channel();
        let setup = Setup {
            program: program.display().to_string(),
            env: Env::from_iter(
                env.iter().copied().chain([("PATH", "/usr/bin:/bin"), ("HOME", home.to_str().unwrap())]),
            ),
            home: Some(home.to_owned()),
            claude_dirs: Vec::new(),
            cwd: home.join("state/observer"),
        };
        let provider = Claude::new(setup, Arc::new(move |report| sender.send(report).unwrap_or_default()));
        Self { provider, reports }
    }

    fn start(&mut self, run: u64, instructions: &str) {
        let spec = RunSpec { session: "s".into(), instructions: instructions.into(), model: "haiku".into() };
        self.provider.order(Order::Start { run: RunKey(run), spec });
    }

    fn ask(&mut self, run: u64, text: &str) {
        self.provider.order(Order::Ask {
            run: RunKey(run),
            ask: AskKey(run * 10),
            text: text.into(),
            batch: Arc::default(),
            expects: Expected::Observations,
        });
    }

    /// The next report that is no sign of life.
    fn next(&self) -> Report {
        loop {
            let report = self.reports.recv_timeout(PATIENCE).expect("a report");
            if report.said != Said::Alive {
                return report;
            }
        }
    }

    fn gone(&self) -> Gone {
        loop {
            if let Said::Gone(gone) = self.next().said {
                return gone;
            }
        }
    }
}

fn notes(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join("notes").join(name)).unwrap_or_default()
}

fn alive(pid: i32) -> bool {
    // A zombie has no command line.
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|it| !it.is_empty())
}

/// Waits for something another process brings about.
fn until(what: &str, mut reached: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !reached() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn arguments_environment_folder_and_first_lines_are_as_measured() {
    let home = tempfile::tempdir().unwrap();
    let program = fake(home.path(), SKIP);
    let mut talk = Talk::new(
        &program,
        home.path(),
        &[
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "x"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("GITHUB_TOKEN", "secret"),
        ],
    );
    talk.start(1, "You keep the memory.\nSecond line.");
    talk.ask(1, "<observed-x>\na > b & del c\n</observed-x>");
    assert_eq!(talk.next().said, Said::Ready { version: Some("2.1.332".into()) });
    let Said::Answered { ask, reply, usage, model } = talk.next().said else { panic!("an answer") };
    assert_eq!((ask, reply.text.as_str(), usage.input, model.as_deref()), (AskKey(10), "<skip/>", 9, Some("m-1")));

    let argv: Vec<String> = notes(home.path(), "argv").lines().map(str::to_owned).collect();
    assert_eq!(
        argv,
        [
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
            "--model",
            "haiku",
            "--thinking=disabled",
            "--tools=",
            "--permission-mode",
            "dontAsk",
            "--strict-mcp-config",
            "--disable-slash-commands",
            "--no-session-persistence",
            "--max-turns",
            "1",
            "--settings",
            "{\"disableAllHooks\":true}",
            "--setting-sources=",
        ]
    );
    let env = notes(home.path(), "env");
    for set in [
        "CLAUDE_CODE_DISABLE_ATTACHMENTS=1",
        "CLAUDE_CODE_DISABLE_THINKING=1",
        "DISABLE_AUTO_COMPACT=1",
        "CLAUDE_CODE_MAX_RETRIES=3",
        "API_TIMEOUT_MS=120000",
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS=60000",
        "DISABLE_AUTOUPDATER=1",
        "CMEM_OBSERVER=1",
        "CLAUDE_CODE_USE_BEDROCK=1",
    ] {
        assert!(env.lines().any(|it| it == set), "{set} in {env}");
    }
    for absent in ["CLAUDECODE=", "CLAUDE_CODE_SESSION_ID=", "GITHUB_TOKEN=", "ANTHROPIC_"] {
        assert!(!env.lines().any(|it| it.starts_with(absent)), "{absent}");
    }
    let cwd = home.path().canonicalize().unwrap().join("state/observer");
    assert_eq!(notes(home.path(), "cwd").trim(), cwd.to_str().unwrap());
    assert_eq!(std::fs::read_dir(&cwd).unwrap().count(), 0, "an empty folder");

    let lines = notes(home.path(), "lines");
    let mut lines = lines.lines().map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap());
    let first = lines.next().unwrap();
    assert_eq!(first["request"]["subtype"], "initialize");
    assert_eq!(first["request"]["systemPrompt"][0], "You keep the memory.\nSecond line.");
    let second = lines.next().unwrap();
    assert_eq!(second["type"], "user");
    assert_eq!(second["client_composed"], true);
    assert_eq!(second["uuid"].as_str().unwrap().len(), 36);
    assert_eq!(second["message"]["content"], "<observed-x>\na > b & del c\n</observed-x>");

    talk.provider.order(Order::End { run: RunKey(1) });
    assert_eq!(talk.gone(), Gone::Ended);
}

#[test]
fn a047_nothing_observed_reaches_a_shell_or_the_command_line() {
    let home = tempfile::tempdir().unwrap();
    let program = fake(home.path(), SKIP);
    let before: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    let mut talk = Talk::new(&program, home.path(), &[]);
    talk.start(1, "instructions > here");
    talk.ask(1, "a > b & del c; $(touch owned) `touch owned`");
    while !matches!(talk.next().said, Said::Answered { .. }) {}
    let argv = notes(home.path(), "argv");
    assert!(!argv.contains("del c") && !argv.contains("instructions"));
    let after: Vec<_> =
        std::fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name()).filter(|it| it != "state").collect();
    assert_eq!(before.len(), after.len());
}

#[test]
fn a070_twenty_rounds_leave_nobody_behind() {
    let home = tempfile::tempdir().unwrap();
    let program = fake(home.path(), SKIP);
    let mut talk = Talk::new(&program, home.path(), &[]);
    for run in 1..=20 {
        talk.start(run, "i");
        talk.ask(run, "q");
        while !matches!(talk.next().said, Said::Answered { .. }) {}
        talk.provider.order(Order::End { run: RunKey(run) });
        assert_eq!(talk.gone(), Gone::Ended);
    }
    let pids = notes(home.path(), "pids");
    assert_eq!(pids.lines().count(), 20);
    for pid in pids.lines() {
        assert!(!alive(pid.parse().unwrap()), "{pid}");
    }
}

#[test]
fn a024_a_child_that_will_not_listen_is_killed_with_all_that_is_below_it() {
    let home = tempfile::tempdir().unwrap();
    let program = fake(home.path(), "trap '' TERM INT; sleep 1000 & echo $! >> \"$N/pids\"; while :; do wait; done");
    let mut talk = Talk::new(&program, home.path(), &[]);
    talk.start(1, "i");
    talk.ask(1, "q");
    until("the child's child", || notes(home.path(), "pids").lines().count() == 2);
    talk.provider.order(Order::Kill { run: RunKey(1) });
    assert_eq!(talk.gone(), Gone::Ended);
    for pid in notes(home.path(), "pids").lines() {
        let pid = pid.parse().unwrap();
        until("its end", || !alive(pid));
    }
}

#[test]
fn a_child_that_dies_says_how() {
    let home = tempfile::tempdir().unwrap();
    let program = fake(home.path(), "echo 'out of paper' >&2; exit 7");
    let mut talk = Talk::new(&program, home.path(), &[]);
    talk.start(1, "i");
    talk.ask(1, "q");
    assert_eq!(talk.gone(), Gone::Died("exit status: 7: out of paper".into()));
}

#[test]
fn a_client_that_does_not_know_a_flag_is_refused_with_its_words() {
    let home = tempfile::tempdir().unwrap();
    let program = fake(home.path(), SKIP);
    let script = std::fs::read_to_string(&program).unwrap();
    let script =
        script.replace("read -r line; printf", "echo \"error: unknown option '--thinking'\" >&2; exit 1; printf");
    std::fs::write(&program, script).unwrap();
    let mut talk = Talk::new(&program, home.path(), &[]);
    talk.start(1, "i");
    assert_eq!(talk.gone(), Gone::Refused("exit status: 1: error: unknown option '--thinking'".into()));
}

#[test]
fn a065_a_program_that_is_not_there_is_named() {
    let home = tempfile::tempdir().unwrap();
    let missing = home.path().join("nowhere/claude");
    let mut talk = Talk::new(&missing, home.path(), &[]);
    talk.start(1, "i");
    assert_eq!(talk.gone(), Gone::NotFound { looked: vec![missing.display().to_string()] });
}

#[test]
fn closing_the_provider_ends_what_is_still_there() {
    let home = tempfile::tempdir().unwrap();
    let program = fake(home.path(), "sleep 1000");
    let mut talk = Talk::new(&program, home.path(), &[]);
    talk.start(1, "i");
    talk.ask(1, "q");
    until("the child", || notes(home.path(), "lines").lines().count() == 2);
    let pid: i32 = notes(home.path(), "pids").trim().parse().unwrap();
    talk.provider.close();
    assert!(!alive(pid));
    assert_eq!(talk.gone(), Gone::Ended);
}

/// Not a test of its own: the parent that [`a070_the_child_dies_with_its_parent`] kills.
#[test]
fn parent_to_be_killed() {
    let Some(home) = std::env::var_os("CMEM_TEST_PARENT").map(PathBuf::from) else { return };
    let mut talk = Talk::new(&home.join("claude"), &home, &[]);
    talk.start(1, "i");
    talk.ask(1, "q");
    loop {
        std::thread::park(); // until it is killed
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a070_the_child_dies_with_its_parent() {
    let home = tempfile::tempdir().unwrap();
    // Busy, deaf to the end of its input and to every polite signal.
    fake(home.path(), "trap '' TERM INT HUP PIPE; while :; do :; done");
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "observer_claude::parent_to_be_killed", "--nocapture"])
        .env("CMEM_TEST_PARENT", home.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the child at work", || notes(home.path(), "lines").lines().count() == 2);
    let pid: i32 = notes(home.path(), "pids").trim().parse().unwrap();
    assert!(alive(pid));
    let killed = std::time::Instant::now();
    parent.kill().unwrap(); // SIGKILL
    parent.wait().unwrap();
    until("the child's end", || !alive(pid));
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
}
