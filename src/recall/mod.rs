//! Finding and telling.
