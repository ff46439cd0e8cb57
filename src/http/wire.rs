//! HTTP/1.1 as far as it is needed: a bounded request, a JSON answer, the checks of where a request comes from.
#![allow(clippy::disallowed_methods, reason = "this is the file that asks Linux who is at the other end")]

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};

/// Bytes of a request's head.
const HEAD: usize = 16 << 10;
/// Bytes of a body.
const BODY: usize = 1 << 20;

/// A request.
#[derive(Debug, Default)]
pub struct Request {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: HashMap<String, String>,
    /// Names in lower case.
    headers: HashMap<String, String>,
    /// A header came more than once where that could be two opinions.
    doubled: bool,
    pub body: Vec<u8>,
}

impl Request {
    /// Reads one. `Err` says what is wrong with it.
    pub fn read(stream: &mut impl Read) -> Result<Self, &'static str> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let mut request = Self::head(&bytes[..end + 4])?;
                let length = match request.header("content-length") {
                    Some(text) => text.parse::<usize>().map_err(|_| "the length of the body is no number")?,
                    None => 0,
                };
                if length > BODY {
                    return Err("the body is too long");
                }
                if request.header("transfer-encoding").is_some() {
                    return Err("a body in pieces is not taken");
                }
                request.body = bytes.split_off(end + 4);
                while request.body.len() < length {
                    match stream.read(&mut chunk) {
                        Ok(0) | Err(_) => return Err("the body ends early"),
                        Ok(n) => request.body.extend_from_slice(&chunk[..n]),
                    }
                }
                request.body.truncate(length);
                return Ok(request);
            }
            if bytes.len() > HEAD {
                return Err("the head is too long");
            }
            match stream.read(&mut chunk) {
                Ok(0) | Err(_) => return Err("the request ends early"),
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            }
        }
    }

    fn head(bytes: &[u8]) -> Result<Self, &'static str> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            _ => return Err("this is no HTTP request"),
        }
        let target = parsed.path.unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: decoded(path, false),
            ..Self::default()
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            request.query.insert(decoded(name, true), decoded(value, true));
        }
        for header in parsed.headers.iter() {
            let name = header.name.to_ascii_lowercase();
            let value = String::from_utf8_lossy(header.value).trim().to_owned();
            let counts = matches!(name.as_str(), "host" | "origin" | "content-length" | "authorization");
            request.doubled |= request.headers.insert(name, value).is_some() && counts;
        }
        Ok(request)
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The request names this machine as its host, and comes from no page of another place (A099).
    pub fn is_local(&self, port: u16) -> bool {
        let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let host = self.header("host").is_some_and(|host| names.iter().any(|name| name.eq_ignore_ascii_case(host)));
        let origin = self.header("origin").is_none_or(|origin| {
            origin.strip_prefix("http://").is_some_and(|rest| names.iter().any(|name| name.eq_ignore_ascii_case(rest)))
        });
        // A browser says itself when another site asks.
        let site = self.header("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
        host && origin && site && !self.doubled
    }

    /// The request shows the token. Compared without a hint in the time it takes.
    pub fn shows(&self, token: &str) -> bool {
        let shown =
            self.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or("").as_bytes();
        let wanted = token.as_bytes();
        !token.is_empty()
            && shown.len() == wanted.len()
            && shown.iter().zip(wanted).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

fn decoded(text: &str, form: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
                continue;
            }
            None if form && bytes[at] == b'+' => out.push(b' '),
            None => out.push(bytes[at]),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// An answer: a status and JSON.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    pub fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }

    pub fn fault(status: u16, why: impl Into<String>) -> Self {
        Self { status, body: json!({ "error": why.into() }) }
    }

    pub fn write(&self, stream: &mut impl Write) -> io::Result<()> {
        let body = serde_json::to_vec(&self.body)?;
        write!(
            stream,
            "HTTP/1.1 {} {}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n{SHIELD}\
             Connection: close\r\n\r\n",
            self.status,
            reason(self.status),
            body.len()
        )?;
        stream.write_all(&body)?;
        stream.flush()
    }
}

/// What every answer says: it is data, for nobody else's page, and not to be kept.
pub const SHIELD: &str = "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\
                          Content-Security-Policy: default-src 'none'\r\nCross-Origin-Resource-Policy: same-origin\r\n";

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        503 => "Service Unavailable",
        _ => "Error",
    }
}

/// Whether the process at the other end belongs to the user of this one. Where the system does not tell, yes: it is on
/// this machine, and writing needs the token.
pub fn same_user(peer: SocketAddr, own: SocketAddr) -> bool {
    #[cfg(target_os = "linux")]
    {
        let Ok(table) = std::fs::read_to_string("/proc/net/tcp") else { return true };
        let mine = rustix::process::getuid().as_raw();
        match uid_of(&table, peer, own) {
            Some(uid) => uid == mine || uid == 0,
            None => true,
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (peer, own);
        true
    }
}

/// The user of the socket at `local` that is connected to `remote`, in the words of `/proc/net/tcp`.
#[cfg(any(target_os = "linux", test))]
fn uid_of(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let written = |address: SocketAddr| match address {
        SocketAddr::V4(v4) => format!("{:08X}:{:04X}", u32::from_ne_bytes(v4.ip().octets()), v4.port()),
        SocketAddr::V6(_) => String::new(),
    };
    let (local, remote) = (written(local), written(remote));
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        (fields.len() > 7 && fields[1] == local && fields[2] == remote).then(|| fields[7].parse().ok()).flatten()
    })
}

/// The stream for events, opened.
pub fn open_events(stream: &mut TcpStream) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n{SHIELD}Connection: close\r\n\r\n"
    )?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &str) -> Request {
        Request::read(&mut head.replace('\n', "\r\n").as_bytes()).unwrap()
    }

    #[test]
    fn a099_only_this_machine_under_its_own_name() {
        for (headers, served) in [
            ("Host: 127.0.0.1:80", true),
            ("Host: localhost:80\nOrigin: http://localhost:80", true),
            ("Host: evil:80", false),
            ("Host: 127.0.0.1", false),
            ("Host: 127.0.0.1:81", false),
            ("Host: 127.0.0.1:80\nOrigin: http://evil", false),
            ("Host: 127.0.0.1:80\nOrigin: https://localhost:80", false),
            ("Host: 127.0.0.1:80\nOrigin: http://localhost.evil.com:80", false),
            ("Host: 127.0.0.1:80\nOrigin: null", false),
            ("Host: 127.0.0.1:80\nOrigin: file://", false),
            ("Host: 127.0.0.1:80\nSec-Fetch-Site: cross-site", false),
            ("Host: 127.0.0.1:80\nHost: evil", false),
            ("Accept: x", false),
        ] {
            assert_eq!(request(&format!("GET / HTTP/1.1\n{headers}\n\n")).is_local(80), served, "{headers}");
        }
    }

    #[test]
    fn requests_are_read_within_bounds() {
        let read = request("POST /api/a%20b?q=row+lock%26x&n HTTP/1.1\nHost: h\nContent-Length: 4\n\nbodyrest");
        assert_eq!((read.path.as_str(), read.body.as_slice()), ("/api/a b", &b"body"[..]));
        assert_eq!((read.query["q"].as_str(), read.query["n"].as_str()), ("row lock&x", ""));
        for bad in [
            "".to_owned(),
            "no request\r\n\r\n".into(),
            format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(HEAD * 2)),
            "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n".into(),
            "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n".into(),
            "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nshort".into(),
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".into(),
        ] {
            assert!(Request::read(&mut bad.as_bytes()).is_err(), "{}", bad.get(..40).unwrap_or(&bad));
        }
    }

    #[test]
    fn a100_the_token_must_be_whole() {
        let shows = |value: &str| request(&format!("POST / HTTP/1.1\nAuthorization: {value}\n\n")).shows("abc");
        assert!(shows("Bearer abc"));
        for value in ["Bearer ab", "Bearer abcd", "abc", "Bearer ", "bearer abc"] {
            assert!(!shows(value), "{value}");
        }
        assert!(!request("POST / HTTP/1.1\nAuthorization: Bearer \n\n").shows(""));
    }

    #[test]
    fn the_user_at_the_other_end_is_looked_up() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 1\n";
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        if cfg!(target_endian = "little") {
            assert_eq!(uid_of(table, address(0x1F90), address(0xC350)), Some(1000));
            assert_eq!(uid_of(table, address(1), address(0xC350)), None);
        }
    }
}
