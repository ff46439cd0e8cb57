//! Vectors of meaning, made behind the writes: a thread of its own with a connection of its own, a few memories at a
//! time, so that nothing recorded ever waits for it. It ends with the collector.
//!
//! A build without optimisation makes none by itself: there a vector takes a second.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::config::Settings;
use crate::memory::Clock;
use crate::recall::nearest;
use crate::store::{Access, Store};

/// Memories in one go: about a fiftieth of a second.
const BATCH: usize = 8;
/// How often a database that was left complete is looked at.
const REST: Duration = Duration::from_secs(5);

/// The running thread; dropping it ends it.
#[derive(Debug)]
pub struct Filler {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Filler {
    /// Starts one, where settings and build want vectors.
    pub fn start(database: PathBuf, settings: &Settings, clock: Arc<dyn Clock>) -> Option<Self> {
        let engine = nearest::by_setting(&settings.meaning).ok().filter(|engine| !engine.is_slow())?;
        let (stop, stopped) = channel::<()>();
        let work = move || {
            let Ok(mut store) = Store::open(&database, Access::ReadWrite, clock.now()) else { return };
            let mut complete_at = None;
            let mut wait = Duration::ZERO;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = REST;
                let version = store.data_version().ok();
                if version.is_some() && version == complete_at {
                    continue;
                }
                // A side job that fails is tried again later; what it makes can always be made anew.
                match engine.fill(&mut store, BATCH) {
                    Ok(0) => complete_at = version,
                    Ok(_) => wait = Duration::from_millis(5),
                    Err(_) => {}
                }
            }
        };
        let thread = thread::Builder::new().name("vectors".into()).spawn(work).ok()?;
        Some(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
