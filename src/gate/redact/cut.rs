//! What is too long loses its middle: the beginning says what it is, the end how it came out.

use std::borrow::Cow;

use super::Found;

/// The first 60 % and the last 30 % of `max` characters, and between them how many are left out.
pub(super) fn cut<'a>(text: &'a str, max: usize, found: &mut Found) -> Cow<'a, str> {
    // Bytes are never fewer than characters.
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let chars = text.chars().count();
    if chars <= max {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (max * 6 / 10, max * 3 / 10);
    let head_end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let tail_start = text.char_indices().rev().nth(tail.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let tail_start = if tail == 0 { text.len() } else { tail_start };
    found.cuts += 1;
    Cow::Owned(format!(
        "{}\n[… {} characters left out …]\n{}",
        &text[..head_end],
        chars - head - tail,
        &text[tail_start..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_tail_and_the_number_between() {
        let text: String = ('a'..='j').flat_map(|ch| std::iter::repeat_n(ch, 10)).collect();
        assert_eq!(cut(&text, 100, &mut Found::default()), text);
        let mut found = Found::default();
        let out = cut(&text, 50, &mut found);
        assert_eq!(out, format!("{}\n[… 55 characters left out …]\n{}", &text[..30], &text[85..]));
        assert_eq!(found.cuts, 1);
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        let text = "支".repeat(20);
        assert!(matches!(cut(&text, 20, &mut Found::default()), Cow::Borrowed(_)));
        let out = cut(&text, 10, &mut Found::default());
        assert_eq!(out, format!("{}\n[… 11 characters left out …]\n{}", "支".repeat(6), "支".repeat(3)));
        assert_eq!(cut("ab", 1, &mut Found::default()), "\n[… 2 characters left out …]\n");
    }
}
