//! Lists to choose from: their keys, and what a choice does. `lists` opens them, `line` takes typed lines, `legend` the
//! letters of the types.

mod legend;
mod line;
mod lists;

use super::{Out, act, curate, pages, query, switch};
use crate::hub::live::Change;
use crate::recall::query::{Key as Filter, toggle_value};
use crate::tui::effect::{Effect, Request};
use crate::tui::key::{Code, Key};
use crate::tui::state::{LineBox, LineEdit, LineFor, Pick, Picker, Popup, Purpose, State, Tick, Tone, View};

pub use legend::{legend, legend_key};
pub use line::{ask_date, ask_file, export, line_key, title};
pub use lists::*;

fn open(state: &mut State, picker: Picker) {
    let writes = matches!(picker.purpose, Purpose::Check)
        || picker.items.iter().any(|item| matches!(item.pick, Pick::Move(..) | Pick::Retype(..)));
    state.guard.input_opened(state.now, writes);
    state.popup = Some(Popup::Picker(picker));
}

fn open_line(state: &mut State, title: &str, text: &str, purpose: LineFor, note: &str) {
    state.guard.input_opened(state.now, purpose.writes());
    state.popup = Some(Popup::Line(LineBox {
        title: title.to_owned(),
        edit: LineEdit::new(text),
        purpose,
        note: note.to_owned(),
    }));
}

/// A key in a list.
pub fn key(state: &mut State, mut picker: Picker, key: Key, out: &mut Out) -> Option<Popup> {
    let by_code = match key.code {
        Code::Esc => {
            if picker.purpose == Purpose::Theme {
                restore_theme(&picker, out);
            }
            return None;
        }
        Code::Enter if picker.purpose == Purpose::Check => return check(state, picker, out),
        Code::Enter => return choose(state, picker, out),
        Code::Down => Some(1),
        Code::Up => Some(-1),
        Code::PageDown => Some(10),
        Code::PageUp => Some(-10),
        Code::Char('n') if key.ctrl => Some(1),
        Code::Char('p') if key.ctrl => Some(-1),
        Code::Char('c') if key.ctrl => return None,
        Code::Tab => Some(1),
        Code::BackTab => Some(-1),
        _ => None,
    };
    if let Some(by) = by_code {
        move_by(&mut picker, by, out);
        return Some(Popup::Picker(picker));
    }
    if picker.filtering {
        match (key.code, key.typed()) {
            (Code::Backspace, _) if picker.filter.is_empty() => return None,
            (Code::Backspace, _) => picker.filter.backspace(),
            (Code::Char('u'), _) if key.ctrl => picker.filter.clear(),
            (Code::Char('w'), _) if key.ctrl => picker.filter.delete_word(),
            (Code::Left, _) => picker.filter.left(),
            (Code::Right, _) => picker.filter.right(),
            (_, Some(ch)) => picker.filter.insert(&ch.to_string()),
            _ => {}
        }
        if picker.purpose == Purpose::Palette
            && let Some(found) = typed_command(picker.filter.text())
        {
            picker.note = format!("enter: {found}");
        }
        picker.settle();
        preview(&picker, out);
        return Some(Popup::Picker(picker));
    }
    match key.typed() {
        Some('j') if !has_key(&picker, 'j') => move_by(&mut picker, 1, out),
        Some('k') if !has_key(&picker, 'k') => move_by(&mut picker, -1, out),
        Some(' ') if picker.purpose == Purpose::Check => {
            let shown = picker.shown();
            if let Some(item) = shown.get(picker.cursor).and_then(|at| picker.items.get_mut(*at)) {
                item.tick = item.tick.map(|tick| if tick == Tick::On { Tick::Off } else { Tick::On });
            }
        }
        Some('+') if picker.purpose == Purpose::Check => {
            let ids = picker.ids.clone();
            open_line(state, "New concept", "", LineFor::Concept(ids), "one word");
            return None;
        }
        Some(ch) if picker.purpose == Purpose::OneKey => {
            let at = picker.items.iter().position(|item| item.key == Some(ch));
            return match at {
                Some(at) => {
                    let shown = picker.shown();
                    picker.cursor = shown.iter().position(|other| *other == at).unwrap_or(0);
                    choose(state, picker, out)
                }
                None => None, // another key closes it, and does nothing
            };
        }
        Some('q') => return None,
        _ => {}
    }
    Some(Popup::Picker(picker))
}

fn has_key(picker: &Picker, key: char) -> bool {
    picker.purpose == Purpose::OneKey && picker.items.iter().any(|item| item.key == Some(key))
}

fn move_by(picker: &mut Picker, by: isize, out: &mut Out) {
    for _ in 0..by.unsigned_abs() {
        picker.step(by);
    }
    preview(picker, out);
}

/// Themes are seen while the cursor is on them.
fn preview(picker: &Picker, out: &mut Out) {
    if picker.purpose == Purpose::Theme
        && let Some(Pick::Theme(name)) = picker.current().map(|item| &item.pick)
    {
        out.push(Effect::LoadTheme(name.clone()));
    }
}

fn restore_theme(picker: &Picker, out: &mut Out) {
    let before = picker.note.rsplit(' ').next().unwrap_or("terminal");
    out.push(Effect::LoadTheme(before.to_owned()));
}

/// Commands with an argument, typed into the palette.
fn typed_command(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    match (words.next()?, words.next()?, words.next()) {
        ("set", "guard", Some(value @ ("on" | "off"))) => Some(format!("typing guard {value}")),
        ("theme", name, None) => Some(format!("theme {name}")),
        ("show", "skips", None) => Some("skipped turns with their reason".into()),
        ("config", "edit", None) => Some("edit the configuration".into()),
        _ => None,
    }
}

fn run_typed(state: &mut State, text: &str, out: &mut Out) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["set", "guard", value @ ("on" | "off")] => {
            state.settings.guard = value == "on";
            state.messages.say(state.now, Tone::Info, format!("typing guard {value}"));
        }
        ["theme", name] => out.push(Effect::LoadTheme(name.to_owned())),
        ["show", "skips"] => {
            switch(state, View::Observer);
            out.push(Effect::Ask(Request::Log));
        }
        ["config", "edit"] => curate::hold_back(state, Effect::EditConfig, out),
        _ => return false,
    }
    true
}

/// Enter on an item.
fn choose(state: &mut State, picker: Picker, out: &mut Out) -> Option<Popup> {
    if picker.purpose == Purpose::Palette && run_typed(state, picker.filter.text(), out) {
        return None;
    }
    let Some(item) = picker.current().cloned() else { return Some(Popup::Picker(picker)) };
    if !item.disabled.is_empty() {
        if !item.is_heading() {
            state.messages.say(state.now, Tone::Info, item.disabled.clone());
        }
        return Some(Popup::Picker(picker));
    }
    // The key that chose is not a key of what comes next.
    state.guard.input_closed();
    match item.pick {
        Pick::Act(action) => act::act(state, action, 1, out),
        Pick::Scope(keys) => {
            state.scope_name = if keys.is_empty() { "all projects".into() } else { item.label.trim().to_owned() };
            state.scope = keys;
            query::sift(state);
            pages::scope_changed(state, out);
        }
        Pick::Filter(key, value) => {
            let text = toggle_value(&state.search.text, key, &value);
            query::apply(state, &text, out);
        }
        Pick::Retype(ids, id) if id.is_empty() => {
            open_line(
                state,
                "Type",
                "",
                LineFor::Retype(ids),
                "any word; a type that is not in the mode is never injected",
            );
        }
        Pick::Retype(ids, id) => {
            curate::ask_if_many(state, ids.len(), "Retype", "retype", Change::Retype(ids, id), out);
        }
        Pick::Move(ids, root) => curate::ask_if_many(state, ids.len(), "Move", "move", Change::Move(ids, root), out),
        Pick::FoldWorktree(worktree, root) => curate::change(state, Change::Fold { root, worktree }, out),
        Pick::UndoTo(step) => {
            state.changing += 1;
            out.push(Effect::Ask(Request::UndoTo(step)));
        }
        Pick::Theme(name) => {
            state.settings.theme = name.clone();
            out.push(Effect::LoadTheme(name.clone()));
            let said = format!("theme {name} until the program ends; tui.theme = \"{name}\" in config.toml keeps it");
            state.messages.say(state.now, Tone::Info, said);
        }
        Pick::View(0) => open_line(state, "Save this view as number", "1", LineFor::SaveView, "1 to 9"),
        Pick::View(number) => {
            if let Some(view) = state.saved.iter().find(|view| usize::from(view.number) == number).cloned() {
                switch(state, View::Feed);
                state.scope = view.scope;
                query::forget_pool(state);
                query::apply(state, &view.query, out);
                query::sift(state);
            }
        }
        Pick::Sort(word) => {
            let values: &[&str] = if word == "newest" { &[] } else { &[word] };
            query::set(state, Filter::Sort, values, out);
        }
        Pick::Reason(reason) => {
            state.pages.context.reason = reason;
            state.pages.context.at = Default::default();
        }
        Pick::Metric(_) | Pick::Concept(_) | Pick::Nothing => {}
    }
    None
}

/// Enter in a checklist: what was ticked anew is added, what was unticked is taken away.
fn check(state: &mut State, picker: Picker, out: &mut Out) -> Option<Popup> {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for item in &picker.items {
        match (&item.pick, item.tick) {
            (Pick::Concept(word), Some(Tick::On)) => add.push(word.clone()),
            (Pick::Concept(word), Some(Tick::Off)) => remove.push(word.clone()),
            _ => {}
        }
    }
    let n = picker.ids.len();
    let change = Change::Concepts { ids: picker.ids, add, remove };
    curate::ask_if_many(state, n, "Change concepts of", "change", change, out);
    None
}
