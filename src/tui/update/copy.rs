//! Text out of the screen: what is copied, opened, printed. Which way it goes is `run`'s business; the message names
//! the way and claims no more.

use super::{Out, curate, pages, refuse};
use crate::memory::{Memory, MemoryId};
use crate::tui::action::Action;
use crate::tui::effect::{CopyForm, Effect, GetFor, Request};
use crate::tui::state::{State, View};

/// A copy action.
pub fn act(state: &mut State, action: Action, out: &mut Out) {
    if action == Action::CopyMode {
        out.push(Effect::ShowPlain(plain(state)));
        return;
    }
    let Some(ids) = curate::targets(state) else { return };
    let numbers = ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>();
    match action {
        Action::CopyId => out.push(Effect::Copy { text: numbers.join(" "), what: "ids" }),
        Action::CopyCall => {
            let text = format!("get_observations([{}])", numbers.join(", "));
            out.push(Effect::Copy { text, what: "a call" });
        }
        Action::CopyLine => {
            let lines = state.arena.find(&ids).iter().map(|ix| line(state, *ix)).collect::<Vec<_>>();
            out.push(Effect::Copy { text: lines.join("\n"), what: "lines" });
        }
        Action::CopyNarrative => ask(ids, CopyForm::Narrative, out),
        Action::CopyFiles => ask(ids, CopyForm::Files, out),
        Action::CopyMarkdown => ask(ids, CopyForm::Markdown, out),
        _ => ask(ids, CopyForm::Json, out),
    }
}

fn ask(ids: Vec<MemoryId>, form: CopyForm, out: &mut Out) {
    out.push(Effect::Ask(Request::GetFor(ids, GetFor::Copy(form))));
}

fn line(state: &State, ix: u32) -> String {
    let row = state.arena.row(ix);
    let when = crate::memory::from_millis(row.created_ms).to_zoned_datetime(state.zone.clone());
    format!("#{} {} {} {}", row.id, when.strftime("%Y-%m-%d %H:%M"), state.arena.type_of(row), state.arena.title(row))
}

/// The memories came: they are copied.
pub fn came(memories: &[Memory], form: CopyForm, out: &mut Out) {
    let text = match form {
        CopyForm::Narrative => memories.iter().map(|m| m.narrative.clone()).collect::<Vec<_>>().join("\n\n"),
        CopyForm::Files => {
            let mut files: Vec<&str> = memories
                .iter()
                .flat_map(|m| m.files_modified.iter().chain(&m.files_read))
                .map(String::as_str)
                .collect();
            files.dedup();
            files.join("\n")
        }
        CopyForm::Markdown => memories.iter().map(markdown).collect::<Vec<_>>().join("\n"),
        CopyForm::Json => match memories {
            [one] => serde_json::to_string_pretty(one).unwrap_or_default(),
            many => serde_json::to_string_pretty(many).unwrap_or_default(),
        },
    };
    out.push(Effect::Copy { text, what: "text" });
}

/// Memories as a file whose ending says how.
pub fn export(memories: &[Memory], path: &str) -> String {
    let line = |memory: &Memory| serde_json::to_string(memory).unwrap_or_default();
    match path.rsplit('.').next() {
        Some("json") => serde_json::to_string_pretty(memories).unwrap_or_default(),
        Some("jsonl") => memories.iter().map(|memory| line(memory) + "\n").collect(),
        Some("csv") => {
            let mut out = String::from("id,created_at,type,project,title,subtitle,facts,files\n");
            for m in memories {
                let files = [&m.files_modified[..], &m.files_read[..]].concat().join(" ");
                let id = m.id.0.to_string();
                let at = m.created_at.to_string();
                let facts = m.facts.join(" · ");
                let cells = [&id, &at, &m.type_id, &m.project, &m.title, &m.subtitle, &facts, &files];
                out.push_str(&cells.map(|cell| csv_cell(cell)).join(","));
                out.push('\n');
            }
            out
        }
        _ => memories.iter().map(markdown).collect::<Vec<_>>().join("\n"),
    }
}

/// Quoted where it must be; never the beginning of a formula.
fn csv_cell(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A memory as markdown.
pub fn markdown(memory: &Memory) -> String {
    let mut out = format!("## {}\n\n", memory.title);
    if !memory.subtitle.is_empty() {
        out.push_str(&format!("*{}*\n\n", memory.subtitle));
    }
    out.push_str(&format!(
        "#{} · {} · {} · {}\n\n",
        memory.id.0,
        memory.type_id,
        memory.project,
        memory.created_at.strftime("%Y-%m-%d %H:%M UTC")
    ));
    if !memory.narrative.is_empty() {
        out.push_str(memory.narrative.trim());
        out.push_str("\n\n");
    }
    for fact in &memory.facts {
        out.push_str(&format!("- {fact}\n"));
    }
    if !memory.facts.is_empty() {
        out.push('\n');
    }
    for (label, files) in [("Modified", &memory.files_modified), ("Read", &memory.files_read)] {
        if !files.is_empty() {
            out.push_str(&format!(
                "{label}: {}\n",
                files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ")
            ));
        }
    }
    out
}

/// What the terminal's own selection may take: the memory that is read, else the visible rows.
fn plain(state: &State) -> String {
    match state.detail.current() {
        Some(memory) => crate::memory::safe_text(&markdown(memory)),
        None => {
            let rows = (0..state.rows.len().min(60)).filter_map(|pos| state.rows.get(pos));
            rows.map(|ix| line(state, ix)).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The first file of the memory, in the editor.
pub fn open_file(state: &mut State, out: &mut Out) {
    let found = state.detail.current().and_then(|memory| {
        let path = memory.files_modified.iter().chain(&memory.files_read).next()?.clone();
        let cwd = if memory.project_root.is_empty() { memory.cwd.clone() } else { Some(memory.project_root.clone()) };
        Some((path, cwd))
    });
    match found {
        Some((path, cwd)) => curate::hold_back(state, Effect::OpenFile { path, cwd }, out),
        None => refuse(state, "this memory names no file"),
    }
}

/// The command that resumes a session.
pub fn resume(state: &mut State, out: &mut Out) {
    let session = match state.view {
        View::Sessions => pages::session_under_cursor(state).map(|info| info.id.clone()),
        _ => state.under_cursor().map(|row| state.arena.session_of(row).id.clone()),
    };
    match session.filter(|id| !id.is_empty()) {
        Some(id) => {
            let text = format!("claude --resume {id}");
            out.push(Effect::Copy { text, what: "the resume command" });
        }
        None => refuse(state, "no session here"),
    }
}
