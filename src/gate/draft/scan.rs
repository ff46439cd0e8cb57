//! The tags of the answer format in a text: where they stand and what they carry. Everything else is text.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

/// A tag of the answer format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Observation,
    Summary,
    Skip,
    SkipSummary,
    Type,
    Title,
    Subtitle,
    Narrative,
    Facts,
    Fact,
    Concepts,
    Concept,
    FilesRead,
    FilesModified,
    File,
    Events,
    Replaces,
    Request,
    Investigated,
    Learned,
    Completed,
    NextSteps,
    Notes,
}

const NAMES: [(&str, Tag); 30] = [
    ("observation", Tag::Observation),
    ("summary", Tag::Summary),
    ("skip", Tag::Skip),
    ("skip_summary", Tag::SkipSummary),
    ("type", Tag::Type),
    ("title", Tag::Title),
    ("subtitle", Tag::Subtitle),
    ("narrative", Tag::Narrative),
    ("facts", Tag::Facts),
    ("fact", Tag::Fact),
    ("concepts", Tag::Concepts),
    ("concept", Tag::Concept),
    ("files_read", Tag::FilesRead),
    ("files-read", Tag::FilesRead),
    ("files_modified", Tag::FilesModified),
    ("files-modified", Tag::FilesModified),
    ("file", Tag::File),
    ("events", Tag::Events),
    ("cites", Tag::Events),
    ("replaces", Tag::Replaces),
    ("supersedes", Tag::Replaces),
    ("request", Tag::Request),
    ("investigated", Tag::Investigated),
    ("learned", Tag::Learned),
    ("completed", Tag::Completed),
    ("next_steps", Tag::NextSteps),
    ("next-steps", Tag::NextSteps),
    ("nextsteps", Tag::NextSteps),
    ("notes", Tag::Notes),
    ("skip-summary", Tag::SkipSummary),
];

impl Tag {
    fn of(name: &str) -> Option<Self> {
        NAMES.iter().find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, tag)| *tag)
    }

    /// Stands by itself in a reply.
    pub(super) fn is_block(self) -> bool {
        matches!(self, Self::Observation | Self::Summary | Self::Skip | Self::SkipSummary)
    }

    /// Holds fields.
    pub(super) fn is_container(self) -> bool {
        matches!(self, Self::Observation | Self::Summary)
    }

    /// May stand directly in a block of that kind.
    pub(super) fn belongs_to(self, kind: Self) -> bool {
        let of_summary = matches!(
            self,
            Self::Request | Self::Investigated | Self::Learned | Self::Completed | Self::NextSteps | Self::Notes
        );
        match kind {
            Self::Summary => of_summary,
            _ => !of_summary && !self.is_block() && self != Self::File,
        }
    }

    /// Whether a list field holds that element.
    pub(super) fn holds(self, inner: Self) -> bool {
        matches!(
            (self, inner),
            (Self::Facts, Self::Fact)
                | (Self::Concepts, Self::Concept)
                | (Self::FilesRead | Self::FilesModified, Self::File)
        )
    }
}

/// A tag where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// Which.
    pub tag: Tag,
    /// `</…>`.
    pub closes: bool,
    /// `<…/>`.
    pub empty: bool,
    /// Byte offset of `<`.
    pub start: usize,
    /// Behind `>`.
    pub end: usize,
}

impl Token {
    /// An attribute's value, entities resolved; the name in any case.
    pub(super) fn attribute(&self, text: &str, name: &str) -> Option<String> {
        let inside = text.get(self.start + 1..self.end - 1)?.trim_end_matches('/');
        let name_len = inside.find(|ch: char| ch.is_whitespace()).unwrap_or(inside.len());
        let start = BytesStart::from_content(inside, name_len);
        let mut attributes = start.html_attributes();
        attributes.with_checks(false);
        attributes.flatten().find_map(|it| {
            let key: &str = it.key.as_ref();
            if !key.eq_ignore_ascii_case(name) && !key.replace('-', "_").eq_ignore_ascii_case(name) {
                return None;
            }
            let value = unescape(&it.value).trim().to_owned();
            (!value.is_empty() || name == "reason").then_some(value)
        })
    }
}

/// The format's tags in `text`, in order. CDATA sections and comments hold none.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &bytes[at..]) {
        let start = at + found;
        let rest = &text[start..];
        if rest.starts_with("<![CDATA[") {
            at = rest.find("]]>").map_or(text.len(), |end| start + end + 3);
            continue;
        }
        if rest.starts_with("<!--") {
            // A comment without an end is text, not the rest of the reply.
            at = rest.find("-->").map_or(start + 4, |end| start + end + 3);
            continue;
        }
        match tag_at(rest) {
            Some((tag, closes, empty, len)) => {
                out.push(Token { tag, closes, empty, start, end: start + len });
                at = start + len;
            }
            None => at = start + 1,
        }
    }
    out
}

/// The tag that `text` begins with: which, closing, empty, length. White space inside is forgiven.
fn tag_at(text: &str) -> Option<(Tag, bool, bool, usize)> {
    let inner = &text[1..];
    let (closes, inner) = match inner.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, inner),
    };
    let inner_trimmed = inner.trim_start_matches([' ', '\t']);
    let name_len = inner_trimmed
        .find(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_' || ch == '-'))
        .unwrap_or(inner_trimmed.len());
    let tag = Tag::of(&inner_trimmed[..name_len])?;
    let name_end = text.len() - inner_trimmed.len() + name_len;
    // Up to `>`, quotes respected. Another `<` before it, or none at all, makes it a word in a sentence.
    let mut quote: Option<u8> = None;
    for (offset, &byte) in text.as_bytes()[name_end..].iter().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') if !closes => quote = Some(byte),
            (None, b'>') => {
                let end = name_end + offset + 1;
                let empty = !closes && text[..end - 1].trim_end().ends_with('/');
                let next = text.as_bytes()[name_end];
                let clean_name = next == b'>' || next == b'/' || next.is_ascii_whitespace();
                return clean_name.then_some((tag, closes, empty, end));
            }
            (None, b'<') => return None,
            _ => {}
        }
    }
    None
}

/// `text` with its entities resolved; what is no entity (a bare `&`) stays.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        let end = tail.char_indices().take(12).find(|(_, ch)| *ch == ';').map(|(it, _)| it + 1);
        match end.and_then(|end| quick_xml::escape::unescape(&tail[..end]).ok().map(|it| (it.into_owned(), end))) {
            Some((plain, end)) => {
                out.push_str(&plain);
                rest = &tail[end..];
            }
            None => {
                out.push('&');
                rest = &tail[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}
