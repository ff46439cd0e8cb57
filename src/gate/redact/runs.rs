//! Long unbroken runs that carry no words: pictures and other files as base64, hex dumps (A014, A015).
//!
//! Only the run goes, the text around it stays. What looks long but is words is left: deep paths, identifiers, rulers
//! drawn with one sign. Base64 broken into lines of equal length, as mail and certificates have it, counts as one run.

use std::borrow::Cow;
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::{Found, splice};

/// Shortest run that is looked at.
const LONG: usize = 200;

/// From here on it does not matter what the run consists of.
const VERY_LONG: usize = 2_000;

/// Shortest line of base64 broken into lines.
const LINE: usize = 60;

/// `text` with runs replaced by kind, size and hash.
pub(super) fn replace<'a>(text: &'a str, found: &mut Found) -> Cow<'a, str> {
    let mut parts = Vec::new();
    for run in long_runs(text.as_bytes()) {
        if let Some(kind) = kind(&text[run.clone()], &text[..run.start]) {
            let (start, kind) = match data_url(&text[..run.start]) {
                Some((start, mime)) => (start, mime.to_owned()),
                None => (run.start, kind.to_owned()),
            };
            parts.push((start..run.end, placeholder(&kind, &text[run])));
        }
    }
    if parts.is_empty() {
        return Cow::Borrowed(text);
    }
    found.runs += u32::try_from(parts.len()).unwrap_or(u32::MAX);
    Cow::Owned(splice(text, &parts))
}

fn placeholder(kind: &str, run: &str) -> String {
    let hash = Sha256::digest(run.as_bytes());
    let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("[{kind}, {} characters, sha256 {hash}]", run.len())
}

fn in_alphabet(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// Runs of [`LONG`] bytes and more, joined over line ends where the lines are of equal length.
///
/// Only one byte in [`LINE`] is looked at as long as no run can hold it; ordinary text is passed at many times the
/// speed of reading it.
fn long_runs(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    let mut probe = LINE - 1;
    while probe < bytes.len() {
        let Some(back) = bytes[from..=probe].iter().rposition(|byte| !in_alphabet(*byte)) else {
            // Everything since `from` belongs to one run.
            let end = bytes[probe..].iter().position(|byte| !in_alphabet(*byte)).map_or(bytes.len(), |n| probe + n);
            runs.push(from..end);
            from = end + 1;
            probe = from + LINE - 1;
            continue;
        };
        from += back + 1;
        probe = from + LINE - 1;
    }
    join_lines(bytes, runs)
}

fn join_lines(bytes: &[u8], runs: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < runs.len() {
        let first = &runs[at];
        let mut end = first.end;
        let mut next = at + 1;
        while let Some(run) = runs.get(next)
            && is_line_end(&bytes[end..run.start])
            && run.len() == first.len()
        {
            end = run.end;
            next += 1;
        }
        if next > at + 1 {
            // The last line is shorter and not in the list.
            let skip = bytes[end..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let rest = bytes[end + skip..].iter().take_while(|byte| in_alphabet(**byte)).count();
            if is_line_end(&bytes[end..end + skip]) && rest > 0 && rest < first.len() {
                end += skip + rest;
            }
        }
        if end - first.start >= LONG {
            joined.push(first.start..end);
        }
        // A shorter last line may have taken the next run in.
        at = next;
        while runs.get(at).is_some_and(|run| run.start < end) {
            at += 1;
        }
    }
    joined
}

fn is_line_end(between: &[u8]) -> bool {
    matches!(between, b"\n" | b"\r\n")
}

/// What the run is, or `None` if it is words.
fn kind(run: &str, before: &str) -> Option<&'static str> {
    let (mut upper, mut lower, mut digits, mut slashes, mut dashes, mut hex) =
        (0usize, 0usize, 0usize, 0usize, 0usize, 0usize);
    let mut total = 0usize;
    for byte in run.bytes() {
        total += usize::from(!matches!(byte, b'\r' | b'\n'));
        match byte {
            b'A'..=b'Z' => upper += 1,
            b'a'..=b'z' => lower += 1,
            b'0'..=b'9' => digits += 1,
            b'/' => slashes += 1,
            b'-' | b'_' => dashes += 1,
            _ => {}
        }
        hex += usize::from(byte.is_ascii_hexdigit());
    }
    let wrapped = run.len() != total;
    if data_url(before).is_some() {
        return Some("data");
    }
    // A ruler: one sign drawn out.
    let first = run.as_bytes()[0];
    if !first.is_ascii_alphanumeric() && run.bytes().all(|byte| byte == first) {
        return None;
    }
    // Hashes listed one a line are words to somebody.
    if hex == total && digits > 0 && upper + lower > 0 {
        return (!wrapped).then_some("hex");
    }
    // Base64 has a slash or a dash once in thirty characters; paths and slugs far more often.
    if (slashes + dashes) * 12 > total {
        return (total >= VERY_LONG && slashes * 12 <= total).then_some("run");
    }
    if upper > 0 && lower > 0 && digits > 0 && (total >= 1_000 || (upper * 10 > total && digits * 40 > total)) {
        return Some(magic(run));
    }
    (total >= VERY_LONG).then_some("run")
}

/// A file known by how its base64 begins.
fn magic(run: &str) -> &'static str {
    const KNOWN: [(&str, &str); 8] = [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
        ("JVBERi", "application/pdf"),
        ("UEsDB", "application/zip"),
        ("H4sI", "application/gzip"),
        ("AGFzbQ", "application/wasm"),
    ];
    KNOWN.iter().find(|(start, _)| run.starts_with(start)).map_or("base64", |(_, kind)| kind)
}

/// The place and type of a data URL's head right before its base64.
fn data_url(before: &str) -> Option<(usize, &str)> {
    let head = before.strip_suffix(";base64,")?;
    let at = head.rfind("data:").filter(|at| head.len() - at < 120)?;
    let mime = &head[at + "data:".len()..];
    let mime = mime.split(';').next().filter(|mime| mime.contains('/') && !mime.contains(char::is_whitespace))?;
    Some((at, mime))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that look like base64 of a compressed file, always the same.
    fn noise(length: usize) -> String {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let next = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(ALPHABET[(state % 64) as usize])
        });
        next.take(length).collect()
    }

    fn replaced(text: &str) -> String {
        replace(text, &mut Found::default()).into_owned()
    }

    #[test]
    fn a015_a_picture_as_text_becomes_a_placeholder() {
        let run = noise(300_000);
        let out = replaced(&format!("saved {run} M1"));
        assert!(out.starts_with("saved [base64, 300000 characters, sha256 ") && out.ends_with("] M1"), "{out}");
        assert_eq!(out, replaced(&format!("saved {run} M1")), "the same run has the same hash");
        let out = replaced(&format!("x {} y", "A".repeat(300_000)));
        assert_eq!(out.len(), out.trim().len());
        assert!(out.starts_with("x [run, 300000 characters") && out.ends_with("] y"), "{out}");
    }

    #[test]
    fn the_kind_is_known_from_data_urls_and_first_bytes() {
        let out = replaced(&format!("<img src=\"data:image/png;base64,{}\">", noise(400)));
        assert!(out.starts_with("<img src=\"[image/png, 400 characters, "), "{out}");
        let out = replaced(&format!("iVBORw0KGgo{}", noise(400)));
        assert!(out.starts_with("[image/png, 411 characters"), "{out}");
        let out = replaced(&"0123456789abcdef".repeat(20));
        assert!(out.starts_with("[hex, 320 characters"), "{out}");
    }

    #[test]
    fn base64_in_lines_is_one_run() {
        let lines: Vec<String> =
            noise(64 * 9 + 20).as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into()).collect();
        let out = replaced(&format!("before:\n{}\nafter", lines.join("\n")));
        assert!(out.starts_with("before:\n[base64, ") && out.ends_with("]\nafter"), "{out}");
        assert_eq!(out.lines().count(), 3);
    }

    #[test]
    fn words_stay_however_long() {
        let path =
            "/home/dev/projects/storefront/node_modules/@scope/package/dist/esm/internal/observable/dom/".repeat(4);
        let slug = "how-to-configure-the-reverse-proxy-for-a-single-page-application-".repeat(5);
        let ruler = "=".repeat(500);
        let identifier = "shouldReturnTheSameValueWhenCalledTwiceWithTheSameArgument".repeat(4);
        let hashes = "9c8bc50aa31c0f5e7d5b6d0e0f6f6a4f1c2d3e4b9c8bc50aa31c0f5e7d5b6d0e\n".repeat(6);
        let shas = "9c8bc50aa31c0f5e7d5b6d0e0f6f6a4f1c2d3e4b ".repeat(40);
        let prose = "The quick brown fox jumps over the lazy dog. ".repeat(200);
        let chinese = "支付回调重复修复".repeat(200);
        for text in [path, slug, ruler, identifier, hashes, shas, prose, chinese, noise(190)] {
            assert_eq!(replaced(&text), text);
        }
    }

    #[test]
    fn a_run_at_either_end_and_many_in_one_text() {
        let run = noise(250);
        for text in [format!("{run} x"), format!("x {run}"), run.clone(), format!("{run} {run}\t{run}")] {
            assert!(!replaced(&text).contains(&run[..60]), "{text}");
        }
    }
}
