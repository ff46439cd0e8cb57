//! The lists themselves: what stands in each, and why some of it cannot be chosen now.

use super::super::{Out, curate, query, refuse, switch};
use super::open;
use crate::memory::Memory;
use crate::recall::query::{Key as Filter, values_of};
use crate::tui::action::{Action, Group};
use crate::tui::key::{Code, Key};
use crate::tui::state::{Pick, PickItem, Picker, Popup, Purpose, State, TextBox, Tick, View};
use crate::tui::theme;

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
            PickItem::new(label, "", Pick::View(usize::from(view.number))).key(key)
        })
        .collect();
    items.push(PickItem::new("save the present view", "", Pick::View(0)).key('m'));
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
            PickItem::new(label, "", Pick::Retype(ids.clone(), look.id.clone())).key(look.letter)
        })
        .collect();
    items.push(PickItem::new("other type …", "", Pick::Retype(ids.clone(), String::new())).key('/'));
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

/// The journal came: an open list of it is made anew.
pub fn history_came(state: &mut State) {
    if matches!(&state.popup, Some(Popup::Picker(picker)) if picker.title.starts_with("Changes")) {
        history(state);
    }
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
        Action::ALL.iter().copied().filter(|it| it.group() != Group::Input && *it != Action::Palette).collect();
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

/// Lines to read.
pub fn show_text(state: &mut State, title: &str, lines: Vec<String>) {
    let lines = lines.iter().map(|line| crate::memory::safe_text(line)).collect();
    state.popup = Some(Popup::Text(TextBox { title: title.to_owned(), lines, scroll: 0 }));
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
