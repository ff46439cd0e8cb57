//! Memories as text for people (Markdown) and for tables (CSV). Both can be read, neither taken in again.

use std::io::{self, Write};

use super::export::Format;
use crate::memory::{Kind, Memory, safe_line, safe_text};

/// Writes one memory after the other.
pub(super) struct Writer {
    format: Format,
    day: String,
}

impl Writer {
    pub fn new(format: Format) -> Writer {
        Writer { format, day: String::new() }
    }

    pub fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Csv => out.write_all(
                b"id,kind,type,created_at,project,session,title,subtitle,narrative,facts,concepts,files_read,files_modified,source,pinned,keys\r\n",
            ),
            _ => out.write_all(b"# Memories\n"),
        }
    }

    pub fn memory(&mut self, out: &mut dyn Write, memory: &Memory) -> io::Result<()> {
        if self.format == Format::Csv { csv(out, memory) } else { self.markdown(out, memory) }
    }

    fn markdown(&mut self, out: &mut dyn Write, memory: &Memory) -> io::Result<()> {
        let at = memory.created_at.to_string();
        let (day, time) = at.split_once('T').unwrap_or((&at, ""));
        if self.day != day {
            self.day = day.to_owned();
            write!(out, "\n## {day}\n")?;
        }
        let what = match memory.kind {
            Kind::Observation => &memory.type_id,
            Kind::Summary => "summary",
            Kind::Prompt => "prompt",
        };
        write!(out, "\n### #{} {what}: {}\n\n", memory.id.0, safe_line(&memory.title))?;
        let place = [memory.project.as_str(), memory.branch.as_deref().unwrap_or("")];
        let place: Vec<&str> = place.into_iter().filter(|it| !it.is_empty()).collect();
        writeln!(
            out,
            "{} UTC{}{}",
            time.get(..5).unwrap_or(time),
            if place.is_empty() { "" } else { " · " },
            place.join(" · ")
        )?;
        for text in [&memory.subtitle, &memory.narrative] {
            if !text.trim().is_empty() {
                write!(out, "\n{}\n", safe_text(text).trim_end())?;
            }
        }
        if let Some(summary) = &memory.summary {
            for (name, text) in [
                ("Request", &summary.request),
                ("Investigated", &summary.investigated),
                ("Learned", &summary.learned),
                ("Completed", &summary.completed),
                ("Next steps", &summary.next_steps),
                ("Notes", &summary.notes),
            ] {
                if !text.trim().is_empty() && !memory.narrative.contains(text.as_str()) {
                    write!(out, "\n**{name}.** {}\n", safe_text(text).trim_end())?;
                }
            }
        }
        if !memory.facts.is_empty() {
            writeln!(out)?;
            for fact in &memory.facts {
                writeln!(out, "- {}", safe_line(fact))?;
            }
        }
        for (name, list) in [("Modified", &memory.files_modified), ("Read", &memory.files_read)] {
            if !list.is_empty() {
                let files: Vec<String> = list.iter().map(|file| format!("`{}`", safe_line(file))).collect();
                write!(out, "\n{name}: {}\n", files.join(", "))?;
            }
        }
        Ok(())
    }
}

fn csv(out: &mut dyn Write, memory: &Memory) -> io::Result<()> {
    let kind = match memory.kind {
        Kind::Observation => "obs",
        Kind::Summary => "sum",
        Kind::Prompt => "prompt",
    };
    let source = serde_json::to_value(memory.source).ok();
    let keys: Vec<String> = memory.keys.iter().map(|key| key.0.clone()).collect();
    let cells = [
        memory.id.0.to_string(),
        kind.to_owned(),
        memory.type_id.clone(),
        memory.created_at.to_string(),
        memory.project.clone(),
        memory.session.as_ref().map(|it| it.0.clone()).unwrap_or_default(),
        memory.title.clone(),
        memory.subtitle.clone(),
        memory.narrative.clone(),
        memory.facts.join("\n"),
        memory.concepts.join(" "),
        memory.files_read.join("\n"),
        memory.files_modified.join("\n"),
        source.and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default(),
        memory.pinned.to_string(),
        keys.join(" "),
    ];
    let cells: Vec<String> = cells.iter().map(|cell| cell_text(cell)).collect();
    write!(out, "{}\r\n", cells.join(","))
}

/// One cell. What a spreadsheet would take for a formula is made text by an apostrophe: memories quote foreign pages.
fn cell_text(text: &str) -> String {
    let text = safe_text(text);
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_text_whatever_is_in_it() {
        assert_eq!(cell_text("plain"), "plain");
        assert_eq!(cell_text("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(cell_text("=HYPERLINK(1)"), "'=HYPERLINK(1)");
    }
}
