//! Lists to choose from, lines to type, and the legend: opening them and taking their keys.

use super::{Out, act, curate, pages, query, refuse, switch};
use crate::hub::live::Change;
use crate::memory::{Memory, MemoryId};
use crate::recall::query::{Key as Filter, moment, toggle_value, values_of};
use crate::tui::action::{Action, Group};
use crate::tui::effect::{Effect, GetFor, Request};
use crate::tui::key::{Code, Key};
use crate::tui::state::{
    Legend, LineBox, LineEdit, LineFor, Pick, PickItem, Picker, Popup, Purpose, SavedView, State, TextBox, Tick, Tone,
    View,
};
use crate::tui::theme;

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

/// The type legend takes letters.
pub fn legend(state: &mut State) {
    switch(state, View::Feed);
    state.popup = Some(Popup::Legend(Legend::default()));
}

/// A letter in the legend.
pub fn legend_key(state: &mut State, mut legend: Legend, key: Key, _out: &mut Out) -> Option<Popup> {
    let types: Vec<String> = state.alphabet.types.iter().map(|look| look.id.clone()).collect();
    match key.typed() {
        Some('O') => {
            legend.only = true;
            return Some(Popup::Legend(legend));
        }
        Some('A') => {
            state.hidden.clear();
            state.hide_wild = false;
        }
        Some('I') => {
            state.hidden = types.iter().filter(|id| !state.hidden.contains(*id)).cloned().collect();
            state.hide_wild = !state.hide_wild;
        }
        Some('.' | '?') if legend.only => {
            state.hidden = types.into_iter().collect();
            state.hide_wild = false;
        }
        Some('.' | '?') => state.hide_wild = !state.hide_wild,
        Some(letter) => match state.alphabet.by_letter(letter).map(|look| look.id.clone()) {
            Some(id) if legend.only => {
                state.hidden = types.into_iter().filter(|other| *other != id).collect();
                state.hide_wild = true;
            }
            Some(id) => {
                if !state.hidden.remove(&id) {
                    state.hidden.insert(id);
                }
            }
            None => return None,
        },
        None if key.code == Code::Down => {
            legend.scroll = legend.scroll.saturating_add(1);
            return Some(Popup::Legend(legend));
        }
        None if key.code == Code::Up => {
            legend.scroll = legend.scroll.saturating_sub(1);
            return Some(Popup::Legend(legend));
        }
        None => return None,
    }
    legend.only = false;
    query::relist_types(state);
    Some(Popup::Legend(legend))
}

/// Projects to narrow the screen to.
pub fn projects(state: &mut State) {
    let total = state.pages.projects.iter().map(|project| project.memories).sum::<u64>();
    let mut items = vec![PickItem::new("all projects", total.to_string(), Pick::Scope(Vec::new()))];
    for project in &state.pages.projects {
        let label = if project.worktree.is_empty() {
            project.name.clone()
        } else {
            format!("  {} (worktree)", project.worktree)
        };
        // A project means its worktrees too; a worktree means itself.
        let keys: Vec<String> = if project.worktree.is_empty() {
            let family = state.pages.projects.iter().filter(|other| other.root == project.root);
            family.map(crate::hub::live::ProjectInfo::key).collect()
        } else {
            vec![project.key()]
        };
        let mut item = PickItem::new(label, project.memories.to_string(), Pick::Scope(keys));
        if project.excluded {
            item.right = "excluded".into();
        }
        items.push(item);
    }
    open(state, Picker::new("Project", Purpose::Choose, items).note("type to narrow · enter takes"));
}

/// Types as a filter in the query.
pub fn filter_types(state: &mut State) {
    let have = values_of(&state.search.text, Filter::Type);
    let items = state.alphabet.types.iter().map(|look| {
        let on = have.iter().any(|value| *value == look.id || value.chars().eq([look.letter]));
        let label = format!("{} {}", state.alphabet.sign(&look.id, state.look.glyphs), look.label);
        let right = if on { "on" } else { "" };
        PickItem::new(label, right, Pick::Filter(Filter::Type, look.id.clone())).key(look.letter)
    });
    let mut items: Vec<PickItem> = items.collect();
    items.push(PickItem::new("? wild", "", Pick::Filter(Filter::Type, "wild".into())).key('?'));
    open(state, Picker::new("Filter by type", Purpose::OneKey, items).note("again takes it out"));
}

/// Concepts as a filter.
pub fn filter_concepts(state: &mut State) {
    let concepts = state.alphabet.concepts.clone();
    let items = concepts.into_iter().map(|word| PickItem::new(word.clone(), "", Pick::Filter(Filter::Concept, word)));
    let items = items.collect();
    open(state, Picker::new("Filter by concept", Purpose::Choose, items));
}

/// Sources as a filter.
pub fn filter_sources(state: &mut State) {
    let items = [
        ("observer", "a model that watched", 'o'),
        ("offline", "without a model", 'f'),
        ("manual", "by hand", 'm'),
        ("import", "another database", 'i'),
        ("fallback", "the closing answer", 'b'),
    ]
    .map(|(word, note, key)| PickItem::new(word, note, Pick::Filter(Filter::Source, word.into())).key(key));
    open(state, Picker::new("Filter by source", Purpose::OneKey, items.to_vec()));
}

/// Kinds as a filter.
pub fn filter_kinds(state: &mut State) {
    let items = [("obs", "observations", 'o'), ("sum", "summaries", 's'), ("prompt", "prompts", 'p')]
        .map(|(word, note, key)| PickItem::new(note, word, Pick::Filter(Filter::Kind, word.into())).key(key));
    open(state, Picker::new("Show", Purpose::OneKey, items.to_vec()));
}

/// Only the session of the row under the cursor.
pub fn this_session(state: &mut State, out: &mut Out) {
    let Some(row) = state.under_cursor() else { return refuse(state, "no memory here") };
    let entry = state.arena.session_of(row);
    if entry.id.is_empty() {
        return refuse(state, "this memory belongs to no session");
    }
    let value = entry.word();
    query::set(state, Filter::Session, &[&value], out);
}

/// Memories about the first file of the memory that is read.
pub fn this_file(state: &mut State, out: &mut Out) {
    let file = state
        .detail
        .current()
        .and_then(|memory| memory.files_modified.iter().chain(&memory.files_read).next().cloned());
    match file {
        Some(file) => {
            switch(state, View::Feed);
            query::set(state, Filter::File, &[&file], out);
        }
        None => refuse(state, "this memory names no file"),
    }
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

/// Orders of the list.
pub fn sort(state: &mut State) {
    let items = [
        ("newest", "newest first", 'n'),
        ("oldest", "oldest first", 'o'),
        ("tokens", "most tokens first", 't'),
        ("relevance", "best match first", 'r'),
    ]
    .map(|(word, label, key)| {
        let right = if state.rows.order.name() == word { "now" } else { "" };
        PickItem::new(label, right, Pick::Sort(word)).key(key)
    });
    open(state, Picker::new("Sort", Purpose::OneKey, items.to_vec()));
}

/// Saved views.
pub fn saved(state: &mut State) {
    let mut items: Vec<PickItem> = state
        .saved
        .iter()
        .map(|view| {
            let key = char::from_digit(u32::from(view.number), 10).unwrap_or('0');
            let label = if view.query.is_empty() { "everything" } else { &view.query };
            PickItem::new(label, key.to_string(), Pick::View(usize::from(view.number))).key(key)
        })
        .collect();
    items.push(PickItem::new("save the present view", "m", Pick::View(0)).key('m'));
    open(state, Picker::new("Saved views", Purpose::OneKey, items));
}

/// Types to give the rows.
pub fn retype(state: &mut State) {
    let Some(ids) = curate::targets(state) else { return };
    let mut items: Vec<PickItem> = state
        .alphabet
        .types
        .iter()
        .map(|look| {
            let label = format!("{} {}", state.alphabet.sign(&look.id, state.look.glyphs), look.label);
            PickItem::new(label, look.letter.to_string(), Pick::Retype(ids.clone(), look.id.clone())).key(look.letter)
        })
        .collect();
    items.push(PickItem::new("other type …", "/", Pick::Retype(ids.clone(), String::new())).key('/'));
    let now: Vec<String> = {
        let mut words: Vec<String> =
            state.arena.find(&ids).iter().map(|ix| state.arena.type_of(state.arena.row(*ix)).to_owned()).collect();
        words.sort();
        words.dedup();
        words.truncate(3);
        words
    };
    let wild = now.iter().any(|word| state.alphabet.get(word).is_none());
    let note = if wild { " (not in the mode, never injected)" } else { "" };
    let title = if ids.len() == 1 { "Retype".to_owned() } else { format!("Retype {} marked", ids.len()) };
    let picker = Picker::new(title, Purpose::OneKey, items).note(format!("now: {}{note} · u undoes", now.join(", ")));
    open(state, picker);
}

/// Projects to move the rows to; first the worktrees that could be folded.
pub fn move_to(state: &mut State) {
    let Some(ids) = curate::targets(state) else { return };
    let mut items = Vec::new();
    let here = state.arena.find(&ids[..1]).first().map(|ix| state.arena.project_of(state.arena.row(*ix)).to_owned());
    for project in state.pages.projects.iter().filter(|project| !project.worktree.is_empty()) {
        if here.as_ref().is_some_and(|here| here.starts_with(&project.root)) {
            let label = format!("fold worktree “{}” into “{}”", project.worktree, project.name);
            let pick = Pick::FoldWorktree(project.worktree.clone(), project.root.clone());
            items.push(PickItem::new(label, project.memories.to_string(), pick));
        }
    }
    for project in state.pages.projects.iter().filter(|project| project.worktree.is_empty()) {
        let item =
            PickItem::new(&project.name, project.memories.to_string(), Pick::Move(ids.clone(), project.root.clone()));
        items.push(if here.as_deref() == Some(project.root.as_str()) { item.disabled("it is there") } else { item });
    }
    let title = if ids.len() == 1 { "Move to".to_owned() } else { format!("Move {} to", ids.len()) };
    open(state, Picker::new(title, Purpose::Choose, items).note("one step; u undoes"));
}

/// The concepts of some memories, ticked.
pub fn open_concepts(state: &mut State, memories: &[Memory]) {
    let mut words: Vec<String> = state.alphabet.concepts.clone();
    for word in memories.iter().flat_map(|memory| &memory.concepts) {
        if !words.contains(word) {
            words.push(word.clone());
        }
    }
    let items = words.into_iter().map(|word| {
        let with = memories.iter().filter(|memory| memory.concepts.contains(&word)).count();
        let tick = match with {
            0 => Tick::Off,
            n if n == memories.len() => Tick::On,
            _ => Tick::Some,
        };
        PickItem { tick: Some(tick), ..PickItem::new(word.clone(), "", Pick::Concept(word)) }
    });
    let mut picker = Picker::new("Concepts", Purpose::Check, items.collect()).note("space ticks · enter saves · + new");
    picker.ids = memories.iter().map(|memory| memory.id).collect();
    open(state, picker);
}

/// The journal.
pub fn history(state: &mut State) {
    let zone = state.zone.clone();
    let items = state.pages.history.iter().map(|step| {
        let when = step.at.to_zoned_datetime(zone.clone()).strftime("%d %b %H:%M").to_string();
        let label = format!("{when}  {}  {}", step.actor, step.label);
        let item = PickItem::new(crate::memory::safe_line(&label), step.rows.to_string(), Pick::UndoTo(step.id));
        match step.state {
            crate::hub::live::StepState::Done => item,
            crate::hub::live::StepState::Undone => item.disabled("undone; Ctrl-R does it again"),
            crate::hub::live::StepState::Gone => item.disabled("undone, and other changes were made since"),
        }
    });
    let items: Vec<PickItem> = items.collect();
    let note =
        if items.is_empty() { "nothing has been changed yet" } else { "enter undoes back to and with this step" };
    open(state, Picker::new("Changes, newest first", Purpose::Choose, items).note(note));
}

/// The themes, seen at once.
pub fn themes(state: &mut State) {
    let now = state.look.theme.name.clone();
    let items = theme::SHIPPED
        .iter()
        .map(|(name, _)| PickItem::new(*name, if *name == now { "now" } else { "" }, Pick::Theme((*name).to_owned())));
    let mut picker = Picker::new("Theme", Purpose::Theme, items.collect()).note("seen at once · esc restores");
    picker.cursor = theme::SHIPPED.iter().position(|(name, _)| *name == now).unwrap_or(0);
    picker.note = format!("seen at once · esc restores {now}");
    open(state, picker);
}

/// All messages.
pub fn messages(state: &mut State) {
    let zone = state.zone.clone();
    let lines = state.messages.all().rev().map(|message| {
        let at = crate::memory::from_millis(message.at).to_zoned_datetime(zone.clone());
        format!("{}  {}", at.strftime("%H:%M:%S"), message.text)
    });
    let mut lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        lines.push("nothing has been said yet".into());
    }
    show_text(state, "Messages, newest first", lines);
}

/// Lines to read.
pub fn show_text(state: &mut State, title: &str, lines: Vec<String>) {
    let lines = lines.iter().map(|line| crate::memory::safe_text(line)).collect();
    state.popup = Some(Popup::Text(TextBox { title: title.to_owned(), lines, scroll: 0 }));
}

/// The help of the view: every action with its keys, by group.
pub fn help(state: &mut State) {
    let place = state.view.place();
    let mut items = Vec::new();
    let mut group: Option<Group> = None;
    for action in Action::ALL {
        let keys = match action.group() {
            Group::Input => state.keymap.keys_of(crate::tui::keymap::Place::Input, *action),
            _ => state.keymap.keys_of(place, *action),
        };
        if keys.is_empty() {
            continue;
        }
        if group != Some(action.group()) {
            group = Some(action.group());
            items.push(PickItem::heading(action.group().title()));
        }
        let item = PickItem::new(action.help(), keys.join(" "), Pick::Act(*action));
        items.push(if action.group() == Group::Input { item.disabled("inside an input") } else { item });
    }
    items.push(PickItem::heading("SIGNS"));
    for (sign, means) in SIGNS {
        items.push(PickItem::new(means, sign, Pick::Nothing));
    }
    if std::matches!(state.settings.mouse.as_str(), "off") {
        items.push(PickItem::heading("MOUSE (off; F2 captures it)"));
        items.push(PickItem::new("wheel in tmux without capture, in tmux.conf:", "", Pick::Nothing));
        items.push(PickItem::new("bind -n WheelUpPane if -F '#{alternate_on}' 'send Up Up Up'", "", Pick::Nothing));
    }
    let overrides = match state.keymap.overrides {
        0 => "keys.toml: no overrides".to_owned(),
        n => format!("keys.toml: {n} overrides"),
    };
    let config = if state.faults.is_empty() { "config: ok".to_owned() } else { state.faults[0].clone() };
    let title = format!("Help · {}", state.view.name());
    open(state, Picker::new(title, Purpose::Help, items).note(format!("{overrides} · {config}")));
}

const SIGNS: [(&str, &str); 7] = [
    ("+", "in the next session's context"),
    ("-", "not in it; gx says why"),
    ("^", "pinned: always in"),
    ("x", "excluded by you: kept, never injected"),
    ("*", "marked"),
    ("\"", "the same minute as the row above"),
    ("?", "a type that is not in the mode: never injected"),
];

/// Commands by name, those used most first.
pub fn palette(state: &mut State) {
    let place = state.view.place();
    let mut actions: Vec<Action> =
        Action::ALL.iter().copied().filter(|action| action.group() != Group::Input).collect();
    actions.sort_by_key(|action| std::cmp::Reverse(state.action_uses.get(action.name()).copied().unwrap_or(0)));
    let read_only = state.read_only().is_some();
    let (mut items, mut off) = (Vec::new(), Vec::new());
    for action in actions {
        let keys = state.keymap.keys_of(place, action).into_iter().next().unwrap_or_default();
        let item = PickItem::new(format!("{}  {}", action.name(), action.help()), keys, Pick::Act(action));
        match disabled(state, action, read_only) {
            None => items.push(item),
            Some(why) => off.push(item.disabled(why)),
        }
    }
    if !off.is_empty() {
        items.push(PickItem::heading("not now"));
        items.extend(off);
    }
    open(state, Picker::new(":", Purpose::Palette, items).note("enter runs · esc closes"));
}

/// Why an action can do nothing now.
fn disabled(state: &State, action: Action, read_only: bool) -> Option<&'static str> {
    if read_only && action.writes() {
        return Some("the database is read only");
    }
    let here = |view: View, why: &'static str| (state.view != view).then_some(why);
    match action {
        Action::LimitLess | Action::LimitMore | Action::Diff | Action::FilterReason => {
            here(View::Context, "in the context view (4)")
        }
        Action::Metric | Action::Left | Action::Right | Action::Today => here(View::Timeline, "in the timeline (2)"),
        Action::PauseRecording | Action::Budget | Action::Log => here(View::Observer, "in the observer view (5)"),
        Action::Purge | Action::EmptyTrash => here(View::Trash, "in the trash (6)"),
        Action::ResumeCommand => here(View::Sessions, "in the sessions view (3)"),
        Action::NextMatch | Action::PrevMatch if state.search.text.is_empty() => Some("nothing is searched for"),
        Action::FilterClear if state.search.text.is_empty() && state.hidden.is_empty() => Some("nothing is filtered"),
        Action::Demo if state.opened.demo => Some("this is the demo"),
        _ => None,
    }
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

/// A key while lines are read.
pub fn text_key(_state: &mut State, mut text: TextBox, key: Key) -> Option<Popup> {
    let last = text.lines.len().saturating_sub(1);
    match (key.code, key.typed()) {
        (Code::Down, _) | (_, Some('j')) => text.scroll = (text.scroll + 1).min(last),
        (Code::Up, _) | (_, Some('k')) => text.scroll = text.scroll.saturating_sub(1),
        (Code::PageDown, _) | (_, Some(' ')) => text.scroll = (text.scroll + 10).min(last),
        (Code::PageUp, _) => text.scroll = text.scroll.saturating_sub(10),
        _ => return None,
    }
    Some(Popup::Text(text))
}

/// The journal came: an open list of it is made anew.
pub fn history_came(state: &mut State) {
    if matches!(&state.popup, Some(Popup::Picker(picker)) if picker.title.starts_with("Changes")) {
        history(state);
    }
}
