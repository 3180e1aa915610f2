//! Which protocol a request speaks, told by its path.

use crate::model::adapter::Protocol;

/// What a path asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// An answer of the model.
    Answer(Protocol),
    /// How many tokens a request has.
    Count(Protocol),
    /// Which models there are.
    Models,
    /// Nothing of a model: a probe of a role, or something that is not scripted.
    Other,
}

impl Wire {
    /// Reads the path of a request, without its query.
    pub fn of(path: &str) -> Self {
        let last = path.rsplit('/').next().unwrap_or("");
        match last {
            "responses" => Self::Answer(Protocol::Responses),
            "messages" => Self::Answer(Protocol::Messages),
            "completions" if path.ends_with("/chat/completions") => Self::Answer(Protocol::Chat),
            "count_tokens" if path.ends_with("/messages/count_tokens") => Self::Count(Protocol::Messages),
            _ if last.ends_with(":generateContent") || last.ends_with(":streamGenerateContent") => {
                Self::Answer(Protocol::Generate)
            }
            _ if last.ends_with(":countTokens") => Self::Count(Protocol::Generate),
            _ if path.contains("/models/") || last == "models" => Self::Models,
            _ => Self::Other,
        }
    }
}
