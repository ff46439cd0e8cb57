//! Times as a person writes them, in the zone of whoever writes.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan, ZonedDateTime};

use crate::memory::Timestamp;

use super::Local;

/// A time as a person writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A span of whole local days: from, inclusive, to, exclusive.
    Days(Timestamp, Timestamp),
    /// A point in time.
    Instant(Timestamp),
}

impl Moment {
    /// For `since:`: from here on, inclusive.
    pub fn start(self) -> Timestamp {
        match self {
            Self::Days(start, _) | Self::Instant(start) => start,
        }
    }

    /// For `until:`: up to here, exclusive. A day counts whole.
    pub fn end(self) -> Timestamp {
        match self {
            Self::Days(_, end) | Self::Instant(end) => end,
        }
    }
}

/// Reads `7d`, `2h`, `today`, `yesterday`, `mon`, `27aug`, `27aug2025`, `2026-03`, `2026-03-01`, RFC 3339, `14:30`.
pub fn moment(text: &str, local: &Local) -> Option<Moment> {
    let lower = text.trim().to_ascii_lowercase();
    let now = local.now.to_zoned_datetime(local.zone.clone());
    let today = now.date();
    let day = |date: Date| days(date, date.tomorrow().ok()?, local);
    match lower.as_str() {
        "now" => return Some(Moment::Instant(local.now)),
        "today" => return day(today),
        "yesterday" => return day(today.yesterday().ok()?),
        _ => {}
    }
    if let Some(span) = ago(&lower) {
        return Some(Moment::Instant(now.checked_sub(span).ok()?.timestamp()));
    }
    if let Some(weekday) = weekday(&lower) {
        let back = (today.weekday().to_monday_zero_offset() - weekday.to_monday_zero_offset()).rem_euclid(7);
        return day(today.checked_sub(i64::from(back).days()).ok()?);
    }
    if let Some(date) = day_and_month(&lower, today) {
        return day(date);
    }
    if let Some((year, month)) = lower.split_once('-').filter(|(y, m)| y.len() == 4 && m.len() <= 2) {
        let first = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
        return days(first, first.checked_add(1.month()).ok()?, local);
    }
    if let Some((hour, minute)) = lower.split_once(':').filter(|(h, m)| h.len() <= 2 && m.len() == 2) {
        let time = jiff::civil::Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()?;
        let zoned = today.to_datetime(time).to_zoned_datetime(local.zone.clone()).ok()?;
        return Some(Moment::Instant(zoned.timestamp()));
    }
    if lower.len() == 10
        && let Ok(date) = lower.parse::<Date>()
    {
        return day(date);
    }
    let text = text.trim();
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(Moment::Instant(instant));
    }
    if let Ok(civil) = text.parse::<jiff::civil::DateTime>() {
        return Some(Moment::Instant(civil.to_zoned_datetime(local.zone.clone()).ok()?.timestamp()));
    }
    // Milliseconds (or seconds) since 1970, as other tools print them.
    if text.len() >= 10 && text.bytes().all(|b| b.is_ascii_digit()) {
        let number: i64 = text.parse().ok()?;
        let millis = if text.len() >= 12 { number } else { number.checked_mul(1000)? };
        return Timestamp::from_millisecond(millis).ok().map(Moment::Instant);
    }
    None
}

pub(super) fn days(first: Date, after: Date, local: &Local) -> Option<Moment> {
    let start = |date: Date| -> Option<ZonedDateTime> { date.to_zoned_datetime(local.zone.clone()).ok() };
    Some(Moment::Days(start(first)?.timestamp(), start(after)?.timestamp()))
}

fn ago(text: &str) -> Option<Span> {
    let unit = text.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?;
    let amount: i64 = text[..unit].parse().ok().filter(|n| *n <= 100_000)?;
    let span = Span::new();
    match &text[unit..] {
        "m" | "min" => span.try_minutes(amount),
        "h" => span.try_hours(amount),
        "d" => span.try_days(amount),
        "w" => span.try_weeks(amount),
        "mo" => span.try_months(amount),
        "y" => span.try_years(amount),
        _ => return None,
    }
    .ok()
}

fn weekday(text: &str) -> Option<Weekday> {
    const DAYS: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    DAYS.iter().find(|(name, _)| *name == text || name[..3] == *text).map(|(_, day)| *day)
}

/// `27aug`, `aug27`, `27aug2025`. Without a year the last such day that is not in the future.
fn day_and_month(text: &str, today: Date) -> Option<Date> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (month, at) = MONTHS.iter().enumerate().find_map(|(n, name)| text.find(name).map(|at| (n as i8 + 1, at)))?;
    let (before, after) = (&text[..at], text[at + 3..].trim_start_matches('-'));
    let before = before.trim_end_matches('-');
    let (day, year) = if before.is_empty() { (after, "") } else { (before, after) };
    let day: i8 = day.parse().ok()?;
    if !year.is_empty() {
        return Date::new(year.parse().ok().filter(|y| *y >= 1970)?, month, day).ok();
    }
    // Eight years back always hold a 29 February.
    (0..9).find_map(|back| Date::new(today.year() - back, month, day).ok().filter(|date| *date <= today))
}
