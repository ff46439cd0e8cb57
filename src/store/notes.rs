//! Notes: the few hundred small rows that a session start chooses from, read along indexes so that the cost does not
//! grow with the database.

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::error::Result;
use super::places::Projects;
use super::terms::Match;
use super::{Store, rows};
use crate::memory::{Kind, MemoryId, Note, from_millis};

/// How many notes of each sort are wanted at most.
#[derive(Clone, Debug, Default)]
pub struct NotesWanted<'a> {
    /// The newest observations.
    pub recent: usize,
    /// The newest summaries.
    pub summaries: usize,
    /// The newest of these types, of each.
    pub types: &'a [&'a str],
    /// The newest with these concepts, of each.
    pub concepts: &'a [&'a str],
    /// How many of each type and concept, and of those written by hand.
    pub lasting: usize,
    /// Pinned ones.
    pub pinned: usize,
}

/// The body stays unread: strange types have a small index of their own, and only a summary's parts are wanted.
const COLUMNS: &str = "m.id, m.kind, m.type, m.title, m.concepts, m.created_ms, m.session, m.agent, m.source, m.tokens, \
    m.work_tokens, m.pinned, m.excluded, m.abandoned, \
    CASE WHEN m.superseded_by <> 0 AND EXISTS (SELECT 1 FROM memory n WHERE n.id = m.superseded_by) \
    THEN m.superseded_by ELSE 0 END, \
    EXISTS (SELECT 1 FROM memory_body b INDEXED BY memory_body_wild WHERE b.id = m.id AND b.raw_type <> ''), \
    CASE m.kind WHEN 1 THEN (SELECT b.summary FROM memory_body b WHERE b.id = m.id) END";

fn read_note(row: &Row<'_>) -> rusqlite::Result<Note> {
    let text = |at: usize| -> rusqlite::Result<String> { row.get(at) };
    let (session, superseded): (i64, i64) = (row.get(6)?, row.get(14)?);
    let kind = rows::kind_of(row.get(1)?);
    // Only a summary's text is read; what is damaged is left empty and hides no other row.
    let summary =
        if kind == Kind::Summary { serde_json::from_str(row.get_ref(16)?.as_str().unwrap_or("")).ok() } else { None };
    Ok(Note {
        id: MemoryId(row.get(0)?),
        kind,
        type_id: text(2)?,
        wild: row.get(15)?,
        title: text(3)?,
        concepts: rows::from_json(row.get_ref(4)?.as_str().unwrap_or("")),
        created_at: from_millis(row.get(5)?),
        session: if session == 0 { String::new() } else { session.to_string() },
        helper: !row.get_ref(7)?.as_str().unwrap_or("").is_empty(),
        source: rows::source_of(row.get(8)?),
        tokens: row.get(9)?,
        work_tokens: row.get(10)?,
        pinned: row.get(11)?,
        excluded: row.get(12)?,
        abandoned: row.get(13)?,
        superseded_by: (superseded != 0).then_some(MemoryId(superseded)),
        summary,
        detail: None,
    })
}

impl Store {
    /// Candidates for what a session of these projects is told (`projects` as in `Filter::projects`; `not_projects`
    /// and projects the user excluded are left out). A note may come more than once; the order means nothing.
    pub fn notes(&self, projects: &[String], not_projects: &[String], wanted: &NotesWanted<'_>) -> Result<Vec<Note>> {
        // One state of the database for all walks, and one lock.
        let _snapshot = self.conn.unchecked_transaction()?;
        let known = Projects::load(&self.conn)?;
        let mut off = known.excluded();
        off.extend(not_projects.iter().flat_map(|key| known.named(key)));
        let mut ids: Vec<i64> =
            projects.iter().flat_map(|key| known.named(key)).filter(|id| !off.contains(id)).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut notes = Vec::new();
        if ids.is_empty() {
            return Ok(notes);
        }
        // Adds rows and counts those of the main agent.
        let mut take = |index: &str, condition: &str, params: &[Value], limit: usize| -> Result<usize> {
            let mut main = 0;
            if limit > 0 {
                let sql = format!(
                    "SELECT {COLUMNS} FROM memory m {index} WHERE {condition} AND m.folded_into = 0 \
                     ORDER BY m.ord DESC LIMIT {limit}"
                );
                let mut query = self.conn.prepare_cached(&sql)?;
                for note in query.query_map(params_from_iter(params), read_note)? {
                    let note = note?;
                    main += usize::from(!note.helper);
                    notes.push(note);
                }
            }
            Ok(main)
        };
        for &id in &ids {
            let project = [Value::from(id)];
            let main = take("INDEXED BY memory_project", "m.project = ? AND m.kind = 0", &project, wanted.recent)?;
            if main * 3 < wanted.recent {
                // Hardly anything but helper agents' steps: the main agent's own are looked for behind them.
                let behind = format!(
                    "m.id IN (SELECT id FROM (SELECT id, agent, kind, ord FROM memory INDEXED BY memory_project \
                     WHERE project = ? ORDER BY ord DESC LIMIT {WALK}) WHERE agent = '' AND kind = 0 \
                     ORDER BY ord DESC LIMIT {})",
                    wanted.recent
                );
                take("", &behind, &project, wanted.recent)?;
            }
            take("INDEXED BY memory_summary", "m.project = ? AND m.kind = 1", &project, wanted.summaries)?;
            let manual = "m.project = ? AND m.source = 2 AND m.kind = 0";
            take("INDEXED BY memory_manual", manual, &project, wanted.lasting)?;
        }
        let among = vec!["?"; ids.len()].join(", ");
        let projects: Vec<Value> = ids.iter().map(|id| Value::from(*id)).collect();
        let pinned = format!("m.pinned = 1 AND m.kind < 2 AND m.project IN ({among})");
        take("INDEXED BY memory_pinned", &pinned, &projects, wanted.pinned)?;
        // A rare project among many rows of a type: the walk is bounded, and what is older than its end is given up.
        let by_type = format!(
            "m.id IN (SELECT id FROM (SELECT id, project, kind, ord FROM memory INDEXED BY memory_type WHERE type = ? \
             ORDER BY ord DESC LIMIT {WALK}) WHERE project IN ({among}) AND kind = 0 ORDER BY ord DESC LIMIT {})",
            wanted.lasting
        );
        for type_id in wanted.types {
            let mut params = vec![Value::from((*type_id).to_owned())];
            params.extend(projects.iter().cloned());
            take("", &by_type, &params, wanted.lasting)?;
        }
        let scope: Vec<String> = ids.iter().map(|&id| format!("\"{}\"", rows::scope_word(id))).collect();
        let by_words = format!(
            "m.ord IN (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rowid DESC LIMIT {}) AND m.kind = 0",
            wanted.lasting
        );
        for concept in wanted.concepts {
            let Some(words) = Match::Phrase((*concept).to_owned()).expression() else { continue };
            let expression = format!("(scope : ({})) AND (concepts : ({words}))", scope.join(" OR "));
            take("", &by_words, &[Value::from(expression)], wanted.lasting)?;
        }
        Ok(notes)
    }
}

/// How many rows of one type are looked through for those of a project.
const WALK: usize = 2_000;
