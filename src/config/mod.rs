//! Settings: built-in defaults < file < environment < flags; the directories; the system clock; and the one
//! resolver that says which project a directory belongs to.
//!
//! `settings` holds the types, `load` merges texts into them, `dirs`, `system` and `repository` touch the
//! machine. Absent from it: secrets in plain `Debug` output.

mod settings;

pub use settings::{
    BudgetSettings, ContextSettings, LogSettings, MeaningSettings, ObserverSettings, RecordSettings, Settings,
    TrashSettings, TuiSettings,
};
