//! What must not be readable by others, and must not reach where it does not belong.
#![allow(clippy::disallowed_methods, reason = "looks at files")]

use super::support::{Home, Run, Script};

#[cfg(unix)]
#[test]
fn a098_files_are_private_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let mut script = Script::new("11111111-1111-4111-8111-111111111111", "/w/alpha");
    script.user("hello").answer("done");
    home.transcript("-w-alpha/11111111-1111-4111-8111-111111111111.jsonl", script.text());
    // The umask belongs to a process, so a shell sets it for the program alone.
    let open = |args: &str| {
        let line = format!("umask 000; exec '{}' {args}", env!("CARGO_BIN_EXE_cmem"));
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line]).env_clear().current_dir(home.path(""));
        for (name, value) in home.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))) {
            shell.env(name, value);
        }
        Run::of(shell.output().unwrap()).ok()
    };
    open("watch --once --from-start");
    open("add 'remember this'");
    open(&format!("export --output '{}'", home.path("cmem/out.jsonl").display()));
    open(&format!("backup '{}'", home.path("cmem/copy.db").display()));
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.cmem()), 0o700);
    let mut seen = Vec::new();
    super::support::walk(&home.cmem(), &mut |path| {
        seen.push(path.display().to_string());
        assert_eq!(mode(path), 0o600, "{}", path.display());
    });
    for name in ["cmem.db", "out.jsonl", "copy.db", "collector.lock"] {
        assert!(seen.iter().any(|path| path.ends_with(name)), "{name} is not among {seen:?}");
    }
}
