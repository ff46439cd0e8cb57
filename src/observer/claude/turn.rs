//! The lines of a child's stream as what happened. Pure: recorded streams of several versions are its tests.
//!
//! Lines are JSON with keys in no fixed order; unknown types are passed over. A turn is what lies between a user line
//! and its `result`: the assistant texts of it are collected (`result.result` is only the last message's), usage is
//! taken from the `result`, cost from the difference of its running total. Whether something went wrong is read from
//! the fields that say so (observer.md §3.5), never from prose; what only prose tells is left to gate 4.

use serde_json::{Value, json};

use crate::gate::reply::{ErrorKind, Reply, ReplyError, Stop};
use crate::observer::provider::{Usage, WindowUse};

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Heard {
    /// The child has started up.
    Ready,
    /// `initialize` was refused.
    Refused(String),
    /// Something is going on.
    Alive,
    /// Windows of the account.
    Windows(Vec<WindowUse>),
    /// The child has what an observer must not have.
    Unsafe(String),
    /// The turn is over. `None`: it was somebody else's (an interrupted one).
    Finished(Option<Box<Finished>>),
    /// Nothing of interest.
    Nothing,
}

/// A turn that is over.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finished {
    pub reply: Reply,
    pub usage: Usage,
    pub model: Option<String>,
}

/// The state between lines.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// uuid of the user line whose result is awaited.
    awaited: Option<String>,
    texts: Vec<String>,
    model: Option<String>,
    synthetic: bool,
    tool_call: bool,
    error: Option<ErrorField>,
    rejected_until: Option<i64>,
    /// The client tried again by itself in this turn.
    retried: bool,
    total_cost: f64,
    version: Option<String>,
}

/// The error fields of an assistant line.
#[derive(Debug, Default)]
struct ErrorField {
    word: String,
    status: Option<u16>,
    finer: String,
}

/// The line that begins a run: instructions go by standard input, so that they are in no process list.
pub(super) fn initialize(instructions: &str) -> String {
    let request = json!({"subtype": "initialize", "systemPrompt": [instructions]});
    line(&json!({"type": "control_request", "request_id": "initialize", "request": request}))
}

/// The line that puts a question.
pub(super) fn user(text: &str, uuid: &str) -> String {
    line(&json!({
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
        // No command and no `@path` in the text is acted on.
        "client_composed": true,
    }))
}

/// The line that ends a turn early.
pub(super) fn interrupt() -> String {
    let request = json!({"subtype": "interrupt", "cancel_queued": true});
    line(&json!({"type": "control_request", "request_id": "interrupt", "request": request}))
}

fn line(value: &Value) -> String {
    let mut text = value.to_string();
    text.push('\n');
    text
}

impl Stream {
    /// A user line was written: what follows is its turn.
    pub(super) fn expect(&mut self, uuid: &str) {
        self.begin();
        self.awaited = Some(uuid.to_owned());
    }

    /// The client's version, once it has told.
    pub(super) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    fn begin(&mut self) {
        self.texts.clear();
        self.model = None;
        self.synthetic = false;
        self.tool_call = false;
        self.error = None;
        self.retried = false;
    }

    /// Takes one line.
    pub(super) fn hear(&mut self, line: &str) -> Heard {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return Heard::Nothing };
        match value["type"].as_str() {
            Some("control_response") => control(&value),
            Some("system") => self.system(&value),
            Some("assistant") => {
                self.assistant(&value);
                Heard::Alive
            }
            Some("rate_limit_event") => self.windows(&value["rate_limit_info"]),
            Some("result") => self.result(&value),
            Some("command_lifecycle" | "user" | "stream_event") => Heard::Alive,
            _ => Heard::Nothing,
        }
    }

    fn system(&mut self, value: &Value) -> Heard {
        match value["subtype"].as_str() {
            Some("init") => {
                self.version = value["claude_code_version"].as_str().map(str::to_owned);
                let names = |key: &str| -> Vec<String> {
                    let items = value[key].as_array().map_or(&[][..], Vec::as_slice);
                    items.iter().filter_map(|it| it.as_str().or(it["name"].as_str())).map(str::to_owned).collect()
                };
                let (tools, servers) = (names("tools"), names("mcp_servers"));
                if tools.is_empty() && servers.is_empty() {
                    Heard::Alive
                } else {
                    let what = [tools, servers].concat().join(", ");
                    Heard::Unsafe(format!("the client offers the observer tools or servers: {what}"))
                }
            }
            Some("api_retry") => {
                self.retried = true;
                Heard::Alive
            }
            Some("status" | "compact_boundary") => Heard::Alive,
            _ => Heard::Nothing,
        }
    }

    fn assistant(&mut self, value: &Value) {
        if value["parent_tool_use_id"].is_string() {
            return; // a helper agent's; there are none without tools
        }
        let message = &value["message"];
        match message["model"].as_str() {
            Some("<synthetic>") => self.synthetic = true,
            Some(model) => {
                // What a model says after the client's own words counts again.
                self.synthetic = false;
                self.model = Some(model.to_owned());
            }
            None => {}
        }
        for block in message["content"].as_array().map_or(&[][..], Vec::as_slice) {
            match block["type"].as_str() {
                Some("text") => self.texts.extend(block["text"].as_str().map(str::to_owned)),
                Some("tool_use" | "server_tool_use") => self.tool_call = true,
                _ => {}
            }
        }
        if let Some(word) = value["error"].as_str() {
            self.error = Some(ErrorField {
                word: word.to_owned(),
                status: status(&value["api_error_status"]),
                finer: value["api_error"].as_str().unwrap_or_default().to_owned(),
            });
        }
    }

    fn windows(&mut self, info: &Value) -> Heard {
        let named = info["rateLimitType"].as_str();
        let one = |name: &str, value: &Value| WindowUse {
            window: name.to_owned(),
            used: value["utilization"].as_f64(),
            rejected: value["status"].as_str() == Some("rejected"),
            resets_at: seconds(&value["resetsAt"]),
        };
        let mut out: Vec<WindowUse> = Vec::new();
        if let Some(windows) = info["unifiedWindows"].as_object() {
            out.extend(windows.iter().map(|(name, value)| one(name, value)));
        }
        if let Some(name) = named
            && out.iter().all(|it| it.window != name)
        {
            out.push(one(name, info));
        }
        if info["status"].as_str() == Some("rejected") {
            self.rejected_until = seconds(&info["resetsAt"]);
        } else {
            self.rejected_until = None;
        }
        Heard::Windows(out)
    }

    fn result(&mut self, value: &Value) -> Heard {
        let uuids = value["user_message_uuids"].as_array();
        let awaited = self.awaited.as_deref();
        // Older clients name no lines; newer ones may still report a turn that was given up.
        let ours = match (uuids, awaited) {
            (_, None) => false,
            (Some(uuids), Some(awaited)) if !uuids.is_empty() => uuids.iter().any(|it| it.as_str() == Some(awaited)),
            _ => true,
        };
        let total = value["total_cost_usd"].as_f64();
        let cost = total.map(|total| (total - std::mem::replace(&mut self.total_cost, total)).max(0.0));
        if !ours {
            self.begin();
            return Heard::Finished(None);
        }
        self.awaited = None;
        let usage = &value["usage"];
        let count = |key: &str| usage[key].as_u64().unwrap_or_default();
        let usage = Usage {
            input: count("input_tokens") + count("cache_creation_input_tokens"),
            cached: count("cache_read_input_tokens"),
            output: count("output_tokens"),
            cost,
            millis: value["duration_ms"].as_u64().unwrap_or_default(),
        };
        let mut text = self.texts.concat();
        if text.is_empty() {
            text = value["result"].as_str().unwrap_or_default().to_owned();
        }
        let max_turns = value["subtype"].as_str() == Some("error_max_turns");
        let error = if max_turns { None } else { self.failure(value, &text) };
        let stop = match value["stop_reason"].as_str() {
            Some("max_tokens") => Stop::Limit,
            Some("refusal") => Stop::Refusal,
            _ if self.error.as_ref().is_some_and(|it| it.word == "max_output_tokens") => Stop::Limit,
            _ => Stop::Done,
        };
        let reply = Reply {
            synthetic: self.synthetic && error.is_none(),
            tool_call: self.tool_call || max_turns,
            stop,
            error,
            text,
        };
        let model = self.model.take();
        self.begin();
        Heard::Finished(Some(Box::new(Finished { reply, usage, model })))
    }

    /// The error a result reports, by its fields.
    fn failure(&self, result: &Value, text: &str) -> Option<ReplyError> {
        let is_error = result["is_error"].as_bool() == Some(true);
        let terminal = result["terminal_reason"].as_str().unwrap_or_default();
        let field = self.error.as_ref();
        let word = field.map_or("", |it| it.word.as_str());
        if word == "max_output_tokens" {
            return None; // what there is of the answer is looked at
        }
        if !is_error && field.is_none() {
            return None;
        }
        let status = status(&result["api_error_status"]).or(field.and_then(|it| it.status));
        let finer = result["api_error"].as_str().or(field.map(|it| it.finer.as_str())).unwrap_or_default();
        let kind = match (terminal, word) {
            ("prompt_too_long", _) => ErrorKind::Overflow,
            ("aborted_streaming" | "aborted_tools", _) => ErrorKind::Interrupted,
            (
                _,
                "authentication_failed" | "oauth_org_not_allowed" | "verification_required" | "cloud_credential_error",
            ) => ErrorKind::Auth,
            (_, "billing_error" | "account_on_hold") => ErrorKind::Billing,
            (_, "rate_limit") if finer == "usage_limit_reached" || self.rejected_until.is_some() => ErrorKind::Quota,
            // The client waits by itself where it is told to wait a little. Where it does not even try, it was told to
            // wait long.
            (_, "rate_limit") if !self.retried && status == Some(429) => ErrorKind::Quota,
            (_, "rate_limit") => ErrorKind::RateLimit,
            (_, "overloaded" | "server_error") => ErrorKind::Server,
            (_, "model_not_found") => ErrorKind::Model,
            (_, "invalid_request") if status == Some(413) => ErrorKind::Overflow,
            (_, "invalid_request") => ErrorKind::Invalid,
            _ if result["subtype"].as_str() == Some("error_during_execution") => ErrorKind::Interrupted,
            _ => by_status(status),
        };
        let message = crate::memory::safe_line(crate::memory::clip_chars(text.trim(), 300));
        let resets_at = if kind == ErrorKind::Quota { self.rejected_until } else { None };
        Some(ReplyError { kind, status, message, resets_at })
    }
}

/// What an HTTP status alone tells.
pub(in crate::observer) fn by_status(status: Option<u16>) -> ErrorKind {
    match status {
        Some(401 | 403) => ErrorKind::Auth,
        Some(402) => ErrorKind::Billing,
        Some(404) => ErrorKind::Model,
        Some(413) => ErrorKind::Overflow,
        Some(429) => ErrorKind::RateLimit,
        Some(408 | 504) => ErrorKind::Timeout,
        Some(400..=499) => ErrorKind::Invalid,
        _ => ErrorKind::Server,
    }
}

fn control(value: &Value) -> Heard {
    let response = &value["response"];
    if response["request_id"].as_str() != Some("initialize") {
        return Heard::Alive;
    }
    match response["subtype"].as_str() {
        Some("success") => Heard::Ready,
        _ => Heard::Refused(response["error"].as_str().unwrap_or("initialize was refused").to_owned()),
    }
}

fn status(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|it| u16::try_from(it).ok())
}

/// Seconds since the epoch, whether told in seconds or milliseconds.
fn seconds(value: &Value) -> Option<i64> {
    let number = value.as_f64()? as i64;
    Some(if number > 100_000_000_000 { number / 1_000 } else { number })
}

#[cfg(test)]
mod tests;
