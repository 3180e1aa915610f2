//! The page for browsers: what it says, that it runs and loads nothing, and how a real browser takes it.

use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::support::Repo;
use crate::{POLICY, logs, seed};

/// A name that breaks out of where it stands, if it can.
const HOSTILE: &str = "</code></td></svg><script>console.error('ran')</script><img src=\"http://other.example/x\" onerror=\"console.error('ran')\">\u{202e}'\"&{{ 7*7 }}";

fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("ROLECAST_CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    let found = named.into_iter().chain(usual).find(|p| p.is_file());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "tests/browser/install was not run");
        eprintln!("SKIPPED: no Chromium here; tests/browser/install installs it");
    }
    found
}

fn page(repo: &Repo, args: &[&str]) -> String {
    let all: Vec<&str> = ["measure"].into_iter().chain(args.iter().copied()).chain(["--html", "page.html"]).collect();
    let run = repo.run(&all);
    assert!(run.code <= 1 && run.out.is_empty(), "{} {}", run.out, run.err);
    std::fs::read_to_string(repo.path().join("page.html")).unwrap()
}

fn hostile() -> Repo {
    let head = json!({ "timestamp": "2026-11-01T10:00:00Z", "ordinal": 0, "type": "session_meta", "payload": { "id": HOSTILE, "cli_version": HOSTILE } });
    let call = json!({ "timestamp": "", "ordinal": 1, "type": "response_item", "payload": { "type": "function_call", "name": HOSTILE, "call_id": "1", "arguments": "{}" } });
    let answer = json!({ "timestamp": "", "ordinal": 2, "type": "response_item", "payload": { "type": "function_call_output", "call_id": "1", "output": "word ".repeat(100) } });
    let usage = json!({ "timestamp": "", "ordinal": 3, "type": "token_usage_record", "payload": { "response_id": "r", "usage": { "input_tokens": 9 } } });
    let new = json!({ "timestamp": "", "ordinal": 4, "type": HOSTILE, "payload": {} });
    let log: String = [head, call, answer, usage, new].iter().map(|l| format!("{l}\n")).collect();
    Repo::with(POLICY).file("logs/<b>&'\" rollout.jsonl", &log)
}

#[test]
fn the_page_has_no_script_and_names_no_other_place() {
    let repo = Repo::with(POLICY);
    for text in [page(&repo, &[&logs(""), "--expect", "all"]), page(&hostile(), &["logs"])] {
        // Between tags stands what was escaped; these are the page's own.
        for own in ["<script", "<img", "<iframe", "<object", "@import", " onerror=\"", " src=\"", "javascript:"] {
            assert!(!text.contains(own), "{own}");
        }
        let links: Vec<&str> = text.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(links.iter().all(|l| l.starts_with('#') || *l == "data:,"), "{links:?}");
        assert!(text.contains("default-src 'none'"));
    }
}

#[test]
fn names_of_a_log_are_text_and_what_cannot_be_seen_is_spelled_out() {
    let text = page(&hostile(), &["logs"]);
    assert!(text.contains("&lt;script&gt;console.error(&#x27;ran&#x27;)"), "{text}");
    assert!(text.contains("{{ 7*7 }}") && text.contains("\\u{202e}") && !text.contains('\u{202e}'));
}

#[test]
fn the_page_of_the_ticket_says_what_the_report_says() {
    let repo = Repo::with(seed::POLICY);
    seed::write(repo.path());
    let text = page(&repo, &["before/codex", "after/codex", "--expect", "simple-frontend-ticket"]);
    for said in [
        "compaction 258,000 → 41,000",
        "sub-agent docs-before, role docs_writer",
        "call outside of the grants, done</td><td>sub-agent docs-before, role docs_writer</td><td class=\"n\">67</td>",
        "Input tokens of 71 requests, from 204,000 to 41,900, at most 258,000; one compaction; 0 sub-agents started.",
        "✗ BROKEN</td><td><code>taxonomy-calls</code></td><td>3 of at most 0",
        "✓ None in what is recorded.",
        "75 % hand-off",
        // The table of sessions: agents, requests, calls, most tokens, compactions, over limit, media, out of grant, reviews.
        "<td class=\"n\">2</td><td class=\"n\">198</td><td class=\"n\">194</td><td class=\"n\">258,000</td><td class=\"n\">1</td>\
         <td class=\"n\">9</td><td class=\"n\">12</td><td class=\"n\">67</td><td class=\"n\">189</td>",
        "<td class=\"n\">2</td><td class=\"n\">14</td><td class=\"n\">12</td><td class=\"n\">32,000</td><td class=\"n\">0</td>\
         <td class=\"n\">0</td><td class=\"n\">0</td><td class=\"n\">0</td><td class=\"n\">2</td>",
    ] {
        assert!(text.contains(said), "`{said}` is not on the page");
    }
    // One mark a compaction and a started agent, beside those of the legends.
    let legends = text.matches("<figcaption").count();
    assert_eq!(text.matches("class=\"mark\"").count() - legends, 1);
    assert_eq!(text.matches("class=\"spawn\"").count() - legends, 2);
}

/// Starts the browser on a page with a proxy that answers nothing, and says what it asked that for.
fn shown(browser: &Path, folder: &Path, args: &[&str]) -> (String, String, Vec<String>) {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("--proxy-server=http://{}", proxy.local_addr().unwrap());
    let (asked, asks) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in proxy.incoming().flatten() {
            let asked = asked.clone();
            std::thread::spawn(move || {
                let mut head = [0; 256];
                let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
                let read = stream.read(&mut head).unwrap_or(0);
                let _ = asked.send(String::from_utf8_lossy(&head[..read]).lines().next().unwrap_or("").to_owned());
            });
        }
    });
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"])
        .args(["--disable-component-update", "--no-first-run", "--disable-default-apps", "--disable-extensions"])
        .args([
            "--enable-logging=stderr",
            "--hide-scrollbars",
            "--window-size=1000,2400",
            "--proxy-bypass-list=<-loopback>",
        ])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(&address)
        .args(args)
        .arg(format!("file://{}", folder.join("page.html").display()))
        .env("HOME", folder)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // What this browser asks its maker by itself, with any page.
    let own = |line: &String| [".google.com", ".googleapis.com", ".gvt1.com"].iter().any(|maker| line.contains(maker));
    (text(&output.stdout), text(&output.stderr), asks.try_iter().filter(|line| !own(line)).collect())
}

fn quiet(said: &str) {
    let console: Vec<&str> = said.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:#?}");
}

#[test]
fn a_browser_shows_the_page_without_a_word_on_its_console_and_asks_for_nothing() {
    let Some(browser) = browser() else { return };
    let repo = Repo::with(seed::POLICY);
    seed::write(repo.path());
    page(&repo, &["before/codex", "after/codex", "--expect", "simple-frontend-ticket"]);
    let (dom, said, asked) = shown(&browser, repo.path(), &["--dump-dom"]);
    assert!(dom.contains("compaction 258,000 → 41,000") && dom.contains("</html>"), "{said}");
    quiet(&said);
    assert_eq!(asked, Vec::<String>::new());
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("measure.png");
    let (_, said, _) = shown(&browser, repo.path(), &[&format!("--screenshot={}", picture.display())]);
    quiet(&said);
    let png = std::fs::read(&picture).unwrap();
    // A page on which nothing was drawn has some 10,000 bytes.
    assert!(png.starts_with(b"\x89PNG") && png.len() > 60_000, "{}", png.len());
}

#[test]
fn a_browser_takes_hostile_names_for_text() {
    let Some(browser) = browser() else { return };
    let repo = hostile();
    page(&repo, &["logs"]);
    let (dom, said, asked) = shown(&browser, repo.path(), &["--dump-dom"]);
    assert!(dom.contains("&lt;script&gt;") && !dom.contains("<script") && !dom.contains("<img"), "{dom}");
    quiet(&said);
    assert_eq!(asked, Vec::<String>::new());
    // What would be seen if it were otherwise: the same name, not escaped.
    let naive = format!("<!doctype html><title>x</title>{HOSTILE}");
    std::fs::write(repo.path().join("page.html"), naive).unwrap();
    let (_, said, asked) = shown(&browser, repo.path(), &["--dump-dom"]);
    assert!(said.contains("CONSOLE") && !asked.is_empty(), "{said}\n{asked:?}");
}
