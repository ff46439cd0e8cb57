//! What a turn leaves in short statements: the user's words while it ran, errors, runs, files, commits.

use crate::transcript::event::PromptKind;

use super::phrases::Phrases;
use super::prose;
use super::purpose::Purpose;
use super::request::is_bare;
use super::sentence::weight;
use super::tell::{one_line, quoted};
use super::title::{Headline, fit, same};
use super::turn::Turn;
use super::work::{Run, Work};

/// Steering and refusals, as facts. With `apart` they get a memory of their own and only the refusals are named.
pub(super) fn words_of_the_user(turn: &Turn<'_>, phrases: &Phrases, apart: bool, facts: &mut Vec<String>) {
    for (_, prompt) in &turn.words {
        let line = fit(&one_line(&prompt.text), 200);
        if line.is_empty() || is_bare(&line) {
            continue;
        }
        match prompt.kind {
            PromptKind::Choice if !apart => facts.push(line),
            PromptKind::Rejection if !apart => {
                facts.push(format!("{}{}", phrases.refused_with, quoted(&line, phrases)))
            }
            PromptKind::Choice | PromptKind::Rejection => {}
            _ => facts.push(format!("{}{}", phrases.steered, quoted(&line, phrases))),
        }
    }
}

/// An item that only names a file we list anyway.
pub(super) fn is_about_files(sentence: &str, work: &Work) -> bool {
    let plain_words = sentence
        .split_whitespace()
        .filter(|word| !word.contains(['/', '.', '`']) && word.chars().any(char::is_alphabetic));
    if plain_words.count() < 2 && !sentence.chars().any(super::sentence::is_cjk) {
        return true;
    }
    weight(sentence) < 40
        && work.edited.iter().any(|file| {
            let name = file.path.rsplit('/').next().unwrap_or(&file.path);
            sentence.contains(name)
        })
}

/// How tests, builds, installs and releases came out; one line a command, first and last outcome.
pub(super) fn run_facts(work: &Work, phrases: &Phrases) -> Vec<String> {
    let mut lines = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for run in &work.runs {
        if run.open || seen.contains(&run.label.as_str()) || run.label.is_empty() {
            continue;
        }
        let all: Vec<&Run> = work.runs.iter().filter(|it| it.label == run.label && !it.open).collect();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { continue };
        seen.push(&run.label);
        let failed_once = all.iter().any(|it| !it.ok);
        let worth_telling = match run.purpose {
            Purpose::Test => true,
            Purpose::Build => failed_once,
            Purpose::Install | Purpose::Release => true,
            Purpose::Other | Purpose::Look => false,
        };
        if !worth_telling {
            continue;
        }
        let line = if first.ok == last.ok {
            format!("{}: {}", run.label, outcome(last, phrases))
        } else {
            format!("{}: {}{}{}", run.label, outcome(first, phrases), phrases.then, outcome(last, phrases))
        };
        lines.push((run.purpose, line));
    }
    // Tests first, at most three lines in all; the last runs say most.
    lines.sort_by_key(|(purpose, _)| *purpose as u8);
    lines.into_iter().take(3).map(|(_, line)| line).collect()
}

pub(super) fn outcome(run: &Run, phrases: &Phrases) -> String {
    let number = |pattern: &str, count: u32| pattern.replace('#', &count.to_string());
    match run.counts {
        Some(counts) if counts.failed > 0 && counts.passed > 0 => {
            format!(
                "{}{}{}",
                number(phrases.failed, counts.failed),
                phrases.comma,
                number(phrases.passed, counts.passed)
            )
        }
        Some(counts) if counts.failed > 0 => number(phrases.failed, counts.failed),
        Some(counts) if run.ok && counts.passed > 0 => number(phrases.passed, counts.passed),
        _ if run.ok => phrases.ok.to_owned(),
        _ => phrases.not_ok.to_owned(),
    }
}

pub(super) fn file_facts(work: &Work, phrases: &Phrases) -> Vec<String> {
    let mut facts = Vec::new();
    if !work.edited.is_empty() {
        let mut parts: Vec<String> = Vec::new();
        for file in work.edited.iter().take(6) {
            let mut notes: Vec<String> = Vec::new();
            if file.created {
                notes.push(phrases.new.to_owned());
            }
            if file.added > 0 || file.removed > 0 {
                notes.push(match (file.added, file.removed) {
                    (added, 0) => format!("+{added}"),
                    (0, removed) => format!("−{removed}"),
                    (added, removed) => format!("+{added} −{removed}"),
                });
            }
            parts.push(if notes.is_empty() {
                file.path.clone()
            } else {
                format!("{} ({})", file.path, notes.join(" "))
            });
        }
        let mut line = format!("{}{}", phrases.changed, parts.join(phrases.comma));
        if work.edited.len() > 6 {
            line.push_str(&phrases.more.replace('#', &(work.edited.len() - 6).to_string()));
        }
        facts.push(line);
    }
    for (from, to) in work.moved.iter().take(4) {
        facts.push(format!("{}{from} → {to}", phrases.moved));
    }
    facts
}

/// Commits, pull requests, versions.
pub(super) fn record_facts(work: &Work, phrases: &Phrases, line: &Headline, facts: &mut Vec<String>) {
    for commit in work.commits.iter().rev().take(4).rev() {
        // The title may already be its subject.
        let subject = prose::plain(&commit.subject);
        let told = same(&subject, &line.sentence) || subject.ends_with(&line.sentence) || same(&subject, &line.text);
        let on = if commit.branch == "detached HEAD" { String::new() } else { format!(" ({})", commit.branch) };
        facts.push(if told {
            format!("{}{}{on}", phrases.commit, commit.hash)
        } else {
            format!("{}{}{on}: {subject}", phrases.commit, commit.hash)
        });
    }
    for url in work.pull_requests.iter().take(2) {
        facts.push(format!("{}{url}", phrases.pull_request));
    }
    for version in work.versions.iter().take(3) {
        facts.push(format!("{}{version}", phrases.version));
    }
}

/// Drops facts that say what the title, the subtitle or an earlier fact says.
pub(super) fn dedupe(facts: &mut Vec<String>, told: &[&str]) {
    let mut kept: Vec<String> = Vec::with_capacity(facts.len());
    for fact in facts.drain(..) {
        if !told.iter().any(|it| same(it, &fact)) && !kept.iter().any(|it| same(it, &fact)) {
            kept.push(fact);
        }
    }
    *facts = kept;
}
