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
    /// What the index must say of a row (files that globs name), before the globs decide.
    pub words: Option<String>,
    walk: Walk,
    /// Globs that SQL cannot decide; rows are looked at afterwards.
    pub globs: Option<Globs>,
}

/// Along which index rows are read: the one that passes over the fewest that do not match. SQLite's own choice does not
/// know that a page ends after fifty rows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Walk {
    /// In order of time.
    Time,
    /// In order of time within each project.
    Projects,
    /// In order of time within each of these types.
    Types(Vec<String>),
    /// Rows by number, or of a session: few, sorted afterwards.
    Few(&'static str),
    /// Pinned rows.
    Pinned,
}

impl Conditions {
    /// Prepares `filter`.
    pub fn of(conn: &Connection, filter: &Filter) -> Result<Conditions> {
        let mut it = Conditions {
            sql: String::new(),
            params: Vec::new(),
            projects: None,
            words: None,
            walk: Walk::Time,
            globs: None,
        };
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
            // Single ids are looked up one by one; two hundred of them as ranges would be tried on every row.
            let (single, ranges): (Vec<_>, Vec<_>) = filter.ids.iter().partition(|(from, to)| from == to);
            let mut parts: Vec<String> = Vec::new();
            if !single.is_empty() {
                parts.push(format!("m.id IN ({})", marks(single.len())));
                it.params.extend(single.iter().map(|(id, _)| Value::from(id.0)));
            }
            for (from, to) in ranges {
                parts.push("m.id BETWEEN ? AND ?".into());
                it.params.extend([Value::from(from.0), Value::from(to.0)]);
            }
            it.push(&format!("({})", parts.join(" OR ")));
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
            it.words =
                phrases.and_then(|parts| Match::In(vec![Field::Files], Box::new(Match::Any(parts))).expression());
        }
        it.walk = it.choose_walk(conn, filter)?;
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

    fn choose_walk(&self, conn: &Connection, filter: &Filter) -> Result<Walk> {
        if !filter.ids.is_empty() {
            return Ok(Walk::Few(""));
        }
        if !filter.sessions.is_empty() {
            return Ok(Walk::Few("INDEXED BY memory_session"));
        }
        if filter.pinned == Some(true) {
            return Ok(Walk::Pinned);
        }
        let by_place = if self.projects.is_some() { Walk::Projects } else { Walk::Time };
        if filter.types.is_empty() || filter.types.len() > 12 {
            return Ok(by_place);
        }
        // Rows passed over for each that matches: along the projects, all rows of theirs; along the types, all of these
        // types. The counters know both.
        let among = |ids: &[i64]| if ids.is_empty() { "0".to_owned() } else { marks(ids.len()) };
        let (project_sql, project_params) = match &self.projects {
            Some(ids) => (format!("project IN ({})", among(ids)), ids.clone()),
            None => ("1".to_owned(), Vec::new()),
        };
        let type_sql = format!("type IN ({})", marks(filter.types.len()));
        let types = || filter.types.iter().cloned().map(Value::from);
        let projects = || project_params.iter().map(|&id| Value::from(id));
        let count = |condition: &str, params: Vec<Value>| -> Result<i64> {
            let sql = format!("SELECT coalesce(sum(n), 0) FROM type_count WHERE {condition}");
            Ok(conn.prepare_cached(&sql)?.query_row(rusqlite::params_from_iter(params), |row| row.get(0))?)
        };
        let of_projects = count(&project_sql, projects().collect())?;
        let of_types = count(&type_sql, types().collect())?;
        Ok(if of_types * 2 < of_projects { Walk::Types(filter.types.clone()) } else { by_place })
    }

    /// What the index must say for a row to be in the projects: the scope word of one of them.
    pub fn scope(&self) -> Option<String> {
        self.projects.as_ref().map(|ids| {
            let words: Vec<String> = ids.iter().map(|&id| format!("\"{}\"", rows::scope_word(id))).collect();
            format!("(scope : ({}))", words.join(" OR "))
        })
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
        if self.projects.as_ref().is_some_and(Vec::is_empty) {
            return ("SELECT id, ord FROM memory WHERE 0".into(), Vec::new());
        }
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
        let select = "SELECT m.id AS id, m.ord AS ord FROM";
        if let Some(words) = &self.words {
            let mut expression = words.clone();
            if let Some(scope) = self.scope() {
                expression = format!("{scope} AND {expression}");
            }
            let mut params = vec![Value::from(expression)];
            params.extend(tail_params);
            // The page's beginning is told to the index too, or it would hand out the hits before it again.
            let from = match after {
                Some((ord, _)) => {
                    params.push(Value::from(ord));
                    format!(" AND f.rowid {beyond} ?")
                }
                None => String::new(),
            };
            let sql = format!(
                "{select} memory_fts f CROSS JOIN memory m ON m.ord = f.rowid WHERE memory_fts MATCH ?{tail}{from} \
                 ORDER BY f.rowid {direction} LIMIT {limit}"
            );
            return (sql, params);
        }
        let merged = |walks: Vec<String>, params: Vec<Value>| {
            let all = walks.join(" UNION ALL ");
            let sql = if walks.len() == 1 {
                all
            } else {
                format!("SELECT id, ord FROM ({all}) ORDER BY ord {direction} LIMIT {limit}")
            };
            (sql, params)
        };
        // One walk along an index for each value, merged: flat in the size of the database, where an OR or IN would
        // gather and sort.
        let walk = |index: &str, column: &str, more: &str| {
            format!(
                "SELECT * FROM ({select} memory m INDEXED BY {index} WHERE m.{column} = ?{more}{tail} \
                 ORDER BY m.ord {direction} LIMIT {limit})"
            )
        };
        let in_projects = match &self.projects {
            Some(ids) => {
                (format!(" AND +m.project IN ({})", marks(ids.len())), ids.iter().map(|&id| Value::from(id)).collect())
            }
            None => (String::new(), Vec::new()),
        };
        match (&self.walk, &self.projects) {
            (Walk::Types(types), _) => {
                let mut params = Vec::new();
                let walks = types.iter().map(|type_id| {
                    params.push(Value::from(type_id.clone()));
                    params.extend(in_projects.1.iter().cloned());
                    params.extend(tail_params.iter().cloned());
                    walk("memory_type", "type", &in_projects.0)
                });
                let walks = walks.collect();
                merged(walks, params)
            }
            (Walk::Projects, Some(ids)) if ids.len() <= 24 => {
                let mut params = Vec::new();
                let walks = ids.iter().map(|&id| {
                    params.push(Value::from(id));
                    params.extend(tail_params.iter().cloned());
                    walk("memory_project", "project", "")
                });
                let walks = walks.collect();
                merged(walks, params)
            }
            (walk, _) => {
                let (index, by) = match walk {
                    Walk::Few(index) => (*index, "+m.ord"),
                    Walk::Pinned => ("INDEXED BY memory_pinned", "m.ord"),
                    _ => ("", "m.ord"),
                };
                let mut params: Vec<Value> = in_projects.1;
                params.extend(tail_params);
                let sql = format!(
                    "{select} memory m {index} WHERE 1{}{tail} ORDER BY {by} {direction} LIMIT {limit}",
                    in_projects.0
                );
                (sql, params)
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
