//! The observer without a model: rules that turn a finished turn into at most one account of the work and one of
//! the user's decisions.
//!
//! Pure, deterministic, no cost. It reads whole turns ([`turn`]): what the user said, what the tools did ([`work`]),
//! what the agent answered ([`prose`]). From these it judges whether the turn is worth remembering and what kind of
//! memory it makes ([`judge`]), and tells it in the user's and the agent's own words ([`tell`], [`title`], [`facts`],
//! [`decision`]), with connecting words in their language ([`phrases`]). [`summary`] does the same for a span of turns.
//!
//! It never claims more than was seen: an interrupted turn says so, a failing test is named, files are counted by
//! evidence. Its rows are marked `offline`, so that a model can take them up later. Absent from it: guesses about
//! code it has not seen, and any text that is in neither the prompt, nor the answers, nor the results.

mod cues;
mod decision;
mod facts;
mod judge;
mod manners;
mod outcome_lines;
mod phrases;
mod prose;
mod purpose;
mod request;
mod sentence;
mod summary;
mod tell;
mod title;
mod turn;
mod work;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod tests;

use crate::memory::Draft;
use crate::mode::Mode;

use super::batch::Batch;

pub use summary::{fallback_summary, summarise};

/// What is worth remembering in `batch`. Best given whole turns: a turn that is cut into several batches is told
/// piece by piece.
///
/// Each draft cites every event it rests on. No draft means the batch is routine.
pub fn observe(batch: &Batch, mode: &Mode) -> Vec<Draft> {
    turn::split(batch)
        .iter()
        .flat_map(|turn| {
            let work = work::digest(turn, batch);
            let verdict = judge::judge(turn, &work);
            tell::drafts(turn, &work, &verdict, mode)
        })
        .collect()
}
