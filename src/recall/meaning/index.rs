//! All vectors of a database in memory, read once, scanned whole: at a hundred thousand memories faster than any
//! index would be, and never wrong.

use crate::memory::MemoryId;
use crate::store::Store;

use super::encoder::{DIM, MODEL, Question};

/// Vectors, one behind the other.
#[derive(Debug, Default)]
pub struct Index {
    ids: Vec<MemoryId>,
    data: Vec<i8>,
}

impl Index {
    /// Reads every vector of this build's model. Vectors of another model or length are passed over (A111).
    pub fn load(store: &Store) -> crate::store::Result<Self> {
        let mut index = Self::default();
        store.vectors(MODEL, DIM, &mut |id, _, bytes| index.push(id, bytes.iter().map(|byte| *byte as i8)))?;
        Ok(index)
    }

    /// Adds one.
    pub fn push(&mut self, id: MemoryId, vector: impl IntoIterator<Item = i8>) {
        self.ids.push(id);
        self.data.extend(vector);
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The nearest `limit`, nearest first; equal ones newest first.
    pub fn nearest(&self, question: &Question, limit: usize) -> Vec<(MemoryId, f32)> {
        let mut all: Vec<(MemoryId, f32)> = self
            .ids
            .iter()
            .zip(self.data.chunks_exact(DIM))
            .map(|(id, vector)| (*id, question.likeness(vector)))
            .collect();
        let order = |a: &(MemoryId, f32), b: &(MemoryId, f32)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
        if all.len() > limit && limit > 0 {
            all.select_nth_unstable_by(limit - 1, order);
            all.truncate(limit);
        }
        all.sort_unstable_by(order);
        all.truncate(limit);
        all
    }
}
