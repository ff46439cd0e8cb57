//! The merge form and the redact form.

use super::popup::boxed;
use super::ui::{Ui, plural};
use crate::memory::safe_line;
use crate::tui::state::{MergeForm, RedactForm};
use crate::tui::theme::Role;

/// Several memories into one.
pub fn merge(ui: &mut Ui<'_>, form: &MergeForm) {
    let sources = form.sources.len();
    let title = format!("Merge {sources} into 1");
    let same = form.sources.windows(2).all(|pair| pair[0].session == pair[1].session);
    let right = if same { "same session" } else { "" };
    let width = ui.state.size.0.min(100);
    let foot = "j/k field  h/l choose  enter merge  esc cancel   one undo step";
    let inside = boxed(ui, width, sources as u16 + 14, &title, right, foot);
    let x = inside.x + 2;
    let room = inside.width.saturating_sub(4);
    let mut y = inside.y;
    let bottom = inside.bottom().saturating_sub(1);
    for (at, memory) in form.sources.iter().enumerate() {
        if y + 9 >= bottom {
            break;
        }
        let word = if at == 0 { "keep" } else { "fold" };
        let sign = ui.state.alphabet.sign(&memory.type_id, ui.state.look.glyphs);
        let when = ui.when(crate::memory::millis(memory.created_at));
        let cells = ui.cells(&when);
        let text = format!("{word}  {} {sign} {}", memory.id.0, safe_line(&memory.title));
        ui.text(x, y, room.saturating_sub(cells + 2), &text, if at == 0 { Role::Strong } else { Role::Text });
        if room > 60 {
            ui.text_right(x + room, y, cells, &when, Role::Muted);
        }
        y += 1;
    }
    y += 1;
    let choose = |at: usize| {
        format!("< {} >", form.sources.get(at).map_or("joined, with dates".into(), |m| format!("#{}", m.id.0)))
    };
    let fields = [
        ("title", format!("{}  {}", choose(form.title), safe_line(&form.sources[form.title.min(sources - 1)].title))),
        ("type", format!("{}  {}", choose(form.kind), form.sources[form.kind.min(sources - 1)].type_id)),
        ("narrative", choose(form.narrative)),
        ("time", if form.newest { "< newest >".into() } else { "< oldest >".into() }),
    ];
    for (at, (name, value)) in fields.iter().enumerate() {
        if y >= bottom {
            return;
        }
        let here = at == form.field;
        let sign = if here { ui.signs.cursor } else { " " };
        let text = format!("{sign} {name:<11}{value}");
        ui.text(x, y, room, &text, if here { Role::Accent } else { Role::Text });
        y += 1;
    }
    let (kept, equal) = form.facts();
    let result = form.result();
    let lines = [
        format!("  facts      {kept} kept, {equal} dropped as equal"),
        format!("  concepts   {}", safe_line(&result.concepts.join(" · "))),
        format!("  files      {} modified, {} read", result.files_modified.len(), result.files_read.len()),
        format!("  pin        {}", if form.sources.iter().any(|memory| memory.pinned) { "kept" } else { "none" }),
    ];
    for line in lines {
        if y < bottom {
            ui.text(x, y, room, &line, Role::Muted);
            y += 1;
        }
    }
    if y + 1 < bottom {
        let folded: Vec<String> = form.sources[1..].iter().map(|memory| format!("#{}", memory.id.0)).collect();
        let text = format!("  sources {} go to the trash, and can be put back", folded.join(" "));
        ui.text(x, y + 1, room, &text, Role::Muted);
    }
}

/// A string out of everything.
pub fn redact(ui: &mut Ui<'_>, form: &RedactForm) {
    let width = ui.state.size.0.min(100);
    let lines =
        12 + form.reach.as_ref().map_or(0, |reach| reach.samples.len().min(6) + reach.beyond.len().min(4)) as u16;
    let inside = boxed(ui, width, lines, "Redact: for good", "cannot be undone", "esc cancels");
    let x = inside.x + 1;
    let room = inside.width.saturating_sub(2);
    let bottom = inside.bottom().saturating_sub(1);
    let mut y = inside.y;
    let at = ui.text(x, y, room, "string     ", Role::Muted);
    // What is to go is not shown longer than it must be.
    let needle = form.needle.text();
    let shown =
        if form.confirming { ui.signs.masked.repeat(ui.cells(needle).min(24) as usize) } else { needle.to_owned() };
    let end = ui.text(at, y, inside.right().saturating_sub(at + 1), &shown, Role::Input);
    if !form.confirming {
        ui.cursor = ((end, y), true);
        ui.text(x, y + 2, room, "enter looks where it is", Role::Muted);
        return;
    }
    y += 1;
    let Some(reach) = &form.reach else {
        ui.text(x, y + 1, room, "looking …", Role::Muted);
        return;
    };
    let found: Vec<String> = reach.places.iter().map(|(place, n)| format!("{place} {n}")).collect();
    let found = if found.is_empty() { "nowhere".into() } else { found.join("   ") };
    let text = format!("found      {found}");
    for range in ui.state.look.widths.wrap(&text, usize::from(room), 3) {
        ui.text(x, y, room, &text[range], Role::Text);
        y += 1;
    }
    let rows = format!("in         {}", plural(reach.ids.len() as u64, "memory").replace("memorys", "memories"));
    ui.text(x, y, room, &rows, Role::Text);
    y += 2;
    for (place, sample) in reach.samples.iter().take(6) {
        if y + 4 >= bottom {
            break;
        }
        let text = format!("{place:<10} {}", safe_line(sample));
        ui.text(x, y, room, &text, Role::Muted);
        y += 1;
    }
    for line in reach.beyond.iter().take(4) {
        if y + 3 >= bottom {
            break;
        }
        ui.text(x, y, room, &format!("not reached: {}", safe_line(line)), Role::Warn);
        y += 1;
    }
    ui.text(x, y, room, &format!("replace    {}", form.replacement), Role::Text);
    y = (y + 2).min(bottom.saturating_sub(1));
    let at = ui.text(x, y, room, "type REDACT to go on: ", Role::Strong);
    let end = ui.text(at, y, inside.right().saturating_sub(at + 1), form.confirm.text(), Role::Error);
    ui.cursor = ((end.min(inside.right().saturating_sub(1)), y), true);
}
