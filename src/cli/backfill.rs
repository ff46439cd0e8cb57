//! `cmem backfill`: transcripts from before the first start, with an estimate first.

use std::io::BufRead;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::watch::{Signals, cannot_start, options, paused_error};
use super::{CliError, Ctx, filter, print};
use crate::collector::backfill::{Plan, Wanted, plan};
use crate::collector::intake::Scope;
use crate::collector::model::{Estimate, estimate, provider_now};
use crate::collector::run::{Collector, Ended, Options, StartError};
use crate::observer::machine::Config;
use crate::store::{Access, Store, StoreError};

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Only what was written from this time on
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what was written up to this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only this project: its name, or the path of its root
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// At most this many events, newest first
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Only the estimate
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let project = args.project.as_deref().map(|typed| match &ctx.cwd {
        // A directory as a person standing in it would type it.
        Some(cwd) if matches!(typed, "." | "..") || typed.starts_with("./") => cwd.join(typed).display().to_string(),
        _ => typed.to_owned(),
    });
    let wanted = Wanted {
        since: filter::since(ctx, args.since.as_deref())?,
        until: filter::until(ctx, args.until.as_deref())?,
        project,
        limit: args.limit,
    };
    begin_now(ctx)?;
    let plan = look(ctx, &wanted)?;
    for (path, why) in &plan.unread {
        print::say(format_args!("warning: {path} cannot be read: {why}"));
    }
    if plan.turns.is_empty() {
        let what = if plan.left > 0 { "nothing of it is what you ask for" } else { "nothing is left" };
        print::say(format_args!("Of what was written before the first start {what}."));
        return Ok(ExitCode::SUCCESS);
    }
    let options = options(ctx);
    let config = Config::of(&ctx.settings, provider_now(&options));
    let cost = estimate(&config, &options.mode, plan.events(), plan.chars());
    let text = told(&plan, &config, &cost, ctx);
    if args.dry_run {
        print::data(|out| std::io::Write::write_all(out, text.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    print::say(format_args!("{}", text.trim_end()));
    if !args.yes && !agreed(ctx)? {
        print::say(format_args!("Nothing was read."));
        return Ok(ExitCode::SUCCESS);
    }
    read(options, &plan, ctx)
}

/// Before a first start nothing is "before": it is made now, so that there is something to look at.
fn begin_now(ctx: &Ctx) -> Result<(), CliError> {
    let started = match Store::open(&ctx.dirs.database(), Access::ReadOnly, ctx.now()) {
        Ok(store) => store.state(crate::collector::run::FIRST).map_err(|error| failed(&error))?.is_some(),
        Err(StoreError::Missing(_)) => false,
        Err(error) => return Err(failed(&error)),
    };
    if started {
        return Ok(());
    }
    let mut options =
        Options::new(ctx.dirs.clone(), ctx.env.clone(), ctx.settings.clone(), std::sync::Arc::new(ctx.clock));
    options.program = crate::config::program();
    options.scope = Scope { once: true, ..Scope::default() };
    match Collector::start(options) {
        Ok(collector) => {
            collector.wait();
            Ok(())
        }
        // Whoever runs has made the first start.
        Err(StartError::Taken(_)) => Ok(()),
        Err(error) => Err(cannot_start(error)),
    }
}

fn look(ctx: &Ctx, wanted: &Wanted) -> Result<Plan, CliError> {
    let store = Store::open(&ctx.dirs.database(), Access::ReadOnly, ctx.now()).map_err(|error| failed(&error))?;
    let bar = bar(ctx, "looking through older transcripts", "{msg} {wide_bar} {bytes}/{total_bytes}");
    let plan = plan(&store, &ctx.dirs, &ctx.env, &ctx.settings, wanted, |read, all| {
        bar.set_length(all);
        bar.set_position(read);
    });
    bar.finish_and_clear();
    plan.map_err(|error| failed(&error))
}

fn failed(error: &StoreError) -> CliError {
    CliError::store("older work could not be looked through", error)
}

/// The estimate in words.
fn told(plan: &Plan, config: &Config, cost: &Estimate, ctx: &Ctx) -> String {
    let span = match plan.span() {
        Some((first, last)) => {
            let day = |at: crate::memory::Timestamp| at.to_zoned_datetime(ctx.zone.clone()).date();
            format!(" from {} to {}", day(first), day(last))
        }
        None => String::new(),
    };
    let mut out =
        format!("{} events in {} turns of {} sessions{span}.\n", plan.events(), plan.turns.len(), plan.sessions());
    if !config.paid {
        out.push_str("Read by rules, without a model: it costs nothing.\n");
        return out;
    }
    let price = cost.cost.map_or_else(|| "unknown price".to_owned(), |dollars| format!("about ${dollars:.2}"));
    out.push_str(&format!(
        "By {} ({}): about {} requests, {} tokens in, {} out, {price}. This is an estimate.\n",
        config.provider, config.model, cost.calls, cost.input_tokens, cost.output_tokens
    ));
    if config.budget.daily_tokens > 0 || config.budget.daily_cost > 0.0 || config.budget.daily_calls > 0 {
        out.push_str("It stops when today's budget is spent, and goes on when you run it again.\n");
    }
    out
}

fn agreed(ctx: &Ctx) -> Result<bool, CliError> {
    if !ctx.terminal.stdin {
        return Err(
            CliError::usage("nobody is there to be asked").hint("say `--yes`, or `--dry-run` for the estimate alone")
        );
    }
    print::say(format_args!("Read it? [y/N]"));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Reads what was chosen.
fn read(mut options: Options, plan: &Plan, ctx: &Ctx) -> Result<ExitCode, CliError> {
    options.scope = Scope { older: Some(plan.chosen()), ..Scope::default() };
    // Beside a collector that records what is written now: the two never read the same bytes.
    options.lock = Some(ctx.dirs.state.join("backfill.lock"));
    let signals = Signals::catch();
    let collector = match Collector::start(options) {
        Ok(collector) => collector,
        Err(StartError::Taken(owner)) => {
            return Err(CliError::new("another backfill is at work").cause(owner.owner()));
        }
        Err(error) => return Err(cannot_start(error)),
    };
    if let Some(signals) = &signals {
        signals.tell(collector.asker());
    }
    let all = plan.events();
    let bar = bar(ctx, "reading", "{msg} {wide_bar} {pos}/{len} events, {eta} left");
    bar.set_length(all);
    let changes = collector.listen(64);
    while !collector.is_over() {
        let _ = changes.recv_timeout(Duration::from_millis(500));
        bar.set_position(collector.snapshot().handled.min(all));
    }
    let handled = collector.snapshot().handled.min(all);
    bar.finish_and_clear();
    let ended = collector.wait();
    match ended {
        Ended::Done => {
            print::say(format_args!("{handled} events have an outcome now."));
            Ok(ExitCode::SUCCESS)
        }
        Ended::Stopped => {
            print::say(format_args!("Stopped: {handled} of {all} events have an outcome. Run it again to go on."));
            Ok(ExitCode::SUCCESS)
        }
        Ended::Paused(paused) => {
            print::say(format_args!("{handled} of {all} events have an outcome."));
            Err(paused_error(&paused))
        }
        Ended::Failed(why) => Err(CliError::new("reading older work broke off").cause(why).hint("run `cmem doctor`")),
    }
}

fn bar(ctx: &Ctx, message: &'static str, template: &str) -> ProgressBar {
    let target = if ctx.terminal.stderr { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target).with_message(message);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
