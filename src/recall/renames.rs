//! Names a file had before, so that what is known of it is not lost with a rename.
//!
//! Git knows; asking it costs a process. So it is asked only when nothing is known of a file under its present name,
//! once for each commit the project stands at, for all renames together, with a time limit; the answer is kept in the
//! state directory. Where git is missing, slow or not in use, the present name is all there is.
#![allow(clippy::disallowed_methods, reason = "this is the file that asks git for renames")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Renames looked back for.
const COMMITS: &str = "2000";

#[derive(Serialize, Deserialize)]
struct Known {
    head: String,
    /// Git was given up after this many milliseconds; 0: it answered.
    #[serde(default)]
    gave_up_after: u64,
    /// New name, old name; the newest rename first.
    pairs: Vec<(String, String)>,
}

/// Earlier names of `path` (relative to the checkout), newest first. Empty when there are none or none can be known.
pub fn earlier_names(state: &Path, checkout: &Path, path: &str, limit: Duration) -> Vec<String> {
    let Some(head) = head(checkout) else { return Vec::new() };
    let hash = Sha256::digest(checkout.to_string_lossy().as_bytes());
    let name = hash[..12].iter().fold(String::new(), |out, byte| out + &format!("{byte:02x}"));
    let dir = state.join("renames");
    let file = dir.join(format!("{name}.json"));
    let known: Option<Known> = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    // A question that took too long is asked again at the next commit, or by who can wait longer.
    let known = match known
        .filter(|known| known.head == head && (known.gave_up_after == 0 || known.gave_up_after >= millis))
    {
        Some(known) => known,
        None => {
            let pairs = ask_git(checkout, limit);
            let gave_up_after = if pairs.is_some() { 0 } else { millis.max(1) };
            let known = Known { head, gave_up_after, pairs: pairs.unwrap_or_default() };
            let kept = crate::config::private_dir(state, None).and_then(|()| crate::config::private_dir(&dir, None));
            if kept.is_ok()
                && let Ok(bytes) = serde_json::to_vec(&known)
            {
                let beside = dir.join(format!("{name}.{}.tmp", std::process::id()));
                let _ = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, &file));
            }
            known
        }
    };
    chain(&known.pairs, path)
}

fn chain(pairs: &[(String, String)], path: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = path;
    for (new, old) in pairs {
        if new == at && !names.contains(old) && old != path {
            names.push(old.clone());
            at = old;
            if names.len() == 16 {
                break;
            }
        }
    }
    names
}

/// What the checkout stands at, read from git's files.
fn head(checkout: &Path) -> Option<String> {
    let dot = checkout.join(".git");
    let dir = if dot.is_dir() {
        dot
    } else {
        let text = fs::read_to_string(&dot).ok()?;
        checkout.join(text.trim().strip_prefix("gitdir:")?.trim())
    };
    let head = fs::read_to_string(dir.join("HEAD")).ok()?;
    let Some(reference) = head.trim().strip_prefix("ref:").map(str::trim) else { return Some(head.trim().to_owned()) };
    if reference.split('/').any(|part| part == "..") {
        return None;
    }
    let common = fs::read_to_string(dir.join("commondir")).ok();
    let common: PathBuf = common.map_or_else(|| dir.clone(), |text| dir.join(text.trim()));
    let loose =
        [dir.join(reference), common.join(reference)].into_iter().find_map(|file| fs::read_to_string(file).ok());
    if let Some(commit) = loose {
        return Some(commit.trim().to_owned());
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| line.strip_suffix(reference)).map(|commit| commit.trim().to_owned())
}

fn ask_git(checkout: &Path, limit: Duration) -> Option<Vec<(String, String)>> {
    let mut child = Command::new("git")
        .arg("-C")
        .arg(checkout)
        .args(["-c", "core.quotePath=false", "-c", "core.fsmonitor=false"])
        .args(["log", "-M", "--diff-filter=R", "--name-status", "--format=", "-z", "-n", COMMITS, "HEAD"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut out = child.stdout.take()?;
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = out.by_ref().take(4 << 20).read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    let bytes = receive.recv_timeout(limit).ok();
    // Ended or not, it is not left behind.
    let _ = child.kill();
    let _ = child.wait();
    let bytes = bytes?;
    let text = String::from_utf8_lossy(&bytes);
    let mut fields = text.split('\0').map(str::trim).filter(|field| !field.is_empty());
    let mut pairs = Vec::new();
    while let Some(status) = fields.next() {
        if !status.starts_with('R') {
            continue;
        }
        if let (Some(old), Some(new)) = (fields.next(), fields.next()) {
            pairs.push((new.to_owned(), old.to_owned()));
        }
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_followed_back() {
        let pairs = [("c", "b"), ("x", "y"), ("b", "a"), ("a", "c")].map(|(n, o)| (n.to_owned(), o.to_owned()));
        assert_eq!(chain(&pairs, "c"), ["b", "a"]);
        assert_eq!(chain(&pairs, "b"), ["a", "c"]);
        assert_eq!(chain(&pairs, "z"), [] as [&str; 0]);
    }

    #[test]
    fn git_is_asked_once_for_a_commit() {
        let dir = tempfile::tempdir().unwrap();
        let (state, repo) = (dir.path().join("state"), dir.path().join("repo"));
        fs::create_dir_all(repo.join("src")).unwrap();
        let git = |args: &[&str]| {
            let done = Command::new("git")
                .arg("-C")
                .arg(&repo)
                .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"])
                .args(args)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            done.is_ok_and(|status| status.success())
        };
        if !git(&["init", "-q"]) {
            println!("skipped: git is not there");
            return;
        }
        let text = "a line that stays the same\n".repeat(40);
        fs::write(repo.join("src/old name.rs"), text).unwrap();
        assert!(git(&["add", "."]) && git(&["commit", "-qm", "1"]));
        let names = |path: &str| earlier_names(&state, &repo, path, Duration::from_secs(20));
        assert_eq!(names("src/new.rs"), [] as [&str; 0]);
        assert!(git(&["mv", "src/old name.rs", "src/new.rs"]) && git(&["commit", "-qm", "2"]));
        assert_eq!(names("src/new.rs"), ["src/old name.rs"]);
        // Kept: the answer does not need git any more.
        let kept = fs::read_dir(state.join("renames")).unwrap().count();
        assert_eq!(kept, 1);
        assert_eq!(earlier_names(&state, &repo, "src/new.rs", Duration::ZERO), ["src/old name.rs"]);
        assert_eq!(earlier_names(&state, dir.path(), "src/new.rs", Duration::ZERO), [] as [&str; 0]);
    }
}
