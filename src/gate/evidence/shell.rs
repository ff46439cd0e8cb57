//! What a shell command line says about files, without running or expanding anything.
//!
//! Three answers: it only looks; it moves or removes the files named by its plain words; anything else may have
//! written something. Quoting is honoured, expansions are not: a word that a shell would expand (`*`, `$x`)
//! makes the answer "unknown".

use super::Touched;

/// One simple command of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its words, quotes removed, without leading assignments and wrappers (`sudo`, `timeout 5`).
    pub words: Vec<String>,
    /// Some word holds an expansion, so its text is not what the program saw.
    pub expands: bool,
    /// Its output goes to a file.
    pub redirects: bool,
}

impl Program {
    /// The program's name without its directory.
    pub fn name(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        word.rsplit('/').next().unwrap_or(word)
    }

    /// The word at `at`, empty when there is none.
    pub fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    /// Words behind the program's name that are no options.
    pub fn operands(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-'))
    }
}

/// The simple commands of `command`, in order. Here-documents are left out.
pub fn segments(command: &str) -> Vec<Program> {
    Splitter::default().run(command)
}

/// What a command that ran well touched.
pub(super) fn touched(command: &str) -> Touched {
    let mut touched = Touched::default();
    if let Some(at) = command.find("*** Begin Patch") {
        touched.modified = patched_files(&command[at..]);
        touched.unknown = touched.modified.is_empty();
        return touched;
    }
    let mut dir = String::new();
    for program in segments(command) {
        if program.name() == "cd" {
            // Later words of this line are relative to it.
            let to = program.word(1);
            dir = if program.expands { "$".into() } else { join(&dir, to) };
            continue;
        }
        match moved(&program) {
            Some(files) if !program.expands && !dir.starts_with('$') => {
                for file in files {
                    super::push_new(&mut touched.modified, join(&dir, &file));
                }
            }
            _ => touched.unknown |= !looks(&program),
        }
    }
    touched
}

/// Whether no part of `command` can write files of the user's.
pub(super) fn only_looks(command: &str) -> bool {
    segments(command).iter().all(looks)
}

/// Files named in patch headers (`*** Update File:`, `*** Add File:`, `*** Delete File:`, `*** Move to:`).
pub(super) fn patched_files(patch: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in patch.lines() {
        let header = ["*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        if let Some(path) = header.map(str::trim).filter(|path| !path.is_empty()) {
            super::push_new(&mut files, path.to_owned());
        }
        if line.starts_with("*** End Patch") {
            break;
        }
    }
    files
}

fn join(dir: &str, path: &str) -> String {
    if dir.is_empty() || path.starts_with(['/', '~']) { path.to_owned() } else { format!("{dir}/{path}") }
}

/// Both ends of a move, or what was removed, when the words say it plainly.
fn moved(program: &Program) -> Option<Vec<String>> {
    let skip = match (program.name(), program.word(1)) {
        ("git", "mv" | "rm") => 1,
        ("mv" | "rm", _) => 0,
        _ => return None,
    };
    if program.redirects {
        return None;
    }
    let files: Vec<String> = program.operands().skip(skip).map(String::from).collect();
    let moves = program.name() == "mv" || program.word(1) == "mv";
    let target_known = !moves || (files.len() == 2 && !files[1].ends_with('/') && !files[1].ends_with('.'));
    if files.is_empty() {
        return None;
    }
    if target_known {
        // A directory removed recursively is no file, and which files lay in it is not told.
        let recursive = program.words.iter().any(|word| word.starts_with('-') && word.contains(['r', 'R']));
        return if recursive && !moves { None } else { Some(files) };
    }
    // Moved into a directory: the names stay.
    let (last, sources) = files.split_last()?;
    if !(last.ends_with('/') || sources.len() > 1) {
        return None;
    }
    let mut all = sources.to_vec();
    for source in sources {
        let name = source.rsplit('/').next().unwrap_or(source);
        all.push(format!("{}/{name}", last.trim_end_matches('/')));
    }
    Some(all)
}

/// Whether a program only looks.
fn looks(program: &Program) -> bool {
    if program.redirects {
        return false;
    }
    let has = |option: &str| program.words.iter().any(|word| word == option);
    match program.name() {
        "" | "ls" | "cat" | "head" | "tail" | "wc" | "grep" | "egrep" | "rg" | "ag" | "pwd" | "cd" | "echo"
        | "printf" | "which" | "type" | "file" | "stat" | "du" | "df" | "ps" | "env" | "printenv" | "date"
        | "whoami" | "uname" | "tree" | "less" | "more" | "sleep" | "true" | "false" | "test" | "[" | "diff"
        | "cmp" | "jq" | "yq" | "cut" | "tr" | "uniq" | "nl" | "column" | "basename" | "dirname" | "realpath"
        | "readlink" | "id" | "hostname" | "lsof" | "netstat" | "ss" | "top" | "free" | "uptime" | "history"
        | "man" | "strings" | "md5sum" | "sha256sum" | "shasum" | "xxd" | "hexdump" | "od" | "nproc" | "pgrep"
        | "set" | "export" | "exit" | "wait" | "kill" | "fg" | "jobs" | "ping" | "dig" | "nslookup" | "for" | "do"
        | "done" | "if" | "then" | "else" | "fi" | "while" => true,
        "sed" => !program.words.iter().skip(1).any(|word| word.starts_with("-i") || word.starts_with("--in-place")),
        "awk" => !program.words.iter().any(|word| word.contains('>')),
        "sort" => !has("-o"),
        "find" => !(has("-delete") || has("-exec") || has("-execdir") || has("-fprint") || has("-ok")),
        "git" => git_looks(program),
        "gh" => matches!(
            (program.word(1), program.word(2)),
            (_, "view" | "list" | "status" | "diff" | "checks" | "watch") | ("api" | "search" | "auth", _)
        ),
        "curl" => !program.words.iter().any(|word| {
            word == "--output" || word == "-O" || (word.starts_with("-o") && word.len() <= 2) || word == "--remote-name"
        }),
        "cargo" => matches!(program.word(1), "metadata" | "tree" | "search" | "--version" | "-V" | "check-cfg"),
        "docker" => matches!(program.word(1), "ps" | "logs" | "images" | "inspect" | "version" | "info"),
        "kubectl" => matches!(program.word(1), "get" | "describe" | "logs" | "version"),
        "node" | "python" | "python3" | "ruby" | "go" | "npm" | "rustc" => {
            matches!(program.word(1), "--version" | "-V" | "-v" | "version" | "ls" | "list" | "view" | "outdated")
        }
        _ => program.word(1) == "--version" || program.word(1) == "--help",
    }
}

fn git_looks(program: &Program) -> bool {
    // `git -C dir status`: options with a value before the verb.
    let mut words = program.words.iter().skip(1).map(String::as_str);
    let mut verb = words.next().unwrap_or("");
    while verb.starts_with('-') {
        if matches!(verb, "-C" | "-c" | "--git-dir" | "--work-tree") {
            words.next();
        }
        verb = words.next().unwrap_or("");
    }
    let rest: Vec<&str> = words.collect();
    match verb {
        "" | "status" | "log" | "diff" | "show" | "blame" | "ls-files" | "ls-tree" | "rev-parse" | "describe"
        | "shortlog" | "reflog" | "grep" | "cat-file" | "rev-list" | "merge-base" | "fetch" | "remote" | "config"
        | "show-ref" | "for-each-ref" | "name-rev" | "version" | "help" | "count-objects" | "ls-remote" | "whatchanged"
        // These move what is recorded, not the files.
        | "add" | "commit" | "push" | "tag" => true,
        "branch" | "worktree" => rest.iter().all(|word| {
            word.starts_with('-') && !matches!(*word, "-d" | "-D" | "-m" | "-M") || *word == "list"
        }),
        "stash" => rest.first().is_some_and(|word| matches!(*word, "list" | "show")),
        _ => false,
    }
}

/// Splits a command line the way a shell reads it, as far as words go.
#[derive(Default)]
struct Splitter {
    done: Vec<Program>,
    words: Vec<String>,
    word: Option<String>,
    expands: bool,
    redirects: bool,
    /// The next word is the target of a redirection.
    target: Option<bool>,
}

impl Splitter {
    fn run(mut self, command: &str) -> Vec<Program> {
        let mut chars = command.chars().peekable();
        let mut here: Vec<String> = Vec::new();
        while let Some(ch) = chars.next() {
            match ch {
                '\\' => {
                    // A backslash before a newline joins the lines.
                    match chars.next() {
                        Some('\n') | None => {}
                        Some(next) => self.push(next),
                    }
                }
                '\'' => {
                    self.word.get_or_insert_default();
                    for inner in chars.by_ref() {
                        if inner == '\'' {
                            break;
                        }
                        self.push(inner);
                    }
                }
                '"' => {
                    self.word.get_or_insert_default();
                    while let Some(inner) = chars.next() {
                        match inner {
                            '"' => break,
                            '\\' => {
                                if let Some(next) = chars.next() {
                                    self.push(next);
                                }
                            }
                            '$' | '`' => {
                                self.expands = true;
                                self.push(inner);
                            }
                            _ => self.push(inner),
                        }
                    }
                }
                '#' if self.word.is_none() => {
                    while chars.peek().is_some_and(|next| *next != '\n') {
                        chars.next();
                    }
                }
                '\n' => {
                    self.end_command();
                    for mark in here.drain(..) {
                        skip_here_document(&mut chars, &mark);
                    }
                }
                ';' | '(' | ')' => self.end_command(),
                '{' | '}'
                    if self.word.is_none() && chars.peek().is_none_or(|next| next.is_whitespace() || *next == ';') =>
                {
                    self.end_command();
                }
                '|' => {
                    if matches!(chars.peek(), Some('|' | '&')) {
                        chars.next();
                    }
                    self.end_command();
                }
                '&' => match chars.peek() {
                    // `&>` and `&>>` send everything to a file.
                    Some('>') => {}
                    Some('&') => {
                        chars.next();
                        self.end_command();
                    }
                    _ => self.end_command(),
                },
                '>' => {
                    // `2>&1` joins streams and writes nothing.
                    let stream = self.word.take_if(|word| word.chars().all(|digit| digit.is_ascii_digit()));
                    drop(stream);
                    self.end_word();
                    if matches!(chars.peek(), Some('>' | '|')) {
                        chars.next();
                    }
                    if chars.peek() == Some(&'&') {
                        chars.next();
                        self.target = Some(false);
                    } else {
                        self.target = Some(true);
                    }
                }
                '<' => {
                    self.end_word();
                    if chars.peek() == Some(&'<') {
                        chars.next();
                        if chars.peek() == Some(&'<') {
                            chars.next();
                            self.target = Some(false);
                        } else {
                            here.push(here_mark(&mut chars));
                        }
                    } else {
                        self.target = Some(false);
                    }
                }
                '$' | '`' | '*' | '?' | '[' => {
                    self.expands = true;
                    self.push(ch);
                }
                _ if ch.is_whitespace() => self.end_word(),
                _ => self.push(ch),
            }
        }
        self.end_command();
        self.done
    }

    fn push(&mut self, ch: char) {
        self.word.get_or_insert_default().push(ch);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.target.take() {
            // Thrown away or joined to another stream: nothing is written.
            Some(writes) => self.redirects |= writes && word != "/dev/null" && word != "/dev/stderr",
            None => self.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let mut words = std::mem::take(&mut self.words);
        drop_wrappers(&mut words);
        let (expands, redirects) = (std::mem::take(&mut self.expands), std::mem::take(&mut self.redirects));
        self.target = None;
        if !words.is_empty() || redirects {
            self.done.push(Program { words, expands, redirects });
        }
    }
}

/// Takes leading assignments and wrappers off, so that the first word is what runs.
fn drop_wrappers(words: &mut Vec<String>) {
    loop {
        let Some(first) = words.first() else { return };
        let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|ch| ch.is_ascii_alphanumeric() || ch == '_')
        });
        match first.as_str() {
            _ if is_assignment => {
                words.remove(0);
            }
            "sudo" | "time" | "nohup" | "command" | "exec" | "then" | "do" | "else" | "!" | "env"
                if words.len() > 1 =>
            {
                words.remove(0);
            }
            "timeout" | "gtimeout" | "nice" if words.len() > 2 => {
                words.remove(0);
                while words
                    .first()
                    .is_some_and(|word| word.starts_with('-') || word.starts_with(|ch: char| ch.is_ascii_digit()))
                {
                    words.remove(0);
                }
            }
            _ => return,
        }
    }
}

fn here_mark(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut mark = String::new();
    while let Some(ch) = chars.peek() {
        match ch {
            '-' if mark.is_empty() => {}
            '\'' | '"' | '\\' => {}
            ' ' if mark.is_empty() => {}
            _ if ch.is_alphanumeric() || *ch == '_' => mark.push(*ch),
            _ => break,
        }
        chars.next();
    }
    mark
}

fn skip_here_document(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, mark: &str) {
    if mark.is_empty() {
        return;
    }
    let mut line = String::new();
    for ch in chars.by_ref() {
        if ch == '\n' {
            if line.trim() == mark {
                return;
            }
            line.clear();
        } else {
            line.push(ch);
        }
    }
}
