//! Printing: data to stdout, talk to stderr, colour only where a person looks.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;

use super::CliError;
use super::args::When;
use crate::config::Env;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// stdin is a person's keyboard.
    pub stdin: bool,
    /// stdout is a person's screen.
    pub stdout: bool,
    /// stderr is a person's screen: progress bars may be drawn.
    pub stderr: bool,
    /// Columns of the screen, if stdout is one.
    pub width: Option<usize>,
    /// Colour on stdout.
    pub colour: bool,
}

impl Terminal {
    /// Looks at the three streams.
    pub fn detect(env: &Env, when: When) -> Self {
        let stdout = io::stdout().is_terminal();
        let columns = || crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
        let wanted = env.get("NO_COLOR").is_none_or(str::is_empty) && env.get("TERM") != Some("dumb");
        Self {
            stdin: io::stdin().is_terminal(),
            stdout,
            stderr: io::stderr().is_terminal(),
            width: stdout.then(columns).flatten().filter(|columns| *columns > 0),
            colour: match when {
                When::Always => true,
                When::Never => false,
                When::Auto => stdout && wanted,
            },
        }
    }

    /// `text` in a style, or as it is where there is no colour.
    pub fn paint(self, style: Style, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Strong => "1",
            Style::Quiet => "2",
            Style::Accent => "36",
            Style::Good => "32",
            Style::Careful => "33",
            Style::Bad => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// What a piece of text means, where colour may say it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Titles.
    Strong,
    /// Times, ids, what is beside the point.
    Quiet,
    /// Types, matches.
    Accent,
    /// In order.
    Good,
    /// Worth a look.
    Careful,
    /// Broken.
    Bad,
}

/// Buffered stdout.
pub type Out = BufWriter<StdoutLock<'static>>;

/// Writes data to stdout and flushes it.
pub fn data(write: impl FnOnce(&mut Out) -> io::Result<()>) -> Result<(), CliError> {
    answer(|out| Ok(write(out)?))
}

/// [`data`] for those who can fail in other ways while they write.
pub fn answer(write: impl FnOnce(&mut Out) -> Result<(), CliError>) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// One JSON document.
pub fn json(value: &impl Serialize) -> Result<(), CliError> {
    data(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)
    })
}

/// One JSON object a line.
pub fn json_lines<T: Serialize>(values: impl IntoIterator<Item = T>) -> Result<(), CliError> {
    data(|out| {
        values.into_iter().try_for_each(|value| {
            serde_json::to_writer(&mut *out, &value)?;
            writeln!(out)
        })
    })
}

/// Talk: one or more lines on stderr. If nobody listens any more, nothing is lost.
pub fn say(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
