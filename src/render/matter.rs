//! Our own copy of how hosts read front matter line by line, to see before they do what they would make of it.

use indexmap::IndexMap;
use serde_json::Value;

use crate::model::adapter::{Fence, FrontMatter, LineValue, Quotes};

/// Ends of lines to some readers that are none to others.
const BREAKS: [char; 5] = ['\r', '\u{b}', '\u{85}', '\u{2028}', '\u{2029}'];

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The value of the template that is not read as it is, as in `role.description`.
    pub from: Option<String>,
    /// What the host would make of it.
    pub why: String,
}

/// Holds a rendered file against how its front matter is read, and that against what the template was given.
pub fn judge(text: &str, rules: &FrontMatter, given: &Value) -> Vec<Unread> {
    let read = match Reader::new(rules).read(text) {
        Ok(read) => read,
        Err(why) => return vec![Unread { from: None, why }],
    };
    let mut wrong: Vec<Unread> =
        read.wrong.into_iter().map(|(key, why)| Unread { from: from(rules, &key), why }).collect();
    for (name, key) in &rules.keys {
        let Some(from) = &key.from else { continue };
        let pointer = format!("/{}", from.replace('.', "/"));
        let Some(meant) = given.pointer(&pointer).map(words) else { continue };
        let found = read.values.get(name).cloned().unwrap_or_default();
        if found != meant && !wrong.iter().any(|w| w.from.as_ref() == Some(from)) {
            wrong.push(Unread {
                from: Some(from.clone()),
                why: format!("`{name}` is read as {}, and {} is meant", shown(&found), shown(&meant)),
            });
        }
    }
    wrong
}

fn from(rules: &FrontMatter, key: &str) -> Option<String> {
    rules.keys.get(key).and_then(|k| k.from.clone())
}

/// A value of the template as a reader would give it back.
fn words(value: &Value) -> Vec<String> {
    let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), |s| s.trim().to_owned());
    match value {
        Value::Array(all) => all.iter().map(text).collect(),
        Value::String(s) if s.trim().is_empty() => Vec::new(),
        one => vec![text(one)],
    }
}

fn shown(words: &[String]) -> String {
    if words.is_empty() {
        return "nothing".to_owned();
    }
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

/// What was read.
#[derive(Debug, Default)]
struct Read {
    values: IndexMap<String, Vec<String>>,
    /// Key and problem.
    wrong: Vec<(String, String)>,
}

struct Reader<'a> {
    rules: &'a FrontMatter,
    read: Read,
    /// The key whose `- ` lines may follow.
    open: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(rules: &'a FrontMatter) -> Self {
        Self { rules, read: Read::default(), open: None }
    }

    fn read(mut self, text: &str) -> Result<Read, String> {
        let mut lines = text.split('\n');
        if lines.next() != Some("---") {
            return Err("the file does not start with a `---` line, and is ignored".to_owned());
        }
        let mut closed = false;
        for line in lines.by_ref() {
            if line == "---" {
                closed = true;
                break;
            }
            self.line(line);
        }
        if !closed {
            return Err("no second `---` line ends the front matter, and the file is ignored".to_owned());
        }
        if lines.all(|line| line.trim().is_empty()) {
            return Err("there is no text after the front matter, and the file is ignored".to_owned());
        }
        Ok(self.read)
    }

    fn line(&mut self, line: &str) {
        if line.trim().is_empty() || line.starts_with('#') {
            return;
        }
        if let Some(item) = line.trim_start().strip_prefix("- ").filter(|_| line.starts_with(' ')) {
            return self.item(item);
        }
        let Some((name, value)) =
            line.split_once(':').filter(|(name, _)| !name.is_empty() && !name.contains([' ', '\t']))
        else {
            return self.wrong("", format!("the line `{}` is no `key: value`, and is ignored", line.trim()));
        };
        self.open = None;
        let Some(key) = self.rules.keys.get(name) else {
            return self.wrong(name, format!("the key `{name}` is ignored"));
        };
        if self.read.values.contains_key(name) {
            return self.wrong(name, format!("`{name}` stands there twice"));
        }
        let value = value.trim();
        self.whole(name, value);
        let values = match key.is {
            LineValue::Text if value.is_empty() => Vec::new(),
            LineValue::Text => vec![self.bare(value)],
            LineValue::Flag => {
                if !matches!(value, "true" | "false") {
                    self.wrong(name, format!("`{name}: {value}` does not count: only the word `true` does"));
                }
                vec![value.to_owned()]
            }
            LineValue::Commas | LineValue::Items => {
                if value.starts_with('[') {
                    self.wrong(name, format!("`{name}` is a list in brackets, which become part of its names"));
                }
                if value.is_empty() {
                    self.open = Some(name.to_owned());
                }
                value.split(',').map(str::trim).filter(|v| !v.is_empty()).map(|v| self.bare(v)).collect()
            }
        };
        self.read.values.insert(name.to_owned(), values);
    }

    fn item(&mut self, item: &str) {
        let Some(name) = self.open.clone() else {
            return self.wrong("", format!("the line `- {}` belongs to no key, and is ignored", item.trim()));
        };
        if self.rules.keys.get(&name).is_some_and(|k| k.is == LineValue::Commas) {
            return self.wrong(&name, format!("`{name}` is a YAML list, which is read as an empty one"));
        }
        self.whole(&name, item);
        let item = self.bare(item.trim());
        self.read.values.entry(name).or_default().push(item);
    }

    /// What would end the line, or all of it, in the middle of a value.
    fn whole(&mut self, name: &str, value: &str) {
        if value.contains(BREAKS) {
            self.wrong(name, format!("`{name}` has a character that ends lines"));
        }
        if self.rules.fence == Fence::Anywhere && value.contains("---") {
            self.wrong(name, format!("`{name}` has `---` in it, which ends the front matter"));
        }
    }

    fn bare(&self, value: &str) -> String {
        let quoted = |q: char| value.len() >= 2 && value.starts_with(q) && value.ends_with(q);
        if self.rules.quotes == Quotes::Stripped && (quoted('"') || quoted('\'')) {
            return value.get(1..value.len() - 1).unwrap_or(value).to_owned();
        }
        value.to_owned()
    }

    fn wrong(&mut self, key: &str, why: String) {
        self.read.wrong.push((key.to_owned(), why));
    }
}

#[cfg(test)]
#[path = "matter_tests.rs"]
mod tests;
