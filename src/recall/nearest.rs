//! Which engine ranks by meaning, by the setting `meaning.model`: the one place that knows whether this build has one.

use super::find::Nearest;
use crate::store::{Result, Store};

/// Whether the setting asks for the built-in nets.
pub fn is_builtin(setting: &str) -> bool {
    matches!(setting.trim(), "" | "builtin")
}

/// The engine for a setting, or why there is none. Cheap: nothing is read before the first question.
pub fn by_setting(setting: &str) -> std::result::Result<Box<dyn Nearest>, String> {
    match setting.trim() {
        "off" => Err("switched off".into()),
        setting if is_builtin(setting) => builtin(),
        _ => Err("an embeddings endpoint is not supported yet; set meaning.model to builtin".into()),
    }
}

#[cfg(feature = "meaning")]
fn builtin() -> std::result::Result<Box<dyn Nearest>, String> {
    Ok(Box::new(super::meaning::Meaning::builtin()))
}

#[cfg(not(feature = "meaning"))]
fn builtin() -> std::result::Result<Box<dyn Nearest>, String> {
    Err("not part of this build".into())
}

/// Makes vectors for at most `limit` memories that lack one; 0 means that none is left to make.
#[cfg(feature = "meaning")]
pub fn fill(store: &mut Store, limit: usize) -> Result<usize> {
    super::meaning::fill(store, limit)
}

/// A build without the nets has nothing to make.
#[cfg(not(feature = "meaning"))]
pub fn fill(_: &mut Store, _: usize) -> Result<usize> {
    Ok(0)
}
