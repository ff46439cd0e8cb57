//! The store opened for one who asks: with the mode that gives types their signs, and with what the settings exclude.

use crate::config::repository::CaseRule;
use crate::config::{Dirs, Settings, mode_text};
use crate::gate::exclude::Exclusions;
use crate::memory::{Memory, MemoryId, Timestamp};
use crate::mode::{self, Mode};
use crate::recall::find::{Ask, Engine, Found, Nearest, Scope, find, total};
use crate::recall::nearest;
use crate::recall::query::{Local, Query, Sort, TypeWord, Vocabulary};
use crate::store::api::{Access, Filter, Order, PageKey, ProjectInfo};
use crate::store::{Result, Store};

use super::names::{Named, Unknown, named};

/// The store opened for one who asks.
pub struct Hub {
    store: Store,
    mode: Mode,
    exclusions: Exclusions,
    /// Ranks by meaning, or why nothing does.
    meaning: std::result::Result<Box<dyn Nearest>, String>,
}

impl Hub {
    /// Opens the store of these directories. Reading changes nothing, not even a file that is not there.
    pub fn open(dirs: &Dirs, settings: &Settings, access: Access, now: Timestamp) -> Result<Self> {
        let store = Store::open(&dirs.database(), access, now)?;
        // What is wrong with a mode is the collector's to report; lists still need signs for types.
        let (mode, _) = active_mode(dirs, settings);
        let (exclusions, _) = Exclusions::new(&settings.record.exclude, dirs.home.as_deref(), CaseRule::of_host());
        let meaning = nearest::by_setting(&settings.meaning)
            .map(|engine| Box::new(nearest::Prepared::new(engine, dirs.database(), now)) as Box<dyn Nearest>);
        Ok(Self { store, mode, exclusions, meaning })
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

    /// What the settings exclude.
    pub fn exclusions(&self) -> &Exclusions {
        &self.exclusions
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

    /// Words a query may name.
    pub fn vocabulary(&self) -> Result<Vocabulary> {
        let types =
            self.mode.types.iter().map(|it| TypeWord { id: it.id.clone(), letter: it.letter, label: it.label.clone() });
        Ok(Vocabulary {
            types: types.collect(),
            concepts: self.mode.concepts.iter().map(|it| it.id.clone()).collect(),
            projects: self.projects()?.into_iter().map(|project| project.name).collect(),
        })
    }

    /// What a question comes to.
    pub fn search(&self, question: &Question, local: &Local) -> Result<Answer> {
        let query = Query::parse(&question.text, &self.vocabulary()?, local);
        let scope = Scope { base: question.base.clone(), label: question.label.clone(), excluded: self.excluded()? };
        let ask = Ask {
            query: &query,
            scope: &scope,
            engine: question.engine,
            sort: question.sort,
            limit: question.limit,
            meaning: self.meaning.as_ref().map(|it| &**it).map_err(String::as_str),
            is: None,
        };
        let mut found = find(&self.store, &ask)?;
        let total = if question.count { Some(total(&self.store, &ask, &found)?) } else { None };
        if question.keys {
            let mut memories: Vec<Memory> = found.items.iter().map(|item| item.memory.clone()).collect();
            self.store.fill_keys(&mut memories)?;
            for (item, memory) in found.items.iter_mut().zip(memories) {
                item.memory.keys = memory.keys;
            }
        }
        Ok(Answer { found, total })
    }
}

/// The mode that the settings name, from the user's folder or as shipped, and what was wrong with it. One that cannot
/// be read is `code`.
pub fn active_mode(dirs: &Dirs, settings: &Settings) -> (Mode, Vec<String>) {
    let id = settings.observer.mode.as_str();
    let lookup = |id: &str| mode_text(dirs, id).or_else(|| mode::embedded_text(id));
    match mode::load(id, &lookup) {
        Ok(loaded) => (loaded.mode, loaded.warnings),
        Err(error) => (mode::code(), vec![format!("mode “{id}” cannot be used ({error}); “code” is")]),
    }
}

/// A question in words.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// In the query language.
    pub text: String,
    /// Conditions chosen apart from the text.
    pub base: Filter,
    /// What the project in `base` is called.
    pub label: String,
    /// How to look.
    pub engine: Engine,
    /// Order, unless the text names one.
    pub sort: Sort,
    /// At most this many.
    pub limit: usize,
    /// Whether all that answer are counted.
    pub count: bool,
    /// Whether event keys are wanted too.
    pub keys: bool,
}

/// What a question came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What was found, by which engines.
    pub found: Found,
    /// How many there are without the limit, if that was asked for.
    pub total: Option<u64>,
}
