//! The memory that is read, as deep as its level: title and place; facts and files; the narrative; where it came from.
//!
//! Text is laid out only as far down as is visible, so that a narrative of 256 kB costs what a screenful does.

use ratatui::layout::Rect;

use super::ui::{Ui, tokens};
use crate::memory::{Evidence, Kind, Memory, Source, safe_line, safe_text};
use crate::tui::state::{State, View};
use crate::tui::theme::Role;
use crate::tui::width::Widths;

/// One line of the detail: pieces of text with their roles.
pub type DetailLine = Vec<(String, Role)>;

/// A field longer than this is cut with a word about it.
const LONGEST: usize = 256 * 1024;

/// The detail in its frame.
pub fn draw(ui: &mut Ui<'_>) {
    let area = ui.screen.detail;
    if area.width == 0 || area.height == 0 {
        return;
    }
    let state = ui.state;
    let Some(id) = state.detail.id else {
        ui.frame(area, "Nothing selected", "", false);
        return;
    };
    let word = match (state.view, state.under_cursor()) {
        (View::Feed, Some(row)) if row.memory() == id => {
            let word = state.arena.type_of(row);
            let sign = state.alphabet.sign(word, state.look.glyphs);
            match row.flags.kind() {
                Kind::Observation => format!("{sign} {word}"),
                Kind::Summary => "summary".into(),
                Kind::Prompt => "prompt".into(),
            }
        }
        _ => state.detail.current().map_or_else(String::new, |memory| safe_line(&memory.type_id)),
    };
    let level = if area.width >= 56 {
        format!("level {}/4 · enter more", state.detail.level)
    } else {
        format!("{}/4", state.detail.level)
    };
    let title = format!("#{} {word}", id.0);
    ui.frame(area, title.trim(), &level, state.detail_focus);
    let inside = ui.screen.detail_inner();
    let inside = if ui.screen.framed {
        Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
    } else {
        inside
    };
    match state.detail.current() {
        Some(memory) => {
            let lines = lay_out(state, memory, inside.width, state.detail.scroll + usize::from(inside.height));
            draw_lines(ui, inside, &lines, state.detail.scroll);
        }
        None => {
            // The row tells the title until the rest comes.
            if let Some(row) = state.under_cursor().filter(|row| row.memory() == id) {
                let title = state.arena.title(row).to_owned();
                let lines = wrapped(state.look.widths, &title, inside.width, 8, Role::Strong);
                draw_lines(ui, inside, &lines, 0);
            }
        }
    }
}

/// Lines from `scroll` on.
pub fn draw_lines(ui: &mut Ui<'_>, area: Rect, lines: &[DetailLine], scroll: usize) {
    let scroll = scroll.min(lines.len().saturating_sub(1));
    for (at, line) in lines.iter().skip(scroll).take(usize::from(area.height)).enumerate() {
        let y = area.y + at as u16;
        let mut x = area.x;
        for (text, role) in line {
            let max = area.right().saturating_sub(x);
            let marks = match ui.state.search.has_terms() && matches!(role, Role::Text | Role::Strong) {
                true => ui.state.search.judge.marks(text),
                false => Vec::new(),
            };
            let style = ui.role(*role);
            x = ui.marked(x, y, max, text, &marks, style);
        }
    }
}

/// The farthest the detail can be scrolled on this screen.
pub fn last_scroll(state: &State) -> usize {
    let area = crate::tui::layout::screen(state).detail_inner();
    let Some(memory) = state.detail.current() else { return 0 };
    let wanted = state.detail.scroll + usize::from(area.height);
    let lines = lay_out(state, memory, area.width.saturating_sub(2), wanted).len();
    if lines >= wanted { state.detail.scroll } else { lines.saturating_sub(usize::from(area.height)) }
}

fn wrapped(widths: Widths, text: &str, width: u16, max: usize, role: Role) -> Vec<DetailLine> {
    widths.wrap(text, usize::from(width), max).into_iter().map(|range| vec![(text[range].to_owned(), role)]).collect()
}

/// A list item: a dash, its text wrapped under itself.
fn item(widths: Widths, text: &str, width: u16, lines: &mut Vec<DetailLine>) {
    for (at, range) in widths.wrap(text, usize::from(width.saturating_sub(4)), usize::MAX).into_iter().enumerate() {
        let lead = if at == 0 { "  - " } else { "    " };
        lines.push(vec![(lead.into(), Role::Muted), (text[range].to_owned(), Role::Text)]);
    }
}

/// The memory as lines, at most `max` of them and a few.
pub fn lay_out(state: &State, memory: &Memory, width: u16, max: usize) -> Vec<DetailLine> {
    let widths = state.look.widths;
    let level = state.detail.level;
    let mut lines = wrapped(widths, &safe_line(&memory.title), width, 6, Role::Strong);
    if !memory.subtitle.is_empty() {
        lines.push(Vec::new());
        lines.extend(wrapped(widths, &safe_line(&memory.subtitle), width, 12, Role::Text));
    }
    lines.push(Vec::new());
    place(state, memory, width, &mut lines);
    if level >= 2 {
        middle(state, memory, width, max, &mut lines);
    }
    let has_story = !memory.narrative.is_empty() || memory.summary.is_some();
    if level >= 3 && has_story {
        lines.push(Vec::new());
        lines.push(vec![("Narrative".into(), Role::Strong)]);
        story(state, &memory.narrative, width, max, &mut lines);
    } else if has_story && memory.summary.is_none() && level >= 2 {
        lines.push(Vec::new());
        let teaser =
            widths.cut(&safe_line(&memory.narrative), usize::from(width), state.look.signs().ellipsis).into_owned();
        let head = "Narrative";
        let hint = "enter: expand";
        let gap = usize::from(width).saturating_sub(head.len() + hint.len());
        lines.push(vec![(head.into(), Role::Strong), (" ".repeat(gap.max(1)), Role::Text), (hint.into(), Role::Muted)]);
        lines.push(vec![(teaser, Role::Muted)]);
    }
    if level >= 4 {
        depths(state, memory, width, &mut lines);
    }
    if level >= 2 && state.view == View::Feed && width >= 40 {
        neighbours(state, width, &mut lines);
    }
    lines
}

/// Where and when: a table where there is room, else one paragraph.
fn place(state: &State, memory: &Memory, width: u16, lines: &mut Vec<DetailLine>) {
    let session = memory.session.as_ref().map(|id| {
        let entry = state.arena.session_by_id(id.as_str());
        entry.map_or_else(|| crate::memory::clip_chars(id.as_str(), 6).to_owned(), |entry| entry.label())
    });
    let session = session.map(|label| match memory.prompt_number {
        0 => label,
        n => format!("{label} · prompt {n}"),
    });
    let at = memory.created_at.to_zoned_datetime(state.zone.clone());
    let when = at.strftime("%-d %b %H:%M").to_string();
    let cost = match memory.work_tokens {
        0 => format!("{} read", tokens(u64::from(memory.tokens))),
        work => format!("{} read · {} work", tokens(u64::from(memory.tokens)), tokens(u64::from(work))),
    };
    let (sign, context) = context_words(state, memory);
    let context_role = match sign {
        "+" => Role::In,
        "^" => Role::Pinned,
        _ => Role::Muted,
    };
    let project = if memory.project.is_empty() { "-".into() } else { safe_line(&memory.project) };
    let source = source_word(memory);
    if width >= 54 {
        let column = usize::from(width / 2).min(27);
        let pair = |a: &str, b: &str, c: &str, d: &str| -> DetailLine {
            let left = state.look.widths.pad(b, column.saturating_sub(10), state.look.signs().ellipsis) + " ";
            let right = format!("{c:<8} ");
            vec![
                (format!("{a:<8} "), Role::Muted),
                (left, Role::Text),
                (right, Role::Muted),
                (d.to_owned(), Role::Text),
            ]
        };
        lines.push(pair("project", &project, "session", session.as_deref().unwrap_or("-")));
        lines.push(pair("when", &when, "tokens", &cost));
        lines.push(pair("source", &source, "edited", if memory.edited { "yes" } else { "no" }));
        let text = format!("{sign} {context}");
        for (at, range) in
            state.look.widths.wrap(text.trim(), usize::from(width.saturating_sub(9)), 3).into_iter().enumerate()
        {
            let lead = if at == 0 { "context  " } else { "         " };
            lines.push(vec![(lead.into(), Role::Muted), (text.trim()[range].to_owned(), context_role)]);
        }
    } else {
        let mut parts: Vec<String> = session.into_iter().collect();
        parts.push(when);
        parts.push(tokens(u64::from(memory.tokens)));
        lines.extend(wrapped(state.look.widths, &parts.join(" · "), width, 3, Role::Muted));
        lines.extend(wrapped(state.look.widths, format!("{sign} {context}").trim(), width, 3, context_role));
    }
    if let Some(by) = memory.superseded_by {
        lines.push(vec![(format!("replaced by #{}", by.0), Role::Warn)]);
    }
    if memory.abandoned {
        lines.push(vec![("its part of the session was rewound".into(), Role::Warn)]);
    }
}

fn source_word(memory: &Memory) -> String {
    let word = match memory.source {
        Source::Observer => "observer",
        Source::Offline => "offline",
        Source::Manual => "by hand",
        Source::Import => "import",
        Source::Fallback => "fallback",
    };
    match &memory.model {
        Some(model) => safe_line(&format!("{word} · {model}")),
        None => word.to_owned(),
    }
}

/// In or out of the next context, and why.
fn context_words(state: &State, memory: &Memory) -> (&'static str, String) {
    if memory.excluded {
        return ("x", "excluded by you: kept, never injected".into());
    }
    let Some(preview) = &state.pages.context.preview else {
        return if memory.pinned { ("^", "pinned: always in".into()) } else { ("", String::new()) };
    };
    let total = preview.within.len();
    if let Some(rank) = state.context_ranks.get(&memory.id.0) {
        let detail = preview.within.get(*rank as usize - 1).map_or("", |item| item.detail.as_str());
        let why = if detail.is_empty() { String::new() } else { format!(" ({})", safe_line(detail)) };
        let sign = if memory.pinned { "^" } else { "+" };
        return (sign, format!("in, rank {rank} of {total}{why}"));
    }
    match preview.out.iter().find(|item| item.id == memory.id) {
        Some(item) => {
            let detail = if item.detail.is_empty() { &item.reason } else { &item.detail };
            ("-", format!("not in: {}", safe_line(detail)))
        }
        None if memory.pinned => ("^", "pinned: always in for its project".into()),
        None => ("-", "not in: no candidate for this project".into()),
    }
}

/// Facts, concepts, files; a summary's parts.
fn middle(state: &State, memory: &Memory, width: u16, max: usize, lines: &mut Vec<DetailLine>) {
    let widths = state.look.widths;
    if let Some(summary) = &memory.summary {
        let parts = [
            ("Request", &summary.request),
            ("Investigated", &summary.investigated),
            ("Learned", &summary.learned),
            ("Completed", &summary.completed),
            ("Next steps", &summary.next_steps),
            ("Notes", &summary.notes),
        ];
        for (name, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
            lines.push(Vec::new());
            lines.push(vec![(name.into(), Role::Strong)]);
            lines.extend(wrapped(widths, &safe_text(text), width, 40, Role::Text));
        }
    }
    if !memory.facts.is_empty() {
        lines.push(Vec::new());
        lines.push(vec![("Facts".into(), Role::Strong)]);
        for fact in &memory.facts {
            if lines.len() > max {
                return;
            }
            item(widths, &safe_line(fact), width, lines);
        }
    }
    if !memory.concepts.is_empty() {
        lines.push(Vec::new());
        let text = safe_line(&memory.concepts.join(" · "));
        let mut wrapped = wrapped(widths, &text, width.saturating_sub(10), 4, Role::Accent).into_iter();
        if let Some(first) = wrapped.next() {
            lines.push([vec![("Concepts  ".to_owned(), Role::Strong)], first].concat());
        }
        lines.extend(wrapped.map(|line| [vec![("          ".to_owned(), Role::Text)], line].concat()));
    }
    let none = memory.files_read.is_empty() && memory.files_modified.is_empty();
    if none && memory.evidence != Evidence::None {
        return;
    }
    lines.push(Vec::new());
    lines.push(vec![("Files".into(), Role::Strong)]);
    for (word, files) in [("modified", &memory.files_modified), ("read", &memory.files_read)] {
        for file in files.iter().take(12) {
            let cut =
                cut_path(widths, &safe_line(file), usize::from(width.saturating_sub(12)), state.look.signs().ellipsis);
            lines.push(vec![(format!("  {word:<9} "), Role::Muted), (cut, Role::Text)]);
        }
        if files.len() > 12 {
            lines.push(vec![(format!("  {word:<9} {} more", files.len() - 12), Role::Muted)]);
        }
    }
    if memory.files_modified.is_empty() {
        let why = match memory.evidence {
            Evidence::Files | Evidence::None => "none (tool evidence)",
            Evidence::Unknown => "unknown (a command ran)",
        };
        lines.push(vec![("  modified  ".into(), Role::Muted), (why.into(), Role::Muted)]);
    }
}

/// A path's end says more than its beginning.
fn cut_path(widths: Widths, path: &str, max: usize, mark: &str) -> String {
    if widths.of(path) <= max {
        return path.to_owned();
    }
    let parts: Vec<&str> = path.split('/').collect();
    for from in 1..parts.len() {
        let tail = parts[from..].join("/");
        if widths.of(&tail) + 2 <= max {
            return format!("{mark}/{tail}");
        }
    }
    widths.cut(path, max, mark).into_owned()
}

/// Prose: paragraphs, lists, code between backticks.
fn story(state: &State, text: &str, width: u16, max: usize, lines: &mut Vec<DetailLine>) {
    let cut = crate::memory::clip_chars(text, LONGEST);
    let safe = safe_text(cut);
    let wide = if state.detail.no_wrap { usize::MAX / 2 } else { usize::from(width) };
    for range in state.look.widths.wrap(&safe, wide, max.saturating_sub(lines.len()).saturating_add(2)) {
        lines.push(inline(&safe[range]));
    }
    if cut.len() < text.len() {
        lines.push(vec![(
            format!("{} more; cmem show prints all", super::ui::bytes((text.len() - cut.len()) as u64)),
            Role::Warn,
        )]);
    }
}

/// `code` and **bold** inside one line.
fn inline(line: &str) -> DetailLine {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '*']) {
        let mark = if rest[at..].starts_with("**") { "**" } else { &rest[at..=at] };
        let role = match mark {
            "`" => Role::Accent,
            "**" => Role::Strong,
            _ => {
                out.push((rest[..=at].to_owned(), Role::Text));
                rest = &rest[at + 1..];
                continue;
            }
        };
        let inner = &rest[at + mark.len()..];
        match inner.find(mark).filter(|end| *end > 0) {
            Some(end) => {
                out.push((rest[..at].to_owned(), Role::Text));
                out.push((inner[..end].to_owned(), role));
                rest = &inner[end + mark.len()..];
            }
            None => {
                out.push((rest[..at + mark.len()].to_owned(), Role::Text));
                rest = inner;
            }
        }
    }
    out.push((rest.to_owned(), Role::Text));
    out.retain(|(text, _)| !text.is_empty());
    out
}

/// Raw fields and where it came from.
fn depths(state: &State, memory: &Memory, width: u16, lines: &mut Vec<DetailLine>) {
    lines.push(Vec::new());
    lines.push(vec![("Raw".into(), Role::Strong)]);
    let recorded = memory.recorded_at.to_zoned_datetime(state.zone.clone()).strftime("%-d %b %Y %H:%M:%S").to_string();
    let mut field = |name: &str, value: String| {
        let text = format!("  {name:<12} {}", safe_line(&value));
        lines.extend(wrapped(state.look.widths, &text, width, 3, Role::Text));
    };
    field(
        "type",
        match &memory.raw_type {
            Some(raw) => format!("{} (given as {raw})", memory.type_id),
            None => memory.type_id.clone(),
        },
    );
    field("recorded", recorded);
    field("session", memory.session.as_ref().map_or_else(|| "-".into(), |id| id.as_str().to_owned()));
    field("root", memory.project_root.clone());
    for (name, value) in [("cwd", &memory.cwd), ("branch", &memory.branch)] {
        if let Some(value) = value {
            field(name, value.clone());
        }
    }
    if let Some(agent) = &memory.agent {
        field("helper", agent.as_str().to_owned());
    }
    if memory.count > 1 {
        field("stands for", format!("{} findings alike", memory.count));
    }
    for key in memory.keys.iter().take(6) {
        field("event", key.as_str().to_owned());
    }
    let why: Vec<&String> = state.detail.why.iter().filter(|line| !line.is_empty()).collect();
    if !why.is_empty() {
        lines.push(Vec::new());
        lines.push(vec![("Where it came from".into(), Role::Strong)]);
        for line in why {
            lines.extend(wrapped(state.look.widths, &format!("  {}", safe_line(line)), width, 4, Role::Text));
        }
    }
}

/// Two before and two after, in the list.
fn neighbours(state: &State, width: u16, lines: &mut Vec<DetailLine>) {
    let pos = state.feed.pos;
    if state.rows.len() < 2 || state.search.has_terms() {
        return;
    }
    lines.push(Vec::new());
    lines.push(vec![("Before / after".into(), Role::Strong)]);
    let older = (1..=2).rev().filter_map(|by| state.rows.get(pos + by));
    let newer = (0..=2).filter_map(|by| pos.checked_sub(by)).filter_map(|at| state.rows.get(at));
    for ix in older.chain(newer) {
        let row = state.arena.row(ix);
        let here = Some(ix) == state.feed.cursor;
        let at = crate::memory::from_millis(row.created_ms).to_zoned_datetime(state.zone.clone());
        let sign = state.alphabet.sign(state.arena.type_of(row), state.look.glyphs);
        let lead = if here { state.look.signs().cursor } else { " " };
        let text = format!("{lead} {} {:02}:{:02} {sign} {}", row.id, at.hour(), at.minute(), state.arena.title(row));
        let cut = state.look.widths.cut(&text, usize::from(width), state.look.signs().ellipsis).into_owned();
        lines.push(vec![(cut, if here { Role::Strong } else { Role::Muted })]);
    }
}
