//! Notes by hand, merging memories into one, and finding those that look alike.

use std::collections::HashMap;

use rusqlite::OptionalExtension;
use serde::Serialize;

use super::super::api::Filter;
use super::super::error::{Result, StoreError};
use super::super::rows::{self, write_tx};
use super::super::terms::words_of;
use super::super::{Store, pack, record};
use super::edit::{self, Edit};
use super::journal::{self, What};
use super::{Done, Who, label_of, trash};
use crate::memory::{MemoryId, NewMemory, Source, millis};

/// Memories that look like one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// Oldest first.
    pub ids: Vec<MemoryId>,
}

impl Store {
    /// Remembers by hand: one step. Words that are there already give the row that has them and no step.
    pub fn add(&mut self, memory: &NewMemory, who: Who<'_>) -> Result<(MemoryId, Option<i64>)> {
        if memory.title.trim().is_empty() && memory.narrative.trim().is_empty() {
            return Err(StoreError::Refused("there is nothing to remember: give it a text".into()));
        }
        let tx = write_tx(&mut self.conn)?;
        let step = journal::begin(&tx, who, "add", "")?;
        let now_ms = millis(who.now);
        let mut events = Vec::with_capacity(memory.keys.len());
        for key in &memory.keys {
            events.push(record::event_for(&tx, key, memory, now_ms)?);
        }
        // A tombstone that gives way to a person's own words is set again when this is undone.
        let hash = rows::Image::of_new(memory, 0, 0, 0, 0).hash;
        let tombstone: Option<String> = tx
            .query_row(
                "SELECT json_object('hash', lower(hex(hash)), 'memory', memory, 'at_ms', at_ms) FROM tombstone WHERE hash = ?1",
                [&hash],
                |row| row.get(0),
            )
            .optional()?;
        let (id, new) =
            record::put_memory(&tx, &NewMemory { source: Source::Manual, ..memory.clone() }, &events, now_ms)?;
        let Some(id) = id else { return Err(StoreError::Refused("this was deleted and stays deleted".into())) };
        if !new {
            return Ok((MemoryId(id), None));
        }
        for event in events {
            record::link(&tx, event, &[id])?;
        }
        journal::note(&tx, step, What::Add, id, tombstone.as_deref().unwrap_or(""), "")?;
        tx.execute("UPDATE step SET label = ?2 WHERE id = ?1", (step, format!("#{id}")))?;
        tx.commit()?;
        Ok((MemoryId(id), Some(step)))
    }

    /// Makes one memory of several: `winner` stays and takes the fields chosen in `edit`, with the events of all; the
    /// others go to the trash, marked as merged. One step.
    pub fn merge(&mut self, winner: MemoryId, losers: &[MemoryId], edit: &Edit, who: Who<'_>) -> Result<Done> {
        let losers: Vec<MemoryId> = losers.iter().copied().filter(|id| *id != winner).collect();
        if losers.is_empty() {
            return Err(StoreError::Refused("merging takes two memories or more".into()));
        }
        let tx = write_tx(&mut self.conn)?;
        let mut all = vec![winner];
        all.extend(&losers);
        let step = journal::begin(&tx, who, "merge", &label_of(&all))?;
        let not_found = |id: MemoryId| StoreError::NotFound(format!("memory #{}", id.0));
        let old = rows::load(&tx, winner.0)?.ok_or_else(|| not_found(winner))?;
        let mut events = pack::unpack_ids(&old.events);
        let mut done = Done { step: Some(step), ..Done::default() };
        for &id in &losers {
            let loser = rows::load(&tx, id.0)?.ok_or_else(|| not_found(id))?;
            events.extend(pack::unpack_ids(&loser.events));
            done.rows += trash::put_noted(&tx, step, id.0, who, winner.0)?.unwrap_or(0);
        }
        if *edit != Edit::default() {
            edit::apply_noted(&tx, step, winner.0, edit)?;
        }
        // As it is now: trashing a row that was folded into it has changed its count.
        let old = rows::load(&tx, winner.0)?.ok_or_else(|| not_found(winner))?;
        let new = rows::Image { events: pack::pack_ids(&events), edited: true, ..old.clone() };
        edit::replace_noted(&tx, step, &old, &new)?;
        for &event in &events {
            record::link(&tx, event, &[winner.0])?;
        }
        done.rows += 1;
        tx.commit()?;
        Ok(done)
    }

    /// Memories of a filter that look alike: nearly the same words in their titles, in the same project. Looks at the
    /// newest 5,000.
    pub fn duplicates(&self, filter: &Filter) -> Result<Vec<Cluster>> {
        let images = self.list_images(filter, super::super::Order::Newest, None, 5_000)?;
        let words: Vec<Vec<String>> = images
            .iter()
            .map(|image| {
                let mut words: Vec<String> =
                    words_of(&image.title).into_iter().map(|word| word.to_lowercase()).collect();
                words.sort();
                words.dedup();
                words
            })
            .collect();
        // Only titles that share a word are compared, and of its words only the rare ones lead to others.
        let mut rows_with: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, words) in words.iter().enumerate() {
            words.iter().for_each(|word| rows_with.entry(word).or_default().push(at));
        }
        let mut cluster: Vec<usize> = (0..images.len()).collect();
        fn root(cluster: &mut [usize], mut at: usize) -> usize {
            while cluster[at] != at {
                cluster[at] = cluster[cluster[at]];
                at = cluster[at];
            }
            at
        }
        for (at, mine) in words.iter().enumerate() {
            if mine.len() < 3 {
                continue;
            }
            let mut by_rarity: Vec<&String> = mine.iter().collect();
            by_rarity.sort_by_key(|word| rows_with[word.as_str()].len());
            // With an overlap of 0.8, one of any fifth of the words (and one more) is shared.
            let leads = mine.len() / 5 + 1;
            for word in by_rarity.into_iter().take(leads) {
                for &other in rows_with[word.as_str()].iter().take_while(|&&other| other < at) {
                    if images[at].project == images[other].project && images[at].kind == images[other].kind {
                        let shared = mine.iter().filter(|word| words[other].binary_search(word).is_ok()).count();
                        let all = mine.len() + words[other].len() - shared;
                        if shared * 5 >= all * 4 {
                            let (a, b) = (root(&mut cluster, at), root(&mut cluster, other));
                            cluster[a.max(b)] = a.min(b);
                        }
                    }
                }
            }
        }
        let mut found: HashMap<usize, Vec<MemoryId>> = HashMap::new();
        for (at, image) in images.iter().enumerate() {
            found.entry(root(&mut cluster, at)).or_default().push(MemoryId(image.id));
        }
        let mut clusters: Vec<Cluster> = found
            .into_values()
            .filter(|ids| ids.len() > 1)
            .map(|mut ids| {
                ids.sort();
                Cluster { ids }
            })
            .collect();
        clusters.sort_by(|a, b| b.ids.last().cmp(&a.ids.last()));
        Ok(clusters)
    }
}
