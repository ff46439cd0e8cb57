//! The binary: everything is in the library.
#![allow(clippy::disallowed_methods, reason = "the command line is taken from the process here, once")]

use std::process::ExitCode;

fn main() -> ExitCode {
    cmem::cli::run(std::env::args_os())
}
