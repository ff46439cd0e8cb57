//! One project under two names, two projects that are one, a project that is left alone.
//!
//! Names are paths and are compared by whole components: `/w/old` is not a beginning of `/w/old2` (A091).

use std::collections::BTreeMap;

use super::super::Store;
use super::super::error::{Result, StoreError};
use super::super::places::{ProjectRow, Projects};
use super::super::rows::write_tx;
use super::journal::{self, What};
use super::{Done, Who};
use crate::memory::ProjectRef;

impl Store {
    /// Says that a project is known by another path now: what was filed under `old`, or below it, is shown, found and
    /// given back under `new`; what may still come from `old` too. One step.
    pub fn alias_project(&mut self, old: &str, new: &str, who: Who<'_>) -> Result<Done> {
        let (old, new) = (old.trim_end_matches('/'), new.trim_end_matches('/'));
        if old.is_empty() || new.is_empty() || old == new {
            return Err(StoreError::Refused("an alias takes two different paths".into()));
        }
        if below(old, new).is_some() || below(new, old).is_some() {
            return Err(StoreError::Refused(format!("{old} and {new} lie within each other")));
        }
        let rows = Projects::load(&self.conn)?;
        let ids: Vec<i64> =
            rows.rows.iter().filter(|it| it.root == old || below(&it.root, old).is_some()).map(|it| it.id).collect();
        let label = format!("{old} → {new}");
        if ids.is_empty() {
            // Nothing is known of it yet: the name is kept for what comes.
            return self.alias_new(old, new, &label, who);
        }
        let name = |root: &str| root.rsplit(['/', '\\']).next().unwrap_or(root).to_owned();
        self.alias_rows(&ids, &label, "alias", who, |row| {
            let root = match below(&row.root, old) {
                Some(rest) => format!("{new}/{rest}"),
                None => new.to_owned(),
            };
            ProjectRef { name: name(&root), root, worktree: (!row.worktree.is_empty()).then(|| row.worktree.clone()) }
        })
    }

    /// Says that two projects are one: what was filed under `from` is shown under `into`. One step.
    pub fn merge_projects(&mut self, from: &str, into: &str, who: Who<'_>) -> Result<Done> {
        let rows = Projects::load(&self.conn)?;
        let (from, into) = (from.trim_end_matches('/'), into.trim_end_matches('/'));
        for root in [from, into] {
            if !rows.rows.iter().any(|it| it.root == root) {
                return Err(StoreError::NotFound(format!("project {root}")));
            }
        }
        if from == into {
            return Err(StoreError::Refused("merging takes two different projects".into()));
        }
        let ids: Vec<i64> = rows.rows.iter().filter(|it| it.root == from).map(|it| it.id).collect();
        let target = rows
            .rows
            .iter()
            .find(|it| it.root == into && it.worktree.is_empty())
            .or_else(|| rows.rows.iter().find(|it| it.root == into))
            .map(|it| it.name.clone());
        let label = format!("{from} → {into}");
        self.alias_rows(&ids, &label, "merge-projects", who, |row| ProjectRef {
            root: into.to_owned(),
            name: target.clone().unwrap_or_default(),
            worktree: (!row.worktree.is_empty()).then(|| row.worktree.clone()),
        })
    }

    /// Switches a project off (not recorded, not given back, not found) or on again. One step.
    pub fn exclude_project(&mut self, root: &str, excluded: bool, who: Who<'_>) -> Result<Done> {
        let tx = write_tx(&mut self.conn)?;
        let rows = Projects::load(&tx)?;
        let verb = if excluded { "exclude-project" } else { "include-project" };
        let step = journal::begin(&tx, who, verb, root)?;
        let named = rows.named(root);
        let mut targets: Vec<i64> = named.iter().filter_map(|&id| rows.effective(id).map(|it| it.id)).collect();
        if targets.is_empty() {
            let name = root.rsplit(['/', '\\']).next().unwrap_or(root).to_owned();
            targets.push(journal::project_row(&tx, step, &ProjectRef { root: root.to_owned(), name, worktree: None })?);
        }
        targets.sort_unstable();
        targets.dedup();
        let mut done = Done::default();
        for id in targets {
            let now = rows.get(id).is_some_and(|it| it.excluded);
            if now != excluded {
                set(&tx, step, id, "excluded", i64::from(now), i64::from(excluded))?;
                done.rows += 1;
            }
        }
        done.step = (!journal::drop_if_empty(&tx, step)?).then_some(step);
        tx.commit()?;
        Ok(done)
    }

    fn alias_new(&mut self, old: &str, new: &str, label: &str, who: Who<'_>) -> Result<Done> {
        let tx = write_tx(&mut self.conn)?;
        let step = journal::begin(&tx, who, "alias", label)?;
        let project = |root: &str| ProjectRef {
            root: root.to_owned(),
            name: root.rsplit(['/', '\\']).next().unwrap_or(root).to_owned(),
            worktree: None,
        };
        let from = journal::project_row(&tx, step, &project(old))?;
        let to = journal::project_row(&tx, step, &project(new))?;
        set(&tx, step, from, "alias_of", 0, to)?;
        tx.commit()?;
        Ok(Done { step: Some(step), ..Done::default() })
    }

    /// Points project rows to the rows that stand for them from now on. `rows` counts the memories concerned.
    pub(super) fn alias_rows(
        &mut self,
        ids: &[i64],
        label: &str,
        verb: &str,
        who: Who<'_>,
        target: impl Fn(&ProjectRow) -> ProjectRef,
    ) -> Result<Done> {
        let tx = write_tx(&mut self.conn)?;
        let rows = Projects::load(&tx)?;
        let step = journal::begin(&tx, who, verb, label)?;
        let mut to_of: BTreeMap<i64, i64> = BTreeMap::new();
        for row in ids.iter().filter_map(|&id| rows.get(id)) {
            let to = journal::project_row(&tx, step, &target(row))?;
            // The other way round before: it stands for itself again.
            let back: i64 = tx.query_row("SELECT alias_of FROM project WHERE id = ?1", [to], |it| it.get(0))?;
            if back != 0 {
                set(&tx, step, to, "alias_of", back, 0)?;
            }
            to_of.insert(row.id, to);
        }
        let mut done = Done { step: Some(step), ..Done::default() };
        for row in &rows.rows {
            // Rows that pointed to a renamed one follow it: never a chain.
            let to = to_of.get(&row.id).or_else(|| to_of.get(&row.alias_of)).copied();
            if let Some(to) = to
                && to != row.id
                && row.alias_of != to
            {
                set(&tx, step, row.id, "alias_of", row.alias_of, to)?;
                let n: i64 = tx
                    .prepare_cached("SELECT coalesce(sum(n), 0) FROM type_count WHERE project = ?1")?
                    .query_row([row.id], |it| it.get(0))?;
                done.rows += n.max(0) as u64;
            }
        }
        if journal::drop_if_empty(&tx, step)? {
            done.step = None;
        }
        tx.commit()?;
        Ok(done)
    }
}

/// The part of `path` below `dir`, by whole components.
fn below<'a>(path: &'a str, dir: &str) -> Option<&'a str> {
    path.strip_prefix(dir)?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

fn set(tx: &rusqlite::Connection, step: i64, id: i64, field: &str, old: i64, new: i64) -> Result<()> {
    let (before, after) = (serde_json::json!({ field: old }), serde_json::json!({ field: new }));
    if let serde_json::Value::Object(fields) = &after {
        journal::set_row_fields(tx, What::Project, id, fields)?;
    }
    journal::note(tx, step, What::Project, id, &before.to_string(), &after.to_string())
}
