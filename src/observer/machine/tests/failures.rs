//! Everything that can go wrong with an answer, and what becomes of the work.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::talk::*;
use crate::gate::reply::{ErrorKind, Expected, ReplyError};
use crate::observer::machine::Input;
use crate::observer::outcome::Final;
use crate::observer::provider::{Gone, Report, Said, WindowUse};

fn one_turn(talk: &mut Talk, session: &str, name: &str) {
    talk.feed([bash(session, name), turn_end(session, &format!("{name}-end"))]);
}

/// Turns of a single tool call, without summaries.
fn quick() -> Talk {
    Talk::with(|config, _| {
        config.gather = SignedDuration::ZERO;
        config.linger = SignedDuration::ZERO;
    })
}

fn error(kind: ErrorKind, message: &str) -> Act {
    Act::FailWith(ReplyError { kind, message: message.into(), ..ReplyError::default() })
}

#[test]
fn a001_a_failed_call_is_made_again_and_the_gap_is_a_number() {
    let mut talk = quick();
    let mut failed = false;
    talk = talk.play(move |asked| {
        if asked.mentions("\nM2\n") && !std::mem::replace(&mut failed, true) {
            return Act::Fail(ErrorKind::Server);
        }
        Act::Say(xml(asked.text.split("---\n").nth(1).and_then(|it| it.lines().next()).unwrap_or("?")))
    });
    for name in ["M1", "M2", "M3"] {
        talk.feed([bash("s", name)]);
        talk.pass(1);
    }
    talk.pass(30);
    assert_eq!(talk.titles(), ["M1", "M2", "M3"]);
    assert_eq!(talk.tally(), "retried/server=1 stored/observations=3");
    talk.all_settled_once();
}

#[test]
fn a002_a_sign_in_sentence_pauses_and_keeps_the_work() {
    let mut talk = quick();
    talk.feed([bash("s", "M1")]);
    talk.pass(1);
    talk.say("Please run /login · API Error: 401");
    assert_eq!((talk.settled.len(), talk.pause()), (0, Some(("auth", 300))));
    talk.pass(299);
    assert_eq!(talk.asked.len(), 1);
    talk.pass(2);
    assert_eq!(talk.asked.len(), 2, "it is tried again by itself");
    talk.say(&xml("M1"));
    assert_eq!((talk.titles(), talk.pause()), (vec!["M1"], None));
    assert_eq!(talk.tally(), "paused/auth=1 stored/observations=1");
}

#[test]
fn a005_words_that_decline_are_a_skip_and_no_sick_session() {
    let mut talk = quick().play(|_| Act::Say("Nothing worth recording here.".into()));
    for n in 0..10 {
        talk.feed([bash("s", &format!("t{n}"))]);
        talk.pass(1);
    }
    assert_eq!((talk.starts, talk.asked.len(), talk.titles().len()), (1, 10, 0));
    assert_eq!(talk.tally(), "skipped/prose=10");
    talk.all_settled_once();
}

#[test]
fn a007_every_call_has_an_outcome_and_they_add_up() {
    let replies = ["", "  \n", "Nothing.", "<skip/>", "<observation><title>T</title></observation>"];
    let mut at = 0;
    let mut talk = quick().play(move |_| {
        at += 1;
        Act::Say(replies[at - 1].into())
    });
    for n in 0..4 {
        talk.feed([bash("s", &format!("t{n}"))]);
        talk.pass(1);
    }
    // The two empty ones are one batch: asked again with a reminder, then taken for nothing to say.
    assert_eq!(
        talk.tally(),
        "retried/empty-reply=1 skipped/empty-reply=1 skipped/prose=1 skipped/skip=1 stored/observations=1"
    );
    assert_eq!(talk.machine.status().tally.because("empty-reply"), 2);
}

#[test]
fn a008_talk_costs_one_reminder_and_then_a_warning() {
    let mut talk = quick().play(|_| Act::Say("I'm watching the session, how can I help?".into()));
    for n in 0..3 {
        talk.feed([edit("s", &format!("t{n}"))]);
        talk.pass(1);
    }
    assert_eq!(talk.asked.len(), 6, "at most one reminder each");
    assert!(talk.machine.status().warnings[0].starts_with("observer not following format"));
    assert_eq!(talk.fate("s/t1"), Some(Final::Quarantined("prose-reply".into())));
    talk.all_settled_once();
}

#[test]
fn a009_a_bad_reply_never_stays_in_the_conversation() {
    let mut talk = quick();
    talk.feed([bash("s", "M1")]);
    talk.pass(1);
    talk.say("<observation><kind>x</kind><detail>y</detail></observation>");
    assert_ne!(talk.asked[0].run, talk.asked[1].run);
    assert!(!talk.asked[1].mentions("<kind>"));
    assert!(talk.asked[1].mentions("Answer with <observation> elements"));
    talk.say(&xml("M1"));
    assert_eq!(talk.tally(), "retried/unparsed=1 stored/observations=1");
}

#[test]
fn a010_the_wrong_kind_is_asked_again() {
    let mut talk = quick();
    talk.feed([bash("s", "M1")]);
    talk.pass(1);
    talk.say("<summary><completed>c</completed></summary>");
    talk.say(&xml("M1"));
    assert_eq!((talk.asked.len(), talk.titles()), (2, vec!["M1"]));
    assert!(talk.settled.iter().all(|it| it.summary.is_none()));
}

#[test]
fn a011_of_a_cut_reply_the_rest_is_asked_about_once() {
    let mut talk = Talk::new();
    talk.feed([bash("s", "t1"), bash("s", "t2"), bash("s", "t3"), bash("s", "t4")]);
    talk.pass(61);
    talk.act(Act::Cut(
        "<observation><title>1</title><events>1</events></observation><observation><title>2</title><events>2</events>\
         </observation><observation><title>3"
            .into(),
    ));
    assert_eq!(talk.titles(), ["1", "2"]);
    let keys: Vec<&str> = talk.asked[1].batch.keys().map(|it| it.as_str()).collect();
    assert_eq!(keys, ["s/t3", "s/t4"]);
    talk.act(Act::Cut("<observation><title>3</title><events>5</events></observation><observation><ti".into()));
    assert_eq!((talk.titles(), talk.asked.len(), talk.machine.status().truncated), (vec!["1", "2", "3"], 2, 2));
    assert_eq!(talk.fate("s/t4"), Some(Final::Quarantined("truncated".into())));
    talk.all_settled_once();
}

#[test]
fn a012_a_single_item_above_every_limit_is_cut_and_says_so() {
    let mut talk = quick();
    let text = format!("M0 {} M1", "word ".repeat(400_000));
    talk.feed([tool("s", "t", "Bash", "{}", &text)]);
    talk.pass(1);
    let asked = talk.asked[0].clone();
    assert!(asked.text.len() < 12_000 * 4, "{}", asked.text.len());
    assert!(asked.mentions("M0") && asked.mentions("M1") && asked.mentions("characters left out"));
}

#[test]
fn a013_too_long_is_halved_never_sent_again_unchanged() {
    let mut talk = Talk::new().play(|asked| {
        if asked.text.len() > 20_000 {
            return Act::Fail(ErrorKind::Overflow);
        }
        Act::Say(xml("kept"))
    });
    let eight = |n: usize| format!("M{n} {}", "y ".repeat(4_000));
    // Four fields of 3,000 characters at most make events of about 12 kB.
    let event = |n: usize| {
        let field = eight(n);
        let input = serde_json::json!({"a": field, "b": field, "c": field}).to_string();
        tool("s", &format!("t{n}"), "Bash", &input, &field)
    };
    talk.feed((1..=10).map(event));
    talk.pass(120);
    talk.all_settled_once();
    assert!(talk.asked.len() <= 20, "{}", talk.asked.len());
    let strip =
        |text: &str| text.split("<observed-").map(|it| it.get(8..).unwrap_or(it).to_owned()).collect::<String>();
    let refused: Vec<String> =
        talk.asked.iter().filter(|it| it.text.len() > 20_000).map(|it| strip(&it.text)).collect();
    assert_eq!(refused.iter().collect::<BTreeSet<_>>().len(), refused.len(), "no refused question came twice");
    assert!(talk.settled.iter().flat_map(|it| &it.finals).all(|(_, it)| *it == Final::Stored));
}

#[test]
fn a_single_event_that_never_fits_is_cut_and_then_given_up() {
    let mut talk = quick().play(|_| Act::Fail(ErrorKind::Overflow));
    talk.feed([tool("s", "t", "Bash", "{}", &"z ".repeat(9_000))]);
    talk.pass(10);
    assert_eq!(talk.fate("s/t"), Some(Final::Quarantined("too-long".into())));
    assert!(talk.asked.len() <= 8, "{}", talk.asked.len());
    let sizes: Vec<usize> = talk.asked.iter().map(|it| it.text.len()).collect();
    assert!(sizes.windows(2).all(|it| it[1] < it[0]), "{sizes:?}");
}

#[test]
fn a_full_conversation_is_begun_anew_with_the_same_question() {
    let mut talk = quick();
    talk.feed([bash("s", "t1")]);
    talk.pass(1);
    talk.say(&xml("one"));
    talk.feed([bash("s", "t2")]);
    talk.pass(1);
    talk.act(Act::Fail(ErrorKind::Overflow));
    assert_ne!(talk.asked[1].run, talk.asked[2].run);
    assert_eq!(talk.asked[2].batch.events.len(), 1);
    talk.say(&xml("two"));
    assert_eq!(talk.titles(), ["one", "two"]);
}

#[test]
fn a016_records_without_content_are_not_stored() {
    let mut talk = quick().play(|_| {
        Act::Say(
            "<observation><type>discovery</type><concepts><concept>gotcha</concept></concepts></observation>".into(),
        )
    });
    talk.feed([bash("s", "t")]);
    talk.pass(1);
    assert_eq!(talk.titles().len(), 0);
    assert_eq!(talk.fate("s/t"), Some(Final::Skipped("empty-record")));
}

#[test]
fn a019_what_a_finding_replaces_is_carried_along() {
    let mut talk = quick();
    talk.feed([bash("s", "t")]);
    talk.pass(1);
    talk.say("<observation><title>It was the cache after all</title><replaces>#12</replaces></observation>");
    assert_eq!(talk.settled[0].drafts[0].supersedes, [crate::memory::MemoryId(12)]);
}

#[test]
fn a024_a_call_that_hangs_is_ended_and_everything_else_goes_on() {
    let mut first = true;
    let mut talk = Talk::with(|config, _| {
        config.gather = SignedDuration::ZERO;
        config.linger = SignedDuration::ZERO;
        config.turn_timeout = SignedDuration::from_secs(2);
    })
    .play(move |_| if std::mem::take(&mut first) { Act::Hang } else { Act::Say(xml("t")) });
    for n in 0..4 {
        talk.feed([bash("s", &format!("t{n}"))]);
        talk.pass_to(talk.now + SignedDuration::from_millis(100));
    }
    talk.pass(20);
    talk.all_settled_once();
    assert_eq!(talk.machine.status().timeouts, 1);
    assert_eq!(talk.machine.status().slots.0, 1, "the dead run gave its slot back");
    assert!(talk.settled.iter().flat_map(|it| &it.finals).all(|(_, it)| *it == Final::Stored));
}

#[test]
fn a_sign_of_life_moves_the_watchdog_but_not_for_ever() {
    let mut talk = Talk::with(|config, _| config.turn_timeout = SignedDuration::from_secs(10));
    one_turn(&mut talk, "s", "t");
    let run = talk.asked[0].run;
    for _ in 0..7 {
        talk.pass(4);
        talk.step(Input::Report(Report { run, said: Said::Alive }));
    }
    assert_eq!(talk.machine.status().timeouts, 0, "28 s with signs of life");
    for _ in 0..3 {
        talk.pass(4);
        if talk.alive.contains(&run) {
            talk.step(Input::Report(Report { run, said: Said::Alive }));
        }
    }
    assert_eq!(talk.machine.status().timeouts, 1, "three times the limit is enough");
}

#[test]
fn a045_a_tool_call_in_a_reply_is_refused_and_asked_again_once() {
    let mut talk = quick();
    talk.feed([bash("s", "t")]);
    talk.pass(1);
    talk.act(Act::Tool);
    assert_eq!(talk.asked.len(), 2);
    talk.say(&xml("ok"));
    assert_eq!(talk.tally(), "retried/refused-tool=1 stored/observations=1");
}

#[test]
fn a048_no_call_is_made_beyond_the_cap_and_nothing_is_lost() {
    let mut talk = Talk::with(|config, _| {
        config.gather = SignedDuration::ZERO;
        config.linger = SignedDuration::ZERO;
        config.batch_events = 1;
        config.budget.daily_calls = 10;
    })
    .play(|asked| good(asked, "t"));
    talk.feed((0..50).map(|n| bash("s", &format!("t{n}"))));
    talk.pass(60);
    assert_eq!(talk.asked.len(), 10);
    assert!(talk.asked.iter().all(|it| it.expects == Expected::Observations));
    let status = talk.machine.status();
    let pause = status.pause.clone().expect("a pause");
    assert_eq!(
        (pause.reason.word(), pause.retry_at.map(|it| it.to_string())),
        ("budget", Some("2026-03-02T00:00:00Z".into()))
    );
    assert_eq!(status.waiting, 40);
    for _ in 0..5 {
        talk.pass(24 * 3_600);
    }
    talk.all_settled_once();
    assert_eq!(talk.asked.iter().filter(|it| it.expects == Expected::Observations).count(), 50);
}

#[test]
fn a049_tokens_are_counted_as_they_come() {
    let mut talk = quick().play(|asked| good(asked, "t"));
    for n in 0..5 {
        talk.feed([bash("s", &format!("t{n}"))]);
        talk.pass(1);
    }
    let today = talk.machine.status().today;
    assert_eq!((today.calls, today.input, today.output), (5, 5_000, 500));
    let calls: Vec<_> = talk.settled.iter().filter_map(|it| it.call.as_ref()).collect();
    assert!(calls.iter().all(|it| it.project_root == "/w/alpha") && calls.len() == 5);
}

#[test]
fn a052_a_service_that_always_fails_is_asked_few_times_and_wider_apart() {
    let mut talk = quick().play(|_| Act::Fail(ErrorKind::Server));
    talk.feed([bash("s", "t")]);
    talk.pass(600);
    let times: Vec<i64> = talk.asked.iter().map(|it| it.at.duration_since(start()).as_secs()).collect();
    assert!(times.len() <= 6, "{times:?}");
    let gaps: Vec<i64> = times.windows(2).map(|it| it[1] - it[0]).collect();
    assert!(gaps.windows(2).all(|it| it[1] > it[0]), "{gaps:?}");
    assert_eq!(talk.pause().map(|it| it.0), Some("server"));
    assert_eq!(talk.settled.len(), 0, "work is kept while the service is down");
    talk.pass(4 * 3_600);
    assert_eq!(talk.fate("s/t"), Some(Final::Quarantined("server".into())));
    assert!(talk.asked.len() <= 9);
}

#[test]
fn one_bad_batch_is_given_up_while_others_go_well() {
    let mut talk =
        quick().play(|asked| if asked.mentions("BAD") { Act::Fail(ErrorKind::Server) } else { good(asked, "t") });
    talk.feed([bash("bad", "BAD")]);
    for n in 0..200 {
        talk.feed([bash("good", &format!("t{n}"))]);
        talk.pass(3);
    }
    talk.pass(300);
    assert_eq!(talk.fate("bad/BAD"), Some(Final::Quarantined("server".into())));
    assert!(talk.asked.iter().filter(|it| it.mentions("BAD")).count() <= 6);
    talk.all_settled_once();
}

#[test]
fn a056_a_synthetic_reply_is_a_pause_at_once() {
    let mut talk = quick();
    talk.feed([bash("s", "t")]);
    talk.pass(1);
    talk.act(Act::Synthetic("You've hit your session limit · resets 3pm".into()));
    assert_eq!((talk.asked.len(), talk.settled.len(), talk.pause().map(|it| it.0)), (1, 0, Some("quota")));
    talk.feed([bash("other", "t")]);
    talk.pass(600);
    assert_eq!(talk.asked.len(), 1, "the pause is the account's");
}

#[test]
fn a058_a_quota_waits_for_its_reset_and_a_hiccup_does_not() {
    let mut talk = quick();
    talk.feed([bash("s", "t")]);
    talk.pass(1);
    let reset = talk.now.as_second() + 7_200;
    talk.act(Act::FailWith(ReplyError {
        kind: ErrorKind::RateLimit,
        status: Some(429),
        message: "insufficient_quota".into(),
        resets_at: Some(reset),
    }));
    assert_eq!(talk.pause(), Some(("quota", 7_200)));
    talk.pass(7_190);
    assert_eq!(talk.asked.len(), 1);
    talk.pass(11);
    talk.act(Act::Fail(ErrorKind::Server));
    talk.pass(3);
    talk.act(Act::Fail(ErrorKind::Server));
    talk.pass(7);
    talk.say(&xml("kept"));
    assert_eq!((talk.titles(), talk.asked.len(), talk.pause()), (vec!["kept"], 4, None));
}

#[test]
fn a059_a_pause_says_why_since_when_and_until_when() {
    let mut talk = quick();
    talk.feed([bash("s", "t")]);
    talk.pass(1);
    let since = talk.now;
    talk.act(error(ErrorKind::Billing, "Credit balance is too low"));
    let status = talk.machine.status();
    let pause = status.pause.expect("a pause");
    assert_eq!(
        (pause.reason.word(), pause.since, pause.detail.as_str()),
        ("billing", since, "Credit balance is too low")
    );
    assert!(pause.retry_at.is_some());
    assert_eq!((status.waiting, status.oldest), (1, Some(start())));
}

#[test]
fn a063_a_model_that_does_not_exist_is_a_matter_of_settings() {
    let mut talk = quick();
    talk.feed([bash("s", "t")]);
    talk.pass(1);
    talk.say("There's an issue with the selected model (foo-9). It may not exist.");
    assert_eq!((talk.settled.len(), talk.pause().map(|it| it.0)), (0, Some("config model")));
    talk.step(Input::TryNow);
    talk.say(&xml("kept"));
    assert_eq!(talk.titles(), ["kept"]);
}

#[test]
fn a064_the_same_error_again_and_again_is_shown_with_its_words() {
    let mut talk = quick().play(|_| error(ErrorKind::Server, "EACCES: /w/tmp"));
    talk.feed([bash("s", "t")]);
    talk.pass(600);
    let warnings = talk.machine.status().warnings;
    assert!(warnings.iter().any(|it| it.contains("EACCES: /w/tmp")), "{warnings:?}");
}

#[test]
fn a065_a_program_that_is_not_found_is_named_and_looked_for_again() {
    let mut talk = quick().play(|asked| good(asked, "t"));
    talk.refuse = (0..3).map(|_| Gone::NotFound { looked: vec!["PATH".into(), "~/.local/bin".into()] }).collect();
    talk.feed([bash("s", "t")]);
    talk.pass(1);
    let pause = talk.machine.status().pause.expect("a pause");
    assert_eq!((pause.reason.word(), pause.detail.as_str()), ("claude not found", "looked in PATH, ~/.local/bin"));
    talk.pass(200);
    assert_eq!(talk.titles(), ["t"]);
    assert_eq!(talk.tally(), "stored/observations=1", "what was never sent is no call");
}

#[test]
fn a073_starts_that_fail_give_their_slots_back() {
    let mut talk = quick().play(|asked| good(asked, "t"));
    talk.refuse = (0..5).map(|_| Gone::Refused("ENOENT".into())).collect();
    talk.feed([bash("s", "t")]);
    talk.pass(1_000);
    assert_eq!((talk.starts, talk.titles()), (6, vec!["t"]));
    assert!(talk.alive.len() <= 1);
}

#[test]
fn a_run_that_dies_in_mid_question_loses_nothing() {
    let mut first = true;
    let mut talk = quick().play(move |_| if std::mem::take(&mut first) { Act::Die } else { Act::Say(xml("t")) });
    talk.feed([bash("s", "t")]);
    talk.pass(30);
    assert_eq!(
        (talk.starts, talk.titles(), talk.tally().as_str()),
        (2, vec!["t"], "retried/died=1 stored/observations=1")
    );
}

#[test]
fn after_a_pause_one_question_goes_first() {
    let mut talk = quick();
    for session in ["a", "b", "c"] {
        talk.feed([bash(session, "t")]);
    }
    talk.pass(1);
    assert_eq!(talk.open.len(), 2);
    talk.act(Act::Fail(ErrorKind::Auth));
    talk.act(Act::Fail(ErrorKind::Auth));
    talk.pass(601);
    assert_eq!(talk.open.len(), 1, "a probe");
    talk.say(&xml("t"));
    assert_eq!(talk.open.len(), 2, "and then the others");
}

#[test]
fn the_share_of_the_five_hour_window_keeps_it_back() {
    let mut talk = quick().play(|asked| good(asked, "t"));
    talk.feed([bash("s", "t1")]);
    talk.pass(1);
    let run = talk.asked[0].run;
    let resets_at = Some(talk.now.as_second() + 3_600);
    let window = WindowUse { window: "five_hour".into(), used: Some(0.85), rejected: false, resets_at };
    talk.step(Input::Report(Report { run, said: Said::Window(window) }));
    talk.feed([bash("s", "t2")]);
    talk.pass(10);
    assert_eq!((talk.asked.len(), talk.pause().map(|it| it.0)), (1, Some("quota")));
    talk.pass(3_600);
    assert_eq!((talk.asked.len(), talk.pause()), (2, None));
}

#[test]
fn a_late_answer_to_a_given_up_question_changes_nothing() {
    let mut talk = Talk::with(|config, _| config.turn_timeout = SignedDuration::from_secs(5));
    one_turn(&mut talk, "s", "t");
    let old = talk.asked[0].clone();
    talk.pass(6);
    let reply = crate::gate::reply::Reply { text: xml("late"), ..Default::default() };
    let said = Said::Answered { ask: old.ask, reply, usage: Default::default(), model: None };
    talk.step(Input::Report(Report { run: old.run, said }));
    assert_eq!(talk.settled.len(), 0);
    talk.pass(5);
    assert_eq!(talk.asked[1].expects, Expected::Both);
    talk.say("<skip/>");
    talk.all_settled_once();
}
