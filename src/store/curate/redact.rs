//! Removing a string from every place in the database, for good.
//!
//! Rows, index, vectors, journal, trash, sessions, reasons: each place that can hold text is rewritten in one
//! transaction. Pages given free are overwritten (`secure_delete`, FTS5 `secure-delete`), then the write-ahead log is
//! written back and cut. What lies outside the database cannot be reached; the answer lists it, found or not.

use rusqlite::{Connection, params};
use serde::Serialize;

use super::super::Store;
use super::super::error::{Result, StoreError};
use super::super::rows::{self, Image, write_tx};
use super::Progress;
use super::journal::{image_of, image_text};

/// What stands in the place of a redacted string unless another mark is chosen.
pub const MARK: &str = "[redacted]";

/// What redacting came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Redacted {
    /// Memories rewritten.
    pub memories: u64,
    /// Memories in the trash rewritten.
    pub trashed: u64,
    /// Journal entries rewritten.
    pub journal: u64,
    /// Sessions rewritten (title, last prompt).
    pub sessions: u64,
    /// Other places: reasons of calls, paths, named facts.
    pub other: u64,
    /// Vectors dropped; they are made anew from the redacted text.
    pub vectors: u64,
    /// The write-ahead log could be cut. If not, a reader stood in the way: run it again.
    pub log_cut: bool,
    /// Places in the database where the string still stands, because it is part of an identity (a project's path, a
    /// transcript's path).
    pub left: Vec<String>,
    /// What lies outside the database and may still hold it.
    pub beyond: Vec<String>,
}

struct Cleaner<'a> {
    needle: &'a str,
    mark: &'a str,
    /// The needle as it stands inside JSON text.
    in_json: String,
}

impl Cleaner<'_> {
    fn text(&self, text: &mut String) -> bool {
        let found = text.contains(self.needle);
        if found {
            *text = text.replace(self.needle, self.mark);
        }
        found
    }

    /// A list column.
    fn list(&self, json: &mut String) -> bool {
        let mut list = rows::from_json(json);
        // Every entry is changed, so the count goes to the end where `any` would stop.
        let found = list.iter_mut().filter_map(|it| self.text(it).then_some(())).count() > 0;
        if found {
            *json = rows::to_json(&list);
        }
        found
    }

    /// Any JSON: every string in it, names too.
    fn json(&self, json: &mut String) -> bool {
        let Ok(mut value) = serde_json::from_str::<serde_json::Value>(json) else { return self.text(json) };
        let found = self.value(&mut value);
        if found {
            *json = value.to_string();
        }
        found
    }

    fn value(&self, value: &mut serde_json::Value) -> bool {
        use serde_json::Value;
        match value {
            // Lists of a memory stand in its image as JSON text inside JSON.
            Value::String(text) if text.starts_with(['[', '{']) => self.json(text) || self.text(text),
            Value::String(text) => self.text(text),
            Value::Array(list) => list.iter_mut().filter_map(|it| self.value(it).then_some(())).count() > 0,
            Value::Object(map) => map.values_mut().filter_map(|it| self.value(it).then_some(())).count() > 0,
            _ => false,
        }
    }

    fn image(&self, image: &mut Image) -> bool {
        let mut found = false;
        for text in [
            &mut image.title,
            &mut image.subtitle,
            &mut image.narrative,
            &mut image.cwd,
            &mut image.branch,
            &mut image.raw_type,
            &mut image.type_id,
            &mut image.agent,
            &mut image.model,
        ] {
            found |= self.text(text);
        }
        for list in [&mut image.facts, &mut image.concepts, &mut image.files_read, &mut image.files_modified] {
            found |= self.list(list);
        }
        found |= !image.summary.is_empty() && self.json(&mut image.summary);
        if found {
            image.tokens = rows::read_cost(&image.title, &image.subtitle, &image.narrative, &image.facts);
        }
        found
    }

    /// Rows of `table` whose `column` may hold the needle.
    fn rows(
        &self,
        tx: &Connection,
        table: &str,
        key: &str,
        column: &str,
    ) -> Result<Vec<(rusqlite::types::Value, String)>> {
        let mut query = tx.prepare(&format!(
            "SELECT {key}, {column} FROM {table} WHERE instr({column}, ?1) > 0 OR instr({column}, ?2) > 0"
        ))?;
        let found = query.query_map((self.needle, &self.in_json), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    fn column(&self, tx: &Connection, table: &str, key: &str, column: &str) -> Result<u64> {
        let mut n = 0;
        for (id, mut text) in self.rows(tx, table, key, column)? {
            if self.text(&mut text) || self.json(&mut text) {
                tx.execute(&format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1"), params![id, text])?;
                n += 1;
            }
        }
        Ok(n)
    }
}

impl Store {
    /// How many memories (and how many in the trash) hold a string: what to show before redacting.
    pub fn holds(&self, needle: &str) -> Result<(u64, u64)> {
        let live = self.images_with(needle)?.len() as u64;
        let trashed: i64 = self.conn.query_row(
            "SELECT count(*) FROM trash WHERE instr(image, ?1) > 0 OR instr(image, ?2) > 0",
            (needle, in_json(needle)),
            |row| row.get(0),
        )?;
        Ok((live, trashed.max(0) as u64))
    }

    fn images_with(&self, needle: &str) -> Result<Vec<i64>> {
        ids_with(&self.conn, needle)
    }

    /// Replaces a string in every place of the database by a mark ([`MARK`] as a rule). Cannot be undone.
    pub fn redact(&mut self, needle: &str, mark: &str, progress: Progress<'_>) -> Result<Redacted> {
        if needle.trim().chars().count() < 3 {
            return Err(StoreError::Refused(
                "a string of three characters or more is needed: shorter ones are everywhere".into(),
            ));
        }
        if mark.contains(needle) {
            return Err(StoreError::Refused(format!("{needle} is part of the mark that redacted text gets")));
        }
        let clean = Cleaner { needle, mark, in_json: in_json(needle) };
        let mut out = Redacted::default();
        let tx = write_tx(&mut self.conn)?;
        let ids = ids_with(&tx, needle)?;
        let total = ids.len() as u64;
        for (at, id) in ids.into_iter().enumerate() {
            let Some(old) = rows::load(&tx, id)? else { continue };
            let mut new = old.clone();
            if clean.image(&mut new) {
                out.vectors += tx.execute("DELETE FROM vector WHERE memory = ?1", [id])? as u64;
                rows::replace(&tx, &old, &new)?;
                out.memories += 1;
            }
            // Stopped: nothing is changed, for a half-redacted database would look like a redacted one.
            if at % super::CHUNK == 0 && !progress(at as u64, total) {
                return Err(StoreError::Interrupted);
            }
        }
        for (id, text) in clean.rows(&tx, "trash", "id", "image")? {
            let old = image_of(&text)?;
            let mut new = old.clone();
            if clean.image(&mut new) {
                let indexed: bool = tx.query_row("SELECT indexed FROM trash WHERE id = ?1", [&id], |row| row.get(0))?;
                if indexed {
                    rows::unindex(&tx, &old)?;
                }
                tx.execute(
                    "UPDATE trash SET image = ?2, indexed = 0, vector_model = 0, vector = x'' WHERE id = ?1",
                    params![id, image_text(&new)?],
                )?;
                out.trashed += 1;
            }
        }
        for column in ["before", "after"] {
            for (id, mut text) in clean.rows(&tx, "change", "id", column)? {
                if clean.json(&mut text) {
                    tx.execute(&format!("UPDATE change SET {column} = ?2 WHERE id = ?1"), params![id, text])?;
                    out.journal += 1;
                }
            }
        }
        out.journal += clean.column(&tx, "step", "id", "label")?;
        for column in ["title", "last_prompt"] {
            out.sessions += clean.column(&tx, "session", "id", column)?;
        }
        for (table, key, column) in [
            ("project", "id", "name"),
            ("call", "id", "reason"),
            ("run", "id", "end_reason"),
            ("state", "key", "value"),
            ("word", "id", "text"),
            ("cursor", "file_id", "state"),
            ("counter", "name", "name"),
        ] {
            out.other += clean.column(&tx, table, key, column)?;
        }
        for (what, table, column) in [
            ("path of a project", "project", "root"),
            ("name of a worktree", "project", "worktree"),
            ("path of a transcript", "cursor", "path"),
            ("name of a session", "session", "key"),
        ] {
            let n: i64 = tx.query_row(
                &format!("SELECT count(*) FROM {table} WHERE instr({column}, ?1) > 0"),
                [needle],
                |row| row.get(0),
            )?;
            if n > 0 {
                out.left.push(format!("{n} × {what}"));
            }
        }
        tx.commit()?;
        progress(total, total);
        out.log_cut = self.checkpoint()?;
        out.beyond = self.beyond_reach();
        Ok(out)
    }
}

fn in_json(needle: &str) -> String {
    let quoted = serde_json::to_string(needle).unwrap_or_default();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("").to_owned()
}

/// Memories with a string in any of their texts.
fn ids_with(conn: &Connection, needle: &str) -> Result<Vec<i64>> {
    let mut query = conn.prepare(
        "SELECT m.id FROM memory m JOIN memory_body b ON b.id = m.id WHERE \
         instr(m.title, ?1) OR instr(m.subtitle, ?1) OR instr(b.narrative, ?1) OR instr(m.type, ?1) OR instr(b.cwd, ?1) \
         OR instr(b.branch, ?1) OR instr(b.raw_type, ?1) OR instr(m.agent, ?1) OR instr(b.model, ?1) \
         OR instr(m.facts, ?2) OR instr(m.concepts, ?2) OR instr(b.files_read, ?2) OR instr(b.files_modified, ?2) \
         OR instr(b.summary, ?2)",
    )?;
    let found = query.query_map((needle, in_json(needle)), |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}
