//! What must not be readable by others, and must not reach where it does not belong.
#![allow(clippy::disallowed_methods, reason = "looks at files")]

use super::support::{Home, memory};

#[cfg(unix)]
#[test]
fn a098_files_are_private_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    // The umask is this process's, so a shell sets it for the program alone.
    let script = format!(
        "umask 000; exec '{}' add 'remember this' --project '{}'",
        env!("CARGO_BIN_EXE_cmem"),
        home.path("w").display()
    );
    let base = home.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env_clear();
    for (name, value) in base.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        shell.env(name, value);
    }
    let added = shell.output().unwrap().status.success();
    if !added {
        // `add` is brought by another subject; the store itself must be private all the same.
        home.remember(vec![memory("x", "/w/alpha", "2026-03-01T10:00:00Z")]);
    }
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut seen = 0;
    super::support::walk(&home.cmem(), &mut |path| {
        seen += 1;
        assert_eq!(mode(path), 0o600, "{}", path.display());
    });
    assert!(seen > 0);
    if added {
        assert_eq!(mode(&home.cmem()), 0o700);
    }
}
