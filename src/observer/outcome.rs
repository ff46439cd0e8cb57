//! The closed set of what can come of a call, and the count of each. The counts add up to the calls made (A007).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallOutcome {
    /// At least one memory.
    Stored,
    /// Nothing worth keeping, said so.
    Skipped,
    /// Its events are asked about again.
    Retried,
    /// Its events wait until a pause is over.
    Paused,
    /// Its events are given up, visibly.
    Quarantined,
}

impl CallOutcome {
    /// The stable word in ledgers, `status` and call rows.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Skipped => "skipped",
            Self::Retried => "retried",
            Self::Paused => "paused",
            Self::Quarantined => "quarantined",
        }
    }
}

/// What finally became of an event that was handed to the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Final {
    /// A memory rests on it.
    Stored,
    /// Nothing was made of it; the reason as a stable word.
    Skipped(&'static str),
    /// Given up after bounded tries; the reason as a stable word. Can be retried from `why`.
    Quarantined(String),
}

/// Calls by outcome and finer reason.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Calls that were made and are answered.
    pub calls: u64,
    /// By `outcome/reason`; sums to `calls`.
    pub by: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts one call.
    pub fn add(&mut self, outcome: CallOutcome, reason: &str) {
        self.calls += 1;
        *self.by.entry(format!("{}/{reason}", outcome.word())).or_default() += 1;
    }

    /// Calls with that outcome.
    pub fn of(&self, outcome: CallOutcome) -> u64 {
        let prefix = format!("{}/", outcome.word());
        self.by.iter().filter(|(key, _)| key.starts_with(&prefix)).map(|(_, count)| count).sum()
    }

    /// Calls with that reason, whatever the outcome.
    pub fn because(&self, reason: &str) -> u64 {
        self.by.iter().filter(|(key, _)| key.split_once('/').is_some_and(|(_, it)| it == reason)).map(|(_, n)| n).sum()
    }
}

/// Why nobody is asked just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseReason {
    /// The account's allowance is used up, or the share of it the user leaves to cmem.
    Quota,
    /// Too many requests.
    RateLimit,
    /// Not signed in.
    Auth,
    /// No credit.
    Billing,
    /// The configured model does not exist.
    Model,
    /// The day's budget is spent.
    Budget,
    /// The service is in trouble.
    Server,
    /// The observer's program was not found.
    NotFound,
    /// The observer's program cannot be started.
    Spawn,
    /// The user said so.
    User,
}

impl PauseReason {
    /// The stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::RateLimit => "rate-limit",
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::Model => "config model",
            Self::Budget => "budget",
            Self::Server => "server",
            Self::NotFound => "claude not found",
            Self::Spawn => "cannot start",
            Self::User => "user",
        }
    }
}
