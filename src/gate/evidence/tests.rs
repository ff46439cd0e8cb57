use super::*;
use crate::memory::{EventKey, ProjectRef, SessionId};
use crate::transcript::event::ToolFacts;

fn call(name: &str, input: &str, outcome: ToolOutcome) -> ToolCall {
    ToolCall {
        id: "t".into(),
        name: name.into(),
        input: input.into(),
        output: String::new(),
        outcome,
        facts: ToolFacts::default(),
    }
}

/// `read | modified | unknown`
fn told(touched: &Touched) -> String {
    let unknown = if touched.unknown { "?" } else { "" };
    format!("{} | {} | {unknown}", touched.read.join(","), touched.modified.join(",")).trim().to_owned()
}

fn ok(name: &str, input: &str) -> String {
    told(&of_call(&call(name, input, ToolOutcome::Ok)))
}

fn bash(command: &str) -> String {
    ok("Bash", &serde_json::json!({ "command": command }).to_string())
}

#[test]
fn tools_say_their_files() {
    assert_eq!(ok("Read", r#"{"file_path":"/w/a.rs"}"#), "/w/a.rs |  |");
    assert_eq!(ok("Edit", r#"{"file_path":"/w/a.rs","old_string":"x","new_string":"y"}"#), "| /w/a.rs |");
    assert_eq!(ok("MultiEdit", r#"{"file_path":"/w/a.rs","edits":[]}"#), "| /w/a.rs |");
    assert_eq!(ok("Write", r#"{"file_path":"/w/b.rs","content":""}"#), "| /w/b.rs |");
    assert_eq!(ok("NotebookEdit", r#"{"notebook_path":"/w/n.ipynb","new_source":""}"#), "| /w/n.ipynb |");
    assert_eq!(ok("Grep", r#"{"pattern":"x","path":"/w/src"}"#), "|  |");
    assert_eq!(ok("Glob", r#"{"pattern":"**/*.rs"}"#), "|  |");
    assert_eq!(ok("str_replace_based_edit_tool", r#"{"command":"view","path":"/w/a"}"#), "/w/a |  |");
    assert_eq!(ok("str_replace_based_edit_tool", r#"{"command":"create","path":"/w/a"}"#), "| /w/a |");
    assert_eq!(ok("ZzNewTool", r#"{"file_path":"/w/a"}"#), "|  | ?");
    assert_eq!(ok("Task", r#"{"subagent_type":"general-purpose"}"#), "|  | ?");
    assert_eq!(ok("Agent", r#"{"subagent_type":"Explore"}"#), "|  |");
}

#[test]
fn a025_edits_not_carried_out_count_for_nothing() {
    for outcome in [ToolOutcome::Failed, ToolOutcome::Denied, ToolOutcome::Interrupted] {
        for name in ["Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "mcp__fs__write_file"] {
            let input = r#"{"file_path":"/w/a","path":"/w/a","notebook_path":"/w/a"}"#;
            assert_eq!(told(&of_call(&call(name, input, outcome))), "|  |", "{name} {outcome:?}");
        }
    }
    let read = call("Read", r#"{"file_path":"/w/a"}"#, ToolOutcome::Failed);
    assert_eq!(of_call(&read), Touched::default());
}

#[test]
fn patches_name_their_files() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-x\n+y\n*** Add File: c.md\n+z\n*** Delete File: d\n*** End Patch\n";
    let input = serde_json::json!({ "input": patch }).to_string();
    assert_eq!(ok("apply_patch", &input), "| src/a.rs,src/b.rs,c.md,d |");
    assert_eq!(bash(&format!("apply_patch <<'EOF'\n{patch}EOF")), "| src/a.rs,src/b.rs,c.md,d |");
    assert_eq!(ok("apply_patch", "{}"), "|  | ?");
}

#[test]
fn shell_moves_are_read_and_writes_are_unknown() {
    let cases = [
        ("git mv src/old.rs src/new.rs", "| src/old.rs,src/new.rs |"),
        ("cd web && git mv a.ts b.ts", "| web/a.ts,web/b.ts |"),
        ("mv 'my file.txt' other.txt", "| my file.txt,other.txt |"),
        ("mv a.rs b.rs lib/", "| a.rs,b.rs,lib/a.rs,lib/b.rs |"),
        ("git rm -q gone.rs", "| gone.rs |"),
        ("rm -rf build", "|  | ?"),
        ("mv $A $B", "|  | ?"),
        ("mv *.rs src/", "|  | ?"),
        ("echo hi > out.txt", "|  | ?"),
        ("cat > a.py <<'EOF'\nmv x y\nEOF", "|  | ?"),
        ("sed -i 's/a/b/' a.rs", "|  | ?"),
        ("cargo test", "|  | ?"),
        ("ls -la", "|  |"),
        ("git status && git diff | head -50", "|  |"),
        ("grep -rn 'a > b' src 2>/dev/null | wc -l", "|  |"),
        ("cat nothing 2>&1", "|  |"),
        ("git -C /w/x log --oneline", "|  |"),
        ("git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"", "|  |"),
        ("git checkout -b x", "|  | ?"),
        ("FOO=1 timeout 5 ls", "|  |"),
        ("find . -name '*.rs' -delete", "|  | ?"),
    ];
    for (command, want) in cases {
        assert_eq!(bash(command), want, "{command}");
    }
}

#[test]
fn a_failed_command_may_have_written_and_a_refused_one_has_not() {
    let failed = call("Bash", r#"{"command":"make"}"#, ToolOutcome::Failed);
    assert_eq!(of_call(&failed).state(), Evidence::Unknown);
    let looking = call("Bash", r#"{"command":"ls /nope"}"#, ToolOutcome::Failed);
    assert_eq!(of_call(&looking).state(), Evidence::None);
    let denied = call("Bash", r#"{"command":"make"}"#, ToolOutcome::Denied);
    assert_eq!(of_call(&denied).state(), Evidence::None);
}

#[test]
fn mcp_by_rule() {
    assert_eq!(ok("mcp__filesystem__write_file", r#"{"path":"/w/a"}"#), "| /w/a |");
    assert_eq!(ok("mcp__filesystem__move_file", r#"{"source":"/w/a","destination":"/w/b"}"#), "| /w/a,/w/b |");
    assert_eq!(ok("mcp__serena__replace_symbol_body", r#"{"relative_path":"src/a.rs"}"#), "| src/a.rs |");
    assert_eq!(ok("mcp__filesystem__read_multiple_files", r#"{"paths":["/w/a","/w/b"]}"#), "/w/a,/w/b |  |");
    assert_eq!(ok("mcp__github__create_or_update_file", r#"{"owner":"o","repo":"r","path":"a.md"}"#), "|  |");
    assert_eq!(ok("mcp__slack__post_message", r#"{"text":"hi"}"#), "|  |");
    assert_eq!(ok("mcp__term__run_command", r#"{"command":"make"}"#), "|  | ?");
}

#[test]
fn an_orphan_result_counts_by_its_own_record() {
    let mut orphan = call("", "{}", ToolOutcome::Orphan);
    assert_eq!(of_call(&orphan).state(), Evidence::Unknown);
    orphan.facts.file = Some("/w/a".into());
    orphan.facts.lines_changed = Some((3, 1));
    assert_eq!(told(&of_call(&orphan)), "| /w/a |");
}

#[test]
fn relative_paths_stand_in_their_own_cwd() {
    let event = |cwd: &str, path: &str| Event {
        alias: None,
        key: EventKey::from("k"),
        session: SessionId::from("s"),
        agent: None,
        parent_call: None,
        time: None,
        cwd: Some(cwd.into()),
        branch: None,
        version: None,
        entrypoint: None,
        turn: 1,
        abandoned: false,
        end_offset: 0,
        body: Body::Tool(call("Edit", &serde_json::json!({ "file_path": path }).to_string(), ToolOutcome::Ok)),
    };
    let project = ProjectRef { root: "/w/alpha".into(), name: "alpha".into(), worktree: None };
    let roots = Roots::of(Some(&project), None);
    let events = [event("/w/alpha/sub", "a.rs"), event("/w/alpha", "/w/alpha/sub/a.rs"), event("/w/alpha", "/tmp/x")];
    assert_eq!(of_all(&events, &roots).modified, ["sub/a.rs", "/tmp/x"]);
}
