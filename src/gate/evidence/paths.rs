//! One form for a path: relative to the project where it lies inside (or inside a worktree of it), else absolute.
//!
//! Works on text alone: `.` and `..` are resolved by the letter, links are not followed.

use crate::memory::ProjectRef;

/// Directories that count as "the project".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// Longest first, without a slash at the end.
    roots: Vec<String>,
}

impl Roots {
    /// The project's main checkout and, when the events happened in a linked worktree, that worktree's directory,
    /// found from `cwd` by its name.
    pub fn of(project: Option<&ProjectRef>, cwd: Option<&str>) -> Self {
        let mut roots = Self::default();
        if let Some(project) = project {
            roots.add(&project.root);
            if let (Some(worktree), Some(cwd)) = (&project.worktree, cwd) {
                roots.add(worktree_root(cwd, worktree));
            }
        } else if let Some(cwd) = cwd {
            roots.add(cwd);
        }
        roots
    }

    /// Adds a directory.
    pub fn add(&mut self, dir: &str) {
        let dir = tidy(dir);
        if dir.len() > 1 && !self.roots.contains(&dir) {
            self.roots.push(dir);
            self.roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        }
    }

    /// Adds another's directories.
    pub fn add_all(&mut self, other: &Roots) {
        for root in &other.roots {
            self.add(root);
        }
    }

    /// `text` with the way to the project left out of the paths in it.
    pub fn shorten(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for root in &self.roots {
            if text.contains(root.as_str()) {
                text = text.replace(&format!("{root}/"), "");
            }
        }
        text
    }

    /// `path` as kept. A relative one stands in `cwd`. Empty when it names a root itself.
    pub fn normalise(&self, path: &str, cwd: Option<&str>) -> String {
        let path = path.trim().trim_matches(['"', '\'']);
        let path = path.strip_prefix("file://").unwrap_or(path);
        let full = if is_absolute(path) || path.starts_with('~') {
            tidy(path)
        } else {
            match cwd {
                Some(cwd) => tidy(&format!("{cwd}/{path}")),
                None => tidy(path),
            }
        };
        for root in &self.roots {
            if full == *root {
                return String::new();
            }
            if let Some(rest) = full.strip_prefix(root.as_str())
                && let Some(inside) = rest.strip_prefix('/')
            {
                return strip_inner_worktree(inside).to_owned();
            }
        }
        full
    }
}

/// Worktrees that Claude Code makes lie inside the project (`.claude/worktrees/NAME/`); a file there is the same
/// file of the project.
fn strip_inner_worktree(path: &str) -> &str {
    for prefix in [".claude/worktrees/", ".worktrees/"] {
        if let Some(rest) = path.strip_prefix(prefix)
            && let Some((_, inside)) = rest.split_once('/')
            && !inside.is_empty()
        {
            return inside;
        }
    }
    path
}

/// The ancestor of `cwd` (or itself) whose last component is the worktree's name.
fn worktree_root<'a>(cwd: &'a str, name: &str) -> &'a str {
    let mut dir = cwd.trim_end_matches('/');
    while let Some((parent, last)) = dir.rsplit_once('/') {
        if last == name {
            return dir;
        }
        dir = parent;
    }
    cwd
}

fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with(['/', '\\']) || (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':')
}

/// Slashes of one kind, no empty, `.` or `..` components, no slash at the end.
fn tidy(path: &str) -> String {
    let windows = path.as_bytes().get(1) == Some(&b':') || path.starts_with('\\');
    let parts: Vec<&str> = if windows { path.split(['/', '\\']).collect() } else { path.split('/').collect() };
    let absolute = parts.first().is_some_and(|part| part.is_empty());
    let mut kept: Vec<&str> = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            "" | "." => {}
            ".." => match kept.last() {
                Some(&last) if last != ".." => {
                    kept.pop();
                }
                _ if absolute => {}
                _ => kept.push(part),
            },
            _ => kept.push(part),
        }
    }
    let mut out = String::with_capacity(path.len());
    if absolute {
        out.push('/');
    }
    out.push_str(&kept.join("/"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(root: &str, worktree: Option<&str>) -> ProjectRef {
        ProjectRef { root: root.into(), name: "p".into(), worktree: worktree.map(String::from) }
    }

    #[test]
    fn inside_is_relative_outside_is_absolute() {
        let roots = Roots::of(Some(&project("/w/alpha", None)), None);
        let cases = [
            ("/w/alpha/src/a.rs", "src/a.rs"),
            ("/w/alpha/./src/../b.rs", "b.rs"),
            ("/w/alphabet/a.rs", "/w/alphabet/a.rs"),
            ("/etc/hosts", "/etc/hosts"),
            ("/w/alpha", ""),
            ("src/c.rs", "src/c.rs"),
            ("../beta/x", "/w/beta/x"),
            ("~/.zshrc", "~/.zshrc"),
            ("/w/alpha/文档/说明.md", "文档/说明.md"),
        ];
        for (path, want) in cases {
            assert_eq!(roots.normalise(path, Some("/w/alpha")), want, "{path}");
        }
        assert_eq!(roots.normalise("a.rs", Some("/w/alpha/sub")), "sub/a.rs");
    }

    #[test]
    fn a_worktree_is_the_same_project() {
        let roots = Roots::of(Some(&project("/w/alpha", Some("fix"))), Some("/w/trees/fix/crates/x"));
        assert_eq!(roots.normalise("/w/trees/fix/src/a.rs", None), "src/a.rs");
        assert_eq!(roots.normalise("/w/alpha/src/a.rs", None), "src/a.rs");
        assert_eq!(roots.normalise("/w/alpha/.claude/worktrees/fix/src/a.rs", None), "src/a.rs");
    }

    #[test]
    fn windows_paths_are_one_form() {
        let roots = Roots::of(Some(&project("C:\\w\\alpha", None)), None);
        assert_eq!(roots.normalise("C:\\w\\alpha\\src\\a.rs", None), "src/a.rs");
        assert_eq!(roots.normalise("C:/w/alpha/src/a.rs", None), "src/a.rs");
    }
}
