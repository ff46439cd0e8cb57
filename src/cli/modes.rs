//! The active mode: the user's own file, else a shipped one, else `code`.
#![allow(clippy::disallowed_methods, reason = "this is the file that reads mode files")]

use std::fs;

use crate::config::{Dirs, Settings};
use crate::mode::{self, Mode};

/// The mode that the settings name, and what was wrong with it. A mode that cannot be read is `code`.
pub fn active(dirs: &Dirs, settings: &Settings) -> (Mode, Vec<String>) {
    let id = settings.observer.mode.as_str();
    let folder = dirs.modes();
    let lookup = |id: &str| {
        let own = mode::valid_id(id).then(|| fs::read_to_string(folder.join(format!("{id}.json"))).ok()).flatten();
        own.or_else(|| mode::embedded_text(id))
    };
    match mode::load(id, &lookup) {
        Ok(loaded) => (loaded.mode, loaded.warnings),
        Err(err) => (mode::code(), vec![format!("mode “{id}” cannot be used ({err}); “code” is")]),
    }
}
