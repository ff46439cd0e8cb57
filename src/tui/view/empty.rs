//! What the feed says when it has nothing to list: why, and what to do.

use ratatui::layout::Rect;

use super::ui::{Ui, plural, thousands};
use crate::hub::live::{Rec, TroubleKind};
use crate::tui::action::Action;
use crate::tui::theme::Role;

/// In the feed's place.
pub fn feed(ui: &mut Ui<'_>, area: Rect) {
    let state = ui.state;
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let lines = if let Some(trouble) = &state.closed {
        closed(ui, trouble)
    } else if !state.load.first {
        vec![("opening …".to_owned(), Role::Muted)]
    } else if !state.arena.is_empty() && (!state.search.text.is_empty() || !state.hidden.is_empty()) {
        no_match(ui)
    } else {
        first_steps(ui)
    };
    let mut y = area.y + u16::from(area.height > 8);
    for (text, role) in lines {
        for range in state.look.widths.wrap(&text, usize::from(area.width), 3) {
            if y >= area.bottom() {
                return;
            }
            ui.text(area.x, y, area.width, &text[range], role);
            y += 1;
        }
    }
}

fn key(ui: &Ui<'_>, action: Action) -> String {
    ui.state.keymap.hint(ui.state.view.place(), action)
}

fn closed(ui: &Ui<'_>, trouble: &crate::hub::live::Trouble) -> Vec<(String, Role)> {
    let head = match trouble.kind {
        TroubleKind::Missing => "No database yet.",
        TroubleKind::Busy => "The database is locked.",
        _ => "The database cannot be opened.",
    };
    let mut lines = vec![(head.to_owned(), Role::Strong), (String::new(), Role::Text)];
    lines.push((trouble.what.clone(), Role::Text));
    if !trouble.hint.is_empty() {
        lines.push((trouble.hint.clone(), Role::Text));
    }
    lines.push((String::new(), Role::Text));
    lines.push(("Try it without Claude Code:  :demo".into(), Role::Muted));
    lines.push((format!("{} quit", key(ui, Action::Quit)), Role::Muted));
    lines
}

/// Nothing matches: the nearest queries that do.
fn no_match(ui: &Ui<'_>) -> Vec<(String, Role)> {
    let state = ui.state;
    let mut lines = vec![];
    if state.search.running > 0 {
        lines.push(("looking in full text …".to_owned(), Role::Muted));
        return lines;
    }
    if state.search.closest.is_empty() {
        lines.push(("No match.".to_owned(), Role::Strong));
    } else {
        lines.push(("No match. Closest changes:".to_owned(), Role::Strong));
    }
    for (at, closest) in state.search.closest.iter().enumerate() {
        let here = at == state.search.closest_at;
        let sign = if here { ui.signs.cursor } else { " " };
        let note = if closest.note.is_empty() { String::new() } else { format!("  {}", closest.note) };
        let text = format!("{sign} {:<18} {:>6}{note}", closest.label, thousands(closest.found as u64));
        lines.push((text, if here { Role::Accent } else { Role::Text }));
    }
    lines.push((String::new(), Role::Text));
    let text = if state.search.line.is_some() && !state.search.closest.is_empty() {
        "up/down pick · enter apply · esc restore".to_owned()
    } else {
        format!("{} clears all filters", key(ui, Action::FilterClear))
    };
    lines.push((text, Role::Muted));
    lines
}

/// A project without memories: what is there and what is missing.
fn first_steps(ui: &Ui<'_>) -> Vec<(String, Role)> {
    let state = ui.state;
    let vitals = &state.pages.vitals;
    let name = if state.scope.is_empty() {
        "No memories yet.".into()
    } else {
        format!("No memories for “{}” yet.", state.scope_name)
    };
    let tick = |yes: bool| if yes { "[x]" } else { "[ ]" };
    let running = !matches!(vitals.rec, Rec::Down(_) | Rec::Unknown);
    let collector = match vitals.pid {
        Some(pid) if running => format!("running, pid {pid}"),
        _ if running => "running".into(),
        _ => "not running: cmem watch".into(),
    };
    let hook = match vitals.hook {
        Some(true) => "installed".to_owned(),
        Some(false) => format!("not installed: {} install", key(ui, Action::InstallHook)),
        None => "not known".to_owned(),
    };
    let seen = vitals.last_line_ms.is_some();
    let mut lines = vec![
        (name, Role::Strong),
        (String::new(), Role::Text),
        (format!("[x] database        {}", state.opened.place), Role::Text),
        (format!("{} collector       {collector}", tick(running)), Role::Text),
        (format!("{} injection hook  {hook}", tick(vitals.hook == Some(true))), Role::Text),
        (format!("{} first event     {}", tick(seen), if seen { "read" } else { "use Claude Code here" }), Role::Text),
        (String::new(), Role::Text),
    ];
    if vitals.backlog > 0 {
        let text = format!(
            "{} of older work are there: cmem backfill --dry-run tells the cost (nothing without a model)",
            plural(vitals.backlog, "event")
        );
        lines.push((text, Role::Text));
    }
    let elsewhere: u64 =
        state.pages.projects.iter().filter(|p| !state.scope.contains(&p.key())).map(|p| p.memories).sum();
    if elsewhere > 0 && !state.scope.is_empty() {
        lines.push((
            format!("Other projects have {}.   {} switch", thousands(elsewhere), key(ui, Action::GotoProject)),
            Role::Text,
        ));
    }
    lines.push(("Try it without Claude Code:  :demo".into(), Role::Muted));
    lines
}
