//! Any bytes, cut anywhere, frame into the same lines, and no line makes the reader of lines fail.
#![no_main]

use cmem::transcript::lines::Lines;
use cmem::transcript::repair::entries;
use libfuzzer_sys::fuzz_target;

fn framed(bytes: &[u8], size: usize) -> (Vec<(Vec<u8>, u64, u64)>, Vec<u8>) {
    let mut lines = Lines::at(0);
    let mut out = Vec::new();
    for chunk in bytes.chunks(size) {
        lines.feed(chunk, |line| out.push((line.bytes.to_vec(), line.start, line.end)));
    }
    assert_eq!(lines.position(), bytes.len() as u64);
    (out, lines.rest().to_vec())
}

fuzz_target!(|data: &[u8]| {
    let Some((&size, bytes)) = data.split_first() else { return };
    let whole = framed(bytes, bytes.len().max(1));
    assert_eq!(framed(bytes, usize::from(size).max(1)), whole);
    for (line, ..) in &whole.0 {
        entries(line, &mut |_, _| {});
    }
});
