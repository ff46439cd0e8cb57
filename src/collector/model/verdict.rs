//! A settled batch through gate 5: memories with evidence, an outcome for each event, the row of its call.

use std::borrow::Cow;
use std::collections::HashSet;

use super::OLDER;
use crate::collector::input::has_outcome;
use crate::collector::judge::{Decided, Verdict, origin_of};
use crate::gate::correct::{TITLE_MAX, correct, cut};
use crate::memory::{EventKey, Kind, NewMemory, Source, Summary, Timestamp, safe_line, safe_text};
use crate::mode::Mode;
use crate::observer::machine::{Call, Settled};
use crate::observer::outcome::Final;
use crate::store::api::{CallRow, Outcome};

/// A settled batch through gate 5.
pub fn verdict(settled: Settled, mode: &Mode, now: Timestamp) -> Verdict {
    let Settled { batch, drafts, summary, finals, call, .. } = settled;
    let source = if call.is_some() { Source::Observer } else { Source::Offline };
    let mut origin = origin_of(&batch, source, now);
    if let Some(call) = &call {
        origin.model = Some(call.model.clone());
        let tokens = call.usage.input + call.usage.cached + call.usage.output;
        origin.work_tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    }
    let mut memories = correct(drafts, &batch.events, &origin, mode);
    let marks: HashSet<&EventKey> =
        batch.events.iter().filter(|event| !has_outcome(&event.body)).map(|event| &event.key).collect();
    for memory in &mut memories {
        memory.keys.retain(|key| !marks.contains(key));
    }
    let rests_on: HashSet<EventKey> = memories.iter().flat_map(|memory| memory.keys.iter().cloned()).collect();
    if let Some((summary, by)) = summary {
        let keys = finals
            .iter()
            .filter(|(key, fate)| *fate == Final::Stored && !rests_on.contains(key) && !marks.contains(key))
            .map(|(key, _)| key.clone())
            .collect();
        let by = if by == Source::Observer && call.is_none() { Source::Offline } else { by };
        memories.push(summary_memory(summary, by, keys, &origin));
    }
    let rests_on: HashSet<&EventKey> = memories.iter().flat_map(|memory| &memory.keys).collect();
    let decided = finals
        .into_iter()
        .filter(|(key, _)| !marks.contains(key))
        .map(|(key, fate)| {
            let (outcome, gate, reason): (Outcome, u8, Cow<'static, str>) = match fate {
                Final::Stored if rests_on.contains(&key) => (Outcome::Stored, 5, "stored".into()),
                // Gate 5 refused what was made of it.
                Final::Stored => (Outcome::Skipped, 5, "empty-record".into()),
                Final::Skipped(reason) => (Outcome::Skipped, if reason == "no-work" { 1 } else { 3 }, reason.into()),
                Final::Quarantined(reason) => (Outcome::Quarantined, 4, reason.into()),
            };
            Decided { key, outcome, gate, reason }
        })
        .collect();
    Verdict { decided, memories, call: call.as_ref().map(call_row) }
}

fn summary_memory(
    summary: Summary,
    source: Source,
    keys: Vec<EventKey>,
    origin: &crate::gate::correct::Origin,
) -> NewMemory {
    let clean = |text: String| safe_text(text.trim());
    let summary = Summary {
        request: clean(summary.request),
        investigated: clean(summary.investigated),
        learned: clean(summary.learned),
        completed: clean(summary.completed),
        next_steps: clean(summary.next_steps),
        notes: clean(summary.notes),
    };
    let parts = [&summary.request, &summary.completed, &summary.learned, &summary.investigated, &summary.notes];
    let title =
        parts.into_iter().find(|it| !it.is_empty()).map(|it| cut(&safe_line(it), TITLE_MAX)).unwrap_or_default();
    NewMemory {
        kind: Kind::Summary,
        type_id: "summary".into(),
        title,
        project: origin.project.clone(),
        cwd: origin.cwd.clone(),
        branch: origin.branch.clone(),
        agent: None,
        session: origin.session.clone(),
        prompt_number: origin.prompt_number,
        created_at: origin.time,
        source,
        model: if source == Source::Observer { origin.model.clone() } else { None },
        summary: Some(summary),
        keys,
        ..NewMemory::default()
    }
}

pub(in crate::collector) fn call_row(call: &Call) -> CallRow {
    CallRow {
        run: i64::try_from(call.run.0).unwrap_or(i64::MAX),
        session: call.session.as_str().trim_end_matches(OLDER).to_owned(),
        project_root: call.project_root.clone(),
        provider: call.provider.clone(),
        model: call.model.clone(),
        outcome: call.outcome.word().to_owned(),
        reason: call.reason.clone(),
        input_tokens: call.usage.input,
        cached_tokens: call.usage.cached,
        output_tokens: call.usage.output,
        cost: call.cost,
        millis: call.usage.millis,
    }
}
