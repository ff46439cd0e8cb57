//! One program for all tests that look at cmem from outside, so that it is linked once.
//!
//! `support` gives each test a home of its own. Low floors have their many cases beside their code; here stand the few
//! that need the whole.
#![allow(clippy::disallowed_methods, reason = "tests make files, read the clock and run programs")]

mod support;

mod collecting;
mod config;
mod curating;
mod floors;
mod give;
mod install;
mod killing;
mod lists;
mod mcp;
mod modes;
mod observer_claude;
mod observer_live;
mod observing;
mod pictures;
mod privacy;
mod readme;
mod recall_live;
mod recording;
mod rig;
mod screen;
mod serve;
mod transcripts;

#[test]
fn no_file_was_forgotten() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all");
    let named: Vec<String> = std::fs::read_to_string(here.join("main.rs"))
        .unwrap()
        .lines()
        .filter_map(|line| Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned()))
        .collect();
    for entry in std::fs::read_dir(&here).unwrap().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_module = path.extension().is_some_and(|extension| extension == "rs") || path.join("mod.rs").exists();
        assert!(
            !is_module || stem == "main" || named.contains(&stem),
            "tests/all/{stem} is not part of the test program: add `mod {stem};` to main.rs"
        );
    }
}
