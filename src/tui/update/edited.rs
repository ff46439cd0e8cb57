//! The round trip through an editor: memories as a file, and the file as changes.
//!
//! One file for one or many memories. Each begins with a line that names it and a TOML head between `+++` lines; the
//! narrative is markdown below, facts are the list under `## Facts`. Removing a block changes nothing: a memory is
//! never deleted by an editor. What does not read comes back with the message at its line.

use super::{Out, curate};
use crate::hub::live::{Change, EditFields};
use crate::memory::{Memory, MemoryId};
use crate::tui::effect::Effect;
use crate::tui::state::{Alphabet, State, Tone};

const HEAD: &str = "# cmem memory ";
const FENCE: &str = "+++";
const FAULT: &str = "#! ";

/// The file an editor gets.
pub fn write_edit(memories: &[Memory], alphabet: &Alphabet, faults: &[(usize, String)]) -> String {
    let mut out = String::new();
    out.push_str("# Change what you like, save and leave. Removing a memory's block leaves it as it was.\n");
    let types: Vec<&str> = alphabet.types.iter().map(|look| look.id.as_str()).collect();
    out.push_str(&format!("# Types: {}\n", types.join(", ")));
    for (line, what) in faults {
        out.push_str(&format!("{FAULT}line {line}: {what}\n"));
    }
    for memory in memories {
        let head = toml::Table::from_iter([
            ("type".to_owned(), toml::Value::String(memory.type_id.clone())),
            ("title".to_owned(), toml::Value::String(memory.title.clone())),
            ("subtitle".to_owned(), toml::Value::String(memory.subtitle.clone())),
            ("concepts".to_owned(), list(&memory.concepts)),
            ("files_read".to_owned(), list(&memory.files_read)),
            ("files_modified".to_owned(), list(&memory.files_modified)),
        ]);
        out.push_str(&format!("\n{HEAD}{}\n{FENCE}\n{head}{FENCE}\n\n", memory.id.0));
        out.push_str(memory.narrative.trim_end());
        out.push_str("\n\n## Facts\n\n");
        for fact in &memory.facts {
            out.push_str(&format!("- {}\n", fact.replace('\n', " ")));
        }
    }
    out
}

/// The text as left, with what is wrong in it as comments at its head.
pub fn note_faults(text: &str, faults: &[(usize, String)]) -> String {
    let body: String = text.lines().filter(|line| !line.starts_with(FAULT)).map(|line| format!("{line}\n")).collect();
    let removed = text.lines().count() - body.lines().count();
    let notes = faults.iter().map(|(line, what)| {
        // Where the line stands once the notes are above it.
        let line = line + faults.len() - removed;
        format!("{FAULT}line {line}: {what}\n")
    });
    notes.collect::<String>() + &body
}

fn list(items: &[String]) -> toml::Value {
    toml::Value::Array(items.iter().cloned().map(toml::Value::String).collect())
}

/// What the file says now, or the lines that do not read.
pub fn parse_edit(text: &str) -> Result<Vec<(MemoryId, EditFields)>, Vec<(usize, String)>> {
    let mut found = Vec::new();
    let mut faults = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with(HEAD)).collect();
    for (n, start) in starts.iter().enumerate() {
        let end = starts.get(n + 1).copied().unwrap_or(lines.len());
        match block(&lines, *start, end) {
            Ok(edit) if found.iter().any(|(id, _)| *id == edit.0) => {
                faults.push((start + 1, format!("#{} is here twice", edit.0.0)));
            }
            Ok(edit) => found.push(edit),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

fn block(lines: &[&str], start: usize, end: usize) -> Result<(MemoryId, EditFields), (usize, String)> {
    let number = lines[start][HEAD.len()..].trim();
    let id = number.parse().map(MemoryId).map_err(|_| (start + 1, format!("“{number}” is no id")))?;
    let open =
        (start + 1..end).find(|at| lines[*at].trim() == FENCE).ok_or((start + 1, "its +++ is gone".to_owned()))?;
    let close =
        (open + 1..end).find(|at| lines[*at].trim() == FENCE).ok_or((open + 1, "the second +++ is gone".to_owned()))?;
    let head = lines[open + 1..close].join("\n");
    let table: toml::Table = head.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(0, |span| head[..span.start].matches('\n').count());
        (open + 2 + line, error.message().to_owned())
    })?;
    let line_of = |key: &str| {
        let at = lines[open + 1..close].iter().position(|line| line.trim_start().starts_with(key));
        open + 2 + at.unwrap_or(0)
    };
    let text = |key: &str| match table.get(key) {
        None => Ok(String::new()),
        Some(toml::Value::String(text)) => Ok(text.trim().to_owned()),
        Some(_) => Err((line_of(key), format!("{key} is a text in quotes"))),
    };
    let texts = |key: &str| match table.get(key) {
        None => Ok(Vec::new()),
        Some(toml::Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or((line_of(key), format!("{key} is a list of texts"))))
            .collect(),
        Some(_) => Err((line_of(key), format!("{key} is a list of texts"))),
    };
    if let Some(unknown) = table
        .keys()
        .find(|key| !["type", "title", "subtitle", "concepts", "files_read", "files_modified"].contains(&key.as_str()))
    {
        return Err((line_of(unknown), format!("unknown key “{unknown}”")));
    }
    let fields = EditFields {
        type_id: text("type")?,
        title: text("title")?,
        subtitle: text("subtitle")?,
        concepts: texts("concepts")?,
        files_read: texts("files_read")?,
        files_modified: texts("files_modified")?,
        ..EditFields::default()
    };
    if fields.title.is_empty() {
        return Err((line_of("title"), "a memory needs a title".into()));
    }
    if fields.type_id.is_empty() {
        return Err((line_of("type"), "a memory needs a type".into()));
    }
    let body = &lines[close + 1..end];
    let facts_at = body.iter().rposition(|line| line.trim() == "## Facts").unwrap_or(body.len());
    let narrative = body[..facts_at].join("\n").trim().to_owned();
    let mut facts: Vec<String> = Vec::new();
    for line in body[facts_at..].iter().skip(1).map(|line| line.trim()).filter(|line| !line.is_empty()) {
        match (line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")), facts.last_mut()) {
            (Some(fact), _) => facts.push(fact.trim().to_owned()),
            // A fact broken over lines by the editor.
            (None, Some(last)) => {
                last.push(' ');
                last.push_str(line);
            }
            (None, None) => facts.push(line.to_owned()),
        }
    }
    Ok((id, EditFields { narrative, facts, ..fields }))
}

/// The editor is back.
pub fn back(state: &mut State, memories: Vec<Memory>, text: &str, out: &mut Out) {
    state.redraw = true;
    let edits = match parse_edit(text) {
        Ok(edits) => edits,
        Err(faults) => {
            let (line, what) = faults[0].clone();
            state.messages.say(state.now, Tone::Error, format!("line {line}: {what}; the editor opens again"));
            out.push(Effect::EditAgain { memories, text: text.to_owned(), faults });
            return;
        }
    };
    let changed: Vec<(MemoryId, EditFields)> = edits
        .into_iter()
        .filter(|(id, fields)| {
            // An id that was not in the file is none of this round's business.
            memories
                .iter()
                .find(|memory| memory.id == *id)
                .is_some_and(|memory| !same(&EditFields::from(memory), fields))
        })
        .collect();
    if changed.is_empty() {
        state.messages.say(state.now, Tone::Info, "nothing was changed");
        return;
    }
    curate::change(state, Change::Edit(changed), out);
}

/// The same but for white space at ends of lines.
fn same(a: &EditFields, b: &EditFields) -> bool {
    let trimmed = |fields: &EditFields| EditFields {
        narrative: fields.narrative.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned(),
        facts: fields.facts.iter().map(|fact| fact.split_whitespace().collect::<Vec<_>>().join(" ")).collect(),
        title: fields.title.trim().to_owned(),
        subtitle: fields.subtitle.trim().to_owned(),
        ..fields.clone()
    };
    trimmed(a) == trimmed(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(id: i64) -> Memory {
        let mut memory = crate::tui::demo::sample(id);
        memory.title = "Refresh \"token\" race # fixed".into();
        memory.narrative = "First.\n\n# A heading\n\n- no fact".into();
        memory.facts = vec!["one: a".into(), "two".into()];
        memory
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let memories = [memory(7), memory(8)];
        let text = write_edit(&memories, &Alphabet::default(), &[]);
        let edits = parse_edit(&text).unwrap();
        assert_eq!(edits.len(), 2);
        for (memory, (id, fields)) in memories.iter().zip(&edits) {
            assert_eq!(memory.id, *id);
            assert!(same(&EditFields::from(memory), fields), "{fields:?}");
        }
    }

    #[test]
    fn a_removed_block_is_no_change_and_faults_have_their_line() {
        let text = write_edit(&[memory(7), memory(8)], &Alphabet::default(), &[]);
        let second = text.find("\n# cmem memory 8").unwrap();
        assert_eq!(parse_edit(&text[..second]).unwrap().len(), 1);
        let broken = text.replacen("subtitle = ", "subtitle == ", 1);
        let faults = parse_edit(&broken).unwrap_err();
        assert!(broken.lines().nth(faults[0].0 - 1).unwrap().starts_with("subtitle =="), "{faults:?}");
        let empty = text.replacen("Refresh \\\"token\\\" race # fixed", "", 1).replacen(
            "'Refresh \"token\" race # fixed'",
            "\"\"",
            1,
        );
        assert!(parse_edit(&empty).unwrap_err()[0].1.contains("needs a title"));
    }
}
