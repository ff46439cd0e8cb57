//! The types of the active mode as the screen shows them: one letter for legend, retype, query and the letters set.

use crate::mode::Mode;
use crate::recall::query::{TypeWord, Vocabulary};
use crate::tui::theme::{GlyphSet, nerd_icon};

/// One type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeLook {
    /// Stored word.
    pub id: String,
    /// For people.
    pub label: String,
    /// Its sign.
    pub glyph: String,
    /// Its letter.
    pub letter: char,
}

/// All types, in the order of the legend, and what a query may name.
#[derive(Clone, Debug, Default)]
pub struct Alphabet {
    /// The mode's name.
    pub mode: String,
    /// Types.
    pub types: Vec<TypeLook>,
    /// Concepts.
    pub concepts: Vec<String>,
}

/// The sign of a wild type.
const WILD: &str = "?";

impl Alphabet {
    /// The alphabet of a mode.
    pub fn new(mode: &Mode) -> Self {
        let types = mode.types.iter().map(|def| TypeLook {
            id: def.id.clone(),
            label: def.label.clone(),
            glyph: crate::memory::safe_line(&def.glyph),
            letter: def.letter,
        });
        let concepts = mode.concepts.iter().map(|def| def.id.clone()).collect();
        Self { mode: mode.id.clone(), types: types.collect(), concepts }
    }

    /// A type by its word; `None`: wild.
    pub fn get(&self, id: &str) -> Option<&TypeLook> {
        self.types.iter().find(|look| look.id == id)
    }

    /// A type by its letter.
    pub fn by_letter(&self, letter: char) -> Option<&TypeLook> {
        self.types.iter().find(|look| look.letter == letter)
    }

    /// What stands for a type in its two-cell slot.
    pub fn sign(&self, id: &str, set: GlyphSet) -> String {
        match self.get(id) {
            None => WILD.to_owned(),
            Some(look) if set.types_are_letters() => look.letter.to_string(),
            Some(look) if set == GlyphSet::Nerd => nerd_icon(id).map_or_else(|| look.glyph.clone(), str::to_owned),
            Some(look) => look.glyph.clone(),
        }
    }

    /// What a query may name, with the projects there are.
    pub fn vocabulary(&self, projects: Vec<String>) -> Vocabulary {
        let types = self.types.iter().map(|look| TypeWord {
            id: look.id.clone(),
            letter: look.letter,
            label: look.label.clone(),
        });
        Vocabulary { types: types.collect(), concepts: self.concepts.clone(), projects }
    }
}
