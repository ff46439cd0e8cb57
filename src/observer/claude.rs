//! The observer as a `claude` child process over stream-json, as the client itself is installed and signed in.
//!
//! One child is one run. It gets its instructions with `initialize` on its standard input, never on the command line;
//! every question is one user line with a uuid; the turn's `result` line is the answer. It has no tools, no hooks, no
//! MCP servers, no settings of the user but what its sign-in needs, leaves no transcript, works in an empty folder of
//! cmem's own, and dies with its parent on every path (observer.md in the design notes is the measured ground).
//!
//! In the folder: `find` (which program), `launch` (its arguments and environment, pure), `turn` (its lines, pure),
//! `child` (the process). This file owns the thread: a tokio runtime of one thread, started with the first run, with a
//! task for each child.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::config::{Dirs, Env};

use super::provider::{Gone, Order, Provider, Report, RunKey, Said, Sink};

mod child;
pub mod find;
pub mod launch;
mod turn;

use find::{Finder, NotFound};
pub(in crate::observer) use turn::by_status;

/// What the provider needs to know of the machine it runs on.
#[derive(Clone, Debug)]
pub struct Setup {
    /// `claude_path` of the settings; empty: look for it.
    pub program: String,
    /// The user's environment.
    pub env: Env,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Claude Code's configuration directories, for the kind of sign-in.
    pub claude_dirs: Vec<PathBuf>,
    /// The empty folder children run in.
    pub cwd: PathBuf,
}

impl Setup {
    /// From the user's directories, environment and settings.
    pub fn of(program: &str, env: &Env, dirs: &Dirs) -> Self {
        Self {
            program: program.to_owned(),
            env: env.clone(),
            home: dirs.home.clone(),
            // The user's, even where transcripts of another place are looked at.
            claude_dirs: Dirs::discover(env).map_or_else(|_| dirs.claude.clone(), |it| it.claude),
            cwd: dirs.observer(),
        }
    }
}

/// How long children have to be gone in when the provider closes.
const CLOSING: Duration = Duration::from_secs(10);

/// The provider.
pub struct Claude {
    setup: Setup,
    sink: Sink,
    thread: Option<(mpsc::UnboundedSender<Order>, JoinHandle<()>)>,
}

impl Claude {
    /// Nothing is started yet.
    pub fn new(setup: Setup, sink: Sink) -> Self {
        Self { setup, sink, thread: None }
    }

    fn thread(&mut self) -> Result<&mpsc::UnboundedSender<Order>, std::io::Error> {
        if self.thread.is_none() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let (orders, inbox) = mpsc::unbounded_channel();
            let (setup, sink) = (self.setup.clone(), Arc::clone(&self.sink));
            // The children are tied to the life of this thread, so it lives as long as the provider.
            let handle = std::thread::Builder::new()
                .name("cmem-observer".into())
                .spawn(move || runtime.block_on(serve(setup, sink, inbox)))?;
            self.thread = Some((orders, handle));
        }
        Ok(&self.thread.as_ref().expect("set above").0)
    }
}

impl Provider for Claude {
    fn order(&mut self, order: Order) {
        let run = match &order {
            Order::Start { run, .. } => Some(*run),
            _ => None,
        };
        let said = match self.thread() {
            Ok(orders) => orders.send(order).is_err().then(|| "the observer's thread has ended".to_owned()),
            Err(err) => Some(err.to_string()),
        };
        if let (Some(run), Some(why)) = (run, said) {
            (self.sink)(Report { run, said: Said::Gone(Gone::Refused(why)) });
        }
    }

    fn close(&mut self) {
        if let Some((orders, handle)) = self.thread.take() {
            drop(orders); // the thread ends what is left and then itself
            let _ = handle.join();
        }
    }
}

impl Drop for Claude {
    fn drop(&mut self) {
        self.close();
    }
}

/// The thread's work: one task for each run.
async fn serve(setup: Setup, sink: Sink, mut inbox: mpsc::UnboundedReceiver<Order>) {
    let mut runs: Vec<(RunKey, mpsc::UnboundedSender<Order>)> = Vec::new();
    let mut tasks = tokio::task::JoinSet::new();
    let mut finder = Finder::default();
    while let Some(order) = inbox.recv().await {
        while tasks.try_join_next().is_some() {}
        runs.retain(|(_, orders)| !orders.is_closed());
        match order {
            Order::Start { run, spec } => {
                let found = match finder.find(&setup).await {
                    Ok(found) => found,
                    Err(NotFound { looked, unusable }) => {
                        let gone = match unusable.as_slice() {
                            [] => Gone::NotFound { looked },
                            unusable => Gone::Refused(unusable.join("; ")),
                        };
                        sink(Report { run, said: Said::Gone(gone) });
                        continue;
                    }
                };
                let credential = find::credential(&setup.claude_dirs);
                let launch = launch::launch(&found, &spec.model, credential, &setup.env, &setup.cwd);
                let (orders, own) = mpsc::unbounded_channel();
                runs.push((run, orders));
                let sink = Arc::clone(&sink);
                tasks.spawn(child::serve(run, spec, launch, found.version, own, sink));
            }
            Order::Ask { run, .. } | Order::End { run } | Order::Kill { run } => {
                if let Some((_, orders)) = runs.iter().find(|(key, _)| *key == run) {
                    // A run that is just ending has said or will say that it is gone.
                    let _ = orders.send(order);
                }
            }
        }
    }
    drop(runs); // tells the children to end
    let all_gone = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(CLOSING, all_gone).await;
    // What is left is killed when its task is dropped.
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}
}
