//! Which keys do what, per view: the shipped `keys.toml` with the user's laid over it.
//!
//! Reading never fails: what cannot be understood is a [`Fault`] with its line, and the rest applies. The text of the
//! user's file is handed in.

use std::collections::BTreeMap;

use super::action::Action;
use super::key::{Key, sequence_name};

/// The shipped map.
pub const SHIPPED: &str = include_str!("keys.toml");

/// Where keys have a meaning of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // the names say it
pub enum Place {
    Global,
    Feed,
    Timeline,
    Sessions,
    Context,
    Observer,
    Trash,
    Input,
}

impl Place {
    /// Every place.
    pub const ALL: [Self; 8] = [
        Self::Global,
        Self::Feed,
        Self::Timeline,
        Self::Sessions,
        Self::Context,
        Self::Observer,
        Self::Trash,
        Self::Input,
    ];

    /// Its table in `keys.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Feed => "feed",
            Self::Timeline => "timeline",
            Self::Sessions => "sessions",
            Self::Context => "context",
            Self::Observer => "observer",
            Self::Trash => "trash",
            Self::Input => "input",
        }
    }
}

/// Something in a user's file that does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, as a sentence without a full stop.
    pub what: String,
}

/// What a sequence of keys comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// This action.
    Action(Action),
    /// The beginning of longer sequences.
    Prefix,
    /// Nothing.
    Nothing,
}

/// The effective map.
#[derive(Clone, Debug, Default)]
pub struct Keymap {
    bindings: BTreeMap<Place, Vec<(Vec<Key>, Action)>>,
    /// How many lines of the user's file apply.
    pub overrides: usize,
}

impl Keymap {
    /// The shipped map alone.
    pub fn shipped() -> Self {
        Self::with_user("").0
    }

    /// The shipped map with a user's `keys.toml` over it.
    pub fn with_user(user: &str) -> (Self, Vec<Fault>) {
        let mut map = Self::default();
        let mut faults = Vec::new();
        map.read(SHIPPED, &mut faults);
        debug_assert!(faults.is_empty(), "the shipped keys have faults: {faults:?}");
        if !user.trim().is_empty() {
            map.overrides = map.read(user, &mut faults);
            map.report_shadows(user, &mut faults);
        }
        (map, faults)
    }

    /// What `keys` come to in `place`: its own table first, then the global one.
    pub fn lookup(&self, place: Place, keys: &[Key]) -> Lookup {
        let own = self.lookup_in(place, keys);
        if own != Lookup::Nothing || place == Place::Input || place == Place::Global {
            return own;
        }
        match self.lookup_in(Place::Global, keys) {
            Lookup::Action(action) if self.is_unbound(place, action) => Lookup::Nothing,
            Lookup::Prefix if self.continuations(place, keys).is_empty() => Lookup::Nothing,
            found => found,
        }
    }

    fn lookup_in(&self, place: Place, keys: &[Key]) -> Lookup {
        let Some(bindings) = self.bindings.get(&place) else { return Lookup::Nothing };
        let mut prefix = false;
        for (sequence, action) in bindings {
            if sequence == keys {
                return Lookup::Action(*action);
            }
            prefix |= sequence.len() > keys.len() && sequence.starts_with(keys);
        }
        if prefix { Lookup::Prefix } else { Lookup::Nothing }
    }

    /// The place names `action` and gives it no keys or others: the global keys do not count there.
    fn is_unbound(&self, place: Place, action: Action) -> bool {
        self.bindings
            .get(&place)
            .is_some_and(|list| list.iter().any(|(keys, known)| keys.is_empty() && *known == action))
    }

    /// What can follow `keys` in `place`: the rest of each sequence and its action, in the order of the file.
    pub fn continuations(&self, place: Place, keys: &[Key]) -> Vec<(Vec<Key>, Action)> {
        let mut found: Vec<(Vec<Key>, Action)> = Vec::new();
        for from in [place, Place::Global] {
            for (sequence, action) in self.bindings.get(&from).into_iter().flatten() {
                let longer = sequence.len() > keys.len() && sequence.starts_with(keys);
                let hidden = from == Place::Global
                    && (self.is_unbound(place, *action)
                        || matches!(self.lookup_in(place, sequence), Lookup::Action(_)));
                if longer && !hidden {
                    found.push((sequence[keys.len()..].to_vec(), *action));
                }
            }
        }
        found
    }

    /// The keys of `action` in `place`, as people write them. Empty when it has none there.
    pub fn keys_of(&self, place: Place, action: Action) -> Vec<String> {
        let own: Vec<String> = self.sequences(place, action);
        if !own.is_empty() || place == Place::Global || self.is_unbound(place, action) {
            return own;
        }
        self.bindings
            .get(&Place::Global)
            .into_iter()
            .flatten()
            .filter(|(keys, known)| {
                *known == action && !keys.is_empty() && !matches!(self.lookup_in(place, keys), Lookup::Action(_))
            })
            .map(|(keys, _)| sequence_name(keys))
            .collect()
    }

    fn sequences(&self, place: Place, action: Action) -> Vec<String> {
        let list = self.bindings.get(&place).into_iter().flatten();
        list.filter(|(keys, known)| *known == action && !keys.is_empty()).map(|(keys, _)| sequence_name(keys)).collect()
    }

    /// The first key of `action`, for hints.
    pub fn hint(&self, place: Place, action: Action) -> String {
        self.keys_of(place, action).into_iter().next().unwrap_or_else(|| format!(":{}", action.name()))
    }

    /// Reads one file over what is there. Returns how many bindings it set.
    fn read(&mut self, text: &str, faults: &mut Vec<Fault>) -> usize {
        let table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(text, span.start));
                faults.push(Fault { line, what: format!("not valid TOML: {}", error.message()) });
                return 0;
            }
        };
        let mut count = 0;
        for (section, entries) in &table {
            let Some(place) = Place::ALL.into_iter().find(|place| place.name() == section) else {
                let what = format!("unknown section [{section}]{}", closest(section, Place::ALL.map(Place::name)));
                faults.push(Fault { line: find_line(text, section, None), what });
                continue;
            };
            let Some(entries) = entries.as_table() else { continue };
            for (name, value) in entries {
                let line = find_line(text, section, Some(name));
                let Some(action) = Action::by_name(name) else {
                    let what = format!(
                        "unknown action “{name}”{}",
                        closest(name, Action::ALL.iter().map(|action| action.name()))
                    );
                    faults.push(Fault { line, what });
                    continue;
                };
                match sequences_of(value) {
                    Ok(sequences) => {
                        self.bind(place, action, sequences);
                        count += 1;
                    }
                    Err(what) => faults.push(Fault { line, what }),
                }
            }
        }
        count
    }

    fn bind(&mut self, place: Place, action: Action, sequences: Vec<Vec<Key>>) {
        let list = self.bindings.entry(place).or_default();
        list.retain(|(keys, known)| *known != action && (keys.is_empty() || !sequences.contains(keys)));
        if sequences.is_empty() {
            list.push((Vec::new(), action));
        }
        list.extend(sequences.into_iter().map(|keys| (keys, action)));
    }

    /// A key that is also the beginning of a longer sequence makes the longer one unreachable.
    fn report_shadows(&self, user: &str, faults: &mut Vec<Fault>) {
        for (place, list) in &self.bindings {
            for (long, action) in list {
                let shadow = list
                    .iter()
                    .find(|(short, _)| !short.is_empty() && short.len() < long.len() && long.starts_with(short));
                if let Some((short, by)) = shadow {
                    let line = [by, action].map(|action| find_line(user, place.name(), Some(action.name())));
                    faults.push(Fault {
                        line: line.into_iter().find(|line| *line > 0).unwrap_or(0),
                        what: format!(
                            "“{}” ({}) can never be reached: “{}” ({}) comes first",
                            sequence_name(long),
                            action.name(),
                            sequence_name(short),
                            by.name()
                        ),
                    });
                }
            }
        }
    }
}

fn sequences_of(value: &toml::Value) -> Result<Vec<Vec<Key>>, String> {
    let one = |value: &toml::Value| {
        let text = value.as_str().ok_or("keys are texts, like \"j\" or \"ctrl-d\"".to_owned())?;
        Key::parse_sequence(text).ok_or(format!("“{text}” is no key"))
    };
    match value {
        toml::Value::Array(items) => items.iter().map(one).collect(),
        single => one(single).map(|keys| vec![keys]),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The line of `name` in `[section]`, or of the section itself. 0 when it is not there.
fn find_line(text: &str, section: &str, name: Option<&str>) -> usize {
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line.trim_matches(|c| c == '[' || c == ']' || c == ' ') == section;
            if inside && name.is_none() {
                return at + 1;
            }
        } else if inside
            && let Some(name) = name
            && line.split('=').next().is_some_and(|key| key.trim().trim_matches('"') == name)
        {
            return at + 1;
        }
    }
    0
}

/// `, did you mean “x”?` for the nearest of `known`, or nothing when none is near.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = known.into_iter().map(|name| (distance(word, name), name)).min();
    match near {
        Some((apart, name)) if apart * 3 <= word.chars().count().max(3) => format!(", did you mean “{name}”?"),
        _ => String::new(),
    }
}

/// Edit distance (insert, delete, replace).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replace = before + usize::from(ca != *cb);
            before = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        Key::parse_sequence(text).unwrap()
    }

    #[test]
    fn views_override_and_fall_back_to_global() {
        let map = Keymap::shipped();
        assert_eq!(map.lookup(Place::Feed, &keys("j")), Lookup::Action(Action::Down));
        assert_eq!(map.lookup(Place::Feed, &keys("h")), Lookup::Action(Action::Back));
        assert_eq!(map.lookup(Place::Timeline, &keys("h")), Lookup::Action(Action::Left));
        assert_eq!(map.lookup(Place::Feed, &keys("g")), Lookup::Prefix);
        assert_eq!(map.lookup(Place::Feed, &keys("g p")), Lookup::Action(Action::GotoProject));
        assert_eq!(map.lookup(Place::Context, &keys("f")), Lookup::Action(Action::FilterReason));
        assert_eq!(map.lookup(Place::Observer, &keys("y")), Lookup::Action(Action::Report));
        assert_eq!(map.lookup(Place::Input, &keys("j")), Lookup::Nothing, "printable keys are text in an input");
    }

    #[test]
    fn no_shipped_key_is_one_that_terminals_take_for_themselves() {
        let map = Keymap::shipped();
        for list in map.bindings.values() {
            for key in list.iter().flat_map(|(keys, _)| keys) {
                assert!(!key.alt);
                if key.ctrl {
                    assert!(!matches!(
                        key.code,
                        crate::tui::key::Code::Char('a' | 'b' | 'm' | 'i' | 'h' | 'j' | 's' | 'q')
                    ));
                }
            }
        }
    }

    #[test]
    fn a_users_faults_have_lines_and_the_rest_applies() {
        let user = "# mine\n[feed]\ntrsh = [\"X\"]\nmark = [\"m\"]\n[fed]\n[global]\nquit = 3\nfollow = [\"g\"]\n";
        let (map, faults) = Keymap::with_user(user);
        assert_eq!(map.lookup(Place::Feed, &keys("m")), Lookup::Action(Action::Mark));
        let said: Vec<String> = faults.iter().map(|fault| format!("{}: {}", fault.line, fault.what)).collect();
        assert!(said.contains(&"3: unknown action “trsh”, did you mean “trash”?".to_owned()), "{said:?}");
        assert!(said.contains(&"5: unknown section [fed], did you mean “feed”?".to_owned()), "{said:?}");
        assert!(said.iter().any(|fault| fault.starts_with("7: keys are texts")), "{said:?}");
        assert!(said.iter().any(|fault| fault.starts_with("8: “gg” (newest) can never be reached")), "{said:?}");
    }

    #[test]
    fn every_action_can_be_reached() {
        let map = Keymap::shipped();
        for action in Action::ALL {
            let bound = Place::ALL.iter().any(|place| !map.sequences(*place, *action).is_empty());
            // The rest is in the palette, where every action is by name.
            let by_name = ["undo-last", "copy-mode", "messages", "theme", "guard", "demo"];
            assert!(bound || by_name.contains(&action.name()), "{} has no key", action.name());
        }
    }
}
