//! One line that says what a turn came to: a commit's subject, the sentence of the closing answer that states the
//! change or the finding, or the user's own words.

use super::cues::{Cue, cues};
use super::judge::{ANSWER_READ, Sort, closing_weight, commit_kind, finding_on_the_way};
use super::manners::{DANGLING, GENERIC_HEADINGS, PROPOSALS};
use super::prose::{self, Block, Kind};
use super::request::shorten_links;
use super::sentence::{announces, capitalised, is_cjk, is_routine_result, sentences, substance, weight, worth};
use super::turn::Turn;
use super::work::Work;

/// Longest title, as a reader feels it.
const TITLE: usize = 100;

/// An answer of this length after reading files is worth keeping under the question it answers.
const STUDY: usize = 380;

/// A headline and where it came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headline {
    /// The line.
    pub text: String,
    /// The whole sentence it was made from; must not be told again.
    pub sentence: String,
    /// It is the user's own request.
    pub is_request: bool,
}

/// The line for an account of `turn`; `None` when neither side said anything that could be one.
///
/// A discovery needs a finding: a request alone, or a menu of options, is none.
pub fn headline(turn: &Turn<'_>, work: &Work, sort: Sort, request: &str) -> Option<Headline> {
    let closing = turn.closing();
    let mut told = best_sentence(&prose::blocks(closing, ANSWER_READ), request);
    if sort == Sort::Discovery {
        // A menu of options is no finding; the cause named on the way is.
        told = told.filter(|(score, _)| *score >= 12.0 || finding_on_the_way(turn).is_none());
    }
    if let Some(subject) = commit_subject(work) {
        // A terse subject gives way to an answer that says more.
        let better = told.as_ref().is_some_and(|(score, _)| weight(&subject) < 40 && *score > 15.0);
        if !better {
            return Some(Headline { text: fit(&subject, TITLE), sentence: subject, is_request: false });
        }
    }
    if let Some((score, sentence)) = told
        && score >= if request.is_empty() { 6.0 } else { 8.5 }
    {
        return Some(Headline { text: fit(&sentence, TITLE), sentence, is_request: false });
    }
    if sort == Sort::Discovery
        && let Some(sentence) = finding_on_the_way(turn)
    {
        return Some(Headline { text: fit(&sentence, TITLE), sentence, is_request: false });
    }
    if sort == Sort::Discovery {
        let asks = cues(request).has(Cue::Explain) || request.ends_with(['?', '？']);
        let studied = (!work.read.is_empty() || work.searches > 0) && closing_weight(closing) >= STUDY;
        if request.is_empty() || !(asks || studied) {
            return None;
        }
    }
    if !request.is_empty() {
        return Some(Headline { text: fit(request, TITLE), sentence: request.to_owned(), is_request: true });
    }
    best_sentence(&prose::blocks(closing, ANSWER_READ), "").map(|(_, sentence)| Headline {
        text: fit(&sentence, TITLE),
        sentence,
        is_request: false,
    })
}

/// The sentence worth most as a headline.
fn best_sentence(blocks: &[Block], request: &str) -> Option<(f32, String)> {
    let mut best: Option<(f32, String)> = None;
    let mut index = 0;
    for block in blocks.iter().take(24) {
        for sentence in sentences(&block.text) {
            let Some(line) = substance(sentence) else { continue };
            let mut score = worth(&line, request) - 0.9 * index as f32;
            match block.kind {
                Kind::Heading => score -= if is_generic_heading(&line) { 14.0 } else { 4.0 },
                // One of several points is seldom the point.
                Kind::Item => score -= 5.0,
                Kind::Lines => continue,
                Kind::Paragraph => {}
            }
            if fit(&line, TITLE).ends_with('…') {
                score -= 3.0;
            }
            if is_menu_entry(&line) {
                score -= 8.0;
            }
            if block.introduces && line.ends_with([':', '：']) {
                score -= 3.0;
            }
            index += 1;
            let line = line.trim_end_matches([':', '：']).to_owned();
            if best.as_ref().is_none_or(|(top, _)| score > *top) {
                best = Some((score, line));
            }
        }
    }
    best.filter(|(score, _)| *score > 0.0)
}

/// `Option 2: …`, `Step 3 …`, `A) …`: one of several.
fn is_menu_entry(text: &str) -> bool {
    let word = text.split(|ch: char| ch.is_whitespace() || ch == ':').next().unwrap_or("");
    matches!(
        word.to_ascii_lowercase().as_str(),
        "option" | "step" | "phase" | "approach" | "alternative" | "方案" | "选项"
    ) || text.starts_with("方案")
        || text.starts_with("选项")
}

fn is_generic_heading(text: &str) -> bool {
    let lower = text.trim_end_matches([':', '.', '!', '：']).to_lowercase();
    weight(text) < 14
        || GENERIC_HEADINGS.iter().any(|word| lower == *word)
        || lower.starts_with("step ")
        || lower.starts_with("summary")
        || lower.starts_with("option ")
}

/// The subject of the commit that says most, without its conventional prefix; else a pull request's title.
fn commit_subject(work: &Work) -> Option<String> {
    commit_line(work).or_else(|| {
        let title = work.pull_request_titles.iter().find(|title| weight(title) >= 16)?;
        let bare = commit_kind(title).and_then(|_| title.split_once(": ")).map_or(title.as_str(), |(_, rest)| rest);
        Some(capitalised(&prose::plain(bare)))
    })
}

fn commit_line(work: &Work) -> Option<String> {
    let commit = work.commits.iter().rev().find(|commit| {
        let lower = commit.subject.to_lowercase();
        weight(&commit.subject) >= 16
            && !lower.starts_with("wip")
            && !lower.starts_with("merge ")
            && !lower.starts_with("fixup")
    })?;
    let subject = match commit_kind(&commit.subject) {
        Some(_) => commit.subject.split_once(':').map_or("", |(_, rest)| rest).trim(),
        None => commit.subject.as_str(),
    };
    Some(capitalised(&prose::plain(subject)))
}

/// `sentence` as a title: without the stop at its end, cut at a clause where it is long, at a word where it must be.
pub fn fit(sentence: &str, max: usize) -> String {
    let line = shorten_links(sentence);
    let line = line.trim().trim_end_matches(['.', '。', ':', '：', ',', '，', ';']).trim();
    let line = line.strip_suffix('!').unwrap_or(line);
    if weight(line) <= max {
        return line.to_owned();
    }
    let without = without_brackets(line);
    if weight(&without) <= max {
        return without;
    }
    // The longest clause from the front that still says something by itself.
    let mut best: Option<&str> = None;
    for mark in
        [" — ", " – ", " - ", "; ", ". ", ", which ", ", so ", ", but ", ", and ", ": ", "；", "，", "、", "。", ", "]
    {
        for (at, _) in without.match_indices(mark) {
            let head = &without[..at];
            let size = weight(head);
            let balanced =
                head.matches('(').count() == head.matches(')').count() && head.matches('"').count().is_multiple_of(2);
            let dangling = dangles(head);
            if size <= max
                && size * 5 >= max * (if mark.trim_end() == "," { 3 } else { 2 })
                && !(mark.contains(',') && inside_list(head, &without[at + mark.len()..]))
                && balanced
                && !dangling
                && best.is_none_or(|best| head.len() > best.len())
            {
                best = Some(head);
            }
        }
        // Strong joints win over commas.
        if best.is_some() && mark != "、" {
            break;
        }
    }
    if best.is_none() {
        for joint in
            [" because ", " since ", " when ", " while ", " so that ", " instead of ", " in order to ", " which "]
        {
            if let Some(at) = without.rfind(joint) {
                let head = &without[..at];
                if weight(head) <= max
                    && weight(head) * 2 >= max
                    && !dangles(head)
                    && head.matches('"').count().is_multiple_of(2)
                {
                    best = best.filter(|best| best.len() >= head.len()).or(Some(head));
                }
            }
        }
    }
    if let Some(head) = best {
        return head.trim_end().to_owned();
    }
    // Graphemes for the feel of `max`: CJK ones weigh more.
    let wide = without.chars().filter(|ch| is_cjk(*ch)).count() * 2 > without.chars().count();
    crate::gate::correct::cut(&without, if wide { max / 2 } else { max })
}

/// Whether a cut here would leave a word waiting for the next.
fn dangles(head: &str) -> bool {
    DANGLING.iter().any(|end| head.ends_with(end))
}

/// Whether a comma between these stands in an enumeration: its neighbours are short.
fn inside_list(head: &str, tail: &str) -> bool {
    let before = head.rsplit(", ").next().unwrap_or(head);
    let after = tail.split(", ").next().unwrap_or(tail);
    (before.len() < head.len() && weight(before) < 24) || (after.len() < tail.len() && weight(after) < 24)
}

fn without_brackets(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut depth = 0;
    for ch in line.chars() {
        match ch {
            '(' | '（' if depth > 0 || out.ends_with(' ') || ch == '（' => depth += 1,
            ')' | '）' if depth > 0 => {
                depth -= 1;
                if depth == 0 && out.ends_with(' ') {
                    out.pop();
                }
            }
            _ if depth > 0 => {}
            _ => out.push(ch),
        }
    }
    if depth > 0 { line.to_owned() } else { out.trim().to_owned() }
}

/// Sentences of the closing answer that stand by themselves, in order, `used` ones left out.
pub fn closing_sentences(answer: &str, used: &[&str]) -> Vec<(Kind, String)> {
    let mut out: Vec<(Kind, String)> = Vec::new();
    let mut is_proposal = false;
    for block in prose::blocks(answer, ANSWER_READ) {
        // Points under "Options" or "Next steps" are proposals: told as facts they would be lies.
        if block.kind != Kind::Item {
            let leads = block.kind == Kind::Heading || block.text.ends_with([':', '：']);
            is_proposal = leads && proposes(&block.text);
        } else if is_proposal {
            continue;
        }
        if matches!(block.kind, Kind::Heading | Kind::Lines) {
            continue;
        }
        for sentence in sentences(&block.text) {
            let Some(line) = substance(sentence) else { continue };
            let lead_in = line.ends_with([':', '：']);
            if lead_in || announces(&line) || is_routine_result(&line) || weight(&line) < 14 {
                continue;
            }
            let told = used.iter().any(|it| same(it, &line)) || out.iter().any(|(_, it)| same(it, &line));
            if !told {
                out.push((block.kind, line));
            }
        }
    }
    out
}

/// Whether a heading or lead-in announces options, advice or things left to do.
fn proposes(text: &str) -> bool {
    let lower = text.to_lowercase();
    cues(text).has(Cue::Left) || PROPOSALS.iter().any(|word| lower.contains(word))
}

/// Whether two lines say the same: equal letters, or one inside the other.
pub fn same(a: &str, b: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|ch| ch.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let (a, b) = (letters(a), letters(b));
    !a.is_empty() && !b.is_empty() && (a == b || (a.len().min(b.len()) > 24 && (a.contains(&b) || b.contains(&a))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_are_cut_where_a_thought_ends() {
        assert_eq!(
            fit(
                "Entire.io doesn't have a dedicated \"commit checkpoints\" command — its checkpoints are automatically captured in the background.",
                96
            ),
            "Entire.io doesn't have a dedicated \"commit checkpoints\" command"
        );
        assert_eq!(fit("Short one.", 96), "Short one");
        let long = fit(&"word ".repeat(60), 96);
        assert!(long.ends_with('…') && weight(&long) <= 97);
    }
}
