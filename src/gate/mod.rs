//! What may come in and what may be kept, each a function to a verdict with a reason.

pub mod correct;
pub mod draft;
pub mod evidence;
pub mod reply;
