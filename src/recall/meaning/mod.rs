//! Finding by meaning, inside the binary: no service, no download, no other program.
//!
//! [`Encoder`] turns a text into a vector (two small nets and a word list of our own, see `MODEL.md` for their origin
//! and licences), [`Index`] holds all vectors and scans them, [`Meaning`] is both behind the seam that search asks
//! ([`Nearest`]). Vectors are made behind the writes ([`fill`]), kept with the model's name, and made anew when it
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

use crate::memory::{Memory, MemoryId};
use crate::store::Store;
use crate::store::vectors::{Vector, VectorCounts};

use super::find::Nearest;

pub use encoder::{DIM, Encoder, MODEL, Question};
pub use index::Index;

/// Likeness from which two texts may be called related. Strangers rarely come above it.
const RELATED: f32 = 0.38;
/// Characters of a memory that are read.
const READ: usize = 600;

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
}

/// The nets, read once a process.
fn encoder() -> Option<&'static Encoder> {
    static ENCODER: OnceLock<Option<Encoder>> = OnceLock::new();
    ENCODER.get_or_init(Encoder::builtin).as_ref()
}

/// Makes vectors for at most `limit` memories that lack one, newest first, and keeps them. Returns how many were made;
/// 0 means that nothing is left. Meant to be called behind the writes, a few at a time.
pub fn fill(store: &mut Store, limit: usize) -> crate::store::Result<usize> {
    let ids = store.lacking_vectors(MODEL, DIM, limit)?;
    if ids.is_empty() {
        return Ok(0);
    }
    let Some(encoder) = encoder() else { return Ok(0) };
    let memories = store.get(&ids)?;
    let vectors: Vec<Vector> = memories
        .iter()
        .map(|memory| Vector { id: memory.id, scale: 1.0, data: encoder.encode(&text_of(memory)) })
        .collect();
    store.put_vectors(MODEL, DIM, &vectors)?;
    Ok(vectors.len())
}

/// How far the vectors have come.
pub fn progress(store: &Store) -> crate::store::Result<VectorCounts> {
    store.vector_counts(MODEL, DIM)
}

/// What of a memory is compared with a question: title first, since the nets read only a beginning.
pub fn text_of(memory: &Memory) -> String {
    let mut text = memory.title.clone();
    let more = [memory.subtitle.as_str()]
        .into_iter()
        .chain(memory.facts.iter().map(String::as_str))
        .chain([memory.narrative.as_str()]);
    for part in more.filter(|part| !part.is_empty()) {
        if text.len() >= READ {
            break;
        }
        text.push_str(". ");
        text.push_str(crate::memory::clip_chars(part, READ));
    }
    text
}
