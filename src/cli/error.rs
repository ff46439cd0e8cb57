//! An error as a person reads it: one sentence, its cause, a hint; and the exit code it leaves.

use std::{fmt, io};

use crate::store::StoreError;

/// What a command failed with.
#[derive(Debug)]
pub struct CliError {
    message: String,
    cause: Option<String>,
    hint: Option<String>,
    code: u8,
    closed_pipe: bool,
}

impl CliError {
    /// Something failed (exit code 1). One sentence without a full stop, in the words of the one who typed.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, hint: None, code: 1, closed_pipe: false }
    }

    /// What was typed cannot be meant (exit code 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, ..Self::new(message) }
    }

    /// The state that was asked about is bad (exit code 3).
    pub fn state(message: impl Into<String>) -> Self {
        Self { code: 3, ..Self::new(message) }
    }

    /// The command is defined, but its body is not part of this build.
    pub fn unavailable(command: &str) -> Self {
        Self::new(format!("`cmem {command}` is not available in this build"))
    }

    /// The store could not do it. `doing` says what, as in "the memories could not be read".
    pub fn store(doing: &str, error: &StoreError) -> Self {
        let hint = match error {
            StoreError::Missing(_) => "`cmem tui` or `cmem watch` begins to remember",
            StoreError::Busy => "try again in a moment; `cmem status` says who is at work",
            StoreError::Full => "make room on the disk; nothing was lost",
            StoreError::Newer { .. } => "use the newer cmem, or set CMEM_HOME to another place",
            StoreError::ReadOnly | StoreError::Io { .. } => {
                "`cmem config path` shows where it should be; check owner and modes"
            }
            StoreError::Foreign(_) => "move that file away, or set CMEM_HOME to another place",
            StoreError::Corrupt(_) => "`cmem doctor` says what is damaged; backups lie beside the database",
            _ => return Self::new(doing).cause(error),
        };
        Self::new(doing).cause(error).hint(hint)
    }

    /// Why it failed.
    #[must_use]
    pub fn cause(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// What may help.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// Whoever read our output has closed it (`cmem list | head`). That is success, said in silence.
    pub fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(cause) = &self.cause {
            write!(f, "\ncause: {cause}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CliError {}

/// Writing output failed.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { code: 0, closed_pipe: true, ..Self::new("the output was closed") };
        }
        Self::new("the output could not be written").cause(error)
    }
}

/// A value could not be written as JSON: the writer failed, since our values always can be.
impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> Self {
        Self::from(io::Error::from(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_a_sentence_a_cause_and_a_hint() {
        let error = CliError::new("the database cannot be opened").cause("disk I/O error").hint("run `cmem doctor`");
        assert_eq!(
            error.to_string(),
            "error: the database cannot be opened\ncause: disk I/O error\nhint: run `cmem doctor`"
        );
        assert_eq!((error.code(), CliError::usage("x").code(), CliError::state("x").code()), (1, 2, 3));
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let error = CliError::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(error.is_closed_pipe() && error.code() == 0);
    }
}
