//! Batches, turns, slots, runs.

use jiff::SignedDuration;

use super::talk::*;
use crate::gate::reply::Expected;
use crate::memory::{MemoryId, Source, estimate_tokens};
use crate::observer::machine::{HelperReads, Input, Observed};
use crate::observer::outcome::Final;
use crate::observer::prompt::Remembered;
use crate::transcript::event::Event;

fn seconds(n: i64) -> SignedDuration {
    SignedDuration::from_secs(n)
}

#[test]
fn a_turn_is_one_question_with_its_summary() {
    let mut talk = Talk::new();
    talk.feed([prompt("s", "u", "make it fast"), bash("s", "t1"), edit("s", "t2")]);
    talk.pass(10);
    assert_eq!(talk.asked.len(), 0, "a running turn gathers");
    talk.feed([answer("s", "a", "It is fast now."), turn_end("s", "e")]);
    assert_eq!(talk.asked.len(), 1, "the end of a turn makes it due at once");
    let asked = talk.asked[0].clone();
    assert_eq!(asked.expects, Expected::Both);
    for part in [
        "make it fast",
        "tool=\"Bash\"",
        "tool=\"Edit\"",
        "It is fast now.",
        "cwd=\"/w/alpha\"",
        "time=\"2026-03-01T10:00:00Z\"",
    ] {
        assert!(asked.mentions(part), "{part} in {}", asked.text);
    }
    talk.say("<observation><title>Faster</title><events>3</events></observation><summary><completed>done</completed></summary>");
    let settled = &talk.settled[0];
    assert_eq!(settled.drafts[0].cites, ["s/t2".into()]);
    assert_eq!(settled.summary.as_ref().map(|it| it.1), Some(Source::Observer));
    assert_eq!(talk.fate("s/t1"), Some(Final::Skipped("model-skip")));
    assert_eq!(talk.fate("s/t2"), Some(Final::Stored));
    assert_eq!(talk.tally(), "stored/observations=1");
    talk.all_settled_once();
}

#[test]
fn what_arrives_meanwhile_is_the_next_batch() {
    let mut talk = Talk::with(|config, _| config.gather = seconds(0));
    talk.feed([bash("s", "t1")]);
    talk.pass(2);
    assert_eq!(talk.asked.len(), 1);
    talk.feed([bash("s", "t2"), bash("s", "t3")]);
    talk.feed([bash("s", "t4")]);
    talk.pass(30);
    assert_eq!(talk.asked.len(), 1, "one question at a time in a session");
    talk.say(&xml("one"));
    assert_eq!(talk.asked.len(), 2, "and the rest at once");
    let keys: Vec<&str> = talk.asked[1].batch.keys().map(|it| it.as_str()).collect();
    assert_eq!(keys, ["s/t2", "s/t3", "s/t4"]);
    assert_eq!(talk.starts, 1, "in the same conversation");
    assert!(!talk.asked[1].mentions("already_remembered"));
}

#[test]
fn a050_a_burst_is_few_questions_and_all_of_it_is_covered() {
    let mut talk =
        Talk::with(|config, _| config.gather = seconds(0)).play(|asked| Act::Say(xml(&asked.text.len().to_string())));
    for n in 0..30 {
        talk.feed([bash("s", &format!("t{n}"))]);
        talk.pass_to(talk.now + SignedDuration::from_millis(66));
    }
    talk.pass(20);
    assert!(talk.asked.len() <= 3, "{}", talk.asked.len());
    talk.all_settled_once();
}

#[test]
fn the_pace_of_a_real_session_costs_a_quarter_of_a_question_a_call() {
    // 40 tool calls, 7 s apart, in turns of 8; the observer needs 4 s.
    let mut talk = Talk::new().play(|_| Act::Say(format!("{}<summary><completed>c</completed></summary>", xml("t"))));
    talk.takes = seconds(4);
    for turn in 0..5 {
        talk.feed([prompt("s", &format!("u{turn}"), "go on with it")]);
        for n in 0..8 {
            talk.feed([bash("s", &format!("t{turn}-{n}"))]);
            talk.pass(7);
        }
        talk.feed([answer("s", &format!("a{turn}"), "that is done now"), turn_end("s", &format!("e{turn}"))]);
        talk.pass(20);
    }
    assert!(talk.asked.len() * 4 <= 40, "{} questions for 40 calls", talk.asked.len());
    talk.all_settled_once();
}

/// What claude-mem sends for the same work, by the description of its write path: a first message of 6,200 characters,
/// one request for each tool call and each turn's end, each with all that was said before in the same conversation;
/// a call's message has 900 characters of its own and its parameters and outcome as JSON text made JSON again, cut at
/// 16,000 characters each.
fn prompt_tokens_of_one_request_a_call(calls: &[(String, String)], turn: usize, answer: &str) -> u64 {
    let twice = |text: &str| serde_json::Value::from(serde_json::Value::from(text).to_string()).to_string();
    let shown = |text: &str| twice(text).chars().take(16_000).collect::<String>();
    let (mut context, mut total) = (6_200 / 4_u64, 6_200 / 4_u64);
    for (n, (input, output)) in calls.iter().enumerate() {
        let message = 900 / 4 + u64::from(estimate_tokens(&shown(input))) + u64::from(estimate_tokens(&shown(output)));
        context += message;
        total += context;
        context += u64::from(estimate_tokens(answer));
        if (n + 1) % turn == 0 {
            context += 2_200 / 4;
            total += context;
            context += u64::from(estimate_tokens(answer));
        }
    }
    total
}

#[test]
fn the_prompt_tokens_of_a_real_session_are_less_than_half_of_one_request_a_call() {
    // 48 calls of the sizes sessions have, 7 s apart, in turns of 8.
    let code = "    let pool = Pool::new(config.size.max(1), \"main\");\n";
    let sizes = [("Read", 120, 8_000), ("Grep", 80, 1_500), ("Edit", 1_600, 700), ("Bash", 120, 2_500)];
    let calls: Vec<(&str, String, String)> = (0..48)
        .map(|n| {
            let (name, input, output) = sizes[n % 4];
            let text = |size: usize| code.repeat(size / code.len() + 1);
            let input =
                serde_json::json!({"file_path": format!("/w/alpha/src/{n}.rs"), "new_string": text(input)}).to_string();
            (name, input, text(output))
        })
        .collect();
    let answer = xml("A title of usual length that says what was found and where it was found");
    let plain: Vec<(String, String)> = calls.iter().map(|it| (it.1.clone(), it.2.clone())).collect();
    let theirs = prompt_tokens_of_one_request_a_call(&plain, 8, &answer);

    let mut talk =
        Talk::new().play(|asked| good(asked, "A title of usual length that says what was found and where it was"));
    talk.takes = seconds(4);
    talk.measured = true;
    for (n, (name, input, output)) in calls.iter().enumerate() {
        if n % 8 == 0 {
            talk.feed([prompt("s", &format!("u{n}"), "go on with the next part of it")]);
        }
        talk.feed([tool("s", &format!("t{n}"), name, input, output)]);
        talk.pass(7);
        if n % 8 == 7 {
            talk.feed([answer_event(n), turn_end("s", &format!("e{n}"))]);
            talk.pass(20);
        }
    }
    talk.all_settled_once();
    let ours = talk.prompt_tokens;
    println!("prompt tokens for 48 calls: {ours} in {} requests, against {theirs} in 54", talk.asked.len());
    assert!(talk.asked.len() * 4 <= 48, "{} requests", talk.asked.len());
    assert!(ours * 2 <= theirs, "{ours} against {theirs}");
}

fn answer_event(n: usize) -> Event {
    answer("s", &format!("a{n}"), "that part is done now and tested")
}

#[test]
fn a_batch_is_bounded_and_of_one_project() {
    let mut talk = Talk::with(|config, _| config.batch_events = 4);
    let many: Vec<Event> = (0..10).map(|n| bash("s", &format!("t{n}"))).collect();
    talk.feed(many);
    assert_eq!(talk.asked[0].batch.events.len(), 4);

    let mut talk = Talk::new();
    let observed = |name: &str, root: &str| Observed { event: bash("s", name), project: Some(project(root)) };
    let events = vec![observed("t1", "alpha"), observed("t2", "alpha"), observed("t3", "beta")];
    talk.step(Input::Events { session: "s".into(), live: true, events });
    talk.pass(61);
    assert_eq!(talk.asked[0].batch.events.len(), 2);
    assert_eq!(talk.asked[0].batch.project, Some(project("alpha")));
}

#[test]
fn a_new_run_is_told_what_is_on_file() {
    let mut talk = Talk::new();
    let chosen = Remembered { id: Some(MemoryId(41)), type_id: "decision".into(), title: "Chose <skip/> tags".into() };
    talk.on_file.insert("s".into(), vec![chosen]);
    talk.feed([bash("s", "t1"), turn_end("s", "e1")]);
    assert!(
        talk.asked[0].text.starts_with("<already_remembered>\n- #41 decision: Chose &lt;skip/> tags\n</already"),
        "{}",
        talk.asked[0].text
    );
    talk.say("<observation><title>Limit raised</title></observation><skip_summary/>");
    talk.feed([bash("s", "t2"), turn_end("s", "e2")]);
    assert!(!talk.asked[1].mentions("already_remembered"), "the same run knows");
    talk.say("<skip/>");
    talk.pass(200); // idle: the run ends
    assert!(talk.alive.is_empty() && talk.machine.idle());
    talk.feed([bash("s", "t3"), turn_end("s", "e3")]);
    assert_eq!(talk.starts, 2);
    assert!(talk.asked[2].mentions("- #2 change: Limit raised\n"));
}

#[test]
fn what_is_not_written_yet_is_told_as_well() {
    let mut talk = Talk::with(|config, _| config.context_tokens = 1_000);
    talk.feed([bash("s", "t1"), turn_end("s", "e1")]);
    talk.say("<observation><type>bugfix</type><title>Limit raised</title></observation><skip_summary/>");
    talk.on_file.clear(); // the database is slow
    talk.feed([bash("s", "t2"), turn_end("s", "e2")]);
    assert!(talk.asked[1].text.starts_with("<already_remembered>\n- bugfix: Limit raised\n"), "{}", talk.asked[1].text);
}

#[test]
fn settling_asks_at_once_and_sums_up_when_the_turn_is_over() {
    let mut talk = Talk::new();
    talk.feed([prompt("s", "u", "do it"), bash("s", "t1"), answer("s", "a", "half way there")]);
    talk.step(Input::Settle { session: "s".into(), over: false });
    assert_eq!(talk.asked[0].expects, Expected::Observations);
    talk.say("<skip/>");
    talk.step(Input::Settle { session: "s".into(), over: true });
    assert_eq!(talk.asked[1].expects, Expected::Summary);
    assert!(talk.asked[1].mentions("half way there"));
    talk.say("<summary><completed>c</completed></summary>");
    talk.feed([bash("s", "t2")]);
    talk.step(Input::Settle { session: "s".into(), over: true });
    assert_eq!(talk.asked[2].expects, Expected::Both);
    talk.say("<skip/>");
    talk.step(Input::Settle { session: "s".into(), over: true });
    talk.pass(1_000);
    assert_eq!(talk.asked.len(), 3);
    talk.all_settled_once();
}

#[test]
fn an_event_taken_back_before_it_was_asked_about_is_forgotten() {
    let mut talk = Talk::new();
    talk.feed([bash("s", "t1"), bash("s", "t2")]);
    assert!(talk.machine.retract(&"s".into(), &"s/t1".into()));
    assert!(!talk.machine.retract(&"s".into(), &"s/t1".into()));
    talk.feed([turn_end("s", "e")]);
    assert_eq!(talk.asked[0].batch.keys().map(|it| it.as_str()).collect::<Vec<_>>(), ["s/t2", "s/e"]);
}

#[test]
fn a_helpers_turn_is_no_turn_of_the_session() {
    let mut talk = Talk::new();
    let mut end = turn_end("s", "he");
    end.agent = Some("h".into());
    let mut work = bash("s", "ht");
    work.agent = Some("h".into());
    talk.feed([bash("s", "t1"), work, end]);
    talk.pass(5);
    assert_eq!(talk.asked.len(), 0);
    talk.feed([turn_end("s", "e")]);
    assert_eq!(talk.asked[0].batch.agent, None);
}

#[test]
fn a053_a_run_is_replaced_before_its_conversation_grows_and_the_digest_goes_along() {
    let mut talk = Talk::with(|config, _| {
        config.gather = seconds(0);
        config.linger = seconds(0);
        config.context_tokens = 1_050; // each answer reports 1,100
    })
    .play(|asked| Act::Say(xml(&format!("finding {}", asked.ask.0 % 1_000))));
    for n in 0..200 {
        talk.feed([bash("s", &format!("t{n}"))]);
        talk.pass(1);
    }
    assert_eq!(talk.asked.len(), 200);
    assert_eq!(talk.starts, 200);
    let sizes: Vec<usize> = talk.asked.iter().map(|it| it.text.len()).collect();
    let early = sizes[100..110].iter().max().copied().unwrap_or_default();
    let late = sizes[190..].iter().max().copied().unwrap_or_default();
    assert!(late * 100 <= early * 110, "{early} then {late}: only numbers get longer");
    assert!(talk.asked[5].mentions("<already_remembered>\n- #2 change: finding"), "{}", talk.asked[5].text);
}

#[test]
fn a051_nothing_is_asked_while_nobody_works() {
    let mut talk = Talk::new().play(|_| Act::Say("<skip/>".into()));
    talk.feed([bash("s", "t1"), turn_end("s", "e")]);
    talk.pass(5);
    let calls = talk.asked.len();
    talk.pass(600);
    assert_eq!((talk.asked.len(), talk.alive.len()), (calls, 0));
}

#[test]
fn a026_words_without_work_are_settled_without_asking() {
    let mut talk = Talk::new();
    for n in 0..10 {
        let name = |it: &str| format!("{it}{n}");
        talk.feed([
            prompt("s", &name("u"), "ping"),
            answer("s", &name("a"), "HEARTBEAT_OK"),
            turn_end("s", &name("e")),
        ]);
    }
    talk.pass(1_000);
    assert_eq!(talk.asked.len(), 0);
    assert_eq!(talk.fate("s/a3"), Some(Final::Skipped("no-work")));
    talk.all_settled_once();
}

#[test]
fn a020_a_summary_the_model_does_not_give_is_made_of_the_closing_words() {
    let mut talk = Talk::new();
    talk.feed([prompt("s", "u", "fix the cache"), answer("s", "a", "done: cache fixed"), turn_end("s", "e")]);
    assert_eq!(talk.asked[0].expects, Expected::Summary);
    talk.say("The work is going well so far.");
    assert_eq!(talk.asked.len(), 2);
    assert!(talk.asked[1].mentions("An earlier answer"));
    talk.say("It all looks fine, I think.");
    let (summary, source) = talk.settled[0].summary.clone().expect("a summary");
    assert_eq!(source, Source::Fallback);
    assert!(summary.completed.contains("ache fixed") && summary.request.contains("the cache"), "{summary:?}");
    talk.pass(1_000);
    assert_eq!((talk.asked.len(), talk.settled.len()), (2, 1));
    talk.all_settled_once();
}

#[test]
fn a021_a_declined_summary_is_declined_for_good() {
    let mut talk = Talk::new();
    talk.feed([prompt("s", "u", "have a look"), answer("s", "a", "I had a look."), turn_end("s", "e")]);
    talk.say("<skip_summary/>");
    talk.pass(1_000);
    assert_eq!((talk.asked.len(), talk.settled.len()), (1, 1));
    assert_eq!(talk.settled[0].summary, None);
}

#[test]
fn a_summary_left_out_is_asked_for_once_by_itself() {
    let mut talk = Talk::new();
    talk.feed([bash("s", "t1"), answer("s", "a", "cache fixed and tested"), turn_end("s", "e")]);
    talk.say(&xml("one"));
    assert_eq!(talk.asked[1].expects, Expected::Summary);
    assert!(talk.asked[1].mentions("cache fixed and tested"));
    assert!(!talk.asked[1].mentions("tool=\"Bash\""), "what was shown is not shown again");
    talk.say("<summary><completed>cache</completed></summary>");
    assert_eq!(talk.settled[1].summary.as_ref().map(|it| it.0.completed.as_str()), Some("cache"));
    talk.all_settled_once();
}

#[test]
fn a_session_that_falls_silent_in_a_turn_is_summed_up_once() {
    let mut talk = Talk::new().play(|asked| match asked.expects {
        Expected::Summary => Act::Say("<summary><learned>l</learned></summary>".into()),
        _ => Act::Say(xml("t")),
    });
    talk.feed([prompt("s", "u", "do it"), bash("s", "t1"), answer("s", "a", "half way there")]);
    talk.pass(2_000);
    assert_eq!(talk.asked.iter().map(|it| it.expects).collect::<Vec<_>>(), [Expected::Observations, Expected::Summary]);
    talk.all_settled_once();
    assert!(talk.machine.idle());
}

#[test]
fn a055_reading_helpers_cost_nothing_of_their_own() {
    let reads = || {
        (0..30).map(|n| {
            let mut event = tool(
                "s",
                &format!("r{n}"),
                if n % 2 == 0 { "Read" } else { "Grep" },
                r#"{"file_path":"/w/alpha/x"}"#,
                "long text",
            );
            event.agent = Some("h1".into());
            event
        })
    };
    let mut talk = Talk::new().play(|_| Act::Say("<skip/>".into()));
    talk.feed(reads());
    talk.pass(400);
    assert_eq!(talk.asked.len(), 0);
    assert_eq!(talk.fate("s/r7"), Some(Final::Skipped("helper-read")));

    let mut talk = Talk::new().play(|_| Act::Say("<skip/>".into()));
    talk.feed(reads());
    talk.feed([bash("s", "t1"), turn_end("s", "e")]);
    talk.pass(5);
    assert_eq!(talk.asked.len(), 1);
    assert!(talk.asked[0].mentions(">/w/alpha/x</event>") && !talk.asked[0].mentions("long text"));
    talk.all_settled_once();

    let mut talk = Talk::with(|config, _| config.helper_reads = HelperReads::Skip).play(|_| Act::Say("<skip/>".into()));
    talk.feed(reads());
    assert_eq!(talk.fate("s/r7"), Some(Final::Skipped("helper-read")));
    talk.feed([bash("s", "t1"), turn_end("s", "e")]);
    assert!(!talk.asked[0].mentions("/w/alpha/x"));
    talk.all_settled_once();

    let mut talk = Talk::with(|config, _| config.helper_reads = HelperReads::Ask).play(|_| Act::Say("<skip/>".into()));
    talk.feed(reads());
    talk.pass(400);
    assert!((1..=3).contains(&talk.asked.len()));
}

#[test]
fn a072_twenty_sessions_share_two_slots_and_none_starves() {
    let mut talk = Talk::with(|config, _| {
        config.gather = seconds(0);
        config.linger = seconds(0);
    })
    .play(|asked| good(asked, "t"));
    talk.takes = SignedDuration::from_millis(200);
    for round in 0..5 {
        for session in 0..20 {
            talk.feed([bash(&format!("s{session}"), &format!("t{round}"))]);
        }
    }
    let begun = talk.now;
    talk.pass(60);
    talk.all_settled_once();
    assert_eq!(talk.peak, 2);
    // 20 sessions, 2 at a time, 0.2 s each: the last of the first round is served within twice its fair share.
    let mut first = std::collections::BTreeMap::new();
    for asked in &talk.asked {
        first.entry(asked.session().to_owned()).or_insert_with(|| asked.at.duration_since(begun));
    }
    let longest = first.values().max().copied().unwrap_or_default();
    assert_eq!(first.len(), 20);
    assert!(longest <= SignedDuration::from_millis(4_000), "{longest:?}");
}

#[test]
fn live_sessions_go_before_old_work() {
    let mut talk = Talk::with(|config, _| {
        config.slots = 1;
        config.linger = seconds(0);
        config.gather = seconds(0);
    });
    talk.feed_as(false, [bash("old1", "t")]);
    talk.feed_as(false, [bash("old2", "t")]);
    talk.pass(1);
    assert_eq!(talk.asked[0].session(), "old1");
    talk.feed([bash("new", "t")]);
    talk.pass(1);
    talk.say("<skip/>");
    assert_eq!(talk.asked[1].session(), "new");
    talk.say("<skip/>");
    assert_eq!(talk.asked[2].session(), "old2");
}

#[test]
fn old_work_is_asked_about_in_few_questions() {
    let mut talk = Talk::new().play(|_| Act::Say(format!("{}<summary><completed>c</completed></summary>", xml("t"))));
    let mut all = Vec::new();
    for turn in 0..6 {
        all.push(prompt("s", &format!("u{turn}"), "next thing please"));
        all.extend((0..5).map(|n| bash("s", &format!("t{turn}-{n}"))));
        all.push(turn_end("s", &format!("e{turn}")));
    }
    talk.feed_as(false, all);
    talk.pass(10);
    assert_eq!(talk.asked.len(), 1);
    talk.all_settled_once();
}

#[test]
fn a060_more_than_it_can_use_stays_in_the_transcript() {
    let mut talk = Talk::new();
    let big = "x".repeat(50_000);
    let mut fed = 0;
    while talk.machine.room(&"s".into()) && fed < 5_000 {
        talk.feed([tool("s", &format!("t{fed}"), "Bash", "{}", &big)]);
        fed += 1;
    }
    assert!(fed < 300, "{fed}");
}

#[test]
fn the_user_can_hold_it_and_let_go() {
    let mut talk = Talk::new();
    talk.step(Input::Hold(true));
    talk.feed([bash("s", "t1"), turn_end("s", "e")]);
    talk.pass(3_600);
    assert_eq!((talk.asked.len(), talk.pause()), (0, Some(("user", -1))));
    talk.step(Input::Hold(false));
    assert_eq!((talk.asked.len(), talk.pause()), (1, None));
}

#[test]
fn stopping_ends_every_run_and_asks_nothing_more() {
    let mut talk = Talk::new();
    talk.feed([bash("a", "t"), turn_end("a", "e")]);
    talk.feed([bash("b", "t"), turn_end("b", "e")]);
    assert_eq!(talk.alive.len(), 2);
    talk.step(Input::Stop);
    assert_eq!(talk.alive.len(), 0);
    talk.feed([bash("c", "t"), turn_end("c", "e")]);
    talk.pass(1_000);
    assert_eq!((talk.asked.len(), talk.settled.len()), (2, 0));
}

#[test]
fn fences_are_never_the_same_twice() {
    let mut talk = Talk::with(|config, _| config.gather = seconds(0)).play(|_| Act::Say("<skip/>".into()));
    for n in 0..20 {
        talk.feed([bash("s", &format!("t{n}"))]);
        talk.pass(5);
    }
    let fences: std::collections::BTreeSet<&str> =
        talk.asked.iter().filter_map(|it| it.text.split("<observed-").nth(1)?.get(..8)).collect();
    assert_eq!(fences.len(), talk.asked.len());
}

#[test]
fn thousands_of_old_sessions_do_not_slow_each_other() {
    let mut talk = Talk::new().play(|asked| good(asked, "t"));
    let begun = crate::config::monotonic();
    for n in 0..3_000 {
        let session = format!("old{n}");
        talk.feed_as(false, [prompt(&session, "u", "do this"), bash(&session, "t"), turn_end(&session, "e")]);
        talk.step(Input::Settle { session: session.as_str().into(), over: true });
    }
    talk.pass(60);
    talk.all_settled_once();
    assert_eq!(talk.asked.len(), 3_000);
    let each = begun.elapsed() / 9_000;
    println!("{each:?} an event");
    // A third of a millisecond in a debug build; what grows with the number of sessions would be far more.
    assert!(each < std::time::Duration::from_millis(5), "{each:?}");
}
