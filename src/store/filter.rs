//! Hard conditions ([`Filter`]) as SQL over `memory m` (and `memory_body b` where the text is needed).

use rusqlite::Connection;
use rusqlite::types::Value;

use super::api::{Filter, Order, PageKey};
use super::error::Result;
use super::places::Projects;
use super::terms::{Field, Match};
use super::{rows, terms};
use crate::memory::{Source, millis};

/// A filter made ready for one query.
pub(super) struct Conditions {
    /// `AND …` over `m`, for rows of any project.
    pub sql: String,
    /// Its parameters, in order.
    pub params: Vec<Value>,
    /// Projects it is restricted to. `Some` of nothing: no row can match.
    pub projects: Option<Vec<i64>>,
    /// Globs that SQL cannot decide; rows are looked at afterwards.
    pub globs: Option<Globs>,
}

impl Conditions {
    /// Prepares `filter`.
    pub fn of(conn: &Connection, filter: &Filter) -> Result<Conditions> {
        let mut it = Conditions { sql: String::new(), params: Vec::new(), projects: None, globs: None };
        let needs_projects =
            !filter.projects.is_empty() || !filter.not_projects.is_empty() || !filter.with_excluded_projects;
        let projects = if needs_projects { Some(Projects::load(conn)?) } else { None };
        let named = |keys: &[String]| -> Vec<i64> {
            let mut ids: Vec<i64> = keys.iter().flat_map(|key| projects.iter().flat_map(|it| it.named(key))).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let mut off = named(&filter.not_projects);
        if !filter.with_excluded_projects
            && let Some(projects) = &projects
        {
            off.extend(projects.excluded());
        }
        if filter.projects.is_empty() {
            if !off.is_empty() {
                it.none_of("m.project", off.into_iter().map(Value::from));
            }
        } else {
            let mut ids = named(&filter.projects);
            ids.retain(|id| !off.contains(id));
            it.projects = Some(ids);
        }
        match filter.kinds.as_slice() {
            [] => it.push("m.kind < 2"),
            kinds => it.any_of("m.kind", kinds.iter().map(|&kind| Value::from(rows::kind_number(kind)))),
        }
        if !filter.types.is_empty() {
            it.any_of("m.type", filter.types.iter().cloned().map(Value::from));
        }
        if !filter.not_types.is_empty() {
            it.none_of("m.type", filter.not_types.iter().cloned().map(Value::from));
        }
        if !filter.concepts.is_empty() {
            // A concept stands in the row as a JSON string; it is looked for as one.
            let parts = vec!["instr(m.concepts, ?) > 0"; filter.concepts.len()].join(" OR ");
            it.push(&format!("({parts})"));
            it.params
                .extend(filter.concepts.iter().map(|it| Value::from(serde_json::to_string(it).unwrap_or_default())));
        }
        if !filter.sessions.is_empty() {
            let marks = marks(filter.sessions.len());
            it.push(&format!("m.session IN (SELECT id FROM session WHERE key IN ({marks}))"));
            it.params.extend(filter.sessions.iter().cloned().map(Value::from));
        }
        if !filter.ids.is_empty() {
            let parts = vec!["m.id BETWEEN ? AND ?"; filter.ids.len()].join(" OR ");
            it.push(&format!("({parts})"));
            for (from, to) in &filter.ids {
                it.params.extend([Value::from(from.0), Value::from(to.0)]);
            }
        }
        for (bound, sql) in [(filter.since, "m.ord >= ?"), (filter.until, "m.ord < ?")] {
            if let Some(time) = bound {
                it.push(sql);
                it.params.push(Value::from(millis(time) * 8));
            }
        }
        if let Some(prompt) = filter.prompt {
            it.push("m.prompt_number = ?");
            it.params.push(Value::from(prompt));
        }
        if !filter.sources.is_empty() {
            let known = filter.sources.iter().filter_map(|text| source_named(text));
            it.any_of("m.source", known.map(|it| Value::from(rows::source_number(it))));
        }
        for (bound, sql) in [(filter.tokens_min, "m.tokens >= ?"), (filter.tokens_max, "m.tokens <= ?")] {
            if let Some(tokens) = bound {
                it.push(sql);
                it.params.push(Value::from(tokens));
            }
        }
        for (wanted, sql) in [
            (filter.pinned, "m.pinned"),
            (filter.excluded, "m.excluded"),
            (filter.edited, "m.edited"),
            (
                filter.superseded,
                "(m.superseded_by <> 0 AND EXISTS (SELECT 1 FROM memory n WHERE n.id = m.superseded_by))",
            ),
            (filter.helper, "(m.agent <> '')"),
        ] {
            if let Some(wanted) = wanted {
                it.push(&format!("{sql} = {}", i32::from(wanted)));
            }
        }
        if !filter.files.is_empty() {
            it.globs = Some(Globs::new(&filter.files, filter.modified_only));
            // The index narrows the rows to those that name the parts of a path; the globs decide.
            let phrases: Option<Vec<Match>> = filter.files.iter().map(|glob| narrowing(glob)).collect();
            if let Some(expression) =
                phrases.and_then(|parts| Match::In(vec![Field::Files], Box::new(Match::Any(parts))).expression())
            {
                it.push("m.ord IN (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?)");
                it.params.push(Value::from(expression));
            }
        }
        Ok(it)
    }

    fn push(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }

    fn any_of(&mut self, column: &str, values: impl Iterator<Item = Value>) {
        let before = self.params.len();
        self.params.extend(values);
        let list = marks(self.params.len() - before);
        self.push(&format!("{column} IN ({list})"));
    }

    fn none_of(&mut self, column: &str, values: impl Iterator<Item = Value>) {
        let before = self.params.len();
        self.params.extend(values);
        let list = marks(self.params.len() - before);
        self.push(&format!("{column} NOT IN ({list})"));
    }

    /// A query for `(id, ord)` of matching rows in order, behind `after`, at most `limit`. Folded rows stay out
    /// unless `folded`.
    pub fn ids_query(
        &self,
        order: Order,
        after: Option<(i64, PageKey)>,
        limit: usize,
        folded: bool,
    ) -> (String, Vec<Value>) {
        let (direction, beyond) = match order {
            Order::Oldest => ("ASC", ">"),
            _ => ("DESC", "<"),
        };
        let mut tail = String::new();
        if !folded {
            tail.push_str(" AND m.folded_into = 0");
        }
        tail.push_str(&self.sql);
        let mut tail_params = self.params.clone();
        if let Some((ord, _)) = after {
            tail.push_str(&format!(" AND m.ord {beyond} ?"));
            tail_params.push(Value::from(ord));
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        match &self.projects {
            None => (
                format!(
                    "SELECT m.id AS id, m.ord AS ord FROM memory m WHERE 1{tail} ORDER BY m.ord {direction} LIMIT {limit}"
                ),
                tail_params,
            ),
            Some(ids) if ids.is_empty() => ("SELECT id, ord FROM memory WHERE 0".into(), Vec::new()),
            // One walk along (project, ord) for each project, merged: flat in the size of the database, where an OR
            // or IN would gather and sort.
            Some(ids) if ids.len() <= 24 => {
                let mut params = Vec::new();
                let walks: Vec<String> = ids
                    .iter()
                    .map(|&id| {
                        params.push(Value::from(id));
                        params.extend(tail_params.iter().cloned());
                        format!(
                            "SELECT * FROM (SELECT m.id AS id, m.ord AS ord FROM memory m INDEXED BY memory_project \
                             WHERE m.project = ?{tail} ORDER BY m.ord {direction} LIMIT {limit})"
                        )
                    })
                    .collect();
                let all = walks.join(" UNION ALL ");
                if ids.len() == 1 {
                    return (all, params);
                }
                (format!("SELECT id, ord FROM ({all}) ORDER BY ord {direction} LIMIT {limit}"), params)
            }
            Some(ids) => {
                let mut params: Vec<Value> = ids.iter().map(|&id| Value::from(id)).collect();
                params.extend(tail_params);
                (
                    format!(
                        "SELECT m.id AS id, m.ord AS ord FROM memory m WHERE +m.project IN ({}){tail} \
                         ORDER BY m.ord {direction} LIMIT {limit}",
                        marks(ids.len())
                    ),
                    params,
                )
            }
        }
    }
}

fn marks(n: usize) -> String {
    vec!["?"; n].join(", ")
}

fn source_named(text: &str) -> Option<Source> {
    serde_json::from_value(serde_json::Value::String(text.to_lowercase())).ok()
}

/// What every path that a glob matches must name, as far as it has plain parts.
fn narrowing(glob: &str) -> Option<Match> {
    let plain: Vec<Match> = glob
        .split(['*', '?', '[', ']', '{', '}', '!'])
        .enumerate()
        .filter_map(|(at, piece)| {
            // A piece that touches a wildcard may end in half a word; only whole words count.
            let from = if at == 0 { 0 } else { piece.find(['/', '.', '-', '_'])? };
            let to = if glob.ends_with(piece) { piece.len() } else { piece.rfind(['/', '.', '-', '_'])? };
            let piece = piece.get(from..to)?;
            (!terms::words_of(piece).is_empty()).then(|| Match::Phrase(piece.to_owned()))
        })
        .collect();
    // Braces hold alternatives: their words need not all be there.
    (!plain.is_empty() && !glob.contains(['{', '['])).then_some(Match::All(plain))
}

/// Path globs of a query.
pub(super) struct Globs {
    plain: Vec<String>,
    set: Option<globset::GlobSet>,
    modified_only: bool,
}

impl Globs {
    fn new(globs: &[String], modified_only: bool) -> Globs {
        let mut plain = Vec::new();
        let mut set = globset::GlobSetBuilder::new();
        let mut any = false;
        for glob in globs {
            if !glob.contains(['*', '?', '[', '{']) {
                plain.push(glob.trim_matches('/').to_owned());
                continue;
            }
            for form in [glob.trim_start_matches('/').to_owned(), format!("**/{}", glob.trim_start_matches('/'))] {
                match globset::GlobBuilder::new(&form).literal_separator(true).build() {
                    Ok(glob) => {
                        set.add(glob);
                        any = true;
                    }
                    // What is no glob is taken as it stands.
                    Err(_) => plain.push(glob.trim_matches('/').to_owned()),
                }
            }
        }
        Globs { plain, set: if any { set.build().ok() } else { None }, modified_only }
    }

    /// Whether a memory names a path that is meant: the same, a file below it, or one that ends with it.
    pub fn accept(&self, image: &rows::Image) -> bool {
        let any = |json: &str| rows::from_json(json).iter().any(|path| self.matches(path));
        any(&image.files_modified) || (!self.modified_only && any(&image.files_read))
    }

    fn matches(&self, path: &str) -> bool {
        let path = path.trim_matches('/');
        self.plain.iter().any(|plain| {
            path == plain
                || path.strip_suffix(plain.as_str()).is_some_and(|head| head.ends_with('/'))
                || path.strip_prefix(plain.as_str()).is_some_and(|tail| tail.starts_with('/'))
        }) || self.set.as_ref().is_some_and(|set| set.is_match(path))
    }
}
