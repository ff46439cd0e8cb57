//! `list`, `show` and `search` over a store.

use cmem::memory::{Kind, NewMemory, ProjectRef};

use super::support::{Home, memory};

fn filled() -> Home {
    let home = Home::new();
    let mut summary = memory("Third", "/w/beta", "2026-03-01T23:30:00Z");
    summary.kind = Kind::Summary;
    let mut prompt = memory("please fix it", "/w/alpha", "2026-03-01T08:00:00Z");
    prompt.kind = Kind::Prompt;
    let mut worktree = memory("In the worktree", "/w/alpha", "2026-03-02T09:00:00Z");
    worktree.project =
        Some(ProjectRef { root: "/w/alpha".into(), name: "alpha".into(), worktree: Some("feat".into()) });
    let fix = NewMemory {
        type_id: "bugfix".into(),
        files_modified: vec!["src/refresh.rs".into()],
        concepts: vec!["gotcha".into()],
        facts: vec!["The token was refreshed twice".into()],
        ..memory("Refresh loop mended", "/w/alpha", "2026-03-01T10:00:00Z")
    };
    home.remember(vec![memory("修复支付回调重复", "/w/beta", "2026-02-27T10:00:00Z"), prompt, fix, summary, worktree]);
    home
}

fn titles(home: &Home, args: &[&str]) -> Vec<String> {
    let run = home.run(args).ok();
    let json = run.json();
    let items = json.get("items").unwrap_or(&json).as_array().unwrap();
    items.iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_empty_home_has_nothing_to_list_and_says_so() {
    let home = Home::new();
    let run = home.run(&["list", "--json"]).ok();
    assert_eq!(run.json(), serde_json::json!([]));
    assert!(run.err.contains("Nothing is remembered yet"), "{run:?}");
    assert_eq!(home.run(&["search", "x", "--json"]).ok().json()["total"], 0);
    assert_eq!(home.run(&["show", "7"]).code, 1);
    assert!(home.files().is_empty(), "reading made files: {:?}", home.files());
}

#[test]
fn lists_are_newest_first_and_filtered() {
    let home = filled();
    assert_eq!(
        titles(&home, &["list", "--json"]),
        ["In the worktree", "Third", "Refresh loop mended", "修复支付回调重复"]
    );
    let cases: [(&[&str], &[&str]); 9] = [
        (&["--project", "alpha"], &["In the worktree", "Refresh loop mended"]),
        (&["--project", "alpha/feat"], &["In the worktree"]),
        (&["--type", "bugfix"], &["Refresh loop mended"]),
        (&["--concept", "gotcha"], &["Refresh loop mended"]),
        (&["--file", "src/refresh.rs"], &["Refresh loop mended"]),
        (&["--kind", "prompt"], &["please fix it"]),
        (&["--kind", "sum"], &["Third"]),
        (&["--limit", "1"], &["In the worktree"]),
        // A date is that whole local day.
        (&["--since", "2026-03-01", "--until", "2026-03-01"], &["Third", "Refresh loop mended"]),
    ];
    for (options, expected) in cases {
        let args = [&["list", "--json"], options].concat();
        assert_eq!(titles(&home, &args), expected, "{options:?}");
    }
    let run = home.run(&["list", "--since", "the other day"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("--since does not understand \"the other day\"\nhint: "), "{run:?}");
}

#[test]
fn a_day_is_the_readers_own() {
    let home = filled();
    let mut command = home.command(&["list", "--json", "--since", "2026-03-02", "--until", "2026-03-02"]);
    let run = super::support::Run::of(command.env("TZ", "Asia/Tokyo").output().unwrap()).ok();
    // 23:30 on the first is the second in Tokyo.
    assert_eq!(run.json().as_array().unwrap().len(), 2, "{run:?}");
    assert!(run.json()[1]["created_at"] == "2026-03-01T23:30:00Z", "JSON times are UTC");
}

#[test]
fn a092_a_project_in_other_letter_case_is_found_with_a_note() {
    let home = filled();
    let run = home.run(&["search", "refresh", "--project", "Alpha", "--json"]).ok();
    assert_eq!(run.json()["total"], 1);
    assert!(run.err.contains("no project is called Alpha; alpha is meant"), "{run:?}");
    let run = home.run(&["list", "--project", "alhpa"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("no project is called alhpa") && run.err.contains("did you mean alpha"), "{run:?}");
}

#[test]
fn search_says_what_it_found_and_how() {
    let home = filled();
    let json = home.run(&["search", "支付回调", "--json"]).ok().json();
    assert_eq!(json["engines"], serde_json::json!(["words"]));
    assert_eq!((&json["total"], &json["items"][0]["title"]), (&1.into(), &"修复支付回调重复".into()));
    assert_eq!(json["items"][0]["why"], serde_json::json!(["words"]));
    assert!(json["items"][0]["score"].is_number());
    assert_eq!(titles(&home, &["search", "*", "--limit", "2", "--json"]), ["In the worktree", "Third"]);
    assert_eq!(home.run(&["search", "*", "--limit", "2", "--json"]).ok().json()["total"], 4);
    assert_eq!(titles(&home, &["search", "project:alpha type:bugfix", "--json"]), ["Refresh loop mended"]);
    let run = home.run(&["search", "type:bugfx refresh"]).ok();
    assert!(run.err.contains("did you mean"), "{run:?}");
    assert_eq!(run.out.lines().count(), 1);
}

#[test]
fn a094_an_excluded_project_is_hidden_unless_asked_for() {
    let home = filled();
    let with = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("CMEM_RECORD_EXCLUDE", "/w/alpha");
        let json = super::support::Run::of(command.output().unwrap()).ok().json();
        json.get("items").unwrap_or(&json).as_array().unwrap().len()
    };
    assert_eq!(with(&["list", "--json"]), 2);
    assert_eq!(with(&["list", "--json", "--with-excluded"]), 4);
    assert_eq!(with(&["search", "refresh", "--json"]), 0);
    assert_eq!(with(&["search", "refresh", "--json", "--with-excluded"]), 1);
}

#[test]
fn show_tells_all_and_fails_for_what_is_not_there() {
    let home = filled();
    let id = home.run(&["search", "refresh", "--json"]).json()["items"][0]["id"].to_string();
    let run = home.run(&["show", &id]).ok();
    for part in [
        "Refresh loop mended",
        "told at length",
        "The token was refreshed twice",
        "src/refresh.rs",
        "gotcha",
        "alpha (/w/alpha)",
    ] {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
    let run = home.run(&["show", &id, "999", "--json"]);
    assert_eq!(run.code, 1);
    assert_eq!(run.json().as_array().unwrap().len(), 1);
    assert!(run.err.contains("no memory has the id #999"), "{run:?}");
}

#[test]
fn a102_control_sequences_never_reach_the_terminal() {
    let home = Home::new();
    let mut evil = memory("\u{1b}]0;owned\u{7}\u{1b}[2Jx", "/w/alpha\u{1b}[31m", "2026-03-01T10:00:00Z");
    evil.facts = vec!["\u{9b}31m\u{202e}fact".into()];
    evil.branch = Some("\u{1b}[5mmain".into());
    let id = home.remember(vec![evil])[0].0.to_string();
    for args in [&["list"][..], &["search", "owned"], &["show", &id], &["list", "--color", "never"]] {
        let run = home.run(args).ok();
        assert!(run.out.contains("owned"), "{args:?} {run:?}");
        for text in [&run.out, &run.err] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{args:?} {run:?}");
        }
    }
    // Colour is ours alone, and only on a terminal or when asked for.
    assert!(home.run(&["list", "--color", "always"]).ok().out.contains("\u{1b}[2m"));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    use std::io::Read;
    use std::process::Stdio;
    let home = Home::new();
    home.remember((0..2_000).map(|n| memory(&format!("Number {n}"), "/w/alpha", "2026-03-01T10:00:00Z")).collect());
    let mut child = home
        .command(&["list", "--limit", "0", "--jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn lists_too_long_to_show_say_so() {
    let home = Home::new();
    home.remember((0..60).map(|n| memory(&format!("Number {n}"), "/w/alpha", "2026-03-01T10:00:00Z")).collect());
    let run = home.run(&["list", "--json"]).ok();
    assert_eq!(run.json().as_array().unwrap().len(), 50);
    assert!(run.err.contains("--limit 0 shows all"), "{run:?}");
    let run = home.run(&["list", "--limit", "0", "--jsonl"]).ok();
    assert_eq!((run.out.lines().count(), run.err.as_str()), (60, ""));
}
