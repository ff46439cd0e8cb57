//! The pipeline, running.
