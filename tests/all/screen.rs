//! `cmem tui` in a real pseudo-terminal: what it writes, what it leaves behind, what it does with signals, editors,
//! silent terminals and storms of sizes. The terminal on the other side is `vt100`.
#![allow(clippy::disallowed_methods, reason = "tests make files and run the program")]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cmem::memory::MemoryId;
use cmem::store::Store;
use cmem::store::api::Access;
use cmem::store::curate::Who;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::support::{Home, NOW, memory};

/// Longer than anything here takes; a test that comes to it has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program in a pseudo-terminal.
struct Pane {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    bytes: Receiver<Vec<u8>>,
    vt: vt100::Parser,
    /// Everything that was written.
    all: Vec<u8>,
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

impl Pane {
    fn start(home: &Home, args: &[&str], cols: u16, rows: u16) -> Self {
        Self::start_with(home, args, cols, rows, &[])
    }

    fn start_with(home: &Home, args: &[&str], cols: u16, rows: u16, env: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_cmem"));
        command.args(args);
        Self::spawn(home, command, cols, rows, env)
    }

    /// A shell line, for what stands around the program.
    fn shell(home: &Home, line: &str, cols: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", line]);
        Self::spawn(home, command, cols, rows, &[("CMEM", env!("CARGO_BIN_EXE_cmem"))])
    }

    fn spawn(home: &Home, mut command: CommandBuilder, cols: u16, rows: u16, env: &[(&str, &str)]) -> Self {
        let pair = native_pty_system().openpty(size(cols, rows)).unwrap();
        command.env_clear();
        for (name, value) in
            [("PATH", std::env::var("PATH").unwrap().as_str()), ("TERM", "xterm-256color"), ("TZ", "UTC")]
        {
            command.env(name, value);
        }
        command.env("HOME", home.path(""));
        command.env("CMEM_HOME", home.cmem());
        command.env("CLAUDE_CONFIG_DIR", home.claude());
        command.env("CMEM_OBSERVER_PROVIDER", "offline");
        for (name, value) in env {
            command.env(name, value);
        }
        command.cwd(home.path(""));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let (tell, bytes) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(n) = reader.read(&mut buffer) {
                if n == 0 || tell.send(buffer[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        let vt = vt100::Parser::new(rows.max(1).try_into().unwrap(), cols.max(1).try_into().unwrap(), 0);
        Self { master: pair.master, writer, child, bytes, vt, all: Vec::new() }
    }

    fn take(&mut self, bytes: Vec<u8>) {
        self.vt.process(&bytes);
        self.all.extend(bytes);
    }

    fn text(&self) -> String {
        self.vt.screen().contents()
    }

    /// Reads until the screen is as wanted.
    fn wait_for(&mut self, what: &str, is: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is(&self.text()) {
            match self.bytes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.take(bytes),
                Err(_) => panic!("waited for {what}; the screen is\n{}\n{:?}", self.text(), self.child.try_wait()),
            }
        }
    }

    fn sees(&mut self, text: &str) {
        self.wait_for(text, |screen| screen.contains(text));
    }

    fn send(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).unwrap();
        self.writer.flush().unwrap();
    }

    /// Reads to the end and returns the exit code.
    fn ends(&mut self) -> u32 {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.bytes.recv_timeout(Duration::from_millis(20)) {
                Ok(bytes) => self.take(bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                while let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(100)) {
                    self.take(bytes);
                }
                return status.exit_code();
            }
            assert!(Instant::now() < until, "it does not end; the screen is\n{}", self.text());
        }
        self.child.wait().unwrap().exit_code()
    }

    fn signal(&self, name: &str) {
        let pid = self.child.process_id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    /// Every mode that was set was reset, the last word about each being off; the cursor is seen, the first screen back.
    fn is_restored(&self) {
        let mut modes: HashMap<String, bool> = HashMap::new();
        let text = String::from_utf8_lossy(&self.all);
        for part in text.split("\u{1b}[?").skip(1) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            match part[digits.len()..].chars().next() {
                Some('h') => drop(modes.insert(digits, true)),
                Some('l') => drop(modes.insert(digits, false)),
                _ => {}
            }
        }
        for (mode, on) in [
            ("1049", false),
            ("2004", false),
            ("1004", false),
            ("1000", false),
            ("1006", false),
            ("2026", false),
            ("25", true),
            ("7", true),
        ] {
            if let Some(state) = modes.get(mode) {
                assert_eq!(*state, on, "mode {mode} was left {}", if *state { "on" } else { "off" });
            }
        }
        assert!(!self.vt.screen().alternate_screen());
        assert!(!self.vt.screen().hide_cursor());
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn remembered() -> (Home, Vec<MemoryId>) {
    let home = Home::new();
    let ids = home.remember(vec![
        memory("First finding of the morning", "/w/alpha", "2026-03-02T09:00:00Z"),
        memory("Second finding of the morning", "/w/alpha", "2026-03-02T09:30:00Z"),
        memory("Third finding of the morning", "/w/alpha", "2026-03-02T10:00:00Z"),
    ]);
    (home, ids)
}

fn store(home: &Home) -> Store {
    Store::open(&home.cmem().join("cmem.db"), Access::ReadWrite, NOW.parse().unwrap()).unwrap()
}

fn titles(home: &Home) -> Vec<String> {
    let memories = store(home).list(&Default::default(), cmem::store::Order::Newest, None, 100).unwrap();
    memories.into_iter().map(|memory| memory.title).collect()
}

#[test]
fn d09_quitting_gives_the_terminal_back() {
    let home = Home::new();
    let mut pane = Pane::start(&home, &["tui", "--demo"], 50, 40);
    pane.sees("LIVE");
    pane.send(b"Q");
    assert_eq!(pane.ends(), 0);
    pane.is_restored();
    assert!(home.files().is_empty(), "the demo left files: {:?}", home.files());
}

#[test]
fn d09_term_and_hangup_give_it_back_too() {
    for signal in ["-TERM", "-HUP", "-INT"] {
        let home = Home::new();
        let mut pane = Pane::start(&home, &["tui", "--demo"], 100, 30);
        pane.sees("LIVE");
        let begun = Instant::now();
        pane.signal(signal);
        assert_eq!(pane.ends(), 0, "{signal}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{signal}");
        pane.is_restored();
    }
}

#[test]
fn d09_a_suspended_screen_gives_it_back_and_draws_everything_again() {
    let home = Home::new();
    let mut pane = Pane::start(&home, &["tui", "--demo"], 100, 30);
    pane.sees("LIVE");
    pane.send(b"\x1a");
    pane.wait_for("the first screen", |_| true);
    let until = Instant::now() + PATIENCE;
    while pane.vt.screen().alternate_screen() {
        let bytes = pane.bytes.recv_timeout(until.saturating_duration_since(Instant::now())).expect("it suspends");
        pane.take(bytes);
    }
    pane.is_restored();
    pane.signal("-CONT");
    pane.wait_for("the screen again", |text| text.contains("Feed"));
    assert!(pane.vt.screen().alternate_screen());
    pane.send(b"Q");
    assert_eq!(pane.ends(), 0);
    pane.is_restored();
}

#[test]
fn d14_a_screen_on_which_nothing_changes_sends_no_byte() {
    let (home, _) = remembered();
    let mut pane = Pane::start(&home, &["tui", "--no-collect", "--project", "*"], 50, 40);
    pane.sees("Third finding");
    // Until it has settled: health, context, the cursor.
    while let Ok(bytes) = pane.bytes.recv_timeout(Duration::from_millis(1_500)) {
        pane.take(bytes);
    }
    let before = pane.all.len();
    if let Ok(bytes) = pane.bytes.recv_timeout(Duration::from_secs(6)) {
        panic!("{} bytes while nothing happened: {:?}", bytes.len(), String::from_utf8_lossy(&bytes));
    }
    assert_eq!(pane.all.len(), before);
}

#[test]
fn rows_of_another_process_show_within_a_moment_and_one_row_is_few_bytes() {
    let (home, _) = remembered();
    let mut pane = Pane::start(&home, &["tui", "--no-collect", "--project", "*"], 100, 30);
    pane.sees("Third finding");
    while let Ok(bytes) = pane.bytes.recv_timeout(Duration::from_millis(1_500)) {
        pane.take(bytes);
    }
    let before = pane.all.len();
    home.remember(vec![memory("Written by somebody else", "/w/alpha", "2026-03-02T11:00:00Z")]);
    let begun = Instant::now();
    pane.sees("Written by somebody else");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}");
    // Three hundred milliseconds of everything that belongs to it: list, counts, context.
    while let Ok(bytes) = pane.bytes.recv_timeout(Duration::from_millis(300)) {
        pane.take(bytes);
    }
    let bytes = pane.all.len() - before;
    assert!(bytes < 6_000, "{bytes} bytes for one new row");
}

#[test]
fn d12_a_terminal_that_never_answers_delays_nothing_and_a_late_answer_is_no_key() {
    let (home, _) = remembered();
    let env = [("CMEM_TUI_THEME", "gruvbox-dark")];
    let args = ["tui", "--no-collect", "--project", "*"];
    let begun = Instant::now();
    let mut pane = Pane::start_with(&home, &args, 100, 30, &env);
    pane.sees("Third finding");
    assert!(begun.elapsed() < Duration::from_secs(10));
    let until = Instant::now() + PATIENCE;
    while !String::from_utf8_lossy(&pane.all).contains("\u{1b}]11;?") {
        let left = until.saturating_duration_since(Instant::now());
        let bytes = pane.bytes.recv_timeout(left).expect("a themed screen asks for its background");
        pane.take(bytes);
    }
    let frame = String::from_utf8_lossy(&pane.all).find("Third finding").unwrap();
    let asked = String::from_utf8_lossy(&pane.all).find("\u{1b}]11;?").unwrap();
    assert!(frame < asked, "after the first frame");
    // Late and cut in two: light, so the theme changes; no letter of it is a key.
    pane.send(b"\x1b]11;rgb:fbfb/f1f1");
    pane.send(b"/c7c7\x1b\\");
    pane.send(b"\x1b[?62;22c");
    pane.send(b"j");
    pane.sees("First finding");
    pane.send(b"Q");
    assert_eq!(pane.ends(), 0);
    assert_eq!(titles(&home).len(), 3, "nothing was deleted by a stray d");
    pane.is_restored();
    // The default theme is the terminal's own colours: it asks nothing at all.
    let mut pane = Pane::start(&home, &args, 100, 30);
    pane.sees("Third finding");
    pane.send(b"Q");
    pane.ends();
    assert!(!String::from_utf8_lossy(&pane.all).contains("]11;?"));
}

#[test]
fn d08_a_storm_of_sizes_ends_with_the_last_one_drawn_right() {
    let home = Home::new();
    let mut pane = Pane::start(&home, &["tui", "--demo"], 100, 30);
    pane.sees("LIVE");
    for at in 0..200u16 {
        let (cols, rows) =
            [(0, 0), (1, 1), (12, 1), (24, 6), (30, 15), (50, 40), (160, 45), (200, 60)][usize::from(at % 8)];
        pane.master.resize(size(cols, rows)).unwrap();
    }
    pane.master.resize(size(50, 40)).unwrap();
    pane.vt.screen_mut().set_size(40.try_into().unwrap(), 50.try_into().unwrap());
    pane.send(b"\x0c");
    pane.wait_for("the narrow screen", |text| {
        text.lines().count() >= 40 && text.contains("/ find") && text.starts_with(" webapp ▾ LIVE")
    });
    pane.send(b"Q");
    assert_eq!(pane.ends(), 0);
}

#[test]
fn d01_a_prompt_typed_into_this_pane_changes_nothing() {
    let (home, _) = remembered();
    let mut pane = Pane::start(&home, &["tui", "--no-collect", "--project", "*"], 50, 40);
    pane.sees("Third finding");
    pane.send(b"delete the old migration and write a new one\r");
    pane.sees("typing a prompt");
    pane.send(b"\x1b");
    pane.wait_for("the panel to go", |text| !text.contains("typing a prompt"));
    pane.send(b"\x1b[200~dddd\ruuu Q\x1b[201~");
    pane.sees("dddd uuu Q");
    pane.send(b"\x1b");
    pane.sees("Third finding");
    pane.send(b"Q");
    pane.ends();
    assert_eq!(titles(&home).len(), 3);
}

#[test]
fn the_editor_gets_the_terminal_and_its_text_is_saved_as_one_step() {
    let (home, _) = remembered();
    let script = home.path("editor.sh");
    std::fs::write(
        &script,
        "#!/bin/sh\ntest -t 0 && test -t 1 || exit 3\nsed -i 's/Third finding of the morning/Edited by hand/' \"$2\"\n",
    )
    .unwrap();
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let editor = format!("{} -w", script.display());
    let args = ["tui", "--no-collect", "--project", "*"];
    let mut pane = Pane::start_with(&home, &args, 100, 30, &[("EDITOR", &editor)]);
    pane.sees("Third finding");
    pane.send(b"e");
    pane.sees("Edited by hand");
    assert!(pane.vt.screen().alternate_screen());
    pane.send(b"u");
    pane.sees("Third finding");
    pane.send(b"Q");
    assert_eq!(pane.ends(), 0);
    pane.is_restored();
    assert!(!home.files().iter().any(|file| file.contains("edit-")), "{:?}", home.files());
}

#[test]
fn delete_and_undo_reach_the_database_and_undo_works_after_a_restart() {
    let (home, ids) = remembered();
    let args = ["tui", "--no-collect", "--project", "*"];
    let mut pane = Pane::start(&home, &args, 100, 30);
    pane.sees("Third finding");
    pane.send(b"d");
    pane.sees("trashed 1");
    assert_eq!(titles(&home).len(), 2);
    pane.send(b"Q");
    pane.ends();
    let mut pane = Pane::start(&home, &args, 100, 30);
    pane.sees("Second finding");
    pane.send(b"u");
    pane.sees("Third finding");
    pane.send(b"Q");
    pane.ends();
    let back = store(&home).get(&[ids[2]]).unwrap();
    assert_eq!(back.len(), 1, "with its number");
}

#[test]
fn a_row_removed_by_another_program_goes_and_the_cursor_goes_to_its_neighbour() {
    let (home, ids) = remembered();
    let mut pane = Pane::start(&home, &["tui", "--no-collect", "--project", "*"], 100, 30);
    pane.sees("Third finding");
    let who = Who { actor: "cli", now: NOW.parse().unwrap() };
    store(&home).trash(&ids[2..], true, who, &mut |_, _| true).unwrap();
    pane.wait_for("the row to go", |text| !text.contains("Third finding"));
    assert!(pane.text().contains("▸"));
    assert!(pane.text().contains("Second finding"));
}

#[test]
fn no_color_means_no_colour() {
    let (home, _) = remembered();
    let args = ["tui", "--no-collect", "--project", "*"];
    let mut pane = Pane::start_with(&home, &args, 100, 30, &[("NO_COLOR", "1")]);
    pane.sees("Third finding");
    pane.send(b"jjQ");
    pane.ends();
    let text = String::from_utf8_lossy(&pane.all);
    for part in text.split("\u{1b}[").skip(1) {
        let codes: String = part.chars().take_while(|ch| ch.is_ascii_digit() || *ch == ';').collect();
        if part[codes.len()..].starts_with('m') {
            let coloured = codes.split(';').any(|code| {
                code.parse::<u32>().is_ok_and(|code| (30..=49).contains(&code) || (90..=107).contains(&code))
            });
            assert!(!coloured, "{codes}");
        }
    }
}

#[test]
fn hostile_text_in_the_database_never_reaches_the_terminal() {
    let home = Home::new();
    let title = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{9b}31mevil\u{202e}";
    home.remember(vec![memory(title, "/w/alpha", "2026-03-02T09:00:00Z")]);
    let mut pane = Pane::start(&home, &["tui", "--no-collect", "--project", "*"], 100, 30);
    pane.sees("evil");
    pane.send(b"\r");
    pane.send(b"\r");
    pane.sees("Raw");
    pane.send(b"Q");
    pane.ends();
    let text = String::from_utf8_lossy(&pane.all);
    assert!(
        !text.contains("\u{1b}]0;")
            && !text.contains("\u{1b}]52;")
            && !text.contains('\u{9b}')
            && !text.contains('\u{202e}')
    );
}

#[test]
fn a_choice_goes_down_the_pipe_while_the_screen_is_on_the_terminal() {
    let (home, ids) = remembered();
    let line = "\"$CMEM\" tui --no-collect --project '*' --pick | sed 's/^/chosen /' > picked.txt";
    let mut pane = Pane::shell(&home, line, 100, 30);
    pane.sees("Third finding");
    pane.send(b"j");
    pane.sees("Second finding");
    pane.send(b"\r");
    pane.ends();
    let picked = std::fs::read_to_string(home.path("picked.txt")).unwrap();
    assert_eq!(picked, format!("chosen {}\n", ids[1].0));
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let home = Home::new();
    let run = home.run(&["tui", "--inline", "2", "--demo"]).ok();
    assert_eq!(run.out.lines().count(), 3, "{}", run.out);
    assert!(run.out.lines().next().unwrap().contains("memories · REC ok"));
}

#[test]
fn a_broken_configuration_is_told_with_its_line_and_the_rest_applies() {
    let (home, _) = remembered();
    std::fs::write(home.cmem().join("keys.toml"), "[feed]\ntrsh = [\"X\"]\nmark = [\"m\"]\n").unwrap();
    let run = home.run(&["tui", "--check-config"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("keys.toml:2  unknown action “trsh”, did you mean “trash”?"), "{}", run.out);
    let mut pane = Pane::start(&home, &["tui", "--no-collect", "--project", "*"], 100, 30);
    pane.sees("keys.toml:2");
    pane.send(b"\x1b");
    pane.wait_for("the message to go", |text| !text.contains("keys.toml:2"));
    pane.send(b"m");
    pane.sees("1 marked");
    // Saved again, it is read again, with a word about it.
    std::fs::write(home.cmem().join("keys.toml"), "[feed]\ntrash = [\"X\"]\n").unwrap();
    pane.sees("configuration read again");
}
