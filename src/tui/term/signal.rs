//! Signals as flags, and a byte on a pipe that wakes the loop.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::low_level;

/// What arrived since it was last asked.
#[derive(Debug)]
pub struct Signals {
    wake: UnixStream,
    waker: UnixStream,
    stop: Arc<AtomicBool>,
    resized: Arc<AtomicBool>,
    suspend: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
    ids: Vec<signal_hook::SigId>,
}

impl Signals {
    /// From now on signals are flags.
    pub fn new() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let flag = || Arc::new(AtomicBool::new(false));
        let mut signals =
            Self { wake, waker, stop: flag(), resized: flag(), suspend: flag(), resumed: flag(), ids: Vec::new() };
        let wanted = [
            (SIGTERM, Arc::clone(&signals.stop)),
            (SIGHUP, Arc::clone(&signals.stop)),
            (SIGINT, Arc::clone(&signals.stop)),
            (SIGWINCH, Arc::clone(&signals.resized)),
            (SIGTSTP, Arc::clone(&signals.suspend)),
            (SIGCONT, Arc::clone(&signals.resumed)),
        ];
        for (signal, flag) in wanted {
            signals.ids.push(signal_hook::flag::register(signal, flag)?);
            signals.ids.push(low_level::pipe::register(signal, signals.waker.try_clone()?)?);
        }
        Ok(signals)
    }

    /// The end that is waited for.
    pub fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// What another thread writes to, to wake the loop.
    pub fn waker(&self) -> io::Result<Waker> {
        Ok(Waker(Arc::new(self.waker.try_clone()?)))
    }

    /// Empties the pipe.
    pub fn drain(&self) {
        let mut buffer = [0; 64];
        while matches!((&self.wake).read(&mut buffer), Ok(n) if n > 0) {}
    }

    /// SIGTERM, SIGHUP or SIGINT came.
    pub fn take_stop(&self) -> bool {
        self.stop.swap(false, Ordering::Relaxed)
    }

    /// The size changed.
    pub fn take_resized(&self) -> bool {
        self.resized.swap(false, Ordering::Relaxed)
    }

    /// SIGTSTP came from outside.
    pub fn take_suspend(&self) -> bool {
        self.suspend.swap(false, Ordering::Relaxed)
    }

    /// SIGCONT came.
    pub fn take_resumed(&self) -> bool {
        self.resumed.swap(false, Ordering::Relaxed)
    }

    /// Stops as the shell expects it: by the signal's own effect. Returns after `fg`.
    pub fn stop_here(&self) -> io::Result<()> {
        low_level::emulate_default_handler(SIGTSTP)?;
        self.take_suspend();
        Ok(())
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            low_level::unregister(id);
        }
    }
}

/// Wakes the loop.
#[derive(Clone, Debug)]
pub struct Waker(Arc<UnixStream>);

impl Waker {
    /// A byte on the pipe. A full pipe wakes as well.
    pub fn wake(&self) {
        let _ = (&*self.0).write(&[1]);
    }
}
