//! `screenshots/` is what the program draws. `CMEM_BLESS=1 cargo test --test all pictures` draws it anew.
#![allow(clippy::disallowed_methods, reason = "reads and writes pictures")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cmem::tui::gallery::pictures;

#[test]
fn the_pictures_are_what_the_program_draws() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("screenshots");
    let bless = std::env::var_os("CMEM_BLESS").is_some();
    let mut names = BTreeSet::new();
    for (name, picture) in pictures() {
        assert!(picture.len() < 60_000, "{name} has {} bytes", picture.len());
        let path = dir.join(&name);
        if bless {
            fs::create_dir_all(&dir).unwrap();
            fs::write(&path, &picture).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == picture, "{name} is old; CMEM_BLESS=1 cargo test --test all pictures draws it anew");
        names.insert(name);
    }
    for entry in fs::read_dir(&dir).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".svg") || names.contains(&name), "{name} is drawn by nothing");
    }
}
