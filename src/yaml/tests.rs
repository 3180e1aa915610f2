//! Errors against the real types of the model: what is said, and which text is underlined.

use indexmap::IndexMap;
use proptest::prelude::*;

use super::*;
use crate::diag::SourceMap;
use crate::model::{adapter::Adapter, policy::PolicyFile, role::RoleFile, rule::RuleFile};

const BASE: &str = "---\n# ü 日\n";

/// The error of `yaml` behind some other text, so that a wrong base shows in every test.
fn error<T: DeserializeOwned>(yaml: &str) -> (SourceMap, Diagnostic) {
    let mut sources = SourceMap::default();
    let id = sources.add("roles/x.md", format!("{BASE}{yaml}"));
    let Err(error) = parse::<T>(yaml, id, BASE.len() as u32) else { panic!("accepted: {yaml:?}") };
    (sources, *error)
}

/// Asserts message and underlined text.
fn refused<T: DeserializeOwned>(yaml: &str, message: &str, underlined: &str) {
    let (sources, error) = error::<T>(yaml);
    let shown = sources.slice(error.primary.as_ref().unwrap().span);
    assert_eq!((error.message.as_str(), shown), (message, underlined), "{yaml}");
}

fn help<T: DeserializeOwned>(yaml: &str) -> String {
    error::<T>(yaml).1.help.unwrap_or_default()
}

#[test]
fn a_wrong_value_is_quoted_and_underlined() {
    for (yaml, message, underlined) in [
        ("version: one\n", "expected a whole number, found `one`", "one"),
        ("version: -1\n", "expected a whole number, found `-1`", "-1"),
        ("version: \"ü\" # c\n", "expected a whole number, found `\"ü\"`", "\"ü\""),
        ("version: 1\n hosts: {}\n", "expected a whole number, found `1` …", "1"),
        ("version: [1, '}']\n", "expected a single value, found a list", "[1, '}']"),
        ("version: {a: 1}\r\n", "expected a single value, found a mapping", "{a: 1}"),
        ("hosts: [alpha]\n", "expected a mapping, found a list", "[alpha]"),
        ("hosts:\n  - alpha\n", "expected a mapping, found a list", "-"),
        ("hosts: alpha # only\n", "expected a mapping, found `alpha`", "alpha"),
        ("hosts: { alpha: }\n", "expected a mapping, found nothing", "alpha"),
        ("hosts:\n  alpha:\n  beta: {}\n", "expected a mapping, found nothing", "alpha"),
        ("extends: builtin\n", "expected a list, found `builtin`", "builtin"),
        ("extends:\n  builtin: {}\n", "expected a list, found a mapping", "builtin"),
        ("extends: [~]\n", "expected text, found nothing", "~"),
        ("browser:\n  record-reason: yes\n", "expected a boolean, found `yes`", "yes"),
        ("browser:\n  order: host\n", "expected a list, found `host`", "host"),
        ("- a\n", "expected a mapping, found a list", "-"),
        ("text\n", "expected a mapping, found `text`", "text"),
        ("? [a, b]\n: c\n", "expected a single value, found a list", "[a, b]"),
    ] {
        refused::<PolicyFile>(yaml, message, underlined);
    }
    assert_eq!(help::<PolicyFile>("browser: { record-reason: on }\n"), "write `true` or `false`");
}

#[test]
fn our_own_scalars_underline_their_value() {
    for (yaml, message, underlined) in [
        (
            "budgets:\n  tool-result:\n    target: 12KB\n",
            "`KB` is not a unit of bytes: write B, KiB, MiB or GiB",
            "12KB",
        ),
        ("budgets: { search: { limit: many } }\n", "expected a whole number, found `many`", "many"),
        ("context: { hand-off: 120% }\n", "`120%` is not a percentage from 1% to 100%", "120%"),
        ("context:\n  hand-off: \"ü\"\n", "`ü` is not a percentage from 1% to 100%", "\"ü\""),
    ] {
        refused::<PolicyFile>(yaml, message, underlined);
    }
}

#[test]
fn a_misspelt_key_or_word_finds_its_name() {
    refused::<PolicyFile>("# ü\nbudgts: {}\n", "unknown key `budgts`", "budgts");
    refused::<PolicyFile>("1: 2\n", "unknown key `1`", "1");
    refused::<PolicyFile>("delegation: { context: ful }\n", "`ful` is not allowed here", "ful");
    refused::<RoleFile>("description: x\ngrants: { a: { path: [x] } }\n", "unknown key `path`", "path");
    refused::<RoleFile>("description: x\ndeny: { s: enforce }\n", "`enforce` is not allowed here", "enforce");
    refused::<Adapter>("id: x\ntitle: y\nevidence: { by: run }\n", "`run` is not allowed here", "run");
    refused::<Adapter>("models: { turbo: { m: x } }\n", "`turbo` is not allowed here", "turbo");
    assert_eq!(help::<PolicyFile>("budgts: {}\n"), "did you mean `budgets`?");
    assert_eq!(help::<PolicyFile>("Version: 1\n"), "did you mean `version`?");
    assert_eq!(help::<PolicyFile>("delegation: { context: x }\n"), "allowed: minimal, full");
    assert_eq!(help::<PolicyFile>("hosts: { alpha: { x: 1 } }\n"), "this mapping has no keys: write `{}`");
}

#[test]
fn a_duplicate_key_shows_both() {
    for (yaml, key) in [
        ("version: 1\nhosts: {}\nversion: 1\n", "version"),
        ("budgets:\n  search: {target: 20, target: 30}\n", "target"),
        ("hosts: { ü: {}, \"a\": {}, ü: {} }\n", "ü"),
    ] {
        let (sources, error) = error::<PolicyFile>(yaml);
        let (second, first) = (error.primary.unwrap().span, error.secondary[0].span);
        assert_eq!((sources.slice(first), sources.slice(second)), (key, key));
        assert!(first.start < second.start, "{yaml}");
        assert_eq!(error.code, Code::DuplicateKey);
    }
}

#[test]
fn a_missing_key_is_shown_at_the_start_of_its_mapping() {
    refused::<RuleFile>("activation: always\norder: 1\n", "missing key `title`", "activation");
    refused::<RuleFile>("{}\n", "missing key `title`", "{}");
    refused::<PolicyFile>("tools:\n  s: { description: d }\n", "missing key `confers`", "{ description: d }");
    refused::<PolicyFile>(
        "tools:\n  s:\n    description: d\n    # c\n    primitive: a/b\n    arguments:\n      q: {type: string}\n",
        "missing key `confers`",
        "description",
    );
    refused::<Adapter>("id: x\ntitle: y\nevidence:\n  version: 1\n  date: d\n", "missing key `by`", "version");
}

#[test]
fn an_alternative_is_read_by_its_shape() {
    for (yaml, message, underlined) in [
        ("activation: paths\naudience: [main]\n", "`paths` needs a value", "paths"),
        ("activation: on-demand\ntitle: x\n", "`on-demand` needs a value", "on-demand"),
        ("activation: {}\n", "expected a word or a mapping with one key, found an empty mapping", "{}"),
        ("activation: [a]\n", "expected a word or a mapping with one key, found a list", "[a]"),
        ("activation: 3\n", "expected a word or a mapping with one key, found `3`", "3"),
        ("activation: alway\n", "`alway` is not allowed here", "alway"),
        ("activation: { path: [a] }\n", "`path` is not allowed here", "path"),
        ("activation: { paths: a }\n", "expected a list, found `a`", "a"),
        ("activation: { always: x }\n", "this word stands alone and takes no value", "x"),
    ] {
        refused::<RuleFile>(yaml, message, underlined);
    }
    let (_, both) = error::<RuleFile>("title: x\nactivation: { paths: [a], on-demand: b }\n");
    assert_eq!(both.message, "only one of these keys can be given");
    refused::<PolicyFile>("servers: { a: { env: { T: literal, env: b } } }\n", "`literal` needs a value", "literal");
}

#[test]
fn broken_yaml_is_shown_where_it_breaks() {
    for (yaml, message, underlined) in [
        ("version: 1\n\thosts: {}\n", "a tab where YAML wants spaces", "\t"),
        ("hosts:\n\talpha: {}\n", "a tab where YAML wants spaces", "\t"),
        ("# ü\nhosts: {alpha: {}\n", "unclosed bracket `{`", "{"),
        ("# ü\nversion: \"1\n", "unclosed quote", "\""),
        ("hosts:\n  ü: {}\n beta: {}\n", "while parsing a block mapping, did not find expected key", "b"),
        ("version: 1: 2\n", "mapping values are not allowed in this context", ":"),
        ("version: *x\n", "an alias for an anchor that does not exist", "*x"),
        ("version: 1\n---\nversion: 1\n", "more than one YAML document in a file", "---"),
        ("<<: {version: 1}\n", "merge keys (`<<`) are not read", "<<"),
        ("version: !foo 1\n", "the tag `!foo` is not read", "!foo"),
        ("extends: [!secret x]\n", "the tag `!secret` is not read", "!secret"),
    ] {
        refused::<PolicyFile>(yaml, message, underlined);
    }
}

#[test]
fn the_usual_mistakes_come_with_their_remedy() {
    for (yaml, underlined, remedy) in [
        ("title: a\nactivation: { paths: [**/*.rs, b] }\n", "**/*.rs", "a text that starts with `*` must be quoted"),
        ("title: a\nactivation:\n  paths:\n    - *.md # c\n", "*.md", "a text that starts with `*` must be quoted"),
        ("title: a\nactivation: { paths: [!src/x] }\n", "!src/x", "a text that starts with `!` must be quoted"),
        ("title: note: this\n", ":", "put a text that contains `: ` in quotes"),
        ("title: @team\n", "@", "put the text in quotes"),
        ("title: `code`\n", "`", "put the text in quotes"),
        ("title: 'it's'\n", "s", "in single quotes write `''` for an apostrophe"),
        ("title: \"a\\d\"\n", "\"", "in double quotes write `\\\\` for a backslash, or use single quotes"),
        ("title: a\naudience: main\n", "main", "write `[main]`"),
    ] {
        let (sources, error) = error::<RuleFile>(yaml);
        let shown = sources.slice(error.primary.as_ref().unwrap().span);
        assert_eq!((shown, error.help.as_deref()), (underlined, Some(remedy)), "{yaml}: {}", error.message);
    }
    assert_eq!(help::<PolicyFile>("hosts: { alpha: }\n"), "write `{}` where nothing is to be said");
}

#[test]
fn an_error_behind_an_alias_shows_its_use_too() {
    let (sources, error) = error::<PolicyFile>("hosts: &h {x: {}}\nservers:\n  s: *h\n");
    assert_eq!(error.message, "unknown key `x`");
    let labels = [error.primary.unwrap(), error.secondary[0].clone()];
    assert_eq!(labels.map(|label| sources.slice(label.span).to_owned()), ["x", "*h"]);
}

#[test]
fn no_rust_name_reaches_a_message() {
    let values = ["x", "-1", "1.5", "[a]", "{a: b}", "~", "yes", "\"q\"", "[[a]]", "{}", "!t x", "*a"];
    let keys = ["version", "hosts", "extends", "layout", "budgets", "browser", "servers", "tools", "acceptance"];
    for (key, value) in keys.iter().flat_map(|key| values.iter().map(move |value| (key, value))) {
        for yaml in
            [format!("{key}: {value}\n"), format!("{key}: {{ k: {value} }}\n"), format!("{key}:\n  k: {value}\n")]
        {
            let Err(error) = parse::<PolicyFile>(&yaml, SourceId(0), 0) else { continue };
            for word in [
                "u64", "usize", "struct", "enum", "IndexMap", "Option", "scalar", "sequence", "variant", "serde",
                "line ",
            ] {
                assert!(!error.message.contains(word), "{yaml}: {}", error.message);
            }
        }
    }
}

#[test]
fn hostile_sizes_end_quickly_with_the_limit_named() {
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for i in 1..9 {
        bomb += &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(","));
    }
    let anchors: String = (0..20).map(|i| format!("a{i}: &a{i} x\n")).collect();
    let aliases = format!("a: &a x\nl: [{}]\n", "*a,".repeat(40));
    for (yaml, message) in [
        (bomb, "more than 20000 values in a file"),
        (anchors, "more than 16 anchors in a file"),
        (aliases, "more than 32 aliases in a file"),
        (format!("x: [{}]", "a,".repeat(30_000)), "more than 20000 values in a file"),
        (format!("x: {}", "[".repeat(30_000)), "nested deeper than 24 levels"),
        (format!("x: {}1{}", "[".repeat(30), "]".repeat(30)), "nested deeper than 24 levels"),
        (format!("x: {}", "a".repeat(1 << 20)), "1048579 bytes of YAML, more than the 1048576 a source may have"),
    ] {
        let started = std::time::Instant::now();
        let error = parse::<serde_json::Value>(&yaml, SourceId(0), 0).unwrap_err();
        assert_eq!(error.message, message);
        // Far above what it takes, far below what an unbounded parser would.
        assert!(started.elapsed().as_secs() < 5, "{message}");
    }
}

#[derive(Debug, Deserialize)]
struct Spans {
    s: Sp<String>,
    l: Vec<Sp<String>>,
    m: IndexMap<Sp<String>, Sp<u64>>,
}

#[test]
fn spans_are_exact_in_every_style() {
    let text = "# ü\ns: é x # c\nl:\n  - \"a ü\"\n  - 'it''s'\n  - >-\n    fold\n    ed\nm: {ü: 5, \"k 日\": 6}\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
        let whole = format!("{BASE}{text}");
        let mut sources = SourceMap::default();
        let id = sources.add("x", whole);
        let spans: Spans = parse(&text, id, BASE.len() as u32).unwrap();
        let slice = |span: Option<Span>| sources.slice(span.unwrap()).replace('\r', "");
        assert_eq!(slice(spans.s.span), "é x");
        let items: Vec<String> = spans.l.iter().map(|item| slice(item.span)).collect();
        assert_eq!(items, ["\"a ü\"", "'it''s'", "fold\n    ed"]);
        let pairs: Vec<(String, String)> = spans.m.iter().map(|(k, v)| (slice(k.span), slice(v.span))).collect();
        assert_eq!(pairs, [("ü".to_owned(), "5".to_owned()), ("\"k 日\"".to_owned(), "6".to_owned())]);
    }
}

#[test]
fn a_collection_is_underlined_by_what_one_sees_of_it() {
    let text = "servers:\n  s: { tools: { t: { confers: [a, b] } } }\nbrowser:\n  order: [host, 'x]']\n  escalate-for:\n    - tracing\n\
                budgets:\n  search: { target: 1 }\n  tool-result:\n    limit: 1KiB\n";
    let mut sources = SourceMap::default();
    let id = sources.add("x", format!("{BASE}{text}"));
    let policy: PolicyFile = parse(text, id, BASE.len() as u32).unwrap();
    let (browser, budgets) = (policy.browser.unwrap(), policy.budgets.unwrap());
    let spans = [
        browser.order.unwrap().span,
        browser.escalate_for.unwrap().span,
        budgets.search.unwrap().span,
        budgets.tool_result.unwrap().span,
    ];
    assert_eq!(spans.map(|span| sources.slice(span.unwrap())), ["[host, 'x]']", "-", "{ target: 1 }", "limit"]);
}

proptest! {
    /// Whatever the text, the parser answers, and what it underlines is inside the text.
    #[test]
    fn any_text_gets_an_answer_with_a_place_inside_it(text in "([a-zü:\\-\\[\\]{}&*!#|>'\"%@,? \t\r\n]|version|hosts|servers|tools|: |\n  |- ){0,40}") {
        let mut sources = SourceMap::default();
        let id = sources.add("x", format!("{BASE}{text}"));
        if let Err(error) = parse::<PolicyFile>(&text, id, BASE.len() as u32) {
            for label in error.primary.iter().chain(&error.secondary) {
                let (start, end) = (label.span.start as usize, label.span.end as usize);
                prop_assert!(BASE.len() <= start && start <= end && end <= BASE.len() + text.len());
                prop_assert!(sources.get(id).text.get(start..end).is_some());
            }
        }
    }
}
