//! Each kind of secret and its opposite: what must go, and what must stay. Tokens are put together at run time, so
//! that this file itself holds none that a scanner would report.

use proptest::prelude::*;

use super::*;

fn cleaned(text: &str) -> String {
    clean(text).into_owned()
}

/// `prefix` followed by `length` signs that look like a token's.
fn token(prefix: &str, length: usize) -> String {
    let body: String = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY".chars().cycle().take(length).collect();
    format!("{prefix}{body}")
}

fn upper(prefix: &str, length: usize) -> String {
    token(prefix, length).to_uppercase()
}

fn hex(prefix: &str, length: usize) -> String {
    format!("{prefix}{}", "0a1b2c3d4e5f6789".chars().cycle().take(length).collect::<String>())
}

#[test]
fn a097_tokens_of_known_shapes_are_masked_wherever_they_stand() {
    let jwt = format!("{}.{}.{}", token("eyJ", 30), token("eyJ", 60), token("", 43));
    let tokens = [
        ("AKIAIOSFODNN7EXAMPLE".to_owned(), "aws-key"),
        (upper("ASIA", 16), "aws-key"),
        (token("ghp_", 36), "github-token"),
        (token("ghs_", 36), "github-token"),
        (token("github_pat_", 82), "github-token"),
        (token("glpat-", 20), "gitlab-token"),
        (format!("xoxb-{}-{}", "123456789012", token("", 24)), "slack-token"),
        (token("xapp-1-", 40), "slack-token"),
        (token("sk_live_", 24), "stripe-key"),
        (token("rk_test_", 24), "stripe-key"),
        (token("whsec_", 32), "stripe-key"),
        (token("sk-", 48), "openai-key"),
        (token("sk-proj-", 64), "openai-key"),
        (token("sk-ant-api03-", 93), "anthropic-key"),
        (token("npm_", 36), "npm-token"),
        (token("pypi-AgEIcHlwaS5vcmc", 70), "pypi-token"),
        (token("AIza", 35), "google-key"),
        (token("hf_", 34), "huggingface-token"),
        (hex("dop_v1_", 64), "digitalocean-token"),
        (hex("shpat_", 32), "shopify-token"),
        (jwt, "jwt"),
    ];
    for (token, label) in &tokens {
        let mark = format!("[masked:{label}]");
        for text in [
            format!("{token} M1"),
            format!("key is {token}."),
            format!("({token})"),
            format!("\"{token}\","),
            format!("line one\n{token}\nline three"),
            format!("printed\\n{token}\\n"),
            format!("钥匙是{token}。"),
        ] {
            let out = cleaned(&text);
            assert!(!out.contains(&token[4..]), "{label} stays in {text:?}: {out:?}");
            assert!(out.contains(&mark), "{text:?}: {out:?}");
            assert_eq!(out, text.replace(token.as_str(), &mark));
            assert_eq!(cleaned(&out), out, "cleaning again changes nothing");
        }
    }
    assert_eq!(cleaned("AKIAIOSFODNN7EXAMPLE M1"), "[masked:aws-key] M1");
}

#[test]
fn a097_key_blocks_go_whole() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n".repeat(5);
    let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
    assert_eq!(cleaned(&format!("a\n{begin}\n{body}{end}\nM2")), "a\n[masked:private-key]\nM2");
    let escaped = format!("{{\"private_key\": \"{begin}\\n{}{end}\\n\"}}", body.replace('\n', "\\n"));
    assert!(!cleaned(&escaped).contains("MIIEvQ"), "{}", cleaned(&escaped));
    // The end was cut off; numbered lines, as a file is shown.
    let numbered: String =
        format!("{begin}\n{body}").lines().enumerate().map(|(n, l)| format!("{:>6}→{l}\n", n + 1)).collect();
    let out = cleaned(&format!("{numbered}\nwhat follows stays"));
    assert!(!out.contains("MIIEvQ") && out.contains("what follows stays"), "{out}");
    // Code that looks for such blocks keeps its line.
    let code = "if text.startswith('-----BEGIN PRIVATE KEY-----'): return parse(text)";
    assert_eq!(cleaned(code), code);
}

#[test]
fn a097_assigned_secrets_are_masked() {
    let random = token("", 32);
    let cases = [
        ("PASSWORD=hunter2", "PASSWORD=[masked:password]"),
        ("export DB_PASSWORD=correct-horse!battery(9)", "export DB_PASSWORD=[masked:password]"),
        ("password: hunter2", "password: [masked:password]"),
        ("  password: correcthorse\n", "  password: [masked:password]\n"),
        ("password = \"hunter2\"", "password = \"[masked:password]\""),
        ("{\"password\": \"hunter2\", \"user\": \"u\"}", "{\"password\": \"[masked:password]\", \"user\": \"u\"}"),
        ("{\\\"password\\\":\\\"hunter2\\\"}", "{\\\"password\\\":\\\"[masked:password]\\\"}"),
        ("config['api_key'] = 'abc123'", "config['api_key'] = '[masked:key]'"),
        ("const clientSecret: string = 'x9!kkq'", "const clientSecret: string = '[masked:secret]'"),
        ("let password = b\"hunter2\";", "let password = b\"[masked:password]\";"),
        (
            "psql \"host=db user=u password=hunter2 dbname=x\"",
            "psql \"host=db user=u password=[masked:password] dbname=x\"",
        ),
        ("login?user=u&password=hunter2&next=x", "login?user=u&password=[masked:password]&next=x"),
        ("Server=db;User Id=u;Pwd=hunter2;", "Server=db;User Id=u;Pwd=[masked:password];"),
        ("tool --password hunter2 --verbose", "tool --password [masked:password] --verbose"),
        ("x-api-key: 0011aabb", "x-api-key: [masked:key]"),
        ("Authorization: Basic dXNlcjpodW50ZXIy", "Authorization: Basic [masked:authorization]"),
        ("-H 'Authorization: Bearer abc123def456'", "-H 'Authorization: Bearer [masked:authorization]'"),
        ("{\"Authorization\": \"token 0a1b2c3d4e\"}", "{\"Authorization\": \"token [masked:authorization]\"}"),
        ("Set-Cookie: sid=0a1b2c3d4e; Path=/", "Set-Cookie: [masked:cookie]"),
        ("curl -s -u admin:hunter2 https://x.example/", "curl -s -u admin:[masked:password] https://x.example/"),
        ("postgres://u:hunter2@db.example:5432/app", "postgres://u:[masked:password]@db.example:5432/app"),
        ("redis://:hunter2@cache:6379", "redis://:[masked:password]@cache:6379"),
        ("mongodb+srv://u:p%40ss@c.example/x?y=z", "mongodb+srv://u:[masked:password]@c.example/x?y=z"),
        (
            "https://x-access-token:abc123@git.example/r.git",
            "https://x-access-token:[masked:password]@git.example/r.git",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(cleaned(text), expected);
        assert_eq!(cleaned(expected), expected, "cleaning again changes nothing");
    }
    for text in [format!("API_TOKEN={random}"), format!("token: {random}"), format!("aws_secret_access_key = {random}")]
    {
        assert!(!cleaned(&text).contains(&random), "{text}");
    }
    let azure = format!("AccountName=x;AccountKey={random}==;EndpointSuffix=y");
    assert_eq!(cleaned(&azure), "AccountName=x;AccountKey=[masked:key];EndpointSuffix=y");
    // A known shape behind a name keeps its better label.
    assert_eq!(cleaned(&format!("GITHUB_TOKEN={}", token("ghp_", 36))), "GITHUB_TOKEN=[masked:github-token]");
}

#[test]
fn what_only_looks_long_or_named_like_a_secret_stays() {
    let texts = [
        // Hashes, ids, identifiers.
        "commit 9c8bc50aa31c0f5e7d5b6d0e0f6f6a4f1c2d3e4b",
        "sha256:9c8bc50aa31c0f5e7d5b6d0e0f6f6a4f1c2d3e4b9c8bc50aa31c0f5e7d5b6d0e",
        "550e8400-e29b-41d4-a716-446655440000",
        "cache_key = \"9c8bc50aa31c0f5e7d5b6d0e0f6f6a4f1c2d3e4b\"",
        "primary_key: 550e8400-e29b-41d4-a716-446655440000",
        "toolu_01A09q90qw90lq917835lq9",
        "integrity sha512-Fx7oN8Yb0P8aX0b3vJ0QmJkq2Z4w5c6d7e8f9g0h1i2j3k4l5m6n7o8p9q0r==",
        "pub fn refresh_token_when_it_is_about_to_expire_in_the_background() {}",
        "sort_key: created_at_descending_then_identifier",
        // Code.
        "let password = get_password();",
        "connect(password=password, token=token)",
        "password=settings.db.password",
        "password: String,",
        "    password: str",
        "    password: SecretString",
        "password: Option<String>,",
        "const token = await getToken(user);",
        "if password == other.password { }",
        "api_key = os.environ[\"API_KEY\"]",
        "apiKey: process.env.API_KEY",
        "def login(user, password): pass",
        "use crate::auth::token::Token;",
        "--password-file ./secrets.txt",
        "password_hash VARCHAR(255) NOT NULL",
        "SECRET_KEY = config(\"SECRET_KEY\")",
        // Placeholders.
        "PASSWORD=$DB_PASSWORD",
        "password: ${{ secrets.PASSWORD }}",
        "API_KEY=<your key>",
        "API_KEY=your-api-key-here",
        "password = \"********\"",
        "postgres://user:$PASS@db/app",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        // Prose and labels.
        "The password must have eight characters; the secret is to write one down.",
        "tokens: 48211, total_tokens: 120",
        "{\"password\": \"Password\", \"hint\": \"Enter your password\"}",
        "{\"label.password\": \"New password\"}",
        "Passed 3 tests, 1 passing, compass: north",
        "PWD=/home/dev/projects/app",
        "OLDPWD=/w/alpha",
        "Bearer of good news",
        "the cookie: a small biscuit",
        "see https://example.com/a?b=c and http://localhost:8080/x@y",
        "git@github.com:owner/repo.git",
        "sk-learn and sk-image are packages",
        "task-runner risk-averse desk-lamp",
        "the key: a good index",
    ];
    for text in texts {
        assert_eq!(cleaned(text), text);
        assert!(matches!(clean(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn a093_private_regions_go_before_everything_else() {
    assert_eq!(cleaned("deploy <private>pw=hunter2</private> now"), "deploy  now");
    let mut found = Found::default();
    let text = format!("<private>{}</private>x", token("ghp_", 36));
    assert_eq!(clean_to(&text, 100, &mut found), "x");
    assert_eq!((found.private, found.secrets), (1, 0));
}

#[test]
fn json_is_cleaned_string_by_string() {
    let json = |text: &str| clean_json(text, 100, &mut Found::default()).into_owned();
    // From the write-path vectors; claude-mem lets the tag reach over fields and loses keys. The opening one here
    // hides the rest of its own string only.
    assert_eq!(
        json(r#"{"a":"open <private> here","b":"kept","c":"close </private> there"}"#),
        r#"{"a":"open","b":"kept","c":"close </private> there"}"#
    );
    assert_eq!(json(r#"{"a":"keep <private>drop</private> keep"}"#), r#"{"a":"keep  keep"}"#);
    // Order, numbers and space stay; the name of a field counts; lists too.
    assert_eq!(
        json(r#"{ "z": 1.50, "password" : "correct horse", "env":{"API_KEY":"abc"}, "a": ["x","y"] }"#),
        r#"{ "z": 1.50, "password" : "[masked:secret]", "env":{"API_KEY":"[masked:secret]"}, "a": ["x","y"] }"#
    );
    assert_eq!(json(r#"{"secrets":"x","secret":"hunter2"}"#), r#"{"secrets":"x","secret":"[masked:secret]"}"#);
    // Escapes are read before looking and written after.
    assert_eq!(json(r#"{"a":"x \u003cprivate\u003esecret\u003c/private\u003e \"y\"\n"}"#), r#"{"a":"x  \"y\""}"#);
    assert_eq!(json(r#"{"command":"echo AKIAIOSFODNN7EXAMPLE"}"#), r#"{"command":"echo [masked:aws-key]"}"#);
    // A long string is cut, the JSON around it stays whole.
    let out = json(&format!(r#"{{"content":"{}","n":2}}"#, "é ".repeat(200)));
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(value["content"].as_str().unwrap().contains("characters left out") && value["n"] == 2);
    // Damaged JSON is cleaned as far as it goes.
    assert_eq!(json(r#"{"a":"AKIAIOSFODNN7EXAMPLE"#), r#"{"a":"[masked:aws-key]""#);
    assert_eq!(json(r#"{"a":"\ud83d AKIAIOSFODNN7EXAMPLE"}"#), r#"{"a":"\\ud83d [masked:aws-key]"}"#);
}

#[test]
fn json_that_needs_nothing_is_not_copied() {
    for text in [r#"{"file_path":"/w/a.rs","old":"x\ty","n":[1,2.50,null]}"#, "{}", "", "\"", "{\"a\\"] {
        assert!(matches!(clean_json(text, 1_000, &mut Found::default()), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn long_fields_lose_their_middle() {
    let text = format!("BEGIN {} END", "word ".repeat(10_000));
    let out = cleaned(&text);
    let chars = text.chars().count();
    assert!(out.starts_with("BEGIN word") && out.ends_with("word  END"));
    assert!(out.contains(&format!("[… {} characters left out …]", chars - 9_600 - 4_800)));
    assert_eq!(cleaned(&"x y ".repeat(4_000)), "x y ".repeat(4_000), "16,000 characters are kept");
}

#[test]
fn a_secret_over_the_cut_leaves_no_half_behind() {
    let secret = token("ghp_", 36);
    for at in [9_560, 9_570, 9_580, 9_590, 9_599] {
        let text = format!("{} {secret} {}", "a ".repeat(at / 2), "b ".repeat(10_000));
        assert!(!cleaned(&text).contains("aB3dE5"), "{at}");
    }
}

proptest! {
    #[test]
    fn any_text_is_cleaned_without_panic_and_cleaning_again_adds_nothing(
        text in "(?s)([ -~é支🦀\n]{0,12}(<private>|</private>|<system-reminder>|password=|\"api_key\": \"|AKIA|Bearer |://u:p@|-----BEGIN X-----|cookie:|curl -u |eyJ)?){0,12}"
    ) {
        let once = cleaned(&text);
        prop_assert!(!once.contains("AKIAIOSFODNN7EXAMPLE"));
        let _ = cleaned(&once);
        let _ = clean_json(&text, 50, &mut Found::default());
        let quoted = serde_json::to_string(&text).unwrap();
        let json = clean_json(&quoted, 1_000, &mut Found::default()).into_owned();
        prop_assert!(serde_json::from_str::<String>(&json).is_ok());
    }

    #[test]
    fn a_planted_token_never_survives(before in "[ -~\n支]{0,80}", after in "[^A-Z0-9][ -~\n]{0,80}") {
        let text = format!("{before} AKIAIOSFODNN7EXAMPLE{after}");
        prop_assert!(!cleaned(&text).contains("AKIAIOSFODNN7EXAMPLE"), "{}", cleaned(&text));
    }
}
