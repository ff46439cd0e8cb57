//! Small encodings that keep the ledger small: event keys as bytes, lists of row numbers as varints.
//!
//! A ledger row is written for every event of every transcript, so its key (held twice: row and unique index) and
//! the links between events and memories decide how the database grows.

use crate::memory::EventKey;

const RAW: u8 = 0;
const TOOLU: u8 = 1;
const UUID: u8 = 2;

/// An event key as bytes: a uuid (with or without a suffix) as its 16 bytes, `toolu_…` without the prefix, anything
/// else as it is. Reversible, and equal keys give equal bytes.
pub fn pack_key(key: &EventKey) -> Vec<u8> {
    let text = key.as_str();
    if let Some(uuid) = text.get(..36).and_then(parse_uuid) {
        let mut out = Vec::with_capacity(17 + text.len() - 36);
        out.push(UUID);
        out.extend_from_slice(&uuid);
        out.extend_from_slice(&text.as_bytes()[36..]);
        return out;
    }
    let (tag, rest) = match text.strip_prefix("toolu_") {
        Some(rest) if !rest.is_empty() => (TOOLU, rest),
        _ => (RAW, text),
    };
    let mut out = Vec::with_capacity(1 + rest.len());
    out.push(tag);
    out.extend_from_slice(rest.as_bytes());
    out
}

/// The key that [`pack_key`] packed. Damaged bytes give a key that matches nothing.
pub fn unpack_key(bytes: &[u8]) -> EventKey {
    let text = match bytes.split_first() {
        Some((&TOOLU, rest)) => format!("toolu_{}", String::from_utf8_lossy(rest)),
        Some((&UUID, rest)) if rest.len() >= 16 => {
            let (id, suffix) = rest.split_at(16);
            let mut out = String::with_capacity(36 + suffix.len());
            for (at, byte) in id.iter().enumerate() {
                if matches!(at, 4 | 6 | 8 | 10) {
                    out.push('-');
                }
                out.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
                out.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
            }
            out.push_str(&String::from_utf8_lossy(suffix));
            out
        }
        Some((_, rest)) => String::from_utf8_lossy(rest).into_owned(),
        None => String::new(),
    };
    EventKey(text)
}

/// 16 bytes of a uuid in its usual form in lower case; any other form stays text, so that it comes back unchanged.
fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let (mut out, mut filled) = ([0u8; 16], 0);
    let mut at = 0;
    while at < 36 {
        if matches!(at, 8 | 13 | 18 | 23) {
            if bytes[at] != b'-' {
                return None;
            }
            at += 1;
            continue;
        }
        let (high, low) = (hex(bytes[at])?, hex(bytes[at + 1])?);
        out[filled] = high << 4 | low;
        filled += 1;
        at += 2;
    }
    Some(out)
}

fn hex(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

/// Row numbers in ascending order as differences, seven bits a byte. Sorted and freed of repeats on the way.
pub fn pack_ids(ids: &[i64]) -> Vec<u8> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut out = Vec::with_capacity(sorted.len() + 4);
    let mut last = 0i64;
    for id in sorted {
        let mut rest = id.wrapping_sub(last) as u64;
        last = id;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
    out
}

/// What [`pack_ids`] packed. A cut-off tail is left out.
pub fn unpack_ids(bytes: &[u8]) -> Vec<i64> {
    let (mut out, mut last, mut value, mut shift) = (Vec::new(), 0i64, 0u64, 0u32);
    for &byte in bytes {
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte & 0x80 == 0 {
            last = last.wrapping_add(value as i64);
            out.push(last);
            (value, shift) = (0, 0);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_of_each_form_come_back() {
        for text in [
            "toolu_01AbCdEf",
            "toolu_",
            "0b9f3a1c-0000-4abc-8def-0123456789ab",
            "0b9f3a1c-0000-4abc-8def-0123456789ab#answer",
            "0B9F3A1C-0000-4ABC-8DEF-0123456789AB",
            "sha:deadbeef",
            "../../x",
            "é",
        ] {
            let key = EventKey::from(text);
            assert_eq!(unpack_key(&pack_key(&key)), key, "{text}");
        }
        assert_eq!(pack_key(&"0b9f3a1c-0000-4abc-8def-0123456789ab".into()).len(), 17);
    }

    proptest! {
        #[test]
        fn any_key_comes_back(text in ".{0,60}") {
            let key = EventKey(text);
            prop_assert_eq!(unpack_key(&pack_key(&key)), key);
        }

        #[test]
        fn any_ids_come_back(mut ids in proptest::collection::vec(0i64.., 0..40)) {
            let packed = pack_ids(&ids);
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(unpack_ids(&packed), ids);
        }

        #[test]
        fn damaged_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            unpack_ids(&bytes);
            unpack_key(&bytes);
        }
    }
}
