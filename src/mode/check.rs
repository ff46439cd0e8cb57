//! What is wrong with a mode, as sentences. A faulty mode still works; the check over all shipped modes fails on
//! any sentence.

use super::{Mode, language};

/// One sentence for each fault.
pub fn check(mode: &Mode) -> Vec<String> {
    let mut out = Vec::new();
    for def in &mode.types {
        if def.description.is_empty() {
            out.push(format!("the type `{}` has no description, so a model must guess when to use it", def.id));
        }
        if !plain_word(&def.id) {
            out.push(format!("the type id `{}` holds other signs than letters, digits, `-` and `_`", def.id));
        }
        if def.glyph.chars().any(char::is_control) {
            out.push(format!("the glyph of type `{}` is no printable sign", def.id));
        }
    }
    for def in &mode.concepts {
        if def.description.is_empty() {
            out.push(format!("the concept `{}` has no description", def.id));
        }
        if def.id.contains(':') {
            out.push(format!("the concept `{}` holds a colon and could never be recognised", def.id));
        }
        if mode.types.iter().any(|it| it.id == def.id) {
            out.push(format!("`{}` is a type and a concept; as a concept it is dropped", def.id));
        }
    }
    let texts = [("role", &mode.prompts.role), ("record", &mode.prompts.record), ("skip", &mode.prompts.skip)];
    for (name, lines) in texts {
        if lines.is_empty() {
            out.push(format!("`prompts.{name}` is empty"));
        }
    }
    let all =
        [&mode.prompts.role, &mode.prompts.record, &mode.prompts.skip, &mode.prompts.examples, &mode.prompts.fields];
    for line in all.into_iter().flatten() {
        let lower = line.to_lowercase();
        // The client answers an empty reply with a second, paid request (observer.md §0.1).
        if lower.contains("empty response") || lower.contains("respond with nothing") || lower.contains("empty reply") {
            out.push("a prompt asks for an empty answer; cmem asks for `<skip/>` instead and says so after it".into());
        }
        if lower.contains("tool_cwd") {
            out.push("a prompt speaks of `tool_cwd`, which does not occur in what is observed".into());
        }
    }
    if !mode.language.is_empty() && language::by_code(&mode.language).is_none() && mode.language.len() <= 3 {
        out.push(format!("`{}` is no language cmem knows by its code; it is passed on as it is", mode.language));
    }
    out.dedup();
    out
}

fn plain_word(id: &str) -> bool {
    id.chars().all(|ch| ch.is_alphanumeric() || ch == '-' || ch == '_')
}
