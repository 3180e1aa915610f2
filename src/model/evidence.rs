//! `shared-agent-rules/evidence/*.yaml`: what `verify --accept` saw of one host. Written by that command only;
//! the ledger reads it.
//!
//! Each entry says what it is about: the tools that were planned and the claim that was tried. Evidence for
//! another plan or another claim says nothing about this one.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::yaml::Sp;

/// What was seen of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EvidenceFile {
    /// The host; equal to the file's name.
    pub host: Sp<String>,
    /// One for each role and form that was run.
    #[serde(default)]
    pub roles: Vec<RoleSeen>,
    /// What came of the rules, one for each kind of agent.
    #[serde(default)]
    pub rules: Vec<RulesSeen>,
    /// What held of the budgets, one for each family of tools.
    #[serde(default)]
    pub budgets: Vec<BudgetsSeen>,
    /// What the guard did for everybody, in runs of its own.
    pub guard: Option<GuardSeen>,
    /// How often behaviour was as asked, one for each scenario: written by `eval --accept`.
    #[serde(default)]
    pub evals: Vec<ScenarioSeen>,
}

/// What runs of a scenario with a real model came to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScenarioSeen {
    /// The scenario.
    pub scenario: Sp<String>,
    /// Version of the program.
    pub version: String,
    /// The model, as the host's log names it.
    pub model: String,
    /// Day (UTC).
    pub date: Day,
    /// Runs.
    pub runs: u64,
    /// Runs in which everything held.
    pub passed: u64,
    /// Digest of the rules, roles and budgets that the agents were given.
    pub told: String,
    /// How often each key held.
    pub keys: Vec<KeySeen>,
}

/// How often one key of a scenario held.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct KeySeen {
    /// The key, as in reports.
    pub key: Sp<String>,
    /// Runs in which it held.
    pub held: u64,
}

/// What was seen of a role in one form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RoleSeen {
    /// The role.
    pub role: Sp<String>,
    /// Form of the adapter.
    pub form: Sp<String>,
    /// Version of the program.
    pub version: String,
    /// Day (UTC).
    pub date: Day,
    /// The tools that were planned, as the host spells them.
    pub tools: Vec<String>,
    /// Whether exactly those were offered.
    pub offered: Offered,
    /// What came of the lines of the ledger, by capability.
    #[serde(default)]
    pub lines: Vec<Seen>,
}

/// What was seen of the tools of a role.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Offered {
    /// Whether the plan held.
    pub verdict: Verdict,
    /// What was seen.
    pub seen: String,
    /// Tools that were offered, not planned, and of which nothing is known: they may do anything.
    #[serde(default)]
    pub unknown: Vec<String>,
}

/// What was seen of the rules.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RulesSeen {
    /// `main` or `roles`.
    pub to: Sp<String>,
    /// Version of the program.
    pub version: String,
    /// Day (UTC).
    pub date: Day,
    /// What came of the lines of the ledger, by rule.
    pub lines: Vec<Seen>,
}

/// What was seen of the guard.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GuardSeen {
    /// Version of the program.
    pub version: String,
    /// Day (UTC).
    pub date: Day,
    /// What came of each thing that it does: `history`, `targets`, `context`, `edited`, `missing`.
    pub lines: Vec<Seen>,
}

/// What was seen of the budgets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BudgetsSeen {
    /// `shell`, `mcp` or `all`.
    pub family: Sp<String>,
    /// Version of the program.
    pub version: String,
    /// Day (UTC).
    pub date: Day,
    /// What came of the lines of the ledger, by budget.
    pub lines: Vec<Seen>,
}

/// Lines of the ledger of which the same was claimed and seen.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Seen {
    /// Whether the claim held.
    pub verdict: Sp<Verdict>,
    /// What they are about.
    pub about: Vec<Sp<String>>,
    /// The claim that was tried.
    pub claim: String,
    /// What the grants were scoped to.
    #[serde(default)]
    pub scope: Vec<String>,
    /// What holds instead of a broken claim.
    pub holds: Option<Holds>,
    /// What was seen.
    pub seen: String,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does not.
    Broken,
    /// It was tried, and what came back proves neither that it holds nor that it does not.
    Unclear,
    /// It was not, or could not be, tried.
    Untried,
    /// More holds than is claimed.
    Better,
    /// It does.
    Held,
}

impl Verdict {
    /// The word in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Unclear => "unclear",
            Self::Untried => "untried",
            Self::Better => "better",
            Self::Held => "held",
        }
    }
}

/// What holds instead of a broken claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Only text asks for it.
    Advised,
    /// The tool is not offered, but a forged call of it ran.
    Hidden,
    /// What was granted, or was to arrive, is not there.
    Unreachable,
}

impl Holds {
    /// The word in files and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Advised => "advised",
            Self::Hidden => "hidden",
            Self::Unreachable => "unreachable",
        }
    }
}

/// A day, `YYYY-MM-DD`; days compare as their texts do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(String);

impl Day {
    /// A day of that form; `None` for any other text.
    pub fn new(text: &str) -> Option<Self> {
        let digits = |part: &str, count| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
        let mut parts = text.split('-');
        let [year, month, day] = [parts.next()?, parts.next()?, parts.next()?];
        let within = |part: &str, most: u32| part.parse::<u32>().is_ok_and(|n| (1..=most).contains(&n));
        let fine = parts.next().is_none()
            && digits(year, 4)
            && digits(month, 2)
            && digits(day, 2)
            && within(month, 12)
            && within(day, 31);
        fine.then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a day like 2026-01-31")))
    }
}

impl JsonSchema for Day {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Day".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A day, `YYYY-MM-DD`.",
            "type": "string",
            "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_one_form() {
        for (text, fine) in [
            ("2026-11-30", true),
            ("2026-1-30", false),
            ("2026-13-01", false),
            ("2026-12-00", false),
            ("2026-12-01-1", false),
            ("today", false),
        ] {
            assert_eq!(Day::new(text).is_some(), fine, "{text}");
        }
    }

    #[test]
    fn the_same_file_is_read_from_json_where_it_has_no_places() {
        let text = r#"{"host":"h","roles":[{"role":"r","form":"f","version":"1.0","date":"2026-11-30","tools":["A"],
            "offered":{"verdict":"held","seen":"x"},"lines":[{"verdict":"broken","about":["a.b"],"claim":"c","holds":"advised","seen":"y"}]}]}"#;
        let file: EvidenceFile = serde_json::from_str(text).unwrap();
        assert_eq!(file.roles[0].lines[0].about[0].value, "a.b");
        assert_eq!(file.roles[0].lines[0].verdict.value, Verdict::Broken);
        assert_eq!(file.roles[0].role.span, None);
    }
}
