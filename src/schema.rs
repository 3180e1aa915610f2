//! JSON Schemas of the files people write, for editors. Made from the same types that read the files.

use schemars::{JsonSchema, generate::SchemaSettings};

use crate::model::{adapter::Adapter, policy::PolicyFile, role::RoleFile, rule::RuleFile};

/// Name and text of every schema: `policy`, `role` and `rule` (the front matter), `adapter`.
pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("policy", text::<PolicyFile>("rolecast policy: shared-agent-rules/*.yaml")),
        ("role", text::<RoleFile>("rolecast role: front matter of roles/*.md")),
        ("rule", text::<RuleFile>("rolecast rule: front matter of shared-agent-rules/*.md")),
        ("adapter", text::<Adapter>("rolecast adapter: adapters/*.yaml")),
    ]
}

fn text<T: JsonSchema>(title: &str) -> String {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    format!("{:#}\n", schema.to_value())
}
