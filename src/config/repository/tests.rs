//! Layouts are made by hand, as git makes them; `tests/all` asks the real git once.

use super::*;

struct Disk {
    dir: tempfile::TempDir,
}

impl Disk {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, inside: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(inside)
    }

    fn text(&self, inside: &str) -> String {
        self.path(inside).display().to_string()
    }

    fn folder(&self, inside: &str) -> &Self {
        fs::create_dir_all(self.path(inside)).unwrap();
        self
    }

    fn file(&self, inside: &str, text: &str) -> &Self {
        fs::create_dir_all(self.path(inside).parent().unwrap()).unwrap();
        fs::write(self.path(inside), text).unwrap();
        self
    }

    fn git_dir(&self, inside: &str) -> &Self {
        self.file(&format!("{inside}/HEAD"), "ref: refs/heads/main\n");
        self.folder(&format!("{inside}/objects")).folder(&format!("{inside}/refs"))
    }

    /// A linked worktree of the git directory `common`, as `git worktree add` leaves it.
    fn worktree(&self, common: &str, checkout: &str) -> &Self {
        let name = checkout.rsplit('/').next().unwrap();
        let record = format!("{common}/worktrees/{name}");
        self.file(&format!("{record}/commondir"), "../..\n");
        self.file(&format!("{record}/gitdir"), &format!("{}\n", self.text(&format!("{checkout}/.git"))));
        self.file(&format!("{checkout}/.git"), &format!("gitdir: {}\n", self.text(&record)))
    }
}

fn resolver() -> Resolver {
    Resolver::with_case(&Env::from_iter([("HOME", "/home/u")]), CaseRule::Distinct)
}

fn named(project: &ProjectRef) -> (&str, &str, Option<&str>) {
    (&project.root, &project.name, project.worktree.as_deref())
}

#[test]
fn a_repository_is_found_from_any_folder_in_it() {
    let disk = Disk::new();
    disk.git_dir("w/alpha/.git").folder("w/alpha/src/deep");
    let root = disk.text("w/alpha");
    for cwd in ["w/alpha", "w/alpha/", "w/alpha/src/deep", "w/alpha/src/../src", "w/alpha/.git", "w/alpha/gone/far"] {
        assert_eq!(named(&resolver().resolve(&disk.text(cwd))), (root.as_str(), "alpha", None), "{cwd}");
    }
}

#[test]
fn a085_a_linked_worktree_is_the_same_project_with_a_label() {
    let disk = Disk::new();
    disk.git_dir("w/alpha/.git").worktree("w/alpha/.git", "w/alpha-feat").folder("w/alpha-feat/src");
    let mut resolver = resolver();
    let root = disk.text("w/alpha");
    for cwd in ["w/alpha-feat", "w/alpha-feat/src"] {
        assert_eq!(named(&resolver.resolve(&disk.text(cwd))), (root.as_str(), "alpha", Some("alpha-feat")));
    }
    assert_eq!(named(&resolver.resolve(&disk.text("w/alpha"))), (root.as_str(), "alpha", None));
}

#[test]
fn a085_removed_worktrees_still_belong_to_their_repository() {
    let disk = Disk::new();
    disk.git_dir("w/alpha/.git");
    let root = disk.text("w/alpha");
    // Claude Code's own place for worktrees, already removed.
    let cwd = disk.text("w/alpha/.claude/worktrees/quick-fox/src");
    assert_eq!(named(&resolver().resolve(&cwd)), (root.as_str(), "alpha", Some("quick-fox")));
    // All of it gone, or read on another machine.
    assert_eq!(
        named(&resolver().resolve("/w/gone/.claude/worktrees/quick-fox/src")),
        ("/w/gone", "gone", Some("quick-fox"))
    );
    // Beside the repository, removed but not pruned.
    disk.worktree("w/alpha/.git", "w/alpha-feat");
    fs::remove_dir_all(disk.path("w/alpha-feat")).unwrap();
    let mut knowing = resolver();
    knowing.learn(&root);
    assert_eq!(named(&knowing.resolve(&disk.text("w/alpha-feat/x"))), (root.as_str(), "alpha", Some("alpha-feat")));
    // Still there, its record pruned: the `.git` file tells.
    disk.file("w/alpha-old/.git", &format!("gitdir: {}\n", disk.text("w/alpha/.git/worktrees/alpha-old")));
    assert_eq!(named(&resolver().resolve(&disk.text("w/alpha-old"))), (root.as_str(), "alpha", Some("alpha-old")));
}

#[test]
fn a085_bare_repositories_and_their_worktrees() {
    let disk = Disk::new();
    disk.git_dir("w/tool.git").worktree("w/tool.git", "w/tool-main");
    disk.git_dir("w/site/.bare").file("w/site/.git", "gitdir: ./.bare\n").worktree("w/site/.bare", "w/site/main");
    let mut resolver = resolver();
    let (tool, site) = (disk.text("w/tool.git"), disk.text("w/site"));
    assert_eq!(named(&resolver.resolve(&disk.text("w/tool.git/refs"))), (tool.as_str(), "tool", None));
    assert_eq!(named(&resolver.resolve(&disk.text("w/tool-main"))), (tool.as_str(), "tool", Some("tool-main")));
    assert_eq!(named(&resolver.resolve(&disk.text("w/site/main"))), (site.as_str(), "site", Some("main")));
    assert_eq!(named(&resolver.resolve(&site)), (site.as_str(), "site", None));
}

#[test]
fn a085_a_submodule_is_a_project_of_its_own_in_every_worktree() {
    let disk = Disk::new();
    disk.git_dir("w/app/.git").git_dir("w/app/.git/modules/lib");
    disk.file("w/app/vendor/lib/.git", "gitdir: ../../.git/modules/lib\n");
    disk.worktree("w/app/.git", "w/app-feat").git_dir("w/app/.git/worktrees/app-feat/modules/lib");
    let module = disk.text("w/app/.git/worktrees/app-feat/modules/lib");
    disk.file("w/app-feat/vendor/lib/.git", &format!("gitdir: {module}\n"));
    let mut resolver = resolver();
    let root = disk.text("w/app/vendor/lib");
    assert_eq!(named(&resolver.resolve(&disk.text("w/app/vendor/lib/src"))), (root.as_str(), "lib", None));
    assert_eq!(named(&resolver.resolve(&disk.text("w/app-feat/vendor/lib"))), (root.as_str(), "lib", Some("app-feat")));
}

#[test]
fn a086_the_same_last_name_is_not_the_same_project() {
    let mut resolver = resolver();
    let (one, other) = (resolver.resolve("/w/a/api"), resolver.resolve("/w/b/api"));
    assert_eq!((one.name.as_str(), other.name.as_str()), ("api", "api"));
    assert_ne!(one.root, other.root);
}

#[test]
fn a089_folders_in_other_scripts_stay_apart() {
    let mut resolver = resolver();
    let (one, other) = (resolver.resolve("/w/客户甲/a"), resolver.resolve("/w/客户乙/a"));
    assert_eq!(one.root, "/w/客户甲/a");
    assert_ne!(one, other);
}

#[test]
fn a082_letter_case_folds_only_where_the_system_folds_it() {
    let mut resolver = resolver();
    assert_eq!(resolver.resolve("C:\\w\\a").root, "C:\\w\\a");
    assert_eq!(resolver.resolve("C:\\w\\a"), resolver.resolve("c:\\W\\a"));
    assert_eq!(resolver.resolve("c:/w/a/"), resolver.resolve("C:\\w\\a"));
    assert_ne!(resolver.resolve("/w/Alpha"), resolver.resolve("/w/alpha"));
    let mut folding = Resolver::with_case(&Env::default(), CaseRule::Folded);
    folding.learn("/w/Alpha");
    assert_eq!(folding.resolve("/w/ALPHA").root, "/w/Alpha");
}

#[test]
fn a087_temporary_folders_stay_with_the_session() {
    let mut resolver = resolver();
    let alpha = resolver.follow(None, Some("/w/alpha")).unwrap();
    for cwd in ["/tmp/T/x", "/private/var/folders/zz/T", "/etc", "/w/alpha/src", "/w"] {
        assert_eq!(resolver.follow(Some(&alpha), Some(cwd)).unwrap(), alpha, "{cwd}");
    }
    // A session that began in a temporary place takes the first real one.
    let scratch = resolver.follow(None, Some("/tmp/T/x")).unwrap();
    assert_eq!(resolver.follow(Some(&scratch), Some("/w/alpha")).unwrap(), alpha);
}

#[test]
fn a087_a_clone_in_a_temporary_folder_is_an_errand_not_a_project() {
    let disk = Disk::new();
    disk.git_dir("clone/.git");
    let mut resolver = Resolver::with_case(&Env::from_iter([("TMPDIR", disk.text(""))]), CaseRule::Distinct);
    let alpha = resolver.resolve("/w/alpha");
    assert_eq!(resolver.follow(Some(&alpha), Some(&disk.text("clone"))).unwrap(), alpha);
}

#[test]
fn a090_another_repository_begins_a_new_span() {
    let disk = Disk::new();
    disk.git_dir("w/alpha/.git").git_dir("w/beta/.git").folder("w/beta/src");
    let mut resolver = resolver();
    let alpha = resolver.follow(None, Some(&disk.text("w/alpha"))).unwrap();
    let beta = resolver.follow(Some(&alpha), Some(&disk.text("w/beta/src"))).unwrap();
    assert_eq!((alpha.name.as_str(), beta.name.as_str()), ("alpha", "beta"));
    assert_eq!(resolver.follow(Some(&beta), Some("/tmp/T/x")).unwrap(), beta);
}

#[test]
fn a027_an_event_without_a_directory_keeps_the_sessions_project() {
    let mut resolver = resolver();
    let alpha = resolver.resolve("/w/alpha");
    for cwd in [None, Some(""), Some("relative/path")] {
        assert_eq!(resolver.follow(Some(&alpha), cwd), Some(alpha.clone()));
        assert_eq!(resolver.follow(None, cwd), None);
    }
}

#[test]
fn a_folder_that_becomes_a_repository_is_seen_after_forgetting() {
    let disk = Disk::new();
    disk.folder("w/new/src");
    let mut resolver = resolver();
    assert_eq!(resolver.resolve(&disk.text("w/new/src")).name, "src");
    disk.git_dir("w/new/.git");
    resolver.forget();
    assert_eq!(resolver.resolve(&disk.text("w/new/src")).name, "new");
}

#[test]
fn names_of_odd_roots() {
    let mut resolver = resolver();
    let cases =
        [("/", "/"), ("~", "u"), ("~/p/x", "x"), ("C:\\", "C:"), ("\\\\host\\share\\x", "x"), ("/w/a b", "a b")];
    for (cwd, name) in cases {
        assert_eq!(resolver.resolve(cwd).name, name, "{cwd}");
    }
}

#[test]
fn a095_the_marker_is_found_in_the_project_or_the_worktree() {
    let disk = Disk::new();
    disk.git_dir("w/alpha/.git").git_dir("w/beta/.git").file("w/alpha/.cmem-record", "").folder("w/alpha/src");
    disk.worktree("w/beta/.git", "w/beta-feat").file("w/beta-feat/.cmem-record", "");
    let mut resolver = resolver();
    let mut present = |cwd: &str| {
        let cwd = disk.text(cwd);
        marker_present(&resolver.resolve(&cwd), Some(&cwd), ".cmem-record")
    };
    assert!(present("w/alpha") && present("w/alpha/src") && present("w/beta-feat"));
    assert!(!present("w/beta"));
    let alpha = resolver.resolve(&disk.text("w/alpha"));
    assert!(!marker_present(&alpha, None, "../alpha/.cmem-record") && !marker_present(&alpha, None, ""));
}

#[test]
fn a_missing_folder_does_not_fall_to_a_repository_over_the_whole_home() {
    let disk = Disk::new();
    disk.git_dir(".git");
    let mut resolver =
        Resolver::with_case(&Env::from_iter([("HOME", disk.text("").trim_end_matches('/'))]), CaseRule::Distinct);
    assert_eq!(resolver.resolve(&disk.text("gone")).name, "gone");
}
