//! What a command's output says in numbers and names: tests passed and failed, the first error, commits, pull
//! requests. Read line by line, only for commands whose kind makes the answer meaningful.

/// Tests counted in an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed.
    pub passed: u32,
    /// Failed, errors included.
    pub failed: u32,
}

/// A commit as git prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Abbreviated hash.
    pub hash: String,
    /// Branch.
    pub branch: String,
    /// First line of the message.
    pub subject: String,
}

/// Sums the counts of all test runners in `output`; `None` when no line names any.
pub fn test_counts(output: &str) -> Option<Counts> {
    let mut sum = Counts::default();
    let mut jest: Option<Counts> = None;
    let mut found = false;
    let mut go = Counts::default();
    for line in output.lines() {
        let line = strip_ansi(line);
        let line = line.trim();
        if line.len() > 400 || !line.bytes().any(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // go test names packages and, verbosely, each test.
        if line.starts_with("--- PASS:") {
            go.passed += 1;
            continue;
        }
        if line.starts_with("--- FAIL:") {
            go.failed += 1;
            continue;
        }
        if let Some(counts) = counts_in(line) {
            // jest and vitest tell suites and tests; only tests count.
            if line.starts_with("Tests:") || line.starts_with("Tests ") {
                jest = Some(counts);
            } else if line.starts_with("Test Files") || line.starts_with("Test Suites") || line.starts_with("Snapshots")
            {
                continue;
            } else {
                sum.passed = sum.passed.saturating_add(counts.passed);
                sum.failed = sum.failed.saturating_add(counts.failed);
            }
            found = true;
        }
    }
    if let Some(jest) = jest {
        return Some(jest);
    }
    if found {
        return Some(sum);
    }
    (go.passed + go.failed > 0).then_some(go)
}

/// `34 passed; 1 failed`, `5 passing`, `10 examples, 0 failures`, `Failed: 0, Passed: 5`, `Tests run: 5, Failures: 0`.
fn counts_in(line: &str) -> Option<Counts> {
    let words = line
        .split(|ch: char| ch.is_whitespace() || matches!(ch, ',' | ';' | '(' | ')' | '|' | '='))
        .filter(|w| !w.is_empty());
    let (mut passed, mut failed, mut total): (Option<u32>, Option<u32>, Option<u32>) = (None, None, None);
    let mut number: Option<u32> = None;
    let mut label: Option<&str> = None;
    for word in words {
        if let Ok(value) = word.parse::<u32>() {
            // `Passed: 5`
            match label.take() {
                Some("passed") => passed = Some(value),
                Some("failed") => failed = Some(failed.unwrap_or(0).saturating_add(value)),
                Some("total") => total = Some(value),
                _ => number = Some(value),
            }
            continue;
        }
        let lower = word.to_ascii_lowercase();
        if let Some(name) = lower.strip_suffix(':') {
            label = match name {
                "passed" => Some("passed"),
                "failed" | "failures" | "errors" => Some("failed"),
                "run" | "total" => Some("total"),
                _ => None,
            };
            number = None;
            continue;
        }
        if let Some(value) = number.take() {
            match lower.as_str() {
                "passed" | "passing" | "pass" => passed = Some(value),
                "failed" | "failing" | "failures" | "failure" | "fail" | "errors" | "error" => {
                    failed = Some(failed.unwrap_or(0).saturating_add(value));
                }
                "tests" | "examples" | "test" | "total" | "assertions" if total.is_none() && lower != "assertions" => {
                    total = Some(value);
                }
                _ => {}
            }
        }
    }
    match (passed, failed, total) {
        (Some(passed), failed, _) => Some(Counts { passed, failed: failed.unwrap_or(0) }),
        (None, Some(failed), Some(total)) => Some(Counts { passed: total.saturating_sub(failed), failed }),
        // "1 failed" alone, but not "0 errors" of a linter.
        (None, Some(failed), None) if failed > 0 && line.contains("fail") => Some(Counts { passed: 0, failed }),
        _ => None,
    }
}

/// The first line that tells an error, made short; skips counters such as `0 errors`.
pub fn first_error(output: &str) -> Option<String> {
    const STRONG: [&str; 12] = [
        "error[",
        "error:",
        "Error:",
        "ERROR",
        "--- FAIL",
        "FAILED",
        "panicked at",
        "AssertionError",
        "Exception",
        "fatal:",
        "FAIL ",
        "error TS",
    ];
    const WEAK: [&str; 9] =
        ["not found", "No such file", "cannot ", "Cannot ", "undefined", "denied", "refused", "failed", "错误"];
    let mut weak = None;
    let mut vague = None;
    // A progress line writes over itself: its last state counts.
    let lines = output.lines().map(|line| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or(line));
    for (at, line) in lines.enumerate() {
        if at > 4_000 {
            break;
        }
        let line = strip_ansi(line);
        let line = line.trim();
        if line.len() < 6 || line.len() > 2_000 {
            continue;
        }
        let is_counter = line.contains("0 error")
            || line.contains("0 failed")
            || line.contains("Errors: 0")
            || line.starts_with("Exit code");
        // A code frame (`186 | throw new Error(…)`) or a stack line shows source, not the error.
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let is_source = (digits > 0 && line[digits..].trim_start().starts_with(['|', '→'])) || line.starts_with("at ");
        if is_counter || is_source {
            continue;
        }
        if STRONG.iter().any(|mark| line.contains(mark)) {
            // "ERROR task failed" names nothing that a reader could look for.
            let names_something = line.len() > 24
                && (line.contains(['\'', '"', '`', '/', '(', '['])
                    || super::sentence::has_name(line)
                    || line.contains("!="));
            let is_runner = line.starts_with("[") && line.contains("task failed") || line.starts_with("npm ERR");
            if names_something && !is_runner {
                return tidy_error(line);
            }
            if vague.is_none() && !is_runner {
                vague = tidy_error(line);
            }
            continue;
        }
        if weak.is_none() && WEAK.iter().any(|mark| line.contains(mark)) {
            weak = Some(line.to_owned());
        }
    }
    vague.or_else(|| weak.and_then(|line| tidy_error(&line)))
}

/// Without tool tags, times and prompts before the words.
fn tidy_error(line: &str) -> Option<String> {
    let line = line.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
    let line = line.trim().trim_start_matches(['>', '|', '×', '✗', '✘', '●', '-', '*', ' ']);
    let line = crate::gate::correct::cut(line, 160);
    // A bare "error:" or "FAILED" names nothing.
    (line.chars().filter(|ch| ch.is_alphanumeric()).count() >= 8).then_some(line)
}

/// Commits named in git's own report (`[main 1a2b3c4] subject`).
pub fn commits(output: &str) -> Vec<Commit> {
    let mut found = Vec::new();
    for line in output.lines() {
        let Some(rest) = line.trim_start().strip_prefix('[') else { continue };
        let Some((inside, subject)) = rest.split_once("] ") else { continue };
        let Some((branch, hash)) = inside.rsplit_once(' ') else { continue };
        let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        // Linters and hooks print brackets too (`[build 1234567] …` has no letter a–f by luck only): a branch name holds
        // no spaces, save for git's own remarks.
        let branch = branch.trim_end_matches(" (root-commit)");
        let branch_ok = branch == "detached HEAD" || !branch.contains(' ');
        if is_hash && branch_ok && !subject.trim().is_empty() {
            found.push(Commit {
                hash: hash[..hash.len().min(10)].into(),
                branch: branch.into(),
                subject: subject.trim().into(),
            });
        }
    }
    found
}

/// Links to pull or merge requests.
pub fn pull_requests(output: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for mark in ["/pull/", "/merge_requests/"] {
        for (at, _) in output.match_indices(mark) {
            let start = output[..at].rfind("https://").unwrap_or(at);
            let digits = output[at + mark.len()..].bytes().take_while(u8::is_ascii_digit).count();
            let url = &output[start..at + mark.len() + digits];
            let plain = url.starts_with("https://")
                && digits > 0
                && !url.contains(char::is_whitespace)
                && !url.contains(['"', '<', '(']);
            if plain && !found.iter().any(|it| it == url) {
                found.push(url.to_owned());
            }
        }
    }
    found
}

/// `line` without terminal colours.
pub fn strip_ansi(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(ch) = chars.next() {
        if ch != '\u{1b}' {
            out.push(ch);
            continue;
        }
        if chars.next() == Some('[') {
            for code in chars.by_ref() {
                if code.is_ascii_alphabetic() {
                    break;
                }
            }
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_are_counted() {
        let cases = [
            (
                "test result: ok. 34 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored",
                Some((36, 1)),
            ),
            ("===== 5 passed, 1 failed, 2 warnings in 0.31s =====", Some((5, 1))),
            ("Test Suites: 1 failed, 3 passed, 4 total\nTests:       2 failed, 18 passed, 20 total", Some((18, 2))),
            (" Test Files  2 passed (2)\n      Tests  9 passed (9)", Some((9, 0))),
            ("  12 passing (30ms)\n  2 failing", Some((12, 2))),
            ("10 examples, 0 failures", Some((10, 0))),
            ("Tests run: 7, Failures: 1, Errors: 1, Skipped: 0", Some((5, 2))),
            ("Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5", Some((5, 0))),
            ("--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)\nFAIL\tpkg 0.2s", Some((1, 1))),
            ("ok  \tpkg\t0.2s", None),
            ("0 errors, 3 warnings", None),
            ("Compiling x v0.1.0", None),
        ];
        for (output, want) in cases {
            assert_eq!(test_counts(output).map(|it| (it.passed, it.failed)), want, "{output}");
        }
    }

    #[test]
    fn the_first_error_is_the_one_that_says_something() {
        let output = "Compiling x\n0 errors\n\u{1b}[31merror[E0308]\u{1b}[0m: mismatched types\n --> src/a.rs:1";
        assert_eq!(first_error(output).as_deref(), Some("error[E0308]: mismatched types"));
        assert_eq!(first_error("all good\n"), None);
        assert_eq!(first_error("<tool_use_error>File does not exist.</tool_use_error>"), None);
    }

    #[test]
    fn git_tells_commits_and_hosts_tell_pull_requests() {
        let output = "lint ok\n[fix/login 1a2b3c4] Fix the login race\n 2 files changed\n[main (root-commit) abcdef0] Start\n[INFO] Building 1234567] x";
        let got: Vec<_> =
            commits(output).into_iter().map(|it| format!("{} {} {}", it.branch, it.hash, it.subject)).collect();
        assert_eq!(got, ["fix/login 1a2b3c4 Fix the login race", "main abcdef0 Start"]);
        assert_eq!(
            pull_requests("remote: \nhttps://github.com/a/b/pull/17\n(https://github.com/a/b/pull/new/x)"),
            ["https://github.com/a/b/pull/17"]
        );
    }
}
