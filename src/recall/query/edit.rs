//! Filters as text: what a key press chooses is written into the query, where it can be read, changed and saved.

use super::syntax::{Body, Key, parts, written_value};

/// `text` with the filter `key` saying exactly `values`, where its first part stood, else at the end. No values:
/// the filter is gone.
pub fn set_filter(text: &str, key: Key, values: &[&str]) -> String {
    let written = (!values.is_empty()).then(|| {
        let values: Vec<String> = values.iter().map(|value| written_value(value)).collect();
        format!("{}:{}", key.word(), values.join(","))
    });
    let mut out = Vec::new();
    let mut placed = false;
    for part in parts(text) {
        if matches!(&part.body, Body::Filter(found, _) if *found == key && !part.not) {
            if let Some(written) = written.as_ref().filter(|_| !placed) {
                out.push(written.clone());
                placed = true;
            }
            continue;
        }
        out.push(text[part.span].to_owned());
    }
    if let Some(written) = written.filter(|_| !placed) {
        out.push(written);
    }
    out.join(" ")
}

/// `text` without the filter `key`.
pub fn remove_filter(text: &str, key: Key) -> String {
    set_filter(text, key, &[])
}

/// The values that `text` gives the filter `key`, as written.
pub fn values_of(text: &str, key: Key) -> Vec<String> {
    let mut out = Vec::new();
    for part in parts(text) {
        if let Body::Filter(found, values) = part.body
            && found == key
            && !part.not
        {
            out.extend(values);
        }
    }
    out
}

/// `text` with one value of a filter added, or taken out if it was there.
pub fn toggle_value(text: &str, key: Key, value: &str) -> String {
    let mut values = values_of(text, key);
    match values.iter().position(|it| it == value) {
        Some(at) => drop(values.remove(at)),
        None => values.push(value.to_owned()),
    }
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    set_filter(text, key, &values)
}
