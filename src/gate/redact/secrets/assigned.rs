//! Values behind a name that says secret: `PASSWORD=…`, `"api_key": "…"`, `Authorization: Bearer …`, `--token …`.
//!
//! The name decides how much is needed of the value. Behind `password` any literal counts; behind `token` or
//! `_key`, which name many harmless things, the value must look like a key. Code is told from literals: a call, a
//! path of identifiers, a type, a variable or a placeholder is no secret.

use std::ops::Range;

use super::Secret;

/// How much a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Nothing.
    None,
    /// Its value may be a secret.
    Weak,
    /// Its value is a secret if it is long and unreadable.
    Token,
    /// Its value is a secret.
    Strong,
}

/// What the name of a field or variable says of its value.
pub fn strength(name: &str) -> Strength {
    let plain: String =
        name.chars().filter(|ch| ch.is_ascii_alphanumeric()).map(|ch| ch.to_ascii_lowercase()).collect();
    let plain = plain.trim_end_matches(|ch: char| ch.is_ascii_digit());
    const STRONG: [&str; 25] = [
        "password",
        "passwd",
        "passphrase",
        "passwort",
        "pwd",
        "secret",
        "secretkey",
        "apikey",
        "accesskey",
        "accountkey",
        "privatekey",
        "authkey",
        "secretaccesskey",
        "encryptionkey",
        "signingkey",
        "masterkey",
        "authtoken",
        "accesstoken",
        "refreshtoken",
        "sessiontoken",
        "apitoken",
        "bearertoken",
        "bottoken",
        "authorization",
        "secretvalue",
    ];
    const WEAK: [&str; 4] = ["key", "credential", "credentials", "secrets"];
    let pass_alone = plain.ends_with("pass") && name.to_ascii_lowercase().ends_with("_pass");
    if pass_alone || STRONG.iter().any(|end| plain.ends_with(end)) {
        Strength::Strong
    } else if plain.ends_with("token") {
        Strength::Token
    } else if WEAK.iter().any(|end| plain.ends_with(end)) {
        Strength::Weak
    } else {
        Strength::None
    }
}

/// Whether a whole string is a secret because it is the value of a field of that name. A field is no prose: whatever
/// stands in `password` is one, a passphrase of several words too.
pub fn field_is_secret(strength: Strength, value: &str) -> bool {
    match strength {
        Strength::Strong => !is_placeholder(value) && !is_path(value),
        _ => value_is_secret(strength, value),
    }
}

/// Whether a literal in a text is a secret behind such a name.
fn value_is_secret(strength: Strength, value: &str) -> bool {
    match strength {
        Strength::None => false,
        Strength::Weak => looks_random(value),
        Strength::Token => looks_random(value) || is_long_hexadecimal(value),
        Strength::Strong => is_literal(value),
    }
}

/// The name around a lead, and the secret assigned to it.
pub(super) fn read(text: &str, lead: Range<usize>) -> (Range<usize>, Option<Secret>) {
    let bytes = text.as_bytes();
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let back = bytes[..lead.start].iter().rev().take(80).take_while(|byte| in_name(byte)).count();
    let ahead = bytes[lead.end..].iter().take(80).take_while(|byte| in_name(byte)).count();
    let name = lead.start - back..lead.end + ahead;
    let secret = value_behind(text, name.clone());
    (name, secret)
}

fn value_behind(text: &str, name: Range<usize>) -> Option<Secret> {
    let word = &text[name.clone()];
    let strength = strength(word);
    if strength == Strength::None {
        return None;
    }
    let (value, manner) = assigned(text, &name)?;
    let given = &text[value.clone()];
    let is_authorization = word.to_ascii_lowercase().ends_with("authorization");
    if is_authorization {
        return authorization(text, value);
    }
    let secret = match (manner, strength) {
        (Manner::Quoted, _) => value_is_secret(strength, given),
        (_, Strength::Weak | Strength::Token) => value_is_secret(strength, given),
        (Manner::Tight, _) => tight(text, &name, &value),
        (Manner::Loose, _) => loose(text, &value),
        (Manner::Argument, _) => {
            !is_placeholder(given) && !given.starts_with('-') && (has_digit_or_sign(given) || given.len() >= 12)
        }
    };
    secret.then_some(Secret { range: value, label: label(word) })
}

fn label(name: &str) -> &'static str {
    let name = name.to_ascii_lowercase();
    if name.contains("pass") || name.contains("pwd") {
        "password"
    } else if name.contains("token") {
        "token"
    } else if name.contains("key") {
        "key"
    } else {
        "secret"
    }
}

/// How a value stands behind its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// In quotation marks.
    Quoted,
    /// `NAME=value`
    Tight,
    /// `name: value`, `name = value`
    Loose,
    /// `--name value`
    Argument,
}

/// The value assigned to the name, without its quotation marks.
fn assigned(text: &str, name: &Range<usize>) -> Option<(Range<usize>, Manner)> {
    let bytes = text.as_bytes();
    let mut at = name.end;
    // The name's own closing mark, and a bracket: `"key":`, `config["key"] =`.
    at += usize::from(bytes.get(at) == Some(&b'\\'));
    at += usize::from(bytes.get(at).is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`')));
    at += usize::from(bytes.get(at) == Some(&b']'));
    let before = at;
    at = blanks(bytes, at);
    let separator = match bytes.get(at..)? {
        [b':', b'=', ..] | [b'=', b'>', ..] => 2,
        [b'=', b'=', b'=', ..] => 3,
        [b'=', b'=', ..] => 2,
        // A path of modules or a URL's scheme, not an assignment.
        [b':', b':' | b'/', ..] => return None,
        [b':' | b'=', ..] => 1,
        _ if at > before
            && text[..name.end]
                .rfind(char::is_whitespace)
                .is_some_and(|space| bytes[space + 1..].starts_with(b"--")) =>
        {
            0
        }
        _ => return None,
    };
    let argument = separator == 0;
    let tight = separator == 1
        && bytes[at] == b'='
        && at == before
        && bytes.get(at + 1).is_some_and(|byte| !byte.is_ascii_whitespace());
    at = blanks(bytes, at + separator);
    if let Some(quoted) = quoted(text, at) {
        return Some((quoted, Manner::Quoted));
    }
    let env_like = tight && text[name.clone()].bytes().all(|byte| !byte.is_ascii_lowercase());
    let length = text[at..].find(|ch: char| ends_value(ch, env_like)).unwrap_or(text.len() - at);
    if length == 0 {
        return None;
    }
    // A type between name and value: `password: str = "…"`.
    let behind = blanks(bytes, at + length);
    if bytes.get(behind) == Some(&b'=') && bytes.get(behind + 1) != Some(&b'=') {
        return quoted(text, blanks(bytes, behind + 1)).map(|quoted| (quoted, Manner::Quoted));
    }
    let manner = match () {
        () if argument => Manner::Argument,
        () if tight => Manner::Tight,
        () => Manner::Loose,
    };
    Some((at..at + length, manner))
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take(40).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn ends_value(ch: char, env_like: bool) -> bool {
    let always = ch.is_whitespace() || matches!(ch, '"' | '\'' | '`' | '\\');
    always || (!env_like && matches!(ch, ',' | ';' | '(' | ')' | '{' | '}' | '[' | ']' | '<' | '>' | '&' | '|'))
}

/// The inside of a literal in quotation marks at `at`, escaped or not, on one line.
fn quoted(text: &str, mut at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // Prefixes of literals: b"…", r"…", f"…", u"…".
    if bytes.get(at).is_some_and(|byte| matches!(byte, b'b' | b'r' | b'f' | b'u'))
        && matches!(bytes.get(at + 1), Some(b'"' | b'\''))
    {
        at += 1;
    }
    let escaped = bytes.get(at) == Some(&b'\\');
    let mark = *bytes.get(at + usize::from(escaped))?;
    if !matches!(mark, b'"' | b'\'' | b'`') {
        return None;
    }
    let from = at + usize::from(escaped) + 1;
    let mut end = from;
    loop {
        match bytes.get(end)? {
            b'\n' => return None,
            b'\\' if escaped && bytes.get(end + 1) == Some(&mark) => break,
            b'\\' if !escaped => end += 1,
            byte if *byte == mark && !escaped => break,
            _ => {}
        }
        end += 1;
        if end - from > 2_000 {
            return None;
        }
    }
    Some(from..end.min(text.len()))
}

/// `NAME=value`: an environment file, a query, a connection string; or an argument in code.
fn tight(text: &str, name: &Range<usize>, value: &Range<usize>) -> bool {
    let given = &text[value.clone()];
    if is_placeholder(given) || is_path(given) {
        return false;
    }
    let upper = text[name.clone()].bytes().all(|byte| !byte.is_ascii_lowercase());
    match text.as_bytes().get(value.end) {
        // A call: `password=get_password()`.
        Some(b'(' | b'[' | b'<' | b'{') => false,
        // An argument that hands a variable on: `connect(password=password)`.
        Some(b')' | b',') => !is_identifier_path(given),
        _ => upper || !given.contains('.') || !is_identifier_path(given),
    }
}

/// `name: value`, `name = value`: a settings file, or code, or prose.
fn loose(text: &str, value: &Range<usize>) -> bool {
    let given = &text[value.clone()];
    if is_placeholder(given) || is_path(given) || given.len() < 4 {
        return false;
    }
    let ends_line = matches!(text.as_bytes().get(value.end), None | Some(b'\n' | b'\r'));
    match text.as_bytes().get(value.end) {
        Some(b'(' | b'[' | b'<' | b'{' | b'`') => false,
        _ if given.contains('.') && is_identifier_path(given) => false,
        _ if has_digit_or_sign(given) => ends_line || given.len() >= 8,
        // Words only: a setting stands alone on its line; a type or a variable goes on, or begins like a type.
        _ => ends_line && begins_line(text, value.start) && !given.starts_with(char::is_uppercase) && !is_label(given),
    }
}

/// Only a name stands before the value on its line.
fn begins_line(text: &str, at: usize) -> bool {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..at];
    line.split_whitespace().count() <= 2
}

/// `Authorization: Bearer …`, `Basic …`: the scheme stays, what it carries goes.
fn authorization(text: &str, value: Range<usize>) -> Option<Secret> {
    let line_end = text[value.start..].find(['\n', '"', '\'', '`', '\\']).map_or(text.len(), |at| value.start + at);
    let line = &text[value.start..line_end];
    let scheme = line.split_whitespace().next()?;
    let (from, carried) = match line.split_whitespace().nth(1) {
        Some(carried) if scheme.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') => {
            (value.start + line[scheme.len()..].find(carried)? + scheme.len(), carried)
        }
        _ => (value.start + line.find(scheme)?, scheme),
    };
    let carried = carried.trim_end_matches([',', ';', ')', '}', ']']);
    let enough = carried.len() >= 6 && (has_digit_or_sign(carried) || carried.len() >= 16);
    (enough && !is_placeholder(carried) && !carried.contains('('))
        .then(|| Secret { range: from..from + carried.len(), label: "authorization" })
}

/// What stands behind `Bearer `, if it looks like a token.
pub(super) fn bearer(text: &str, at: usize) -> Option<Secret> {
    let length =
        text[at..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte)).count();
    let given = text[at..at + length].trim_end_matches('.');
    (given.len() >= 12 && given.bytes().any(|byte| byte.is_ascii_digit()) && !is_placeholder(given))
        .then(|| Secret { range: at..at + given.len(), label: "authorization" })
}

/// The value of a `Cookie:` or `Set-Cookie:` header.
pub(super) fn cookie(text: &str, at: usize) -> Option<Secret> {
    let from = blanks(text.as_bytes(), at);
    let length = text[from..].find(['\n', '\r', '"', '\'', '`', '\\']).unwrap_or(text.len() - from);
    let given = text[from..from + length].trim_end();
    let (name, value) = given.split_once('=')?;
    let plausible =
        !name.is_empty() && !name.contains(char::is_whitespace) && value.len() >= 6 && !is_placeholder(value);
    plausible.then(|| Secret { range: from..from + given.len(), label: "cookie" })
}

/// The password of `curl -u user:password`.
pub(super) fn curl_user(text: &str, at: usize) -> Option<Secret> {
    let line = &text[at..at + text[at..].find('\n').unwrap_or(text.len() - at)];
    let options = [" -u ", " --user ", " --user="];
    let after = options.iter().find_map(|option| line.find(option).map(|found| found + option.len()));
    let after = after.or_else(|| line.starts_with("-u ").then_some(3))?;
    let from = after + usize::from(line[after..].starts_with(['"', '\'']));
    let ends = |ch: char| ch.is_whitespace() || matches!(ch, '"' | '\'' | '\\');
    let end = from + line[from..].find(ends).unwrap_or(line.len() - from);
    let colon = from + line[from..end].find(':')? + 1;
    let password = &line[colon..end];
    (!is_placeholder(password)).then(|| Secret { range: at + colon..at + end, label: "password" })
}

/// Words that stand where a secret would.
pub(super) fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 32] = [
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "string",
        "str",
        "text",
        "bytes",
        "bool",
        "boolean",
        "int",
        "integer",
        "number",
        "required",
        "optional",
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "apikey",
        "changeme",
        "example",
        "redacted",
        "hidden",
        "masked",
        "placeholder",
        "env",
        "varchar",
        "self",
    ];
    let value = value.trim_matches(['"', '\'', '`']);
    let plain = value.to_ascii_lowercase();
    let plain = plain.trim_end_matches(['?', '!', '.', ';']);
    let first = value.chars().next();
    value.is_empty()
        || value.chars().all(|ch| Some(ch) == first)
        || matches!(first, Some('$' | '<' | '{' | '%' | '…' | '&'))
        || value.starts_with("[masked")
        || value.starts_with("[redacted")
        || value.starts_with("...")
        || value.starts_with("***")
        || value.contains("${")
        || value.contains("{{")
        || WORDS.contains(&plain)
        || plain.starts_with("your")
        || plain.starts_with("xxx")
        || plain.starts_with("my-")
        || plain.starts_with("my_")
}

/// A literal that was written down as the value: anything but a placeholder, a path, or a label for people.
fn is_literal(value: &str) -> bool {
    let words = value.split_whitespace().count();
    !is_placeholder(value) && !is_path(value) && words == 1 && !value.contains("://") && !is_label(value)
}

/// `Password`, `newPassword`, `db.password`: the name again, as labels and message keys have it.
fn is_label(value: &str) -> bool {
    let plain = value.to_ascii_lowercase();
    let names_it = ["password", "passwd", "secret", "token", "apikey", "api_key", "api-key"]
        .iter()
        .any(|name| plain.contains(name));
    names_it && !value.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_path(value: &str) -> bool {
    value.starts_with('/') || value.starts_with("./") || value.starts_with("../") || value.starts_with('~')
}

fn is_identifier_path(value: &str) -> bool {
    value.split(['.', ':']).filter(|part| !part.is_empty()).all(|part| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !part.as_bytes()[0].is_ascii_digit()
    })
}

fn has_digit_or_sign(value: &str) -> bool {
    value.bytes().any(|byte| {
        byte.is_ascii_digit() || (byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'.' | b'-' | b':'))
    })
}

/// As tokens are often written; with a dash it is a UUID.
fn is_long_hexadecimal(value: &str) -> bool {
    value.len() >= 32
        && value.bytes().all(|byte| byte.is_ascii_hexdigit())
        && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Long, of mixed signs, and neither a commit hash nor a UUID.
fn looks_random(value: &str) -> bool {
    if value.len() < 16 || value.len() > 4_000 || is_placeholder(value) || is_path(value) {
        return false;
    }
    if !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-.~".contains(&byte)) {
        return false;
    }
    let count = |test: fn(&u8) -> bool| value.as_bytes().iter().filter(|byte| test(byte)).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let upper = count(u8::is_ascii_uppercase);
    let hexadecimal = value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    // Hexadecimal is how hashes and UUIDs are written; a name alone does not make one a secret.
    if hexadecimal {
        return false;
    }
    // Slugs and dotted names have a separator every few letters.
    let longest = value.split(['-', '_', '.', '/']).map(str::len).max().unwrap_or(0);
    digits >= 3 && letters >= 3 && longest >= 12 && (upper > 0 || digits * 6 > value.len())
}
