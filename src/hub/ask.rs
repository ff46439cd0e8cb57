//! The store opened for one who asks: with the mode that gives types their signs, and with what the settings exclude.

use crate::config::repository::CaseRule;
use crate::config::{Dirs, Settings, mode_text};
use crate::gate::exclude::Exclusions;
use crate::memory::{Memory, MemoryId, Timestamp};
use crate::mode::{self, Mode};
use crate::store::api::{Access, Filter, Order, PageKey, ProjectInfo};
use crate::store::{Result, Store};

use super::names::{Named, Unknown, named};

/// The store opened for one who asks.
pub struct Hub {
    store: Store,
    mode: Mode,
    exclusions: Exclusions,
}

impl Hub {
    /// Opens the store of these directories. Reading changes nothing, not even a file that is not there.
    pub fn open(dirs: &Dirs, settings: &Settings, access: Access, now: Timestamp) -> Result<Self> {
        let store = Store::open(&dirs.database(), access, now)?;
        let lookup = |id: &str| mode_text(dirs, id).or_else(|| mode::embedded_text(id));
        // A mode that cannot be read is the collector's to report; lists still need signs for types.
        let mode = mode::load(&settings.observer.mode, &lookup).map_or_else(|_| mode::code(), |loaded| loaded.mode);
        let (exclusions, _) = Exclusions::new(&settings.record.exclude, dirs.home.as_deref(), CaseRule::of_host());
        Ok(Self { store, mode, exclusions })
    }

    /// The store itself, for questions that need no more.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The store, for changes.
    pub fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// The mode that names types.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// All projects.
    pub fn projects(&self) -> Result<Vec<ProjectInfo>> {
        self.store.projects()
    }

    /// The project that a typed name means.
    pub fn project(&self, typed: &str) -> Result<std::result::Result<Named, Unknown>> {
        Ok(named(&self.projects()?, typed))
    }

    /// Projects that the settings exclude, as words of `Filter::not_projects` (A094). Those excluded by hand are the
    /// store's to leave out.
    pub fn excluded(&self) -> Result<Vec<String>> {
        if self.exclusions.is_empty() {
            return Ok(Vec::new());
        }
        let projects = self.projects()?;
        let covered = projects.iter().filter(|project| self.exclusions.covers_project(&project.root, &project.name));
        let mut roots: Vec<String> = covered.map(|project| project.root.clone()).collect();
        roots.dedup();
        Ok(roots)
    }

    /// A page of memories, and whether more follow. What is excluded is left out unless the filter asks for it.
    pub fn list(&self, filter: &Filter, after: Option<PageKey>, limit: usize) -> Result<(Vec<Memory>, bool)> {
        let mut filter = filter.clone();
        if !filter.with_excluded_projects {
            filter.not_projects.extend(self.excluded()?);
        }
        let mut memories = self.store.list(&filter, Order::Newest, after, limit.saturating_add(1))?;
        let more = memories.len() > limit;
        memories.truncate(limit);
        Ok((memories, more))
    }

    /// Memories in full, in the order asked for, and the ids that name none.
    pub fn show(&self, ids: &[MemoryId]) -> Result<(Vec<Memory>, Vec<MemoryId>)> {
        let memories = self.store.get(ids)?;
        let missing = ids.iter().copied().filter(|id| !memories.iter().any(|memory| memory.id == *id)).collect();
        Ok((memories, missing))
    }
}
