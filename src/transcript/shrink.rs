//! Shortens the long strings of one huge JSON line while it streams past.
//!
//! Reading a line of 200 MB must not cost 200 MB, and must not lose the line either: its ends, its ids and its
//! short fields matter, the middle of its longest string does not. So the line is copied byte by byte with every
//! string cut to its first [`HEAD`] and last [`TAIL`] bytes, and the number left out written in between. What
//! comes out is JSON again, provided what went in was. A road not taken: keeping the first and last bytes of the
//! *line*, which loses the ids in the middle and cannot be parsed.

use memchr::memchr2;

/// Bytes kept from the start of a string.
pub const HEAD: usize = 40 << 10;
/// Bytes kept at least from the end of a string.
pub const TAIL: usize = 20 << 10;
/// A line whose structure alone is larger than this is given up (it then fails to parse, and is counted).
const MOST: usize = 16 << 20;

/// What stands where bytes were left out of a string.
pub fn left_out_mark(bytes: u64) -> String {
    format!(" … [{bytes} bytes left out] … ")
}

/// The state of the copy.
#[derive(Debug, Default)]
pub struct Shrinker {
    out: Vec<u8>,
    in_string: bool,
    /// Bytes of an escape sequence still to come: after a backslash one, after `\u` four.
    escape: u8,
    /// Set between a backslash and its letter.
    after_backslash: bool,
    /// Bytes of the present string that went to `out`.
    head: usize,
    /// The last bytes of the present string, in two halves: a full one and a filling one.
    older: Vec<u8>,
    newer: Vec<u8>,
    left_out: u64,
}

impl Shrinker {
    /// Copies the next bytes of the line.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            if !self.in_string {
                let stop = memchr::memchr(b'"', rest).unwrap_or(rest.len());
                for &byte in &rest[..stop] {
                    if byte != 0 && self.out.len() < MOST {
                        self.out.push(byte);
                    }
                }
                rest = &rest[stop..];
                if !rest.is_empty() {
                    self.in_string = true;
                    self.out.push(b'"');
                    rest = &rest[1..];
                }
            } else if self.escape > 0 {
                if self.after_backslash {
                    self.after_backslash = false;
                    self.escape = if byte == b'u' { 4 } else { 0 };
                } else {
                    self.escape -= 1;
                }
                self.keep_inside(byte);
                rest = &rest[1..];
            } else if byte == b'"' {
                self.close();
                rest = &rest[1..];
            } else if byte == b'\\' {
                self.between(byte);
                self.escape = 1;
                self.after_backslash = true;
                rest = &rest[1..];
            } else {
                let stop = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                self.plain(&rest[..stop]);
                rest = &rest[stop..];
            }
        }
    }

    /// The shortened line.
    pub fn finish(mut self) -> Vec<u8> {
        if self.in_string {
            // Torn inside a string: keep what there is, unclosed, so that it fails to parse as it should.
            self.flush_tail();
        }
        self.out
    }

    /// Bytes of a string without quotes or backslashes.
    fn plain(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = if self.filling_head() { HEAD - self.head } else { TAIL.saturating_sub(self.newer.len()) };
            let mut take = room.clamp(1, bytes.len());
            // Never part a character: the next kept piece must begin at one.
            while take < bytes.len() && bytes[take] & 0xC0 == 0x80 {
                take += 1;
            }
            self.between(bytes[0]);
            for &byte in &bytes[1..take] {
                self.keep_inside(byte);
            }
            bytes = &bytes[take..];
        }
    }

    fn filling_head(&self) -> bool {
        self.head < HEAD
    }

    /// A byte before which the string may be parted, unless it continues a character.
    fn between(&mut self, byte: u8) {
        if byte & 0xC0 != 0x80 && !self.filling_head() && self.newer.len() >= TAIL {
            self.left_out += self.older.len() as u64;
            std::mem::swap(&mut self.older, &mut self.newer);
            self.newer.clear();
        }
        if self.filling_head() {
            self.head += 1;
            self.push_out(byte);
        } else if self.newer.is_empty() && self.older.is_empty() && byte & 0xC0 == 0x80 {
            self.push_out(byte); // the last character of the head
        } else {
            self.newer.push(byte);
        }
    }

    /// A byte that belongs to the one before it (escape), or need not be looked at.
    fn keep_inside(&mut self, byte: u8) {
        if self.newer.is_empty() && self.older.is_empty() {
            self.head += 1;
            self.push_out(byte);
        } else {
            self.newer.push(byte);
        }
    }

    fn push_out(&mut self, byte: u8) {
        if self.out.len() < MOST {
            self.out.push(byte);
        }
    }

    fn flush_tail(&mut self) {
        if self.left_out > 0 && self.out.len() < MOST {
            self.out.extend_from_slice(left_out_mark(self.left_out).as_bytes());
        }
        if self.out.len() < MOST {
            self.out.extend_from_slice(&self.older);
            self.out.extend_from_slice(&self.newer);
        }
        self.older.clear();
        self.newer.clear();
        self.left_out = 0;
        self.head = 0;
    }

    fn close(&mut self) {
        self.flush_tail();
        self.push_out(b'"');
        self.in_string = false;
    }
}
