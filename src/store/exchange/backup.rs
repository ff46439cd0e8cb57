//! A copy of the whole database while it is in use.
#![allow(clippy::disallowed_methods)] // the one file that was named

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::super::curate::Progress;
use super::super::error::{Result, StoreError};
use super::super::{Store, open};

/// Pages copied at a time; others write in between.
const PAGES: i32 = 512;

impl Store {
    /// Writes a complete copy to `path`, private as the original. A file that is there is left alone. Returns bytes.
    pub fn backup(&self, path: &Path, progress: Progress<'_>) -> Result<u64> {
        if path.exists() {
            return Err(StoreError::Refused(format!("{} is there already", path.display())));
        }
        open::make_private_file(path)?;
        let res = self.copy_to(path, progress);
        if res.is_err() {
            // Half a copy looks like a copy.
            let _ = fs::remove_file(path);
            let _ = fs::remove_file(open::with_suffix(path, "-journal"));
        }
        res
    }

    fn copy_to(&self, path: &Path, progress: Progress<'_>) -> Result<u64> {
        let mut target = Connection::open(path)?;
        {
            let backup = Backup::new(&self.conn, &mut target)?;
            if !progress(0, 0) {
                return Err(StoreError::Interrupted);
            }
            loop {
                match backup.step(PAGES)? {
                    StepResult::Done => break,
                    // Somebody writes: the next step goes on, or starts anew with what they wrote.
                    StepResult::Busy | StepResult::Locked => std::thread::yield_now(),
                    _ => {}
                }
                let it = backup.progress();
                let (total, left) = (u64::from(it.pagecount.unsigned_abs()), u64::from(it.remaining.unsigned_abs()));
                if !progress(total.saturating_sub(left), total) {
                    return Err(StoreError::Interrupted);
                }
            }
        }
        let found: String = target.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(StoreError::Corrupt(found));
        }
        drop(target);
        Ok(fs::metadata(path).map_or(0, |meta| meta.len()))
    }
}
