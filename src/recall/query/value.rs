//! What stands behind a colon: types, amounts, states; times are read in `when`.

use crate::memory::Kind;

use super::when::{days, moment};
use super::{
    Check, Field, Key, Local, Moment, Part, Presence, ProjectWanted, Query, Sort, State, TermKind, Vocabulary,
};

/// A pattern is compiled once here, so that a broken one is a fault and not a surprise later.
pub(super) fn term(kind: TermKind, text: &str) -> Result<(), String> {
    match kind {
        TermKind::Regex => super::judge::regex(text).map(|_| ()).map_err(|_| "the pattern is not complete".to_owned()),
        _ => Ok(()),
    }
}

/// `>2k`, `<=500`, `1k..5k`, `300`: at least, at most.
fn amount(text: &str) -> Option<(Option<u32>, Option<u32>)> {
    fn number(text: &str) -> Option<u32> {
        let lower = text.trim().to_ascii_lowercase();
        let (digits, factor) = match lower.strip_suffix('k') {
            Some(digits) => (digits, 1_000.0),
            None => lower.strip_suffix('m').map_or((lower.as_str(), 1.0), |digits| (digits, 1_000_000.0)),
        };
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let value = digits.parse::<f64>().ok().filter(|_| plain)? * factor;
        (value <= f64::from(u32::MAX)).then_some(value as u32)
    }
    if let Some((low, high)) = text.split_once("..") {
        return Some((Some(number(low)?), Some(number(high)?)));
    }
    if let Some(rest) = text.strip_prefix(">=") {
        return Some((Some(number(rest)?), None));
    }
    if let Some(rest) = text.strip_prefix("<=") {
        return Some((None, Some(number(rest)?)));
    }
    if let Some(rest) = text.strip_prefix('>') {
        return Some((Some(number(rest)?.saturating_add(1)), None));
    }
    if let Some(rest) = text.strip_prefix('<') {
        return Some((None, Some(number(rest)?.checked_sub(1)?)));
    }
    let exact = number(text)?;
    Some((Some(exact), Some(exact)))
}

/// Puts one `key:value` part into the query, or a fault for each value that does not parse.
pub(super) fn apply(
    query: &mut Query,
    part: &Part,
    key: Key,
    values: &[String],
    vocabulary: &Vocabulary,
    local: &Local,
) {
    let not = part.not;
    let mut report = Report { query, part, key };
    match key {
        Key::Type => types(&mut report, values, vocabulary),
        Key::Project => {
            for value in values {
                let (name, exact) = value.strip_prefix('=').map_or((value.as_str(), false), |name| (name, true));
                report.query.projects.push(ProjectWanted { name: name.to_owned(), exact, not });
            }
        }
        Key::Concept if not => report.query.checks.push(Check::NotConcepts(values.to_vec())),
        Key::Concept => report.query.filter.concepts.extend(values.iter().map(|value| value.to_lowercase())),
        Key::File => files(&mut report, values),
        Key::Session if not => report.query.checks.push(Check::NotSessions(values.to_vec())),
        Key::Session => report.query.sessions.extend(values.iter().cloned()),
        Key::Since | Key::Until | Key::On => times(&mut report, values, local),
        Key::Prompt => match values[0].trim_start_matches('#').parse() {
            Ok(number) if !not => report.query.filter.prompt = Some(number),
            _ => report.fault("a prompt is a number", None),
        },
        Key::Source => {
            const SOURCES: [&str; 5] = ["observer", "offline", "manual", "import", "fallback"];
            // Every memory comes from this one platform, so naming it is no condition.
            let known = report.known(values, &SOURCES, &["claude"]);
            let sources = known.into_iter().filter(|word| *word != "claude").map(String::from).collect::<Vec<_>>();
            if not && !sources.is_empty() {
                report.query.checks.push(Check::NotSources(sources));
            } else if !not {
                report.query.filter.sources.extend(sources);
            }
        }
        Key::Tokens => match amount(&values.join(",")) {
            Some((min, max)) if !not => {
                let filter = &mut report.query.filter;
                filter.tokens_min = min.or(filter.tokens_min);
                filter.tokens_max = max.or(filter.tokens_max);
            }
            _ => report.fault("an amount is >2k, <500 or 1k..5k", None),
        },
        Key::Has => {
            const WORDS: [&str; 6] = ["facts", "files", "narrative", "dupe", "secret", "note"];
            for word in report.known(values, &WORDS, &[]) {
                let presence = match word {
                    "facts" => Presence::Facts,
                    "files" => Presence::Files,
                    "narrative" => Presence::Narrative,
                    "dupe" => Presence::Dupe,
                    "secret" => Presence::Secret,
                    _ => Presence::Note,
                };
                report.query.checks.push(Check::Has(presence, !not));
            }
        }
        Key::Is => states(&mut report, values),
        Key::In => {
            const WORDS: [&str; 4] = ["title", "facts", "narrative", "files"];
            if not {
                report.fault("“in:” says where to look; it cannot be turned round", None);
                return;
            }
            for word in report.known(values, &WORDS, &[]) {
                let field = match word {
                    "title" => Field::Title,
                    "facts" => Field::Facts,
                    "narrative" => Field::Narrative,
                    _ => Field::Files,
                };
                if !report.query.fields.contains(&field) {
                    report.query.fields.push(field);
                }
            }
        }
        Key::Kind => kinds(&mut report, values),
        Key::Sort => {
            const WORDS: [&str; 3] = ["newest", "oldest", "relevance"];
            for word in report.known(values, &WORDS, &[]) {
                report.query.sort = Some(match word {
                    "oldest" => Sort::Oldest,
                    "relevance" => Sort::Relevance,
                    _ => Sort::Newest,
                });
            }
        }
    }
}

/// The query being built and the part at hand, for telling what is wrong with it.
struct Report<'a> {
    query: &'a mut Query,
    part: &'a Part,
    key: Key,
}

impl Report<'_> {
    fn fault(&mut self, what: &str, suggestion: Option<String>) {
        let sign = if self.part.not { "-" } else { "" };
        let suggestion = suggestion.map(|value| format!("{sign}{}:{value}", self.key.word()));
        self.query.fault(self.part, what, suggestion);
    }

    /// The values that are among `words` or `silent`; a fault for each that is not.
    fn known<'w>(&mut self, values: &[String], words: &[&'w str], silent: &[&'w str]) -> Vec<&'w str> {
        let mut out = Vec::new();
        for value in values {
            let lower = value.to_lowercase();
            match words.iter().chain(silent).find(|word| **word == lower) {
                Some(word) => out.push(*word),
                None => {
                    let near = closest(&lower, words.iter().copied(), 2);
                    let what = format!("“{value}” is none of {}", words.join(", "));
                    self.fault(&what, near.map(String::from));
                }
            }
        }
        out
    }
}

fn types(report: &mut Report<'_>, values: &[String], vocabulary: &Vocabulary) {
    let not = report.part.not;
    for value in values {
        let lower = value.to_lowercase();
        if lower == "wild" {
            report.query.checks.push(Check::Wild(!not));
            continue;
        }
        let mut chars = lower.chars();
        let letter = chars.next().filter(|_| chars.next().is_none());
        let found = vocabulary.types.iter().find(|word| {
            word.id.to_lowercase() == lower
                || word.label.to_lowercase() == lower
                || letter.is_some_and(|letter| word.letter.to_lowercase().eq(letter.to_lowercase()))
        });
        let id = match found {
            Some(word) => word.id.clone(),
            None if vocabulary.types.is_empty() => value.clone(),
            None => {
                let near = closest(&lower, vocabulary.types.iter().map(|word| word.id.as_str()), 3);
                let what = format!("there is no type “{value}”");
                report.fault(&what, near.map(String::from));
                continue;
            }
        };
        let filter = &mut report.query.filter;
        let list = if not { &mut filter.not_types } else { &mut filter.types };
        if !list.contains(&id) {
            list.push(id);
        }
    }
}

fn files(report: &mut Report<'_>, values: &[String]) {
    let mut globs = Vec::new();
    let mut modified = false;
    for value in values {
        let glob = match value.strip_prefix('!') {
            Some(rest) => {
                modified = true;
                rest
            }
            None => value,
        };
        if !glob.is_empty() {
            globs.push(glob.to_owned());
        }
    }
    if report.part.not {
        // `-file:!` alone: none that was modified at all.
        let globs = if globs.is_empty() { vec!["**".to_owned()] } else { globs };
        report.query.checks.push(Check::NotFiles(globs, modified));
    } else {
        report.query.filter.files.extend(globs);
        report.query.filter.modified_only |= modified;
    }
}

fn times(report: &mut Report<'_>, values: &[String], local: &Local) {
    let text = &values[0];
    let Some(moment) = moment(text, local).filter(|_| !report.part.not) else {
        let words = ["today", "yesterday", "now", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
        let near = closest(&text.to_lowercase(), words, 2).map(String::from);
        report.fault("a time is 7d, yesterday, 27aug or 2026-03-01", near);
        return;
    };
    let filter = &mut report.query.filter;
    match report.key {
        Key::Since => filter.since = Some(moment.start()),
        Key::Until => filter.until = Some(moment.end()),
        _ => {
            let moment = match moment {
                Moment::Days(..) => Some(moment),
                Moment::Instant(instant) => {
                    let date = instant.to_zoned_datetime(local.zone.clone()).date();
                    date.tomorrow().ok().and_then(|after| days(date, after, local))
                }
            };
            if let Some(moment) = moment {
                filter.since = Some(moment.start());
                filter.until = Some(moment.end());
            }
        }
    }
}

fn states(report: &mut Report<'_>, values: &[String]) {
    const WORDS: [&str; 11] =
        ["pinned", "excluded", "in", "out", "new", "trashed", "wild", "edited", "superseded", "helper", "manual"];
    let yes = !report.part.not;
    for word in report.known(values, &WORDS, &[]) {
        let query = &mut *report.query;
        match word {
            "pinned" => query.filter.pinned = Some(yes),
            "excluded" => query.filter.excluded = Some(yes),
            "edited" => query.filter.edited = Some(yes),
            "superseded" => query.filter.superseded = Some(yes),
            "helper" => query.filter.helper = Some(yes),
            "manual" => query.checks.push(Check::Has(Presence::Note, yes)),
            "wild" => query.checks.push(Check::Wild(yes)),
            "in" => query.checks.push(Check::State(State::In, yes)),
            "out" => query.checks.push(Check::State(State::Out, yes)),
            "new" => query.checks.push(Check::State(State::New, yes)),
            _ => query.checks.push(Check::State(State::Trashed, yes)),
        }
    }
}

fn kinds(report: &mut Report<'_>, values: &[String]) {
    const ALL: [(&str, Kind); 3] = [("obs", Kind::Observation), ("sum", Kind::Summary), ("prompt", Kind::Prompt)];
    let words = ["obs", "sum", "prompt", "all", "observation", "observations", "summary", "summaries", "prompts"];
    let mut named = Vec::new();
    for word in report.known(values, &words, &[]) {
        for (short, kind) in ALL {
            if (word == "all" || word.starts_with(short)) && !named.contains(&kind) {
                named.push(kind);
            }
        }
    }
    if named.is_empty() {
        return;
    }
    if report.part.not {
        named = ALL.iter().map(|(_, kind)| *kind).filter(|kind| !named.contains(kind)).collect();
    }
    for kind in named {
        if !report.query.filter.kinds.contains(&kind) {
            report.query.filter.kinds.push(kind);
        }
    }
}

/// The candidate with the fewest edits from `word` (letters swapped count once), if it is within `max`.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, max: usize) -> Option<&'a str> {
    let best = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate)).min_by_key(|b| b.0);
    best.filter(|(edits, candidate)| *edits <= max && *edits < candidate.chars().count()).map(|(_, it)| it)
}

/// Edits between two words: insert, delete, replace, swap of neighbours.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut edits = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                edits = edits.min(before[j - 1] + 1);
            }
            next.push(edits);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
