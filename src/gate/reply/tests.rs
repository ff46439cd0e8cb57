use super::*;

fn says(text: &str) -> Reply {
    Reply { text: text.into(), ..Reply::default() }
}

fn on(text: &str) -> Verdict {
    judge(&says(text), Expected::Observations)
}

fn kind(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Good(good) => format!("good {}+{}", good.drafts.len(), u8::from(good.summary.is_some())),
        Verdict::Skip(kind) => format!("skip {kind:?}"),
        Verdict::Bad(kind) => format!("bad {kind:?}"),
        Verdict::Error(error) => format!("error {:?}", error.kind),
    }
}

const XML: &str = "<observation><title>T</title></observation>";
const SUMMARY: &str = "<summary><learned>L</learned></summary>";

#[test]
fn a005_plain_words_that_decline_are_a_skip() {
    for text in [
        "Nothing worth recording here.",
        "Nothing.",
        "No observation needed here.",
        "Nothing for an <observation> here.",
        "skipping this one",
        "the endpoint returned 401 unauthorized so nothing to record",
        "特に記録すべきことはありません。",
    ] {
        assert_eq!(on(text), Verdict::Skip(SkipKind::Prose), "{text}");
    }
    assert_eq!(on("I'm watching the session, how can I help?"), Verdict::Bad(BadKind::Prose));
    assert_eq!(
        on("The login flow was traced and the token is stored in the cookie jar."),
        Verdict::Bad(BadKind::Prose)
    );
}

#[test]
fn a006_words_of_trouble_in_a_good_answer_are_no_trouble() {
    let text = "<observation><title>T</title><narrative>the prompt is too long error came from a context window bug; authentication failed; rate limit exceeded</narrative></observation>";
    assert_eq!(kind(&on(text)), "good 1+0");
    let long = "The prompt is too long error in the log comes from the batch job, which concatenates all rows before it sends them. ".repeat(3);
    assert_eq!(kind(&on(&long)), "bad Prose");
}

#[test]
fn a010_the_kind_that_was_asked_for_is_part_of_the_question() {
    assert_eq!(on(SUMMARY), Verdict::Bad(BadKind::WrongKind));
    assert_eq!(judge(&says(XML), Expected::Summary), Verdict::Bad(BadKind::WrongKind));
    for (text, expected, got) in [
        (format!("{XML}{SUMMARY}"), Expected::Observations, "good 1+0"),
        (format!("{XML}{SUMMARY}"), Expected::Summary, "good 0+1"),
        (format!("{XML}{SUMMARY}"), Expected::Both, "good 1+1"),
        (XML.to_owned(), Expected::Both, "good 1+0"),
        (format!("<skip/>{SUMMARY}"), Expected::Both, "good 0+1"),
        ("<skip/>".to_owned(), Expected::Both, "skip Marker"),
        ("<skip_summary/>".to_owned(), Expected::Summary, "skip Marker"),
        ("<skip_summary/>".to_owned(), Expected::Observations, "bad WrongKind"),
    ] {
        assert_eq!(kind(&judge(&says(&text), expected)), got, "{text} for {expected:?}");
    }
    let Verdict::Good(good) = judge(&says(&format!("{XML}<skip_summary/>")), Expected::Both) else { panic!("good") };
    assert!(good.summary_declined);
}

#[test]
fn a011_the_stop_reason_tells_a_cut_reply() {
    let reply = Reply { text: format!("{XML}{XML}<observation><title>x"), stop: Stop::Limit, ..Reply::default() };
    let Verdict::Good(good) = judge(&reply, Expected::Observations) else { panic!("good") };
    assert!(good.truncated && good.drafts.len() == 2);
    let nothing = Reply { text: "<observation><ti".into(), stop: Stop::Limit, ..Reply::default() };
    assert_eq!(judge(&nothing, Expected::Observations), Verdict::Bad(BadKind::TruncatedAll));
}

#[test]
fn a045_a_tool_call_is_a_fault_whatever_the_text() {
    let reply = Reply { text: XML.into(), tool_call: true, ..Reply::default() };
    assert_eq!(judge(&reply, Expected::Observations), Verdict::Bad(BadKind::ToolCall));
}

#[test]
fn a056_synthetic_replies_are_trouble_never_answers() {
    let reply =
        Reply { text: "You've hit your session limit · resets 3pm".into(), synthetic: true, ..Reply::default() };
    assert_eq!(kind(&judge(&reply, Expected::Observations)), "error Quota");
    let odd = Reply { text: XML.into(), synthetic: true, ..Reply::default() };
    assert_eq!(kind(&judge(&odd, Expected::Observations)), "error Server");
}

#[test]
fn a057_a_limit_quoted_in_an_answer_is_work() {
    let text = "<observation><title>Log says: You've hit your weekly limit</title></observation>";
    assert_eq!(kind(&on(text)), "good 1+0");
    assert_eq!(kind(&on("The code checks the weekly limit and resets the counter")), "bad Prose");
}

#[test]
fn a058_an_exhausted_allowance_is_no_hiccup() {
    let error = |message: &str| Reply {
        error: Some(ReplyError {
            kind: ErrorKind::RateLimit,
            status: Some(429),
            message: message.into(),
            resets_at: None,
        }),
        ..Reply::default()
    };
    assert_eq!(
        kind(&judge(&error("insufficient_quota: You exceeded your current quota"), Expected::Observations)),
        "error Quota"
    );
    assert_eq!(kind(&judge(&error("Too many requests"), Expected::Observations)), "error RateLimit");
}

#[test]
fn structure_goes_before_text() {
    let reply = Reply {
        text: XML.into(),
        error: Some(ReplyError { kind: ErrorKind::Auth, status: Some(401), ..ReplyError::default() }),
        ..Reply::default()
    };
    assert_eq!(kind(&judge(&reply, Expected::Observations)), "error Auth");
}

#[test]
fn the_clients_own_sentences_are_known_when_they_are_the_whole_reply() {
    for (text, got) in [
        ("Claude AI usage limit reached|1700000000", "error Quota"),
        ("You've hit your limit · resets 3pm", "error Quota"),
        ("5-hour limit reached ∙ resets 2am", "error Quota"),
        ("Please run /login · API Error: 401", "error Auth"),
        ("Invalid API key · Please run /login", "error Auth"),
        ("Not logged in · Please run /login", "error Auth"),
        ("OAuth token has expired · run /login", "error Auth"),
        ("Credit balance is too low", "error Billing"),
        ("There's an issue with the selected model (foo-9). It may not exist.", "error Model"),
        ("Prompt is too long", "error Overflow"),
        ("API Error: 529 Overloaded", "error Server"),
        ("API Error: Connection error.", "error Server"),
        ("user visited /login page", "bad Prose"),
        ("", "bad Empty"),
        (" \n", "bad Empty"),
    ] {
        assert_eq!(kind(&on(text)), got, "{text}");
    }
    let Verdict::Error(error) = on("Claude AI usage limit reached|1700000000") else { panic!("error") };
    assert_eq!(error.resets_at, Some(1_700_000_000));
}

/// claude-mem's behaviour where cmem's differs on purpose. Each vector is named by what it sends.
mod vectors {
    use serde_json::Value;

    use super::super::super::draft::{OpenEnd, parse};
    use super::*;

    /// The collection of observed pairs, if it is at hand (it is no part of this repository).
    fn vectors(name: &str) -> Option<Vec<Value>> {
        #[allow(clippy::disallowed_methods, reason = "a test looks for the reference collection beside the repository")]
        let (shared, text) = {
            let shared = std::env::var("CMEM_SHARED")
                .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../shared").into());
            let text = std::fs::read_to_string(format!("{shared}/reference/write-path-vectors.json"));
            (shared, text)
        };
        let Ok(text) = text else {
            eprintln!("skipped: no write-path vectors under {shared}");
            return None;
        };
        // Another part of the collection holds halves of surrogate pairs on purpose, which no JSON text may.
        let halves = regex::Regex::new(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}").expect("a pattern");
        let all: Value = serde_json::from_str(&halves.replace_all(&text, r"\ufffd")).expect("the collection is JSON");
        Some(all[name].as_array().expect("a list").clone())
    }

    fn strings(value: &Value) -> Vec<String> {
        value.as_array().map(|it| it.iter().filter_map(Value::as_str).map(str::to_owned).collect()).unwrap_or_default()
    }

    /// The vectors that come out otherwise, and why. Everything else must agree.
    const DIFFER: [(&str, &str); 16] = [
        ("<observation kind=\"x\">", "attributes on a tag are no reason to lose the record (A004)"),
        ("<OBSERVATION>", "any case is read"),
        ("<observation><title>open only</title>", "a forgotten closing tag costs nothing"),
        ("<observation><title>A</title> <observation>", "two records, not one with mixed fields"),
        ("a &lt; b &amp; c", "entities and CDATA are resolved"),
        ("text </narrative> more", "a closing tag in the middle of a sentence is text"),
        ("parser choked on </observation> tag", "a mentioned tag destroys nothing"),
        ("<fact>loose</fact>", "a fact outside its list is a fact"),
        ("<fact>dup</fact><fact>dup</fact>", "the same fact is kept once"),
        ("I will avoid <summary> tags.", "a mentioned tag destroys nothing"),
        ("<summary>plain words</summary>", "too short to be salvaged; same outcome, other reason"),
        ("<summary><notes>n</notes></summary>", "notes are content"),
        (
            "<observation>done <summary>words</summary>",
            "a record with foreign markup; too short to salvage, so the same outcome",
        ),
        ("<skip_summary reason='no' />", "any quotes"),
        ("about the <skip_summary/> tag", "a mentioned tag destroys nothing"),
        ("<skip_summary></skip_summary>", "a pair is a marker as well"),
    ];

    #[test]
    fn parser_agrees_or_the_difference_is_named() {
        let Some(vectors) = vectors("parse") else { return };
        assert_eq!(vectors.len(), 47);
        let mode = crate::mode::code();
        let mut differ = 0;
        for vector in vectors {
            let text = vector["in"].as_str().expect("text");
            let parsed = parse(text, OpenEnd::Keep);
            if DIFFER.iter().any(|(part, _)| text.contains(part)) {
                differ += 1;
                continue;
            }
            let out = &vector["out"];
            let valid = out["valid"].as_bool() == Some(true);
            let wants_summary = out["summary"].is_object();
            let expected: Vec<&Value> =
                out["observations"].as_array().map(|it| it.iter().collect()).unwrap_or_default();
            // Concepts alone are no record (A016): claude-mem keeps them.
            let expected: Vec<&Value> = expected
                .into_iter()
                .filter(|it| !it["title"].is_null() || !it["narrative"].is_null() || !strings(&it["facts"]).is_empty())
                .collect();
            // Which of two kinds counts depends on what was asked for, not on which came first (A010).
            let asked_for_summary = wants_summary && expected.is_empty();
            if asked_for_summary {
                let skipped = out["summary"]["skipped"].as_bool() == Some(true);
                assert_eq!(parsed.skip_summary.is_some(), skipped, "{text}");
                if !skipped {
                    let summary = parsed.summary.expect(text);
                    for (name, value) in
                        [("request", &summary.request), ("learned", &summary.learned), ("notes", &summary.notes)]
                    {
                        assert_eq!(out["summary"][name].as_str().unwrap_or_default(), value, "{text}");
                    }
                }
                continue;
            }
            assert_eq!(parsed.drafts.len(), expected.len(), "{text}");
            if valid {
                for (draft, expected) in parsed.drafts.iter().zip(expected) {
                    for (name, value) in
                        [("title", &draft.title), ("subtitle", &draft.subtitle), ("narrative", &draft.narrative)]
                    {
                        assert_eq!(expected[name].as_str().unwrap_or_default(), value, "{name} of {text}");
                    }
                    assert_eq!(strings(&expected["facts"]), draft.facts, "{text}");
                    assert_eq!(strings(&expected["files_read"]), draft.files_read, "{text}");
                    assert_eq!(strings(&expected["files_modified"]), draft.files_modified, "{text}");
                    // Types: unknown and missing ones are the neutral type, never the first of the list (A017).
                    let word = expected["type"].as_str().expect("type");
                    let (type_id, raw) = mode.type_id(&draft.raw_type);
                    match word {
                        "bugfix" if !text.contains("<type>bugfix") => {
                            assert_eq!((type_id.as_str(), raw), ("discovery", None))
                        }
                        word if mode.type_def(&word.to_lowercase()).is_some() => {
                            assert_eq!(type_id, word.to_lowercase())
                        }
                        word => assert_eq!((type_id.as_str(), raw.as_deref()), ("discovery", Some(word))),
                    }
                    // Concepts: spelled as the mode spells them; the type's own word is dropped in any case.
                    let mut wanted = mode.concepts_of(&strings(&expected["concepts"]), &type_id);
                    wanted.retain(|it| !it.eq_ignore_ascii_case(&type_id));
                    let mut got = mode.concepts_of(&draft.concepts, &type_id);
                    got.retain(|it| !it.eq_ignore_ascii_case(&type_id));
                    assert_eq!(got, wanted, "{text}");
                }
            }
        }
        // `about the <skip_summary/> tag` etc.: each named difference is met by a vector.
        assert!(differ >= DIFFER.len(), "{differ}");
    }

    #[test]
    fn classes_agree_but_for_what_is_closed_by_structure() {
        let Some(vectors) = vectors("classify") else { return };
        for vector in vectors {
            let text = vector["in"].as_str().expect("text");
            let verdict = on(text);
            match (vector["out"].as_str().expect("class"), text) {
                ("idle", _) => assert_eq!(verdict, Verdict::Bad(BadKind::Empty), "asked again once, not dropped"),
                // The whole reply is the client's sentence.
                ("prose", "Error: prompt is too long") => assert_eq!(kind(&verdict), "error Overflow"),
                ("prose", "skipping this one") => assert_eq!(kind(&verdict), "skip Prose"),
                ("prose", _) => assert_eq!(kind(&verdict), "bad Prose", "{text}"),
                // Half a tag is a word in a sentence; `<Summary/>` has nothing in it. Both are asked again.
                ("xml", _) => assert!(kind(&verdict).starts_with("bad "), "{text}: {verdict:?}"),
                (other, _) => panic!("class {other}"),
            }
        }
    }

    #[test]
    fn quota_and_sign_in_sentences_agree_or_are_better() {
        let Some(vectors) = vectors("quota_auth") else { return };
        // claude-mem misses these, and takes the last three for trouble although they are the model's own words.
        let quota_too = [
            "You've hit your limit · resets 3pm",
            "You've hit your session limit · resets 3pm",
            "5-hour limit reached ∙ resets 2am",
        ];
        let auth_too = [
            "OAuth token has expired · run /login",
            "Invalid API key · Please run /login",
            "Not logged in · Please run /login",
        ];
        let words = [
            "The code checks the weekly limit and resets the counter",
            "the endpoint returned 401 unauthorized so nothing to record",
        ];
        for vector in vectors {
            let text = vector["in"].as_str().expect("text");
            let got = kind(&on(text));
            let quota = vector["quota"].as_bool() == Some(true) || quota_too.contains(&text);
            let auth = vector["auth"].as_bool() == Some(true) || auth_too.contains(&text);
            match (quota, auth) {
                _ if words.contains(&text) => assert!(!got.starts_with("error"), "{text}: {got}"),
                (true, _) => assert_eq!(got, "error Quota", "{text}"),
                (_, true) => assert_eq!(got, "error Auth", "{text}"),
                _ => assert!(got != "error Quota" && got != "error Auth", "{text}: {got}"),
            }
        }
    }
}
