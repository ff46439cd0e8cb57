//! How text becomes words for the full-text index, and how a query becomes an expression over them.
//!
//! The same function prepares rows and queries, so a query finds what a row said:
//! - Chinese, Japanese and Korean have no spaces, so every such character is a word of its own and a run of them in
//!   a query is a phrase. Words of any length are found however they are glued into longer text, at the size of an
//!   ordinary word index (a trigram index is six times larger and misses words of one and two characters).
//! - `foo_bar(baz)`, `refresh.rs`, `path/x:y` are phrases of their parts; `C++` and `F#` also get a word for the whole.
//! - Pictures and arrows are words too.
//!
//! Text is never syntax: what reaches FTS5 is quoted words made here. Trigger-fed and custom C tokenizers were not
//! taken: the first is three times slower, the second ties the file to programs that carry it.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Raised whenever [`index_text`] gives other words than before: the index is then built anew.
pub const INDEX_VERSION: i64 = 2;

/// Private-use characters count as letters for `unicode61`; they carry what it would drop.
const PLUS: char = '\u{e000}';
const SHARP: char = '\u{e001}';
const SYMBOL: char = '\u{e002}';
/// Begins the words that say where a row belongs.
pub(super) const SCOPE: char = '\u{e00f}';

/// `text` as the index takes it.
pub fn index_text(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte < 0x80 && byte != b'+' && byte != b'#') {
        return Cow::Borrowed(text);
    }
    let normal: Cow<'_, str> = match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfkc().collect()),
    };
    let mut out = String::with_capacity(normal.len() + normal.len() / 2);
    let mut word_start = None; // where in `out` the present run of letters began
    let mut chars = normal.chars().peekable();
    while let Some(ch) = chars.next() {
        if matches!(ch, PLUS..=SCOPE) {
            // Ours alone: in a text they say nothing.
            out.push(' ');
            word_start = None;
        } else if is_glued_script(ch) {
            out.push(' ');
            out.push(ch);
            out.push(' ');
            word_start = None;
        } else if is_symbol(ch) {
            let _ = write!(out, " {SYMBOL}{:x} ", u32::from(ch));
            word_start = None;
        } else if matches!(ch, '+' | '#')
            && let Some(start) = word_start
        {
            let mut tail = String::from(mark(ch));
            while let Some(&next @ ('+' | '#')) = chars.peek() {
                tail.push(mark(next));
                chars.next();
            }
            // `a+b` is two words; `C++` and `C#` are a word and the whole of it.
            if chars.peek().is_none_or(|next| !next.is_alphanumeric()) && tail.len() <= 3 * PLUS.len_utf8() {
                let word = out[start..].to_owned();
                out.push(' ');
                out.push_str(&word);
                out.push_str(&tail);
            }
            out.push(' ');
            word_start = None;
        } else {
            if ch.is_alphanumeric() {
                word_start.get_or_insert(out.len());
            } else {
                word_start = None;
            }
            out.push(ch);
        }
    }
    Cow::Owned(out)
}

fn mark(ch: char) -> char {
    if ch == '+' { PLUS } else { SHARP }
}

/// Scripts written without spaces (and Korean, whose particles are glued to the word).
pub fn is_glued_script(ch: char) -> bool {
    matches!(ch,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{3105}'..='\u{318e}' | '\u{31a0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{a000}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

fn is_symbol(ch: char) -> bool {
    matches!(ch, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// The words of `text` in order, as the index has them (before its folding of case and accents).
pub fn words_of(text: &str) -> Vec<String> {
    let prepared = index_text(text);
    let mut words = Vec::new();
    let mut word = String::new();
    for ch in prepared.chars() {
        if is_word_char(ch) {
            word.push(ch);
        } else if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    // Marks alone (a combining accent, a lone private-use character of the text's own) are no word to the index.
    words.retain(|word| word.chars().any(|ch| ch.is_alphanumeric() || matches!(ch, PLUS..=SYMBOL)));
    words
}

fn is_word_char(ch: char) -> bool {
    ch.is_alphanumeric() || matches!(ch, '\u{e000}'..='\u{f8ff}') || unicode_normalization::char::is_combining_mark(ch)
}

/// Where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The title.
    Title,
    /// The subtitle.
    Subtitle,
    /// The prose; a prompt's text.
    Narrative,
    /// The statements.
    Facts,
    /// The concepts.
    Concepts,
    /// File paths, read or modified.
    Files,
}

impl Field {
    fn column(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Subtitle => "subtitle",
            Self::Narrative => "narrative",
            Self::Facts => "facts",
            Self::Concepts => "concepts",
            Self::Files => "files",
        }
    }
}

/// What text must be there. Always well-formed: any text may stand in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Match {
    /// These words in this order, side by side. What stands between spaces in a typed query is one of these.
    Phrase(String),
    /// The same, the last word only begun.
    Prefix(String),
    /// A word in its English forms (`fix`, `fixes`, `fixed`, `fixing`); other text as [`Match::Phrase`].
    Forms(String),
    /// All of them.
    All(Vec<Match>),
    /// Any of them.
    Any(Vec<Match>),
    /// The first, without the second.
    Without(Box<Match>, Box<Match>),
    /// The match, in these fields only.
    In(Vec<Field>, Box<Match>),
}

impl Match {
    /// Typed text, read literally: every part between spaces must be there. Text that holds no word at all
    /// (`*`, `((`) gives `None`.
    pub fn text(text: &str) -> Option<Match> {
        let parts: Vec<Match> = text
            .split_whitespace()
            .filter(|part| !words_of(part).is_empty())
            .map(|part| Match::Phrase(part.to_owned()))
            .collect();
        (!parts.is_empty()).then_some(Match::All(parts))
    }

    /// [`Match::text`] with words in their forms and the last one as a beginning: what a person means who types.
    pub fn typed(text: &str) -> Option<Match> {
        let mut parts: Vec<Match> = text
            .split_whitespace()
            .filter(|part| !words_of(part).is_empty())
            .map(|part| Match::Forms(part.to_owned()))
            .collect();
        if let Some(last) = parts.last_mut()
            && let Match::Forms(word) = last
            && !text.ends_with(char::is_whitespace)
        {
            *last = Match::Any(vec![Match::Prefix(word.clone()), Match::Forms(word.clone())]);
        }
        (!parts.is_empty()).then_some(Match::All(parts))
    }

    /// The same without beginnings of words, where a word stands beside its beginning; `None` when there are none.
    /// What is typed is a whole word more often than not, and looking for a beginning gathers every hit of every word
    /// that begins so before the first can be shown: it is done only when whole words leave room.
    pub(crate) fn closed(&self) -> Option<Match> {
        match self {
            Self::Any(parts) if parts.len() > 1 && parts.iter().any(|part| matches!(part, Self::Prefix(_))) => {
                Some(Self::Any(parts.iter().filter(|part| !matches!(part, Self::Prefix(_))).cloned().collect()))
            }
            Self::Any(parts) => Self::one_closed(parts).map(Self::Any),
            Self::All(parts) => Self::one_closed(parts).map(Self::All),
            Self::Without(wanted, unwanted) => {
                wanted.closed().map(|wanted| Self::Without(Box::new(wanted), unwanted.clone()))
            }
            Self::In(fields, inner) => inner.closed().map(|inner| Self::In(fields.clone(), Box::new(inner))),
            _ => None,
        }
    }

    fn one_closed(parts: &[Match]) -> Option<Vec<Match>> {
        let closed: Vec<Option<Match>> = parts.iter().map(Match::closed).collect();
        closed.iter().any(Option::is_some).then(|| {
            closed.into_iter().zip(parts).map(|(closed, part)| closed.unwrap_or_else(|| part.clone())).collect()
        })
    }

    /// The FTS5 expression, or `None` when no word is left in it.
    pub(crate) fn expression(&self) -> Option<String> {
        match self {
            Self::Phrase(text) => phrase(&words_of(text)),
            Self::Prefix(text) => {
                let words = words_of(text);
                // One or two letters begin too many words to mean any of them.
                let too_short = words.last().is_some_and(|word| word.len() < 3 && word.is_ascii());
                phrase(&words).map(|it| if too_short { it } else { it + " *" })
            }
            Self::Forms(text) => {
                let words = words_of(text);
                let forms = match words.as_slice() {
                    [word] => forms_of(word),
                    _ => Vec::new(),
                };
                if forms.len() < 2 {
                    return phrase(&words);
                }
                let quoted: Vec<String> = forms.iter().map(|form| format!("\"{form}\"")).collect();
                Some(format!("({})", quoted.join(" OR ")))
            }
            Self::All(parts) => join(parts, " AND "),
            Self::Any(parts) => join(parts, " OR "),
            Self::Without(wanted, unwanted) => {
                let wanted = wanted.expression()?;
                Some(match unwanted.expression() {
                    Some(unwanted) => format!("({wanted} NOT {unwanted})"),
                    None => wanted,
                })
            }
            Self::In(fields, inner) => {
                let inner = inner.expression()?;
                if fields.is_empty() {
                    return Some(inner);
                }
                let columns: Vec<&str> = fields.iter().map(|field| field.column()).collect();
                Some(format!("({{{}}} : ({inner}))", columns.join(" ")))
            }
        }
    }

    /// Every word asked for, for highlighting. Words after `Without` are not among them.
    pub fn wanted(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect(&mut out);
        out
    }

    fn collect(&self, out: &mut Vec<String>) {
        match self {
            Self::Phrase(text) | Self::Prefix(text) | Self::Forms(text) => out.push(text.clone()),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.collect(out)),
            Self::Without(wanted, _) | Self::In(_, wanted) => wanted.collect(out),
        }
    }
}

fn phrase(words: &[String]) -> Option<String> {
    // A quote can not be in a word: it is no letter.
    (!words.is_empty()).then(|| format!("\"{}\"", words.join(" ")))
}

fn join(parts: &[Match], with: &str) -> Option<String> {
    let parts: Vec<String> = parts.iter().filter_map(Match::expression).collect();
    match parts.len() {
        0 => None,
        1 => parts.into_iter().next(),
        _ => Some(format!("({})", parts.join(with))),
    }
}

/// The likely English forms of a word: plural, past, participle, and the bare word behind one of these. A handful of
/// exact words costs a query microseconds; stems in the index would break the beginnings that search-as-you-type
/// asks for.
pub fn forms_of(word: &str) -> Vec<String> {
    let lower = word.to_lowercase();
    if lower.len() < 3 || !lower.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return vec![lower];
    }
    let mut bases = vec![lower.clone()];
    let cut = |n: usize| &lower[..lower.len() - n];
    if lower.ends_with("ies") && lower.len() > 4 {
        bases.push(format!("{}y", cut(3)));
    } else if lower.ends_with("es") && lower.len() > 4 {
        bases.push(cut(2).to_owned());
        bases.push(cut(1).to_owned());
    } else if lower.ends_with('s') && !lower.ends_with("ss") && !lower.ends_with("us") && !lower.ends_with("is") {
        bases.push(cut(1).to_owned());
    }
    if lower.ends_with("ied") && lower.len() > 4 {
        bases.push(format!("{}y", cut(3)));
    } else if lower.ends_with("ed") && lower.len() > 4 {
        push_stem(&mut bases, cut(2));
    }
    if lower.ends_with("ing") && lower.len() > 5 {
        push_stem(&mut bases, cut(3));
    }
    let mut forms = Vec::new();
    for base in &bases {
        add(&mut forms, base.clone());
        if base.len() < 3 {
            continue;
        }
        let end = base.as_bytes()[base.len() - 1];
        if end == b'y' && !b"aeiou".contains(&base.as_bytes()[base.len() - 2]) {
            let stem = &base[..base.len() - 1];
            add(&mut forms, format!("{stem}ies"));
            add(&mut forms, format!("{stem}ied"));
        } else if end == b'e' {
            let stem = &base[..base.len() - 1];
            add(&mut forms, format!("{base}s"));
            add(&mut forms, format!("{base}d"));
            add(&mut forms, format!("{stem}ing"));
            continue;
        } else if matches!(end, b's' | b'x' | b'z') || base.ends_with("sh") || base.ends_with("ch") {
            add(&mut forms, format!("{base}es"));
            add(&mut forms, format!("{base}ed"));
        } else {
            add(&mut forms, format!("{base}s"));
            add(&mut forms, format!("{base}ed"));
        }
        add(&mut forms, format!("{base}ing"));
    }
    forms
}

/// What `…ed` and `…ing` were made from: `fix`, `stor(e)`, `stop(p)`.
fn push_stem(bases: &mut Vec<String>, stem: &str) {
    bases.push(stem.to_owned());
    bases.push(format!("{stem}e"));
    let bytes = stem.as_bytes();
    if bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
        bases.push(stem[..stem.len() - 1].to_owned());
    }
}

fn add(forms: &mut Vec<String>, form: String) {
    if !forms.contains(&form) {
        forms.push(form);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_glued_scripts_are_words() {
        assert_eq!(words_of("修复支付回调"), ["修", "复", "支", "付", "回", "调"]);
        assert_eq!(words_of("Redis缓存v2"), ["Redis", "缓", "存", "v2"]);
        assert_eq!(words_of("한국어"), ["한", "국", "어"]);
        assert_eq!(words_of("か\u{3099}"), words_of("が"), "decomposed kana is the same word");
        assert_eq!(words_of("ＡＢＣ"), ["ABC"], "full-width letters are letters");
    }

    #[test]
    fn identifiers_are_phrases_of_their_parts() {
        assert_eq!(words_of("foo_bar(baz)"), ["foo", "bar", "baz"]);
        assert_eq!(words_of("refresh.rs"), ["refresh", "rs"]);
        assert_eq!(words_of("path/x:y"), ["path", "x", "y"]);
        assert_eq!(words_of("C++"), ["C", "C\u{e000}\u{e000}"]);
        assert_eq!(words_of("F#."), ["F", "F\u{e001}"]);
        assert_eq!(words_of("a+b"), ["a", "b"]);
    }

    #[test]
    fn a_query_is_quoted_words() {
        let expression = |text: &str| Match::text(text).and_then(|it| it.expression());
        assert_eq!(expression("foo-bar C").as_deref(), Some("(\"foo bar\" AND \"C\")"));
        assert_eq!(expression("\"open a AND NEAR(").as_deref(), Some("(\"open\" AND \"a\" AND \"AND\" AND \"NEAR\")"));
        assert_eq!(expression("* ' ^ (("), None);
        assert_eq!(
            Match::In(vec![Field::Title], Box::new(Match::Prefix("row loc".into()))).expression().as_deref(),
            Some("({title} : (\"row loc\" *))")
        );
    }

    #[test]
    fn words_are_met_in_their_forms() {
        for (asked, said) in [
            ("fix", "fixed"),
            ("fixed", "fix"),
            ("verify", "verified"),
            ("verified", "verify"),
            ("storing", "stores"),
            ("stopped", "stop"),
            ("crashes", "crash"),
            ("tokens", "token"),
            ("caches", "cache"),
        ] {
            assert!(forms_of(asked).iter().any(|form| form == said), "{asked} → {said}: {:?}", forms_of(asked));
        }
        assert_eq!(forms_of("status"), ["status", "statuses", "statused", "statusing"]);
        assert_eq!(forms_of("x1"), ["x1"]);
    }
}
