//! Secrets that were written down.

use crate::diag::{Code, Diagnostic, Sink};
use crate::model::policy::{EnvValue, Server};
use crate::yaml::Sp;

/// Parts of names whose values are secret.
const NAMES: &[&str] = &["token", "secret", "password", "passwd", "api_key", "apikey", "credential", "authorization"];
/// How keys of well-known services start.
const STARTS: &[&str] =
    &["sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "AIza", "npm_", "Bearer "];

/// Reports what looks like a secret in the environment, the headers, the arguments and the address of a server.
pub(super) fn check(server: &Server, sink: &mut Sink) {
    for (key, value) in server.env.iter().chain(&server.headers) {
        if let EnvValue::Literal(text) = value {
            let name = key.to_lowercase().replace('-', "_");
            if (NAMES.iter().any(|part| name.contains(part)) && !text.trim().is_empty()) || is_key(text) {
                let variable = key.to_uppercase().replace('-', "_");
                sink.push(
                    secret(text).help(format!("name a variable instead: `{}: {{ env: {variable} }}`", key.value)),
                );
            }
        }
    }
    for argument in server.args.iter().filter(|text| is_key(text)) {
        sink.push(
            secret(argument).help("hand it to the server through `env:`, as in `env: { TOKEN: { env: TOKEN } }`"),
        );
    }
    if let Some(url) = server.url.as_ref().filter(|url| has_password(url)) {
        sink.push(secret(url).help("hand it over in a header: `headers: { Authorization: { env: TOKEN } }`"));
    }
}

/// The text itself is shown only where it stands.
fn secret(text: &Sp<String>) -> Diagnostic {
    Diagnostic::new(Code::LiteralSecret, "a secret is written down").at_opt(text.span, "would be committed")
}

fn is_key(text: &str) -> bool {
    text.split('=').any(|part| STARTS.iter().any(|start| part.starts_with(start) && part.len() >= start.len() + 8))
}

fn has_password(url: &str) -> bool {
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    authority.and_then(|a| a.rsplit_once('@')).is_some_and(|(user, _)| user.contains(':'))
}
