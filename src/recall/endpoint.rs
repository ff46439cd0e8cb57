//! Meaning from an embeddings service of the user's choice: OpenAI-style (`…/v1/embeddings`) or Ollama (`…/api/embed`).
//!
//! Only used when `meaning.model` is an address: the texts of memories and of questions go there. Vectors are kept as
//! the built-in ones are, under the name of address and model and with their length, so that another model's are never
//! compared with them (A111). The one place of this floor that opens a connection.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::{Env, MeaningSettings};
use crate::memory::MemoryId;
use crate::store::Store;
use crate::store::vectors::Vector;

use super::find::Nearest;
use super::nearest::text_of;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Largest answer.
const ANSWER_MAX: u64 = 64 << 20;
/// Likeness from which texts may be called related. Models differ; most put related texts above it.
const RELATED: f32 = 0.4;

/// A service and what was read of its vectors.
pub struct Endpoint {
    url: String,
    ollama: bool,
    model: String,
    key_env: String,
    agent: ureq::Agent,
    held: Mutex<Option<Held>>,
}

/// Vectors of this service's model, as the database had them.
struct Held {
    version: i64,
    have: u64,
    dim: usize,
    ids: Vec<MemoryId>,
    data: Vec<i8>,
}

impl Endpoint {
    /// Nothing is opened yet.
    pub fn new(settings: &MeaningSettings) -> Self {
        let url = settings.model.trim().trim_end_matches('/').to_owned();
        let ollama = url.contains("/api/embed");
        let url = if ollama || url.ends_with("/embeddings") { url } else { format!("{url}/embeddings") };
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .max_redirects(0) // a key is never carried elsewhere
            .build()
            .into();
        Self {
            url,
            ollama,
            model: settings.name.clone(),
            key_env: settings.key_env.clone(),
            agent,
            held: Mutex::new(None),
        }
    }

    /// Under which name vectors are kept.
    fn name(&self) -> String {
        format!("{} {}", self.url, self.model)
    }

    /// The vectors of some texts, each of length one.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let body = json!({ "model": self.model, "input": texts }).to_string();
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        if !self.key_env.is_empty()
            && let Some(key) = Env::process().get(&self.key_env)
        {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        // What went wrong is said without the address: it may hold a key.
        let mut response = request.send(&body).map_err(|_| "the embeddings service does not answer".to_owned())?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(format!("the embeddings service answers {status}"));
        }
        let text = response.body_mut().with_config().limit(ANSWER_MAX).read_to_string();
        let answer: Value = text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let vectors = read(&answer, self.ollama).filter(|vectors| vectors.len() == texts.len());
        vectors.ok_or_else(|| "the embeddings service answers something else".to_owned())
    }

    /// The length of this model's vectors, if any were kept.
    fn known_dim(&self, store: &Store) -> Result<Option<usize>, String> {
        store.vector_dim(&self.name()).map_err(|err| err.to_string())
    }
}

/// The vectors of an answer, brought to length one.
fn read(answer: &Value, ollama: bool) -> Option<Vec<Vec<f32>>> {
    let rows: Vec<&Value> = if ollama {
        answer["embeddings"].as_array()?.iter().collect()
    } else {
        let mut rows: Vec<&Value> = answer["data"].as_array()?.iter().collect();
        rows.sort_by_key(|row| row["index"].as_u64().unwrap_or(0));
        rows.into_iter().map(|row| &row["embedding"]).collect()
    };
    let length = rows.first().and_then(|row| row.as_array()).map_or(0, Vec::len);
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        let numbers = row.as_array().filter(|numbers| numbers.len() == length && length > 0)?.iter();
        let mut vector: Vec<f32> = numbers.map(|number| number.as_f64().unwrap_or(0.0) as f32).collect();
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if norm.is_finite() && norm > 0.0 {
            vector.iter_mut().for_each(|x| *x /= norm);
        }
        out.push(vector);
    }
    Some(out)
}

/// One signed byte a dimension; what they are to be multiplied with comes second.
fn quantised(vector: &[f32]) -> (Vec<i8>, f32) {
    let most = vector.iter().fold(0.0f32, |most, x| most.max(x.abs()));
    let scale = if most > 0.0 { most / 127.0 } else { 1.0 };
    (vector.iter().map(|x| (x / scale).round().clamp(-127.0, 127.0) as i8).collect(), scale)
}

impl Nearest for Endpoint {
    fn nearest(&self, store: &Store, text: &str, limit: usize) -> Result<Vec<(MemoryId, f32)>, String> {
        let plain = |err: crate::store::StoreError| err.to_string();
        let Some(dim) = self.known_dim(store)? else { return Err("no memory has a vector yet".into()) };
        let question = self.embed(&[text.to_owned()])?.pop().unwrap_or_default();
        if question.len() != dim {
            return Err("the embeddings service has changed; vectors are made anew".into());
        }
        let version = store.data_version().map_err(plain)?;
        let have = store.vector_counts(&self.name(), dim).map_err(plain)?.have;
        let mut held = self.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let fresh = held.as_ref().is_some_and(|it| (it.version, it.have, it.dim) == (version, have, dim));
        if !fresh {
            let mut read = Held { version, have, dim, ids: Vec::new(), data: Vec::new() };
            let each = &mut |id, _scale, bytes: &[u8]| {
                read.ids.push(id);
                read.data.extend(bytes.iter().map(|byte| *byte as i8));
            };
            store.vectors(&self.name(), dim, each).map_err(plain)?;
            *held = Some(read);
        }
        let Some(held) = held.as_ref() else { return Ok(Vec::new()) };
        // Angles only: each vector's own length is taken out, so the scale need not be kept apart.
        let mut all: Vec<(MemoryId, f32)> = held
            .ids
            .iter()
            .zip(held.data.chunks_exact(dim))
            .map(|(id, vector)| {
                let (mut dot, mut own) = (0.0f32, 0.0f32);
                for (a, b) in question.iter().zip(vector) {
                    let b = f32::from(*b);
                    dot += a * b;
                    own += b * b;
                }
                (*id, if own > 0.0 { dot / own.sqrt() } else { 0.0 })
            })
            .collect();
        all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        all.truncate(limit);
        Ok(all)
    }

    fn threshold(&self) -> f32 {
        RELATED
    }

    fn pending(&self, store: &Store) -> u64 {
        let dim = self.known_dim(store).ok().flatten().unwrap_or(0);
        store.vector_counts(&self.name(), dim).map_or(0, |counts| counts.pending)
    }

    fn fill(&self, store: &mut Store, limit: usize) -> Result<usize, String> {
        let plain = |err: crate::store::StoreError| err.to_string();
        let dim = self.known_dim(store)?.unwrap_or(0);
        let ids = store.lacking_vectors(&self.name(), dim, limit).map_err(plain)?;
        if ids.is_empty() {
            return Ok(0);
        }
        let memories = store.get(&ids).map_err(plain)?;
        let texts: Vec<String> = memories.iter().map(text_of).collect();
        let embedded = self.embed(&texts)?;
        let dim = embedded.first().map_or(0, Vec::len);
        let vectors: Vec<Vector> = memories
            .iter()
            .zip(&embedded)
            .map(|(memory, vector)| {
                let (data, scale) = quantised(vector);
                Vector { id: memory.id, scale, data }
            })
            .collect();
        store.put_vectors(&self.name(), dim, &vectors).map_err(plain)?;
        Ok(vectors.len())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;
    use crate::memory::{NewMemory, Timestamp};
    use crate::store::Commit;

    /// A service whose vectors count three letters; it answers as many requests as are made of it.
    fn service(ollama: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut request = Vec::new();
                let mut chunk = [0; 4096];
                let body = loop {
                    let n = stream.read(&mut chunk).unwrap_or(0);
                    request.extend_from_slice(&chunk[..n]);
                    let text = String::from_utf8_lossy(&request).into_owned();
                    if let Some((head, body)) = text.split_once("\r\n\r\n") {
                        let length = head
                            .lines()
                            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                        if body.len() >= length.unwrap_or(0) {
                            break body.to_owned();
                        }
                    }
                    if n == 0 {
                        return;
                    }
                };
                let asked: Value = serde_json::from_str(&body).unwrap();
                let vector = |text: &Value| {
                    let text = text.as_str().unwrap();
                    ["a", "b", "c"].map(|letter| text.matches(letter).count() as f64 + 0.01)
                };
                let vectors: Vec<Value> =
                    asked["input"].as_array().unwrap().iter().map(|it| json!(vector(it))).collect();
                let answer = if ollama {
                    json!({ "embeddings": vectors })
                } else {
                    let rows = vectors.iter().enumerate().map(|(at, it)| json!({ "index": at, "embedding": it }));
                    json!({ "data": rows.collect::<Vec<_>>() })
                }
                .to_string();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                    answer.len()
                );
            }
        });
        format!("http://{address}/{}", if ollama { "api/embed" } else { "v1" })
    }

    fn endpoint(url: &str, name: &str) -> Endpoint {
        Endpoint::new(&MeaningSettings { model: url.into(), name: name.into(), ..MeaningSettings::default() })
    }

    #[test]
    fn a111_a_service_of_either_kind_makes_vectors_and_is_asked_and_models_are_not_mixed() {
        for ollama in [false, true] {
            let url = service(ollama);
            let now: Timestamp = "2026-03-10T09:30:00Z".parse().unwrap();
            let mut store = Store::in_memory(now).unwrap();
            let memories = ["aaa", "bbb", "ccc"].map(|title| NewMemory {
                title: title.into(),
                created_at: now,
                ..NewMemory::default()
            });
            store.record(&Commit { memories: memories.to_vec(), now: Some(now), ..Commit::default() }).unwrap();
            let meaning = endpoint(&url, "letters");
            assert_eq!(meaning.pending(&store), 3);
            assert!(meaning.nearest(&store, "bb", 3).unwrap_err().contains("no memory has a vector yet"));
            assert_eq!(meaning.fill(&mut store, 2).unwrap(), 2);
            assert_eq!(meaning.fill(&mut store, 9).unwrap(), 1);
            assert_eq!((meaning.fill(&mut store, 9).unwrap(), meaning.pending(&store)), (0, 0));
            let near = meaning.nearest(&store, "bb", 2).unwrap();
            assert!(near[0].0 == MemoryId(2) && near[0].1 > 0.99 && near[1].1 < 0.1, "{near:?}");
            // Another model's vectors are made anew and never compared with these.
            let other = endpoint(&url, "other");
            assert!(other.nearest(&store, "bb", 2).is_err());
            assert_eq!(other.pending(&store), 3);
        }
    }

    #[test]
    fn a107_a_service_that_is_down_is_a_reason_not_an_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://user:secret@{}/v1", listener.local_addr().unwrap());
        drop(listener);
        let why = endpoint(&url, "m").embed(&["x".into()]).unwrap_err();
        assert!(why.contains("does not answer") && !why.contains("secret"), "{why}");
    }

    #[test]
    fn odd_answers_are_refused() {
        for (answer, ollama) in [
            (json!({}), false),
            (json!({ "data": [] }), true),
            (json!({ "data": [{ "embedding": [] }] }), false),
            (json!({ "data": [{ "embedding": [1.0] }, { "embedding": [1.0, 2.0] }] }), false),
        ] {
            assert_eq!(read(&answer, ollama), None, "{answer}");
        }
        let (bytes, scale) = quantised(&[0.5, -1.0, 0.0]);
        assert_eq!((bytes, (scale * 127.0).round()), (vec![64, -127, 0], 1.0));
    }
}
