//! Gate 5, second half: drafts become memories, with evidence in place of claims.
//!
//! A draft says what somebody thinks happened. What it touched, when, where and on which branch is taken from the
//! events it rests on. `files_modified` is evidence alone; `files_read` is evidence and what was claimed. A record
//! without title, narrative and facts is refused (A016): the caller sees it by the missing one. Same input, same
//! output; nothing is looked up. Absent from here: what the events mean, and how memories are stored.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::memory::{
    AgentId, Draft, EventKey, Evidence, Kind, NewMemory, ProjectRef, SessionId, Source, Timestamp, safe_line, safe_text,
};
use crate::mode::Mode;
use crate::transcript::event::Event;

use super::evidence::{Roots, of_all};

/// Longest title kept, in graphemes. A longer one is cut at a word.
pub const TITLE_MAX: usize = 120;
/// Longest subtitle kept, in graphemes.
pub const SUBTITLE_MAX: usize = 240;

/// Where the drafts come from: what is the same for all events of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// Session.
    pub session: Option<SessionId>,
    /// Project.
    pub project: Option<ProjectRef>,
    /// Working directory, for events that have none.
    pub cwd: Option<String>,
    /// Branch, likewise.
    pub branch: Option<String>,
    /// Helper agent, when all events are one agent's.
    pub agent: Option<AgentId>,
    /// Prompt the events belong to.
    pub prompt_number: u32,
    /// Who wrote the drafts.
    pub source: Source,
    /// Model, when one did.
    pub model: Option<String>,
    /// Tokens the call cost; shared out over the memories that come of it.
    pub work_tokens: u32,
    /// Time of a memory none of whose events has one (last time known of the file, else of the clock).
    pub time: Timestamp,
}

/// The memories that `drafts` come to. A draft that cites events gets only those events' files, time and agent; one
/// that cites none, or only unknown ones, rests on all of them. Refused drafts are missing from the result.
pub fn correct(drafts: Vec<Draft>, events: &[Event], origin: &Origin, mode: &Mode) -> Vec<NewMemory> {
    let mut memories: Vec<NewMemory> =
        drafts.into_iter().filter(|draft| !is_empty(draft)).map(|draft| one(draft, events, origin, mode)).collect();
    let share = u32::try_from(memories.len()).map_or(0, |count| origin.work_tokens.div_ceil(count.max(1)));
    for memory in &mut memories {
        memory.work_tokens = share;
    }
    memories
}

/// Whether a draft says nothing: a title, a narrative or a fact is needed (A016).
pub fn is_empty(draft: &Draft) -> bool {
    let blank = |text: &String| text.trim().is_empty();
    blank(&draft.title) && blank(&draft.narrative) && draft.facts.iter().all(blank)
}

fn one(draft: Draft, events: &[Event], origin: &Origin, mode: &Mode) -> NewMemory {
    let cited: HashSet<&EventKey> = draft.cites.iter().collect();
    let mut own: Vec<&Event> = events.iter().filter(|event| cited.contains(&event.key)).collect();
    if own.is_empty() {
        own = events.iter().collect();
    }
    let cwd = own.iter().find_map(|event| event.cwd.clone()).or_else(|| origin.cwd.clone());
    let mut roots = Roots::of(origin.project.as_ref(), cwd.as_deref());
    if let Some(cwd) = &origin.cwd
        && origin.project.as_ref().is_none_or(|project| project.worktree.is_some())
    {
        let at_start = Roots::of(origin.project.as_ref(), Some(cwd));
        roots.add_all(&at_start);
    }
    let touched = of_all(own.iter().copied(), &roots);
    let state = touched.state();
    let mut files_read = touched.read;
    for claim in &draft.files_read {
        let file = roots.normalise(&safe_line(claim), cwd.as_deref());
        if !file.is_empty() && !files_read.contains(&file) {
            files_read.push(file);
        }
    }

    let (type_id, raw_type) = mode.type_id(&draft.raw_type);
    let concepts = mode.concepts_of(&draft.concepts, &type_id);
    let narrative = safe_text(draft.narrative.trim());
    let mut facts: Vec<String> = Vec::with_capacity(draft.facts.len());
    for fact in &draft.facts {
        let fact = safe_line(fact);
        if !fact.is_empty() && !facts.contains(&fact) {
            facts.push(fact);
        }
    }
    let mut title = cut(&safe_line(&draft.title), TITLE_MAX);
    if title.is_empty() {
        // The story or the first statement names it then; a row without a title cannot be picked from a list.
        title = cut(first_sentence(&narrative).unwrap_or_else(|| facts.first().map_or("", String::as_str)), TITLE_MAX);
    }
    let mut subtitle = cut(&safe_line(&draft.subtitle), SUBTITLE_MAX);
    if subtitle == title {
        subtitle.clear();
    }

    let agent = own.first().and_then(|event| event.agent.clone());
    let agent = agent.filter(|agent| own.iter().all(|event| event.agent.as_ref() == Some(agent)));
    let turn = own.iter().find(|event| event.agent.is_none()).map(|event| event.turn).filter(|turn| *turn > 0);
    let keys: Vec<EventKey> = own.iter().map(|event| event.key.clone()).collect();
    NewMemory {
        kind: Kind::Observation,
        type_id,
        raw_type,
        title,
        subtitle,
        narrative,
        facts,
        concepts,
        files_read,
        files_modified: touched.modified,
        // A claim is no evidence: what was only claimed leaves the state as it was.
        evidence: if own.is_empty() { Evidence::Unknown } else { state },
        project: origin.project.clone(),
        branch: own.iter().find_map(|event| event.branch.clone()).or_else(|| origin.branch.clone()),
        cwd,
        agent: agent.or_else(|| origin.agent.clone()),
        session: origin.session.clone().or_else(|| own.first().map(|event| event.session.clone())),
        prompt_number: turn.unwrap_or(origin.prompt_number),
        created_at: own.iter().filter_map(|event| event.time).max().unwrap_or(origin.time),
        source: origin.source,
        model: origin.model.clone(),
        work_tokens: 0,
        summary: None,
        abandoned: !own.is_empty() && own.iter().all(|event| event.abandoned),
        keys,
        pinned: false,
        supersedes: draft.supersedes,
    }
}

/// `text` cut to `max` graphemes with an ellipsis, at the end of a word where one is near. Never inside a grapheme.
pub fn cut(text: &str, max: usize) -> String {
    let Some((limit, _)) = text.grapheme_indices(true).nth(max) else { return text.to_owned() };
    let last = text[..limit].grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
    let head = &text[..last];
    // A word boundary in the last third; text without spaces (Chinese, Japanese) is cut where it is.
    let at = head.char_indices().rev().find(|(_, ch)| ch.is_whitespace()).map(|(at, _)| at);
    let head = match at {
        Some(at) if at * 3 >= head.len() * 2 => &head[..at],
        _ => head,
    };
    format!(
        "{}…",
        head.trim_end_matches(|ch: char| ch.is_whitespace() || matches!(ch, ',' | ';' | ':' | '(' | '–' | '-'))
    )
}

/// The first sentence of `text`, if it has any words.
fn first_sentence(text: &str) -> Option<&str> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut chars = line.char_indices().peekable();
    while let Some((at, ch)) = chars.next() {
        let end = at + ch.len_utf8();
        let stop = matches!(ch, '。' | '！' | '？')
            || (matches!(ch, '.' | '!' | '?') && chars.peek().is_none_or(|(_, next)| next.is_whitespace()));
        if stop && end >= 12 {
            return Some(&line[..end]);
        }
    }
    Some(line)
}

#[cfg(test)]
mod tests;
