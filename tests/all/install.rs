//! `cmem install` and `cmem uninstall` on files of all kinds.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::support::Home;

fn settings(home: &Home) -> PathBuf {
    home.claude().join("settings.json")
}

fn servers(home: &Home) -> PathBuf {
    home.claude().join(".claude.json")
}

const FOREIGN: &str = r#"{
	"model": "opus",   "env": {"A": "b"},
	"hooks": {
		"PreToolUse": [ { "matcher": "Bash", "hooks": [ { "type": "command", "command": "lint" } ] } ],
		"SessionStart": []
	}
}"#;

#[test]
fn a155_install_and_uninstall_leave_the_files_as_they_were() {
    let cases: [(Option<&str>, Option<&str>); 5] = [
        (None, None),
        (Some("{}"), Some("{}\n")),
        (Some(FOREIGN), Some("{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  },\n  \"n\": 1\n}\n")),
        (Some("{\"hooks\":{}}"), Some("{\"mcpServers\":{}}")),
        (Some("{\r\n    \"a\": [1, 2]\r\n}\r\n"), None),
    ];
    for (first, second) in cases {
        let home = Home::new();
        for (file, text) in [(settings(&home), first), (servers(&home), second)] {
            if let Some(text) = text {
                fs::write(file, text).unwrap();
            }
        }
        let run = home.run(&["install"]).ok();
        assert!(run.out.contains("+") && run.out.contains("hook session-start"), "{}", run.out);
        let installed: Value = serde_json::from_str(&fs::read_to_string(settings(&home)).unwrap()).unwrap();
        for (event, moment) in
            [("SessionStart", "session-start"), ("PreToolUse", "pre-read"), ("UserPromptSubmit", "prompt")]
        {
            let groups = installed["hooks"][event].as_array().unwrap();
            let command = groups.last().unwrap()["hooks"][0]["command"].as_str().unwrap();
            assert!(command.ends_with(&format!("hook {moment}")) && command.contains("CMEM_HOME="), "{command}");
        }
        let server: Value = serde_json::from_str(&fs::read_to_string(servers(&home)).unwrap()).unwrap();
        assert_eq!(server["mcpServers"]["cmem"]["args"], serde_json::json!(["mcp"]));
        assert!(home.path(".config/systemd/user/cmem.service").exists() || !cfg!(target_os = "linux"));

        // Again: nothing changes.
        let before = (fs::read(settings(&home)).unwrap(), fs::read(servers(&home)).unwrap());
        let again = home.run(&["install"]).ok();
        assert!(again.out.is_empty() && again.err.contains("already"), "{again:?}");
        assert_eq!((fs::read(settings(&home)).unwrap(), fs::read(servers(&home)).unwrap()), before);

        home.run(&["uninstall"]).ok();
        assert_eq!(fs::read_to_string(settings(&home)).ok().as_deref(), first);
        assert_eq!(fs::read_to_string(servers(&home)).ok().as_deref(), second);
        assert!(!home.path(".config/systemd/user/cmem.service").exists());
        // And nothing is left to take out.
        assert!(home.run(&["uninstall"]).ok().out.is_empty());
    }
}

#[test]
fn a_copy_is_kept_and_a_dry_run_changes_nothing() {
    let home = Home::new();
    fs::write(settings(&home), FOREIGN).unwrap();
    let files = home.files();
    let run = home.run(&["install", "--dry-run"]).ok();
    assert!(run.out.contains("hook pre-read"));
    assert_eq!((home.files(), fs::read_to_string(settings(&home)).unwrap().as_str()), (files, FOREIGN));
    home.run(&["install"]).ok();
    let copies: Vec<String> = home.files().into_iter().filter(|file| file.contains("backups/")).collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(fs::read_to_string(home.path(&copies[0])).unwrap(), FOREIGN);
}

#[test]
fn a_broken_file_is_named_and_left_alone_with_all_others() {
    for broken in
        ["{\"a\": 1,}", "// comment\n{}", "{\"hooks\": []}", "{\"hooks\": {\"PreToolUse\": {}}}", "[]", "\u{0}"]
    {
        let home = Home::new();
        fs::write(settings(&home), broken).unwrap();
        let files = home.files();
        let run = home.run(&["install"]);
        assert_eq!(run.code, 1, "{broken}");
        assert!(run.err.contains("settings.json") && run.err.contains("nothing was changed"), "{}", run.err);
        assert_eq!((home.files(), fs::read_to_string(settings(&home)).unwrap().as_str()), (files, broken));
    }
}

#[test]
fn what_others_did_meanwhile_stays() {
    let home = Home::new();
    fs::write(settings(&home), FOREIGN).unwrap();
    home.run(&["install"]).ok();
    // The client writes its file anew in its own manner, with something more in it.
    let mut value: Value = serde_json::from_str(&fs::read_to_string(servers(&home)).unwrap()).unwrap();
    value["numStartups"] = 3.into();
    fs::write(servers(&home), serde_json::to_string(&value).unwrap()).unwrap();
    let edited = fs::read_to_string(settings(&home)).unwrap().replace("\"opus\"", "\"haiku\"");
    fs::write(settings(&home), edited).unwrap();
    home.run(&["uninstall"]).ok();
    assert_eq!(fs::read_to_string(settings(&home)).unwrap(), FOREIGN.replace("opus", "haiku"));
    assert_eq!(fs::read_to_string(servers(&home)).unwrap(), "{\"numStartups\":3}");
}

#[test]
fn a_projects_own_settings() {
    let home = Home::new();
    let root = home.path("work");
    fs::create_dir_all(&root).unwrap();
    for (scope, files) in [
        ("project", vec![root.join(".claude/settings.json"), root.join(".mcp.json")]),
        ("local", vec![root.join(".claude/settings.local.json"), servers(&home)]),
    ] {
        let run = |args: &[&str]| {
            let output = home.command(args).current_dir(&root).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        run(&["install", "--scope", scope]);
        for file in &files {
            assert!(fs::read_to_string(file).unwrap().contains("cmem"), "{}", file.display());
        }
        assert!(!settings(&home).exists());
        run(&["uninstall", "--scope", scope]);
        for file in &files {
            assert!(!file.exists(), "{}", file.display());
        }
    }
}

#[cfg(unix)]
#[test]
fn links_and_modes_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::new();
    let real = home.path("dotfiles.json");
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, settings(&home)).unwrap();
    home.run(&["install"]).ok();
    assert!(fs::symlink_metadata(settings(&home)).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("session-start"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    home.run(&["uninstall"]).ok();
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");
}
