//! Gate 4, second half: the observer's XML as drafts, read with patience.
//!
//! Models write XML as people do: attributes for elements, any case, fences and talk around it, an echo of the
//! question, a closing tag forgotten, a bare `<`, a tag merely mentioned in a sentence. What is meant is nearly
//! always plain. So this is no validating parser: it knows the few tags of the answer format, takes everything else
//! as text, and decides where an element ends by what follows. quick-xml reads the tags themselves (attributes,
//! entities).
//!
//! Rules, in order:
//! - Only tags of the format count, and only where they can stand. Inside a field every other tag is text.
//! - A field ends at the closing tag that is followed by structure; so `</narrative>` in the middle of a sentence is
//!   text. A field without its closing tag ends where the next field or the block's end begins.
//! - A block without its end is kept where another block follows, or where it holds a finished field; the last block
//!   of a reply cut at its limit is not (its events are asked about again).
//! - Prose in a block without any field becomes its narrative (A003).
//!
//! Absent from here: what a type or concept means (mode), what a file list is worth (gate 5).

use std::borrow::Cow;

use crate::memory::{Draft, Summary};

mod scan;
mod text;

use scan::{Tag, Token, tokens};
use text::{append, cites, clean, first_sentence, ids, items, salvage, split_list};

/// What a reply's text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// Observations with something in them, in order.
    pub drafts: Vec<Draft>,
    /// The first summary with something in it.
    pub summary: Option<Summary>,
    /// An explicit `<skip/>` outside any block, with its reason.
    pub skip: Option<String>,
    /// An explicit `<skip_summary/>` outside any block, with its reason.
    pub skip_summary: Option<String>,
    /// Observation blocks that said nothing (A016).
    pub empty: u32,
    /// Blocks that could not be understood: unknown elements without prose (A009).
    pub unreadable: u32,
    /// The last block has no end. It is not among `drafts` unless it holds a finished field.
    pub open_end: bool,
    /// The open last block as far as it goes, when it was left out.
    pub cut_short: bool,
    /// Any tag of the format occurred.
    pub any_tag: bool,
}

/// Whether an unfinished last block may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenEnd {
    /// The model stopped by itself: a forgotten closing tag costs nothing.
    Keep,
    /// The reply was cut at its limit: the last block is not whole.
    Leave,
}

/// Reads a reply.
pub fn parse(text: &str, open_end: OpenEnd) -> Parsed {
    let text = without_echo(text);
    let parsed = blocks(&text, open_end);
    if !parsed.any_tag && text.contains("&lt;") {
        // The whole answer was escaped once too often.
        let lower = text.to_ascii_lowercase();
        if ["&lt;observation", "&lt;summary", "&lt;skip"].iter().any(|it| lower.contains(it)) {
            return blocks(&scan::unescape(&text), open_end);
        }
    }
    parsed
}

/// Removes what the model repeated of the question: `<observed…>…</observed…>` and `<already_remembered>…`.
fn without_echo(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    for name in ["observed", "already_remembered"] {
        loop {
            let now = out.as_deref().unwrap_or(text);
            let lower = now.to_ascii_lowercase();
            let Some(start) = lower.find(&format!("<{name}")) else { break };
            let Some(close) = lower[start..].rfind(&format!("</{name}")) else { break };
            let close = start + close;
            let end = lower[close..].find('>').map_or(now.len(), |at| close + at + 1);
            // An answer inside the echo would go with it: then the echo's tags are mere text around it.
            if ["<observation", "<summary", "<skip"]
                .iter()
                .any(|it| lower[start..close].match_indices(it).any(|(at, _)| lower[start + at..].starts_with(it)))
                && !lower[end..].contains("<observation")
                && !lower[..start].contains("<observation")
            {
                break;
            }
            let mut next = String::with_capacity(now.len());
            next.push_str(&now[..start]);
            next.push_str(&now[end..]);
            out = Some(next);
        }
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

fn blocks(text: &str, open_end: OpenEnd) -> Parsed {
    let tokens = tokens(text);
    let mut parsed = Parsed { any_tag: !tokens.is_empty(), ..Parsed::default() };
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        match (token.tag, token.closes) {
            (Tag::Observation | Tag::Summary, false) if token.empty => {
                // `<observation type="bugfix" title="…"/>`: all in attributes.
                if token.tag == Tag::Observation {
                    keep(&mut parsed, Block { opening: Some(token), ..Block::default() }, text);
                }
                at += 1;
            }
            (Tag::Observation | Tag::Summary, false) => {
                let (block, next) = block(text, &tokens, at);
                let dangling = next >= tokens.len() && !block.ended;
                parsed.open_end |= dangling;
                at += 1;
                if !block.ended && block.fields.is_empty() {
                    // A sentence that mentions the tag and goes on to the real block, or to its end (vector 34).
                    continue;
                }
                at = next;
                // What was broken off before any field was whole is no record, whether the reply ends there or begins
                // anew behind it (the client asks a model to go on after its limit).
                let broken_off = !block.ended && block.fields.iter().all(|field| !field.closed);
                if broken_off || (dangling && open_end == OpenEnd::Leave) {
                    parsed.cut_short = true;
                } else if token.tag == Tag::Observation {
                    keep(&mut parsed, block, text);
                } else if parsed.summary.is_none() {
                    parsed.summary = summary(&block, text);
                }
            }
            (Tag::Skip | Tag::SkipSummary, false) => {
                let inside = match tokens.get(at + 1) {
                    Some(next) if !token.empty && next.closes && next.tag == token.tag => {
                        clean(&text[token.end..next.start])
                    }
                    _ => String::new(),
                };
                let reason = token.attribute(text, "reason").unwrap_or(inside);
                let slot = if token.tag == Tag::Skip { &mut parsed.skip } else { &mut parsed.skip_summary };
                slot.get_or_insert(reason);
                at += 1;
            }
            _ => at += 1,
        }
    }
    parsed
}

/// One block between its tags.
#[derive(Default)]
struct Block<'a> {
    opening: Option<&'a Token>,
    fields: Vec<Field>,
    /// Text between fields.
    loose: String,
    ended: bool,
}

/// One field: its tag and where its text stands.
struct Field {
    tag: Tag,
    start: usize,
    end: usize,
    closed: bool,
}

/// Reads the block that opens at `tokens[open]`; also the index behind it.
fn block<'a>(text: &str, tokens: &'a [Token], open: usize) -> (Block<'a>, usize) {
    let kind = tokens[open].tag;
    let mut block = Block { opening: Some(&tokens[open]), ..Block::default() };
    let mut at = open + 1;
    let mut from = tokens[open].end;
    while at < tokens.len() {
        let token = &tokens[at];
        if token.tag == kind {
            block.loose.push_str(&text[from..token.start]);
            if token.closes {
                block.ended = true;
                return (block, at + 1);
            }
            return (block, at); // the next block begins: this one's end was forgotten
        }
        if token.tag.is_block() {
            // The other kind, or a skip: a mention, unless this block has said its part.
            if !token.closes && !block.fields.is_empty() && token.tag.is_container() {
                block.loose.push_str(&text[from..token.start]);
                return (block, at);
            }
            at += 1;
            continue;
        }
        if !token.tag.belongs_to(kind) || token.closes {
            at += 1;
            continue;
        }
        block.loose.push_str(&text[from..token.start]);
        block.loose.push('\n');
        if token.empty {
            from = token.end;
            at += 1;
            continue;
        }
        let (field, next) = field(text, tokens, at, kind);
        from = tokens.get(next.wrapping_sub(1)).map_or(text.len(), |it| if field.closed { it.end } else { field.end });
        block.fields.push(field);
        at = next;
    }
    block.loose.push_str(&text[from.min(text.len())..]);
    (block, at)
}

/// Reads the field that opens at `tokens[open]`; also the index behind its closing tag, or of what ended it.
fn field(text: &str, tokens: &[Token], open: usize, kind: Tag) -> (Field, usize) {
    let tag = tokens[open].tag;
    let start = tokens[open].end;
    // The block's end as far as can be told: the last closing tag of the block before the next opening of one.
    let mut best: Option<usize> = None;
    let mut at = open + 1;
    while at < tokens.len() {
        let token = &tokens[at];
        if token.tag == kind && !token.closes && best.is_some() {
            break;
        }
        if token.tag == kind && !token.closes && starts_block(tokens, at, kind) {
            break;
        }
        if token.tag == tag && token.closes {
            if best.is_some_and(|it| opens_other_field(&tokens[it + 1..at], tag, kind)) {
                break;
            }
            best = Some(at);
            if structural_after(text, tokens, at, kind) {
                break;
            }
        }
        at += 1;
    }
    if let Some(end) = best {
        return (Field { tag, start, end: tokens[end].start, closed: true }, end + 1);
    }
    // No closing tag: up to the next field that can stand here, or the block's end.
    let stop = (open + 1..tokens.len()).find(|&at| {
        let token = &tokens[at];
        token.tag == kind || (!token.closes && token.tag != tag && token.tag.belongs_to(kind) && !tag.holds(token.tag))
    });
    let (end, next) = stop.map_or((text.len(), tokens.len()), |at| (tokens[at].start, at));
    (Field { tag, start, end, closed: false }, next)
}

/// Whether the opening tag of a block at `at` really starts one: a field of the block follows it directly.
fn starts_block(tokens: &[Token], at: usize, kind: Tag) -> bool {
    tokens.get(at + 1).is_some_and(|next| next.tag.belongs_to(kind) && !next.closes)
}

fn opens_other_field(between: &[Token], tag: Tag, kind: Tag) -> bool {
    between.iter().any(|it| !it.closes && it.tag != tag && it.tag.belongs_to(kind))
}

/// Whether what follows the closing tag at `at` is structure: white space and then a field, a closing tag or the end.
fn structural_after(text: &str, tokens: &[Token], at: usize, kind: Tag) -> bool {
    let rest = text[tokens[at].end..].trim_start();
    match tokens.get(at + 1) {
        None => rest.is_empty() || rest.starts_with("```"),
        Some(next) => {
            text[tokens[at].end..next.start].trim().is_empty()
                && (next.tag == kind || next.tag.is_container() || next.tag.belongs_to(kind))
        }
    }
}

fn keep(parsed: &mut Parsed, block: Block<'_>, text: &str) {
    let draft = observation(&block, text);
    let blank = draft.title.is_empty() && draft.narrative.is_empty() && draft.facts.is_empty();
    if !blank {
        parsed.drafts.push(draft);
    } else if block.fields.is_empty() && block.loose.contains('<') {
        parsed.unreadable += 1;
    } else {
        parsed.empty += 1;
    }
}

fn observation(block: &Block<'_>, text: &str) -> Draft {
    let mut draft = Draft::default();
    let attribute = |name: &str| block.opening.and_then(|it| it.attribute(text, name)).unwrap_or_default();
    let list = |name: &str| split_list(&attribute(name));
    draft.raw_type = attribute("type");
    draft.title = attribute("title");
    draft.subtitle = attribute("subtitle");
    draft.narrative = attribute("narrative");
    draft.concepts = list("concepts");
    draft.files_read = list("files_read");
    draft.files_modified = list("files_modified");
    draft.cites = cites(&format!("{} {}", attribute("events"), attribute("cites")));
    draft.supersedes = ids(&format!("{} {}", attribute("replaces"), attribute("supersedes")));
    for field in &block.fields {
        let raw = &text[field.start..field.end];
        let first = |slot: &mut String| {
            if slot.is_empty() {
                *slot = clean(raw);
            }
        };
        match field.tag {
            Tag::Type => first(&mut draft.raw_type),
            Tag::Title => first(&mut draft.title),
            Tag::Subtitle => first(&mut draft.subtitle),
            Tag::Narrative => first(&mut draft.narrative),
            Tag::Facts => append(&mut draft.facts, items(raw, Tag::Fact)),
            Tag::Fact => append(&mut draft.facts, vec![clean(raw)]),
            Tag::Concepts => append(&mut draft.concepts, items(raw, Tag::Concept)),
            Tag::Concept => append(&mut draft.concepts, vec![clean(raw)]),
            Tag::FilesRead => append(&mut draft.files_read, items(raw, Tag::File)),
            Tag::FilesModified => append(&mut draft.files_modified, items(raw, Tag::File)),
            Tag::Events => draft.cites.extend(cites(&clean(raw))),
            Tag::Replaces => draft.supersedes.extend(ids(&clean(raw))),
            _ => {}
        }
    }
    if draft.title.is_empty() && draft.narrative.is_empty() && draft.facts.is_empty() {
        // Prose where fields belong: the record is in it (A003, A004).
        let prose = salvage(&block.loose);
        if !prose.is_empty() {
            draft.title = first_sentence(&prose);
            draft.narrative = prose;
            draft.salvaged = true;
        }
    }
    draft
}

fn summary(block: &Block<'_>, text: &str) -> Option<Summary> {
    let request = block.opening.and_then(|it| it.attribute(text, "request")).unwrap_or_default();
    let mut summary = Summary { request, ..Summary::default() };
    for field in &block.fields {
        let slot = match field.tag {
            Tag::Request => &mut summary.request,
            Tag::Investigated => &mut summary.investigated,
            Tag::Learned => &mut summary.learned,
            Tag::Completed => &mut summary.completed,
            Tag::NextSteps => &mut summary.next_steps,
            Tag::Notes => &mut summary.notes,
            _ => continue,
        };
        if slot.is_empty() {
            *slot = clean(&text[field.start..field.end]);
        }
    }
    if summary == Summary::default() {
        summary.notes = salvage(&block.loose);
    }
    (summary != Summary::default()).then_some(summary)
}

#[cfg(test)]
mod tests;
