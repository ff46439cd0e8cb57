//! What a span of turns came to: request, investigated, learned, completed, next steps, notes.
//!
//! Also the fallback when a model gives no summary twice (A020): then even a short closing answer is kept.

use crate::memory::Summary;
use crate::observer::batch::Batch;

use super::cues::{Cue, cues};
use super::judge::judge;
use super::phrases::for_text;
use super::prose::{self, Kind};
use super::request::{is_bare, request_line};
use super::sentence::{announces, sentences, substance, weight};
use super::title::{fit, headline, same};
use super::turn::split;
use super::work::digest;

/// The summary of `span`, oldest batch first; `None` when no turn of it was worth remembering.
pub fn summarise(span: &[Batch]) -> Option<Summary> {
    build(span, false)
}

/// The same when a summary was asked for and must not be lost: any substance is enough.
pub fn fallback_summary(span: &[Batch]) -> Option<Summary> {
    build(span, true)
}

fn build(span: &[Batch], lenient: bool) -> Option<Summary> {
    let mut requests: Vec<String> = Vec::new();
    let mut completed: Vec<String> = Vec::new();
    let mut learned: Vec<String> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    let mut next: Vec<String> = Vec::new();
    let mut read: Vec<String> = Vec::new();
    let (mut searches, mut web) = (0u32, 0u32);
    let mut worthwhile = false;
    for batch in span {
        for turn in split(batch) {
            let work = digest(&turn, batch);
            let verdict = judge(&turn, &work);
            worthwhile |= verdict.account.is_some() || verdict.decision;
            let request = request_line(turn.request.unwrap_or(""), turn.is_plan);
            if !request.is_empty() && !requests.iter().any(|it| same(it, &request)) {
                requests.push(fit(&request, 160));
            }
            for file in &work.read {
                if !read.contains(file) {
                    read.push(file.clone());
                }
            }
            searches += work.searches;
            web += work.web;
            let phrases = for_text(&format!("{request} {}", turn.answers.last().copied().unwrap_or("")));
            let closing = turn.closing();
            if let Some(sort) = verdict.account {
                for commit in &work.commits {
                    add(&mut completed, format!("{} ({})", prose::plain(&commit.subject), commit.hash));
                }
                if let Some(line) = headline(&turn, &work, sort, "").filter(|_| !closing.is_empty()) {
                    let list = if work.changed_something() { &mut completed } else { &mut learned };
                    add(list, line.text);
                }
            } else if lenient && let Some(line) = statement(closing) {
                add(&mut completed, line);
            }
            for block in prose::blocks(closing, 6_000).iter().filter(|block| block.kind != Kind::Heading) {
                for line in sentences(&block.text).into_iter().filter_map(substance) {
                    if cues(&line).has(Cue::Cause)
                        && weight(&line) >= 50
                        && learned.len() < 4
                        && !completed.iter().any(|it| same(it, &line))
                    {
                        add(&mut learned, fit(&line, 200));
                    }
                }
            }
            for (_, prompt) in &turn.words {
                let line = request_line(&prompt.text, false);
                if !line.is_empty() && !is_bare(&line) {
                    add(&mut notes, format!("{}{}{}", phrases.quotes.0, fit(&line, 160), phrases.quotes.1));
                }
            }
            if let Some(run) = work.still_failing() {
                add(&mut notes, format!("{}{}", phrases.still_failing, run.label));
            }
            // Only what the last turn leaves open is still open.
            next = next_steps(closing);
            if turn.interrupted && !request.is_empty() {
                next = vec![format!("{} ({})", fit(&request, 140), phrases.interrupted.trim_end_matches(['.', '。']))];
            }
        }
    }
    let empty = requests.is_empty() && completed.is_empty() && learned.is_empty();
    if empty || (!worthwhile && !lenient) || (lenient && completed.is_empty() && learned.is_empty() && notes.is_empty())
    {
        return None;
    }
    let investigated = investigated(&read, searches, web, &requests);
    let request =
        if requests.is_empty() { completed.first().cloned().unwrap_or_default() } else { joined(&requests, 3) };
    Some(Summary {
        request,
        investigated,
        learned: joined(&learned, 4),
        completed: joined(&completed, 6),
        next_steps: joined(&next, 3),
        notes: joined(&notes, 4),
    })
}

/// The first thing an answer says, manners aside; `done: cache fixed` says `Cache fixed`.
fn statement(answer: &str) -> Option<String> {
    let blocks = prose::blocks(answer, 4_000);
    let lines = blocks.iter().flat_map(|block| sentences(&block.text));
    lines.filter_map(substance).find(|line| weight(line) >= 10 && !announces(line)).map(|line| fit(&line, 160))
}

/// Items under a heading about what is left, and sentences that say so.
fn next_steps(answer: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut under = false;
    for block in prose::blocks(answer, 8_000) {
        match block.kind {
            Kind::Heading => under = cues(&block.text).has(Cue::Left),
            Kind::Item if under => add(&mut out, fit(&block.text, 160)),
            _ => {
                let lead_in = block.text.ends_with([':', '：']);
                under = lead_in && cues(&block.text).has(Cue::Left);
                for line in sentences(&block.text) {
                    if !lead_in && cues(line).has(Cue::Left) && !announces(line) && weight(line) >= 20 {
                        add(&mut out, fit(line, 160));
                    }
                }
            }
        }
    }
    out
}

fn investigated(read: &[String], searches: u32, web: u32, requests: &[String]) -> String {
    let phrases = for_text(&requests.join(" "));
    let mut parts: Vec<String> = Vec::new();
    if !read.is_empty() {
        let names: Vec<&str> = read.iter().take(6).map(String::as_str).collect();
        let mut line = names.join(phrases.comma);
        if read.len() > 6 {
            line.push_str(&phrases.more.replace('#', &(read.len() - 6).to_string()));
        }
        parts.push(line);
    }
    if searches + web > 0 {
        parts.push(phrases.searches.replace('#', &(searches + web).to_string()));
    }
    parts.join("; ")
}

fn add(list: &mut Vec<String>, line: String) {
    if !line.is_empty() && !list.iter().any(|it| same(it, &line)) {
        list.push(line);
    }
}

/// At most `max` of them, the newest kept, as one text.
fn joined(lines: &[String], max: usize) -> String {
    let from = lines.len().saturating_sub(max);
    lines[from..]
        .iter()
        .map(|line| line.trim_end_matches(['.', '。']))
        .map(prose::unquoted)
        .collect::<Vec<_>>()
        .join("; ")
}
