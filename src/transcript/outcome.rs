//! `toolUseResult`: the richer copy of a tool's result, an object, a string or an array for the same tool.
//!
//! Its shapes differ by tool and by version (transcripts.md §7), and the tool's name is not on the line. So one
//! reader takes the few fields that mean the same wherever they occur, and reads over the rest, which is most of
//! the bytes: an Edit carries the whole old file, a Read the text a second time.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::json::{Count, Flag, Text, Texts, fields, unwanted};

/// What is taken from a `toolUseResult`.
#[derive(Debug, Default)]
pub struct Outcome<'a> {
    /// The whole of it, when it is a string.
    pub text: Text<'a>,
    /// `filePath`, `file.filePath`.
    pub file: Text<'a>,
    /// `type`: `create`, `update`, `text`, `image` …
    pub kind: Text<'a>,
    /// Lines added and removed by `structuredPatch`.
    pub patch: Option<(u32, u32)>,
    /// `content`, unread: the text of a created file.
    pub content: Option<&'a RawValue>,
    /// `stdout` and `stderr`, unread: they repeat the content of the result.
    pub stdout: Option<&'a RawValue>,
    /// See [`Outcome::stdout`].
    pub stderr: Option<&'a RawValue>,
    /// Helper agent.
    pub agent: Text<'a>,
    /// Helper agent of a team, which has no file of its own name.
    pub teammate: Text<'a>,
    /// Files or matches found.
    pub found: Option<u64>,
    /// Size of an output kept in a side file.
    pub persisted: Option<u64>,
    /// Background task that was started.
    pub background: Text<'a>,
    /// The call goes on in the background.
    pub is_async: bool,
    /// `status`.
    pub status: Text<'a>,
    /// It was interrupted.
    pub interrupted: bool,
    /// The exit code was read as something other than success or failure.
    pub interpreted: bool,
    /// `exitCode`, where a version gives it.
    pub exit_code: Option<u64>,
    /// The user's answers: question and answer.
    pub answers: Vec<(Cow<'a, str>, String)>,
    /// Remarks the user made beside the answers.
    pub remarks: Vec<(Cow<'a, str>, String)>,
    /// The plan as approved.
    pub plan: Text<'a>,
}

fields!(Field {
    FilePath = "filePath",
    File = "file",
    Kind = "type",
    Patch = "structuredPatch",
    Content = "content",
    Stdout = "stdout",
    Stderr = "stderr",
    AgentId = "agentId",
    AgentIdSnake = "agent_id",
    NumFiles = "numFiles",
    NumMatches = "numMatches",
    NumLines = "numLines",
    Persisted = "persistedOutputSize",
    Background = "backgroundTaskId",
    IsAsync = "isAsync",
    Status = "status",
    Interrupted = "interrupted",
    Interpretation = "returnCodeInterpretation",
    ExitCode = "exitCode",
    Answers = "answers",
    Annotations = "annotations",
    Plan = "plan",
});

impl<'de> Deserialize<'de> for Outcome<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OutcomeVisitor)
    }
}

struct OutcomeVisitor;

impl<'de> Visitor<'de> for OutcomeVisitor {
    type Value = Outcome<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Outcome<'de>, E> {
        Ok(Outcome { text: Text(Some(Cow::Borrowed(text))), ..Outcome::default() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Outcome<'de>, E> {
        Ok(Outcome { text: Text(Some(Cow::Owned(text.to_owned()))), ..Outcome::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Outcome<'de>, A::Error> {
        let mut out = Outcome::default();
        while let Some(field) = map.next_key()? {
            match field {
                Field::FilePath => out.file = map.next_value()?,
                Field::File => {
                    let file = map.next_value::<FilePath<'de>>()?.0;
                    if file.0.is_some() {
                        out.file = file;
                    }
                }
                Field::Kind => out.kind = map.next_value()?,
                Field::Patch => out.patch = map.next_value::<Patch>()?.0,
                Field::Content => out.content = Some(map.next_value()?),
                Field::Stdout => out.stdout = Some(map.next_value()?),
                Field::Stderr => out.stderr = Some(map.next_value()?),
                Field::AgentId => out.agent = map.next_value()?,
                Field::AgentIdSnake => out.teammate = map.next_value()?,
                Field::NumMatches | Field::NumFiles => out.found = map.next_value::<Count>()?.0.max(out.found),
                Field::NumLines => out.found = out.found.max(map.next_value::<Count>()?.0),
                Field::Persisted => out.persisted = map.next_value::<Count>()?.0,
                Field::Background => out.background = map.next_value()?,
                Field::IsAsync => out.is_async = map.next_value::<Flag>()?.0,
                Field::Status => out.status = map.next_value()?,
                Field::Interrupted => out.interrupted = map.next_value::<Flag>()?.0,
                Field::Interpretation => out.interpreted = map.next_value::<Flag>()?.0,
                Field::ExitCode => out.exit_code = map.next_value::<Count>()?.0,
                Field::Answers => out.answers = map.next_value::<Answers<'de>>()?.0,
                Field::Annotations => out.remarks = map.next_value::<Answers<'de>>()?.0,
                Field::Plan => out.plan = map.next_value()?,
                Field::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(out)
    }

    unwanted!(Outcome::default(); bool number null array);
}

/// `file`: an object with `filePath`, or a path.
struct FilePath<'a>(Text<'a>);

struct FilePathVisitor;

impl<'de> Deserialize<'de> for FilePath<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FilePathVisitor).map(FilePath)
    }
}

impl<'de> Visitor<'de> for FilePathVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text<'de>, A::Error> {
        let mut path = Text(None);
        while let Some(field) = map.next_key()? {
            match field {
                Field::FilePath => path = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(path)
    }

    unwanted!(Text(None); bool number null array);
}

/// `structuredPatch`: lines added and removed, over all hunks.
struct Patch(Option<(u32, u32)>);

struct PatchVisitor;

struct Hunk(u32, u32);

struct HunkVisitor;

fields!(HunkField { Lines = "lines" });

impl<'de> Deserialize<'de> for Patch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PatchVisitor).map(Patch)
    }
}

impl<'de> Visitor<'de> for PatchVisitor {
    type Value = Option<(u32, u32)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut sum = (0u32, 0u32);
        while let Some(hunk) = seq.next_element::<Hunk>()? {
            sum = (sum.0.saturating_add(hunk.0), sum.1.saturating_add(hunk.1));
        }
        Ok(Some(sum))
    }

    unwanted!(None; bool number null string object);
}

impl<'de> Deserialize<'de> for Hunk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HunkVisitor)
    }
}

impl<'de> Visitor<'de> for HunkVisitor {
    type Value = Hunk;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Hunk, A::Error> {
        let mut hunk = Hunk(0, 0);
        while let Some(field) = map.next_key()? {
            match field {
                HunkField::Lines => {
                    for line in map.next_value::<Texts<'de>>()?.0 {
                        match line.as_bytes().first() {
                            Some(b'+') => hunk.0 = hunk.0.saturating_add(1),
                            Some(b'-') => hunk.1 = hunk.1.saturating_add(1),
                            _ => {}
                        }
                    }
                }
                HunkField::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(hunk)
    }

    unwanted!(Hunk(0, 0); bool number null string array);
}

/// An object from question to answer, where an answer is a string, a list, or an object with the words in it.
struct Answers<'a>(Vec<(Cow<'a, str>, String)>);

struct AnswersVisitor;

impl<'de> Deserialize<'de> for Answers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnswersVisitor).map(Answers)
    }
}

impl<'de> Visitor<'de> for AnswersVisitor {
    type Value = Vec<(Cow<'de, str>, String)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut answers = Vec::new();
        while let Some(question) = map.next_key::<Text<'de>>()? {
            let Words(words) = map.next_value()?;
            if let Some(question) = question.0
                && !words.is_empty()
            {
                answers.push((question, words));
            }
        }
        Ok(answers)
    }

    unwanted!(Vec::new(); bool number null string array);
}

/// All the words in a value, whatever its type, joined by commas. Nesting ends at the second level.
struct Words(String);

struct WordsVisitor;

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsVisitor).map(Words)
    }
}

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.trim().to_owned())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<String, A::Error> {
        let mut words = Vec::new();
        while let Some(Text(text)) = seq.next_element()? {
            words.extend(text.filter(|text| !text.trim().is_empty()));
        }
        Ok(words.join(", "))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut words = Vec::new();
        while let Some((_, Text(text))) = map.next_entry::<IgnoredAny, _>()? {
            words.extend(text.filter(|text| !text.trim().is_empty()));
        }
        Ok(words.join(", "))
    }

    unwanted!(String::new(); bool number null);
}
