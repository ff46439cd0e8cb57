//! The user's request as one line: courtesy, pastes and long links taken off; consent and nudges are no request.

use super::manners::{BARE, POLITE};
use super::prose::{self, Block, Kind};
use super::sentence::{capitalised, sentences, weight};

/// The user's request on one line, without greetings, pastes and long links; empty when it says nothing by itself
/// ("yes, go ahead").
pub fn request_line(text: &str, is_plan: bool) -> String {
    let text = text.trim();
    let text = strip_ci(text, "Implement the following plan:").unwrap_or(text);
    let (text, is_command) = slash_arguments(text);
    let blocks = prose::blocks(text, 4_000);
    if is_plan && let Some(heading) = blocks.iter().find(|block| block.kind == Kind::Heading) {
        let line = ["Plan:", "Plan -", "Plan –", "Implementation Plan:", "Implementation plan:"]
            .iter()
            .find_map(|it| strip_ci(&heading.text, it))
            .unwrap_or(&heading.text);
        if weight(line) >= 12 {
            return capitalised(line.trim());
        }
    }
    // A short opening ("almost there") gives way to the sentence that says what is wanted.
    for at_least in [24, 0] {
        if let Some(line) = request_sentence(&blocks, at_least) {
            return line;
        }
    }
    if is_command && blocks.is_empty() { text.to_owned() } else { String::new() }
}

fn request_sentence(blocks: &[Block], at_least: usize) -> Option<String> {
    for block in blocks.iter().take(6) {
        let block_text = shorten_links(&block.text);
        let block_text = until_paste(&block_text);
        for sentence in sentences(block_text) {
            let line = polite_stripped(sentence);
            if weight(&line) < at_least {
                continue;
            }
            let wordy = line
                .split_whitespace()
                .any(|word| !word.starts_with(['/', '@', '~']) && word.chars().any(char::is_alphabetic));
            if !wordy || is_bare(&line) {
                continue;
            }
            return Some(capitalised(&line));
        }
    }
    None
}

/// A shell prompt, a compiler's or a log's line rather than a person's words.
pub fn looks_pasted(text: &str) -> bool {
    let head = text.trim_start();
    let signs = head
        .chars()
        .take(200)
        .filter(|ch| matches!(ch, '{' | '}' | '=' | ';' | '|' | '\\' | '<' | '>' | '$' | '%'))
        .count();
    signs > 8
        || [" % ", " $ ", "Traceback (", "error[E", "npm ERR!"].iter().any(|mark| head.contains(mark))
        || head.starts_with(['$', '>', '{', '<'])
        || head
            .split_whitespace()
            .next()
            .is_some_and(|word| word.contains('@') && word.len() > 3 && !word.starts_with('@'))
}

/// `/name args` → args; a command without words stands for itself.
pub fn slash_arguments(text: &str) -> (&str, bool) {
    if let Some(rest) = text.strip_prefix('/')
        && let Some(name) = rest.split(char::is_whitespace).next().filter(|name| !name.is_empty())
        && !name.contains('/')
        && !name.contains('.')
    {
        let args = rest[name.len()..].trim();
        return (args, true);
    }
    (text, false)
}

/// What a person typed before a terminal's text was pasted behind it.
fn until_paste(text: &str) -> &str {
    let marks = [" > ", " $ ", " % ", "Traceback (most recent", " at Object.", "panicked at"];
    let cut = marks.iter().filter_map(|mark| text.find(mark)).filter(|at| *at > 24).min();
    cut.map_or(text, |at| text[..at].trim_end())
}

/// Words of courtesy and transition taken off the front.
fn polite_stripped(sentence: &str) -> String {
    let mut rest = sentence.trim();
    let mut asks_to_do = false;
    loop {
        let before = rest;
        for word in POLITE {
            if let Some(tail) = strip_ci(rest, word) {
                asks_to_do |= word.contains("can ")
                    || word.contains("could ")
                    || word.contains("would ")
                    || word.contains("kannst");
                rest = tail.trim_start();
            }
        }
        if rest == before {
            break;
        }
    }
    for end in [", please", " please", " pls"] {
        let bare = rest.trim_end_matches(['.', '?', '!']);
        if let Some(head) = bare
            .len()
            .checked_sub(end.len())
            .and_then(|at| bare.get(..at).filter(|_| bare[at..].eq_ignore_ascii_case(end)))
        {
            rest = head;
        }
    }
    // "Can you add x?" asks for a deed, not for an answer.
    if asks_to_do { rest.trim_end_matches(['?', ' ']).to_owned() } else { rest.to_owned() }
}

/// Consent, a nudge, a fragment: nothing by itself.
pub fn is_bare(line: &str) -> bool {
    let bare = line.trim().trim_end_matches(['.', '!', '?', '。', '！', '？', ',', ' ']).to_lowercase();
    let head = strip_ci(&bare, "ok ").or_else(|| strip_ci(&bare, "yes ")).unwrap_or(&bare);
    BARE.contains(&head) || weight(&bare) < 12
}

/// Links over forty characters by their host alone.
pub fn shorten_links(text: &str) -> String {
    if !text.contains("://") {
        return text.to_owned();
    }
    let mut out: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match word.find("http") {
            Some(at) if word.len() - at > 40 && word[at..].contains("://") => {
                let host = word[at..].split('/').nth(2).unwrap_or("");
                out.push(format!("{}{host}/…", &word[..at]));
            }
            _ => out.push(word.to_owned()),
        }
    }
    out.join(" ")
}

fn strip_ci<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_lose_their_manners_and_pastes() {
        let cases = [
            ("can you please add a retry to the client?", false, "Add a retry to the client"),
            ("yes, go ahead", false, ""),
            ("ok", false, ""),
            ("请帮我修复登录竞态", false, "修复登录竞态"),
            ("/gsd:debug when the token expired the ui hangs", false, "When the token expired the ui hangs"),
            (
                "Implement the following plan:\n\n# Plan: Invert the telemetry flag\n\n## Context\nx",
                true,
                "Invert the telemetry flag",
            ),
            (
                "I just ran it and the warnings are still there.\n\ndev@dev x % pnpm y\n> z",
                false,
                "I just ran it and the warnings are still there.",
            ),
            (
                "main fails - why? https://github.com/entireio/cli/actions/runs/21662191208/job/62449194626",
                false,
                "Main fails - why?",
            ),
        ];
        for (text, plan, want) in cases {
            assert_eq!(request_line(text, plan), want, "{text}");
        }
    }
}
