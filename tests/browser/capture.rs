//! The contract of pictures: a file by default, in the answer only when asked for and small enough, never both.

use serde_json::json;

use super::place::Place;
use super::{gateway::Answer, web};

/// `budgets.inline-media.limit` of the shipped policy, in decoded bytes.
const LIMIT: u64 = 256 << 10;

/// What is kept is the picture that was taken, and the notes say what it is.
fn kept(place: &Place, answer: &Answer, kind: &str, pixels: Option<(u64, u64)>) -> u64 {
    assert!(answer.pictures.is_empty() && !answer.carries_base64(), "{}", answer.written);
    let artifact = answer.artifact();
    let bytes = std::fs::read(place.root().join(artifact["path"].as_str().unwrap())).unwrap();
    let digest = rolecast::text::digest::digest(&bytes);
    assert_eq!(digest.rsplit(':').next(), artifact["sha256"].as_str());
    assert_eq!((artifact["bytes"].as_u64(), artifact["mimeType"].as_str()), (Some(bytes.len() as u64), Some(kind)));
    let size = artifact["width"].as_u64().zip(artifact["height"].as_u64());
    assert!(pixels.is_none() || size == pixels, "{artifact}");
    assert!(answer.text.contains(artifact["path"].as_str().unwrap()), "{}", answer.text);
    bytes.len() as u64
}

fn fell_back(answer: &Answer) {
    let delivery = &answer.notes["delivery"];
    assert_eq!((&delivery["asked"], &delivery["given"]), (&json!("inline"), &json!("artifact")), "{}", answer.written);
    let why = delivery["why"].as_str().unwrap();
    assert!(why.contains("262144") && answer.text.contains(&format!("[not inline: {why}]")), "{}", answer.written);
}

fn inline(answer: &Answer) -> u64 {
    assert_eq!(answer.notes["delivery"], json!({ "asked": "inline", "given": "inline" }), "{}", answer.written);
    let [picture] = answer.pictures.as_slice() else { panic!("{}", answer.written) };
    assert_eq!(answer.notes["artifactCount"], 0, "no second copy");
    picture["data"].as_str().unwrap().len() as u64 * 3 / 4
}

#[test]
fn a_picture_is_a_file_unless_it_is_asked_for_and_small() {
    let Some(place) = Place::pinned() else { return };
    let (pages, mut gateway) = (web::serve(), place.serve(Some("tester")));
    let view = Some((1280, 720));
    gateway.open(&format!("{pages}/plain"));
    for arguments in [json!({}), json!({ "delivery": "artifact" })] {
        let answer = gateway.good("browser_capture_screenshot", arguments);
        assert_eq!(answer.notes["delivery"], json!({ "asked": "artifact", "given": "artifact" }));
        let bytes = kept(&place, &answer, "image/png", view);
        assert!(bytes < LIMIT, "it is its size that decides, and small ones are files, too: {bytes}");
    }
    let small = json!({ "target": "#small", "delivery": "inline" });
    assert!(inline(&gateway.good("browser_capture_screenshot", small)) < 2000);
    let answer = gateway.good("browser_capture_screenshot", json!({ "type": "jpeg" }));
    kept(&place, &answer, "image/jpeg", view);
    gateway.open(&format!("{pages}/noisy"));
    let answer = gateway.good("browser_capture_screenshot", json!({ "delivery": "inline" }));
    let noisy = kept(&place, &answer, "image/png", view);
    fell_back(&answer);
    gateway.open(&format!("{pages}/table"));
    let table = kept(&place, &gateway.good("browser_capture_screenshot", json!({})), "image/png", view);
    assert!(noisy > LIMIT && table < noisy, "{noisy} {table}");
    // A path is nothing that these tools take.
    for wrong in [json!({ "filename": "x.png" }), json!({ "delivery": "both" }), json!({ "scale": "device" })] {
        let answer = gateway.call("browser_capture_screenshot", wrong);
        assert!(answer.failed && answer.pictures.is_empty(), "{}", answer.written);
    }
}

/// Marks on the page are in its picture, and a picture that a person draws on keeps the same contract.
#[test]
fn pictures_with_marks_are_delivered_alike() {
    let Some(place) = Place::pinned() else { return };
    let (pages, mut gateway) = (web::serve(), place.serve(Some("tester")));
    gateway.open(&format!("{pages}/plain"));
    let plain = gateway.good("browser_capture_screenshot", json!({}));
    gateway.good("browser_highlight", json!({ "target": "#small" }));
    let marked = gateway.good("browser_capture_screenshot", json!({}));
    kept(&place, &marked, "image/png", Some((1280, 720)));
    assert_ne!(plain.artifact()["sha256"], marked.artifact()["sha256"], "the mark is seen");
    gateway.open(&format!("{pages}/noisy"));
    gateway.good("browser_highlight", json!({ "target": "#c" }));
    fell_back(&gateway.good("browser_capture_screenshot", json!({ "delivery": "inline" })));
    let tools = gateway.tools();
    let delivery = |name: &str| tools[name]["inputSchema"]["properties"]["delivery"].clone();
    assert_eq!(delivery("browser_annotate"), delivery("browser_capture_screenshot"));
    assert_eq!(delivery("browser_annotate")["default"], "artifact");
    // It waits for a person at a window, and the server is given no display.
    if cfg!(target_os = "linux") {
        let answer = gateway.call("browser_annotate", json!({ "delivery": "inline" }));
        assert!(answer.failed && answer.pictures.is_empty() && !answer.carries_base64(), "{}", answer.written);
        assert_eq!((&answer.notes["delivery"]["given"]), &json!("artifact"));
    }
}

#[test]
fn a_given_path_is_the_only_place_of_a_picture() {
    let Some(place) = Place::pinned() else { return };
    let (pages, mut gateway) = (web::serve(), place.serve(Some("writer")));
    gateway.open(&format!("{pages}/plain"));
    let given = gateway.good("browser_take_screenshot", json!({ "scale": "css", "filename": "proof.png" }));
    assert!(given.pictures.is_empty() && !given.carries_base64() && given.text.contains("proof.png"), "{given:?}");
    let bytes = std::fs::read(place.root().join("proof.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    assert!(given.notes.is_null(), "nothing is kept a second time: {}", given.written);
    // The raw one knows no other delivery.
    let raw = gateway.good("browser_take_screenshot", json!({ "scale": "css" }));
    kept(&place, &raw, "image/png", Some((1280, 720)));
    assert!(gateway.call("browser_take_screenshot", json!({ "scale": "css", "delivery": "inline" })).failed);
}

#[test]
fn a_given_path_outdoes_the_wish_for_a_picture_in_the_answer() {
    let Some(place) = Place::pinned() else { return };
    let (pages, mut gateway) = (web::serve(), place.serve(Some("writer")));
    gateway.open(&format!("{pages}/plain"));
    inline(&gateway.good("save_picture", json!({ "delivery": "inline" })));
    let given = gateway.good("save_picture", json!({ "delivery": "inline", "path": "own.png" }));
    let delivery = json!({ "asked": "inline", "given": "artifact", "why": "a path was given" });
    assert_eq!(given.notes["delivery"], delivery, "{}", given.written);
    assert!(given.pictures.is_empty() && !given.carries_base64(), "{}", given.written);
    assert!(place.root().join("own.png").exists());
}

#[test]
fn what_the_server_keeps_by_itself_is_unknown_to_git() {
    let Some(place) = Place::pinned() else { return };
    let (pages, mut gateway) = (web::serve(), place.serve(Some("tester")));
    let (before, seen) = (place.files(), place.untracked());
    gateway.open(&format!("{pages}/plain"));
    gateway.good("browser_capture_screenshot", json!({}));
    let pdf = gateway.good("browser_capture_pdf", json!({}));
    gateway.good("browser_start_tracing", json!({}));
    gateway.good("browser_stop_tracing", json!({}));
    let path = pdf.text.split(['(', ')']).find(|part| part.ends_with(".pdf")).unwrap();
    assert!(path.starts_with(".rolecast/artifacts/playwright/"), "{path}");
    assert!(std::fs::read(place.root().join(path)).unwrap().starts_with(b"%PDF"));
    assert!(place.files() == before, "nothing but the folder of artifacts has changed");
    assert_eq!(place.untracked(), seen);
}
