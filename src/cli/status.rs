//! `cmem status`: whether recording works, from evidence with ages.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::print::Style;
use super::{CliError, Ctx, print};
use crate::collector::health::{Health, STALLED, State};
use crate::collector::report::{Report, report};
use crate::memory::Timestamp;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let now = ctx.now();
    let report = report(&ctx.dirs, &ctx.settings, now, &ctx.zone);
    if args.json {
        print::json(&report.health)?;
    } else {
        let text = told(&report, now, ctx);
        print::data(|out| std::io::Write::write_all(out, text.as_bytes()))?;
    }
    Ok(if report.health.is_bad(now) { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// The state in words a person can act on.
fn told(report: &Report, now: Timestamp, ctx: &Ctx) -> String {
    let health = &report.health;
    let mut out = String::new();
    let style = match health.state {
        State::Ok | State::Idle => Style::Good,
        State::Lag | State::Wait | State::Off => Style::Careful,
        State::Gap | State::Down | State::ReadOnly => Style::Bad,
    };
    let stalled = health.state == State::Lag && health.is_bad(now);
    let word = if stalled { "STALLED".to_owned() } else { health.state.word().to_owned() };
    let _ = writeln!(out, "{}  {}", ctx.terminal.paint(style, &word), meaning(report, now, ctx));
    let mut line = |label: &str, text: String| {
        let _ = writeln!(out, "  {}{text}", ctx.terminal.paint(Style::Quiet, &format!("{label:<12}")));
    };
    match &report.snapshot {
        Some(snapshot) if report.alive => {
            line("collector", format!("{}, up {}", pid(snapshot.pid), age(snapshot.started_at, now)));
        }
        Some(snapshot) if snapshot.stopped => {
            line("collector", format!("not running, ended {}", ago(snapshot.beat_at, now)));
        }
        Some(snapshot) => line(
            "collector",
            format!("not running, {} gone, last sign of life {}", pid(snapshot.pid), ago(snapshot.beat_at, now)),
        ),
        None => line("collector", "never started".into()),
    }
    if let Some(snapshot) = &report.snapshot {
        let how = match &snapshot.watch_reason {
            Some(why) => format!("{} ({why})", health.watch),
            None => health.watch.clone(),
        };
        let sources = if snapshot.sources.is_empty() { "no folder yet".into() } else { snapshot.sources.join(", ") };
        line("reading", format!("{sources}, by {how}, last line {}", ago(health.last_line_at, now)));
    }
    let model = if health.model.is_empty() { String::new() } else { format!(" ({})", health.model) };
    line("observer", format!("{}{model}, last memory {}", health.provider, ago(health.last_memory_at, now)));
    let oldest = match health.oldest_waiting_at {
        Some(at) => format!(", oldest {}", span(now, at)),
        None => String::new(),
    };
    line("waiting", format!("{}{oldest}", health.waiting));
    if health.backlog > 0 {
        line("backlog", format!("{} events from before the first start (`cmem backfill` reads them)", health.backlog));
    }
    if let Some(paused) = &health.paused {
        let until = match paused.next_try.or(paused.until) {
            Some(at) => format!(", tried again at {}", local(at, ctx)),
            None => String::new(),
        };
        line("paused", format!("{} since {}{until}", paused.reason, local(paused.since, ctx)));
    }
    let lines = &health.lines;
    line(
        "lines",
        format!(
            "{} read, {} passed over, {} repaired, {} lost",
            lines.read, lines.skipped, lines.repaired, lines.malformed
        ),
    );
    if !health.unknown_types.is_empty() {
        let names: Vec<String> = health.unknown_types.iter().map(|(name, n)| format!("{name} {n}")).collect();
        line("unknown", names.join(", "));
    }
    for (gate, reasons) in &health.gates {
        let named: Vec<String> = reasons.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
        line(&format!("gate {gate}"), named.join(", "));
    }
    let calls = &health.calls;
    if calls.total > 0 {
        line(
            "calls today",
            format!(
                "{}: {} stored, {} skipped, {} retried, {} paused, {} given up",
                calls.total, calls.stored, calls.skipped, calls.retried, calls.paused, calls.quarantined
            ),
        );
        line("spent today", spent(health));
        // One project is all of it.
        for spend in health.spend.iter().filter(|_| health.spend.len() > 1).take(5) {
            let name = if spend.project.is_empty() { "no project" } else { &spend.project };
            let tokens = spend.input_tokens + spend.cached_tokens + spend.output_tokens;
            line("", format!("{name}: {} calls, {tokens} tokens, ${:.4}", spend.calls, spend.cost));
        }
    }
    line("kept", format!("{} memories, {} sessions, {} projects", health.memories, health.sessions, health.projects));
    for gap in report.snapshot.iter().filter(|_| report.alive).flat_map(|snapshot| &snapshot.gaps) {
        line("unread", format!("{}: {}, for {}", gap.path, gap.why, age(Some(gap.since), now)));
    }
    for problem in health.errors.iter().filter(|problem| !problem.cleared).take(5) {
        let kept = if problem.kept > 0 { format!(", {} kept", problem.kept) } else { String::new() };
        line("problem", format!("{} ({} lost{kept}, {})", problem.what, problem.lost, ago(Some(problem.at), now)));
    }
    out
}

fn meaning(report: &Report, now: Timestamp, ctx: &Ctx) -> String {
    let health = &report.health;
    match health.state {
        State::Ok => format!("recording, last line {}", ago(health.last_line_at, now)),
        State::Idle if report.alive => "recording, no session is active".into(),
        State::Idle => "no session has written anything that is not read".into(),
        State::Lag => format!(
            "the oldest event waits {}{}",
            age(health.oldest_waiting_at, now),
            if health.oldest_waiting_at.is_some_and(|at| now.duration_since(at) > STALLED) {
                ": nothing moves"
            } else {
                ""
            }
        ),
        State::Wait => match &health.paused {
            Some(paused) => format!("paused ({}); events are kept in the transcripts", paused.reason),
            None => "paused; events are kept in the transcripts".into(),
        },
        State::Gap => "a transcript grows and cannot be read".into(),
        State::Off => match &health.paused {
            Some(paused) => {
                format!("switched off by you since {}; `cmem resume` switches it on", local(paused.since, ctx))
            }
            None => "switched off by you; `cmem resume` switches it on".into(),
        },
        State::Down => "sessions write and no collector reads: start `cmem watch` or `cmem tui`".into(),
        State::ReadOnly => {
            let why = report.snapshot.as_ref().and_then(|snapshot| snapshot.read_only.clone());
            report.store_error.clone().or(why).unwrap_or_else(|| "the database cannot be written".into())
        }
    }
}

fn spent(health: &Health) -> String {
    let of = |limit: String| if limit == "0" { String::new() } else { format!(" of {limit}") };
    format!(
        "{} tokens{}, ${:.4}{}",
        health.tokens_today,
        of(health.budget.tokens.to_string()),
        health.cost_today,
        if health.budget.cost > 0.0 { format!(" of ${:.2}", health.budget.cost) } else { String::new() }
    )
}

fn pid(pid: u32) -> String {
    if pid == 0 { "pid unknown".into() } else { format!("pid {pid}") }
}

fn local(at: Timestamp, ctx: &Ctx) -> String {
    at.to_zoned_datetime(ctx.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

fn ago(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(|| "never".into(), |at| format!("{} ago", span(now, at)))
}

fn age(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(|| "never".into(), |at| span(now, at))
}

/// A span as people say it: the largest unit that fits, and the next one where it matters.
fn span(now: Timestamp, at: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_the_unit_that_fits() {
        let now: Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
        let told = |seconds: i64| span(now, now - jiff::SignedDuration::from_secs(seconds));
        assert_eq!(told(4), "4 s");
        assert_eq!(told(360), "6 min");
        assert_eq!(told(3_600), "1 h 0 min");
        assert_eq!(told(90_000), "1 d 1 h");
        assert_eq!(told(-5), "0 s");
    }
}
