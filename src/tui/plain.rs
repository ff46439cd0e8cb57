//! The same without a screen: one line per memory as it comes, words instead of colours and signs, commands on stdin.
//! For screen readers, pipes and terminals that can do nothing (tui.md B.21).

use std::io::{BufRead, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use jiff::tz::TimeZone;

use super::view::{age, thousands, tokens};
use super::worker::Opener;
use crate::hub::live::{Change, ContextAsk, Rec, RowBatch, Seen, Source, Trouble, Vitals};
use crate::memory::{MemoryId, from_millis, safe_line};

/// Rows that are told at the beginning.
const FIRST: usize = 20;

/// A heading and the newest memories, newest first: `--inline N`.
pub fn newest(source: &mut dyn Source, rows: usize, zone: &TimeZone, now: i64) -> Result<Vec<String>, Trouble> {
    let mut batch = RowBatch::default();
    source.newest(rows, &mut batch)?;
    let mut lines = vec![heading(source, now)];
    lines.extend(batch.rows.iter().map(|row| line(&batch, row, zone)));
    Ok(lines)
}

fn heading(source: &mut dyn Source, now: i64) -> String {
    let total: u64 = source.projects().map_or(0, |projects| projects.iter().map(|project| project.memories).sum());
    let mut parts = vec![format!("{} memories", thousands(total))];
    if let Ok(vitals) = source.vitals() {
        parts.push(rec_words(&vitals, now));
    }
    let ask = ContextAsk { at: "session-start".into(), ..ContextAsk::default() };
    if let Ok(context) = source.context(&ask) {
        parts.push(format!("{} in context ~{} tokens", context.within.len(), tokens(u64::from(context.tokens))));
    }
    parts.join(" · ")
}

fn rec_words(vitals: &Vitals, now: i64) -> String {
    match vitals.rec {
        Rec::Ok(at) => format!("REC ok {}", age(now - at)),
        Rec::Idle | Rec::Unknown => "REC idle".into(),
        Rec::Lag(at) => format!("REC LAG {}", age(now - at)),
        Rec::Wait(_) => "REC WAIT".into(),
        Rec::Gap(at) => format!("REC GAP {}", age(now - at)),
        Rec::Off => "REC OFF".into(),
        Rec::Down(_) => format!("REC DOWN {}", vitals.cause),
        Rec::ReadOnly => "READ ONLY".into(),
    }
}

fn line(batch: &RowBatch, row: &crate::hub::live::BatchRow, zone: &TimeZone) -> String {
    let at = from_millis(row.created_ms).to_zoned_datetime(zone.clone());
    let word = &batch.types[usize::from(row.type_ix)];
    let word = if word.is_empty() { "summary" } else { word };
    format!("{} {word:<10} {}  #{}", at.strftime("%H:%M"), batch.title(row), row.id)
}

/// What can be typed.
const HELP: &str = "commands: :show ID  :search WORDS  :trash ID  :undo  :redo  :pin ID  :unpin ID  :exclude ID  \
                    :status  :help  :quit";

/// Runs until stdin ends or says `:quit`.
pub fn run(mut open: Opener, zone: &TimeZone, now: &dyn Fn() -> i64) -> Result<(), Trouble> {
    let mut source = open()?;
    let mut seen = Seen::default();
    let _ = source.changes(&mut seen);
    let mut batch = RowBatch::default();
    source.newest(FIRST, &mut batch)?;
    say(&heading(source.as_mut(), now()));
    say(HELP);
    for row in batch.rows.iter().rev() {
        say(&line(&batch, row, zone));
    }
    let (poke, typed) = channel::<Option<String>>();
    let from_collector = poke.clone();
    source.on_change(Box::new(move || drop(from_collector.send(None))));
    // Reading blocks, so it has a thread; the thread ends with the process.
    let reader = std::thread::Builder::new().name("stdin".into()).spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if poke.send(Some(line)).is_err() {
                return;
            }
        }
        let _ = poke.send(Some(":quit".into()));
    });
    let mut asked: Option<Change> = None;
    loop {
        match typed.recv_timeout(Duration::from_millis(500)) {
            Ok(Some(command)) if command.trim() == ":quit" || command.trim() == ":q" => break,
            Ok(Some(command)) => {
                let told = match asked.take() {
                    Some(change) => answer(source.as_mut(), &change, &command),
                    None => obey(source.as_mut(), &command, zone, now(), &mut asked),
                };
                for line in told.unwrap_or_else(|trouble| vec![format!("not done: {trouble}")]) {
                    say(&line);
                }
            }
            Ok(None) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Ok(Some(changes)) = source.changes(&mut seen) {
            for row in &changes.rows.rows {
                say(&line(&changes.rows, row, zone));
            }
            for id in &changes.gone {
                say(&format!("gone: #{}", id.0));
            }
        }
    }
    drop(reader);
    Ok(())
}

/// A numbered question was answered.
fn answer(source: &mut dyn Source, change: &Change, typed: &str) -> Result<Vec<String>, Trouble> {
    if typed.trim() != "1" {
        return Ok(vec!["kept as it was".into()]);
    }
    let done = source.apply(change)?;
    Ok(vec![format!("{}; :undo takes it back", done.label)])
}

fn obey(
    source: &mut dyn Source,
    command: &str,
    zone: &TimeZone,
    now: i64,
    asked: &mut Option<Change>,
) -> Result<Vec<String>, Trouble> {
    let mut words = command.split_whitespace();
    let verb = words.next().unwrap_or("");
    let rest: Vec<&str> = words.collect();
    let ids =
        || rest.iter().filter_map(|word| word.trim_start_matches('#').parse().ok().map(MemoryId)).collect::<Vec<_>>();
    let change = |source: &mut dyn Source, change: Change| {
        source.apply(&change).map(|done| vec![format!("{}; :undo takes it back", done.label)])
    };
    match verb {
        "" => Ok(Vec::new()),
        ":help" => Ok(vec![HELP.to_owned()]),
        ":status" => Ok(vec![source.vitals().map(|vitals| rec_words(&vitals, now))?]),
        ":show" => {
            let memories = source.get(&ids())?;
            let text = memories.iter().map(super::update::markdown).collect::<Vec<_>>().join("\n");
            Ok(crate::memory::safe_text(&text).lines().map(str::to_owned).collect())
        }
        ":search" => {
            let hits = source.words(&rest.join(" "), &[], FIRST)?;
            let ids: Vec<MemoryId> = hits.hits.iter().map(|(id, _)| *id).collect();
            let found = source.get(&ids)?;
            let mut out: Vec<String> = found
                .iter()
                .map(|memory| {
                    let at = memory.created_at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
                    format!("{at} {:<10} {}  #{}", memory.type_id, safe_line(&memory.title), memory.id.0)
                })
                .collect();
            out.push(format!("{} found{}", found.len(), if hits.more { ", there are more" } else { "" }));
            Ok(out)
        }
        ":trash" if ids().len() > 1 => {
            *asked = Some(Change::Trash(ids()));
            Ok(vec![format!("move {} memories to the trash? 1 yes, 2 no (default)", ids().len())])
        }
        ":trash" => change(source, Change::Trash(ids())),
        ":pin" => change(source, Change::Pin(ids(), true)),
        ":unpin" => change(source, Change::Pin(ids(), false)),
        ":exclude" => change(source, Change::Exclude(ids(), true)),
        ":undo" => source.undo(None).map(|done| vec![format!("undone: {}", done.label)]),
        ":redo" => source.redo().map(|done| vec![format!("done again: {}", done.label)]),
        _ => Ok(vec![format!("{}: not a command; {HELP}", safe_line(command))]),
    }
}

fn say(line: &str) {
    // A reader that went away is no trouble of ours.
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::demo::{Demo, DemoClock};

    #[test]
    fn the_newest_are_told_with_words() {
        let mut demo = Demo::new(DemoClock::default(), 50, false);
        let lines = newest(&mut demo, 3, &TimeZone::UTC, super::super::demo::START_MS).unwrap();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].contains("memories · REC ok 4s"), "{}", lines[0]);
        assert!(lines.iter().all(|line| !line.contains('\u{1b}')));
    }

    #[test]
    fn many_are_asked_about_by_number() {
        let mut demo = Demo::new(DemoClock::default(), 50, false);
        let mut asked = None;
        let told = obey(&mut demo, ":trash 3 4", &TimeZone::UTC, 0, &mut asked).unwrap();
        assert!(told[0].starts_with("move 2 memories"));
        assert_eq!(answer(&mut demo, &asked.take().unwrap(), "").unwrap(), ["kept as it was"]);
        obey(&mut demo, ":trash 3 4", &TimeZone::UTC, 0, &mut asked).unwrap();
        assert_eq!(answer(&mut demo, &asked.take().unwrap(), "1").unwrap(), ["trashed 2; :undo takes it back"]);
        assert_eq!(demo.memories().count(), 48);
        obey(&mut demo, ":undo", &TimeZone::UTC, 0, &mut asked).unwrap();
        assert_eq!(demo.memories().count(), 50);
    }
}
