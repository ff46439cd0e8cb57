//! `cmem events`: the normalised events of transcripts.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use super::{CliError, Ctx, print, transcripts};
use crate::gate::evidence;
use crate::memory::{EventKey, SessionId};
use crate::transcript::event::{Body, Event, ToolOutcome};
use crate::transcript::locate::{AgentMeta, FileKind, HEAD_BYTES, Head, classify};
use crate::transcript::reader::{FileRole, Reader};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Transcript files or folders
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<std::path::PathBuf>,
}

/// One event as it is told. The names are a contract.
#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    kind: &'static str,
    /// Beside the contract: how a prompt was said, how a call came out, by what a turn's end was known.
    detail: Option<serde_json::Value>,
    session: &'a str,
    turn: u32,
    time: Option<String>,
    cwd: Option<&'a str>,
    branch: Option<&'a str>,
    agent: Option<&'a str>,
    tool: Option<&'a str>,
    ok: Option<bool>,
    files_read: Vec<String>,
    files_modified: Vec<String>,
    text_chars: usize,
}

/// Runs the command. A file that cannot be read costs that file: the others are told all the same.
pub fn run(args: Args, _ctx: &Ctx) -> Result<ExitCode, CliError> {
    let mut code = ExitCode::SUCCESS;
    for file in transcripts::named(&args.paths)? {
        if file.found && !classify(&file.path).is_transcript() {
            continue;
        }
        if let Err(error) = tell(&file.path) {
            if error.is_closed_pipe() {
                return Err(error);
            }
            print::say(format_args!("{error}"));
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

fn tell(path: &Path) -> Result<(), CliError> {
    let mut reader = Reader::new(role(path)?);
    let mut events = Vec::new();
    let mut told = Ok(());
    transcripts::chunks(path, |bytes| {
        if told.is_ok() {
            reader.feed(bytes, &mut events);
            told = print::json_lines(events.iter().map(row));
            events.clear();
        }
    })?;
    told?;
    reader.close(&mut events);
    print::json_lines(events.iter().map(row))
}

/// What the file is, by its name, its place, the first lines, and the file beside it.
fn role(path: &Path) -> Result<FileRole, CliError> {
    let stem = || SessionId(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    let (session, agent) = match classify(path) {
        FileKind::Session(session) => (session, None),
        FileKind::Agent(session, agent) => (session, Some(agent)),
        FileKind::FlatAgent(agent) => {
            let head = Head::of(&transcripts::head(path, HEAD_BYTES)?);
            (head.session.unwrap_or_else(stem), Some(agent))
        }
        _ => (stem(), None),
    };
    let parent_call = agent.as_ref().and_then(|_| AgentMeta::beside(path).tool_use_id).map(EventKey);
    Ok(FileRole { session, agent, parent_call })
}

fn row(event: &Event) -> Row<'_> {
    let mut row = Row {
        key: event.key.as_str(),
        kind: event.body.kind(),
        detail: detail(&event.body),
        session: event.session.as_str(),
        turn: event.turn,
        time: event.time.map(|time| time.to_string()),
        cwd: event.cwd.as_deref(),
        branch: event.branch.as_deref(),
        agent: event.agent.as_ref().map(|agent| agent.as_str()),
        tool: None,
        ok: None,
        files_read: Vec::new(),
        files_modified: Vec::new(),
        text_chars: 0,
    };
    match &event.body {
        Body::Tool(call) => {
            let touched = evidence::of_call(call);
            row.tool = Some(&call.name);
            row.ok = match call.outcome {
                ToolOutcome::Ok | ToolOutcome::Started => Some(true),
                ToolOutcome::Failed | ToolOutcome::Denied | ToolOutcome::Interrupted => Some(false),
                ToolOutcome::Orphan => None,
            };
            row.files_read = touched.read;
            row.files_modified = touched.modified;
            row.text_chars = call.input.chars().count() + call.output.chars().count();
        }
        Body::Prompt(prompt) => row.text_chars = prompt.text.chars().count(),
        Body::Answer(answer) => row.text_chars = answer.text.chars().count(),
        Body::Notice(notice) => row.text_chars = notice.text.chars().count(),
        Body::Title(title) | Body::TitleFor(_, title) => row.text_chars = title.chars().count(),
        Body::PullRequest(url) => row.text_chars = url.chars().count(),
        Body::TurnEnd(_) | Body::Compaction | Body::Rewind(_) | Body::Retraction(_) => {}
    }
    row
}

fn detail(body: &Body) -> Option<serde_json::Value> {
    match body {
        Body::Prompt(prompt) => serde_json::to_value(&prompt.kind).ok(),
        Body::Tool(call) => serde_json::to_value(call.outcome).ok(),
        Body::TurnEnd(end) => serde_json::to_value(end).ok(),
        Body::Notice(notice) => Some(notice.kind.into()),
        Body::Answer(answer) if answer.closing => Some("closing".into()),
        _ => None,
    }
}
