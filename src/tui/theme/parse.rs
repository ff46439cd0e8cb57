//! Reading a theme file, its parents first.

use std::collections::HashMap;

use ratatui::style::Modifier;

use super::{Appearance, GlyphSet, Layered, Look, Paint, Role, SHIPPED};
use crate::tui::keymap::closest;

/// Something in a theme that does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The theme it is in.
    pub theme: String,
    /// Line, from 1; 0 when it is about the file.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// A theme with its parents' values laid under it.
#[derive(Clone, Debug)]
pub struct ThemeFile {
    /// Its name.
    pub name: String,
    /// What it is made for.
    pub appearance: Appearance,
    /// Signs it asks for.
    pub glyphs: Option<GlyphSet>,
    /// Types by id.
    pub types: HashMap<String, Look>,
    roles: HashMap<&'static str, Look>,
}

impl ThemeFile {
    fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            appearance: Appearance::Any,
            glyphs: None,
            types: HashMap::new(),
            roles: HashMap::new(),
        }
    }

    /// The look of a role: its own, else that of a near meaning.
    pub fn look(&self, role: Role) -> Look {
        let near = match role {
            Role::Strong | Role::Input | Role::Chart | Role::Fresh => Some(Role::Text),
            Role::Heading | Role::BorderFocus | Role::Unseen => Some(Role::Accent),
            Role::Out | Role::Excluded | Role::Border => Some(Role::Muted),
            Role::In => Some(Role::Ok),
            Role::Pinned => Some(Role::Accent),
            Role::Mark => Some(Role::Warn),
            Role::Fault => Some(Role::Error),
            _ => None,
        };
        match self.roles.get(role.name()) {
            Some(look) => *look,
            None => near.map_or_else(Look::default, |near| self.look(near)),
        }
    }
}

/// The theme `name`, from the user's files (`find` gives their text) or the shipped ones, with its parents.
/// An unknown name gives `terminal` and a fault.
pub fn load(name: &str, find: &dyn Fn(&str) -> Option<String>) -> (ThemeFile, Vec<Fault>) {
    let mut faults = Vec::new();
    let mut chain = Vec::new();
    let mut next = Some(name.to_owned());
    while let Some(name) = next.take() {
        if chain.iter().any(|(seen, _)| *seen == name) {
            faults.push(Fault { theme: name, line: 0, what: "inherits from itself".into() });
            break;
        }
        let shipped = || SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
        let Some(text) = find(&name).or_else(shipped) else {
            let known = closest(&name, SHIPPED.map(|(name, _)| name));
            faults.push(Fault { theme: name.clone(), line: 0, what: format!("there is no theme “{name}”{known}") });
            if name != "terminal" && chain.is_empty() {
                next = Some("terminal".into());
            }
            continue;
        };
        let table = text.parse::<toml::Table>().unwrap_or_else(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            faults.push(Fault { theme: name.clone(), line, what: format!("not valid TOML: {}", error.message()) });
            toml::Table::new()
        });
        next = table.get("inherits").and_then(|value| value.as_str()).map(str::to_owned);
        if next.is_none() && name != "terminal" && table.is_empty() {
            next = Some("terminal".into());
        }
        chain.push((name, (text, table)));
    }
    let mut file = ThemeFile::empty(chain.first().map_or("terminal", |(name, _)| name));
    for (name, (text, table)) in chain.iter().rev() {
        lay_over(&mut file, name, text, table, &mut faults);
    }
    (file, faults)
}

fn lay_over(file: &mut ThemeFile, theme: &str, text: &str, table: &toml::Table, faults: &mut Vec<Fault>) {
    let mut fault = |key: &str, what: String| {
        let line = text
            .lines()
            .position(|line| {
                line.split('=').next().is_some_and(|found| found.trim().trim_matches(['[', ']', '"']) == key)
            })
            .map_or(0, |at| at + 1);
        faults.push(Fault { theme: theme.to_owned(), line, what });
    };
    for (key, value) in table {
        match (key.as_str(), value) {
            ("name" | "inherits", toml::Value::String(_)) => {}
            ("appearance", toml::Value::String(word)) => match word.as_str() {
                "dark" => file.appearance = Appearance::Dark,
                "light" => file.appearance = Appearance::Light,
                "any" => file.appearance = Appearance::Any,
                _ => fault(key, format!("appearance is dark, light or any, not “{word}”")),
            },
            ("colors", toml::Value::Table(colors)) => {
                for (name, value) in colors {
                    let Some(role) = Role::ALL.iter().find(|role| role.name() == name) else {
                        let near = closest(name, Role::ALL.iter().map(|role| role.name()));
                        fault(name, format!("unknown colour “{name}”{near}"));
                        continue;
                    };
                    match look_of(value) {
                        Ok(look) => drop(file.roles.insert(role.name(), look)),
                        Err(what) => fault(name, what),
                    }
                }
            }
            ("types", toml::Value::Table(types)) => {
                for (id, value) in types {
                    match look_of(value) {
                        Ok(look) => drop(file.types.insert(id.clone(), look)),
                        Err(what) => fault(id, what),
                    }
                }
            }
            ("glyphs", toml::Value::Table(glyphs)) => {
                for (name, value) in glyphs {
                    match (name.as_str(), value.as_str().and_then(GlyphSet::by_name)) {
                        ("set", Some(set)) => file.glyphs = Some(set),
                        ("set", None) => fault(name, "glyph sets are unicode, ascii, letters, nerd".into()),
                        ("ambiguous", _) => {} // a matter of the terminal; read from the settings
                        _ => fault(name, format!("unknown key “{name}” in [glyphs]")),
                    }
                }
            }
            _ => {
                let known = ["name", "inherits", "appearance", "colors", "types", "glyphs"];
                fault(key, format!("unknown key “{key}”{}", closest(key, known)));
            }
        }
    }
}

fn look_of(value: &toml::Value) -> Result<Look, String> {
    match value {
        toml::Value::Table(table) if table.keys().any(|key| LAYERS.contains(&key.as_str())) => {
            Ok(Look { fg: Some(layered_of(value)?), ..Look::default() })
        }
        toml::Value::Table(table) => {
            let mut look = Look::default();
            for (key, value) in table {
                match key.as_str() {
                    "fg" => look.fg = Some(layered_of(value)?),
                    "bg" => look.bg = Some(layered_of(value)?),
                    _ => {
                        let modifier = match key.as_str() {
                            "bold" => Modifier::BOLD,
                            "dim" => Modifier::DIM,
                            "italic" => Modifier::ITALIC,
                            "underline" => Modifier::UNDERLINED,
                            "reverse" => Modifier::REVERSED,
                            _ => return Err(format!("unknown key “{key}” in a colour")),
                        };
                        look.modifier.set(modifier, value.as_bool().ok_or(format!("{key} is true or false"))?);
                    }
                }
            }
            Ok(look)
        }
        single => Ok(Look { fg: Some(layered_of(single)?), ..Look::default() }),
    }
}

const LAYERS: [&str; 3] = ["true", "ansi256", "ansi16"];

fn layered_of(value: &toml::Value) -> Result<Layered, String> {
    let toml::Value::Table(table) = value else { return Ok(paint_of(value)?.into()) };
    let layer = |name: &str| table.get(name).map(paint_of).transpose();
    let (best, ansi256, ansi16) = (layer("true")?, layer("ansi256")?, layer("ansi16")?);
    let best = best.or(ansi256).or(ansi16).ok_or("a layered colour needs one of true, ansi256, ansi16")?;
    Ok(Layered { best, ansi256, ansi16 })
}

fn paint_of(value: &toml::Value) -> Result<Paint, String> {
    let found = match value {
        toml::Value::String(text) => Paint::parse(text),
        toml::Value::Integer(number) => u8::try_from(*number).ok().map(Paint::number),
        _ => None,
    };
    found.ok_or_else(|| format!("{value} is no colour: \"#rrggbb\", 0-255, a palette name or \"default\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_theme_inherits_and_its_faults_have_lines() {
        let user = "name = \"pine\"\ninherits = \"terminal\"\n[colors]\nmutedd = \"red\"\naccent = \"mauve\"\n\
                    ok = { true = \"#9ccfd8\", ansi16 = \"cyan\" }\ncursor = { reverse = true }\n[glyphs]\nset = \"ascii\"\n";
        let (file, faults) = load("pine", &|name| (name == "pine").then(|| user.to_owned()));
        assert_eq!(file.glyphs, Some(GlyphSet::Ascii));
        assert_eq!(file.look(Role::Ok).fg.map(|fg| fg.best), Some(Paint::Rgb(0x9c, 0xcf, 0xd8)));
        assert_eq!(file.look(Role::Warn).fg.map(|fg| fg.best), Some(Paint::Palette(3)), "from the parent");
        let lines: Vec<usize> = faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [5, 4]);
        assert!(faults[1].what.contains("did you mean “muted”"));
    }

    #[test]
    fn an_unknown_theme_is_the_default_with_a_word_about_it() {
        let (file, faults) = load("tokionight", &|_| None);
        assert_eq!(file.name, "terminal");
        assert!(faults[0].what.contains("did you mean “tokyonight”?"));
        let (_, faults) = load("a", &|name| Some(format!("inherits = \"{}\"", if name == "a" { "b" } else { "a" })));
        assert!(faults.iter().any(|fault| fault.what == "inherits from itself"));
    }
}
