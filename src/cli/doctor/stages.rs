//! The stages of `cmem doctor`, each run for real.
#![allow(clippy::disallowed_methods, reason = "looks at settings files, and runs the hook as Claude Code would")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde_json::json;

use super::super::apart::Apart;
use super::super::{Ctx, transcripts, watch};
use super::Finding;
use crate::collector::input::Ask;
use crate::collector::intake::Scope;
use crate::collector::report::report;
use crate::collector::run::{Collector, Ended};
use crate::config;
use crate::hub::{Hub, active_mode};
use crate::memory::{MemoryId, Source, Timestamp};
use crate::store::api::{Access, Filter, Order};
use crate::store::{Store, StoreError};
use crate::transcript::counts::Counts;
use crate::transcript::locate::{self, FileKind};
use crate::transcript::reader::{FileRole, Reader};

/// Transcripts looked through, newest first.
const SAMPLE: usize = 20;

/// Most seconds a model is given for the sample.
const LONGEST: f64 = 60.0;

/// The session of the sample transcript.
const SESSION: &str = "00000000-0000-4000-8000-00000000d0c7";

pub fn settings(ctx: &Ctx) -> Finding {
    match ctx.warnings.as_slice() {
        [] => Finding::ok("settings", "all settings apply"),
        [first, ..] => Finding::fail("settings", first.to_string(), "`cmem config check` names all that do not apply"),
    }
}

pub fn directories(ctx: &Ctx) -> Finding {
    let probe = ctx.dirs.state.join(format!("doctor-{}", std::process::id()));
    let tried = ctx.dirs.create().and_then(|()| fs::write(&probe, "")).and_then(|()| fs::remove_file(&probe));
    match tried {
        Ok(()) => Finding::ok("directories", format!("{} can be written", ctx.dirs.data.display())),
        Err(error) => Finding::fail(
            "directories",
            format!("{} cannot be written: {error}", ctx.dirs.state.display()),
            "check its owner and modes, or set CMEM_HOME to another directory",
        ),
    }
}

pub fn mode(ctx: &Ctx) -> Finding {
    let (mode, warnings) = active_mode(&ctx.dirs, &ctx.settings);
    match warnings.first() {
        None => Finding::ok("mode", format!("{} with {} types", mode.id, mode.types.len())),
        Some(warning) => Finding::note("mode", warning, "modes lie in the folder that `cmem config path` shows"),
    }
}

pub fn transcripts(ctx: &Ctx) -> Finding {
    let roots = locate::roots(&ctx.dirs.claude, &ctx.settings.record.roots, ctx.dirs.home.as_deref());
    let mut files: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
    for root in &roots {
        let (found, unread) = locate::walk(&root.projects(), None);
        if let Some(unread) = unread.first() {
            let detail = format!("{} cannot be read: {}", unread.path.display(), unread.error);
            return Finding::fail("transcripts", detail, "check its owner and modes");
        }
        let dated = found
            .into_iter()
            .filter(|file| matches!(file.kind, FileKind::Session(_)))
            .filter_map(|file| Some((fs::metadata(&file.path).and_then(|meta| meta.modified()).ok()?, file.path)));
        files.extend(dated);
    }
    let looked: Vec<String> = roots.iter().map(|root| root.projects().display().to_string()).collect();
    if files.is_empty() {
        let detail = format!("no transcript in {}", looked.join(", "));
        return Finding::note(
            "transcripts",
            detail,
            "Claude Code writes one with the first prompt; CLAUDE_CONFIG_DIR says where",
        );
    }
    let all = files.len();
    files.sort_by_key(|file| std::cmp::Reverse(file.0));
    let mut counts = Counts::default();
    for (_, path) in files.iter().take(SAMPLE) {
        let mut reader = Reader::new(FileRole { session: "".into(), agent: None, parent_call: None });
        let read = transcripts::chunks(path, |bytes| reader.feed(bytes, &mut Vec::new()));
        if let Err(error) = read {
            return Finding::fail("transcripts", error.to_string(), "check its owner and modes");
        }
        let these = reader.take_counts();
        counts.lines += these.lines;
        counts.malformed += these.malformed;
        for (key, times) in these.unknown_versions {
            *counts.unknown_versions.entry(key).or_default() += times;
        }
    }
    let mut detail = format!("{all} sessions; {} lines of the newest read, {} lost", counts.lines, counts.malformed);
    if counts.unknown_versions.is_empty() {
        return Finding::ok("transcripts", detail);
    }
    let mut types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kind, version) in counts.unknown_versions.keys() {
        types.entry(kind).or_default().push(version);
    }
    let types: Vec<String> = types.iter().map(|(kind, versions)| format!("{kind} ({})", versions.join(", "))).collect();
    detail.push_str(&format!("; unknown line types: {}", types.join("; ")));
    Finding::note("transcripts", detail, "they are passed over; a newer cmem may know them")
}

pub fn database(ctx: &Ctx) -> Finding {
    let remedy = "backups lie beside the database; `cmem config path` shows where";
    match Store::open(&ctx.dirs.database(), Access::ReadOnly, ctx.now()) {
        Err(StoreError::Missing(_)) => Finding::ok("database", "not there yet; the first start makes it"),
        Err(error) => Finding::fail("database", error.to_string(), remedy),
        Ok(store) => match store.check() {
            Ok(faults) if faults.is_empty() => {
                let (bytes, log) = store.disk();
                Finding::ok("database", format!("whole, {} kB and {} kB of log", bytes / 1_000, log / 1_000))
            }
            Ok(faults) => Finding::fail("database", faults.join("; "), remedy),
            Err(error) => Finding::fail("database", error.to_string(), remedy),
        },
    }
}

/// Whether the newest memories are found by their own words.
pub fn index(ctx: &Ctx) -> Finding {
    let Ok(store) = Store::open(&ctx.dirs.database(), Access::ReadOnly, ctx.now()) else {
        return Finding::ok("index", "nothing to find yet");
    };
    let checked = store.list(&Filter::default(), Order::Newest, None, SAMPLE).and_then(|memories| {
        let mut missing: Vec<MemoryId> = Vec::new();
        for memory in &memories {
            let filter = Filter { ids: vec![(memory.id, memory.id)], ..Filter::default() };
            let found = store.words(&memory.title, &filter, Order::Newest, 1)?;
            if !memory.title.trim().is_empty() && found.hits.is_empty() {
                missing.push(memory.id);
            }
        }
        Ok((memories.len(), missing))
    });
    match checked {
        Ok((count, missing)) if missing.is_empty() => {
            Finding::ok("index", format!("the newest {count} are found by their titles"))
        }
        Ok((_, missing)) => Finding::fail(
            "index",
            format!("#{} is not found by its own title", missing[0].0),
            "`cmem export` and `cmem import` into a new home build it anew",
        ),
        Err(error) => Finding::fail("index", error.to_string(), "run `cmem doctor` again when nobody else is at work"),
    }
}

pub fn installed(ctx: &Ctx) -> Finding {
    let files = ctx.dirs.claude.iter().map(|dir| dir.join("settings.json"));
    let ours = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains("hook session-start"));
    match files.into_iter().find(ours) {
        Some(path) => Finding::ok("installed", format!("sessions are given memories ({})", path.display())),
        None => Finding::note("installed", "sessions are not given memories", "`cmem install` adds the hooks"),
    }
}

/// A sample through reader, gates, observer and store, and back through the hook.
pub fn pipeline(ctx: &Ctx, no_call: bool) -> Vec<Finding> {
    let mut apart_ctx = ctx.clone();
    let sample = sample(ctx.now());
    let _apart = match Apart::with_sample(&mut apart_ctx, &format!("{SESSION}.jsonl"), &sample) {
        Ok(apart) => apart,
        Err(error) => return vec![Finding::fail("observer", error.to_string(), "make room for temporary files")],
    };
    if no_call {
        apart_ctx.settings.observer.provider = "offline".into();
    }
    apart_ctx.settings.record.mode = "all".into();
    let mut options = watch::options(&apart_ctx);
    options.scope = Scope { once: true, from_start: true, ..Scope::default() };
    let provider = apart_ctx.settings.observer.provider.clone();
    let ended = match Collector::start(options) {
        Ok(collector) => wait(collector, ctx.settings.observer.turn_timeout.min(LONGEST) + 3.0),
        Err(error) => return vec![Finding::fail("observer", error.to_string(), "see what else `cmem doctor` says")],
    };
    let remedy = "`observer.provider` chooses who observes; \"offline\" needs nothing";
    match ended {
        Ended::Paused(paused) => {
            let detail = format!("{provider} was asked and cannot go on: {} {}", paused.reason, paused.detail);
            return vec![Finding::fail("observer", detail, remedy)];
        }
        Ended::Failed(why) => return vec![Finding::fail("observer", format!("{provider}: {why}"), remedy)],
        Ended::Stopped => {
            let health = report(&apart_ctx.dirs, &apart_ctx.settings, ctx.now(), &ctx.zone).health;
            let paused = health.paused.map(|paused| format!("{} {}", paused.reason, paused.detail));
            let why = paused.or_else(|| health.errors.first().map(|error| error.what.clone()));
            let detail = format!("{provider} gave no answer: {}", why.unwrap_or_else(|| "not even an error".into()));
            return vec![Finding::fail("observer", detail, remedy)];
        }
        Ended::Done => {}
    }
    let hub = match Hub::open(&apart_ctx.dirs, &apart_ctx.settings, Access::ReadOnly, ctx.now()) {
        Ok(hub) => hub,
        Err(error) => return vec![Finding::fail("observer", error.to_string(), remedy)],
    };
    let kept = hub.list(&Filter::default(), None, 10).map(|(memories, _)| memories).unwrap_or_default();
    let observer = match kept.first() {
        None => Finding::fail(
            "observer",
            format!("{provider} answered, and nothing was kept of a sample worth keeping"),
            "try another model (observer.model), or \"offline\"",
        ),
        Some(memory) if memory.source == Source::Fallback => Finding::fail(
            "observer",
            format!("{provider} did not follow the format; the closing answer was kept instead"),
            "try another model (observer.model)",
        ),
        Some(memory) if memory.source == Source::Offline && provider == "auto" => {
            Finding::note("observer", "no `claude` program could be started, so rules without a model observe", remedy)
        }
        Some(memory) => {
            Finding::ok("observer", format!("{provider} made {} of a sample, as #{}", memory.type_id, memory.id.0))
        }
    };
    vec![observer, hook(&apart_ctx)]
}

/// Waits until it has decided about the sample, or asks it to stop when that takes too long.
fn wait(collector: Collector, seconds: f64) -> Ended {
    let ask = collector.asker();
    let (done, waits) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if waits.recv_timeout(Duration::from_secs_f64(seconds)) == Err(RecvTimeoutError::Timeout) {
            ask(Ask::Stop);
        }
    });
    let ended = collector.wait();
    drop(done);
    let _ = watchdog.join();
    ended
}

/// The hook as Claude Code runs it, over the sample's memories.
fn hook(ctx: &Ctx) -> Finding {
    let remedy = "run `cmem context` to see what would be given";
    let input = json!({"session_id": SESSION, "cwd": "/sample/project", "hook_event_name": "SessionStart", "source": "startup"});
    let spawned = Command::new(config::program())
        .args(["hook", "session-start"])
        .env("CMEM_HOME", &ctx.dirs.data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let output = spawned.and_then(|mut child| {
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.to_string().as_bytes())?;
        }
        child.wait_with_output()
    });
    match output {
        Ok(output) if !output.status.success() => Finding::fail("hook", "it ended with an error", remedy),
        Ok(output)
            if output.stdout.is_empty() && ctx.settings.context.enabled && ctx.settings.context.observations > 0 =>
        {
            Finding::fail("hook", "it said nothing, though there is a memory", remedy)
        }
        Ok(output) => match serde_json::from_slice::<serde_json::Value>(&output.stdout) {
            Ok(_) => Finding::ok("hook", format!("{} bytes are given at session start", output.stdout.len())),
            Err(_) if output.stdout.is_empty() => {
                Finding::note("hook", "giving memories is switched off", "context.enabled, context.observations")
            }
            Err(error) => Finding::fail("hook", format!("what it says is no JSON: {error}"), remedy),
        },
        Err(error) => Finding::fail("hook", format!("it cannot be run: {error}"), remedy),
    }
}

/// A short session worth remembering.
fn sample(now: Timestamp) -> String {
    let at = |second: i64| (now - jiff::SignedDuration::from_secs(60 - second)).to_string();
    let line = |n: i64, kind: &str, message: serde_json::Value| {
        json!({
            "type": kind, "sessionId": SESSION, "version": "2.1.200", "isSidechain": false, "cwd": "/sample/project",
            "gitBranch": "main", "uuid": format!("00000000-0000-4000-8000-0000000d0c{n:02}"), "timestamp": at(n),
            "message": message,
        })
        .to_string()
    };
    let edit = json!({"file_path": "/sample/project/src/retry.rs", "old_string": "attempts = 1", "new_string": "attempts = 3"});
    let call = json!({"type": "tool_use", "id": "toolu_doctor", "name": "Edit", "input": edit});
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_doctor", "content": "The file has been updated."});
    let words =
        "Uploads failed because a single network error was final. They are now tried three times before giving up.";
    let lines = [
        line(1, "user", json!({"role": "user", "content": "Uploads fail now and then. Find out why and fix it."})),
        line(
            2,
            "assistant",
            json!({"id": "msg_d1", "role": "assistant", "content": [call], "stop_reason": "tool_use"}),
        ),
        line(3, "user", json!({"role": "user", "content": [result]})),
        line(
            4,
            "assistant",
            json!({"id": "msg_d2", "role": "assistant", "content": [{"type": "text", "text": words}], "stop_reason": "end_turn"}),
        ),
    ];
    lines.join("\n") + "\n"
}
