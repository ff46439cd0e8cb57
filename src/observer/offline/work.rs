//! What a turn's tools did, as a digest: files changed, commands run and how they came out, commits, looks around,
//! refusals. Counts come from results, never from what somebody said.

use std::collections::HashMap;

use crate::gate::evidence::{Roots, segments, subject, text_input};
use crate::memory::EventKey;
use crate::observer::batch::Batch;
use crate::transcript::event::{Body, ToolCall, ToolOutcome};

use super::outcome_lines::{Commit, Counts, commits, first_error, pull_requests, test_counts};
use super::purpose::{Purpose, purpose_of};
use super::turn::Turn;

/// A file that was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// Path as kept.
    pub path: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The turn made it.
    pub created: bool,
}

/// A command that ran, and how it came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What it is for.
    pub purpose: Purpose,
    /// The command, made short.
    pub label: String,
    /// Whether it came out well.
    pub ok: bool,
    /// It was started in the background, or never came back.
    pub open: bool,
    /// Tests it counted.
    pub counts: Option<Counts>,
    /// First error of a failed run.
    pub error: Option<String>,
}

/// The digest.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Files changed, in order of first change.
    pub edited: Vec<Edited>,
    /// Files moved: from, to.
    pub moved: Vec<(String, String)>,
    /// Commands for tests, builds, installs, releases and others, in order.
    pub runs: Vec<Run>,
    /// Commits made.
    pub commits: Vec<Commit>,
    /// Pull requests opened or named by a command that opens them.
    pub pull_requests: Vec<String>,
    /// Titles given to pull requests.
    pub pull_request_titles: Vec<String>,
    /// `name old → new` or `name new`.
    pub versions: Vec<String>,
    /// Something was pushed.
    pub pushed: bool,
    /// Files read, in order.
    pub read: Vec<String>,
    /// Searches in files.
    pub searches: u32,
    /// Looks at the web.
    pub web: u32,
    /// Commands that only looked.
    pub looks: u32,
    /// Helper agents started.
    pub helpers: u32,
    /// Other calls that may have done something (MCP and unknown tools).
    pub others: u32,
    /// Calls refused by rule or by the user: tool and what it was about.
    pub refused: Vec<(EventKey, String)>,
    /// First errors of tools, commands that only looked aside.
    pub errors: Vec<String>,
    /// How paths are told.
    pub roots: Roots,
}

impl Work {
    /// Files were changed, moved, committed, pushed, installed or released.
    pub fn changed_something(&self) -> bool {
        !self.edited.is_empty() || !self.moved.is_empty() || self.recorded_something()
    }

    /// Something left the working tree: commit, push, pull request, release.
    pub fn recorded_something(&self) -> bool {
        !self.commits.is_empty()
            || self.pushed
            || !self.pull_requests.is_empty()
            || self
                .runs
                .iter()
                .any(|run| run.ok && !run.open && matches!(run.purpose, Purpose::Release | Purpose::Install))
    }

    /// It looked at something.
    pub fn looked(&self) -> bool {
        !self.read.is_empty()
            || self.searches + self.web + self.looks + self.helpers + self.others > 0
            || !self.runs.is_empty()
    }

    /// The last test run, if it failed.
    pub fn still_failing(&self) -> Option<&Run> {
        let last = self.runs.iter().rev().find(|run| run.purpose == Purpose::Test && !run.open)?;
        (!last.ok).then_some(last)
    }

    /// A test run failed and a later one came out well.
    pub fn failed_then_passed(&self) -> bool {
        let tests = || self.runs.iter().filter(|run| run.purpose == Purpose::Test && !run.open);
        let first_failure = tests().position(|run| !run.ok);
        first_failure.is_some_and(|at| tests().skip(at).last().is_some_and(|run| run.ok))
    }

    /// Sum of lines added and removed.
    pub fn lines(&self) -> (u32, u32) {
        self.edited
            .iter()
            .fold((0, 0), |sum, file| (sum.0.saturating_add(file.added), sum.1.saturating_add(file.removed)))
    }
}

/// Digests the tool calls of `turn`.
pub fn digest(turn: &Turn<'_>, batch: &Batch) -> Work {
    let mut roots = Roots::of(batch.project.as_ref(), batch.cwd.as_deref());
    if let Some(cwd) = turn.events.iter().find_map(|event| event.cwd.as_deref()) {
        roots.add_all(&Roots::of(batch.project.as_ref(), Some(cwd)));
    }
    let mut work = Work { roots, ..Work::default() };
    let mut at: HashMap<String, usize> = HashMap::new();
    for event in &turn.events {
        match &event.body {
            Body::Tool(call) => {
                let cwd = event.cwd.as_deref();
                if call.outcome == ToolOutcome::Denied {
                    work.refused.push((event.key.clone(), about(call, &work.roots, cwd)));
                    continue;
                }
                work.take(call, cwd, &mut at);
            }
            Body::PullRequest(url) if !work.pull_requests.contains(url) => work.pull_requests.push(url.clone()),
            _ => {}
        }
    }
    work
}

/// `Edit src/a.rs`, `Bash make deploy`: a call in few words.
fn about(call: &ToolCall, roots: &Roots, cwd: Option<&str>) -> String {
    let subject = match call.name.as_str() {
        "Bash" => text_input(call, "command").map(|command| label_of(&command, roots)),
        _ => subject(call).map(|path| roots.normalise(&path, cwd)),
    };
    match subject {
        Some(subject) if !subject.is_empty() => format!("{} {subject}", call.name),
        _ => call.name.clone(),
    }
}

impl Work {
    fn take(&mut self, call: &ToolCall, cwd: Option<&str>, at: &mut HashMap<String, usize>) {
        let ok = call.outcome == ToolOutcome::Ok;
        match call.name.as_str() {
            "Bash" | "PowerShell" => self.command(call, cwd),
            "Read" | "NotebookRead" => {
                if let Some(path) = subject(call).filter(|_| ok).map(|path| self.roots.normalise(&path, cwd))
                    && !self.read.contains(&path)
                {
                    self.read.push(path);
                }
            }
            "Grep" | "Glob" | "LS" | "LSP" => self.searches += 1,
            "WebFetch" | "WebSearch" => self.web += 1,
            "Task" | "Agent" => self.helpers += 1,
            _ => {
                let touched = crate::gate::evidence::of_call(call);
                if touched.modified.is_empty() {
                    self.others += u32::from(touched.unknown || !touched.read.is_empty());
                    if call.outcome == ToolOutcome::Failed && touched.read.is_empty() {
                        // A refused match or a stale file is the agent's stumble, not a finding.
                        self.others += 1;
                    }
                }
                let alone = touched.modified.len() == 1;
                for path in touched.modified {
                    let path = self.roots.normalise(&path, cwd);
                    if path.is_empty() {
                        continue;
                    }
                    let index = *at.entry(path.clone()).or_insert_with(|| {
                        self.edited.push(Edited { path, ..Edited::default() });
                        self.edited.len() - 1
                    });
                    let file = &mut self.edited[index];
                    if alone {
                        let (added, removed) = call.facts.lines_changed.unwrap_or_else(|| lines_of(call));
                        file.added = file.added.saturating_add(added);
                        file.removed = file.removed.saturating_add(removed);
                        file.created |= call.facts.created;
                        self.version(call);
                    }
                }
            }
        }
    }

    fn command(&mut self, call: &ToolCall, cwd: Option<&str>) {
        let Some(command) = text_input(call, "command") else { return };
        let programs = segments(&command);
        let failed = call.outcome == ToolOutcome::Failed || call.facts.exit_code.is_some_and(|code| code != 0);
        let open = matches!(call.outcome, ToolOutcome::Started | ToolOutcome::Interrupted | ToolOutcome::Orphan);
        let leading = programs.iter().map(purpose_of).min_by_key(|purpose| *purpose as u8).unwrap_or(Purpose::Look);
        // `cat log | grep x` and the like: the weightiest part of a line names it.
        let has = |name: &str, verb: &str| {
            programs.iter().any(|it| it.name() == name && it.words.iter().any(|word| word == verb))
        };
        if !failed && !open {
            if has("git", "commit") {
                for commit in commits(&call.output) {
                    if !self.commits.contains(&commit) {
                        self.commits.push(commit);
                    }
                }
            }
            if has("git", "push") && !call.output.contains("[rejected]") {
                self.pushed = true;
            }
            if has("gh", "pr") && (has("gh", "create") || has("gh", "merge")) || has("glab", "mr") {
                for url in pull_requests(&call.output) {
                    if !self.pull_requests.contains(&url) {
                        self.pull_requests.push(url);
                    }
                }
            }
            for program in
                programs.iter().filter(|it| it.name() == "gh" && it.word(1) == "pr" && it.word(2) == "create")
            {
                let title =
                    program.words.windows(2).find(|pair| pair[0] == "--title" || pair[0] == "-t").map(|pair| &pair[1]);
                self.pull_request_titles.extend(title.cloned());
            }
            for program in &programs {
                if let ("git", "mv") | ("mv", _) = (program.name(), program.word(1))
                    && !program.expands
                {
                    let files: Vec<&str> = program.operands().filter(|word| *word != "mv").collect();
                    if let [from, to] = files[..] {
                        self.moved.push((self.roots.normalise(from, cwd), self.roots.normalise(to, cwd)));
                    }
                }
            }
        }
        if leading == Purpose::Look {
            self.looks += 1;
            return;
        }
        let program = programs.iter().find(|it| purpose_of(it) == leading);
        let label = program.map_or_else(String::new, |program| short(&program.words.join(" "), &self.roots));
        let counts = (leading == Purpose::Test).then(|| test_counts(&call.output)).flatten();
        // A pipe hides the exit code of a test run; its own words tell.
        let told_failure =
            counts.is_some_and(|counts| counts.failed > 0) || (leading == Purpose::Test && says_failed(&call.output));
        let ok = !failed && !told_failure;
        let error = (!ok && !open).then(|| first_error(&call.output)).flatten().map(|line| self.roots.shorten(&line));
        if let Some(error) = &error
            && !self.errors.contains(error)
        {
            self.errors.push(error.clone());
        }
        self.runs.push(Run { purpose: leading, label, ok, open, counts, error });
    }

    /// A version that an edit of a manifest changes.
    fn version(&mut self, call: &ToolCall) {
        let Some(path) = subject(call) else { return };
        let name = path.rsplit(['/', '\\']).next().unwrap_or("");
        if !matches!(
            name,
            "Cargo.toml" | "package.json" | "pyproject.toml" | "setup.py" | "pom.xml" | "mix.exs" | "composer.json"
        ) {
            return;
        }
        let (Some(old), Some(new)) = (text_input(call, "old_string"), text_input(call, "new_string")) else { return };
        let (old, new) = (versions_in(&old), versions_in(&new));
        for (name, to) in &new {
            if let Some((_, from)) = old.iter().find(|(other, from)| other == name && from != to) {
                let line = format!("{name} {from} → {to}");
                if !self.versions.contains(&line) {
                    self.versions.push(line);
                }
            }
        }
    }
}

/// `name = "1.2.3"`, `"name": "^1.2.3"`, `name = { version = "1.2" }` lines.
fn versions_in(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.lines().take(60) {
        let Some((name, value)) = line.split_once(['=', ':']) else { continue };
        let name = name.trim().trim_matches(['"', '\'']);
        let version = value.split(['"', '\'']).find(|part| {
            let part = part.trim_start_matches(['^', '~', '=', 'v', '>', '<', ' ']);
            part.starts_with(|ch: char| ch.is_ascii_digit()) && part.contains('.') && part.len() < 30
        });
        if let Some(version) = version
            && !name.is_empty()
            && name.len() < 60
            && !name.contains(' ')
        {
            found.push((name.to_owned(), version.trim().to_owned()));
        }
    }
    found
}

/// Lines added and removed by the call's own texts, common ends aside, for clients that tell no patch.
fn lines_of(call: &ToolCall) -> (u32, u32) {
    let count = |text: &str| u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    match (text_input(call, "old_string"), text_input(call, "new_string")) {
        (Some(old), Some(new)) => {
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
            let rest = |lines: &[&str]| u32::try_from(lines.len() - head - tail).unwrap_or(u32::MAX);
            (rest(&new), rest(&old))
        }
        // What a file held before it was written over is not told.
        _ => (text_input(call, "content").map_or(0, |text| count(&text)), 0),
    }
}

fn says_failed(output: &str) -> bool {
    output.contains("test result: FAILED")
        || output.contains("--- FAIL:")
        || output
            .lines()
            .rev()
            .take(40)
            .any(|line| line.starts_with("FAIL\t") || line.trim() == "FAIL" || line.starts_with("FAILED "))
}

/// The command that names a command line.
fn label_of(command: &str, roots: &Roots) -> String {
    let programs = segments(command);
    let program = programs.iter().min_by_key(|program| purpose_of(program) as u8);
    program.map_or_else(String::new, |program| short(&program.words.join(" "), roots))
}

/// A command on one line, at most sixty characters, without the way to the project.
fn short(command: &str, roots: &Roots) -> String {
    let line = crate::memory::safe_line(command);
    crate::gate::correct::cut(&roots.shorten(&line), 60)
}
