//! `cmem bench`: how fast the screen is on this machine; and `cmem pictures`, what it looks like. For those who work on
//! cmem.
#![allow(clippy::disallowed_methods, reason = "reads its own memory use and writes pictures")]

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::{CliError, Ctx, print};
use crate::config::{TuiSettings, monotonic};
use crate::tui::keymap::Keymap;
use crate::tui::measure::measure;
use crate::tui::state::{Alphabet, Look, State};
use crate::tui::theme::{Depth, GlyphSet, load};
use crate::tui::{demo, gallery};

/// Arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to measure
    #[arg(value_name = "WHAT")]
    pub what: What,
    /// Rows of the list
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub rows: u64,
    /// Columns and lines
    #[arg(long, default_value = "160x45", value_name = "WxH", value_parser = size)]
    pub size: (u16, u16),
    /// Keys that are pressed again and again
    #[arg(long, default_value = "j j j j k ctrl-d ctrl-u", value_name = "KEYS")]
    pub script: String,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// The screen
    Ui,
}

/// Arguments of `cmem pictures`.
#[derive(Clone, Debug, clap::Args)]
pub struct Pictures {
    /// Directory they are written to
    #[arg(default_value = "screenshots", value_name = "DIR")]
    pub dir: PathBuf,
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    parsed.ok_or_else(|| "a size is written WIDTHxHEIGHT, as in 160x45".into())
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let (file, _) = load("terminal", &|_| None);
    let look = Look::new(file, Depth::True, GlyphSet::Unicode, 1);
    let alphabet = Alphabet::new(&crate::mode::code());
    let settings = TuiSettings { guard: false, ..TuiSettings::default() };
    let state = State::new(settings, look, Keymap::shipped(), alphabet, ctx.zone.clone(), demo::START_MS);
    let begun = monotonic();
    let before = resident();
    let measured = measure(state, args.rows, args.size, &args.script, &|| begun.elapsed());
    let after = resident();
    print::data(|out| {
        writeln!(out, "{} rows, {}x{}", args.rows, args.size.0, args.size.1)?;
        for it in &measured {
            writeln!(
                out,
                "{:<24} p50 {:>9.3} ms   p95 {:>9.3} ms   p99 {:>9.3} ms   n {}",
                it.what,
                millis(it.at(0.5)),
                millis(it.at(0.95)),
                millis(it.at(0.99)),
                it.times.len()
            )?;
        }
        match (before, after) {
            (Some(before), Some(after)) => {
                writeln!(out, "memory                   {:.1} MB before, {:.1} MB after", mb(before), mb(after))
            }
            _ => Ok(()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Memory this process holds, where the system says.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Writes the pictures of the screen.
pub fn pictures(args: Pictures) -> Result<ExitCode, CliError> {
    let failed = |error| CliError::new(format!("{} cannot be written", args.dir.display())).cause(error);
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    for (name, picture) in gallery::pictures() {
        std::fs::write(args.dir.join(&name), picture).map_err(failed)?;
        print::say(format_args!("{name}"));
    }
    Ok(ExitCode::SUCCESS)
}
