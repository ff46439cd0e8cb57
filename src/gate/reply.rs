//! Gate 4, first half: what kind of answer came back.
//!
//! Structure decides first: the error field, the stop reason, a tool call, the `<synthetic>` model (observer.md §3.5).
//! Only where structure says nothing is the text looked at, and as a sign of trouble only when the whole reply is one
//! of the client's own sentences (A006, A057: a reply that talks about limits is work, not a limit). The kind that was
//! asked for is part of the question (A010).
//!
//! Every reply ends in exactly one [`Verdict`]. "Could not" is never taken for "not worth it": only an explicit
//! `<skip/>` or plain words that decline are a skip; talk is a fault to be asked again.

use crate::memory::{Draft, Summary};

use super::draft::{self, OpenEnd, Parsed};

mod wording;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Expected {
    /// Observations, or a skip.
    #[default]
    Observations,
    /// A summary of a span, or a decline.
    Summary,
    /// Both in one reply: the last batch of a turn.
    Both,
}

impl Expected {
    /// Whether a summary was asked for.
    pub fn summary(self) -> bool {
        self != Self::Observations
    }

    /// Whether observations were asked for.
    pub fn observations(self) -> bool {
        self != Self::Summary
    }
}

/// A reply with all structure its provider gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// All text of the turn.
    pub text: String,
    /// Why the model stopped.
    pub stop: Stop,
    /// The error field, if the turn ended in one.
    pub error: Option<ReplyError>,
    /// Not written by a model (`model: "<synthetic>"`).
    pub synthetic: bool,
    /// The reply tried to call a tool (A045).
    pub tool_call: bool,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stop {
    /// The model was done, or nothing is known.
    #[default]
    Done,
    /// The output limit was reached.
    Limit,
    /// The model refused.
    Refusal,
}

/// An error as a provider reports it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ReplyError {
    /// Its class.
    pub kind: ErrorKind,
    /// HTTP status, if there was one.
    pub status: Option<u16>,
    /// What it said, for people. Never a credential.
    pub message: String,
    /// Seconds since the epoch at which it ends, if told.
    pub resets_at: Option<i64>,
}

/// Classes of errors, by what helps against them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ErrorKind {
    /// The account's allowance is used up: wait for its reset.
    Quota,
    /// Too many requests just now: wait a little.
    RateLimit,
    /// Not signed in, or the key is refused.
    Auth,
    /// No credit, account on hold.
    Billing,
    /// No such model.
    Model,
    /// The request does not fit the model's context.
    Overflow,
    /// The request is refused for what is in it.
    Invalid,
    /// The service is overloaded or broken, the connection failed: try again.
    #[default]
    Server,
    /// It took too long.
    Timeout,
    /// Stopped from outside (interrupt).
    Interrupted,
}

/// What a reply comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Something to keep, or an explicit decline of all parts asked for.
    Good(Good),
    /// Nothing to keep, said in the reply.
    Skip(SkipKind),
    /// The format was not followed: ask again, with a reminder.
    Bad(BadKind),
    /// An error of the service, the account or the request.
    Error(ReplyError),
}

/// A reply that holds what was asked for, or part of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Good {
    /// Observations.
    pub drafts: Vec<Draft>,
    /// The summary.
    pub summary: Option<Summary>,
    /// The summary was declined in so many words; final for its span (A021).
    pub summary_declined: bool,
    /// The reply was cut at its limit: what it does not cover is still to be asked (A011).
    pub truncated: bool,
    /// Blocks without content.
    pub empty: u32,
    /// Blocks with unknown elements only.
    pub unreadable: u32,
}

/// How nothing was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkipKind {
    /// The marker.
    Marker,
    /// Plain words that decline.
    Prose,
}

/// How the format was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadKind {
    /// No visible text.
    Empty,
    /// Talk.
    Prose,
    /// Tags that make no record.
    Unreadable,
    /// Only records without content (A016).
    EmptyRecords,
    /// A summary for observations, or the reverse.
    WrongKind,
    /// Cut at the limit before anything was whole.
    TruncatedAll,
    /// It tried to use a tool.
    ToolCall,
    /// The model would not.
    Refusal,
}

impl BadKind {
    /// The stable word for ledgers and logs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty-reply",
            Self::Prose => "prose-reply",
            Self::Unreadable => "unparsed",
            Self::EmptyRecords => "empty-record",
            Self::WrongKind => "wrong-kind",
            Self::TruncatedAll => "truncated",
            Self::ToolCall => "refused-tool",
            Self::Refusal => "model-refusal",
        }
    }
}

/// What `reply` comes to, given what was asked for.
pub fn judge(reply: &Reply, expected: Expected) -> Verdict {
    if let Some(error) = &reply.error {
        return Verdict::Error(sharpen(error.clone()));
    }
    if reply.synthetic {
        // The client's own words, never the model's (A056). Which trouble they mean is all that is open.
        let error = wording::trouble(&reply.text).unwrap_or(ErrorKind::Server);
        return Verdict::Error(named(error, &reply.text));
    }
    if reply.tool_call {
        return Verdict::Bad(BadKind::ToolCall);
    }
    if reply.stop == Stop::Refusal {
        return Verdict::Bad(BadKind::Refusal);
    }
    if reply.text.trim().is_empty() {
        return Verdict::Bad(if reply.stop == Stop::Limit { BadKind::TruncatedAll } else { BadKind::Empty });
    }
    let truncated = reply.stop == Stop::Limit;
    let parsed = draft::parse(&reply.text, if truncated { OpenEnd::Leave } else { OpenEnd::Keep });
    from_parsed(parsed, expected, truncated).unwrap_or_else(|| from_prose(&reply.text, truncated))
}

/// `None`: no tag of the format says anything.
fn from_parsed(parsed: Parsed, expected: Expected, truncated: bool) -> Option<Verdict> {
    let observations = expected.observations() && !parsed.drafts.is_empty();
    let summary = expected.summary() && parsed.summary.is_some();
    if observations || summary {
        return Some(Verdict::Good(Good {
            drafts: if expected.observations() { parsed.drafts } else { Vec::new() },
            summary_declined: expected.summary() && parsed.summary.is_none() && parsed.skip_summary.is_some(),
            summary: parsed.summary.filter(|_| expected.summary()),
            truncated,
            empty: parsed.empty,
            unreadable: parsed.unreadable,
        }));
    }
    if truncated {
        return Some(Verdict::Bad(BadKind::TruncatedAll));
    }
    let skipped = match expected {
        Expected::Observations => parsed.skip.is_some(),
        Expected::Summary => parsed.skip_summary.is_some() || parsed.skip.is_some(),
        // A lone `<skip/>` answers for both: nothing in the turn, so nothing to sum up.
        Expected::Both => parsed.skip.is_some() || parsed.skip_summary.is_some(),
    };
    if skipped {
        return Some(Verdict::Skip(SkipKind::Marker));
    }
    if !parsed.drafts.is_empty() || parsed.summary.is_some() || parsed.skip_summary.is_some() {
        return Some(Verdict::Bad(BadKind::WrongKind));
    }
    if parsed.unreadable > 0 || parsed.cut_short {
        return Some(Verdict::Bad(BadKind::Unreadable));
    }
    (parsed.empty > 0).then_some(Verdict::Bad(BadKind::EmptyRecords))
}

fn from_prose(text: &str, truncated: bool) -> Verdict {
    if let Some(kind) = wording::trouble(text) {
        return Verdict::Error(named(kind, text));
    }
    if truncated {
        return Verdict::Bad(BadKind::TruncatedAll);
    }
    if wording::declines(text) { Verdict::Skip(SkipKind::Prose) } else { Verdict::Bad(BadKind::Prose) }
}

/// An error told only in words.
fn named(kind: ErrorKind, text: &str) -> ReplyError {
    let message = crate::memory::safe_line(crate::memory::clip_chars(text.trim(), 300));
    ReplyError { kind, resets_at: wording::reset_epoch(text), message, ..ReplyError::default() }
}

/// Some services name an exhausted allowance only in the message of a 429 or 402 (A058).
fn sharpen(mut error: ReplyError) -> ReplyError {
    if error.kind == ErrorKind::RateLimit && wording::exhausted(&error.message) {
        error.kind = ErrorKind::Quota;
    }
    error
}

#[cfg(test)]
mod tests;
