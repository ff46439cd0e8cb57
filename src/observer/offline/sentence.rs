//! Sentences: where they end, what is only manner in them, and what they are worth as a headline.

use super::cues::{Cue, cues};
use super::manners::{ANNOUNCERS, DOERS, DONE, FINDERS, OPENERS, ROUTINE};

/// Han, kana, hangul and their full-width signs.
pub fn is_cjk(ch: char) -> bool {
    matches!(ch, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{2ffff}')
}

/// Length as a reader feels it: a CJK character says about as much as two Latin ones, and is as wide.
pub fn weight(text: &str) -> usize {
    text.chars().map(|ch| if is_cjk(ch) { 2 } else { 1 }).sum()
}

/// The sentences of a line of plain text.
pub fn sentences(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut depth = 0i32;
    let mut in_code = false;
    let mut chars = line.char_indices().peekable();
    while let Some((at, ch)) = chars.next() {
        let end = at + ch.len_utf8();
        if ch == '`' {
            in_code = !in_code;
        }
        match ch {
            '(' | '（' | '[' | '「' | '“' => depth += 1,
            ')' | '）' | ']' | '」' | '”' => depth -= 1,
            _ => {}
        }
        let stops = match ch {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => {
                let next = chars.peek().map(|(_, next)| *next);
                // A stop inside brackets does not end the sentence around it.
                next.is_none_or(char::is_whitespace)
                    && depth <= 0
                    && !in_code
                    && !(ch == '.' && is_abbreviation(&line[start..at]))
            }
            _ => false,
        };
        if stops {
            // Closing signs belong to the sentence they close.
            let mut end = end;
            while let Some((next_at, next)) = chars.peek().copied() {
                if matches!(next, '.' | '!' | '?' | '。' | '！' | '？' | '」' | '）' | '”' | '"') {
                    end = next_at + next.len_utf8();
                    chars.next();
                } else {
                    break;
                }
            }
            push(&mut out, &line[start..end]);
            start = end;
            depth = 0;
            in_code = false;
        }
    }
    push(&mut out, &line[start..]);
    out
}

fn push<'a>(out: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        out.push(sentence);
    }
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|ch: char| ch.is_whitespace() || ch == '(').next().unwrap_or("");
    let lower = word.to_ascii_lowercase();
    matches!(
        lower.as_str(),
        "e.g"
            | "i.e"
            | "etc"
            | "vs"
            | "cf"
            | "approx"
            | "no"
            | "z.b"
            | "d.h"
            | "bzw"
            | "ca"
            | "usw"
            | "nr"
            | "incl"
            | "resp"
    ) || (word.len() == 1 && word.chars().all(|ch| ch.is_ascii_uppercase()))
        || (!word.is_empty() && word.chars().all(|ch| ch.is_ascii_digit()) && before.trim_start().len() == word.len())
}

/// `sentence` without the manners around what it says; `None` when nothing is left, or when it only announces,
/// offers or asks.
pub fn substance(sentence: &str) -> Option<String> {
    let mut rest = sentence.trim();
    loop {
        let before = rest;
        for opener in OPENERS {
            if let Some(tail) = strip_opener(rest, opener) {
                rest = tail;
            }
        }
        if rest == before {
            break;
        }
    }
    let rest = rest.trim_start_matches(|ch: char| {
        matches!(ch, '-' | '–' | '—' | ',' | '，' | '、' | ':' | '：' | '!' | '！' | '.' | '。') || ch.is_whitespace()
    });
    if !rest.chars().any(char::is_alphanumeric) || announces(rest) {
        return None;
    }
    let (rest, was_own_deed) = drop_subject(rest);
    let rest = rest.trim_start();
    if !rest.chars().any(char::is_alphanumeric) {
        return None;
    }
    Some(if was_own_deed || rest.len() < sentence.trim().len() { capitalised(rest) } else { rest.to_owned() })
}

fn strip_opener<'a>(text: &'a str, opener: &str) -> Option<&'a str> {
    let head = text.get(..opener.len())?;
    if !head.eq_ignore_ascii_case(opener) {
        return None;
    }
    let tail = &text[opener.len()..];
    let next = tail.chars().next();
    match next {
        None => Some(""),
        Some('!' | '.' | ',' | '，' | '。' | '！' | '、' | ':' | '：' | '—' | '–' | '?' | '？') => {
            // "No. 5" and "fixed: x" differ; a colon after a verb of change opens the statement itself.
            Some(
                tail.trim_start_matches(|ch: char| {
                    !ch.is_alphanumeric() && !matches!(ch, '/' | '`' | '"' | '“' | '「' | '@' | '$' | '<' | '(' | '.')
                })
                .trim_start_matches(". "),
            )
        }
        Some(' ') => {
            let after = tail.trim_start();
            let dash =
                after.strip_prefix("- ").or_else(|| after.strip_prefix("— ")).or_else(|| after.strip_prefix("– "));
            dash.map(str::trim_start)
        }
        _ => None,
    }
}

/// Whether the sentence only announces, offers or asks.
pub fn announces(sentence: &str) -> bool {
    let ends_in_question = sentence.trim_end().ends_with(['?', '？']);
    let japanese_question =
        ["ますか。", "ですか。", "ましょうか。", "ますか", "ましょうか"].iter().any(|end| sentence.ends_with(end));
    ends_in_question
        || japanese_question
        || ANNOUNCERS.iter().any(|it| {
            sentence.get(..it.len()).is_some_and(|head| head.eq_ignore_ascii_case(it))
                && (!it.is_ascii()
                    || it.ends_with(' ')
                    || sentence[it.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric()))
        })
}

/// The deed without the doer: `I've added x` → `added x`. Also `I found that x` → `x`.
fn drop_subject(text: &str) -> (&str, bool) {
    if let Some(rest) = strip_prefix_ci(text, "Based on ")
        && let Some((basis, rest)) = rest.split_once(", ")
        && basis.len() < 50
    {
        return (rest, true);
    }
    for finder in FINDERS {
        if let Some(rest) = strip_prefix_ci(text, finder) {
            return (rest, true);
        }
    }
    for doer in DOERS {
        if let Some(rest) = strip_prefix_ci(text, doer) {
            let verb = rest.split(|ch: char| !ch.is_ascii_alphabetic()).next().unwrap_or("");
            if is_past(verb) {
                return (rest, true);
            }
        }
    }
    const OTHERS: &[&str] = &["我已经", "我已", "我刚刚", "我把", "已经"];
    for doer in OTHERS {
        if let Some(rest) = text.strip_prefix(doer)
            && !rest.is_empty()
        {
            return (if *doer == "我把" { text.trim_start_matches('我') } else { rest }, true);
        }
    }
    (text, false)
}

fn strip_prefix_ci<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Whether an English word looks like a past form: `added`, `wrote`, `split`.
pub fn is_past(verb: &str) -> bool {
    let lower = verb.to_ascii_lowercase();
    (lower.len() > 3 && lower.ends_with("ed") && lower != "need")
        || matches!(
            lower.as_str(),
            "wrote"
                | "made"
                | "built"
                | "split"
                | "put"
                | "set"
                | "ran"
                | "found"
                | "got"
                | "took"
                | "cut"
                | "kept"
                | "left"
                | "sent"
                | "did"
                | "rebuilt"
                | "rewrote"
                | "written"
                | "undid"
                | "reset"
                | "brought"
                | "chose"
                | "broke"
                | "swapped"
        )
}

/// With a capital first letter, unless the first word is a name that is written as it is.
pub fn capitalised(text: &str) -> String {
    let Some(first) = text.chars().next() else { return String::new() };
    let word = text.split_whitespace().next().unwrap_or("");
    let is_name = word.contains(['_', '/', '.', '(', ':', '`', '-', '@', '$'])
        || word.chars().skip(1).any(|ch| ch.is_ascii_uppercase() || ch.is_ascii_digit());
    if !first.is_lowercase() || (is_name && !word.ends_with([':', ',', '.'])) {
        return text.to_owned();
    }
    first.to_uppercase().chain(text.chars().skip(1)).collect()
}

/// What a sentence is worth as a headline; below zero it is of no use.
pub fn worth(sentence: &str, request: &str) -> f32 {
    let size = weight(sentence);
    let mut score = 10.0;
    if size < 16 {
        score -= 8.0;
    } else if size < 28 {
        score -= 2.0;
    }
    if size > 150 {
        score -= (size - 150) as f32 / 25.0;
    }
    let first = sentence.split(|ch: char| !ch.is_alphanumeric() && ch != '\'').next().unwrap_or("");
    if is_past(first) || is_done_elsewhere(sentence) {
        score += 5.0;
    }
    let found = cues(sentence);
    if found.has(Cue::Cause) {
        score += 4.0;
    }
    if found.has(Cue::Trap) {
        score += 1.0;
    }
    if found.has(Cue::Left) {
        score -= 4.0;
    }
    if has_name(sentence) {
        score += 2.0;
    }
    if sentence.ends_with([':', '：']) {
        score -= 7.0;
    }
    // A path or a label alone states nothing.
    if !sentence.chars().any(is_cjk)
        && sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() < 3
    {
        score -= 8.0;
    }
    // Status lines and table leftovers.
    if sentence.contains("[ ]") || sentence.contains(" | ") {
        score -= 8.0;
    }
    // "It now works" tells a reader nothing a month later.
    if matches!(
        first,
        "It" | "This"
            | "They"
            | "That"
            | "These"
            | "Both"
            | "He"
            | "There"
            | "Es"
            | "Das"
            | "You"
            | "Your"
            | "We"
            | "Then"
            | "And"
            | "But"
            | "Also"
            | "First"
            | "To"
            | "Or"
            | "If"
    ) {
        score -= 4.0;
    }
    if is_routine_result(sentence) {
        score -= 9.0;
    }
    score + overlap(sentence, request)
}

/// Marks of a finished deed in languages that put the verb last or have no past form of our list.
fn is_done_elsewhere(sentence: &str) -> bool {
    DONE.iter().any(|mark| sentence.contains(mark))
}

/// A file, a function, a flag, a number: something a reader can look up.
pub fn has_name(sentence: &str) -> bool {
    sentence.split_whitespace().any(|word| {
        let inner = word.trim_matches(|ch: char| !ch.is_alphanumeric() && ch != '_' && ch != '-' && ch != '/');
        word.contains('`')
            || inner.contains('_')
            || inner.contains("::")
            || inner.contains('/')
            || word.contains("()")
            || inner.starts_with("--")
            || inner.chars().skip(1).any(|ch| ch.is_ascii_uppercase())
                && inner.chars().any(|ch| ch.is_ascii_lowercase())
            || inner.rsplit_once('.').is_some_and(|(head, tail)| {
                !head.is_empty() && (1..=5).contains(&tail.len()) && tail.chars().all(|ch| ch.is_ascii_alphanumeric())
            })
    })
}

/// "All tests pass" and the like: a result, but no finding.
pub fn is_routine_result(sentence: &str) -> bool {
    let lower = sentence.to_ascii_lowercase();
    let short = weight(sentence) < 90;
    short && ROUTINE.iter().any(|mark| lower.contains(mark))
}

/// Up to four points for words that the request has too.
fn overlap(sentence: &str, request: &str) -> f32 {
    if request.is_empty() {
        return 0.0;
    }
    let mut shared = 0;
    let lower = request.to_lowercase();
    for word in sentence.split(|ch: char| !ch.is_alphanumeric() && ch != '_').filter(|word| word.len() > 4) {
        if lower.contains(&word.to_lowercase()) {
            shared += 1;
            if shared >= 4 {
                break;
            }
        }
    }
    shared as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_stops() {
        assert_eq!(
            sentences("Fixed a.rs (see b.rs. Done). It uses e.g. serde 1.0 now! 修复了。完了です！ok"),
            ["Fixed a.rs (see b.rs. Done).", "It uses e.g. serde 1.0 now!", "修复了。", "完了です！", "ok"]
        );
    }

    #[test]
    fn manners_are_taken_off() {
        let cases = [
            ("Done! I've added a retry to the client.", None),
            ("Done.", None),
            ("I've added a retry to the client.", Some("Added a retry to the client.")),
            ("Perfect! ", None),
            ("You're right, the cache is shared.", Some("The cache is shared.")),
            ("Let me check that.", None),
            ("Want me to commit this?", None),
            ("I found that the pool is empty.", Some("The pool is empty.")),
            ("Looks like main was fixed already", Some("Main was fixed already")),
            ("好的，我已经修复了登录问题。", Some("修复了登录问题。")),
            ("需要我提交吗？", None),
            ("はい、キャッシュを修正しました。", Some("キャッシュを修正しました。")),
            ("コミットしますか？", None),
            ("Erledigt. Soll ich committen?", None),
            ("The pool was empty.", Some("The pool was empty.")),
            ("Yes - the flag is read twice", Some("The flag is read twice")),
            ("I'll look into it", None),
            ("config.rs holds the default", Some("config.rs holds the default")),
        ];
        for (text, want) in cases {
            let got: Vec<String> = sentences(text).into_iter().filter_map(substance).collect();
            match want {
                Some(want) => assert_eq!(got, [want], "{text}"),
                None if text.contains("added") => assert_eq!(got, ["Added a retry to the client."]),
                None => assert_eq!(got, Vec::<String>::new(), "{text}"),
            }
        }
    }
}
