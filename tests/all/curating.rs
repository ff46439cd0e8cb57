//! The commands that change memories: each can be taken back, and what cannot asks first.
#![allow(clippy::disallowed_methods, reason = "looks at files")]

use std::fs;

use super::support::{Home, Run, memory};

fn filled() -> Home {
    let home = Home::new();
    home.remember(vec![
        memory("First", "/w/alpha", "2026-03-01T10:00:00Z"),
        memory("Second", "/w/alpha", "2026-03-01T11:00:00Z"),
        memory("Third", "/w/beta", "2026-03-01T12:00:00Z"),
    ]);
    home
}

fn titles(home: &Home) -> Vec<String> {
    let json = home.run(&["list", "--json"]).ok().json();
    json.as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap().to_owned()).collect()
}

fn field(home: &Home, id: &str, name: &str) -> serde_json::Value {
    home.run(&["show", id, "--json"]).ok().json()[0][name].clone()
}

#[test]
fn every_change_is_taken_back_by_undo() {
    let cases: [(&[&str], &str, serde_json::Value); 6] = [
        (&["edit", "1", "--title", "Better"], "title", "Better".into()),
        (&["retype", "1", "--to", "bugfix"], "type", "bugfix".into()),
        (&["move", "1", "--to", "beta"], "project_root", "/w/beta".into()),
        (&["pin", "1"], "pinned", true.into()),
        (&["exclude", "1"], "excluded", true.into()),
        (&["merge", "1", "2"], "id", 1.into()),
    ];
    for (args, name, after) in cases {
        let home = filled();
        let before = (field(&home, "1", name), titles(&home));
        let run = home.run(args).ok();
        assert!(run.err.contains("`cmem undo` takes it back"), "{run:?}");
        assert_eq!(field(&home, "1", name), after, "{args:?}");
        home.run(&["undo"]).ok();
        assert_eq!((field(&home, "1", name), titles(&home)), before, "{args:?}");
        home.run(&["redo"]).ok();
        assert_eq!(field(&home, "1", name), after, "{args:?}");
    }
}

#[test]
fn a152_deleted_is_gone_from_lists_and_search_and_comes_back() {
    let home = filled();
    home.run(&["trash", "1"]).ok();
    assert_eq!(titles(&home), ["Third", "Second"]);
    assert_eq!(home.run(&["search", "First", "--engine", "words", "--json"]).ok().json()["total"], 0);
    home.run(&["restore", "1"]).ok();
    assert_eq!(titles(&home), ["Third", "Second", "First"]);
    home.run(&["trash", "--query", "project:alpha", "--yes"]).ok();
    assert_eq!(titles(&home), ["Third"]);
    home.run(&["undo"]).ok();
    assert_eq!(titles(&home).len(), 3);
}

#[test]
fn what_reaches_far_asks_and_where_nobody_can_be_asked_it_does_nothing() {
    let home = filled();
    home.run(&["trash", "3"]).ok();
    for args in [
        &["trash", "1", "2"][..],
        &["trash", "--query", "*"],
        &["purge", "3"],
        &["purge", "--all"],
        &["redact", "told at length"],
    ] {
        let mut command = home.command(args);
        let run = Run::of(command.stdin(std::process::Stdio::null()).output().unwrap());
        assert_eq!(run.code, 2, "{args:?} {run:?}");
        assert!(run.err.contains("--yes"), "{run:?}");
    }
    assert_eq!(titles(&home), ["Second", "First"]);
    // A query that is not clear deletes nothing, yes or no.
    assert_eq!(home.run(&["trash", "--query", "type:bugfx First", "--yes"]).code, 2);
    assert_eq!(titles(&home).len(), 2);
}

#[test]
fn purged_and_redacted_text_is_in_no_file() {
    let home = filled();
    let holds = |needle: &str| {
        let mut found = false;
        super::support::walk(&home.cmem(), &mut |path| {
            let bytes = fs::read(path).unwrap();
            found |= bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
        });
        found
    };
    assert!(holds("First, told"));
    home.run(&["trash", "1"]).ok();
    home.run(&["purge", "1", "--yes"]).ok();
    assert!(!holds("First, told"));
    assert_eq!(home.run(&["redact", "Second, told", "--dry-run"]).ok().out, "");
    assert!(holds("Second, told"));
    let run = home.run(&["redact", "Second, told", "--yes"]).ok();
    assert!(!holds("Second, told") && !run.err.contains("Second, told"), "{run:?}");
    assert!(field(&home, "2", "narrative").as_str().unwrap().starts_with("[redacted]"));
}

#[test]
fn what_is_not_there_fails_by_name() {
    let home = filled();
    for args in [&["pin", "77"][..], &["trash", "77"], &["edit", "77", "--title", "x"], &["restore", "77"]] {
        let run = home.run(args);
        assert_eq!(run.code, 1, "{args:?} {run:?}");
        assert!(run.err.contains("#77") || run.err.contains("77"), "{run:?}");
    }
    assert_eq!(home.run(&["retype", "1", "--to", "nonsense"]).code, 2);
    assert_eq!(home.run(&["edit", "1"]).code, 2);
    assert_eq!(Home::new().run(&["pin", "1"]).code, 1);
}

#[test]
fn add_remembers_by_hand_without_secrets() {
    let home = Home::new();
    let run =
        home.run(&["add", "The", "staging key is AKIAIOSFODNN7EXAMPLE", "--json", "--pin", "--type", "decision"]).ok();
    let memory = run.json();
    assert_eq!(memory["title"], "The staging key is [masked:aws-key]");
    assert_eq!(
        (&memory["source"], &memory["pinned"], &memory["type"]),
        (&"manual".into(), &true.into(), &"decision".into())
    );
    assert_eq!(memory["created_at"], "2026-03-02T12:00:00Z");
    assert_eq!(home.run(&["add", "<private>all of it</private>"]).code, 2);
    home.run(&["undo"]).ok();
    assert!(titles(&home).is_empty());
}

#[test]
fn projects_are_listed_joined_and_excluded() {
    let home = filled();
    let list = || home.run(&["project", "list"]).ok().out;
    assert!(list().contains("2  alpha") && list().contains("1  beta"), "{}", list());
    home.run(&["project", "exclude", "beta"]).ok();
    assert_eq!(titles(&home), ["Second", "First"]);
    assert!(list().contains("excluded"));
    home.run(&["project", "include", "beta"]).ok();
    home.run(&["project", "merge", "beta", "alpha"]).ok();
    assert_eq!(home.run(&["list", "--project", "alpha", "--json"]).ok().json().as_array().unwrap().len(), 3);
    home.run(&["undo"]).ok();
    home.run(&["project", "alias", "/w/alpha", "/w/renamed"]).ok();
    assert_eq!(home.run(&["list", "--project", "/w/renamed", "--json"]).ok().json().as_array().unwrap().len(), 2);
}

#[test]
fn history_tells_what_was_done_without_text() {
    let home = filled();
    home.run(&["edit", "1", "--title", "Better"]).ok();
    home.run(&["trash", "2"]).ok();
    home.run(&["undo"]).ok();
    let run = home.run(&["history"]).ok();
    assert_eq!(run.out.lines().count(), 2, "{run:?}");
    assert!(run.out.contains("undone") && !run.out.contains("Better"), "{run:?}");
    assert_eq!(home.run(&["history", "--json"]).ok().json()[0]["state"], "undone");
}

#[test]
fn a154_an_export_taken_in_elsewhere_is_the_same_and_nothing_comes_twice() {
    let home = filled();
    home.run(&["pin", "2"]).ok();
    let first = home.path("first.jsonl").display().to_string();
    home.run(&["export", "--output", &first]).ok();
    let other = Home::new();
    let run = other.run(&["import", &first, "--json"]).ok();
    assert_eq!(run.json()["added"], 3);
    assert_eq!(other.run(&["import", &first, "--json"]).ok().json()["added"], 0);
    let second = home.path("second.jsonl").display().to_string();
    other.run(&["export", "--output", &second]).ok();
    assert_eq!(fs::read_to_string(&first).unwrap(), fs::read_to_string(&second).unwrap());
    // A file that is there is left alone, and the private modes are kept.
    assert_eq!(home.run(&["export", "--output", &first]).code, 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // Taking in is one step.
    other.run(&["undo"]).ok();
    assert!(titles(&other).is_empty());
    assert!(home.run(&["export", "--format", "md", "--query", "Second"]).ok().out.contains("Second"));
}

#[test]
fn a_backup_is_a_database_that_opens() {
    let home = filled();
    let copy = home.path("copy");
    fs::create_dir(&copy).unwrap();
    home.run(&["backup", &copy.join("cmem.db").display().to_string()]).ok();
    let mut command = home.command(&["list", "--json"]);
    let run = Run::of(command.env("CMEM_HOME", &copy).output().unwrap()).ok();
    assert_eq!(run.json().as_array().unwrap().len(), 3);
    assert_eq!(home.run(&["backup", &copy.join("cmem.db").display().to_string()]).code, 1);
}

#[test]
fn a_script_reads_what_a_change_came_to() {
    let home = filled();
    let rows = |args: &[&str]| home.run(args).ok().json()["rows"].as_u64();
    assert_eq!(rows(&["pin", "1", "2", "--json"]), Some(2));
    assert_eq!(rows(&["pin", "1", "--json"]), Some(0));
    assert_eq!(rows(&["retype", "--query", "project:alpha", "--to", "bugfix", "--json"]), Some(2));
    assert_eq!(rows(&["move", "--query", "Third", "--to", "alpha", "--json"]), Some(1));
    let done = home.run(&["trash", "--query", "project:alpha", "--yes", "--json"]).ok().json();
    assert_eq!((done["rows"].as_u64(), done["pinned"].as_array().map(Vec::len)), (Some(1), Some(2)));
    assert_eq!(rows(&["trash", "--query", "Sec", "--yes", "--json"]), Some(0), "no word is only begun");
    assert_eq!(home.run(&["undo", "2", "--json"]).ok().json().as_array().map(Vec::len), Some(2));
    assert_eq!(home.run(&["redo", "--json"]).ok().json()[0]["step"]["verb"], "move");
    assert_eq!(rows(&["project", "merge", "beta", "alpha", "--json"]), Some(0));
    assert_eq!(home.run(&["redact", "told at length", "--yes", "--json"]).ok().json()["memories"], 3);
    // A project is kept out before anything of it was recorded.
    home.run(&["project", "exclude", "/w/secret"]).ok();
    home.remember(vec![memory("Hidden", "/w/secret", "2026-03-01T13:00:00Z")]);
    assert!(!titles(&home).contains(&"Hidden".to_owned()));
}
