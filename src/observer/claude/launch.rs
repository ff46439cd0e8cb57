//! The command line and the environment of an observer child. Pure: asserted by a test against a fake client.
//!
//! Flags go by the client's version and by where its sign-in lives. `--setting-sources=` keeps every setting of the
//! user out, which is wanted; but where the credential is an `apiKeyHelper` or an `env` block in settings.json it
//! would be lost with them. There `--safe-mode` keeps it and still drops hooks, CLAUDE.md, MCP servers and plugins;
//! clients without it read the user's settings with hooks and CLAUDE.md switched off one by one (observer.md §3.8).
//!
//! The environment is an allow-list: what a program needs to live, where the client finds its sign-in, proxies,
//! certificates and the cloud providers' own variables, as the user has set them. Marks of a session cmem may itself
//! have been started in stay behind; so do switches that make answers long and dear (A061, A062, A064).

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::Env;

use super::find::Found;

/// A client's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The oldest client cmem drives.
    pub const OLDEST: Self = Self(2, 1, 150);
    /// `--safe-mode` is known from here on.
    pub const SAFE_MODE: Self = Self(2, 1, 240);

    /// The version in `2.1.332 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().find(|it| it.starts_with(|ch: char| ch.is_ascii_digit()))?;
        let mut parts = word.splitn(3, '.').map(|it| {
            let digits: String = it.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        });
        Some(Self(parts.next()??, parts.next()??, parts.next()??))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Where the client's sign-in lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Credential {
    /// In the environment, the credentials file or the keychain: no settings are needed.
    #[default]
    Elsewhere,
    /// In the user's settings: `apiKeyHelper`, cloud helpers, or an `env` block.
    Settings,
}

impl Credential {
    /// From the text of a user's settings.json.
    pub fn of(settings: &str) -> Self {
        let value: serde_json::Value = serde_json::from_str(settings).unwrap_or_default();
        let set = |name: &str| match value.get(name) {
            Some(serde_json::Value::Object(map)) => !map.is_empty(),
            Some(serde_json::Value::String(text)) => !text.is_empty(),
            _ => false,
        };
        let named =
            ["apiKeyHelper", "env", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "forceLoginMethod"];
        if named.into_iter().any(set) { Self::Settings } else { Self::Elsewhere }
    }
}

/// Everything a child is started with.
#[derive(Clone, PartialEq, Eq)]
pub struct Launch {
    /// Program.
    pub program: PathBuf,
    /// Arguments.
    pub args: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, OsString)>,
    /// Working directory.
    pub cwd: PathBuf,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Launch").field("program", &self.program).field("args", &self.args).field("env", &names).finish()
    }
}

/// How to start the client for one run.
pub fn launch(found: &Found, model: &str, credential: Credential, env: &Env, cwd: &Path) -> Launch {
    let mut args: Vec<String> = [
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--model",
        model,
        "--thinking=disabled",
        "--tools=",
        "--permission-mode",
        "dontAsk",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--no-session-persistence",
        "--max-turns",
        "1",
        "--settings",
        r#"{"disableAllHooks":true}"#,
    ]
    .map(str::to_owned)
    .to_vec();
    let mut env = child_env(env);
    match credential {
        Credential::Elsewhere => args.push("--setting-sources=".into()),
        Credential::Settings if found.version >= Version::SAFE_MODE => args.push("--safe-mode".into()),
        Credential::Settings => {
            args.push("--setting-sources=user".into());
            env.push(("CLAUDE_CODE_DISABLE_CLAUDE_MDS".into(), "1".into()));
        }
    }
    Launch { program: found.path.clone(), args, env, cwd: cwd.to_owned() }
}

/// Names that are passed on.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "HOSTNAME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "SSH_AUTH_SOCK",
    "NIX_SSL_CERT_FILE",
    // Windows.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "OS",
    "PROCESSOR_ARCHITECTURE",
    // Network.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    // The client's own.
    "CLAUDE_CONFIG_DIR",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_PROMPT_CACHING",
    "DISABLE_PROMPT_CACHING_HAIKU",
    "FORCE_PROMPT_CACHING_5M",
    "ENABLE_PROMPT_CACHING_1H",
    "IS_SANDBOX",
    "MCP_OAUTH_CALLBACK_PORT",
];

/// Beginnings of names that are passed on: cloud providers, the service, the client.
const KEPT_FAMILIES: &[&str] = &[
    "LC_",
    "XDG_",
    "ANTHROPIC_",
    "AWS_",
    "GOOGLE_",
    "GCLOUD_",
    "CLOUDSDK_",
    "GCP_",
    "AZURE_",
    "VERTEX_",
    "CLOUD_ML_",
    "BEDROCK_",
    "CLAUDE_CODE_",
    "NODE_EXTRA_",
];

/// Marks of a session, and switches that belong to it, whatever they begin with.
const LEFT_BEHIND: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_PARENT_SESSION_ID",
    "CLAUDE_CODE_REMOTE",
    "CLAUDE_CODE_REMOTE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_TASK_LIST_ID",
    "CLAUDE_CODE_AGENT_ID",
    "CLAUDE_CODE_TEAM_NAME",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_ALWAYS_ENABLE_EFFORT",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_EXTRA_BODY",
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_SYSTEM_PROMPT",
    "CLAUDE_AGENT_SDK_VERSION",
    "MCP_SESSION_ID",
    "ANTHROPIC_MODEL",
];

/// What cmem sets, last.
const SET: &[(&str, &str)] = &[
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    ("CLAUDE_CODE_DISABLE_THINKING", "1"),
    ("DISABLE_AUTO_COMPACT", "1"),
    ("CLAUDE_CODE_MAX_RETRIES", "3"),
    ("API_TIMEOUT_MS", "120000"),
    ("CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS", "60000"),
    ("DISABLE_AUTOUPDATER", "1"),
    // cmem's own hooks do nothing under it, should a managed setting run them all the same.
    ("CMEM_OBSERVER", "1"),
    ("NO_COLOR", "1"),
];

/// The child's environment out of the user's.
pub fn child_env(env: &Env) -> Vec<(String, OsString)> {
    let kept = |name: &str| {
        let upper = name.to_ascii_uppercase();
        let family = KEPT_FAMILIES.iter().any(|it| upper.starts_with(it));
        (KEPT.contains(&upper.as_str()) || family)
            && !LEFT_BEHIND.contains(&upper.as_str())
            && !SET.iter().any(|(it, _)| *it == upper)
    };
    let mut out: Vec<(String, OsString)> =
        env.iter_os().filter(|(name, _)| kept(name)).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    out.extend(SET.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(version: Version) -> Found {
        Found { path: "/opt/claude".into(), version }
    }

    fn names(env: &[(&str, &str)]) -> Vec<(String, String)> {
        child_env(&Env::from_iter(env.iter().copied()))
            .into_iter()
            .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
            .collect()
    }

    #[test]
    fn the_whole_command_line() {
        let launch =
            launch(&found(Version(2, 1, 332)), "haiku", Credential::Elsewhere, &Env::default(), Path::new("/e"));
        assert_eq!(
            launch.args.join(" "),
            "-p --input-format stream-json --output-format stream-json --verbose --model haiku --thinking=disabled \
             --tools= --permission-mode dontAsk --strict-mcp-config --disable-slash-commands --no-session-persistence \
             --max-turns 1 --settings {\"disableAllHooks\":true} --setting-sources="
        );
        assert_eq!(launch.cwd, Path::new("/e"));
    }

    #[test]
    fn a061_settings_that_hold_the_sign_in_are_read_and_nothing_else_of_them() {
        let args = |version, credential| {
            let launch = launch(&found(version), "m", credential, &Env::default(), Path::new("/e"));
            (launch.args.last().cloned().unwrap_or_default(), launch.env)
        };
        assert_eq!(args(Version(2, 1, 240), Credential::Settings).0, "--safe-mode");
        let (last, env) = args(Version(2, 1, 150), Credential::Settings);
        assert_eq!(last, "--setting-sources=user");
        assert!(env.contains(&("CLAUDE_CODE_DISABLE_CLAUDE_MDS".into(), "1".into())));
        assert_eq!(Credential::of(r#"{"apiKeyHelper":"/bin/key"}"#), Credential::Settings);
        assert_eq!(Credential::of(r#"{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}"#), Credential::Settings);
        assert_eq!(Credential::of(r#"{"env":{},"hooks":{"Stop":[]}}"#), Credential::Elsewhere);
        assert_eq!(Credential::of("not json"), Credential::Elsewhere);
    }

    #[test]
    fn a061_a062_cloud_and_gateway_settings_are_passed_on_as_they_are() {
        let given = [
            ("CLAUDE_CODE_USE_VERTEX", "1"),
            ("CLOUD_ML_REGION", "r"),
            ("AWS_PROFILE", "p"),
            ("ANTHROPIC_BASE_URL", "http://localhost:1"),
            ("ANTHROPIC_AUTH_TOKEN", "t"),
            ("https_proxy", "http://p"),
        ];
        let out = names(&given);
        for (name, value) in given {
            assert!(out.contains(&(name.into(), value.into())), "{name}");
        }
        let without = names(&[("CLAUDE_CODE_USE_VERTEX", "1")]);
        assert!(!without.iter().any(|(name, _)| name.starts_with("ANTHROPIC_")), "nothing is put over it");
    }

    #[test]
    fn a064_marks_of_a_session_stay_behind_and_nothing_but_them() {
        let out = names(&[
            ("CLAUDE_CODE_TMPDIR", "/w/tmp"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "s"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_EFFORT_LEVEL", "max"),
            ("CLAUDE_CODE_MAX_RETRIES", "99"),
            ("MAX_THINKING_TOKENS", "31999"),
            ("MY_SECRET", "x"),
            ("GITHUB_TOKEN", "x"),
        ]);
        let given: Vec<&str> = out.iter().map(|(name, _)| name.as_str()).collect();
        assert!(given.contains(&"CLAUDE_CODE_TMPDIR"));
        for name in [
            "CLAUDECODE",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_EFFORT_LEVEL",
            "MAX_THINKING_TOKENS",
            "MY_SECRET",
            "GITHUB_TOKEN",
        ] {
            assert!(!given.contains(&name), "{name}");
        }
        assert_eq!(out.iter().filter(|(name, _)| name == "CLAUDE_CODE_MAX_RETRIES").count(), 1);
        assert!(out.contains(&("CLAUDE_CODE_MAX_RETRIES".into(), "3".into())));
    }

    #[test]
    fn versions_are_read_and_compared() {
        assert_eq!(Version::parse("2.1.332 (Claude Code)\n"), Some(Version(2, 1, 332)));
        assert_eq!(Version::parse("claude 2.0.7-beta.1"), Some(Version(2, 0, 7)));
        assert_eq!(Version::parse("error: unknown option"), None);
        assert!(Version(2, 1, 50) < Version::OLDEST && Version(2, 10, 0) > Version::SAFE_MODE);
    }

    #[test]
    fn debug_output_shows_no_values_of_the_environment() {
        let env = Env::from_iter([("ANTHROPIC_API_KEY", "sk-secret")]);
        let launch = launch(&found(Version(2, 1, 332)), "m", Credential::Elsewhere, &env, Path::new("/e"));
        assert!(!format!("{launch:?}").contains("sk-secret"));
    }
}
