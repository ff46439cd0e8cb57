//! Text made from a mode's own lists, so that a replaced list is never contradicted by a sentence about another.

use super::Mode;

/// The types, one a line: `id: what it stands for`.
pub fn type_guidance(mode: &Mode) -> String {
    entries(mode.types.iter().map(|it| (it.id.as_str(), it.description.as_str(), it.label.as_str())))
}

/// The concepts, one a line: `id: what it stands for`.
pub fn concept_guidance(mode: &Mode) -> String {
    entries(mode.concepts.iter().map(|it| (it.id.as_str(), it.description.as_str(), it.label.as_str())))
}

fn entries<'a>(items: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (id, description, label) in items {
        let meaning = if description.is_empty() { label } else { description };
        out.push_str(&format!("- {id}: {meaning}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_and_concept_is_named_once() {
        let mode = super::super::code();
        let types = type_guidance(&mode);
        for def in &mode.types {
            assert_eq!(types.matches(&format!("- {}: ", def.id)).count(), 1, "{}", def.id);
        }
        assert_eq!(concept_guidance(&mode).lines().count(), mode.concepts.len());
    }
}
