//! Markdown held against itself: links lead somewhere, anchors exist, headings are in order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::{git, paths};
use crate::system::System;
use crate::system::os::Os;
use crate::text::frontmatter;
use crate::text::markdown::{Outline, outline};

/// Most bytes of one file.
const MAX: u64 = 1 << 20;
/// Most files looked at in one call.
const FILES: usize = 2000;

/// Answers one call.
///
/// # Errors
/// Words for the model.
pub(super) async fn run(arguments: &Map<String, Value>, root: &Path) -> Result<String, String> {
    let named = paths(arguments)?;
    let mut words: Vec<String> =
        ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"].map(str::to_owned).to_vec();
    words.extend(if named.is_empty() { vec![".".to_owned()] } else { named });
    let listed = git::ask(&words, root).await?;
    let files: BTreeSet<&str> = listed.split('\0').filter(|name| is_markdown(name)).collect();
    if files.is_empty() {
        return Err("there is no Markdown file there".to_owned());
    }
    let system = Os::new(root).map_err(|error| format!("the root cannot be read: {}", error.kind()))?;
    let cut = files.len() > FILES;
    let mut check = Check { system: &system, known: BTreeMap::new(), found: Vec::new() };
    for file in files.iter().take(FILES) {
        check.file(file);
    }
    let count = files.len().min(FILES);
    let mut text = check.found.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("{} findings in {count} files", check.found.len()));
    if cut {
        text.push_str(&format!("; {} more files were not looked at: name `paths`", files.len() - FILES));
    }
    Ok(text)
}

fn is_markdown(name: &str) -> bool {
    [".md", ".markdown"].iter().any(|ending| name.to_ascii_lowercase().ends_with(ending))
}

struct Check<'a> {
    system: &'a Os,
    /// Anchors by file; none = it is there and no Markdown.
    known: BTreeMap<String, Option<BTreeSet<String>>>,
    found: Vec<String>,
}

impl Check<'_> {
    fn file(&mut self, file: &str) {
        let Some((text, at)) = self.read(file) else {
            self.found.push(format!("{file}: cannot be read as text"));
            return;
        };
        let outline = outline(&text);
        self.headings(file, &text, at, &outline);
        let own = anchors(&text, &outline);
        self.known.insert(file.to_owned(), Some(own));
        for link in &outline.links {
            if let Some(why) = self.link(file, &link.target) {
                self.say(file, &text, at, link.range.start, &why);
            }
        }
    }

    /// The text after its front matter, and the lines before it.
    fn read(&self, file: &str) -> Option<(String, usize)> {
        let text = String::from_utf8(self.system.read(file, MAX).ok()?).ok()?;
        let body = frontmatter::split(&text).map_or(0, |parts| parts.body_start);
        let lines = text[..body].matches('\n').count();
        Some((text[body..].to_owned(), lines))
    }

    fn say(&mut self, file: &str, text: &str, before: usize, at: usize, what: &str) {
        let line = before + text[..at].matches('\n').count() + 1;
        self.found.push(format!("{file}:{line}: {what}"));
    }

    fn headings(&mut self, file: &str, text: &str, at: usize, outline: &Outline) {
        let mut last = 0;
        let mut first = None;
        for heading in &outline.headings {
            let start = heading.range.start;
            if heading.text.trim().is_empty() {
                self.say(file, text, at, start, "a heading without text");
            }
            if last > 0 && heading.level > last + 1 {
                let what = format!("a heading of level {} follows one of level {last}", heading.level);
                self.say(file, text, at, start, &what);
            }
            if heading.level == 1 && first.replace(start).is_some() {
                self.say(file, text, at, start, "a second heading of level 1");
            }
            last = heading.level;
        }
    }

    /// Why a link leads nowhere. Addresses are not looked up: this tool stays in the repository.
    fn link(&mut self, file: &str, target: &str) -> Option<String> {
        let scheme = target
            .split_once(':')
            .is_some_and(|(s, _)| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c)));
        if scheme || target.starts_with("//") {
            return None;
        }
        let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
        let path = path.split('?').next().unwrap_or(path);
        let place = if path.is_empty() { file.to_owned() } else { joined(file, &unescaped(path))? };
        if place.starts_with("..") {
            return Some(format!("`{target}` leads out of the repository"));
        }
        if !self.known.contains_key(&place) {
            let anchors = match self.system.kind(&place) {
                Ok(Some(_)) if is_markdown(&place) => {
                    self.read(&place).map(|(text, _)| anchors(&text, &outline(&text)))
                }
                Ok(Some(_)) => None,
                _ => return Some(format!("`{target}` leads to nothing")),
            };
            self.known.insert(place.clone(), anchors);
        }
        let anchor = anchor.map(unescaped).filter(|anchor| !anchor.is_empty())?;
        match self.known.get(&place)? {
            Some(anchors) if !anchors.contains(&anchor.to_lowercase()) => {
                Some(format!("`{target}` leads to a heading that is not there"))
            }
            _ => None,
        }
    }
}

/// Where a link of `file` leads; begins with `..` when it leads out.
fn joined(file: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = match path.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => file.rsplit_once('/').map_or_else(Vec::new, |(folder, _)| folder.split('/').collect()),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    // The root itself is there.
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|h| std::str::from_utf8(h).ok());
        match (bytes[at], hex.and_then(|h| u8::from_str_radix(h, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The anchors of a text: those made from its headings as the large forges make them, and those written in HTML.
fn anchors(text: &str, outline: &Outline) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for heading in &outline.headings {
        let slug: String = heading
            .text
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let count = seen.entry(slug.clone()).or_default();
        all.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    for key in ["id=\"", "name=\""] {
        for (at, _) in text.match_indices(key) {
            let rest = &text[at + key.len()..];
            if let Some(end) = rest.find('"').filter(|_| !outline.in_code(at)) {
                all.insert(rest[..end].to_lowercase());
            }
        }
    }
    all
}
