//! What holds for any file, also one no client would write.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::transcript::reader::script;

fn keys(events: &[Event]) -> BTreeSet<&str> {
    events.iter().map(|event| event.key.as_str()).collect()
}

fn line_ends(bytes: &[u8]) -> Vec<usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_make_no_difference_and_keys_are_unique(data in proptest::collection::vec(any::<u8>(), 0..160), size in 1usize..300) {
        let bytes = script::file(&data);
        let whole = read(&bytes);
        let mut reader = Reader::new(role());
        let mut out = Vec::new();
        for chunk in bytes.chunks(size) {
            reader.feed(chunk, &mut out);
        }
        reader.close(&mut out);
        prop_assert_eq!(&out, &whole.0);
        prop_assert_eq!(reader.take_counts(), whole.1);
        prop_assert_eq!(keys(&out).len(), out.len());
    }

    #[test]
    fn resuming_anywhere_loses_nothing(data in proptest::collection::vec(any::<u8>(), 0..160)) {
        let bytes = script::file(&data);
        let (whole, figures) = read(&bytes);
        for place in line_ends(&bytes).into_iter().chain([0, bytes.len() / 2]) {
            let mut reader = Reader::new(role());
            let mut first = Vec::new();
            reader.feed(&bytes[..place], &mut first);
            let point = reader.safe_point();
            let mut resumed = Reader::resume(role(), &point);
            let mut second = Vec::new();
            resumed.feed(&bytes[usize::try_from(point.offset).expect("fits")..], &mut second);
            resumed.close(&mut second);
            let given: BTreeSet<&str> = keys(&first).union(&keys(&second)).copied().collect();
            let missing: Vec<&Event> = whole.iter().filter(|event| !given.contains(event.key.as_str())).collect();
            prop_assert!(missing.is_empty(), "at {}, {:?}: {:#?}\n{}", place, point, missing, String::from_utf8_lossy(&bytes));
            let mut counts = reader.take_counts();
            counts.add(resumed.counts());
            prop_assert_eq!((counts.lines, counts.malformed), (figures.lines, figures.malformed));
        }
    }

    #[test]
    fn silence_loses_nothing(data in proptest::collection::vec(any::<u8>(), 0..160), every in 1usize..5) {
        let bytes = script::file(&data);
        let (whole, _) = read(&bytes);
        let mut reader = Reader::new(role());
        let mut out = Vec::new();
        let mut from = 0;
        for (number, place) in line_ends(&bytes).into_iter().chain([bytes.len()]).enumerate() {
            reader.feed(&bytes[from..place], &mut out);
            from = place;
            if number % every == 0 {
                reader.quiet(&mut out);
            }
        }
        reader.close(&mut out);
        let given = keys(&out);
        // What is taken back after it was given out stays out, and takes its answer with it.
        let taken_back = out.iter().any(|event| matches!(event.body, Body::Retraction(_)));
        for event in whole.iter().filter(|event| !taken_back || event.body.kind() != "answer") {
            let work = matches!(&event.body, Body::Tool(_) | Body::Answer(_) | Body::Notice(_) | Body::Compaction)
                || matches!(&event.body, Body::Prompt(prompt) if prompt.kind != PromptKind::Steering);
            prop_assert!(!work || given.contains(event.key.as_str()), "{:#?}\n{}", event, String::from_utf8_lossy(&bytes));
        }
    }
}
