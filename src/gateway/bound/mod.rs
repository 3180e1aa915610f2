//! What a server answered, made small enough to read: media become files, the rest is cut at its target, and a note
//! says what is missing and how to get it. Works on values and on something that keeps bytes.
//!
//! The budget counts everything a model would read: the text of all blocks, and what is structured where no text says
//! it already. No output schema is ever promised, so that nothing structured has to be kept whole.

mod count;
mod cut;
mod hidden;
mod media;
mod structured;

use serde_json::{Map, Value, json};

use super::compose::{Delivery, ResultBounds};

pub use hidden::encode;
pub(super) use hidden::lift;
pub use media::{Kind, kind, pixels};

/// Sizes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Over this, a result is cut to it.
    pub target: usize,
    /// Most decoded bytes of media in one answer.
    pub inline_media: usize,
}

/// What a call asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How media are wanted.
    pub delivery: Delivery,
    /// Whether the server was told where to write a file: then nothing of it is in the answer, too.
    pub path_given: bool,
    /// How many entries were asked for.
    pub entries: Option<u64>,
    /// Whether whoever asked can read files of the repository.
    pub reads_files: bool,
}

/// Bytes that were kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its name, by which it can be read.
    pub id: String,
    /// Where it is, relative to the root.
    pub path: String,
    /// How many bytes.
    pub bytes: usize,
    /// Their SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// What they are, by themselves.
    pub mime: &'static str,
    /// Width and height of a picture.
    pub pixels: Option<(u32, u32)>,
}

/// Keeps bytes.
pub trait Keep {
    /// Keeps bytes under a name made from them.
    ///
    /// # Errors
    /// They could not be kept; in a few words, without a path.
    fn keep(&self, bytes: &[u8], kind: Kind) -> Result<Artifact, String>;
}

/// An answer within its bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounded {
    /// Content blocks as the protocol has them.
    pub content: Vec<Value>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// The same facts as the notes, for programs.
    pub meta: Map<String, Value>,
    /// Whether something was left out.
    pub truncated: bool,
    /// What was kept.
    pub artifacts: Vec<Artifact>,
    /// Bytes of the answer as it came.
    pub bytes_in: usize,
    /// Bytes of it as it goes, as the protocol writes them.
    pub bytes_out: usize,
    /// Media that stayed in the answer.
    pub inline: usize,
}

/// A text on its way through.
struct Work<'a> {
    sizes: Sizes,
    wanted: Wanted,
    keep: &'a dyn Keep,
    artifacts: Vec<Artifact>,
    inline_left: usize,
    inline: Vec<Value>,
    /// Why media that were wanted inline are not.
    fell_back: Option<String>,
    texts: Vec<String>,
}

/// Bounds the result of a call, `raw` as it was answered.
pub fn bound(raw: &Value, sizes: Sizes, bounds: &ResultBounds, wanted: Wanted, keep: &dyn Keep) -> Bounded {
    let is_error = raw.get("isError").and_then(Value::as_bool) == Some(true);
    let mut work = Work {
        sizes,
        wanted,
        keep,
        artifacts: Vec::new(),
        inline_left: if bounds.inline_media { sizes.inline_media } else { 0 },
        inline: Vec::new(),
        fell_back: None,
        texts: Vec::new(),
    };
    for block in raw.get("content").and_then(Value::as_array).into_iter().flatten() {
        work.block(block);
    }
    if let Some(text) = structured::unsaid(raw, &work.texts) {
        let text = hidden::lift(&text, &mut |bytes| work.file(bytes, None));
        work.texts.push(text);
    }
    let texts: Vec<String> = std::mem::take(&mut work.texts).into_iter().filter(|t| !t.is_empty()).collect();
    let (texts, note) = work.fit(texts, bounds, is_error);
    let mut done = Bounded { is_error, truncated: note.is_some(), ..Bounded::default() };
    done.content.extend(texts.into_iter().chain(note).map(|text| json!({ "type": "text", "text": text })));
    done.inline = work.inline.len();
    done.content.append(&mut work.inline);
    done.bytes_in = length(raw);
    done.bytes_out = done.content.iter().map(length).sum();
    done.meta = meta(&done, &work.artifacts, bounds.inline_media.then(|| work.delivered(done.inline)));
    done.artifacts = work.artifacts;
    done
}

fn length(value: &Value) -> usize {
    /// Counts what is written.
    struct Counter(usize);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Writing into a counter does not fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// The notes for programs; few, however many files there are. `delivery` = how media went, where a call may choose.
fn meta(done: &Bounded, artifacts: &[Artifact], delivery: Option<Value>) -> Map<String, Value> {
    let mut meta = Map::new();
    if !done.truncated && artifacts.is_empty() && delivery.is_none() {
        return meta;
    }
    let listed: Vec<Value> = artifacts.iter().take(MOST_LISTED).map(described).collect();
    let mut facts = json!({ "truncated": done.truncated, "artifacts": listed, "artifactCount": artifacts.len() });
    if let (Some(fields), Some(delivery)) = (facts.as_object_mut(), delivery) {
        fields.insert("delivery".to_owned(), delivery);
    }
    meta.insert(META.to_owned(), facts);
    meta
}

fn described(artifact: &Artifact) -> Value {
    let Artifact { id, path, bytes, sha256, mime, pixels } = artifact;
    let mut facts = json!({ "id": id, "path": path, "bytes": bytes, "sha256": sha256, "mimeType": mime });
    if let (Some(fields), Some((width, height))) = (facts.as_object_mut(), pixels) {
        fields.insert("width".to_owned(), json!(width));
        fields.insert("height".to_owned(), json!(height));
    }
    facts
}

/// The key of our own notes.
const META: &str = "io.github.rolecast/bounded";
/// Why media are not in an answer whose server wrote them to a file.
const PATH_GIVEN: &str = "a path was given";
/// Most files named in the notes for programs.
const MOST_LISTED: usize = 20;
/// Room kept for the note at the end.
const NOTE: usize = 400;

impl Work<'_> {
    fn block(&mut self, block: &Value) {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        match text("type") {
            Some("text") => {
                let body = text("text").unwrap_or("").to_owned();
                self.text(&body);
            }
            Some("image" | "audio") => {
                let line = self.encoded(block, text("data").unwrap_or(""), text("mimeType"));
                self.texts.extend(line);
            }
            Some("resource") => self.resource(block),
            Some("resource_link") => {
                let name = text("name").unwrap_or("");
                let line = format!("[link to {} {}]", short(text("uri").unwrap_or("")), short(name));
                self.texts.push(line);
            }
            // Whatever it is, nothing of it is lost.
            _ => {
                let line = self.file(block.to_string().as_bytes(), Some(media::JSON));
                self.texts.push(line);
            }
        }
    }

    fn text(&mut self, body: &str) {
        let lifted = hidden::lift(body, &mut |bytes| self.file(bytes, None));
        self.texts.push(lifted);
    }

    fn resource(&mut self, block: &Value) {
        let Some(resource) = block.get("resource") else { return };
        let text = |key: &str| resource.get(key).and_then(Value::as_str);
        let uri = short(text("uri").unwrap_or(""));
        if let Some(body) = text("text") {
            let lifted = hidden::lift(body, &mut |bytes| self.file(bytes, None));
            self.texts.push(format!("[resource {uri}]\n{lifted}"));
        }
        if let Some(blob) = text("blob") {
            let line = match hidden::decode(blob) {
                Some(bytes) => self.file(&bytes, None),
                None => self.file(blob.as_bytes(), Some(media::TEXT)),
            };
            self.texts.push(format!("[resource {uri}]\n{line}"));
        }
    }

    /// A picture or sound: into the answer where everything allows it, else into a file. The line that says so.
    fn encoded(&mut self, block: &Value, data: &str, mime: Option<&str>) -> Option<String> {
        let Some(bytes) = hidden::decode(data) else {
            return Some(self.file(data.as_bytes(), Some(media::TEXT)));
        };
        if self.wanted.delivery == Delivery::Inline {
            if bytes.len() <= self.inline_left && !self.wanted.path_given {
                self.inline_left -= bytes.len();
                let sniffed = media::kind(&bytes);
                let mime = if sniffed == media::BYTES { mime.unwrap_or(sniffed.mime) } else { sniffed.mime };
                let kind = block.get("type").cloned().unwrap_or(Value::Null);
                self.inline.push(json!({ "type": kind, "data": data, "mimeType": mime }));
                return None;
            }
            let why = match self.wanted.path_given {
                true => PATH_GIVEN.to_owned(),
                false => format!("{} bytes, of at most {}", bytes.len(), self.inline_left),
            };
            let line = format!("{} [not inline: {why}]", self.file(&bytes, None));
            self.fell_back.get_or_insert(why);
            return Some(line);
        }
        Some(self.file(&bytes, None))
    }

    /// How media were asked for, how they went, and why not as asked.
    fn delivered(&self, inline: usize) -> Value {
        if self.wanted.delivery == Delivery::Artifact {
            return json!({ "asked": "artifact", "given": "artifact" });
        }
        let why = match &self.fell_back {
            None if inline > 0 => return json!({ "asked": "inline", "given": "inline" }),
            None if self.wanted.path_given => PATH_GIVEN,
            None => "the server sent no media with its answer",
            Some(why) => why,
        };
        json!({ "asked": "inline", "given": "artifact", "why": why })
    }

    /// Keeps bytes; the line that stands for them. It has no quotation mark and no backslash, so that it can stand
    /// inside of JSON.
    fn file(&mut self, bytes: &[u8], kind: Option<Kind>) -> String {
        let kind = kind.unwrap_or_else(|| media::kind(bytes));
        match self.keep.keep(bytes, kind) {
            Ok(artifact) => {
                let pixels = artifact.pixels.map(|(w, h)| format!(" {w}x{h}")).unwrap_or_default();
                let line = format!(
                    "[{}{pixels}, {} bytes: artifact {}{}]",
                    artifact.mime,
                    artifact.bytes,
                    artifact.id,
                    self.place(&artifact)
                );
                self.artifacts.push(artifact);
                line
            }
            Err(why) => format!("[{}, {} bytes: could not be kept: {}]", kind.mime, bytes.len(), short(&why)),
        }
    }

    fn place(&self, artifact: &Artifact) -> String {
        if self.wanted.reads_files { format!(" in {}", artifact.path) } else { String::new() }
    }

    /// Cuts the texts to their entries and their budget; the note, when something was left out.
    fn fit(&mut self, texts: Vec<String>, bounds: &ResultBounds, is_error: bool) -> (Vec<String>, Option<String>) {
        let total: usize = texts.iter().map(String::len).sum();
        let most = self.wanted.entries.or(bounds.entries).map(|n| n.min(bounds.entries_limit.unwrap_or(n)));
        let counted = most.filter(|_| !is_error).and_then(|most| count::cut(&texts, most, bounds.lines));
        let (mut kept, entries) = match &counted {
            Some(cut) => (cut.texts.clone(), Some((cut.shown, cut.total))),
            None => (texts.clone(), None),
        };
        let over = kept.iter().map(String::len).sum::<usize>() > self.sizes.target;
        if !over && entries.is_none() {
            return (kept, None);
        }
        let whole = whole(&texts);
        let kind = if texts.len() == 1 && cut::parse(&whole).is_some() { media::JSON } else { media::TEXT };
        let saved = self.keep.keep(whole.as_bytes(), kind);
        if over || kept.iter().map(String::len).sum::<usize>() + NOTE > self.sizes.target {
            kept = cut::all(&kept, self.sizes.target.saturating_sub(NOTE), is_error);
        }
        let shown: usize = kept.iter().map(String::len).sum();
        let mut note = match entries {
            Some((shown, total)) => format!("[truncated: {shown} of {total} entries, "),
            None => "[truncated: ".to_owned(),
        };
        note.push_str(&format!("{shown} of {total} bytes; "));
        note.push_str(&match &saved {
            Ok(artifact) if self.wanted.reads_files => format!("all of it: {}", artifact.path),
            Ok(artifact) => format!("all of it: read_artifact with id {}", artifact.id),
            Err(why) => format!("the rest could not be kept: {}", short(why)),
        });
        if let Some(narrow) = &bounds.narrow {
            note.push_str(&format!("; ask for less with `{}`", short(narrow)));
        }
        if let Some(cursor) = &bounds.cursor {
            note.push_str(&format!("; go on with `{}`", short(cursor)));
        }
        note.push(']');
        self.artifacts.extend(saved);
        (kept, Some(note))
    }
}

fn whole(texts: &[String]) -> String {
    texts.join("\n\n")
}

/// A foreign word in one of our lines.
fn short(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\' | '[' | ']'));
    plain.take(80).collect()
}

#[cfg(test)]
mod tests;
