//! A thousand random scripts of replies, deaths, stalls, quotas and restarts: each event exactly one final outcome, no
//! call without a grant, and all sums equal.

use jiff::SignedDuration;

use super::talk::*;
use crate::gate::reply::{ErrorKind, Expected, ReplyError};
use crate::memory::Timestamp;
use crate::observer::machine::Input;
use crate::observer::provider::Gone;

/// A small generator of its own, so that a failing script is named by its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn act(dice: &mut Dice, asked: &Asked, now: Timestamp) -> Act {
    let summary =
        if asked.expects == Expected::Observations { "" } else { "<summary><completed>c</completed></summary>" };
    match dice.roll(24) {
        0 => Act::Die,
        1 => Act::Hang,
        2 => Act::Fail(ErrorKind::Server),
        3 => Act::Fail(ErrorKind::Overflow),
        4 => Act::FailWith(ReplyError {
            kind: ErrorKind::Quota,
            resets_at: Some(now.as_second() + 600),
            ..ReplyError::default()
        }),
        5 => Act::Fail(ErrorKind::RateLimit),
        6 => Act::Fail(ErrorKind::Auth),
        7 => Act::Fail(ErrorKind::Invalid),
        8 => Act::Say(String::new()),
        9 => Act::Say("How can I help you today?".into()),
        10 => Act::Say("<observation><kind>x</kind></observation>".into()),
        11 => Act::Say("<skip/>".into()),
        12 => Act::Say("Nothing here.".into()),
        13 => Act::Tool,
        14 => Act::Cut(format!("{}<observation><ti", xml("cut"))),
        15 => Act::Cut("<observ".into()),
        16 => Act::Say(xml("no summary")),
        17 => Act::Synthetic("API Error: 529 Overloaded".into()),
        _ => Act::Say(format!("{}{summary}", xml("good"))),
    }
}

fn script(seed: u64) {
    let mut dice = Dice(seed);
    let cap = 5 + dice.roll(400);
    let mut talk = Talk::with(|config, _| {
        config.linger = SignedDuration::from_millis(100);
        config.gather = SignedDuration::from_secs(i64::try_from(dice.roll(20)).unwrap_or(0));
        config.batch_events = 1 + usize::try_from(dice.roll(6)).unwrap_or(0);
        config.turn_timeout = SignedDuration::from_secs(30);
        config.budget.daily_calls = cap;
        config.slots = 1 + u32::try_from(dice.roll(3)).unwrap_or(0);
    });
    let slots = talk.machine.status().slots.1;
    let mut number = 0;
    for _ in 0..40 {
        match dice.roll(6) {
            0..=2 => {
                let session = format!("s{}", dice.roll(4));
                let live = dice.roll(4) > 0;
                let mut events = Vec::new();
                for _ in 0..=dice.roll(4) {
                    number += 1;
                    let name = format!("e{number}");
                    events.push(match dice.roll(6) {
                        0 => prompt(&session, &name, "go on please"),
                        1 => answer(&session, &name, "this is done now"),
                        2 => turn_end(&session, &name),
                        _ => bash(&session, &name),
                    });
                }
                talk.feed_as(live, events);
            }
            3 => talk.pass(i64::try_from(dice.roll(120)).unwrap_or(1)),
            4 if dice.roll(5) == 0 => talk.refuse.push_back(match dice.roll(2) {
                0 => Gone::NotFound { looked: vec!["PATH".into()] },
                _ => Gone::Refused("EAGAIN".into()),
            }),
            _ => {
                if let Some(asked) = talk.open.front().cloned() {
                    let act = act(&mut dice, &asked, talk.now);
                    talk.act(act);
                }
            }
        }
        assert!(talk.alive.len() <= slots, "seed {seed}: {} runs", talk.alive.len());
    }
    // Work is kept over any trouble; when the trouble ends, everything comes to its end.
    talk.refuse.clear();
    talk.script = Some(Box::new(|asked| {
        let summary =
            if asked.expects == Expected::Observations { "" } else { "<summary><completed>c</completed></summary>" };
        Some(Act::Say(format!("{}{summary}", xml("late"))))
    }));
    while let Some(asked) = talk.open.front().cloned() {
        let act = talk.script.as_mut().and_then(|it| it(&asked)).expect("the script answers");
        talk.act(act);
    }
    for _ in 0..40 {
        talk.step(Input::TryNow);
        talk.pass(24 * 3_600);
    }
    for (key, count) in &talk.events {
        assert_eq!(*count, 1, "seed {seed}: {key}");
    }
    // Sums: questions that left = calls with an outcome = rows written; none above the day's cap.
    let status = talk.machine.status();
    let rows = talk.accounts.len() + talk.settled.iter().filter(|it| it.call.is_some()).count();
    assert_eq!(status.tally.calls, talk.asked.len() as u64, "seed {seed}");
    assert_eq!(rows as u64, status.tally.calls, "seed {seed}");
    assert_eq!(status.tally.by.values().sum::<u64>(), status.tally.calls, "seed {seed}");
    let mut days = std::collections::BTreeMap::<String, u64>::new();
    for asked in &talk.asked {
        *days.entry(asked.at.strftime("%F").to_string()).or_default() += 1;
    }
    assert!(days.values().all(|it| *it <= cap), "seed {seed}: {days:?} above {cap}");
    assert!(talk.machine.idle(), "seed {seed}: {status:?}");
}

#[test]
fn each_event_has_exactly_one_outcome_whatever_happens() {
    for seed in 0..1_000 {
        script(seed);
    }
}
