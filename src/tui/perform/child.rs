//! The user's editor: which it is, and running it with the terminal handed over.
//!
//! The event reader is the thread that waits here, so nothing can eat the editor's keys. File names are arguments,
//! never text of a shell.
#![allow(clippy::disallowed_methods, reason = "this is the file that starts the editor and its files")]

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::config::Env;

/// The editor's command line: the setting, `$VISUAL`, `$EDITOR`, `vi`. Arguments are allowed (`code -w`).
pub fn editor_command(setting: &str, env: &Env) -> Vec<String> {
    let wanted = [setting, env.get("VISUAL").unwrap_or(""), env.get("EDITOR").unwrap_or("")];
    let found = wanted.into_iter().find(|command| !command.trim().is_empty()).unwrap_or("vi");
    found.split_whitespace().map(str::to_owned).collect()
}

fn run(command: &[String], file: &Path, cwd: Option<&Path>) -> io::Result<ExitStatus> {
    let (program, args) = command.split_first().ok_or(io::ErrorKind::NotFound)?;
    let mut child = Command::new(program);
    child.args(args).arg(file);
    if let Some(cwd) = cwd.filter(|cwd| cwd.is_dir()) {
        child.current_dir(cwd);
    }
    // The terminal itself, also where our own stdout is a pipe.
    if let Ok(tty) = OpenOptions::new().read(true).write(true).open("/dev/tty") {
        let out: File = tty.try_clone()?;
        child.stdin(Stdio::from(tty.try_clone()?)).stdout(Stdio::from(out)).stderr(Stdio::from(tty));
    }
    child.status()
}

/// Lets the user edit a text. The file is readable by its owner only and gone afterwards.
pub fn edit_text(command: &[String], dir: &Path, text: &str) -> Result<String, String> {
    let path = dir.join(format!("edit-{}.md", std::process::id()));
    let failed = |what: &str, error: io::Error| format!("{what}: {error}");
    let edited = (|| {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        std::fs::create_dir_all(dir).map_err(|error| failed("no directory for the file", error))?;
        let mut file = options.open(&path).map_err(|error| failed("the file could not be written", error))?;
        file.write_all(text.as_bytes()).map_err(|error| failed("the file could not be written", error))?;
        drop(file);
        let status =
            run(command, &path, None).map_err(|error| failed(&format!("{} did not start", command[0]), error))?;
        if !status.success() {
            return Err(format!("{} ended with {status}; nothing was changed", command[0]));
        }
        std::fs::read_to_string(&path).map_err(|error| failed("the file could not be read back", error))
    })();
    let _ = std::fs::remove_file(&path); // gone already is as good
    edited
}

/// Opens a file in the editor.
pub fn open_file(command: &[String], path: &str, cwd: Option<&str>) -> Result<String, String> {
    let cwd = cwd.map(PathBuf::from);
    let full = match &cwd {
        Some(cwd) => cwd.join(path),
        None => PathBuf::from(path),
    };
    if !full.is_file() {
        return Err(format!("{} is not there any more", crate::memory::safe_line(&full.display().to_string())));
    }
    let status =
        run(command, &full, cwd.as_deref()).map_err(|error| format!("{} did not start: {error}", command[0]))?;
    if status.success() { Ok(String::new()) } else { Err(format!("{} ended with {status}", command[0])) }
}

/// Writes an export. A file that is there already is not overwritten.
pub fn write_file(path: &str, text: &str, memories: usize) -> Result<String, String> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{path} is there already; another name?"),
        _ => format!("{path} could not be written: {error}"),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| format!("{path} could not be written: {error}"))?;
    Ok(format!("{memories} memories written to {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_editor_may_have_arguments() {
        let env = Env::from_iter([("EDITOR", "code -w")]);
        assert_eq!(editor_command("", &env), ["code", "-w"]);
        assert_eq!(editor_command("hx", &env), ["hx"]);
        assert_eq!(editor_command("", &Env::from_iter([("HOME", "/")])), ["vi"]);
    }
}
