//! Where cmem's own files lie, and where Claude Code's do.
//!
//! Configuration, data and state follow the XDG rules; `CMEM_HOME=DIR` puts all three flat under DIR, for tests and
//! portable use. Nothing is ever written into a repository, and no id from a transcript ever becomes a file name:
//! the names below are all there are.
#![allow(clippy::disallowed_methods, reason = "this is the file that makes the directories")]

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use super::system::Env;

/// The directories, as paths. Nothing is touched until [`Dirs::create`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirs {
    /// `config.toml`, `keys.toml`, `themes/`, `modes/`: what a person writes.
    pub config: PathBuf,
    /// The database and its backups.
    pub data: PathBuf,
    /// Logs, the collector's lock, the screen's state, the observer's working directory.
    pub state: PathBuf,
    /// The user's home, for `~` in settings. Absent on machines without one.
    pub home: Option<PathBuf>,
    /// Claude Code's configuration directories that may hold transcripts, first choice first. They need not exist.
    pub claude: Vec<PathBuf>,
}

/// No directory could be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoHome;

impl fmt::Display for NoHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no home directory is known")
    }
}

impl std::error::Error for NoHome {}

impl Dirs {
    /// The directories `env` leads to.
    pub fn discover(env: &Env) -> Result<Self, NoHome> {
        let home = env.path("HOME").or_else(|| env.path("USERPROFILE")).or_else(|| etcetera::home_dir().ok());
        let claude = claude_dirs(env, home.as_deref());
        if let Some(dir) = env.get_os("CMEM_HOME").map(PathBuf::from) {
            // A relative one is taken from where the command was typed.
            let dir = std::path::absolute(&dir).unwrap_or(dir);
            return Ok(Self { config: dir.clone(), data: dir.clone(), state: dir, home, claude });
        }
        let base = home.clone().ok_or(NoHome)?;
        let under = |variable: &str, fallback: &[&str]| {
            let parent =
                env.path(variable).unwrap_or_else(|| fallback.iter().fold(base.clone(), |p, part| p.join(part)));
            parent.join("cmem")
        };
        if cfg!(windows) {
            let local = under("LOCALAPPDATA", &["AppData", "Local"]);
            let config = under("APPDATA", &["AppData", "Roaming"]);
            return Ok(Self { config, data: local.join("data"), state: local.join("state"), home, claude });
        }
        let config = under("XDG_CONFIG_HOME", &[".config"]);
        let data = under("XDG_DATA_HOME", &[".local", "share"]);
        let state = under("XDG_STATE_HOME", &[".local", "state"]);
        Ok(Self { config, data, state, home, claude })
    }

    /// Everything under one directory, as `CMEM_HOME` does; Claude Code's own directory given apart.
    pub fn under(dir: &Path, claude: &Path) -> Self {
        Self { config: dir.into(), data: dir.into(), state: dir.into(), home: None, claude: vec![claude.into()] }
    }

    /// The settings file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The user's key bindings.
    pub fn keys_file(&self) -> PathBuf {
        self.config.join("keys.toml")
    }

    /// The user's themes.
    pub fn themes(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// The user's modes.
    pub fn modes(&self) -> PathBuf {
        self.config.join("modes")
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.data.join("cmem.db")
    }

    /// Copies of the database made before a migration or on request.
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// Log files.
    pub fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// Held open and locked by the one collector.
    pub fn lock_file(&self) -> PathBuf {
        self.state.join("collector.lock")
    }

    /// What the screen remembers between starts.
    pub fn screen_state(&self) -> PathBuf {
        self.state.join("screen.json")
    }

    /// The directory observer processes run in. Transcripts with a working directory in it are never read (A039).
    pub fn observer(&self) -> PathBuf {
        self.state.join("observer")
    }

    /// Makes the directories that hold private data, readable by their owner alone whatever the umask (A098).
    pub fn create(&self) -> io::Result<()> {
        private_dir(&self.data, self.home.as_deref())?;
        private_dir(&self.state, self.home.as_deref())
    }
}

/// Makes `dir` (and its parents) with mode 0700. A directory that exists is closed to others if it is plainly
/// cmem's: empty, or holding our database or lock. One that a person filled with other things keeps its mode; the
/// files in it are 0600 all the same.
pub fn private_dir(dir: &Path, home: Option<&Path>) -> io::Result<()> {
    let fresh = !dir.exists();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        if fresh {
            if let Some(parent) = dir.parent() {
                // The user's own folders above (`~/.local/share`) are made as any program makes them.
                fs::create_dir_all(parent)?;
            }
            match fs::DirBuilder::new().mode(0o700).create(dir) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        let mode = fs::metadata(dir)?.permissions().mode() & 0o777;
        if mode != 0o700 && mode & 0o077 != 0 && Some(dir) != home && (fresh || is_ours(dir)) {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
        }
    }
    #[cfg(not(unix))]
    {
        let _ = home;
        if fresh {
            fs::create_dir_all(dir)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_ours(dir: &Path) -> bool {
    let empty = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
    empty || ["cmem.db", "collector.lock", "logs"].iter().any(|name| dir.join(name).exists())
}

/// `$CLAUDE_CONFIG_DIR` (several may be named, separated by commas), else `~/.claude` and the XDG place that was
/// used for a time.
fn claude_dirs(env: &Env, home: Option<&Path>) -> Vec<PathBuf> {
    if let Some(named) = env.get("CLAUDE_CONFIG_DIR").filter(|named| !named.trim().is_empty()) {
        let parts = named.split(',').map(str::trim).filter(|part| !part.is_empty());
        // A relative one is taken from where the command was typed, as Claude Code does.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        return parts.map(|part| absolute(expand_home(part, home))).collect();
    }
    let Some(home) = home else { return Vec::new() };
    let xdg = env.path("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    vec![home.join(".claude"), xdg.join("claude")]
}

/// `text` as a path, a leading `~` being the home directory.
pub fn expand_home(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
        _ => PathBuf::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discover(vars: &[(&str, &str)]) -> Dirs {
        Dirs::discover(&vars.iter().copied().collect()).unwrap()
    }

    #[cfg(not(windows))]
    #[test]
    fn xdg_places_by_default() {
        let dirs = discover(&[("HOME", "/home/u")]);
        assert_eq!(dirs.config_file(), Path::new("/home/u/.config/cmem/config.toml"));
        assert_eq!(dirs.database(), Path::new("/home/u/.local/share/cmem/cmem.db"));
        assert_eq!(dirs.lock_file(), Path::new("/home/u/.local/state/cmem/collector.lock"));
        assert_eq!(dirs.claude, [Path::new("/home/u/.claude"), Path::new("/home/u/.config/claude")]);
        let dirs = discover(&[("HOME", "/home/u"), ("XDG_DATA_HOME", "/d"), ("XDG_STATE_HOME", "relative")]);
        assert_eq!(dirs.data, Path::new("/d/cmem"));
        assert_eq!(dirs.state, Path::new("/home/u/.local/state/cmem"));
    }

    #[test]
    fn cmem_home_holds_everything() {
        let dirs = discover(&[("HOME", "/home/u"), ("CMEM_HOME", "/x"), ("XDG_DATA_HOME", "/d")]);
        for path in [dirs.config_file(), dirs.database(), dirs.logs(), dirs.lock_file(), dirs.observer()] {
            assert!(path.starts_with("/x"), "{}", path.display());
        }
    }

    #[test]
    fn claude_config_dir_may_name_several() {
        let dirs = discover(&[("HOME", "/home/u"), ("CLAUDE_CONFIG_DIR", "/a, ~/b,")]);
        assert_eq!(dirs.claude, [Path::new("/a"), Path::new("/home/u/b")]);
    }

    #[cfg(unix)]
    #[test]
    fn a098_directories_are_closed_to_others() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::under(&home.path().join("a/b"), home.path());
        dirs.create().unwrap();
        assert_eq!(mode(&dirs.data), 0o700);

        // Opened up by somebody, but ours: closed again.
        fs::write(dirs.database(), "").unwrap();
        fs::set_permissions(&dirs.data, fs::Permissions::from_mode(0o777)).unwrap();
        dirs.create().unwrap();
        assert_eq!(mode(&dirs.data), 0o700);

        // A folder of other things that somebody named as CMEM_HOME keeps its mode.
        let shared = home.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::write(shared.join("notes.txt"), "").unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
        Dirs::under(&shared, home.path()).create().unwrap();
        assert_eq!(mode(&shared), 0o755);
    }
}
