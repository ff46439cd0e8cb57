//! Near-equal findings (A030): within a session, a memory with nearly the title of an earlier one, of the same type
//! and about the same files, stands behind it instead of beside it. All stay reachable; a list shows one row ×n.
//!
//! Deliberately narrow, because folding two different findings into one would hide a truth: titles may differ only
//! in plain words, never in numbers or identifiers, and a bug found and the same bug fixed are two.

use rusqlite::Connection;

use super::error::Result;
use super::rows::{Image, from_json};
use super::terms::words_of;

/// How far back in the session is looked.
const WITHIN: i64 = 60;

/// The row that `image` should be folded into, if there is one.
pub(super) fn head_for(conn: &Connection, image: &Image) -> Result<Option<i64>> {
    if image.kind != 0 || image.session == 0 || image.pinned {
        return Ok(None);
    }
    let (modified, read) = (from_json(&image.files_modified), from_json(&image.files_read));
    if modified.is_empty() && read.is_empty() {
        return Ok(None);
    }
    let words = title_words(&image.title);
    if words.len() < 4 {
        return Ok(None);
    }
    let mut query = conn.prepare_cached(
        "SELECT id, title FROM memory INDEXED BY memory_session \
         WHERE session = ?1 AND kind = 0 AND folded_into = 0 AND type = ?2 AND project = ?3 ORDER BY ord DESC LIMIT ?4",
    )?;
    let mut rows = query.query((image.session, &image.type_id, image.project, WITHIN))?;
    while let Some(row) = rows.next()? {
        let same = |mut a: Vec<String>, mut b: Vec<String>| {
            a.sort();
            b.sort();
            a == b
        };
        let title = row.get_ref(1)?.as_str().unwrap_or("");
        if !near(&words, &title_words(title)) {
            continue;
        }
        let (their_modified, their_read): (String, String) = conn
            .prepare_cached("SELECT files_modified, files_read FROM memory_body WHERE id = ?1")?
            .query_row([row.get::<_, i64>(0)?], |body| Ok((body.get(0)?, body.get(1)?)))?;
        let (their_modified, their_read) = (from_json(&their_modified), from_json(&their_read));
        // What was changed says what a finding is about; what was read only where nothing was changed.
        let about_the_same = if modified.is_empty() && their_modified.is_empty() {
            same(read.clone(), their_read)
        } else {
            same(modified.clone(), their_modified)
        };
        if about_the_same {
            return Ok(Some(row.get(0)?));
        }
    }
    Ok(None)
}

fn title_words(title: &str) -> Vec<String> {
    title
        .split_whitespace()
        .flat_map(|part| {
            let bare = part.trim_matches(|ch: char| !ch.is_alphanumeric());
            // A part with marks inside it is an identifier or a path: one word, as it is.
            if bare.contains(|ch: char| ch.is_ascii_punctuation()) {
                vec![bare.to_owned()]
            } else {
                words_of(bare).into_iter().map(|word| word.to_lowercase()).collect()
            }
        })
        .collect()
}

/// Whether two titles say the same but for a word or two.
fn near(a: &[String], b: &[String]) -> bool {
    let only = |left: &[String], right: &[String]| -> Vec<String> {
        let mut rest = right.to_vec();
        left.iter()
            .filter(|word| match rest.iter().position(|it| it == *word) {
                Some(at) => {
                    rest.swap_remove(at);
                    false
                }
                None => true,
            })
            .cloned()
            .collect()
    };
    let (only_a, only_b) = (only(a, b), only(b, a));
    let allowed = (a.len().max(b.len()) / 5).max(1);
    let plain = |word: &String| word.chars().all(char::is_alphabetic);
    only_a.len() <= allowed
        && only_b.len() <= allowed
        && a.len() - only_a.len() >= 3
        && only_a.iter().chain(&only_b).all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near_titles(a: &str, b: &str) -> bool {
        near(&title_words(a), &title_words(b))
    }

    #[test]
    fn a_word_in_other_words_is_near() {
        assert!(near_titles("Token refresh race fixed in client", "Token refresh race repaired in client"));
        assert!(near_titles("Token refresh race fixed in client", "Token refresh race fixed in the client"));
        assert!(near_titles("修复支付回调重复问题", "修复支付回调重复的问题"));
    }

    #[test]
    fn numbers_and_identifiers_keep_titles_apart() {
        assert!(!near_titles("Test 1 of the suite passes", "Test 2 of the suite passes"));
        assert!(!near_titles("Index added on user_id column", "Index added on family_id column"));
        assert!(!near_titles("Login test fixed", "Login test broken"), "three words are too few to tell");
        assert!(!near_titles("Added retry to the mailer", "Removed cache from the worker"));
    }
}
