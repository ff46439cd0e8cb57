//! What the tools take. The schemas a client sees are made from these types (A110), so that they cannot differ from
//! what is read; an argument that is not here is refused by name instead of being passed over.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Deserializer};

/// Arguments of `search`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchArgs {
    /// What to find: words in any order, "a phrase", -not, a | b. Filters may stand in it: type:bugfix,
    /// concept:gotcha, file:src/auth/**, since:7d, until:2026-03-01, session:ID, kind:sum. `*` gives the newest.
    pub query: String,
    /// Project: its name or the path of its root; `*` for all. Left out: the project this client works in, if it says
    /// which, else all.
    #[serde(default)]
    pub project: Option<String>,
    /// Only these types, separated by commas: bugfix, feature, refactor, change, discovery, decision, ...
    #[serde(default, rename = "type", alias = "obs_type")]
    pub type_id: Option<String>,
    /// From this time on: 2026-03-01, 7d, yesterday.
    #[serde(default, alias = "dateStart", alias = "date_start")]
    pub since: Option<String>,
    /// Up to this time; a date includes its day.
    #[serde(default, alias = "dateEnd", alias = "date_end")]
    pub until: Option<String>,
    /// `newest` (the default) or `relevance`.
    #[serde(default, alias = "orderBy", alias = "sort")]
    pub order: Option<OrderArg>,
    /// Rows at most, 1 to 100; 20 if left out.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// Order of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OrderArg {
    /// By time, newest first.
    #[serde(alias = "date_desc")]
    Newest,
    /// By time, oldest first.
    #[serde(alias = "date_asc")]
    Oldest,
    /// Best first.
    Relevance,
}

/// Arguments of `timeline`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimelineArgs {
    /// The middle: the id of a memory, or a time (2026-03-01T10:00:00Z, yesterday). Either this or `query`.
    #[serde(default)]
    pub anchor: Option<AnchorArg>,
    /// The middle: the best hit of this query. Either this or `anchor`.
    #[serde(default)]
    pub query: Option<String>,
    /// How many before, 0 to 50; 5 if left out.
    #[serde(default, alias = "before")]
    pub depth_before: Option<u32>,
    /// How many after, 0 to 50; 5 if left out.
    #[serde(default, alias = "after")]
    pub depth_after: Option<u32>,
    /// Project: its name or the path of its root; `*` for all. Left out: the project of the memory in the middle, else
    /// the one this client works in, else all.
    #[serde(default)]
    pub project: Option<String>,
}

/// An id or a time.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AnchorArg {
    /// Id.
    Id(i64),
    /// An id as text (`12`, `S12`, `#12`), or a time.
    Text(String),
}

/// Arguments of `get_observations`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetArgs {
    /// Ids from search, timeline or the notes at session start. Several at once, 100 at most.
    #[serde(deserialize_with = "ids")]
    #[schemars(with = "Vec<i64>")]
    pub ids: Vec<i64>,
}

/// Arguments of `remember`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RememberArgs {
    /// What to remember, in full sentences that stand alone.
    pub text: String,
    /// One line that says it; the first line of the text if left out.
    #[serde(default)]
    pub title: Option<String>,
    /// Type: bugfix, feature, refactor, change, discovery, decision, ...; discovery if left out.
    #[serde(default, rename = "type")]
    pub type_id: Option<String>,
    /// Keywords, such as gotcha, how-it-works, trade-off.
    #[serde(default)]
    pub concepts: Vec<String>,
    /// Files it is about, relative to the project.
    #[serde(default)]
    pub files: Vec<String>,
    /// Project: its name or the path of its root. Left out: the one this client works in, if it says which.
    #[serde(default)]
    pub project: Option<String>,
    /// Ids of memories that this one corrects and replaces.
    #[serde(default, deserialize_with = "ids")]
    #[schemars(with = "Vec<i64>")]
    pub supersedes: Vec<i64>,
}

/// Ids as numbers or text, alone or in a list: `12`, `"12"`, `"S12, 14"`, `[12, "#14"]`.
fn ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum One {
        Number(i64),
        Text(String),
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Any {
        One(One),
        Many(Vec<One>),
    }
    let expected = || serde::de::Error::custom("ids are whole numbers, as in [12, 14]");
    let all = match Any::deserialize(deserializer).map_err(|_| expected())? {
        Any::One(one) => vec![one],
        Any::Many(many) => many,
    };
    let mut out = Vec::new();
    for one in all {
        match one {
            One::Number(id) => out.push(id),
            One::Text(text) => {
                let list = text.trim().trim_start_matches('[').trim_end_matches(']');
                for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                    out.push(id(part).ok_or_else(expected)?);
                }
            }
        }
    }
    Ok(out)
}

/// An id as people write it.
pub fn id(text: &str) -> Option<i64> {
    let digits = text.trim().trim_start_matches('#').trim_start_matches(['S', 'P']);
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_taken_in_every_form_a_model_writes() {
        let read = |json: &str| serde_json::from_str::<GetArgs>(&format!("{{\"ids\":{json}}}")).map(|it| it.ids).ok();
        for json in ["[1,2]", "\"1,2\"", "\"[1, 2]\"", "[\"#1\",\"S2\"]", "[\"1\", 2]"] {
            assert_eq!(read(json), Some(vec![1, 2]), "{json}");
        }
        assert_eq!(read("7"), Some(vec![7]));
        assert_eq!(read("[]"), Some(vec![]));
        for json in ["\"foo,bar\"", "1.5", "[1.5]", "null", "{}", "[\"-1\"]"] {
            assert_eq!(read(json), None, "{json}");
        }
    }

    #[test]
    fn an_unknown_argument_is_refused_by_name() {
        let error = serde_json::from_str::<SearchArgs>(r#"{"query":"x","tpye":"y"}"#).unwrap_err().to_string();
        assert!(error.contains("tpye"), "{error}");
        let error = serde_json::from_str::<SearchArgs>("{}").unwrap_err().to_string();
        assert!(error.contains("query"), "{error}");
    }
}
