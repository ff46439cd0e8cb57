//! `cmem why`: what became of an event, or where a memory came from.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde::Serialize;

use super::{CliError, Ctx, print};
use crate::collector::core::REREAD;
use crate::memory::{EventKey, Memory, MemoryId, SessionId, Timestamp};
use crate::store::api::{LedgerEntry, Outcome};
use crate::store::{Access, Store, StoreError};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Key of an event (tool_use id, entry uuid), or id of a memory
    #[arg(value_name = "KEY|ID")]
    pub key: String,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
    /// Try an event again that was given up
    #[arg(long)]
    pub retry: bool,
}

/// What became of one event.
#[derive(Debug, Serialize)]
struct EventWhy {
    key: String,
    kind: String,
    session: String,
    time: Option<Timestamp>,
    decided_at: Timestamp,
    outcome: Outcome,
    /// Gates 0 to 5, as far as the event came.
    gates: Vec<GateWhy>,
    reason: String,
    call: Option<i64>,
    memories: Vec<i64>,
}

/// One gate's verdict.
#[derive(Debug, Serialize)]
struct GateWhy {
    gate: u8,
    what: &'static str,
    verdict: String,
}

/// Where a memory came from.
#[derive(Debug, Serialize)]
struct MemoryWhy {
    memory: Memory,
    events: Vec<EventWhy>,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let failed = |error: StoreError| CliError::new("the database cannot be asked").cause(error);
    let store = Store::open(&ctx.dirs.database(), Access::ReadOnly, ctx.now()).map_err(failed)?;
    let key = args.key.trim();
    if let Ok(id) = key.parse::<i64>() {
        let mut found = store.get(&[MemoryId(id)]).map_err(failed)?;
        store.fill_keys(&mut found).map_err(failed)?;
        let Some(memory) = found.pop() else {
            return Err(CliError::new(format!("there is no memory {id}")).hint("`cmem trash` lists deleted ones"));
        };
        let mut events = Vec::new();
        for key in &memory.keys {
            if let Some(entry) = store.ledger_of(key).map_err(failed)? {
                events.push(event_why(entry));
            }
        }
        let why = MemoryWhy { memory, events };
        return show(&why, args.json, || memory_told(&why));
    }
    let entry = find(&store, key).map_err(failed)?;
    if let (true, Some(entry)) = (args.retry, &entry) {
        return retry(entry, ctx);
    }
    let Some(entry) = entry else {
        return Err(CliError::new(format!("no event {key} has an outcome"))
            .cause("it was not read yet, waits for its outcome, or is a mark nobody decides about")
            .hint("`cmem status` tells what waits; `cmem inspect FILE` tells what a transcript holds"));
    };
    let why = event_why(entry);
    show(&why, args.json, || event_told(&why))
}

/// Takes an event that was given up out of the ledger, and has its session read again.
fn retry(entry: &LedgerEntry, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let failed = |error: StoreError| CliError::store("the event cannot be tried again", &error);
    if entry.outcome != Outcome::Quarantined {
        return Err(CliError::new(format!("event {} was not given up", entry.key))
            .cause(format!("it was {}", outcome_word(entry.outcome)))
            .hint("only what was given up can be tried again"));
    }
    let mut store = Store::open(&ctx.dirs.database(), Access::ReadWrite, ctx.now()).map_err(failed)?;
    let mut sessions: Vec<SessionId> = match store.state(REREAD).map_err(failed)? {
        Some(wish) => serde_json::from_str(&wish.value).unwrap_or_default(),
        None => Vec::new(),
    };
    if !sessions.contains(&entry.session) {
        sessions.push(entry.session.clone());
    }
    store.requeue(std::slice::from_ref(&entry.key)).map_err(failed)?;
    let value = serde_json::to_string(&sessions).unwrap_or_default();
    store.set_state(REREAD, &value, ctx.now()).map_err(failed)?;
    print::say(format_args!("{} is tried again as soon as a collector runs.", entry.key));
    Ok(ExitCode::SUCCESS)
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Stored => "stored",
        Outcome::Skipped => "skipped",
        Outcome::Dropped => "refused",
        Outcome::Quarantined => "given up",
    }
}

/// An event by its key, or by the part of its key that a person can see in a transcript.
fn find(store: &Store, key: &str) -> Result<Option<LedgerEntry>, StoreError> {
    for name in [key.to_owned(), format!("{key}#answer"), format!("{key}#prompt")] {
        if let Some(entry) = store.ledger_of(&EventKey(name))? {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

fn show<T: Serialize>(why: &T, json: bool, told: impl FnOnce() -> String) -> Result<ExitCode, CliError> {
    if json {
        print::json(why)?;
    } else {
        let text = told();
        print::data(|out| std::io::Write::write_all(out, text.as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

const GATES: [&str; 6] = [
    "origin and project",
    "tool and private turn",
    "text worth keeping",
    "worth remembering",
    "shape of the answer",
    "evidence",
];

fn event_why(entry: LedgerEntry) -> EventWhy {
    let last = usize::from(entry.gate).min(GATES.len() - 1);
    let gates = (0..=last)
        .map(|gate| GateWhy {
            gate: gate as u8,
            what: GATES[gate],
            verdict: if gate == last { entry.reason.clone() } else { "passed".into() },
        })
        .collect();
    EventWhy {
        key: entry.key.as_str().to_owned(),
        kind: entry.kind,
        session: entry.session.as_str().to_owned(),
        time: entry.time,
        decided_at: entry.recorded_at,
        outcome: entry.outcome,
        gates,
        reason: entry.reason,
        call: entry.call,
        memories: entry.memories.into_iter().map(|id| id.0).collect(),
    }
}

fn event_told(why: &EventWhy) -> String {
    let mut out = String::new();
    let outcome = outcome_word(why.outcome);
    let _ = writeln!(out, "{} {}: {outcome} ({})", why.kind, why.key, why.reason);
    let _ = writeln!(out, "  session   {}", why.session);
    if let Some(time) = why.time {
        let _ = writeln!(out, "  happened  {time:.0}");
    }
    let _ = writeln!(out, "  decided   {:.0}", why.decided_at);
    for gate in &why.gates {
        let _ = writeln!(out, "  gate {}    {}: {}", gate.gate, gate.what, gate.verdict);
    }
    if let Some(call) = why.call {
        let _ = writeln!(out, "  call      {call}");
    }
    if !why.memories.is_empty() {
        let ids: Vec<String> = why.memories.iter().map(i64::to_string).collect();
        let _ = writeln!(out, "  memories  {}", ids.join(", "));
    }
    out
}

fn memory_told(why: &MemoryWhy) -> String {
    let mut out = String::new();
    let memory = &why.memory;
    let _ = writeln!(out, "{} {}", memory.id.0, crate::memory::safe_line(&memory.title));
    let source = serde_json::to_value(memory.source).ok().and_then(|it| it.as_str().map(str::to_owned));
    let _ = writeln!(out, "  written by  {}", source.unwrap_or_default());
    let evidence = serde_json::to_value(memory.evidence).ok().and_then(|it| it.as_str().map(str::to_owned));
    let _ = writeln!(out, "  evidence    {}", evidence.unwrap_or_default());
    for file in &memory.files_modified {
        let _ = writeln!(out, "  changed     {}", crate::memory::safe_line(file));
    }
    let _ = writeln!(out, "  rests on {} events:", why.events.len());
    for event in &why.events {
        let time = event.time.map(|time| format!("{time:.0} ")).unwrap_or_default();
        let _ = writeln!(out, "    {time}{} {}: {}", event.kind, event.key, event.reason);
    }
    out
}
