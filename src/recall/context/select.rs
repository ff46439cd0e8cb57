//! Who is in, in which order of importance, and why everybody else is out.
//!
//! `cmem` selection: pinned notes; then half the room for the newest work, with no session taking more than a share
//! of it; then what lasts (decisions, warnings, gotchas, notes by hand), fading slowly; then the rest by time; work
//! of helper agents last and only where room is left. One row per finding. Ages are counted from the newest
//! candidate, so the choice does not change with the clock.
//!
//! `recent` selection: what claude-mem gives. The newest notes whose type and at least one concept the mode knows.

use std::collections::{HashMap, HashSet};

use crate::config::ContextSettings;
use crate::memory::Note;
use crate::memory::{Kind, MemoryId, Source, Timestamp};
use crate::mode::Mode;

/// Why a candidate is in or out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// In: pinned by the user.
    Pinned,
    /// In: among the newest.
    Recent,
    /// In: of a kind that outlives its day.
    Lasting(&'static str),
    /// In: there was room.
    Room,
    /// In: it bears on the prompt.
    Near,
    /// Out: more notes than `context.observations` or `context.sessions`.
    Limit,
    /// Out: no room left in `context.max_tokens` or `context.max_bytes`.
    Budget,
    /// Out: not among `context.types`, or in `recent` selection a type the mode does not know.
    Type,
    /// Out: not among `context.concepts`, or in `recent` selection no concept the mode knows.
    Concept,
    /// Out: kept from sessions by the user.
    Excluded,
    /// Out: replaced by another.
    Superseded(MemoryId),
    /// Out: its conversation was rewound away.
    Rewound,
    /// Out: marked sensitive; pin it to give it all the same.
    Sensitive,
    /// Out: a helper agent's step.
    Helper,
    /// Out: another note says the same.
    Same(MemoryId),
    /// Out: prompts are found by search only.
    Prompt,
    /// Out: it does not plainly bear on the prompt.
    Far,
}

impl Reason {
    /// A word for grouping, stable.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Recent => "recent",
            Self::Lasting(_) => "lasting",
            Self::Room => "room",
            Self::Near => "near",
            Self::Limit => "limit",
            Self::Budget => "budget",
            Self::Type => "type",
            Self::Concept => "concept",
            Self::Excluded => "excluded",
            Self::Superseded(_) => "superseded",
            Self::Rewound => "rewound",
            Self::Sensitive => "sensitive",
            Self::Helper => "helper",
            Self::Same(_) => "same",
            Self::Prompt => "prompt",
            Self::Far => "far",
        }
    }

    /// One line for people.
    pub fn sentence(&self) -> String {
        match self {
            Self::Pinned => "pinned by you".into(),
            Self::Recent => "among the newest".into(),
            Self::Lasting(what) => format!("lasting: {what}"),
            Self::Room => "there was room".into(),
            Self::Near => "it bears on the prompt".into(),
            Self::Limit => "beyond the number of notes (context.observations, context.sessions)".into(),
            Self::Budget => "no room left (context.max_tokens, context.max_bytes)".into(),
            Self::Type => "its type is not asked for (context.types)".into(),
            Self::Concept => "none of its concepts is asked for (context.concepts)".into(),
            Self::Excluded => "kept from sessions by you".into(),
            Self::Superseded(by) => format!("replaced by {}", by.0),
            Self::Rewound => "its conversation was rewound".into(),
            Self::Sensitive => "marked sensitive; pin it to give it all the same".into(),
            Self::Helper => "a helper agent's step; search finds it".into(),
            Self::Same(other) => format!("says the same as {}", other.0),
            Self::Prompt => "prompts are found by search only".into(),
            Self::Far => "it does not plainly bear on the prompt".into(),
        }
    }
}

/// What became of one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Row.
    pub id: MemoryId,
    /// Kind.
    pub kind: Kind,
    /// Title as stored.
    pub title: String,
    /// Type id.
    pub type_id: String,
    /// Event time.
    pub created_at: Timestamp,
    /// Why.
    pub reason: Reason,
}

impl Verdict {
    /// The verdict on `note`.
    pub fn new(note: &Note, reason: Reason) -> Self {
        Self {
            id: note.id,
            kind: note.kind,
            title: note.title.clone(),
            type_id: note.type_id.clone(),
            created_at: note.created_at,
            reason,
        }
    }
}

/// A chosen note, with the time it is shown under.
#[derive(Clone, Debug)]
pub(super) struct Chosen<'a> {
    pub note: &'a Note,
    pub reason: Reason,
    pub shown_at: Timestamp,
    /// Told with its text.
    pub detail: Option<&'a str>,
}

/// What `select` found.
pub(super) struct Selection<'a> {
    /// In, most important first.
    pub ranked: Vec<Chosen<'a>>,
    /// All summaries that may be spoken of, newest first, for what is left open.
    pub summaries: Vec<&'a Note>,
    /// Out.
    pub left_out: Vec<Verdict>,
}

/// Chooses among `notes`.
pub(super) fn select<'a>(
    notes: &'a [Note],
    mode: &Mode,
    settings: &ContextSettings,
    warnings: &mut Vec<String>,
) -> Selection<'a> {
    let mut sorted: Vec<&Note> = notes.iter().collect();
    sorted.sort_by(|a, b| Note::newest_first(a, b));
    let mut seen = HashSet::new();
    sorted.retain(|note| seen.insert(note.id));

    let mut left_out = Vec::new();
    let mut observations = Vec::new();
    let mut summaries = Vec::new();
    let wanted = Wanted::new(&sorted, mode, settings, warnings);
    for note in sorted {
        match (note.kind, refused(note, &wanted)) {
            (Kind::Prompt, _) => left_out.push(Verdict::new(note, Reason::Prompt)),
            (_, Some(reason)) => left_out.push(Verdict::new(note, reason)),
            (Kind::Observation, None) => observations.push(note),
            (Kind::Summary, None) => summaries.push(note),
        }
    }

    let limit = settings.observations as usize;
    let mut ranked = if wanted.recent {
        recent(&observations, limit, &mut left_out)
    } else {
        mixed(&observations, limit, &mut left_out)
    };
    let mut newest: Vec<&mut Chosen<'_>> = ranked.iter_mut().collect();
    newest.sort_by(|a, b| Note::newest_first(a.note, b.note));
    for chosen in newest.into_iter().take(settings.full as usize) {
        chosen.detail = chosen.note.detail.as_deref();
    }
    place_summaries(&mut ranked, &summaries, settings, wanted.recent, &mut left_out);
    Selection { ranked, summaries, left_out }
}

/// What the settings ask for, with stale names taken out.
struct Wanted<'a> {
    recent: bool,
    types: Vec<&'a str>,
    concepts: Vec<&'a str>,
    /// `recent` selection: the mode's own lists, as long as they let anything through.
    mode: Option<&'a Mode>,
}

impl<'a> Wanted<'a> {
    fn new(notes: &[&Note], mode: &'a Mode, settings: &'a ContextSettings, warnings: &mut Vec<String>) -> Self {
        let recent = settings.selection == "recent";
        if !recent && settings.selection != "cmem" {
            warnings.push(format!(
                "context.selection is “{}”; it can be “cmem” or “recent”, and “cmem” is used",
                settings.selection
            ));
        }
        // A name that neither the mode nor any candidate knows would silently filter everything away (A127).
        let mut known = |name: &'a String, key: &str, is_known: bool| {
            if !is_known {
                warnings.push(format!("context.{key} names “{name}”, which nothing here has; it is ignored"));
            }
            is_known.then_some(name.as_str())
        };
        let types = settings.types.iter().filter_map(|name| {
            known(name, "types", mode.type_def(name).is_some() || notes.iter().any(|note| note.type_id == *name))
        });
        let types: Vec<&str> = types.collect();
        let concepts = settings.concepts.iter().filter_map(|name| {
            let in_mode = mode.concepts.iter().any(|concept| concept.id == *name);
            known(name, "concepts", in_mode || notes.iter().any(|note| note.concepts.contains(name)))
        });
        let concepts: Vec<&str> = concepts.collect();
        let mut wanted = Self { recent, types, concepts, mode: recent.then_some(mode) };
        let passes =
            |wanted: &Self| notes.iter().any(|note| note.kind == Kind::Observation && refused(note, wanted).is_none());
        let any = notes.iter().any(|note| note.kind == Kind::Observation);
        if any && wanted.mode.is_some() && !passes(&wanted) {
            wanted.mode = None;
        }
        wanted
    }
}

/// Why a note cannot be given at all.
fn refused(note: &Note, wanted: &Wanted<'_>) -> Option<Reason> {
    if note.excluded {
        return Some(Reason::Excluded);
    }
    if note.pinned {
        return None;
    }
    if let Some(by) = note.superseded_by {
        return Some(Reason::Superseded(by));
    }
    if note.abandoned {
        return Some(Reason::Rewound);
    }
    if note.kind == Kind::Summary {
        return None;
    }
    if !wanted.types.is_empty() && !wanted.types.contains(&note.type_id.as_str()) {
        return Some(Reason::Type);
    }
    if !wanted.concepts.is_empty() && !note.concepts.iter().any(|it| wanted.concepts.contains(&it.as_str())) {
        return Some(Reason::Concept);
    }
    if let Some(mode) = wanted.mode.filter(|_| note.source != Source::Manual) {
        if note.wild || mode.type_def(&note.type_id).is_none() {
            return Some(Reason::Type);
        }
        if !note.concepts.iter().any(|it| mode.concepts.iter().any(|concept| concept.id == *it)) {
            return Some(Reason::Concept);
        }
    }
    if !wanted.recent && note.type_id == "sensitive" && !wanted.types.contains(&"sensitive") {
        return Some(Reason::Sensitive);
    }
    None
}

fn recent<'a>(observations: &[&'a Note], limit: usize, left_out: &mut Vec<Verdict>) -> Vec<Chosen<'a>> {
    let mut pinned_first: Vec<&Note> = observations.to_vec();
    pinned_first.sort_by_key(|note| !note.pinned);
    let mut ranked = Vec::new();
    for note in pinned_first {
        if ranked.len() < limit {
            let reason = if note.pinned { Reason::Pinned } else { Reason::Recent };
            ranked.push(Chosen { note, reason, shown_at: note.created_at, detail: None });
        } else {
            left_out.push(Verdict::new(note, Reason::Limit));
        }
    }
    ranked
}

fn mixed<'a>(observations: &[&'a Note], limit: usize, left_out: &mut Vec<Verdict>) -> Vec<Chosen<'a>> {
    let observations = one_row_per_finding(observations, left_out);
    let Some(newest) = observations.first().map(|note| note.created_at) else { return Vec::new() };
    let mut ranked: Vec<Chosen<'a>> = Vec::with_capacity(limit);
    let mut taken: HashSet<MemoryId> = HashSet::new();
    let mut take = |note: &'a Note, reason: Reason, ranked: &mut Vec<Chosen<'a>>| {
        if taken.insert(note.id) {
            ranked.push(Chosen { note, reason, shown_at: note.created_at, detail: None });
        }
    };

    for note in observations.iter().filter(|note| note.pinned) {
        take(note, Reason::Pinned, &mut ranked);
    }
    let main: Vec<&Note> = observations.iter().copied().filter(|note| !note.helper && !note.pinned).collect();
    let helpers: Vec<&Note> = observations.iter().copied().filter(|note| note.helper && !note.pinned).collect();
    let room = limit.saturating_sub(ranked.len());

    // The newest work. A session may fill a third of the whole, so that one busy afternoon does not fill it all.
    let of_session_at_most = (limit / 3).max(3);
    let mut of_session: HashMap<&str, usize> = HashMap::new();
    let floor = ranked.len() + room.div_ceil(2);
    for note in &main {
        let count = of_session.entry(note.session.as_str()).or_default();
        if ranked.len() < floor && (*count < of_session_at_most || note.session.is_empty()) {
            *count += 1;
            take(note, Reason::Recent, &mut ranked);
        }
    }

    // What lasts, fading by half in four months.
    let mut lasting: Vec<(f64, &Note, &'static str)> = Vec::new();
    for note in &main {
        if let Some((weight, what)) = lasts(note) {
            let days = newest.duration_since(note.created_at).as_secs_f64() / 86_400.0;
            lasting.push((weight * 0.5_f64.powf(days / 120.0), note, what));
        }
    }
    lasting.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| Note::newest_first(a.1, b.1)));
    let floor = limit.max(ranked.len());
    for (_, note, what) in lasting {
        if ranked.len() < floor {
            take(note, Reason::Lasting(what), &mut ranked);
        }
    }
    for note in &main {
        if ranked.len() < floor {
            take(note, Reason::Room, &mut ranked);
        }
    }
    let floor = floor.min(ranked.len() + limit.div_ceil(4));
    for (note, lasting) in helpers
        .iter()
        .map(|n| (n, lasts(n).is_some()))
        .filter(|(_, lasting)| *lasting)
        .chain(helpers.iter().map(|n| (n, false)))
    {
        if ranked.len() < floor {
            take(note, if lasting { Reason::Lasting("helper's finding") } else { Reason::Room }, &mut ranked);
        }
    }
    for note in &observations {
        if !taken.contains(&note.id) {
            let full = ranked.len() >= limit;
            let reason = if note.helper && !full { Reason::Helper } else { Reason::Limit };
            left_out.push(Verdict::new(note, reason));
        }
    }
    ranked
}

/// How much of a note outlives its day, and by what.
fn lasts(note: &Note) -> Option<(f64, &'static str)> {
    let has = |concept: &str| note.concepts.iter().any(|it| it == concept);
    if note.source == Source::Manual {
        return Some((1.2, "written by hand"));
    }
    match note.type_id.as_str() {
        "decision" => Some((1.0, "decision")),
        "security_alert" => Some((1.0, "security alert")),
        _ if has("gotcha") => Some((0.9, "gotcha")),
        _ if has("trade-off") => Some((0.8, "trade-off")),
        "security_note" => Some((0.6, "security note")),
        _ if has("why-it-exists") => Some((0.5, "why it exists")),
        _ => None,
    }
}

fn one_row_per_finding<'a>(observations: &[&'a Note], left_out: &mut Vec<Verdict>) -> Vec<&'a Note> {
    let keys: Vec<String> = observations.iter().map(|note| finding(&note.title)).collect();
    // The newest row of a finding stands for it, unless another is pinned.
    let mut kept: HashMap<&str, &Note> = HashMap::with_capacity(observations.len());
    for (note, key) in observations.iter().zip(&keys) {
        let known = kept.entry(key.as_str()).or_insert(note);
        if note.pinned && !known.pinned {
            *known = note;
        }
    }
    let mut out = Vec::with_capacity(observations.len());
    for (note, key) in observations.iter().zip(&keys) {
        match kept.get(key.as_str()) {
            Some(other) if other.id != note.id && !key.is_empty() => {
                left_out.push(Verdict::new(note, Reason::Same(other.id)));
            }
            _ => out.push(*note),
        }
    }
    out
}

/// The words of a title, whatever their case and punctuation.
fn finding(title: &str) -> String {
    let mut out = String::with_capacity(title.len());
    for word in title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        out.extend(word.chars().flat_map(char::to_lowercase));
        out.push(' ');
    }
    out
}

fn place_summaries<'a>(
    ranked: &mut Vec<Chosen<'a>>,
    summaries: &[&'a Note],
    settings: &ContextSettings,
    recent: bool,
    left_out: &mut Vec<Verdict>,
) {
    let limit = settings.sessions as usize;
    let mut lines = Vec::new();
    for (at, note) in summaries.iter().enumerate() {
        if at >= limit {
            left_out.push(Verdict::new(note, Reason::Limit));
            continue;
        }
        // claude-mem shows a summary at the time of the one before it, which is about when its session began.
        let shown_at = summaries.get(at + 1).filter(|_| recent && at > 0 && at < limit);
        let shown_at = shown_at.map_or(note.created_at, |before| before.created_at);
        let reason = if note.pinned { Reason::Pinned } else { Reason::Recent };
        lines.push(Chosen { note, reason, shown_at, detail: None });
    }
    // The newest summary right behind what is pinned; of the others one for every four notes.
    let pinned = ranked.iter().take_while(|chosen| chosen.reason == Reason::Pinned).count();
    for (at, line) in lines.into_iter().enumerate() {
        let position = (pinned + at * 5).min(ranked.len());
        ranked.insert(position, line);
    }
}
