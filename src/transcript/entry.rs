//! One line of a transcript as an [`Entry`]: one pass, borrowed, and never an error for a type or field that is new.
//!
//! There is no closed enum anywhere: `type` is a string. What a field means is decided by those who use it; here
//! is only which fields are looked at. Everything else on the line is read over.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::content::Content;
use super::json::{Count, Flag, Text, Texts, fields, unwanted};
use super::outcome::Outcome;

/// The fields of a line that anything is made of.
#[derive(Debug, Default)]
pub struct Entry<'a> {
    /// `type`.
    pub kind: Text<'a>,
    /// `subtype` (system).
    pub subtype: Text<'a>,
    /// `operation` (queue-operation).
    pub operation: Text<'a>,
    /// `uuid`.
    pub uuid: Text<'a>,
    /// `parentUuid`.
    pub parent: Text<'a>,
    /// `timestamp`.
    pub timestamp: Text<'a>,
    /// `sessionId`.
    pub session: Text<'a>,
    /// `cwd`.
    pub cwd: Text<'a>,
    /// `version`.
    pub version: Text<'a>,
    /// `gitBranch`.
    pub branch: Text<'a>,
    /// `entrypoint`.
    pub entrypoint: Text<'a>,
    /// `agentId`.
    pub agent: Text<'a>,
    /// `isSidechain`.
    pub sidechain: bool,
    /// `isMeta`.
    pub meta: bool,
    /// `isCompactSummary`.
    pub compact_summary: bool,
    /// `isVisibleInTranscriptOnly`.
    pub transcript_only: bool,
    /// `planContent` is there.
    pub plan_content: bool,
    /// `turnOrigin`.
    pub turn_origin: Text<'a>,
    /// `promptSource`.
    pub prompt_source: Text<'a>,
    /// `toolDenialKind`.
    pub denial: Text<'a>,
    /// `origin`.
    pub origin: Tagged<'a>,
    /// `message`.
    pub message: Message<'a>,
    /// `content` beside the message (system, queue-operation).
    pub content: Content<'a>,
    /// `toolUseResult`.
    pub outcome: Option<Box<Outcome<'a>>>,
    /// `data` (progress).
    pub data: Tagged<'a>,
    /// `attachment`.
    pub attachment: Tagged<'a>,
    /// `isApiErrorMessage`.
    pub api_error: bool,
    /// `isAbortedMidStream`.
    pub aborted: bool,
    /// `supersedesUuids` and `retractedMessageUuids`.
    pub taken_back: Vec<std::borrow::Cow<'a, str>>,
    /// `forkedFrom`.
    pub forked_from: Tagged<'a>,
    /// `summary`, `customTitle`, `aiTitle` or `agentName`.
    pub title: Text<'a>,
    /// `leafUuid`.
    pub leaf: Text<'a>,
    /// `prUrl`.
    pub pr_url: Text<'a>,
    /// `commandUuid` (queue-operation).
    pub command: Text<'a>,
    /// `hookErrors` names any.
    pub hook_errors: bool,
    /// `preventedContinuation`.
    pub prevented: bool,
}

/// `message` of a user or assistant entry.
#[derive(Debug, Default)]
pub struct Message<'a> {
    /// It was an object. Foreign files have plain strings, which then are the content.
    pub object: bool,
    /// `id`.
    pub id: Text<'a>,
    /// `model`.
    pub model: Text<'a>,
    /// `stop_reason`.
    pub stop_reason: Text<'a>,
    /// `usage.output_tokens`.
    pub output_tokens: u64,
    /// `content`.
    pub content: Content<'a>,
}

/// Small objects that name what they are: `origin`, `data`, `attachment`, `forkedFrom`.
#[derive(Debug, Default)]
pub struct Tagged<'a> {
    /// `kind`.
    pub kind: Text<'a>,
    /// `type`.
    pub type_name: Text<'a>,
    /// `prompt` of a queued command.
    pub prompt: Content<'a>,
    /// `commandMode` of a queued command.
    pub mode: Text<'a>,
    /// `origin.kind` of a queued command.
    pub origin: Text<'a>,
    /// `messageUuid` of a fork.
    pub message: Text<'a>,
}

impl Entry<'_> {
    /// What tells entries of one `type` apart.
    pub fn sub(&self) -> Option<&str> {
        match self.kind.get()? {
            "system" => self.subtype.filled(),
            "queue-operation" => self.operation.filled(),
            "progress" => self.data.type_name.filled(),
            "attachment" => self.attachment.type_name.filled(),
            _ => None,
        }
    }
}

/// An entry, if the value was an object.
pub struct Parsed<'a>(pub Option<Entry<'a>>);

impl<'de> Deserialize<'de> for Parsed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor).map(Parsed)
    }
}

fields!(Field {
    Kind = "type",
    Subtype = "subtype",
    Operation = "operation",
    Uuid = "uuid",
    Parent = "parentUuid",
    Timestamp = "timestamp",
    Session = "sessionId",
    Cwd = "cwd",
    Version = "version",
    Branch = "gitBranch",
    Entrypoint = "entrypoint",
    Agent = "agentId",
    Sidechain = "isSidechain",
    Meta = "isMeta",
    CompactSummary = "isCompactSummary",
    TranscriptOnly = "isVisibleInTranscriptOnly",
    PlanContent = "planContent",
    TurnOrigin = "turnOrigin",
    PromptSource = "promptSource",
    Denial = "toolDenialKind",
    Origin = "origin",
    Message = "message",
    Content = "content",
    Outcome = "toolUseResult",
    Data = "data",
    Attachment = "attachment",
    ApiError = "isApiErrorMessage",
    Aborted = "isAbortedMidStream",
    Supersedes = "supersedesUuids",
    Retracted = "retractedMessageUuids",
    ForkedFrom = "forkedFrom",
    Summary = "summary",
    CustomTitle = "customTitle",
    AiTitle = "aiTitle",
    AgentName = "agentName",
    Leaf = "leafUuid",
    PrUrl = "prUrl",
    Command = "commandUuid",
    HookErrors = "hookErrors",
    Prevented = "preventedContinuation",
});

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = Option<Entry<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut it = Entry::default();
        while let Some(field) = map.next_key()? {
            match field {
                Field::Kind => it.kind = map.next_value()?,
                Field::Subtype => it.subtype = map.next_value()?,
                Field::Operation => it.operation = map.next_value()?,
                Field::Uuid => it.uuid = map.next_value()?,
                Field::Parent => it.parent = map.next_value()?,
                Field::Timestamp => it.timestamp = map.next_value()?,
                Field::Session => it.session = map.next_value()?,
                Field::Cwd => it.cwd = map.next_value()?,
                Field::Version => it.version = map.next_value()?,
                Field::Branch => it.branch = map.next_value()?,
                Field::Entrypoint => it.entrypoint = map.next_value()?,
                Field::Agent => it.agent = map.next_value()?,
                Field::Sidechain => it.sidechain = map.next_value::<Flag>()?.0,
                Field::Meta => it.meta = map.next_value::<Flag>()?.0,
                Field::CompactSummary => it.compact_summary = map.next_value::<Flag>()?.0,
                Field::TranscriptOnly => it.transcript_only = map.next_value::<Flag>()?.0,
                Field::PlanContent => it.plan_content = map.next_value::<Flag>()?.0,
                Field::TurnOrigin => it.turn_origin = map.next_value()?,
                Field::PromptSource => it.prompt_source = map.next_value()?,
                Field::Denial => it.denial = map.next_value()?,
                Field::Origin => it.origin = map.next_value()?,
                Field::Message => it.message = map.next_value()?,
                Field::Content => it.content = map.next_value()?,
                Field::Outcome => it.outcome = Some(Box::new(map.next_value()?)),
                Field::Data => it.data = map.next_value()?,
                Field::Attachment => it.attachment = map.next_value()?,
                Field::ApiError => it.api_error = map.next_value::<Flag>()?.0,
                Field::Aborted => it.aborted = map.next_value::<Flag>()?.0,
                Field::Supersedes | Field::Retracted => it.taken_back.extend(map.next_value::<Texts<'de>>()?.0),
                Field::ForkedFrom => it.forked_from = map.next_value()?,
                Field::Summary | Field::CustomTitle | Field::AiTitle | Field::AgentName => {
                    it.title = map.next_value()?
                }
                Field::Leaf => it.leaf = map.next_value()?,
                Field::PrUrl => it.pr_url = map.next_value()?,
                Field::Command => it.command = map.next_value()?,
                Field::HookErrors => it.hook_errors = map.next_value::<Flag>()?.0,
                Field::Prevented => it.prevented = map.next_value::<Flag>()?.0,
                Field::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Some(it))
    }

    unwanted!(None; bool number null string array);
}

fields!(MessageField { Id = "id", Model = "model", StopReason = "stop_reason", Usage = "usage", Content = "content" });

struct MessageVisitor;

impl<'de> Deserialize<'de> for Message<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MessageVisitor)
    }
}

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Message<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Message<'de>, E> {
        Ok(Message { content: Content::Text(text.into()), ..Message::default() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Message<'de>, E> {
        Ok(Message { content: Content::Text(text.to_owned().into()), ..Message::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message<'de>, A::Error> {
        let mut it = Message { object: true, ..Message::default() };
        while let Some(field) = map.next_key()? {
            match field {
                MessageField::Id => it.id = map.next_value()?,
                MessageField::Model => it.model = map.next_value()?,
                MessageField::StopReason => it.stop_reason = map.next_value()?,
                MessageField::Usage => it.output_tokens = map.next_value::<Usage>()?.0,
                MessageField::Content => it.content = map.next_value()?,
                MessageField::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(it)
    }

    unwanted!(Message::default(); bool number null array);
}

fields!(UsageField { OutputTokens = "output_tokens" });

struct Usage(u64);

struct UsageVisitor;

impl<'de> Deserialize<'de> for Usage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UsageVisitor).map(Usage)
    }
}

impl<'de> Visitor<'de> for UsageVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<u64, A::Error> {
        let mut tokens = 0;
        while let Some(field) = map.next_key()? {
            match field {
                UsageField::OutputTokens => tokens = map.next_value::<Count>()?.0.unwrap_or(0),
                UsageField::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(tokens)
    }

    unwanted!(0; bool number null string array);
}

fields!(TagField {
    Kind = "kind",
    Type = "type",
    Prompt = "prompt",
    Mode = "commandMode",
    Origin = "origin",
    Message = "messageUuid",
});

struct TaggedVisitor {
    nested: bool,
}

impl<'de> Deserialize<'de> for Tagged<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaggedVisitor { nested: false })
    }
}

/// `origin` inside a tagged object: only its kind is wanted.
struct Inner<'a>(Text<'a>);

impl<'de> Deserialize<'de> for Inner<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaggedVisitor { nested: true }).map(|it| Inner(it.kind))
    }
}

impl<'de> Visitor<'de> for TaggedVisitor {
    type Value = Tagged<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tagged<'de>, A::Error> {
        let mut it = Tagged::default();
        while let Some(field) = map.next_key()? {
            match field {
                TagField::Kind => it.kind = map.next_value()?,
                TagField::Type => it.type_name = map.next_value()?,
                TagField::Mode => it.mode = map.next_value()?,
                TagField::Message => it.message = map.next_value()?,
                TagField::Prompt if !self.nested => it.prompt = map.next_value()?,
                TagField::Origin if !self.nested => it.origin = map.next_value::<Inner<'de>>()?.0,
                TagField::Prompt | TagField::Origin | TagField::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(it)
    }

    unwanted!(Tagged::default(); bool number null string array);
}
