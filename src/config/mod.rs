//! Settings: built-in defaults < file < environment < flags; the directories; the system clock; and the one
//! resolver that says which project a directory belongs to.
//!
//! `settings` holds the types, `keys` the table of what each accepts, `merge` joins texts, `load` reads the file.
//! `dirs`, `system` and `repository` touch the machine. Absent from it: secrets in plain `Debug` output.

mod dirs;
pub mod keys;
mod load;
mod merge;
pub mod repository;
mod settings;
mod system;

pub use dirs::{Dirs, NoHome, expand_home, private_dir};
pub use load::{DEFAULT_FILE, Overrides, load, load_with, mode_text};
pub use merge::{File, Problem, Warning, merge, nearest};
pub use settings::{
    BudgetSettings, ContextSettings, LogSettings, MeaningSettings, ObserverSettings, RecordSettings, Settings,
    TrashSettings, TuiSettings,
};
pub use system::{Env, SystemClock, current_dir, local_zone, monotonic, program};
