//! Every row of every list, in memory: what is drawn, filtered and searched without asking anybody.
//!
//! A row is 48 bytes; its text (title, subtitle, facts, folded copy) lies in a block shared with the rows it came
//! with. Rows are referred to by [`RowIx`], which never changes, and kept in time order in one deque: new rows are
//! pushed at its front, older pages at its back. A changed row gets its new text at the end of the arena; a row that
//! is gone stays as a hole until the program ends. With 1,000,000 rows of a hundred letters that is about 160 MB.
//!
//! `sieve` decides which rows a query admits, `needle` searches their text.

mod needle;
mod sieve;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::hub::live::{BatchRow, RowBatch, RowFlags, SessionInfo};
use crate::memory::MemoryId;
use crate::store::api::PageKey;

pub use needle::Needles;
pub use sieve::{Outside, Sieve, Sifted, needs_source};

/// More rows than this are merged in one pass instead of placed one by one.
const MANY: usize = 64;

/// A row of the arena. Stays the same as long as the program runs.
pub type RowIx = u32;

/// A row: numbers here, text in a block.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Row id.
    pub id: i64,
    /// Event time.
    pub created_ms: i64,
    block: u32,
    at: u32,
    title: u16,
    subtitle: u16,
    facts: u16,
    folded: u16,
    /// Type.
    pub type_ix: u16,
    /// Project.
    pub project_ix: u16,
    /// Session.
    pub session_ix: u32,
    /// Tokens to read it.
    pub tokens: u32,
    /// Prompt number.
    pub prompt: u16,
    /// Properties.
    pub flags: RowFlags,
}

impl Row {
    /// Its place in time.
    pub fn key(&self) -> PageKey {
        PageKey { created_ms: self.created_ms, id: MemoryId(self.id) }
    }

    /// Its id.
    pub fn memory(&self) -> MemoryId {
        MemoryId(self.id)
    }
}

/// A session as the feed's headings show it.
#[derive(Clone, Debug, Default)]
pub struct SessionEntry {
    /// Its id; empty for rows without one.
    pub id: String,
    /// What is known of it beyond its rows.
    pub info: Option<SessionInfo>,
    /// Its observations in the arena.
    pub rows: u32,
    /// Observations as the headings last showed them: a heading on a held screen does not change (D.6).
    pub shown: u32,
    /// Its newest summary, whose number is the session's short name (`S171`); 0: none.
    pub summary: i64,
}

impl SessionEntry {
    /// How a query names it: `S171`, or its id.
    pub fn word(&self) -> String {
        if self.summary > 0 { format!("S{}", self.summary) } else { self.id.clone() }
    }

    /// How people see it: `S171`, or the beginning of its id.
    pub fn label(&self) -> String {
        if self.summary > 0 { format!("S{}", self.summary) } else { crate::memory::clip_chars(&self.id, 6).to_owned() }
    }
}

/// What a batch came to.
#[derive(Debug, Default)]
pub struct Absorbed {
    /// Rows that are new, newest first.
    pub added: Vec<RowIx>,
    /// Rows that stand in another's place now: old, new.
    pub replaced: Vec<(RowIx, RowIx)>,
}

/// All rows.
#[derive(Debug, Default)]
pub struct Arena {
    blocks: Vec<Arc<String>>,
    rows: Vec<Row>,
    /// Newest first.
    order: VecDeque<RowIx>,
    types: Vec<String>,
    projects: Vec<String>,
    sessions: Vec<SessionEntry>,
    type_of: HashMap<String, u16>,
    project_of: HashMap<String, u16>,
    session_of: HashMap<String, u32>,
}

impl Arena {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// None.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// A row.
    pub fn row(&self, ix: RowIx) -> &Row {
        &self.rows[ix as usize]
    }

    /// All rows, newest first.
    pub fn newest_first(&self) -> impl DoubleEndedIterator<Item = RowIx> + '_ {
        self.order.iter().copied()
    }

    /// Title.
    pub fn title(&self, row: &Row) -> &str {
        self.slice(row, 0, row.title)
    }

    /// Subtitle.
    pub fn subtitle(&self, row: &Row) -> &str {
        self.slice(row, usize::from(row.title) + 1, row.subtitle)
    }

    /// Facts, one a line.
    pub fn facts<'a>(&'a self, row: &Row) -> impl Iterator<Item = &'a str> {
        let before = usize::from(row.title) + usize::from(row.subtitle) + 2;
        self.slice(row, before, row.facts).split('\u{1f}').filter(|fact| !fact.is_empty())
    }

    /// Everything that is searched: title, subtitle, facts, folded copy.
    pub fn text(&self, row: &Row) -> &str {
        let at = row.at as usize;
        let len = [row.title, row.subtitle, row.facts, row.folded].into_iter().map(usize::from).sum::<usize>() + 3;
        &self.blocks[row.block as usize][at..at + len]
    }

    /// Title, subtitle and facts as written, without the folded copy.
    pub fn original(&self, row: &Row) -> &str {
        let at = row.at as usize;
        let len = [row.title, row.subtitle, row.facts].into_iter().map(usize::from).sum::<usize>() + 2;
        &self.blocks[row.block as usize][at..at + len]
    }

    fn slice(&self, row: &Row, from: usize, len: u16) -> &str {
        let at = row.at as usize + from;
        &self.blocks[row.block as usize][at..at + usize::from(len)]
    }

    /// Type word of a row.
    pub fn type_of(&self, row: &Row) -> &str {
        &self.types[usize::from(row.type_ix)]
    }

    /// All type words, by index.
    pub fn types(&self) -> &[String] {
        &self.types
    }

    /// Project root of a row.
    pub fn project_of(&self, row: &Row) -> &str {
        &self.projects[usize::from(row.project_ix)]
    }

    /// All project roots, by index.
    pub fn projects(&self) -> &[String] {
        &self.projects
    }

    /// Session of a row.
    pub fn session_of(&self, row: &Row) -> &SessionEntry {
        &self.sessions[row.session_ix as usize]
    }

    /// A session by its id.
    pub fn session_by_id(&self, id: &str) -> Option<&SessionEntry> {
        self.session_of.get(id).map(|ix| &self.sessions[*ix as usize])
    }

    /// All sessions, by index.
    pub fn sessions(&self) -> &[SessionEntry] {
        &self.sessions
    }

    /// What is known of sessions beyond their rows.
    pub fn learn_sessions(&mut self, infos: &[SessionInfo]) {
        for info in infos {
            let ix = self.session_ix(&info.id);
            self.sessions[ix as usize].info = Some(info.clone());
        }
    }

    /// Headings show the present counts from now on.
    pub fn settle_sessions(&mut self) {
        for session in &mut self.sessions {
            session.shown = session.rows;
        }
    }

    /// Takes a batch in. Rows with an id and time that are there already are replaced.
    pub fn absorb(&mut self, batch: RowBatch) -> Absorbed {
        let types: Vec<u16> = batch.types.iter().map(|word| self.type_ix(word)).collect();
        let projects: Vec<u16> = batch.projects.iter().map(|root| self.project_ix(root)).collect();
        let sessions: Vec<u32> = batch.sessions.iter().map(|id| self.session_ix(id)).collect();
        let block = self.blocks.len() as u32;
        let mut done = Absorbed::default();
        let mut text = batch.text;
        text.shrink_to_fit();
        self.blocks.push(Arc::new(text));
        self.rows.reserve(batch.rows.len());
        let many = batch.rows.len() > MANY;
        let first = self.rows.len() as RowIx;
        for row in &batch.rows {
            let ix = self.rows.len() as RowIx;
            let row = take(row, block, &types, &projects, &sessions);
            if !many {
                self.place(ix, &row, &mut done);
            }
            self.rows.push(row);
        }
        if many {
            self.merge(first, &mut done);
        }
        done.added.sort_by_key(|ix| Reverse(sort_key(&self.rows[*ix as usize])));
        done
    }

    /// Many rows find their places in one pass over the order.
    fn merge(&mut self, first: RowIx, done: &mut Absorbed) {
        let mut new: Vec<RowIx> = (first..self.rows.len() as RowIx).collect();
        new.sort_by_key(|ix| Reverse(sort_key(&self.rows[*ix as usize])));
        let mut new = new.into_iter().peekable();
        let old = std::mem::take(&mut self.order);
        let mut order = VecDeque::with_capacity(old.len() + new.len());
        let key = |rows: &[Row], ix: RowIx| sort_key(&rows[ix as usize]);
        for ix in old {
            let place = key(&self.rows, ix);
            while let Some(next) = new.next_if(|next| key(&self.rows, *next) > place) {
                order.push_back(next);
                done.added.push(next);
            }
            match new.next_if(|next| key(&self.rows, *next) == place) {
                Some(same) => {
                    order.push_back(same);
                    done.replaced.push((ix, same));
                }
                None => order.push_back(ix),
            }
        }
        for ix in new {
            order.push_back(ix);
            done.added.push(ix);
        }
        self.order = order;
        for (old, _) in &done.replaced {
            self.forget(*old);
        }
        for ix in done.added.iter().chain(done.replaced.iter().map(|(_, new)| new)) {
            let row = self.rows[*ix as usize];
            self.join_session(&row);
        }
    }

    fn place(&mut self, ix: RowIx, row: &Row, done: &mut Absorbed) {
        let key = sort_key(row);
        let back = self.order.back().map(|last| sort_key(&self.rows[*last as usize]));
        let front = self.order.front().map(|first| sort_key(&self.rows[*first as usize]));
        if back.is_none_or(|back| key < back) {
            self.order.push_back(ix);
        } else if front.is_some_and(|front| key > front) {
            self.order.push_front(ix);
        } else {
            let at = self.position(row.key());
            if let Some(old) = self.order.get(at).copied().filter(|old| self.rows[*old as usize].id == row.id) {
                self.order[at] = ix;
                self.forget(old);
                self.join_session(row);
                done.replaced.push((old, ix));
                return;
            }
            self.order.insert(at, ix);
        }
        self.join_session(row);
        done.added.push(ix);
    }

    fn join_session(&mut self, row: &Row) {
        let session = &mut self.sessions[row.session_ix as usize];
        session.rows += u32::from(is_observation(row));
        if row.flags.has(RowFlags::SUMMARY) {
            session.summary = session.summary.max(row.id);
        }
    }

    fn forget(&mut self, ix: RowIx) {
        let row = &mut self.rows[ix as usize];
        row.flags.set(RowFlags::GONE, true);
        let counted = u32::from(is_observation(row));
        let session = &mut self.sessions[row.session_ix as usize];
        session.rows = session.rows.saturating_sub(counted);
    }

    /// Takes rows out. Returns those that were there.
    pub fn remove(&mut self, ids: &[MemoryId]) -> Vec<RowIx> {
        let found = self.find(ids);
        for ix in &found {
            let at = self.position(self.rows[*ix as usize].key());
            if self.order.get(at) == Some(ix) {
                self.order.remove(at);
            }
            self.forget(*ix);
        }
        found
    }

    /// The rows of ids, in one pass over all rows however many ids there are.
    pub fn find(&self, ids: &[MemoryId]) -> Vec<RowIx> {
        if ids.is_empty() {
            return Vec::new();
        }
        let wanted: HashSet<i64> = ids.iter().map(|id| id.0).collect();
        let present = |row: &Row| !row.flags.has(RowFlags::GONE) && wanted.contains(&row.id);
        let mut found = Vec::with_capacity(ids.len());
        for (ix, row) in self.rows.iter().enumerate() {
            if present(row) {
                found.push(ix as RowIx);
                if found.len() == wanted.len() {
                    break;
                }
            }
        }
        found
    }

    /// Where a place in time is in the order: the row there, or where it would stand.
    pub fn position(&self, key: PageKey) -> usize {
        self.order.partition_point(|ix| sort_key(&self.rows[*ix as usize]) > (key.created_ms, key.id.0))
    }

    /// Lets go of everything, to load anew.
    pub fn clear(&mut self) {
        *self = Self { sessions: Vec::new(), ..Self::default() };
    }

    /// Text blocks and where the newest `limit` rows stand in them, for a search on another thread.
    pub fn share(&self, limit: usize) -> Shared {
        let rows = self.order.iter().take(limit).map(|ix| {
            let row = self.row(*ix);
            (*ix, row.block, row.at, usize::from(row.title) + usize::from(row.subtitle) + 1)
        });
        Shared {
            blocks: self.blocks.clone(),
            rows: rows.map(|(ix, block, at, len)| (ix, block, at, len as u32)).collect(),
        }
    }

    fn type_ix(&mut self, word: &str) -> u16 {
        let next = self.types.len() as u16;
        intern(&mut self.type_of, word, next, || self.types.push(word.to_owned()))
    }

    fn project_ix(&mut self, root: &str) -> u16 {
        let next = self.projects.len() as u16;
        intern(&mut self.project_of, root, next, || self.projects.push(root.to_owned()))
    }

    fn session_ix(&mut self, id: &str) -> u32 {
        let next = self.sessions.len() as u32;
        let entry = || self.sessions.push(SessionEntry { id: id.to_owned(), ..SessionEntry::default() });
        intern(&mut self.session_of, id, next, entry)
    }
}

/// Texts of many rows, for another thread.
#[derive(Clone, Debug)]
pub struct Shared {
    blocks: Vec<Arc<String>>,
    rows: Vec<(RowIx, u32, u32, u32)>,
}

impl Shared {
    /// Each row with its title and subtitle, newest first.
    pub fn texts(&self) -> impl Iterator<Item = (RowIx, &str)> {
        self.rows
            .iter()
            .map(|(ix, block, at, len)| (*ix, &self.blocks[*block as usize][*at as usize..(*at + *len) as usize]))
    }
}

fn take(row: &BatchRow, block: u32, types: &[u16], projects: &[u16], sessions: &[u32]) -> Row {
    Row {
        id: row.id,
        created_ms: row.created_ms,
        block,
        at: row.at,
        title: row.title,
        subtitle: row.subtitle,
        facts: row.facts,
        folded: row.folded,
        type_ix: types[usize::from(row.type_ix)],
        project_ix: projects[usize::from(row.project_ix)],
        session_ix: sessions[row.session_ix as usize],
        tokens: row.tokens,
        prompt: row.prompt,
        flags: row.flags,
    }
}

/// What a heading counts as `obs`: not summaries, not prompts.
fn is_observation(row: &Row) -> bool {
    row.flags.0 & (RowFlags::SUMMARY | RowFlags::PROMPT) == 0
}

fn sort_key(row: &Row) -> (i64, i64) {
    (row.created_ms, row.id)
}

fn intern<N: Copy>(of: &mut HashMap<String, N>, word: &str, next: N, add: impl FnOnce()) -> N {
    if let Some(ix) = of.get(word) {
        return *ix;
    }
    add();
    of.insert(word.to_owned(), next);
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::live::ListRow;

    fn batch(rows: &[(i64, i64, &str)]) -> RowBatch {
        let mut batch = RowBatch::default();
        for (id, created_ms, title) in rows {
            batch.push(&ListRow { id: *id, created_ms: *created_ms, title, session: "s", ..ListRow::default() });
        }
        batch
    }

    fn titles(arena: &Arena) -> Vec<&str> {
        arena.newest_first().map(|ix| arena.title(arena.row(ix))).collect()
    }

    #[test]
    fn rows_stand_newest_first_whatever_order_they_come_in() {
        let mut arena = Arena::default();
        arena.absorb(batch(&[(5, 50, "five"), (4, 40, "four")]));
        arena.absorb(batch(&[(2, 20, "two"), (1, 10, "one")]));
        arena.absorb(batch(&[(6, 30, "late"), (7, 60, "new")]));
        assert_eq!(titles(&arena), ["new", "five", "four", "late", "two", "one"]);
        assert_eq!(arena.sessions()[0].rows, 6);
    }

    #[test]
    fn a_changed_row_takes_its_own_place_and_a_removed_one_leaves() {
        let mut arena = Arena::default();
        arena.absorb(batch(&[(3, 30, "three"), (2, 20, "two"), (1, 10, "one")]));
        let done = arena.absorb(batch(&[(2, 20, "two, again")]));
        assert_eq!((done.added.len(), done.replaced.len()), (0, 1));
        assert_eq!(titles(&arena), ["three", "two, again", "one"]);
        assert_eq!(arena.remove(&[MemoryId(3), MemoryId(99)]).len(), 1);
        assert_eq!(titles(&arena), ["two, again", "one"]);
        assert_eq!(arena.sessions()[0].rows, 2);
    }

    #[test]
    fn pages_that_cross_in_time_merge_into_one_order() {
        let mut arena = Arena::default();
        let rows =
            |from: i64, step: i64| -> Vec<(i64, i64, &str)> { (0..200).map(|n| (from + n, n * step, "x")).collect() };
        arena.absorb(batch(&rows(1_000, 7)));
        let done = arena.absorb(batch(&rows(2_000, 11)));
        assert_eq!((done.added.len(), arena.len()), (200, 400));
        let again = arena.absorb(batch(&rows(1_000, 7)));
        assert_eq!((again.added.len(), again.replaced.len(), arena.len()), (0, 200, 400));
        let times: Vec<(i64, i64)> = arena.newest_first().map(|ix| sort_key(arena.row(ix))).collect();
        assert!(times.windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!(arena.sessions()[0].rows, 400);
    }

    #[test]
    fn a_row_is_48_bytes() {
        assert!(std::mem::size_of::<Row>() <= 48, "{}", std::mem::size_of::<Row>());
    }
}
