//! The user's choices and corrections, as a memory of their own.

use crate::memory::Draft;
use crate::transcript::event::{Event, Prompt, PromptKind};

use super::cues::{Cue, cues};
use super::facts::dedupe;
use super::judge::Sort;
use super::phrases::for_text;
use super::prose;
use super::request::{is_bare, request_line};
use super::sentence::weight;
use super::tell::{STORY, full_request, one_line, quoted};
use super::title::{closing_sentences, fit, same};
use super::turn::Turn;
use super::work::Work;

/// The user's choices and corrections of the turn, as a memory of their own. `alone` when the turn gives no other.
pub(super) fn decision(turn: &Turn<'_>, work: &Work, alone: bool) -> Option<Draft> {
    let spoken: Vec<&(&Event, &Prompt)> = turn
        .words
        .iter()
        .filter(|(_, prompt)| {
            !prompt.text.trim().is_empty()
                && (alone || matches!(prompt.kind, PromptKind::Choice | PromptKind::Rejection))
        })
        .collect();
    let (_, lead) = spoken.iter().max_by_key(|(_, prompt)| rank(prompt))?;
    let request = request_line(turn.request.unwrap_or(""), turn.is_plan);
    let phrases = for_text(&format!("{} {request}", lead.text));
    let about = |prompt: &Prompt| {
        let key = prompt.about.as_ref()?;
        work.refused.iter().find(|(other, _)| other == key).map(|(_, what)| what.clone())
    };
    let words = one_line(&lead.text);
    let first = first_statement(&lead.text, lead.kind == PromptKind::Choice);
    let title = match (about(lead), is_bare(&first)) {
        (Some(what), true) => format!("{}{what} {}", phrases.refused, quoted(&words, phrases)),
        (None, true) if words.is_empty() => return None,
        _ => fit(&first, 110),
    };
    let subtitle = match about(lead) {
        Some(what) if lead.kind == PromptKind::Rejection && !is_bare(&first) => {
            format!("{}{}", phrases.refused, fit(&what, 120))
        }
        _ if !request.is_empty() && !same(&request, &title) => quoted(&fit(&request, 130), phrases),
        _ => String::new(),
    };
    let mut facts = Vec::new();
    for (_, prompt) in &spoken {
        match prompt.kind {
            PromptKind::Choice => facts.extend(prompt.text.lines().map(prose::plain).filter(|line| !line.is_empty())),
            PromptKind::Rejection => {
                let line = fit(&one_line(&prompt.text), 260);
                facts.push(match about(prompt) {
                    Some(what) => format!("{}{what}: {}", phrases.refused, quoted(&line, phrases)),
                    None => format!("{}{}", phrases.refused_with, quoted(&line, phrases)),
                });
            }
            _ => facts.push(format!("{}{}", phrases.steered, quoted(&fit(&one_line(&prompt.text), 260), phrases))),
        }
    }
    dedupe(&mut facts, &[&title, &subtitle]);
    let mut narrative = Vec::new();
    let full = full_request(turn);
    if !full.is_empty() && !same(&full, &subtitle) {
        narrative.push(format!("{}{}", phrases.asked, quoted(&full, phrases)));
    }
    if alone {
        let used = [title.as_str(), subtitle.as_str()];
        let said = closing_sentences(turn.closing(), &used);
        let mut story = String::new();
        for (_, sentence) in said {
            if weight(&story) + weight(&sentence) > STORY / 2 {
                break;
            }
            if !story.is_empty() {
                story.push(' ');
            }
            story.push_str(&sentence);
        }
        if !story.is_empty() {
            narrative.push(story);
        }
        if turn.interrupted {
            narrative.push(phrases.interrupted.to_owned());
        }
    }
    let cites = if alone {
        turn.keys()
    } else {
        spoken
            .iter()
            .flat_map(|(event, prompt)| std::iter::once(event.key.clone()).chain(prompt.about.clone()))
            .collect()
    };
    let mut concepts = vec!["trade-off".to_owned()];
    if cues(&lead.text).has(Cue::Cause) {
        concepts.push("why-it-exists".into());
    }
    Some(Draft {
        raw_type: Sort::Decision.id().into(),
        title,
        subtitle,
        narrative: narrative.join("\n\n"),
        facts,
        concepts,
        cites,
        ..Draft::default()
    })
}

/// Choices name both sides; refusals with more words say more.
fn rank(prompt: &Prompt) -> (u8, usize) {
    let kind = match prompt.kind {
        PromptKind::Choice => 2,
        PromptKind::Rejection => 1,
        _ => 0,
    };
    (kind, weight(&prompt.text).min(200))
}

/// A choice as `question → answer`, other words by their first sentence.
fn first_statement(text: &str, is_choice: bool) -> String {
    if is_choice {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
        let line = prose::plain(line);
        // The answer must stay whole; the question can lose its tail.
        if let Some((question, answer)) = line.split_once(" → ")
            && weight(&line) > 110
        {
            let room = 106usize.saturating_sub(weight(answer).min(60));
            return format!("{} → {}", fit(question, room), fit(answer, 60));
        }
        return line;
    }
    let line = request_line(text, false);
    if line.is_empty() { one_line(text) } else { line }
}
