//! Meaning vectors: one a memory, as signed bytes with a scale, beside the name and size of the model that made
//! them. Vectors of another model are neither shown nor an error (A111); rows that lack one can be asked for and
//! filled in behind, so that embedding never delays a write.

use rusqlite::OptionalExtension;

use super::Store;
use super::error::Result;
use super::rows::write_tx;
use crate::memory::MemoryId;

/// A vector of one memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// Memory.
    pub id: MemoryId,
    /// What the bytes are multiplied with.
    pub scale: f32,
    /// One signed byte a dimension.
    pub data: Vec<i8>,
}

/// How far the vectors of a model have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VectorCounts {
    /// Memories with a vector of the model.
    pub have: u64,
    /// Memories without one, to be made.
    pub pending: u64,
    /// Vectors of other models, ignored.
    pub other: u64,
}

impl Store {
    /// Keeps vectors. One of another model is replaced; a memory that is gone meanwhile is passed over.
    pub fn put_vectors(&mut self, model: &str, dim: usize, vectors: &[Vector]) -> Result<u64> {
        let tx = write_tx(&mut self.conn)?;
        tx.prepare_cached("INSERT INTO vector_model (name, dim) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute((model, dim as i64))?;
        let model: i64 = tx
            .prepare_cached("SELECT id FROM vector_model WHERE name = ?1 AND dim = ?2")?
            .query_row((model, dim as i64), |row| row.get(0))?;
        let mut kept = 0;
        {
            let mut put = tx.prepare_cached(
                "INSERT INTO vector (memory, model, scale, data) SELECT ?1, ?2, ?3, ?4 \
                 WHERE EXISTS (SELECT 1 FROM memory WHERE id = ?1) \
                 ON CONFLICT (memory) DO UPDATE SET model = excluded.model, scale = excluded.scale, data = excluded.data",
            )?;
            for vector in vectors.iter().filter(|it| it.data.len() == dim) {
                let bytes: Vec<u8> = vector.data.iter().map(|&it| it as u8).collect();
                kept += put.execute((vector.id.0, model, f64::from(vector.scale), bytes))? as u64;
            }
        }
        tx.commit()?;
        Ok(kept)
    }

    fn model_id(&self, model: &str, dim: usize) -> Result<i64> {
        let found: Option<i64> = self
            .conn
            .prepare_cached("SELECT id FROM vector_model WHERE name = ?1 AND dim = ?2")?
            .query_row((model, dim as i64), |row| row.get(0))
            .optional()?;
        Ok(found.unwrap_or(0))
    }

    /// The length of a model's vectors: the newest that any were kept with.
    pub fn vector_dim(&self, model: &str) -> Result<Option<usize>> {
        let found: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT dim FROM vector_model vm WHERE name = ?1 \
                 AND EXISTS (SELECT 1 FROM vector v WHERE v.model = vm.id) ORDER BY id DESC LIMIT 1",
            )?
            .query_row([model], |row| row.get(0))
            .optional()?;
        Ok(found.and_then(|dim| usize::try_from(dim).ok()))
    }

    /// Hands out every vector of a model: memory, scale, bytes. A damaged one is passed over.
    pub fn vectors(&self, model: &str, dim: usize, each: &mut dyn FnMut(MemoryId, f32, &[u8])) -> Result<()> {
        let model = self.model_id(model, dim)?;
        let mut query = self.conn.prepare_cached("SELECT memory, scale, data FROM vector WHERE model = ?1")?;
        let mut rows = query.query([model])?;
        while let Some(row) = rows.next()? {
            let Ok(data) = row.get_ref(2)?.as_blob().map_err(|_| ()) else { continue };
            if data.len() == dim {
                each(MemoryId(row.get(0)?), row.get::<_, f64>(1)? as f32, data);
            }
        }
        Ok(())
    }

    /// Memories without a vector of the model, newest first, at most `limit`.
    pub fn lacking_vectors(&self, model: &str, dim: usize, limit: usize) -> Result<Vec<MemoryId>> {
        let model = self.model_id(model, dim)?;
        let mut query = self.conn.prepare_cached(
            "SELECT m.id FROM memory m WHERE NOT EXISTS (SELECT 1 FROM vector v WHERE v.memory = m.id AND v.model = ?1) \
             ORDER BY m.id DESC LIMIT ?2",
        )?;
        let rows = query.query_map((model, limit as i64), |row| Ok(MemoryId(row.get(0)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How far the vectors of a model have come.
    pub fn vector_counts(&self, model: &str, dim: usize) -> Result<VectorCounts> {
        let model = self.model_id(model, dim)?;
        let (all, have, vectors): (i64, i64, i64) = self.conn.query_row(
            "SELECT (SELECT count(*) FROM memory), (SELECT count(*) FROM vector WHERE model = ?1), \
             (SELECT count(*) FROM vector)",
            [model],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let count = |n: i64| n.max(0) as u64;
        Ok(VectorCounts { have: count(have), pending: count(all - have), other: count(vectors - have) })
    }
}
