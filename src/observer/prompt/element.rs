//! One event as an element: what of it is shown, and how it is kept from speaking for itself.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::transcript::event::{Body, Event, PromptKind, ToolCall, ToolOutcome, TurnEnd};

use super::instant;

/// How many characters of an event are shown at most. Halved when a question was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One field of a tool's input.
    pub field: usize,
    /// What a tool gave back.
    pub output: usize,
    /// What a reading tool gave back: it can be read again in its place.
    pub reading: usize,
    /// Words of the agent.
    pub answer: usize,
    /// Words of the user.
    pub prompt: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { field: 3_000, output: 4_000, reading: 1_200, answer: 3_000, prompt: 4_000 }
    }
}

impl Limits {
    /// Half of it, or `None` when so little is left that halving cannot be the cure.
    pub fn halved(self) -> Option<Self> {
        (self.output > 250).then_some(Self {
            field: self.field / 2,
            output: self.output / 2,
            reading: self.reading / 2,
            answer: self.answer / 2,
            prompt: self.prompt / 2,
        })
    }
}

/// Tools that only look.
const READING: [&str; 9] =
    ["Read", "Glob", "Grep", "LS", "NotebookRead", "ListMcpResourcesTool", "ReadMcpResourceTool", "BashOutput", "LSP"];

/// Whether the event only looked at something.
pub fn is_read_only(event: &Event) -> bool {
    matches!(&event.body, Body::Tool(call) if READING.contains(&call.name.as_str()))
}

/// Whether words say anything: at least three words, or as much in a script without spaces. A heartbeat does not
/// (A026).
pub fn substantial(text: &str) -> bool {
    let dense = text.chars().filter(|ch| *ch > '\u{2e7f}').count();
    text.split_whitespace().count() >= 3 || dense >= 6
}

/// About how many characters the element will have.
pub fn cost(event: &Event, limits: Limits) -> usize {
    60 + match &event.body {
        Body::Tool(call) => {
            let output = if READING.contains(&call.name.as_str()) { limits.reading } else { limits.output };
            call.input.len().min(limits.field * 2) + call.output.len().min(output)
        }
        Body::Prompt(prompt) => prompt.text.len().min(limits.prompt),
        Body::Answer(answer) => answer.text.len().min(limits.answer),
        Body::Notice(notice) => notice.text.len().min(500),
        _ => 0,
    }
}

/// Appends the element of `event`. Events without content of their own (titles, marks) show nothing.
pub(super) fn event(
    out: &mut String,
    event: &Event,
    number: u64,
    limits: Limits,
    fold_helpers: bool,
    last_directory: &mut String,
) {
    let time = event.time.map(|it| format!(" time=\"{}\"", instant(it))).unwrap_or_default();
    match &event.body {
        Body::Tool(call) => tool(out, event, call, number, &time, limits, fold_helpers, last_directory),
        Body::Prompt(prompt) => {
            let kind = match prompt.kind {
                PromptKind::Typed | PromptKind::Slash => "",
                PromptKind::Steering => " while=\"working\"",
                PromptKind::Shell => " ran=\"command\"",
                PromptKind::Rejection => " refused=\"call\"",
                PromptKind::Choice => " chose=\"answer\"",
                PromptKind::Plan => " approved=\"plan\"",
            };
            let _ = writeln!(out, "<user id=\"{number}\"{time}{kind}>{}</user>", text(&prompt.text, limits.prompt));
        }
        Body::Answer(answer) if !answer.text.trim().is_empty() => {
            let _ = writeln!(out, "<said id=\"{number}\"{time}>{}</said>", text(&answer.text, limits.answer));
        }
        Body::Notice(notice) => {
            let _ = writeln!(
                out,
                "<notice id=\"{number}\"{time} kind=\"{}\">{}</notice>",
                notice.kind,
                text(&notice.text, 500)
            );
        }
        Body::TurnEnd(TurnEnd::Interrupted) => {
            let _ = writeln!(out, "<notice id=\"{number}\"{time} kind=\"interrupted\"/>");
        }
        _ => {}
    }
}

#[allow(clippy::too_many_arguments, reason = "the parts of one element, used in one place")]
fn tool(
    out: &mut String,
    event: &Event,
    call: &ToolCall,
    number: u64,
    time: &str,
    limits: Limits,
    fold_helpers: bool,
    last_directory: &mut String,
) {
    let outcome = match call.outcome {
        ToolOutcome::Ok => "ok",
        ToolOutcome::Failed => "failed",
        ToolOutcome::Denied => "denied",
        ToolOutcome::Interrupted => "interrupted",
        ToolOutcome::Started => "started",
        ToolOutcome::Orphan => "unknown",
    };
    let _ = write!(out, "<event id=\"{number}\"{time} tool=\"{}\" outcome=\"{outcome}\"", attribute(&call.name));
    if let Some(code) = call.facts.exit_code {
        let _ = write!(out, " exit=\"{code}\"");
    }
    if let Some((added, removed)) = call.facts.lines_changed {
        let _ = write!(out, " lines=\"+{added} -{removed}\"");
    }
    if let Some(agent) = &event.agent {
        let _ = write!(out, " helper=\"{}\"", attribute(agent.as_str()));
    }
    if let Some(cwd) = &event.cwd {
        // Said again only when it changes; a directory holds until another is named.
        if *cwd != *last_directory {
            let _ = write!(out, " cwd=\"{}\"", attribute(cwd));
            last_directory.clone_from(cwd);
        }
    }
    let reading = READING.contains(&call.name.as_str());
    if fold_helpers && event.agent.is_some() && reading {
        let _ = writeln!(out, ">{}</event>", text(&first_field(&call.input), 200));
        return;
    }
    out.push_str(">\n");
    fields(out, &call.input, limits.field);
    // A change that went well says little that its parameters do not.
    let quiet = call.outcome == ToolOutcome::Ok
        && matches!(call.name.as_str(), "Edit" | "MultiEdit" | "Write" | "NotebookEdit");
    let most = match () {
        () if quiet => limits.output.min(200),
        () if reading => limits.reading,
        () => limits.output,
    };
    if !call.output.trim().is_empty() {
        let _ = writeln!(out, "---\n{}", text(&call.output, most));
    }
    out.push_str("</event>\n");
}

/// A tool's input as its fields: `name: value`, texts as they are.
fn fields(out: &mut String, input: &str, most: usize) {
    match serde_json::from_str::<Value>(input) {
        Ok(Value::Object(map)) => {
            for (name, value) in &map {
                let shown = match value {
                    Value::String(plain) => text(plain, most),
                    Value::Null => continue,
                    other => text(&other.to_string(), most),
                };
                let line_break = if shown.contains('\n') { "\n" } else { " " };
                let _ = writeln!(out, "{}:{line_break}{shown}", escape(name));
            }
        }
        Ok(Value::String(plain)) => {
            let _ = writeln!(out, "{}", text(&plain, most));
        }
        _ if input.trim().is_empty() => {}
        _ => {
            let _ = writeln!(out, "{}", text(input, most));
        }
    }
}

fn first_field(input: &str) -> String {
    let value: Option<Value> = serde_json::from_str(input).ok();
    let map = value.as_ref().and_then(Value::as_object);
    ["file_path", "notebook_path", "pattern", "path", "query"]
        .iter()
        .find_map(|name| map.and_then(|it| it.get(*name)).and_then(Value::as_str))
        .unwrap_or_default()
        .to_owned()
}

/// Text fit to stand inside the fence: cut in the middle, and our tags escaped.
pub(super) fn text(raw: &str, most: usize) -> String {
    escape(&cut_middle(raw.trim(), most))
}

/// The head and the tail of a long text, and how much lies between.
fn cut_middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most + 60 {
        return text.to_owned();
    }
    let head = most * 2 / 3;
    let tail = most - head;
    let head_end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let tail_start = text.char_indices().nth(length - tail).map_or(text.len(), |(at, _)| at);
    format!("{}\n[… {} characters left out …]\n{}", &text[..head_end], length - most, &text[tail_start..])
}

static OURS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)<(\s*/?\s*(?:observ|event|already_rem|skip|summary|said|user\b|notice))")
        .expect("a fixed pattern, read by a test")
});

/// `<` before a name of ours becomes an entity. Other angle brackets stay, so that code reads as code.
pub(super) fn escape(text: &str) -> String {
    OURS.replace_all(text, "&lt;$1").into_owned()
}

/// A value between double quotes.
pub(super) fn attribute(text: &str) -> String {
    let line = crate::memory::safe_line(crate::memory::clip_chars(text, 300));
    line.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}
