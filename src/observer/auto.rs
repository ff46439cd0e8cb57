//! `provider = "auto"`: the claude program where it can be started, the observer without a model where it cannot.
//!
//! It stands before both and passes on what is said. A run whose program is not found or cannot be started is taken
//! over by the rules at once, question and all, so that nothing waits for an installation; the next run tries the
//! program again after a while. Who answered is told with each answer (a model's reply or a judgement), so the rows
//! say it truthfully, and [`Auto::without_model`] says why for the screen. A program that starts and then is not
//! signed in is no such case: that is a pause the user can end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::config::monotonic;
use crate::mode::Mode;

use super::offline;
use super::provider::{Gone, Order, Provider, Report, RunKey, Said, Sink};

/// After a program that could not be started it is tried again this much later.
const AGAIN: Duration = Duration::from_secs(300);

/// Why there is no model at the moment; `None`: there is one, as far as is known.
pub type Lack = Arc<Mutex<Option<String>>>;

/// The provider.
pub struct Auto {
    first: Box<dyn Provider>,
    shared: Arc<Mutex<Shared>>,
    lack: Lack,
    rules: Arc<Rules>,
}

/// What the program's reports and our orders share.
#[derive(Default)]
struct Shared {
    runs: BTreeMap<RunKey, Run>,
    failed_at: Option<Instant>,
}

/// A run.
#[derive(Default)]
struct Run {
    /// The program has said that it is ready: from then on its end is its own matter.
    ready: bool,
    /// The rules answer.
    by_rules: bool,
    /// The question that is open.
    open: Option<Order>,
}

/// The observer without a model, answering orders.
struct Rules {
    mode: Arc<Mode>,
    sink: Sink,
}

impl Rules {
    fn answer(&self, order: &Order) {
        if let Order::Ask { run, ask, batch, expects, .. } = order {
            let drafts = if expects.observations() { offline::observe(batch, &self.mode) } else { Vec::new() };
            let summary = expects.summary().then(|| offline::summarise(std::slice::from_ref(&**batch))).flatten();
            let said = Said::Judged { ask: *ask, drafts, summary };
            (self.sink)(Report { run: *run, said });
        }
    }
}

impl Auto {
    /// `first` makes the provider that is tried, given where its reports go.
    pub fn new(mode: Arc<Mode>, sink: Sink, first: impl FnOnce(Sink) -> Box<dyn Provider>) -> Self {
        let shared: Arc<Mutex<Shared>> = Arc::default();
        let lack = Lack::default();
        let rules = Arc::new(Rules { mode, sink: Arc::clone(&sink) });
        let (its_shared, its_lack, its_rules) = (Arc::clone(&shared), Arc::clone(&lack), Arc::clone(&rules));
        let hears: Sink = Arc::new(move |report: Report| {
            let why = match &report.said {
                Said::Gone(Gone::NotFound { looked }) => {
                    Some(format!("claude was not found (looked in {})", looked.join(", ")))
                }
                Said::Gone(Gone::Refused(why)) => Some(format!("claude cannot be started: {why}")),
                _ => None,
            };
            let mut known = its_shared.lock().unwrap_or_else(PoisonError::into_inner);
            match (why, &report.said) {
                (Some(why), _) if known.runs.get(&report.run).is_some_and(|it| !it.ready) => {
                    *its_lack.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                    known.failed_at = Some(monotonic());
                    let open = known.runs.get_mut(&report.run).and_then(|run| {
                        run.by_rules = true;
                        run.open.take()
                    });
                    drop(known);
                    if let Some(order) = open {
                        its_rules.answer(&order);
                    }
                }
                (_, Said::Ready { .. }) => {
                    if let Some(run) = known.runs.get_mut(&report.run) {
                        run.ready = true;
                    }
                    known.failed_at = None;
                    *its_lack.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    drop(known);
                    sink(report);
                }
                (_, said) => {
                    match said {
                        Said::Gone(_) => drop(known.runs.remove(&report.run)),
                        Said::Answered { .. } => {
                            if let Some(run) = known.runs.get_mut(&report.run) {
                                run.open = None;
                            }
                        }
                        _ => {}
                    }
                    drop(known);
                    sink(report);
                }
            }
        });
        Self { first: first(hears), shared, lack, rules }
    }

    /// Why there is no model at the moment.
    pub fn without_model(&self) -> Lack {
        Arc::clone(&self.lack)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Provider for Auto {
    fn order(&mut self, order: Order) {
        match &order {
            Order::Start { run, .. } => {
                let mut known = self.known();
                let by_rules = known.failed_at.is_some_and(|at| at.elapsed() < AGAIN);
                known.runs.insert(*run, Run { by_rules, ..Run::default() });
                drop(known);
                if by_rules {
                    (self.rules.sink)(Report { run: *run, said: Said::Ready { version: None } });
                } else {
                    self.first.order(order);
                }
            }
            Order::Ask { run, .. } => {
                let mut known = self.known();
                let Some(here) = known.runs.get_mut(run) else { return };
                if here.by_rules {
                    drop(known);
                    self.rules.answer(&order);
                } else {
                    here.open = Some(order.clone());
                    drop(known);
                    self.first.order(order);
                }
            }
            Order::End { run } | Order::Kill { run } => {
                let mut known = self.known();
                if known.runs.get(run).is_some_and(|it| it.by_rules) {
                    known.runs.remove(run);
                    drop(known);
                    (self.rules.sink)(Report { run: *run, said: Said::Gone(Gone::Ended) });
                } else {
                    drop(known);
                    self.first.order(order);
                }
            }
        }
    }

    fn close(&mut self) {
        self.first.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::gate::reply::Expected;
    use crate::observer::batch::Batch;
    use crate::observer::provider::{AskKey, RunSpec};

    /// A program that is not there, or is.
    struct Program {
        sink: Sink,
        there: bool,
    }

    impl Provider for Program {
        fn order(&mut self, order: Order) {
            let (run, said) = match order {
                Order::Start { run, .. } if self.there => (run, Said::Ready { version: None }),
                Order::Start { run, .. } => (run, Said::Gone(Gone::NotFound { looked: vec!["PATH".into()] })),
                Order::End { run } | Order::Kill { run } => (run, Said::Gone(Gone::Ended)),
                Order::Ask { .. } => return,
            };
            (self.sink)(Report { run, said });
        }

        fn close(&mut self) {}
    }

    fn auto(there: bool) -> (Auto, Receiver<Report>) {
        let (sender, reports) = channel();
        let sink: Sink = Arc::new(move |report| sender.send(report).unwrap_or_default());
        let mode = Arc::new(crate::mode::code());
        (Auto::new(mode, sink, |sink| Box::new(Program { sink, there })), reports)
    }

    fn start_and_ask(auto: &mut Auto, run: u64) {
        let spec = RunSpec { session: "s".into(), instructions: "i".into(), model: "m".into() };
        auto.order(Order::Start { run: RunKey(run), spec });
        auto.order(Order::Ask {
            run: RunKey(run),
            ask: AskKey(run),
            text: "q".into(),
            batch: Arc::new(Batch::default()),
            expects: Expected::Observations,
        });
    }

    #[test]
    fn a065_without_the_program_the_rules_answer_and_the_reason_is_told() {
        let (mut auto, reports) = auto(false);
        for run in [1, 2] {
            start_and_ask(&mut auto, run);
            auto.order(Order::End { run: RunKey(run) });
        }
        let said: Vec<String> = reports
            .try_iter()
            .map(|it| match it.said {
                Said::Judged { .. } => format!("{} judged", it.run.0),
                Said::Gone(gone) => format!("{} {gone:?}", it.run.0),
                Said::Ready { .. } => format!("{} ready", it.run.0),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(said, ["1 judged", "1 Ended", "2 ready", "2 judged", "2 Ended"]);
        let lack = auto.without_model();
        let why = lack.lock().expect("not poisoned").clone();
        assert_eq!(why.as_deref(), Some("claude was not found (looked in PATH)"));
    }

    #[test]
    fn with_the_program_nothing_is_changed() {
        let (mut auto, reports) = auto(true);
        start_and_ask(&mut auto, 1);
        auto.order(Order::Kill { run: RunKey(1) });
        let said: Vec<Said> = reports.try_iter().map(|it| it.said).collect();
        assert_eq!(said, [Said::Ready { version: None }, Said::Gone(Gone::Ended)]);
        assert_eq!(*auto.without_model().lock().expect("not poisoned"), None);
    }
}
