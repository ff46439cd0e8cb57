//! Events in, verdicts out.

use std::path::Path;

use super::*;
use crate::memory::{AgentId, EventKey, Timestamp};
use crate::transcript::event::{Answer, Notice, Prompt, PromptKind, ToolCall, ToolFacts, ToolOutcome, TurnEnd};

fn gates(change: impl FnOnce(&mut Settings)) -> Gates {
    let mut settings = Settings::default();
    change(&mut settings);
    let mut dirs = Dirs::under(Path::new("/home/u/.cmem"), Path::new("/home/u/.claude"));
    dirs.home = Some("/home/u".into());
    Gates::new(&settings, &dirs)
}

fn alpha() -> ProjectRef {
    ProjectRef { root: "/w/alpha".into(), name: "alpha".into(), worktree: None }
}

fn event(turn: u32, second: i64, body: Body) -> Event {
    Event {
        time: Timestamp::from_second(second).ok(),
        cwd: Some("/w/alpha".into()),
        turn,
        ..Event::new(EventKey::from(format!("k{turn}-{second}")), SessionId::from("S1"), body)
    }
}

fn prompt(text: &str) -> Body {
    Body::Prompt(Prompt { kind: PromptKind::Typed, text: text.into(), about: None, attachments: 0, program: false })
}

fn tool(name: &str, input: &str, output: &str) -> Body {
    Body::Tool(ToolCall {
        id: "toolu_1".into(),
        name: name.into(),
        input: input.into(),
        output: output.into(),
        outcome: ToolOutcome::Ok,
        facts: ToolFacts::default(),
    })
}

fn answer(text: &str) -> Body {
    Body::Answer(Answer { text: text.into(), ..Answer::default() })
}

/// `pass`, or the reason.
fn judged(gates: &mut Gates, event: Event) -> &'static str {
    match gates.judge(event, Some(&alpha())) {
        Verdict::Pass(_) => "pass",
        Verdict::Drop { reason, .. } => reason,
    }
}

#[test]
fn a039_the_observers_own_sessions_are_refused() {
    let mut gates = gates(|_| {});
    for cwd in ["/home/u/.cmem/observer", "/home/u/.cmem/observer/run-1", "/private/home/u/.cmem/observer"] {
        let event = Event { cwd: Some(cwd.into()), ..event(1, 1, tool("Bash", "{}", "M1")) };
        assert_eq!(judged(&mut gates, event), "own-observer");
    }
    let beside = Event { cwd: Some("/home/u/.cmem/observer2".into()), ..event(1, 1, tool("Bash", "{}", "M1")) };
    assert_eq!(judged(&mut gates, beside), "pass");
}

#[test]
fn a040_our_own_frame_is_never_an_event() {
    let frame = "<observed-k7q2 project=\"alpha\">\n<event id=\"1\"/>\n</observed-k7q2>\nAnswer with elements.";
    let mut gates = gates(|_| {});
    // Somewhere in words: that event only.
    assert_eq!(judged(&mut gates, event(2, 1, prompt(&format!("look: {frame}")))), "own-frame");
    assert_eq!(judged(&mut gates, event(2, 2, answer(frame))), "own-frame");
    assert_eq!(judged(&mut gates, event(2, 3, tool("Read", "{}", frame))), "pass");
    // As the first words of a session: the whole session.
    assert_eq!(judged(&mut gates, event(1, 4, prompt(frame))), "own-frame");
    assert_eq!(judged(&mut gates, event(1, 5, tool("Bash", "{}", "x"))), "own-frame");
    let other = Event { session: SessionId::from("S2"), ..event(1, 6, prompt("talk about <observed- tags")) };
    assert_eq!(judged(&mut gates, other), "pass");
}

#[test]
fn a042_other_memory_tools_are_refused_by_default() {
    let mut gates = gates(|settings| settings.record.exclude = vec!["/w/beta".into()]);
    for cwd in ["/home/u/.claude-mem/observer-sessions", "/home/u/.claude-mem/observer-sessions/x"] {
        let event = Event { cwd: Some(cwd.into()), ..event(1, 1, tool("Bash", "{}", "M1")) };
        assert_eq!(judged(&mut gates, event), "foreign-observer");
    }
}

#[test]
fn a043_the_entrypoint_alone_excludes_nothing() {
    let sdk = || Event { entrypoint: Some("sdk-cli".into()), ..event(1, 1, tool("Bash", "{}", "M1")) };
    assert_eq!(judged(&mut gates(|_| {}), sdk()), "pass");
    assert_eq!(judged(&mut gates(|settings| settings.record.sdk = false), sdk()), "sdk-session");
}

#[test]
fn a094_excluded_projects_are_refused() {
    let mut by_name = gates(|settings| settings.record.exclude = vec!["alpha".into()]);
    assert_eq!(judged(&mut by_name, event(1, 1, prompt("x"))), "excluded-project");
    let mut by_path = gates(|settings| settings.record.exclude = vec!["/w/alpha/clients/**".into()]);
    assert_eq!(judged(&mut by_path, event(1, 1, prompt("x"))), "pass");
    let inside = Event { cwd: Some("/w/alpha/clients/a".into()), ..event(1, 2, prompt("x")) };
    assert_eq!(judged(&mut by_path, inside), "excluded-project");
    by_path.exclude_root("/w/alpha");
    assert_eq!(judged(&mut by_path, event(1, 3, prompt("x"))), "excluded-project");
}

#[test]
fn a095_opt_in_records_only_where_the_marker_is() {
    let mut gates = gates(|settings| settings.record.mode = "opt-in".into());
    let beta = ProjectRef { root: "/w/beta".into(), name: "beta".into(), worktree: None };
    assert!(gates.needs_marker(Some(&alpha())) && !gates.needs_marker(None));
    // Unknown is not opted in.
    assert_eq!(judged(&mut gates, event(1, 1, prompt("x"))), "not-opted-in");
    gates.set_marker("/w/alpha", true);
    gates.set_marker("/w/beta", false);
    assert!(!gates.needs_marker(Some(&alpha())));
    assert_eq!(judged(&mut gates, event(1, 2, prompt("x"))), "pass");
    let refused = |verdict| matches!(verdict, Verdict::Drop { gate: 0, reason: "not-opted-in" });
    assert!(refused(gates.judge(event(1, 3, prompt("x")), Some(&beta))));
    assert!(refused(gates.judge(event(1, 4, prompt("x")), None)));
    gates.forget_markers();
    assert!(gates.needs_marker(Some(&alpha())));
}

#[test]
fn bookkeeping_tools_are_skipped_and_choices_are_the_users_words() {
    let mut gates = gates(|settings| settings.record.skip_tools.push("mcp__noise__*".into()));
    for name in ["TodoWrite", "TaskUpdate", "AskUserQuestion", "mcp__noise__ping"] {
        assert_eq!(judged(&mut gates, event(1, 1, tool(name, "{}", ""))), "skip-tool", "{name}");
    }
    assert_eq!(judged(&mut gates, event(1, 1, tool("mcp__cmem__search", "{}", ""))), "own-tool");
    for name in ["Bash", "Task", "todowrite", "mcp__github__get"] {
        assert_eq!(judged(&mut gates, event(1, 1, tool(name, "{}", ""))), "pass", "{name}");
    }
    let choice = Body::Prompt(Prompt {
        kind: PromptKind::Choice,
        text: "Which store? → SQLite".into(),
        about: Some(EventKey::from("toolu_1")),
        attachments: 0,
        program: false,
    });
    assert_eq!(judged(&mut gates, event(1, 1, choice)), "pass");
}

#[test]
fn the_hosts_session_notes_are_skipped_and_files_of_that_name_elsewhere_are_not() {
    let mut gates = gates(|_| {});
    let own = r#"{"file_path":"/home/u/.claude/projects/x/S1/session-memory/summary.md"}"#;
    assert_eq!(judged(&mut gates, event(1, 1, tool("Edit", own, ""))), "session-memory");
    let other = r#"{"file_path":"/w/alpha/src/session-memory/mod.rs"}"#;
    assert_eq!(judged(&mut gates, event(1, 1, tool("Edit", other, ""))), "pass");
}

#[test]
fn a_wholly_private_prompt_takes_its_whole_turn_along() {
    let mut gates = gates(|_| {});
    let private = "<private>rotate the key, pw=hunter2</private>";
    assert_eq!(judged(&mut gates, event(1, 10, prompt("hello"))), "pass");
    assert_eq!(judged(&mut gates, event(2, 20, prompt(private))), "private-turn");
    assert_eq!(judged(&mut gates, event(2, 21, tool("Bash", "{}", "M1"))), "private-turn");
    assert_eq!(judged(&mut gates, event(2, 22, answer("done"))), "private-turn");
    // Words in between do not make the rest of it public.
    assert_eq!(judged(&mut gates, event(2, 23, prompt("faster"))), "private-turn");
    assert_eq!(judged(&mut gates, event(2, 24, Body::Title("Key rotation".into()))), "private-turn");
    assert_eq!(judged(&mut gates, event(2, 25, Body::TurnEnd(TurnEnd::Marked))), "pass");
    assert_eq!(judged(&mut gates, event(3, 30, prompt("and now the docs"))), "pass");
    assert_eq!(judged(&mut gates, event(3, 31, tool("Bash", "{}", "M2"))), "pass");
    // The client writes titles again later; a call of the private turn may end later.
    assert_eq!(judged(&mut gates, event(3, 32, Body::Title("Key rotation".into()))), "private-turn");
    assert_eq!(judged(&mut gates, event(3, 33, Body::Title("Docs".into()))), "pass");
    assert_eq!(judged(&mut gates, event(2, 34, tool("Bash", "{}", "late"))), "private-turn");
}

#[test]
fn private_words_in_the_middle_of_a_turn_hide_what_follows_in_it() {
    let mut gates = gates(|_| {});
    assert_eq!(judged(&mut gates, event(1, 10, prompt("deploy"))), "pass");
    assert_eq!(judged(&mut gates, event(1, 11, tool("Bash", "{}", "M1"))), "pass");
    assert_eq!(judged(&mut gates, event(1, 12, prompt("<private>use pw hunter2"))), "private-turn");
    assert_eq!(judged(&mut gates, event(1, 13, tool("Bash", "{}", "hunter2"))), "private-turn");
    assert_eq!(judged(&mut gates, event(2, 20, prompt("thanks"))), "pass");
}

#[test]
fn a_turn_without_a_prompt_passes_and_so_do_partly_private_words() {
    let mut gates = gates(|_| {});
    assert_eq!(judged(&mut gates, event(1, 1, tool("Bash", "{}", "M1"))), "pass");
    let verdict = gates.judge(event(2, 2, prompt("deploy <private>pw=hunter2</private> now")), Some(&alpha()));
    let Verdict::Pass(Event { body: Body::Prompt(prompt), .. }) = verdict else { panic!("{verdict:?}") };
    assert_eq!(prompt.text, "deploy  now");
    assert_eq!(judged(&mut gates, event(2, 3, tool("Bash", "{}", "M2"))), "pass");
}

#[test]
fn helper_agents_of_a_private_turn_are_private_to_their_end() {
    let by = |agent: &str, second, body| Event { agent: Some(AgentId::from(agent)), ..event(1, second, body) };
    let mut gates = gates(|_| {});
    judged(&mut gates, event(1, 10, prompt("hello")));
    assert_eq!(judged(&mut gates, by("early", 15, tool("Bash", "{}", "x"))), "pass");
    judged(&mut gates, event(2, 20, prompt("<private>x</private>")));
    assert_eq!(judged(&mut gates, by("a", 25, tool("Bash", "{}", "M1"))), "private-turn");
    // One that began before works on what was not private.
    assert_eq!(judged(&mut gates, by("early", 26, tool("Bash", "{}", "x"))), "pass");
    judged(&mut gates, event(3, 30, prompt("next")));
    assert_eq!(judged(&mut gates, by("a", 35, tool("Bash", "{}", "M1"))), "private-turn");
    assert_eq!(judged(&mut gates, by("b", 36, tool("Bash", "{}", "M2"))), "pass");
    // Begun in the background: its first words come when the turn is over, but it is known whose it is.
    judged(&mut gates, event(2, 29, tool("Agent", "{}", "started")));
    let late = Event { parent_call: Some(EventKey::from("k2-29")), ..by("d", 50, tool("Bash", "{}", "M1")) };
    assert_eq!(judged(&mut gates, late), "private-turn");
    // Read late, from the beginning of its file.
    assert_eq!(judged(&mut gates, by("c", 22, tool("Bash", "{}", "M1"))), "private-turn");
}

#[test]
fn what_is_private_survives_a_restart() {
    let session = SessionId::from("S1");
    let mut before = gates(|_| {});
    judged(&mut before, event(1, 10, prompt("<private>x</private>")));
    let kept = serde_json::to_string(before.privacy(&session).unwrap()).unwrap();
    assert!(before.privacy(&SessionId::from("S2")).is_none());
    let mut after = gates(|_| {});
    after.restore_privacy(session, serde_json::from_str(&kept).unwrap());
    assert_eq!(judged(&mut after, event(1, 11, tool("Bash", "{}", "M1"))), "private-turn");
    assert_eq!(judged(&mut after, event(2, 20, prompt("next"))), "pass");
    // Read again from an earlier place: an old prompt ends nothing, a private one opens nothing twice.
    let kept = after.privacy(&SessionId::from("S1")).unwrap().clone();
    judged(&mut after, event(0, 5, prompt("before")));
    judged(&mut after, event(1, 10, prompt("<private>x</private>")));
    assert_eq!(after.privacy(&SessionId::from("S1")), Some(&kept));
    // Another file of the session brings what it knew at its time; the end of a span is known from here.
    let opened = before.privacy(&SessionId::from("S1")).unwrap().clone();
    after.restore_privacy(SessionId::from("S1"), opened);
    assert_eq!(after.privacy(&SessionId::from("S1")), Some(&kept));
}

#[test]
fn a097_secrets_go_from_every_part_of_a_call() {
    let mut gates = gates(|_| {});
    let call =
        tool("Bash", r#"{"command":"echo AKIAIOSFODNN7EXAMPLE","password":"hunter2"}"#, "AKIAIOSFODNN7EXAMPLE M1");
    let verdict = gates.judge(event(1, 1, call), Some(&alpha()));
    let Verdict::Pass(Event { body: Body::Tool(call), .. }) = verdict else { panic!("{verdict:?}") };
    assert_eq!(call.input, r#"{"command":"echo [masked:aws-key]","password":"[masked:secret]"}"#);
    assert_eq!(call.output, "[masked:aws-key] M1");
    assert_eq!(gates.take_counts(), [("gate.2.secret".to_owned(), 3)]);
    assert_eq!(gates.take_counts(), []);
}

#[test]
fn what_is_empty_after_cleaning_is_dropped_and_pictures_are_not() {
    let mut gates = gates(|_| {});
    assert_eq!(judged(&mut gates, event(1, 1, answer("<system-reminder>x</system-reminder>"))), "nothing-left");
    let notice = Body::Notice(Notice { kind: "hook", text: " ".into() });
    assert_eq!(judged(&mut gates, event(1, 2, notice)), "nothing-left");
    let picture = Prompt { kind: PromptKind::Typed, text: String::new(), about: None, attachments: 1, program: false };
    assert_eq!(judged(&mut gates, event(1, 3, Body::Prompt(picture))), "pass");
    assert_eq!(judged(&mut gates, event(1, 4, tool("Bash", "{}", ""))), "pass");
}
