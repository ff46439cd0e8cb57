//! Gates 0 to 2 in a row: an event goes in, and comes out as it may be kept, or not at all.
//!
//! Cheapest first: where it comes from, whether its project is left out, whether the tool is worth a look, whether
//! the turn is private; only then is text read. Each refusal has a reason, a stable word for the ledger:
//!
//! | gate | reasons |
//! |---|---|
//! | 0 | `own-observer`, `own-frame`, `foreign-observer`, `sdk-session`, `excluded-project`, `not-opted-in` |
//! | 1 | `private-turn`, `skip-tool`, `own-tool`, `session-memory` |
//! | 2 | `nothing-left` |
//!
//! What depends on the disk comes in as a value: the project (from the resolver) and whether the marker file of opt-in
//! recording is there. Events of one file must come in file order, and a session's own file before those of its
//! helper agents, since the prompt decides about both.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::admit::SkipTools;
use super::exclude::Exclusions;
use super::origin::{Origins, is_own_frame, opens_own_session};
use super::private::SessionPrivacy;
use super::redact::{FIELD_CHARS, Found, WORDS_CHARS, clean_json, clean_to};
use crate::config::repository::CaseRule;
use crate::config::{Dirs, Settings};
use crate::memory::{ProjectRef, SessionId};
use crate::transcript::event::{Body, Event};

#[cfg(test)]
mod tests;

/// What became of an event at the gates.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly all pass, and a verdict is taken apart at once")]
pub enum Verdict {
    /// It may go on, as it is here.
    Pass(Event),
    /// It stops here.
    Drop {
        /// The gate that refused it: 0, 1 or 2.
        gate: u8,
        /// Why, as a stable word.
        reason: &'static str,
    },
}

/// Gates 0 to 2, with what they remember of sessions.
#[derive(Debug)]
pub struct Gates {
    origins: Origins,
    exclusions: Exclusions,
    skip: SkipTools,
    opt_in: bool,
    markers: HashMap<String, bool>,
    own_sessions: HashSet<SessionId>,
    privacy: HashMap<SessionId, SessionPrivacy>,
    /// Answers already given about origins and exclusion, by directory and root.
    places: HashMap<(Option<String>, Option<String>), bool>,
    counts: BTreeMap<String, i64>,
}

impl Gates {
    /// Gates for these settings.
    pub fn new(settings: &Settings, dirs: &Dirs) -> Self {
        let record = &settings.record;
        let (case, home) = (CaseRule::of_host(), dirs.home.as_deref());
        Self {
            origins: Origins::new(&dirs.observer(), &record.foreign_observers, home, case, record.sdk),
            exclusions: Exclusions::new(&record.exclude, home, case).0,
            skip: SkipTools::new(&record.skip_tools),
            opt_in: record.mode == "opt-in",
            markers: HashMap::new(),
            own_sessions: HashSet::new(),
            privacy: HashMap::new(),
            places: HashMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// A project excluded by hand.
    pub fn exclude_root(&mut self, root: &str) {
        self.exclusions.add_root(root);
        self.places.clear();
    }

    /// The projects excluded by hand are these and no others.
    pub fn set_excluded(&mut self, roots: &[String]) {
        self.exclusions.set_roots(roots);
        self.places.clear();
    }

    /// Whether the marker of this project is not known yet and must be looked for before its events are judged.
    pub fn needs_marker(&self, project: Option<&ProjectRef>) -> bool {
        self.opt_in && project.is_some_and(|project| !self.markers.contains_key(&project.root))
    }

    /// Whether the project's marker file is there.
    pub fn set_marker(&mut self, root: &str, present: bool) {
        self.markers.insert(root.to_owned(), present);
    }

    /// Forgets which markers are there, so that they are looked for again.
    pub fn forget_markers(&mut self) {
        self.markers.clear();
    }

    /// What is private in a session, to be kept beside the cursor of its file; `None` while nothing is.
    pub fn privacy(&self, session: &SessionId) -> Option<&SessionPrivacy> {
        self.privacy.get(session).filter(|privacy| !privacy.is_empty())
    }

    /// What was private in a session when a cursor was kept. The files of a session each bring theirs; all count.
    pub fn restore_privacy(&mut self, session: SessionId, privacy: SessionPrivacy) {
        self.privacy.entry(session).or_default().merge(privacy);
    }

    /// How often each gate did something since the last time: `gate.1.skip-tool`, `gate.2.secret` …
    pub fn take_counts(&mut self) -> Vec<(String, i64)> {
        std::mem::take(&mut self.counts).into_iter().collect()
    }

    /// Judges one event of a project.
    pub fn judge(&mut self, event: Event, project: Option<&ProjectRef>) -> Verdict {
        let refused = match self.gate_0(&event, project) {
            Some(reason) => Some((0, reason)),
            None => self.gate_1(&event).map(|reason| (1, reason)),
        };
        let verdict = match refused {
            Some((gate, reason)) => Verdict::Drop { gate, reason },
            None => self.gate_2(event),
        };
        if let Verdict::Drop { gate, reason } = &verdict {
            *self.counts.entry(format!("gate.{gate}.{reason}")).or_default() += 1;
        }
        verdict
    }

    /// Where it comes from.
    fn gate_0(&mut self, event: &Event, project: Option<&ProjectRef>) -> Option<&'static str> {
        if let Some(reason) = self.origins.refuses(event) {
            return Some(reason);
        }
        if opens_own_session(event) {
            self.own_sessions.insert(event.session.clone());
        }
        if (!self.own_sessions.is_empty() && self.own_sessions.contains(&event.session)) || is_own_frame(event) {
            return Some("own-frame");
        }
        if self.is_excluded(event, project) {
            return Some("excluded-project");
        }
        // Without a project there is no place a marker could be in: nobody has opted in.
        if self.opt_in && project.is_none_or(|project| self.markers.get(&project.root) != Some(&true)) {
            return Some("not-opted-in");
        }
        None
    }

    fn is_excluded(&mut self, event: &Event, project: Option<&ProjectRef>) -> bool {
        let place = (event.cwd.clone(), project.map(|project| project.root.clone()));
        let exclusions = &self.exclusions;
        *self.places.entry(place).or_insert_with_key(|(cwd, _)| exclusions.covers(project, cwd.as_deref()))
    }

    /// Whether it is worth a look, and anybody's business.
    fn gate_1(&mut self, event: &Event) -> Option<&'static str> {
        if self.is_private(event) {
            return Some("private-turn");
        }
        match &event.body {
            Body::Tool(call) => self.skip.refuses(call),
            _ => None,
        }
    }

    fn is_private(&mut self, event: &Event) -> bool {
        // Words of the session's own prompt decide; a helper agent's prompt is the model's.
        if let (Body::Prompt(prompt), None) = (&event.body, &event.agent) {
            let wholly = is_wholly_private(&prompt.text);
            if wholly || self.privacy.contains_key(&event.session) {
                self.privacy.entry(event.session.clone()).or_default().prompt(event.turn, event.time, wholly);
            }
        }
        if event.agent.is_some() && !self.privacy.contains_key(&event.session) {
            // Remembered as begun while nothing was private.
            self.privacy.insert(event.session.clone(), SessionPrivacy::default());
        }
        let Some(privacy) = self.privacy.get_mut(&event.session) else { return false };
        match &event.body {
            // Marks without text: who waits for the end of a turn must see it.
            Body::TurnEnd(_) | Body::Compaction | Body::Rewind(_) | Body::Retraction(_) => false,
            Body::Title(title) | Body::TitleFor(_, title) if privacy.hides_title(title) => true,
            Body::Title(title) if privacy.hides(event) => {
                privacy.hide_title(title);
                true
            }
            _ => privacy.hides(event),
        }
    }

    /// What of it may be kept.
    fn gate_2(&mut self, mut event: Event) -> Verdict {
        let mut found = Found::default();
        let empty = match &mut event.body {
            Body::Prompt(prompt) => {
                words(&mut prompt.text, &mut found);
                prompt.text.trim().is_empty() && prompt.attachments == 0
            }
            Body::Answer(answer) => {
                words(&mut answer.text, &mut found);
                answer.text.trim().is_empty()
            }
            Body::Notice(notice) => {
                words(&mut notice.text, &mut found);
                notice.text.trim().is_empty()
            }
            Body::Title(text) | Body::TitleFor(_, text) | Body::PullRequest(text) => {
                words(text, &mut found);
                text.trim().is_empty()
            }
            Body::Tool(call) => {
                replace(&mut call.input, |input| clean_json(input, FIELD_CHARS, &mut found));
                replace(&mut call.output, |output| clean_to(output, FIELD_CHARS, &mut found));
                false
            }
            Body::TurnEnd(_) | Body::Compaction | Body::Rewind(_) | Body::Retraction(_) => false,
        };
        for (name, times) in found.named().into_iter().filter(|(_, times)| *times > 0) {
            *self.counts.entry(format!("gate.2.{name}")).or_default() += i64::from(times);
        }
        if empty { Verdict::Drop { gate: 2, reason: "nothing-left" } } else { Verdict::Pass(event) }
    }
}

fn words(text: &mut String, found: &mut Found) {
    replace(text, |text| clean_to(text, WORDS_CHARS, found));
}

fn replace(text: &mut String, clean: impl for<'a> FnOnce(&'a str) -> Cow<'a, str>) {
    if let Cow::Owned(cleaned) = clean(text) {
        *text = cleaned;
    }
}

/// Whether a `<private>` region is all there is in the words.
fn is_wholly_private(text: &str) -> bool {
    let mut found = Found::default();
    let rest = super::redact::strip_tags(text, &mut found);
    found.private > 0 && rest.trim().is_empty()
}
