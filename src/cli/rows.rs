//! How memories look in the terminal: one line each in lists, a page each in full. Always made safe: a memory's text
//! comes from a model that read untrusted files (A102).

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::print::{Style, Terminal};
use crate::memory::{Evidence, Kind, Memory, Source, Timestamp, safe_line, safe_text};
use crate::mode::Mode;

/// What rows are drawn with.
pub struct Look<'a> {
    /// The terminal.
    pub terminal: Terminal,
    /// The zone of times.
    pub zone: &'a TimeZone,
    /// Signs of types.
    pub mode: &'a Mode,
}

impl Look<'_> {
    /// One line: id, time, sign, type, project, title. Cut to the width of a terminal, whole in a pipe.
    pub fn line(&self, memory: &Memory) -> String {
        let kind = self.kind(memory);
        let id = format!("{:>6}", memory.id.0);
        let time = self.time(memory.created_at);
        let word = format!("{} {:<10}", self.sign(memory), kind);
        let project = padded(&safe_line(&memory.project), PROJECT);
        let mut title = safe_line(if memory.title.is_empty() { &memory.narrative } else { &memory.title });
        if memory.count > 1 {
            let _ = write!(title, " ×{}", memory.count);
        }
        let before = [id.as_str(), &time, &word, &project].iter().map(|part| part.width() + 2).sum::<usize>();
        let title = match self.terminal.width {
            Some(width) => fit(&title, width.saturating_sub(before).max(10)),
            None => title,
        };
        let paint = |style, text: &str| self.terminal.paint(style, text);
        let title =
            if memory.superseded_by.is_some() || memory.abandoned { paint(Style::Quiet, &title) } else { title };
        format!(
            "{}  {}  {}  {}  {title}",
            paint(Style::Quiet, &id),
            paint(Style::Quiet, &time),
            paint(Style::Accent, &word),
            paint(Style::Quiet, &project)
        )
    }

    /// Everything about one memory.
    pub fn page(&self, memory: &Memory) -> String {
        let paint = |style, text: &str| self.terminal.paint(style, text);
        let mut out = String::new();
        let title = safe_line(&memory.title);
        let _ = writeln!(out, "{} {}", paint(Style::Quiet, &format!("#{}", memory.id.0)), paint(Style::Strong, &title));
        let mut about = vec![format!("{} {}", self.sign(memory), self.kind(memory)), self.time(memory.created_at)];
        if !memory.project.is_empty() {
            about.push(format!("{} ({})", safe_line(&memory.project), safe_line(&memory.project_root)));
        }
        about.extend(memory.branch.as_deref().map(|branch| format!("branch {}", safe_line(branch))));
        let _ = writeln!(out, "{}", paint(Style::Accent, &about.join(" · ")));
        if !memory.subtitle.is_empty() {
            let _ = writeln!(out, "{}", safe_line(&memory.subtitle));
        }
        let paragraphs = |out: &mut String, heading: &str, text: &str| {
            if !text.trim().is_empty() {
                let heading =
                    if heading.is_empty() { String::new() } else { format!("{}\n", paint(Style::Strong, heading)) };
                let _ = write!(out, "\n{heading}{}\n", safe_text(text.trim()));
            }
        };
        match &memory.summary {
            Some(summary) => {
                let parts = [
                    ("Request", &summary.request),
                    ("Investigated", &summary.investigated),
                    ("Learned", &summary.learned),
                    ("Completed", &summary.completed),
                    ("Next steps", &summary.next_steps),
                    ("Notes", &summary.notes),
                ];
                parts.into_iter().for_each(|(heading, text)| paragraphs(&mut out, heading, text));
            }
            None => paragraphs(&mut out, "", &memory.narrative),
        }
        let list = |out: &mut String, heading: &str, items: &[String]| {
            if !items.is_empty() {
                let _ = writeln!(out, "\n{}", paint(Style::Strong, heading));
                for item in items {
                    let _ = writeln!(out, "- {}", safe_line(item));
                }
            }
        };
        list(&mut out, "Facts", &memory.facts);
        list(&mut out, "Files modified", &memory.files_modified);
        list(&mut out, "Files read", &memory.files_read);
        let _ = writeln!(out, "\n{}", paint(Style::Quiet, &self.foot(memory)));
        out
    }

    /// Where it comes from, and what is special about it.
    fn foot(&self, memory: &Memory) -> String {
        let source = match memory.source {
            Source::Observer => "observed",
            Source::Offline => "observed without a model",
            Source::Manual => "written by hand",
            Source::Import => "imported",
            Source::Fallback => "from the closing answer",
        };
        let mut parts = vec![source.to_owned()];
        parts.extend(memory.model.as_deref().map(|model| format!("model {}", safe_line(model))));
        parts.extend(
            memory
                .session
                .as_ref()
                .map(|session| format!("session {}, prompt {}", safe_line(session.as_str()), memory.prompt_number)),
        );
        parts.extend(memory.agent.as_ref().map(|agent| format!("agent {}", safe_line(agent.as_str()))));
        parts.push(format!("{} tokens", memory.tokens));
        if !memory.concepts.is_empty() {
            parts.push(format!("concepts {}", safe_line(&memory.concepts.join(", "))));
        }
        if memory.evidence == Evidence::Unknown && memory.kind == Kind::Observation && memory.files_modified.is_empty()
        {
            parts.push("files unknown".to_owned());
        }
        let flags = [
            (memory.pinned, "pinned"),
            (memory.excluded, "excluded"),
            (memory.edited, "edited"),
            (memory.abandoned, "on an abandoned branch"),
        ];
        parts.extend(flags.into_iter().filter(|(set, _)| *set).map(|(_, word)| word.to_owned()));
        parts.extend(memory.superseded_by.map(|id| format!("replaced by #{}", id.0)));
        if memory.count > 1 {
            parts.push(format!("{} near-equal findings", memory.count));
        }
        parts.join(" · ")
    }

    fn kind(&self, memory: &Memory) -> String {
        match memory.kind {
            Kind::Observation => safe_line(&memory.type_id),
            Kind::Summary => "summary".into(),
            Kind::Prompt => "prompt".into(),
        }
    }

    fn sign(&self, memory: &Memory) -> String {
        match memory.kind {
            Kind::Observation => self.mode.type_def(&memory.type_id).map_or_else(|| "?".into(), |it| it.glyph.clone()),
            Kind::Summary => "≡".into(),
            Kind::Prompt => "›".into(),
        }
    }

    fn time(&self, time: Timestamp) -> String {
        time.to_zoned_datetime(self.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    }
}

/// Columns of a project's name, so that titles stand in one line; longer names are shown whole.
const PROJECT: usize = 14;

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// `text` in at most `columns`, an ellipsis where it was cut; never inside a character.
pub fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut out, mut used) = (String::new(), 0);
    for cluster in text.graphemes(true) {
        if used + cluster.width() + 1 > columns {
            break;
        }
        out.push_str(cluster);
        used += cluster.width();
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_respects_width_and_clusters() {
        for columns in 1..30 {
            for text in ["🦀 Grantで取得", "naïve e\u{301}e\u{301}e\u{301}", "支付回调重复", "short"] {
                assert!(fit(text, columns).width() <= columns, "{text} in {columns}");
            }
        }
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("abc", 3), "abc");
    }
}
