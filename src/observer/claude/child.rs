//! One child process: started, written to, read from, and ended so that nothing of it is left.
//!
//! Three tasks, as any child needs: one writes its input, one reads its output, one keeps the tail of its errors. The
//! loop in [`serve`] waits on orders, lines and the child's end. Ways to end it, gentlest first: its input closed
//! (an idle child is gone within milliseconds), `interrupt`, SIGTERM to its process group, SIGKILL to it. And if cmem
//! itself is killed, the kernel ends the child with it: a busy one would otherwise finish its turn first (A070).
#![allow(clippy::disallowed_methods, reason = "this is the file that starts the observer's process")]

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

use crate::observer::provider::{AskKey, Gone, Order, Report, RunKey, RunSpec, Said, Sink};

use super::launch::{Launch, Version};
use super::turn::{self, Heard, Stream};

/// How long a child may take to start up; half a second is usual, a cold disk takes longer.
const START: Duration = Duration::from_secs(60);
/// After its input is closed.
const POLITE: Duration = Duration::from_secs(5);
/// After an interrupt.
const INTERRUPT: Duration = Duration::from_millis(1_500);
/// After SIGTERM.
const TERMINATE: Duration = Duration::from_secs(2);
/// Longest line that is read.
const LINE_MAX: usize = 64 << 20;
/// How much of its errors is kept.
const STDERR_TAIL: usize = 2_048;

/// Runs one child from start to end. Says `Gone` exactly once.
pub(super) async fn serve(
    run: RunKey,
    spec: RunSpec,
    launch: Launch,
    version: Version,
    orders: mpsc::UnboundedReceiver<Order>,
    sink: Sink,
) {
    let said = |said| sink(Report { run, said });
    let gone = match Running::start(&launch, &spec) {
        Ok(running) => running.converse(version, orders, &said).await,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound && !launch.program.is_file() => {
            Gone::NotFound { looked: vec![launch.program.display().to_string()] }
        }
        Err(err) => Gone::Refused(format!("{} cannot be started: {err}", launch.program.display())),
    };
    said(Said::Gone(gone));
}

/// A child and the ends of its pipes.
struct Running {
    child: Child,
    input: Option<mpsc::UnboundedSender<String>>,
    lines: mpsc::Receiver<String>,
    errors: tokio::task::JoinHandle<String>,
}

impl Running {
    fn start(launch: &Launch, spec: &RunSpec) -> std::io::Result<Self> {
        std::fs::create_dir_all(&launch.cwd)?;
        let mut command = Command::new(&launch.program);
        command.args(&launch.args).env_clear().envs(launch.env.iter().map(|(name, value)| (name, value)));
        command.current_dir(&launch.cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        without_window(&mut command);
        tied_to_us(&mut command);
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().expect("piped above");
        let stdout = child.stdout.take().expect("piped above");
        let stderr = child.stderr.take().expect("piped above");
        let (input, to_write) = mpsc::unbounded_channel();
        tokio::spawn(write(stdin, to_write));
        // A few lines of slack; a child that talks faster than it is heard waits.
        let (sender, lines) = mpsc::channel(64);
        tokio::spawn(read(stdout, sender));
        let errors = tokio::spawn(tail(stderr));
        let _ = input.send(turn::initialize(&spec.instructions));
        Ok(Self { child, input: Some(input), lines, errors })
    }

    fn write(&self, line: String) {
        if let Some(input) = &self.input {
            let _ = input.send(line); // a child that is gone is noticed by its end
        }
    }

    async fn converse(
        mut self,
        version: Version,
        mut orders: mpsc::UnboundedReceiver<Order>,
        said: &impl Fn(Said),
    ) -> Gone {
        let mut stream = Stream::default();
        let mut ready = false;
        let mut waiting: Option<(AskKey, String)> = None;
        let mut open: Option<AskKey> = None;
        let start = tokio::time::sleep(START);
        tokio::pin!(start);
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Ask { ask, text, .. }) => {
                        waiting = Some((ask, text.to_string()));
                    }
                    Some(Order::Kill { .. }) => {
                        self.kill().await;
                        return Gone::Ended;
                    }
                    Some(Order::End { .. }) | None => {
                        if open.is_some() || !ready {
                            self.kill().await;
                        } else {
                            self.end().await;
                        }
                        return Gone::Ended;
                    }
                    Some(Order::Start { .. }) => {}
                },
                line = self.lines.recv() => match line.as_deref().map(|it| stream.hear(it)) {
                    Some(Heard::Ready) => {
                        ready = true;
                        said(Said::Ready { version: Some(version.to_string()) });
                    }
                    Some(Heard::Refused(why)) => {
                        self.kill().await;
                        return Gone::Refused(why);
                    }
                    Some(Heard::Unsafe(why)) => {
                        self.kill().await;
                        return Gone::Refused(why);
                    }
                    Some(Heard::Alive) => said(Said::Alive),
                    Some(Heard::Windows(windows)) => {
                        for window in windows {
                            said(Said::Window(window));
                        }
                    }
                    Some(Heard::Finished(Some(finished))) => {
                        if let Some(ask) = open.take() {
                            let turn::Finished { reply, usage, model } = *finished;
                            said(Said::Answered { ask, reply, usage, model });
                        }
                    }
                    Some(Heard::Finished(None) | Heard::Nothing) => {}
                    // Its output is closed: it is ending, or has gone mad.
                    None => {
                        let status = tokio::time::timeout(TERMINATE, self.child.wait()).await;
                        return match status {
                            Ok(status) => self.died(status.ok(), ready).await,
                            Err(_) => {
                                self.kill().await;
                                self.died(None, ready).await
                            }
                        };
                    }
                },
                () = &mut start, if !ready => {
                    self.kill().await;
                    let why = self.errors().await;
                    return Gone::Refused(format!("it did not start within {} s{why}", START.as_secs()));
                }
            }
            if ready
                && open.is_none()
                && let Some((ask, text)) = waiting.take()
            {
                let uuid = uuid::Uuid::new_v4().to_string();
                stream.expect(&uuid);
                self.write(turn::user(&text, &uuid));
                open = Some(ask);
            }
            if let Some(told) = stream.version()
                && Version::parse(told).is_some_and(|it| it != version)
            {
                tracing::debug!(told, %version, "the client was updated while it was running");
            }
        }
    }

    /// Why it ended by itself.
    async fn died(&mut self, status: Option<ExitStatus>, ready: bool) -> Gone {
        let how = status.map_or_else(|| "its output closed".to_owned(), |it| it.to_string());
        let why = format!("{how}{}", self.errors().await);
        if ready { Gone::Died(why) } else { Gone::Refused(why) }
    }

    /// The tail of what it wrote to its error output, as `: text`.
    async fn errors(&mut self) -> String {
        let text = tokio::time::timeout(Duration::from_millis(200), &mut self.errors).await;
        match text {
            Ok(Ok(text)) if !text.trim().is_empty() => format!(": {}", crate::memory::safe_line(text.trim())),
            _ => String::new(),
        }
    }

    /// Ends an idle child.
    async fn end(&mut self) {
        self.input = None;
        if tokio::time::timeout(POLITE, self.child.wait()).await.is_err() {
            self.terminate().await;
        }
    }

    /// Ends a busy child.
    async fn kill(&mut self) {
        self.write(turn::interrupt());
        self.input = None; // with its input closed it exits by itself once the turn is broken off
        let quiet = async {
            // Its lines are read on, so that it is not kept waiting for a reader.
            while self.lines.recv().await.is_some() {}
        };
        let _ = tokio::time::timeout(INTERRUPT, quiet).await;
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.terminate().await;
        }
    }

    async fn terminate(&mut self) {
        signal(&self.child, Signal::Terminate);
        if tokio::time::timeout(TERMINATE, self.child.wait()).await.is_err() {
            signal(&self.child, Signal::Kill);
            let _ = self.child.start_kill();
            let _ = self.child.wait().await;
        }
    }
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read(stdout: impl tokio::io::AsyncRead + Unpin, lines: mpsc::Sender<String>) {
    let mut reader = BufReader::with_capacity(64 << 10, stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut reader).take(LINE_MAX as u64);
        match limited.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() && lines.send(text.into_owned()).await.is_err() {
            return;
        }
    }
}

async fn tail(mut stderr: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut kept: Vec<u8> = Vec::new();
    let mut chunk = [0u8; 4_096];
    while let Ok(count) = stderr.read(&mut chunk).await {
        if count == 0 {
            break;
        }
        kept.extend_from_slice(&chunk[..count]);
        let extra = kept.len().saturating_sub(STDERR_TAIL);
        kept.drain(..extra);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

enum Signal {
    Terminate,
    Kill,
}

/// Signals the child's process group; the child leads it (see [`tied_to_us`]).
#[cfg(unix)]
fn signal(child: &Child, signal: Signal) {
    // Gone already, its number may be another's: only a child that was not yet waited for has an id.
    let Some(pid) = child.id().and_then(|it| i32::try_from(it).ok()).and_then(rustix::process::Pid::from_raw) else {
        return;
    };
    let signal = match signal {
        Signal::Terminate => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    let _ = rustix::process::kill_process_group(pid, signal);
}

#[cfg(not(unix))]
fn signal(_child: &Child, _signal: Signal) {
    // Windows has no gentler way than `start_kill`, which `terminate` uses next.
}

/// No console window flashes up on Windows (A084).
pub(super) fn without_window(command: &mut Command) {
    #[cfg(windows)]
    command.creation_flags(WINDOWS_FLAGS);
    #[cfg(not(windows))]
    let _ = command;
}

/// CREATE_NO_WINDOW and CREATE_NEW_PROCESS_GROUP.
#[cfg(any(windows, test))]
pub(super) const WINDOWS_FLAGS: u32 = 0x0800_0000 | 0x0000_0200;

/// The child leads a process group of its own and is killed when the thread that started it is gone.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the kernel ties a child to its parent only between fork and exec")]
fn tied_to_us(command: &mut Command) {
    command.process_group(0);
    let parent = rustix::process::getpid();
    let tie = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may have died before the line above.
        if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(std::io::Error::other("no parent")) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; these are two system calls, and the
    // closure allocates nothing on the path that goes well.
    unsafe {
        command.pre_exec(tie);
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn tied_to_us(command: &mut Command) {
    // No such tie here: the child sees the end of its input when its parent dies, and exits after its turn.
    command.process_group(0);
}

#[cfg(not(unix))]
fn tied_to_us(_command: &mut Command) {}

#[cfg(test)]
mod tests {
    #[test]
    fn a084_no_console_window_is_opened() {
        assert_eq!(super::WINDOWS_FLAGS & 0x0800_0000, 0x0800_0000);
    }
}
