//! Passes over lines nothing is made of by a look at their first bytes, before any JSON is parsed.
//!
//! More than a third of the lines of a session are progress reports, request logs and undo state. Their `type`
//! stands before their first object or array (transcripts.md §3), so a walk over the leading scalar fields finds
//! it. The walk is allowed to say "not sure": then the line is parsed like any other. It must never pass over a
//! line that holds something else as well, so a line that ends oddly or in which another record begins is not
//! passed over.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// Types nothing is made of, whatever is in them. Types never heard of are not in this list: they are parsed,
/// counted by name and version, and passed over then.
const PASSED: &[&str] = &[
    "progress",
    "file-history-snapshot",
    "file-history-delta",
    "atis-latch",
    "bridge-session",
    "mode",
    "permission-mode",
    "agent-setting",
    "frame-link",
    "cost-state",
    "worktree-state",
    "relocated",
    "content-replacement",
    "tools-used",
    "last-prompt",
    "tag",
    "started",
    "result",
];

/// How far the walk goes into a line.
const REACH: usize = 4096;

/// Whether nothing is made of entries of this type.
pub fn passed_over(kind: &str) -> bool {
    PASSED.contains(&kind) || kind.starts_with("api-request")
}

/// The type of a line that can be passed over without parsing it; `attachment` for attachments that are not
/// queued prompts.
pub fn skim(line: &[u8]) -> Option<&str> {
    let kind = leading_type(line)?;
    let whole = line.trim_ascii_end().last() == Some(&b'}');
    (whole && !holds_another(line)).then_some(kind)
}

/// Whether a second record begins in the line (glued or spliced writes).
fn holds_another(line: &[u8]) -> bool {
    static STARTS: LazyLock<[Finder<'static>; 3]> =
        LazyLock::new(|| ["{\"parentUuid\"", "}{\"", "{\"type\":\"queue-operation\""].map(Finder::new));
    let rest = &line[1..];
    STARTS.iter().any(|start| start.find(rest).is_some())
}

fn leading_type(line: &[u8]) -> Option<&str> {
    let mut at = Walk { line: &line[..line.len().min(REACH)], at: 0 };
    at.expect(b'{')?;
    loop {
        at.expect(b'"')?;
        let key = at.string()?;
        at.expect(b':')?;
        match at.next()? {
            b'"' => {
                let value = at.string()?;
                if key == b"type" {
                    let kind = std::str::from_utf8(value).ok()?;
                    return passed_over(kind).then_some(kind);
                }
            }
            b'{' if key == b"attachment" => {
                at.expect(b'"')?;
                if at.string()? != b"type" {
                    return None;
                }
                at.expect(b':')?;
                at.expect(b'"')?;
                return (at.string()? != b"queued_command").then_some("attachment");
            }
            b'{' | b'[' => return None,
            _ => at.scalar()?,
        }
        at.expect(b',')?;
    }
}

struct Walk<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    fn next(&mut self) -> Option<u8> {
        while matches!(self.line.get(self.at)?, b' ' | b'\t') {
            self.at += 1;
        }
        self.at += 1;
        Some(self.line[self.at - 1])
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// The inside of a string whose opening quote is behind us. Escapes end the walk.
    fn string(&mut self) -> Option<&'a [u8]> {
        let rest = &self.line[self.at..];
        let length = memchr::memchr2(b'"', b'\\', rest)?;
        if rest[length] == b'\\' {
            return self.escaped();
        }
        self.at += length + 1;
        Some(&rest[..length])
    }

    /// A string with escapes: its end is found, its text is of no use here.
    fn escaped(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = &self.line[self.at..];
            let length = memchr::memchr2(b'"', b'\\', rest)?;
            let end = rest[length] == b'"';
            self.at += length + if end { 1 } else { 2 };
            if end {
                return Some(b"");
            }
            self.line.get(self.at)?;
        }
    }

    fn scalar(&mut self) -> Option<()> {
        while !matches!(self.line.get(self.at)?, b',' | b'}') {
            self.at += 1;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_and_logs_are_known_by_their_head() {
        let progress = br#"{"parentUuid":null,"isSidechain":false,"cwd":"C:\\w","type":"progress","data":{"x":"y"}}"#;
        assert_eq!(skim(progress), Some("progress"));
        assert_eq!(skim(br#"{"type": "api-request-blob", "data": {"a": 1}}"#), Some("api-request-blob"));
        assert_eq!(
            skim(br#"{"parentUuid":"a","attachment":{"type":"hook_success"},"type":"attachment"}"#),
            Some("attachment")
        );
    }

    #[test]
    fn anything_doubtful_is_parsed() {
        for line in [
            r#"{"parentUuid":"a","attachment":{"type":"queued_command","prompt":"x"},"type":"attachment"}"#,
            r#"{"type":"user","message":{}}"#,
            r#"{"type":"zz-new"}"#,
            r#"{"message":{},"type":"progress"}"#,
            r#"{"type":"progress","data":{"x":"ab"#,
            r#"{"type":"progress","data":{"x":"ab{"parentUuid":"p","type":"user"}"#,
            r#"{"type":"mode","mode":"a"}{"type":"user"}"#,
            "",
            "{",
            "[1]",
        ] {
            assert_eq!(skim(line.as_bytes()), None, "{line}");
        }
    }
}
