//! From a transcript to what is kept: projects told apart, and what must not be kept is nowhere.
#![allow(clippy::disallowed_methods, reason = "looks at files")]

use std::fs;

use serde_json::json;

use super::support::{Home, Run, Script, git, walk};

const S1: &str = "11111111-1111-4111-8111-111111111111";
const S2: &str = "22222222-2222-4222-8222-222222222222";

/// Reads everything that is there.
fn collect(home: &Home) -> Run {
    home.run(&["watch", "--once", "--from-start"]).ok()
}

/// Title and project of each prompt, oldest first.
fn prompts(home: &Home) -> Vec<(String, String)> {
    let run = home.run(&["list", "--kind", "prompt", "--limit", "0", "--json"]).ok();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut rows: Vec<_> =
        run.json().as_array().unwrap().iter().map(|row| (text(&row["title"]), text(&row["project_root"]))).collect();
    rows.reverse();
    rows
}

fn pairs(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(title, root)| (title.to_string(), root.to_string())).collect()
}

/// Whether any file of cmem's holds these bytes.
fn is_kept(home: &Home, needle: &str) -> bool {
    let mut found = false;
    walk(&home.cmem(), &mut |path| {
        let bytes = fs::read(path).unwrap();
        found |= bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    });
    found
}

#[test]
fn a027_a_line_without_a_directory_stays_with_its_session() {
    let home = Home::new();
    let mut script = Script::new(S1, "/w/alpha");
    script.user("first M1").answer("done");
    script.cwd = None;
    script.user("second M2").answer("done");
    home.transcript(&format!("-w-alpha/{S1}.jsonl"), script.text());
    let mut lost = Script::new(S2, "");
    lost.cwd = None;
    lost.user("third M3").answer("done");
    home.transcript(&format!("-w-beta/{S2}.jsonl"), lost.text());
    collect(&home);
    let mut rows = prompts(&home);
    rows.sort();
    // A session that never names a directory is kept all the same, filed under none.
    assert_eq!(rows, pairs(&[("first M1", "/w/alpha"), ("second M2", "/w/alpha"), ("third M3", "")]));
}

#[test]
fn a085_a_worktree_is_the_same_project_told_by_real_git() {
    let home = Home::new();
    let alpha = home.path("w/alpha");
    fs::create_dir_all(&alpha).unwrap();
    let Some(()) = git(&alpha, &["init", "-q"]) else { return eprintln!("skipped: git is not here") };
    git(&alpha, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&alpha, &["worktree", "add", "-q", "../alpha-feat", "-b", "feat"]);
    git(&alpha, &["worktree", "add", "-q", ".claude/worktrees/fox", "-b", "fox"]);
    let feat = home.path("w/alpha-feat");
    fs::create_dir_all(feat.join("src")).unwrap();
    let cwd = |inside: &str| home.path(inside).display().to_string();
    let mut script = Script::new(S1, &cwd("w/alpha"));
    script.user("in the main checkout").answer("done");
    for inside in ["w/alpha-feat", "w/alpha-feat/src", "w/alpha/.claude/worktrees/fox"] {
        script.cwd = Some(cwd(inside));
        script.user(&format!("in {inside}")).answer("done");
    }
    home.transcript(&format!("-w-alpha/{S1}.jsonl"), script.text());
    // Claude Code removes its worktrees when they are merged; the transcript stays.
    git(&alpha, &["worktree", "remove", "--force", ".claude/worktrees/fox"]);
    collect(&home);
    let root = fs::canonicalize(&alpha).unwrap().display().to_string();
    let rows = prompts(&home);
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|(_, project)| *project == root), "{rows:?}");
    // Asked for by name, all are there; by worktree, only its own.
    let count = |project: &str| {
        let run = home.run(&["list", "--kind", "prompt", "--project", project, "--json"]).ok();
        run.json().as_array().unwrap().len()
    };
    assert_eq!((count("alpha"), count("alpha/alpha-feat"), count("alpha/fox")), (4, 2, 1));
    let mut inside = home.command(&["list", "--kind", "prompt", "--project", ".", "--json"]);
    let run = Run::of(inside.current_dir(feat.join("src")).output().unwrap()).ok();
    assert_eq!(run.json().as_array().unwrap().len(), 4, "standing in a worktree is standing in the project");
}

#[test]
fn a086_a089_folders_of_one_name_or_slug_are_different_projects() {
    let home = Home::new();
    for (session, cwd) in [(S1, "/w/客户甲/api"), (S2, "/w/客户乙/api")] {
        let mut script = Script::new(session, cwd);
        script.user(&format!("in {cwd}")).answer("done");
        // Both have the same slug.
        home.transcript(&format!("-w-----api/{session}.jsonl"), script.text());
    }
    collect(&home);
    let mut rows = prompts(&home);
    rows.sort();
    assert_eq!(rows, pairs(&[("in /w/客户乙/api", "/w/客户乙/api"), ("in /w/客户甲/api", "/w/客户甲/api")]));
    let run = home.run(&["list", "--kind", "prompt", "--project", "/w/客户甲/api", "--json"]).ok();
    assert_eq!(run.json().as_array().unwrap().len(), 1);
    assert!(!run.out.contains("客户乙"));
}

#[test]
fn a087_temporary_folders_stay_with_the_session() {
    let home = Home::new();
    let mut script = Script::new(S1, "/w/alpha");
    script.user("at home").answer("done");
    script.cwd = Some("/tmp/T/x".into());
    script.user("in a temporary folder").answer("done");
    home.transcript(&format!("-w-alpha/{S1}.jsonl"), script.text());
    collect(&home);
    assert!(prompts(&home).iter().all(|(_, root)| root == "/w/alpha"), "{:?}", prompts(&home));
}

#[test]
fn a090_another_repository_begins_a_new_span() {
    let home = Home::new();
    let root = |name: &str| {
        let path = home.path("w").join(name);
        fs::create_dir_all(&path).unwrap();
        git(&path, &["init", "-q"]).map(|()| fs::canonicalize(path).unwrap().display().to_string())
    };
    let (Some(alpha), Some(beta)) = (root("alpha"), root("beta")) else { return eprintln!("skipped: git is not here") };
    let mut script = Script::new(S1, &alpha);
    script.user("M1").answer("done");
    script.cwd = Some(beta.clone());
    script.user("M2").answer("done");
    script.cwd = Some(alpha.clone());
    script.user("M3").answer("done");
    home.transcript(&format!("-w-alpha/{S1}.jsonl"), script.text());
    collect(&home);
    assert_eq!(prompts(&home), pairs(&[("M1", &alpha), ("M2", &beta), ("M3", &alpha)]));
}

#[test]
fn a093_private_regions_are_nowhere() {
    let home = Home::new();
    let mut script = Script::new(S1, "/w/alpha");
    script
        .user("deploy <private>pw=hunter2</private> now")
        .tool(
            "toolu_1",
            "Write",
            json!({"file_path": "/w/alpha/a.rs", "content": "<private>hunter3"}),
            "<private>hunter4</private> M1",
        )
        .answer("deployed <private>hunter5</private>")
        .user("<private>only for me, hunter6</private>")
        .tool(
            "toolu_2",
            "Edit",
            json!({"file_path": "/w/alpha/b.rs", "old_string": "x", "new_string": "hunter7"}),
            "ok",
        )
        .answer("changed b.rs as hunter8 asked");
    home.transcript(&format!("-w-alpha/{S1}.jsonl"), script.text());
    collect(&home);
    assert_eq!(prompts(&home).len(), 1, "{:?}", prompts(&home));
    assert_eq!(prompts(&home)[0].0, "deploy now");
    for n in 2..=8 {
        assert!(!is_kept(&home, &format!("hunter{n}")), "hunter{n} was kept");
    }
    let why = home.run(&["why", "toolu_2"]).ok();
    assert!(why.out.contains("private-turn"), "{why:?}");
}

#[test]
fn a_helper_agent_of_a_private_turn_stays_private_after_a_restart() {
    let home = Home::new();
    let mut script = Script::new(S1, "/w/alpha");
    script
        .user("<private>look into the leak</private>")
        .tool("toolu_a", "Agent", json!({"prompt": "look into the leak"}), "the leak is hunter2")
        .answer("found")
        .user("and now the docs")
        .answer("done");
    home.transcript(&format!("-w-alpha/{S1}.jsonl"), script.text());
    collect(&home);
    // The agent's file appears (or is read) only when the session has gone on and cmem was started again.
    let mut agent = Script::new(S1, "/w/alpha");
    agent.extra.insert("agentId".into(), "a1".into());
    agent.extra.insert("isSidechain".into(), true.into());
    agent
        .user("look into the leak")
        .tool(
            "toolu_9",
            "Edit",
            json!({"file_path": "/w/alpha/leak.rs", "old_string": "a", "new_string": "hunter2"}),
            "ok",
        )
        .answer("the leak is hunter2");
    home.transcript(&format!("-w-alpha/{S1}/subagents/agent-a1.jsonl"), agent.text());
    collect(&home);
    assert!(!is_kept(&home, "hunter2") && !is_kept(&home, "leak.rs"));
    assert!(home.run(&["why", "toolu_9"]).ok().out.contains("private-turn"));
}

#[test]
fn a094_an_excluded_project_is_not_recorded() {
    let home = Home::new();
    for (session, cwd) in [(S1, "/w/alpha"), (S2, "/w/secret/sub")] {
        let mut script = Script::new(session, cwd);
        script.user(&format!("work in {cwd}")).answer("done");
        home.transcript(&format!("-w/{session}.jsonl"), script.text());
    }
    let mut command = home.command(&["watch", "--once", "--from-start"]);
    Run::of(command.env("CMEM_RECORD_EXCLUDE", "/w/secret").output().unwrap()).ok();
    assert_eq!(prompts(&home), pairs(&[("work in /w/alpha", "/w/alpha")]));
    assert!(!is_kept(&home, "work in /w/secret"));
}

#[test]
fn a095_opt_in_records_only_where_the_marker_is() {
    let home = Home::new();
    let dirs = ["w/alpha", "w/beta"].map(|inside| home.path(inside));
    for (dir, session) in dirs.iter().zip([S1, S2]) {
        fs::create_dir_all(dir).unwrap();
        let mut script = Script::new(session, &dir.display().to_string());
        script.user(&format!("work in {}", dir.display())).answer("done");
        home.transcript(&format!("-w/{session}.jsonl"), script.text());
    }
    fs::write(dirs[0].join(".cmem-record"), "").unwrap();
    let mut command = home.command(&["watch", "--once", "--from-start"]);
    Run::of(command.env("CMEM_RECORD_MODE", "opt-in").output().unwrap()).ok();
    let rows = prompts(&home);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0].1.ends_with("/w/alpha"), "{rows:?}");
}

#[test]
fn a097_secrets_are_nowhere_and_the_rest_is_kept() {
    let home = Home::new();
    let block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END RSA PRIVATE KEY-----";
    let mut script = Script::new(S1, "/w/alpha");
    script
        .user("use AKIAIOSFODNN7EXAMPLE for M1")
        .tool("toolu_1", "Bash", json!({"command": "cat key"}), &format!("AKIAIOSFODNN7EXAMPLE\n{block}\nM2"))
        .tool("toolu_2", "Write", json!({"file_path": "/w/alpha/k.pem", "content": block}), "ok")
        .answer("wrote k.pem with AKIAIOSFODNN7EXAMPLE, M3");
    home.transcript(&format!("-w-alpha/{S1}.jsonl"), script.text());
    collect(&home);
    assert_eq!(prompts(&home)[0].0, "use [masked:aws-key] for M1");
    assert!(!is_kept(&home, "AKIAIOSFODNN7EXAMPLE") && !is_kept(&home, "MIIEvQIBADANBgkq"));
    let memories = home.run(&["list", "--json"]).ok();
    assert!(memories.out.contains("k.pem"), "{memories:?}");
}

#[test]
fn a081_a101_ids_and_paths_from_outside_become_no_file_names() {
    let home = Home::new();
    let mut script = Script::new("../../x", "C:\\w\\a");
    script.extra.insert("agentId".into(), "..\\y".into());
    script.user("M1").answer("done");
    home.transcript("-w-a/a:b.jsonl", script.text());
    home.transcript(&format!("-w-a/{S1}.jsonl"), script.text());
    let before: Vec<String> = home.files();
    collect(&home);
    let after = home.files();
    let made: Vec<&String> = after.iter().filter(|file| !before.contains(file)).collect();
    for file in &made {
        let name = file.strip_prefix("cmem/").unwrap_or_else(|| panic!("a file outside of cmem's directory: {file}"));
        assert!(!name.contains([':', '\\', '*', '?', '"', '<', '>', '|']) && !name.contains(".."), "{name}");
    }
    assert!(!made.is_empty());
    // As data they are kept.
    let rows = prompts(&home);
    assert!(rows.iter().any(|(title, root)| title == "M1" && root == "C:\\w\\a"), "{rows:?}");
}
