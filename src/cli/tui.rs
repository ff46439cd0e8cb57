//! `cmem tui`: the browser. What it looks like and where its memories come from is put together here.
#![allow(clippy::disallowed_methods, reason = "reads keys.toml and themes, and looks whether they changed")]

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use super::{CliError, Ctx};
use crate::collector::intake::Scope;
use crate::collector::run as run_collector;
use crate::config::repository::Resolver;
use crate::config::{Env, TuiSettings, monotonic};
use crate::hub::live::{Source, Trouble};
use crate::hub::real::{Real, Setup};
use crate::memory::{Clock, millis};
use crate::tui::demo::{self, Demo, DemoClock};
use crate::tui::keymap::Keymap;
use crate::tui::msg::{Msg, Reloaded};
use crate::tui::plain;
use crate::tui::run::{self, Options};
use crate::tui::state::{Alphabet, Look, ScopeWanted, State, Tone, View};
use crate::tui::theme::{self, Depth, GlyphSet};
use crate::tui::worker::Opener;

/// Arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Show one project: a name, a path, or * for all
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// Start with this query
    #[arg(long, short = 'q', value_name = "QUERY")]
    pub query: Option<String>,
    /// View shown first: feed, timeline, sessions, context, observer, trash
    #[arg(long, value_name = "VIEW")]
    pub view: Option<String>,
    /// Theme
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Sample memories with a live stream; nothing is read or written
    #[arg(long)]
    pub demo: bool,
    /// Show what the transcripts in DIR come to, without a model, in a store that is thrown away
    #[arg(long, value_name = "DIR", conflicts_with_all = ["demo", "no_collect", "read_only"])]
    pub folder: Option<std::path::PathBuf>,
    /// Lines instead of a screen, for screen readers and pipes
    #[arg(long)]
    pub plain: bool,
    /// Change nothing, collect nothing
    #[arg(long)]
    pub read_only: bool,
    /// Never collect, only look
    #[arg(long)]
    pub no_collect: bool,
    /// When collecting: also what was written before the first start
    #[arg(long)]
    pub from_start: bool,
    /// No mouse, whatever the settings say
    #[arg(long)]
    pub no_mouse: bool,
    /// Print the newest N memories and leave; no screen
    #[arg(long, value_name = "N")]
    pub inline: Option<u16>,
    /// Choose one with Enter; its id is printed to stdout
    #[arg(long)]
    pub pick: bool,
    /// Check settings, keys and theme, print contrasts, and leave
    #[arg(long)]
    pub check_config: bool,
}

/// Runs the command.
pub fn run(args: Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let look = Looked::at(&args, ctx);
    if args.check_config {
        return check_config(&look, ctx);
    }
    if let Some(rows) = args.inline {
        return inline(&args, ctx, rows);
    }
    if args.plain || ctx.env.get("TERM") == Some("dumb") {
        return plain(&args, ctx);
    }
    let (open, clock) = if args.demo { demo_source() } else { (source(&args, ctx), clock(ctx)) };
    let faults = look.faults.clone();
    let theme = look.theme.clone();
    let (mode, _) = crate::hub::active_mode(&ctx.dirs, &ctx.settings);
    let zone = if args.demo { jiff::tz::TimeZone::UTC } else { ctx.zone.clone() };
    let mut state = State::new(look.settings, look.look, look.keymap, Alphabet::new(&mode), zone, clock());
    state.faults = faults;
    state.pick = args.pick;
    if let Some(fault) = state.faults.first().cloned() {
        state.messages.say(state.now, Tone::Error, fault);
    }
    scope(&mut state, &args, ctx);
    if let Some(query) = &args.query {
        state.search.text.clone_from(query);
    }
    let fresh = args.query.is_some() || args.view.is_some() || args.demo;
    let options = Options {
        open,
        clock,
        env: ctx.env.clone(),
        keep: (!args.demo && args.folder.is_none()).then(|| ctx.dirs.screen_state()),
        state_dir: ctx.dirs.state.clone(),
        config_file: Some(ctx.dirs.config_file()),
        themes: theme_files(ctx),
        reload: reloader(&args, ctx, &theme),
        hook: Box::new(|_| Err("cmem install --dry-run shows the change, cmem install makes it".into())),
        demo: Box::new(demo_source),
        fresh,
    };
    let outcome = run::run(state, options).map_err(|error| {
        CliError::new("there is no terminal to draw on")
            .cause(error)
            .hint("cmem tui --plain prints lines; cmem list and cmem search answer scripts")
    })?;
    for line in &outcome.printed {
        super::print::data(|out| writeln!(out, "{line}"))?;
    }
    Ok(ExitCode::from(outcome.code))
}

/// Settings, theme and keys as they apply, and what does not.
struct Looked {
    settings: TuiSettings,
    look: Look,
    keymap: Keymap,
    theme: String,
    faults: Vec<String>,
}

impl Looked {
    fn at(args: &Args, ctx: &Ctx) -> Self {
        let mut faults: Vec<String> = ctx.warnings.iter().map(ToString::to_string).collect();
        let mut settings = ctx.settings.tui.clone();
        if args.no_mouse {
            settings.mouse = "off".into();
        }
        if let Some(view) = &args.view {
            if View::by_name(view).is_none() {
                faults.push(format!("--view {view}: feed, timeline, sessions, context, observer or trash"));
            }
            settings.view.clone_from(view);
        }
        let depth = depth(ctx);
        let name = args.theme.clone().unwrap_or_else(|| settings.theme.clone());
        let name = for_appearance(&name, &settings, &ctx.env);
        let find = theme_files(ctx);
        let (file, theme_faults) = theme::load(&name, &|name| find(name));
        faults.extend(theme_faults.iter().map(|f| format!("themes/{}.toml:{}  {}", f.theme, f.line, f.what)));
        let glyphs = file.glyphs.or(GlyphSet::by_name(&settings.glyphs)).unwrap_or(GlyphSet::Unicode);
        let (keymap, key_faults) = Keymap::with_user(&read(&ctx.dirs.keys_file()));
        faults.extend(key_faults.iter().map(|fault| format!("keys.toml:{}  {}", fault.line, fault.what)));
        let look = Look::new(file, depth, glyphs, settings.ambiguous.clamp(1, 2));
        Self { settings, look, keymap, theme: name, faults }
    }
}

/// How many colours: none with `NO_COLOR`, unless colour is asked for.
fn depth(ctx: &Ctx) -> Depth {
    let env = &ctx.env;
    let no_color = env.get("NO_COLOR").is_some_and(|value| !value.is_empty());
    if no_color && !ctx.terminal.colour {
        return Depth::Mono;
    }
    let term = env.get("TERM").unwrap_or("");
    match env.get("COLORTERM") {
        Some("truecolor" | "24bit") => Depth::True,
        _ if term.contains("direct") => Depth::True,
        _ if term.contains("256") => Depth::Ansi256,
        _ if term == "dumb" || term.ends_with("-m") => Depth::Mono,
        _ => Depth::Ansi16,
    }
}

/// A theme's light or dark sibling, where setting or environment say which.
fn for_appearance(name: &str, settings: &TuiSettings, env: &Env) -> String {
    let background = env.get("COLORFGBG").and_then(|value| value.rsplit(';').next()?.parse::<u8>().ok());
    let light = match (settings.appearance.as_str(), env.get("CMEM_APPEARANCE"), background) {
        ("light", ..) | (_, Some("light"), _) => true,
        ("dark", ..) | (_, Some("dark"), _) => false,
        (.., Some(color)) => matches!(color, 7 | 9..=15),
        _ => return name.to_owned(),
    };
    theme::sibling(name, light).unwrap_or(name).to_owned()
}

/// The memories of this machine, collected here when nobody else does.
fn source(args: &Args, ctx: &Ctx) -> Opener {
    let collect: Option<Arc<dyn Fn() -> run_collector::Options + Send + Sync>> = (!args.no_collect && !args.read_only)
        .then(|| {
            let ctx = ctx.clone();
            let from_start = args.from_start;
            Arc::new(move || {
                let mut options = super::watch::options(&ctx);
                options.scope = Scope { from_start, ..Scope::default() };
                options
            }) as Arc<dyn Fn() -> run_collector::Options + Send + Sync>
        });
    let setup = Setup {
        dirs: ctx.dirs.clone(),
        env: ctx.env.clone(),
        settings: ctx.settings.clone(),
        clock: Arc::new(ctx.clock),
        zone: ctx.zone.clone(),
        read_only: args.read_only,
        collect,
    };
    Box::new(move || Ok(Box::new(Real::open(setup.clone())?) as Box<dyn Source>))
}

/// The machine's clock; a fixed one goes on from where it was fixed, so that what waits for time still happens.
fn clock(ctx: &Ctx) -> Box<dyn Fn() -> i64> {
    let clock = ctx.clock;
    if ctx.env.get("CMEM_NOW").is_none() {
        return Box::new(move || millis(clock.now()));
    }
    let (begun, at) = (monotonic(), millis(clock.now()));
    Box::new(move || at + begun.elapsed().as_millis() as i64)
}

/// Sample memories; their clock begins at a fixed time.
fn demo_source() -> (Opener, Box<dyn Fn() -> i64>) {
    let time = DemoClock::default();
    let begun = monotonic();
    let own = time.clone();
    let clock = move || {
        own.set_elapsed(begun.elapsed().as_millis() as i64);
        own.now()
    };
    let open = move || Ok(Box::new(Demo::new(time.clone(), demo::SIZE, true)) as Box<dyn Source>);
    (Box::new(open), Box::new(clock))
}

/// The project the screen is narrowed to at first.
fn scope(state: &mut State, args: &Args, ctx: &Ctx) {
    let wanted = args.project.clone().unwrap_or_else(|| state.settings.project.clone());
    state.scope_name = "all projects".into();
    match wanted.as_str() {
        "*" => {}
        _ if args.demo => {
            state.scope_wanted = ScopeWanted::Named("webapp".into());
        }
        "auto" => {
            if args.folder.is_none()
                && let Some(cwd) = &ctx.cwd
            {
                let project = Resolver::new(&ctx.env).resolve(&cwd.to_string_lossy());
                state.scope_wanted = ScopeWanted::Auto(project.root);
            }
        }
        name => state.scope_wanted = ScopeWanted::Named(name.to_owned()),
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn theme_files(ctx: &Ctx) -> Box<dyn Fn(&str) -> Option<String>> {
    let folder = ctx.dirs.themes();
    Box::new(move |name| {
        let plain = !name.is_empty() && name.chars().all(|ch| ch.is_alphanumeric() || ch == '-' || ch == '_');
        plain.then(|| std::fs::read_to_string(folder.join(format!("{name}.toml"))).ok()).flatten()
    })
}

/// Looks whether one of the files changed, and reads everything again if so.
fn reloader(args: &Args, ctx: &Ctx, theme: &str) -> Box<dyn FnMut() -> Option<Msg> + Send> {
    let config = ctx.overrides.file.clone().unwrap_or_else(|| ctx.dirs.config_file());
    let files = [config, ctx.dirs.keys_file(), ctx.dirs.themes().join(format!("{theme}.toml"))];
    let stamp = move || -> Vec<Option<std::time::SystemTime>> {
        files.iter().map(|file| std::fs::metadata(file).and_then(|meta| meta.modified()).ok()).collect()
    };
    let mut seen = stamp();
    let (mut args, mut ctx) = (args.clone(), ctx.clone());
    args.view = None;
    Box::new(move || {
        let now = stamp();
        if now == seen {
            return None;
        }
        seen = now;
        let (settings, warnings) = crate::config::load_with(&ctx.dirs, &ctx.env, &ctx.overrides);
        ctx.settings = settings;
        ctx.warnings = warnings;
        let looked = Looked::at(&args, &ctx);
        Some(Msg::Config(Box::new(Reloaded {
            settings: looked.settings,
            keymap: looked.keymap,
            theme: looked.look.file,
            faults: looked.faults,
        })))
    })
}

/// Settings, keys and theme: what does not apply, and how readable the theme is.
fn check_config(look: &Looked, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let contrasts = theme::contrasts(&look.look.file, None);
    super::print::data(|out| {
        for fault in &look.faults {
            writeln!(out, "{fault}")?;
        }
        writeln!(
            out,
            "theme {}: {} colours",
            look.theme,
            if contrasts.is_empty() { "the terminal's own" } else { "its own" }
        )?;
        for (role, ratio) in contrasts.iter().take(8) {
            let note = if *ratio < 4.5 { "  under 4.5: hard to read" } else { "" };
            writeln!(out, "  {role:<14} {ratio:>5.1} : 1{note}")?;
        }
        writeln!(out, "{}", if look.faults.is_empty() { "no problems" } else { "the rest applies" })
    })?;
    let _ = ctx;
    Ok(ExitCode::from(u8::from(!look.faults.is_empty())))
}

/// The newest memories as lines.
fn inline(args: &Args, ctx: &Ctx, rows: u16) -> Result<ExitCode, CliError> {
    let (mut source, zone) = looker(args, ctx)?;
    let lines = plain::newest(source.as_mut(), usize::from(rows), &zone, millis(ctx.now())).map_err(trouble)?;
    super::print::data(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    Ok(ExitCode::SUCCESS)
}

/// Lines instead of a screen.
fn plain(args: &Args, ctx: &Ctx) -> Result<ExitCode, CliError> {
    let (open, zone): (Opener, _) =
        if args.demo { (demo_source().0, jiff::tz::TimeZone::UTC) } else { (source(args, ctx), ctx.zone.clone()) };
    plain::run(open, &zone, clock(ctx).as_ref()).map_err(trouble)?;
    Ok(ExitCode::SUCCESS)
}

/// A source that only looks.
fn looker(args: &Args, ctx: &Ctx) -> Result<(Box<dyn Source>, jiff::tz::TimeZone), CliError> {
    if args.demo {
        let (mut open, clock) = demo_source();
        clock();
        return Ok((open().map_err(trouble)?, jiff::tz::TimeZone::UTC));
    }
    let mut open = source(&Args { read_only: true, ..args.clone() }, ctx);
    Ok((open().map_err(trouble)?, ctx.zone.clone()))
}

fn trouble(trouble: Trouble) -> CliError {
    let error = CliError::new(trouble.what);
    if trouble.hint.is_empty() { error } else { error.hint(trouble.hint) }
}
