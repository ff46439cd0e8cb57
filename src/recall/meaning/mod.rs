//! Finding by meaning, inside the binary: no service, no download, no other program.
//!
//! [`Encoder`] turns a text into a vector (two small nets and a word list of our own, see `MODEL.md` for their origin
//! and licences), [`Index`] holds all vectors and scans them, [`Meaning`] is both behind the seam that search asks
//! ([`Nearest`]). Vectors are made behind the writes ([`Nearest::fill`]), kept with the model's name, and made anew when it
//! changes. Nothing is unpacked before the first question.

mod encoder;
mod english;
mod index;
mod multilingual;
mod multiply;
mod pieces;
mod thesaurus;
mod weights;
mod wordpieces;

#[cfg(test)]
mod tests;

use std::sync::{Mutex, OnceLock};

use crate::memory::MemoryId;
use crate::store::Store;
use crate::store::vectors::Vector;

use super::find::Nearest;
use super::nearest::text_of;

pub use encoder::{DIM, Encoder, MODEL, Question};
pub use index::Index;

/// Likeness from which two texts may be called related. Strangers rarely come above it.
const RELATED: f32 = 0.38;

/// Search by meaning with the nets that are compiled in. Cheap to make: nets and vectors are read with the first
/// question, vectors again when the database has changed.
#[derive(Debug, Default)]
pub struct Meaning {
    index: Mutex<Option<(i64, u64, Index)>>,
}

impl Meaning {
    /// With the built-in model.
    pub fn builtin() -> Self {
        Self::default()
    }
}

impl Nearest for Meaning {
    fn nearest(&self, store: &Store, text: &str, limit: usize) -> Result<Vec<(MemoryId, f32)>, String> {
        let encoder = encoder().ok_or("the built-in model is damaged")?;
        let plain = |error: crate::store::StoreError| error.to_string();
        let version = store.data_version().map_err(plain)?;
        let have = store.vector_counts(MODEL, DIM).map_err(plain)?.have;
        let mut held = self.index.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if held.as_ref().is_none_or(|(at, count, _)| (*at, *count) != (version, have)) {
            *held = Some((version, have, Index::load(store).map_err(plain)?));
        }
        let Some((_, _, index)) = held.as_ref().filter(|(_, _, index)| !index.is_empty()) else {
            return Err("no memory has a vector yet".into());
        };
        Ok(index.nearest(&encoder.question(text), limit))
    }

    fn threshold(&self) -> f32 {
        RELATED
    }

    fn pending(&self, store: &Store) -> u64 {
        store.vector_counts(MODEL, DIM).map_or(0, |counts| counts.pending)
    }

    fn fill(&self, store: &mut Store, limit: usize) -> Result<usize, String> {
        let plain = |error: crate::store::StoreError| error.to_string();
        let ids = store.lacking_vectors(MODEL, DIM, limit).map_err(plain)?;
        if ids.is_empty() {
            return Ok(0);
        }
        let encoder = encoder().ok_or("the built-in model is damaged")?;
        let memories = store.get(&ids).map_err(plain)?;
        let vectors: Vec<Vector> = memories
            .iter()
            .map(|memory| Vector { id: memory.id, scale: 1.0, data: encoder.encode(&text_of(memory)) })
            .collect();
        store.put_vectors(MODEL, DIM, &vectors).map_err(plain)?;
        Ok(vectors.len())
    }

    fn is_slow(&self) -> bool {
        cfg!(debug_assertions)
    }
}

/// The nets, read once a process.
fn encoder() -> Option<&'static Encoder> {
    static ENCODER: OnceLock<Option<Encoder>> = OnceLock::new();
    ENCODER.get_or_init(Encoder::builtin).as_ref()
}
