//! Where an endpoint's key comes from: a variable, a file, or a command; read when it is needed and shown nowhere.
#![allow(clippy::disallowed_methods, reason = "this is the file that reads the key's file and runs its command")]

use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::config::{Env, ObserverSettings, expand_home};
use crate::gate::reply::{ErrorKind, ReplyError};

use super::wire::Dialect;

/// A key. Neither printed nor compared.
#[derive(Clone)]
pub struct Secret {
    text: String,
    header: Header,
}

/// How it is sent.
#[derive(Clone, Copy, Debug)]
enum Header {
    Bearer,
    ApiKey,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    fn new(text: &str, header: Header) -> Option<Self> {
        let text = text.trim();
        // Line ends in a header would be another header.
        let usable = !text.is_empty() && !text.contains(['\n', '\r', '\0']);
        usable.then(|| Self { text: text.to_owned(), header })
    }

    /// Name and value of the header it is sent in.
    pub(super) fn header(&self) -> (&'static str, String) {
        match self.header {
            Header::Bearer => ("authorization", format!("Bearer {}", self.text)),
            Header::ApiKey => ("x-api-key", self.text.clone()),
        }
    }

    /// `text` without the key: services like to quote it.
    pub(super) fn hide(&self, text: &str) -> String {
        text.replace(&self.text, "***")
    }
}

/// Where the key comes from.
#[derive(Clone, Default)]
pub struct KeySource {
    variables: Vec<(String, String, bool)>,
    file: Option<PathBuf>,
    command: Option<String>,
    dialect: Option<Dialect>,
    path: Option<std::ffi::OsString>,
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named())
    }
}

impl KeySource {
    /// From the settings. Without any: the variables the endpoint's own tools use.
    pub fn of(settings: &ObserverSettings, dialect: Dialect, env: &Env) -> Self {
        let home = env.path("HOME").or_else(|| env.path("USERPROFILE"));
        let mut source =
            Self { dialect: Some(dialect), path: env.get_os("PATH").map(ToOwned::to_owned), ..Self::default() };
        let mut variable = |name: &str, bearer: bool| {
            let value = env.get(name).unwrap_or_default().to_owned();
            source.variables.push((name.to_owned(), value, bearer));
        };
        let chosen = [&settings.key_env, &settings.key_file, &settings.key_command].iter().any(|it| !it.is_empty());
        if !settings.key_env.is_empty() {
            variable(&settings.key_env, settings.key_env.ends_with("AUTH_TOKEN"));
        } else if !chosen {
            match dialect {
                Dialect::Anthropic => {
                    variable("ANTHROPIC_AUTH_TOKEN", true);
                    variable("ANTHROPIC_API_KEY", false);
                }
                Dialect::OpenAi if settings.url.contains("openrouter.ai") => variable("OPENROUTER_API_KEY", true),
                Dialect::OpenAi if settings.url.contains("googleapis.com") => variable("GEMINI_API_KEY", true),
                // Only where it belongs: a key for one service is not offered to another, nor to a local server.
                Dialect::OpenAi if settings.url.contains("api.openai.com") => variable("OPENAI_API_KEY", true),
                Dialect::OpenAi => {}
            }
        }
        if !settings.key_file.is_empty() {
            source.file = Some(expand_home(&settings.key_file, home.as_deref()));
        }
        if !settings.key_command.is_empty() {
            source.command = Some(settings.key_command.clone());
        }
        source
    }

    /// Where it comes from, in words: names, never values.
    pub fn named(&self) -> String {
        let set: Vec<&str> = self.variables.iter().filter(|it| !it.1.is_empty()).map(|it| it.0.as_str()).collect();
        match (&set[..], &self.file, &self.command) {
            ([], Some(file), _) => format!("file {}", file.display()),
            ([], None, Some(_)) => "key_command".into(),
            ([], None, None) => match self.variables.first() {
                Some((name, ..)) => format!("none ({name} is not set)"),
                None => "none".into(),
            },
            (set, ..) => format!("variable {}", set[0]),
        }
    }

    /// The key, or none where none is configured.
    pub(super) fn read(&self) -> Result<Option<Secret>, ReplyError> {
        let plain = match self.dialect {
            Some(Dialect::Anthropic) => Header::ApiKey,
            _ => Header::Bearer,
        };
        for (_, value, bearer) in &self.variables {
            let header = if *bearer { Header::Bearer } else { plain };
            if let Some(secret) = Secret::new(value, header) {
                return Ok(Some(secret));
            }
        }
        if let Some(file) = &self.file {
            let text =
                std::fs::read_to_string(file).map_err(|err| unreadable(&format!("{}: {err}", file.display())))?;
            let first = text.lines().next().unwrap_or_default();
            return Secret::new(first, plain)
                .map(Some)
                .ok_or_else(|| unreadable(&format!("{} is empty", file.display())));
        }
        if let Some(command) = &self.command {
            let text = self.run(command)?;
            let first = text.lines().next().unwrap_or_default();
            return Secret::new(first, plain).map(Some).ok_or_else(|| unreadable("key_command prints nothing"));
        }
        Ok(None)
    }

    fn run(&self, command: &str) -> Result<String, ReplyError> {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
        let mut shell = Command::new(shell);
        shell.arg(flag).arg(command).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
        if let Some(path) = &self.path {
            shell.env("PATH", path);
        }
        // What it prints may be the key, so only how it ended is told.
        match shell.output() {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => Err(unreadable(&format!("key_command ended with {}", output.status))),
            Err(err) => Err(unreadable(&format!("key_command: {err}"))),
        }
    }
}

fn unreadable(why: &str) -> ReplyError {
    ReplyError { kind: ErrorKind::Auth, message: format!("the key cannot be read: {why}"), ..ReplyError::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(change: impl FnOnce(&mut ObserverSettings)) -> ObserverSettings {
        let mut settings = ObserverSettings::default();
        change(&mut settings);
        settings
    }

    fn header(settings: &ObserverSettings, dialect: Dialect, env: &[(&str, &str)]) -> Option<(&'static str, String)> {
        let env = Env::from_iter(env.iter().copied());
        KeySource::of(settings, dialect, &env).read().expect("readable").map(|it| it.header())
    }

    #[test]
    fn a062_keys_go_where_they_belong_and_nowhere_else() {
        let all = [("ANTHROPIC_API_KEY", "ak"), ("OPENAI_API_KEY", "ok"), ("OPENROUTER_API_KEY", "rk")];
        assert_eq!(header(&settings(|_| {}), Dialect::Anthropic, &all), Some(("x-api-key", "ak".into())));
        let token = [("ANTHROPIC_AUTH_TOKEN", "tk"), ("ANTHROPIC_API_KEY", "ak")];
        assert_eq!(header(&settings(|_| {}), Dialect::Anthropic, &token), Some(("authorization", "Bearer tk".into())));
        let at = |url: &str| header(&settings(|it| it.url = url.into()), Dialect::OpenAi, &all).map(|it| it.1);
        assert_eq!(at("https://openrouter.ai/api/v1"), Some("Bearer rk".into()));
        assert_eq!(at("https://api.openai.com/v1"), Some("Bearer ok".into()));
        assert_eq!(at("http://localhost:11434/v1"), None);
        assert_eq!(at("https://gateway.example"), None);
    }

    #[test]
    fn a_file_or_a_command_can_hold_it() {
        let dir = tempfile::tempdir().expect("dir");
        let file = dir.path().join("key");
        std::fs::write(&file, "sk-file\n").expect("written");
        let from_file = settings(|it| it.key_file = file.display().to_string());
        assert_eq!(header(&from_file, Dialect::OpenAi, &[]).map(|it| it.1), Some("Bearer sk-file".into()));
        let from_command = settings(|it| it.key_command = "echo sk-cmd".into());
        assert_eq!(header(&from_command, Dialect::Anthropic, &[]).map(|it| it.1), Some("sk-cmd".into()));
        let failing = settings(|it| it.key_command = "echo sk-secret; exit 3".into());
        let error = KeySource::of(&failing, Dialect::OpenAi, &Env::default()).read().expect_err("fails");
        assert!(error.kind == ErrorKind::Auth && !error.message.contains("sk-secret"), "{error:?}");
        let missing = settings(|it| it.key_file = "/nowhere/key".into());
        assert!(KeySource::of(&missing, Dialect::OpenAi, &Env::default()).read().is_err());
    }

    #[test]
    fn a_key_is_never_shown() {
        let env = Env::from_iter([("MY_KEY", "sk-secret")]);
        let source = KeySource::of(&settings(|it| it.key_env = "MY_KEY".into()), Dialect::OpenAi, &env);
        let secret = source.read().expect("readable").expect("set");
        assert!(!format!("{source:?} {secret:?} {}", source.named()).contains("sk-secret"));
        assert_eq!(secret.hide("Incorrect API key provided: sk-secret."), "Incorrect API key provided: ***.");
        assert!(Secret::new("a\r\nx-evil: 1", Header::Bearer).is_none());
    }
}
