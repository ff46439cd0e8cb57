//! From a file that grows to a row: the collector with its seams in hand.
#![allow(clippy::disallowed_methods, reason = "tests write, move and remove transcripts")]

use std::fs;
use std::time::Duration;

use cmem::collector::health::State;
use cmem::collector::input::Ask;
use cmem::collector::intake::Scope;
use cmem::collector::report::report;
use cmem::collector::run::{Ended, StartError};
use cmem::memory::Kind;
use cmem::store::{Access, Store, StoreError};
use cmem::transcript::watch::FileEvent;
use serde_json::json;

use super::rig::{Lines, Rig, append, ledger_of, session};

fn health(rig: &Rig) -> cmem::collector::health::Health {
    let now = cmem::memory::Clock::now(&cmem::config::SystemClock::default());
    report(&rig.dirs(), &rig.settings, now, &jiff::tz::TimeZone::UTC).health
}

#[test]
fn a_turn_becomes_a_memory_while_the_collector_runs() {
    let rig = Rig::new();
    let running = rig.start();
    let path = rig.transcript(&session(1));
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.changed(&path);
    running.until("M1 is stored", || rig.stored("M1") == 1);
    let memory = rig.memories(Kind::Observation).remove(0);
    assert_eq!((memory.project_root.as_str(), memory.prompt_number), ("/w/alpha", 1));
    assert_eq!(memory.files_modified, ["src/m1.rs"]);
    assert_eq!(rig.memories(Kind::Prompt).len(), 1);
    assert_eq!(running.stop(), Ended::Stopped);
}

#[test]
fn a028_a_storm_of_events_is_one_event() {
    let rig = Rig::new();
    let running = rig.start();
    let path = rig.transcript(&session(1));
    let lines = Lines::of(&session(1), "aaaaaaaa").work("M1").lines();
    for line in &lines {
        append(&path, line);
        for _ in 0..8 {
            running.changed(&path);
        }
    }
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.stop();
    let ledger = rig.ledger();
    assert_eq!(ledger.len(), 3, "{ledger:#?}");
}

#[test]
fn a029_a120_the_second_collector_names_the_first_and_leaves() {
    let rig = Rig::new();
    let path = rig.transcript(&session(1));
    let running = rig.start();
    match rig.try_start() {
        Err(StartError::Taken(owner)) => {
            assert_eq!(owner.pid, std::process::id());
            let text = owner.owner();
            assert!(text.contains(&format!("pid {}", std::process::id())) && text.contains("cmem "), "{text}");
        }
        _ => panic!("two collectors"),
    }
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.changed(&path);
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.stop();
    rig.start().stop();
}

#[test]
fn a033_a034_a_fork_is_delivered_once_whichever_is_read_first() {
    let history = || Lines::of(&session(1), "aaaaaaaa").work("M1");
    let fork = || {
        // A fork's first line is its own and younger than what it copies.
        let mut text = format!(
            "{}\n",
            json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-01T12:00:00.000Z",
                "sessionId": session(2), "content": "go on"})
        );
        text.push_str(&history().forked(&session(2)).hour("2026-03-01T12").work("M2").text());
        text
    };
    let run = |first: u32| {
        let rig = Rig::new();
        for n in [first, 3 - first] {
            let text = if n == 1 { history().text() } else { fork() };
            append(&rig.transcript(&session(n)), &text);
            assert_eq!(rig.once(), Ended::Done);
        }
        assert_eq!((rig.stored("M1"), rig.stored("M2")), (1, 1));
        let owner = |marker: &str| {
            let found = rig.memories(Kind::Observation).into_iter().find(|memory| memory.title.contains(marker));
            found.and_then(|memory| memory.session).map(|session| session.as_str().to_owned())
        };
        assert_eq!(owner("M1"), Some(session(1)));
        assert_eq!(owner("M2"), Some(session(2)));
        rig.ledger()
    };
    let (one, other) = (run(1), run(2));
    assert_eq!(one, other);
    // Both there at once.
    let rig = Rig::new();
    append(&rig.transcript(&session(2)), &fork());
    append(&rig.transcript(&session(1)), &history().text());
    rig.once();
    assert_eq!(rig.ledger(), one);
}

#[test]
fn a038_the_first_start_begins_now_and_tells_what_lies_before() {
    let rig = Rig::new();
    let path = rig.transcript(&session(1));
    let old = Lines::of(&session(1), "aaaaaaaa").work("M1").work("M2");
    append(&path, &old.text());
    let running = rig.start();
    running.until("the backlog is counted", || health(&rig).backlog == 6);
    append(&path, &old.clone().work("M3").text()[old.text().len()..]);
    running.changed(&path);
    running.until("M3 is stored", || rig.stored("M3") == 1);
    running.stop();
    assert_eq!((rig.stored("M1"), rig.stored("M2")), (0, 0));
    assert_eq!(rig.memories(Kind::Observation)[0].prompt_number, 3, "the earlier prompts were counted");
    assert_eq!(rig.once(), Ended::Done);
    assert_eq!((rig.stored("M1"), rig.stored("M2"), rig.stored("M3")), (1, 1, 1));
    assert_eq!(health(&rig).backlog, 0);
    let before = rig.ledger();
    assert_eq!(rig.once(), Ended::Done);
    assert_eq!(rig.ledger(), before);
}

#[test]
fn a_session_that_was_written_while_no_collector_ran_is_read_at_the_next_start() {
    let rig = Rig::new();
    rig.start().stop();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    let running = rig.start();
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.stop();
}

#[test]
fn a039_a042_observers_transcripts_are_never_events() {
    let rig = Rig::new();
    let own = rig.dirs().observer();
    let slug = cmem::transcript::locate::slug(&own.to_string_lossy());
    append(
        &rig.file(&format!("{slug}/{}.jsonl", session(1))),
        &Lines::of(&session(1), "aaaaaaaa").cwd(&own.to_string_lossy()).work("M1").text(),
    );
    // In another folder as well: the directory on the line says whose it is.
    append(
        &rig.file(&format!("-other/{}.jsonl", session(2))),
        &Lines::of(&session(2), "bbbbbbbb").cwd(&own.to_string_lossy()).work("M2").text(),
    );
    append(
        &rig.file(&format!("-other/{}.jsonl", session(3))),
        &Lines::of(&session(3), "cccccccc").cwd("/home/u/.claude-mem/observer-sessions").work("M3").text(),
    );
    rig.once();
    assert_eq!((rig.stored("M1"), rig.stored("M2"), rig.stored("M3")), (0, 0, 0));
    assert!(rig.memories(Kind::Prompt).is_empty());
    assert!(health(&rig).gates["0"].keys().any(|reason| reason == "own-observer"));
}

#[test]
fn a043_a068_every_surface_that_writes_transcripts_is_covered() {
    let rig = Rig::new();
    for (n, entrypoint) in [(1, "sdk-cli"), (2, "claude-vscode"), (3, "claude-desktop")] {
        let lines = Lines::of(&session(n), &format!("{n:08x}")).with(json!({"entrypoint": entrypoint}));
        append(&rig.transcript(&session(n)), &lines.work(&format!("M{n}")).text());
    }
    rig.once();
    assert_eq!((rig.stored("M1"), rig.stored("M2"), rig.stored("M3")), (1, 1, 1));
}

#[test]
fn a078_a_compaction_is_ordinary_lines() {
    let rig = Rig::new();
    let lines = Lines::of(&session(1), "aaaaaaaa")
        .work("M1")
        .x(json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}))
        .x(json!({"type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": "This session is being continued M9"}}))
        .work("M2");
    append(&rig.transcript(&session(1)), &lines.text());
    rig.once();
    assert_eq!((rig.stored("M1"), rig.stored("M2"), rig.stored("M9")), (1, 1, 0));
    assert_eq!(rig.memories(Kind::Prompt).len(), 2);
}

#[test]
fn a079_at_the_watch_limit_files_are_polled_and_status_says_so() {
    let mut rig = Rig::new();
    rig.source = cmem::transcript::watch::HandSource::refusing("the system's limit of file watches is reached");
    rig.start().stop();
    let running = rig.start();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.until("M1 is stored without events", || rig.stored("M1") == 1);
    running.until("status says so", || health(&rig).watch == "poll");
    running.stop();
}

#[test]
fn e19_a_source_that_breaks_or_overflows_is_survived() {
    let rig = Rig::new();
    let running = rig.start();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    assert!(rig.source.send(FileEvent::Overflow));
    running.until("M1 is found after an overflow", || rig.stored("M1") == 1);
    assert!(rig.source.send(FileEvent::Broken("gone".into())));
    running.until("polling is told", || running.collector.snapshot().watch == "poll");
    append(&rig.transcript(&session(2)), &Lines::of(&session(2), "bbbbbbbb").work("M2").text());
    running.until("M2 is found by polling", || rig.stored("M2") == 1);
    running.stop();
}

#[test]
fn a080_without_any_event_the_rescan_finds_what_grew() {
    let mut rig = Rig::new();
    rig.pace.rescan = Duration::from_millis(30);
    let running = rig.start();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.until("M1 is found by the rescan", || rig.stored("M1") == 1);
    running.stop();
}

#[test]
fn started_before_the_folder_exists() {
    let rig = Rig::new();
    fs::remove_dir_all(rig.file("")).unwrap();
    let running = rig.start();
    running.until("the missing folder is told", || !running.collector.snapshot().errors.is_empty());
    let told = running.collector.snapshot().errors[0].what.clone();
    assert!(told.contains("does not exist yet"), "{told}");
    fs::create_dir_all(rig.dirs().claude[0].join("projects")).unwrap();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.until("the problem is over", || running.collector.snapshot().errors.iter().all(|problem| problem.cleared));
    running.stop();
}

#[test]
fn a096_a_paused_span_is_never_read_later() {
    let rig = Rig::new();
    let (one, two) = (session(1), session(2));
    rig.start().stop();
    {
        let now = "2026-03-01T10:00:00Z".parse().unwrap();
        let mut store = Store::open(&rig.dirs().database(), Access::ReadWrite, now).unwrap();
        store.pause(Some(&one), "2026-03-01T09:00:00Z".parse().unwrap()).unwrap();
        store.resume(Some(&one), "2026-03-01T11:00:00Z".parse().unwrap()).unwrap();
    }
    append(&rig.transcript(&one), &Lines::of(&one, "aaaaaaaa").work("M1").hour("2026-03-01T11").work("M2").text());
    append(&rig.transcript(&two), &Lines::of(&two, "bbbbbbbb").work("M3").text());
    rig.once();
    assert_eq!((rig.stored("M1"), rig.stored("M2"), rig.stored("M3")), (0, 1, 1));
    assert!(rig.memories(Kind::Prompt).iter().all(|prompt| !prompt.narrative.contains("M1")));
    assert_eq!(rig.ledger().iter().filter(|row| row.contains("Dropped paused")).count(), 3);
    rig.once();
    assert_eq!(rig.stored("M1"), 0);
}

#[test]
fn a_pause_by_another_process_is_seen_while_the_collector_runs() {
    let rig = Rig::new();
    let running = rig.start();
    let path = rig.transcript(&session(1));
    let mut store =
        Store::open(&rig.dirs().database(), Access::ReadWrite, cmem::memory::Timestamp::UNIX_EPOCH).unwrap();
    store.pause(None, "2026-03-01T10:00:00Z".parse().unwrap()).unwrap();
    let first = Lines::of(&session(1), "aaaaaaaa").work("M1");
    append(&path, &first.text());
    running.changed(&path);
    running.until("M1 is refused", || rig.ledger().iter().filter(|row| row.contains("paused")).count() == 3);
    assert_eq!(health(&rig).state, State::Off);
    store.resume(None, "2026-03-01T10:30:00Z".parse().unwrap()).unwrap();
    append(&path, &first.clone().hour("2026-03-01T11").work("M2").text()[first.text().len()..]);
    running.changed(&path);
    running.until("M2 is stored", || rig.stored("M2") == 1);
    running.stop();
    assert_eq!(rig.stored("M1"), 0);
}

#[test]
fn a145_memories_outlive_their_transcript() {
    let rig = Rig::new();
    let running = rig.start();
    let path = rig.transcript(&session(1));
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.changed(&path);
    running.until("M1 is stored", || rig.stored("M1") == 1);
    fs::remove_file(&path).unwrap();
    assert!(rig.source.send(FileEvent::Gone(path.clone())));
    let gone = |rig: &Rig| rig.store().cursors().unwrap().iter().any(|row| row.gone);
    running.until("the cursor says gone", || gone(&rig));
    running.stop();
    // Removed while nobody looked.
    let other = rig.transcript(&session(2));
    append(&other, &Lines::of(&session(2), "bbbbbbbb").work("M2").text());
    rig.once();
    fs::remove_file(&other).unwrap();
    rig.once();
    assert!(rig.store().cursors().unwrap().iter().all(|row| row.gone));
    assert_eq!((rig.stored("M1"), rig.stored("M2")), (1, 1));
    assert!(health(&rig).errors.is_empty());
}

#[test]
fn e17_a_moved_session_goes_on_where_it_was() {
    let rig = Rig::new();
    let running = rig.start();
    let (old, new) = (rig.transcript(&session(1)), rig.file(&format!("-w-alpha-wt/{}.jsonl", session(1))));
    let first = Lines::of(&session(1), "aaaaaaaa").work("M1");
    append(&old, &first.text());
    running.changed(&old);
    running.until("M1 is stored", || rig.stored("M1") == 1);
    fs::create_dir_all(new.parent().unwrap()).unwrap();
    fs::rename(&old, &new).unwrap();
    append(&new, &first.clone().work("M2").text()[first.text().len()..]);
    assert!(rig.source.send(FileEvent::Gone(old)));
    running.changed(&new);
    running.until("M2 is stored", || rig.stored("M2") == 1);
    running.until("the cursor has moved", || {
        let cursors = rig.store().cursors().unwrap();
        cursors.len() == 1 && cursors[0].path == new.to_string_lossy() && !cursors[0].gone
    });
    running.stop();
    assert_eq!((rig.stored("M1"), rig.store().cursors().unwrap()[0].generation), (1, 0));
}

#[test]
fn e14_e15_a_rewritten_file_is_read_again_and_nothing_doubles() {
    let rig = Rig::new();
    let running = rig.start();
    let path = rig.transcript(&session(1));
    let first = Lines::of(&session(1), "aaaaaaaa").work("M1").work("M2");
    append(&path, &first.text());
    running.changed(&path);
    running.until("both are stored", || rig.stored("M1") + rig.stored("M2") == 2);
    // A stub, then grown past where it was.
    fs::write(&path, "{\"type\":\"summary\",\"summary\":\"stub\",\"leafUuid\":\"x\"}\n").unwrap();
    running.changed(&path);
    running.until("a new generation", || rig.store().cursors().unwrap()[0].generation == 1);
    fs::write(&path, first.clone().work("M3").text()).unwrap();
    running.changed(&path);
    running.until("M3 is stored", || rig.stored("M3") == 1);
    running.stop();
    assert_eq!((rig.stored("M1"), rig.stored("M2")), (1, 1));
    assert_eq!(rig.store().cursors().unwrap()[0].generation, 2);
}

#[test]
fn e20_a_file_linked_twice_is_one_file() {
    let rig = Rig::new();
    let path = rig.transcript(&session(1));
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    fs::create_dir_all(rig.file("-linked")).unwrap();
    fs::hard_link(&path, rig.file(&format!("-linked/{}.jsonl", session(1)))).unwrap();
    rig.once();
    assert_eq!((rig.stored("M1"), rig.store().cursors().unwrap().len()), (1, 1));
}

#[test]
fn e34_e35_the_project_is_the_lines_directory_and_never_the_folders_name() {
    let rig = Rig::new();
    for (n, cwd) in [(1, "/w/a-b"), (2, "/w/a.b"), (3, "/w/客户")] {
        let lines = Lines::of(&session(n), &format!("{n:08x}")).cwd(cwd);
        append(&rig.file(&format!("-w-a-b/{}.jsonl", session(n))), &lines.work(&format!("M{n}")).text());
    }
    let nowhere = Lines::of(&session(4), "dddddddd").with(json!({"cwd": null})).work("M4");
    append(&rig.file(&format!("-w-a-b/{}.jsonl", session(4))), &nowhere.text());
    rig.once();
    let mut roots: Vec<String> =
        rig.memories(Kind::Observation).into_iter().map(|memory| memory.project_root).collect();
    roots.sort();
    assert_eq!(roots, ["", "/w/a-b", "/w/a.b", "/w/客户"]);
}

#[test]
fn e36_an_old_session_taken_up_after_weeks_goes_on() {
    let rig = Rig::new();
    let path = rig.transcript(&session(1));
    let first = Lines::of(&session(1), "aaaaaaaa").work("M1");
    append(&path, &first.text());
    rig.once();
    append(&path, &first.clone().hour("2026-04-20T08").work("M2").text()[first.text().len()..]);
    rig.once();
    let memories = rig.memories(Kind::Observation);
    assert_eq!(memories.iter().map(|memory| memory.prompt_number).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a149_memories_have_the_time_of_their_lines() {
    let rig = Rig::new();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").hour("2025-11-02T08").work("M1").text());
    rig.once();
    let memory = rig.memories(Kind::Observation).remove(0);
    assert_eq!(memory.created_at.to_string().get(..13), Some("2025-11-02T08"));
    assert!(memory.recorded_at > memory.created_at);
}

#[test]
fn a148_what_was_appended_within_the_second_of_the_scan_is_read() {
    let rig = Rig::new();
    let path = rig.transcript(&session(1));
    let first = Lines::of(&session(1), "aaaaaaaa").work("M1");
    append(&path, &first.text());
    rig.once();
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    append(&path, &first.clone().work("M2").text()[first.text().len()..]);
    fs::File::options().append(true).open(&path).unwrap().set_modified(before).unwrap();
    rig.once();
    assert_eq!(rig.stored("M2"), 1);
}

#[test]
fn a150_a_turn_without_any_end_mark_ends_by_quiet() {
    let rig = Rig::new();
    let running = rig.start();
    let path = rig.transcript(&session(1));
    let mut lines = Lines::of(&session(1), "aaaaaaaa").work("M1").lines();
    lines.pop(); // the client's own mark
    let text = lines.concat().replace("\"stop_reason\":\"end_turn\"", "\"stop_reason\":null");
    append(&path, &text);
    running.changed(&path);
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.stop();
}

#[test]
fn e76_an_agents_file_before_its_parents_call_is_tied_or_goes_on_alone() {
    let rig = Rig::new();
    let running = rig.start();
    let one = session(1);
    let agent = rig.file(&format!("-w-alpha/{one}/subagents/agent-a1.jsonl"));
    let lines = Lines::of(&one, "bbbbbbbb").with(json!({"isSidechain": true, "agentId": "a1"}));
    append(&agent, &lines.work("M1").text());
    running.changed(&agent);
    // Nobody ever calls it: after a while its events are the session's, by this agent.
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.stop();
    let memory = rig.memories(Kind::Observation).remove(0);
    assert_eq!(memory.session.map(|id| id.as_str().to_owned()), Some(one));
    assert_eq!(memory.agent.map(|id| id.as_str().to_owned()), Some("a1".into()));
    assert!(rig.memories(Kind::Prompt).is_empty(), "an agent's instruction is no prompt of a person");
}

#[test]
fn e77_an_agents_file_that_vanishes_at_once_was_read_and_comes_once() {
    let mut rig = Rig::new();
    rig.pace.tie = Duration::from_secs(3600);
    let running = rig.start();
    let one = session(1);
    let agent = rig.file(&format!("-w-alpha/{one}/subagents/agent-a1.jsonl"));
    let text = Lines::of(&one, "bbbbbbbb").with(json!({"isSidechain": true, "agentId": "a1"})).work("M1").text();
    append(&agent, &text);
    running.changed(&agent);
    running.until("its lines were read", || {
        // Held back until it is tied, but read: the reader has it all.
        running.collector.ask(Ask::Rescan);
        !running.collector.snapshot().sources.is_empty() && rig.stored("M1") == 0 && agent.exists()
    });
    running.changed(&agent);
    fs::remove_file(&agent).unwrap();
    assert!(rig.source.send(FileEvent::Gone(agent.clone())));
    running.until("M1 is stored", || rig.stored("M1") == 1);
    append(&agent, &text);
    running.changed(&agent);
    append(&rig.transcript(&one), &Lines::of(&one, "aaaaaaaa").work("M2").text());
    running.changed(&rig.transcript(&one));
    running.until("M2 is stored", || rig.stored("M2") == 1);
    running.stop();
    assert_eq!(rig.stored("M1"), 1);
}

#[test]
fn a037_an_agent_of_the_old_layout_belongs_to_its_session() {
    let rig = Rig::new();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    let lines = Lines::of(&session(1), "bbbbbbbb").with(json!({"isSidechain": true, "agentId": "9f"}));
    append(&rig.file("-w-alpha/agent-9f.jsonl"), &lines.work("M2").text());
    rig.once();
    let sessions = rig.store().sessions(&[], None, 10).unwrap();
    assert_eq!(sessions.len(), 1);
    let memory = rig.memories(Kind::Observation).into_iter().find(|memory| memory.title.contains("M2")).unwrap();
    assert_eq!(memory.agent.map(|id| id.as_str().to_owned()), Some("9f".into()));
}

#[test]
fn a143_an_agent_whose_meta_file_is_empty_is_stored() {
    let rig = Rig::new();
    let one = session(1);
    append(&rig.file(&format!("-w-alpha/{one}/subagents/agent-a1.meta.json")), "{}");
    let lines = Lines::of(&one, "bbbbbbbb").with(json!({"isSidechain": true, "agentId": "a1"}));
    append(&rig.file(&format!("-w-alpha/{one}/subagents/agent-a1.jsonl")), &lines.work("M1").text());
    rig.once();
    assert_eq!(rig.stored("M1"), 1);
}

#[test]
fn e82_a_session_that_fell_silent_can_go_on() {
    let mut rig = Rig::new();
    rig.pace.settle = Duration::from_millis(80);
    let running = rig.start();
    let path = rig.transcript(&session(1));
    let open = Lines::of(&session(1), "aaaaaaaa").work("M1").u("Now change M2").t(
        "x",
        "Edit",
        json!({"file_path": "/w/alpha/m2.rs", "old_string": "a", "new_string": "b"}),
    );
    append(&path, &open.text());
    running.changed(&path);
    running.until("the cursor went on though the turn is open", || {
        rig.store().cursors().unwrap().iter().any(|row| row.offset == open.text().len() as u64)
    });
    let rest = open.clone().r("x", "ok").a("y", "Changed M2 in m2.rs: the constant is b now.").end();
    append(&path, &rest.text()[open.text().len()..]);
    running.changed(&path);
    running.until("the rest of the turn is decided", || {
        rig.ledger().iter().any(|row| row.contains("msg_y") || row.contains("answer"))
            && rig.store().cursors().unwrap()[0].offset == rest.text().len() as u64
    });
    running.stop();
    assert_eq!(rig.ledger().iter().filter(|row| row.contains("toolu_x")).count(), 1);
}

#[test]
fn e84_two_clients_on_one_session_lose_nothing() {
    let rig = Rig::new();
    let one = Lines::of(&session(1), "aaaaaaaa").work("M1").lines();
    let two = Lines::of(&session(1), "bbbbbbbb").work("M2").lines();
    let woven: String = one.iter().zip(&two).flat_map(|(one, two)| [one.as_str(), two.as_str()]).collect();
    append(&rig.transcript(&session(1)), &woven);
    rig.once();
    let ledger = rig.ledger();
    for key in ["toolu_M1e", "toolu_M2e"] {
        assert_eq!(ledger.iter().filter(|row| row.starts_with(key)).count(), 1, "{ledger:#?}");
    }
    assert_eq!(rig.memories(Kind::Prompt).len(), 2);
}

#[test]
fn reread_reads_everything_again_and_changes_nothing() {
    let mut rig = Rig::new();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").work("M1").work("M2").text());
    rig.once();
    let before = (rig.ledger(), rig.memories(Kind::Observation));
    rig.scope.reread = true;
    assert_eq!(rig.once(), Ended::Done);
    assert_eq!((rig.ledger(), rig.memories(Kind::Observation)), before);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_told_and_read_when_it_can_be() {
    use std::os::unix::fs::PermissionsExt;
    let mut rig = Rig::new();
    rig.pace.rescan = Duration::from_millis(30);
    let running = rig.start();
    let path = rig.transcript(&session(1));
    let other = rig.transcript(&session(2));
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        // Who may read everything (root) cannot be refused by a mode: a folder in a file's place can.
        fs::remove_file(&path).unwrap();
        running.stop();
        eprintln!("skipped: this user reads every file");
        return;
    }
    append(&other, &Lines::of(&session(2), "bbbbbbbb").work("M2").text());
    running.changed(&path);
    running.until("the other is stored", || rig.stored("M2") == 1);
    running.until("the gap is told", || !running.collector.snapshot().gaps.is_empty());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.until("the gap is over", || running.collector.snapshot().gaps.is_empty());
    running.stop();
}

#[test]
fn a112_a_database_in_use_is_waited_for() {
    let rig = Rig::new();
    let running = rig.start();
    let path = rig.transcript(&session(1));
    let blocker = rusqlite::Connection::open(rig.dirs().database()).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.changed(&path);
    running.until("it was read", || running.collector.snapshot().last_line_at.is_some());
    blocker.execute_batch("COMMIT").unwrap();
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.stop();
    assert_eq!(ledger_of(&rig.store()).len(), 3);
}

#[test]
fn a_newer_database_is_left_alone() {
    let rig = Rig::new();
    rig.start().stop();
    let database = rig.dirs().database();
    rusqlite::Connection::open(&database).unwrap().pragma_update(None, "user_version", 9_999).unwrap();
    match rig.try_start() {
        Err(StartError::Store(error)) => assert!(error.to_string().contains("newer"), "{error}"),
        _ => panic!("a newer database was opened for writing"),
    }
    let version: i64 =
        rusqlite::Connection::open(&database).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 9_999);
}

#[test]
fn a147_only_the_configured_folder_is_read() {
    let rig = Rig::new();
    append(&rig.transcript(&session(1)), &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    let elsewhere = rig.dirs().claude[0].join(".claude/projects/-x").join(format!("{}.jsonl", session(2)));
    append(&elsewhere, &Lines::of(&session(2), "bbbbbbbb").work("M2").text());
    rig.once();
    assert_eq!((rig.stored("M1"), rig.stored("M2")), (1, 0));
}

#[test]
fn a117_a_full_disk_is_one_message_and_a_pause_that_ends_by_itself() {
    let rig = Rig::new();
    let running = rig.start();
    *rig.fault.lock().unwrap() = Some(|| StoreError::Full);
    for n in 1..=5 {
        let path = rig.transcript(&session(n));
        append(&path, &Lines::of(&session(n), &format!("{n:08x}")).work(&format!("M{n}")).text());
        running.changed(&path);
    }
    running.until("the pause is told", || {
        running.collector.snapshot().paused.is_some_and(|paused| paused.reason == "disk")
    });
    let told =
        || running.collector.snapshot().errors.into_iter().filter(|problem| problem.what.contains("disk is full"));
    let first = running.collector.snapshot().paused.unwrap();
    running.until("it was tried more than once", || {
        running
            .collector
            .snapshot()
            .paused
            .is_some_and(|paused| paused.next_try > first.next_try && paused.since == first.since)
    });
    assert_eq!(told().count(), 1);
    assert_eq!(health(&rig).state, State::Wait);
    assert!(rig.memories(Kind::Observation).is_empty());
    *rig.fault.lock().unwrap() = None;
    running.until("everything is stored", || (1..=5).all(|n| rig.stored(&format!("M{n}")) == 1));
    running.until("the pause is over", || running.collector.snapshot().paused.is_none());
    assert!(told().all(|problem| problem.cleared && problem.lost == 0));
    running.stop();
}

#[test]
fn a112_a_busy_database_is_tried_again_with_the_whole_transaction() {
    let rig = Rig::new();
    let running = rig.start();
    *rig.fault.lock().unwrap() = Some(|| StoreError::Busy);
    let path = rig.transcript(&session(1));
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.changed(&path);
    running.until("it waits", || !running.collector.snapshot().errors.is_empty());
    *rig.fault.lock().unwrap() = None;
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.stop();
    assert_eq!(rig.ledger().len(), 3);
}

#[test]
fn a_database_that_cannot_be_written_is_told_and_tried_again() {
    let rig = Rig::new();
    let running = rig.start();
    *rig.fault.lock().unwrap() = Some(|| StoreError::ReadOnly);
    let path = rig.transcript(&session(1));
    append(&path, &Lines::of(&session(1), "aaaaaaaa").work("M1").text());
    running.changed(&path);
    running.until("read-only is told", || running.collector.snapshot().read_only.is_some());
    assert_eq!(health(&rig).state, State::ReadOnly);
    *rig.fault.lock().unwrap() = None;
    running.until("M1 is stored", || rig.stored("M1") == 1);
    running.until("it is over", || running.collector.snapshot().read_only.is_none());
    running.stop();
}

#[test]
fn backfill_reads_what_is_chosen_and_goes_on_where_it_was() {
    use cmem::collector::backfill::{Wanted, plan};
    let mut rig = Rig::new();
    for n in 1..=3 {
        let lines = Lines::of(&session(n), &format!("{n:08x}")).hour(&format!("2026-03-0{n}T10"));
        append(&rig.transcript(&session(n)), &lines.work(&format!("M{n}1")).work(&format!("M{n}2")).text());
    }
    let running = rig.start();
    running.until("older work is counted", || health(&rig).backlog == 18);
    running.stop();
    let planned = |rig: &Rig, wanted: &Wanted| {
        let options = rig.options();
        plan(&rig.store(), &options.dirs, &options.env, &rig.settings, wanted, |_, _| {}).unwrap()
    };
    let all = planned(&rig, &Wanted::default());
    assert_eq!((all.events(), all.sessions(), all.left), (18, 3, 18));
    let run = |rig: &mut Rig, wanted: Wanted| {
        rig.scope = Scope { older: Some(planned(rig, &wanted).chosen()), ..Scope::default() };
        assert_eq!(rig.start().collector.wait(), Ended::Done);
        health(rig).backlog
    };
    // A turn and a third of the next, newest first.
    assert_eq!(run(&mut rig, Wanted { limit: Some(4), ..Wanted::default() }), 14);
    assert_eq!((rig.stored("M32"), rig.stored("M22")), (1, 0));
    let since = "2026-03-02T00:00:00Z".parse().ok();
    assert_eq!(run(&mut rig, Wanted { since, ..Wanted::default() }), 6);
    assert_eq!(["M31", "M22", "M21", "M11"].map(|marker| rig.stored(marker)), [1, 1, 1, 0]);
    assert_eq!(run(&mut rig, Wanted::default()), 0);
    assert_eq!(planned(&rig, &Wanted::default()).left, 0);
    assert_eq!(rig.memories(Kind::Prompt).len(), 6);
    assert_eq!(rig.ledger().len(), 18);
    // A collector that starts afterwards finds nothing to do.
    rig.scope = Scope::default();
    let before = rig.ledger();
    rig.once();
    assert_eq!(rig.ledger(), before);
}
