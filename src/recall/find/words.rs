//! A query put as full text: what the index can look up, and what remains to be judged on the row.

use crate::recall::query::{Field, Judge, Query, Term, TermKind};
use crate::store::terms::{self, Match, words_of};

/// What must be there, as far as the index can say it; `None` when it can say nothing.
pub fn expression(query: &Query) -> Option<Match> {
    let mut wanted = Vec::new();
    let mut unwanted = Vec::new();
    let last = query.groups.len().checked_sub(1)?;
    for (at, group) in query.groups.iter().enumerate() {
        // Only the word being typed is taken as a beginning.
        let open_end = at == last && !query.text.ends_with(char::is_whitespace);
        let parts: Option<Vec<Match>> = group.iter().map(|term| looked_up(term, open_end)).collect();
        match (parts, group.as_slice()) {
            (Some(mut parts), _) if parts.len() == 1 => wanted.extend(parts.pop()),
            (Some(parts), _) => wanted.push(Match::Any(parts)),
            (None, [term]) if term.not && is_plain(term) => unwanted.push(Match::Phrase(term.text.clone())),
            _ => {}
        }
    }
    if wanted.is_empty() {
        return None;
    }
    let mut all = in_fields(query, Match::All(wanted));
    if !unwanted.is_empty() {
        all = Match::Without(Box::new(all), Box::new(Match::Any(unwanted)));
    }
    Some(all)
}

/// Any of the words: what is tried, ranked, when not all of them are anywhere.
pub fn any_of(query: &Query) -> Option<Match> {
    let terms = query.groups.iter().flatten().filter(|term| !term.not && is_plain(term));
    let mut words = Vec::new();
    for term in terms {
        for word in term.text.split_whitespace() {
            let said_by_everyone = is_filler(word);
            if !said_by_everyone && !words_of(word).is_empty() {
                words.push(Match::Forms(word.to_owned()));
            }
        }
        // A run without spaces is found by its pairs as well.
        let glued: Vec<char> = term.text.chars().filter(|ch| terms::is_glued_script(*ch)).collect();
        if glued.len() > 2 {
            words.extend(glued.windows(2).map(|pair| Match::Phrase(pair.iter().collect())));
        }
    }
    (!words.is_empty()).then(|| in_fields(query, Match::Any(words)))
}

fn in_fields(query: &Query, wanted: Match) -> Match {
    if query.fields.is_empty() {
        return wanted;
    }
    let columns = query.fields.iter().flat_map(|field| match field {
        Field::Title => vec![terms::Field::Title, terms::Field::Subtitle],
        Field::Facts => vec![terms::Field::Facts],
        Field::Narrative => vec![terms::Field::Narrative],
        Field::Files => vec![terms::Field::Files],
    });
    Match::In(columns.collect(), Box::new(wanted))
}

/// A positive term as the index knows it. `None`: it cannot be looked up.
fn looked_up(term: &Term, open_end: bool) -> Option<Match> {
    if term.not || !is_plain(term) {
        return None;
    }
    let text = term.text.clone();
    Some(match term.kind {
        TermKind::Word if open_end => Match::Any(vec![Match::Prefix(text.clone()), Match::Forms(text)]),
        TermKind::Word => Match::Forms(text),
        TermKind::TitleStart | TermKind::TitleIs => Match::In(vec![terms::Field::Title], Box::new(Match::Prefix(text))),
        // The end of a word is no word: the title is looked at on the row.
        TermKind::TitleEnd => return None,
        _ => Match::Phrase(text),
    })
}

/// Words, not patterns or misspellings, and at least one the index would hold.
fn is_plain(term: &Term) -> bool {
    !matches!(term.kind, TermKind::Regex | TermKind::Fuzzy) && !words_of(&term.text).is_empty()
}

/// What full text has not decided: groups it could not look up, and terms that mean more than their words.
pub fn judge_rest(query: &Query) -> Judge {
    Judge::of(query, |group| group.iter().any(|term| term.not || term.kind != TermKind::Word || !is_plain(term)))
}

/// Only what must not be there, and patterns: for answers that need not hold the words.
pub fn judge_negations(query: &Query) -> Judge {
    Judge::of(query, |group| group.iter().all(|term| term.not || term.kind == TermKind::Regex))
}

/// Words that say nothing about a subject; matching on them alone would find everything.
pub fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 63] = [
        "a", "about", "again", "all", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did",
        "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me",
        "my", "of", "on", "or", "our", "please", "should", "so", "that", "the", "their", "them", "then", "there",
        "these", "they", "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "why", "with",
        "would", "you", "your",
    ];
    let lower = word.trim_matches(|ch: char| !ch.is_alphanumeric()).to_lowercase();
    FILLERS.binary_search(&lower.as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_are_known_by_search() {
        assert!(is_filler("The") && is_filler("your?") && is_filler("a") && !is_filler("token") && !is_filler("支付"));
    }
}
