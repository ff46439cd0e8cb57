//! Which project a typed name means (A092): the exact name or path first, else the only one that differs in letter
//! case, else a suggestion. Never a guess, and never an answer about everything instead.

use crate::recall::query::closest;
use crate::store::api::ProjectInfo;

/// A project that was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Words for `Filter::projects`.
    pub keys: Vec<String>,
    /// What it is called.
    pub label: String,
    /// What the one who typed should know: another spelling, several projects of that name.
    pub note: Option<String>,
}

/// No project has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// As typed.
    pub name: String,
    /// Names that are near, nearest first.
    pub near: Vec<String>,
}

/// The project that `typed` means: a name, `name/worktree`, or the path of a root.
pub fn named(projects: &[ProjectInfo], typed: &str) -> Result<Named, Unknown> {
    let typed = typed.trim();
    let wanted = if typed.len() > 1 { typed.trim_end_matches(['/', '\\']) } else { typed };
    let found = pick(projects, |name| name == wanted);
    if !found.is_empty() {
        return Ok(answer(&found, None));
    }
    let lower = wanted.to_lowercase();
    let folded = pick(projects, |name| name.to_lowercase() == lower);
    let spellings: std::collections::BTreeSet<String> = folded.iter().map(|project| full_name(project)).collect();
    match spellings.first() {
        Some(spelling) if spellings.len() == 1 => {
            Ok(answer(&folded, Some(format!("no project is called {wanted}; {spelling} is meant"))))
        }
        // Two that differ in letter case only: the person must say which.
        Some(_) => Err(Unknown { name: wanted.to_owned(), near: spellings.into_iter().collect() }),
        None => Err(Unknown { name: wanted.to_owned(), near: near(projects, &lower) }),
    }
}

fn pick(projects: &[ProjectInfo], is: impl Fn(&str) -> bool) -> Vec<&ProjectInfo> {
    let mut found: Vec<&ProjectInfo> = projects.iter().filter(|project| is(&project.root)).collect();
    // A root means the project with its worktrees; a name with a slash one worktree.
    found.retain(|project| project.worktree.is_none());
    if found.is_empty() {
        found = projects.iter().filter(|project| is(&full_name(project))).collect();
    }
    if found.is_empty() {
        // Known only through a worktree.
        found = projects.iter().filter(|project| is(&project.name) || is(&project.root)).take(1).collect();
    }
    found
}

fn answer(found: &[&ProjectInfo], note: Option<String>) -> Named {
    let only_worktrees = found.iter().all(|project| project.worktree.is_some());
    let one_is_named = only_worktrees && found.len() == 1;
    let mut keys: Vec<String> =
        found.iter().map(|project| if one_is_named { project.key() } else { project.root.clone() }).collect();
    keys.sort_unstable();
    keys.dedup();
    let several = keys.len() > 1;
    let label = found.first().map_or_else(String::new, |project| full_name(project));
    let note =
        if several { Some(format!("{} projects are called {label}: {}", keys.len(), keys.join(", "))) } else { note };
    Named { keys, label, note }
}

fn full_name(project: &ProjectInfo) -> String {
    match &project.worktree {
        Some(worktree) => format!("{}/{worktree}", project.name),
        None => project.name.clone(),
    }
}

fn near(projects: &[ProjectInfo], wanted: &str) -> Vec<String> {
    let mut near: Vec<String> = Vec::new();
    let names: Vec<String> = projects.iter().map(full_name).collect();
    near.extend(closest(wanted, names.iter().map(String::as_str), 3).map(str::to_owned));
    near.extend(names.iter().filter(|name| name.to_lowercase().contains(wanted)).cloned());
    let mut seen = std::collections::HashSet::new();
    near.retain(|name| seen.insert(name.clone()));
    near.truncate(5);
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(root: &str, worktree: Option<&str>) -> ProjectInfo {
        ProjectInfo {
            id: 1,
            root: root.into(),
            name: root.rsplit('/').next().unwrap_or_default().into(),
            worktree: worktree.map(str::to_owned),
            alias_of: None,
            excluded: false,
            observations: 1,
            summaries: 0,
            prompts: 0,
            last_at: None,
        }
    }

    fn keys(projects: &[ProjectInfo], typed: &str) -> Vec<String> {
        named(projects, typed).unwrap().keys
    }

    #[test]
    fn a092_exact_first_else_the_only_other_spelling_with_a_note_else_suggestions() {
        let projects = [project("/w/alpha", None), project("/w/Beta", None), project("/w/beta2", None)];
        assert_eq!(named(&projects, "alpha").unwrap().note, None);
        let other = named(&projects, "Alpha").unwrap();
        assert_eq!(other.keys, ["/w/alpha"]);
        assert_eq!(other.note.as_deref(), Some("no project is called Alpha; alpha is meant"));
        assert_eq!(named(&projects, "alhpa").unwrap_err().near, ["alpha"]);
        assert_eq!(named(&projects, "bet").unwrap_err().near.len(), 2);
        assert_eq!(named(&projects, "nothing-like-it").unwrap_err().near, [""; 0]);
    }

    #[test]
    fn a092_two_spellings_are_a_question_not_a_guess() {
        let projects = [project("/w/a/Site", None), project("/w/b/site", None)];
        assert_eq!(keys(&projects, "site"), ["/w/b/site"]);
        assert_eq!(named(&projects, "SITE").unwrap_err().near, ["Site", "site"]);
    }

    #[test]
    fn a086_projects_of_one_name_are_named_together_and_apart_by_path() {
        let projects = [project("/w/a/api", None), project("/w/b/api", None)];
        let both = named(&projects, "api").unwrap();
        assert_eq!(both.keys, ["/w/a/api", "/w/b/api"]);
        assert_eq!(both.note.as_deref(), Some("2 projects are called api: /w/a/api, /w/b/api"));
        assert_eq!(keys(&projects, "/w/b/api/"), ["/w/b/api"]);
    }

    #[test]
    fn a085_a_worktree_is_named_with_a_slash_and_belongs_to_its_project() {
        let projects = [project("/w/alpha", None), project("/w/alpha", Some("feat"))];
        assert_eq!(keys(&projects, "alpha"), ["/w/alpha"]);
        assert_eq!(keys(&projects, "alpha/feat"), ["/w/alpha#feat"]);
        // Known only through its worktree, the project is found by its own name.
        assert_eq!(keys(&projects[1..], "/w/alpha"), ["/w/alpha#feat"]);
    }
}
