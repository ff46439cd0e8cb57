//! What sample memories are about: a web shop, its infrastructure, and this program. Made from a seed, so that the same
//! number of memories is the same memories everywhere.

/// A small generator of numbers that look random and never change.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Seeded.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.roll() % n.max(1) as u64) as usize
    }

    /// One of some.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A type word by the mix of real databases: half discoveries, few decisions, some types of no mode.
pub fn type_word(dice: &mut Dice) -> &'static str {
    match dice.below(1000) {
        0..500 => "discovery",
        500..700 => "feature",
        700..820 => "change",
        820..880 => "bugfix",
        880..920 => "refactor",
        920..945 => "decision",
        945..950 => "security_alert",
        950..957 => "security_note",
        957..962 => "sensitive",
        962..980 => "milestone",
        980..992 => "verification",
        _ => "progress",
    }
}

/// Things that titles are about, with the file they live in.
pub const SUBJECTS: [(&str, &str); 40] = [
    ("refresh tokens", "src/auth/refresh.ts"),
    ("the SSE stream guards", "src/auth/stream.ts"),
    ("login rate limits", "src/auth/limit.ts"),
    ("password reset links", "src/auth/reset.ts"),
    ("the session stores", "src/auth/session.ts"),
    ("audit events", "src/audit/events.ts"),
    ("the job queues", "src/queue/worker.ts"),
    ("poisoned jobs", "src/queue/breaker.ts"),
    ("queue metrics", "src/queue/metrics.ts"),
    ("webhook retries", "src/hooks/deliver.ts"),
    ("the checkout forms", "src/shop/checkout.tsx"),
    ("cart totals", "src/shop/cart.ts"),
    ("currency roundings", "src/shop/money.ts"),
    ("product searches", "src/search/index.ts"),
    ("search facets", "src/search/facets.ts"),
    ("image thumbnails", "src/media/thumbs.ts"),
    ("the CDN cache keys", "src/media/cdn.ts"),
    ("database migrations", "db/migrate.ts"),
    ("the order tables", "db/schema/orders.sql"),
    ("connection pools", "db/pool.ts"),
    ("SQLite busy timeouts", "db/sqlite.ts"),
    ("the CI images", ".ci/Dockerfile"),
    ("flaky Playwright tests", "tests/e2e/login.spec.ts"),
    ("test fixtures", "tests/fixtures/users.ts"),
    ("the type checkers", "tsconfig.json"),
    ("Storybook builds", ".storybook/main.ts"),
    ("dropdown focus traps", "packages/ui/Dropdown.tsx"),
    ("the dark themes", "packages/ui/theme.ts"),
    ("keyboard shortcuts", "packages/ui/keys.ts"),
    ("date formats", "packages/i18n/dates.ts"),
    ("translated plurals", "packages/i18n/plurals.ts"),
    ("feature flags", "src/flags.ts"),
    ("error reports", "src/observability/errors.ts"),
    ("trace samples", "src/observability/trace.ts"),
    ("log filters", "src/observability/redact.ts"),
    ("health checks", "ops/health.ts"),
    ("the deploy scripts", "ops/deploy.sh"),
    ("Terraform states", "infra/state.tf"),
    ("certificate renewals", "infra/certs.tf"),
    ("backup restores", "ops/restore.md"),
];

/// How a title of a type begins and ends; `{}` is the subject.
pub fn phrases(type_word: &str) -> &'static [(&'static str, &'static str)] {
    match type_word {
        "bugfix" => &[
            ("Race in {} fixed: rotation holds a row lock now", "Two requests could both take the old value."),
            ("{} are no longer lost after a restart", "The confirmation ran before the commit."),
            ("Off-by-one in {} fixed", "The last page was never asked for."),
            ("Crash in {} on empty input fixed", "A guard at the boundary, and a test that names it."),
        ],
        "feature" => &[
            ("Added {} to the public API", "Documented, with limits and an example."),
            ("{} can be switched off per customer", "A flag with a default that changes nothing."),
            ("New page for {}", "Server-rendered, works without scripts."),
            ("Batch import for {}", "A thousand rows a second, resumable."),
        ],
        "refactor" => &[
            ("{} split into a pure core and a thin shell", "The core has no clock and no I/O."),
            ("Moved {} to its own package", "Imports go one way now."),
        ],
        "change" => &[
            ("Documented how {} work locally", "Three commands, tried on an empty machine."),
            ("Raised the timeout for {}", "From 5 to 15 seconds, measured first."),
            ("Updated the dependencies of {}", "Two majors, no behaviour changed."),
        ],
        "decision" => &[
            ("Chose SQLite over a broker for {}", "One process, no operations, enough for ten times the load."),
            ("Keep {} as they are; raise the instance size instead", "Rewriting would take three weeks."),
            ("No JSON web tokens for {}: opaque and revocable", "Logout has to mean logout."),
        ],
        "security_alert" => &[("{} wrote a secret to the worker's log", "Rotated; the log line is gone.")],
        "security_note" => &[("{} keep client addresses", "Thirty days, then hashed.")],
        "sensitive" => &[("Staging {} run on a private address", "Not reachable from outside.")],
        "milestone" => &[("{} shipped to all customers", "Ten percent at a time, no alarms.")],
        "verification" => &[("All 212 tests of {} pass", "Twice, on both runners.")],
        "progress" => &[("Halfway through {}", "Three of six call sites moved.")],
        _ => &[
            ("{} are checked twice per request", "Once in the middleware and once in the router."),
            ("{} have no index on the lookup column", "Every request scans the table: 1.8 ms each."),
            ("Why {} were slow on the small instance", "The hash cost 240 ms of CPU."),
            ("{} keep their own retry timer", "It never resets, so the delay only grows."),
            ("Where {} are configured, and what overrides what", "File, then environment, then flags."),
            ("A clock skew in CI explains the failures of {}", "The image pinned no time zone data."),
        ],
    }
}

/// Titles in other scripts, with emoji and right-to-left text: one in twenty.
pub const WIDE: [&str; 8] = [
    "支付回调失败后会重试三次，第四次进入死信队列",
    "リフレッシュトークンの競合を修正し、行ロックで直列化",
    "결제 웹훅 서명 검증이 두 번 실행되던 문제",
    "🦀 Grantで取得したトークンは五分で失効する",
    "Deploy gate 👩‍👩‍👧 approved by two people before a release 🇩🇪",
    "עברית בכותרת: בדיקת כיווניות בתוך שורה אחת",
    "تحديث شهادة الخادم قبل انتهاء صلاحيتها",
    "Ångström naïve café: accents typed as e\u{301} match é",
];

/// Text that attacks a terminal: one in a thousand.
pub const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}txet desrever\u{2066} quoted from a log";

/// Facts.
pub const FACTS: [&str; 12] = [
    "streamAuth() calls verify() before the router does",
    "Two SELECTs on tokens per connect, 1.8 ms each",
    "Removing the first call keeps the 401 behaviour",
    "The limit is 5 per minute and address, then 429 with Retry-After",
    "bcrypt cost 12 takes 240 ms on the small instance, 80 ms on the large one",
    "The worker claims a row, runs it, and confirms after the commit",
    "`PRAGMA busy_timeout` is per connection, not per database",
    "The image is 412 MB, 160 MB of it the browser",
    "A retry carries the same idempotency key",
    "The migration holds an exclusive lock for 1.2 s at 10 million rows",
    "tests/e2e runs in 3m40s, of which 2m10s are type checking",
    "The cache key includes the locale but not the currency",
];

/// Sentences of narratives.
pub const STORY: [&str; 10] = [
    "Reading the router showed that the guard runs for every chunk of the stream, not once for the connection.",
    "The first idea was a cache in front of the store; it was dropped because a revoked token would live on in it.",
    "A failing test came first: two clients refresh at the same instant, and one of them has to lose.",
    "The profile says that nearly all of the time goes into hashing, so the query was left alone.",
    "The user asked for the smallest change that stops the bleeding, and for a note on what is left to do.",
    "It worked locally because the development image pins `tzdata`, which the CI image does not.",
    "Three call sites build the key by hand; they use the helper now, and a lint keeps it that way.",
    "The old behaviour is kept behind a flag until the end of the quarter.",
    "Measured before and after on the same machine: 310 ms at the 95th percentile came down to 42 ms.",
    "What surprised was the retry timer: it is stored in the job, so a restart does not reset it.",
];

/// Session titles.
pub const SESSIONS: [&str; 16] = [
    "Login hardening",
    "UI polish",
    "Queue migration",
    "Checkout in one page",
    "Search facets",
    "Flaky tests",
    "Smaller CI image",
    "Audit trail",
    "Currency rounding",
    "Deploy without downtime",
    "Restore drill",
    "Dark theme",
    "Webhook retries",
    "Type checking in parallel",
    "Certificates",
    "Trace sampling",
];

/// Last words of a session.
pub const LAST_WORDS: [&str; 8] = [
    "now add the retention job for audit events",
    "ship it",
    "write docs/queue.md and stop there",
    "why does the second run pass?",
    "leave the flag off for now",
    "run the tests again, both runners",
    "commit with a message that says why",
    "what is left to do?",
];
