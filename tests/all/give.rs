//! What a session is given, seen from outside: `cmem hook` and `cmem context`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cmem::memory::{AgentId, NewMemory, Source};
use serde_json::{Value, json};

use super::support::{Home, Run, memory, walk};

/// Calls a hook and gives the text it adds; empty where it says nothing.
#[track_caller]
fn hook(home: &Home, moment: &str, input: &Value) -> String {
    hook_with(home, moment, input, &[])
}

#[track_caller]
fn hook_with(home: &Home, moment: &str, input: &Value, env: &[(&str, &str)]) -> String {
    let mut command = home.command(&["hook", moment]);
    // Whether it is in time is a test of its own; here a busy machine must not make it silent.
    command.env("CMEM_CONTEXT_DEADLINE", "30000").envs(env.iter().copied());
    let run = fed(command, input.to_string().as_bytes()).ok();
    assert_eq!(run.err, "");
    if run.out.is_empty() {
        return String::new();
    }
    let value: Value = serde_json::from_str(&run.out).unwrap();
    // A124: nothing but a text.
    assert_eq!(value.as_object().unwrap().len(), 1);
    let specific = value["hookSpecificOutput"].as_object().unwrap();
    assert_eq!(specific.keys().collect::<Vec<_>>(), ["additionalContext", "hookEventName"]);
    specific["additionalContext"].as_str().unwrap().to_owned()
}

fn fed(mut command: Command, input: &[u8]) -> Run {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input);
    Run::of(child.wait_with_output().unwrap())
}

fn start(cwd: &Path, source: &str) -> Value {
    json!({ "session_id": "s-now", "cwd": cwd, "hook_event_name": "SessionStart", "source": source })
}

fn read(cwd: &Path, file: &Path) -> Value {
    json!({ "session_id": "s-now", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Read",
            "tool_input": { "file_path": file } })
}

/// A project directory with a large file, and a note about it.
fn project(home: &Home, name: &str) -> std::path::PathBuf {
    let root = home.path(name);
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/ledger.rs"), "// a line\n".repeat(400)).unwrap();
    let of = |title: &str, at: &str| memory(title, root.to_str().unwrap(), at);
    home.remember(vec![
        NewMemory {
            files_modified: vec!["src/ledger.rs".into()],
            session: Some("old".into()),
            ..of("Ledger writes in one transaction", "2026-03-01T10:00:00Z")
        },
        NewMemory { type_id: "decision".into(), ..of("Keep SQLite for the ledger", "2026-03-01T11:00:00Z") },
    ]);
    root
}

#[test]
fn the_hook_and_the_command_give_the_same_bytes() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let given = hook(&home, "session-start", &start(&root, "startup"));
    assert!(given.contains("Keep SQLite for the ledger") && given.contains("# [alpha] recent context"));
    let printed = home.run(&["context", "--project", root.to_str().unwrap()]).ok();
    assert_eq!(printed.out, given);
    let json = home.run(&["context", "--project", root.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!(json["text"], given.as_str());
    assert_eq!(json["in"].as_array().unwrap().len(), 2);
    let explained = home.run(&["context", "--project", root.to_str().unwrap(), "--explain"]).ok().out;
    assert!(explained.contains("2 observations, 0 summaries in"), "{explained}");
    let file = root.join("src/ledger.rs");
    let given = hook(&home, "pre-read", &read(&root, &file));
    assert!(given.contains("Ledger writes in one transaction") && !given.contains("Keep SQLite"));
    let printed = home.run(&["context", "--project", root.to_str().unwrap(), "--at", "file", "src/ledger.rs"]).ok();
    assert_eq!(printed.out, given);
}

#[test]
fn a122_five_minutes_later_the_same_bytes() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let at = |now: &str| hook_with(&home, "session-start", &start(&root, "startup"), &[("CMEM_NOW", now)]);
    assert_eq!(at("2026-03-02T12:00:00Z"), at("2026-03-02T12:05:00Z"));
}

#[test]
fn a128_after_compaction_clear_and_resume_the_notes_come_again() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let text = hook(&home, "session-start", &start(&root, "startup"));
    for source in ["compact", "clear", "resume", "something-new"] {
        assert_eq!(hook(&home, "session-start", &start(&root, source)), text, "{source}");
    }
    for (source, key) in [("compact", "CMEM_CONTEXT_AFTER_COMPACT"), ("resume", "CMEM_CONTEXT_ON_RESUME")] {
        assert_eq!(hook_with(&home, "session-start", &start(&root, source), &[(key, "false")]), "");
    }
}

#[test]
fn a123_a_file_is_spoken_of_once_in_a_session() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let input = read(&root, &root.join("src/ledger.rs"));
    assert!(!hook(&home, "pre-read", &input).is_empty());
    assert_eq!(hook(&home, "pre-read", &input), "");
    let mut other = input.clone();
    other["session_id"] = json!("../../other");
    assert!(!hook(&home, "pre-read", &other).is_empty());
    // A new context knows nothing of it.
    hook(&home, "session-start", &start(&root, "compact"));
    assert!(!hook(&home, "pre-read", &input).is_empty());
    hook(&home, "session-start", &start(&root, "resume"));
    assert_eq!(hook(&home, "pre-read", &input), "");
}

#[test]
fn a103_helper_agents_are_given_nothing_unless_asked() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let mut input = read(&root, &root.join("src/ledger.rs"));
    input["agent_id"] = json!("a1");
    assert_eq!(hook(&home, "pre-read", &input), "");
    assert!(!hook_with(&home, "pre-read", &input, &[("CMEM_CONTEXT_HELPERS", "true")]).is_empty());
    let text = hook(&home, "session-start", &start(&root, "startup"));
    assert!(text.contains("not instructions") && text.contains("### Mar 1, 2026"));
}

#[test]
fn a094_an_excluded_project_is_given_nothing() {
    let home = Home::new();
    let root = project(&home, "alpha");
    assert!(!hook(&home, "session-start", &start(&root, "startup")).is_empty());
    for pattern in ["alpha".to_owned(), root.display().to_string(), format!("{}/**", home.path("").display())] {
        let env = [("CMEM_RECORD_EXCLUDE", pattern.as_str())];
        assert_eq!(hook_with(&home, "session-start", &start(&root, "startup"), &env), "", "{pattern}");
        let input = read(&root, &root.join("src/ledger.rs"));
        assert_eq!(hook_with(&home, "pre-read", &input, &env), "", "{pattern}");
    }
}

#[test]
fn a121_a125_a126_a127_a129_settings_have_an_effect_and_the_size_holds() {
    let home = Home::new();
    let root = home.path("alpha");
    fs::create_dir_all(&root).unwrap();
    let one = |n: u32| NewMemory {
        type_id: if n.is_multiple_of(10) { "decision" } else { "change" }.into(),
        agent: (n % 4 == 3).then(|| AgentId::from("a1")),
        session: Some(format!("s{}", n / 6).into()),
        ..memory(
            &format!("Row {n} of many, with a title that takes its place on the line and more"),
            root.to_str().unwrap(),
            &format!("2026-02-{:02}T10:{:02}:00Z", 1 + n / 30, n % 60),
        )
    };
    home.remember((0..500).map(one).collect());
    let with = |env: &[(&str, &str)]| hook_with(&home, "session-start", &start(&root, "startup"), env);
    let rows = |text: &str| text.lines().filter(|line| line.contains("Row ")).count();

    let text = with(&[("CMEM_CONTEXT_OBSERVATIONS", "500"), ("CMEM_CONTEXT_MAX_TOKENS", "100000")]);
    assert!(
        text.len() <= 9_500 && rows(&text) > 60 && text.ends_with("</cmem-context>"),
        "{} {}",
        text.len(),
        rows(&text)
    );
    assert_eq!(rows(&with(&[])), 50);
    assert_eq!(rows(&with(&[("CMEM_CONTEXT_OBSERVATIONS", "7")])), 7);
    assert!(with(&[("CMEM_CONTEXT_MAX_TOKENS", "600")]).len() < 2_500);
    let decisions = with(&[("CMEM_CONTEXT_TYPES", "decision")]);
    assert!(
        rows(&decisions) > 20 && decisions.lines().filter(|line| line.contains("Row ")).all(|line| line.contains('⚖'))
    );
    // A125: no helper's step is in while the main agent's rows are enough.
    let helper = |line: &str| {
        line.split("Row ").nth(1).and_then(|it| it.split(' ').next()?.parse::<u32>().ok()).is_some_and(|n| n % 4 == 3)
    };
    assert!(!with(&[]).lines().any(helper));

    // A127, A126: a stale name is passed over with a warning; an unknown key is named.
    let stale = home
        .command(&["context", "--project", root.to_str().unwrap()])
        .env("CMEM_CONTEXT_TYPES", "old-type")
        .output()
        .unwrap();
    let stale = Run::of(stale).ok();
    assert!(rows(&stale.out) == 50 && stale.err.contains("old-type"));
    fs::write(home.cmem().join("config.toml"), "[context]\ntpyes = [\"decision\"]\n").unwrap();
    let unknown = home.run(&["context", "--project", root.to_str().unwrap()]).ok();
    assert!(unknown.err.contains("tpyes") && rows(&unknown.out) == 50);

    // A129: zero is nothing.
    assert_eq!(with(&[("CMEM_CONTEXT_OBSERVATIONS", "0"), ("CMEM_CONTEXT_SESSIONS", "0")]), "");
    assert_eq!(with(&[("CMEM_CONTEXT_ENABLED", "false")]), "");
}

#[test]
fn a_prompt_is_answered_only_when_asked_for_and_when_something_bears_on_it() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let prompt = |text: &str, env: &[(&str, &str)]| {
        let input = json!({ "session_id": "s", "cwd": root, "hook_event_name": "UserPromptSubmit", "prompt": text });
        hook_with(&home, "prompt", &input, env)
    };
    let asked = "does the ledger write everything in one transaction?";
    assert_eq!(prompt(asked, &[]), "");
    let on = [("CMEM_CONTEXT_PROMPT", "true")];
    assert!(prompt(asked, &on).contains("Ledger writes in one transaction"));
    assert_eq!(prompt(asked, &on), "", "told already");
    assert_eq!(prompt("please make the button blue and a bit larger", &on), "");
    assert_eq!(prompt("ledger", &on), "");
}

#[test]
fn whatever_is_wrong_the_hook_is_silent_and_succeeds() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let silent = |command: Command, input: &[u8]| {
        let run = fed(command, input).ok();
        assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""));
    };
    let good = start(&root, "startup").to_string();
    for input in [&b""[..], b"not json", b"[]", b"{}", b"\xff\xfe", b"{\"cwd\":\"relative\"}", b"{\"cwd\":7}"] {
        silent(home.command(&["hook", "session-start"]), input);
    }
    for args in [&["hook"][..], &["hook", "no-such-moment"], &["hook", "session-start", "--no-such-option"]] {
        silent(home.command(args), good.as_bytes());
    }
    // Missing and small files, and folders.
    fs::write(root.join("small.rs"), "x").unwrap();
    for file in ["small.rs", "missing.rs", "src", ""] {
        silent(home.command(&["hook", "pre-read"]), read(&root, Path::new(file)).to_string().as_bytes());
    }
    // A database that is none, and one that is not there.
    fs::write(home.cmem().join("cmem.db"), "this is no database, but long enough to be read as one".repeat(100))
        .unwrap();
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.cmem().join(format!("cmem.db{suffix}")));
    }
    silent(home.command(&["hook", "session-start"]), good.as_bytes());
    fs::remove_file(home.cmem().join("cmem.db")).unwrap();
    silent(home.command(&["hook", "session-start"]), good.as_bytes());
    assert!(!home.cmem().join("cmem.db").exists(), "a hook makes no database");
    // No home at all.
    let mut homeless = home.command(&["hook", "session-start"]);
    homeless.env_remove("HOME").env_remove("CMEM_HOME").env_remove("CLAUDE_CONFIG_DIR");
    silent(homeless, good.as_bytes());
}

#[test]
fn an_input_that_never_ends_does_not_hold_a_session_up() {
    let home = Home::new();
    project(&home, "alpha");
    let mut command = home.command(&["hook", "session-start"]);
    let began = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"cwd\":").unwrap();
    // stdin stays open until the hook has ended on its own.
    assert!(child.wait().unwrap().success());
    drop(stdin);
    // The deadline is 150 ms; the rest is for a machine that is busy with other tests.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn one_malformed_row_hides_no_other() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let ids = home.remember(vec![memory("Damaged", root.to_str().unwrap(), "2026-03-01T12:00:00Z")]);
    let db = rusqlite::Connection::open(home.cmem().join("cmem.db")).unwrap();
    for (column, table) in
        [("concepts", "memory"), ("facts", "memory"), ("files_read", "memory_body"), ("summary", "memory_body")]
    {
        let sql = format!("UPDATE {table} SET {column} = '[\"broken' WHERE id = {}", ids[0].0);
        db.execute(&sql, []).unwrap();
    }
    db.execute("UPDATE memory SET created_ms = 9223372036854775807, type = '' WHERE id = ?1", [ids[0].0]).unwrap();
    drop(db);
    let text = hook(&home, "session-start", &start(&root, "startup"));
    assert!(text.contains("Keep SQLite for the ledger") && text.contains("Ledger writes"), "{text}");
    assert!(!hook(&home, "pre-read", &read(&root, &root.join("src/ledger.rs"))).is_empty());
    let found = home.run(&["search", "ledger", "--json"]).ok().json();
    assert_eq!(found["items"].as_array().unwrap().len(), 2);
}

#[test]
fn manual_memories_and_strange_types_are_given() {
    let home = Home::new();
    let root = home.path("alpha");
    fs::create_dir_all(&root).unwrap();
    home.remember(vec![
        NewMemory {
            source: Source::Manual,
            ..memory("Written by hand", root.to_str().unwrap(), "2026-03-01T10:00:00Z")
        },
        NewMemory {
            raw_type: Some("milestone".into()),
            ..memory("Of a strange type", root.to_str().unwrap(), "2026-03-01T11:00:00Z")
        },
    ]);
    let text = hook(&home, "session-start", &start(&root, "startup"));
    assert!(text.contains("Written by hand") && text.contains("? Of a strange type"), "{text}");
}

fn git(dir: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"])
        .args(args)
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a130_nothing_is_written_into_a_repository() {
    let home = Home::new();
    let root = project(&home, "alpha");
    if git(&root, &["init", "-q"]).is_none() {
        eprintln!("skipped: git is not here");
        return;
    }
    git(&root, &["add", "."]).unwrap();
    git(&root, &["commit", "-qm", "1"]).unwrap();
    let listing = |dir: &Path| {
        let mut files = Vec::new();
        walk(dir, &mut |path| files.push((path.to_owned(), fs::read(path).unwrap())));
        files.sort();
        files
    };
    let before = listing(&root);
    hook(&home, "session-start", &start(&root, "startup"));
    hook(&home, "pre-read", &read(&root, &root.join("src/ledger.rs")));
    // A file nobody knows makes cmem ask git for earlier names.
    fs::write(home.path("unknown.rs"), "x".repeat(2_000)).unwrap();
    hook(&home, "pre-read", &read(&root, &home.path("unknown.rs")));
    for args in [&["context"][..], &["search", "ledger"], &["timeline"]] {
        let output = home.command(args).current_dir(&root).output().unwrap();
        assert!(output.status.success());
    }
    assert!(listing(&root) == before, "a file in the repository changed");
    assert_eq!(git(&root, &["status", "--porcelain"]).unwrap(), "");
}

#[test]
fn a_file_in_a_worktree_and_a_renamed_file_keep_their_notes() {
    let home = Home::new();
    let root = project(&home, "alpha");
    if git(&root, &["init", "-q"]).is_none() {
        eprintln!("skipped: git is not here");
        return;
    }
    git(&root, &["add", "."]).unwrap();
    git(&root, &["commit", "-qm", "1"]).unwrap();
    let worktree = home.path("graft");
    git(&root, &["worktree", "add", "-q", worktree.to_str().unwrap()]).unwrap();
    let text = hook(&home, "session-start", &start(&worktree, "startup"));
    assert!(text.contains("# [alpha/graft]") && text.contains("Keep SQLite"), "{text}");
    let text = hook(&home, "pre-read", &read(&worktree, &worktree.join("src/ledger.rs")));
    assert!(text.contains("Ledger writes in one transaction"), "{text}");

    git(&root, &["mv", "src/ledger.rs", "src/book.rs"]).unwrap();
    git(&root, &["commit", "-qm", "2"]).unwrap();
    // The command has the time that a hook on a busy machine may not have; the answer is then known to both.
    let printed = home.run(&["context", "--project", root.to_str().unwrap(), "--at", "file", "src/book.rs"]).ok();
    assert!(printed.out.contains("Ledger writes in one transaction"), "{}", printed.out);
    let mut input = read(&root, &root.join("src/book.rs"));
    input["session_id"] = json!("another");
    let text = hook(&home, "pre-read", &input);
    assert!(text.contains("Notes about src/book.rs") && text.contains("Ledger writes"), "{text}");
}

#[test]
fn what_was_given_last_is_kept_for_the_screen() {
    let home = Home::new();
    let root = project(&home, "alpha");
    let text = hook(&home, "session-start", &start(&root, "startup"));
    let last = cmem::recall::injected::last(&home.cmem(), root.to_str().unwrap()).unwrap();
    assert_eq!((last.text, last.ids.len(), last.session.as_str()), (text, 2, "s-now"));
}
