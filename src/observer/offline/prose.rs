//! An answer's Markdown as plain blocks: what a person would read aloud.
//!
//! Code blocks, tables, rules and pictures are left out; emphasis, links, headings' marks and decorative signs are
//! taken off. Text inside backticks stays as it is, and so do the backticks: later steps see by them what is a name.
//! [`unquoted`] takes them off at the very end.

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A heading, or a line that is bold throughout.
    Heading,
    /// Running text.
    Paragraph,
    /// An item of a list.
    Item,
    /// Short lines kept apart: verse, a status table, a log. Not read as sentences; the text is the first line.
    Lines,
}

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// Its text on one line.
    pub text: String,
    /// A code block or table follows: the text may only introduce it.
    pub introduces: bool,
}

/// The blocks of `markdown`, in order, read up to about `limit` bytes.
pub fn blocks(markdown: &str, limit: usize) -> Vec<Block> {
    let mut reader = Reader::default();
    let mut seen = 0;
    for line in markdown.lines() {
        seen += line.len() + 1;
        reader.line(line);
        if seen > limit {
            break;
        }
    }
    reader.flush();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    kind: Option<Kind>,
    text: String,
    /// Lines put into `text`, and whether all of them are short.
    lines: usize,
    short: bool,
    first: String,
    fence: Option<(char, usize)>,
}

impl Reader {
    fn line(&mut self, raw: &str) {
        let line = raw.trim();
        if let Some((mark, length)) = self.fence {
            if fence(line).is_some_and(|(other, n)| other == mark && n >= length) {
                self.fence = None;
            }
            return;
        }
        if let Some(opening) = fence(line) {
            self.left_out();
            self.fence = Some(opening);
            return;
        }
        if line.is_empty() || is_rule(line) {
            self.flush();
            return;
        }
        if line.starts_with('|') && line.len() > 1 {
            self.left_out();
            return;
        }
        let line = line.strip_prefix("> ").unwrap_or(line.trim_start_matches('>').trim_start());
        // A check mark or another ornament in front makes a list, one line an item.
        let bare = line.trim_start_matches(|ch: char| is_decoration(ch) || ch.is_whitespace());
        let ornamented = bare.len() < line.len() && !bare.is_empty();
        let line = bare;
        if let Some(heading) = heading(line) {
            self.flush();
            self.put(Kind::Heading, heading);
            self.flush();
        } else if let Some(item) = item(line).or_else(|| item(line.strip_prefix("**")?)) {
            self.flush();
            self.put(Kind::Item, item);
        } else if bold_throughout(line) {
            self.flush();
            self.put(Kind::Heading, line);
            self.flush();
        } else if ornamented {
            self.flush();
            self.put(Kind::Item, line);
        } else {
            let kind = self.kind.unwrap_or(Kind::Paragraph);
            // A new paragraph right behind an item without indentation still belongs to the item by Markdown's rules.
            self.put(kind, line);
        }
    }

    fn put(&mut self, kind: Kind, text: &str) {
        self.kind = Some(kind);
        self.lines += 1;
        if self.lines == 1 {
            self.first = text.to_owned();
        }
        // Two blanks or a backslash at the end are Markdown's own way to keep lines apart.
        self.short = (self.lines == 1 || self.short) && super::sentence::weight(text) < 66;
        if !self.text.is_empty() {
            // Chinese and Japanese lines join without a space.
            let cjk = |ch: Option<char>| ch.is_some_and(super::sentence::is_cjk);
            if !(cjk(self.text.chars().next_back()) && cjk(text.chars().next())) {
                self.text.push(' ');
            }
        }
        self.text.push_str(text);
    }

    fn left_out(&mut self) {
        self.flush();
        if let Some(last) = self.blocks.last_mut() {
            last.introduces = true;
        }
    }

    fn flush(&mut self) {
        let (lines, short) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.short));
        let Some(mut kind) = self.kind.take() else { return };
        let first = std::mem::take(&mut self.first);
        let mut text = plain(&std::mem::take(&mut self.text));
        if kind == Kind::Paragraph && lines >= 3 && short {
            kind = Kind::Lines;
            text = plain(&first);
        }
        if text.chars().any(char::is_alphanumeric) {
            self.blocks.push(Block { kind, text, introduces: false });
        }
    }
}

fn fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|ch| matches!(ch, '`' | '~'))?;
    let length = line.chars().take_while(|ch| *ch == mark).count();
    // Inline code of three backticks on one line is no fence.
    let closes_itself = mark == '`' && line[length..].contains('`');
    (length >= 3 && !closes_itself).then_some((mark, length))
}

fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|ch| !ch.is_whitespace());
    line.chars().count() >= 3
        && marks.clone().all(|ch| matches!(ch, '-' | '*' | '_' | '=' | '─' | '━' | '═' | '`'))
        && marks.next().is_some()
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' ')).then(|| rest.trim().trim_end_matches('#').trim())
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    for mark in ["- ", "* ", "+ ", "• ", "– ", "· "] {
        if let Some(rest) = line.strip_prefix(mark) {
            let rest = rest.trim_start();
            let boxed = ["[ ] ", "[x] ", "[X] "].iter().find_map(|it| rest.strip_prefix(it));
            return Some(boxed.unwrap_or(rest));
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits) {
        let rest = &line[digits..];
        for mark in [". ", ") ", "、", "．"] {
            if let Some(rest) = rest.strip_prefix(mark) {
                return Some(rest.trim_start());
            }
        }
    }
    None
}

fn bold_throughout(line: &str) -> bool {
    let line = line.trim_end_matches([':', '：', '.', '!']);
    let line = line.trim_start_matches(|ch: char| is_decoration(ch) || ch.is_whitespace());
    line.len() > 4 && line.starts_with("**") && line.ends_with("**") && line[2..line.len() - 2].find("**").is_none()
}

/// `text` without the backticks that [`plain`] leaves.
pub fn unquoted(text: &str) -> String {
    text.replace('`', "")
}

/// `text` without inline marks.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut previous: Option<char> = None;
    while let Some(ch) = rest.chars().next() {
        let after = &rest[ch.len_utf8()..];
        let step = match ch {
            '`' => {
                // Whatever stands in backticks is meant letter by letter.
                let ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
                let body = &rest[ticks..];
                match body.find(&rest[..ticks]) {
                    Some(end) => {
                        out.push('`');
                        out.push_str(body[..end].trim());
                        out.push('`');
                        previous = Some('`');
                        ticks + end + ticks
                    }
                    None => ticks,
                }
            }
            '\\' if after.starts_with(|next: char| next.is_ascii_punctuation()) => {
                let next = after.chars().next().unwrap_or('\\');
                out.push(next);
                1 + next.len_utf8()
            }
            '*' | '_' | '~' if is_emphasis(previous, rest, ch) => rest.chars().take_while(|it| *it == ch).count(),
            '!' if after.starts_with('[') => match link(after) {
                Some((_, length)) => 1 + length,
                None => literal(&mut out, ch),
            },
            '[' => match link(rest) {
                Some((label, length)) => {
                    out.push_str(&plain(label));
                    length
                }
                None => literal(&mut out, ch),
            },
            '<' => match html_tag(previous, rest) {
                Some(length) => {
                    out.push(' ');
                    length
                }
                None => literal(&mut out, ch),
            },
            _ if is_decoration(ch) => {
                out.push(' ');
                ch.len_utf8()
            }
            _ => literal(&mut out, ch),
        };
        if ch != '`' {
            previous = Some(ch);
        }
        rest = &rest[step..];
    }
    let mut line = String::with_capacity(out.len());
    for word in out.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

fn literal(out: &mut String, ch: char) -> usize {
    out.push(ch);
    ch.len_utf8()
}

/// Whether a run of `mark` at the start of `rest` is emphasis: at the edge of a word, not between spaces, and not
/// part of a name such as `snake_case` or a pattern such as `*.rs`.
fn is_emphasis(previous: Option<char>, rest: &str, mark: char) -> bool {
    let run = rest.chars().take_while(|ch| *ch == mark).count();
    if mark == '~' && run != 2 {
        return false;
    }
    let next = rest.chars().nth(run);
    let wordy = |ch: Option<char>| ch.is_some_and(|ch| ch.is_alphanumeric());
    let spaced = |ch: Option<char>| ch.is_none_or(char::is_whitespace);
    if spaced(previous) && spaced(next) {
        return false;
    }
    if mark == '*' && (2..=3).contains(&run) {
        return true;
    }
    // `__init__`: a name, in Markdown's own rules bold, in a coding session never.
    if mark == '_' && run > 1 {
        return false;
    }
    if run > 3 || (wordy(previous) && wordy(next)) {
        return false;
    }
    if mark == '_' && (previous == Some('_') || next == Some('_')) {
        return false;
    }
    if spaced(previous) || previous.is_some_and(|ch| "(\"'“「（[".contains(ch)) {
        // Opening: it must close again on this line.
        wordy(next) && rest[run..].contains(mark)
    } else {
        // Closing: a word before, and a sign of its end behind.
        !wordy(next)
            && previous.is_some_and(|ch| ch.is_alphanumeric() || ".!?)。！？）…".contains(ch))
            && !rest.starts_with("*.")
    }
}

/// A link `[label](target)`: its label and length.
fn link(text: &str) -> Option<(&str, usize)> {
    let close = text.find(']')?;
    let label = &text[1..close];
    let rest = text[close + 1..].strip_prefix('(')?;
    let end = rest.find(')')?;
    (!label.contains('[') && !rest[..end].contains(char::is_whitespace)).then_some((label, close + 1 + 1 + end + 1))
}

/// The length of an HTML or XML tag. Generic arguments (`Vec<u8>`) and comparisons are none.
fn html_tag(previous: Option<char>, text: &str) -> Option<usize> {
    let closes = text.starts_with("</");
    if !closes && previous.is_some_and(|ch| ch.is_alphanumeric() || ch == '_' || ch == ':' || ch == '`') {
        return None;
    }
    let end = text.find('>')?;
    let inner = text[1..end].trim_start_matches('/').trim_end_matches('/');
    let name_length =
        inner.find(|ch: char| !(ch.is_ascii_lowercase() || ch.is_ascii_digit() || ch == '-' || ch == '_'));
    let name = &inner[..name_length.unwrap_or(inner.len())];
    let rest = &inner[name.len()..];
    let is_tag = !name.is_empty()
        && name.starts_with(|ch: char| ch.is_ascii_lowercase())
        && (rest.is_empty() || rest.starts_with(char::is_whitespace) && rest.contains('='));
    (is_tag || text.starts_with("<!--")).then_some(end + 1)
}

/// Pictures and ornaments: emoji, check marks, stars, box lines.
pub fn is_decoration(ch: char) -> bool {
    matches!(ch,
        '\u{2500}'..='\u{259f}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'
        | '\u{fe0f}' | '\u{200d}' | '\u{23e9}'..='\u{23fa}' | '\u{25a0}'..='\u{25ff}' | '\u{2022}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(markdown: &str) -> Vec<String> {
        blocks(markdown, 10_000)
            .into_iter()
            .map(|block| format!("{:?}{} {}", block.kind, if block.introduces { "+" } else { "" }, block.text))
            .collect()
    }

    #[test]
    fn marks_go_and_words_stay() {
        let cases = [
            ("**Bold** and *thin* and `code_x`", "Bold and thin and code_x"),
            ("a snake_case_name and __init__.py", "a snake_case_name and __init__.py"),
            ("use `**/*.rs` or *.rs", "use **/*.rs or *.rs"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("see [the page](https://x.y/z) now", "see the page now"),
            ("✅ All good 🎉", "All good"),
            ("Vec<u8> and a<b and <details>x</details>", "Vec<u8> and a<b and x"),
            ("`<div class=\"a\">` stays", "<div class=\"a\"> stays"),
            ("**`a.rs`** (11): removed", "a.rs (11): removed"),
            ("修复了**竞态**问题", "修复了竞态问题"),
            ("`catch (e: any)` → `catch (e: unknown)`", "catch (e: any) → catch (e: unknown)"),
        ];
        for (markdown, want) in cases {
            assert_eq!(unquoted(&plain(markdown)), want, "{markdown}");
        }
    }

    #[test]
    fn blocks_by_kind() {
        let markdown = "## Root cause\nThe cache\nis shared.\n\n- one\n- two\n  more\n1. three\n\nRun:\n```sh\nrm x\n```\n| a | b |\n\n---\n**Next:**\nlast";
        assert_eq!(
            told(markdown),
            [
                "Heading Root cause",
                "Paragraph The cache is shared.",
                "Item one",
                "Item two more",
                "Item three",
                "Paragraph+ Run:",
                "Heading Next:",
                "Paragraph last"
            ]
        );
    }
}
