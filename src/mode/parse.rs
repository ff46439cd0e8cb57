//! A mode file's text, with its parent, as a [`Mode`].
//!
//! The file format is claude-mem's (`observation_types`, `observation_concepts`, `prompts`), so that a user's own
//! modes keep working, with shorter names of ours beside it (`types`, `concepts`, `glyph`, `letter`, `neutral`,
//! `language`, and the prompt keys `role`, `record`, `skip`, `examples`, `fields`, `summary`). A prompt is a text or
//! a list of lines.
//!
//! Inheritance: `parent--override` is the parent with the override's objects merged into it; lists are replaced
//! whole. What a list names reaches the instructions through `guidance` and nowhere else, so a replaced list can
//! never contradict the text around it. A suffix that is a language (`code--ja`) and has no file is the parent in
//! that language, as users of claude-mem's language modes expect.
//!
//! Odd content is a warning and a default. Only text that is no JSON object, or a mode without a single usable
//! type, is an error.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::{ConceptDef, Mode, Prompts, TypeDef, check, language};

/// A mode and what was odd about its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The mode.
    pub mode: Mode,
    /// One sentence for each oddity.
    pub warnings: Vec<String>,
}

/// Why there is no mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModeError {
    /// The id is not lower-case words joined by single hyphens, with at most one `--`.
    BadId(String),
    /// No text was found under this id.
    NotFound(String),
    /// The text is no JSON object.
    NotJson {
        /// Mode.
        id: String,
        /// What the parser said.
        message: String,
    },
    /// Not one type is left to file an observation under.
    NoTypes(String),
}

impl fmt::Display for ModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadId(id) => {
                write!(f, "`{id}` is no mode id: lower-case words and digits joined by hyphens, one `--` at most")
            }
            Self::NotFound(id) => write!(f, "there is no mode `{id}`"),
            Self::NotJson { id, message } => write!(f, "mode `{id}` cannot be read: {message}"),
            Self::NoTypes(id) => write!(f, "mode `{id}` names no type of observation"),
        }
    }
}

impl std::error::Error for ModeError {}

/// Whether `id` may name a mode. It becomes a file name, so nothing else is let through.
pub fn valid_id(id: &str) -> bool {
    let parts: Vec<&str> = id.split("--").collect();
    parts.len() <= 2
        && parts.iter().all(|part| {
            part.split('-').all(|word| {
                !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            })
        })
}

/// The mode `id`. `lookup` gives the text of a mode file by id: the user's folders first, then
/// [`super::embedded_text`].
pub fn load(id: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Loaded, ModeError> {
    if !valid_id(id) {
        return Err(ModeError::BadId(id.to_owned()));
    }
    match lookup(id) {
        Some(text) => parse(id, &text, lookup),
        None => match id.split_once("--") {
            Some((parent, suffix)) if language::by_code(suffix).is_some() => {
                let mut loaded = load(parent, lookup)?;
                loaded.mode.id = id.to_owned();
                loaded.mode.language = suffix.to_owned();
                Ok(loaded)
            }
            _ => Err(ModeError::NotFound(id.to_owned())),
        },
    }
}

/// The mode whose file reads `text`. `lookup` is asked for the parent when the id has one.
pub fn parse(id: &str, text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Loaded, ModeError> {
    if !valid_id(id) {
        return Err(ModeError::BadId(id.to_owned()));
    }
    let mut warnings = Vec::new();
    let own = object(id, text)?;
    let merged = match id.split_once("--") {
        None => own,
        Some((parent, _)) => match lookup(parent) {
            Some(parent_text) => {
                let mut base = object(parent, &parent_text)?;
                merge(&mut base, own);
                base
            }
            None => {
                warnings.push(format!("there is no mode `{parent}` to build on; `{id}` stands alone"));
                own
            }
        },
    };
    let mode = build(id, &merged, &mut warnings)?;
    warnings.extend(check(&mode));
    Ok(Loaded { mode, warnings })
}

fn object(id: &str, text: &str) -> Result<Map<String, Value>, ModeError> {
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(ModeError::NotJson { id: id.to_owned(), message: "it is JSON, but no object".into() }),
        Err(err) => Err(ModeError::NotJson { id: id.to_owned(), message: err.to_string() }),
    }
}

/// Objects go into objects; everything else, lists included, replaces what was there.
fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn build(id: &str, map: &Map<String, Value>, warnings: &mut Vec<String>) -> Result<Mode, ModeError> {
    let types = types(list(map, &["observation_types", "types"]), warnings);
    let concepts = concepts(list(map, &["observation_concepts", "concepts"]), warnings);
    let Some(first) = types.first() else { return Err(ModeError::NoTypes(id.to_owned())) };
    let wished = word(map, &["neutral", "neutral_type"]);
    let neutral = if types.iter().any(|it| it.id == wished) {
        wished
    } else {
        if !wished.is_empty() {
            warnings.push(format!("the neutral type `{wished}` is not among the types"));
        }
        // A file that names none (claude-mem's do not): the type that claims least.
        let quiet = ["discovery", "finding", "note", "observation", "evidence", "other"];
        quiet
            .iter()
            .find(|it| types.iter().any(|def| def.id == **it))
            .map_or_else(|| first.id.clone(), |it| (*it).into())
    };
    let empty = Map::new();
    let prompts = map.get("prompts").and_then(Value::as_object).unwrap_or(&empty);
    let name = word(map, &["name"]);
    Ok(Mode {
        id: id.to_owned(),
        name: if name.is_empty() { id.to_owned() } else { name },
        description: word(map, &["description"]),
        types,
        neutral,
        concepts,
        prompts: Prompts {
            role: first_lines(prompts, &[&["role"], &["system_identity", "observer_role"]]),
            record: first_lines(prompts, &[&["record"], &["recording_focus"]]),
            skip: first_lines(prompts, &[&["skip"], &["skip_guidance"]]),
            examples: first_lines(prompts, &[&["examples"]]),
            fields: first_lines(prompts, &[&["fields"], &["field_guidance"]]),
            summary: first_lines(prompts, &[&["summary"], &["summary_instruction"]]),
        },
        language: word(map, &["language"]),
    })
}

fn types(items: &[Value], warnings: &mut Vec<String>) -> Vec<TypeDef> {
    let mut out: Vec<TypeDef> = Vec::new();
    for item in items {
        let Some((id, map)) = definition(item, "type", warnings) else { continue };
        if out.iter().any(|it| it.id == id) {
            warnings.push(format!("the type `{id}` is named twice; the first one counts"));
            continue;
        }
        let label = word(map, &["label", "name"]);
        let glyph = word(map, &["glyph", "emoji"]);
        let letter = word(map, &["letter"]).chars().next().filter(char::is_ascii_alphanumeric);
        out.push(TypeDef {
            label: if label.is_empty() { id.replace(['_', '-'], " ") } else { label },
            glyph: if glyph.is_empty() { "•".into() } else { glyph },
            letter: letter.map_or('\0', |it| it.to_ascii_lowercase()),
            description: word(map, &["description"]),
            id,
        });
    }
    give_letters(&mut out, warnings);
    out
}

/// Letters the file names stand; every other type takes the first free letter of its id, then of the alphabet. The
/// result depends on the order of the file alone, so it is the same at every start.
fn give_letters(types: &mut [TypeDef], warnings: &mut Vec<String>) {
    let mut taken: BTreeSet<char> = BTreeSet::new();
    for def in types.iter_mut().filter(|it| it.letter != '\0') {
        if !taken.insert(def.letter) {
            warnings.push(format!("the letter `{}` of type `{}` is taken; it gets another", def.letter, def.id));
            def.letter = '\0';
        }
    }
    for def in types.iter_mut().filter(|it| it.letter == '\0') {
        let own = def.id.chars().map(|it| it.to_ascii_lowercase()).filter(char::is_ascii_alphanumeric);
        let free = own.chain('a'..='z').chain('0'..='9').find(|it| !taken.contains(it));
        def.letter = free.unwrap_or('*');
        taken.insert(def.letter);
    }
}

fn concepts(items: &[Value], warnings: &mut Vec<String>) -> Vec<ConceptDef> {
    let mut out: Vec<ConceptDef> = Vec::new();
    for item in items {
        let Some((id, map)) = definition(item, "concept", warnings) else { continue };
        if out.iter().any(|it| it.id == id) {
            warnings.push(format!("the concept `{id}` is named twice; the first one counts"));
            continue;
        }
        let label = word(map, &["label", "name"]);
        out.push(ConceptDef {
            label: if label.is_empty() { id.replace(['_', '-'], " ") } else { label },
            description: word(map, &["description"]),
            id,
        });
    }
    out
}

/// An entry of a list: an object with an id, or the bare id.
fn definition<'a>(item: &'a Value, what: &str, warnings: &mut Vec<String>) -> Option<(String, &'a Map<String, Value>)> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    let found = match item {
        Value::String(id) => Some((id.trim().to_owned(), &*NONE)),
        Value::Object(map) => Some((word(map, &["id"]), map)),
        _ => None,
    };
    match found {
        Some((id, map)) if !id.is_empty() => Some((id, map)),
        _ => {
            warnings.push(format!("a {what} without an id is left out"));
            None
        }
    }
}

fn list<'a>(map: &'a Map<String, Value>, names: &[&str]) -> &'a [Value] {
    names.iter().find_map(|name| map.get(*name).and_then(Value::as_array)).map_or(&[], Vec::as_slice)
}

fn word(map: &Map<String, Value>, names: &[&str]) -> String {
    names.iter().find_map(|name| map.get(*name).and_then(Value::as_str)).unwrap_or_default().trim().to_owned()
}

/// The first group of keys that has any text, its texts one after another.
fn first_lines(map: &Map<String, Value>, groups: &[&[&str]]) -> Vec<String> {
    groups
        .iter()
        .map(|keys| keys.iter().flat_map(|key| lines(map.get(*key))).collect::<Vec<_>>())
        .find(|it| !it.is_empty())
        .unwrap_or_default()
}

fn lines(value: Option<&Value>) -> Vec<String> {
    let texts: Vec<&str> = match value {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    texts.into_iter().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::embedded_text;
    use super::*;

    fn none(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn ids_that_could_leave_the_folder_are_refused() {
        for id in ["code", "code--chill", "law-study--pt-br", "a1"] {
            assert!(valid_id(id), "{id}");
        }
        for id in ["", "..", "../code", "Code", "a--b--c", "a---b", "-a", "a-", "a/b", "a b", "c:d"] {
            assert!(!valid_id(id), "{id}");
        }
    }

    #[test]
    fn a_mode_file_of_claude_mem_is_read_as_it_is() {
        let text = r#"{"name":"Mail","description":"d","version":"1.0.0",
            "observation_types":[{"id":"entity","label":"Entity","description":"who","emoji":"👤","work_emoji":"🔍"},
                                 {"id":"evidence","label":"Evidence","description":"what","emoji":"📄"}],
            "observation_concepts":[{"id":"who","label":"Who","description":"people"}],
            "prompts":{"system_identity":"You watch.","observer_role":"You never act.","recording_focus":"Record X.",
                       "skip_guidance":"Skip Y.","field_guidance":"Fields.","type_guidance":"**type**: MUST be one of","footer":"Bye."}}"#;
        let loaded = parse("mail", text, &none).expect("reads");
        assert_eq!(loaded.mode.prompts.role, ["You watch.", "You never act."]);
        assert_eq!(loaded.mode.prompts.record, ["Record X."]);
        assert_eq!(loaded.mode.neutral, "evidence");
        assert_eq!(loaded.mode.types.iter().map(|it| it.letter).collect::<String>(), "ev");
        assert_eq!(loaded.mode.types[0].glyph, "👤");
    }

    #[test]
    fn an_override_replaces_lists_and_merges_objects() {
        let text = r#"{"name":"Mine","observation_types":[{"id":"idea"}],"prompts":{"skip":"nothing"}}"#;
        let loaded = parse("code--mine", text, &embedded_text).expect("reads");
        assert_eq!(loaded.mode.types.len(), 1);
        assert_eq!(loaded.mode.neutral, "idea");
        assert_eq!(loaded.mode.prompts.skip, ["nothing"]);
        assert!(!loaded.mode.prompts.record.is_empty());
        assert!(loaded.warnings.iter().any(|it| it.contains("discovery")), "{:?}", loaded.warnings);
    }

    #[test]
    fn a_language_suffix_without_a_file_is_the_parent_in_that_language() {
        let loaded = load("code--pt-br", &embedded_text).expect("reads");
        assert_eq!((loaded.mode.id.as_str(), loaded.mode.language.as_str()), ("code--pt-br", "pt-br"));
        assert_eq!(load("code--nonsense", &embedded_text), Err(ModeError::NotFound("code--nonsense".into())));
    }

    #[test]
    fn faults_are_warnings_and_only_unusable_text_is_an_error() {
        let text = r#"{"types":["a",{"label":"no id"},{"id":"a"},{"id":"b","letter":"a"},{"id":"c","letter":"a"},7],
                       "concepts":["x","x"],"neutral":"zz"}"#;
        let loaded = parse("m", text, &none).expect("loads");
        assert_eq!(loaded.mode.types.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        let letters: BTreeSet<char> = loaded.mode.types.iter().map(|it| it.letter).collect();
        assert_eq!(letters.len(), 3);
        assert!(loaded.warnings.len() >= 6, "{:?}", loaded.warnings);
        assert!(matches!(parse("m", "[]", &none), Err(ModeError::NotJson { .. })));
        assert!(matches!(parse("m", "{", &none), Err(ModeError::NotJson { .. })));
        assert_eq!(parse("m", "{}", &none), Err(ModeError::NoTypes("m".into())));
    }

    #[test]
    fn a_parent_that_is_missing_is_said() {
        let loaded = parse("gone--x", r#"{"types":["t"]}"#, &none).expect("loads");
        assert!(loaded.warnings[0].contains("gone"));
    }
}
