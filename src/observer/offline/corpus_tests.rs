//! Memories of real transcripts keep the promises: no noise, nothing twice, nothing too long, the same each time.
//! `CMEM_TELL=1` prints them, for reading as a user would.
#![allow(clippy::disallowed_methods)] // tests read the shared corpus

use std::path::{Path, PathBuf};

use super::*;
use crate::gate::correct::{Origin, correct};
use crate::memory::{AgentId, NewMemory, ProjectRef, SessionId, Source};
use crate::mode;
use crate::observer::batch::Batch;
use crate::transcript::event::{Body, Event};
use crate::transcript::reader::{FileRole, Reader};

fn shared() -> Option<PathBuf> {
    let from_env = std::env::var_os("CMEM_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    from_env.into_iter().chain([beside]).find(|dir| dir.join("corpus").is_dir())
}

fn transcripts(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            transcripts(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") && !path.ends_with("_stdout.stream.jsonl") {
            out.push(path);
        }
    }
}

fn events_of(path: &Path) -> Vec<Event> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let agent = stem.strip_prefix("agent-").map(AgentId::from);
    let role = FileRole { session: SessionId(stem), agent, parent_call: None };
    let mut reader = Reader::new(role);
    let mut events = Vec::new();
    reader.feed(&std::fs::read(path).expect("readable"), &mut events);
    reader.close(&mut events);
    events
}

/// One batch a turn, as the pipeline hands them to this observer.
fn batches(events: Vec<Event>) -> Vec<Batch> {
    let mut out: Vec<Batch> = Vec::new();
    for event in events {
        if out.last().is_none_or(|batch| batch.prompt_number != event.turn) {
            let root = event.cwd.clone().unwrap_or_default();
            let name = root.rsplit('/').next().unwrap_or("").to_owned();
            out.push(Batch {
                project: Some(ProjectRef { root, name, worktree: None }),
                cwd: event.cwd.clone(),
                prompt_number: event.turn,
                closes_turn: true,
                ..Batch::default()
            });
        }
        out.last_mut().expect("just pushed").events.push(event);
    }
    out
}

fn remembered(batch: &Batch) -> Vec<NewMemory> {
    let origin = Origin { project: batch.project.clone(), source: Source::Offline, ..Origin::default() };
    correct(observe(batch, &mode::code()), &batch.events, &origin, &mode::code())
}

fn tell(path: &Path, batch: &Batch, memory: &NewMemory) {
    println!("\n=== {} turn {}", path.display(), batch.prompt_number);
    println!("[{}] {}\n    {}", memory.type_id, memory.title, memory.subtitle);
    memory.facts.iter().for_each(|fact| println!("    - {fact}"));
    memory.narrative.lines().for_each(|line| println!("    | {line}"));
    println!(
        "    {} / read {} / modified {}",
        memory.concepts.join(" "),
        memory.files_read.join(" "),
        memory.files_modified.join(" ")
    );
}

#[test]
fn memories_of_the_corpus_keep_the_promises() {
    let Some(shared) = shared() else {
        println!("skipped: the shared corpus is not here");
        return;
    };
    let mut paths = Vec::new();
    for dir in ["corpus/projects", "corpus/fields", "client/transcripts"] {
        transcripts(&shared.join(dir), &mut paths);
    }
    let show = std::env::var_os("CMEM_TELL").is_some();
    let (mut turns, mut kept) = (0, 0);
    for path in &paths {
        for batch in batches(events_of(path)) {
            turns += 1;
            let memories = remembered(&batch);
            assert_eq!(memories, remembered(&batch), "the same each time");
            let spoken = batch.events.iter().filter(|event| matches!(event.body, Body::Prompt(_))).count();
            assert!(memories.len() <= 1 + usize::from(spoken > 0), "at most an account and a decision a turn");
            for memory in &memories {
                kept += 1;
                if show {
                    tell(path, &batch, memory);
                }
                promises(memory);
            }
            if show && memories.is_empty() {
                let asked = batch.events.iter().find_map(|event| match &event.body {
                    Body::Prompt(prompt) => Some(crate::memory::safe_line(&prompt.text)),
                    _ => None,
                });
                println!(
                    "\n--- nothing: {} turn {}: {:.160}",
                    path.display(),
                    batch.prompt_number,
                    asked.unwrap_or_default()
                );
            }
        }
    }
    println!("{turns} turns, {kept} memories");
    assert!(kept >= 60 && kept * 4 <= turns * 3, "{kept} of {turns}");
}

fn promises(memory: &NewMemory) {
    assert!(!memory.title.is_empty());
    assert!(super::sentence::weight(&memory.title) <= 112, "{}", memory.title);
    let all = [&memory.title, &memory.subtitle, &memory.narrative].into_iter().chain(&memory.facts);
    for text in all {
        for noise in ["**", "```", "</", "<system-reminder", "\u{1b}"] {
            assert!(!text.contains(noise), "{noise} in {text}");
        }
    }
    let told: Vec<&String> =
        [&memory.title, &memory.subtitle].into_iter().chain(&memory.facts).filter(|it| !it.is_empty()).collect();
    for (at, line) in told.iter().enumerate() {
        assert!(!told[at + 1..].contains(line), "{line:?} is told twice in {told:#?}");
    }
}
