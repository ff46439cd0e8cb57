//! How many memories an answer would have without its limit.

use crate::store::{Result, Store};

use super::words::{expression, judge_rest};
use super::{Ask, DEEPEST, Engine, Found, find};
use crate::recall::query::Sort;

/// How many memories answer the question, given what was found of them. Counted in the index where the words alone
/// decide, else by looking as deep as a search ever does.
pub fn total(store: &Store, ask: &Ask<'_>, found: &Found) -> Result<u64> {
    if !found.more {
        return Ok(found.items.len() as u64);
    }
    let query = ask.query;
    if query.checks.is_empty() {
        let filter = ask.scope.filter(store, query, &mut Found::default())?;
        if query.is_open() {
            return store.count(&filter);
        }
        let by_words = matches!(ask.engine, Engine::Auto | Engine::Words) && found.engines == [Engine::Words];
        let by_time = query.sort.unwrap_or(ask.sort) != Sort::Relevance;
        if by_words
            && (by_time || ask.engine == Engine::Words)
            && judge_rest(query).is_empty()
            && let Some(wanted) = expression(query)
        {
            return store.count_matching(&wanted, &filter);
        }
    }
    let deep = find(store, &Ask { limit: DEEPEST, ..*ask })?;
    Ok(deep.items.len() as u64)
}
