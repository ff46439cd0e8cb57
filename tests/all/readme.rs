//! The tables in README.md are made from the definitions. `CMEM_BLESS=1 cargo test --test all readme` writes them.
#![allow(clippy::disallowed_methods, reason = "reads and writes README.md")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clap::CommandFactory;
use cmem::cli::Cli;
use cmem::config::{Settings, keys};
use cmem::tui::action::Action;
use cmem::tui::keymap::{Keymap, Place};

#[test]
fn the_table_of_commands_is_true() {
    let mut table = String::from("| command | does |\n|---|---|\n");
    for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        let about = command.get_about().unwrap().to_string();
        let _ = writeln!(table, "| `cmem {}` | {} |", command.get_name(), about);
    }
    hold("commands", &table);
}

#[test]
fn the_table_of_settings_is_true() {
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    let mut table = String::from("| setting | default | what for |\n|---|---|---|\n");
    for key in keys::KEYS {
        let (section, name) = key.parts();
        let default = match &defaults[section][name] {
            serde_json::Value::Array(items) if items.len() > 4 => format!("{} names", items.len()),
            value => format!("`{value}`"),
        };
        let accepted = match key.accepts {
            keys::Accepts::OneOf(_) => format!(" ({})", key.accepts.in_words()),
            _ => String::new(),
        };
        let _ = writeln!(table, "| `{}` | {default} | {}{accepted} |", key.name, key.about);
    }
    hold("settings", &table);
}

#[test]
fn the_table_of_keys_is_true() {
    let map = Keymap::shipped();
    let mut table = String::from("| keys | does |\n|---|---|\n");
    for action in Action::ALL {
        let keys = map.keys_of(Place::Feed, *action);
        if !keys.is_empty() {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{}`", key.replace('|', "\\|"))).collect();
            let _ = writeln!(table, "| {} | {} |", keys.join(" "), action.help());
        }
    }
    hold("keys", &table);
}

/// The commands a newcomer types are ones that exist.
#[test]
fn the_first_commands_can_be_typed() {
    let text = readme();
    assert!(text.contains("\ncargo test\n"));
    let run = text.lines().find_map(|line| line.strip_prefix("cargo run --release -- ")).unwrap();
    let matches = Cli::command().try_get_matches_from(std::iter::once("cmem").chain(run.split_whitespace())).unwrap();
    let (name, options) = matches.subcommand().unwrap();
    assert_eq!(name, "tui");
    let folder: &std::path::PathBuf = options.get_one("folder").unwrap();
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("projects").is_dir());
}

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

fn readme() -> String {
    fs::read_to_string(path()).unwrap()
}

fn hold(name: &str, table: &str) {
    let text = readme();
    let open = format!("<!-- {name} -->\n");
    let start = text.find(&open).unwrap() + open.len();
    let end = start + text[start..].find("<!-- end -->").unwrap();
    if text[start..end] != *table {
        if std::env::var_os("CMEM_BLESS").is_some() {
            fs::write(path(), format!("{}{table}{}", &text[..start], &text[end..])).unwrap();
            return;
        }
        panic!("the table of {name} in README.md is old; CMEM_BLESS=1 cargo test --test all readme writes it");
    }
}
