//! `cmem mcp`: the MCP server on stdio.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use jiff::tz::TimeZone;

use super::{CliError, Ctx};
use crate::config::repository::{CaseRule, Resolver};
use crate::gate::exclude::Exclusions;
use crate::mcp::{Door, serve_stdio};
use crate::memory::{ProjectRef, Timestamp};
use crate::mode::Mode;
use crate::recall::find::Nearest;
use crate::recall::nearest;
use crate::store::api::ProjectInfo;
use crate::store::{Access, Store, StoreError};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {}

/// Runs the command. Nothing but the protocol goes to stdout, and nothing at all to stderr unless it fails.
pub fn run(_args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let (excluded, _) = Exclusions::new(&ctx.settings.record.exclude, ctx.dirs.home.as_deref(), CaseRule::of_host());
    let (mode, _) = crate::hub::active_mode(&ctx.dirs, &ctx.settings);
    let door = Machine { ctx: ctx.clone(), mode, excluded, resolver: Mutex::new(Resolver::new(&ctx.env)) };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|err| CliError::new("the MCP server cannot start").cause(err))?;
    let served = runtime.block_on(serve_stdio(Arc::new(door)));
    // A read of stdin may still be waiting; nobody has to wait for it.
    runtime.shutdown_background();
    served.map_err(|why| CliError::new("the MCP server ended").cause(why))?;
    Ok(ExitCode::SUCCESS)
}

struct Machine {
    ctx: Ctx,
    mode: Mode,
    excluded: Exclusions,
    resolver: Mutex<Resolver>,
}

impl Door for Machine {
    fn open(&self, access: Access) -> Result<Store, StoreError> {
        Store::open(&self.ctx.dirs.database(), access, self.ctx.now())
    }

    fn now(&self) -> Timestamp {
        self.ctx.now()
    }

    fn zone(&self) -> TimeZone {
        self.ctx.zone.clone()
    }

    fn mode(&self) -> Mode {
        self.mode.clone()
    }

    fn project_of(&self, dir: &str) -> ProjectRef {
        // Held for one lookup, with no await inside.
        self.resolver.lock().unwrap_or_else(std::sync::PoisonError::into_inner).resolve(dir)
    }

    fn client_dir(&self) -> Option<String> {
        // Set by Claude Code for the servers it starts. The working directory says nothing: it may be anywhere (A088).
        self.ctx.env.path("CLAUDE_PROJECT_DIR").and_then(|dir| dir.to_str().map(str::to_owned))
    }

    fn excluded(&self, projects: &[ProjectInfo]) -> Vec<String> {
        let covered = projects.iter().filter(|it| self.excluded.covers_project(&it.root, &it.name));
        covered.map(|it| it.root.clone()).collect()
    }

    fn meaning(&self) -> Result<Box<dyn Nearest>, String> {
        let engine = nearest::by_setting(&self.ctx.settings.meaning)?;
        Ok(Box::new(nearest::Prepared::new(engine, self.ctx.dirs.database(), self.ctx.now())))
    }
}
