//! The terminal as a file: found, read, written, measured, made raw.
//!
//! The screen is drawn on stdout when that is a terminal, else on stderr, else on `/dev/tty`, so that
//! `cmem tui --pick | xargs …` works. Keys come from stdin when that is a terminal, else from `/dev/tty`.
#![allow(clippy::disallowed_methods, reason = "this is the file that opens the terminal")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::termios::{self, OptionalActions, Termios};

/// The terminal: one end to read, one to write.
#[derive(Debug)]
pub struct Tty {
    input: OwnedFd,
    output: OwnedFd,
}

impl Tty {
    /// The terminal of this process.
    pub fn open() -> io::Result<Self> {
        let tty = || -> io::Result<OwnedFd> {
            let file: File = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
            Ok(file.into())
        };
        let input = if termios::isatty(io::stdin()) { io::stdin().as_fd().try_clone_to_owned()? } else { tty()? };
        let output = if termios::isatty(io::stdout()) {
            io::stdout().as_fd().try_clone_to_owned()?
        } else if termios::isatty(io::stderr()) {
            io::stderr().as_fd().try_clone_to_owned()?
        } else {
            tty()?
        };
        Ok(Self { input, output })
    }

    /// A terminal from two given files: for tests and for a child's pty.
    pub fn from_fds(input: OwnedFd, output: OwnedFd) -> Self {
        Self { input, output }
    }

    /// The end that is waited for.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// Columns and lines; `None` when it does not say.
    pub fn size(&self) -> Option<(u16, u16)> {
        let size = termios::tcgetwinsize(&self.output).ok()?;
        Some((size.ws_col, size.ws_row))
    }

    /// What has been typed, at most what fits. 0: the terminal is gone.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::io::read(&self.input, &mut *buffer) {
                Err(rustix::io::Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }

    /// Writes all of it.
    pub fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.output, bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => wait_writable(&self.output)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Keys as they come, nothing echoed. Returns what was before.
    pub fn raw(&self) -> io::Result<Termios> {
        let before = termios::tcgetattr(&self.input)?;
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(&self.input, OptionalActions::Now, &raw)?;
        Ok(before)
    }

    /// Back to what was before.
    pub fn restore(&self, before: &Termios) -> io::Result<()> {
        Ok(termios::tcsetattr(&self.input, OptionalActions::Now, before)?)
    }

    /// Drops what was typed and not read: an answer that came too late must not reach the shell (D.12).
    pub fn drain(&self) {
        let _ = termios::tcflush(&self.input, termios::QueueSelector::IFlush);
    }

    /// Another handle to the same terminal.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { input: self.input.try_clone()?, output: self.output.try_clone()? })
    }
}

fn wait_writable(fd: &OwnedFd) -> io::Result<()> {
    let mut fds = [rustix::event::PollFd::new(fd, rustix::event::PollFlags::OUT)];
    rustix::event::poll(&mut fds, None)?;
    Ok(())
}
