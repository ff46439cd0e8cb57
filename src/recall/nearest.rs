//! What ranks by meaning, by the settings: the built-in nets, a service, or nothing; the one place that knows whether
//! this build has the nets.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::{MeaningSettings, monotonic};
use crate::memory::{Memory, MemoryId, Timestamp, clip_chars};
use crate::store::{Access, Store};

use super::endpoint::Endpoint;
use super::find::Nearest;

/// Characters of a memory that are read.
const READ: usize = 600;
/// How long a question may wait for vectors that are still to be made.
const PATIENCE: Duration = Duration::from_secs(2);
/// Memories in one go.
const BATCH: usize = 16;

/// Whether the setting asks for the built-in nets.
pub fn is_builtin(setting: &str) -> bool {
    matches!(setting.trim(), "" | "builtin")
}

/// The engine that the settings name, or why there is none. Cheap: nothing is read before the first question.
pub fn by_setting(settings: &MeaningSettings) -> Result<Box<dyn Nearest>, String> {
    match settings.model.trim() {
        "off" => Err("switched off".into()),
        setting if is_builtin(setting) => builtin(),
        _ => Ok(Box::new(Endpoint::new(settings))),
    }
}

#[cfg(feature = "meaning")]
fn builtin() -> Result<Box<dyn Nearest>, String> {
    Ok(Box::new(super::meaning::Meaning::builtin()))
}

#[cfg(not(feature = "meaning"))]
fn builtin() -> Result<Box<dyn Nearest>, String> {
    Err("not part of this build".into())
}

/// An engine that, before it answers, makes the vectors that are lacking, as far as two seconds go: for whoever asks a
/// database that no collector looks after. What is left is left to the next question or the collector.
pub struct Prepared {
    engine: Box<dyn Nearest>,
    database: PathBuf,
    now: Timestamp,
}

impl Prepared {
    /// Around an engine, for the database at that path.
    pub fn new(engine: Box<dyn Nearest>, database: PathBuf, now: Timestamp) -> Self {
        Self { engine, database, now }
    }

    fn prepare(&self, store: &Store) {
        // Without optimisation a vector of the nets takes a second.
        if self.engine.is_slow() || self.engine.pending(store) == 0 {
            return;
        }
        let started = monotonic();
        let Ok(mut writer) = Store::open(&self.database, Access::ReadWrite, self.now) else { return };
        while started.elapsed() < PATIENCE && self.engine.fill(&mut writer, BATCH).is_ok_and(|made| made > 0) {}
    }
}

impl Nearest for Prepared {
    fn nearest(&self, store: &Store, text: &str, limit: usize) -> Result<Vec<(MemoryId, f32)>, String> {
        self.prepare(store);
        self.engine.nearest(store, text, limit)
    }

    fn threshold(&self) -> f32 {
        self.engine.threshold()
    }

    fn pending(&self, store: &Store) -> u64 {
        self.engine.pending(store)
    }

    fn fill(&self, store: &mut Store, limit: usize) -> Result<usize, String> {
        self.engine.fill(store, limit)
    }
}

/// What of a memory is compared with a question: title first, since small nets read only a beginning.
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
        text.push_str(clip_chars(part, READ));
    }
    text
}
