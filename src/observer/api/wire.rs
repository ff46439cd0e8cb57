//! Requests and answers of the two dialects, as text. Pure.

use serde_json::{Value, json};

use crate::gate::reply::{ErrorKind, Reply, ReplyError, Stop};
use crate::memory::{Timestamp, clip_chars, safe_line};
use crate::observer::provider::Usage;

use super::history::History;

/// Longest answer asked for. A low cap cuts the fullest answers (A011).
const MAX_TOKENS: u64 = 8_192;

/// Which language an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /v1/messages`.
    Anthropic,
    /// `POST /chat/completions`.
    OpenAi,
}

/// A request, without its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// Where to.
    pub url: String,
    /// Headers besides content type and key.
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: String,
}

/// An answer, errors included.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    /// Reply with its structure.
    pub reply: Reply,
    /// What it cost; the time is the caller's.
    pub usage: Usage,
    /// Model, as the service names it.
    pub model: Option<String>,
}

/// The URL requests go to, from what the user set: a host, a base with or without `/v1`, or the whole path.
pub fn endpoint(dialect: Dialect, base: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    let lower = base.to_ascii_lowercase();
    match dialect {
        Dialect::Anthropic if base.is_empty() => "https://api.anthropic.com/v1/messages".into(),
        Dialect::Anthropic if lower.ends_with("/v1/messages") => base.into(),
        Dialect::Anthropic if lower.ends_with("/v1") => format!("{base}/messages"),
        Dialect::Anthropic => format!("{base}/v1/messages"),
        Dialect::OpenAi if base.is_empty() => "https://openrouter.ai/api/v1/chat/completions".into(),
        Dialect::OpenAi if lower.ends_with("/chat/completions") => base.into(),
        // Ollama and LM Studio serve the dialect below `/v1`; a bare local host means that.
        Dialect::OpenAi if is_bare_local(&lower) => format!("{base}/v1/chat/completions"),
        Dialect::OpenAi => format!("{base}/chat/completions"),
    }
}

fn is_bare_local(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or_default();
    !host.contains('/')
        && ["localhost", "127.", "[::1]", "0.0.0.0", "192.168.", "10."].iter().any(|it| host.starts_with(it))
}

/// The client's aliases as the endpoint knows them.
pub fn model(dialect: Dialect, name: &str) -> String {
    match (dialect, name) {
        (Dialect::Anthropic, "haiku" | "") => "claude-haiku-4-5".into(),
        (Dialect::Anthropic, "sonnet") => "claude-sonnet-4-5".into(),
        (Dialect::Anthropic, "opus") => "claude-opus-4-5".into(),
        _ => name.to_owned(),
    }
}

/// The request for one question.
pub fn request(dialect: Dialect, url: &str, model: &str, history: &History, newest: &str) -> Outgoing {
    match dialect {
        Dialect::Anthropic => anthropic(url, model, history, newest),
        Dialect::OpenAi => openai(url, model, history, newest),
    }
}

fn anthropic(url: &str, model: &str, history: &History, newest: &str) -> Outgoing {
    // Marks on the instructions and on the newest question: the next request reads everything up to there.
    let mark = json!({"type": "ephemeral"});
    let mut messages = Vec::new();
    for (question, answer) in history.turns() {
        messages.push(json!({"role": "user", "content": [{"type": "text", "text": question}]}));
        messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": answer}]}));
    }
    messages.push(json!({"role": "user", "content": [{"type": "text", "text": newest, "cache_control": mark}]}));
    let body = json!({
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": [{"type": "text", "text": history.instructions(), "cache_control": mark}],
        "messages": messages,
    });
    let headers = vec![("anthropic-version", "2023-06-01".to_owned())];
    Outgoing { url: url.to_owned(), headers, body: body.to_string() }
}

fn openai(url: &str, model: &str, history: &History, newest: &str) -> Outgoing {
    let mut messages = vec![json!({"role": "system", "content": history.instructions()})];
    for (question, answer) in history.turns() {
        messages.push(json!({"role": "user", "content": question}));
        messages.push(json!({"role": "assistant", "content": answer}));
    }
    messages.push(json!({"role": "user", "content": newest}));
    // No cap of our own: its name differs between servers, and a low one cuts the fullest answers.
    let mut body = json!({"model": model, "messages": messages, "stream": false});
    if url.contains("openrouter.ai") {
        body["usage"] = json!({"include": true});
    }
    Outgoing { url: url.to_owned(), headers: Vec::new(), body: body.to_string() }
}

/// What came back.
pub fn answer(dialect: Dialect, status: u16, retry_after: Option<&str>, body: &str, now: Timestamp) -> Incoming {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    // Some gateways send an error with status 200.
    if !(200..300).contains(&status) || value["error"].is_object() || value["type"] == "error" {
        let error = error(status, retry_after, &value, body, now);
        return Incoming {
            reply: Reply { error: Some(error), ..Reply::default() },
            usage: Usage::default(),
            model: None,
        };
    }
    let model = value["model"].as_str().map(str::to_owned);
    let (reply, usage) = match dialect {
        Dialect::Anthropic => anthropic_answer(&value),
        Dialect::OpenAi => openai_answer(&value),
    };
    if !value.is_object() {
        let error = ReplyError {
            kind: ErrorKind::Server,
            status: Some(status),
            message: format!("the answer is no JSON: {}", short(body)),
            resets_at: None,
        };
        return Incoming {
            reply: Reply { error: Some(error), ..Reply::default() },
            usage: Usage::default(),
            model: None,
        };
    }
    Incoming { reply, usage, model }
}

fn anthropic_answer(value: &Value) -> (Reply, Usage) {
    let blocks = value["content"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |kind: &'static str| blocks.iter().filter(move |it| it["type"] == kind);
    let reply = Reply {
        text: of("text").filter_map(|it| it["text"].as_str()).collect(),
        stop: match value["stop_reason"].as_str() {
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Limit,
            Some("refusal") => Stop::Refusal,
            _ => Stop::Done,
        },
        tool_call: of("tool_use").next().is_some(),
        ..Reply::default()
    };
    let count = |key: &str| value["usage"][key].as_u64().unwrap_or_default();
    let usage = Usage {
        input: count("input_tokens") + count("cache_creation_input_tokens"),
        cached: count("cache_read_input_tokens"),
        output: count("output_tokens"),
        ..Usage::default()
    };
    (reply, usage)
}

fn openai_answer(value: &Value) -> (Reply, Usage) {
    let choice = &value["choices"][0];
    let message = &choice["message"];
    let text: String = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|it| it["text"].as_str()).collect(),
        _ => String::new(),
    };
    let calls = message["tool_calls"].as_array().is_some_and(|it| !it.is_empty());
    let reply = Reply {
        text: without_thoughts(&text),
        stop: match choice["finish_reason"].as_str() {
            Some("length") => Stop::Limit,
            Some("content_filter") => Stop::Refusal,
            _ => Stop::Done,
        },
        tool_call: calls || choice["finish_reason"] == "tool_calls",
        ..Reply::default()
    };
    let usage = &value["usage"];
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or_default();
    let prompt = usage["prompt_tokens"].as_u64().unwrap_or_default();
    let usage = Usage {
        input: prompt.saturating_sub(cached),
        cached,
        output: usage["completion_tokens"].as_u64().unwrap_or_default(),
        cost: usage["cost"].as_f64(),
        millis: 0,
    };
    (reply, usage)
}

/// Local reasoning models put their thoughts before the answer.
fn without_thoughts(text: &str) -> String {
    let trimmed = text.trim_start();
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if let Some(rest) = trimmed.strip_prefix(open) {
            // Thoughts without an end: there is no answer.
            return rest.split_once(close).map_or(String::new(), |(_, answer)| answer.to_owned());
        }
    }
    // The opening tag may be part of the prompt template.
    match text.split_once("</think>") {
        Some((before, answer)) if !before.contains("<observation") => answer.to_owned(),
        _ => text.to_owned(),
    }
}

fn error(status: u16, retry_after: Option<&str>, value: &Value, body: &str, now: Timestamp) -> ReplyError {
    let object = &value["error"];
    let text = |value: &Value| value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|it| it.to_string()));
    let message = text(&object["message"]).or_else(|| text(object)).or_else(|| text(&value["message"]));
    let message = message.unwrap_or_else(|| short(body));
    let code =
        [&object["code"], &object["type"]].into_iter().filter_map(text).collect::<Vec<_>>().join(" ").to_lowercase();
    let status = match object["code"].as_u64().and_then(|it| u16::try_from(it).ok()) {
        Some(inner @ 400..=599) if (200..300).contains(&status) => inner,
        _ => status,
    };
    let lower = message.to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|it| lower.contains(it) || code.contains(it));
    let kind = if says(&[
        "context_length_exceeded",
        "prompt is too long",
        "maximum context length",
        "context window",
        "input is too long",
        "exceeds the available context",
    ]) {
        ErrorKind::Overflow
    } else if says(&["insufficient_quota", "resource_exhausted", "exceeded your current quota"]) {
        ErrorKind::Quota
    } else if says(&["credit balance", "billing", "insufficient credits", "payment required"]) {
        ErrorKind::Billing
    } else if says(&["model_not_found", "not_found_error", "no such model", "try pulling it", "is not a valid model"]) {
        ErrorKind::Model
    } else if says(&["invalid_api_key", "authentication_error", "permission_error", "no auth credentials"]) {
        ErrorKind::Auth
    } else {
        crate::observer::claude::by_status(Some(status))
    };
    let wait = retry_after.and_then(|it| wait_until(it, now));
    ReplyError { kind, status: Some(status), message: short(&message), resets_at: wait }
}

/// `Retry-After`: seconds, or a date.
fn wait_until(text: &str, now: Timestamp) -> Option<i64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Some(now.as_second().saturating_add(seconds.clamp(0.0, 864_000.0).ceil() as i64));
    }
    jiff::fmt::rfc2822::parse(text).ok().map(|it| it.timestamp().as_second())
}

fn short(text: &str) -> String {
    safe_line(clip_chars(text.trim(), 300))
}

#[cfg(test)]
mod tests;
