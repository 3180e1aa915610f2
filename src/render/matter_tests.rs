//! What a reader by lines makes of files that a YAML reader would take otherwise.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::adapter::LineKey;

fn rules(quotes: Quotes, fence: Fence) -> FrontMatter {
    let key = |is, from: Option<&str>| LineKey { is, from: from.map(str::to_owned) };
    let keys = [
        ("description", key(LineValue::Text, Some("role.description"))),
        ("readonly", key(LineValue::Flag, None)),
        ("tools", key(LineValue::Commas, Some("role.inform"))),
        ("globs", key(LineValue::Items, Some("rule.paths"))),
    ];
    FrontMatter { quotes, fence, keys: keys.into_iter().map(|(name, key)| (name.to_owned(), key)).collect() }
}

fn why(matter: &str, given: &Value) -> Vec<String> {
    let text = format!("---\n{matter}\n---\nBody\n");
    judge(&text, &rules(Quotes::Stripped, Fence::Anywhere), given).into_iter().map(|w| w.why).collect()
}

#[test]
fn what_is_read_as_it_is_meant_is_fine() {
    let given = json!({ "role": { "description": "a: b, \"c\" [x", "inform": ["Read", "Grep"] } });
    let matter = "# a comment: with a colon\ndescription: a: b, \"c\" [x\nreadonly: true\n\ntools: Read, Grep";
    assert_eq!(why(matter, &given), Vec::<String>::new());
    let given = json!({ "rule": { "paths": ["a/**", "*.rs"] } });
    assert_eq!(why("globs:\n  - a/**\n  - '*.rs'", &given), Vec::<String>::new());
    assert_eq!(why("globs: a/**, *.rs", &given), Vec::<String>::new());
}

#[test]
fn what_is_taken_for_something_else_is_found() {
    for (matter, found) in [
        ("readonly: yes", "`readonly: yes` does not count: only the word `true` does"),
        ("readonly: \"true\"", "`readonly: \"true\"` does not count: only the word `true` does"),
        ("tools: [Read, Grep]", "`tools` is a list in brackets, which become part of its names"),
        ("tools:\n  - Read", "`tools` is a YAML list, which is read as an empty one"),
        ("globs: [\"a\", \"b\"]", "`globs` is a list in brackets, which become part of its names"),
        ("colour: red", "the key `colour` is ignored"),
        ("Readonly: true", "the key `Readonly` is ignored"),
        ("description: a\n  b", "the line `b` is no `key: value`, and is ignored"),
        ("description: a\n  b: c", "the line `b: c` is no `key: value`, and is ignored"),
        ("description: a\n  - b", "the line `- b` belongs to no key, and is ignored"),
        ("readonly: true\nreadonly: false", "`readonly` stands there twice"),
        ("description: a --- b", "`description` has `---` in it, which ends the front matter"),
        ("description: a\u{2028}b", "`description` has a character that ends lines"),
    ] {
        assert_eq!(why(matter, &Value::Null), [found], "{matter}");
    }
}

#[test]
fn what_is_read_is_held_against_what_is_meant() {
    for (matter, meant, found) in [
        ("description: \"whole\"", "\"whole\"", Some("`description` is read as `whole`, and `\"whole\"` is meant")),
        ("description: >", "a text", Some("`description` is read as `>`, and `a text` is meant")),
        ("readonly: true", "a text", Some("`description` is read as nothing, and `a text` is meant")),
        ("description: a text", "a text ", None),
    ] {
        let given = json!({ "role": { "description": meant } });
        assert_eq!(why(matter, &given), found.into_iter().collect::<Vec<_>>(), "{matter}");
    }
    let given = json!({ "role": { "inform": ["a,b"] } });
    assert_eq!(why("tools: a,b", &given), ["`tools` is read as `a`, `b`, and `a,b` is meant"]);
    let kept = judge(
        "---\ndescription: 'q'\n---\nx",
        &rules(Quotes::Kept, Fence::Line),
        &json!({ "role": { "description": "'q'" } }),
    );
    assert_eq!(kept, []);
}

#[test]
fn a_file_that_would_be_ignored_is_found() {
    let rules = rules(Quotes::Kept, Fence::Line);
    for text in ["name: x\n", "---\nreadonly: true\nbody\n", "---\nreadonly: true\n---\n\n", "\u{feff}---\n---\nx"] {
        let found = judge(text, &rules, &Value::Null);
        assert!(found.len() == 1 && found[0].why.ends_with("ignored"), "{text:?}: {found:?}");
    }
}

proptest! {
    /// One line of text either comes back, or is found; it never turns into another key.
    #[test]
    fn a_line_survives_or_is_told(text in "[ -~\u{2028}é:\"'#>|-]{0,24}") {
        let given = json!({ "role": { "description": text } });
        let file = format!("---\ndescription: {text}\nreadonly: true\n---\nBody\n");
        let rules = rules(Quotes::Stripped, Fence::Anywhere);
        let read = Reader::new(&rules).read(&file).unwrap();
        prop_assert_eq!(read.values.keys().collect::<Vec<_>>(), ["description", "readonly"]);
        let back = read.values["description"].first().map_or("", String::as_str) == text.trim();
        prop_assert!(back || !judge(&file, &rules, &given).is_empty());
    }
}
