//! A home for a test: no HOME of the person who runs it, a fixed time and zone, and the program itself.
#![allow(clippy::disallowed_methods, reason = "tests make files and run the program")]
#![allow(dead_code, reason = "not every helper is used by every subject")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cmem::memory::{MemoryId, NewMemory, ProjectRef, Timestamp};
use cmem::store::Store;
use cmem::store::api::{Access, Commit};

/// The present of every test.
pub const NOW: &str = "2026-03-02T12:00:00Z";

/// A home of its own, gone with the value.
pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    /// An empty home.
    pub fn new() -> Self {
        let home = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.claude().join("projects")).unwrap();
        home
    }

    /// A path inside.
    pub fn path(&self, inside: &str) -> PathBuf {
        self.dir.path().join(inside)
    }

    /// Where cmem keeps its files.
    pub fn cmem(&self) -> PathBuf {
        self.path("cmem")
    }

    /// Where Claude Code keeps its own.
    pub fn claude(&self) -> PathBuf {
        self.path("claude")
    }

    /// The program, with nothing of the surrounding environment but PATH.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cmem"));
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path())
            .env("CMEM_HOME", self.cmem())
            .env("CLAUDE_CONFIG_DIR", self.claude())
            .env("CMEM_NOW", NOW)
            .env("CMEM_OBSERVER_PROVIDER", "offline")
            .env("TZ", "UTC")
            .current_dir(self.dir.path());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// Writes a transcript: `slug/session.jsonl`.
    pub fn transcript(&self, place: &str, lines: &str) -> PathBuf {
        let path = self.claude().join("projects").join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, lines).unwrap();
        path
    }

    /// Writes memories as the collector would.
    pub fn remember(&self, memories: Vec<NewMemory>) -> Vec<MemoryId> {
        fs::create_dir_all(self.cmem()).unwrap();
        let now: Timestamp = NOW.parse().unwrap();
        let mut store = Store::open(&self.cmem().join("cmem.db"), Access::ReadWrite, now).unwrap();
        let recorded = store.record(&Commit { memories, now: Some(now), ..Commit::default() }).unwrap();
        recorded.ids.into_iter().flatten().collect()
    }

    /// Every file below, relative, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        walk(self.dir.path(), &mut |path| {
            files.push(path.strip_prefix(self.dir.path()).unwrap().display().to_string());
        });
        files.sort();
        files
    }
}

/// Every file below `dir`.
pub fn walk(dir: &Path, each: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { walk(&path, each) } else { each(&path) }
    }
}

/// What a run of the program came to.
#[derive(Debug)]
pub struct Run {
    /// Exit code.
    pub code: i32,
    /// Data.
    pub out: String,
    /// Talk.
    pub err: String,
}

impl Run {
    /// From an output.
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Fails the test unless the program succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A memory of a project at a time.
pub fn memory(title: &str, root: &str, at: &str) -> NewMemory {
    NewMemory {
        type_id: "discovery".into(),
        title: title.into(),
        narrative: format!("{title}, told at length."),
        project: Some(ProjectRef {
            root: root.into(),
            name: root.rsplit('/').next().unwrap_or_default().into(),
            worktree: None,
        }),
        created_at: at.parse().unwrap(),
        ..NewMemory::default()
    }
}

/// The test data shared between projects, if it is there. Tests that need it say so when it is not.
pub fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let named = std::env::var_os("CMEM_SHARED").map(PathBuf::from);
    let found = named.into_iter().chain([beside]).find(|path| path.join("corpus").is_dir());
    if found.is_none() {
        eprintln!("skipped: the shared test data is not here (CMEM_SHARED, or ../shared beside the project)");
    }
    found
}

/// A transcript being written, in the notation of the field reports: fresh uuids, each line a second after the last.
pub struct Script {
    session: String,
    /// Working directory of the lines that follow; `None` leaves the key out.
    pub cwd: Option<String>,
    /// Fields of the lines that follow, beside the usual ones.
    pub extra: serde_json::Map<String, serde_json::Value>,
    second: i64,
    lines: String,
}

impl Script {
    /// An empty transcript of a session that works in `cwd`.
    pub fn new(session: &str, cwd: &str) -> Self {
        Self {
            session: session.into(),
            cwd: Some(cwd.into()),
            extra: serde_json::Map::new(),
            second: "2026-03-01T10:00:00Z".parse::<Timestamp>().unwrap().as_second(),
            lines: String::new(),
        }
    }

    /// The person says something.
    pub fn user(&mut self, text: &str) -> &mut Self {
        self.line("user", serde_json::json!({"message": {"role": "user", "content": text}}))
    }

    /// A tool is called and answers.
    pub fn tool(&mut self, id: &str, name: &str, input: serde_json::Value, output: &str) -> &mut Self {
        let call = serde_json::json!({"type": "tool_use", "id": id, "name": name, "input": input});
        self.line(
            "assistant",
            serde_json::json!({"message": {"id": format!("msg_{id}"), "role": "assistant", "content": [call]}}),
        );
        let result = serde_json::json!({"type": "tool_result", "tool_use_id": id, "content": output});
        self.line("user", serde_json::json!({"message": {"role": "user", "content": [result]}}))
    }

    /// The model ends the turn with words.
    pub fn answer(&mut self, text: &str) -> &mut Self {
        let block = serde_json::json!({"type": "text", "text": text});
        let id = format!("msg_{}", self.second);
        self.line(
            "assistant",
            serde_json::json!({"message": {"id": id, "role": "assistant", "content": [block], "stop_reason": "end_turn"}}),
        )
    }

    /// Any line; `fields` win over the usual ones.
    pub fn line(&mut self, kind: &str, fields: serde_json::Value) -> &mut Self {
        self.second += 1;
        let uuid = format!("{:08x}-0000-4000-8000-{:012x}", fnv(&self.session) as u32, self.second);
        let mut line = serde_json::json!({
            "type": kind, "sessionId": self.session, "version": "2.1.200", "isSidechain": false, "gitBranch": "main",
            "uuid": uuid, "timestamp": Timestamp::from_second(self.second).unwrap().to_string(),
        });
        let object = line.as_object_mut().unwrap();
        object.extend(self.cwd.iter().map(|cwd| ("cwd".to_owned(), cwd.clone().into())));
        object.extend(self.extra.clone());
        object.extend(fields.as_object().unwrap().clone());
        self.lines.push_str(&line.to_string());
        self.lines.push('\n');
        self
    }

    /// The lines so far.
    pub fn text(&self) -> &str {
        &self.lines
    }
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Runs git where it is there, without anybody's configuration; `None` where it is not.
pub fn git(dir: &Path, args: &[&str]) -> Option<()> {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env_remove("GIT_DIR")
        .output()
        .ok()?;
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(())
}
