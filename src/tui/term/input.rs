//! Bytes from the terminal as keys, pastes, focus, mouse and replies: a pure machine.
//!
//! Our own reader rather than a library's, for three reasons. A reply to a question we asked (background colour, device
//! attributes) must never turn into keys, however late it comes (D.12). Reading happens on the thread that hands the
//! terminal to an editor, so no reader thread can eat the editor's keys (D.9). And a sequence cut in two by the line
//! waits for its rest for a moment, while a lone Esc is an Esc: nothing else waits (D.10).
//!
//! Only presses exist here: key-release events of terminals that send them are dropped.

use crate::tui::key::{Code, Key};

/// What a terminal can send.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted (bracketed paste): never keys.
    Paste(String),
    /// The pane got the focus.
    FocusIn,
    /// The pane lost the focus.
    FocusOut,
    /// The mouse did something at a cell.
    Mouse(Mouse),
    /// The terminal answered a question.
    Reply(Reply),
}

/// A mouse event at a cell counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// What happened.
    pub what: MouseWhat,
    /// Column.
    pub x: u16,
    /// Row.
    pub y: u16,
}

/// What a mouse can do to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseWhat {
    /// Left button pressed.
    Press,
    /// Wheel towards the user's face.
    WheelUp,
    /// Wheel away.
    WheelDown,
}

/// Answers to questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// OSC 11: the background colour, 8 bits a channel.
    Background(u8, u8, u8),
    /// Device attributes: the sentinel, everything asked before it has been answered or never will be.
    DeviceAttributes,
    /// Cursor position, row and column from 1.
    Cursor(u16, u16),
}

/// More than any reply or key sequence: what is longer is not for us.
const LONGEST_SEQUENCE: usize = 4096;
/// A paste larger than this is cut; it is offered as search text, nobody searches a megabyte.
const LONGEST_PASTE: usize = 64 * 1024;

const PASTE_END: &[u8] = b"\x1b[201~";

/// The machine: bytes in, inputs out, the unfinished rest kept.
#[derive(Debug, Default)]
pub struct Parser {
    rest: Vec<u8>,
    /// Set between the brackets of a paste.
    paste: Option<Vec<u8>>,
}

/// What the head of the bytes is.
enum Head {
    /// This many bytes made this, or nothing.
    Done(usize, Option<Input>),
    /// A paste begins behind this many bytes.
    PasteBegins(usize),
    /// The rest has not come yet.
    More,
}

impl Parser {
    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Input>) {
        self.rest.extend_from_slice(bytes);
        self.drain(out);
    }

    /// Whether something waits for its rest: the loop calls [`Parser::flush`] when none comes for a moment.
    pub fn waiting(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Nothing more came: a lone ESC is the Esc key, half a sequence is dropped.
    pub fn flush(&mut self, out: &mut Vec<Input>) {
        if self.paste.is_some() {
            return; // a slow paste is still a paste
        }
        match self.rest.as_slice() {
            [0x1b] => {
                self.rest.clear();
                out.push(Input::Key(Key::plain(Code::Esc)));
            }
            [0x1b, second @ (b'[' | b'O' | b']' | b'P')] => {
                let key = Key { code: Code::Char(char::from(*second)), ctrl: false, alt: true };
                self.rest.clear();
                out.push(Input::Key(key));
            }
            _ => self.rest.clear(),
        }
    }

    fn drain(&mut self, out: &mut Vec<Input>) {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut at = 0;
        while at < bytes.len() {
            if let Some(paste) = &mut self.paste {
                let from = &bytes[at..];
                match find(from, PASTE_END) {
                    Some(end) => {
                        paste.extend_from_slice(&from[..end]);
                        at += end + PASTE_END.len();
                        let mut text = self.paste.take().unwrap_or_default();
                        text.truncate(LONGEST_PASTE);
                        out.push(Input::Paste(String::from_utf8_lossy(&text).into_owned()));
                    }
                    None => {
                        // Keep what could be the beginning of the closing bracket.
                        let keep = (1..PASTE_END.len()).rev().find(|n| from.ends_with(&PASTE_END[..*n])).unwrap_or(0);
                        if paste.len() < LONGEST_PASTE {
                            paste.extend_from_slice(&from[..from.len() - keep]);
                        }
                        at = bytes.len() - keep;
                        break;
                    }
                }
                continue;
            }
            match head(&bytes[at..]) {
                Head::Done(len, input) => {
                    at += len;
                    out.extend(input);
                }
                Head::PasteBegins(len) => {
                    at += len;
                    self.paste = Some(Vec::new());
                }
                Head::More => break,
            }
        }
        bytes.drain(..at);
        if self.paste.is_none() && bytes.len() > LONGEST_SEQUENCE {
            bytes.clear();
        }
        self.rest = bytes;
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

fn head(bytes: &[u8]) -> Head {
    let key = |len, code| Head::Done(len, Some(Input::Key(Key::plain(code))));
    match bytes[0] {
        0x1b => escape(bytes),
        b'\r' | b'\n' => key(1, Code::Enter),
        b'\t' => key(1, Code::Tab),
        0x7f | 0x08 => key(1, Code::Backspace),
        0 => Head::Done(1, Some(Input::Key(Key::ctrl(' ')))),
        byte @ 0x01..=0x1a => Head::Done(1, Some(Input::Key(Key::ctrl(char::from(byte - 1 + b'a'))))),
        byte @ 0x1c..=0x1f => Head::Done(1, Some(Input::Key(Key::ctrl(char::from(byte - 0x1c + b'4'))))),
        byte if byte < 0x80 => key(1, Code::Char(char::from(byte))),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Head {
    let want = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Head::Done(1, None), // no UTF-8: dropped, it is nothing anybody typed
    };
    if bytes.len() < want {
        return if bytes[1..].iter().all(|byte| byte & 0xc0 == 0x80) { Head::More } else { Head::Done(1, None) };
    }
    match std::str::from_utf8(&bytes[..want]).ok().and_then(|text| text.chars().next()) {
        // C1 controls arrive as two bytes; they are no text.
        Some(ch) if ('\u{80}'..='\u{9f}').contains(&ch) => Head::Done(want, None),
        Some(ch) => Head::Done(want, Some(Input::Key(Key::char(ch)))),
        None => Head::Done(1, None),
    }
}

fn escape(bytes: &[u8]) -> Head {
    match bytes.get(1) {
        None => Head::More,
        Some(b'[') => csi(bytes),
        Some(b'O') => match bytes.get(2) {
            None => Head::More,
            Some(byte) => Head::Done(3, ss3(*byte).map(|code| Input::Key(Key::plain(code)))),
        },
        Some(b']') => until_terminator(bytes, osc),
        Some(b'P' | b'_' | b'^' | b'X') => until_terminator(bytes, |_| None),
        // Two Esc in a row are two Esc, unless the second begins a sequence (Alt with an arrow).
        Some(0x1b) => Head::Done(1, Some(Input::Key(Key::plain(Code::Esc)))),
        Some(_) => match head(&bytes[1..]) {
            Head::Done(len, Some(Input::Key(key))) => Head::Done(len + 1, Some(Input::Key(Key { alt: true, ..key }))),
            Head::Done(len, other) => Head::Done(len + 1, other),
            Head::PasteBegins(len) => Head::PasteBegins(len + 1),
            Head::More => Head::More,
        },
    }
}

fn ss3(byte: u8) -> Option<Code> {
    Some(match byte {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::F(byte - b'P' + 1),
        _ => return None,
    })
}

/// A string sequence: up to BEL or ST, whatever is in it.
fn until_terminator(bytes: &[u8], read: impl Fn(&[u8]) -> Option<Reply>) -> Head {
    for at in 2..bytes.len() {
        let end = match bytes[at] {
            0x07 => at + 1,
            0x1b if bytes.get(at + 1) == Some(&b'\\') => at + 2,
            0x1b if at + 1 == bytes.len() => return Head::More,
            0x1b => at, // broken off by another sequence
            _ => continue,
        };
        return Head::Done(end, read(&bytes[2..at]).map(Input::Reply));
    }
    Head::More
}

/// `11;rgb:RRRR/GGGG/BBBB` or `11;#rrggbb`.
fn osc(body: &[u8]) -> Option<Reply> {
    let text = std::str::from_utf8(body).ok()?.strip_prefix("11;")?;
    if let Some(rest) = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:")) {
        let mut parts = rest.split('/').map(|part| {
            let value = u32::from_str_radix(part, 16).ok()?;
            let full = (1u32 << (4 * part.len().clamp(1, 4))) - 1;
            u8::try_from(value.min(full) * 255 / full).ok()
        });
        return Some(Reply::Background(parts.next()??, parts.next()??, parts.next()??));
    }
    let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6)?;
    let value = u32::from_str_radix(hex, 16).ok()?;
    Some(Reply::Background((value >> 16) as u8, (value >> 8) as u8, value as u8))
}

fn csi(bytes: &[u8]) -> Head {
    // Parameters and intermediates, then one final byte.
    let Some(len) = bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        if let Some(bad) = bytes[2..].iter().position(|byte| !(0x20..=0x3f).contains(byte)) {
            return Head::Done(2 + bad, None);
        }
        return if bytes.len() > 64 { Head::Done(bytes.len(), None) } else { Head::More };
    };
    let whole = len + 3;
    let body = &bytes[2..2 + len];
    let last = bytes[2 + len];
    if body == b"200" && last == b'~' {
        return Head::PasteBegins(whole);
    }
    // The Linux console's function keys: ESC [ [ A.
    if body.is_empty() && last == b'[' {
        return match bytes.get(3) {
            None => Head::More,
            Some(byte @ b'A'..=b'E') => Head::Done(4, Some(Input::Key(Key::plain(Code::F(byte - b'A' + 1))))),
            Some(_) => Head::Done(4, None),
        };
    }
    Head::Done(whole, csi_input(body, last))
}

fn csi_input(body: &[u8], last: u8) -> Option<Input> {
    let text = std::str::from_utf8(body).ok()?;
    if let Some(mouse) = text.strip_prefix('<') {
        return mouse_input(mouse, last);
    }
    if text.starts_with('?') {
        return (last == b'c').then_some(Input::Reply(Reply::DeviceAttributes));
    }
    if last == b'c' {
        return None;
    }
    let mut params = text.split(';');
    let first: u32 = params.next().and_then(|p| p.split(':').next()).and_then(|p| p.parse().ok()).unwrap_or(1);
    let second_text = params.next().unwrap_or("1");
    if last == b'R' && !text.is_empty() && text.contains(';') && first > 1 {
        // F3 with modifiers is `1;mR`; a cursor report from row 1 is asked for nowhere.
        return Some(Input::Reply(Reply::Cursor(first.min(9999) as u16, second_text.parse().unwrap_or(1))));
    }
    let mut sub = second_text.split(':');
    let modifier: u32 = sub.next().and_then(|p| p.parse().ok()).unwrap_or(1);
    if sub.next() == Some("3") {
        return None; // released
    }
    let flags = modifier.saturating_sub(1);
    let (shift, alt, ctrl) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    let code = match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'Z' => Code::BackTab,
        b'I' => return Some(Input::FocusIn),
        b'O' => return Some(Input::FocusOut),
        b'P'..=b'S' => Code::F(last - b'P' + 1),
        b'u' => code_of_point(first, shift)?,
        b'~' => match first {
            1 | 7 => Code::Home,
            2 => Code::Insert,
            3 => Code::Delete,
            4 | 8 => Code::End,
            5 => Code::PageUp,
            6 => Code::PageDown,
            11..=15 => Code::F((first - 10) as u8),
            17..=21 => Code::F((first - 11) as u8),
            23..=24 => Code::F((first - 12) as u8),
            // xterm's modifyOtherKeys: 27;modifier;code~
            27 => code_of_point(params.next()?.parse().ok()?, shift)?,
            _ => return None,
        },
        _ => return None,
    };
    Some(Input::Key(Key { code, ctrl, alt }))
}

/// Keys reported by code point (`CSI u`).
fn code_of_point(point: u32, shift: bool) -> Option<Code> {
    Some(match point {
        13 => Code::Enter,
        9 if shift => Code::BackTab,
        9 => Code::Tab,
        27 => Code::Esc,
        8 | 127 => Code::Backspace,
        _ => {
            let ch = char::from_u32(point).filter(|ch| !ch.is_control())?;
            Code::Char(if shift { ch.to_uppercase().next().unwrap_or(ch) } else { ch })
        }
    })
}

fn mouse_input(text: &str, last: u8) -> Option<Input> {
    let mut numbers = text.split(';').map(|part| part.parse::<u16>().ok());
    let (button, x, y) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let what = match button & !0b1_1100 {
        0 if last == b'M' => MouseWhat::Press,
        64 => MouseWhat::WheelUp,
        65 => MouseWhat::WheelDown,
        _ => return None,
    };
    Some(Input::Mouse(Mouse { what, x: x.saturating_sub(1), y: y.saturating_sub(1) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Input> {
        let mut parser = Parser::default();
        let mut out = Vec::new();
        parser.feed(bytes, &mut out);
        if parser.waiting() {
            parser.flush(&mut out);
        }
        out
    }

    fn keys(bytes: &[u8]) -> String {
        read(bytes)
            .iter()
            .map(|input| match input {
                Input::Key(key) => key.to_string(),
                other => format!("{other:?}"),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn d10_the_same_key_in_every_terminals_encoding() {
        // xterm, tmux and screen (application and normal mode), the Linux console, rxvt, kitty, modifyOtherKeys.
        for bytes in [&b"\x1b[A"[..], b"\x1bOA", b"\x1b[1;1A"] {
            assert_eq!(keys(bytes), "up");
        }
        for bytes in [&b"\x1b[H"[..], b"\x1bOH", b"\x1b[1~", b"\x1b[7~"] {
            assert_eq!(keys(bytes), "home");
        }
        for bytes in [&b"\x1bOQ"[..], b"\x1b[12~", b"\x1b[[B", b"\x1b[1;1Q"] {
            assert_eq!(keys(bytes), "F2");
        }
        for bytes in [&b"\x04"[..], b"\x1b[100;5u", b"\x1b[27;5;100~"] {
            assert_eq!(keys(bytes), "^d");
        }
        for bytes in [&b"\r"[..], b"\n", b"\x1b[13u", b"\x1bOM"] {
            assert_eq!(keys(bytes), "enter");
        }
        assert_eq!(
            keys(b"\x1b[5~\x1b[6~\x1b[3~\x1b[Z\x7f\x08\t"),
            "pgup pgdn delete shift-tab backspace backspace tab"
        );
        assert_eq!(keys("jé支G🦀".as_bytes()), "j é 支 G 🦀");
        assert_eq!(keys(b"\x1b[97;1:3u"), "", "a released key is no key");
        assert_eq!(keys(b"\x1b[97;2u"), "A");
    }

    #[test]
    fn an_escape_alone_is_esc_and_a_cut_sequence_waits() {
        let mut parser = Parser::default();
        let mut out = Vec::new();
        parser.feed(b"\x1b", &mut out);
        assert!(out.is_empty() && parser.waiting());
        parser.feed(b"[B", &mut out);
        assert_eq!(out, [Input::Key(Key::plain(Code::Down))]);
        assert_eq!(keys(b"\x1b"), "esc");
        assert_eq!(keys(b"\x1b\x1b"), "esc esc");
        assert_eq!(keys(b"\x1bx"), "alt-x");
    }

    #[test]
    fn d01_a_paste_is_text_and_never_keys() {
        let mut parser = Parser::default();
        let mut out = Vec::new();
        for chunk in [&b"\x1b[200~delete d\ny"[..], b"es\x1b[20", b"1~j"] {
            parser.feed(chunk, &mut out);
        }
        assert_eq!(out, [Input::Paste("delete d\nyes".into()), Input::Key(Key::char('j'))]);
    }

    #[test]
    fn d12_answers_never_become_keys_even_late_and_in_pieces() {
        let late = b"\x1b]11;rgb:2828/2c2c/3434\x1b\\\x1b[?62;22cj";
        assert_eq!(
            read(late),
            [
                Input::Reply(Reply::Background(0x28, 0x2c, 0x34)),
                Input::Reply(Reply::DeviceAttributes),
                Input::Key(Key::char('j'))
            ]
        );
        for cut in 1..late.len() {
            let mut parser = Parser::default();
            let mut out = Vec::new();
            parser.feed(&late[..cut], &mut out);
            parser.feed(&late[cut..], &mut out);
            let typed: Vec<_> = out.iter().filter(|input| matches!(input, Input::Key(_))).collect();
            assert_eq!(typed, [&Input::Key(Key::char('j'))], "cut at {cut}");
        }
        assert_eq!(read(b"\x1b]11;#1e1e2e\x07"), [Input::Reply(Reply::Background(0x1e, 0x1e, 0x2e))]);
        assert_eq!(read(b"\x1bP>|tmux 3.4\x1b\\"), []);
    }

    #[test]
    fn focus_and_wheel() {
        assert_eq!(read(b"\x1b[I\x1b[O"), [Input::FocusIn, Input::FocusOut]);
        assert_eq!(read(b"\x1b[<64;5;7M"), [Input::Mouse(Mouse { what: MouseWhat::WheelUp, x: 4, y: 6 })]);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_cut_never_panic_and_never_pile_up(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400), cut in 0usize..400
        ) {
            let cut = cut.min(bytes.len());
            let mut parser = Parser::default();
            let mut out = Vec::new();
            parser.feed(&bytes[..cut], &mut out);
            parser.feed(&bytes[cut..], &mut out);
            parser.flush(&mut out);
            proptest::prop_assert!(parser.paste.is_some() || !parser.waiting());
        }
    }
}
