//! Where Claude Code's transcripts lie, and which file is what.
//!
//! Owns: the list of folders that are read ([`roots`]), what a file is by its place and name ([`classify`]), what
//! the first lines of a file add to that ([`Head`]), and the walk over a root ([`walk`]). The path says only where
//! a file lies: project and directory come from the lines (transcripts.md §1), so nothing here inverts a slug.
//!
//! Absent: following files as they grow (`tail`, `watch`), reading entries (`reader`).
#![allow(clippy::disallowed_methods)] // This file lists directories: it is one of the few that touch the disk.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;

use crate::memory::{AgentId, SessionId, Timestamp};

/// Bytes of a file that are looked at to say what it is ([`Head::of`]).
pub const HEAD_BYTES: usize = 64 * 1024;

/// How a root came to be read. Shown by `status` and `doctor`, so that no source is charged unseen (A054).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootOrigin {
    /// A configuration folder of Claude Code: `$CLAUDE_CONFIG_DIR`, else `~/.claude` and the XDG one.
    Claude,
    /// Named in the settings (`record.roots`).
    Settings,
}

/// A folder under which transcripts are looked for. It need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Claude Code's configuration folder, or the folder named in the settings.
    pub path: PathBuf,
    /// Where the name came from.
    pub origin: RootOrigin,
}

impl Root {
    /// The folder that holds the project folders: `projects/` below a configuration folder; a folder named in the
    /// settings is taken as it is when it has no `projects/` in it.
    pub fn projects(&self) -> PathBuf {
        let projects = self.path.join("projects");
        if self.origin == RootOrigin::Settings && !projects.is_dir() { self.path.clone() } else { projects }
    }
}

/// The folders to read: Claude Code's own (`config::Dirs::claude`) and those named in the settings. No other
/// agent's folders (A054). `~/` in a setting stands for `home`.
pub fn roots(claude: &[PathBuf], named: &[String], home: Option<&Path>) -> Vec<Root> {
    let mut found: Vec<Root> = Vec::new();
    let mut add = |path: PathBuf, origin: RootOrigin| {
        if !found.iter().any(|root| root.path == path) {
            found.push(Root { path, origin });
        }
    };
    for path in claude {
        add(normal(path), RootOrigin::Claude);
    }
    for text in named {
        let path = match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        };
        add(path, RootOrigin::Settings);
    }
    found
}

/// A configuration folder in Unicode NFC, as the client normalises it, unless only the name as given exists.
fn normal(given: &Path) -> PathBuf {
    let Some(text) = given.to_str() else { return given.to_owned() };
    let composed = PathBuf::from(text.nfc().collect::<String>());
    if !composed.exists() && given.exists() { given.to_owned() } else { composed }
}

/// What a file is, by place and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// `<session uuid>.jsonl`: a session.
    Session(SessionId),
    /// `<other stem>.jsonl`: a session only if its own lines name it so ([`Head::names`]).
    Candidate(String),
    /// `<session>/subagents/**/agent-<id>.jsonl`: a helper agent of that session.
    Agent(SessionId, AgentId),
    /// `agent-<id>.jsonl` beside the sessions (2.0.2x to 2.1.1): its lines name the session.
    FlatAgent(AgentId),
    /// `agent-acompact-*`, `agent-aprompt_suggestion-*`: the client's own inner work, never read (E75).
    InnerAgent,
    /// `agent-<id>.meta.json`.
    Meta(AgentId),
    /// `journal.jsonl` of a workflow: no transcript (E80).
    Journal,
    /// `.orphaned-*`, `.superseded-*`, `.bak`, `.tmp`: an old incarnation of a session (E18).
    SetAside,
    /// Anything else.
    Other,
}

impl FileKind {
    /// Whether the file may hold events.
    pub fn is_transcript(&self) -> bool {
        matches!(self, Self::Session(_) | Self::Candidate(_) | Self::Agent(..) | Self::FlatAgent(_))
    }

    /// Whether it belongs to a helper agent.
    pub fn is_agent(&self) -> bool {
        matches!(self, Self::Agent(..) | Self::FlatAgent(_))
    }
}

/// What the file at `path` is. `path` is relative to the folder that holds the project folders, or absolute: only
/// its last components count.
pub fn classify(path: &Path) -> FileKind {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return FileKind::Other;
    };
    let above: Vec<&str> = path
        .parent()
        .map(|dir| {
            dir.components()
                .filter_map(|part| match part {
                    Component::Normal(text) => Some(text.to_str().unwrap_or("")),
                    _ => None,
                })
                .collect()
        })
        .unwrap_or_default();
    if let Some(stem) = name.strip_suffix(".meta.json") {
        return match stem.strip_prefix("agent-") {
            Some(id) if !id.is_empty() => FileKind::Meta(AgentId::from(id)),
            _ => FileKind::Other,
        };
    }
    let Some(stem) = name.strip_suffix(".jsonl") else {
        return if name.contains(".jsonl") { FileKind::SetAside } else { FileKind::Other };
    };
    if stem.contains(".orphaned-") || stem.contains(".superseded-") || stem.ends_with(".bak") || stem.ends_with(".tmp")
    {
        return FileKind::SetAside;
    }
    // Everything a session keeps beside itself lies in a folder named like it; of that only `subagents` is read.
    let owner = above.iter().rposition(|part| is_uuid(part));
    let in_subagents = above.iter().rposition(|part| *part == "subagents");
    if name == "journal.jsonl" && in_subagents.is_some() {
        return FileKind::Journal;
    }
    if let Some(id) = stem.strip_prefix("agent-") {
        if id.starts_with("acompact-") || id.starts_with("aprompt_suggestion-") || id.is_empty() {
            return FileKind::InnerAgent;
        }
        return match in_subagents {
            Some(at) if at > 0 => FileKind::Agent(SessionId::from(above[at - 1]), AgentId::from(id)),
            _ => FileKind::FlatAgent(AgentId::from(id)),
        };
    }
    if owner.is_some() || in_subagents.is_some() || above.last().is_some_and(|part| *part == "tool-results") {
        return FileKind::Other;
    }
    if is_uuid(stem) { FileKind::Session(SessionId::from(stem)) } else { FileKind::Candidate(stem.to_owned()) }
}

/// Whether `text` has the shape of a UUID, which is what the client's own kit asks of a session's file name.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The folder name the client gives a working directory: every UTF-16 unit outside `[A-Za-z0-9]` becomes `-`
/// (without the cut and hash over 200 characters). Used only to recognise the observer's own folder.
pub fn slug(directory: &str) -> String {
    let composed: String = directory.nfc().collect();
    composed
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => byte as char,
            _ => '-',
        })
        .collect()
}

/// What the first lines of a file say about it. Tolerant: a line that does not parse says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// The session named by the first line that names one.
    pub session: Option<SessionId>,
    /// The first entry's uuid. Copies of a session (fork, resume, branch) share it: it names the lineage.
    pub lineage: Option<String>,
    /// Time of the first timed line in file order. In a fork that line is the fork's own (the copied history
    /// behind it is older), so within a lineage the earliest is the original.
    pub born: Option<Timestamp>,
    /// First working directory.
    pub cwd: Option<String>,
    /// A `Warmup` agent: the client filling its cache, no work (E75).
    pub warmup: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct HeadLine<'a> {
    #[serde(borrow, rename = "sessionId")]
    session: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow)]
    uuid: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow)]
    message: Option<&'a serde_json::value::RawValue>,
}

impl Head {
    /// Reads the head from the first bytes of a file (at most [`HEAD_BYTES`] are looked at).
    pub fn of(bytes: &[u8]) -> Self {
        let bytes = &bytes[..bytes.len().min(HEAD_BYTES)];
        let mut head = Self::default();
        let mut first_message = true;
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii_start();
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            let Ok(line) = serde_json::from_slice::<HeadLine<'_>>(line) else { continue };
            if head.session.is_none() {
                head.session = text(line.session).filter(|id| !id.is_empty()).map(SessionId::from);
            }
            if head.born.is_none() {
                head.born = text(line.timestamp).and_then(|time| time.parse().ok());
            }
            if head.cwd.is_none() {
                head.cwd = text(line.cwd);
            }
            if first_message && let Some(message) = line.message {
                first_message = false;
                head.warmup = serde_json::from_str::<serde_json::Value>(message.get())
                    .is_ok_and(|value| value.get("content").and_then(|text| text.as_str()) == Some("Warmup"));
            }
            if head.lineage.is_none() {
                head.lineage = text(line.uuid).filter(|id| !id.is_empty());
            }
            if head.lineage.is_some() && head.session.is_some() && head.cwd.is_some() && !first_message {
                break;
            }
        }
        head
    }

    /// Whether the lines name `stem` as their session: what makes a file with a free name a session (E18, E26).
    pub fn names(&self, stem: &str) -> bool {
        self.session.as_ref().is_some_and(|session| session.as_str() == stem)
    }
}

fn text(raw: Option<&serde_json::value::RawValue>) -> Option<String> {
    serde_json::from_str::<String>(raw?.get()).ok()
}

/// What `agent-<id>.meta.json` says. Every field is optional (A143).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentMeta {
    /// The parent's tool call.
    pub tool_use_id: Option<String>,
    /// `Explore`, `general-purpose` …
    pub agent_type: Option<String>,
}

impl AgentMeta {
    /// Reads the text of a meta file. Anything unexpected is as if it were not there.
    pub fn parse(text: &str) -> Self {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
            return Self::default();
        };
        let field = |name: &str| value.get(name).and_then(|field| field.as_str()).map(str::to_owned);
        Self { tool_use_id: field("toolUseId"), agent_type: field("agentType") }
    }

    /// Reads the meta file beside an agent's transcript.
    pub fn beside(transcript: &Path) -> Self {
        let path = transcript.with_extension("meta.json");
        fs::read_to_string(path).map(|text| Self::parse(&text)).unwrap_or_default()
    }
}

/// Whether a folder is at `path`.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Whether anything is at `path`.
pub fn is_there(path: &Path) -> bool {
    path.exists()
}

/// Whether the folder at `path` can be listed.
pub fn can_list(path: &Path) -> bool {
    fs::read_dir(path).is_ok()
}

/// One file met by [`walk`].
#[derive(Clone, Debug)]
pub struct Found {
    /// Where.
    pub path: PathBuf,
    /// What, by place and name.
    pub kind: FileKind,
}

/// What a walk could not read.
#[derive(Debug)]
pub struct Unread {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Every transcript file below `dir`, in no particular order, and what could not be read on the way. A missing `dir`
/// is an empty one. Links are followed, each folder once; `skip_slug` is the observer's own folder.
pub fn walk(dir: &Path, skip_slug: Option<&str>) -> (Vec<Found>, Vec<Unread>) {
    let mut found = Vec::new();
    let mut unread = Vec::new();
    let mut seen: HashSet<PathBuf> = fs::canonicalize(dir).into_iter().collect();
    let mut todo = vec![(dir.to_path_buf(), 0u8)];
    while let Some((folder, depth)) = todo.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                unread.push(Unread { path: folder, error });
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(mut kind) = entry.file_type() else { continue };
            let linked = kind.is_symlink();
            if linked {
                let Ok(target) = fs::metadata(&path) else { continue };
                kind = target.file_type();
            }
            if kind.is_dir() {
                let name = entry.file_name();
                // Eight levels hold nested workflows; a chain of links may not run on for ever.
                let known = skip_slug.is_some_and(|slug| name.to_str() == Some(slug));
                if depth >= 8 || known || name == "tool-results" || name == "memory" {
                    continue;
                }
                if linked && !fs::canonicalize(&path).is_ok_and(|real| seen.insert(real)) {
                    continue;
                }
                todo.push((path, depth + 1));
            } else if kind.is_file() {
                let what = classify(&path);
                if what.is_transcript() {
                    found.push(Found { path, kind: what });
                }
            }
        }
    }
    (found, unread)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "22222222-0000-4000-8000-000000000002";

    #[test]
    fn a147_only_the_folders_handed_in_are_read() {
        let found = roots(&["/w/cc".into()], &[], Some(Path::new("/home/u")));
        assert_eq!(found.iter().map(Root::projects).collect::<Vec<_>>(), [PathBuf::from("/w/cc/projects")]);
        assert_eq!(roots(&["/w/cc".into(), "/w/cc".into()], &[], None).len(), 1);
    }

    #[test]
    fn a054_another_agents_folder_is_read_only_when_named() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".codex/sessions")).unwrap();
        let claude = home.path().join(".claude");
        let found = roots(std::slice::from_ref(&claude), &[], Some(home.path()));
        assert_eq!(found, [Root { path: claude.clone(), origin: RootOrigin::Claude }]);
        let named = roots(&[claude], &["~/.codex/sessions".into()], Some(home.path()));
        assert_eq!(named.last().map(Root::projects), Some(home.path().join(".codex/sessions")));
    }

    #[test]
    fn e18_set_aside_files_are_never_sessions() {
        for name in
            ["x.jsonl.orphaned-1759", "x.jsonl.superseded-1", "x.superseded-1.jsonl", "x.jsonl.bak", "x.bak.jsonl"]
        {
            let path = PathBuf::from("-w").join(name.replace('x', ID));
            assert_eq!(classify(&path), FileKind::SetAside, "{name}");
        }
        for name in ["sessions-index.json", "notes.txt", "memory/a.md"] {
            assert_eq!(classify(&Path::new("-w").join(name)), FileKind::Other, "{name}");
        }
        assert_eq!(classify(Path::new("-w/notes.jsonl")), FileKind::Candidate("notes".into()));
        assert!(Head::of(br#"{"sessionId":"S1","uuid":"u"}"#).names("S1"));
        assert!(!Head::of(br#"{"sessionId":"S1","uuid":"u"}"#).names("notes"));
    }

    #[test]
    fn e80_agents_lie_flat_nested_and_beside_journals() {
        let session = SessionId::from(ID);
        let at = |rest: &str| classify(&Path::new("/r/-w").join(rest));
        assert_eq!(at(&format!("{ID}.jsonl")), FileKind::Session(session.clone()));
        assert_eq!(at(&format!("{ID}/subagents/agent-a1.jsonl")), FileKind::Agent(session.clone(), "a1".into()));
        assert_eq!(at(&format!("{ID}/subagents/workflows/r1/agent-a2.jsonl")), FileKind::Agent(session, "a2".into()));
        assert_eq!(at(&format!("{ID}/subagents/workflows/r1/journal.jsonl")), FileKind::Journal);
        assert_eq!(at(&format!("{ID}/subagents/agent-a1.meta.json")), FileKind::Meta("a1".into()));
        assert_eq!(at("agent-9f.jsonl"), FileKind::FlatAgent("9f".into()));
        assert_eq!(at(&format!("{ID}/tool-results/x.jsonl")), FileKind::Other);
    }

    #[test]
    fn e75_inner_agents_are_skipped() {
        for id in ["acompact-fffbd0", "aprompt_suggestion-0a1b2c"] {
            assert_eq!(classify(Path::new(&format!("-w/{ID}/subagents/agent-{id}.jsonl"))), FileKind::InnerAgent);
        }
        assert!(Head::of(br#"{"type":"user","message":{"role":"user","content":"Warmup"},"uuid":"1"}"#).warmup);
    }

    #[test]
    fn a037_a_flat_agents_lines_name_its_session() {
        let head = Head::of(
            b"{\"isSidechain\":true,\"sessionId\":\"S1\",\"agentId\":\"9f\",\"uuid\":\"u1\",\"cwd\":\"/w\"}\n",
        );
        assert_eq!(head.session, Some("S1".into()));
    }

    #[test]
    fn a_fork_is_younger_than_the_history_it_copies() {
        let original = Head::of(b"{\"uuid\":\"u1\",\"timestamp\":\"2026-01-01T10:00:00Z\"}\n");
        let fork = Head::of(
            b"{\"type\":\"queue-operation\",\"timestamp\":\"2026-01-01T11:00:00Z\"}\n\
              {\"uuid\":\"u1\",\"timestamp\":\"2026-01-01T10:00:00Z\"}\n",
        );
        assert_eq!(original.lineage, fork.lineage);
        assert!(original.born < fork.born);
    }

    #[test]
    fn the_slug_is_as_the_client_makes_it() {
        assert_eq!(slug("/odd dir/.hid_den/Ü 1.0"), "-odd-dir--hid-den---1-0");
    }

    #[test]
    fn a143_an_empty_meta_file_says_nothing() {
        assert_eq!(AgentMeta::parse("{}"), AgentMeta::default());
        assert_eq!(AgentMeta::parse("[1"), AgentMeta::default());
        assert_eq!(AgentMeta::parse(r#"{"toolUseId":"toolu_1"}"#).tool_use_id.as_deref(), Some("toolu_1"));
    }

    #[test]
    fn a_walk_finds_transcripts_and_survives_loops() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("-w");
        fs::create_dir_all(project.join(format!("{ID}/subagents"))).unwrap();
        fs::create_dir_all(project.join(format!("{ID}/tool-results"))).unwrap();
        for name in [
            format!("{ID}.jsonl"),
            format!("{ID}/subagents/agent-a1.jsonl"),
            format!("{ID}/tool-results/b.jsonl"),
            "sessions-index.json".into(),
        ] {
            fs::write(project.join(name), b"").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path(), project.join("loop")).unwrap();
        let (found, unread) = walk(dir.path(), None);
        let mut kinds: Vec<_> = found.iter().map(|it| it.kind.is_agent()).collect();
        kinds.sort();
        assert!(unread.is_empty());
        assert_eq!(kinds, [false, true], "{found:?}");
        assert!(walk(&dir.path().join("missing"), None).0.is_empty());
    }
}
