//! Text made safe for a terminal, and cut on characters.
//!
//! Memory text comes from a model that read untrusted files (tui.md B.19, A102). Everything that leaves for a
//! terminal, a prompt or a print goes through here once, at load.

/// `text` with control characters (C0 but newline and tab, C1, DEL) and bidirectional controls replaced by
/// visible marks. Newlines stay, tabs become spaces.
pub fn safe_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\r' => {}
            '\u{0}'..='\u{1f}' => out.push(char::from_u32(0x2400 + ch as u32).unwrap_or('\u{fffd}')),
            '\u{7f}' => out.push('\u{2421}'),
            '\u{80}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{61c}' => out.push('\u{fffd}'),
            _ => out.push(ch),
        }
    }
    out
}

/// [`safe_text`] on one line: newlines become spaces, runs of white space one space, ends trimmed.
pub fn safe_line(text: &str) -> String {
    let safe = safe_text(text);
    let mut out = String::with_capacity(safe.len());
    for word in safe.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The first `max` characters of `text`, never cutting inside one.
pub fn clip_chars(text: &str, max: usize) -> &str {
    match text.char_indices().nth(max) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a102_escape_sequences_never_pass() {
        let out = safe_text("\u{1b}]0;owned\u{7}\u{1b}[2Jx\u{9b}y\u{202e}z");
        assert!(
            !out.contains('\u{1b}') && !out.contains('\u{7}') && !out.contains('\u{9b}') && !out.contains('\u{202e}')
        );
        assert!(out.contains("owned") && out.ends_with('z'));
    }

    #[test]
    fn plain_text_of_any_language_stays() {
        for text in ["naïve 支付 🦀 e\u{301}", "a\nb"] {
            assert_eq!(safe_text(text), text);
        }
    }
}
