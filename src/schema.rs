//! JSON Schemas of the files people write, for editors. Made from the same types that read the files.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use crate::model::{
    adapter::Adapter, evidence::EvidenceFile, packet::PacketFile, policy::PolicyFile, role::RoleFile, rule::RuleFile,
    scenario::Scenario,
};

/// Name and text of every schema: `policy`, `role`, `rule` and `packet` (the front matter), `adapter`, `scenario`, `evidence`.
pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("policy", text::<PolicyFile>("rolecast policy: shared-agent-rules/*.yaml")),
        ("role", text::<RoleFile>("rolecast role: front matter of roles/*.md")),
        ("rule", text::<RuleFile>("rolecast rule: front matter of shared-agent-rules/*.md")),
        ("packet", text::<PacketFile>("rolecast packet: front matter of a delegation packet")),
        ("adapter", text::<Adapter>("rolecast adapter: adapters/*.yaml")),
        ("scenario", text::<Scenario>("rolecast scenario: shared-agent-rules/scenarios/*.yaml")),
        ("evidence", text::<EvidenceFile>("rolecast evidence: shared-agent-rules/evidence/*.yaml")),
    ]
}

/// `$schema` and `title` first, where a reader looks for them.
fn text<T: JsonSchema>(title: &str) -> String {
    let schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value();
    let mut ordered = Map::new();
    ordered.insert("$schema".to_owned(), schema.get("$schema").cloned().unwrap_or_default());
    ordered.insert("title".to_owned(), title.into());
    if let Value::Object(rest) = schema {
        ordered.extend(rest.into_iter().filter(|(key, _)| key != "$schema" && key != "title"));
    }
    format!("{:#}\n", Value::Object(ordered))
}
