//! Tells whoever watches that something changed. It may drop: the database is what is true, a listener that
//! lags is told so and reads again.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use crate::memory::MemoryId;

/// Something changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Memories were stored.
    Remembered(Vec<MemoryId>),
    /// Something a health display shows is different; ask for it.
    Health,
    /// Changes were dropped before this one: read again.
    Lagged,
    /// The collector has stopped; why, when it was not asked to.
    Stopped(Option<String>),
}

/// Fan-out that never blocks and never fails the write behind it.
#[derive(Default)]
pub struct Bus {
    // Held only to send and to subscribe, never while waiting.
    listeners: Mutex<Vec<Listener>>,
}

struct Listener {
    to: SyncSender<Change>,
    lagged: bool,
}

impl Bus {
    /// A new listener with room for `room` changes.
    pub fn listen(&self, room: usize) -> Receiver<Change> {
        let (to, from) = sync_channel(room.max(1));
        self.lock().push(Listener { to, lagged: false });
        from
    }

    /// Tells every listener; drops for those that have no room, forgets those that are gone.
    pub fn tell(&self, change: &Change) {
        self.lock().retain_mut(|listener| {
            if listener.lagged {
                match listener.to.try_send(Change::Lagged) {
                    Ok(()) => listener.lagged = false,
                    Err(TrySendError::Full(_)) => return true,
                    Err(TrySendError::Disconnected(_)) => return false,
                }
            }
            match listener.to.try_send(change.clone()) {
                Ok(()) => true,
                Err(TrySendError::Full(_)) => {
                    listener.lagged = true;
                    true
                }
                Err(TrySendError::Disconnected(_)) => false,
            }
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Listener>> {
        // A list of senders is whole after any panic.
        self.listeners.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_listener_loses_changes_and_is_told_so() {
        let bus = Bus::default();
        let slow = bus.listen(1);
        let gone = bus.listen(1);
        drop(gone);
        for id in 0..3 {
            bus.tell(&Change::Remembered(vec![MemoryId(id)]));
        }
        assert_eq!(slow.recv().unwrap(), Change::Remembered(vec![MemoryId(0)]));
        bus.tell(&Change::Health);
        assert_eq!(slow.recv().unwrap(), Change::Lagged);
        assert!(slow.try_recv().is_err());
        bus.tell(&Change::Health);
        // The one dropped while `Lagged` filled the room is made known again before the next.
        assert_eq!(slow.recv().unwrap(), Change::Lagged);
    }
}
