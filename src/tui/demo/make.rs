//! Sample memories from a seed.

use jiff::Timestamp;

use super::words::{self, Dice};
use crate::memory::{EventKey, Evidence, Kind, Memory, MemoryId, SessionId, Source, Summary, estimate_tokens};

/// The instant the demo's clock begins at: 27 August 2026, 14:33 UTC.
pub const START_MS: i64 = 1_787_841_180_000;
const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;

/// Projects of the demo: root, name, worktree.
pub const PROJECTS: [(&str, &str, &str); 6] = [
    ("/home/dev/webapp", "webapp", ""),
    ("/home/dev/webapp", "webapp", "wt-auth"),
    ("/home/dev/webapp", "webapp", "wt-ci"),
    ("/home/dev/infra", "infra", ""),
    ("/home/dev/cmem", "cmem", ""),
    ("/home/dev/notes", "notes", ""),
];

/// Everything a generator made.
pub struct Made {
    /// Newest first.
    pub memories: Vec<Memory>,
    /// Which project each is in.
    pub project_of: Vec<usize>,
}

/// `n` memories, newest first, the newest a minute or two before the clock's start.
pub fn make(n: usize, seed: u64) -> Made {
    let mut dice = Dice::new(seed);
    let mut memories: Vec<Memory> = Vec::with_capacity(n);
    let mut project_of = Vec::with_capacity(n);
    let mut at = START_MS - 2 * MINUTE;
    let mut session = 0usize;
    let mut left_in_session = 0usize;
    let mut project = 0usize;
    let mut prompt = 9u32;
    for back in 0..n {
        if left_in_session == 0 {
            session += 1;
            left_in_session = 6 + dice.below(16);
            project = match dice.below(20) {
                0..11 => 0,
                11 => 1,
                12 => 2,
                13..16 => 3,
                16..18 => 4,
                _ => 5,
            };
            if session == 1 {
                project = 0;
                left_in_session = 18;
            } else {
                at -= 25 * MINUTE + dice.below(180) as i64 * MINUTE;
                at = working_hours(at);
            }
            prompt = 4 + dice.below(6) as u32;
        }
        left_in_session -= 1;
        let id = (n - back) as i64;
        let mut memory = one(&mut dice, id, at, session, project, prompt);
        if left_in_session == 0 && session % 3 != 2 {
            summary(&mut memory, &mut dice);
        }
        memories.push(memory);
        project_of.push(project);
        at -= if dice.below(5) == 0 { 20_000 } else { MINUTE + dice.below(14) as i64 * MINUTE };
        if dice.below(2) == 0 && prompt > 1 {
            prompt -= 1;
        }
    }
    Made { memories, project_of }
}

/// Nobody works at night here: what would be before nine or after seven is the evening before.
fn working_hours(at: i64) -> i64 {
    let in_day = at.rem_euclid(DAY);
    let midnight = at - in_day;
    match in_day / (60 * MINUTE) {
        0..9 => midnight - 5 * 60 * MINUTE - in_day % (90 * MINUTE),
        19.. => midnight + 17 * 60 * MINUTE + in_day % (90 * MINUTE),
        _ => at,
    }
}

/// A session's id in the demo.
pub fn session_id(session: usize) -> String {
    format!("{:08x}-5e55-4000-8000-{:012x}", session.wrapping_mul(2_654_435_761) & 0xffff_ffff, session)
}

fn one(dice: &mut Dice, id: i64, at: i64, session: usize, project: usize, prompt: u32) -> Memory {
    let type_id = words::type_word(dice);
    let (subject, file) = *dice.pick(&words::SUBJECTS);
    let (phrase, subtitle) = *dice.pick(words::phrases(type_id));
    let mut title = phrase.replace("{}", subject);
    capitalise(&mut title);
    if dice.below(20) == 0 {
        title = (*dice.pick(&words::WIDE)).to_owned();
    } else if dice.below(1000) == 0 {
        title = words::HOSTILE.to_owned();
    }
    let facts: Vec<String> = (0..dice.below(4)).map(|_| (*dice.pick(&words::FACTS)).to_owned()).collect();
    let story: Vec<&str> = (0..1 + dice.below(4)).map(|_| *dice.pick(&words::STORY)).collect();
    let modified = if matches!(type_id, "discovery" | "decision") { Vec::new() } else { vec![file.to_owned()] };
    let (root, name, worktree) = PROJECTS[project];
    let narrative = story.join(" ");
    let text: usize = title.len() + subtitle.len() + narrative.len() + facts.iter().map(String::len).sum::<usize>();
    let concepts =
        ["how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off"];
    Memory {
        id: MemoryId(id),
        kind: Kind::Observation,
        type_id: type_id.to_owned(),
        raw_type: None,
        title,
        subtitle: subtitle.to_owned(),
        narrative,
        facts,
        concepts: vec![(*dice.pick(&concepts)).to_owned(), (*dice.pick(&concepts)).to_owned()],
        files_read: vec![file.to_owned(), "src/router.ts".to_owned()],
        evidence: if modified.is_empty() { Evidence::None } else { Evidence::Files },
        files_modified: modified,
        project: if worktree.is_empty() { name.to_owned() } else { worktree.to_owned() },
        project_root: root.to_owned(),
        cwd: Some(root.to_owned()),
        branch: Some("main".into()),
        agent: None,
        session: Some(SessionId(session_id(session))),
        prompt_number: prompt,
        created_at: time(at),
        recorded_at: time(at + 4_000),
        source: if dice.below(4) == 0 { Source::Offline } else { Source::Observer },
        model: Some("haiku".into()),
        tokens: (text as u32) / 4 + 120,
        work_tokens: 2_000 + dice.below(14_000) as u32,
        pinned: dice.below(250) == 0,
        excluded: dice.below(300) == 0,
        edited: false,
        abandoned: false,
        superseded_by: None,
        count: 1,
        summary: None,
        keys: vec![EventKey(format!("toolu_{id:08x}"))],
    }
}

/// Turns a memory into the summary that ends its session.
fn summary(memory: &mut Memory, dice: &mut Dice) {
    memory.kind = Kind::Summary;
    memory.type_id = String::new();
    let request = format!("Finish {}", dice.pick(&words::SUBJECTS).0);
    memory.title = format!("next: {}", dice.pick(&words::LAST_WORDS));
    memory.facts.clear();
    memory.concepts.clear();
    memory.pinned = false;
    memory.excluded = false;
    memory.summary = Some(Summary {
        request,
        investigated: (*dice.pick(&words::STORY)).to_owned(),
        learned: (*dice.pick(&words::FACTS)).to_owned(),
        completed: (*dice.pick(&words::STORY)).to_owned(),
        next_steps: (*dice.pick(&words::LAST_WORDS)).to_owned(),
        notes: String::new(),
    });
    memory.tokens = estimate_tokens(&memory.narrative) + 60;
}

fn capitalise(title: &mut String) {
    if let Some(first) = title.chars().next().filter(char::is_ascii_lowercase) {
        title.replace_range(..1, &first.to_ascii_uppercase().to_string());
    }
}

/// Milliseconds as an instant.
pub fn time(ms: i64) -> Timestamp {
    crate::memory::from_millis(ms)
}

/// What the live stream brings next, the `n`th since the demo began.
pub fn arriving(id: i64, at: i64, n: usize) -> Memory {
    let mut dice = Dice::new(0xc0ffee + n as u64);
    // The stream is the session that is live.
    one(&mut dice, id, at, 1, 0, 9 + (n / 3) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_memories_in_order() {
        let (a, b) = (make(500, 7), make(500, 7));
        assert_eq!(a.memories, b.memories);
        assert!(a.memories.windows(2).all(|pair| pair[0].created_at >= pair[1].created_at));
        assert!(a.memories.windows(2).all(|pair| pair[0].id > pair[1].id));
        let half = a.memories.iter().filter(|memory| memory.type_id == "discovery").count();
        assert!((200..300).contains(&half), "{half}");
    }

    #[test]
    fn the_clock_begins_where_it_says() {
        assert_eq!(time(START_MS).to_string(), "2026-08-27T14:33:00Z");
    }
}
