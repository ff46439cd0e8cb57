//! The one door for every face: open the store, ask, curate, follow changes, own or follow the collector.
//!
//! Absent from it: wire formats, widgets.
