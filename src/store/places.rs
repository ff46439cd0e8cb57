//! Sessions and projects: where memories belong.
//!
//! A project row that was renamed or merged points to the one that stands for it now (`alias_of`, never a chain).
//! Memories keep the row they were filed under, so an alias is one changed row and can be taken back.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::api::{ProjectInfo, SessionInfo, SessionRow};
use super::error::Result;
use super::rows::Names;
use super::{Store, rows};
use crate::memory::{ProjectRef, SessionId, from_millis, millis};

/// One row of `project`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProjectRow {
    pub id: i64,
    pub root: String,
    pub name: String,
    pub worktree: String,
    pub alias_of: i64,
    pub excluded: bool,
}

/// All project rows: tens, hundreds at most, so questions about them are answered in memory.
pub(super) struct Projects {
    pub rows: Vec<ProjectRow>,
    at: HashMap<i64, usize>,
}

impl Projects {
    pub fn load(conn: &Connection) -> Result<Projects> {
        let mut query = conn.prepare_cached("SELECT id, root, name, worktree, alias_of, excluded FROM project")?;
        let rows = query
            .query_map([], |row| {
                Ok(ProjectRow {
                    id: row.get(0)?,
                    root: row.get(1)?,
                    name: row.get(2)?,
                    worktree: row.get(3)?,
                    alias_of: row.get(4)?,
                    excluded: row.get(5)?,
                })
            })?
            .collect::<Result<Vec<_>, _>>()?;
        let at = rows.iter().enumerate().map(|(at, row)| (row.id, at)).collect();
        Ok(Projects { rows, at })
    }

    pub fn get(&self, id: i64) -> Option<&ProjectRow> {
        self.at.get(&id).map(|&at| &self.rows[at])
    }

    /// The row that stands for `id`: where it was merged into.
    pub fn effective(&self, id: i64) -> Option<&ProjectRow> {
        let row = self.get(id)?;
        if row.alias_of == 0 { Some(row) } else { self.get(row.alias_of).or(Some(row)) }
    }

    /// The root a row counts as.
    fn root_of<'a>(&'a self, row: &'a ProjectRow) -> &'a str {
        self.effective(row.id).map_or(&row.root, |it| &it.root)
    }

    /// Row numbers that a word of `Filter::projects` means: `ROOT` with worktrees and former names, `=ROOT` the
    /// main checkout alone, `ROOT#WORKTREE` one worktree.
    pub fn named(&self, key: &str) -> Vec<i64> {
        let stands_for = |root: &str, worktree: &str| -> Vec<i64> {
            let is = |it: &ProjectRow| it.root == root && it.worktree == worktree;
            self.rows.iter().filter(|it| is(it) || self.effective(it.id).is_some_and(is)).map(|it| it.id).collect()
        };
        if let Some(root) = key.strip_prefix('=') {
            return stands_for(root, "");
        }
        let exact: Vec<i64> =
            self.rows.iter().filter(|it| self.root_of(it) == key || it.root == key).map(|it| it.id).collect();
        if !exact.is_empty() {
            // A former name asks for the whole it is part of now.
            let roots: Vec<&str> = self.rows.iter().filter(|it| it.root == key).map(|it| self.root_of(it)).collect();
            let mut ids: Vec<i64> = self
                .rows
                .iter()
                .filter(|it| self.root_of(it) == key || roots.contains(&self.root_of(it)))
                .map(|it| it.id)
                .collect();
            ids.sort_unstable();
            return ids;
        }
        match key.rsplit_once('#') {
            Some((root, worktree)) => stands_for(root, worktree),
            None => Vec::new(),
        }
    }

    /// Row numbers of projects the user switched off, former names and worktrees included.
    pub fn excluded(&self) -> Vec<i64> {
        let off: Vec<&str> = self.rows.iter().filter(|it| it.excluded).map(|it| self.root_of(it)).collect();
        self.rows.iter().filter(|it| off.contains(&self.root_of(it))).map(|it| it.id).collect()
    }
}

/// The row of a project, made when it is new. `None` is 0.
pub(super) fn project_id(conn: &Connection, project: Option<&ProjectRef>) -> Result<i64> {
    let Some(project) = project.filter(|it| !it.root.is_empty()) else { return Ok(0) };
    let worktree = project.worktree.as_deref().unwrap_or("");
    let known: Option<i64> = conn
        .prepare_cached("SELECT id FROM project WHERE root = ?1 AND worktree = ?2")?
        .query_row((&project.root, worktree), |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    // A worktree of a project that was renamed belongs to the new name like its main checkout.
    let alias_of: i64 = conn
        .prepare_cached("SELECT alias_of FROM project WHERE root = ?1 AND worktree = ''")?
        .query_row([&project.root], |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    let alias_of = if worktree.is_empty() { 0 } else { alias_of };
    conn.prepare_cached("INSERT INTO project (root, name, worktree, alias_of) VALUES (?1, ?2, ?3, ?4)")?.execute((
        &project.root,
        &project.name,
        worktree,
        alias_of,
    ))?;
    Ok(conn.last_insert_rowid())
}

/// The row of a session, made when it is new.
pub(super) fn session_id(conn: &Connection, session: &str) -> Result<i64> {
    let known: Option<i64> = conn
        .prepare_cached("SELECT id FROM session WHERE key = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    conn.prepare_cached("INSERT INTO session (key) VALUES (?1)")?.execute([session])?;
    Ok(conn.last_insert_rowid())
}

/// Adds what is newly known of a session. The first project stays, the span grows, the last title wins.
pub(super) fn put_session(conn: &Connection, session: &SessionRow) -> Result<()> {
    let id = session_id(conn, &session.session)?;
    let project = project_id(conn, session.project.as_ref())?;
    conn.prepare_cached(
        "UPDATE session SET \
            project = CASE WHEN project = 0 THEN ?2 ELSE project END, \
            title = CASE WHEN ?3 <> '' THEN ?3 ELSE title END, \
            started_ms = CASE WHEN started_ms = 0 OR (?4 <> 0 AND ?4 < started_ms) THEN ?4 ELSE started_ms END, \
            last_ms = max(last_ms, ?5), \
            prompts = max(prompts, ?6), \
            last_prompt = CASE WHEN ?7 <> '' THEN ?7 ELSE last_prompt END \
         WHERE id = ?1",
    )?
    .execute(params![
        id,
        project,
        session.title.as_deref().unwrap_or(""),
        session.started_at.map_or(0, millis),
        session.last_at.map_or(0, millis),
        session.prompts,
        session.last_prompt.as_deref().unwrap_or(""),
    ])?;
    Ok(())
}

/// Looks names up once for many rows.
pub(super) struct NameBook<'a> {
    conn: &'a Connection,
    projects: Projects,
    sessions: std::cell::RefCell<HashMap<i64, String>>,
}

impl<'a> NameBook<'a> {
    pub fn open(conn: &'a Connection) -> Result<NameBook<'a>> {
        Ok(NameBook { conn, projects: Projects::load(conn)?, sessions: Default::default() })
    }

    pub fn names(&self, project: i64, session: i64) -> Names {
        let (project, project_root) = match self.projects.effective(project) {
            Some(row) => (row.name.clone(), row.root.clone()),
            None => Default::default(),
        };
        let session = if session == 0 {
            String::new()
        } else {
            let lookup = || -> Option<String> {
                self.conn
                    .prepare_cached("SELECT key FROM session WHERE id = ?1")
                    .and_then(|mut query| query.query_row([session], |row| row.get(0)))
                    .ok()
            };
            self.sessions.borrow_mut().entry(session).or_insert_with(|| lookup().unwrap_or_default()).clone()
        };
        Names { project, project_root, session }
    }

    /// Images as everyone else sees them.
    pub fn memories(&self, images: Vec<rows::Image>) -> Vec<crate::memory::Memory> {
        images
            .into_iter()
            .map(|mut image| {
                // Replaced by a row that was deleted: it stands for itself again, until that one comes back.
                if image.superseded_by != 0 && !self.is_there(image.superseded_by) {
                    image.superseded_by = 0;
                }
                image.into_memory(&|project, session| self.names(project, session))
            })
            .collect()
    }

    fn is_there(&self, id: i64) -> bool {
        self.conn
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM memory WHERE id = ?1)")
            .and_then(|mut query| query.query_row([id], |row| row.get(0)))
            .unwrap_or(false)
    }
}

impl Store {
    /// Every project row with its figures, most memories first. Worktrees and former names are rows of their own.
    pub fn projects(&self) -> Result<Vec<ProjectInfo>> {
        let projects = Projects::load(&self.conn)?;
        let mut counts: HashMap<i64, [u64; 3]> = HashMap::new();
        let mut query =
            self.conn.prepare_cached("SELECT project, kind, sum(n) FROM type_count GROUP BY project, kind")?;
        let mut found = query.query([])?;
        while let Some(row) = found.next()? {
            let kind: u8 = row.get(1)?;
            if let Some(slot) = counts.entry(row.get(0)?).or_default().get_mut(usize::from(kind)) {
                *slot = row.get::<_, i64>(2)?.max(0) as u64;
            }
        }
        let mut last =
            self.conn.prepare_cached("SELECT created_ms FROM memory WHERE project = ?1 ORDER BY ord DESC LIMIT 1")?;
        let mut out = Vec::with_capacity(projects.rows.len());
        for row in &projects.rows {
            let [observations, summaries, prompts] = counts.get(&row.id).copied().unwrap_or_default();
            let last_ms: Option<i64> = last.query_row([row.id], |it| it.get(0)).optional()?;
            out.push(ProjectInfo {
                id: row.id,
                root: row.root.clone(),
                name: row.name.clone(),
                worktree: (!row.worktree.is_empty()).then(|| row.worktree.clone()),
                alias_of: projects.get(row.alias_of).map(|it| it.root.clone()),
                excluded: row.excluded,
                observations,
                summaries,
                prompts,
                last_at: last_ms.map(from_millis),
            });
        }
        out.sort_by(|a, b| b.observations.cmp(&a.observations).then_with(|| a.root.cmp(&b.root)));
        Ok(out)
    }

    /// How many sessions are known.
    pub fn session_count(&self) -> Result<u64> {
        let count: i64 = self.conn.prepare_cached("SELECT count(*) FROM session")?.query_row([], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Sessions, the one with the newest event first. `projects` as in `Filter::projects`; `before` continues a page
    /// behind that time.
    pub fn sessions(
        &self,
        projects: &[String],
        before: Option<crate::memory::Timestamp>,
        limit: usize,
    ) -> Result<Vec<SessionInfo>> {
        let book = NameBook::open(&self.conn)?;
        let wanted: Option<Vec<i64>> =
            (!projects.is_empty()).then(|| projects.iter().flat_map(|key| book.projects.named(key)).collect());
        let mut query = self.conn.prepare_cached(
            "SELECT id, key, project, title, started_ms, last_ms, prompts, last_prompt, \
                (SELECT count(*) FROM memory m WHERE m.session = s.id AND m.kind = 0 AND m.folded_into = 0), \
                (SELECT count(*) FROM memory m WHERE m.session = s.id AND m.kind = 1) \
             FROM session s WHERE last_ms < ?1 ORDER BY last_ms DESC",
        )?;
        let mut found = query.query([before.map_or(i64::MAX, millis)])?;
        let mut out = Vec::new();
        while out.len() < limit
            && let Some(row) = found.next()?
        {
            let project: i64 = row.get(2)?;
            if wanted.as_ref().is_some_and(|wanted| !wanted.contains(&project)) {
                continue;
            }
            let names = book.names(project, 0);
            let time = |ms: i64| (ms != 0).then(|| from_millis(ms));
            out.push(SessionInfo {
                session: SessionId(row.get(1)?),
                project: names.project,
                project_root: names.project_root,
                title: row.get(3)?,
                started_at: time(row.get(4)?),
                last_at: time(row.get(5)?),
                prompts: row.get(6)?,
                last_prompt: row.get(7)?,
                observations: row.get(8)?,
                summaries: row.get(9)?,
            });
        }
        Ok(out)
    }

    /// One session.
    pub fn session(&self, session: &str) -> Result<Option<SessionInfo>> {
        let found = self
            .conn
            .prepare_cached("SELECT last_ms FROM session WHERE key = ?1")?
            .query_row([session], |row| row.get::<_, i64>(0))
            .optional()?;
        let Some(last_ms) = found else { return Ok(None) };
        // Its page holds it; sessions that share the millisecond stand before or behind it.
        let page = self.sessions(&[], Some(from_millis(last_ms.saturating_add(1))), 64)?;
        Ok(page.into_iter().find(|it| it.session.as_str() == session))
    }
}
