//! The background service: `cmem watch` as a user's own unit (systemd) or agent (launchd).
//!
//! The file is written and, where the user's service manager can be reached, started; where not, the command that
//! starts it is said. Nothing here needs root, and nothing runs for other users.
#![allow(clippy::disallowed_methods, reason = "this is the file that writes the service and talks to its manager")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::entries::Program;
use super::record::Record;
use super::{Change, Ctx};
use crate::cli::print::say;

/// Name of the launchd agent.
const AGENT: &str = "dev.cmem.watch";

fn unit_file(ctx: &Ctx) -> Option<PathBuf> {
    let home = ctx.dirs.home.as_deref()?;
    if cfg!(target_os = "macos") {
        return Some(home.join("Library/LaunchAgents").join(format!("{AGENT}.plist")));
    }
    if cfg!(target_os = "linux") {
        let config = ctx.env.path("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        return Some(config.join("systemd/user/cmem.service"));
    }
    None
}

/// Whether `file` is the service's.
pub(super) fn is_unit(ctx: &Ctx, file: &Path) -> bool {
    unit_file(ctx).is_some_and(|unit| unit == file)
}

/// The file to write, if this system has a service manager we know and the file is not right already.
pub(super) fn plan(ctx: &Ctx, program: &Program) -> Option<Change> {
    let file = unit_file(ctx)?;
    let text = if cfg!(target_os = "macos") { agent(program) } else { unit(program) };
    let before = fs::read_to_string(&file).ok();
    if before.as_deref() == Some(text.as_str()) {
        return None;
    }
    let created = before.is_none();
    Some(Change { file, before, after: Some(text.clone()), pieces: vec![text], created })
}

/// The file to remove, if it is as we wrote it. One that somebody changed is theirs; it is named and left.
pub(super) fn plan_removal(ctx: &Ctx, record: &Record) -> Option<Change> {
    let file = unit_file(ctx)?;
    let before = fs::read_to_string(&file).ok()?;
    let ours = record.get(&file)?;
    if !ours.pieces.contains(&before) {
        say(format_args!("{}: changed since it was installed, left as it is", file.display()));
        return None;
    }
    let backup = ours.backup.as_deref().and_then(|copy| fs::read_to_string(copy).ok());
    Some(Change { file, before: Some(before), after: backup, pieces: Vec::new(), created: false })
}

fn unit(program: &Program) -> String {
    let mut out = String::from(
        "[Unit]\nDescription=cmem: turns Claude Code transcripts into memories\n\n[Service]\nType=notify\n",
    );
    for (name, value) in &program.env {
        let _ = writeln!(out, "Environment=\"{name}={}\"", escaped(value));
    }
    let _ = writeln!(out, "ExecStart=\"{}\" watch", escaped(&program.path));
    out.push_str("Restart=on-failure\nRestartSec=10\nNice=10\n\n[Install]\nWantedBy=default.target\n");
    out
}

/// For systemd: quotes, backslashes and its own `%`.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}

fn agent(program: &Program) -> String {
    let xml = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut env = String::new();
    for (name, value) in &program.env {
        let _ = write!(env, "<key>{}</key><string>{}</string>", xml(name), xml(value));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n\
         \t<key>Label</key><string>{AGENT}</string>\n\
         \t<key>ProgramArguments</key><array><string>{}</string><string>watch</string></array>\n\
         \t<key>EnvironmentVariables</key><dict>{env}</dict>\n\
         \t<key>RunAtLoad</key><true/>\n\
         \t<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n\
         \t<key>ProcessType</key><string>Background</string>\n\
         </dict>\n</plist>\n",
        xml(&program.path)
    )
}

/// Starts the service that was just written, or says how.
pub(super) fn started(ctx: &Ctx) {
    let Some(file) = unit_file(ctx) else { return };
    let name = file.display().to_string();
    let (commands, hint) = if cfg!(target_os = "macos") {
        (vec![vec!["launchctl", "load", "-w", &name]], format!("launchctl load -w '{name}'"))
    } else {
        let reload = vec!["systemctl", "--user", "daemon-reload"];
        let enable = vec!["systemctl", "--user", "enable", "--now", "cmem.service"];
        (vec![reload, enable], "systemctl --user enable --now cmem.service".to_owned())
    };
    if !reachable(ctx) || !commands.iter().all(|command| run(command)) {
        say(format_args!("Start collecting in the background with: {hint}"));
    }
}

/// Stops the service that is about to be removed.
pub(super) fn stopping(ctx: &Ctx) {
    let Some(file) = unit_file(ctx).filter(|_| reachable(ctx)) else { return };
    let name = file.display().to_string();
    if cfg!(target_os = "macos") {
        run(&["launchctl", "unload", "-w", &name]);
    } else {
        run(&["systemctl", "--user", "disable", "--now", "cmem.service"]);
    }
}

/// Whether the user's own service manager is there and means the user whose home we write to.
fn reachable(ctx: &Ctx) -> bool {
    if cfg!(target_os = "macos") {
        return true;
    }
    ctx.env.path("XDG_RUNTIME_DIR").is_some_and(|dir| dir.join("systemd").is_dir())
}

fn run(command: &[&str]) -> bool {
    let quiet = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_starts_the_collector_with_its_own_files() {
        let program = Program { path: "/opt/my tools/cmem".into(), env: vec![("CMEM_HOME".into(), "/h/100%".into())] };
        let text = unit(&program);
        assert!(text.contains("ExecStart=\"/opt/my tools/cmem\" watch\n"));
        assert!(text.contains("Environment=\"CMEM_HOME=/h/100%%\"\n") && text.contains("Type=notify"));
        assert!(agent(&program).contains("<string>/opt/my tools/cmem</string><string>watch</string>"));
    }
}
