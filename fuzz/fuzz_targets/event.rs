//! Any transcript, also one no client would write: chunks make no difference, keys are unique, and resuming from a
//! safe point loses nothing. The first byte says whether the rest is taken as bytes or as a script.
#![no_main]

use std::collections::BTreeSet;

use cmem::transcript::event::Event;
use cmem::transcript::reader::{FileRole, Reader};
use libfuzzer_sys::fuzz_target;

#[path = "../../src/transcript/reader/script.rs"]
mod script;

fn role() -> FileRole {
    FileRole { session: "S1".into(), agent: None, parent_call: None }
}

fn keys(events: &[Event]) -> BTreeSet<&str> {
    events.iter().map(|event| event.key.as_str()).collect()
}

fuzz_target!(|data: &[u8]| {
    let [how, size, rest @ ..] = data else { return };
    let bytes = if how % 4 == 0 { rest.to_vec() } else { script::file(rest) };
    let mut whole = Vec::new();
    let mut reader = Reader::new(role());
    reader.feed(&bytes, &mut whole);
    reader.close(&mut whole);
    let given = keys(&whole);
    assert_eq!(given.len(), whole.len());

    let place = usize::from(*size) * bytes.len() / 256;
    let mut first = Vec::new();
    let mut reader = Reader::new(role());
    reader.feed(&bytes[..place], &mut first);
    let point = reader.safe_point();
    let mut second = Vec::new();
    let mut resumed = Reader::resume(role(), &point);
    resumed.feed(&bytes[point.offset as usize..], &mut second);
    resumed.close(&mut second);
    let both: BTreeSet<&str> = keys(&first).union(&keys(&second)).copied().collect();
    assert!(given.is_subset(&both));

    reader.feed(&bytes[place..], &mut first);
    reader.close(&mut first);
    assert_eq!(first, whole);
});
