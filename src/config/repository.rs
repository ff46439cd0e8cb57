//! Which project a directory belongs to: the one resolver that recording, injection and search share.
//!
//! Identity is the repository (its common git directory, so that linked worktrees are one project) or, outside of
//! any, the directory itself; the name is a label. The input is always a line's own `cwd`: never the folder name of
//! a transcript, which cannot be inverted (A089), and never this process's directory (A087, A088).
//!
//! Git's files are read, git is not started: it costs milliseconds a call, and a repository whose worktree is
//! already removed cannot be asked any more, while its files still tell.
#![allow(clippy::disallowed_methods, reason = "this is the file that looks at repositories on disk")]

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use super::dirs::expand_home;
use super::system::Env;
use crate::memory::ProjectRef;

#[cfg(test)]
mod tests;

/// Whether paths that differ in letter case only are one (A082).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseRule {
    /// They are two, as on Linux.
    Distinct,
    /// They are one, as on Windows and, by default, macOS.
    Folded,
}

impl CaseRule {
    /// The rule of the system this runs on.
    pub fn of_host() -> Self {
        if cfg!(any(windows, target_os = "macos")) { Self::Folded } else { Self::Distinct }
    }
}

/// Says which project a directory belongs to, and remembers what it has looked up.
#[derive(Debug)]
pub struct Resolver {
    case: CaseRule,
    home: Option<PathBuf>,
    temporary: Vec<PathBuf>,
    places: HashMap<String, Place>,
    /// Folded root → the spelling seen first.
    spellings: HashMap<String, String>,
    /// Repositories seen, asked for their removed worktrees.
    repositories: BTreeSet<String>,
}

/// What a directory came to.
#[derive(Clone, Debug)]
struct Place {
    project: ProjectRef,
    /// A repository says so, not only the path.
    in_repository: bool,
    temporary: bool,
}

impl Resolver {
    /// A resolver for this system.
    pub fn new(env: &Env) -> Self {
        Self::with_case(env, CaseRule::of_host())
    }

    /// A resolver with the given case rule.
    pub fn with_case(env: &Env, case: CaseRule) -> Self {
        let named = ["TMPDIR", "TEMP", "TMP"].iter().filter_map(|name| env.path(name));
        let usual = ["/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders"].map(PathBuf::from);
        Self {
            case,
            home: env.path("HOME").or_else(|| env.path("USERPROFILE")),
            temporary: usual.into_iter().chain(named).filter(|dir| dir.parent().is_some()).collect(),
            places: HashMap::new(),
            spellings: HashMap::new(),
            repositories: BTreeSet::new(),
        }
    }

    /// The project of a directory by itself. An event of a session is better asked about with [`Resolver::follow`].
    pub fn resolve(&mut self, cwd: &str) -> ProjectRef {
        self.place(cwd).project
    }

    /// The project of an event in a session that has been in `current` so far.
    ///
    /// No directory named: the session's (A027). Another repository: a new span of that project begins (A090). A
    /// directory outside of any repository, or a temporary one: still the session's, since people and agents step
    /// out for a moment without changing what they work on (A087); unless the session itself began in a temporary
    /// place.
    pub fn follow(&mut self, current: Option<&ProjectRef>, cwd: Option<&str>) -> Option<ProjectRef> {
        let Some(cwd) = cwd.filter(|cwd| is_absolute(&self.expand(cwd))) else { return current.cloned() };
        let place = self.place(cwd);
        let Some(current) = current else { return Some(place.project) };
        let current_temporary = self.is_temporary(Path::new(&current.root));
        let moves = place.project.root == current.root
            || (place.in_repository && (current_temporary || !place.temporary))
            || (current_temporary && !place.temporary);
        Some(if moves { place.project } else { current.clone() })
    }

    /// Tells the resolver of a project known from before: its spelling wins on systems that fold case, and its
    /// repository is asked for worktrees that are gone by now.
    pub fn learn(&mut self, root: &str) {
        self.spell(root.to_owned());
        self.repositories.insert(root.to_owned());
    }

    /// Forgets what was looked up, so that a folder that became a repository is seen as one. Cheap; meant for each
    /// slow rescan.
    pub fn forget(&mut self) {
        self.places.clear();
    }

    fn expand(&self, cwd: &str) -> String {
        if cwd.starts_with('~') { expand_home(cwd, self.home.as_deref()).display().to_string() } else { cwd.to_owned() }
    }

    fn place(&mut self, cwd: &str) -> Place {
        if let Some(place) = self.places.get(cwd) {
            return place.clone();
        }
        let place = self.look_up(&normal(&self.expand(cwd)));
        self.places.insert(cwd.to_owned(), place.clone());
        place
    }

    fn look_up(&mut self, cwd: &str) -> Place {
        let by_path = |resolver: &mut Self, path: String| {
            let temporary = resolver.is_temporary(Path::new(&path));
            // Claude Code's own worktrees tell by their place whose they are, though repository and all be gone.
            let (root, worktree) = match path.split_once("/.claude/worktrees/") {
                Some((root, rest)) if !root.is_empty() => (root.to_owned(), rest.split('/').next().map(str::to_owned)),
                _ => (path, None),
            };
            Place { project: resolver.project(root, worktree), in_repository: false, temporary }
        };
        // A path of another system is data: nothing on this disk can be asked about it.
        if !is_absolute(cwd) || (is_windows(cwd) && !cfg!(windows)) {
            return by_path(self, cwd.to_owned());
        }
        let (present, gone) = split_present(Path::new(cwd));
        let found = find_repository(&present).filter(|found| {
            // A folder that is gone was hardly part of a repository that spans the whole home directory.
            gone.as_os_str().is_empty() || Some(found.root.as_path()) != self.home.as_deref()
        });
        let found = match found {
            Some(mut found) => {
                // `.claude/worktrees/x` is where Claude Code keeps its own worktrees; removed ones still name x.
                let full = joined(&present, &gone);
                found.worktree = found.worktree.or_else(|| claude_worktree(full.strip_prefix(&found.root).ok()?));
                Some(found)
            }
            None if !gone.as_os_str().is_empty() => self.find_removed_worktree(&joined(&present, &gone)),
            None => None,
        };
        let Some(found) = found else { return by_path(self, joined(&present, &gone).display().to_string()) };
        let root = self.spell(found.root.display().to_string());
        self.repositories.insert(root.clone());
        let temporary = self.is_temporary(Path::new(cwd));
        Place { project: self.project(root, found.worktree), in_repository: true, temporary }
    }

    fn project(&mut self, root: String, worktree: Option<String>) -> ProjectRef {
        let root = self.spell(root);
        ProjectRef { name: label(&root), root, worktree }
    }

    fn spell(&mut self, root: String) -> String {
        if self.case == CaseRule::Distinct && !is_windows(&root) {
            return root;
        }
        self.spellings.entry(root.to_lowercase()).or_insert(root).clone()
    }

    fn is_temporary(&self, dir: &Path) -> bool {
        self.temporary.iter().any(|temporary| dir.starts_with(temporary))
            || dir.to_string_lossy().to_lowercase().replace('\\', "/").contains("/appdata/local/temp/")
    }

    /// A worktree that is no longer there, found in the records that its repository keeps until it is pruned.
    fn find_removed_worktree(&self, gone: &Path) -> Option<Found> {
        self.repositories.iter().find_map(|root| {
            let records = fs::read_dir(Path::new(root).join(".git/worktrees")).ok()?;
            records.flatten().find_map(|record| {
                let git_file = fs::read_to_string(record.path().join("gitdir")).ok()?;
                let checkout = Path::new(git_file.trim()).parent()?.to_path_buf();
                gone.starts_with(&checkout).then(|| Found { root: root.into(), worktree: last_name(&checkout) })
            })
        })
    }
}

/// Whether `cwd`, a folder above it inside its project, or the project's root holds the marker file of opt-in
/// recording (A095).
pub fn marker_present(project: &ProjectRef, cwd: Option<&str>, marker: &str) -> bool {
    // A marker is a name; anything with a folder in it would look elsewhere.
    if marker.is_empty() || Path::new(marker).components().count() != 1 {
        return false;
    }
    let holds = |dir: &Path| dir.join(marker).is_file();
    if holds(Path::new(&project.root)) {
        return true;
    }
    for dir in cwd.iter().filter(|cwd| is_absolute(cwd)).flat_map(|cwd| Path::new(cwd).ancestors()) {
        if holds(dir) {
            return true;
        }
        if dir == Path::new(&project.root) || dir.join(".git").exists() {
            break;
        }
    }
    false
}

/// A repository that a directory lies in.
#[derive(Debug)]
struct Found {
    root: PathBuf,
    worktree: Option<String>,
}

fn find_repository(from: &Path) -> Option<Found> {
    from.ancestors().find_map(|dir| {
        let git = dir.join(".git");
        match fs::metadata(&git) {
            Ok(meta) if meta.is_dir() && is_git_dir(&git) => Some(Found { root: dir.to_path_buf(), worktree: None }),
            Ok(meta) if meta.is_file() => pointed_at(dir, &git),
            // In a bare repository, or somewhere inside a git directory.
            _ if is_git_dir(dir) => Some(Found { root: checkout_of(dir), worktree: None }),
            _ => None,
        }
    })
}

/// What a `.git` file leads to: a linked worktree, a submodule, or a git directory kept elsewhere.
fn pointed_at(dir: &Path, git_file: &Path) -> Option<Found> {
    let text = fs::read_to_string(git_file).ok()?;
    let target = dir.join(text.trim().strip_prefix("gitdir:")?.trim());
    let target = canonical(&target);
    if let Ok(common) = fs::read_to_string(target.join("commondir")) {
        let common = canonical(&target.join(common.trim()));
        return Some(Found { root: checkout_of(&common), worktree: last_name(dir) });
    }
    let parts: Vec<_> = target.components().map(|part| part.as_os_str()).collect();
    if parts.iter().any(|part| *part == "modules") {
        // A submodule is a repository of its own. In a linked worktree of the outer one it is still the same one.
        let outer = dir.parent().and_then(find_repository);
        if let Some(Found { root, worktree: Some(worktree) }) = outer {
            let checkout = dir.ancestors().skip(1).find(|outer| outer.join(".git").exists())?;
            let inside = dir.strip_prefix(checkout).ok()?;
            return Some(Found { root: root.join(inside), worktree: Some(worktree) });
        }
    } else if !target.exists() {
        // The worktree's record is pruned; the path still names the repository.
        let common = target.ancestors().find(|above| above.file_name().is_some_and(|name| name == ".git"))?;
        return Some(Found { root: common.parent()?.to_path_buf(), worktree: last_name(dir) });
    }
    Some(Found { root: dir.to_path_buf(), worktree: None })
}

/// The directory that stands for a common git directory: its checkout for `…/.git` and hidden bare ones beside
/// their worktrees (`project/.bare`), itself for `repo.git`.
fn checkout_of(common: &Path) -> PathBuf {
    let hidden = common.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    match common.parent() {
        Some(parent) if hidden => parent.to_path_buf(),
        _ => common.to_path_buf(),
    }
}

fn is_git_dir(dir: &Path) -> bool {
    dir.join("HEAD").is_file() && dir.join("objects").is_dir() && dir.join("refs").is_dir()
}

fn claude_worktree(inside: &Path) -> Option<String> {
    let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let at = parts.windows(2).position(|pair| pair[0] == ".claude" && pair[1] == "worktrees")?;
    parts.get(at + 2).map(|name| name.to_string())
}

/// The part of a path that exists, in canonical form, and the part that does not.
fn split_present(path: &Path) -> (PathBuf, PathBuf) {
    for above in path.ancestors() {
        if let Ok(present) = fs::canonicalize(above) {
            return (present, path.strip_prefix(above).unwrap_or(Path::new("")).to_path_buf());
        }
    }
    (PathBuf::new(), path.to_path_buf())
}

fn canonical(path: &Path) -> PathBuf {
    let (present, gone) = split_present(Path::new(&normal(&path.display().to_string())));
    joined(&present, &gone)
}

/// Joined without the trailing separator that an empty second half would leave.
fn joined(present: &Path, gone: &Path) -> PathBuf {
    if gone.as_os_str().is_empty() { present.to_path_buf() } else { present.join(gone) }
}

fn last_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// The label of a root: its last component, without the `.git` of a bare repository.
fn label(root: &str) -> String {
    let separators: &[char] = if is_windows(root) { &['/', '\\'] } else { &['/'] };
    let last = root.trim_end_matches(separators).rsplit(separators).next().unwrap_or_default();
    let name = last.strip_suffix(".git").filter(|name| !name.is_empty()).unwrap_or(last);
    if name.is_empty() { root.to_owned() } else { name.to_owned() }
}

fn is_windows(path: &str) -> bool {
    let bytes = path.as_bytes();
    (bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':') || path.starts_with("\\\\")
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || (is_windows(path) && path.len() > 2)
}

/// The path without `.`, `..`, doubled or trailing separators; a drive letter in upper case.
fn normal(path: &str) -> String {
    let windows = is_windows(path);
    let separator = if windows { "\\" } else { "/" };
    let separators: &[char] = if windows { &['/', '\\'] } else { &['/'] };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(separators) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && !last.ends_with(':')) => drop(parts.pop()),
            ".." if is_absolute(path) => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join(separator);
    match () {
        () if path.starts_with("\\\\") => format!("\\\\{joined}"),
        () if windows => {
            let (drive, rest) = joined.split_at(1);
            let root = if rest == ":" { "\\" } else { "" };
            format!("{}{rest}{root}", drive.to_uppercase())
        }
        () if path.starts_with('/') => format!("/{joined}"),
        () => joined,
    }
}
