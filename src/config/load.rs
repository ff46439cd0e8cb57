//! Reads the settings file and merges it with environment and flags.
#![allow(clippy::disallowed_methods, reason = "this is the file that reads the settings file")]

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::merge::{File, Problem, Warning, merge};
use super::{Dirs, Env, Settings};

/// The commented settings file a user copies.
pub const DEFAULT_FILE: &str = include_str!("default.toml");

/// What the command line says about settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// A settings file in place of the usual one.
    pub file: Option<PathBuf>,
    /// Settings by name, stronger than file and environment.
    pub settings: Vec<(String, String)>,
}

/// The settings that apply, and what in them does not.
pub fn load(dirs: &Dirs, env: &Env) -> (Settings, Vec<Warning>) {
    load_with(dirs, env, &Overrides::default())
}

/// [`load`], with what the command line says.
pub fn load_with(dirs: &Dirs, env: &Env, overrides: &Overrides) -> (Settings, Vec<Warning>) {
    let usual = dirs.config_file();
    let path: &Path = overrides.file.as_deref().unwrap_or(&usual);
    let name = path.display().to_string();
    let (text, unreadable) = match fs::read(path) {
        Ok(bytes) => (Some(String::from_utf8_lossy(&bytes).into_owned()), None),
        // Having no settings file is the ordinary case, unless one was named.
        Err(error) if error.kind() == io::ErrorKind::NotFound && overrides.file.is_none() => (None, None),
        Err(error) => (None, Some(error)),
    };
    let file = text.as_deref().map(|text| File { name: &name, text: text.trim_start_matches('\u{feff}') });
    let (settings, mut warnings) = merge(file, env, &overrides.settings);
    if let Some(error) = unreadable {
        let problem = Problem::File(format!("cannot be read ({error}); the defaults apply"));
        warnings.insert(0, Warning { place: name, problem });
    }
    (settings, warnings)
}

/// The text of a mode file in the user's folder. The id becomes a file name, so only such are looked for that can be
/// nothing else (A101).
pub fn mode_text(dirs: &Dirs, id: &str) -> Option<String> {
    let plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    plain.then(|| fs::read_to_string(dirs.modes().join(format!("{id}.json"))).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::KEYS;

    /// `default.toml` with its commented settings switched on.
    fn switched_on() -> String {
        let settings = DEFAULT_FILE.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) => rest,
            _ => line,
        });
        settings.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn default_toml_and_the_settings_say_the_same() {
        let text = switched_on();
        let (settings, warnings) = merge(Some(File { name: "default.toml", text: &text }), &Env::default(), &[]);
        assert_eq!(warnings, []);
        assert_eq!(settings, Settings::default());
        let table: toml::Table = text.parse().unwrap();
        for key in KEYS {
            let (section, name) = key.parts();
            assert!(table[section].get(name).is_some(), "default.toml says nothing of {}", key.name);
        }
        // As shipped, nothing in it is switched on: a copy follows later defaults.
        let as_shipped: toml::Table = DEFAULT_FILE.parse().unwrap();
        assert!(as_shipped.values().all(|section| section.as_table().unwrap().is_empty()));
    }

    #[test]
    fn a101_a_mode_is_looked_for_in_its_folder_only() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::under(home.path(), home.path());
        fs::create_dir(dirs.modes()).unwrap();
        fs::write(dirs.modes().join("mine.json"), "{}").unwrap();
        fs::write(home.path().join("x.json"), "{}").unwrap();
        assert_eq!(mode_text(&dirs, "mine").as_deref(), Some("{}"));
        for id in ["../x", "", "mine.json", "/etc/passwd", "..\\x"] {
            assert_eq!(mode_text(&dirs, id), None, "{id}");
        }
    }

    #[test]
    fn the_file_is_read_and_a_missing_one_is_fine() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::under(home.path(), home.path());
        assert_eq!(load(&dirs, &Env::default()), (Settings::default(), vec![]));
        fs::write(dirs.config_file(), "\u{feff}[trash]\ndays = 7\n").unwrap();
        assert_eq!(load(&dirs, &Env::default()).0.trash.days, 7);
        let overrides = Overrides { file: Some(home.path().join("none.toml")), settings: Vec::new() };
        let (settings, warnings) = load_with(&dirs, &Env::default(), &overrides);
        assert_eq!(settings.trash.days, 30);
        assert!(warnings[0].to_string().contains("none.toml: cannot be read"));
    }
}
