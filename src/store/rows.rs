//! Memories as rows. An [`Image`] is one memory as the tables hold it; it is written, read back and removed here and
//! nowhere else, with its words in the index, its counters and its vector, so that these never part (A108).

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::Result;
use super::{Store, terms};
use crate::memory::{
    AgentId, Evidence, Kind, Memory, MemoryId, NewMemory, SessionId, Source, estimate_tokens, from_millis,
};

/// One memory as the tables hold it; also what trash and journal keep of it.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Image {
    pub id: i64,
    pub ord: i64,
    pub created_ms: i64,
    pub kind: u8,
    #[serde(rename = "type")]
    pub type_id: String,
    pub project: i64,
    pub session: i64,
    pub prompt_number: u32,
    pub agent: String,
    pub source: u8,
    pub evidence: u8,
    pub tokens: u32,
    pub work_tokens: u32,
    pub pinned: bool,
    pub excluded: bool,
    pub edited: bool,
    pub abandoned: bool,
    pub superseded_by: i64,
    pub folded_into: i64,
    pub count: u32,
    pub title: String,
    pub subtitle: String,
    /// JSON arrays, as the tables hold them.
    pub facts: String,
    pub concepts: String,
    #[serde(with = "hex_bytes")]
    pub hash: Vec<u8>,
    pub recorded_ms: i64,
    pub narrative: String,
    pub files_read: String,
    pub files_modified: String,
    pub cwd: String,
    pub branch: String,
    pub model: String,
    pub raw_type: String,
    pub summary: String,
    #[serde(with = "hex_bytes")]
    pub events: Vec<u8>,
}

/// Columns of both tables in the order [`read_image`] takes them.
const COLUMNS: &str = "m.id, m.ord, m.created_ms, m.kind, m.type, m.project, m.session, m.prompt_number, m.agent, \
    m.source, m.evidence, m.tokens, m.work_tokens, m.pinned, m.excluded, m.edited, m.abandoned, m.superseded_by, \
    m.folded_into, m.count, m.title, m.subtitle, m.facts, m.concepts, b.hash, b.recorded_ms, b.narrative, \
    b.files_read, b.files_modified, b.cwd, b.branch, b.model, b.raw_type, b.summary, b.events";

fn read_image(row: &Row<'_>) -> rusqlite::Result<Image> {
    Ok(Image {
        id: row.get(0)?,
        ord: row.get(1)?,
        created_ms: row.get(2)?,
        kind: row.get(3)?,
        type_id: row.get(4)?,
        project: row.get(5)?,
        session: row.get(6)?,
        prompt_number: row.get(7)?,
        agent: row.get(8)?,
        source: row.get(9)?,
        evidence: row.get(10)?,
        tokens: row.get(11)?,
        work_tokens: row.get(12)?,
        pinned: row.get(13)?,
        excluded: row.get(14)?,
        edited: row.get(15)?,
        abandoned: row.get(16)?,
        superseded_by: row.get(17)?,
        folded_into: row.get(18)?,
        count: row.get(19)?,
        title: row.get(20)?,
        subtitle: row.get(21)?,
        facts: row.get(22)?,
        concepts: row.get(23)?,
        hash: row.get(24)?,
        recorded_ms: row.get(25)?,
        narrative: row.get(26)?,
        files_read: row.get(27)?,
        files_modified: row.get(28)?,
        cwd: row.get(29)?,
        branch: row.get(30)?,
        model: row.get(31)?,
        raw_type: row.get(32)?,
        summary: row.get(33)?,
        events: row.get(34)?,
    })
}

pub(super) fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Observation => 0,
        Kind::Summary => 1,
        Kind::Prompt => 2,
    }
}

pub(super) fn kind_of(number: u8) -> Kind {
    match number {
        1 => Kind::Summary,
        2 => Kind::Prompt,
        _ => Kind::Observation,
    }
}

pub(super) fn source_number(source: Source) -> u8 {
    match source {
        Source::Observer => 0,
        Source::Offline => 1,
        Source::Manual => 2,
        Source::Import => 3,
        Source::Fallback => 4,
    }
}

pub(super) fn source_of(number: u8) -> Source {
    match number {
        1 => Source::Offline,
        2 => Source::Manual,
        3 => Source::Import,
        4 => Source::Fallback,
        _ => Source::Observer,
    }
}

pub(super) fn evidence_number(evidence: Evidence) -> u8 {
    match evidence {
        Evidence::Files => 0,
        Evidence::None => 1,
        Evidence::Unknown => 2,
    }
}

fn evidence_of(number: u8) -> Evidence {
    match number {
        0 => Evidence::Files,
        1 => Evidence::None,
        _ => Evidence::Unknown,
    }
}

pub(super) fn to_json(list: &[String]) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".into())
}

/// A list column. One damaged row never hides another: what cannot be read is empty.
pub(super) fn from_json(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_default()
}

/// What makes two memories the same content: session, title, narrative. Prompts also count their number, for a
/// person may say "continue" twice. Never a run, never a time.
pub(super) fn content_hash(kind: Kind, session: &str, prompt_number: u32, title: &str, narrative: &str) -> Vec<u8> {
    let mut hasher = Sha256::new();
    if kind == Kind::Prompt {
        hasher.update(format!("prompt {prompt_number}\0"));
    }
    for part in [session, title, narrative] {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    hasher.finalize()[..16].to_vec()
}

/// Estimated tokens to read a memory in full.
pub(super) fn read_cost(title: &str, subtitle: &str, narrative: &str, facts: &str) -> u32 {
    [title, subtitle, narrative, facts].iter().fold(0u32, |sum, text| sum.saturating_add(estimate_tokens(text)))
}

impl Image {
    /// A memory about to be written; `id`, `ord` and links to other rows are still 0.
    pub fn of_new(new: &NewMemory, project: i64, session: i64, created_ms: i64, recorded_ms: i64) -> Image {
        let facts = to_json(&new.facts);
        Image {
            created_ms,
            kind: kind_number(new.kind),
            type_id: new.type_id.clone(),
            project,
            session,
            prompt_number: new.prompt_number,
            agent: new.agent.as_ref().map(|it| it.0.clone()).unwrap_or_default(),
            source: source_number(new.source),
            evidence: evidence_number(new.evidence),
            tokens: read_cost(&new.title, &new.subtitle, &new.narrative, &facts),
            work_tokens: new.work_tokens,
            pinned: new.pinned,
            abandoned: new.abandoned,
            count: 1,
            title: new.title.clone(),
            subtitle: new.subtitle.clone(),
            facts,
            concepts: to_json(&new.concepts),
            hash: content_hash(
                new.kind,
                new.session.as_ref().map_or("", |it| it.as_str()),
                new.prompt_number,
                &new.title,
                &new.narrative,
            ),
            recorded_ms,
            narrative: new.narrative.clone(),
            files_read: to_json(&new.files_read),
            files_modified: to_json(&new.files_modified),
            cwd: new.cwd.clone().unwrap_or_default(),
            branch: new.branch.clone().unwrap_or_default(),
            model: new.model.clone().unwrap_or_default(),
            raw_type: new.raw_type.clone().unwrap_or_default(),
            summary: new.summary.as_ref().and_then(|it| serde_json::to_string(it).ok()).unwrap_or_default(),
            ..Image::default()
        }
    }

    fn hour(&self) -> i64 {
        self.created_ms.div_euclid(3_600_000)
    }

    /// The texts for the index, in its column order after the scope.
    fn words(&self) -> [String; 7] {
        let list = |json: &str| from_json(json).join("\n");
        let mut files = list(&self.files_read);
        files.push('\n');
        files.push_str(&list(&self.files_modified));
        // A summary's parts are looked for like prose.
        let mut narrative = terms::index_text(&self.narrative).into_owned();
        if let Ok(summary) = serde_json::from_str::<crate::memory::Summary>(&self.summary) {
            for part in [
                &summary.request,
                &summary.investigated,
                &summary.learned,
                &summary.completed,
                &summary.next_steps,
                &summary.notes,
            ] {
                if !self.narrative.contains(part.as_str()) {
                    narrative.push('\n');
                    narrative.push_str(&terms::index_text(part));
                }
            }
        }
        [
            scope_word(self.project),
            terms::index_text(&self.title).into_owned(),
            terms::index_text(&self.subtitle).into_owned(),
            narrative,
            terms::index_text(&list(&self.facts)).into_owned(),
            terms::index_text(&list(&self.concepts)).into_owned(),
            terms::index_text(&files).into_owned(),
        ]
    }

    /// The memory as everyone else sees it. Names of project and session are looked up; keys are left to
    /// [`Store::fill_keys`].
    pub fn into_memory(self, places: &dyn Fn(i64, i64) -> Names) -> Memory {
        let names = places(self.project, self.session);
        let some = |text: String| (!text.is_empty()).then_some(text);
        Memory {
            id: MemoryId(self.id),
            kind: kind_of(self.kind),
            type_id: self.type_id,
            raw_type: some(self.raw_type),
            title: self.title,
            subtitle: self.subtitle,
            narrative: self.narrative,
            facts: from_json(&self.facts),
            concepts: from_json(&self.concepts),
            files_read: from_json(&self.files_read),
            files_modified: from_json(&self.files_modified),
            evidence: evidence_of(self.evidence),
            project: names.project,
            project_root: names.project_root,
            cwd: some(self.cwd),
            branch: some(self.branch),
            agent: some(self.agent).map(AgentId),
            session: some(names.session).map(SessionId),
            prompt_number: self.prompt_number,
            created_at: from_millis(self.created_ms),
            recorded_at: from_millis(self.recorded_ms),
            source: source_of(self.source),
            model: some(self.model),
            tokens: self.tokens,
            work_tokens: self.work_tokens,
            pinned: self.pinned,
            excluded: self.excluded,
            edited: self.edited,
            abandoned: self.abandoned,
            superseded_by: (self.superseded_by != 0).then_some(MemoryId(self.superseded_by)),
            count: self.count,
            summary: serde_json::from_str(&self.summary).ok(),
            keys: Vec::new(),
        }
    }
}

/// The word in the index's `scope` column that says which project a row is filed under. It begins with a character
/// that no indexed text holds, so that it is nobody's word.
pub(super) fn scope_word(project: i64) -> String {
    format!("{}{project}", terms::SCOPE)
}

/// The names a memory is shown with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub project: String,
    pub project_root: String,
    pub session: String,
}

/// Reads one memory.
pub(super) fn load(conn: &Connection, id: i64) -> Result<Option<Image>> {
    let mut query = conn
        .prepare_cached(&format!("SELECT {COLUMNS} FROM memory m JOIN memory_body b ON b.id = m.id WHERE m.id = ?1"))?;
    Ok(query.query_row([id], read_image).optional()?)
}

/// Reads the memories of a query that yields `(id, ord)`, in its order.
pub(super) fn load_all(
    conn: &Connection,
    ids_query: &str,
    params: &[rusqlite::types::Value],
    order_by: &str,
) -> Result<Vec<Image>> {
    let mut query = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM ({ids_query}) f CROSS JOIN memory m ON m.id = f.id \
         CROSS JOIN memory_body b ON b.id = f.id ORDER BY {order_by}"
    ))?;
    let rows = query.query_map(rusqlite::params_from_iter(params), read_image)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Reads memories by number, in the order of the numbers. Those that are not there are left out.
pub(super) fn load_these(conn: &Connection, ids: &[i64]) -> Result<Vec<Image>> {
    let list = serde_json::to_string(ids).unwrap_or_default();
    load_all(conn, "SELECT value AS id, key AS ord FROM json_each(?)", &[list.into()], "f.ord ASC")
}

/// The first free place in time at or after `created_ms`. Rows of one millisecond stand in the order they were
/// written, so order by place is order by (time, id).
pub(super) fn free_ord(conn: &Connection, created_ms: i64) -> Result<i64> {
    let base = created_ms.clamp(-(1 << 56), 1 << 56) * 8;
    // A deleted row keeps its place, for it may come back and its words are still there.
    let mut last = conn.prepare_cached(
        "SELECT max(coalesce((SELECT max(ord) FROM memory WHERE ord >= ?1 AND ord < ?1 + 8), ?1 - 1), \
                    coalesce((SELECT max(ord) FROM trash WHERE ord >= ?1 AND ord < ?1 + 8), ?1 - 1))",
    )?;
    let ord: i64 = last.query_row([base], |row| row.get(0))?;
    if ord + 1 < base + 8 {
        return Ok(ord + 1);
    }
    // More than eight in one millisecond (an import without finer times): the next gap.
    let mut query = conn.prepare_cached(
        "SELECT ord FROM memory WHERE ord >= ?1 UNION ALL SELECT ord FROM trash WHERE ord >= ?1 ORDER BY ord",
    )?;
    let mut rows = query.query([base + 8])?;
    let mut free = base + 8;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(0)? != free {
            break;
        }
        free += 1;
    }
    Ok(free)
}

/// Writes a memory: both tables, index, counters. `id` 0 takes a new number; an `ord` that is taken takes the next
/// free one. Returns the number.
pub(super) fn insert(conn: &Connection, image: &mut Image) -> Result<i64> {
    let taken = |ord: i64| -> Result<bool> {
        let mut query = conn.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM memory WHERE ord = ?1) OR EXISTS (SELECT 1 FROM trash WHERE ord = ?1)",
        )?;
        Ok(query.query_row([ord], |row| row.get(0))?)
    };
    if image.ord == 0 || taken(image.ord)? {
        image.ord = free_ord(conn, image.created_ms)?;
    }
    put(conn, image)?;
    index(conn, image)?;
    Ok(image.id)
}

/// Writes a memory whose words are in the index already (it comes back from the trash).
pub(super) fn put(conn: &Connection, image: &mut Image) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO memory (id, ord, created_ms, kind, type, project, session, prompt_number, agent, source, evidence, \
         tokens, work_tokens, pinned, excluded, edited, abandoned, superseded_by, folded_into, count, title, subtitle, \
         facts, concepts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
         ?20, ?21, ?22, ?23, ?24)",
    )?
    .execute(params![
        (image.id != 0).then_some(image.id),
        image.ord,
        image.created_ms,
        image.kind,
        image.type_id,
        image.project,
        image.session,
        image.prompt_number,
        image.agent,
        image.source,
        image.evidence,
        image.tokens,
        image.work_tokens,
        image.pinned,
        image.excluded,
        image.edited,
        image.abandoned,
        image.superseded_by,
        image.folded_into,
        image.count,
        image.title,
        image.subtitle,
        image.facts,
        image.concepts,
    ])?;
    image.id = conn.last_insert_rowid();
    conn.prepare_cached(
        "INSERT INTO memory_body (id, hash, recorded_ms, narrative, files_read, files_modified, cwd, branch, model, \
         raw_type, summary, events) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        image.id,
        image.hash,
        image.recorded_ms,
        image.narrative,
        image.files_read,
        image.files_modified,
        image.cwd,
        image.branch,
        image.model,
        image.raw_type,
        image.summary,
        image.events,
    ])?;
    count(conn, image, 1)
}

/// Takes a memory out of both tables, the index, the counters and the vectors, and returns it.
pub(super) fn remove(conn: &Connection, id: i64) -> Result<Option<Image>> {
    let image = take(conn, id)?;
    if let Some(image) = &image {
        unindex(conn, image)?;
    }
    Ok(image)
}

/// [`remove`], leaving its words in the index (it goes to the trash). Whoever takes it must keep its place.
pub(super) fn take(conn: &Connection, id: i64) -> Result<Option<Image>> {
    let Some(image) = load(conn, id)? else { return Ok(None) };
    count(conn, &image, -1)?;
    for table in [
        "DELETE FROM memory WHERE id = ?1",
        "DELETE FROM memory_body WHERE id = ?1",
        "DELETE FROM vector WHERE memory = ?1",
    ] {
        conn.prepare_cached(table)?.execute([id])?;
    }
    Ok(Some(image))
}

/// Replaces a memory by a changed image of itself. The vector goes when the text changed: it is made anew behind.
pub(super) fn replace(conn: &Connection, old: &Image, new: &Image) -> Result<()> {
    let text_changed = old.words() != new.words();
    if text_changed || old.ord != new.ord {
        unindex(conn, old)?;
    }
    count(conn, old, -1)?;
    conn.prepare_cached(
        "UPDATE memory SET ord = ?2, created_ms = ?3, kind = ?4, type = ?5, project = ?6, session = ?7, \
         prompt_number = ?8, agent = ?9, source = ?10, evidence = ?11, tokens = ?12, work_tokens = ?13, pinned = ?14, \
         excluded = ?15, edited = ?16, abandoned = ?17, superseded_by = ?18, folded_into = ?19, count = ?20, \
         title = ?21, subtitle = ?22, facts = ?23, concepts = ?24 WHERE id = ?1",
    )?
    .execute(params![
        old.id,
        new.ord,
        new.created_ms,
        new.kind,
        new.type_id,
        new.project,
        new.session,
        new.prompt_number,
        new.agent,
        new.source,
        new.evidence,
        new.tokens,
        new.work_tokens,
        new.pinned,
        new.excluded,
        new.edited,
        new.abandoned,
        new.superseded_by,
        new.folded_into,
        new.count,
        new.title,
        new.subtitle,
        new.facts,
        new.concepts,
    ])?;
    conn.prepare_cached(
        "UPDATE memory_body SET hash = ?2, recorded_ms = ?3, narrative = ?4, files_read = ?5, files_modified = ?6, \
         cwd = ?7, branch = ?8, model = ?9, raw_type = ?10, summary = ?11, events = ?12 WHERE id = ?1",
    )?
    .execute(params![
        old.id,
        new.hash,
        new.recorded_ms,
        new.narrative,
        new.files_read,
        new.files_modified,
        new.cwd,
        new.branch,
        new.model,
        new.raw_type,
        new.summary,
        new.events,
    ])?;
    if text_changed || old.ord != new.ord {
        index(conn, new)?;
    }
    if old.title != new.title
        || old.subtitle != new.subtitle
        || old.narrative != new.narrative
        || old.facts != new.facts
    {
        conn.prepare_cached("DELETE FROM vector WHERE memory = ?1")?.execute([old.id])?;
    }
    count(conn, new, 1)
}

fn index(conn: &Connection, image: &Image) -> Result<()> {
    let [scope, title, subtitle, narrative, facts, concepts, files] = image.words();
    conn.prepare_cached(
        "INSERT INTO memory_fts (rowid, scope, title, subtitle, narrative, facts, concepts, files) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![image.ord, scope, title, subtitle, narrative, facts, concepts, files])?;
    Ok(())
}

/// The index holds no text, so what is taken out must be said again word for word; it follows from the row.
pub(super) fn unindex(conn: &Connection, image: &Image) -> Result<()> {
    let [scope, title, subtitle, narrative, facts, concepts, files] = image.words();
    conn.prepare_cached(
        "INSERT INTO memory_fts (memory_fts, rowid, scope, title, subtitle, narrative, facts, concepts, files) \
         VALUES ('delete', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![image.ord, scope, title, subtitle, narrative, facts, concepts, files])?;
    Ok(())
}

/// Counters count what a list shows: a row folded into another is not among them.
fn count(conn: &Connection, image: &Image, by: i64) -> Result<()> {
    if image.folded_into != 0 {
        return Ok(());
    }
    let (tokens, work) = (by * i64::from(image.tokens), by * i64::from(image.work_tokens));
    conn.prepare_cached(
        "INSERT INTO type_count (project, kind, type, n, tokens) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT DO UPDATE SET n = n + excluded.n, tokens = tokens + excluded.tokens",
    )?
    .execute(params![image.project, image.kind, image.type_id, by, tokens])?;
    conn.prepare_cached(
        "INSERT INTO hour_count (project, hour, kind, type, n, tokens, work_tokens) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT DO UPDATE SET n = n + excluded.n, tokens = tokens + excluded.tokens, \
         work_tokens = work_tokens + excluded.work_tokens",
    )?
    .execute(params![image.project, image.hour(), image.kind, image.type_id, by, tokens, work])?;
    if by < 0 {
        conn.prepare_cached("DELETE FROM type_count WHERE project = ?1 AND kind = ?2 AND type = ?3 AND n = 0")?
            .execute(params![image.project, image.kind, image.type_id])?;
        conn.prepare_cached(
            "DELETE FROM hour_count WHERE project = ?1 AND hour = ?2 AND kind = ?3 AND type = ?4 AND n = 0",
        )?
        .execute(params![image.project, image.hour(), image.kind, image.type_id])?;
    }
    Ok(())
}

/// A transaction that holds the write lock from its beginning, so that what it reads is what it changes.
pub(super) fn write_tx(conn: &mut Connection) -> Result<rusqlite::Transaction<'_>> {
    Ok(conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?)
}

impl Store {
    /// Builds index and counters anew from the rows, in one transaction: after a change of how words are made, or as
    /// a repair. `progress` is called with rows done.
    pub fn rebuild_index(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let tx = write_tx(&mut self.conn)?;
        tx.execute_batch(
            "INSERT INTO memory_fts (memory_fts) VALUES ('delete-all'); UPDATE trash SET indexed = 0; \
             DELETE FROM type_count; DELETE FROM hour_count;",
        )?;
        let mut done = 0;
        {
            let mut query = tx.prepare(&format!(
                "SELECT {COLUMNS} FROM memory m CROSS JOIN memory_body b ON b.id = m.id ORDER BY m.ord"
            ))?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let image = read_image(row)?;
                index(&tx, &image)?;
                count(&tx, &image, 1)?;
                done += 1;
                if done % 500 == 0 {
                    progress(done);
                }
            }
        }
        tx.execute(
            "INSERT INTO state (key, value, at_ms) VALUES ('store.index', ?1, 0) ON CONFLICT DO UPDATE SET value = excluded.value",
            [terms::INDEX_VERSION.to_string()],
        )?;
        tx.commit()?;
        progress(done);
        Ok(())
    }

    pub(super) fn rebuild_index_if_older(&mut self) -> Result<()> {
        let have: Option<String> = self
            .conn
            .query_row("SELECT value FROM state WHERE key = 'store.index'", [], |row| row.get(0))
            .optional()?;
        if have.is_none_or(|it| it != terms::INDEX_VERSION.to_string()) {
            self.rebuild_index(&mut |_| {})?;
        }
        Ok(())
    }
}

/// Bytes as hexadecimal text in JSON.
mod hex_bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::to_hex(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::from_hex(&text).ok_or_else(|| D::Error::custom("not hexadecimal"))
    }
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    bytes.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
