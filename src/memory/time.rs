//! Event time: a value that is handed in, never asked for here.

pub use jiff::Timestamp;

/// Where "now" comes from. The system clock lives in `config::system`; tests bring a fixed one.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// Milliseconds since the Unix epoch, the unit of every time column in the store.
pub fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}

/// The instant of a stored time column. Out-of-range values (a damaged row) clamp to the epoch.
pub fn from_millis(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}
