//! The filters that list, search and others share, as typed.

use clap::ValueEnum;

use super::{CliError, Ctx};
use crate::memory::{Kind, Timestamp};
use crate::recall::query::{Local, Moment, moment};

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
