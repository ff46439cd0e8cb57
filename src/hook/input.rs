//! What the client sends to a hook. Everything is optional: a field that is missing or of another kind is absent, and
//! unknown fields are passed over, so that a newer client is understood as far as it goes.

use serde::Deserialize;
use serde_json::Value;

/// The fields that cmem looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Session.
    pub session_id: String,
    /// Working directory of the session.
    pub cwd: String,
    /// Why a session starts: `startup`, `resume`, `clear`, `compact`.
    pub source: String,
    /// Helper agent that acts, if one does.
    pub agent_id: String,
    /// File that a tool is about to read.
    pub file_path: String,
    /// The user's words.
    pub prompt: String,
}

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    session_id: Value,
    #[serde(default)]
    cwd: Value,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    agent_id: Value,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    prompt: Value,
}

impl Input {
    /// Reads it. `None`: no JSON object.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let raw: Raw = serde_json::from_slice(bytes).ok()?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Some(Self {
            session_id: text(&raw.session_id),
            cwd: text(&raw.cwd),
            source: text(&raw.source),
            agent_id: text(&raw.agent_id),
            file_path: text(&raw.tool_input["file_path"]),
            prompt: text(&raw.prompt),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_input_is_read_as_far_as_it_goes() {
        let input = Input::parse(br#"{"session_id":"s","cwd":7,"tool_input":{"file_path":"/a"},"new":[1]}"#).unwrap();
        assert_eq!((input.session_id.as_str(), input.cwd.as_str(), input.file_path.as_str()), ("s", "", "/a"));
        assert_eq!(Input::parse(b"{}"), Some(Input::default()));
        for broken in [&b""[..], b"{", b"\xff", b"null", b"7"] {
            assert_eq!(Input::parse(broken), None);
        }
    }
}
