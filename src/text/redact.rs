//! What a record must not hold.

/// Stands for a secret.
pub const REDACTED: &str = "<redacted>";

/// Whether a header's value is a secret.
pub fn secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "key", "cookie", "token", "secret"].iter().any(|word| name.contains(word))
}

/// The path and query of a request without the values of secrets.
pub fn query(path_and_query: &str) -> String {
    let Some((path, query)) = path_and_query.split_once('?') else { return path_and_query.to_owned() };
    let parts: Vec<String> = query
        .split('&')
        .map(|part| match part.split_once('=') {
            Some((name, _)) if secret(name) => format!("{name}={REDACTED}"),
            _ => part.to_owned(),
        })
        .collect();
    format!("{path}?{}", parts.join("&"))
}

/// A text without the secrets that the headers carried. Short ones are words, not secrets.
pub fn body(text: &str, secrets: &[String]) -> String {
    let long = secrets.iter().map(|s| s.rsplit(' ').next().unwrap_or(s)).filter(|s| s.len() >= 8);
    long.fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
}
