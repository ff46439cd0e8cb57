//! Which `claude` program, and what it is: found on PATH and in the places its installers use, asked for its version.
//!
//! The first one that answers and is new enough is taken: PATH first, since that is what the user runs. A path in the
//! settings is the only one looked at. A success is kept while the file stays the same; failures never are (A065).
#![allow(
    clippy::disallowed_methods,
    reason = "this is the file that looks for the program and asks it for its version"
)]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::config::Env;

use super::Setup;
use super::launch::{Credential, Version, child_env};

/// A program and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// What it says it is.
    pub version: Version,
}

/// No program can be used.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NotFound {
    /// Where it was looked for, for people.
    pub looked: Vec<String>,
    /// What was found and why it cannot be used.
    pub unusable: Vec<String>,
}

/// How long a program has to tell its version; a cold start takes half a second.
const PROBE: Duration = Duration::from_secs(15);

/// Looks for the program, and remembers.
#[derive(Debug, Default)]
pub struct Finder {
    known: Option<(Found, Option<SystemTime>)>,
}

impl Finder {
    /// The program to start.
    pub async fn find(&mut self, setup: &Setup) -> Result<Found, NotFound> {
        if let Some((found, changed)) = &self.known
            && found.path.is_file()
            && *changed == modified(&found.path)
        {
            return Ok(found.clone());
        }
        self.known = None;
        let (candidates, looked) = candidates(&setup.program, &setup.env, setup.home.as_deref());
        let mut unusable = Vec::new();
        for path in candidates {
            match probe(&path, &setup.env).await {
                Ok(version) if version >= Version::OLDEST => {
                    let found = Found { path, version };
                    self.known = Some((found.clone(), modified(&found.path)));
                    return Ok(found);
                }
                Ok(version) => unusable.push(format!(
                    "{} is version {version}; {} or later is needed",
                    path.display(),
                    Version::OLDEST
                )),
                Err(why) => unusable.push(format!("{}: {why}", path.display())),
            }
        }
        Err(NotFound { looked, unusable })
    }
}

/// Looks for the program once, for a command a person typed.
pub fn find_now(setup: &Setup) -> Result<Found, NotFound> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(Finder::default().find(setup)),
        Err(err) => Err(NotFound { looked: Vec::new(), unusable: vec![err.to_string()] }),
    }
}

/// Where the sign-in of the client lives, as far as its settings tell.
pub fn credential(claude_dirs: &[PathBuf]) -> Credential {
    let settings = claude_dirs.iter().find_map(|dir| std::fs::read_to_string(dir.join("settings.json")).ok());
    settings.map_or(Credential::Elsewhere, |text| Credential::of(&text))
}

/// What a path leads to, and the places that were looked in.
fn candidates(wish: &str, env: &Env, home: Option<&Path>) -> (Vec<PathBuf>, Vec<String>) {
    if !wish.is_empty() {
        let path = crate::config::expand_home(wish, home);
        let there = path.is_file();
        let looked = vec![path.display().to_string()];
        return (if there { vec![path] } else { Vec::new() }, looked);
    }
    let names = program_names(env);
    let mut dirs: Vec<PathBuf> = env.get_os("PATH").map(|it| std::env::split_paths(it).collect()).unwrap_or_default();
    let mut looked = vec!["PATH".to_owned()];
    for dir in known_dirs(env, home) {
        looked.push(dir.display().to_string());
        dirs.push(dir);
    }
    let mut out: Vec<PathBuf> = Vec::new();
    let mut real: Vec<PathBuf> = Vec::new();
    for dir in dirs.iter().filter(|it| it.is_absolute()) {
        for name in &names {
            let path = dir.join(name);
            if !path.is_file() {
                continue;
            }
            let target = path.canonicalize().unwrap_or_else(|_| path.clone());
            if !real.contains(&target) {
                real.push(target);
                out.push(path);
            }
        }
    }
    (out, looked)
}

/// Names the program may have. On Windows through PATHEXT, so that a `.cmd` shim is found by its full name (A083).
fn program_names(env: &Env) -> Vec<String> {
    if !cfg!(windows) {
        return vec!["claude".into()];
    }
    let extensions = env.get("PATHEXT").unwrap_or(".EXE;.CMD;.BAT").to_owned();
    extensions.split(';').filter(|it| !it.is_empty()).map(|it| format!("claude{}", it.to_lowercase())).collect()
}

/// Where installers and editors put it.
fn known_dirs(env: &Env, home: Option<&Path>) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    if let Some(home) = home {
        for place in [
            ".local/bin",
            ".claude/local",
            ".claude/bin",
            "bin",
            ".npm-global/bin",
            ".bun/bin",
            ".volta/bin",
            ".yarn/bin",
            ".local/share/pnpm",
            "Library/pnpm",
        ] {
            out.push(home.join(place));
        }
        // One folder a version, newest last by name; any will do.
        for (parent, below) in [
            (".nvm/versions/node", "bin"),
            (".local/share/fnm/node-versions", "installation/bin"),
            (".asdf/installs/nodejs", "bin"),
        ] {
            out.extend(sorted_dirs(&home.join(parent)).into_iter().rev().map(|it| it.join(below)));
        }
        for editor in
            [".vscode", ".vscode-insiders", ".vscode-server", ".vscode-oss", ".cursor", ".cursor-server", ".windsurf"]
        {
            let bundles = sorted_dirs(&home.join(editor).join("extensions"));
            let ours = bundles.into_iter().rev().filter(|it| {
                it.file_name().is_some_and(|name| name.to_string_lossy().starts_with("anthropic.claude-code-"))
            });
            out.extend(ours.map(|it| it.join("resources/native-binary")));
        }
    }
    if cfg!(windows) {
        out.extend(env.path("APPDATA").map(|it| it.join("npm")));
        out.extend(env.path("LOCALAPPDATA").map(|it| it.join("Programs").join("claude")));
    } else {
        out.extend(
            ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/snap/bin", "/home/linuxbrew/.linuxbrew/bin"]
                .map(PathBuf::from),
        );
    }
    out
}

fn sorted_dirs(parent: &Path) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = std::fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .map(|it| it.path())
        .filter(|it| it.is_dir())
        .collect();
    out.sort();
    out
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// Asks a program for its version.
async fn probe(path: &Path, env: &Env) -> Result<Version, String> {
    let mut command = tokio::process::Command::new(path);
    command.arg("--version").env_clear().envs(child_env(env));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    super::child::without_window(&mut command);
    let output = match tokio::time::timeout(PROBE, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(err)) => return Err(format!("cannot be started: {err}")),
        Err(_) => return Err(format!("no version within {} s", PROBE.as_secs())),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Version::parse(&text).ok_or_else(|| {
        let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
        format!("tells no version ({})", crate::memory::safe_line(crate::memory::clip_chars(said.trim(), 200)))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fake(dir: &Path, version: &str) -> PathBuf {
        std::fs::create_dir_all(dir).expect("dir");
        let path = dir.join("claude");
        std::fs::write(&path, format!("#!/bin/sh\necho '{version} (Claude Code)'\n")).expect("script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("mode");
        path
    }

    fn setup(path: &str, home: &Path) -> Setup {
        Setup {
            program: String::new(),
            env: Env::from_iter([("PATH", path)]),
            home: Some(home.to_owned()),
            claude_dirs: Vec::new(),
            cwd: home.to_owned(),
        }
    }

    #[test]
    fn a065_path_first_then_known_places_and_old_ones_are_named() {
        let home = tempfile::tempdir().expect("home");
        let on_path = home.path().join("somewhere");
        let known = fake(&home.path().join(".local/bin"), "2.1.300");
        let path = format!("{}:/bin:/usr/bin", on_path.display());
        let found = find_now(&setup(&path, home.path())).expect("the known place");
        assert_eq!((found.path.clone(), found.version), (known, Version(2, 1, 300)));

        let own = fake(&on_path, "2.1.332");
        assert_eq!(find_now(&setup(&path, home.path())).expect("on PATH").path, own);

        fake(&on_path, "2.1.50");
        assert_eq!(find_now(&setup(&path, home.path())).expect("the newer one").version, Version(2, 1, 300));

        std::fs::remove_file(home.path().join(".local/bin/claude")).expect("gone");
        let missing = find_now(&setup(&path, home.path())).expect_err("too old");
        assert!(missing.unusable[0].contains("is version 2.1.50; 2.1.150 or later is needed"), "{missing:?}");

        std::fs::remove_file(own).expect("gone");
        let missing = find_now(&setup(&path, home.path())).expect_err("nothing");
        assert!(missing.unusable.is_empty() && missing.looked.contains(&"PATH".to_owned()), "{missing:?}");
        assert!(missing.looked.iter().any(|it| it.ends_with(".local/bin")));
    }

    #[test]
    fn a065_editors_bring_their_own() {
        let home = tempfile::tempdir().expect("home");
        let bundle =
            home.path().join(".vscode/extensions/anthropic.claude-code-2.1.310-linux-x64/resources/native-binary");
        let path = fake(&bundle, "2.1.310");
        assert_eq!(find_now(&setup("/bin:/usr/bin", home.path())).expect("the bundle").path, path);
    }

    #[test]
    fn a_path_in_the_settings_is_the_only_one() {
        let home = tempfile::tempdir().expect("home");
        fake(&home.path().join(".local/bin"), "2.1.300");
        let mut setup = setup("/bin:/usr/bin", home.path());
        setup.program = "~/elsewhere/claude".into();
        let missing = find_now(&setup).expect_err("not there");
        assert_eq!(missing.looked, [home.path().join("elsewhere/claude").display().to_string()]);
        let path = fake(&home.path().join("elsewhere"), "2.1.200");
        assert_eq!(find_now(&setup).expect("there").path, path);
    }
}
