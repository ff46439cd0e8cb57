//! Settings and usage from outside.
#![allow(clippy::disallowed_methods, reason = "writes settings files")]

use std::fs;

use super::support::{Home, Run};

#[test]
fn settings_that_do_not_apply_are_named_and_the_rest_applies() {
    let home = Home::new();
    fs::create_dir_all(home.cmem()).unwrap();
    fs::write(home.cmem().join("config.toml"), "[trash]\ndays = 7\n[context]\ntpyes = []\n").unwrap();
    let run = home.run(&["config", "check"]);
    assert_eq!(run.code, 3);
    assert!(
        run.out.contains("config.toml:4: no setting is called context.tpyes; did you mean context.types?"),
        "{run:?}"
    );
    assert_eq!(home.run(&["config", "show", "--json"]).ok().json()["trash"]["days"], 7);
    // Every other command warns and goes on.
    let run = home.run(&["list"]).ok();
    assert!(run.err.contains("warning: ") && run.err.contains("context.tpyes"), "{run:?}");
    let run = home.run(&["--set", "trash.days=3", "config", "show", "--json"]).ok();
    assert_eq!(run.json()["trash"]["days"], 3);
}

#[test]
fn a_hook_is_silent_whatever_the_settings_say() {
    let home = Home::new();
    fs::create_dir_all(home.cmem()).unwrap();
    fs::write(home.cmem().join("config.toml"), "nonsense = [").unwrap();
    let mut command = home.command(&["hook", "session-start"]);
    let run = Run::of(command.stdin(std::process::Stdio::null()).output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
}

#[test]
fn wrong_usage_is_code_two_and_help_is_data() {
    let home = Home::new();
    assert_eq!(home.run(&["frobnicate"]).code, 2);
    assert_eq!(home.run(&["list", "--no-such-option"]).code, 2);
    let run = home.run(&["--help"]).ok();
    assert!(run.out.contains("watch") && run.err.is_empty());
    let run = home.run(&["--version"]).ok();
    assert_eq!(run.out, format!("cmem {}\n", env!("CARGO_PKG_VERSION")));
    assert!(home.files().is_empty(), "asking made files: {:?}", home.files());
}

#[test]
fn completions_manual_and_schema_come_from_the_definitions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(home.run(&["completions", shell]).ok().out.contains("backfill"), "{shell}");
    }
    assert!(home.run(&["man"]).ok().out.contains("CMEM BACKFILL"));
    assert_eq!(home.run(&["schema", "config"]).ok().json()["type"], "object");
    let default = home.run(&["config", "default"]).ok().out;
    assert!(default.parse::<toml::Table>().is_ok());
    assert!(home.run(&["config", "path", "--json"]).ok().json()["database"].as_str().unwrap().ends_with("cmem.db"));
}

#[test]
fn without_any_home_the_error_says_what_to_set() {
    let home = Home::new();
    let mut command = home.command(&["list"]);
    // A home can still be known to the system; then there is nothing to complain of.
    let run = Run::of(command.env_remove("HOME").env_remove("CMEM_HOME").output().unwrap());
    assert!(run.code == 0 || run.err.contains("hint: set HOME, or CMEM_HOME"), "{run:?}");
}

#[test]
fn doctor_runs_each_stage_and_names_the_one_that_fails() {
    let home = Home::new();
    let marks = |run: &Run| -> std::collections::BTreeMap<String, String> {
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        run.json().as_array().unwrap().iter().map(|it| (text(&it["stage"]), text(&it["mark"]))).collect()
    };
    let run = home.run(&["doctor", "--json"]).ok();
    let healthy = marks(&run);
    for stage in ["settings", "directories", "mode", "database", "index", "observer", "hook"] {
        assert_eq!(healthy[stage], "ok", "{run:?}");
    }
    // Nothing to read and nothing installed is worth saying, no fault.
    assert_eq!((healthy["transcripts"].as_str(), healthy["installed"].as_str()), ("note", "note"));
    // What was tried is gone again: no memory of the sample in the user's own store.
    assert_eq!(home.run(&["list", "--json"]).ok().json(), serde_json::json!([]));

    fs::write(home.cmem().join("config.toml"), "[trash]\ndays = -1\n").unwrap();
    fs::write(home.cmem().join("cmem.db"), "no database at all, but long enough to be looked at").unwrap();
    let run = home.run(&["doctor", "--json"]);
    let sick = marks(&run);
    assert_eq!(run.code, 3);
    assert_eq!((sick["settings"].as_str(), sick["database"].as_str()), ("fail", "fail"), "{run:?}");
    assert_eq!(sick["observer"], "ok");
    // An observer that cannot be reached.
    let mut command = home.command(&["doctor", "--json"]);
    command.env("CMEM_OBSERVER_PROVIDER", "claude").env("CMEM_OBSERVER_CLAUDE_PATH", "/nowhere/claude");
    command.env("CMEM_OBSERVER_TURN_TIMEOUT", "0.1");
    let run = Run::of(command.output().unwrap());
    assert_eq!(marks(&run)["observer"], "fail", "{run:?}");
}
