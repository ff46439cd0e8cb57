//! Which rows are meant: names of projects and sessions as a person writes them, turned into the store's words; and
//! what is never found because it is excluded (A094).

use crate::memory::MemoryId;
use crate::recall::query::{Fault, Key, ProjectWanted, Query, closest};
use crate::store::api::{Filter, ProjectInfo};
use crate::store::{Result, Store};

use super::Found;

/// Where to look, before the query says more.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Conditions chosen elsewhere (options, a project of the screen). Their projects are used unless the query names
    /// others.
    pub base: Filter,
    /// What the base's projects are called, for the answer: `alpha`. Empty: all projects.
    pub label: String,
    /// Roots that the settings exclude, as words of `Filter::not_projects`.
    pub excluded: Vec<String>,
}

impl Scope {
    /// Everything but what is excluded.
    pub fn all(excluded: Vec<String>) -> Self {
        Self { excluded, ..Self::default() }
    }

    /// One project with its worktrees and former names.
    pub fn project(root: &str, label: &str, excluded: Vec<String>) -> Self {
        let base = Filter { projects: vec![root.to_owned()], ..Filter::default() };
        Self { base, label: label.to_owned(), excluded }
    }

    /// The conditions of scope and query together. Says in `found` where that is, and which names mean nothing.
    pub(super) fn filter(&self, store: &Store, query: &Query, found: &mut Found) -> Result<Filter> {
        let mut filter = merged(&self.base, &query.filter);
        if !filter.with_excluded_projects {
            filter.not_projects.extend(self.excluded.iter().cloned());
        }
        found.scope = if self.label.is_empty() { "all projects".into() } else { format!("project {}", self.label) };
        if !query.projects.is_empty() {
            let projects = store.projects()?;
            let mut named = Vec::new();
            let mut labels = Vec::new();
            for wanted in &query.projects {
                let keys = keys_of(&projects, wanted);
                if keys.is_empty() {
                    found.faults.push(unknown_project(query, wanted, &projects));
                }
                if wanted.not {
                    filter.not_projects.extend(keys);
                } else {
                    labels.push(wanted.name.as_str());
                    named.extend(keys);
                }
            }
            if query.projects.iter().any(|wanted| !wanted.not) {
                found.scope = format!("project {}", labels.join(", "));
                // A name that no project has finds nothing; it must not find everything instead.
                filter.projects = if named.is_empty() { vec!["\u{0}none".into()] } else { named };
            }
        }
        for session in &query.sessions {
            filter.sessions.push(session_key(store, session)?);
        }
        Ok(filter)
    }
}

/// Both sets of conditions; where both name a list, the query's counts.
fn merged(base: &Filter, query: &Filter) -> Filter {
    fn list<T: Clone>(base: &[T], query: &[T]) -> Vec<T> {
        if query.is_empty() { base.to_vec() } else { query.to_vec() }
    }
    Filter {
        projects: list(&base.projects, &query.projects),
        not_projects: [&base.not_projects[..], &query.not_projects].concat(),
        types: list(&base.types, &query.types),
        not_types: [&base.not_types[..], &query.not_types].concat(),
        concepts: list(&base.concepts, &query.concepts),
        files: list(&base.files, &query.files),
        modified_only: base.modified_only || query.modified_only,
        sessions: list(&base.sessions, &query.sessions),
        ids: list(&base.ids, &query.ids),
        since: base.since.max(query.since),
        until: match (base.until, query.until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        },
        kinds: list(&base.kinds, &query.kinds),
        prompt: query.prompt.or(base.prompt),
        sources: list(&base.sources, &query.sources),
        tokens_min: query.tokens_min.or(base.tokens_min),
        tokens_max: query.tokens_max.or(base.tokens_max),
        pinned: query.pinned.or(base.pinned),
        excluded: query.excluded.or(base.excluded),
        edited: query.edited.or(base.edited),
        superseded: query.superseded.or(base.superseded),
        helper: query.helper.or(base.helper),
        with_excluded_projects: base.with_excluded_projects || query.with_excluded_projects,
    }
}

/// The store's words for the projects that a name means: equal names and roots, else names that begin with it, else
/// names that hold it.
pub fn roots_of(projects: &[ProjectInfo], name: &str) -> Vec<String> {
    keys_of(projects, &ProjectWanted { name: name.to_owned(), exact: false, not: false })
}

fn keys_of(projects: &[ProjectInfo], wanted: &ProjectWanted) -> Vec<String> {
    let name = wanted.name.trim_end_matches(['/', '\\']).to_lowercase();
    let full = |project: &ProjectInfo| match &project.worktree {
        Some(worktree) => format!("{}/{worktree}", project.name).to_lowercase(),
        None => project.name.to_lowercase(),
    };
    let equal = |project: &&ProjectInfo| {
        project.root.to_lowercase() == name || full(project) == name || project.name.to_lowercase() == name
    };
    let key = |project: &ProjectInfo| match (&project.worktree, wanted.exact) {
        (None, true) => format!("={}", project.root),
        (Some(_), _) if full(project) == name => project.key(),
        _ => project.root.clone(),
    };
    let pick = |test: &dyn Fn(&&ProjectInfo) -> bool| -> Vec<String> {
        let mut keys: Vec<String> = projects.iter().filter(|it| test(it)).map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    if wanted.exact {
        return pick(&|project| equal(project) && (project.worktree.is_none() || full(project) == name));
    }
    let exact = pick(&|project| equal(project));
    if !exact.is_empty() || name.is_empty() {
        return exact;
    }
    let begins = pick(&|project| full(project).starts_with(&name));
    if !begins.is_empty() {
        return begins;
    }
    pick(&|project| full(project).contains(&name) || project.root.to_lowercase().ends_with(&format!("/{name}")))
}

fn unknown_project(query: &Query, wanted: &ProjectWanted, projects: &[ProjectInfo]) -> Fault {
    let span = query.parts.iter().find(|part| {
        matches!(&part.body, crate::recall::query::Body::Filter(Key::Project, values)
            if values.iter().any(|value| value.trim_start_matches('=') == wanted.name))
    });
    let names = projects.iter().map(|project| project.name.as_str());
    let near = closest(&wanted.name.to_lowercase(), names, 3);
    Fault {
        span: span.map_or(0..0, |part| part.span.clone()),
        what: format!("no project is called “{}”", wanted.name),
        suggestion: near.map(|name| format!("project:{name}")),
    }
}

/// `S171` is the session of summary 171; the beginning of an id is enough.
fn session_key(store: &Store, text: &str) -> Result<String> {
    if store.session(text)?.is_some() {
        return Ok(text.to_owned());
    }
    let digits = text.strip_prefix(['S', '#']).unwrap_or("");
    if let Ok(id) = digits.parse() {
        let found = store.get(&[MemoryId(id)])?;
        if let Some(session) = found.into_iter().next().and_then(|memory| memory.session) {
            return Ok(session.0);
        }
    }
    if text.len() < 32 {
        let sessions = store.sessions(&[], None, 2_000)?;
        if let Some(known) = sessions.iter().find(|it| it.session.as_str().starts_with(text)) {
            return Ok(known.session.0.clone());
        }
    }
    Ok(text.to_owned())
}

/// Whether a path is meant by a glob: as it stands, below it, or ending with it.
pub(super) fn glob_matches(glob: &str, path: &str) -> bool {
    let path = path.trim_matches('/');
    let plain = glob.trim_matches('/');
    if !glob.contains(['*', '?', '[', '{']) {
        return path == plain
            || path.strip_suffix(plain).is_some_and(|head| head.ends_with('/'))
            || path.strip_prefix(plain).is_some_and(|tail| tail.starts_with('/'));
    }
    [plain.to_owned(), format!("**/{plain}")].iter().any(|form| {
        let glob = globset::GlobBuilder::new(form).literal_separator(true).build();
        glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
    })
}
