use super::*;
use crate::config::Settings;
use crate::memory::{Draft, Source, Summary};
use crate::observer::batch::Batch;
use crate::observer::machine::{Call, Settled};
use crate::observer::outcome::{CallOutcome, Final};
use crate::observer::provider::{AskKey, RunKey, Usage};
use crate::store::api::Outcome;
use crate::transcript::event::{Answer, Event, ToolCall, ToolFacts, ToolOutcome, TurnEnd};

fn now() -> Timestamp {
    "2026-03-01T10:00:00Z".parse().expect("a timestamp")
}

fn event(key: &str, body: Body) -> Event {
    Event { time: Some(now()), turn: 3, ..Event::new(key.into(), "s".into(), body) }
}

fn edit(key: &str, file: &str) -> Event {
    let call = ToolCall {
        id: key.into(),
        name: "Edit".into(),
        input: format!(r#"{{"file_path":"{file}"}}"#),
        output: "ok".into(),
        outcome: ToolOutcome::Ok,
        facts: ToolFacts::default(),
    };
    event(key, Body::Tool(call))
}

fn settled(drafts: Vec<Draft>, finals: Vec<(&str, Final)>) -> Settled {
    let events = vec![
        edit("t1", "/w/alpha/a.rs"),
        edit("t2", "/w/alpha/b.rs"),
        event("a", Body::Answer(Answer { text: "done".into(), ..Answer::default() })),
        event("e", Body::TurnEnd(TurnEnd::Marked)),
    ];
    let project = Some(crate::memory::ProjectRef { root: "/w/alpha".into(), name: "alpha".into(), worktree: None });
    let batch = Batch { session: Some("s".into()), project, cwd: Some("/w/alpha".into()), events, ..Batch::default() };
    Settled {
        session: "s".into(),
        live: true,
        batch: Arc::new(batch),
        drafts,
        summary: None,
        finals: finals.into_iter().map(|(key, fate)| (key.into(), fate)).collect(),
        call: Some(Call {
            run: RunKey(7),
            ask: AskKey(8),
            session: "s#older".into(),
            project_root: "/w/alpha".into(),
            provider: "claude".into(),
            model: "claude-haiku-4-5".into(),
            outcome: CallOutcome::Stored,
            reason: "observations".into(),
            usage: Usage { input: 900, cached: 50, output: 50, ..Usage::default() },
            cost: 0.001,
        }),
    }
}

fn draft(title: &str, cites: &[&str]) -> Draft {
    Draft { title: title.into(), cites: cites.iter().map(|it| EventKey::from(*it)).collect(), ..Draft::default() }
}

#[test]
fn each_observation_gets_the_files_of_the_events_it_cites() {
    let drafts = vec![draft("first", &["t1"]), draft("second", &["t2"])];
    let verdict =
        verdict(settled(drafts, vec![("t1", Final::Stored), ("t2", Final::Stored)]), &crate::mode::code(), now());
    let files: Vec<_> = verdict.memories.iter().map(|it| it.files_modified.clone()).collect();
    assert_eq!(files, [vec!["a.rs".to_owned()], vec!["b.rs".to_owned()]]);
    assert_eq!(verdict.memories[0].model.as_deref(), Some("claude-haiku-4-5"));
    assert_eq!(verdict.memories[0].source, Source::Observer);
    assert_eq!(verdict.memories.iter().map(|it| it.work_tokens).sum::<u32>(), 1_000);
    assert_eq!(verdict.call.map(|it| (it.run, it.session)), Some((7, "s".into())));
}

#[test]
fn every_final_becomes_an_outcome_and_marks_become_none() {
    let finals = vec![
        ("t1", Final::Stored),
        ("t2", Final::Quarantined("timeout".into())),
        ("a", Final::Skipped("context")),
        ("e", Final::Skipped("context")),
    ];
    let verdict = verdict(settled(vec![draft("first", &["t1"])], finals), &crate::mode::code(), now());
    let got: Vec<(&str, Outcome, &str)> =
        verdict.decided.iter().map(|it| (it.key.as_str(), it.outcome, it.reason.as_ref())).collect();
    let expected = [
        ("t1", Outcome::Stored, "stored"),
        ("t2", Outcome::Quarantined, "timeout"),
        ("a", Outcome::Skipped, "context"),
    ];
    assert_eq!(got, expected);
}

#[test]
fn a016_what_gate_five_refuses_is_no_stored_event() {
    let verdict = verdict(settled(vec![draft(" ", &["t1"])], vec![("t1", Final::Stored)]), &crate::mode::code(), now());
    assert!(verdict.memories.is_empty());
    assert_eq!((verdict.decided[0].outcome, verdict.decided[0].reason.as_ref()), (Outcome::Skipped, "empty-record"));
}

#[test]
fn a_summary_is_a_memory_that_rests_on_what_nothing_else_rests_on() {
    let mut settled =
        settled(vec![draft("first", &["t1"])], vec![("t1", Final::Stored), ("a", Final::Stored), ("e", Final::Stored)]);
    let summary = Summary { request: "make it\u{1b} fast".into(), completed: "it is".into(), ..Summary::default() };
    settled.summary = Some((summary, Source::Observer));
    let verdict = verdict(settled, &crate::mode::code(), now());
    let memory = &verdict.memories[1];
    assert_eq!(
        (memory.kind, memory.type_id.as_str(), memory.title.as_str()),
        (Kind::Summary, "summary", "make it␛ fast")
    );
    assert_eq!(memory.keys, ["a".into()]);
    assert_eq!(memory.created_at, now());
}

#[test]
fn a038_what_older_work_would_cost_is_known_before() {
    let config = Config::of(&Settings::default(), "claude");
    let one = estimate(&config, &crate::mode::code(), 10, 20_000);
    assert_eq!(one.calls, 1);
    let many = estimate(&config, &crate::mode::code(), 500, 2_000_000);
    assert_eq!(many.calls, 34);
    assert!(many.cost.is_some_and(|it| it > 0.1 && it < 5.0), "{many:?}");
    assert_eq!(
        estimate(&Config::of(&Settings::default(), "offline"), &crate::mode::code(), 500, 2_000_000),
        Estimate::default()
    );
}
