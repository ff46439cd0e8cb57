//! Typing a query: the list narrows with every key; Enter keeps it, Esc goes back to the one before.

use super::{Out, feed, query};
use crate::recall::query::{Body, Key as Filter, parts};
use crate::tui::action::Action;
use crate::tui::key::Key;
use crate::tui::keymap::{Lookup, Place};
use crate::tui::state::{Completion, LineEdit, State, Tier, View};

/// Values that a completion offers at most.
const OFFERED: usize = 8;
/// Queries that are remembered.
const HISTORY: usize = 100;

/// Opens the line with the query that holds.
pub fn open(state: &mut State) {
    state.view = View::Feed;
    state.detail_focus = false;
    let mut text = state.search.text.clone();
    if !text.is_empty() {
        text.push(' ');
    }
    state.search.before = state.search.text.clone();
    state.search.line = Some(LineEdit::new(text));
    state.search.history_at = None;
    state.search.completion = None;
    state.guard.input_opened(state.now, false);
}

/// Types text into the line.
pub fn insert(state: &mut State, text: &str, out: &mut Out) {
    if let Some(line) = &mut state.search.line {
        line.insert(text);
    }
    typed(state, out);
}

/// A key while the line is open.
pub fn key(state: &mut State, key: Key, out: &mut Out) {
    if let Some(ch) = key.typed() {
        let mut buffer = [0; 4];
        insert(state, ch.encode_utf8(&mut buffer), out);
        return;
    }
    let Lookup::Action(action) = state.keymap.lookup(Place::Input, &[key]) else { return };
    let Some(line) = &mut state.search.line else { return };
    match action {
        Action::Accept => accept(state, out),
        Action::Cancel => cancel(state, out),
        Action::Complete => complete(state, out),
        Action::InputDown => down(state, 1),
        Action::InputUp => up(state, out),
        Action::CycleTier => {
            state.search.tier = match state.search.tier {
                Tier::Exact => Tier::Fuzzy,
                Tier::Fuzzy => Tier::Regex,
                Tier::Regex => Tier::Exact,
            };
            state.search.generation += 1;
            retype_for_tier(state, out);
        }
        edit => {
            match edit {
                Action::ClearLine => line.clear(),
                Action::DeleteWord => line.delete_word(),
                Action::DeleteBefore => line.backspace(),
                Action::DeleteAfter => line.delete(),
                Action::CursorLeft => line.left(),
                Action::CursorRight => line.right(),
                Action::CursorHome => line.home(),
                Action::CursorEnd => line.end(),
                _ => {}
            }
            typed(state, out);
        }
    }
}

/// The line changed: the query is applied, the completion follows.
fn typed(state: &mut State, out: &mut Out) {
    let Some(line) = &state.search.line else { return };
    let text = as_query(line.text(), state.search.tier);
    state.search.history_at = None;
    state.search.completion = completion(state);
    query::apply(state, &text, out);
}

/// The text as the tier means it: a pattern is written between slashes.
fn as_query(text: &str, tier: Tier) -> String {
    let text = text.trim();
    if tier != Tier::Regex || text.is_empty() || text.contains('/') {
        return text.to_owned();
    }
    let (filters, words): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|word| word.contains(':'));
    let pattern = words.join(" ");
    if pattern.is_empty() { text.to_owned() } else { format!("{} /{pattern}/", filters.join(" ")).trim().to_owned() }
}

fn retype_for_tier(state: &mut State, out: &mut Out) {
    let Some(line) = &state.search.line else { return };
    let text = as_query(line.text(), state.search.tier);
    state.rows.groups.clear();
    // Even when the text is the same: another tier is asked.
    state.search.text.push('\u{0}');
    query::apply(state, &text, out);
}

fn accept(state: &mut State, out: &mut Out) {
    if let Some(completion) = &state.search.completion
        && completion.moved
    {
        complete(state, out);
        return;
    }
    if state.rows.is_empty() && query::take_closest(state, out) {
        return;
    }
    let Some(line) = state.search.line.take() else { return };
    state.search.completion = None;
    state.guard.input_closed();
    let text = as_query(line.text(), state.search.tier);
    if !text.is_empty() {
        state.search.history.retain(|old| *old != text);
        state.search.history.push(text);
        let over = state.search.history.len().saturating_sub(HISTORY);
        state.search.history.drain(..over);
    }
}

fn cancel(state: &mut State, out: &mut Out) {
    if state.search.completion.take().is_some_and(|completion| completion.moved) {
        return;
    }
    state.search.line = None;
    state.guard.input_closed();
    let before = std::mem::take(&mut state.search.before);
    query::apply(state, &before, out);
}

fn down(state: &mut State, by: i64) {
    if let Some(completion) = &mut state.search.completion
        && completion.moved
    {
        completion.at = (completion.at as i64 + by).rem_euclid(completion.items.len().max(1) as i64) as usize;
    } else if state.rows.is_empty() && !state.search.closest.is_empty() {
        let last = state.search.closest.len() as i64 - 1;
        state.search.closest_at = (state.search.closest_at as i64 + by).clamp(0, last) as usize;
    } else {
        feed::step(state, by);
    }
}

/// Up in results; with an empty box through the searches before.
fn up(state: &mut State, out: &mut Out) {
    let walking = state.search.history_at.is_some();
    let empty = state.search.line.as_ref().is_some_and(|line| line.text().trim().is_empty());
    if !(empty || walking) || state.search.history.is_empty() {
        down(state, -1);
        return;
    }
    let at = state.search.history_at.unwrap_or(state.search.history.len()).saturating_sub(1);
    let text = state.search.history[at].clone();
    if let Some(line) = &mut state.search.line {
        line.set(text);
    }
    typed(state, out);
    state.search.history_at = Some(at);
}

/// Tab: the value under the cursor is written in; again: the next one.
fn complete(state: &mut State, out: &mut Out) {
    let Some(completion) = state.search.completion.clone() else { return };
    let Some((value, _)) = completion.items.get(completion.at) else { return };
    if let Some(line) = &mut state.search.line {
        let colon = value.ends_with(':');
        let text = if colon { value.clone() } else { format!("{value} ") };
        line.replace(completion.range.clone(), &text);
    }
    typed(state, out);
}

/// Values for the part the cursor stands in, with counts in the present scope.
fn completion(state: &State) -> Option<Completion> {
    let line = state.search.line.as_ref()?;
    let (text, cursor) = (line.text(), line.cursor());
    let part = parts(text).into_iter().find(|part| part.span.start < cursor && cursor <= part.span.end)?;
    let written = &text[part.span.clone()];
    let not = written.len() - written.trim_start_matches(['-', '!']).len();
    let body = &written[not..];
    if let Some(colon) = body.find(':') {
        let value_at = body.rfind(',').filter(|at| *at > colon).unwrap_or(colon) + 1;
        let typed = body[value_at..].trim_start_matches('=').trim_matches('"');
        let from = part.span.start + not + value_at;
        let key = Filter::ALL.iter().find(|(_, words)| words.contains(&&body[..colon])).map(|(key, _)| *key)?;
        let items = values(state, key, typed);
        return (!items.is_empty()).then(|| Completion { range: from..part.span.end, items, ..Completion::default() });
    }
    if !matches!(part.body, Body::Term(..)) || body.len() < 2 {
        return None;
    }
    let keys = Filter::ALL.iter().map(|(key, _)| key.word()).filter(|word| word.starts_with(body) && *word != body);
    let mut items: Vec<(String, Option<u64>)> = keys.map(|word| (format!("{word}:"), None)).collect();
    items.extend(words(state, body));
    items.truncate(OFFERED);
    let range = part.span.start + not..part.span.end;
    (!items.is_empty()).then(|| Completion { range, items, ..Completion::default() })
}

fn values(state: &State, key: Filter, typed: &str) -> Vec<(String, Option<u64>)> {
    let lower = typed.to_lowercase();
    let counted = |ix: usize| state.rows.sifted.counts.get(ix).map(|n| u64::from(*n));
    let mut items: Vec<(String, Option<u64>)> = match key {
        Filter::Type => {
            let types = state.arena.types().iter().enumerate().filter(|(_, word)| !word.is_empty());
            let mut items: Vec<_> = types.map(|(ix, word)| (word.clone(), counted(ix))).collect();
            items.push(("wild".into(), None));
            items
        }
        Filter::Project => {
            let projects = state.pages.projects.iter();
            projects.map(|project| (quoted(&project.name), Some(project.memories))).collect()
        }
        Filter::Concept => state.alphabet.concepts.iter().map(|word| (word.clone(), None)).collect(),
        Filter::Session => {
            let sessions = state.pages.sessions.list.iter();
            let word = |id: &str| state.arena.session_by_id(id).map_or_else(|| id.to_owned(), |entry| entry.word());
            sessions.map(|info| (word(&info.id), Some(u64::from(info.observations)))).collect()
        }
        Filter::Since | Filter::Until | Filter::On => {
            ["today", "yesterday", "7d", "30d", "mon"].map(|word| (word.to_owned(), None)).to_vec()
        }
        Filter::Source => ["observer", "offline", "manual", "import"].map(|word| (word.to_owned(), None)).to_vec(),
        Filter::Has => {
            ["facts", "files", "narrative", "dupe", "secret", "note"].map(|word| (word.to_owned(), None)).to_vec()
        }
        Filter::Is => {
            ["pinned", "excluded", "in", "out", "new", "wild", "edited"].map(|word| (word.to_owned(), None)).to_vec()
        }
        Filter::In => ["title", "facts", "narrative", "files"].map(|word| (word.to_owned(), None)).to_vec(),
        Filter::Kind => ["obs", "sum", "prompt"].map(|word| (word.to_owned(), None)).to_vec(),
        Filter::Sort => ["newest", "oldest", "tokens", "relevance"].map(|word| (word.to_owned(), None)).to_vec(),
        Filter::File | Filter::Prompt | Filter::Tokens => Vec::new(),
    };
    items.retain(|(word, _)| word.to_lowercase().starts_with(&lower) && *word != typed);
    items.sort_by_key(|(_, n)| std::cmp::Reverse(n.unwrap_or(0)));
    items.truncate(OFFERED);
    items
}

fn quoted(name: &str) -> String {
    if name.contains(char::is_whitespace) { format!("\"{name}\"") } else { name.to_owned() }
}

/// Words of the listed titles that begin like what is typed, with how many titles hold them.
fn words(state: &State, typed: &str) -> Vec<(String, Option<u64>)> {
    // The rows listed now hold the word typed so far; a bounded look at them is enough for a hint.
    const LOOKED_AT: usize = 2_000;
    if !typed.is_ascii() || typed.len() < 2 {
        return Vec::new();
    }
    let lower = typed.to_ascii_lowercase();
    let mut found: std::collections::HashMap<String, u64> = std::collections::HashMap::new();
    for ix in state.rows.sifted.list.iter().take(LOOKED_AT) {
        let title = state.arena.title(state.arena.row(*ix));
        for word in title.split(|c: char| !c.is_alphanumeric() && c != '_') {
            let begins = word.len() > lower.len()
                && word.is_char_boundary(lower.len())
                && word[..lower.len()].eq_ignore_ascii_case(&lower);
            if begins {
                *found.entry(word.to_lowercase()).or_default() += 1;
            }
        }
    }
    let mut found: Vec<(String, u64)> = found.into_iter().collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found.into_iter().take(4).map(|(word, n)| (word, Some(n))).collect()
}
