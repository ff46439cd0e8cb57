//! What is worth remembering: modes. A mode names the types and concepts of its field and says in words what to
//! write down and what to leave out.
//!
//! This floor owns the values ([`Mode`], [`TypeDef`], [`ConceptDef`], [`Prompts`]), reading a mode file's text with
//! its parent ([`load`], in `parse`), the checks ([`check`]), the guidance text made from a mode's own lists
//! (`guidance`) and the named languages (`language`). claude-mem's mode files are read as they are.
//!
//! Absent from it: file reading. Texts are handed in; whoever calls decides which folders are looked through. The
//! shipped modes are compiled in ([`embedded`]).

use std::collections::BTreeSet;

mod check;
mod guidance;
mod language;
mod parse;

pub use check::check;
pub use guidance::{concept_guidance, type_guidance};
pub use language::{LANGUAGES, language_name};
pub use parse::{Loaded, ModeError, load, parse, valid_id};

/// The shipped modes, in the order they are listed: id and file text.
pub const EMBEDDED: [(&str, &str); 6] = [
    ("code", include_str!("../../modes/code.json")),
    ("code--chill", include_str!("../../modes/code--chill.json")),
    ("research", include_str!("../../modes/research.json")),
    ("writing", include_str!("../../modes/writing.json")),
    ("law-study", include_str!("../../modes/law-study.json")),
    ("email-investigation", include_str!("../../modes/email-investigation.json")),
];

/// A field of work: what is worth remembering in it, and in which words.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Mode {
    /// File stem: `code`, `code--chill`.
    pub id: String,
    /// For people.
    pub name: String,
    /// One line for lists.
    pub description: String,
    /// Types in the order they are shown. Never empty.
    pub types: Vec<TypeDef>,
    /// Type id that stands for a missing or unknown type. Always one of `types`.
    pub neutral: String,
    /// Concepts in the order they are shown.
    pub concepts: Vec<ConceptDef>,
    /// The wording.
    pub prompts: Prompts,
    /// Language the mode asks for; empty: the settings decide.
    pub language: String,
}

/// A type of observation.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TypeDef {
    /// Stored word. Never translated.
    pub id: String,
    /// For people.
    pub label: String,
    /// One sign for lists.
    pub glyph: String,
    /// One letter for keys and the letters glyph set; unique in the mode, never `?`.
    pub letter: char,
    /// What it stands for; goes into the instructions.
    pub description: String,
}

/// A concept: a keyword under which observations are found again.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConceptDef {
    /// Stored word.
    pub id: String,
    /// For people.
    pub label: String,
    /// What it stands for; goes into the instructions.
    pub description: String,
}

/// The wording of a mode, as lines. The instructions are put together from these and the mode's lists in
/// `observer::prompt`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Prompts {
    /// Who the observer is.
    pub role: Vec<String>,
    /// What to write down.
    pub record: Vec<String>,
    /// What to leave out.
    pub skip: Vec<String>,
    /// Examples and counter-examples.
    pub examples: Vec<String>,
    /// How the parts of an observation are written.
    pub fields: Vec<String>,
    /// How the parts of a summary are written.
    pub summary: Vec<String>,
}

impl Mode {
    /// The stored type id for a word a model gave, and the word itself when it is none of the mode's (A017).
    ///
    /// Case, spaces, hyphens and underscores are forgiven, and a type's label counts as its id. A missing word is the
    /// neutral type with nothing to keep: missing is not `bugfix`.
    pub fn type_id(&self, word: &str) -> (String, Option<String>) {
        let word = word.trim();
        if word.is_empty() {
            return (self.neutral.clone(), None);
        }
        let folded = fold(word);
        match self.types.iter().find(|it| fold(&it.id) == folded || fold(&it.label) == folded) {
            Some(found) => (found.id.clone(), None),
            None => (self.neutral.clone(), Some(word.to_owned())),
        }
    }

    /// The definition of a type id, if it is one of this mode's.
    pub fn type_def(&self, id: &str) -> Option<&TypeDef> {
        self.types.iter().find(|it| it.id == id)
    }

    /// The keyword a concept comes down to: what stands before the first colon, as the mode spells it (A018). Unknown
    /// words stay as they are; nothing before the colon is no concept.
    pub fn concept(&self, word: &str) -> Option<String> {
        let keyword = word.split(':').next().unwrap_or_default().trim();
        if keyword.is_empty() {
            return None;
        }
        let folded = fold(keyword);
        let known = self.concepts.iter().find(|it| fold(&it.id) == folded || fold(&it.label) == folded);
        Some(known.map_or_else(|| keyword.to_owned(), |it| it.id.clone()))
    }

    /// The concepts of one observation: each by [`Mode::concept`], once, without the word that is its type.
    pub fn concepts_of(&self, words: &[String], type_id: &str) -> Vec<String> {
        let mut seen = BTreeSet::new();
        words
            .iter()
            .filter_map(|word| self.concept(word))
            .filter(|it| it != type_id && seen.insert(it.clone()))
            .collect()
    }
}

/// The shipped mode of that id, with its parent merged in. `None` for ids that are not shipped.
pub fn embedded(id: &str) -> Option<Mode> {
    embedded_text(id)?;
    load(id, &embedded_text).ok().map(|it| it.mode)
}

/// The file text of a shipped mode.
pub fn embedded_text(id: &str) -> Option<String> {
    EMBEDDED.iter().find(|(name, _)| *name == id).map(|(_, text)| (*text).to_owned())
}

/// The mode of software work, which is the default and the fallback when another cannot be read.
pub fn code() -> Mode {
    embedded("code").expect("the shipped mode parses; a test reads every shipped mode")
}

/// A word for comparison: lower case, its separators alike.
fn fold(word: &str) -> String {
    word.trim().chars().map(|ch| if ch == '-' || ch == ' ' { '_' } else { ch }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_mode_loads_without_a_warning() {
        for (id, _) in EMBEDDED {
            let loaded = load(id, &embedded_text).unwrap_or_else(|err| panic!("{id}: {err}"));
            assert_eq!(loaded.warnings, Vec::<String>::new(), "{id}");
            assert!(!loaded.mode.description.is_empty() && !loaded.mode.prompts.role.is_empty(), "{id}");
        }
    }

    #[test]
    fn every_file_in_the_folder_is_shipped() {
        let listed: BTreeSet<String> = EMBEDDED.iter().map(|(id, _)| format!("{id}.json")).collect();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/modes");
        #[allow(clippy::disallowed_methods, reason = "a test compares the folder with the list")]
        let found: BTreeSet<String> = std::fs::read_dir(folder)
            .expect("modes folder")
            .map(|it| it.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(listed, found);
    }

    #[test]
    fn code_has_the_alphabet_of_the_screen() {
        let alphabet: Vec<(String, char, String)> =
            code().types.into_iter().map(|it| (it.id, it.letter, it.glyph)).collect();
        let expected = [
            ("bugfix", 'b', "●"),
            ("feature", 'f', "◆"),
            ("refactor", 'r', "↻"),
            ("change", 'c', "✓"),
            ("discovery", 'o', "○"),
            ("decision", 'd', "⚖"),
            ("security_alert", 'a', "⚠"),
            ("security_note", 'n', "⚷"),
            ("sensitive", 's', "⊘"),
        ]
        .map(|(id, letter, glyph)| (id.to_owned(), letter, glyph.to_owned()));
        assert_eq!(alphabet, expected);
        assert_eq!(code().concepts.len(), 7);
    }

    #[test]
    fn a017_unknown_type_is_neutral_with_the_word_kept_and_missing_is_not_bugfix() {
        let mode = code();
        assert_eq!(mode.type_id("root-cause-analysis"), ("discovery".into(), Some("root-cause-analysis".into())));
        assert_eq!(mode.type_id("  "), ("discovery".into(), None));
        assert_eq!(mode.type_id("[ bugfix | feature ]").0, "discovery");
    }

    #[test]
    fn a_type_is_known_by_any_spelling_of_it() {
        let mode = code();
        for word in ["Bugfix", " BUGFIX ", "bug fix", "Bug-Fix"] {
            assert_eq!(mode.type_id(word), ("bugfix".into(), None), "{word}");
        }
        assert_eq!(mode.type_id("Security-Alert"), ("security_alert".into(), None));
    }

    #[test]
    fn a018_concept_with_an_explanation_comes_down_to_its_keyword() {
        let mode = code();
        assert_eq!(mode.concept("gotcha: wasm urls differ"), Some("gotcha".into()));
        assert_eq!(mode.concept("Trade-Off"), Some("trade-off".into()));
        assert_eq!(mode.concept(": y"), None);
        assert_eq!(mode.concept("caching"), Some("caching".into()));
        let words = ["gotcha: x", ": y", " change ", "change: again", "pattern", "Pattern"].map(String::from);
        assert_eq!(mode.concepts_of(&words, "change"), ["gotcha", "pattern"]);
    }

    #[test]
    fn a_relaxed_mode_keeps_the_lists_of_its_parent() {
        let chill = embedded("code--chill").expect("shipped");
        assert_eq!(chill.types, code().types);
        assert_ne!(chill.prompts.skip, code().prompts.skip);
        assert_eq!(chill.prompts.role, code().prompts.role);
    }
}
