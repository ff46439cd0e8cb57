//! Is it recording: each part with the age of its evidence, the queue, today's events through the gates, tokens,
//! problems. What is not known is `-`, never 0.

use ratatui::layout::Rect;

use super::rec::rec_cell;
use super::ui::{Ui, age, bytes, span, thousands, tokens};
use crate::memory::safe_line;
use crate::tui::layout::Breadth;
use crate::tui::state::State;
use crate::tui::theme::Role;

type Lines = Vec<Vec<(String, Role)>>;

/// The view.
pub fn draw(ui: &mut Ui<'_>) {
    let area = ui.screen.list;
    if ui.screen.breadth() >= Breadth::Split && area.height >= 20 {
        wide(ui, area);
        return;
    }
    let state = ui.state;
    let mut lines: Lines = vec![recording_line(state)];
    lines.extend(evidence(state, false));
    lines.extend(queue(state, area.width, 2));
    if area.height >= 16 {
        lines.push(Vec::new());
    }
    lines.extend(usage(ui, area.width));
    if area.height >= 16 {
        lines.push(Vec::new());
    }
    lines.extend(funnel_short(state, area.width));
    let problems = 4.min(area.height / 3);
    let top = Rect { height: area.height.saturating_sub(problems), ..area };
    put(ui, top, &lines);
    let below = Rect {
        y: area.y + (lines.len() as u16).min(top.height),
        height: area.height.saturating_sub((lines.len() as u16).min(top.height)),
        ..area
    };
    problem_list(ui, below);
}

fn wide(ui: &mut Ui<'_>, area: Rect) {
    let state = ui.state;
    let vitals = &state.pages.vitals;
    let half = area.width / 2;
    let top = Rect { height: 8, width: half, ..area };
    let (word, _) = rec_cell(state);
    let inside = ui.frame(top, "Is it recording?", word.trim_start_matches("REC "), false);
    let lines = evidence(state, true);
    put(ui, inside, &lines);
    let right = Rect { x: area.x + half, width: area.width - half, ..top };
    let budget = match vitals.tokens.as_ref().map(|t| t.budget) {
        Some(budget) if budget > 0 => format!("budget {}/day", tokens(budget)),
        _ => String::new(),
    };
    let inside = ui.frame(right, "Tokens", &budget, false);
    let lines = usage(ui, inside.width);
    put(ui, inside, &lines);
    // As high as the funnel needs: what went wrong gets the rest.
    let middle = Rect { y: area.y + 8, height: ((area.height - 8) / 2).min(10), width: half + 6, ..area };
    let waiting = format!("{} waiting", thousands(vitals.waiting));
    let inside = ui.frame(middle, "Queue", &waiting, false);
    let lines = queue(state, inside.width, usize::from(inside.height).saturating_sub(1));
    put(ui, inside, &lines);
    let today = Rect { x: area.x + middle.width, width: area.width - middle.width, ..middle };
    let kept = vitals.funnel.map_or_else(String::new, |funnel| format!("{} kept", thousands(funnel.kept)));
    let inside = ui.frame(today, "Today", &kept, false);
    let lines = funnel(state);
    put(ui, inside, &lines);
    let y = middle.bottom();
    problem_list(ui, Rect { y, height: area.bottom() - y, ..area });
}

fn put(ui: &mut Ui<'_>, area: Rect, lines: &Lines) {
    for (at, line) in lines.iter().take(usize::from(area.height)).enumerate() {
        let words: Vec<(&str, Role)> = line.iter().map(|(text, role)| (text.as_str(), *role)).collect();
        ui.words(area.x + 1, area.y + at as u16, area.width.saturating_sub(2), &words);
    }
}

fn recording_line(state: &State) -> Vec<(String, Role)> {
    let (word, role) = rec_cell(state);
    let vitals = &state.pages.vitals;
    let mut line = vec![("recording  ".to_owned(), Role::Muted), (word.trim_start_matches("REC ").to_owned(), role)];
    if let Some(since) = vitals.since_ms {
        line.push((format!("   up {}", span(state.now - since)), Role::Muted));
    }
    if let Some(rss) = vitals.rss_bytes {
        line.push((format!(" · {}", bytes(rss)), Role::Muted));
    }
    line
}

/// One line a part: its state and the age of what shows it.
fn evidence(state: &State, wide: bool) -> Lines {
    let vitals = &state.pages.vitals;
    let line = |name: &str, at: Option<i64>, what: &str, more: String| -> Vec<(String, Role)> {
        let (word, role) = match at {
            Some(_) => ("ok", Role::Ok),
            None => ("-", Role::Muted),
        };
        let since = at.map_or_else(String::new, |at| {
            let age = age(state.now - at);
            if wide { format!("{what} {age} ago") } else { age }
        });
        let more = if more.is_empty() { String::new() } else { format!(" · {more}") };
        vec![
            (format!("{name:<10} "), Role::Muted),
            (format!("{word:<5} "), role),
            (format!("{since}{more}"), Role::Text),
        ]
    };
    let watch = if vitals.watch == "poll" { "polling: the watch limit is reached" } else { "" };
    let wal = vitals.wal_bytes.map_or_else(String::new, |n| format!("WAL {}", bytes(n)));
    let mut lines = vec![
        line("reading", vitals.last_line_ms, "last line", watch.to_owned()),
        line("observer", vitals.last_answer_ms, "last answer", safe_line(&vitals.observer)),
        line("database", vitals.last_write_ms, "last write", wal),
        line(
            "context",
            vitals.last_context_ms,
            "last injected",
            match vitals.hook {
                Some(false) => "hook not installed".into(),
                _ => String::new(),
            },
        ),
    ];
    if !vitals.cause.is_empty() {
        lines.push(vec![("cause      ".into(), Role::Muted), (safe_line(&vitals.cause), Role::Error)]);
    } else if wide && let Some(funnel) = vitals.funnel.filter(|funnel| funnel.sent > 0) {
        let share = funnel.skipped * 100 / funnel.sent;
        lines.push(vec![("skips      ".into(), Role::Muted), (format!("{share}% of what was sent today"), Role::Text)]);
    }
    if vitals.backlog > 0 {
        lines.push(vec![
            ("older      ".into(), Role::Muted),
            (format!("{} events; cmem backfill reads them", thousands(vitals.backlog)), Role::Text),
        ]);
    }
    lines
}

fn usage(ui: &Ui<'_>, width: u16) -> Lines {
    let vitals = &ui.state.pages.vitals;
    let mut lines = Lines::new();
    let Some(today) = &vitals.tokens else {
        lines.push(vec![("tokens     ".into(), Role::Muted), ("-".into(), Role::Muted)]);
        return lines;
    };
    let used = today.input + today.output;
    let cost = today.cost.filter(|cost| *cost > 0.0).map_or_else(String::new, |cost| format!("   ${cost:.2}"));
    lines.push(vec![
        ("today      ".into(), Role::Muted),
        (
            format!(
                "{} in   {} out   {} cached{cost}",
                tokens(today.input),
                tokens(today.output),
                tokens(today.cached)
            ),
            Role::Text,
        ),
    ]);
    if today.budget > 0 {
        let room = u64::from(width.saturating_sub(22).clamp(8, 32));
        let full = (used * room).checked_div(today.budget).unwrap_or_default().min(room) as usize;
        let percent = used * 100 / today.budget;
        let bar = format!("{}{}", "#".repeat(full), "-".repeat(room as usize - full));
        let role = if percent >= 90 { Role::Warn } else { Role::Chart };
        lines.push(vec![("budget     ".into(), Role::Muted), (bar, role), (format!(" {percent:>3}%"), Role::Text)]);
    }
    if !today.week.is_empty() {
        let peak = today.week.iter().copied().max().unwrap_or(0);
        let bars: String = today.week.iter().map(|n| super::side::level(ui.signs.levels, *n, peak)).collect();
        let total: u64 = today.week.iter().sum();
        lines.push(vec![
            ("7 days     ".into(), Role::Muted),
            (bars, Role::Chart),
            (format!("   total {}", tokens(total)), Role::Text),
        ]);
    }
    for (name, window) in [("5-hour", &vitals.five_hour), ("7-day", &vitals.seven_day)] {
        let Some(window) = window else { continue };
        let resets = window.resets_ms.map_or_else(String::new, |at| {
            let soon = at - ui.state.now < 86_400_000;
            format!("  resets {}", if soon { ui.clock(at) } else { ui.day(ui.date(at)) })
        });
        let whose = if window.from_account { "from account" } else { "estimate" };
        let role = if window.used >= 0.8 { Role::Warn } else { Role::Text };
        lines.push(vec![
            (format!("{name:<10} "), Role::Muted),
            (format!("{:.0}%", window.used * 100.0), role),
            (format!("{resets}   {whose}"), Role::Muted),
        ]);
    }
    lines
}

fn queue(state: &State, width: u16, max: usize) -> Lines {
    let vitals = &state.pages.vitals;
    let mut lines = Lines::new();
    let oldest = vitals.oldest_waiting_ms.map(|at| age(state.now - at));
    let slots = vitals.slots.map_or("-".to_owned(), |(used, all)| format!("{used}/{all}"));
    let head = match oldest {
        Some(age) => format!("{}   oldest {age}   slots {slots}", thousands(vitals.waiting)),
        None => format!("{}   slots {slots}", thousands(vitals.waiting)),
    };
    lines.push(vec![("queue      ".into(), Role::Muted), (head, Role::Text)]);
    for row in vitals.queue.iter().take(max) {
        let slot = row.slot.map_or("-".into(), |slot| slot.to_string());
        let waits = age(state.now - row.oldest_ms);
        let text = format!(
            "  {:<8} {:<12} {:>3} wait {:>4}  slot {slot}  ",
            crate::memory::clip_chars(&row.session, 8),
            crate::memory::clip_chars(&row.project, 12),
            row.waiting,
            waits
        );
        let last = if width >= 56 { safe_line(&row.last) } else { String::new() };
        lines.push(vec![(text, Role::Text), (last, Role::Muted)]);
    }
    lines
}

fn funnel(state: &State) -> Lines {
    let Some(funnel) = state.pages.vitals.funnel else {
        return vec![vec![("nothing is known of today yet".into(), Role::Muted)]];
    };
    let line =
        |name: &str, n: u64, role| vec![(format!("{name:<20}"), Role::Muted), (format!("{:>7}", thousands(n)), role)];
    vec![
        line("events seen", funnel.seen, Role::Text),
        line("  blocked by rule", funnel.blocked, Role::Text),
        line("  sent to observer", funnel.sent, Role::Text),
        line("  skipped", funnel.skipped, Role::Text),
        line("  kept", funnel.kept, Role::Ok),
        line("  rejected", funnel.rejected, if funnel.rejected > 0 { Role::Warn } else { Role::Text }),
        line("  put aside", funnel.quarantined, if funnel.quarantined > 0 { Role::Warn } else { Role::Text }),
    ]
}

fn funnel_short(state: &State, width: u16) -> Lines {
    let Some(funnel) = state.pages.vitals.funnel else { return Lines::new() };
    let text = if width >= 48 {
        format!("{} seen, {} blocked, {} skipped, {} kept", funnel.seen, funnel.blocked, funnel.skipped, funnel.kept)
    } else {
        format!("{} seen, {} kept", funnel.seen, funnel.kept)
    };
    let mut lines = vec![vec![("today      ".into(), Role::Muted), (text, Role::Text)]];
    if funnel.rejected + funnel.quarantined > 0 {
        let text = format!("           {} rejected, {} put aside", funnel.rejected, funnel.quarantined);
        lines.push(vec![(text, Role::Warn)]);
    }
    lines
}

fn problem_list(ui: &mut Ui<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    let state = ui.state;
    let problems = &state.pages.vitals.problems;
    let open = problems.iter().filter(|problem| problem.open).count();
    let right = format!("{open} open · {} cleared", problems.len() - open);
    let title = if ui.screen.framed { "Last problems".to_owned() } else { format!("problems {open} open") };
    let inside = ui.frame(area, &title, if ui.screen.framed { &right } else { "" }, false);
    if problems.is_empty() {
        ui.text(inside.x + 1, inside.y, inside.width.saturating_sub(2), "No problems. No event was lost.", Role::Muted);
        return;
    }
    let at = state.pages.observer;
    let top = at.top_for(usize::from(inside.height), 1);
    for (row, problem) in problems.iter().enumerate().skip(top).take(usize::from(inside.height)) {
        let y = inside.y + (row - top) as u16;
        let sign = if problem.open { "x" } else { "!" };
        let fate = match (problem.lost, problem.kept) {
            (0, 0) => String::new(),
            (0, kept) => format!(", {kept} events kept"),
            (lost, _) => format!(", {lost} events lost"),
        };
        let state_word = if problem.open { "open" } else { "cleared" };
        let text = format!("{sign} {}  {}{fate}", ui.clock(problem.at_ms), safe_line(&problem.what));
        let cells = ui.cells(state_word);
        let role = if problem.open { Role::Error } else { Role::Muted };
        ui.text(inside.x + 1, y, inside.width.saturating_sub(cells + 4), &text, role);
        ui.text_right(inside.right().saturating_sub(1), y, cells, state_word, Role::Muted);
        if row == at.cursor {
            ui.cursor_row(Rect { y, height: 1, ..inside });
        }
    }
}

/// A report without memory text, for an issue.
pub fn report(state: &State) -> String {
    let vitals = &state.pages.vitals;
    let (rec, _) = rec_cell(state);
    let ago = |at: Option<i64>| at.map_or("-".to_owned(), |at| format!("{} ago", age(state.now - at)));
    let mut out = format!("cmem {}\nrecording: {rec}\n", env!("CARGO_PKG_VERSION"));
    for (name, value) in [
        ("cause", vitals.cause.clone()),
        ("observer", vitals.observer.clone()),
        ("watch", vitals.watch.clone()),
        ("last line", ago(vitals.last_line_ms)),
        ("last answer", ago(vitals.last_answer_ms)),
        ("last write", ago(vitals.last_write_ms)),
        ("last memory", ago(vitals.last_memory_ms)),
        ("waiting", format!("{}, oldest {}", vitals.waiting, ago(vitals.oldest_waiting_ms))),
        ("backlog", vitals.backlog.to_string()),
        ("memories", state.arena.len().to_string()),
        ("terminal", format!("{}x{}", state.size.0, state.size.1)),
    ] {
        if !value.is_empty() {
            out.push_str(&format!("{name}: {value}\n"));
        }
    }
    if let Some(f) = vitals.funnel {
        out.push_str(&format!(
            "today: seen {} blocked {} sent {} skipped {} kept {} rejected {} put aside {}\n",
            f.seen, f.blocked, f.sent, f.skipped, f.kept, f.rejected, f.quarantined
        ));
    }
    for problem in vitals.problems.iter().take(10) {
        // What went wrong, not what about: a report holds no memory text.
        out.push_str(&format!("problem: lost {} kept {} open {}\n", problem.lost, problem.kept, problem.open));
    }
    out
}
