//! `cmem keys`: the keys of the screen as they apply, and what a terminal really sends.
#![allow(clippy::disallowed_methods, reason = "reads keys.toml")]

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use super::{CliError, Ctx, print};
use crate::tui::action::{Action, Group};
use crate::tui::keymap::{Keymap, Place};
use crate::tui::term::input::{Input, Parser};
use crate::tui::term::tty::Tty;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// One view: feed, timeline, sessions, context, observer, trash, input
    #[arg(long, value_name = "VIEW")]
    pub view: Option<String>,
    /// One JSON document
    #[arg(long)]
    pub json: bool,
    /// Show what arrives when a key is pressed; q ends
    #[arg(long)]
    pub probe: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    if args.probe {
        return probe();
    }
    let user = std::fs::read_to_string(ctx.dirs.keys_file()).unwrap_or_default();
    let (map, faults) = Keymap::with_user(&user);
    for fault in &faults {
        print::say(format_args!("warning: keys.toml:{}  {}", fault.line, fault.what));
    }
    let places: Vec<Place> = match &args.view {
        None => Place::ALL.to_vec(),
        Some(name) => {
            let place = Place::ALL.into_iter().find(|place| place.name() == name);
            vec![place.ok_or_else(|| CliError::usage(format!("there is no view {name}")))?]
        }
    };
    if args.json {
        let rows: Vec<_> = places
            .iter()
            .flat_map(|place| Action::ALL.iter().map(move |action| (place, action)))
            .filter_map(|(place, action)| {
                let keys = map.keys_of(*place, *action);
                (!keys.is_empty()).then(
                    || json!({ "view": place.name(), "action": action.name(), "keys": keys, "help": action.help() }),
                )
            })
            .collect();
        print::json(&rows)?;
    } else {
        print::data(|out| places.iter().try_for_each(|place| table(out, &map, *place)))?;
    }
    Ok(ExitCode::from(u8::from(!faults.is_empty())))
}

/// The keys a view has for itself; the global ones are told once.
fn table(out: &mut impl Write, map: &Keymap, place: Place) -> std::io::Result<()> {
    let mut group: Option<Group> = None;
    let mut begun = false;
    for action in Action::ALL {
        let keys = map.keys_of(place, *action);
        let everywhere = place != Place::Global && keys == map.keys_of(Place::Global, *action);
        if keys.is_empty() || everywhere {
            continue;
        }
        if !begun {
            writeln!(out, "[{}]", place.name())?;
            begun = true;
        }
        if place == Place::Global && group != Some(action.group()) {
            group = Some(action.group());
            writeln!(out, "  {}", action.group().title())?;
        }
        writeln!(out, "  {:<18} {:<18} {}", keys.join(" "), action.name(), action.help())?;
    }
    if begun { writeln!(out) } else { Ok(()) }
}

/// Bytes and what they come to, key by key.
fn probe() -> Result<ExitCode, CliError> {
    let no_tty = |error| CliError::new("there is no terminal to listen to").cause(error);
    let tty = Tty::open().map_err(no_tty)?;
    let before = tty.raw().map_err(no_tty)?;
    let mut said = String::from("press keys; q ends\r\n");
    let mut parser = Parser::default();
    loop {
        let _ = tty.write(said.as_bytes());
        said.clear();
        let mut bytes = [0; 256];
        let Ok(n) = tty.read(&mut bytes) else { break };
        let mut inputs = Vec::new();
        parser.feed(&bytes[..n], &mut inputs);
        parser.flush(&mut inputs);
        let sent: Vec<String> = bytes[..n].iter().map(|byte| format!("{byte:02x}")).collect();
        let read: Vec<String> = inputs
            .iter()
            .map(|input| match input {
                Input::Key(key) => key.to_string(),
                other => format!("{other:?}"),
            })
            .collect();
        said =
            format!("{:<24} {}\r\n", sent.join(" "), if read.is_empty() { "nothing".into() } else { read.join("  ") });
        if n == 0 || read == ["q"] {
            break;
        }
    }
    let _ = tty.write(said.as_bytes());
    let _ = tty.restore(&before);
    Ok(ExitCode::SUCCESS)
}
