//! What may be spent: every call is granted here before it is made (A048).
//!
//! Limits: calls, tokens and money in a local day, requests in a minute, and the share of the account's five-hour
//! window that may be used before cmem stands back. A grant reserves an estimate; the usage that comes back takes its
//! place. The budget does no arithmetic on a clock of its own: `now` comes in, and the day is that of the zone given.

use std::collections::{BTreeMap, VecDeque};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan};
use serde::{Deserialize, Serialize};

use crate::config::BudgetSettings;
use crate::memory::Timestamp;

use super::provider::WindowUse;

/// What was spent in a day.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Spend {
    /// Calls.
    pub calls: u64,
    /// Input tokens not read from a cache.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// US dollars.
    pub cost: f64,
}

impl Spend {
    /// What counts against `daily_tokens`. Tokens read from a cache cost a tenth and count a tenth.
    pub fn tokens(&self) -> u64 {
        self.input + self.output + self.cached / 10
    }
}

/// Why a call was not granted, and when it may be tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// For people: which limit.
    pub limit: &'static str,
    /// From when on it may be granted.
    pub until: Timestamp,
    /// A limit of minutes, not of the day: no news for people.
    pub brief: bool,
}

/// The budget object.
#[derive(Clone, Debug)]
pub struct Budget {
    settings: BudgetSettings,
    zone: TimeZone,
    /// Start of the day `today` belongs to.
    day: Timestamp,
    day_end: Timestamp,
    today: Spend,
    /// Estimated tokens of calls that are under way.
    reserved: u64,
    reserved_calls: u64,
    recent: VecDeque<Timestamp>,
    windows: BTreeMap<String, WindowUse>,
}

impl Budget {
    /// `spent`: what today's calls cost before this start.
    pub fn new(settings: BudgetSettings, zone: TimeZone, now: Timestamp, spent: Spend) -> Self {
        let (day, day_end) = day_of(&zone, now);
        Self {
            settings,
            zone,
            day,
            day_end,
            today: spent,
            reserved: 0,
            reserved_calls: 0,
            recent: VecDeque::new(),
            windows: BTreeMap::new(),
        }
    }

    /// Other limits.
    pub fn configure(&mut self, settings: BudgetSettings) {
        self.settings = settings;
    }

    /// Asks for one call of about `tokens`.
    pub fn grant(&mut self, now: Timestamp, tokens: u64) -> Result<(), Denied> {
        self.roll(now);
        let day = |limit| Err(Denied { limit, until: self.day_end, brief: false });
        let settings = &self.settings;
        if settings.daily_calls > 0 && self.today.calls + self.reserved_calls >= settings.daily_calls {
            return day("daily_calls");
        }
        // The estimate counts in full: the cap holds before the call, not after it.
        if settings.daily_tokens > 0 && self.today.tokens() + self.reserved + tokens > settings.daily_tokens {
            return day("daily_tokens");
        }
        if settings.daily_cost > 0.0 && self.today.cost >= settings.daily_cost {
            return day("daily_cost");
        }
        if let Some(until) = self.window_until(now) {
            return Err(Denied { limit: "window_share", until, brief: false });
        }
        let minute = SignedDuration::from_secs(60);
        while self.recent.front().is_some_and(|it| now.duration_since(*it) >= minute) {
            self.recent.pop_front();
        }
        let per_minute = settings.requests_per_minute as usize;
        if per_minute > 0 && self.recent.len() >= per_minute {
            let oldest = self.recent.front().copied().unwrap_or(now);
            return Err(Denied { limit: "requests_per_minute", until: oldest + minute, brief: true });
        }
        self.recent.push_back(now);
        self.reserved += tokens;
        self.reserved_calls += 1;
        Ok(())
    }

    /// A granted call is over: its estimate is replaced by what it cost.
    pub fn settle(&mut self, now: Timestamp, estimated: u64, spent: Spend) {
        self.roll(now);
        self.reserved = self.reserved.saturating_sub(estimated);
        self.reserved_calls = self.reserved_calls.saturating_sub(1);
        self.today.calls += spent.calls;
        self.today.input += spent.input;
        self.today.cached += spent.cached;
        self.today.output += spent.output;
        self.today.cost += spent.cost;
    }

    /// The account told how far a window is used.
    pub fn window(&mut self, window: WindowUse) {
        self.windows.insert(window.window.clone(), window);
    }

    /// Until when a window keeps cmem back. What is past its reset counts no more.
    fn window_until(&self, now: Timestamp) -> Option<Timestamp> {
        let share = self.settings.window_share;
        self.windows
            .values()
            .filter_map(|it| {
                let resets = it.resets_at.and_then(|at| Timestamp::from_second(at).ok());
                // Without a reset time it is looked at again after half an hour of whoever asks.
                let until = resets.unwrap_or(now + SignedDuration::from_mins(30));
                let full = match it.used {
                    Some(used) if it.window == "five_hour" && share > 0.0 => used >= share,
                    // The other windows have no share of their own: cmem stands back just before the end.
                    Some(used) if share > 0.0 => used >= share.max(0.95),
                    _ => false,
                };
                (full && until > now).then_some(until)
            })
            .max()
    }

    /// Spent today.
    pub fn today(&self) -> Spend {
        self.today
    }

    /// Windows as last reported.
    pub fn windows(&self) -> impl Iterator<Item = &WindowUse> {
        self.windows.values()
    }

    /// When the day's limits begin anew.
    pub fn day_end(&self) -> Timestamp {
        self.day_end
    }

    fn roll(&mut self, now: Timestamp) {
        if now >= self.day_end || now < self.day {
            (self.day, self.day_end) = day_of(&self.zone, now);
            self.today = Spend::default();
        }
    }
}

/// The local day of `now`: its start and the start of the next.
fn day_of(zone: &TimeZone, now: Timestamp) -> (Timestamp, Timestamp) {
    let start = now.to_zoned_datetime(zone.clone()).start_of_day();
    let next = start.clone().and_then(|it| it.checked_add(1.day()));
    match (start, next) {
        (Ok(start), Ok(next)) => (start.timestamp(), next.timestamp()),
        // The end of representable time; a day from now serves.
        _ => (now, now + SignedDuration::from_hours(24)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a timestamp")
    }

    fn budget(change: impl FnOnce(&mut BudgetSettings)) -> Budget {
        let mut settings = BudgetSettings {
            daily_tokens: 0,
            daily_cost: 0.0,
            daily_calls: 0,
            requests_per_minute: 0,
            window_share: 0.0,
        };
        change(&mut settings);
        Budget::new(settings, TimeZone::UTC, at("2026-03-01T10:00:00Z"), Spend::default())
    }

    fn call(input: u64) -> Spend {
        Spend { calls: 1, input, ..Spend::default() }
    }

    #[test]
    fn a048_the_cap_holds_before_the_call_and_ends_with_the_day() {
        let mut budget = budget(|it| it.daily_calls = 2);
        let now = at("2026-03-01T23:59:00Z");
        assert!(budget.grant(now, 1).is_ok() && budget.grant(now, 1).is_ok());
        let denied = budget.grant(now, 1).expect_err("the third");
        assert_eq!((denied.limit, denied.until, denied.brief), ("daily_calls", at("2026-03-02T00:00:00Z"), false));
        budget.settle(now, 1, call(5));
        assert!(budget.grant(now, 1).is_err(), "a finished call counts as much as one under way");
        budget.settle(now, 1, call(5));
        assert!(budget.grant(at("2026-03-02T00:00:00Z"), 1).is_ok());
    }

    #[test]
    fn tokens_under_way_are_reserved() {
        let mut budget = budget(|it| it.daily_tokens = 1_000);
        let now = at("2026-03-01T10:00:00Z");
        assert!(budget.grant(now, 600).is_ok());
        assert_eq!(budget.grant(now, 600).expect_err("too much").limit, "daily_tokens");
        budget.settle(now, 600, call(100));
        assert!(budget.grant(now, 600).is_ok());
    }

    #[test]
    fn requests_a_minute_let_go_by_themselves() {
        let mut budget = budget(|it| it.requests_per_minute = 2);
        let now = at("2026-03-01T10:00:00Z");
        assert!(budget.grant(now, 0).is_ok() && budget.grant(now, 0).is_ok());
        let denied = budget.grant(now, 0).expect_err("third");
        assert_eq!((denied.until, denied.brief), (at("2026-03-01T10:01:00Z"), true));
        assert!(budget.grant(denied.until, 0).is_ok());
    }

    #[test]
    fn the_window_share_keeps_cmem_back_until_the_reset_and_no_longer() {
        let mut budget = budget(|it| it.window_share = 0.8);
        let now = at("2026-03-01T10:00:00Z");
        let reset = at("2026-03-01T12:00:00Z");
        let five = |used| WindowUse {
            window: "five_hour".into(),
            used: Some(used),
            rejected: false,
            resets_at: Some(reset.as_second()),
        };
        budget.window(five(0.79));
        assert!(budget.grant(now, 0).is_ok());
        budget.window(five(0.8));
        assert_eq!(budget.grant(now, 0).expect_err("full").until, reset);
        assert!(budget.grant(reset, 0).is_ok(), "what is past its reset counts no more");
    }

    #[test]
    fn the_day_is_the_users() {
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        let budget = Budget::new(BudgetSettings::default(), zone, at("2026-03-01T10:00:00Z"), Spend::default());
        assert_eq!(budget.day_end(), at("2026-03-01T15:00:00Z"));
    }
}
