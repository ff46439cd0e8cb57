//! What every command is handed: environment, directories, settings, clock, terminal.

use std::path::PathBuf;

use jiff::tz::TimeZone;

use super::CliError;
use super::args::Global;
use super::print::Terminal;
use crate::config::{self, Dirs, Env, Overrides, Settings, SystemClock, Warning};
use crate::hub::Hub;
use crate::memory::{Clock, Timestamp};
use crate::store::StoreError;
use crate::store::api::Access;

/// What every command is handed.
#[derive(Clone, Debug)]
pub struct Ctx {
    /// The environment at the start.
    pub env: Env,
    /// Directories.
    pub dirs: Dirs,
    /// Settings that apply.
    pub settings: Settings,
    /// What in the settings does not apply.
    pub warnings: Vec<Warning>,
    /// What the command line said about settings, for those who read them again.
    pub overrides: Overrides,
    /// The clock.
    pub clock: SystemClock,
    /// The zone in which a date is a day.
    pub zone: TimeZone,
    /// The directory the command was typed in.
    pub cwd: Option<PathBuf>,
    /// What the terminal can show.
    pub terminal: Terminal,
}

impl Ctx {
    /// Asks the machine, once.
    pub fn load(global: &Global) -> Result<Self, CliError> {
        let env = Env::process();
        let dirs = Dirs::discover(&env).map_err(|error| {
            CliError::new("cmem does not know where to keep its files")
                .cause(error)
                .hint("set HOME, or CMEM_HOME to a directory of your choice")
        })?;
        let overrides = Overrides { file: global.config.clone(), settings: global.settings.clone() };
        let (settings, warnings) = config::load_with(&dirs, &env, &overrides);
        Ok(Self {
            clock: SystemClock::new(&env),
            zone: config::local_zone(),
            cwd: config::current_dir(),
            terminal: Terminal::detect(&env, global.color),
            env,
            dirs,
            settings,
            warnings,
            overrides,
        })
    }

    /// The store, to be read; `None` if nothing was ever remembered.
    pub fn reader(&self) -> Result<Option<Hub>, CliError> {
        match Hub::open(&self.dirs, &self.settings, Access::ReadOnly, self.now()) {
            Ok(hub) => Ok(Some(hub)),
            Err(StoreError::Missing(_)) => Ok(None),
            Err(error) => Err(CliError::store("the memories could not be read", &error)),
        }
    }

    /// A number that tells runs of one process id apart.
    pub(super) fn clock_stamp(&self) -> i64 {
        crate::memory::millis(self.now())
    }

    /// The present.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
