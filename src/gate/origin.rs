//! Gate 0: where an event comes from. What observers write is never observed, ours least of all: an observer that
//! watches observers multiplies until a plan is used up (A039–A042).
//!
//! Three signs count: the working directory of our own observer, the directories of other memory tools, and our own
//! frame at the beginning of a prompt. The entrypoint alone never excludes (A043): front-ends for people mark their
//! sessions exactly as observers do.

use std::borrow::Cow;
use std::path::Path;

use memchr::memmem;

use super::exclude::Exclusions;
use crate::config::repository::CaseRule;
use crate::transcript::event::{Body, Event};

/// How the questions of our own observer begin; a random word follows, and the frame ends with its closing tag.
pub const OBSERVER_FRAME: &str = "<observed-";

/// Which origins are refused.
#[derive(Clone, Debug)]
pub struct Origins {
    own: Vec<String>,
    foreign: Exclusions,
    sdk: bool,
}

impl Origins {
    /// `observer_dir` is the working directory of our own observer, `foreign` those of others, `sdk` whether sessions
    /// driven by a program are wanted.
    pub fn new(observer_dir: &Path, foreign: &[String], home: Option<&Path>, case: CaseRule, sdk: bool) -> Self {
        let own = observer_dir.display().to_string().replace('\\', "/");
        // macOS keeps /tmp and /var behind /private, and a process there sees itself under the longer name.
        let own = vec![format!("/private{own}"), own];
        Self { own, foreign: Exclusions::new(foreign, home, case).0, sdk }
    }

    /// Why the event is refused by its origin, if it is.
    pub fn refuses(&self, event: &Event) -> Option<&'static str> {
        if let Some(cwd) = &event.cwd {
            let slashed =
                if cwd.contains('\\') { Cow::Owned(cwd.replace('\\', "/")) } else { Cow::Borrowed(cwd.as_str()) };
            let below =
                |dir: &str| slashed.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if self.own.iter().any(|dir| below(dir)) {
                return Some("own-observer");
            }
            if self.foreign.covers(None, Some(cwd)) {
                return Some("foreign-observer");
            }
        }
        if !self.sdk && event.entrypoint.as_deref().is_some_and(|entrypoint| entrypoint.starts_with("sdk")) {
            return Some("sdk-session");
        }
        None
    }
}

/// Whether the words are a question of our own observer, wherever they turned up (A040). Tool output may quote one:
/// it is what happened in somebody's session, and stays.
pub fn is_own_frame(event: &Event) -> bool {
    match &event.body {
        Body::Prompt(prompt) => bears_frame(&prompt.text),
        Body::Answer(answer) => bears_frame(&answer.text),
        Body::Notice(notice) => bears_frame(&notice.text),
        _ => false,
    }
}

/// Whether a whole session is our own observer's: its first prompt is a question of ours.
pub fn opens_own_session(event: &Event) -> bool {
    match &event.body {
        Body::Prompt(prompt) if event.turn <= 1 => {
            let text = prompt.text.trim_start();
            (text.starts_with(OBSERVER_FRAME) || text.starts_with("<already_remembered>")) && bears_frame(text)
        }
        _ => false,
    }
}

fn bears_frame(text: &str) -> bool {
    memmem::find_iter(text.as_bytes(), OBSERVER_FRAME).any(|at| {
        let rest = &text[at + OBSERVER_FRAME.len()..];
        let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        word >= 3 && memmem::find(rest.as_bytes(), format!("</observed-{}>", &rest[..word]).as_bytes()).is_some()
    })
}
