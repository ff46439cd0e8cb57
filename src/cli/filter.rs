//! The filters that list, search and others share, as typed.

use clap::ValueEnum;

use super::{CliError, Ctx, print};
use crate::config::repository::Resolver;
use crate::hub::{Hub, Named};
use crate::memory::{Kind, Timestamp};
use crate::mode::Mode;
use crate::recall::query::{Local, Moment, moment};
use crate::store::api::Filter;

/// Filters as typed.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FilterArgs {
    /// Project: a name, or the path of its root
    #[arg(long, short = 'p', value_name = "PROJECT")]
    pub project: Option<String>,
    /// Types, as ids or letters
    #[arg(long = "type", short = 't', value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<String>,
    /// Concepts, any of them
    #[arg(long = "concept", short = 'c', value_name = "CONCEPT", value_delimiter = ',')]
    pub concepts: Vec<String>,
    /// Files read or modified, as a glob
    #[arg(long = "file", short = 'f', value_name = "GLOB")]
    pub files: Vec<String>,
    /// Session
    #[arg(long, short = 's', value_name = "SESSION")]
    pub session: Option<String>,
    /// From this time on: 2026-03-01 (the whole day), 7d, yesterday, 27aug, RFC 3339
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Up to this time; a date includes its day
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Kinds: observations, summaries, prompts
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub kinds: Vec<KindArg>,
    /// Also memories of excluded projects
    #[arg(long)]
    pub with_excluded: bool,
}

impl FilterArgs {
    /// The store's conditions for what was typed. Says on stderr what a name was taken for.
    pub fn filter(&self, ctx: &Ctx, hub: &Hub) -> Result<Filter, CliError> {
        Ok(self.labelled(ctx, hub)?.0)
    }

    /// [`FilterArgs::filter`], and what the project in it is called.
    pub fn labelled(&self, ctx: &Ctx, hub: &Hub) -> Result<(Filter, String), CliError> {
        let project = self.project.as_deref().map(|typed| project(ctx, hub, typed)).transpose()?;
        if let Some(note) = project.as_ref().and_then(|project| project.note.as_ref()) {
            print::say(format_args!("note: {note}"));
        }
        let (projects, label) = project.map(|project| (project.keys, project.label)).unwrap_or_default();
        let filter = Filter {
            projects,
            types: self.types.iter().map(|word| type_id(hub.mode(), word)).collect(),
            concepts: self.concepts.clone(),
            files: self.files.clone(),
            sessions: self.session.clone().into_iter().collect(),
            since: since(ctx, self.since.as_deref())?,
            until: until(ctx, self.until.as_deref())?,
            kinds: self.kinds.iter().map(|kind| Kind::from(*kind)).collect(),
            with_excluded_projects: self.with_excluded,
            ..Filter::default()
        };
        Ok((filter, label))
    }
}

/// The project that was typed: a name, the path of a root, or a directory in it (`.` for the one this is typed in).
pub fn project(ctx: &Ctx, hub: &Hub, typed: &str) -> Result<Named, CliError> {
    let failed = |error| CliError::store("the projects could not be read", &error);
    let found = hub.project(typed).map_err(failed)?;
    let unknown = match found {
        Ok(named) => return Ok(named),
        Err(unknown) => unknown,
    };
    // A directory that is no root itself, as a person standing in it would type.
    let looks_like_path = typed == "." || typed == ".." || typed.contains(['/', '\\']) || typed.starts_with('~');
    if looks_like_path {
        let path = ctx.cwd.as_deref().map_or_else(|| typed.into(), |cwd| cwd.join(typed));
        let root = Resolver::new(&ctx.env).resolve(&path.display().to_string()).root;
        if let Ok(named) = hub.project(&root).map_err(failed)? {
            return Ok(named);
        }
    }
    let error = CliError::new(format!("no project is called {}", crate::memory::safe_line(&unknown.name)));
    Err(match unknown.near.as_slice() {
        [] => error.hint("`cmem project list` shows all of them"),
        near => error.hint(format!("did you mean {}?", near.join(" or "))),
    })
}

/// A type by id, letter or label; other words as they are, since imported memories may have them.
fn type_id(mode: &Mode, word: &str) -> String {
    let mut letters = word.chars();
    let letter = letters.next().filter(|_| letters.next().is_none());
    let known = mode.types.iter().find(|it| {
        it.id == word || letter.is_some_and(|letter| it.letter == letter) || it.label.eq_ignore_ascii_case(word)
    });
    known.map_or_else(|| word.to_owned(), |it| it.id.clone())
}

/// A kind as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// Observations
    Obs,
    /// Summaries
    Sum,
    /// Prompts
    Prompt,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Obs => Self::Observation,
            KindArg::Sum => Self::Summary,
            KindArg::Prompt => Self::Prompt,
        }
    }
}

/// The beginning of the time that an option names.
pub fn since(ctx: &Ctx, text: Option<&str>) -> Result<Option<Timestamp>, CliError> {
    text.map(|text| read(ctx, "--since", text).map(Moment::start)).transpose()
}

/// The end of the time that an option names, exclusive.
pub fn until(ctx: &Ctx, text: Option<&str>) -> Result<Option<Timestamp>, CliError> {
    text.map(|text| read(ctx, "--until", text).map(Moment::end)).transpose()
}

fn read(ctx: &Ctx, option: &str, text: &str) -> Result<Moment, CliError> {
    let local = Local { now: ctx.now(), zone: ctx.zone.clone() };
    moment(text, &local).ok_or_else(|| {
        CliError::usage(format!("{option} does not understand \"{}\"", crate::memory::safe_line(text)))
            .hint("a time is written 2026-03-01, 7d, yesterday, 27aug, 14:30 or 2026-03-01T10:00:00Z")
    })
}
