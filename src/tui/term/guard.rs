//! Who owns the terminal's modes: one guard, alive while the screen is.
//!
//! Whatever happens, the terminal comes back as it was (D.9): when the guard is dropped, when any thread panics (the
//! hook runs before the message is printed, so that it can be read), when a signal ends the program (the loop sees it
//! and drops the guard), and around a suspension or a child ([`Guard::leave`], [`Guard::enter`]).

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::termios::Termios;

use super::tty::Tty;

/// Modes the screen needs, in the order they are set.
const ENTER: &str = concat!(
    "\x1b[?1049h", // alternate screen
    "\x1b[?25l",   // no cursor
    "\x1b[?7l",    // no wrapping at the edge
    "\x1b[?2004h", // pastes in brackets
    "\x1b[?1004h", // focus
    "\x1b[2J\x1b[H"
);

/// Everything off again, whether it was on or not.
const LEAVE: &str = concat!(
    "\x1b[?1006l\x1b[?1002l\x1b[?1000l", // mouse
    "\x1b[?1004l",
    "\x1b[?2004l",
    "\x1b[?2026l", // a frame that was not finished
    "\x1b[0m",
    "\x1b[?7h",
    "\x1b[?25h",
    "\x1b[?1049l"
);

const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";

/// What must be undone, shared with the panic hook.
#[derive(Debug)]
struct Modes {
    tty: Tty,
    before: Option<Termios>,
}

impl Modes {
    /// Back to what was. Twice does no harm.
    fn restore(&mut self) {
        let Some(before) = self.before.take() else { return };
        let _ = self.tty.write(LEAVE.as_bytes());
        self.tty.drain();
        let _ = self.tty.restore(&before);
    }
}

/// The terminal in the screen's modes.
#[derive(Debug)]
pub struct Guard {
    modes: Arc<Mutex<Modes>>,
    mouse: bool,
}

impl Guard {
    /// Takes the terminal over.
    pub fn new(tty: &Tty, mouse: bool) -> io::Result<Self> {
        let modes = Arc::new(Mutex::new(Modes { tty: tty.try_clone()?, before: None }));
        let mut guard = Self { modes: Arc::clone(&modes), mouse };
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Held briefly and never across anything that can panic, so a poisoned lock still has good data.
            modes.lock().unwrap_or_else(PoisonError::into_inner).restore();
            earlier(info);
        }));
        guard.enter()?;
        Ok(guard)
    }

    /// Sets the modes (again, after [`Guard::leave`]).
    pub fn enter(&mut self) -> io::Result<()> {
        let mut modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        if modes.before.is_none() {
            modes.before = Some(modes.tty.raw()?);
        }
        modes.tty.write(ENTER.as_bytes())?;
        if self.mouse {
            modes.tty.write(MOUSE_ON.as_bytes())?;
        }
        Ok(())
    }

    /// Gives the terminal back for a while.
    pub fn leave(&mut self) {
        self.modes.lock().unwrap_or_else(PoisonError::into_inner).restore();
    }

    /// Captures the mouse, or stops.
    pub fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        let modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        modes.tty.write(if on { MOUSE_ON } else { MOUSE_OFF }.as_bytes())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.leave();
        if !std::thread::panicking() {
            // The hook that restores a terminal nobody owns any more goes too.
            let _ = std::panic::take_hook();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use portable_pty::{PtySize, native_pty_system};

    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "opens the other end of a pseudo-terminal")]
    fn d09_a_panic_in_any_thread_gives_the_terminal_back() {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let path = pair.master.tty_name().unwrap();
        let open = || std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap().into();
        let tty = Tty::from_fds(open(), open());
        let before = rustix::termios::tcgetattr(tty.input()).unwrap();
        let guard = Guard::new(&tty, true).unwrap();
        let raw = rustix::termios::tcgetattr(tty.input()).unwrap();
        assert_ne!(raw.local_modes, before.local_modes);
        let panicked = std::thread::spawn(|| panic!("somewhere else")).join();
        assert!(panicked.is_err());
        let after = rustix::termios::tcgetattr(tty.input()).unwrap();
        assert_eq!(after.local_modes, before.local_modes);
        assert_eq!(after.input_modes, before.input_modes);
        drop(guard);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let mut bytes = vec![0; 4096];
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("\x1b[?1049l") {
            let n = reader.read(&mut bytes).unwrap();
            seen.extend_from_slice(&bytes[..n]);
        }
        let text = String::from_utf8_lossy(&seen);
        assert_eq!(text.matches("\x1b[?1049l").count(), 1, "given back once, not twice");
        for off in ["\x1b[?2004l", "\x1b[?1004l", "\x1b[?1000l", "\x1b[?25h"] {
            assert!(text.contains(off), "{off:?}");
        }
    }
}
