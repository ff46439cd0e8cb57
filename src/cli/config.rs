//! `cmem config`: where the settings are, whether they are right, what applies.

use std::io::Write;
use std::process::ExitCode;

use super::{CliError, Ctx, print};
use crate::config::{DEFAULT_FILE, keys};

/// Arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with the settings.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Action {
    /// Where cmem's files are
    Path {
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// What in the settings does not apply; exit code 3 if anything
    Check,
    /// The settings that apply
    Show {
        /// One JSON document
        #[arg(long)]
        json: bool,
    },
    /// The commented file to start from
    Default,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    match args.action {
        Action::Path { json } => paths(ctx, json)?,
        Action::Check => return check(ctx),
        Action::Show { json: true } => print::json(&ctx.settings)?,
        Action::Show { json: false } => show(ctx)?,
        Action::Default => print::data(|out| out.write_all(DEFAULT_FILE.as_bytes()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn paths(ctx: &Ctx, json: bool) -> Result<(), CliError> {
    let config = ctx.overrides.file.clone().unwrap_or_else(|| ctx.dirs.config_file());
    let mut paths = vec![
        ("config", config),
        ("keys", ctx.dirs.keys_file()),
        ("themes", ctx.dirs.themes()),
        ("modes", ctx.dirs.modes()),
        ("database", ctx.dirs.database()),
        ("backups", ctx.dirs.backups()),
        ("logs", ctx.dirs.logs()),
        ("observer", ctx.dirs.observer()),
    ];
    paths.extend(ctx.dirs.claude.iter().map(|dir| ("claude", dir.clone())));
    if json {
        let mut object = serde_json::Map::new();
        for (name, path) in &paths {
            let path = path.display().to_string();
            match name {
                &"claude" => object
                    .entry(*name)
                    .or_insert_with(|| Vec::<String>::new().into())
                    .as_array_mut()
                    .map_or((), |list| list.push(path.into())),
                _ => drop(object.insert((*name).into(), path.into())),
            }
        }
        return print::json(&object);
    }
    print::data(|out| paths.iter().try_for_each(|(name, path)| writeln!(out, "{name:9} {}", path.display())))
}

fn check(ctx: &Ctx) -> Result<ExitCode, CliError> {
    print::data(|out| ctx.warnings.iter().try_for_each(|warning| writeln!(out, "{warning}")))?;
    match ctx.warnings.len() {
        0 => {
            print::say(format_args!("All settings apply."));
            Ok(ExitCode::SUCCESS)
        }
        1 => Err(CliError::state("1 setting does not apply").hint("`cmem config default` shows all of them")),
        n => Err(CliError::state(format!("{n} settings do not apply")).hint("`cmem config default` shows all of them")),
    }
}

fn show(ctx: &Ctx) -> Result<(), CliError> {
    let values = serde_json::to_value(&ctx.settings).unwrap_or_default();
    print::data(|out| {
        keys::KEYS.iter().try_for_each(|key| {
            let (section, name) = key.parts();
            writeln!(out, "{} = {}", key.name, values[section][name])
        })
    })
}
