//! Edits of users' JSON, JSONC and TOML: every byte that is not ours stays.

use proptest::prelude::*;
use rolecast::edit::{Document, EditError, Format};
use serde_json::{Value, json};

fn path(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}

fn json_doc(text: &str) -> Document {
    Document::parse(Format::Json, text).unwrap()
}

fn toml_doc(text: &str) -> Document {
    Document::parse(Format::Toml, text).unwrap()
}

fn set(format: Format, text: &str, at: &str, value: Value) -> String {
    let mut document = Document::parse(format, text).unwrap();
    document.set(&path(at), &value).unwrap();
    document.text().to_owned()
}

#[test]
fn a_new_json_file_is_pretty_and_ends_in_a_line_end() {
    let text = set(Format::Json, "", "mcpServers.play", json!({"command": "npx", "args": ["-y"]}));
    insta::assert_snapshot!(text, @r#"
    {
      "mcpServers": {
        "play": {
          "command": "npx",
          "args": [
            "-y"
          ]
        }
      }
    }
    "#);
    assert!(text.ends_with("}\n"));
}

#[test]
fn json_entries_go_in_by_the_style_of_the_file() {
    let tabs = "{
	// mine
	\"a\": 1 /* x */ // y
}";
    assert_eq!(
        set(Format::Json, tabs, "b", json!([1])),
        "{
	// mine
	\"a\": 1, /* x */ // y
	\"b\": [
		1
	]
}"
    );
    assert_eq!(set(Format::Json, "{\"a\":1}", "b.c", json!(2)), "{\"a\":1, \"b\":{\"c\":2}}");
    assert_eq!(set(Format::Json, "{ \"a\": 1 }\n", "b", json!(2)), "{ \"a\": 1, \"b\": 2 }\n");
    assert_eq!(
        set(Format::Json, "{\n  \"a\": {}, // c\n}\n", "a.b", json!(2)),
        "{\n  \"a\": {\n    \"b\": 2\n  }, // c\n}\n"
    );
    assert_eq!(set(Format::Json, "// only this\n", "a", json!(2)), "// only this\n{\n  \"a\": 2\n}\n");
}

#[test]
fn json_that_two_readers_would_read_differently_is_refused() {
    for (text, wrong) in [
        ("{\"a\": 1, \"a\": 2}", "\"a\""),
        ("{'a': 1}", "'"),
        ("{a: 1}", "a"),
        ("{\"a\": 1 \"b\": 2}", ""),
        ("[1]", "[1]"),
        ("{\"a\": 0x1}", ""),
        ("{", ""),
    ] {
        let Err(EditError::Syntax { range, .. }) = Document::parse(Format::Json, text) else {
            panic!("{text} was read")
        };
        assert!(text[range.clone()].starts_with(wrong), "{text}: {:?}", &text[range]);
    }
    let Err(EditError::Syntax { range, .. }) = Document::parse(Format::Json, "\u{feff}{\"a\": 1, \"a\": 2}") else {
        panic!()
    };
    assert_eq!(range, 12..15);
}

#[test]
fn something_of_another_type_in_the_way_is_named() {
    let mut document = json_doc("{\"hooks\": \"none\", \"list\": {}}");
    assert_eq!(
        document.set(&path("hooks.start"), &json!(1)),
        Err(EditError::Blocked { path: path("hooks"), found: "a string" })
    );
    assert_eq!(
        document.push(&path("list"), &json!(1)),
        Err(EditError::Blocked { path: path("list"), found: "a table" })
    );
    assert_eq!(document.text(), "{\"hooks\": \"none\", \"list\": {}}");
}

#[test]
fn toml_entries_become_tables_under_headers() {
    let user = "# mine\nmodel = \"x\" # keep\n\n[mcp_servers.old]\ncommand = 'c'\n";
    let text =
        set(Format::Toml, user, "mcp_servers.play", json!({"command": "npx", "args": ["-y"], "env": {"A": "b"}}));
    assert_eq!(
        text,
        format!(
            "{user}\n[mcp_servers.play]\ncommand = \"npx\"\nargs = [\"-y\"]\n\n[mcp_servers.play.env]\nA = \"b\"\n"
        )
    );
    let text = set(Format::Toml, user, "developer_instructions", json!("one\ntwo"));
    assert_eq!(text, user.replace("# keep\n", "# keep\ndeveloper_instructions = \"\"\"\none\ntwo\"\"\"\n"));
    let text = set(Format::Toml, "[a]\nx = 1\n", "top", json!(1));
    assert_eq!(text, "top = 1\n\n[a]\nx = 1\n");
    let text = set(Format::Toml, "a.x = 1\nb = 2\n", "a.y", json!(1));
    assert_eq!(text, "a.x = 1\na.y = 1\nb = 2\n");
    let text = set(Format::Toml, "a = { x = 1 } # c\n", "a.y", json!(1));
    assert_eq!(text, "a = { x = 1, y = 1 } # c\n");
    let text = set(Format::Toml, "[a.b]\nx = 1\n", "a.k", json!(true));
    assert_eq!(text, "[a.b]\nx = 1\n\n[a]\nk = true\n");
}

#[test]
fn a_changed_toml_table_is_replaced_where_it_stands() {
    let user = "[a]\nx = 1\n\n[ours]\nk = 1\n\n[ours.sub]\nz = 1\n\n[z]\ny = 2\n";
    assert_eq!(set(Format::Toml, user, "ours", json!({"k": 2})), "[a]\nx = 1\n\n[ours]\nk = 2\n\n[z]\ny = 2\n");
    assert_eq!(set(Format::Toml, user, "ours.k", json!([1])), user.replace("k = 1", "k = [1]"));
}

#[test]
fn tables_made_for_an_entry_are_told() {
    let mut document = json_doc("{\"a\": {}}");
    assert_eq!(document.set(&path("a.b.c.d"), &json!(1)).unwrap(), vec![path("a.b"), path("a.b.c")]);
    assert_eq!(document.push(&path("l.m"), &json!(1)).unwrap(), vec![path("l"), path("l.m")]);
    assert_eq!(document.push(&path("l.m"), &json!(2)).unwrap(), Vec::<Vec<String>>::new());
}

#[test]
fn a_comment_beside_a_removed_entry_stays() {
    let mut document = json_doc("{\n  \"a\": 1, // about a\n  \"b\": 2 // about b\n}\n");
    document.remove(&path("b")).unwrap();
    assert_eq!(document.text(), "{\n  \"a\": 1 // about a\n  // about b\n}\n");
    let mut document = toml_doc("# above\nk = 1 # beside\n");
    document.remove(&path("k")).unwrap();
    assert_eq!(document.text(), "# above\n# beside\n");
}

#[test]
fn nesting_without_end_is_refused_not_followed() {
    let deep = 200_000;
    for (format, text) in [
        (Format::Json, format!("{{\"a\": {}{}}}", "[".repeat(deep), "]".repeat(deep))),
        (Format::Json, "{\"a\":".repeat(deep)),
        (Format::Toml, format!("a = {}{}", "[".repeat(deep), "]".repeat(deep))),
        (Format::Toml, format!("{}x = 1", "a.".repeat(deep))),
        (Format::Toml, format!("[{}x]", "a.".repeat(deep))),
    ] {
        assert!(matches!(Document::parse(format, &text), Err(EditError::Syntax { .. })));
    }
}

#[test]
fn a_long_text_goes_into_a_toml_file_with_crlf() {
    let user = "a = 1\r\n\r\n[t]\r\nb = 2\r\n";
    let mut document = toml_doc(user);
    document.set(&path("long"), &json!("one\n\"two\"\n")).unwrap();
    assert_eq!(document.text(), user.replace("a = 1\r\n", "a = 1\r\nlong = \"\"\"\r\none\r\n\"two\"\r\n\"\"\"\r\n"));
    document.remove(&path("long")).unwrap();
    assert_eq!(document.text(), user);
}

#[test]
fn lists_of_toml_tables_take_and_give_back_tables() {
    let user = "[[hooks]]\nrun = \"a\"\n";
    let mut document = toml_doc(user);
    document.push(&path("hooks"), &json!({"run": "b"})).unwrap();
    assert_eq!(document.text(), "[[hooks]]\nrun = \"a\"\n\n[[hooks]]\nrun = \"b\"\n");
    document.pull(&path("hooks"), 1).unwrap();
    assert_eq!(document.text(), user);
}

/// How a generated file is written.
#[derive(Debug, Clone)]
struct Style {
    unit: &'static str,
    eol: &'static str,
    bom: bool,
    last: bool,
    trailing: bool,
    comments: bool,
}

fn style() -> impl Strategy<Value = Style> {
    (
        prop_oneof![Just("  "), Just("    "), Just("\t")],
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(unit, crlf, bom, last, trailing, comments)| Style {
            unit,
            eol: if crlf { "\r\n" } else { "\n" },
            bom,
            last,
            trailing,
            comments,
        })
}

impl Style {
    fn finish(&self, body: &str) -> String {
        let text = body.replace('\n', self.eol);
        format!("{}{text}{}", if self.bom { "\u{feff}" } else { "" }, if self.last { self.eol } else { "" })
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i32>().prop_map(|n| json!(n)),
        any::<bool>().prop_map(|b| json!(b)),
        "[a-z \"#/,}\\]]{0,6}".prop_map(|s| json!(s))
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    let value = scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-d]", value, 0..4).prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn write_json(value: &Value, style: &Style, depth: usize, inline: bool) -> String {
    let items: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| write_json(item, style, depth + 1, inline)).collect(),
        Value::Object(map) => map
            .iter()
            // Some objects are one line in a file of many lines.
            .map(|(key, item)| format!("\"{key}\":  {}", write_json(item, style, depth + 1, inline || key == "b")))
            .collect(),
        scalar => return scalar.to_string(),
    };
    let (open, close) = if value.is_array() { ("[", "]") } else { ("{", "}") };
    if items.is_empty() {
        return format!("{open}{close}");
    }
    if inline {
        return format!("{open} {}{} {close}", items.join(" , "), if style.trailing { "," } else { "" });
    }
    let pad = style.unit.repeat(depth + 1);
    let mut out = format!("{open}\n");
    for (at, item) in items.iter().enumerate() {
        if style.comments && at % 2 == 0 {
            out += &format!("{pad}// above, \"x\": {{\n");
        }
        let comma = if at + 1 < items.len() || style.trailing { "," } else { "" };
        let beside = if style.comments && at % 3 != 1 { " /* beside */ // , end" } else { "" };
        out += &format!("{pad}{item}{comma}{beside}\n");
    }
    format!("{out}{}{close}", style.unit.repeat(depth))
}

fn write_toml(value: &Value, style: &Style) -> String {
    fn table(path: &str, value: &Value, style: &Style, out: &mut String) {
        let Value::Object(map) = value else { return };
        if !path.is_empty() {
            *out += &format!(
                "\n{}[{path}]{}\n",
                if style.comments { "# above\n" } else { "" },
                if style.comments { " # head" } else { "" }
            );
        }
        for (key, value) in map.iter().filter(|(key, value)| !value.is_object() || *key == "b") {
            let beside = if style.comments { "   # beside, = [x]" } else { "" };
            *out += &format!(
                "{}{key}   = {}{beside}\n",
                if path.is_empty() { "" } else { style.unit },
                inline(value, style)
            );
        }
        for (key, value) in map.iter().filter(|(key, value)| value.is_object() && *key != "b") {
            table(&if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, value, style, out);
        }
    }
    fn inline(value: &Value, style: &Style) -> String {
        match value {
            Value::Array(items) if items.len() > 1 && style.trailing => {
                format!(
                    "[\n{}]",
                    items.iter().map(|item| format!("    {}, # c\n", inline(item, style))).collect::<String>()
                )
            }
            Value::Array(items) => {
                format!("[{}]", items.iter().map(|item| inline(item, style)).collect::<Vec<_>>().join(" , "))
            }
            Value::Object(map) if map.is_empty() => "{}".to_owned(),
            Value::Object(map) => {
                format!(
                    "{{ {} }}",
                    map.iter()
                        .map(|(key, item)| format!("{key} = {}", inline(item, style)))
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            }
            Value::String(text) => format!("'{text}'"),
            scalar => scalar.to_string(),
        }
    }
    let mut out = if style.comments { "# a file of mine\n\n".to_owned() } else { String::new() };
    table("", value, style, &mut out);
    out.strip_suffix('\n').map_or(out.clone(), str::to_owned)
}

fn ours() -> impl Strategy<Value = Value> {
    prop_oneof![scalar(), tree(), Just(json!(["x", {"k": 1}])), Just(json!("long\ntext \"\"\" with\n"))]
}

/// Where to put ours: below a table that is there, by a new name.
fn tables(value: &Value, above: &[String], out: &mut Vec<Vec<String>>) {
    if let Value::Object(map) = value {
        out.push(above.to_vec());
        for (key, inner) in map {
            let mut path = above.to_vec();
            path.push(key.clone());
            tables(inner, &path, out);
        }
    }
}

fn lists(value: &Value, above: &[String], out: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let mut path = above.to_vec();
                path.push(key.clone());
                lists(inner, &path, out);
            }
        }
        Value::Array(_) => out.push(above.to_vec()),
        _ => {}
    }
}

fn set_and_remove(format: Format, text: &str, ours: &Value, pick: usize) -> Result<(), TestCaseError> {
    let before = Document::parse(format, text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    let mut places = Vec::new();
    tables(before.value(), &[], &mut places);
    let mut at = places[pick % places.len()].clone();
    at.push("zz".to_owned());
    let mut document = before.clone();
    document.set(&at, ours).map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
    prop_assert_eq!(document.get(&at).unwrap(), Some(ours));
    let once = document.text().to_owned();
    document.set(&at, ours).unwrap();
    prop_assert_eq!(document.text(), &once);
    document.set(&at, &json!({"other": [1, 2]})).map_err(|error| TestCaseError::fail(format!("{error}:\n{once}")))?;
    document.set(&at, ours).map_err(|error| TestCaseError::fail(format!("{error}:\n{}", document.text())))?;
    document.remove(&at).map_err(|error| TestCaseError::fail(format!("{error}:\n{once}")))?;
    prop_assert_eq!(document.text(), text, "after\n{}", once);
    let mut places = Vec::new();
    lists(before.value(), &[], &mut places);
    if let Some(at) = (!places.is_empty()).then(|| &places[pick % places.len()]) {
        let mut document = before.clone();
        let len = document.list(at).unwrap().unwrap().len();
        document.push(at, ours).map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
        let once = document.text().to_owned();
        document.pull(at, len).map_err(|error| TestCaseError::fail(format!("{error}:\n{once}")))?;
        prop_assert_eq!(document.text(), text, "after\n{}", once);
    }
    Ok(())
}

/// Removing anything at all leaves every comment and every other value.
fn remove_anything(format: Format, text: &str, pick: usize) -> Result<(), TestCaseError> {
    let before = Document::parse(format, text).unwrap();
    let mut places = Vec::new();
    tables(before.value(), &[], &mut places);
    let at = &places[pick % places.len()];
    let Some(Value::Object(map)) = before.get(at).unwrap() else { return Ok(()) };
    let Some(key) = map.keys().nth(pick % map.len().max(1)) else { return Ok(()) };
    let mut path = at.clone();
    path.push(key.clone());
    let mut document = before.clone();
    // The verification in `remove` itself compares all other values.
    document.remove(&path).map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
    Ok(())
}

/// TOML in all its forms: dotted keys, implicit tables, lists of tables, quoted names, headers out of order.
fn toml_soup() -> impl Strategy<Value = String> {
    let top = prop::sample::subsequence(
        vec![
            "x = 1",
            "y.z = 2",
            "y.k = 3 # c",
            "w = { p = 1, q = 2 }",
            "e = {}",
            "l = [1,\n  2, # two\n]",
            "s = \"\"\"\nm # not\n\"\"\"",
        ],
        0..7,
    );
    let tables = prop::sample::subsequence(
        vec![
            "[t]",
            "[t.u]\nk = 1",
            "[[a]]\nk = 1\n\n[a.sub]\nk = 2",
            "[[a]]",
            "[q.\"a b\".c]\n  k = 1 # in",
            "[r] # head\nd.e = 1\nf = 1",
            "[r.z]\n",
        ],
        0..7,
    )
    .prop_shuffle();
    let gap = prop::collection::vec(
        prop_oneof![Just("\n"), Just("\n\n"), Just("\n# note\n"), Just("\n\n# note\n\n"), Just("  \n")],
        16,
    );
    (top, tables, gap, any::<bool>(), any::<bool>()).prop_map(|(top, tables, gaps, crlf, last)| {
        let mut out = String::new();
        for (part, gap) in top.iter().chain(&tables).zip(&gaps) {
            out += part;
            out += gap;
        }
        if !last {
            out.truncate(out.trim_end().len());
        }
        if crlf { out.replace('\n', "\r\n") } else { out }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn toml_in_any_form_gives_every_byte_back(text in toml_soup(), ours in ours(), at in prop::sample::select(vec![
        "new", "t.new", "t.u.new", "y.new", "w.new", "e.new", "q.new", "q.a b.new", "q.a b.c.new", "r.new", "r.d.new", "r.z.new", "n.m.new",
    ])) {
        // Not every order of headers is TOML.
        prop_assume!(Document::parse(Format::Toml, &text).is_ok());
        let before = toml_doc(&text);
        let at = path(at);
        let mut document = before.clone();
        let made = document.set(&at, &ours).map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
        let once = document.text().to_owned();
        prop_assert!(is_within(&dense(&text), &dense(&once)), "{}\n=>\n{}", text, once);
        document.set(&at, &json!({"k": [1]})).map_err(|error| TestCaseError::fail(format!("{error}:\n{once}")))?;
        document.set(&at, &ours).map_err(|error| TestCaseError::fail(format!("{error}:\n{}", document.text())))?;
        document.remove(&at).map_err(|error| TestCaseError::fail(format!("{error}:\n{once}")))?;
        for table in made.iter().rev() {
            let done = if document.is_empty_at(table) { document.remove(table).map(drop) } else { document.remove_header(table) };
            done.map_err(|error| TestCaseError::fail(format!("{error}:\n{once}")))?;
        }
        prop_assert_eq!(document.text(), &text, "after\n{}", once);
    }
}

/// JSON with anything between its tokens.
fn scattered(value: &Value, gaps: &mut impl FnMut() -> String, trailing: bool) -> String {
    let items: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| scattered(item, gaps, trailing)).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, item)| format!("\"{key}\"{}:{}{}", gaps(), gaps(), scattered(item, gaps, trailing)))
            .collect(),
        scalar => return scalar.to_string(),
    };
    let (open, close) = if value.is_array() { ("[", "]") } else { ("{", "}") };
    let mut out = open.to_owned();
    for (at, item) in items.iter().enumerate() {
        out += &format!("{}{item}{}", gaps(), gaps());
        if at + 1 < items.len() || trailing {
            out += ",";
        }
    }
    out + &gaps() + close
}

fn dense(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

fn is_within(small: &str, large: &str) -> bool {
    let mut letters = large.chars();
    small.chars().all(|letter| letters.any(|other| other == letter))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn json_laid_out_in_any_way_keeps_its_comments_and_values(
        value in tree(), ours in ours(), pick in 0usize..50, trailing in any::<bool>(),
        gaps in prop::collection::vec(prop_oneof![Just(""), Just(""), Just(" "), Just("\n"), Just("\n  "), Just("/* c, */"), Just("// d\n"), Just(" \t/* e\n */ ")], 40),
    ) {
        let mut turn = gaps.iter().cycle();
        let text = scattered(&value, &mut || (*turn.next().unwrap()).to_owned(), trailing);
        let before = json_doc(&text);
        let comments = |text: &str| ["/* c, */", "// d", "/* e"].map(|comment| text.matches(comment).count());
        let mut places = Vec::new();
        tables(before.value(), &[], &mut places);
        let at = &places[pick % places.len()];
        let mut document = before.clone();
        let mut path = at.clone();
        path.push("zz".to_owned());
        document.set(&path, &ours).map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
        prop_assert!(is_within(&dense(&text), &dense(document.text())), "{}\n=>\n{}", text, document.text());
        let once = document.text().to_owned();
        document.remove(&path).map_err(|error| TestCaseError::fail(format!("{error}:\n{once}")))?;
        prop_assert_eq!(dense(document.text()), dense(&text), "{}\n=>\n{}\n=>\n{}", text, once, document.text());
        if let Some(Value::Object(map)) = before.get(at).unwrap() {
            for key in map.keys() {
                let mut path = at.clone();
                path.push(key.clone());
                let mut document = before.clone();
                let inside = document.get(&path).unwrap().unwrap().clone();
                document.remove(&path).map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
                if !inside.is_object() && !inside.is_array() {
                    // Comments between a key and its value go with them; all others stay.
                    let own = before.text().len() - document.text().len();
                    let lost: usize = comments(&text).iter().zip(comments(document.text())).map(|(was, is)| was - is).sum();
                    prop_assert!(lost <= 2 && own > 0, "{}\n=>\n{}", text, document.text());
                }
            }
        }
        let mut places = Vec::new();
        lists(before.value(), &[], &mut places);
        if !places.is_empty() {
            let at = &places[pick % places.len()];
            let mut document = before.clone();
            let len = document.list(at).unwrap().unwrap().len();
            document.push(at, &ours).map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
            let once = document.text().to_owned();
            document.pull(at, len).map_err(|error| TestCaseError::fail(format!("{error}:\n{once}")))?;
            prop_assert_eq!(dense(document.text()), dense(&text), "{}\n=>\n{}\n=>\n{}", text, once, document.text());
            for index in 0..len {
                let mut document = before.clone();
                document.pull(at, index).map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn json_set_then_remove_gives_every_byte_back(value in tree(), style in style(), ours in ours(), pick in 0usize..50, inline in any::<bool>()) {
        let text = style.finish(&write_json(&value, &style, 0, inline));
        set_and_remove(Format::Json, &text, &ours, pick)?;
        remove_anything(Format::Json, &text, pick)?;
    }

    #[test]
    fn toml_set_then_remove_gives_every_byte_back(value in tree(), style in style(), ours in ours(), pick in 0usize..50) {
        let text = style.finish(&write_toml(&value, &style));
        set_and_remove(Format::Toml, &text, &ours, pick)?;
        remove_anything(Format::Toml, &text, pick)?;
    }
}
