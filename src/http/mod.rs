//! The optional local HTTP API.
