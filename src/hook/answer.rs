//! From a hook's input to its answer.
#![allow(clippy::disallowed_methods, reason = "this is the file that looks at the file about to be read")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::config::repository::Resolver;
use crate::config::{Dirs, Settings};
use crate::gate::exclude::Exclusions;
use crate::memory::{MemoryId, ProjectRef, Timestamp};
use crate::mode::Mode;
use crate::recall::file_context::{FileFacts, MIN_BYTES};
use crate::recall::find::Nearest;
use crate::recall::injected::{Injected, Told, keep};
use crate::recall::renames;
use crate::recall::tell::Teller;
use crate::store::{Access, Store};

use super::{Input, Output};

/// How long git may take to name a file's earlier names.
const RENAMES: Duration = Duration::from_millis(80);

/// When a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session starts, resumes, is cleared, or goes on after compaction.
    SessionStart,
    /// A file is about to be read.
    PreRead,
    /// A prompt was sent.
    Prompt,
}

/// What is settled before a hook is answered.
pub struct Settled<'a> {
    /// Directories.
    pub dirs: &'a Dirs,
    /// Settings.
    pub settings: &'a Settings,
    /// What is left out.
    pub excluded: &'a Exclusions,
    /// The active mode.
    pub mode: &'a Mode,
    /// The reader's zone.
    pub zone: &'a TimeZone,
    /// The present, for the record of what was given.
    pub now: Timestamp,
    /// Ranking by meaning, made ready only where it is wanted.
    pub meaning: &'a dyn Fn() -> Result<Box<dyn Nearest>, String>,
}

/// The answer, or silence.
pub fn answer(moment: Moment, input: &Input, resolver: &mut Resolver, settled: &Settled<'_>) -> Option<Output> {
    let context = &settled.settings.context;
    if !context.enabled || input.cwd.is_empty() || !Path::new(&input.cwd).is_absolute() {
        return None;
    }
    // A helper agent works from its instructions; old titles misled such agents (A103).
    if !input.agent_id.is_empty() && !context.helpers {
        return None;
    }
    if Path::new(&input.cwd).starts_with(settled.dirs.observer()) {
        return None;
    }
    let wanted = match moment {
        Moment::SessionStart => match input.source.as_str() {
            "compact" => context.after_compact,
            "resume" => context.on_resume,
            _ => true,
        },
        Moment::PreRead => context.pre_read && !input.file_path.is_empty(),
        Moment::Prompt => context.prompt && !input.prompt.is_empty(),
    };
    if !wanted {
        return None;
    }
    let project = resolver.resolve(&input.cwd);
    if settled.excluded.covers(Some(&project), Some(&input.cwd)) {
        return None;
    }
    let store = Store::open(&settled.dirs.database(), Access::ReadOnly, settled.now).ok()?;
    let teller =
        Teller { store: &store, mode: settled.mode, zone: settled.zone, settings: context, excluded: settled.excluded };
    let told = || Told::read(&settled.dirs.state, &input.session_id);
    let text = match moment {
        Moment::SessionStart => session_start(&teller, &project, input, settled)?,
        Moment::PreRead => before_read(&teller, &project, input, settled, told())?,
        Moment::Prompt => {
            let meaning = (settled.meaning)();
            let meaning = meaning.as_ref().map(|it| &**it as &dyn Nearest).map_err(String::as_str);
            let mut told = told();
            let context = teller.with_prompt(&project, &input.prompt, meaning, told.notes()).ok()?;
            remember(&mut told, None, &context.ids());
            context.text
        }
    };
    Output::new(moment, text)
}

fn session_start(teller: &Teller<'_>, project: &ProjectRef, input: &Input, settled: &Settled<'_>) -> Option<String> {
    let context = teller.session_start(project).ok()?;
    if input.source != "resume" && !input.session_id.is_empty() {
        // What was told before is not in this context any more.
        Told::read(&settled.dirs.state, &input.session_id).forget();
    }
    if !context.text.is_empty() {
        let injected = Injected {
            project_root: project.root.clone(),
            session: input.session_id.clone(),
            at: settled.now,
            ids: context.ids(),
            text: context.text.clone(),
        };
        let _ = keep(&settled.dirs.state, &injected);
    }
    Some(context.text)
}

fn before_read(
    teller: &Teller<'_>,
    project: &ProjectRef,
    input: &Input,
    settled: &Settled<'_>,
    mut told: Told,
) -> Option<String> {
    let path = Path::new(&input.cwd).join(&input.file_path);
    let meta = fs::metadata(&path).ok().filter(|meta| meta.is_file() && meta.len() >= MIN_BYTES)?;
    let key = path.to_string_lossy().into_owned();
    // Once for a file in a session (A123).
    if told.has_file(&key) {
        return None;
    }
    let (mut file, checkout) = file_facts(&path, project, &meta);
    let mut context = teller.before_read(project, &file, told.notes()).ok()?;
    if context.text.is_empty()
        && context.left_out.is_empty()
        && add_earlier_names(&mut file, checkout, &settled.dirs.state, RENAMES)
    {
        context = teller.before_read(project, &file, told.notes()).ok()?;
    }
    if !context.text.is_empty() {
        remember(&mut told, Some(&key), &context.ids());
    }
    Some(context.text)
}

fn remember(told: &mut Told, path: Option<&str>, ids: &[MemoryId]) {
    if path.is_some() || !ids.is_empty() {
        let _ = told.add(path, ids);
    }
}

/// The file at `path` with all its names, for who can wait for git up to `limit`. `None`: there is no such file.
pub fn file_facts_of(path: &Path, project: &ProjectRef, state: &Path, limit: Duration) -> Option<FileFacts> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let (mut file, checkout) = file_facts(path, project, &meta);
    add_earlier_names(&mut file, checkout, state, limit);
    Some(file)
}

fn add_earlier_names(file: &mut FileFacts, checkout: Option<(PathBuf, String)>, state: &Path, limit: Duration) -> bool {
    let Some((checkout, relative)) = checkout else { return false };
    let earlier = renames::earlier_names(state, &checkout, &relative, limit);
    let any = !earlier.is_empty();
    file.spellings.extend(earlier);
    any
}

/// The file and its spellings; and the checkout it lies in with its path there, if it lies in one.
fn file_facts(path: &Path, project: &ProjectRef, meta: &fs::Metadata) -> (FileFacts, Option<(PathBuf, String)>) {
    let text = |path: &Path| path.to_string_lossy().replace('\\', "/");
    let mut spellings = Vec::new();
    // In a linked worktree the path is relative to that worktree, as notes of the main checkout have it.
    let checkout = path.ancestors().skip(1).find(|dir| dir.join(".git").exists()).map(Path::to_path_buf);
    let inside = |root: &Path| path.strip_prefix(root).ok().map(text).filter(|it| !it.is_empty());
    let relative = checkout.as_deref().and_then(inside).or_else(|| inside(Path::new(&project.root)));
    spellings.extend(relative.clone());
    if let Some(by_root) = inside(Path::new(&project.root)).filter(|it| Some(it) != relative.as_ref()) {
        spellings.push(by_root);
    }
    spellings.push(text(path));
    if let Ok(real) = fs::canonicalize(path)
        && real != path
    {
        spellings.push(text(&real));
        spellings.extend(checkout.as_deref().and_then(|root| real.strip_prefix(root).ok()).map(text));
    }
    let shown = relative.clone().unwrap_or_else(|| text(path));
    let changed_at = meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    (FileFacts { shown, spellings, bytes: meta.len(), changed_at }, checkout.zip(relative))
}
