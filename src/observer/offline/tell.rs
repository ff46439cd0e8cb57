//! Puts a turn into words: title, subtitle, facts, narrative, concepts. Nothing is told twice, nothing is claimed
//! that was not seen.

use crate::memory::{Draft, safe_line};
use crate::mode::Mode;

use super::cues::{Cue, cues};
use super::decision::decision;
use super::facts::{dedupe, file_facts, is_about_files, outcome, record_facts, run_facts, words_of_the_user};
use super::judge::{Sort, Verdict};
use super::phrases::{Phrases, for_text};
use super::prose::{self, Kind};
use super::request::{looks_pasted, request_line, shorten_links, slash_arguments};
use super::sentence::{capitalised, has_name, weight};
use super::title::{Headline, closing_sentences, fit, headline, same};
use super::turn::Turn;
use super::work::Work;

/// Facts in one memory at most.
const FACTS: usize = 10;
/// Longest request told in the narrative, as a reader feels it.
const REQUEST: usize = 420;
/// Longest part of the closing answer told in the narrative.
pub(super) const STORY: usize = 620;

/// The drafts that `verdict` asks for.
pub fn drafts(turn: &Turn<'_>, work: &Work, verdict: &Verdict, mode: &Mode) -> Vec<Draft> {
    let mut out = Vec::new();
    if let Some(sort) = verdict.account
        && let Some(draft) = account(turn, work, verdict, sort)
    {
        out.push(draft);
    }
    if verdict.decision
        && let Some(draft) = decision(turn, work, out.is_empty())
    {
        out.push(draft);
    }
    for draft in &mut out {
        settle(draft, mode);
    }
    out
}

/// Only words of the mode are given; another mode's neutral type stands for what it does not know.
fn settle(draft: &mut Draft, mode: &Mode) {
    if mode.type_id(&draft.raw_type).1.is_some() {
        draft.raw_type.clear();
    }
    draft.concepts.retain(|word| mode.concepts.iter().any(|concept| concept.id == *word));
    draft.title = safe_line(&prose::unquoted(&draft.title));
    draft.subtitle = prose::unquoted(&draft.subtitle);
    draft.narrative = prose::unquoted(&draft.narrative);
    for fact in &mut draft.facts {
        *fact = prose::unquoted(fact);
    }
    draft.facts.truncate(FACTS);
}

fn account(turn: &Turn<'_>, work: &Work, verdict: &Verdict, sort: Sort) -> Option<Draft> {
    let raw_request = turn.request.unwrap_or("");
    let request = request_line(raw_request, turn.is_plan);
    let phrases = for_text(&format!("{request} {}", turn.answers.last().copied().unwrap_or("")));
    let line = headline(turn, work, sort, &request).or_else(|| files_headline(work, phrases))?;
    let closing = turn.closing();
    let mut told: Vec<String> = vec![line.sentence.clone(), line.text.clone()];

    let says_something = weight(&request) >= 16
        && (request.split_whitespace().count() > 2 || request.chars().any(super::sentence::is_cjk));
    let subtitle = if !line.is_request && says_something && !same(&request, &line.sentence) {
        quoted(&fit(&request, 130), phrases)
    } else {
        second_line(closing, &told)
    };
    told.push(subtitle.clone());
    if !line.is_request {
        told.push(request.clone());
    }

    let mut facts = Vec::new();
    words_of_the_user(turn, phrases, verdict.decision, &mut facts);
    if let Some(error) = work.errors.first()
        && (sort == Sort::Bugfix || work.still_failing().is_some() || sort == Sort::Discovery)
    {
        facts.push(format!("{}{error}", phrases.error));
    }
    facts.extend(run_facts(work, phrases));
    let mut items = 0;
    let mut rest: Vec<String> = Vec::new();
    for (kind, sentence) in closing_sentences(closing, &told.iter().map(String::as_str).collect::<Vec<_>>()) {
        let fact_like = weight(&sentence) <= 190
            && (kind == Kind::Item || (has_name(&sentence) && cues(&sentence).has(Cue::Cause)));
        if fact_like && items < 5 && !is_about_files(&sentence, work) {
            facts.push(sentence.trim_end_matches(['.', '。']).to_owned());
            items += 1;
        } else if kind == Kind::Paragraph {
            rest.push(sentence);
        }
    }
    facts.extend(file_facts(work, phrases));
    record_facts(work, phrases, &line, &mut facts);
    for (_, what) in work.refused.iter().take(3) {
        facts.push(format!("{}{what}", phrases.refused));
    }
    dedupe(&mut facts, &[&line.text, &subtitle]);

    Some(Draft {
        raw_type: sort.id().into(),
        title: line.text.clone(),
        subtitle,
        narrative: narrative(turn, work, phrases, &line, &request, rest),
        facts,
        concepts: concepts(sort, verdict, work, turn),
        cites: turn.keys(),
        ..Draft::default()
    })
}

/// `Worked on a.rs, b.rs` when nobody said anything.
fn files_headline(work: &Work, phrases: &Phrases) -> Option<Headline> {
    let names: Vec<&str> = work.edited.iter().take(3).map(|file| file.path.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let text = format!("{}{}", phrases.worked_on, names.join(phrases.comma));
    Some(Headline { sentence: text.clone(), text, is_request: false })
}

pub(super) fn quoted(text: &str, phrases: &Phrases) -> String {
    if text.is_empty() { String::new() } else { format!("{}{text}{}", phrases.quotes.0, phrases.quotes.1) }
}

/// The next sentence of the answer that stands by itself.
fn second_line(closing: &str, told: &[String]) -> String {
    let used: Vec<&str> = told.iter().map(String::as_str).collect();
    let next = closing_sentences(closing, &used)
        .into_iter()
        .find(|(kind, line)| *kind == Kind::Paragraph && weight(line) <= 180);
    next.map_or_else(String::new, |(_, line)| fit(&line, 130))
}

pub(super) fn one_line(text: &str) -> String {
    let blocks = prose::blocks(text, 1_500);
    let joined = blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join(" ");
    shorten_links(&joined)
}

fn narrative(
    turn: &Turn<'_>,
    work: &Work,
    phrases: &Phrases,
    line: &Headline,
    request: &str,
    rest: Vec<String>,
) -> String {
    let mut parts: Vec<String> = Vec::new();
    let full = full_request(turn);
    // The subtitle or title may already hold all of it.
    let more_than_told =
        weight(&full) > weight(request) + 30 || weight(request) > 130 || (line.is_request && weight(request) > 96);
    if !full.is_empty() && more_than_told {
        parts.push(format!("{}{}", phrases.asked, quoted(&full, phrases)));
    }
    let mut story = String::new();
    for sentence in rest {
        if weight(&story) + weight(&sentence) > STORY {
            break;
        }
        let joins_closely =
            sentence.chars().next().is_some_and(super::sentence::is_cjk) && story.ends_with(['。', '！', '？']);
        if !story.is_empty() && !joins_closely {
            story.push(' ');
        }
        story.push_str(&sentence);
    }
    if !story.is_empty() {
        parts.push(story);
    }
    let done = in_numbers(work, phrases);
    if !done.is_empty() {
        parts.push(done);
    }
    if turn.interrupted {
        parts.push(phrases.interrupted.to_owned());
    } else if turn.closing().is_empty() {
        parts.push(phrases.unfinished.to_owned());
    }
    if let Some(run) = work.still_failing() {
        parts.push(format!("{}{}: {}", phrases.still_failing, run.label, outcome(run, phrases)));
    }
    parts.join("\n\n")
}

/// The request as said, pastes and code aside, whole sentences only.
pub(super) fn full_request(turn: &Turn<'_>) -> String {
    let Some(raw) = turn.request else { return String::new() };
    let raw = raw.trim().strip_prefix("Implement the following plan:").unwrap_or(raw);
    let raw = slash_arguments(raw).0;
    let mut out = String::new();
    for block in prose::blocks(raw, 3_000) {
        // Headings are no sentences, and what stands behind code or a terminal's text is pasted.
        if block.kind == Kind::Heading || (turn.is_plan && block.kind != Kind::Paragraph) {
            continue;
        }
        if looks_pasted(&block.text) {
            break;
        }
        for sentence in super::sentence::sentences(&block.text) {
            let sentence = shorten_links(sentence);
            if weight(&out) + weight(&sentence) > REQUEST {
                if out.is_empty() {
                    return fit(&sentence, REQUEST);
                }
                return format!("{out} …");
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&sentence);
        }
    }
    out
}

/// `3 files changed (+80 −12), 2 commits.`
fn in_numbers(work: &Work, phrases: &Phrases) -> String {
    let number = |pattern: &str, count: usize| pattern.replace('#', &count.to_string());
    let mut parts: Vec<String> = Vec::new();
    if work.edited.len() > 1 {
        let (added, removed) = work.lines();
        let mut part = number(phrases.files, work.edited.len());
        if added + removed > 0 {
            part.push_str(&format!(" (+{added} −{removed})"));
        }
        parts.push(part);
    }
    if work.edited.is_empty() && work.read.len() > 1 {
        parts.push(number(phrases.read, work.read.len()));
    }
    if work.edited.is_empty() && work.searches > 2 {
        parts.push(number(phrases.searches, work.searches as usize));
    }
    if work.commits.len() > 1 {
        parts.push(number(phrases.commits, work.commits.len()));
    }
    if parts.is_empty() { String::new() } else { format!("{}.", capitalised(&parts.join(phrases.comma))) }
}

fn concepts(sort: Sort, verdict: &Verdict, work: &Work, turn: &Turn<'_>) -> Vec<String> {
    let mut out: Vec<&str> = Vec::new();
    match sort {
        Sort::Bugfix => out.push("problem-solution"),
        Sort::Feature | Sort::Change => out.push("what-changed"),
        Sort::Refactor => out.extend(["what-changed", "pattern"]),
        Sort::Discovery => out.push("how-it-works"),
        Sort::Decision => out.push("trade-off"),
        Sort::SecurityAlert => out.push("gotcha"),
        Sort::SecurityNote => out.extend(["what-changed", "problem-solution"]),
    }
    let trap = verdict.answered.has(Cue::Trap) || !work.refused.is_empty();
    if trap && !out.contains(&"gotcha") && matches!(sort, Sort::Bugfix | Sort::Discovery | Sort::Feature | Sort::Change)
    {
        out.push("gotcha");
    }
    let reasons = verdict.answered.has(Cue::Cause) || cues(turn.request.unwrap_or("")).has(Cue::Cause);
    if reasons && matches!(sort, Sort::Discovery | Sort::Decision) {
        out.push(if verdict.asked.has(Cue::Fix) { "problem-solution" } else { "why-it-exists" });
    }
    out.into_iter().map(String::from).collect()
}
