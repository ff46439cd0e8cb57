//! The machine's clock, environment and working directory, asked here and nowhere else.
//!
//! Everything above takes these as values: an [`Env`] is a snapshot, a [`SystemClock`] implements the clock every
//! floor is handed. `CMEM_NOW` fixes the clock, so that a whole program can be run at a known time.
#![allow(clippy::disallowed_methods, reason = "this is the file that asks the machine for time and environment")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use jiff::tz::TimeZone;

use crate::memory::{Clock, Timestamp};

/// A snapshot of environment variables. `Debug` shows names only: values may be keys.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env {
    vars: BTreeMap<String, OsString>,
}

impl Env {
    /// The environment of this process, now. Variables whose name is not UTF-8 are none of ours.
    pub fn process() -> Self {
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect()
    }

    /// The value of `name`, if it is set and UTF-8. May be empty: an empty setting is a setting.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name)?.to_str()
    }

    /// The value of `name` as the platform has it, if it is set and not empty.
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value of `name` as an absolute path. Relative ones are ignored, as the XDG rules ask.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Names and values as the platform has them, sorted by name: for a child's environment.
    pub fn iter_os(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.vars.iter().map(|(name, value)| (name.as_str(), value.as_os_str()))
    }

    /// Names and values, sorted by name; values that are not UTF-8 are left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.vars.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str()?)))
    }
}

impl<N: Into<String>, V: Into<OsString>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(vars: I) -> Self {
        Self { vars: vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.vars.keys()).finish()
    }
}

/// The machine's clock, or the moment `CMEM_NOW` names.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock {
    fixed: Option<Timestamp>,
}

impl SystemClock {
    /// The clock that `env` asks for: fixed if `CMEM_NOW` holds an instant (RFC 3339, or milliseconds since 1970).
    pub fn new(env: &Env) -> Self {
        Self { fixed: env.get("CMEM_NOW").and_then(parse_instant) }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }
}

/// An instant as `CMEM_NOW` writes it.
pub(super) fn parse_instant(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| Timestamp::from_millisecond(text.parse().ok()?).ok())
}

/// A point on the clock that only moves forward: for measuring, lingering and backing off, never for dates.
pub fn monotonic() -> Instant {
    Instant::now()
}

/// The zone in which a date means a day: `TZ`, else the system's, else UTC.
///
/// The file that says it is read directly. The library would first list every zone there is to give this one its name,
/// which costs a hook a third of its time and tells us nothing we show.
pub fn local_zone() -> TimeZone {
    #[cfg(unix)]
    {
        let named = std::env::var("TZ").ok();
        if let Some(zone) = zone_of(named.as_deref(), &|path| std::fs::read(path).ok()) {
            return zone;
        }
    }
    TimeZone::system()
}

/// The zone that `TZ` names, or the one in `/etc/localtime` where it names none. `None`: the library must find it.
#[cfg(any(unix, test))]
fn zone_of(named: Option<&str>, read: &dyn Fn(&str) -> Option<Vec<u8>>) -> Option<TimeZone> {
    let file = |path: &str| TimeZone::tzif("Local", &read(path)?).ok();
    match named.map(|name| name.strip_prefix(':').unwrap_or(name)) {
        None => file("/etc/localtime"),
        Some("" | "UTC" | "UTC0" | "Etc/UTC") => Some(TimeZone::UTC),
        Some(path) if path.starts_with('/') => file(path),
        // No way out of the folder of zones.
        Some(name) if name.split('/').any(|part| part == "..") => None,
        Some(name) => file(&format!("/usr/share/zoneinfo/{name}")).or_else(|| TimeZone::posix(name).ok()),
    }
}

/// Path of the running program, for whoever wants to know which one holds a lock. Empty where it cannot be told.
pub fn program() -> String {
    std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default()
}

/// The directory this process was started in. For the commands a person types, never for events: an event's project
/// comes from its own line.
pub fn current_dir() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmem_now_fixes_the_clock() {
        for text in ["2026-03-01T10:00:00Z", "1772359200000"] {
            let clock = SystemClock::new(&Env::from_iter([("CMEM_NOW", text)]));
            assert_eq!(clock.now().to_string(), "2026-03-01T10:00:00Z");
        }
        let env = Env::from_iter([("CMEM_NOW", "soon")]);
        assert!(SystemClock::new(&env).now() > "2024-01-01T00:00:00Z".parse().unwrap());
    }

    #[test]
    fn the_zone_is_read_from_its_file() {
        let files = |path: &str| -> Option<Vec<u8>> {
            // An hour ahead of UTC, as old as the format: version 1, one type, no transitions.
            let mut bytes = b"TZif\0".to_vec();
            bytes.extend([0; 15]);
            for count in [0u32, 0, 0, 0, 1, 4] {
                bytes.extend(count.to_be_bytes());
            }
            bytes.extend(3_600i32.to_be_bytes());
            bytes.extend([0, 0]);
            bytes.extend(b"CET\0");
            ["/etc/localtime", "/usr/share/zoneinfo/Europe/Rome", "/my/zone"].contains(&path).then_some(bytes)
        };
        let hours = |named: Option<&str>| {
            let zone = zone_of(named, &files)?;
            Some(zone.to_offset(Timestamp::UNIX_EPOCH).seconds() / 3_600)
        };
        for (named, offset) in [
            (None, Some(1)),
            (Some("Europe/Rome"), Some(1)),
            (Some(":Europe/Rome"), Some(1)),
            (Some("/my/zone"), Some(1)),
            (Some(""), Some(0)),
            (Some("UTC"), Some(0)),
            (Some("JST-9"), Some(9)),
            (Some("../etc/localtime"), None),
            (Some("No/Such"), None),
        ] {
            assert_eq!(hours(named), offset, "{named:?}");
        }
    }

    #[test]
    fn debug_output_shows_no_values() {
        let env = Env::from_iter([("ANTHROPIC_API_KEY", "sk-secret")]);
        assert!(!format!("{env:?}").contains("sk-secret"));
    }

    #[test]
    fn relative_directories_are_ignored() {
        let env = Env::from_iter([("XDG_DATA_HOME", "data"), ("HOME", "/home/u")]);
        assert_eq!(env.path("XDG_DATA_HOME"), None);
        assert_eq!(env.path("HOME"), Some(PathBuf::from("/home/u")));
    }
}
