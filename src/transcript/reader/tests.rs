//! Short transcripts in, events out. The cases are those of transcripts.md §16, by number, and the field reports.

mod agents;
mod identity;
mod lines;
mod properties;
mod reports;
mod speakers;
mod turns;

use serde_json::{Map, Value, json};

use super::*;
use crate::transcript::event::*;

/// A transcript being written: every line gets an envelope, fields given win.
pub(super) struct Sheet {
    pub text: String,
    count: u32,
}

impl Sheet {
    pub fn new() -> Self {
        Self { text: String::new(), count: 0 }
    }

    /// One entry. `null` fields are left out.
    pub fn entry(&mut self, fields: Value) -> &mut Self {
        self.count += 1;
        let mut line = Map::new();
        let parent = if self.count == 1 { Value::Null } else { json!(format!("u{}", self.count - 1)) };
        line.insert("parentUuid".into(), parent);
        line.insert("isSidechain".into(), json!(false));
        line.insert("cwd".into(), json!("/w/alpha"));
        line.insert("sessionId".into(), json!("S1"));
        line.insert("version".into(), json!("2.1.200"));
        line.insert("gitBranch".into(), json!("main"));
        line.insert("uuid".into(), json!(format!("u{}", self.count)));
        let (minute, second) = (self.count / 60, self.count % 60);
        line.insert("timestamp".into(), json!(format!("2026-03-01T10:{minute:02}:{second:02}.000Z")));
        for (name, value) in fields.as_object().expect("an object") {
            if value.is_null() && name != "parentUuid" {
                line.remove(name);
            } else {
                line.insert(name.clone(), value.clone());
            }
        }
        self.raw(&Value::Object(line).to_string())
    }

    /// A line as it stands.
    pub fn raw(&mut self, line: &str) -> &mut Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    pub fn user(&mut self, text: &str) -> &mut Self {
        self.entry(json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    pub fn answer(&mut self, message: &str, text: &str) -> &mut Self {
        self.entry(json!({"type": "assistant", "message": {
            "id": message, "role": "assistant", "content": [{"type": "text", "text": text}]}}))
    }

    pub fn call(&mut self, message: &str, id: &str, tool: &str, input: Value) -> &mut Self {
        self.entry(json!({"type": "assistant", "message": {
            "id": message, "role": "assistant",
            "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]}}))
    }

    pub fn result(&mut self, id: &str, content: Value) -> &mut Self {
        self.entry(json!({"type": "user", "message": {
            "role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]}}))
    }

    pub fn failed(&mut self, id: &str, content: &str, rich: Value) -> &mut Self {
        self.entry(json!({"type": "user", "toolUseResult": rich, "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": true}]}}))
    }

    pub fn rich(&mut self, id: &str, content: Value, rich: Value) -> &mut Self {
        self.entry(json!({"type": "user", "toolUseResult": rich, "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": content}]}}))
    }

    pub fn queue(&mut self, operation: &str, content: Value) -> &mut Self {
        self.count += 1;
        let mut line = json!({"type": "queue-operation", "operation": operation, "sessionId": "S1",
            "timestamp": format!("2026-03-01T10:00:{:02}.500Z", self.count % 60)});
        if !content.is_null() {
            line["content"] = content;
        }
        self.raw(&line.to_string())
    }

    pub fn read(&self) -> Vec<Event> {
        read(self.text.as_bytes()).0
    }

    pub fn told(&self) -> Vec<String> {
        told(&self.read())
    }
}

pub(super) fn role() -> FileRole {
    FileRole { session: SessionId::from("S1"), agent: None, parent_call: None }
}

pub(super) fn agent_role(agent: &str) -> FileRole {
    FileRole { agent: Some(AgentId::from(agent)), parent_call: Some(EventKey::from("toolu_p")), ..role() }
}

/// All events of a file that is over, and the figures.
pub(super) fn read(bytes: &[u8]) -> (Vec<Event>, Counts) {
    read_as(role(), bytes)
}

pub(super) fn read_as(role: FileRole, bytes: &[u8]) -> (Vec<Event>, Counts) {
    let mut reader = Reader::new(role);
    let mut out = Vec::new();
    reader.feed(bytes, &mut out);
    reader.close(&mut out);
    (out, reader.take_counts())
}

/// Events in one line each: turn, what, text. A closing answer ends in ` .`.
pub(super) fn told(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| match &event.body {
            Body::Prompt(it) => format!("{} {:?} {}", event.turn, it.kind, it.text),
            Body::Tool(it) => format!("{} {} {:?} {}", event.turn, it.name, it.outcome, it.output),
            Body::Answer(it) => format!("{} answer {}{}", event.turn, it.text, if it.closing { " ." } else { "" }),
            Body::TurnEnd(it) => format!("{} end {it:?}", event.turn),
            Body::Notice(it) => format!("{} {} {}", event.turn, it.kind, it.text),
            Body::Title(it) => format!("title {it}"),
            Body::TitleFor(leaf, it) => format!("title of {leaf} {it}"),
            Body::PullRequest(it) => format!("pr {it}"),
            Body::Compaction => "compaction".to_owned(),
            Body::Rewind(it) => format!("rewind {}-{}", it.first, it.last),
            Body::Retraction(keys) => {
                format!("retracts {}", keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(" "))
            }
        })
        .collect()
}

/// The only tool call of a transcript.
pub(super) fn only_tool(events: &[Event]) -> &ToolCall {
    let tools: Vec<&ToolCall> = tools(events);
    assert_eq!(tools.len(), 1);
    tools[0]
}

pub(super) fn tools(events: &[Event]) -> Vec<&ToolCall> {
    events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Tool(call) => Some(call),
            _ => None,
        })
        .collect()
}

/// The person's words, of whatever kind.
pub(super) fn prompts(events: &[Event]) -> Vec<(PromptKind, &str)> {
    events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Prompt(prompt) => Some((prompt.kind.clone(), prompt.text.as_str())),
            _ => None,
        })
        .collect()
}

#[test]
fn a_turn_reads_in_order() {
    let mut it = Sheet::new();
    it.user("fix it").answer("m1", "I look.").call("m1", "t1", "Bash", json!({"command": "ls"}));
    it.result("t1", json!("a.rs")).answer("m2", "Done.");
    assert_eq!(it.told(), ["1 Typed fix it", "1 Bash Ok a.rs", "1 answer I look.", "1 answer Done. .", "1 end Quiet"]);
}
