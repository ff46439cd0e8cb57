//! Every setting's name, what it accepts and what it is for: one table that the merge, the schema, `default.toml`
//! and the README are held against.

use serde_json::{Map, Value, json};

use super::Settings;

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// `section.key`, as in the file.
    pub name: &'static str,
    /// What values it takes.
    pub accepts: Accepts,
    /// One line for people.
    pub about: &'static str,
}

/// What values a setting takes.
#[derive(Clone, Copy, Debug)]
pub enum Accepts {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One of these words, or a URL.
    OneOfOrUrl(&'static [&'static str]),
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number in this range.
    Whole(u64, u64),
    /// A number in this range.
    Number(f64, f64),
    /// A list of texts; in the environment separated by commas.
    Texts,
}

impl Accepts {
    /// The accepted values in words, to stand after "accepted:".
    pub fn in_words(self) -> String {
        match self {
            Self::OneOf(words) => words.join(", "),
            Self::OneOfOrUrl(words) => format!("{}, or a URL", words.join(", ")),
            Self::Text => "any text".into(),
            Self::Bool => "true, false".into(),
            Self::Whole(low, high) if high >= u64::from(u32::MAX) => format!("a whole number from {low}"),
            Self::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Self::Number(low, high) if high >= 1e9 => format!("a number from {low}"),
            Self::Number(low, high) => format!("a number from {low} to {high}"),
            Self::Texts => "a list of texts".into(),
        }
    }

    fn schema(self) -> Value {
        match self {
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::OneOfOrUrl(words) => {
                json!({"anyOf": [{"enum": words}, {"type": "string", "pattern": "^https?://"}]})
            }
            Self::Text => json!({"type": "string"}),
            Self::Bool => json!({"type": "boolean"}),
            Self::Whole(low, high) => json!({"type": "integer", "minimum": low, "maximum": high}),
            Self::Number(low, high) => json!({"type": "number", "minimum": low, "maximum": high}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
        }
    }
}

impl Key {
    /// The environment variable: `CMEM_` + section + `_` + key.
    pub fn variable(&self) -> String {
        format!("CMEM_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// Section and key.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }
}

/// The setting of that name.
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The JSON schema of `config.toml`, made from the table.
pub fn schema() -> Value {
    let defaults = serde_json::to_value(Settings::default()).unwrap_or_default();
    let mut sections = Map::new();
    for key in KEYS {
        let (section, name) = key.parts();
        let mut entry = key.accepts.schema();
        entry["description"] = json!(key.about);
        entry["default"] = defaults[section][name].clone();
        let section = sections
            .entry(section)
            .or_insert_with(|| json!({"type": "object", "additionalProperties": false, "properties": {}}));
        section["properties"][name] = entry;
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cmem config.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": sections,
    })
}

const MANY: u64 = u32::MAX as u64;

/// All settings, section by section.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    k("observer.provider", Accepts::OneOf(&["auto", "claude", "anthropic", "openai", "offline", "scripted"]), "Who observes; `auto`: the `claude` program if it can be started, else rules without a model"),
    k("observer.model", Accepts::Text, "Model name or alias, passed on as it is"),
    k("observer.url", Accepts::Text, "Endpoint of an HTTP provider; empty: the provider's own"),
    k("observer.claude_path", Accepts::Text, "Path of the `claude` program; empty: looked for on PATH and in the known places"),
    k("observer.key_env", Accepts::Text, "Environment variable that holds the API key"),
    k("observer.key_file", Accepts::Text, "File that holds the API key"),
    k("observer.key_command", Accepts::Text, "Command that prints the API key"),
    k("observer.linger", Accepts::Number(0.0, 3600.0), "Seconds a burst is gathered before it is asked about"),
    k("observer.gather", Accepts::Number(0.0, 3600.0), "Seconds that events of a running turn may wait for company"),
    k("observer.retry_min", Accepts::Number(0.0, 86_400.0), "Seconds before the first retry"),
    k("observer.retry_max", Accepts::Number(0.0, 86_400.0), "Longest pause between retries, in seconds"),
    k("observer.turn_timeout", Accepts::Number(0.05, 86_400.0), "Seconds one answer may take"),
    k("observer.idle", Accepts::Number(0.0, 86_400.0), "Seconds without work after which a run ends"),
    k("observer.slots", Accepts::Whole(1, 10), "Observer runs at once"),
    k("observer.batch_chars", Accepts::Whole(1_000, 1_000_000), "Largest batch, in characters"),
    k("observer.batch_events", Accepts::Whole(1, 10_000), "Largest batch, in events"),
    k("observer.context_tokens", Accepts::Whole(1_000, 2_000_000), "Context tokens after which a run is replaced by a fresh one"),
    k("observer.language", Accepts::Text, "Language memories are written in; empty: the user's own"),
    k("observer.mode", Accepts::Text, "Mode that says what is worth remembering"),
    k("observer.helper_reads", Accepts::OneOf(&["ask", "fold", "skip"]), "Read-only work of helper agents: asked about, folded into the parent's batch, or skipped"),
    k("budget.daily_tokens", Accepts::Whole(0, u64::MAX), "Tokens a day; 0: no limit"),
    k("budget.daily_cost", Accepts::Number(0.0, 1e9), "US dollars a day; 0: no limit"),
    k("budget.daily_calls", Accepts::Whole(0, u64::MAX), "Calls a day; 0: no limit"),
    k("budget.requests_per_minute", Accepts::Whole(0, MANY), "Requests a minute; 0: no limit"),
    k("budget.window_share", Accepts::Number(0.0, 1.0), "Share of the five-hour window that may be used before the observer pauses"),
    k("record.mode", Accepts::OneOf(&["all", "opt-in"]), "Record everything, or only projects that hold the marker file"),
    k("record.marker", Accepts::Text, "Name of the marker file for `opt-in`"),
    k("record.exclude", Accepts::Texts, "Path globs and project names never recorded, injected or found"),
    k("record.foreign_observers", Accepts::Texts, "Working directories of other memory tools' own sessions, never recorded"),
    k("record.skip_tools", Accepts::Texts, "Tools whose calls are never observed; `*` stands for any text"),
    k("record.roots", Accepts::Texts, "Transcript folders to read besides Claude Code's own"),
    k("record.sdk", Accepts::Bool, "Record sessions driven by a program"),
    k("context.enabled", Accepts::Bool, "Give memories back to sessions at all"),
    k("context.observations", Accepts::Whole(0, 1_000), "Observations at session start; 0: none"),
    k("context.sessions", Accepts::Whole(0, 1_000), "Session summaries at session start; 0: none"),
    k("context.max_tokens", Accepts::Whole(0, 200_000), "Upper bound of the injected text in tokens"),
    k("context.max_bytes", Accepts::Whole(0, 1_000_000), "Upper bound in bytes; Claude Code cuts above 10 kB"),
    k("context.selection", Accepts::OneOf(&["cmem", "recent"]), "Pinned, recent and lasting, or simply the newest"),
    k("context.prompt", Accepts::Bool, "Give memories with a prompt"),
    k("context.pre_read", Accepts::Bool, "Give memories before a file is read"),
    k("context.stale_files", Accepts::Bool, "Give memories older than the file's last change, and say so"),
    k("context.helpers", Accepts::Bool, "Give memories to helper agents too"),
    k("context.after_compact", Accepts::Bool, "Give again after compaction"),
    k("context.on_resume", Accepts::Bool, "Give again on resume"),
    k("context.types", Accepts::Texts, "Only these types; empty: all"),
    k("context.concepts", Accepts::Texts, "Only these concepts; empty: all"),
    k("context.full", Accepts::Whole(0, 50), "How many of the newest notes are told with their text"),
    k("context.full_field", Accepts::OneOf(&["narrative", "facts"]), "Which text that is"),
    k("context.deadline", Accepts::Whole(1, 60_000), "Milliseconds after which a hook says nothing rather than wait"),
    k("trash.days", Accepts::Whole(0, 36_500), "Days a deleted memory can be brought back"),
    k("trash.steps", Accepts::Whole(0, 1_000_000), "Steps of undo that are kept"),
    k("meaning.model", Accepts::OneOfOrUrl(&["builtin", "off"]), "Search by meaning: the built-in model, none, or an embeddings endpoint"),
    k("meaning.name", Accepts::Text, "Model name for an endpoint"),
    k("meaning.key_env", Accepts::Text, "Environment variable that holds the endpoint's key"),
    k("log.level", Accepts::OneOf(&["error", "warn", "info", "debug", "trace"]), "How much is logged"),
    k("log.days", Accepts::Whole(0, 36_500), "Days a log file is kept"),
    k("log.max_mb", Accepts::Whole(1, 100_000), "Largest log file in megabytes"),
    k("tui.view", Accepts::OneOf(&["feed", "timeline", "sessions", "context", "observer", "trash"]), "View shown first"),
    k("tui.project", Accepts::Text, "`auto` (the project of the working directory), a name, or `*`"),
    k("tui.order", Accepts::OneOf(&["top", "bottom"]), "Where the newest stands"),
    k("tui.density", Accepts::OneOf(&["auto", "two-line", "one-line", "mini"]), "Lines a row takes"),
    k("tui.detail_level", Accepts::Whole(1, 4), "How much the detail pane shows"),
    k("tui.theme", Accepts::Text, "Theme name"),
    k("tui.appearance", Accepts::OneOf(&["auto", "dark", "light"]), "Background the theme is chosen for"),
    k("tui.glyphs", Accepts::OneOf(&["unicode", "ascii", "letters", "nerd"]), "Signs for types"),
    k("tui.mouse", Accepts::OneOf(&["off", "wheel", "full"]), "Mouse capture"),
    k("tui.guard", Accepts::Bool, "Ignore keys that arrive in a burst, as pasted text does"),
    k("tui.confirm_from", Accepts::Whole(1, MANY), "Rows from which deleting asks"),
    k("tui.type_count_from", Accepts::Whole(1, MANY), "Rows from which the number must be typed"),
    k("tui.clipboard", Accepts::OneOf(&["auto", "tmux", "osc52", "native", "file"]), "How text is copied"),
    k("tui.editor", Accepts::Text, "Editor command; empty: $VISUAL, then $EDITOR"),
    k("tui.fps", Accepts::Whole(1, 240), "Frames a second at most"),
    k("tui.notify", Accepts::Texts, "Types that ring the bell when they arrive"),
    k("tui.links", Accepts::Bool, "Hyperlinks"),
    k("tui.ambiguous", Accepts::Whole(1, 2), "Width of ambiguous characters"),
    k("tui.timefmt", Accepts::OneOf(&["relative", "24h", "12h"]), "How times are shown"),
];

const fn k(name: &'static str, accepts: Accepts, about: &'static str) -> Key {
    Key { name, accepts, about }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_and_the_types_name_the_same_settings() {
        let mut in_types = BTreeSet::new();
        let defaults = serde_json::to_value(Settings::default()).unwrap();
        for (section, entries) in defaults.as_object().unwrap() {
            in_types.extend(entries.as_object().unwrap().keys().map(|name| format!("{section}.{name}")));
        }
        let in_table: BTreeSet<String> = KEYS.iter().map(|key| key.name.to_owned()).collect();
        assert_eq!(in_table, in_types);
        assert_eq!(in_table.len(), KEYS.len(), "a key stands twice");
    }

    #[test]
    fn schema_knows_words_ranges_and_defaults() {
        let schema = schema();
        assert_eq!(schema["properties"]["record"]["properties"]["mode"]["enum"], json!(["all", "opt-in"]));
        assert_eq!(schema["properties"]["observer"]["properties"]["slots"]["maximum"], 10);
        assert_eq!(schema["properties"]["trash"]["properties"]["days"]["default"], 30);
    }
}
