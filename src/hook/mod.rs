//! Claude Code hooks: JSON in, JSON out, silence on trouble.
//!
//! A hook gives and never takes: it reads the database, adds text to what the model sees, and has no way to alter or
//! deny anything (A124): the answer type below holds nothing but a text. Whatever goes wrong (no database, a broken
//! input, a slow disk) the answer is silence, and the session goes on as if cmem were not there.
//!
//! `input` is what the client sends, `answer` what a moment comes to. Absent from it: decisions about what is told
//! (`recall::tell`), and the process around it (`cli::hook`).

mod answer;
mod input;

pub use answer::{Moment, Settled, answer, file_facts_of};
pub use input::Input;

use serde::Serialize;

/// What a hook may say: a text for the model's context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    hook_specific_output: Specific,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: &'static str,
    additional_context: String,
}

impl Output {
    /// The answer of a moment. An empty text is no answer.
    pub fn new(moment: Moment, text: String) -> Option<Self> {
        let hook_event_name = match moment {
            Moment::SessionStart => "SessionStart",
            Moment::PreRead => "PreToolUse",
            Moment::Prompt => "UserPromptSubmit",
        };
        let hook_specific_output = Specific { hook_event_name, additional_context: text };
        (!hook_specific_output.additional_context.is_empty()).then_some(Self { hook_specific_output })
    }

    /// One line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a124_the_answer_holds_a_text_and_nothing_that_could_alter_a_tool() {
        for moment in [Moment::SessionStart, Moment::PreRead, Moment::Prompt] {
            let json = Output::new(moment, "text".into()).unwrap().to_json();
            let value: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), ["hookSpecificOutput"]);
            let keys: Vec<&String> = value["hookSpecificOutput"].as_object().unwrap().keys().collect();
            assert_eq!(keys, ["additionalContext", "hookEventName"]);
        }
        assert_eq!(Output::new(Moment::PreRead, String::new()), None);
    }
}
