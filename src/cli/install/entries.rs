//! What cmem puts into Claude Code's settings, and how it finds it again.

use serde_json::{Value, json};

use super::json::{self, Insertion, Node, NodeKind};

/// One thing that must stand in a settings file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Keys that lead to its place.
    pub path: Vec<String>,
    /// What stands there.
    pub value: Value,
    /// It is one element of a list.
    pub append: bool,
}

/// How the program is started from a settings file.
#[derive(Clone, Debug)]
pub struct Program {
    /// Absolute path of the executable.
    pub path: String,
    /// Variables it needs to find its files again, if they were set at installation.
    pub env: Vec<(String, String)>,
}

/// The hooks: at session start, before a file is read, with a prompt. Which of them say anything is a matter of
/// cmem's own settings, so none of these entries has to change when a setting does.
pub fn hooks(program: &Program) -> Vec<Entry> {
    let hook = |event: &str, matcher: Option<&str>, moment: &str| {
        let command = json!({ "type": "command", "command": program.command(&["hook", moment]), "timeout": 5 });
        let group = match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [command] }),
            None => json!({ "hooks": [command] }),
        };
        Entry { path: vec!["hooks".into(), event.into()], value: group, append: true }
    };
    vec![
        hook("SessionStart", None, "session-start"),
        hook("PreToolUse", Some("Read"), "pre-read"),
        hook("UserPromptSubmit", None, "prompt"),
    ]
}

/// The MCP server, under the keys where the file keeps such entries.
pub fn server(program: &Program, under: &[String]) -> Entry {
    let env: serde_json::Map<String, Value> =
        program.env.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    let mut path = under.to_vec();
    path.extend(["mcpServers".into(), "cmem".into()]);
    let value = json!({ "type": "stdio", "command": program.path, "args": ["mcp"], "env": env });
    Entry { path, value, append: false }
}

impl Program {
    /// A command line for the shell that runs hooks.
    fn command(&self, args: &[&str]) -> String {
        let mut words: Vec<String> = self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        words.push(quoted(&self.path));
        words.extend(args.iter().map(|arg| (*arg).to_owned()));
        words.join(" ")
    }
}

fn quoted(text: &str) -> String {
    let plain = !text.is_empty() && text.chars().all(|ch| ch.is_alphanumeric() || "/._-+:@%".contains(ch));
    if plain {
        text.to_owned()
    } else if cfg!(windows) {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Whether a hook command is one of ours, whatever path it was installed from.
fn is_our_hook(hook: &Value) -> bool {
    let command = hook["command"].as_str().unwrap_or_default();
    let moment = ["hook session-start", "hook pre-read", "hook prompt"].iter().any(|end| command.ends_with(end));
    let program = command.rsplit_once(" hook ").map_or("", |(program, _)| program);
    moment && program.trim_end_matches(['\'', '"']).trim_end_matches(".exe").ends_with("cmem")
}

fn is_our_server(value: &Value) -> bool {
    value["args"] == json!(["mcp"])
}

/// Whether every entry stands in `text` exactly as it should, and none of ours besides.
pub fn present(text: &str, entries: &[Entry]) -> bool {
    let Ok(root) = json::parse(text) else { return false };
    let whole = root.value(text);
    entries.iter().all(|entry| {
        let found = entry.path.iter().fold(&whole, |value, key| &value[key.as_str()]);
        if entry.append {
            let ours = found
                .as_array()
                .into_iter()
                .flatten()
                .filter(|group| group["hooks"].as_array().is_some_and(|hooks| hooks.iter().any(is_our_hook)));
            ours.collect::<Vec<_>>() == [&entry.value]
        } else {
            *found == entry.value
        }
    })
}

/// `text` with the entries put in, and the pieces of text that went in, in order. Fails with the reason if the file
/// is not what it should be.
pub fn put_in(text: &str, entries: &[Entry]) -> Result<(String, Vec<String>), String> {
    let mut out = text.to_owned();
    let mut pieces = Vec::new();
    for entry in entries {
        let path: Vec<&str> = entry.path.iter().map(String::as_str).collect();
        let insertion: Insertion = json::insert(&out, &path, &entry.value, entry.append)?;
        out = json::inserted(&out, &insertion);
        pieces.push(insertion.text);
    }
    if !present(&out, entries) {
        return Err("the result would not read as intended".into());
    }
    Ok((out, pieces))
}

/// `text` without what [`put_in`] put there. `pieces` are what was recorded; where they are no longer found as they
/// were (somebody wrote the file anew), entries are found by what they do.
pub fn take_out(text: &str, entries: &[Entry], pieces: &[String]) -> Result<String, String> {
    let mut out = text.to_owned();
    let mut whole = !pieces.is_empty();
    for piece in pieces.iter().rev() {
        match out.find(piece.as_str()) {
            Some(at) if out.matches(piece.as_str()).count() == 1 => out.replace_range(at..at + piece.len(), ""),
            _ => whole = false,
        }
    }
    let readable = out.trim_start_matches('\u{feff}').trim().is_empty() || json::parse(&out).is_ok();
    if whole && readable {
        return Ok(out);
    }
    let mut out = text.to_owned();
    for entry in entries {
        out = without(&out, entry, pieces)?;
    }
    Ok(out)
}

/// `text` without every one of ours at the place of `entry`. A container that is left empty goes as well if we made
/// it.
fn without(text: &str, entry: &Entry, pieces: &[String]) -> Result<String, String> {
    let mut out = text.to_owned();
    // Each round takes one thing out; what is nested deeper goes first.
    loop {
        let root = json::parse(&out)?;
        let Some((node, chain)) = walk(&root, &entry.path) else { break };
        let Some((container, index)) = first_of_ours(node, entry, &out, &chain) else { break };
        out = json::cut(&out, container, index);
    }
    if out == text {
        return Ok(out);
    }
    for depth in (1..entry.path.len() + usize::from(entry.append)).rev() {
        let root = json::parse(&out)?;
        let Some((node, mut chain)) = walk(&root, &entry.path[..depth]) else { break };
        let empty = match &node.kind {
            NodeKind::Object(members) => members.is_empty(),
            NodeKind::Array(items) => items.is_empty(),
            NodeKind::Scalar => false,
        };
        let key = Value::from(entry.path[depth - 1].as_str()).to_string();
        let made_by_us = pieces.is_empty() || pieces.iter().any(|piece| piece.contains(&format!("{key}:")));
        if let Some((container, index)) = chain.pop().filter(|_| empty && made_by_us) {
            out = json::cut(&out, container, index);
        } else {
            break;
        }
    }
    Ok(out)
}

/// The value at `path`, and on the way there each object with the place of the member taken.
fn walk<'a>(root: &'a Node, path: &[String]) -> Option<(&'a Node, Vec<(&'a Node, usize)>)> {
    let mut chain = Vec::new();
    let mut node = root;
    for key in path {
        let NodeKind::Object(members) = &node.kind else { return None };
        let index = members.iter().rposition(|member| member.key == *key)?;
        chain.push((node, index));
        node = &members[index].value;
    }
    Some((node, chain))
}

/// The innermost thing of ours below `node`: a hook in a group, a group left without hooks, the server's member.
fn first_of_ours<'a>(
    node: &'a Node,
    entry: &Entry,
    text: &str,
    chain: &[(&'a Node, usize)],
) -> Option<(&'a Node, usize)> {
    if !entry.append {
        return is_our_server(&node.value(text)).then(|| chain.last().copied()).flatten();
    }
    let groups = node.items()?;
    for (at, group) in groups.iter().enumerate() {
        let Some(hooks) = group.get("hooks").map(|member| &member.value) else { continue };
        let items = hooks.items().unwrap_or_default();
        if let Some(ours) = items.iter().position(|hook| is_our_hook(&hook.value(text))) {
            return Some(if items.len() == 1 { (node, at) } else { (hooks, ours) });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn program(path: &str) -> Program {
        Program { path: path.into(), env: Vec::new() }
    }

    fn all() -> Vec<Entry> {
        hooks(&program("/usr/local/bin/cmem"))
    }

    const FOREIGN: &str = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\",  \"hooks\": [ {\"type\":\"command\",\"command\":\"lint\"} ] }\n\t\t],\n\t\t\"Stop\": []\n\t}\n}";

    #[test]
    fn a155_what_went_in_comes_out_to_the_byte() {
        for text in
            ["", "{}", "{ }\n", FOREIGN, "\u{feff}{\r\n  \"a\": 1\r\n}\r\n", "{\"hooks\":{\"SessionStart\":[]}}"]
        {
            let (installed, pieces) = put_in(text, &all()).unwrap();
            assert!(present(&installed, &all()), "{installed}");
            assert_eq!(take_out(&installed, &all(), &pieces).unwrap(), text);
        }
    }

    #[test]
    fn a155_also_when_others_changed_the_file_meanwhile() {
        let (installed, pieces) = put_in(FOREIGN, &all()).unwrap();
        let changed = installed.replace("\"opus\"", "\"haiku\"").replace("\"lint\"", "\"lint --fix\"");
        let expected = FOREIGN.replace("\"opus\"", "\"haiku\"").replace("\"lint\"", "\"lint --fix\"");
        assert_eq!(take_out(&changed, &all(), &pieces).unwrap(), expected);
        // Written anew by another program, with or without our record: nothing of ours is left, nothing else is gone.
        let value: Value = serde_json::from_str(&installed).unwrap();
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            for pieces in [&pieces[..], &[]] {
                let out: Value = serde_json::from_str(&take_out(&text, &all(), pieces).unwrap()).unwrap();
                assert_eq!(out, serde_json::from_str::<Value>(FOREIGN).unwrap());
            }
        }
    }

    #[test]
    fn installing_again_is_seen_and_an_old_path_is_found() {
        let (installed, _) = put_in(FOREIGN, &all()).unwrap();
        assert!(present(&installed, &all()));
        let moved = hooks(&program("/opt/my tools/cmem"));
        assert!(!present(&installed, &moved));
        assert_eq!(moved[0].value["hooks"][0]["command"], "'/opt/my tools/cmem' hook session-start");
        let (again, _) = put_in(&take_out(&installed, &all(), &[]).unwrap(), &moved).unwrap();
        assert!(present(&again, &moved) && again.matches("hook session-start").count() == 1);
    }

    #[test]
    fn a_hook_of_ours_in_a_foreign_group_is_found_and_the_group_stays() {
        let text = r#"{"hooks": {"SessionStart": [{"hooks": [{"type":"command","command":"greet"}, {"type":"command","command":"/x/cmem hook session-start"}]}]}}"#;
        let out = take_out(text, &all(), &[]).unwrap();
        assert_eq!(out, r#"{"hooks": {"SessionStart": [{"hooks": [{"type":"command","command":"greet"}]}]}}"#);
        let foreign =
            r#"{"hooks": {"SessionStart": [{"hooks": [{"type":"command","command":"notcmemX hook session-start"}]}]}}"#;
        assert_eq!(take_out(foreign, &all(), &[]).unwrap(), foreign);
    }

    #[test]
    fn the_server_entry() {
        let program = Program { path: "/x/cmem".into(), env: vec![("CMEM_HOME".into(), "/h".into())] };
        for under in [vec![], vec!["projects".to_owned(), "/w/alpha".to_owned()]] {
            let entries = [server(&program, &under)];
            for text in ["{}", "{\n  \"mcpServers\": {\n    \"other\": {}\n  },\n  \"userID\": \"x\"\n}"] {
                let (installed, pieces) = put_in(text, &entries).unwrap();
                assert!(present(&installed, &entries));
                assert_eq!(take_out(&installed, &entries, &pieces).unwrap(), text);
                let again = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&installed).unwrap()).unwrap();
                let out: Value = serde_json::from_str(&take_out(&again, &entries, &pieces).unwrap()).unwrap();
                assert_eq!(out, serde_json::from_str::<Value>(text).unwrap());
            }
        }
        assert_eq!(hooks(&program)[0].value["hooks"][0]["command"], "CMEM_HOME=/h /x/cmem hook session-start");
    }

    proptest! {
        /// Whatever settings: what went in comes out to the byte, or the file is refused untouched.
        #[test]
        fn a155_any_settings(keys in prop::collection::btree_map("[a-z]{1,8}|hooks|SessionStart", "\\PC{0,8}", 0..4), pretty in any::<bool>(), list in any::<bool>()) {
            let mut map: serde_json::Map<String, Value> = keys.into_iter().map(|(key, value)| (key, Value::from(value))).collect();
            if list {
                map.insert("hooks".into(), json!({ "PreToolUse": [{ "hooks": [{ "command": "x" }] }] }));
            }
            let value = Value::Object(map);
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            if let Ok((installed, pieces)) = put_in(&text, &all()) {
                prop_assert_eq!(take_out(&installed, &all(), &pieces).unwrap(), text);
            }
        }
    }
}
