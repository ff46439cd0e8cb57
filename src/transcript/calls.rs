//! Tool calls that wait for their results, and what a result says about how the call came out.
//!
//! Pairs are made by id only: results of parallel calls come in any order, and other lines stand between
//! (transcripts.md §7). A call without a result is closed as interrupted when the next prompt comes.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::Block;
use super::context::Stamp;
use super::entry::Entry;
use super::event::{ToolCall, ToolFacts, ToolOutcome};
use super::json::{Text, fields, unwanted};
use super::outcome::Outcome;
use super::repair::lone_surrogates_replaced;
use crate::memory::EventKey;

/// A call whose result has not come.
#[derive(Debug)]
pub struct OpenCall {
    /// `tool_use.id`, or the key made for a call without one.
    pub key: EventKey,
    /// Tool.
    pub name: String,
    /// Input as JSON text.
    pub input: String,
    /// Offset of its line.
    pub start: u64,
    /// Where and when.
    pub stamp: Stamp,
    /// An inline sidechain was tied to it.
    pub tied: bool,
    /// It has no id: `key` was made for it.
    pub nameless: bool,
}

/// Open calls, oldest first.
#[derive(Debug, Default)]
pub struct Calls {
    open: Vec<OpenCall>,
}

impl Calls {
    /// A call was made. A second line of the same call changes nothing.
    pub fn made(&mut self, call: OpenCall) {
        if !self.open.iter().any(|it| it.key == call.key) {
            self.open.push(call);
        }
    }

    /// The call a result belongs to; it is no longer open.
    pub fn take(&mut self, id: &str) -> Option<OpenCall> {
        let at = self.open.iter().position(|call| call.key.as_str() == id)?;
        Some(self.open.remove(at))
    }

    /// The oldest open call without an id, for a result without one.
    pub fn take_nameless(&mut self) -> Option<OpenCall> {
        let at = self.open.iter().position(|call| call.nameless)?;
        Some(self.open.remove(at))
    }

    /// All open calls; none stays open.
    pub fn take_all(&mut self) -> Vec<OpenCall> {
        std::mem::take(&mut self.open)
    }

    /// Nothing is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// A call of the main thread is open.
    pub fn main_open(&self, main: &Stamp) -> bool {
        self.open.iter().any(|call| call.stamp.agent == main.agent)
    }

    /// Offset of the oldest open call.
    pub fn start(&self) -> Option<u64> {
        self.open.iter().map(|call| call.start).min()
    }

    /// The open Task or Agent call that gave this instruction, once (§10: equal prompt text).
    pub fn tie(&mut self, instruction: &str) -> Option<EventKey> {
        let call = self.open.iter_mut().find(|call| {
            !call.tied
                && matches!(call.name.as_str(), "Task" | "Agent")
                && serde_json::from_str::<Named<'_>>(&call.input)
                    .is_ok_and(|input| input.prompt.get().map(str::trim) == Some(instruction))
        })?;
        call.tied = true;
        Some(call.key.clone())
    }
}

/// Input of a call as JSON text that any reader can parse.
pub fn input_text(input: Option<&RawValue>) -> String {
    let Some(raw) = input.map(RawValue::get) else { return "{}".to_owned() };
    if raw == "null" {
        return "{}".to_owned();
    }
    let bytes = raw.as_bytes();
    let mended = memchr::memmem::find(bytes, b"\\ud")
        .or_else(|| memchr::memmem::find(bytes, b"\\uD"))
        .and_then(|_| lone_surrogates_replaced(raw));
    match too_deep(mended.as_deref().unwrap_or(raw)) {
        Some(flat) => flat,
        None => mended.unwrap_or_else(|| raw.to_owned()),
    }
}

/// Levels of nesting an input keeps. Common JSON readers refuse more than 128.
const DEPTH: usize = 100;

/// The text with everything nested too deep replaced by `null`; `None` if nothing is.
fn too_deep(raw: &str) -> Option<String> {
    if raw.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count() <= DEPTH {
        return None;
    }
    let mut out = Vec::with_capacity(raw.len());
    let (mut depth, mut in_string, mut escaped, mut dropped) = (0usize, false, false, false);
    for &byte in raw.as_bytes() {
        let keep = depth <= DEPTH;
        if in_string {
            if !escaped && byte == b'"' {
                in_string = false;
            }
            escaped = !escaped && byte == b'\\';
        } else {
            match byte {
                b'"' => in_string = true,
                b'{' | b'[' => {
                    depth += 1;
                    if depth == DEPTH + 1 {
                        out.extend_from_slice(b"null");
                        dropped = true;
                    }
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if keep && depth <= DEPTH {
            out.push(byte);
        }
    }
    if dropped { String::from_utf8(out).ok() } else { None }
}

/// A call with the result that came for it. `call` is `None` for a result whose call was never seen.
pub fn join(call: Option<OpenCall>, id: &str, entry: &mut Entry<'_>, block: Block<'_>) -> ToolCall {
    let is_error = block.is_error.0;
    let mut output = block.content.into_flat();
    let outcome = entry.outcome.as_deref();
    if output.is_empty() {
        output = rich_text(outcome);
    }
    let orphan = call.is_none();
    let (name, input) = match call {
        Some(call) => (call.name, call.input),
        None => (String::new(), "{}".to_owned()),
    };
    let outcome_kind = match how(entry.denial.get(), is_error, &output, outcome) {
        ToolOutcome::Ok | ToolOutcome::Failed if orphan => ToolOutcome::Orphan,
        kind => kind,
    };
    let facts = facts(&name, &input, &output, outcome_kind, outcome);
    ToolCall { id: id.to_owned(), name, input, output, outcome: outcome_kind, facts }
}

/// Text of a result whose own content is missing (stripped files).
fn rich_text(outcome: Option<&Outcome<'_>>) -> String {
    let Some(outcome) = outcome else { return String::new() };
    if let Some(text) = outcome.text.get() {
        return text.to_owned();
    }
    let decoded = |raw: Option<&RawValue>| {
        raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok()).filter(|text| !text.is_empty())
    };
    let texts: Vec<String> = [decoded(outcome.stdout), decoded(outcome.stderr)].into_iter().flatten().collect();
    texts.join("\n")
}

fn how(denial: Option<&str>, is_error: bool, text: &str, outcome: Option<&Outcome<'_>>) -> ToolOutcome {
    let starts = |marks: &[&str]| marks.iter().any(|mark| text.starts_with(mark));
    let stopped = starts(&["[Request interrupted by user", "[Tool call interrupted"])
        || (denial.is_some() || is_error) && text.contains("this call was stopped while running");
    match denial {
        Some("interrupted") => return ToolOutcome::Interrupted,
        Some(_) => return if stopped { ToolOutcome::Interrupted } else { ToolOutcome::Denied },
        None => {}
    }
    if is_error {
        if stopped {
            return ToolOutcome::Interrupted;
        }
        let denied =
            starts(&["The user doesn't want to ", "User rejected tool use", "denied by hook", "Hook PreToolUse"])
                || text.starts_with("Permission to use ") && text.contains(" has been denied")
                || text.starts_with("PreToolUse:") && text.contains("hook");
        return if denied { ToolOutcome::Denied } else { ToolOutcome::Failed };
    }
    match outcome {
        Some(it) if it.is_async || it.status.is("async_launched") || it.background.filled().is_some() => {
            ToolOutcome::Started
        }
        Some(it) if it.interrupted => ToolOutcome::Interrupted,
        _ if starts(&["Async agent launched", "Command running in background with ID:"]) => ToolOutcome::Started,
        _ => ToolOutcome::Ok,
    }
}

fn facts(name: &str, input: &str, output: &str, how: ToolOutcome, outcome: Option<&Outcome<'_>>) -> ToolFacts {
    let mut facts = ToolFacts { exit_code: exit_code(output), ..ToolFacts::default() };
    if let Some(it) = outcome {
        facts.file = it.file.filled().map(str::to_owned);
        facts.created = it.kind.is("create");
        facts.lines_changed = match it.patch {
            Some((0, 0)) if facts.created => Some((lines_of(it.content), 0)),
            patch => patch,
        };
        facts.agent = it.agent.filled().or(it.teammate.filled()).map(str::to_owned);
        facts.found = it.found.filter(|_| matches!(name, "Grep" | "Glob" | "LS" | ""));
        facts.persisted_bytes = it.persisted;
        facts.background = it.background.filled().map(str::to_owned);
        if facts.exit_code.is_none() {
            facts.exit_code = match it.exit_code {
                Some(code) => i32::try_from(code).ok(),
                None if how == ToolOutcome::Ok && it.stdout.is_some() && !it.interpreted => Some(0),
                None => None,
            };
        }
    }
    if facts.file.is_none() && !input.is_empty() && input.len() < 4 << 20 {
        facts.file = file_named(name, input);
    }
    facts
}

/// `Exit code 3` at the start of a failed shell command's text.
fn exit_code(output: &str) -> Option<i32> {
    let rest = output.strip_prefix("Error: ").unwrap_or(output).strip_prefix("Exit code ")?;
    rest.split(|ch: char| !ch.is_ascii_digit() && ch != '-').next()?.parse().ok()
}

/// Lines of a JSON string that was not decoded.
fn lines_of(raw: Option<&RawValue>) -> u32 {
    let Some(raw) = raw.map(RawValue::get).filter(|raw| raw.len() > 2) else { return 0 };
    let newlines = memchr::memmem::find_iter(raw.as_bytes(), b"\\n").count();
    u32::try_from(newlines + usize::from(!raw.ends_with("\\n\""))).unwrap_or(u32::MAX)
}

/// The file a call names in its input, for the tools that work on one file.
fn file_named(name: &str, input: &str) -> Option<String> {
    if !matches!(name, "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "NotebookRead") {
        return None;
    }
    let named: Named<'_> = serde_json::from_str(input).ok()?;
    named.file.filled().map(str::to_owned)
}

/// The few fields of an input that matter to the reader.
#[derive(Default)]
struct Named<'a> {
    file: Text<'a>,
    prompt: Text<'a>,
    plan: Text<'a>,
}

/// The plan in the input of an ExitPlanMode call.
pub fn plan_of(input: &str) -> Option<String> {
    serde_json::from_str::<Named<'_>>(input).ok()?.plan.filled().map(str::to_owned)
}

fields!(NamedField { FilePath = "file_path", Notebook = "notebook_path", Prompt = "prompt", Plan = "plan" });

impl<'de> Deserialize<'de> for Named<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Named<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("any value")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Named<'de>, A::Error> {
                let mut it = Named::default();
                while let Some(field) = map.next_key()? {
                    match field {
                        NamedField::FilePath | NamedField::Notebook => it.file = map.next_value()?,
                        NamedField::Prompt => it.prompt = map.next_value()?,
                        NamedField::Plan => it.plan = map.next_value()?,
                        NamedField::Other => {
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                    }
                }
                Ok(it)
            }
            unwanted!(Named::default(); bool number null string array);
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_nested_too_deep_stay_readable() {
        let deep = format!("{{\"a\":{}1{},\"b\":\"]\\\"\"}}", "[".repeat(300), "]".repeat(300));
        let raw = RawValue::from_string(deep).expect("valid");
        let text = input_text(Some(&raw));
        let value: serde_json::Value = serde_json::from_str(&text).expect("readable");
        assert_eq!(value["b"], "]\"");
    }

    #[test]
    fn exit_codes_are_read_from_the_text() {
        assert_eq!(exit_code("Exit code 3\nboom"), Some(3));
        assert_eq!(exit_code("Error: Exit code 101"), Some(101));
        assert_eq!(exit_code("all fine, Exit code 3"), None);
    }
}
