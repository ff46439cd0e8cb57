//! What a message holds: a string, or blocks of text, tool calls, tool results, pictures.
//!
//! Binary blocks are never kept: a placeholder says what was there (media type, bytes, a short hash).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::json::{Flag, Text, fields, unwanted};

/// `content` of a message, of a tool result, or of a queue line.
#[derive(Debug, Default)]
pub enum Content<'a> {
    /// Missing, null, or of a type that says nothing.
    #[default]
    None,
    /// A plain string.
    Text(Cow<'a, str>),
    /// Blocks, in order.
    Blocks(Vec<Block<'a>>),
}

/// One block. Fields that its type does not have are empty.
#[derive(Debug, Default)]
pub struct Block<'a> {
    /// `text`, `tool_use`, `tool_result`, `image`, `document`, `thinking` …
    pub kind: Text<'a>,
    /// Text of a text block.
    pub text: Text<'a>,
    /// Id of a tool call.
    pub id: Text<'a>,
    /// Tool of a call, or of a reference.
    pub name: Text<'a>,
    /// Input of a call, as JSON text.
    pub input: Option<&'a RawValue>,
    /// Call that a result belongs to.
    pub tool_use_id: Text<'a>,
    /// A result that failed.
    pub is_error: Flag,
    /// Content of a result.
    pub content: Content<'a>,
    /// Data of a picture or document.
    pub media: Option<Media<'a>>,
}

/// A picture or document inside a block.
#[derive(Debug, Default)]
pub struct Media<'a> {
    media_type: Text<'a>,
    data: Text<'a>,
    url: Text<'a>,
}

impl<'a> Content<'a> {
    /// The blocks; none for a plain string.
    pub fn blocks(&self) -> &[Block<'a>] {
        match self {
            Self::Blocks(blocks) => blocks,
            _ => &[],
        }
    }

    /// Its texts: the string itself, or those of the text blocks.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (string, blocks) = match self {
            Self::None => (None, &[][..]),
            Self::Text(text) => (Some(text.as_ref()), &[][..]),
            Self::Blocks(blocks) => (None, blocks.as_slice()),
        };
        string
            .into_iter()
            .chain(blocks.iter().filter(|block| block.kind.is("text")).map(|block| block.text.get().unwrap_or("")))
    }

    /// All of it as text: text blocks joined by newlines, everything else as a placeholder.
    pub fn into_flat(self) -> String {
        let mut blocks = match self {
            Self::None => return String::new(),
            Self::Text(text) => return text.into_owned(),
            Self::Blocks(blocks) => blocks,
        };
        if let [block] = blocks.as_mut_slice()
            && block.kind.is("text")
        {
            return block.text.0.take().unwrap_or_default().into_owned();
        }
        let mut out = String::new();
        for block in &blocks {
            if !out.is_empty() {
                out.push('\n');
            }
            match block.text.get() {
                Some(text) if block.kind.is("text") || block.kind.0.is_none() => out.push_str(text),
                _ => out.push_str(&block.placeholder()),
            }
        }
        out
    }

    /// Pictures and documents in it.
    pub fn attachments(&self) -> u32 {
        self.blocks().iter().map(|block| u32::from(block.is_media())).sum()
    }
}

impl Block<'_> {
    /// A picture or a document.
    pub fn is_media(&self) -> bool {
        self.kind.is("image") || self.kind.is("document")
    }

    /// What stands for a block that is no text: `[image: image/png, 1234 bytes, sha256 0a1b2c3d]`.
    fn placeholder(&self) -> String {
        let kind = self.kind.get().unwrap_or("block");
        match &self.media {
            Some(media) => media.placeholder(kind),
            None => match self.name.filled() {
                Some(name) => format!("[{kind}: {name}]"),
                None => format!("[{kind}]"),
            },
        }
    }
}

impl Media<'_> {
    fn placeholder(&self, kind: &str) -> String {
        let media_type = self.media_type.filled().unwrap_or("unknown type");
        match (self.data.get(), self.url.filled()) {
            (Some(data), _) => {
                let hash = Sha256::digest(data.as_bytes());
                let hash: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
                format!("[{kind}: {media_type}, {} bytes, sha256 {hash}]", decoded_length(data))
            }
            (None, Some(url)) => format!("[{kind}: {media_type}, {url}]"),
            (None, None) => format!("[{kind}: {media_type}]"),
        }
    }
}

/// Length of base64 text once decoded. Text that was shortened while it was read tells how much was left out.
fn decoded_length(data: &str) -> u64 {
    let mut length = data.len() as u64;
    if let Some((_, rest)) = data.split_once(" … [")
        && let Some((number, _)) = rest.split_once(" bytes left out] … ")
        && let Ok(number) = number.parse::<u64>()
    {
        length = length.saturating_sub(super::shrink::left_out_mark(number).len() as u64).saturating_add(number);
    }
    let padding = data.bytes().rev().take_while(|&byte| byte == b'=').take(2).count() as u64;
    (length / 4 * 3 + length % 4 * 3 / 4).saturating_sub(padding)
}

impl<'de> Deserialize<'de> for Content<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ContentSeed { nested: false }.deserialize(deserializer)
    }
}

/// Reads content. Nested content (of a tool result) holds blocks whose own content is not looked at, so that no
/// depth of nesting can exhaust the stack.
#[derive(Clone, Copy)]
struct ContentSeed {
    nested: bool,
}

impl<'de> DeserializeSeed<'de> for ContentSeed {
    type Value = Content<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Content<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ContentSeed {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content<'de>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element_seed(BlockSeed { nested: self.nested })? {
            blocks.extend(block);
        }
        Ok(Content::Blocks(blocks))
    }

    unwanted!(Content::None; bool number null object);
}

/// Reads one block; what is no object is no block.
struct BlockSeed {
    nested: bool,
}

fields!(BlockField {
    Kind = "type",
    Text = "text",
    Id = "id",
    Name = "name",
    ToolName = "tool_name",
    Input = "input",
    ToolUseId = "tool_use_id",
    IsError = "is_error",
    Content = "content",
    Source = "source",
});

impl<'de> DeserializeSeed<'de> for BlockSeed {
    type Value = Option<Block<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BlockSeed {
    type Value = Option<Block<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut block = Block::default();
        while let Some(field) = map.next_key()? {
            match field {
                BlockField::Kind => block.kind = map.next_value()?,
                BlockField::Text => block.text = map.next_value()?,
                BlockField::Id => block.id = map.next_value()?,
                BlockField::Name | BlockField::ToolName => block.name = map.next_value()?,
                BlockField::Input => block.input = Some(map.next_value()?),
                BlockField::ToolUseId => block.tool_use_id = map.next_value()?,
                BlockField::IsError => block.is_error = map.next_value()?,
                BlockField::Content if !self.nested => {
                    block.content = map.next_value_seed(ContentSeed { nested: true })?;
                }
                BlockField::Source => block.media = map.next_value::<AnyMedia<'de>>()?.0,
                BlockField::Content | BlockField::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Some(block))
    }

    unwanted!(None; bool number null string array);
}

struct AnyMedia<'a>(Option<Media<'a>>);

struct MediaVisitor;

fields!(MediaField { MediaType = "media_type", Data = "data", Url = "url" });

impl<'de> Deserialize<'de> for AnyMedia<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MediaVisitor).map(AnyMedia)
    }
}

impl<'de> Visitor<'de> for MediaVisitor {
    type Value = Option<Media<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut media = Media::default();
        while let Some(field) = map.next_key()? {
            match field {
                MediaField::MediaType => media.media_type = map.next_value()?,
                MediaField::Data => media.data = map.next_value()?,
                MediaField::Url => media.url = map.next_value()?,
                MediaField::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Some(media))
    }

    unwanted!(None; bool number null string array);
}
