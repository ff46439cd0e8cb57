//! Gate 2: what of a text may be kept. A pure function of the text.
//!
//! In this order: regions in tags that are nobody's business are cut out (`tags`), secrets of known shapes are masked
//! (`secrets`), long runs that carry no words become a placeholder (`runs`), and what is still too long loses its
//! middle (`cut`). Masking comes before cutting, so that no half of a secret stays behind at a cut. JSON is cleaned
//! string by string (`fields`): a tag never reaches from one value into the next, and the name of a field helps to
//! know a secret.
//!
//! A text that needs nothing is handed back as it is, unallocated; that is the ordinary case.

mod cut;
mod fields;
mod runs;
mod secrets;
mod tags;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use fields::clean_json;
pub use secrets::holds_secret;
pub(super) use tags::strip as strip_tags;

/// Characters of one field of a tool call.
pub const FIELD_CHARS: usize = 16_000;

/// Characters of what a person or the model said.
pub const WORDS_CHARS: usize = 262_144;

/// How often something was taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Regions in `<private>`.
    pub private: u32,
    /// Regions in other tags.
    pub tags: u32,
    /// Secrets masked.
    pub secrets: u32,
    /// Long runs replaced.
    pub runs: u32,
    /// Texts cut.
    pub cuts: u32,
}

impl Found {
    /// Counts with their names.
    pub fn named(&self) -> [(&'static str, u32); 5] {
        [
            ("private", self.private),
            ("tag", self.tags),
            ("secret", self.secrets),
            ("binary", self.runs),
            ("cut", self.cuts),
        ]
    }
}

impl std::ops::AddAssign for Found {
    fn add_assign(&mut self, more: Self) {
        self.private += more.private;
        self.tags += more.tags;
        self.secrets += more.secrets;
        self.runs += more.runs;
        self.cuts += more.cuts;
    }
}

/// `text` as it may be kept, a field's length at most.
pub fn clean(text: &str) -> Cow<'_, str> {
    clean_to(text, FIELD_CHARS, &mut Found::default())
}

/// `text` as it may be kept, `max` characters at most (and a line that says how many are left out).
pub fn clean_to<'a>(text: &'a str, max: usize, found: &mut Found) -> Cow<'a, str> {
    let text = tags::strip(text, found);
    let text = then(text, |text| secrets::mask(text, found));
    let text = then(text, |text| runs::replace(text, found));
    then(text, |text| cut::cut(text, max, found))
}

/// A step after another: borrowed stays borrowed as long as nothing changes.
fn then<'a>(text: Cow<'a, str>, step: impl for<'b> FnOnce(&'b str) -> Cow<'b, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => step(text),
        Cow::Owned(text) => match step(&text) {
            Cow::Borrowed(same) if same.len() == text.len() => Cow::Owned(text),
            changed => Cow::Owned(changed.into_owned()),
        },
    }
}

/// Parts of `text` replaced: ranges in order, without overlap.
fn splice(text: &str, parts: &[(std::ops::Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, replacement) in parts {
        out.push_str(&text[from..range.start]);
        out.push_str(replacement);
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}
