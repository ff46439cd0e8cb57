//! Where copied text goes: tmux, OSC 52, a native tool, a file. The message names the way and claims no more: nobody
//! can know whether a terminal took an OSC 52 (D.11).
#![allow(
    clippy::disallowed_methods,
    reason = "this is the file that starts clipboard tools and writes the last resort"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::config::Env;
use crate::tui::view::thousands;

/// More than this in one sequence, and terminals drop it (the bound k9s found).
const OSC52_CAP: usize = 74_994;

/// A way for text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// `tmux load-buffer -w`.
    Tmux,
    /// The terminal, by OSC 52.
    Osc52,
    /// A tool of the desktop.
    Native,
    /// A file, as the last resort.
    File,
}

impl Route {
    /// The ways to try, in order.
    pub fn order(setting: &str, env: &Env, bytes: usize) -> Vec<Self> {
        match setting {
            "tmux" => vec![Self::Tmux, Self::File],
            "osc52" => vec![Self::Osc52, Self::File],
            "native" => vec![Self::Native, Self::File],
            "file" => vec![Self::File],
            _ => {
                let mut order = Vec::new();
                if env.get("TMUX").is_some_and(|value| !value.is_empty()) {
                    order.push(Self::Tmux);
                }
                if bytes <= OSC52_CAP {
                    order.push(Self::Osc52);
                }
                order.extend([Self::Native, Self::File]);
                order
            }
        }
    }
}

/// Sends text the first way that works. `write` puts bytes on the terminal.
pub fn copy(
    text: &str,
    what: &str,
    setting: &str,
    env: &Env,
    state_dir: Option<&Path>,
    mut write: impl FnMut(&[u8]) -> bool,
) -> Result<String, String> {
    let count = thousands(text.chars().count() as u64);
    for route in Route::order(setting, env, text.len()) {
        let sent = match route {
            Route::Tmux => pipe_to("tmux", &["load-buffer", "-w", "-"], text).then(|| "by tmux".to_owned()),
            Route::Osc52 => write(&osc52(text)).then(|| "by OSC 52".to_owned()),
            Route::Native => native(env, text).map(|tool| format!("by {tool}")),
            Route::File => state_dir.and_then(|dir| {
                let path = dir.join("copied.txt");
                std::fs::write(&path, text).ok().map(|()| format!("to {}", path.display()))
            }),
        };
        if let Some(way) = sent {
            return Ok(format!("sent {what}, {count} characters, {way}"));
        }
    }
    Err(format!("could not copy {what}: no tmux, no clipboard tool, no file"))
}

/// The sequence that hands text to the terminal's clipboard.
pub fn osc52(text: &str) -> Vec<u8> {
    let mut out = b"\x1b]52;c;".to_vec();
    base64(text.as_bytes(), &mut out);
    out.push(0x07);
    out
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= chunk.len() { digit } else { b'=' });
        }
    }
}

fn native(env: &Env, text: &str) -> Option<&'static str> {
    let mut tools: Vec<(&'static str, &[&str])> = Vec::new();
    if env.get("WAYLAND_DISPLAY").is_some() {
        tools.push(("wl-copy", &[]));
    }
    if env.get("DISPLAY").is_some() {
        tools.push(("xclip", &["-selection", "clipboard"]));
        tools.push(("xsel", &["--clipboard", "--input"]));
    }
    tools.push(("pbcopy", &[]));
    tools.push(("clip.exe", &[]));
    tools.into_iter().find(|(tool, args)| pipe_to(tool, args, text)).map(|(tool, _)| tool)
}

fn pipe_to(tool: &str, args: &[&str], text: &str) -> bool {
    let spawned =
        Command::new(tool).args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = spawned else { return false };
    let written = child.stdin.take().is_some_and(|mut stdin| stdin.write_all(text.as_bytes()).is_ok());
    let ended = child.wait().is_ok_and(|status| status.success());
    written && ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_base64() {
        for (text, code) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("支付", "5pSv5LuY")] {
            let mut out = Vec::new();
            base64(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), code);
        }
    }

    #[test]
    fn d11_the_message_names_the_way_that_was_taken() {
        let env = Env::from_iter([("PATH", "/nonexistent")]);
        let dir = tempfile::tempdir().unwrap();
        let mut sent = Vec::new();
        let said = copy("x".repeat(1204).as_str(), "text", "auto", &env, Some(dir.path()), |bytes| {
            sent.extend_from_slice(bytes);
            true
        });
        assert_eq!(said.unwrap(), "sent text, 1,204 characters, by OSC 52");
        assert!(sent.starts_with(b"\x1b]52;c;eHh4"));
        let said = copy("secret", "text", "file", &env, Some(dir.path()), |_| panic!("not the terminal"));
        assert!(said.unwrap().ends_with("copied.txt"));
        assert_eq!(std::fs::read_to_string(dir.path().join("copied.txt")).unwrap(), "secret");
        let tmux = Env::from_iter([("TMUX", "/tmp/tmux-0/default,1,0")]);
        assert_eq!(Route::order("auto", &tmux, 10)[0], Route::Tmux);
        assert_eq!(Route::order("auto", &env, OSC52_CAP + 1), [Route::Native, Route::File]);
    }
}
