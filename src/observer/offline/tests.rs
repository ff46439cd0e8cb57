//! Whole turns in, memories out, in several languages. Each fixture is a handful of lines:
//! `U` request, `P` approved plan, `S` steering, `L` slash command, `C` choice, `R` refusal with words, `A` answer, `T` tool call
//! (`T Tool {input} => outcome: output`), `END` and `INT` (interrupted).

use super::*;
use crate::memory::{AgentId, EventKey, ProjectRef, SessionId, safe_text};
use crate::mode;
use crate::transcript::event::{Answer, Body, Event, Prompt, PromptKind, ToolCall, ToolFacts, ToolOutcome, TurnEnd};

fn batch(script: &str) -> Batch {
    let mut events: Vec<Event> = Vec::new();
    let mut turn = 0;
    let mut last_call = None;
    let script = script.trim_start_matches('\n');
    let indent = script.len() - script.trim_start_matches(' ').len();
    let mut steps: Vec<String> = Vec::new();
    for line in script.lines() {
        let line = line.get(indent..).unwrap_or_else(|| line.trim_start());
        // A line that does not open a step goes on with the one before.
        if line.starts_with("  ") {
            let last = steps.last_mut().expect("a step to go on with");
            last.push('\n');
            last.push_str(line.trim_start());
        } else if !line.trim().is_empty() {
            steps.push(line.to_owned());
        }
    }
    for (at, step) in steps.iter().enumerate() {
        let (kind, rest) = step.split_once(' ').unwrap_or((step, ""));
        let key = EventKey(format!("e{at}"));
        let prompt =
            |kind, about| Body::Prompt(Prompt { kind, text: rest.to_owned(), about, attachments: 0, program: false });
        let body = match kind {
            "U" | "P" => {
                turn += 1;
                prompt(if kind == "U" { PromptKind::Typed } else { PromptKind::Plan }, None)
            }
            "S" => prompt(PromptKind::Steering, None),
            "L" => prompt(PromptKind::Slash, None),
            "C" => prompt(PromptKind::Choice, None),
            "R" => prompt(PromptKind::Rejection, last_call.clone()),
            "A" => Body::Answer(Answer { text: rest.to_owned(), closing: true, ..Answer::default() }),
            "T" | "H" => {
                last_call = Some(key.clone());
                Body::Tool(tool(rest))
            }
            "END" => Body::TurnEnd(TurnEnd::Marked),
            "INT" => Body::TurnEnd(TurnEnd::Interrupted),
            other => panic!("unknown step {other}"),
        };
        let mut event = Event::new(key, SessionId::from("s"), body);
        event.turn = turn;
        event.cwd = Some("/w/alpha".into());
        if kind == "H" {
            event.agent = Some(AgentId::from("helper"));
        }
        events.push(event);
    }
    Batch {
        project: Some(ProjectRef { root: "/w/alpha".into(), name: "alpha".into(), worktree: None }),
        cwd: Some("/w/alpha".into()),
        prompt_number: turn,
        events,
        closes_turn: true,
        ..Batch::default()
    }
}

fn tool(text: &str) -> ToolCall {
    let (name, rest) = text.split_once(' ').expect("a tool has a name");
    let (input, result) = rest.split_once(" => ").unwrap_or((rest, "ok"));
    let (outcome, output) = result.split_once(": ").unwrap_or((result, ""));
    let input = match name {
        "Bash" => serde_json::json!({ "command": input }).to_string(),
        "Read" | "Write" | "Edit" => serde_json::json!({ "file_path": format!("/w/alpha/{input}") }).to_string(),
        _ => input.to_owned(),
    };
    let lines = (name == "Edit" || name == "Write").then_some((3, if name == "Edit" { 1 } else { 0 }));
    ToolCall {
        id: "t".into(),
        name: name.into(),
        input,
        output: output.replace(" / ", "\n"),
        outcome: match outcome {
            "ok" => ToolOutcome::Ok,
            "fail" => ToolOutcome::Failed,
            "denied" => ToolOutcome::Denied,
            "stopped" => ToolOutcome::Interrupted,
            other => panic!("unknown outcome {other}"),
        },
        facts: ToolFacts { lines_changed: lines, created: name == "Write", ..ToolFacts::default() },
    }
}

/// The memories of a script: type, title, subtitle, facts, narrative.
fn told(script: &str) -> String {
    let mut out = String::new();
    for draft in observe(&batch(script), &mode::code()) {
        out.push_str(&format!("[{}] {}\n", draft.raw_type, draft.title));
        if !draft.subtitle.is_empty() {
            out.push_str(&format!("  {}\n", draft.subtitle));
        }
        for fact in &draft.facts {
            out.push_str(&format!("- {fact}\n"));
        }
        for line in draft.narrative.lines().filter(|line| !line.is_empty()) {
            out.push_str(&format!("| {line}\n"));
        }
    }
    out
}

fn expect(script: &str, want: &str) {
    let want: Vec<&str> = want.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect();
    let got = told(script);
    let got: Vec<&str> = got.lines().map(str::trim_start).collect();
    assert_eq!(got, want, "\n--- got\n{}\n", got.join("\n"));
}

#[test]
fn a_fix_tells_the_cause_the_error_and_the_tests() {
    expect(
        "
        U fix the login race please
        T Read src/refresh.rs
        T Bash cargo test => fail: error[E0308]: mismatched types in refresh.rs / test result: FAILED. 33 passed; 1 failed; 0 ignored
        T Edit src/refresh.rs
        T Bash cargo test => ok: test result: ok. 34 passed; 0 failed; 0 ignored
        A Done! I fixed the race: `rotate()` now holds a row lock because two sessions rotated the same token.

          All tests pass. Want me to commit this?
        END",
        "
        [bugfix] Fixed the race: rotate() now holds a row lock because two sessions rotated the same token
        “Fix the login race”
        - First error: error[E0308]: mismatched types in refresh.rs
        - cargo test: 1 failed, 33 passed, then 34 passed
        - Changed: src/refresh.rs (+3 −1)",
    );
}

#[test]
fn a_feature_in_chinese() {
    expect(
        "
        U 请帮我给登录接口加上限流，每分钟五次
        T Write src/limit.rs
        T Edit src/login.rs
        T Bash cargo test => ok: test result: ok. 12 passed; 0 failed
        A 好的，已完成。我已经给 `/login` 接口添加了限流，每个用户每分钟最多五次请求。

          - 计数保存在 Redis 中，三个副本共享
          - 超出限制返回 429
        END",
        "
        [feature] 给 /login 接口添加了限流，每个用户每分钟最多五次请求
        “给登录接口加上限流，每分钟五次”
        - cargo test: 12 个通过
        - 计数保存在 Redis 中，三个副本共享
        - 超出限制返回 429
        - 修改：src/limit.rs (新建 +3)、src/login.rs (+3 −1)
        | 修改 2 个文件 (+6 −1).",
    );
}

#[test]
fn a_discovery_in_japanese() {
    expect(
        "
        U なぜ本番でだけログインが遅いのか調べてください
        T Read src/auth.rs
        T Read src/hash.rs
        A はい、原因が分かりました。本番では bcrypt のコストが 12 に設定されているため、ハッシュ計算に約 240 ミリ秒かかっています。開発環境のコストは 4 なので差が出ます。設定は `config/production.toml` の `hash.cost` で変更できます。
        END",
        "
        [discovery] 本番では bcrypt のコストが 12 に設定されているため、ハッシュ計算に約 240 ミリ秒かかっています
        「なぜ本番でだけログインが遅いのか調べてください」
        | 原因が分かりました。開発環境のコストは 4 なので差が出ます。設定は config/production.toml の hash.cost で変更できます。
        | 2 ファイル読み取り.",
    );
}

#[test]
fn a_fix_in_german() {
    expect(
        "
        U Kannst du bitte den Fehler beheben, dass die Tabelle bei Emoji verrutscht?
        T Edit src/table.rs
        T Bash cargo test table => ok: test result: ok. 7 passed; 0 failed
        A Erledigt. Die Breite wird jetzt je Graphem gezählt, weil Emoji aus mehreren Zeichen bestehen. Soll ich committen?
        END",
        "
        [bugfix] Die Breite wird jetzt je Graphem gezählt, weil Emoji aus mehreren Zeichen bestehen
        „Den Fehler beheben, dass die Tabelle bei Emoji verrutscht“
        - cargo test table: 7 bestanden
        - Geändert: src/table.rs (+3 −1)",
    );
}

#[test]
fn a_refactor_names_what_moved() {
    expect(
        "
        U rename the auth service and split it
        T Bash git mv src/auth.rs src/token_store.rs
        T Edit src/lib.rs
        A I split AuthService into TokenStore and SessionGuard.
        END",
        "
        [refactor] Split AuthService into TokenStore and SessionGuard
        “Rename the auth service and split it”
        - Changed: src/lib.rs (+3 −1)
        - Moved: src/auth.rs → src/token_store.rs",
    );
}

#[test]
fn documents_and_settings_are_a_change_and_a_commit_names_it() {
    expect(
        "
        U add a section about the queue to the readme and commit
        T Edit README.md
        T Bash git add -A && git commit -m x => ok: [main 1a2b3c4] docs: explain how the queue survives a restart / 1 file changed
        A Committed.
        END",
        "
        [change] Explain how the queue survives a restart
        “Add a section about the queue to the readme and commit”
        - Changed: README.md (+3 −1)
        - Commit 1a2b3c4 (main)",
    );
}

#[test]
fn a_choice_is_a_decision_of_its_own() {
    expect(
        "
        U build the rate limiter
        T AskUserQuestion {} => ok
        C Which store should hold the counters? → Redis, three replicas run behind the balancer
        T Write src/limit.rs
        A Added a rate limiter backed by Redis in `src/limit.rs`.
        END",
        "
        [feature] Added a rate limiter backed by Redis in src/limit.rs
        “Build the rate limiter”
        - Changed: src/limit.rs (new +3)
        [decision] Which store should hold the counters? → Redis, three replicas run behind the balancer
        “Build the rate limiter”",
    );
}

#[test]
fn a_refusal_with_words_is_kept_and_its_edit_is_not() {
    let script = "
        U make the tests pass
        T Read tests/a.rs
        T Edit tests/a.rs => denied: The user doesn't want to proceed
        R never weaken an assertion, fix the code instead
        INT";
    let batch = batch(script);
    let drafts = observe(&batch, &mode::code());
    assert_eq!(drafts.len(), 1);
    assert_eq!(drafts[0].raw_type, "decision");
    assert_eq!(drafts[0].title, "Never weaken an assertion, fix the code instead");
    assert_eq!(drafts[0].subtitle, "Refused: Edit tests/a.rs");
    assert!(drafts[0].narrative.contains("The user stopped"));
    let origin = crate::gate::correct::Origin { project: batch.project.clone(), ..Default::default() };
    let kept = crate::gate::correct::correct(drafts, &batch.events, &origin, &mode::code());
    assert_eq!(kept[0].files_modified, Vec::<String>::new());
    assert_eq!(kept[0].files_read, ["tests/a.rs"]);
}

#[test]
fn a025_a_call_refused_by_a_hook_leaves_a_trace_and_no_file() {
    let batch = batch(
        "
        U update the generated client
        T Edit src/gen.rs => denied: denied by hook: generated files are read-only
        T Edit src/template.rs
        A Changed the template instead, because a hook refuses edits of generated files.
        END",
    );
    let drafts = observe(&batch, &mode::code());
    assert_eq!(drafts.len(), 1);
    assert!(drafts[0].facts.contains(&"Refused: Edit src/gen.rs".to_owned()), "{:?}", drafts[0].facts);
    let origin = crate::gate::correct::Origin { project: batch.project.clone(), ..Default::default() };
    let kept = crate::gate::correct::correct(drafts, &batch.events, &origin, &mode::code());
    assert_eq!(kept[0].files_modified, ["src/template.rs"]);
}

#[test]
fn a_preference_said_in_passing_is_a_decision() {
    expect(
        "
        U from now on always use uv instead of pip in this repository
        A Understood, I'll use uv.
        END",
        "
        [decision] From now on always use uv instead of pip in this repository",
    );
    expect(
        "
        U 以后都用 pnpm，不要再用 npm
        A 好的。
        END",
        "
        [decision] 以后都用 pnpm，不要再用 npm",
    );
}

#[test]
fn steering_is_told_with_the_work() {
    let out = told(
        "
        U add a retry to the client
        T Edit src/client.rs
        S cap it at three attempts and add jitter
        T Edit src/client.rs
        A Added a retry with jitter, three attempts at most, to `Client::send`.
        END",
    );
    assert!(
        out.contains("While it ran, the user said: “Cap it at three")
            || out.contains("“cap it at three attempts and add jitter”"),
        "{out}"
    );
}

#[test]
fn an_interrupted_turn_claims_nothing() {
    expect(
        "
        U add a dark theme toggle to the settings page
        A I'll add the toggle now.
        T Edit src/theme.ts
        T Bash npm run build => stopped
        INT",
        "
        [feature] Add a dark theme toggle to the settings page
        - Changed: src/theme.ts (+3 −1)
        | The user stopped this turn before its end.",
    );
}

#[test]
fn a_red_test_at_the_end_is_said() {
    let out = told(
        "
        U speed up the importer
        T Edit src/import.rs
        T Bash cargo test => fail: test result: FAILED. 10 passed; 2 failed
        A Raised the buffer of the importer to 256 kB; two tests fail and need a look.
        END",
    );
    assert!(out.contains("Not resolved when the turn ended: cargo test: 2 failed, 10 passed"), "{out}");
}

#[test]
fn an_open_weakness_is_an_alert_and_a_mended_one_a_note() {
    let alert = told(
        "
        U is the search endpoint vulnerable to sql injection?
        T Read src/search.rs
        A Yes, it is vulnerable: `search()` pastes the term into the statement, so a quote ends the string and an attacker can read every table. Bind the term as a parameter; `list()` in the same file does it right already.
        END",
    );
    assert!(alert.starts_with("[security_alert] "), "{alert}");
    let note = told(
        "
        U fix the sql injection in search
        T Edit src/search.rs
        A Fixed the injection in `search()`: the term is bound as a parameter.
        END",
    );
    assert!(note.starts_with("[security_note] "), "{note}");
}

#[test]
fn a_plan_is_named_by_its_heading() {
    let out = told(
        "
        P Implement the following plan:
          # Plan: Invert the telemetry flag
          ## Files
          - setup.go
        T Edit setup.go
        A All changes have been implemented.
        END",
    );
    assert!(out.starts_with("[feature] Invert the telemetry flag\n"), "{out}");
}

#[test]
fn helpers_work_counts_for_the_turn_that_sent_them() {
    let out = told(
        "
        U add logging everywhere
        T Task {\"subagent_type\":\"general-purpose\"} => ok: done
        H Edit src/log.rs
        A Added the agent's name to every log line in `src/log.rs`.
        END",
    );
    assert!(out.contains("Changed: src/log.rs"), "{out}");
    assert_eq!(out.matches('[').count(), 1, "{out}");
}

#[test]
fn a026_routine_turns_give_nothing() {
    let routine = [
        "U ping\nA HEARTBEAT_OK\nEND",
        "U thanks!\nA You're welcome! Let me know if you need anything else.\nEND",
        "U list the files\nT Bash ls -la => ok: a / b\nA There are two files: `a` and `b`.\nEND",
        "U git status\nT Bash git status => ok: nothing to commit\nA The working tree is clean.\nEND",
        "U what's the capital of France?\nA Paris.\nEND",
        "U push it\nT Bash git push => ok: done\nA Pushed.\nEND",
        "U search for foo\nT Grep {\"pattern\":\"foo\"} => ok\nA No matches found.\nEND",
        "U 谢谢\nA 不客气！\nEND",
        "U ありがとう\nA どういたしまして。\nEND",
        "U danke\nA Gern geschehen!\nEND",
        "U 看看目录\nT Bash ls => ok: a\nA 目录里只有一个文件 a。\nEND",
        "U run the tests\nT Bash cargo test => ok: test result: ok. 3 passed; 0 failed\nA All tests pass.\nEND",
        "U wait\nINT",
        "L /model opus\nEND",
        "U hello\nA Hello. What would you like to work on?\nL /compact\nEND",
        "U start the server\nT Bash npm start => stopped\nINT",
    ];
    for script in routine {
        assert_eq!(told(script), "", "{script}");
    }
}

#[test]
fn proposals_are_not_told_as_facts() {
    let out = told(
        "
        U why does the queue lose jobs after a restart?
        T Read src/queue.rs
        A Jobs are lost because `confirm()` runs before the commit, so a crash between the two drops them. The cursor is in memory only and starts at the end after a restart.

          Options:
          - Move confirm behind the commit
          - Write the cursor to disk
        END",
    );
    assert!(out.starts_with("[discovery] Jobs are lost because confirm() runs before the commit"), "{out}");
    assert!(!out.contains("Write the cursor"), "{out}");
}

#[test]
fn marks_and_tags_never_reach_a_memory() {
    let out = told(
        "
        U fix `a` <system-reminder>x</system-reminder>
        T Edit src/a.rs
        A ## ✅ Done!

          **Fixed** the `parse::<u8>()` call in [a.rs](https://x.y/z) <br> because **the input** was _signed_.

          | a | b |
          |---|---|
          ```rust
          let x = 1;
          ```
        END",
    );
    for noise in ["**", "`", "##", "<br>", "](", "|---", "let x", "✅", "_signed_", "<system-reminder>"] {
        assert!(!out.contains(noise), "{noise} in {out}");
    }
    assert!(out.contains("parse::<u8>()"), "{out}");
}

#[test]
fn nothing_is_told_twice() {
    let scripts = [
        "U fix the login race\nT Edit a.rs\nA Fixed the login race by locking the row.\nEND",
        "U fix the login race\nT Edit a.rs\nA Fixed the login race.\n  - Fixed the login race.\n  - Locked the row in a.rs\nEND",
    ];
    for script in scripts {
        for draft in observe(&batch(script), &mode::code()) {
            let mut lines = vec![draft.title.clone(), draft.subtitle.trim_matches(['“', '”']).to_owned()];
            lines.extend(draft.facts.clone());
            for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
                let again = lines.iter().skip(at + 1).any(|other| other.eq_ignore_ascii_case(line));
                assert!(!again, "{line:?} twice in {lines:?}");
            }
        }
    }
}

#[test]
fn the_same_batch_gives_the_same_drafts_and_cites_all_its_events() {
    let batch = batch("U fix the bug\nT Edit a.rs\nA Fixed the off-by-one in `count()`.\nEND");
    let first = observe(&batch, &mode::code());
    assert_eq!(first, observe(&batch, &mode::code()));
    assert_eq!(first[0].cites, batch.keys().cloned().collect::<Vec<_>>());
}

#[test]
fn several_turns_in_one_batch_are_told_apart() {
    let out = told(
        "
        U fix the bug in count
        T Edit a.rs
        A Fixed the off-by-one in `count()`.
        END
        U thanks
        A You're welcome.
        END
        U rename it to total
        T Edit b.rs
        A Renamed `count()` to `total()`.
        END",
    );
    assert_eq!(out.matches('[').count(), 2, "{out}");
    assert!(!out.contains("welcome"));
}

#[test]
fn another_modes_words_are_used_only_where_it_knows_them() {
    let writing = mode::embedded("writing").expect("shipped");
    let drafts = observe(&batch("U fix the bug\nT Edit a.rs\nA Fixed the off-by-one in `count()`.\nEND"), &writing);
    for draft in drafts {
        assert!(draft.raw_type.is_empty() || writing.type_def(&draft.raw_type).is_some());
        assert!(draft.concepts.iter().all(|word| writing.concepts.iter().any(|it| it.id == *word)));
    }
}

#[test]
fn a020_a_summary_is_made_from_the_closing_answer() {
    let span = [batch("U fix it\nA done: cache fixed\nEND")];
    assert_eq!(summarise(&span), None, "no work was seen in it");
    let summary = fallback_summary(&span).expect("a fallback keeps any substance");
    assert!(summary.completed.to_lowercase().contains("cache fixed"), "{summary:?}");
    assert_eq!(fallback_summary(&[batch("U ping\nA ok\nEND")]), None);
}

#[test]
fn a_summary_tells_request_work_and_what_is_left() {
    let span = [
        batch(
            "
            U why does the queue lose jobs?
            T Read src/queue.rs
            A Jobs are lost because `confirm()` runs before the commit, so a crash between the two drops every job of the batch. Nothing else in the queue writes to disk.
            END",
        ),
        batch(
            "
            U fix that
            T Edit src/queue.rs
            T Bash git commit -qam x && git log => ok: [main 1a2b3c4] Confirm jobs only after the commit
            A Confirmed jobs only after the commit.

              ## Next steps
              - Run the backfill on a copy
            END",
        ),
    ];
    let summary = summarise(&span).expect("work was done");
    assert_eq!(summary.request, "Why does the queue lose jobs?");
    assert!(summary.learned.contains("confirm() runs before the commit"), "{summary:?}");
    assert!(summary.completed.contains("1a2b3c4"), "{summary:?}");
    assert_eq!(summary.next_steps, "Run the backfill on a copy");
    assert_eq!(summary.investigated, "src/queue.rs");
}

#[test]
fn any_text_is_survived() {
    use proptest::prelude::*;
    let mut runner = proptest::test_runner::TestRunner::new(proptest::test_runner::Config::with_cases(400));
    runner
        .run(&(".{0,400}", ".{0,400}", "\\PC{0,200}"), |(asked, answer, output)| {
            let mut batch = batch("U x\nT Edit a.rs\nT Bash cargo test => fail: y\nA z\nEND");
            for event in &mut batch.events {
                match &mut event.body {
                    Body::Prompt(prompt) => prompt.text.clone_from(&asked),
                    Body::Answer(it) => it.text = format!("{answer}\n```\n- {answer}\n**{asked}"),
                    Body::Tool(call) => call.output.clone_from(&output),
                    _ => {}
                }
            }
            for draft in observe(&batch, &mode::code()) {
                prop_assert!(!draft.title.contains('\n'));
                let _ = safe_text(&draft.narrative);
            }
            let _ = fallback_summary(&[batch]);
            Ok(())
        })
        .expect("no input panics");
}
