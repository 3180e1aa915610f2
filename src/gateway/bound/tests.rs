//! Answers of every kind, and how they go out.

use std::cell::RefCell;
use std::fmt::Write as _;

use base64::Engine as _;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Keeps in memory, or says that the disk is full.
#[derive(Default)]
struct Shelf {
    kept: RefCell<Vec<(String, Vec<u8>)>>,
    full: bool,
}

impl Keep for Shelf {
    fn keep(&self, bytes: &[u8], kind: Kind) -> Result<Artifact, String> {
        if self.full {
            return Err("no space".to_owned());
        }
        let mut kept = self.kept.borrow_mut();
        let id = format!("a{}.{}", kept.len(), kind.ending);
        kept.push((id.clone(), bytes.to_vec()));
        let (path, sha256) = (format!("p/{id}"), "0".repeat(64));
        Ok(Artifact { path, id, bytes: bytes.len(), sha256, mime: kind.mime, pixels: pixels(bytes) })
    }
}

const SIZES: Sizes = Sizes { target: 3000, inline_media: 1000 };

fn text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

fn all_text(done: &Bounded) -> String {
    done.content.iter().filter_map(|b| b["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn run(raw: Value, bounds: &ResultBounds, wanted: Wanted) -> (Bounded, Vec<(String, Vec<u8>)>) {
    let shelf = Shelf::default();
    let done = bound(&raw, SIZES, bounds, wanted, &shelf);
    (done, shelf.kept.into_inner())
}

fn plain(raw: Value) -> (Bounded, Vec<(String, Vec<u8>)>) {
    run(raw, &ResultBounds::default(), Wanted::default())
}

/// A picture of about `size` bytes with a true head.
fn picture(size: usize) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\0\0\0\x02\xd0".to_vec();
    png.resize(size, 7);
    png
}

fn image(bytes: &[u8], mime: &str) -> Value {
    json!({ "type": "image", "data": base64::engine::general_purpose::STANDARD.encode(bytes), "mimeType": mime })
}

#[test]
fn a_small_answer_goes_out_as_it_came() {
    let (done, kept) = plain(json!({ "content": [text("a"), text("{\"b\":1}")], "isError": true }));
    assert_eq!(done.content, [text("a"), text("{\"b\":1}")]);
    assert!(done.is_error && !done.truncated && kept.is_empty() && done.meta.is_empty());
}

#[test]
fn the_same_again_as_structure_costs_nothing_and_structure_alone_is_not_lost() {
    let body = "x".repeat(2000);
    let (twice, _) =
        plain(json!({ "content": [text(body.clone())], "structuredContent": { "content": body.clone() } }));
    assert_eq!(twice.content, [text(body)]);
    let structure = json!({ "rows": [1, 2] });
    let (same, _) = plain(json!({ "content": [text("{ \"rows\": [1,2] }")], "structuredContent": structure }));
    assert_eq!(same.content.len(), 1);
    let (alone, _) = plain(json!({ "content": [], "structuredContent": structure }));
    assert_eq!(alone.content, [text(structure.to_string())]);
    let (more, _) = plain(json!({ "content": [text("2 rows")], "structuredContent": structure }));
    assert_eq!(more.content, [text("2 rows"), text(structure.to_string())]);
}

#[test]
fn structure_is_within_the_budget_too() {
    let rows: Vec<Value> = (0..400).map(|n| json!({ "n": n, "name": "a name" })).collect();
    let (done, kept) = plain(json!({ "content": [], "structuredContent": { "rows": rows } }));
    assert!(all_text(&done).len() <= SIZES.target && done.truncated);
    let cut: Value = serde_json::from_str(done.content[0]["text"].as_str().unwrap()).unwrap();
    assert!(cut["rows"].as_array().unwrap().len() > 50);
    let whole: Value = serde_json::from_slice(&kept[0].1).unwrap();
    assert_eq!((whole["rows"].as_array().unwrap().len(), kept[0].0.as_str()), (400, "a0.json"));
}

#[test]
fn a_note_says_how_much_is_missing_and_how_to_get_it() {
    let mut log = String::new();
    for n in 0..500 {
        writeln!(log, "line {n}").unwrap();
    }
    let bounds = ResultBounds { narrow: Some("max".into()), cursor: Some("page".into()), ..ResultBounds::default() };
    let (done, kept) = run(json!({ "content": [text(log.clone())] }), &bounds, Wanted::default());
    let note = done.content.last().unwrap()["text"].as_str().unwrap();
    assert!(note.starts_with("[truncated: ") && note.contains(&format!("of {} bytes", log.len())), "{note}");
    assert!(
        note.ends_with("all of it: read_artifact with id a0.txt; ask for less with `max`; go on with `page`]"),
        "{note}"
    );
    assert_eq!(kept[0].1, log.as_bytes());
    assert_eq!(done.meta[META]["truncated"], true);
    let reader = Wanted { reads_files: true, ..Wanted::default() };
    let (done, _) = run(json!({ "content": [text(log)] }), &bounds, reader);
    assert!(all_text(&done).contains("all of it: p/a0.txt"));
}

#[test]
fn entries_are_counted_and_what_the_call_asked_for_goes_before_the_first_pass() {
    let rows = json!((0..30).collect::<Vec<_>>()).to_string();
    let bounds = ResultBounds { entries: Some(10), entries_limit: Some(20), ..ResultBounds::default() };
    let shown = |entries| {
        let (done, _) =
            run(json!({ "content": [text(rows.clone())] }), &bounds, Wanted { entries, ..Wanted::default() });
        let list: Value = serde_json::from_str(done.content[0]["text"].as_str().unwrap()).unwrap();
        (list.as_array().unwrap().len(), all_text(&done).contains("of 30 entries"))
    };
    assert_eq!([shown(None), shown(Some(15)), shown(Some(999))], [(10, true), (15, true), (20, true)]);
}

#[test]
fn pictures_become_files_unless_everything_allows_them_inline() {
    let small = image(&picture(800), "image/png");
    let inline = Wanted { delivery: Delivery::Inline, ..Wanted::default() };
    let allowed = ResultBounds { inline_media: true, ..ResultBounds::default() };
    for (bounds, wanted) in [
        (&ResultBounds::default(), Wanted::default()),
        (&ResultBounds::default(), inline),
        (&allowed, Wanted::default()),
    ] {
        let (done, kept) = run(json!({ "content": [small.clone()] }), bounds, wanted);
        assert!(all_text(&done).contains("[image/png 1280x720, 800 bytes: artifact a0.png]"), "{done:?}");
        assert_eq!((kept.len(), done.inline, done.content.len()), (1, 0, 1));
    }
    let (done, kept) = run(json!({ "content": [small.clone()] }), &allowed, inline);
    assert_eq!((&done.content[0], kept.len(), done.inline), (&small, 0, 1));
    let large = image(&picture(1001), "image/png");
    let (done, kept) = run(json!({ "content": [large] }), &allowed, inline);
    assert!(all_text(&done).contains("[not inline: 1001 bytes, of at most 1000]") && kept.len() == 1, "{done:?}");
    let (done, _) = run(json!({ "content": [small.clone(), small] }), &allowed, inline);
    assert_eq!(done.inline, 1, "the limit is of the whole answer");
    assert_eq!(done.meta[META]["delivery"]["given"], "artifact", "not all of it went as asked");
}

#[test]
fn the_notes_say_how_media_were_asked_for_how_they_went_and_why() {
    let allowed = ResultBounds { inline_media: true, ..ResultBounds::default() };
    let inline = Wanted { delivery: Delivery::Inline, ..Wanted::default() };
    let delivery = |size: usize, wanted| {
        let blocks = if size == 0 { vec![text("a path")] } else { vec![image(&picture(size), "image/png")] };
        run(json!({ "content": blocks }), &allowed, wanted).0.meta[META].clone()
    };
    let facts = delivery(600, Wanted::default());
    assert_eq!(facts["delivery"], json!({ "asked": "artifact", "given": "artifact" }));
    let kept = &facts["artifacts"][0];
    assert_eq!((&kept["width"], &kept["height"], &kept["bytes"]), (&json!(1280), &json!(720), &json!(600)));
    assert_eq!(kept["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(delivery(600, inline)["delivery"], json!({ "asked": "inline", "given": "inline" }));
    let over = json!({ "asked": "inline", "given": "artifact", "why": "1001 bytes, of at most 1000" });
    assert_eq!(delivery(1001, inline)["delivery"], over);
    let facts = delivery(600, Wanted { path_given: true, ..inline });
    assert_eq!(facts["delivery"]["why"], "a path was given");
    assert_eq!(facts["artifactCount"], 1, "and nothing of it is in the answer");
    assert_eq!(delivery(0, inline)["delivery"]["given"], "artifact", "there was no picture to put into the answer");
    let plain = run(json!({ "content": [text("x")] }), &ResultBounds::default(), inline).0;
    assert!(plain.meta.is_empty(), "where nobody can choose nothing is said");
}

#[test]
fn what_a_server_says_of_bytes_names_no_file() {
    let lie = image(b"\x00\x01\x02", "../../etc/passwd");
    let (done, kept) = plain(json!({ "content": [lie] }));
    assert_eq!(kept[0].0, "a0.bin");
    assert!(!all_text(&done).contains("passwd"));
}

#[test]
fn bytes_hidden_in_text_structure_and_resources_become_files() {
    let encoded = base64::engine::general_purpose::STANDARD
        .encode((0..9000_u32).flat_map(|n| (n * 7919).to_be_bytes()).collect::<Vec<_>>());
    for raw in [
        json!({ "content": [text(format!("before {encoded} after"))] }),
        json!({ "content": [text(format!("data:image/png;base64,{encoded}"))] }),
        json!({ "content": [], "structuredContent": { "shot": encoded } }),
        json!({ "content": [{ "type": "resource", "resource": { "uri": "x://y", "blob": encoded } }] }),
        json!({ "content": [{ "type": "resource", "resource": { "uri": "x://y", "text": encoded } }] }),
        json!({ "content": [{ "type": "audio", "data": encoded, "mimeType": "audio/wav" }] }),
        json!({ "content": [{ "type": "novelty", "data": encoded }] }),
    ] {
        let (done, kept) = plain(raw);
        assert_eq!(kept.len(), 1, "{done:?}");
        assert!(all_text(&done).len() < 300, "{done:?}");
    }
}

#[test]
fn without_room_for_files_the_answer_is_bounded_all_the_same() {
    let shelf = Shelf { full: true, ..Shelf::default() };
    let raw = json!({ "content": [image(&picture(5000), "image/png"), text("y".repeat(9000))] });
    let done = bound(&raw, SIZES, &ResultBounds::default(), Wanted::default(), &shelf);
    let out = all_text(&done);
    assert!(
        out.contains("could not be kept: no space") && out.len() <= SIZES.target && done.artifacts.is_empty(),
        "{out}"
    );
}

#[test]
fn an_error_keeps_its_head_and_is_not_counted() {
    let mut log = "the reason\n".to_owned();
    log.push_str(&"trace\n".repeat(2000));
    let bounds = ResultBounds { entries: Some(2), lines: true, ..ResultBounds::default() };
    let (done, _) = run(json!({ "content": [text(log)], "isError": true }), &bounds, Wanted::default());
    assert!(done.is_error && all_text(&done).starts_with("the reason\ntrace\ntrace\ntrace"));
}

fn any_block() -> impl Strategy<Value = Value> {
    prop_oneof![
        ".{0,200}".prop_map(text),
        (1_usize..4000).prop_map(|n| text("é\n".repeat(n))),
        (1_usize..6000).prop_map(|n| image(&picture(n), "image/png")),
        (0_usize..600).prop_map(|n| text(json!((0..n).collect::<Vec<_>>()).to_string())),
        Just(json!({ "type": "image", "data": "not base64!", "mimeType": 5 })),
        Just(json!({ "type": "resource" })),
        Just(json!({ "type": "resource_link", "uri": "u".repeat(5000), "name": ["x"] })),
        Just(json!(null)),
        Just(json!({ "type": ["text"], "text": {} })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_answer_is_over_the_target(
        blocks in prop::collection::vec(any_block(), 0..8),
        inline in any::<bool>(),
        entries in prop::option::of(0_u64..50),
        full in any::<bool>(),
    ) {
        let bounds = ResultBounds { inline_media: inline, entries, lines: true, ..ResultBounds::default() };
        let wanted = Wanted { delivery: if inline { Delivery::Inline } else { Delivery::Artifact }, ..Wanted::default() };
        let shelf = Shelf { full, ..Shelf::default() };
        let done = bound(&json!({ "content": blocks }), SIZES, &bounds, wanted, &shelf);
        let texts: usize = done.content.iter().filter_map(|b| b["text"].as_str()).map(str::len).sum();
        prop_assert!(texts <= SIZES.target, "{texts}");
        let media: usize = done.content.iter().filter_map(|b| b["data"].as_str()).map(|d| d.len() * 3 / 4).sum();
        prop_assert!(media <= SIZES.inline_media + 3, "{media}");
        let strange = done.content.iter().any(|b| !matches!(b["type"].as_str(), Some("text" | "image" | "audio")));
        prop_assert!(!strange);
    }
}
