//! The floors: a module uses only modules above it in `src/lib.rs`, and faces never use each other. `cli` alone may use
//! the other faces, since it starts them.
//!
//! The sources are read, not compiled: comments and literals are blanked, then every `use` and every path that begins
//! with `crate` or `super` is resolved to the floor it reaches. Tests beside the code are left out.
#![allow(clippy::disallowed_methods, reason = "reads the sources")]

use std::fs;
use std::path::Path;

use super::support::walk;

const FACES: [&str; 5] = ["tui", "mcp", "http", "hook", "cli"];

#[test]
fn no_floor_reaches_up_or_sideways() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let floors = floors(&fs::read_to_string(src.join("lib.rs")).unwrap());
    assert!(floors.len() > 10, "the floors are read from lib.rs: {floors:?}");
    let mut wrong = Vec::new();
    walk(&src, &mut |path| {
        let inside = path.strip_prefix(&src).unwrap();
        if let Some(module) = module_of(inside) {
            let text = fs::read_to_string(path).unwrap();
            wrong.extend(
                violations(&floors, &module, &text).into_iter().map(|it| format!("src/{}: {it}", inside.display())),
            );
        }
    });
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_form_of_reaching_up_is_caught() {
    let floors: Vec<String> = ["memory", "store", "hub", "tui", "hook", "cli"].map(String::from).to_vec();
    let caught = |module: &[&str], text: &str| {
        let module: Vec<String> = module.iter().map(|part| part.to_string()).collect();
        violations(&floors, &module, text)
    };
    let up = [
        "use crate::hub::Hub;",
        "use crate::{memory::Kind, hub::Hub};",
        "use crate::{\n    memory::{Kind, Memory},\n    hub,\n};",
        "pub use crate::hub::Hub as Door;",
        "pub(crate) use crate :: hub :: Hub;",
        "use crate::memory::Kind; use crate::hub;",
        "use super::super::hub::Hub;",
        "use super::super::{memory::Kind, hub::Hub};",
        "use super::{super::hub, read};",
        "fn f() { crate::hub::open(); }",
        "fn f(it: super::super::hub::Hub) {}",
        "fn f() { let x: Option<crate::tui::State> = None; }",
        "mod inner { use super::super::super::hub::Hub; }",
        "macro_rules! m { () => { $crate::hub::open() }; }",
        "fn f() {} #[cfg(not(test))] use crate::hub::Hub;",
        "impl From<crate::cli::CliError> for X {}",
        "use crate as floor;",
        "use crate::*;",
        "use crate::{self as floor};",
    ];
    for text in up {
        assert_eq!(caught(&["store", "read"], text).len(), 1, "not caught: {text}");
    }
    let fine = [
        "use crate::memory::Kind;",
        "use super::api::Filter; use super::super::memory::Kind;",
        "use crate::store::hub;",
        "// use crate::hub::Hub;",
        "/* crate::hub::Hub /* nested */ crate::tui */",
        "/// See [`crate::hub::Hub`].\nfn f() {}",
        "const X: &str = \"crate::hub::Hub\";",
        "const X: &str = r#\"a \" crate::hub::Hub\"#;",
        "const Q: char = '\"'; // crate::hub\nconst R: char = '\\'';",
        "fn f<'a>(it: &'a str) {} /* ' */",
        "#[cfg(test)]\nmod tests { use crate::hub::Hub; }",
        "#[cfg(test)]\nuse crate::hub::Hub;",
        "#[cfg(test)]\nfn helper() { crate::hub::open() }",
        "use std::hub::Hub; use serde::hub;",
        "mod inner { use super::super::super::memory::Kind; }",
    ];
    for text in fine {
        assert_eq!(caught(&["store", "read"], text), [""; 0], "caught without reason: {text}");
    }
    // Sideways between faces, and the one that starts the others.
    assert_eq!(caught(&["hook"], "use crate::tui::State;").len(), 1);
    assert_eq!(caught(&["tui", "view"], "use crate::hook::run;").len(), 1);
    assert_eq!(caught(&["tui"], "use crate::cli::print;").len(), 1);
    assert_eq!(caught(&["cli", "tui"], "use crate::tui::run; use crate::hook; use crate::hub::Hub;"), [""; 0]);
    // What stands behind a test module still counts.
    assert_eq!(caught(&["store"], "#[cfg(test)] mod tests { fn f() { if x { } } }\nuse crate::hub::Hub;").len(), 1);
}

#[test]
fn lib_rs_names_the_floors_in_the_order_of_the_story() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let floors = floors(&text).join(" ");
    assert_eq!(floors, "memory config mode transcript gate observer store recall collector hub tui mcp http hook cli");
}

#[test]
fn the_map_names_every_floor_in_that_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let floors = floors(&fs::read_to_string(root.join("src/lib.rs")).unwrap());
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let named: Vec<&str> =
        map.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name)).collect();
    assert_eq!(named, floors, "the table of floors in ARCHITECTURE.md and src/lib.rs");
}

/// Every source file says at its head what it owns.
#[test]
fn every_source_file_has_a_head() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut without = Vec::new();
    walk(&src, &mut |path| {
        let inside = path.strip_prefix(&src).unwrap();
        if (module_of(inside).is_some() || inside.components().count() == 1)
            && !fs::read_to_string(path).unwrap().starts_with("//!")
        {
            without.push(path.display().to_string());
        }
    });
    assert!(without.is_empty(), "{without:?}");
}

fn floors(lib: &str) -> Vec<String> {
    lib.lines().filter_map(|line| Some(line.strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned())).collect()
}

/// The module of a source file, or `None` if it holds tests or is the root.
fn module_of(inside: &Path) -> Option<Vec<String>> {
    let mut parts: Vec<String> =
        inside.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_test = parts.iter().any(|part| part == "tests" || part.starts_with("tests_") || part.ends_with("_tests"));
    if is_test || inside.extension()? != "rs" || inside == "lib.rs" || inside == "main.rs" {
        return None;
    }
    if parts.last()? == "mod" {
        parts.pop();
    }
    Some(parts)
}

/// What in the text of `module` reaches where it must not.
fn violations(floors: &[String], module: &[String], text: &str) -> Vec<String> {
    let own = module.first().cloned().unwrap_or_default();
    let place = |name: &str| floors.iter().position(|floor| floor == name);
    let is_face = |name: &str| FACES.contains(&name);
    let mut wrong: Vec<String> = Vec::new();
    for path in paths(&blanked(text), module) {
        let reached = path.first().map_or("*", String::as_str);
        let allowed = match (place(reached), place(&own)) {
            _ if reached == own => true,
            // The crate's root under another name, or everything in it: the floors could not be seen any more.
            _ if reached == "*" => false,
            (Some(reached_at), Some(own_at)) => {
                reached_at < own_at && !(is_face(reached) && is_face(&own) && own != "cli")
            }
            _ => true,
        };
        let sentence = format!("{own} must not use {reached}");
        if !allowed && !wrong.contains(&sentence) {
            wrong.push(sentence);
        }
    }
    wrong
}

/// `text` with comments, literals and code for tests turned to blanks.
fn blanked(text: &str) -> String {
    let mut out: Vec<u8> = text.as_bytes().to_vec();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => block_comment(rest),
            [b'r', b'"' | b'#', ..] if !at.checked_sub(1).is_some_and(|before| is_word(bytes[before])) => {
                raw_string(rest)
            }
            [b'"', ..] => string(rest),
            [b'\'', b'\\', ..] => 2 + rest[2..].iter().skip(1).position(|byte| *byte == b'\'').map_or(0, |end| end + 2),
            // A character, not a lifetime.
            [b'\'', _, b'\'', ..] => 3,
            [b'\'', first, ..] if *first >= 0x80 => {
                1 + rest[1..].iter().position(|byte| *byte == b'\'').map_or(0, |end| end + 1)
            }
            _ => 0,
        };
        out[at..at + length.min(rest.len())].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at += length.max(1);
    }
    let mut out = String::from_utf8_lossy(&out).into_owned();
    while let Some(start) = out.find("#[cfg(test)]") {
        let end = item_end(&out, start + "#[cfg(test)]".len());
        out.replace_range(start..end, &" ".repeat(end - start));
    }
    out
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn raw_string(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let from = 2 + hashes;
    let end = rest[from..].windows(close.len()).position(|window| window == close);
    from + end.map_or(rest.len() - from, |end| end + close.len())
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Behind the item that begins at `at`: its closing brace, or its semicolon if that comes first.
fn item_end(text: &str, at: usize) -> usize {
    let mut depth = 0;
    for (offset, byte) in text.bytes().enumerate().skip(at) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                // `use a::{b};` goes on to its semicolon.
                let rest = text[offset + 1..].trim_start();
                if depth == 0 && !rest.starts_with(';') {
                    return offset + 1;
                }
            }
            b';' if depth == 0 => return offset + 1,
            _ => {}
        }
    }
    text.len()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Tokens: words, `::`, and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let length = match bytes[at] {
            byte if is_word(byte) => bytes[at..].iter().take_while(|byte| is_word(**byte)).count(),
            b':' if bytes.get(at + 1) == Some(&b':') => 2,
            byte if byte >= 0x80 => bytes[at..].iter().take_while(|byte| **byte >= 0x80).count(),
            _ => 1,
        };
        let token = &text[at..at + length];
        if !token.trim().is_empty() {
            tokens.push(token);
        }
        at += length;
    }
    tokens
}

/// Every path that begins with `crate` or `super`, from the crate's root; `*` for the root itself.
fn paths(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    // Modules written in line, with the depth of braces they end at.
    let (mut inner, mut depth): (Vec<(String, usize)>, usize) = (Vec::new(), 0);
    let mut at = 0;
    while at < tokens.len() {
        let here =
            || -> Vec<String> { module.iter().cloned().chain(inner.iter().map(|(name, _)| name.clone())).collect() };
        match tokens[at..] {
            ["mod", name, "{", ..] => {
                inner.push((name.to_owned(), depth));
                depth += 1;
                at += 3;
                continue;
            }
            ["{", ..] => depth += 1,
            ["}", ..] => {
                depth = depth.saturating_sub(1);
                inner.retain(|(_, end)| *end < depth);
            }
            ["use", ..] => {
                at = tree(&tokens, at + 1, None, &here(), &mut found);
                continue;
            }
            ["crate" | "super", "::", ..] => {
                at = tree(&tokens, at, None, &here(), &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads a path or a tree of paths at `at`; `base` is where it is read from, `None` at its beginning.
fn tree(
    tokens: &[&str],
    mut at: usize,
    base: Option<Vec<String>>,
    here: &[String],
    found: &mut Vec<Vec<String>>,
) -> usize {
    let mut path = base;
    loop {
        match tokens.get(at).copied() {
            Some("crate") => path = Some(Vec::new()),
            Some("self") if path.is_none() => path = Some(here.to_vec()),
            Some("self") => {}
            Some("super") => {
                let from = path.take().unwrap_or_else(|| here.to_vec());
                path = Some(from[..from.len().saturating_sub(1)].to_vec());
            }
            Some("{") => {
                at += 1;
                while !matches!(tokens.get(at).copied(), Some("}") | None) {
                    if tokens[at] == "," {
                        at += 1;
                        continue;
                    }
                    at = tree(tokens, at, path.clone(), here, found);
                }
                return at + 1;
            }
            Some("*") => {
                found.extend(path);
                return at + 1;
            }
            Some(word) if word.bytes().all(is_word) => match &mut path {
                Some(path) => path.push(word.to_owned()),
                // Another crate's, or a name brought in before.
                None => path = Some(vec!["another crate".into()]),
            },
            _ => {
                found.extend(path);
                return at;
            }
        }
        at += 1;
        if tokens.get(at).copied() == Some("::") {
            at += 1;
            continue;
        }
        found.extend(path);
        // `as name`
        if tokens.get(at).copied() == Some("as") {
            at += 2;
        }
        return at;
    }
}
