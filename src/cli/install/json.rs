//! JSON files of others, changed by inserting and cutting text only.
//!
//! A settings file belongs to its user: order, indentation, line ends and whatever else stands in it stay as they
//! are. So nothing is ever parsed and printed again. [`parse`] gives the places of values; [`insert`] says which
//! text goes in where, in the manner of the file; [`cut`] takes out what was put in. Each is checked by reading the
//! result as data.

use std::ops::Range;

use serde_json::Value;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Bytes of the text, brackets included.
    pub span: Range<usize>,
    /// What it is.
    pub kind: NodeKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// `{…}`
    Object(Vec<Member>),
    /// `[…]`
    Array(Vec<Node>),
    /// Anything else.
    Scalar,
}

/// One `"key": value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Key.
    pub key: String,
    /// Bytes of the key with its quotes.
    pub key_span: Range<usize>,
    /// Value.
    pub value: Node,
}

impl Node {
    /// The last member of that name: the one that counts.
    pub fn get(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            NodeKind::Object(members) => members.iter().rev().find(|member| member.key == key),
            _ => None,
        }
    }

    /// The elements, if it is an array.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The value as data.
    pub fn value(&self, text: &str) -> Value {
        serde_json::from_str(&text[self.span.clone()]).unwrap_or(Value::Null)
    }
}

/// Where the values of a JSON text stand. `Err`: why it is none, with the line.
pub fn parse(text: &str) -> Result<Node, String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    // serde decides what is JSON and says where it is not; the walk below may then trust the text.
    serde_json::from_str::<serde::de::IgnoredAny>(body).map_err(|err| err.to_string())?;
    let mut walk = Walk { text, at: text.len() - body.len() };
    walk.space();
    Ok(walk.value())
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl Walk<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Range<usize> {
        let start = self.at;
        self.at += 1;
        while self.at < self.text.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        start..self.at
    }

    fn value(&mut self) -> Node {
        let start = self.at;
        let kind = match self.peek() {
            b'{' => {
                let mut members = Vec::new();
                self.at += 1;
                self.space();
                while self.at < self.text.len() && self.peek() != b'}' {
                    let key_span = self.string();
                    let key = serde_json::from_str(&self.text[key_span.clone()]).unwrap_or_default();
                    self.space();
                    self.at += 1; // the colon
                    self.space();
                    members.push(Member { key, key_span, value: self.value() });
                    self.comma();
                }
                self.at += 1;
                NodeKind::Object(members)
            }
            b'[' => {
                let mut items = Vec::new();
                self.at += 1;
                self.space();
                while self.at < self.text.len() && self.peek() != b']' {
                    items.push(self.value());
                    self.comma();
                }
                self.at += 1;
                NodeKind::Array(items)
            }
            b'"' => {
                self.string();
                NodeKind::Scalar
            }
            _ => {
                while self.at < self.text.len() && !b",]} \t\r\n".contains(&self.peek()) {
                    self.at += 1;
                }
                NodeKind::Scalar
            }
        };
        Node { span: start..self.at, kind }
    }

    fn comma(&mut self) {
        self.space();
        if self.peek() == b',' {
            self.at += 1;
            self.space();
        }
    }
}

/// Text that goes in at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// Byte offset.
    pub at: usize,
    /// What goes in.
    pub text: String,
}

/// What must be inserted so that `value` stands at `path` (keys of objects) in `text`: as that member, or, with
/// `append`, as one more element of the array there. Missing objects and arrays on the way are made.
pub fn insert(text: &str, path: &[&str], value: &Value, append: bool) -> Result<Insertion, String> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let whole = nest(path, value, append);
        return Ok(Insertion { at: text.len(), text: pretty(&whole, "  ", 0, "\n") + "\n" });
    }
    let root = parse(text)?;
    let mut node = &root;
    for (depth, key) in path.iter().enumerate() {
        if !matches!(node.kind, NodeKind::Object(_)) {
            return Err(format!("“{}” is no object", path[..depth].join(".")));
        }
        match node.get(key) {
            Some(member) => node = &member.value,
            None => return Ok(add(text, node, depth, Some(key), &nest(&path[depth + 1..], value, append))),
        }
    }
    if append && node.items().is_some() {
        return Ok(add(text, node, path.len(), None, value));
    }
    let what = if append { "is no list" } else { "is there already" };
    Err(format!("“{}” {what}", path.join(".")))
}

fn nest(path: &[&str], value: &Value, append: bool) -> Value {
    let inner = if append { Value::Array(vec![value.clone()]) } else { value.clone() };
    path.iter().rev().fold(inner, |inner, key| Value::Object([((*key).to_owned(), inner)].into_iter().collect()))
}

/// One more member or element at the end of `node`, in the manner of the file.
fn add(text: &str, node: &Node, depth: usize, key: Option<&str>, value: &Value) -> Insertion {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = indent_unit(text);
    let inside = &text[node.span.start + 1..node.span.end - 1];
    let last = match &node.kind {
        NodeKind::Object(members) => members.last().map(|member| member.value.span.end),
        NodeKind::Array(items) => items.last().map(|item| item.span.end),
        NodeKind::Scalar => None,
    };
    let one_line = !inside.contains('\n') && (last.is_some() || text.trim().len() > 2 && !text.contains('\n'));
    let key_text = key.map(|key| Value::from(key).to_string() + ": ").unwrap_or_default();
    if one_line {
        let comma = if last.is_some() { ", " } else { "" };
        return Insertion { at: last.unwrap_or(node.span.start + 1), text: format!("{comma}{key_text}{value}") };
    }
    // The indentation of what stands there already, else one step more than the line the bracket is on.
    let first = match &node.kind {
        NodeKind::Object(members) => members.first().map(|member| member.key_span.start),
        NodeKind::Array(items) => items.first().map(|item| item.span.start),
        NodeKind::Scalar => None,
    };
    let own = first.and_then(|at| indent_before(text, at));
    let outer = line_indent(text, node.span.start);
    let indent = own.map_or_else(|| format!("{outer}{unit}"), str::to_owned);
    let steps = if unit.is_empty() { depth + 1 } else { indent.len() / unit.len() };
    let written = pretty(value, &unit, steps, newline);
    let line = format!("{newline}{indent}{key_text}{written}");
    match last {
        Some(at) => Insertion { at, text: format!(",{line}") },
        None => {
            let close = if inside.contains('\n') { String::new() } else { format!("{newline}{outer}") };
            Insertion { at: node.span.start + 1, text: format!("{line}{close}") }
        }
    }
}

/// The white space before `at`, if nothing else stands before it on its line.
fn indent_before(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n')? + 1;
    let indent = &text[start..at];
    indent.bytes().all(|b| b == b' ' || b == b'\t').then_some(indent)
}

fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation: that of the first indented line.
fn indent_unit(text: &str) -> String {
    let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indents = lines.map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    indents.into_iter().find(|indent| !indent.is_empty()).map_or_else(|| "  ".to_owned(), str::to_owned)
}

fn pretty(value: &Value, unit: &str, steps: usize, newline: &str) -> String {
    let pad = |steps: usize| format!("{newline}{}", unit.repeat(steps));
    match value {
        Value::Object(map) if !map.is_empty() => {
            // In the order in which a person would write them.
            const FIRST: [&str; 6] = ["matcher", "type", "command", "args", "timeout", "hooks"];
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by_key(|(key, _)| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len()));
            let members = members.into_iter().map(|(key, value)| {
                format!("{}{}: {}", pad(steps + 1), Value::from(key.as_str()), pretty(value, unit, steps + 1, newline))
            });
            format!("{{{}{}}}", members.collect::<Vec<_>>().join(","), pad(steps))
        }
        Value::Array(list) if list.iter().any(|it| it.is_object()) => {
            let items = list.iter().map(|it| format!("{}{}", pad(steps + 1), pretty(it, unit, steps + 1, newline)));
            format!("[{}{}]", items.collect::<Vec<_>>().join(","), pad(steps))
        }
        _ => value.to_string(),
    }
}

/// `text` with the insertion done.
pub fn inserted(text: &str, insertion: &Insertion) -> String {
    let mut out = String::with_capacity(text.len() + insertion.text.len());
    out.push_str(&text[..insertion.at]);
    out.push_str(&insertion.text);
    out.push_str(&text[insertion.at..]);
    out
}

/// `text` without one element of an array or member of an object at `at..`, with the comma that belongs to it. If
/// that was the last one, its container stays, empty.
pub fn cut(text: &str, container: &Node, index: usize) -> String {
    let spans: Vec<Range<usize>> = match &container.kind {
        NodeKind::Object(members) => members.iter().map(|it| it.key_span.start..it.value.span.end).collect(),
        NodeKind::Array(items) => items.iter().map(|it| it.span.clone()).collect(),
        NodeKind::Scalar => return text.to_owned(),
    };
    let span = &spans[index];
    let range = if index > 0 {
        spans[index - 1].end..span.end
    } else if let Some(next) = spans.get(1) {
        span.start..next.start
    } else {
        container.span.start + 1..container.span.end - 1
    };
    format!("{}{}", &text[..range.start], &text[range.end..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn put(text: &str, path: &[&str], value: Value, append: bool) -> String {
        let insertion = insert(text, path, &value, append).unwrap();
        let out = inserted(text, &insertion);
        // What was put in is one piece: cutting it gives the text back.
        let at = out.find(&insertion.text).unwrap();
        assert_eq!(format!("{}{}", &out[..at], &out[at + insertion.text.len()..]), text);
        out
    }

    #[test]
    fn insertions_follow_the_manner_of_the_file() {
        for (text, expected) in [
            ("", "{\n  \"a\": {\n    \"b\": [\n      {\n        \"c\": 1\n      }\n    ]\n  }\n}\n"),
            ("{}", "{\n  \"a\": {\n    \"b\": [\n      {\n        \"c\": 1\n      }\n    ]\n  }\n}"),
            ("{\n}\n", "{\n  \"a\": {\n    \"b\": [\n      {\n        \"c\": 1\n      }\n    ]\n  }\n}\n"),
            ("{\"x\":1}", "{\"x\":1, \"a\": {\"b\":[{\"c\":1}]}}"),
            (
                "{\n\t\"x\": 1\n}\n",
                "{\n\t\"x\": 1,\n\t\"a\": {\n\t\t\"b\": [\n\t\t\t{\n\t\t\t\t\"c\": 1\n\t\t\t}\n\t\t]\n\t}\n}\n",
            ),
            (
                "{\r\n    \"a\": {\r\n        \"b\": []\r\n    }\r\n}",
                "{\r\n    \"a\": {\r\n        \"b\": [\r\n            {\r\n                \"c\": 1\r\n            }\r\n        ]\r\n    }\r\n}",
            ),
            (
                "{\n  \"a\": {\n    \"b\": [\n      {\"d\": 2}\n    ]\n  }\n}",
                "{\n  \"a\": {\n    \"b\": [\n      {\"d\": 2},\n      {\n        \"c\": 1\n      }\n    ]\n  }\n}",
            ),
        ] {
            assert_eq!(put(text, &["a", "b"], json!({"c": 1}), true), expected, "{text:?}");
        }
        assert_eq!(put("{\n  \"x\": 1\n}", &["a"], json!("v"), false), "{\n  \"x\": 1,\n  \"a\": \"v\"\n}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        for (text, path, append) in [
            ("{\"a\": 1}", &["a", "b"][..], true),
            ("{\"a\": {\"b\": 1}}", &["a", "b"], true),
            ("{\"a\": 1}", &["a"], false),
            ("[]", &["a"], false),
            ("{\"a\": 1,}", &["a"], false),
            ("// no\n{}", &["a"], false),
        ] {
            assert!(insert(text, path, &json!(1), append).is_err(), "{text}");
        }
    }

    #[test]
    fn cutting_takes_the_comma_that_belongs_to_it() {
        let cut_at = |text: &str, index| cut(text, &parse(text).unwrap(), index);
        assert_eq!(cut_at("[1, 2, 3]", 0), "[2, 3]");
        assert_eq!(cut_at("[1, 2, 3]", 1), "[1, 3]");
        assert_eq!(cut_at("[1, 2, 3]", 2), "[1, 2]");
        assert_eq!(cut_at("[\n  1\n]", 0), "[]");
        assert_eq!(cut_at("{\n  \"a\": 1,\n  \"b\": 2\n}", 1), "{\n  \"a\": 1\n}");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c]|\\PC{1,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Any file, any manner of writing: the insertion adds one thing, and cutting it gives the bytes back.
        #[test]
        fn an_insertion_adds_one_thing_and_leaves_no_trace(mut value in any_json(), pretty in any::<bool>(), tail in "[ \n]{0,2}") {
            if !value.is_object() {
                value = json!({ "x": value });
            }
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() } + &tail;
            if let Ok(insertion) = insert(&text, &["hooks", "SessionStart"], &json!({"k": [{"c": "x"}]}), true) {
                let out = inserted(&text, &insertion);
                let read: Value = serde_json::from_str(&out).unwrap();
                let list = read["hooks"]["SessionStart"].as_array().unwrap();
                prop_assert_eq!(list.last().unwrap(), &json!({"k": [{"c": "x"}]}));
                let back = format!("{}{}", &out[..insertion.at], &out[insertion.at + insertion.text.len()..]);
                prop_assert_eq!(back, text);
            }
        }
    }
}
