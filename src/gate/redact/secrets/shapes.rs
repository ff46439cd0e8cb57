//! Tokens known by their prefix.

use super::Secret;

/// A family of tokens.
pub(super) struct Shape {
    /// How they begin; letter case counts.
    pub(super) prefix: &'static str,
    body: Class,
    /// Fewest and most characters behind the prefix.
    length: (usize, usize),
    label: &'static str,
    /// Digits and letters are both needed, since the prefix alone says little.
    mixed: bool,
}

/// Which characters a token's body has.
#[derive(Clone, Copy)]
enum Class {
    /// Letters and digits.
    Alnum,
    /// Upper-case letters and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Those and `.`, for tokens in parts.
    Parts,
    /// Those and `/`, for paths of web hooks.
    Path,
}

impl Class {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Parts => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'),
        }
    }
}

const MANY: usize = 4_096;

const fn shape(prefix: &'static str, body: Class, length: (usize, usize), label: &'static str) -> Shape {
    Shape { prefix, body, length, label, mixed: false }
}

const fn mixed(prefix: &'static str, body: Class, length: (usize, usize), label: &'static str) -> Shape {
    Shape { prefix, body, length, label, mixed: true }
}

#[rustfmt::skip]
pub(super) const SHAPES: &[Shape] = &[
    shape("AKIA", Class::Upper, (16, 16), "aws-key"),
    shape("ASIA", Class::Upper, (16, 16), "aws-key"),
    shape("ABIA", Class::Upper, (16, 16), "aws-key"),
    shape("ACCA", Class::Upper, (16, 16), "aws-key"),
    shape("ghp_", Class::Alnum, (20, MANY), "github-token"),
    shape("gho_", Class::Alnum, (20, MANY), "github-token"),
    shape("ghu_", Class::Alnum, (20, MANY), "github-token"),
    shape("ghs_", Class::Alnum, (20, MANY), "github-token"),
    shape("ghr_", Class::Alnum, (20, MANY), "github-token"),
    shape("github_pat_", Class::Word, (20, MANY), "github-token"),
    shape("glpat-", Class::Parts, (16, MANY), "gitlab-token"),
    shape("gldt-", Class::Word, (16, MANY), "gitlab-token"),
    shape("glrt-", Class::Parts, (16, MANY), "gitlab-token"),
    shape("glcbt-", Class::Word, (16, MANY), "gitlab-token"),
    shape("glptt-", Class::Word, (16, MANY), "gitlab-token"),
    shape("glft-", Class::Word, (16, MANY), "gitlab-token"),
    shape("glsoat-", Class::Word, (16, MANY), "gitlab-token"),
    shape("glagent-", Class::Word, (16, MANY), "gitlab-token"),
    shape("xoxb-", Class::Word, (10, MANY), "slack-token"),
    shape("xoxp-", Class::Word, (10, MANY), "slack-token"),
    shape("xoxa-", Class::Word, (10, MANY), "slack-token"),
    shape("xoxr-", Class::Word, (10, MANY), "slack-token"),
    shape("xoxs-", Class::Word, (10, MANY), "slack-token"),
    shape("xoxe-", Class::Word, (10, MANY), "slack-token"),
    shape("xoxe.xox", Class::Parts, (10, MANY), "slack-token"),
    shape("xapp-", Class::Word, (10, MANY), "slack-token"),
    shape("hooks.slack.com/services/", Class::Path, (20, MANY), "slack-webhook"),
    shape("discord.com/api/webhooks/", Class::Path, (40, MANY), "discord-webhook"),
    shape("sk_live_", Class::Alnum, (16, MANY), "stripe-key"),
    shape("sk_test_", Class::Alnum, (16, MANY), "stripe-key"),
    shape("rk_live_", Class::Alnum, (16, MANY), "stripe-key"),
    shape("rk_test_", Class::Alnum, (16, MANY), "stripe-key"),
    shape("whsec_", Class::Alnum, (16, MANY), "stripe-key"),
    shape("sk-ant-", Class::Word, (16, MANY), "anthropic-key"),
    shape("sk-proj-", Class::Word, (20, MANY), "openai-key"),
    shape("sk-svcacct-", Class::Word, (20, MANY), "openai-key"),
    shape("sk-admin-", Class::Word, (20, MANY), "openai-key"),
    shape("sk-or-v1-", Class::Hex, (32, MANY), "api-key"),
    mixed("sk-", Class::Alnum, (20, MANY), "openai-key"),
    shape("npm_", Class::Alnum, (36, MANY), "npm-token"),
    shape("pypi-AgE", Class::Word, (40, MANY), "pypi-token"),
    shape("AIza", Class::Word, (35, 35), "google-key"),
    shape("ya29.", Class::Parts, (20, MANY), "google-token"),
    shape("GOCSPX-", Class::Word, (20, MANY), "google-key"),
    mixed("hf_", Class::Alnum, (30, MANY), "huggingface-token"),
    mixed("r8_", Class::Alnum, (30, MANY), "replicate-token"),
    mixed("gsk_", Class::Alnum, (40, MANY), "groq-key"),
    mixed("xai-", Class::Alnum, (40, MANY), "xai-key"),
    mixed("pplx-", Class::Alnum, (32, MANY), "perplexity-key"),
    shape("dop_v1_", Class::Hex, (32, MANY), "digitalocean-token"),
    shape("doo_v1_", Class::Hex, (32, MANY), "digitalocean-token"),
    shape("dor_v1_", Class::Hex, (32, MANY), "digitalocean-token"),
    shape("dapi", Class::Hex, (32, 32), "databricks-token"),
    shape("dckr_pat_", Class::Word, (20, MANY), "docker-token"),
    mixed("SG.", Class::Parts, (40, MANY), "sendgrid-key"),
    shape("shpat_", Class::Hex, (32, MANY), "shopify-token"),
    shape("shpca_", Class::Hex, (32, MANY), "shopify-token"),
    shape("shppa_", Class::Hex, (32, MANY), "shopify-token"),
    shape("shpss_", Class::Hex, (32, MANY), "shopify-token"),
    shape("lin_api_", Class::Alnum, (32, MANY), "linear-key"),
    mixed("ntn_", Class::Alnum, (40, MANY), "notion-token"),
    shape("figd_", Class::Word, (32, MANY), "figma-token"),
    shape("dp.pt.", Class::Alnum, (32, MANY), "doppler-token"),
    mixed("hvs.", Class::Word, (24, MANY), "vault-token"),
    mixed("hvb.", Class::Word, (24, MANY), "vault-token"),
    shape("AGE-SECRET-KEY-1", Class::Upper, (40, MANY), "age-key"),
    shape("sbp_", Class::Hex, (40, MANY), "supabase-token"),
    shape("sb_secret_", Class::Word, (20, MANY), "supabase-token"),
    shape("glsa_", Class::Word, (32, MANY), "grafana-token"),
    mixed("glc_", Class::Word, (32, MANY), "grafana-token"),
    shape("pscale_tkn_", Class::Parts, (32, MANY), "planetscale-token"),
    shape("pscale_pw_", Class::Parts, (32, MANY), "planetscale-token"),
    shape("PMAK-", Class::Word, (30, MANY), "postman-key"),
    shape("rubygems_", Class::Hex, (40, MANY), "rubygems-key"),
    shape("tskey-", Class::Word, (20, MANY), "tailscale-key"),
    shape("sntrys_", Class::Parts, (40, MANY), "sentry-token"),
    shape("sntryu_", Class::Hex, (40, MANY), "sentry-token"),
    shape("ATATT3", Class::Word, (40, MANY), "atlassian-token"),
    shape("sq0csp-", Class::Word, (22, MANY), "square-token"),
    shape("NRAK-", Class::Upper, (27, MANY), "newrelic-key"),
    mixed("ops_eyJ", Class::Word, (40, MANY), "onepassword-token"),
    mixed("eyJ", Class::Parts, (30, MANY * 4), "jwt"),
];

/// The token at `start`, if it is one.
pub(super) fn read(text: &str, start: usize, shape: usize) -> Option<Secret> {
    let shape = &SHAPES[shape];
    let bytes = text.as_bytes();
    // The automaton does not look at letter case, and a token does not begin inside a word.
    if !text[start..].starts_with(shape.prefix)
        || (start > 0 && in_word(bytes[start - 1]) && !after_escape(bytes, start))
    {
        return None;
    }
    let from = start + shape.prefix.len();
    let mut length = bytes[from..].iter().take(MANY * 4).take_while(|byte| shape.body.holds(**byte)).count();
    let (fewest, most) = shape.length;
    if shape.label == "jwt" {
        length = jwt_length(&text[from..from + length])?;
    }
    if length < fewest || length > most {
        return None;
    }
    // A sentence may end behind a token that may hold dots.
    let body = text[from..from + length].trim_end_matches(['.', '-', '_']);
    if shape.mixed && !(body.bytes().any(|b| b.is_ascii_digit()) && body.bytes().any(|b| b.is_ascii_alphabetic())) {
        return None;
    }
    Some(Secret { range: start..from + body.len(), label: shape.label })
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Behind `\n` or `\t` written out, as in quoted output.
fn after_escape(bytes: &[u8], start: usize) -> bool {
    start >= 2 && bytes[start - 2] == b'\\' && matches!(bytes[start - 1], b'n' | b't' | b'r')
}

/// Header, payload, signature; the first two are JSON objects, and so begin alike.
fn jwt_length(body: &str) -> Option<usize> {
    let (header, rest) = body.split_once('.')?;
    let payload = rest.split('.').next()?;
    if header.len() < 10 || !payload.starts_with("eyJ") || payload.len() < 10 {
        return None;
    }
    let signature =
        rest[payload.len()..].strip_prefix('.').map_or(0, |rest| 1 + rest.split('.').next().map_or(0, str::len));
    Some(header.len() + 1 + payload.len() + signature)
}
