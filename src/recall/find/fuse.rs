//! Rankings joined by reciprocal rank: what stands high in several stands highest, and no score of one engine has to
//! be comparable with another's.

use std::collections::HashMap;

use crate::memory::MemoryId;

use super::Item;

/// Dampens the head of each ranking; the usual constant.
const K: f64 = 60.0;

/// Joins rankings, each with a weight. At equal scores the newer memory stands first.
pub fn fuse(rankings: Vec<(f64, Vec<Item>)>) -> Vec<Item> {
    let mut joined: HashMap<MemoryId, Item> = HashMap::new();
    for (weight, ranking) in rankings {
        for (rank, item) in ranking.into_iter().enumerate() {
            let score = weight / (K + rank as f64 + 1.0);
            match joined.get_mut(&item.memory.id) {
                Some(known) => {
                    known.score += score;
                    for engine in item.why {
                        if !known.why.contains(&engine) {
                            known.why.push(engine);
                        }
                    }
                }
                None => drop(joined.insert(item.memory.id, Item { score, ..item })),
            }
        }
    }
    let mut items: Vec<Item> = joined.into_values().collect();
    items.sort_by(|a, b| {
        let newer = (b.memory.created_at, b.memory.id).cmp(&(a.memory.created_at, a.memory.id));
        b.score.total_cmp(&a.score).then(newer)
    });
    items
}
