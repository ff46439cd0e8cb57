//! Names for events that stay the same wherever a copy is read, and compact marks for remembering them.

use sha2::{Digest, Sha256};

use super::entry::Entry;
use crate::memory::{EventKey, SessionId};

/// The key of an entry: its uuid, the uuid it was forked from, else a hash of its text within its session.
pub fn entry_key(entry: &Entry<'_>, raw: &str, session: &SessionId) -> EventKey {
    match entry.forked_from.message.filled().or(entry.uuid.filled()) {
        Some(uuid) => EventKey::from(uuid),
        None => line_key(raw, session),
    }
}

/// The key of an entry without a uuid.
pub fn line_key(raw: &str, session: &SessionId) -> EventKey {
    EventKey(format!("line:{}", digest(&[session.as_str(), raw])))
}

/// A key for a further part of an entry, or for what is known about it.
pub fn part(key: &EventKey, part: &str) -> EventKey {
    EventKey(format!("{key}#{part}"))
}

/// The key of the end of a turn: that of its beginning, whatever told that it is over. Work can go on behind an end,
/// so a turn may end more than once.
pub fn end_key(start: &EventKey, times: u32) -> EventKey {
    match times {
        0 | 1 => part(start, "end"),
        _ => part(start, &format!("end{times}")),
    }
}

/// 128 bits over several texts, as hex.
pub fn digest(texts: &[&str]) -> String {
    use std::fmt::Write;
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0xFF]); // no UTF-8: parts cannot run together
    }
    hash.finalize()[..16].iter().fold(String::with_capacity(32), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// 128 bits that stand for a text: the uuid itself if it is one, else a hash.
pub fn mark(text: &str) -> u128 {
    uuid_bits(text.as_bytes()).unwrap_or_else(|| {
        let hash = Sha256::digest(text.as_bytes());
        u128::from_be_bytes(hash[..16].try_into().expect("a digest has 32 bytes"))
    })
}

/// 64 bits that stand for a text, for what is stored in a cursor.
pub fn short_mark(text: &str) -> u64 {
    let mark = mark(text);
    (mark >> 64) as u64 ^ mark as u64
}

fn uuid_bits(text: &[u8]) -> Option<u128> {
    if text.len() != 36 {
        return None;
    }
    let mut bits = 0u128;
    for (at, &byte) in text.iter().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None, // an upper-case spelling is another text
        };
        bits = bits << 4 | u128::from(digit);
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_mark_themselves_and_other_texts_are_hashed() {
        assert_eq!(mark("00000000-0000-4000-8000-000000000028") & 0xFF, 0x28);
        assert_ne!(mark("toolu_1"), mark("toolu_2"));
        assert_ne!(mark("ABCDEF00-0000-4000-8000-000000000028"), mark("abcdef00-0000-4000-8000-000000000028"));
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
    }
}
