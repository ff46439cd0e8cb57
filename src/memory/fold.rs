//! Text folded for matching: case ignored, accents ignored, and a way back to the original.
//!
//! Search never uses offsets of a folded copy on the original (A156: `İ` grows when lower-cased). [`folded`] makes
//! the copy that is searched, [`fold_map`] also says which original byte each folded byte came from.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Whether folding changes `text` in more than ASCII case: such rows need a folded copy to be searched.
pub fn needs_fold(text: &str) -> bool {
    !text.is_ascii()
}

/// `text` in lower case, Latin, Greek and Cyrillic accents dropped. Other scripts keep their marks: a dropped
/// dakuten would make another word.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        fold_char(ch, |folded| out.push(folded));
    }
    out
}

/// [`folded`], with the byte range in `text` that each byte of the copy came from.
pub fn fold_map(text: &str) -> (String, Vec<(u32, u32)>) {
    let mut out = String::with_capacity(text.len());
    let mut map = Vec::with_capacity(text.len());
    for (at, ch) in text.char_indices() {
        let span = (at as u32, (at + ch.len_utf8()) as u32);
        fold_char(ch, |folded| {
            out.push(folded);
            map.extend(std::iter::repeat_n(span, folded.len_utf8()));
        });
    }
    (out, map)
}

/// Calls `emit` for each character `ch` folds to (none for a dropped combining mark).
fn fold_char(ch: char, mut emit: impl FnMut(char)) {
    if ch.is_ascii() {
        return emit(ch.to_ascii_lowercase());
    }
    if has_foldable_accents(ch) {
        decompose_canonical(ch, |part| {
            if !is_combining_mark(part) {
                part.to_lowercase().filter(|c| !is_combining_mark(*c)).for_each(&mut emit);
            }
        });
    } else if ('\u{300}'..='\u{36f}').contains(&ch) {
        // A mark on its own, after a letter that was written apart from it.
    } else {
        ch.to_lowercase().for_each(emit);
    }
}

/// Latin, Greek and Cyrillic letters, the scripts whose accents people leave out while typing.
fn has_foldable_accents(ch: char) -> bool {
    matches!(ch, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_accents_fold_and_kana_marks_stay() {
        assert_eq!(folded("Café NAÏVE"), "cafe naive");
        assert_eq!(folded("e\u{301}"), "e");
        assert_eq!(folded("ガ支付"), "ガ支付");
        assert_eq!(folded("İstanbul ẞ 击"), "istanbul ß 击");
    }

    #[test]
    fn a156_every_folded_byte_points_at_a_whole_original_character() {
        for text in ["İstanbul ẞ 击", "Ångström", "e\u{301}x", "🦀 Grantで取得"] {
            let (out, map) = fold_map(text);
            assert_eq!(out.len(), map.len());
            for (from, to) in map {
                assert!(text.is_char_boundary(from as usize) && text.is_char_boundary(to as usize) && from < to);
            }
        }
    }
}
