//! Whether a turn is worth remembering, and as what.
//!
//! Evidence first: what was changed and how it came out; then commit prefixes, which somebody chose; then hints in
//! words. Routine (listings, status, short answers, heartbeats, a push by itself) gives nothing. The user's own
//! decisions and corrections always give something.

use crate::transcript::event::PromptKind;

use super::cues::{Cue, Cues, cues};
use super::prose::{self, Kind};
use super::sentence::{announces, is_routine_result, sentences, substance, weight};
use super::turn::Turn;
use super::work::Work;

/// What kind of memory a turn makes; the ids of the `code` mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Something was broken and was mended.
    Bugfix,
    /// Something new.
    Feature,
    /// Another shape.
    Refactor,
    /// Settings, documents, dependencies.
    Change,
    /// Something was found out.
    Discovery,
    /// One way was chosen.
    Decision,
    /// An open weakness.
    SecurityAlert,
    /// Something about safety.
    SecurityNote,
}

impl Sort {
    /// The mode's word for it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Bugfix => "bugfix",
            Self::Feature => "feature",
            Self::Refactor => "refactor",
            Self::Change => "change",
            Self::Discovery => "discovery",
            Self::Decision => "decision",
            Self::SecurityAlert => "security_alert",
            Self::SecurityNote => "security_note",
        }
    }
}

/// What a turn gives.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// An account of the work or finding.
    pub account: Option<Sort>,
    /// The user's choices and corrections deserve a memory of their own.
    pub decision: bool,
    /// Hints in the request.
    pub asked: Cues,
    /// Hints in what was answered.
    pub answered: Cues,
}

/// How much of a request is read for hints: what follows is mostly pasted.
const REQUEST_READ: usize = 600;
/// How much of an answer is read.
pub const ANSWER_READ: usize = 6_000;
/// A finding takes about two sentences; less is a short answer.
const SUBSTANTIAL: usize = 170;
/// Knowledge that needed no look at anything must be a real explanation to be kept.
const EXPLANATION: usize = 450;

/// Judges `turn`.
pub fn judge(turn: &Turn<'_>, work: &Work) -> Verdict {
    let request = turn.request.unwrap_or("");
    let asked = cues(head(request, if turn.is_plan { 200 } else { REQUEST_READ }));
    let told = turn.answers.last().copied().unwrap_or("");
    let answered = cues(head(told, ANSWER_READ));
    let own_words = turn.words.iter().any(|(_, prompt)| {
        matches!(prompt.kind, PromptKind::Choice | PromptKind::Rejection) && !prompt.text.trim().is_empty()
    });
    let account = account(turn, work, &asked, &answered);
    let steered = turn.words.iter().any(|(_, prompt)| !prompt.text.trim().is_empty());
    Verdict { account, decision: own_words || (account.is_none() && steered), asked, answered }
}

fn account(turn: &Turn<'_>, work: &Work, asked: &Cues, answered: &Cues) -> Option<Sort> {
    let request = turn.request.unwrap_or("");
    let changed = !work.moved.is_empty()
        || work.edited.iter().any(|file| !is_scratch(&file.path))
        || !work.commits.is_empty()
        || !work.pull_requests.is_empty()
        || work.runs.iter().any(|run| {
            run.ok
                && !run.open
                && matches!(run.purpose, super::purpose::Purpose::Release | super::purpose::Purpose::Install)
        });
    let short_request = weight(request) < 700;
    let decides = asked.has(Cue::Decide) && short_request && !turn.is_plan;
    let substance = closing_weight(turn.closing());
    let about_weakness = asked.has(Cue::Weakness) || answered.of(Cue::Weakness) >= 2;
    if changed {
        if about_weakness {
            return Some(Sort::SecurityNote);
        }
        return Some(sort_of_change(turn, work, asked, answered, decides));
    }
    // What a helper only read comes back in the answer of the agent that sent it.
    if turn.helper_only {
        return None;
    }
    let looked = work.looked();
    if about_weakness && looked && substance >= SUBSTANTIAL {
        return Some(Sort::SecurityAlert);
    }
    if decides {
        return Some(Sort::Decision);
    }
    if turn.is_plan && !turn.interrupted && substance > 0 {
        return Some(Sort::Decision);
    }
    if looked && substance >= SUBSTANTIAL {
        return Some(Sort::Discovery);
    }
    let asks = asked.has(Cue::Explain) || request.contains(['?', '？']);
    if !looked && substance >= EXPLANATION && asks {
        return Some(Sort::Discovery);
    }
    // Cut short, but the cause was found on the way.
    if turn.closing().is_empty() && looked && finding_on_the_way(turn).is_some() {
        return Some(Sort::Discovery);
    }
    None
}

/// The latest sentence that names a cause in a turn without a closing answer. The latest, because early theories
/// are often dropped again (A019).
pub fn finding_on_the_way(turn: &Turn<'_>) -> Option<String> {
    turn.answers.iter().rev().take(12).find_map(|answer| {
        prose::blocks(answer, ANSWER_READ)
            .iter()
            .filter(|block| !matches!(block.kind, Kind::Heading | Kind::Lines))
            .flat_map(|block| sentences(&block.text))
            .filter_map(substance)
            .find(|line| weight(line) >= 60 && cues(line).has(Cue::Cause) && !line.ends_with([':', '：']))
    })
}

/// Length of what the closing answer says, code, tables and manners aside.
pub fn closing_weight(answer: &str) -> usize {
    prose::blocks(answer, ANSWER_READ)
        .iter()
        .filter(|block| block.kind != Kind::Lines)
        .flat_map(|block| sentences(&block.text))
        .filter(|line| !announces(line) && !is_routine_result(line))
        .map(weight)
        .sum()
}

fn sort_of_change(turn: &Turn<'_>, work: &Work, asked: &Cues, answered: &Cues, decides: bool) -> Sort {
    let mut bugfix = 0.0f32;
    let mut feature = 0.0f32;
    let mut refactor = 0.0f32;
    let mut change = 0.5f32;
    let some = |cues: &Cues, cue| f32::from(cues.of(cue).min(2));

    bugfix += some(asked, Cue::Fix) * 1.7 + some(answered, Cue::Fix) * 0.6;
    if work.failed_then_passed() {
        bugfix += 1.2;
    }
    if answered.has(Cue::Cause) && asked.has(Cue::Fix) {
        bugfix += 1.0;
    }
    feature += some(asked, Cue::Feature) * 1.2 + some(answered, Cue::Feature) * 0.6;
    let source_made = work.edited.iter().filter(|file| file.created && is_source(&file.path)).count();
    feature += 1.3 * source_made.min(3) as f32;
    refactor += some(asked, Cue::Refactor) * 1.7 + some(answered, Cue::Refactor) * 0.5;
    refactor += 1.5 * work.moved.len().min(2) as f32;
    let (added, removed) = work.lines();
    if removed > 20 && removed > added * 2 {
        refactor += 1.0;
    }
    change += some(asked, Cue::Chore) * 0.8;
    let paths: Vec<&str> = work.edited.iter().map(|file| file.path.as_str()).collect();
    if !paths.is_empty() && paths.iter().all(|path| !is_source(path)) && work.moved.is_empty() {
        change += 4.0;
    }
    if !work.versions.is_empty() && paths.iter().all(|path| !is_source(path)) {
        change += 1.0;
    }
    if paths.is_empty() && work.moved.is_empty() {
        change += 2.0; // committed, installed or released what was there
    }
    for commit in &work.commits {
        match commit_kind(&commit.subject) {
            Some("fix" | "bugfix" | "hotfix") => bugfix += 4.0,
            Some("feat" | "feature") => feature += 4.0,
            Some("refactor" | "perf" | "cleanup") => refactor += 4.0,
            Some("docs" | "chore" | "ci" | "build" | "style" | "test" | "tests" | "release" | "deps") => change += 3.0,
            _ => {
                let subject = cues(&commit.subject);
                bugfix += some(&subject, Cue::Fix) * 0.8;
                feature += some(&subject, Cue::Feature) * 0.6;
                refactor += some(&subject, Cue::Refactor) * 0.6;
            }
        }
    }
    if turn.is_plan {
        feature += 0.7;
    }
    let decision = if decides { 3.2 } else { 0.0 };
    let ranked = [
        (decision, Sort::Decision),
        (bugfix, Sort::Bugfix),
        (feature, Sort::Feature),
        (refactor, Sort::Refactor),
        (change, Sort::Change),
    ];
    let mut best = ranked[0];
    for candidate in &ranked[1..] {
        if candidate.0 > best.0 {
            best = *candidate;
        }
    }
    best.1
}

/// `fix` of `fix(login)!: stop the race`.
pub fn commit_kind(subject: &str) -> Option<&str> {
    let (kind, rest) = subject.split_once(':')?;
    let kind = kind.trim_end_matches('!');
    let word = kind.split('(').next().unwrap_or(kind);
    let fits = !word.is_empty()
        && word.len() <= 10
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && (kind == word || kind.ends_with(')'))
        && rest.starts_with(' ');
    fits.then_some(word)
}

/// Code, by its name's ending. Documents, settings and data are not.
pub fn is_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((_, ending)) = name.rsplit_once('.') else { return matches!(name, "Makefile" | "Dockerfile") };
    if path.contains(".github/") {
        return false;
    }
    matches!(
        ending,
        "rs" | "go"
            | "py"
            | "js"
            | "jsx"
            | "ts"
            | "tsx"
            | "mjs"
            | "cjs"
            | "java"
            | "kt"
            | "kts"
            | "swift"
            | "c"
            | "h"
            | "cc"
            | "cpp"
            | "hpp"
            | "cs"
            | "rb"
            | "php"
            | "ex"
            | "exs"
            | "erl"
            | "hs"
            | "ml"
            | "scala"
            | "clj"
            | "lua"
            | "sh"
            | "bash"
            | "zsh"
            | "ps1"
            | "sql"
            | "vue"
            | "svelte"
            | "css"
            | "scss"
            | "html"
            | "heex"
            | "dart"
            | "zig"
            | "r"
            | "jl"
            | "pl"
            | "proto"
            | "ipynb"
            | "tf"
    )
}

/// Files that nobody keeps.
fn is_scratch(path: &str) -> bool {
    path.contains("/.claude/plans/")
        || path.starts_with("/tmp/")
        || path.starts_with("/private/tmp/")
        || path.starts_with("/var/folders/")
}

fn head(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
