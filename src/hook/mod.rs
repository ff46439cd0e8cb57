//! Claude Code hooks.
