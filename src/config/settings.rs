//! The settings and their defaults. Names are the contract of commands.md; `default.toml` beside this file is the
//! commented form a user copies (a test holds the two together).

use serde::{Deserialize, Serialize};

/// All settings.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The observer.
    pub observer: ObserverSettings,
    /// What it may spend.
    pub budget: BudgetSettings,
    /// What is recorded.
    pub record: RecordSettings,
    /// What is given back.
    pub context: ContextSettings,
    /// Deletion.
    pub trash: TrashSettings,
    /// Search by meaning.
    pub meaning: MeaningSettings,
    /// Logging.
    pub log: LogSettings,
    /// The screen.
    pub tui: TuiSettings,
}

/// Who observes, and how patiently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObserverSettings {
    /// `auto` (claude if it can be started, else offline), `claude`, `anthropic`, `openai`, `offline`.
    pub provider: String,
    /// Model name or alias, passed on as it is.
    pub model: String,
    /// Endpoint of an HTTP provider; empty: the provider's own (or ANTHROPIC_BASE_URL).
    pub url: String,
    /// Path of the `claude` program; empty: found on PATH and in the known places.
    pub claude_path: String,
    /// Environment variable that holds the API key.
    pub key_env: String,
    /// File that holds the API key.
    pub key_file: String,
    /// Command that prints the API key.
    pub key_command: String,
    /// Seconds a burst is gathered before it is asked about.
    pub linger: f64,
    /// Seconds that events of a running turn may wait for company; the end of the turn makes them due at once.
    pub gather: f64,
    /// First back-off after a failure, in seconds.
    pub retry_min: f64,
    /// Longest back-off, in seconds.
    pub retry_max: f64,
    /// Seconds a turn of the observer may take.
    pub turn_timeout: f64,
    /// Seconds with nothing to do after which a run ends.
    pub idle: f64,
    /// Observer sessions at once (1–10).
    pub slots: u32,
    /// Largest batch, in characters of observed text.
    pub batch_chars: usize,
    /// Largest batch, in events.
    pub batch_events: usize,
    /// Context tokens after which a run is replaced by a fresh one.
    pub context_tokens: u64,
    /// Language memories are written in; empty: the user's own.
    pub language: String,
    /// Mode file that says what is worth remembering (`code`, `code--chill` …).
    pub mode: String,
    /// Read-only events of helper agents: `ask`, `fold` (into the parent's batch), `skip`.
    pub helper_reads: String,
}

impl Default for ObserverSettings {
    fn default() -> Self {
        Self {
            provider: "auto".into(),
            model: "haiku".into(),
            url: String::new(),
            claude_path: String::new(),
            key_env: String::new(),
            key_file: String::new(),
            key_command: String::new(),
            linger: 2.0,
            gather: 60.0,
            retry_min: 2.0,
            retry_max: 300.0,
            turn_timeout: 180.0,
            idle: 180.0,
            slots: 2,
            batch_chars: 60_000,
            batch_events: 60,
            context_tokens: 40_000,
            language: String::new(),
            mode: "code".into(),
            helper_reads: "fold".into(),
        }
    }
}

/// What may be spent. 0 means no limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetSettings {
    /// Tokens (input and output) in a local day.
    pub daily_tokens: u64,
    /// US dollars in a local day.
    pub daily_cost: f64,
    /// Calls in a local day.
    pub daily_calls: u64,
    /// Requests in a minute.
    pub requests_per_minute: u32,
    /// Share of the five-hour window (0–1) that the observer may see used before it pauses.
    pub window_share: f64,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self { daily_tokens: 2_000_000, daily_cost: 0.0, daily_calls: 0, requests_per_minute: 30, window_share: 0.8 }
    }
}

/// What is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordSettings {
    /// `all`, or `opt-in`: only projects that hold the marker file.
    pub mode: String,
    /// The marker file's name for `opt-in`.
    pub marker: String,
    /// Path globs and project names never recorded, injected or found.
    pub exclude: Vec<String>,
    /// Working directories of other memory tools' own sessions (A042). Kept apart from `exclude`, so that a list of
    /// one's own does not switch them on again.
    pub foreign_observers: Vec<String>,
    /// Tools whose calls are never observed; `*` stands for any text.
    pub skip_tools: Vec<String>,
    /// Transcript roots to read besides Claude Code's own.
    pub roots: Vec<String>,
    /// Whether sessions driven by a program (`sdk`) are recorded.
    pub sdk: bool,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self {
            mode: "all".into(),
            marker: ".cmem-record".into(),
            exclude: Vec::new(),
            foreign_observers: ["~/.claude-mem/**", "~/.claude-mem-rs/**", "~/.claude/homunculus/**"]
                .map(String::from)
                .to_vec(),
            skip_tools: [
                "ListMcpResourcesTool",
                "SlashCommand",
                "Skill",
                "TodoWrite",
                "AskUserQuestion",
                "TaskCreate",
                "TaskUpdate",
                "TaskList",
                "TaskGet",
                "TaskOutput",
                "TaskStop",
                "ToolSearch",
                "EnterPlanMode",
                "ExitPlanMode",
                "ScheduleWakeup",
                "CronCreate",
                "CronList",
                "CronDelete",
            ]
            .map(String::from)
            .to_vec(),
            roots: Vec::new(),
            sdk: true,
        }
    }
}

/// What a session is given back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextSettings {
    /// Inject at all.
    pub enabled: bool,
    /// Observations at session start; 0: none.
    pub observations: u32,
    /// Session summaries at session start; 0: none.
    pub sessions: u32,
    /// Upper bound of the injected text in tokens.
    pub max_tokens: u32,
    /// Upper bound in bytes (the host cuts above 10 kB, A121).
    pub max_bytes: u32,
    /// `cmem` (pinned, recent and lasting) or `recent` (claude-mem's newest first).
    pub selection: String,
    /// Give memories with a prompt.
    pub prompt: bool,
    /// Give memories before a file is read.
    pub pre_read: bool,
    /// Keep memories that are older than the file's last change, and say so (claude-mem drops them all).
    pub stale_files: bool,
    /// Give helper agents memory as well.
    pub helpers: bool,
    /// Give again after compaction.
    pub after_compact: bool,
    /// Give again on resume.
    pub on_resume: bool,
    /// Only these types (empty: all).
    pub types: Vec<String>,
    /// Only these concepts (empty: all).
    pub concepts: Vec<String>,
    /// How many of the newest notes are told with their text.
    pub full: u32,
    /// Which text: `narrative` or `facts`.
    pub full_field: String,
    /// Milliseconds after which a hook says nothing rather than hold a session up.
    pub deadline: u32,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            observations: 50,
            sessions: 10,
            max_tokens: 4_000,
            max_bytes: 9_500,
            selection: "cmem".into(),
            prompt: false,
            pre_read: true,
            stale_files: true,
            helpers: false,
            after_compact: true,
            on_resume: true,
            types: Vec::new(),
            concepts: Vec::new(),
            full: 0,
            full_field: "narrative".into(),
            deadline: 150,
        }
    }
}

/// Deletion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrashSettings {
    /// Days a deleted memory can be brought back.
    pub days: u32,
    /// Steps of undo that are kept.
    pub steps: u32,
}

impl Default for TrashSettings {
    fn default() -> Self {
        Self { days: 30, steps: 1_000 }
    }
}

/// Search by meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MeaningSettings {
    /// `builtin`, `off`, or the URL of an OpenAI-style or Ollama embeddings endpoint.
    pub model: String,
    /// Model name for an endpoint.
    pub name: String,
    /// Environment variable that holds the endpoint's key; empty: it needs none.
    pub key_env: String,
}

impl Default for MeaningSettings {
    fn default() -> Self {
        Self { model: "builtin".into(), name: String::new(), key_env: String::new() }
    }
}

/// Logging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogSettings {
    /// `error`, `warn`, `info`, `debug`, `trace`.
    pub level: String,
    /// Days a log file is kept.
    pub days: u32,
    /// Largest log file in megabytes.
    pub max_mb: u32,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: "info".into(), days: 14, max_mb: 10 }
    }
}

/// The screen (tui.md B.15).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TuiSettings {
    /// View shown first: `feed`, `timeline`, `sessions`, `context`, `observer`, `trash`.
    pub view: String,
    /// `auto` (the project of the working directory), a name, or `*`.
    pub project: String,
    /// Newest at `top` or `bottom`.
    pub order: String,
    /// `auto`, `two-line`, `one-line`, `mini`.
    pub density: String,
    /// 1–4.
    pub detail_level: u8,
    /// Theme name.
    pub theme: String,
    /// `auto`, `dark`, `light`.
    pub appearance: String,
    /// `unicode`, `ascii`, `letters`, `nerd`.
    pub glyphs: String,
    /// `off`, `wheel`, `full`.
    pub mouse: String,
    /// The typing guard.
    pub guard: bool,
    /// Rows from which deleting asks.
    pub confirm_from: u32,
    /// Rows from which the number is typed.
    pub type_count_from: u32,
    /// `auto`, `tmux`, `osc52`, `native`, `file`.
    pub clipboard: String,
    /// Editor command; empty: `$VISUAL`, `$EDITOR`.
    pub editor: String,
    /// Frames a second at most.
    pub fps: u32,
    /// Types that ring the bell when they arrive.
    pub notify: Vec<String>,
    /// Hyperlinks (OSC 8).
    pub links: bool,
    /// Width of ambiguous characters: 1 or 2.
    pub ambiguous: u8,
    /// `relative`, `24h`, `12h`.
    pub timefmt: String,
}

impl Default for TuiSettings {
    fn default() -> Self {
        Self {
            view: "feed".into(),
            project: "auto".into(),
            order: "top".into(),
            density: "auto".into(),
            detail_level: 2,
            theme: "terminal".into(),
            appearance: "auto".into(),
            glyphs: "unicode".into(),
            mouse: "off".into(),
            guard: true,
            confirm_from: 2,
            type_count_from: 50,
            clipboard: "auto".into(),
            editor: String::new(),
            fps: 20,
            notify: Vec::new(),
            links: true,
            ambiguous: 1,
            timefmt: "24h".into(),
        }
    }
}
