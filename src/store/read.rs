//! Reading: lists by pages, rows by id, titles for a list in memory, counts from counters.

use rusqlite::OptionalExtension;
use rusqlite::types::Value;

use super::api::{Filter, HourCount, Order, PageKey, TitleRow, TypeCount};
use super::error::Result;
use super::filter::Conditions;
use super::places::NameBook;
use super::{Store, ledger, pack, rows};
use crate::memory::{Memory, MemoryId, Timestamp, millis};

impl Store {
    /// A page of rows in order of event time, behind `after`. `Memory::keys` stay empty (see [`Store::fill_keys`]).
    /// Flat in the size of the database and in the depth of the page.
    pub fn list(&self, filter: &Filter, order: Order, after: Option<PageKey>, limit: usize) -> Result<Vec<Memory>> {
        let images = self.list_images(filter, order, after, limit)?;
        Ok(NameBook::open(&self.conn)?.memories(images))
    }

    pub(super) fn list_images(
        &self,
        filter: &Filter,
        order: Order,
        after: Option<PageKey>,
        limit: usize,
    ) -> Result<Vec<rows::Image>> {
        let conditions = Conditions::of(&self.conn, filter)?;
        let direction = if order == Order::Oldest { "m.ord ASC" } else { "m.ord DESC" };
        let mut from = after.map(|key| self.place_of(key, order)).transpose()?;
        let mut out = Vec::new();
        // Globs are decided on the row; read on until the page is full.
        let step = if conditions.globs.is_some() { limit.max(64) } else { limit };
        loop {
            let (ids, params) = conditions.ids_query(order, from, step, false);
            let images = rows::load_all(&self.conn, &ids, &params, direction)?;
            let full = images.len() == step;
            if let Some(last) = images.last() {
                from = Some((last.ord, PageKey { created_ms: last.created_ms, id: MemoryId(last.id) }));
            }
            let accept = |image: &rows::Image| conditions.globs.as_ref().is_none_or(|globs| globs.accept(image));
            out.extend(images.into_iter().filter(accept));
            if !full || out.len() >= limit {
                out.truncate(limit);
                return Ok(out);
            }
        }
    }

    /// Where a page begins. If its row is gone, the rows of its millisecond are skipped as far as they come first.
    fn place_of(&self, key: PageKey, order: Order) -> Result<(i64, PageKey)> {
        let known: Option<i64> = self
            .conn
            .prepare_cached("SELECT ord FROM memory WHERE id = ?1 AND created_ms = ?2")?
            .query_row((key.id.0, key.created_ms), |row| row.get(0))
            .optional()?;
        if let Some(ord) = known {
            return Ok((ord, key));
        }
        let sql = if order == Order::Oldest {
            "SELECT max(ord) FROM memory WHERE ord BETWEEN ?1 * 8 AND ?1 * 8 + 7 AND id < ?2"
        } else {
            "SELECT min(ord) FROM memory WHERE ord BETWEEN ?1 * 8 AND ?1 * 8 + 7 AND id > ?2"
        };
        let near: Option<i64> =
            self.conn.prepare_cached(sql)?.query_row((key.created_ms, key.id.0), |row| row.get(0))?;
        let base = key.created_ms * 8;
        Ok((near.unwrap_or(if order == Order::Oldest { base - 1 } else { base + 8 }), key))
    }

    /// Memories by id, in the order asked for, with their keys. Ids that are not there are left out.
    pub fn get(&self, ids: &[MemoryId]) -> Result<Vec<Memory>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let images = rows::load_these(&self.conn, &ids)?;
        let events: Vec<Vec<u8>> = images.iter().map(|image| image.events.clone()).collect();
        let mut memories = NameBook::open(&self.conn)?.memories(images);
        for (memory, events) in memories.iter_mut().zip(events) {
            memory.keys = ledger::keys_of(&self.conn, &pack::unpack_ids(&events))?;
        }
        Ok(memories)
    }

    /// Looks up the event keys of listed memories.
    pub fn fill_keys(&self, memories: &mut [Memory]) -> Result<()> {
        let mut query = self.conn.prepare_cached("SELECT events FROM memory_body WHERE id = ?1")?;
        for memory in memories {
            let events: Option<Vec<u8>> = query.query_row([memory.id.0], |row| row.get(0)).optional()?;
            memory.keys = ledger::keys_of(&self.conn, &pack::unpack_ids(&events.unwrap_or_default()))?;
        }
        Ok(())
    }

    /// The near-equal findings that stand behind a row (A030), oldest first, without the row itself.
    pub fn folded(&self, head: MemoryId) -> Result<Vec<Memory>> {
        let ids = "SELECT id, ord FROM memory WHERE folded_into = ? AND folded_into <> 0";
        let images = rows::load_all(&self.conn, ids, &[Value::from(head.0)], "m.ord ASC")?;
        Ok(NameBook::open(&self.conn)?.memories(images))
    }

    /// Short forms of rows for a list in memory, in descending order of id (the order they lie on disk, which is what
    /// makes a million quick), from below `before` on. Folded rows are left out. `each` returns `false` to stop.
    pub fn titles(&self, before: Option<MemoryId>, each: &mut dyn FnMut(TitleRow<'_>) -> bool) -> Result<()> {
        let mut query = self.conn.prepare_cached(
            "SELECT id, created_ms, kind, type, project, title, subtitle, facts, tokens, pinned, excluded, folded_into, \
                session, prompt_number, edited, abandoned, superseded_by <> 0, agent <> '' \
             FROM memory WHERE id < ?1 ORDER BY id DESC",
        )?;
        let mut found = query.query([before.map_or(i64::MAX, |it| it.0)])?;
        while let Some(row) = found.next()? {
            if row.get::<_, i64>(11)? != 0 {
                continue;
            }
            let text = |at: usize| -> Result<&str> { Ok(row.get_ref(at)?.as_str().unwrap_or("")) };
            let title = TitleRow {
                id: MemoryId(row.get(0)?),
                created_ms: row.get(1)?,
                kind: rows::kind_of(row.get(2)?),
                type_id: text(3)?,
                project: row.get(4)?,
                title: text(5)?,
                subtitle: text(6)?,
                facts: text(7)?,
                tokens: row.get(8)?,
                pinned: row.get(9)?,
                excluded: row.get(10)?,
                session: row.get(12)?,
                prompt_number: row.get(13)?,
                edited: row.get(14)?,
                abandoned: row.get(15)?,
                superseded: row.get(16)?,
                helper: row.get(17)?,
            };
            if !each(title) {
                break;
            }
        }
        Ok(())
    }

    /// Numbers of sessions, as in [`TitleRow::session`], above `after`, with their ids.
    pub fn session_numbers(&self, after: i64) -> Result<Vec<(i64, String)>> {
        let mut query = self.conn.prepare_cached("SELECT id, key FROM session WHERE id > ?1 ORDER BY id")?;
        let found = query.query_map([after], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<std::result::Result<_, _>>()?)
    }

    /// How many rows a filter matches, counted. From counters where it asks for no more than projects and kinds.
    pub fn count(&self, filter: &Filter) -> Result<u64> {
        if is_plain(filter) {
            return Ok(self.type_counts(filter)?.iter().map(|it| it.n).sum());
        }
        if !filter.files.is_empty() {
            return Ok(self.list_images(filter, Order::Newest, None, usize::MAX >> 1)?.len() as u64);
        }
        let conditions = Conditions::of(&self.conn, filter)?;
        let (ids, params) = conditions.ids_query(Order::Newest, None, usize::MAX, false);
        let n: i64 = self
            .conn
            .prepare_cached(&format!("SELECT count(*) FROM ({ids})"))?
            .query_row(rusqlite::params_from_iter(params), |row| row.get(0))?;
        Ok(n.max(0) as u64)
    }

    /// Ids a filter matches, newest first, all of them.
    pub fn ids(&self, filter: &Filter) -> Result<Vec<MemoryId>> {
        if !filter.files.is_empty() {
            let images = self.list_images(filter, Order::Newest, None, usize::MAX >> 1)?;
            return Ok(images.into_iter().map(|it| MemoryId(it.id)).collect());
        }
        let conditions = Conditions::of(&self.conn, filter)?;
        let (ids, params) = conditions.ids_query(Order::Newest, None, usize::MAX, false);
        let mut query = self.conn.prepare(&ids)?;
        let found = query.query_map(rusqlite::params_from_iter(params), |row| Ok(MemoryId(row.get(0)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Rows by kind and type, most first. A type part of the filter is left out, so that switching a type on or off
    /// never changes its own number (tui.md B.9). From counters where the filter has no more than projects and kinds.
    pub fn type_counts(&self, filter: &Filter) -> Result<Vec<TypeCount>> {
        let filter = Filter { types: Vec::new(), not_types: Vec::new(), ..filter.clone() };
        let conditions = Conditions::of(&self.conn, &filter)?;
        let mut out = Vec::new();
        let mut add = |kind: u8, type_id: String, n: i64, tokens: i64| {
            let (n, tokens) = (n.max(0) as u64, tokens.max(0) as u64);
            if n > 0 {
                out.push(TypeCount { kind: rows::kind_of(kind), type_id, n, tokens });
            }
        };
        let (sql, params) = if is_plain(&filter) {
            let mut sql =
                format!("SELECT m.kind, m.type, sum(m.n), sum(m.tokens) FROM type_count m WHERE 1{}", conditions.sql);
            let mut params = conditions.params.clone();
            if let Some(ids) = &conditions.projects {
                sql.push_str(&format!(" AND m.project IN ({})", vec!["?"; ids.len()].join(", ")));
                params.extend(ids.iter().map(|&id| Value::from(id)));
            }
            (sql + " GROUP BY m.kind, m.type", params)
        } else if filter.files.is_empty() {
            let (ids, params) = conditions.ids_query(Order::Newest, None, usize::MAX, false);
            let sql = format!(
                "SELECT m.kind, m.type, count(*), sum(m.tokens) FROM ({ids}) f JOIN memory m ON m.id = f.id \
                 GROUP BY m.kind, m.type"
            );
            (sql, params)
        } else {
            let mut counts: std::collections::BTreeMap<(u8, String), (i64, i64)> = Default::default();
            for image in self.list_images(&filter, Order::Newest, None, usize::MAX >> 1)? {
                let slot = counts.entry((image.kind, image.type_id)).or_default();
                slot.0 += 1;
                slot.1 += i64::from(image.tokens);
            }
            counts.into_iter().for_each(|((kind, type_id), (n, tokens))| add(kind, type_id, n, tokens));
            out.sort_by(|a, b| b.n.cmp(&a.n).then_with(|| a.type_id.cmp(&b.type_id)));
            return Ok(out);
        };
        let mut query = self.conn.prepare_cached(&sql)?;
        let mut found = query.query(rusqlite::params_from_iter(params))?;
        while let Some(row) = found.next()? {
            add(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        }
        out.sort_by(|a, b| b.n.cmp(&a.n).then_with(|| a.type_id.cmp(&b.type_id)));
        Ok(out)
    }

    /// What each hour of a span holds, from counters, oldest first; only hours that hold something. `projects` as in
    /// `Filter::projects`, empty for all.
    pub fn hour_counts(&self, projects: &[String], from: Timestamp, until: Timestamp) -> Result<Vec<HourCount>> {
        let filter = Filter { projects: projects.to_vec(), kinds: super::api::ALL_KINDS.to_vec(), ..Filter::default() };
        let conditions = Conditions::of(&self.conn, &filter)?;
        let hour = |time: Timestamp| Value::from(millis(time).div_euclid(3_600_000));
        let mut sql = format!(
            "SELECT m.hour, m.kind, m.type, sum(m.n), sum(m.tokens), sum(m.work_tokens) FROM hour_count m \
             WHERE 1{}",
            conditions.sql
        );
        let mut params = conditions.params;
        match &conditions.projects {
            Some(ids) => {
                sql.push_str(&format!(" AND m.project IN ({})", vec!["?"; ids.len()].join(", ")));
                params.extend(ids.iter().map(|&id| Value::from(id)));
            }
            // The key begins with the project: naming all of them lets the hours be a range.
            None => sql.push_str(" AND m.project IN (SELECT id FROM project UNION ALL SELECT 0)"),
        }
        sql.push_str(" AND m.hour >= ? AND m.hour < ? GROUP BY m.hour, m.kind, m.type ORDER BY m.hour");
        params.extend([hour(from), hour(until)]);
        let mut query = self.conn.prepare_cached(&sql)?;
        let rows = query.query_map(rusqlite::params_from_iter(params), |row| {
            let count = |at: usize| -> rusqlite::Result<u64> { Ok(row.get::<_, i64>(at)?.max(0) as u64) };
            Ok(HourCount {
                hour: row.get(0)?,
                kind: rows::kind_of(row.get(1)?),
                type_id: row.get(2)?,
                n: count(3)?,
                tokens: count(4)?,
                work_tokens: count(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Highest id given out so far; 0 for none. A cheap way to see whether something was added.
    pub fn last_id(&self) -> Result<i64> {
        Ok(self
            .conn
            .prepare_cached("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memory'), 0)")?
            .query_row([], |row| row.get(0))?)
    }
}

/// Whether counters can answer: nothing but projects and kinds.
fn is_plain(filter: &Filter) -> bool {
    let bare = Filter {
        projects: filter.projects.clone(),
        not_projects: filter.not_projects.clone(),
        kinds: filter.kinds.clone(),
        with_excluded_projects: filter.with_excluded_projects,
        ..Filter::default()
    };
    *filter == bare
}
