//! Texts of new roles: the smallest one, and a copy of another.

use crate::diag::{SourceMap, Span};
use crate::model::role::RoleFile;
use crate::text::frontmatter;
use crate::yaml;

/// A role that reads and searches, with the other keys explained. It denies nothing, so that every host
/// can hold it.
pub fn smallest(name: &str) -> String {
    format!(
        r#"---
# When to delegate to {name}: the one line by which other agents choose it.
description: Reads and searches this repository for one question and returns the answer with its evidence.
# What it may do. Everything else is denied, as far as each host can hold that: `rolecast explain {name}`.
# Scopes: `repo.edit: {{ paths: ["docs/**"] }}`, `shell.run: {{ commands: ["git status"] }}`.
grants:
  repo.read: {{}}
  repo.search: {{}}
# What must be absent, and how hard: enforced, guarded, hidden, prompted or advised. A host that cannot hold it
# stops the compilation, unless it is waived there with a reason:
#   deny:  {{ shell.run: enforced }}
#   waive: {{ HOST: {{ shell.run: "why that is acceptable there" }} }}
# model: fast, balanced, strong or inherit (the default)
# When it must stop and report.
stop:
  - "the question is answered with evidence"
  - "the answer would need a tool that is not granted"
---
You answer one question about this repository by reading and searching it. You change nothing.

## What to do

- Search first with the names in the question, then open the places that matter.
- Tell what you saw from what you conclude.

## What to return

As your last message: the answer first, then the evidence as `path:line`, then what you could not find.
"#
    )
}

/// A copy of the role `from`: the same grants, denials, waivers and text, with a description and a first
/// line of text that say it is to be adapted. The copy compiles where the original does.
pub fn copy(from: &str, source: &str) -> String {
    let eol = if source.contains("\r\n") { "\r\n" } else { "\n" };
    let Ok(parts) = frontmatter::split(source) else { return source.to_owned() };
    let mark =
        format!("<!-- Copied from `{from}`: adapt the front matter and the text, then remove this line. -->{eol}");
    let head = described(from, source).unwrap_or_else(|| source[..parts.body_start].to_owned());
    format!("{head}{mark}{}", parts.body)
}

/// Everything before the text, with the new description in the place of the old one. `None` when the
/// description is written in a way that cannot be exchanged safely.
fn described(from: &str, source: &str) -> Option<String> {
    let parts = frontmatter::split(source).ok()?;
    let old = meta(source)?.description;
    let Span { start, end, .. } = old.span?;
    let wanted = format!("To be adapted (copied from {from}): {}", old.value.trim());
    // A JSON string is a YAML string.
    let quoted = serde_json::to_string(&wanted).ok()?;
    let before = source.get(..start as usize)?;
    let after = source.get(end as usize..parts.body_start)?;
    let head = format!("{before}{quoted}{after}");
    let reads_back = meta(&head).is_some_and(|m| m.description.value == wanted);
    reads_back.then_some(head)
}

fn meta(source: &str) -> Option<RoleFile> {
    let parts = frontmatter::split(source).ok()?;
    let id = SourceMap::default().add("role", source);
    yaml::parse(parts.yaml, id, u32::try_from(parts.yaml_start).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::builtin;

    #[test]
    fn a_copy_differs_in_its_description_and_first_line_only() {
        for (name, source) in builtin::files("roles") {
            let from = name.trim_end_matches(".md");
            let made = copy(from, source);
            let (old, new): (Vec<&str>, Vec<&str>) = (source.lines().collect(), made.lines().collect());
            assert_eq!(new.len(), old.len() + 1, "{name}");
            let rest: Vec<&str> = new.iter().filter(|l| !old.contains(l)).copied().collect();
            assert_eq!(rest.len(), 2, "{name}: {rest:?}");
            assert!(
                rest[0].starts_with("description: \"To be adapted") && rest[1].starts_with("<!-- Copied"),
                "{rest:?}"
            );
        }
    }

    #[test]
    fn any_way_to_write_a_description_survives() {
        for written in ["plain text", "\"quoted: \\\"x\\\"\"", "'it''s # here'", ">-\n  folded\n  text", "|-\n  block"]
        {
            let source = format!("---\ndescription: {written}\ngrants: {{}}\n---\nBody\n");
            let made = copy("a", &source);
            let before = meta(&source).unwrap().description.value;
            let after = meta(&made).unwrap().description.value;
            assert!(after.ends_with(&before), "{made}");
            assert!(
                made.ends_with(
                    "---\n<!-- Copied from `a`: adapt the front matter and the text, then remove this line. -->\nBody\n"
                ),
                "{made}"
            );
        }
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        let made = copy("a", "---\r\ndescription: x\r\n---\r\nBody\r\n");
        assert!(!made.replace("\r\n", "").contains('\n'), "{made:?}");
    }
}
