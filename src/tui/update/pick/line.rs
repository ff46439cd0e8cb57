//! Lines that are typed into a box: a title, a date, a file, a path.

use super::super::{Out, curate, pages, query, refuse};
use super::{open_line, run_typed};
use crate::hub::live::Change;
use crate::memory::MemoryId;
use crate::recall::query::{Key as Filter, moment};
use crate::tui::effect::{Effect, GetFor, Request};
use crate::tui::key::{Code, Key};
use crate::tui::state::{LineBox, LineFor, Popup, SavedView, State, Tone};

/// A key in a line.
pub fn line_key(state: &mut State, mut line: LineBox, key: Key, out: &mut Out) -> Option<Popup> {
    match (key.code, key.typed()) {
        (Code::Esc, _) => return None,
        (Code::Char('c'), _) if key.ctrl => return None,
        (Code::Enter, _) => {
            if let Err(what) = take_line(state, &line, out) {
                line.note = what;
                return Some(Popup::Line(line));
            }
            return None;
        }
        (_, Some(ch)) => line.edit.insert(&ch.to_string()),
        (Code::Backspace, _) => line.edit.backspace(),
        (Code::Delete, _) => line.edit.delete(),
        (Code::Left, _) => line.edit.left(),
        (Code::Right, _) => line.edit.right(),
        (Code::Home, _) => line.edit.home(),
        (Code::End, _) => line.edit.end(),
        (Code::Char('u'), _) if key.ctrl => line.edit.clear(),
        (Code::Char('w'), _) if key.ctrl => line.edit.delete_word(),
        _ => {}
    }
    Some(Popup::Line(line))
}

fn take_line(state: &mut State, line: &LineBox, out: &mut Out) -> Result<(), String> {
    let text = line.edit.text().trim().to_owned();
    match &line.purpose {
        LineFor::Title(id) => {
            if text.is_empty() {
                return Err("a memory needs a title".into());
            }
            curate::change(state, Change::Title(*id, text), out);
        }
        LineFor::Date => {
            let found = moment(&text, &query::local(state)).ok_or("not a date; try 27aug, mon, 2026-08-27, 7d")?;
            pages::goto_time(state, crate::memory::millis(found.start()), out);
        }
        LineFor::FilterDate => {
            moment(&text, &query::local(state)).ok_or("not a date; try 27aug, mon, 2026-08-27, 7d")?;
            query::set(state, Filter::On, &[&text], out);
        }
        LineFor::FilterFile => {
            let values: &[&str] = if text.is_empty() { &[] } else { &[&text] };
            query::set(state, Filter::File, values, out);
        }
        LineFor::Retype(ids) => {
            if text.is_empty() {
                return Err("a type needs a name".into());
            }
            let change = Change::Retype(ids.clone(), text);
            curate::ask_if_many(state, ids.len(), "Retype", "retype", change, out);
        }
        LineFor::Concept(ids) => {
            if text.is_empty() {
                return Err("a concept needs a name".into());
            }
            let change = Change::Concepts { ids: ids.clone(), add: vec![text], remove: Vec::new() };
            curate::change(state, change, out);
        }
        LineFor::Export(ids) => {
            let known = [".md", ".json", ".jsonl", ".csv"];
            if !known.iter().any(|ending| text.ends_with(ending)) {
                return Err("the ending says how: .md .json .jsonl .csv".into());
            }
            out.push(Effect::Ask(Request::GetFor(ids.clone(), GetFor::Export(text))));
        }
        LineFor::Set => {
            if !run_typed(state, &format!("set {text}"), out) {
                return Err("guard on, guard off".into());
            }
        }
        LineFor::SaveView => {
            let number: u8 = text.parse().ok().filter(|n| (1..=9).contains(n)).ok_or("a number from 1 to 9")?;
            state.saved.retain(|view| view.number != number);
            let view = SavedView { number, query: state.search.text.clone(), scope: state.scope.clone() };
            state.saved.push(view);
            state.saved.sort_by_key(|view| view.number);
            state.messages.say(state.now, Tone::Info, format!("saved; '{number} opens it"));
        }
    }
    Ok(())
}

/// A new title in place.
pub fn title(state: &mut State) {
    let Some(ids) = curate::targets(state) else { return };
    let [id] = ids[..] else { return refuse(state, "one title at a time; e edits several in your editor") };
    let known = state.arena.find(&[id]).first().map(|ix| state.arena.title(state.arena.row(*ix)).to_owned());
    let title = state.detail.current().filter(|memory| memory.id == id).map(|memory| memory.title.clone());
    open_line(state, "Title", &title.or(known).unwrap_or_default(), LineFor::Title(id), "enter saves · u undoes");
}

/// Where to export.
pub fn export(state: &mut State) {
    let ids: Vec<MemoryId> = if state.marks.ids.is_empty() {
        (0..state.rows.len()).filter_map(|at| state.rows.get(at)).map(|ix| state.arena.row(ix).memory()).collect()
    } else {
        state.marks.ids.iter().copied().collect()
    };
    let title = format!("Export {} memories to", ids.len());
    open_line(state, &title, "memories.md", LineFor::Export(ids), "the ending says how: .md .json .jsonl .csv");
}

/// A date to go to or to filter by.
pub fn ask_date(state: &mut State, filter: bool) {
    let (title, purpose) = if filter { ("Filter: on this day", LineFor::FilterDate) } else { ("Go to", LineFor::Date) };
    open_line(state, title, "", purpose, "today · yesterday · mon · 27aug · 2026-08-27 · 7d");
}

/// A file to filter by.
pub fn ask_file(state: &mut State) {
    open_line(
        state,
        "Filter by file",
        "",
        LineFor::FilterFile,
        "a path or a pattern: src/auth/** · !file: modified only",
    );
}
