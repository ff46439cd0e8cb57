//! Sentences that are no answer: those of the client and of services in trouble, and those that decline.
//!
//! Trouble is recognised only when the whole reply is such a sentence: one short line, from its first word on. A
//! reply that merely speaks of limits or sign-in is the model's own (A006, A057).

use std::sync::LazyLock;

use regex::Regex;

use super::ErrorKind;

static TROUBLE: LazyLock<Vec<(Regex, ErrorKind)>> = LazyLock::new(|| {
    [
        // "You've hit your limit · resets 3pm", "… session limit", "… weekly limit", "… 5-hour limit"
        (r"^you('ve| have)? (just )?(hit|reached|exceeded|used up) your [a-z0-9 -]{0,40}(limit|quota|allowance)\b", ErrorKind::Quota),
        (r"^(claude( ai)?|your [a-z0-9 -]{0,20}|(the )?(5-hour|five-hour|weekly|opus|sonnet|session|monthly|daily)) ?(usage )?(limit|quota)( has been| is| was)? (reached|exceeded|exhausted|hit)", ErrorKind::Quota),
        (r"^you('ve| have)? (run out of|are out of) (extra )?(usage|quota)", ErrorKind::Quota),
        (r"^rate limit (hit|exceeded|reached) for [a-z0-9 -]{0,20}(weekly|plan|subscription)", ErrorKind::Quota),
        (r"^insufficient[_ ]quota", ErrorKind::Quota),
        (r"^(error: )?(rate limit (exceeded|reached|hit)|too many requests)\b", ErrorKind::RateLimit),
        (r"^credit balance (is )?too low", ErrorKind::Billing),
        (r"^your (account|credit balance) (is|has) (on hold|suspended|disabled|too low)", ErrorKind::Billing),
        (r"^(invalid|missing|expired|revoked) (api key|oauth token|access token|credentials?)\b", ErrorKind::Auth),
        (r"^not logged in\b", ErrorKind::Auth),
        (r"^please run /login\b", ErrorKind::Auth),
        (r"^oauth token (has )?(been )?(expired|revoked)", ErrorKind::Auth),
        (r"^(failed to authenticate|authentication (failed|failure|error|required|expired|invalid))\b", ErrorKind::Auth),
        (r"^(http|status|api error|error)?:? ?\(?(401|403)\)?( (unauthorized|forbidden))?$", ErrorKind::Auth),
        (r"^(http|status:?|api error:?) ?(401|403)\b", ErrorKind::Auth),
        (r"^(401 unauthorized|403 forbidden)$", ErrorKind::Auth),
        (r"^there's an issue with the selected model\b", ErrorKind::Model),
        (r"^(error: )?(the )?model [^ ]{1,80} (does not exist|was not found|is not available|not found)", ErrorKind::Model),
        (r"^(api error:? ?(400 ?)?)?(error: )?(the )?(prompt|input|request) is too long\b", ErrorKind::Overflow),
        (r"^(error: )?(input length and|context (length|window|limit)) .{0,60}(exceed|limit)", ErrorKind::Overflow),
        (r"^(api )?error:? ?5\d\d\b", ErrorKind::Server),
        (r"^(api )?error:? ?429\b", ErrorKind::RateLimit),
        (r"^(api )?error:? ?\(?(connection|request timed out|fetch failed|socket|network)", ErrorKind::Server),
        (r"^(overloaded|internal server error|service unavailable|bad gateway)\b", ErrorKind::Server),
    ]
    .into_iter()
    .map(|(pattern, kind)| (Regex::new(pattern).expect("a fixed pattern, read by a test"), kind))
    .collect()
});

/// The trouble a reply is, if the whole of it is one of the known sentences.
pub(super) fn trouble(text: &str) -> Option<ErrorKind> {
    let text = text.trim();
    // Client sentences are short; a second paragraph makes it talk.
    if text.is_empty() || text.chars().count() > 240 || text.lines().filter(|it| !it.trim().is_empty()).count() > 2 {
        return None;
    }
    if text.contains('<') {
        return None;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let lower = lower.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = TROUBLE.iter().find(|(pattern, _)| pattern.is_match(&lower)).map(|(_, kind)| *kind)?;
    if found == ErrorKind::Server && lower.contains("prompt is too long") {
        found = ErrorKind::Overflow;
    }
    Some(found)
}

/// Whether an error's message says that an allowance is used up, not merely that requests come too fast.
pub(super) fn exhausted(message: &str) -> bool {
    let lower = message.to_lowercase();
    ["insufficient_quota", "exceeded your current quota", "quota exceeded", "resource_exhausted", "out of credits"]
        .iter()
        .any(|it| lower.contains(it))
        || trouble(message) == Some(ErrorKind::Quota)
}

/// The reset time in `usage limit reached|1700000000`.
pub(super) fn reset_epoch(text: &str) -> Option<i64> {
    let (_, tail) = text.rsplit_once('|')?;
    let digits: String = tail.trim().chars().take_while(char::is_ascii_digit).collect();
    (digits.len() == 10).then(|| digits.parse().ok()).flatten()
}

/// Whether plain words decline: short, no question, and they say that there is nothing. A few languages; in others a
/// decline in words costs one reminder.
pub(super) fn declines(text: &str) -> bool {
    let text = text.trim();
    if text.chars().count() > 400 || text.contains('?') || text.contains('？') {
        return false;
    }
    let lower = format!(" {} ", text.to_lowercase().replace('’', "'"));
    const SIGNS: [&str; 44] = [
        " nothing",
        " no observation",
        " no new observation",
        " no memor",
        " no notable",
        " no significant",
        " no durable",
        " no meaningful",
        " no relevant",
        " no substantive",
        " none.",
        " none ",
        " skip",
        " not worth",
        " isn't worth",
        " is not worth",
        " not noteworthy",
        " already remembered",
        " already recorded",
        " already covered",
        " no need to record",
        " without anything",
        " routine ",
        " nichts",
        " kein",
        " rien ",
        " aucun",
        " nada",
        " ningun",
        " ningún",
        " nessun",
        " niente",
        " niets",
        " geen ",
        " ничего",
        " нечего",
        " brak ",
        "没有",
        "無需",
        "无需",
        "ありません",
        "なし",
        "없습니다",
        "없음",
    ];
    SIGNS.iter().any(|it| lower.contains(it))
}
