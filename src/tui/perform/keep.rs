//! What the screen remembers between starts: cursor, view, filter, what was seen, saved views. Kept in the state
//! directory, never in the configuration.
#![allow(clippy::disallowed_methods, reason = "this is the file that reads and writes the screen's own state")]

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::memory::MemoryId;
use crate::store::api::PageKey;
use crate::tui::state::{SavedView, State, View};

/// The file's contents. Unknown and missing fields are fine: another version wrote it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Id under the cursor; none: at the newest edge.
    pub cursor: Option<i64>,
    /// View.
    pub view: String,
    /// Query.
    pub query: String,
    /// Hidden types.
    pub hidden: Vec<String>,
    /// Wild types hidden.
    pub hide_wild: bool,
    /// Newest seen row: time and id.
    pub seen: Option<(i64, i64)>,
    /// Saved views.
    pub saved: Vec<SavedView>,
    /// Searches, newest last.
    pub history: Vec<String>,
    /// How often the program was started.
    pub starts: u32,
}

/// Reads the file; none or a broken one is a new beginning.
pub fn load(path: &Path) -> Kept {
    std::fs::read_to_string(path).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Writes the file beside its place and moves it there.
pub fn save(path: &Path, kept: &Kept) -> std::io::Result<()> {
    let text = serde_json::to_string(kept).map_err(std::io::Error::other)?;
    let beside = path.with_extension("json.new");
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    std::io::Write::write_all(&mut options.open(&beside)?, text.as_bytes())?;
    std::fs::rename(&beside, path)
}

impl Kept {
    /// What is worth keeping of a screen.
    pub fn of(state: &State) -> Self {
        let seen = state.feed.seen;
        Self {
            cursor: state.under_cursor().filter(|_| !state.is_live()).map(|row| row.id),
            view: state.view.name().to_lowercase(),
            query: state.search.text.clone(),
            hidden: state.hidden.iter().cloned().collect(),
            hide_wild: state.hide_wild,
            seen: (seen.created_ms > i64::MIN).then_some((seen.created_ms, seen.id.0)),
            saved: state.saved.clone(),
            history: state.search.history.clone(),
            starts: state.starts.saturating_add(1),
        }
    }

    /// Puts it back into a new screen.
    pub fn into_state(self, state: &mut State) {
        state.restore_cursor = self.cursor;
        state.view = View::by_name(&self.view).unwrap_or(state.view);
        state.search.text = self.query;
        state.hidden = self.hidden.into_iter().collect();
        state.hide_wild = self.hide_wild;
        if let Some((created_ms, id)) = self.seen {
            state.feed.seen = PageKey { created_ms, id: MemoryId(id) };
        }
        state.saved = self.saved;
        state.search.history = self.history;
        state.starts = self.starts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_forgives_other_versions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state").join("screen.json");
        assert_eq!(load(&path), Kept::default());
        let kept = Kept { cursor: Some(7), query: "redis".into(), ..Kept::default() };
        save(&path, &kept).unwrap();
        assert_eq!(load(&path), kept);
        std::fs::write(&path, "{\"cursor\": 9, \"from_tomorrow\": [1]}").unwrap();
        assert_eq!(load(&path).cursor, Some(9));
        std::fs::write(&path, "{broken").unwrap();
        assert_eq!(load(&path), Kept::default());
    }
}
