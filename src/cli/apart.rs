//! A look at a folder of transcripts that leaves nothing behind: what is remembered from it goes to a directory of its
//! own, which is removed at the end, and no model is asked.
#![allow(clippy::disallowed_methods, reason = "makes a directory and removes it")]

use std::fs;
use std::path::{Path, PathBuf};

use super::{CliError, Ctx};
use crate::config::{Dirs, private_dir};

/// The directory that is removed when this value goes.
#[derive(Debug)]
pub struct Apart {
    dir: PathBuf,
}

impl Apart {
    /// Turns the context to the transcripts in `folder`: a copy of Claude Code's directory, or any folder with
    /// transcripts in it. No model is asked.
    pub fn from(ctx: &mut Ctx, folder: &Path) -> Result<Self, CliError> {
        let missing = |error| {
            CliError::new(format!("{} cannot be read", folder.display()))
                .cause(error)
                .hint("name a folder with transcripts in it, such as ~/.claude")
        };
        let folder = fs::canonicalize(folder).map_err(missing)?;
        fs::read_dir(&folder).map_err(missing)?;
        let apart = Self::turn(ctx, &folder)?;
        ctx.settings.observer.provider = "offline".into();
        Ok(apart)
    }

    /// Turns the context to a transcript of its own, and to whatever observer the settings name.
    pub fn with_sample(ctx: &mut Ctx, name: &str, lines: &str) -> Result<Self, CliError> {
        let apart = Self::turn(ctx, Path::new(""))?;
        let folder = apart.dir.join("claude/projects/sample");
        let made = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(name), lines));
        made.map_err(|error| CliError::new("a sample transcript cannot be written").cause(error))?;
        ctx.settings.record.roots = vec![apart.dir.join("claude").display().to_string()];
        Ok(apart)
    }

    fn turn(ctx: &mut Ctx, folder: &Path) -> Result<Self, CliError> {
        let name = format!("cmem-{}-{}", std::process::id(), ctx.clock_stamp());
        let dir = std::env::temp_dir().join(name);
        private_dir(&dir, None)
            .map_err(|error| CliError::new(format!("{} cannot be made", dir.display())).cause(error))?;
        let home = ctx.dirs.home.take();
        ctx.dirs = Dirs { home, config: ctx.dirs.config.clone(), claude: Vec::new(), ..Dirs::under(&dir, folder) };
        ctx.settings.record.roots = vec![folder.display().to_string()];
        Ok(Self { dir })
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}
