//! What a server says beside its answers, as far as the host may hear it: how far a call is, and messages for a log. All of
//! it is a server's own words, and so it is bounded like an answer: secrets are covered, media are left out, long texts
//! are cut, and nobody is flooded. Nothing of it ever becomes a part of an answer.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::{bound, masked};
use crate::mcp::Told;

/// Names of levels, the least important first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/// How much of what one call brings is passed on, in each [`PERIOD`].
const MOST: u32 = 50;
const PERIOD: Duration = Duration::from_secs(1);
/// What stands for media.
const LEFT_OUT: &str = "[media left out]";

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(usize);

impl Level {
    /// What is passed on when a host of the older protocol names no level.
    pub const USUAL: Self = Self(1);

    /// By its place among all levels.
    pub const fn at(place: usize) -> Self {
        Self(if place < LEVELS.len() { place } else { LEVELS.len() - 1 })
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        LEVELS.iter().position(|level| *level == name).map(Self)
    }

    /// Its place among all levels.
    pub const fn place(self) -> usize {
        self.0
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        LEVELS[self.0]
    }
}

/// Something that a host may hear.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// How far its call is.
    Progress {
        /// How far.
        done: f64,
        /// How far it goes, where that is known.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// A message for a log.
    Message {
        /// How important it is.
        level: Level,
        /// Who says it: the server, and its part that it names.
        logger: String,
        /// What it says.
        data: Value,
    },
}

/// What is heard of one call to one server.
pub struct Ear {
    server: String,
    secrets: Vec<String>,
    pace: Mutex<(Instant, u32)>,
    to: tokio::sync::mpsc::Sender<News>,
}

impl Ear {
    /// For a call to `server`, which was given `secrets`.
    pub fn new(server: &str, secrets: &[String], to: tokio::sync::mpsc::Sender<News>) -> Self {
        Self { server: server.to_owned(), secrets: secrets.to_vec(), pace: Mutex::new((Instant::now(), 0)), to }
    }

    /// Takes something that was said. What is too much, or is not what it says it is, is heard by nobody.
    pub fn hear(&self, told: Told) {
        if !self.in_pace() {
            return;
        }
        let news = match told {
            Told::Progress(fields) => progress(&fields, &self.secrets),
            Told::Message(fields) => message(fields, &self.server, &self.secrets),
        };
        // Whoever does not keep up misses something; the answer does not wait for it.
        let _ = news.map(|news| self.to.try_send(news));
    }

    fn in_pace(&self) -> bool {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        if pace.0.elapsed() >= PERIOD {
            *pace = (Instant::now(), 0);
        }
        pace.1 = pace.1.saturating_add(1);
        pace.1 <= MOST
    }
}

fn progress(fields: &Map<String, Value>, secrets: &[String]) -> Option<News> {
    let number = |name: &str| fields.get(name).and_then(Value::as_f64);
    let message = fields.get("message").and_then(Value::as_str).map(|words| words_of(words, secrets));
    Some(News::Progress { done: number("progress")?, total: number("total"), message })
}

fn message(mut fields: Map<String, Value>, server: &str, secrets: &[String]) -> Option<News> {
    let level = Level::named(fields.get("level")?.as_str()?)?;
    let logger = match fields.get("logger").and_then(Value::as_str).map(|name| words_of(name, secrets)) {
        Some(part) => format!("{server}/{part}"),
        None => server.to_owned(),
    };
    Some(News::Message { level, logger, data: covered(fields.shift_remove("data")?, secrets) })
}

fn words_of(words: &str, secrets: &[String]) -> String {
    covered(json!(words), secrets).as_str().unwrap_or_default().to_owned()
}

/// A value without secrets and media, and not too long.
fn covered(value: Value, secrets: &[String]) -> Value {
    let fields = Map::from_iter([("data".to_owned(), without_media(value))]);
    match masked::values(&fields, secrets) {
        Value::Object(mut fields) => fields.shift_remove("data").unwrap_or_default(),
        too_much => too_much,
    }
}

fn without_media(value: Value) -> Value {
    match value {
        Value::String(text) => json!(bound::lift(&text, &mut |_| LEFT_OUT.to_owned())),
        Value::Array(items) => items.into_iter().map(without_media).collect(),
        Value::Object(fields) if is_media(&fields) => json!(LEFT_OUT),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, without_media(value))).collect())
        }
        other => other,
    }
}

/// A block of an answer that is a picture, sound or a blob.
fn is_media(fields: &Map<String, Value>) -> bool {
    let text = |name: &str| fields.get(name).is_some_and(Value::is_string);
    text("blob") || (text("data") && text("mimeType"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(told: Vec<Told>) -> Vec<News> {
        let (to, mut from) = tokio::sync::mpsc::channel(1000);
        let ear = Ear::new("s", &["a-secret-token".to_owned()], to);
        told.into_iter().for_each(|told| ear.hear(told));
        std::iter::from_fn(|| from.try_recv().ok()).collect()
    }

    fn fields(value: Value) -> Map<String, Value> {
        let Value::Object(fields) = value else { panic!() };
        fields
    }

    fn data(value: Value) -> Value {
        let news = heard(vec![Told::Message(fields(json!({ "level": "info", "data": value })))]);
        let [News::Message { data, .. }] = &news[..] else { panic!("{news:?}") };
        data.clone()
    }

    #[test]
    fn secrets_are_covered_media_left_out_and_long_texts_cut() {
        assert_eq!(data(json!("with a-secret-token in it")), "with <redacted> in it");
        assert_eq!(data(json!({ "password_token": "x", "n": 1 })), json!({ "password_token": "<redacted>", "n": 1 }));
        assert_eq!(data(json!(["é".repeat(600)]))[0].as_str().map(|text| text.chars().count()), Some(501));
        assert!(data(json!(vec!["x".repeat(400); 100])).to_string().len() < 60);
        let picture = json!({ "type": "image", "data": "aGVsbG8=", "mimeType": "image/png" });
        assert_eq!(data(json!([picture, { "blob": "aGVsbG8=" }])), json!([LEFT_OUT, LEFT_OUT]));
        let bytes: Vec<u8> = (0..6000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert_eq!(data(json!(format!("see {}", bound::encode(&bytes)))), format!("see {LEFT_OUT}"));
    }

    #[test]
    fn what_is_not_what_it_says_it_is_is_heard_by_nobody() {
        let wrong = [
            json!({}),
            json!({ "level": "loud", "data": 1 }),
            json!({ "level": "info" }),
            json!({ "level": 3, "data": 1 }),
        ];
        let mut told: Vec<Told> = wrong.into_iter().map(|value| Told::Message(fields(value))).collect();
        told.extend([json!({}), json!({ "progress": "half" })].map(|value| Told::Progress(fields(value))));
        assert_eq!(heard(told), []);
    }

    #[test]
    fn nobody_is_flooded() {
        let one = || Told::Progress(fields(json!({ "progress": 1, "total": 2, "message": "of a-secret-token" })));
        let all = heard((0..5000).map(|_| one()).collect());
        let news = News::Progress { done: 1.0, total: Some(2.0), message: Some("of <redacted>".to_owned()) };
        assert_eq!((all.len(), &all[0]), (MOST as usize, &news));
    }

    #[test]
    fn levels_have_an_order() {
        assert!(Level::named("debug") < Some(Level::USUAL) && Level::named("emergency") > Level::named("alert"));
        assert_eq!(Level::named("warning").map(|level| (level, level.name())), Some((Level::at(3), "warning")));
    }
}
