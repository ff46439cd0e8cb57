//! Settings merged from texts: built-in defaults < file < environment < flags.
//!
//! Pure. A wrong value never stops anything: it is reported with its place, its key, what was given and what is
//! accepted, and everything else applies (A126). So the result is `(Settings, Vec<Warning>)`, never an error.

use std::fmt;

use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use super::Settings;
use super::keys::{Accepts, KEYS, Key, key};
use super::system::Env;

/// Something in the settings that does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where it stands: `config.toml:12`, an environment variable, a flag.
    pub place: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No setting has this name. The value is not kept: it may be a key.
    Unknown {
        /// The name as given.
        key: String,
        /// A name that was probably meant.
        meant: Option<String>,
    },
    /// The value is none of the accepted ones.
    Value {
        /// The setting.
        key: &'static str,
        /// The value as given.
        value: String,
        /// The accepted values in words.
        accepted: String,
        /// A value that was probably meant.
        meant: Option<String>,
        /// The value that applies instead.
        used: String,
    },
    /// The file could not be read in full.
    File(String),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        let meant = match &self.problem {
            Problem::Unknown { key, meant } => {
                write!(f, "no setting is called {key}")?;
                meant
            }
            Problem::Value { key, value, accepted, meant, used } => {
                write!(f, "{key} = {value} is not accepted ({accepted}); {used} is used")?;
                meant
            }
            Problem::File(text) => return f.write_str(text),
        };
        match meant {
            Some(meant) => write!(f, "; did you mean {meant}?"),
            None => Ok(()),
        }
    }
}

/// The settings file as read: its name for messages, and its text.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// As shown to a person.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// Merges the layers; later ones win.
pub fn merge(file: Option<File<'_>>, env: &Env, flags: &[(String, String)]) -> (Settings, Vec<Warning>) {
    let mut merge = Merge { values: json!(Settings::default()), warnings: Vec::new() };
    if let Some(file) = file {
        merge.file(file);
    }
    merge.env(env);
    for (name, value) in flags {
        merge.named(format!("--set {name}"), name, value);
    }
    let settings = serde_json::from_value(merge.values).unwrap_or_else(|error| {
        // Every value was checked on its way in, so this is a fault of the table, not of the user.
        debug_assert!(false, "checked settings did not deserialise: {error}");
        Settings::default()
    });
    (settings, merge.warnings)
}

struct Merge {
    values: Value,
    warnings: Vec<Warning>,
}

impl Merge {
    fn file(&mut self, file: File<'_>) {
        let place = |at: usize| format!("{}:{}", file.name, 1 + file.text[..at].matches('\n').count());
        let (table, errors) = DeTable::parse_recoverable(file.text);
        // One broken line can make several complaints; the first one per place says enough.
        for error in errors {
            let place = place(error.span().map_or(0, |span| span.start.min(file.text.len())));
            if self.warnings.last().is_none_or(|last| last.place != place) {
                self.warn(place, Problem::File(error.message().lines().collect::<Vec<_>>().join(" ")));
            }
        }
        for (section, entries) in table.get_ref() {
            let Some(entries) = entries.get_ref().as_table() else {
                self.unknown(place(section.span().start), section.get_ref());
                continue;
            };
            if !KEYS.iter().any(|key| key.parts().0 == section.get_ref()) {
                self.unknown(place(section.span().start), section.get_ref());
                continue;
            }
            for (name, value) in entries {
                let full = format!("{}.{}", section.get_ref(), name.get_ref());
                let place = place(name.span().start);
                let Some(key) = key(&full) else {
                    self.unknown(place, &full);
                    continue;
                };
                let given = file.text.get(value.span()).unwrap_or_default();
                self.set(place, key, from_toml(key.accepts, value.get_ref()), given);
            }
        }
    }

    fn env(&mut self, env: &Env) {
        for (variable, value) in env.iter().filter(|(variable, _)| variable.starts_with("CMEM_")) {
            match KEYS.iter().find(|key| key.variable() == variable) {
                Some(key) => self.set(variable.to_owned(), key, from_text(key.accepts, value), value),
                None => self.unknown_variable(variable),
            }
        }
    }

    fn named(&mut self, place: String, name: &str, value: &str) {
        match key(name) {
            Some(key) => self.set(place, key, from_text(key.accepts, value), value),
            None => self.unknown(place, name),
        }
    }

    fn set(&mut self, place: String, key: &'static Key, value: Option<Value>, given: &str) {
        let (section, name) = key.parts();
        match value {
            Some(value) => self.values[section][name] = value,
            None => {
                let used = self.values[section][name].to_string();
                let meant = match key.accepts {
                    Accepts::OneOf(words) | Accepts::OneOfOrUrl(words) => nearest(given, words.iter().copied()),
                    _ => None,
                };
                let (value, accepted) = (clip(given), key.accepts.in_words());
                self.warn(place, Problem::Value { key: key.name, value, accepted, meant, used });
            }
        }
    }

    fn unknown(&mut self, place: String, name: &str) {
        let last = name.rsplit('.').next().unwrap_or(name);
        // The right key in the wrong section, else the nearest spelling.
        let meant = KEYS
            .iter()
            .map(|key| key.name)
            .find(|full| full.ends_with(last) && full[..full.len() - last.len()].ends_with('.'))
            .map(str::to_owned)
            .or_else(|| nearest(name, KEYS.iter().map(|key| key.name)))
            .or_else(|| nearest(name, KEYS.iter().map(|key| key.parts().0)));
        self.warn(place, Problem::Unknown { key: name.to_owned(), meant });
    }

    /// A variable of ours that is no setting: reported when it looks like one that was misspelt. Others may have
    /// reasons of their own (`CMEM_HOME`, `CMEM_NOW`, a test's).
    fn unknown_variable(&mut self, variable: &str) {
        let rest = variable["CMEM_".len()..].to_lowercase();
        let names: Vec<String> = KEYS.iter().map(Key::variable).collect();
        let meant = nearest(variable, names.iter().map(String::as_str));
        let in_section = KEYS.iter().any(|key| rest.starts_with(&format!("{}_", key.parts().0)));
        if meant.is_some() || in_section {
            self.warn(variable.to_owned(), Problem::Unknown { key: variable.to_owned(), meant });
        }
    }

    fn warn(&mut self, place: String, problem: Problem) {
        self.warnings.push(Warning { place, problem });
    }
}

fn from_toml(accepts: Accepts, value: &DeValue<'_>) -> Option<Value> {
    match (accepts, value) {
        (Accepts::Text | Accepts::OneOf(_) | Accepts::OneOfOrUrl(_) | Accepts::Texts, DeValue::String(text)) => {
            from_text(accepts, text)
        }
        (Accepts::Bool, DeValue::Boolean(value)) => Some(json!(value)),
        (Accepts::Whole(..), DeValue::Integer(whole)) => {
            in_range(accepts, json!(u64::from_str_radix(whole.as_str(), whole.radix()).ok()?))
        }
        (Accepts::Number(..), DeValue::Integer(whole)) => {
            in_range(accepts, json!(i64::from_str_radix(whole.as_str(), whole.radix()).ok()? as f64))
        }
        (Accepts::Number(..), DeValue::Float(number)) => from_text(accepts, number.as_str()),
        (Accepts::Texts, DeValue::Array(items)) => {
            items.iter().map(|item| item.get_ref().as_str().map(|text| json!(text))).collect()
        }
        _ => None,
    }
}

fn from_text(accepts: Accepts, text: &str) -> Option<Value> {
    let word = text.trim();
    match accepts {
        Accepts::Text => Some(json!(text)),
        Accepts::OneOf(words) => words.contains(&word).then(|| json!(word)),
        Accepts::OneOfOrUrl(words) => {
            let url = word.starts_with("http://") || word.starts_with("https://");
            (url || words.contains(&word)).then(|| json!(word))
        }
        Accepts::Bool => match word.to_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(json!(true)),
            "false" | "0" | "no" | "off" => Some(json!(false)),
            _ => None,
        },
        Accepts::Whole(..) => in_range(accepts, json!(word.replace('_', "").parse::<u64>().ok()?)),
        Accepts::Number(..) => in_range(accepts, json!(word.replace('_', "").parse::<f64>().ok()?)),
        Accepts::Texts if word.starts_with('[') => {
            serde_json::from_str::<Vec<String>>(word).ok().map(|texts| json!(texts))
        }
        Accepts::Texts => {
            Some(word.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| json!(part)).collect())
        }
    }
}

fn in_range(accepts: Accepts, value: Value) -> Option<Value> {
    let fits = match accepts {
        Accepts::Whole(low, high) => (low..=high).contains(&value.as_u64()?),
        Accepts::Number(low, high) => (low..=high).contains(&value.as_f64()?),
        _ => false,
    };
    fits.then_some(value)
}

fn clip(text: &str) -> String {
    let clipped = crate::memory::clip_chars(text, 80);
    if clipped.len() < text.len() { format!("{clipped}…") } else { clipped.to_owned() }
}

/// The candidate that `given` was probably meant to be: at most a third of it, and three letters, away.
pub fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let given = given.trim().trim_matches(['"', '\'']).to_lowercase();
    candidates
        .map(|candidate| (distance(&given, &candidate.to_lowercase()), candidate))
        .filter(|(far, candidate)| *far <= 3 && far * 3 <= candidate.chars().count().max(3))
        .min_by_key(|(far, _)| *far)
        .map(|(_, candidate)| candidate.to_owned())
}

/// Edits between two words, a swap of neighbours being one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let flags: Vec<_> = flags.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let (settings, warnings) =
            merge(Some(File { name: "config.toml", text }), &env.iter().copied().collect(), &flags);
        (settings, warnings.iter().map(Warning::to_string).collect())
    }

    #[test]
    fn later_layers_win() {
        let text = "[observer]\nslots = 3\nmodel = \"a\"\nlinger = 1\n[record]\nexclude = [\"x\", \"y\"]\n";
        let env = [("CMEM_OBSERVER_MODEL", "b"), ("CMEM_OBSERVER_LINGER", "0.5"), ("CMEM_CONTEXT_PROMPT", "true")];
        let (settings, warnings) = of(text, &env, &[("observer.linger", "0")]);
        assert_eq!(warnings, [""; 0]);
        assert_eq!((settings.observer.slots, settings.observer.model.as_str()), (3, "b"));
        assert_eq!(settings.observer.linger, 0.0);
        assert!(settings.context.prompt);
        assert_eq!(settings.record.exclude, ["x", "y"]);
    }

    #[test]
    fn lists_in_the_environment_are_separated_by_commas() {
        let (settings, _) = of("", &[("CMEM_RECORD_EXCLUDE", "~/secret/**, work ,")], &[]);
        assert_eq!(settings.record.exclude, ["~/secret/**", "work"]);
        let (settings, _) = of("", &[("CMEM_RECORD_SKIP_TOOLS", "")], &[]);
        assert!(settings.record.skip_tools.is_empty());
    }

    #[test]
    fn a126_a_wrong_value_is_named_and_the_rest_applies() {
        let text = "[observer]\nslots = 99\nprovider = \"ofline\"\nlinger = 4\n\n[trash]\ndays = -1\n";
        let (settings, warnings) = of(text, &[("CMEM_RECORD_MODE", "optin")], &[]);
        assert_eq!(
            warnings,
            [
                "config.toml:3: observer.provider = \"ofline\" is not accepted (auto, claude, anthropic, openai, offline, \
                 scripted); \"auto\" is used; did you mean offline?",
                "config.toml:2: observer.slots = 99 is not accepted (a whole number from 1 to 10); 2 is used",
                "config.toml:7: trash.days = -1 is not accepted (a whole number from 0 to 36500); 30 is used",
                "CMEM_RECORD_MODE: record.mode = optin is not accepted (all, opt-in); \"all\" is used; did you mean \
                 opt-in?",
            ]
        );
        assert_eq!(settings.observer.linger, 4.0);
        assert_eq!(settings.observer.slots, 2);
    }

    #[test]
    fn a126_an_unknown_key_is_a_warning_with_a_suggestion() {
        let text = "view = \"feed\"\n[context]\ntpyes = [\"decision\"]\ndaily_tokens = 5\n[obsrver]\nslots = 1\n";
        let (_, mut warnings) =
            of(text, &[("CMEM_OBSERVR_SLOTS", "1"), ("CMEM_TRASH_DAYZ", "1"), ("CMEM_NOW", "x")], &[]);
        warnings.sort();
        assert_eq!(
            warnings,
            [
                "CMEM_OBSERVR_SLOTS: no setting is called CMEM_OBSERVR_SLOTS; did you mean CMEM_OBSERVER_SLOTS?",
                "CMEM_TRASH_DAYZ: no setting is called CMEM_TRASH_DAYZ; did you mean CMEM_TRASH_DAYS?",
                "config.toml:1: no setting is called view; did you mean tui.view?",
                "config.toml:3: no setting is called context.tpyes; did you mean context.types?",
                "config.toml:4: no setting is called context.daily_tokens; did you mean budget.daily_tokens?",
                "config.toml:5: no setting is called obsrver; did you mean observer?",
            ]
        );
    }

    #[test]
    fn a_broken_line_costs_that_line() {
        let (settings, warnings) = of("[observer]\nslots = = 4\nlinger = 7\n[trash]\ndays = 3\n", &[], &[]);
        assert_eq!(settings.trash.days, 3);
        assert!(warnings.iter().any(|warning| warning.starts_with("config.toml:2: ")), "{warnings:?}");
    }

    #[test]
    fn values_of_unknown_keys_are_never_shown() {
        let (_, warnings) = of("[observer]\napi_key = \"sk-ant-secret\"\n", &[], &[]);
        assert!(warnings[0].contains("observer.api_key") && !warnings[0].contains("secret"));
    }

    #[test]
    fn types_must_fit() {
        let text = "[tui]\nguard = \"maybe\"\nfps = 2.5\ntheme = 3\nnotify = [1]\n[meaning]\nmodel = \"http://x\"\n";
        let (settings, warnings) = of(text, &[], &[]);
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert_eq!(settings.meaning.model, "http://x");
    }
}
