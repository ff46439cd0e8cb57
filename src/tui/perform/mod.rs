//! Effects that reach outside: the clipboard, an editor, files. Nothing here decides anything; what came of it goes
//! back as a message.

mod child;
mod clipboard;
mod keep;

pub use child::{edit_text, editor_command, open_file, write_file};
pub use clipboard::{Route, copy, osc52};
pub use keep::{Kept, load, save};
