//! Any line gives entries or a count, never a failure; what is one JSON object is one entry.
#![no_main]

use cmem::transcript::repair::{LineKind, entries};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut count = 0;
    let report = entries(data, &mut |entry, raw| {
        count += 1;
        assert!(!raw.is_empty());
        let _ = (entry.sub(), cmem::transcript::speaker::speaker(entry));
    });
    match report.kind {
        LineKind::Ok => assert_eq!(count, 1),
        LineKind::Torn => assert!(count > 0),
        LineKind::Bad | LineKind::Blank | LineKind::Hole => assert_eq!(count, 0),
        LineKind::Glued => {}
    }
    if let Ok(serde_json::Value::Object(_)) = serde_json::from_slice(data) {
        assert_eq!(report.kind, LineKind::Ok);
    }
});
