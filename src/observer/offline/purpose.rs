//! What a command is for, by its name and first words.

use crate::gate::evidence::Program;

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Runs tests.
    Test,
    /// Builds, checks types, lints, formats.
    Build,
    /// Installs or updates packages.
    Install,
    /// Publishes, deploys, tags a release.
    Release,
    /// Everything else that may do something.
    Other,
    /// Only looks.
    Look,
}

/// What a program is run for, by its name and first words.
pub fn purpose_of(program: &Program) -> Purpose {
    let (name, first, second) = (program.name(), program.word(1), program.word(2));
    let any = |verbs: &[&str]| program.words.iter().skip(1).take(4).any(|word| verbs.iter().any(|verb| word == verb));
    let script = |word: &str| {
        let word = word.trim_start_matches("run:");
        if word.starts_with("test")
            || word.ends_with("test")
            || word.contains("test:")
            || word.starts_with("e2e")
            || word == "spec"
        {
            Some(Purpose::Test)
        } else if ["build", "lint", "check", "typecheck", "type-check", "tsc", "fmt", "format", "compile", "vet"]
            .iter()
            .any(|it| word.starts_with(it))
        {
            Some(Purpose::Build)
        } else if ["publish", "deploy", "release"].iter().any(|it| word.starts_with(it)) {
            Some(Purpose::Release)
        } else {
            None
        }
    };
    match name {
        "cargo" => match first {
            "test" | "nextest" | "t" => Purpose::Test,
            "build" | "check" | "clippy" | "fmt" | "b" | "c" | "doc" => Purpose::Build,
            "add" | "install" | "update" | "remove" => Purpose::Install,
            "publish" => Purpose::Release,
            "run" | "bench" => Purpose::Other,
            _ => Purpose::Look,
        },
        "go" => match first {
            "test" => Purpose::Test,
            "build" | "vet" | "fmt" => Purpose::Build,
            "get" | "install" | "mod" => Purpose::Install,
            _ => Purpose::Other,
        },
        "npm" | "pnpm" | "yarn" | "bun" | "deno" => {
            let skip =
                program.words.iter().skip(1).find(|word| !word.starts_with('-') && *word != "run" && *word != "exec");
            let verb = skip.map_or("", String::as_str);
            match verb {
                "i" | "install" | "add" | "ci" | "update" | "upgrade" | "remove" => Purpose::Install,
                _ => program.words.iter().skip(1).find_map(|word| script(word)).unwrap_or(Purpose::Other),
            }
        }
        "pip" | "pip3" | "uv" | "poetry" | "brew" | "apt" | "apt-get" | "gem" | "bundle" | "composer" | "conda" => {
            if any(&["install", "add", "sync", "upgrade", "update"]) {
                Purpose::Install
            } else if any(&["pytest", "test"]) {
                Purpose::Test
            } else {
                Purpose::Other
            }
        }
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" | "ctest" | "tox" | "playwright" | "cypress" => {
            Purpose::Test
        }
        "python" | "python3" if first == "-m" && matches!(second, "pytest" | "unittest") => Purpose::Test,
        "npx" | "bunx" | "pnpx" => match first {
            "jest" | "vitest" | "mocha" | "playwright" | "cypress" => Purpose::Test,
            _ => script(first)
                .or_else(|| matches!(first, "tsc" | "eslint" | "biome" | "prettier").then_some(Purpose::Build))
                .unwrap_or(Purpose::Other),
        },
        "tsc" | "eslint" | "ruff" | "mypy" | "flake8" | "golangci-lint" | "prettier" | "biome" | "rustfmt"
        | "gofmt" | "black" | "shellcheck" | "cmake" | "ninja" | "clang-tidy" | "pyright" => Purpose::Build,
        "make" | "just" | "mise" | "task" | "gradle" | "./gradlew" | "gradlew" | "mvn" | "mix" | "dotnet" | "swift"
        | "bazel" | "rake" | "xcodebuild" => {
            program.words.iter().skip(1).find_map(|word| script(word)).unwrap_or(Purpose::Build)
        }
        "git" => match first {
            "tag" if program.operands().count() > 1 && !any(&["-l", "--list", "-d"]) => Purpose::Release,
            "merge" | "rebase" | "cherry-pick" | "revert" | "reset" | "checkout" | "switch" | "stash" | "restore"
            | "clean" => Purpose::Other,
            _ => Purpose::Look,
        },
        "gh" => match (first, second) {
            ("release", "create") | ("workflow", "run") => Purpose::Release,
            ("pr" | "issue", "create" | "merge" | "close" | "edit") => Purpose::Other,
            _ => Purpose::Look,
        },
        "docker" | "kubectl" | "terraform" | "helm" | "fly" | "flyctl" | "vercel" | "wrangler" | "heroku"
        | "gcloud" | "aws" => {
            if any(&["deploy", "push", "apply", "upgrade", "publish"]) {
                Purpose::Release
            } else {
                Purpose::Other
            }
        }
        _ if program.redirects => Purpose::Other,
        _ if matches!(name, "mv" | "cp" | "rm" | "mkdir" | "touch" | "chmod" | "ln") => Purpose::Other,
        _ if name.ends_with("test") || name.ends_with("tests.sh") || name.ends_with("test.sh") => Purpose::Test,
        "python" | "python3" | "node" | "ruby" | "sh" | "bash" | "deno-run" | "psql" | "sqlite3" | "mysql" => {
            Purpose::Other
        }
        _ if name.starts_with("./") || program.word(0).contains('/') => Purpose::Other,
        _ => Purpose::Look,
    }
}
