//! Events of one session, gathered turn by turn until they are asked about: text in, batches out.
//!
//! A batch is a turn, or a part of one when the turn is long. Where parts are cut depends on the events alone, never
//! on the clock, so that a run that was killed and began again cuts in the same places. Events that already have an
//! outcome (copies, and what was decided before a restart) are left out; the user's words stay in, because a turn
//! cannot be understood without them.

use std::sync::Arc;

use crate::memory::{EventKey, ProjectRef};
use crate::observer::batch::Batch;
use crate::transcript::event::{Body, Event, PromptKind};

/// Undecided events after which a turn is cut.
pub const PART_EVENTS: usize = 120;
/// Characters of text after which it is cut.
pub const PART_CHARS: usize = 1_000_000;

/// What is known of an event when it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nobody has decided about it.
    New,
    /// It has an outcome, or is waiting for one elsewhere.
    Elsewhere,
    /// It is from before the first start: only its words count, to understand what follows.
    Older,
}

/// One session (or one helper agent in it) on its way through turns.
#[derive(Debug, Default)]
pub struct Gather {
    turn: Option<u32>,
    prompt: Option<String>,
    project: Option<Arc<ProjectRef>>,
    events: Vec<Event>,
    undecided: usize,
    chars: usize,
    /// Something of this turn, other than the user's words, was decided elsewhere or in an earlier part.
    continued: bool,
}

impl Gather {
    /// Takes the next event in file order. Finished batches are pushed to `out`.
    pub fn take(&mut self, event: Event, project: Option<Arc<ProjectRef>>, known: Known, out: &mut Vec<Batch>) {
        if matches!(event.body, Body::TurnEnd(_)) {
            let has_work = !self.events.is_empty();
            if has_work {
                self.events.push(event);
            }
            self.cut(true, out);
            self.end_turn();
            return;
        }
        if self.turn.is_some_and(|turn| turn != event.turn) {
            // No end was told: the next prompt ends it.
            self.cut(true, out);
            self.end_turn();
        }
        if self.project.is_some() && project.is_some() && self.project != project {
            // A memory has one project (A090).
            self.cut(false, out);
        }
        self.turn = Some(event.turn);
        self.project = project.or(self.project.take());
        let prompt = match &event.body {
            Body::Prompt(prompt) => Some(prompt),
            _ => None,
        };
        if let Some(prompt) = prompt
            && self.prompt.is_none()
            && matches!(prompt.kind, PromptKind::Typed | PromptKind::Slash | PromptKind::Plan)
        {
            self.prompt = Some(prompt.text.clone());
        }
        match known {
            Known::Older => {
                self.continued = true;
                return;
            }
            // The same words read again (the file was rewritten, or taken up in mid-turn).
            Known::Elsewhere if prompt.is_some() && self.events.iter().any(|known| known.key == event.key) => return,
            Known::Elsewhere if prompt.is_none() => {
                // What stands before it was told with it, in the batch it belonged to.
                if self.undecided == 0 {
                    self.events.clear();
                    self.chars = 0;
                }
                self.continued = true;
                return;
            }
            Known::Elsewhere => {}
            Known::New => self.undecided += 1,
        }
        self.chars += chars(&event);
        self.events.push(event);
        if self.undecided >= PART_EVENTS || self.chars >= PART_CHARS {
            self.cut(false, out);
            self.continued = true;
        }
    }

    /// What was gathered so far, though the turn goes on.
    pub fn flush(&mut self, out: &mut Vec<Batch>) {
        if self.undecided > 0 {
            self.cut(false, out);
            self.continued = true;
        }
    }

    /// Takes an event back (the client retracted it). Whether it was here and undecided.
    pub fn retract(&mut self, key: &EventKey) -> bool {
        let Some(at) = self.events.iter().position(|event| event.key == *key) else { return false };
        let event = self.events.remove(at);
        self.chars = self.chars.saturating_sub(chars(&event));
        self.undecided = self.undecided.saturating_sub(1);
        true
    }

    /// Whether an event waits here for its outcome.
    pub fn is_empty(&self) -> bool {
        self.undecided == 0
    }

    /// Nothing is gathered and no turn is open.
    pub fn is_idle(&self) -> bool {
        self.turn.is_none() && self.events.is_empty()
    }

    /// The user's words that started the turn.
    pub fn prompt(&self) -> Option<&str> {
        self.prompt.as_deref()
    }

    fn end_turn(&mut self) {
        self.turn = None;
        self.prompt = None;
        self.continued = false;
    }

    fn cut(&mut self, closes_turn: bool, out: &mut Vec<Batch>) {
        let events = std::mem::take(&mut self.events);
        let (undecided, continued) = (self.undecided, self.continued);
        self.undecided = 0;
        self.chars = 0;
        // Only words are left, and they were told with the part before: nothing new.
        if undecided == 0 && (continued || !events.iter().any(|event| matches!(event.body, Body::Prompt(_)))) {
            return;
        }
        let Some(first) = events.first() else { return };
        let agent = first.agent.clone().filter(|agent| events.iter().all(|event| event.agent.as_ref() == Some(agent)));
        out.push(Batch {
            session: Some(first.session.clone()),
            project: self.project.as_deref().cloned(),
            cwd: events.iter().find_map(|event| event.cwd.clone()),
            branch: events.iter().find_map(|event| event.branch.clone()),
            agent,
            prompt_number: first.turn,
            prompt: self.prompt.clone(),
            closes_turn,
            events,
        });
    }
}

/// Characters of text an event carries, about.
pub fn chars(event: &Event) -> usize {
    128 + match &event.body {
        Body::Prompt(prompt) => prompt.text.len(),
        Body::Tool(call) => call.input.len() + call.output.len(),
        Body::Answer(answer) => answer.text.len(),
        Body::Notice(notice) => notice.text.len(),
        Body::Title(text) | Body::TitleFor(_, text) | Body::PullRequest(text) => text.len(),
        Body::TurnEnd(_) | Body::Compaction | Body::Rewind(_) | Body::Retraction(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transcript::event::{Answer, Prompt, TurnEnd};

    fn event(key: &str, turn: u32, body: Body) -> Event {
        Event { turn, ..Event::new(key.into(), "s".into(), body) }
    }

    fn prompt(key: &str, turn: u32) -> Event {
        let prompt = Prompt {
            kind: PromptKind::Typed,
            text: format!("please {key}"),
            about: None,
            attachments: 0,
            program: false,
        };
        event(key, turn, Body::Prompt(prompt))
    }

    fn answer(key: &str, turn: u32) -> Event {
        event(key, turn, Body::Answer(Answer { text: key.to_owned(), ..Answer::default() }))
    }

    fn end(turn: u32) -> Event {
        event("end", turn, Body::TurnEnd(TurnEnd::Marked))
    }

    fn keys(batch: &Batch) -> Vec<&str> {
        batch.events.iter().map(|event| event.key.as_str()).collect()
    }

    fn run(events: impl IntoIterator<Item = (Event, Known)>) -> Vec<Batch> {
        let (mut gather, mut out) = (Gather::default(), Vec::new());
        for (event, known) in events {
            gather.take(event, None, known, &mut out);
        }
        out
    }

    #[test]
    fn a_turn_is_one_batch_with_the_words_that_started_it() {
        let out = run([
            (prompt("p1", 1), Known::Elsewhere),
            (answer("a1", 1), Known::New),
            (end(1), Known::New),
            (prompt("p2", 2), Known::Elsewhere),
            (answer("a2", 2), Known::New),
        ]);
        assert_eq!(out.len(), 1);
        assert_eq!(keys(&out[0]), ["p1", "a1", "end"]);
        assert_eq!((out[0].prompt.as_deref(), out[0].closes_turn), (Some("please p1"), true));
    }

    #[test]
    fn a_fork_in_mid_turn_asks_only_about_its_own_events() {
        let out = run([
            (prompt("p1", 1), Known::Elsewhere),
            (answer("copied", 1), Known::Elsewhere),
            (answer("own", 1), Known::New),
            (end(1), Known::New),
        ]);
        assert_eq!(keys(&out[0]), ["own", "end"]);
        assert_eq!(out[0].prompt.as_deref(), Some("please p1"));
    }

    #[test]
    fn words_alone_are_asked_about_once() {
        let out = run([(prompt("p1", 1), Known::Elsewhere), (end(1), Known::New), (end(1), Known::New)]);
        assert_eq!(out.len(), 1);
        let out = run([(prompt("p1", 1), Known::Elsewhere), (answer("a", 1), Known::Elsewhere), (end(1), Known::New)]);
        assert!(out.is_empty());
    }

    #[test]
    fn a090_a_batch_has_one_project() {
        let project = |name: &str| {
            Some(Arc::new(ProjectRef { root: format!("/w/{name}"), name: name.to_owned(), worktree: None }))
        };
        let (mut gather, mut out) = (Gather::default(), Vec::new());
        gather.take(answer("one", 1), project("alpha"), Known::New, &mut out);
        gather.take(answer("two", 1), project("beta"), Known::New, &mut out);
        gather.take(end(1), None, Known::New, &mut out);
        assert_eq!(out.iter().map(|batch| batch.project.clone().unwrap().name).collect::<Vec<_>>(), ["alpha", "beta"]);
    }

    proptest! {
        /// Killed after any part and read again from the turn's start, with what was decided known: the parts that
        /// follow are those of the run that was not killed.
        #[test]
        fn parts_are_cut_in_the_same_places_after_a_restart(count in 3usize..400, steer in 0usize..400, killed in 0usize..4) {
            let events = || (0..count).map(|n| match n {
                0 => prompt("p", 1),
                n if n == steer => prompt("steer", 1),
                n => answer(&format!("a{n}"), 1),
            }).chain([end(1)]);
            let known = |event: &Event, decided: &[String]| match event.body {
                Body::Prompt(_) => Known::Elsewhere,
                _ if decided.iter().any(|key| key == event.key.as_str()) => Known::Elsewhere,
                _ => Known::New,
            };
            let whole = run(events().map(|event| { let known = known(&event, &[]); (event, known) }));
            let done: Vec<String> = whole.iter().take(killed).flat_map(|batch| batch.events.iter())
                .map(|event| event.key.as_str().to_owned()).collect();
            let again = run(events().map(|event| { let known = known(&event, &done); (event, known) }));
            let rest: Vec<Vec<&str>> = whole.iter().skip(killed).map(keys).collect();
            let again: Vec<Vec<&str>> = again.iter().map(keys).collect();
            prop_assert_eq!(rest, again);
        }
    }
}
