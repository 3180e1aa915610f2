//! Secrets that were written down.

use indexmap::IndexSet;

use crate::diag::{Code, Diagnostic, Sink, Span};
use crate::model::policy::{EnvValue, Server};
use crate::text::secret;
use crate::yaml::Sp;

/// Parts of names whose values are secret.
const NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "api_key",
    "apikey",
    "credential",
    "authorization",
    "private_key",
    "access_key",
];

/// Reports what looks like a secret in the environment, the headers, the arguments and the address of a server,
/// and exceptions that nothing needs.
pub(super) fn check(server: &Server, sink: &mut Sink) {
    let mut excused: IndexSet<&str> = IndexSet::new();
    for (text, help) in found(server) {
        match server.not_secret.get_key_value(text.value.as_str()) {
            Some((key, _)) => {
                excused.insert(&key.value);
            }
            None => sink.push(secret_at(text.span).help(help)),
        }
    }
    for (text, reason) in &server.not_secret {
        if reason.trim().is_empty() {
            sink.push(
                Diagnostic::new(
                    Code::SecretException,
                    "an exception for a text that looks like a secret has no reason",
                )
                .at_opt(reason.span, "empty")
                .help("say why the text is no secret"),
            );
        }
        if !excused.contains(text.value.as_str()) {
            sink.push(
                Diagnostic::new(Code::SecretException, "an exception for a secret is not needed")
                    .at_opt(text.span, "no text of this server is this one and looks like a secret")
                    .help("remove it, so that a secret in its place is noticed"),
            );
        }
    }
}

/// Every text that looks like a secret, and what to do about it.
fn found(server: &Server) -> Vec<(&Sp<String>, String)> {
    let mut found = Vec::new();
    for (key, value) in server.env.iter().chain(&server.headers) {
        if let EnvValue::Literal(text) = value {
            let name = key.to_lowercase().replace('-', "_");
            let named = NAMES.iter().any(|part| name.contains(part)) && !text.trim().is_empty();
            if named || secret::looks_like_one(text) {
                let variable = key.to_uppercase().replace('-', "_");
                found.push((text, format!("name a variable instead: `{}: {{ env: {variable} }}`", key.value)));
            }
        }
    }
    for argument in server.args.iter().chain(&server.command).filter(|text| secret::looks_like_one(text)) {
        found.push((
            argument,
            "hand it to the server through `env:`, as in `env: { TOKEN: { env: TOKEN } }`".to_owned(),
        ));
    }
    if let Some(url) = server.url.as_ref().filter(|url| has_user(url) || secret::looks_like_one(url)) {
        found.push((url, "hand it over in a header: `headers: { Authorization: { bearer: TOKEN } }`".to_owned()));
    }
    found
}

/// The text itself is never printed: whoever reads the report may not be who may read the secret.
fn secret_at(span: Option<Span>) -> Diagnostic {
    Diagnostic::new(Code::LiteralSecret, "a secret is written down").at_opt(span, "would be committed")
}

fn has_user(url: &str) -> bool {
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    authority.is_some_and(|a| a.contains('@'))
}
