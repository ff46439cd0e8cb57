//! Who says that something changed: the system's file events, behind a seam.
//!
//! Events are hints and nothing more: one may be lost, come twice, or name a file that is gone again. What is true is
//! what `tail` finds; a slow rescan (the collector's business) is the net below. So a source may fail in any way, and
//! the worst that follows is that a line is read some seconds later, and `status` says `poll`.
//!
//! [`NotifySource`] is the real one. [`HandSource`] is a source driven by hand: tests drop, repeat, overflow and
//! fail events with it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use notify::event::{EventKind, ModifyKind};
use notify::{RecursiveMode, Watcher};

/// What a source tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEvent {
    /// Something at this path appeared, grew or was renamed to it: a file, or a folder with what is in it.
    Changed(PathBuf),
    /// Something at this path is gone, or was renamed away.
    Gone(PathBuf),
    /// Events were lost: look at everything.
    Overflow,
    /// The source works no longer (in full): why. From now on only looking helps.
    Broken(String),
}

/// Where a source puts its events. Called on the source's own thread; it must not block.
pub type Sink = Arc<dyn Fn(FileEvent) + Send + Sync>;

/// A source of file events.
pub trait EventSource: Send {
    /// Begins to watch `folders`, each with everything below. A folder that does not exist is left out, the answer
    /// says whether all that exist are watched. May be called again with other folders; watching one twice does no
    /// harm.
    fn watch(&mut self, folders: &[PathBuf], sink: Sink) -> Watching;
}

/// How changes are noticed. The words of `status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watching {
    /// By file events, with a slow rescan below.
    Notify,
    /// By looking again and again, and why.
    Poll(String),
}

impl Watching {
    /// `notify` or `poll`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Notify => "notify",
            Self::Poll(_) => "poll",
        }
    }
}

/// The operating system's file events (inotify, FSEvents, ReadDirectoryChanges).
#[derive(Default)]
pub struct NotifySource {
    watcher: Option<notify::RecommendedWatcher>,
}

impl EventSource for NotifySource {
    fn watch(&mut self, folders: &[PathBuf], sink: Sink) -> Watching {
        if self.watcher.is_none() {
            match notify::recommended_watcher(move |event| translate(event, &sink)) {
                Ok(watcher) => self.watcher = Some(watcher),
                Err(error) => return Watching::Poll(reason(&error)),
            }
        }
        let Some(watcher) = self.watcher.as_mut() else {
            return Watching::Poll("no watcher".into());
        };
        for folder in folders {
            match watcher.watch(folder, RecursiveMode::Recursive) {
                Ok(()) => {}
                Err(error) if is_missing(&error) => {}
                Err(error) => return Watching::Poll(reason(&error)),
            }
        }
        Watching::Notify
    }
}

fn translate(event: notify::Result<notify::Event>, sink: &Sink) {
    let event = match event {
        Ok(event) => event,
        Err(error) if is_missing(&error) => return,
        Err(error) => return sink(FileEvent::Broken(reason(&error))),
    };
    if event.need_rescan() {
        return sink(FileEvent::Overflow);
    }
    match event.kind {
        // Our own reading opens files too: such events say nothing.
        EventKind::Access(_) => {}
        EventKind::Remove(_) => event.paths.into_iter().for_each(|path| sink(FileEvent::Gone(path))),
        // A rename comes as From and To, and once more as Both: each path is looked at, whichever it was.
        EventKind::Modify(ModifyKind::Name(_)) => {
            event.paths.into_iter().for_each(|path| sink(FileEvent::Changed(path)))
        }
        _ => event.paths.into_iter().for_each(|path| sink(FileEvent::Changed(path))),
    }
}

fn is_missing(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn reason(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system's limit of file watches is reached (fs.inotify.max_user_watches)".to_owned()
        }
        // 28 is ENOSPC, which inotify answers at the same limit; 24 is EMFILE: too many watcher instances.
        notify::ErrorKind::Io(error) if error.raw_os_error() == Some(28) => {
            "the system's limit of file watches is reached (fs.inotify.max_user_watches)".to_owned()
        }
        notify::ErrorKind::Io(error) if error.raw_os_error() == Some(24) => {
            "the system's limit of file watchers is reached (fs.inotify.max_user_instances)".to_owned()
        }
        _ => format!("file events are not to be had: {error}"),
    }
}

/// A source driven by hand. Clones share the sink.
#[derive(Clone, Default)]
pub struct HandSource {
    state: Arc<Mutex<HandState>>,
}

#[derive(Default)]
struct HandState {
    sink: Option<Sink>,
    refuse: Option<String>,
    folders: Vec<PathBuf>,
}

impl HandSource {
    /// A source that answers every `watch` with a failure, as at the kernel's watch limit.
    pub fn refusing(reason: &str) -> Self {
        let source = Self::default();
        source.lock().refuse = Some(reason.to_owned());
        source
    }

    /// Sends an event; `false` when nobody watches yet.
    pub fn send(&self, event: FileEvent) -> bool {
        // The sink is called outside the lock, as the real source would.
        let sink = self.lock().sink.clone();
        sink.map(|sink| sink(event)).is_some()
    }

    /// The same for a changed path.
    pub fn changed(&self, path: &Path) -> bool {
        self.send(FileEvent::Changed(path.to_owned()))
    }

    /// Folders watched so far.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.lock().folders.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HandState> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl EventSource for HandSource {
    fn watch(&mut self, folders: &[PathBuf], sink: Sink) -> Watching {
        let mut state = self.lock();
        if let Some(reason) = &state.refuse {
            return Watching::Poll(reason.clone());
        }
        state.sink = Some(sink);
        state.folders = folders.to_vec();
        Watching::Notify
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[allow(clippy::disallowed_methods)] // The test writes the file whose change it waits for.
    #[test]
    fn an_appended_line_is_told_and_so_is_a_new_folder() {
        let dir = tempfile::tempdir().unwrap();
        let (tell, told) = mpsc::channel();
        let tell = Mutex::new(tell);
        let sink: Sink = Arc::new(move |event| {
            let _ = tell.lock().unwrap().send(event);
        });
        let mut source = NotifySource::default();
        let real = std::fs::canonicalize(dir.path()).unwrap();
        assert_eq!(source.watch(&[real.clone(), real.join("missing")], sink), Watching::Notify);
        let file = real.join("a.jsonl");
        std::fs::write(&file, b"x\n").unwrap();
        let wait = |wanted: &Path| loop {
            match told.recv_timeout(Duration::from_secs(10)).expect("the system tells of the change") {
                FileEvent::Changed(path) if path == wanted => break,
                _ => {}
            }
        };
        wait(&file);
        let folder = real.join("-w/s/subagents");
        std::fs::create_dir_all(&folder).unwrap();
        wait(&real.join("-w"));
    }

    #[test]
    fn a079_a_source_at_the_limit_says_so() {
        let error = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        assert!(reason(&error).contains("max_user_watches"));
        let full = notify::Error::io(std::io::Error::from_raw_os_error(28));
        assert!(reason(&full).contains("max_user_watches"));
        let mut source = HandSource::refusing("limit");
        assert_eq!(source.watch(&[], Arc::new(|_| {})), Watching::Poll("limit".into()));
    }
}
