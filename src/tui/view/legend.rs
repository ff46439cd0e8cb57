//! The type legend: one line, a column, or a popup. Counts are of the query without its type part.

use ratatui::layout::Rect;

use super::popup::boxed;
use super::ui::{Ui, thousands};
use crate::tui::state::{Legend, State};
use crate::tui::theme::Role;

/// One entry: sign, word, count, hidden, wild.
pub struct Entry {
    /// Sign.
    pub sign: String,
    /// Type word.
    pub id: String,
    /// Letter, for types of the mode.
    pub letter: Option<char>,
    /// How many the query admits.
    pub count: u32,
    /// The legend hides it.
    pub hidden: bool,
}

/// Types of the mode in its order, then wild ones by count.
pub fn entries(state: &State) -> (Vec<Entry>, Vec<Entry>) {
    let count_of = |id: &str| {
        let ix = state.arena.types().iter().position(|word| word == id);
        ix.and_then(|ix| state.rows.sifted.counts.get(ix)).copied().unwrap_or(0)
    };
    let known = state.alphabet.types.iter().map(|look| Entry {
        sign: state.alphabet.sign(&look.id, state.look.glyphs),
        id: look.id.clone(),
        letter: Some(look.letter),
        count: count_of(&look.id),
        hidden: state.hidden.contains(&look.id),
    });
    let known = known.collect();
    let others = state.arena.types().iter().filter(|word| !word.is_empty() && state.alphabet.get(word).is_none());
    let mut wild: Vec<Entry> = others
        .map(|word| Entry {
            sign: "?".into(),
            id: word.clone(),
            letter: None,
            count: count_of(word),
            hidden: state.hide_wild || state.hidden.contains(word),
        })
        .filter(|entry| entry.count > 0)
        .collect();
    wild.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    (known, wild)
}

/// One line: signs with counts, hidden ones in brackets, then how many more.
pub fn line(ui: &mut Ui<'_>, x: u16, y: u16, width: u16) {
    let (known, wild) = entries(ui.state);
    let wild_total: u32 = wild.iter().map(|entry| entry.count).sum();
    let wild_hidden = ui.state.hide_wild;
    let mut items: Vec<(String, String, u32)> = known
        .into_iter()
        .filter(|entry| entry.count > 0 || entry.hidden)
        .map(|entry| {
            let number = thousands(u64::from(entry.count));
            let text =
                if entry.hidden { format!("{}({number})", entry.sign) } else { format!("{}{number}", entry.sign) };
            (text, entry.id, entry.count)
        })
        .collect();
    if wild_total > 0 {
        let number = thousands(u64::from(wild_total));
        let text = if wild_hidden { format!("?({number})") } else { format!("?{number}") };
        items.push((text, "?".into(), wild_total));
    }
    let cells: Vec<u16> = items.iter().map(|(text, ..)| ui.cells(text) + 1).collect();
    let mut fits = items.len();
    let rest_of = |fits: usize| items[fits..].iter().map(|(.., n)| *n).sum::<u32>();
    while fits > 0 {
        let tail = if fits < items.len() { ui.cells(&format!("+{}", rest_of(fits))) } else { 0 };
        if cells[..fits].iter().sum::<u16>() + tail <= width {
            break;
        }
        fits -= 1;
    }
    let mut at = x;
    let base = ui.role(Role::Text);
    for (text, id, _) in &items[..fits] {
        let wild = id == "?";
        let style = base.patch(ui.state.look.theme.of_type(id, wild));
        at = ui.canvas.text(at, y, (x + width).saturating_sub(at), text, style) + 1;
    }
    if fits < items.len() {
        let rest = rest_of(fits);
        ui.text(at, y, (x + width).saturating_sub(at), &format!("+{rest}"), Role::Muted);
    }
}

/// The column: one type a line.
pub fn column(ui: &mut Ui<'_>, area: Rect, scroll: usize) {
    let (known, wild) = entries(ui.state);
    let mut y = area.y;
    let bottom = area.bottom();
    let room = usize::from(area.height);
    for entry in known.iter().skip(scroll) {
        if y >= bottom {
            return;
        }
        entry_line(ui, area, y, entry);
        y += 1;
    }
    if wild.is_empty() || y + 1 >= bottom {
        return;
    }
    let rule = format!("{0}{0} not in mode {0}{0}", ui.signs.horizontal);
    ui.text(area.x + 1, y, area.width.saturating_sub(2), &rule, Role::Muted);
    y += 1;
    let left = usize::from(bottom - y);
    let shown = if wild.len() > left { left.saturating_sub(1) } else { wild.len() };
    for entry in wild.iter().take(shown) {
        entry_line(ui, area, y, entry);
        y += 1;
    }
    if shown < wild.len() && y < bottom && room > 2 {
        let rest: u32 = wild[shown..].iter().map(|entry| entry.count).sum();
        let text = format!("    {} {} more", ui.signs.ellipsis, wild.len() - shown);
        ui.text(area.x + 1, y, area.width.saturating_sub(8), &text, Role::Muted);
        ui.text_right(area.right().saturating_sub(1), y, 7, &thousands(u64::from(rest)), Role::Muted);
    }
}

fn entry_line(ui: &mut Ui<'_>, area: Rect, y: u16, entry: &Entry) {
    let mark = if entry.hidden { "[ ]" } else { "[x]" };
    let role = if entry.hidden { Role::Muted } else { Role::Text };
    let wild = entry.letter.is_none();
    let number = thousands(u64::from(entry.count));
    let number_cells = ui.cells(&number);
    let right = area.right().saturating_sub(1);
    let mut x = ui.text(area.x + 1, y, 3, mark, Role::Muted) + 1;
    let style = ui.role(Role::Text).patch(ui.state.look.theme.of_type(&entry.id, wild));
    x = ui.canvas.put(x, y, 2, &entry.sign, style).max(x + 1) + 1;
    ui.text(x, y, right.saturating_sub(x + number_cells + 1), &entry.id, role);
    ui.text_right(right, y, number_cells, &number, Role::Muted);
}

/// The legend while its letters hold.
pub fn popup(ui: &mut Ui<'_>, legend: &Legend) {
    let (known, wild) = entries(ui.state);
    let lines = known.len() + if wild.is_empty() { 0 } else { 1 + wild.len().min(8) };
    let title = if legend.only { "Types: only which?" } else { "Types" };
    let area = boxed(ui, 34, lines as u16 + 2, title, "esc", "A all  I invert  O only  . wild");
    let inner = Rect { height: area.height.saturating_sub(1), ..area };
    column(ui, inner, legend.scroll.min(known.len().saturating_sub(usize::from(inner.height))));
    // Letters stand at the right edge, where the eye finds them.
    for (at, entry) in known.iter().skip(legend.scroll).take(usize::from(inner.height)).enumerate() {
        if let Some(letter) = entry.letter {
            ui.text(area.x, inner.y + at as u16, 1, &letter.to_string(), Role::Accent);
        }
    }
}
