//! The whole line with a model that is played by a script: transcript in, `claude` asked, rows out.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{Home, Run};

/// A client that answers question number `n` with the n-th of `answers` (the last one for all that follow) and keeps
/// what it was asked.
fn client(home: &Home, answers: &[Value]) -> PathBuf {
    let dir = home.path("client");
    std::fs::create_dir_all(&dir).unwrap();
    for (n, answer) in answers.iter().enumerate() {
        let lines: Vec<String> = answer.as_array().unwrap().iter().map(Value::to_string).collect();
        std::fs::write(dir.join(format!("answer.{}", n + 1)), lines.join("\n") + "\n").unwrap();
    }
    let script = format!(
        r#"#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.332 (Claude Code)'; exit 0; fi
D='{dir}'
read -r line; printf '%s\n' "$line" >> "$D/initialize"
echo '{{"type":"control_response","response":{{"subtype":"success","request_id":"initialize","response":{{}}}}}}'
while read -r line; do
  case "$line" in *control_request*) exit 0;; esac
  printf '%s\n' "$line" >> "$D/asked"
  n=$(wc -l < "$D/asked"); n=$((n)); while [ ! -f "$D/answer.$n" ]; do n=$((n - 1)); done
  cat "$D/answer.$n"
done
"#,
        dir = dir.display()
    );
    let path = dir.join("claude");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn says(text: &str) -> Value {
    json!([
        {"type": "system", "subtype": "init", "tools": [], "mcp_servers": []},
        {"type": "assistant", "message": {"model": "claude-haiku-4-5", "content": [{"type": "text", "text": text}]}},
        {"type": "result", "subtype": "success", "is_error": false, "stop_reason": "end_turn", "total_cost_usd": 0.002,
         "usage": {"input_tokens": 1000, "output_tokens": 100}},
    ])
}

fn fails(error: &str, status: u16, text: &str) -> Value {
    json!([
        {"type": "assistant", "error": error, "message": {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}},
        {"type": "result", "subtype": "success", "is_error": true, "api_error_status": status, "result": text, "usage": {}},
    ])
}

fn watch(home: &Home, client: &PathBuf) -> Run {
    let mut command = home.command(&["watch", "--once", "--from-start"]);
    command.env_remove("CMEM_NOW").env("CMEM_OBSERVER_PROVIDER", "claude").env("CMEM_OBSERVER_CLAUDE_PATH", client);
    Run::of(command.output().unwrap())
}

/// A turn of a session: the user's words, calls with what came back, the closing answer.
fn turn(session: &str, words: &str, calls: &[(&str, Value, &str)], closing: &str) -> String {
    let mut out = String::new();
    let mut number = 0;
    let mut parent: Option<String> = None;
    let mut line = |kind: &str, message: Value| {
        number += 1;
        let uuid = format!("{session}-{number}");
        let value = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": session, "cwd": "/w/alpha", "gitBranch": "main",
            "version": "2.1.200", "isSidechain": false, "timestamp": format!("2026-03-01T10:00:{number:02}Z"),
            "message": message,
        });
        parent = Some(uuid);
        out.push_str(&value.to_string());
        out.push('\n');
    };
    line("user", json!({"role": "user", "content": words}));
    for (n, (tool, input, output)) in calls.iter().enumerate() {
        let id = format!("toolu_{session}_{n}");
        line(
            "assistant",
            json!({"id": format!("msg_{session}_{n}"), "role": "assistant", "model": "m", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}),
        );
        line(
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
        );
    }
    line(
        "assistant",
        json!({"id": format!("msg_{session}_end"), "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": closing}]}),
    );
    out
}

fn pool_fix(home: &Home) {
    let calls = [
        ("Bash", json!({"command": "cargo test"}), "1 failed: M1"),
        ("Edit", json!({"file_path": "/w/alpha/src/pool.rs", "old_string": "0", "new_string": "8"}), "ok"),
    ];
    home.transcript(
        "-w-alpha/s1.jsonl",
        &turn("s1", "make the pool work", &calls, "The pool now holds 8 connections."),
    );
}

const GOOD: &str = "<observation><type>bugfix</type><title>Pool was sized 0</title><narrative>Every call waited.</narrative>\
    <concepts><concept>gotcha: sizes</concept></concepts><events>3</events></observation>\
    <summary><request>make the pool work</request><completed>pool of 8</completed></summary>";

#[test]
fn a_turn_becomes_memories_with_evidence_usage_and_a_summary() {
    let home = Home::new();
    pool_fix(&home);
    let client = client(&home, &[says(GOOD)]);
    watch(&home, &client).ok();
    let asked = std::fs::read_to_string(home.path("client/asked")).unwrap();
    assert_eq!(asked.lines().count(), 1, "one question for the turn: {asked}");
    let question: Value = serde_json::from_str(asked.lines().next().unwrap()).unwrap();
    let text = question["message"]["content"].as_str().unwrap();
    for part in [
        "make the pool work",
        "tool=\"Bash\"",
        "1 failed: M1",
        "file_path: /w/alpha/src/pool.rs",
        "The pool now holds 8",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let rows = home.run(&["list", "--json", "--kind", "obs", "--kind", "sum", "--kind", "prompt"]).ok().json();
    let rows = rows.as_array().unwrap();
    let find = |kind: &str| rows.iter().find(|it| it["kind"] == kind).unwrap_or_else(|| panic!("{kind} in {rows:?}"));
    let row = find("obs");
    assert_eq!((row["type"].as_str(), row["title"].as_str()), (Some("bugfix"), Some("Pool was sized 0")));
    assert_eq!(row["files_modified"], json!(["src/pool.rs"]));
    assert_eq!(row["concepts"], json!(["gotcha"]));
    assert_eq!((row["source"].as_str(), row["model"].as_str()), (Some("observer"), Some("claude-haiku-4-5")));
    assert_eq!(row["created_at"], "2026-03-01T10:00:05Z", "the time of the event, not of the answer");
    assert_eq!(find("sum")["summary"]["completed"], "pool of 8");
    assert_eq!(find("prompt")["title"], "make the pool work");

    watch(&home, &client).ok();
    let again = std::fs::read_to_string(home.path("client/asked")).unwrap();
    assert_eq!(again.lines().count(), 1, "nothing is asked twice");
}

#[test]
fn a002_a059_without_a_sign_in_everything_waits_and_says_so() {
    let home = Home::new();
    pool_fix(&home);
    let client =
        client(&home, &[fails("authentication_failed", 401, "Invalid API key · Fix external API key"), says(GOOD)]);
    let run = watch(&home, &client);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.err.contains("not signed in"), "{run:?}");
    assert_eq!(home.run(&["list", "--json"]).ok().json(), json!([]));
    watch(&home, &client).ok();
    let rows = home.run(&["list", "--json"]).ok().json();
    assert!(rows.as_array().unwrap().iter().any(|it| it["title"] == "Pool was sized 0"), "{rows}");
}

#[test]
fn a065_auto_without_a_program_remembers_by_rules() {
    let home = Home::new();
    pool_fix(&home);
    let mut command = home.command(&["watch", "--once", "--from-start"]);
    command
        .env_remove("CMEM_NOW")
        .env("CMEM_OBSERVER_PROVIDER", "auto")
        .env("CMEM_OBSERVER_CLAUDE_PATH", home.path("nowhere"));
    Run::of(command.output().unwrap()).ok();
    let rows = home.run(&["list", "--json"]).ok().json();
    let rows = rows.as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|it| it["source"] == "offline"), "{rows:?}");
}

#[test]
fn refining_has_a_model_tell_rows_anew_and_keeps_ids_and_times() {
    let home = Home::new();
    pool_fix(&home);
    home.run(&["watch", "--once", "--from-start"]).ok();
    let before = home.run(&["list", "--json", "--kind", "obs"]).ok().json()[0].clone();
    assert_eq!(before["source"], "offline");
    let answer = "<observation><type>bugfix</type><title>Pool of 8 ends the waiting</title><facts><fact>it was 0</fact></facts>\
                  <events>1</events></observation><observation><title>of nothing</title><events>99</events></observation>";
    let client = client(&home, &[says(answer)]);
    let refine = |more: &[&str]| {
        let mut command = home.command(&[&["refine"], more].concat());
        command
            .env_remove("CMEM_NOW")
            .env("CMEM_OBSERVER_PROVIDER", "claude")
            .env("CMEM_OBSERVER_CLAUDE_PATH", &client);
        Run::of(command.output().unwrap())
    };
    let estimate = refine(&["--dry-run"]).ok();
    assert!(estimate.out.contains("1 memory by claude (haiku): about 1 requests"), "{estimate:?}");
    assert_eq!(refine(&[]).code, 2, "nobody can be asked here");
    let run = refine(&["-y"]).ok();
    assert!(run.err.contains("1 memory told anew, 0 left as they are; 1 requests"), "{run:?}");
    let after = home.run(&["list", "--json", "--kind", "obs"]).ok().json()[0].clone();
    for same in ["id", "created_at", "recorded_at", "files_modified", "session", "keys"] {
        assert_eq!(before[same], after[same], "{same}");
    }
    assert_eq!((after["title"].as_str(), after["type"].as_str()), (Some("Pool of 8 ends the waiting"), Some("bugfix")));
    assert_eq!((after["source"].as_str(), after["model"].as_str()), (Some("observer"), Some("claude-haiku-4-5")));
    assert_eq!(after["edited"], false, "no person changed it");
    let asked = std::fs::read_to_string(home.path("client/initialize")).unwrap();
    assert!(asked.contains("made. Write every note"));
    assert!(refine(&["-y"]).ok().err.contains("No memory made without a model"));
    home.run(&["undo"]).ok();
    let undone = home.run(&["list", "--json", "--kind", "obs"]).ok().json()[0].clone();
    assert_eq!((&undone["title"], &undone["source"]), (&before["title"], &before["source"]));
}

#[test]
fn a049_tokens_and_money_of_the_day_are_told_by_project() {
    let home = Home::new();
    pool_fix(&home);
    let other = turn("s2", "and there", &[("Bash", json!({"command": "x"}), "M2")], "Also done over there.");
    home.transcript("-w-beta/s2.jsonl", &other.replace("/w/alpha", "/w/beta"));
    let client = client(&home, &[says(GOOD)]);
    watch(&home, &client).ok();
    let mut status = home.command(&["status", "--json"]);
    let status: Value = serde_json::from_str(&Run::of(status.env_remove("CMEM_NOW").output().unwrap()).out).unwrap();
    assert_eq!(status["calls"]["total"], 2);
    assert_eq!(status["tokens_today"], 2_200);
    let spend = status["spend"].as_array().unwrap();
    let mut projects: Vec<&str> = spend.iter().map(|it| it["project"].as_str().unwrap()).collect();
    projects.sort_unstable();
    assert_eq!(projects, ["/w/alpha", "/w/beta"]);
    for row in spend {
        assert_eq!(
            (row["calls"].as_u64(), row["input_tokens"].as_u64(), row["output_tokens"].as_u64()),
            (Some(1), Some(1_000), Some(100))
        );
        assert!((row["cost"].as_f64().unwrap() - 0.002).abs() < 1e-9);
    }
}
