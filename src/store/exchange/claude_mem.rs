//! Taking in a claude-mem database (schemas of its versions 12 and 13).
//!
//! Its columns are looked up before they are read, for each version has its own. Its sessions carry the client's own
//! session ids, so memories come to stand beside those made here. Its projects are names without a place; a place is
//! sought in this order: what the caller knows of the session, a project here that is alone in having that name, the
//! paths of the files its memories name. A name for which none is found is kept as it is and can be given a place
//! later (`cmem project alias`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Row};

use super::super::api::SessionRow;
use super::super::curate::{Progress, Who};
use super::super::error::{Result, StoreError};
use super::super::places::Projects;
use super::super::rows::{self, write_tx};
use super::super::{Store, places};
use super::import::{CHUNK, Intake};
use super::{Helpers, Imported};
use crate::memory::{
    AgentId, Evidence, Kind, NewMemory, ProjectRef, SessionId, Source, Summary, Timestamp, clip_chars, from_millis,
    millis, safe_line, safe_text,
};

impl Store {
    /// Takes in a claude-mem database, which stays as it is.
    pub fn import_claude_mem(
        &mut self,
        path: &Path,
        dry: bool,
        who: Who<'_>,
        helpers: &mut Helpers<'_>,
        progress: Progress<'_>,
    ) -> Result<Imported> {
        let source = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        source.busy_timeout(std::time::Duration::from_secs(5))?;
        let source = Foreign { columns: columns(&source)?, conn: source };
        if !source.columns.contains_key("observations") {
            return Err(StoreError::Foreign(path.to_owned()));
        }
        let mut intake = Intake::new(dry);
        let mut place = Places::learn(&self.conn, &source)?;
        let total = ["observations", "session_summaries", "user_prompts"]
            .iter()
            .map(|table| source.count(table))
            .sum::<Result<u64>>()?;
        if !dry {
            let tx = write_tx(&mut self.conn)?;
            source.sessions(&mut |row| {
                let session = SessionRow {
                    project: Some(place.of(&row.session, &row.project, helpers)),
                    session: row.session,
                    title: row.title,
                    started_at: row.started_at,
                    last_at: row.started_at,
                    prompts: 0,
                    last_prompt: None,
                };
                places::put_session(&tx, &session)
            })?;
            tx.commit()?;
        }
        let mut read = 0;
        for table in ["observations", "session_summaries", "user_prompts"] {
            let mut after = i64::MIN;
            loop {
                let page = source.page(table, after, CHUNK)?;
                let Some(last) = page.last() else { break };
                after = last.0;
                let tx = write_tx(&mut self.conn)?;
                for (id, row) in page {
                    read += 1;
                    let memory = match row {
                        Ok(row) => row.into_memory(table, &mut place, helpers),
                        Err(why) => {
                            intake.done.fault(read, format!("{table} {id}: {why}"));
                            continue;
                        }
                    };
                    let (project, session) = if dry {
                        (0, 0)
                    } else {
                        let session =
                            memory.session.as_ref().map(|it| places::session_id(&tx, it.as_str())).transpose()?;
                        (places::project_id(&tx, memory.project.as_ref())?, session.unwrap_or(0))
                    };
                    let image =
                        rows::Image::of_new(&memory, project, session, millis(memory.created_at), millis(who.now));
                    intake.one(&tx, read, who, |intake| intake.put(&tx, image, &[], who))?;
                }
                tx.commit()?;
                if !progress(read, total) {
                    let tx = write_tx(&mut self.conn)?;
                    let done = intake.finish(&tx)?;
                    tx.commit()?;
                    return Ok(done);
                }
            }
        }
        let tx = write_tx(&mut self.conn)?;
        let done = intake.finish(&tx)?;
        tx.commit()?;
        Ok(done)
    }
}

/// The other database and what columns it has.
struct Foreign {
    conn: Connection,
    columns: HashMap<String, HashSet<String>>,
}

fn columns(conn: &Connection) -> Result<HashMap<String, HashSet<String>>> {
    let mut query = conn.prepare(
        "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'",
    )?;
    let mut found = query.query([])?;
    let mut columns: HashMap<String, HashSet<String>> = HashMap::new();
    while let Some(row) = found.next()? {
        columns.entry(row.get(0)?).or_default().insert(row.get(1)?);
    }
    Ok(columns)
}

struct TheirSession {
    session: String,
    project: String,
    title: Option<String>,
    started_at: Option<Timestamp>,
}

/// A row of any of the three tables; what a table has not is empty.
#[derive(Default)]
struct Theirs {
    session: String,
    project: String,
    type_id: String,
    title: String,
    subtitle: String,
    narrative: String,
    facts: String,
    concepts: String,
    files_read: String,
    files_modified: String,
    prompt_number: i64,
    work_tokens: i64,
    model: String,
    agent: String,
    created: i64,
    summary: Summary,
}

impl Foreign {
    fn has(&self, table: &str, column: &str) -> bool {
        self.columns.get(table).is_some_and(|it| it.contains(column))
    }

    /// A column if the table has it, else an empty value under its name.
    fn column(&self, table: &str, column: &str, empty: &str) -> String {
        if self.has(table, column) { format!("coalesce(t.{column}, {empty})") } else { empty.to_owned() }
    }

    fn count(&self, table: &str) -> Result<u64> {
        if !self.columns.contains_key(table) {
            return Ok(0);
        }
        let n: i64 = self.conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        Ok(n.max(0) as u64)
    }

    fn sessions(&self, each: &mut dyn FnMut(TheirSession) -> Result<()>) -> Result<()> {
        const TABLE: &str = "sdk_sessions";
        if !self.has(TABLE, "content_session_id") {
            return Ok(());
        }
        let sql = format!(
            "SELECT t.content_session_id, {}, {}, {} FROM {TABLE} t ORDER BY 1",
            self.column(TABLE, "project", "''"),
            self.column(TABLE, "custom_title", "''"),
            self.column(TABLE, "started_at_epoch", "0"),
        );
        let mut query = self.conn.prepare(&sql)?;
        let mut found = query.query([])?;
        while let Some(row) = found.next()? {
            let (session, title, started): (String, String, i64) = (lossy(row, 0), lossy(row, 2), number(row, 3));
            if session.is_empty() || is_manual(&session) {
                continue;
            }
            each(TheirSession {
                session,
                project: lossy(row, 1),
                title: (!title.is_empty()).then_some(title),
                started_at: (started != 0).then(|| time(started)),
            })?;
        }
        Ok(())
    }

    /// Rows of a table behind an id. A row that cannot be read does not hide the others.
    fn page(&self, table: &str, after: i64, limit: usize) -> Result<Vec<(i64, std::result::Result<Theirs, String>)>> {
        if !self.columns.contains_key(table) {
            return Ok(Vec::new());
        }
        let by_memory = self.has(table, "memory_session_id") && self.has("sdk_sessions", "memory_session_id");
        // Observations name the observer's session, which leads to the client's; prompts name the client's.
        let (join, session, session_project) = if by_memory {
            (
                "LEFT JOIN sdk_sessions s ON s.memory_session_id = t.memory_session_id",
                "coalesce(s.content_session_id, t.memory_session_id, '')",
                "coalesce(s.project, '')",
            )
        } else if self.has(table, "content_session_id") && self.has("sdk_sessions", "content_session_id") {
            (
                "LEFT JOIN sdk_sessions s ON s.content_session_id = t.content_session_id",
                "coalesce(t.content_session_id, '')",
                "coalesce(s.project, '')",
            )
        } else {
            ("", "''", "''")
        };
        let text = |column: &str| self.column(table, column, "''");
        let project = if self.has(table, "merged_into_project") {
            format!("coalesce(nullif(t.merged_into_project, ''), {})", self.column(table, "project", session_project))
        } else if self.has(table, "project") {
            self.column(table, "project", "''")
        } else {
            session_project.to_owned()
        };
        let sql = format!(
            "SELECT t.id, {session}, {project}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, \
             {}, {} FROM {table} t {join} WHERE t.id > ?1 GROUP BY t.id ORDER BY t.id LIMIT {limit}",
            text("type"),
            text("title"),
            text("subtitle"),
            text("narrative"),
            text("facts"),
            text("concepts"),
            text("files_read"),
            text("files_modified"),
            self.column(table, "prompt_number", "0"),
            self.column(table, "discovery_tokens", "0"),
            text("generated_by_model"),
            text("agent_id"),
            self.column(table, "created_at_epoch", "0"),
            text("text"),
            text("prompt_text"),
            text("request"),
            text("investigated"),
            text("learned"),
            text("completed"),
            text("next_steps"),
            text("notes"),
        );
        let mut query = self.conn.prepare_cached(&sql)?;
        let mut found = query.query([after])?;
        let mut out = Vec::new();
        while let Some(row) = found.next()? {
            let id: i64 = row.get(0)?;
            let mut theirs = Theirs {
                session: lossy(row, 1),
                project: lossy(row, 2),
                type_id: lossy(row, 3),
                title: lossy(row, 4),
                subtitle: lossy(row, 5),
                narrative: lossy(row, 6),
                facts: lossy(row, 7),
                concepts: lossy(row, 8),
                files_read: lossy(row, 9),
                files_modified: lossy(row, 10),
                prompt_number: number(row, 11),
                work_tokens: number(row, 12),
                model: lossy(row, 13),
                agent: lossy(row, 14),
                created: number(row, 15),
                summary: Summary {
                    request: lossy(row, 18),
                    investigated: lossy(row, 19),
                    learned: lossy(row, 20),
                    completed: lossy(row, 21),
                    next_steps: lossy(row, 22),
                    notes: lossy(row, 23),
                },
            };
            for legacy in [lossy(row, 16), lossy(row, 17)] {
                if theirs.narrative.is_empty() {
                    theirs.narrative = legacy;
                }
            }
            let said = [&theirs.title, &theirs.narrative, &theirs.subtitle].iter().any(|it| !it.trim().is_empty())
                || !list(&theirs.facts).is_empty();
            let summed = theirs.summary != Summary::default();
            out.push((id, if said || summed { Ok(theirs) } else { Err("it says nothing".to_owned()) }));
        }
        Ok(out)
    }
}

impl Theirs {
    fn into_memory(self, table: &str, place: &mut Places, helpers: &mut Helpers<'_>) -> NewMemory {
        let project = place.of(&self.session, &self.project, helpers);
        let kind = match table {
            "session_summaries" => Kind::Summary,
            "user_prompts" => Kind::Prompt,
            _ => Kind::Observation,
        };
        let (type_id, raw_type) = match kind {
            Kind::Observation => (helpers.type_of)(&self.type_id),
            Kind::Summary => ("summary".to_owned(), None),
            Kind::Prompt => ("prompt".to_owned(), None),
        };
        let mut narrative = safe_text(self.narrative.trim());
        if kind == Kind::Summary {
            narrative = parts(&self.summary).join("\n\n");
        }
        let facts = list(&self.facts);
        let title = [
            self.title.as_str(),
            if kind == Kind::Summary { &self.summary.request } else { "" },
            first_line(&narrative),
            facts.first().map_or("", String::as_str),
        ]
        .into_iter()
        .map(safe_line)
        .find(|it| !it.is_empty())
        .unwrap_or_default();
        // Their paths are absolute; ours are relative inside the project.
        let relative = |path: String| match path.strip_prefix(&project.root).and_then(|rest| rest.strip_prefix('/')) {
            Some(rest) if !rest.is_empty() => rest.to_owned(),
            _ => path,
        };
        let files = |json: &str| list(json).into_iter().map(relative).collect::<Vec<String>>();
        let (files_read, files_modified) = (files(&self.files_read), files(&self.files_modified));
        NewMemory {
            kind,
            type_id,
            raw_type,
            title: clip_chars(&title, 240).to_owned(),
            subtitle: safe_line(&self.subtitle),
            narrative,
            facts,
            concepts: list(&self.concepts),
            evidence: if files_read.is_empty() && files_modified.is_empty() {
                Evidence::Unknown
            } else {
                Evidence::Files
            },
            files_read,
            files_modified,
            cwd: project.root.starts_with('/').then(|| project.root.clone()),
            project: (!project.root.is_empty()).then_some(project),
            agent: (!self.agent.is_empty()).then_some(AgentId(self.agent)),
            session: (!self.session.is_empty() && !is_manual(&self.session)).then_some(SessionId(self.session)),
            prompt_number: u32::try_from(self.prompt_number).unwrap_or(0),
            created_at: time(self.created),
            source: Source::Import,
            model: (!self.model.is_empty()).then_some(self.model),
            work_tokens: u32::try_from(self.work_tokens).unwrap_or(0),
            summary: (kind == Kind::Summary).then_some(self.summary),
            ..NewMemory::default()
        }
    }
}

fn parts(summary: &Summary) -> Vec<String> {
    [
        ("Investigated", &summary.investigated),
        ("Learned", &summary.learned),
        ("Completed", &summary.completed),
        ("Next steps", &summary.next_steps),
        ("Notes", &summary.notes),
    ]
    .into_iter()
    .filter(|(_, text)| !text.trim().is_empty())
    .map(|(name, text)| format!("{name}: {}", safe_text(text.trim())))
    .collect()
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("")
}

/// Sessions that claude-mem makes up for notes by hand.
fn is_manual(session: &str) -> bool {
    session.starts_with("manual-")
}

/// A list column: a JSON array as a rule, else one item a line.
fn list(text: &str) -> Vec<String> {
    if let Ok(list) = serde_json::from_str::<Vec<serde_json::Value>>(text) {
        return list
            .into_iter()
            .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned))
            .filter(|it| !it.trim().is_empty())
            .collect();
    }
    text.lines().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// Their times are milliseconds; early ones seconds.
fn time(epoch: i64) -> Timestamp {
    from_millis(if epoch.abs() < 100_000_000_000 { epoch.saturating_mul(1000) } else { epoch })
}

fn lossy(row: &Row<'_>, at: usize) -> String {
    use rusqlite::types::ValueRef;
    match row.get_ref(at) {
        Ok(ValueRef::Text(text) | ValueRef::Blob(text)) => String::from_utf8_lossy(text).into_owned(),
        Ok(ValueRef::Integer(n)) => n.to_string(),
        Ok(ValueRef::Real(n)) => n.to_string(),
        _ => String::new(),
    }
}

fn number(row: &Row<'_>, at: usize) -> i64 {
    use rusqlite::types::ValueRef;
    match row.get_ref(at) {
        Ok(ValueRef::Integer(n)) => n,
        Ok(ValueRef::Real(n)) => n as i64,
        Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).trim().parse().unwrap_or(0),
        _ => 0,
    }
}

/// Where their project names lie.
struct Places {
    /// Projects here that are alone in having their name.
    here: HashMap<String, ProjectRef>,
    /// Roots seen in the paths of their memories.
    seen: HashMap<String, String>,
    /// Sessions whose place is known.
    sessions: HashMap<(String, String), ProjectRef>,
}

impl Places {
    fn learn(conn: &Connection, source: &Foreign) -> Result<Places> {
        let mut here: HashMap<String, Option<ProjectRef>> = HashMap::new();
        for row in Projects::load(conn)?.rows.into_iter().filter(|it| it.worktree.is_empty() && it.alias_of == 0) {
            let project = ProjectRef { root: row.root, name: row.name.clone(), worktree: None };
            here.entry(row.name).and_modify(|it| *it = None).or_insert(Some(project));
        }
        Ok(Places {
            here: here.into_iter().filter_map(|(name, project)| Some((name, project?))).collect(),
            seen: source.roots()?,
            sessions: HashMap::new(),
        })
    }

    fn of(&mut self, session: &str, name: &str, helpers: &mut Helpers<'_>) -> ProjectRef {
        let key = (session.to_owned(), name.to_owned());
        if let Some(known) = self.sessions.get(&key) {
            return known.clone();
        }
        // `parent/worktree` is how a linked worktree is called there.
        let (parent, worktree) = match name.split_once('/') {
            Some((parent, worktree)) if !parent.is_empty() && !worktree.is_empty() => {
                (parent, Some(worktree.to_owned()))
            }
            _ => (name, None),
        };
        let asked = if is_manual(session) { None } else { (helpers.project_of)(session, name) };
        let project = asked.filter(|it| it.name == parent || it.worktree.is_some()).unwrap_or_else(|| {
            let main = self.here.get(parent).cloned().unwrap_or_else(|| ProjectRef {
                root: self.seen.get(parent).cloned().unwrap_or_else(|| parent.to_owned()),
                name: parent.to_owned(),
                worktree: None,
            });
            ProjectRef { worktree, ..main }
        });
        self.sessions.insert(key, project.clone());
        project
    }
}

impl Foreign {
    /// The directory most paths of a project's memories share, up to the component that is its name.
    fn roots(&self) -> Result<HashMap<String, String>> {
        if !self.has("observations", "files_modified") || !self.has("observations", "files_read") {
            return Ok(HashMap::new());
        }
        let mut votes: HashMap<String, BTreeMap<String, u32>> = HashMap::new();
        let mut query = self
            .conn
            .prepare("SELECT project, coalesce(files_read, ''), coalesce(files_modified, '') FROM observations")?;
        let mut found = query.query([])?;
        while let Some(row) = found.next()? {
            let name = lossy(row, 0);
            let name = name.split('/').next().unwrap_or_default();
            if name.is_empty() {
                continue;
            }
            for path in [list(&lossy(row, 1)), list(&lossy(row, 2))].concat() {
                if !path.starts_with('/') {
                    continue;
                }
                let mut end = 0;
                for part in path.split('/') {
                    end += part.len();
                    if part == name {
                        *votes.entry(name.to_owned()).or_default().entry(path[..end].to_owned()).or_default() += 1;
                        break;
                    }
                    end += 1;
                }
            }
        }
        let most = |votes: BTreeMap<String, u32>| votes.into_iter().max_by_key(|(_, n)| *n).map(|(root, _)| root);
        Ok(votes.into_iter().filter_map(|(name, votes)| Some((name, most(votes)?))).collect())
    }
}
