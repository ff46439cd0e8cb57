//! The token estimate that budgets, contexts and estimates share.

/// About how many tokens a model reads for `text`: a quarter of its ASCII characters plus one for each
/// other character (CJK runs near one token a character). Rounded up; never a bill, always labelled as an
/// estimate.
pub fn estimate_tokens(text: &str) -> u32 {
    let (mut ascii, mut other) = (0u64, 0u64);
    for byte in text.bytes() {
        if byte < 0x80 {
            ascii += 1;
        } else if byte >= 0xC0 {
            other += 1; // a lead byte: one character, whatever its length
        }
    }
    u32::try_from(ascii.div_ceil(4) + other).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_counts_quarters_and_cjk_counts_characters() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("abcde"), 2);
        assert_eq!(estimate_tokens("支付回调"), 4);
    }
}
