//! Remembering by hand: a person's or a model's own words as a memory. One way for the command line, the screen and
//! MCP, so that a note is cleaned and filed alike wherever it was written.

use crate::gate::redact::clean;
use crate::memory::{
    Evidence, Kind, MemoryId, NewMemory, ProjectRef, Source, Timestamp, clip_chars, safe_line, safe_text,
};
use crate::mode::Mode;

/// Longest title made from a text, in characters.
const TITLE_CHARS: usize = 100;

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct ByHand {
    /// The text.
    pub text: String,
    /// Title; empty: the first line of the text.
    pub title: String,
    /// Type word; empty: the mode's neutral type.
    pub type_word: String,
    /// Concepts.
    pub concepts: Vec<String>,
    /// Files it is about.
    pub files: Vec<String>,
    /// Always given to sessions.
    pub pin: bool,
    /// Earlier memories it replaces.
    pub supersedes: Vec<MemoryId>,
    /// Who wrote, if a model did.
    pub model: Option<String>,
}

impl ByHand {
    /// The memory it becomes, filed under `project`. `None`: nothing is left once what must not be kept is taken out.
    pub fn memory(&self, mode: &Mode, project: Option<ProjectRef>, now: Timestamp) -> Option<NewMemory> {
        let text = safe_text(&clean(&self.text)).trim().to_owned();
        let given = safe_line(&clean(&self.title));
        if text.is_empty() && given.is_empty() {
            return None;
        }
        let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let title = if given.is_empty() { titled(first) } else { given };
        let (type_id, raw_type) = mode.type_id(&self.type_word);
        // The text is not said twice where it is no longer than its title.
        let narrative = if text == title { String::new() } else { text };
        let cleaned = |list: &[String]| -> Vec<String> {
            list.iter().map(|it| safe_line(&clean(it))).filter(|it| !it.is_empty()).collect()
        };
        Some(NewMemory {
            kind: Kind::Observation,
            concepts: mode.concepts_of(&cleaned(&self.concepts), &type_id),
            type_id,
            raw_type,
            title,
            narrative,
            // A note is about files; whether they were changed then, nobody saw.
            files_read: cleaned(&self.files),
            evidence: if self.files.is_empty() { Evidence::None } else { Evidence::Files },
            project,
            created_at: now,
            source: Source::Manual,
            model: self.model.clone(),
            pinned: self.pin,
            supersedes: self.supersedes.clone(),
            ..NewMemory::default()
        })
    }
}

/// A first line as a title: cut at a word.
fn titled(line: &str) -> String {
    let cut = clip_chars(line, TITLE_CHARS);
    if cut.len() == line.len() {
        return line.to_owned();
    }
    let word_end = cut.rfind(char::is_whitespace).filter(|at| *at > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", cut[..word_end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode;

    fn memory(by_hand: ByHand) -> Option<NewMemory> {
        by_hand.memory(&mode::code(), None, "2026-03-10T09:30:00Z".parse().unwrap())
    }

    #[test]
    fn a_note_is_titled_typed_and_cleaned() {
        let text = format!("We deploy on Tuesdays.\nNever on Fridays. <private>pw</private> {}", "long ".repeat(40));
        let note = memory(ByHand {
            text,
            type_word: "Decision".into(),
            concepts: vec!["Gotcha".into(), "decision".into(), " ".into()],
            ..ByHand::default()
        })
        .unwrap();
        assert_eq!((note.title.as_str(), note.type_id.as_str()), ("We deploy on Tuesdays.", "decision"));
        assert_eq!(note.concepts, ["gotcha"]);
        assert!(note.narrative.contains("Never on Fridays.") && !note.narrative.contains("pw"));
        assert_eq!(note.source, Source::Manual);
        let short = memory(ByHand { text: "One line".into(), ..ByHand::default() }).unwrap();
        assert_eq!((short.title.as_str(), short.narrative.as_str()), ("One line", ""));
        assert_eq!(short.type_id, "discovery");
    }

    #[test]
    fn nothing_left_is_nothing_to_remember() {
        for text in ["", "  \n", "<private>secret</private>"] {
            assert_eq!(memory(ByHand { text: text.into(), ..ByHand::default() }), None);
        }
    }

    #[test]
    fn a_long_line_is_cut_at_a_word() {
        let note = memory(ByHand { text: "word ".repeat(60), ..ByHand::default() }).unwrap();
        assert!(note.title.chars().count() <= TITLE_CHARS + 1 && note.title.ends_with("word…"));
        let note = memory(ByHand { text: "支".repeat(300), ..ByHand::default() }).unwrap();
        assert_eq!(note.title.chars().count(), TITLE_CHARS + 1);
    }
}
