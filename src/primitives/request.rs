//! From the arguments of a declared call to the request: method, host and path are the policy's.

use serde_json::{Map, Value};

use crate::resolve::primitives::{ApiCall, Method};

/// A request to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// The whole address.
    pub url: String,
    /// The body of a POST.
    pub body: Option<Value>,
}

/// The request of a call.
///
/// # Errors
/// An argument that cannot stand where it belongs.
pub fn of(base: &str, call: &ApiCall, arguments: &Map<String, Value>) -> Result<Request, String> {
    let mut url = base.trim_end_matches('/').to_owned();
    for piece in pieces(&call.path) {
        match piece {
            Piece::Text(text) => url.push_str(text),
            Piece::Parameter(name) => {
                let value = arguments.get(name).and_then(plain).unwrap_or_default();
                // These would be another path, not a part of this one.
                if matches!(value.as_str(), "" | "." | "..") {
                    return Err(format!("`{name}` cannot be a part of an address"));
                }
                url.push_str(&encoded(&value));
            }
        }
    }
    let in_path = |name: &str| pieces(&call.path).any(|piece| piece == Piece::Parameter(name));
    let rest = arguments.iter().filter(|(name, _)| call.parameters.contains_key(*name) && !in_path(name));
    match call.method {
        Method::Get => {
            let mut mark = '?';
            for (name, value) in rest {
                let each = match value {
                    Value::Array(items) => items.iter().filter_map(plain).collect(),
                    value => plain(value).into_iter().collect::<Vec<_>>(),
                };
                for value in each {
                    url.push_str(&format!("{mark}{}={}", encoded(name), encoded(&value)));
                    mark = '&';
                }
            }
            Ok(Request { method: call.method, url, body: None })
        }
        Method::Post => {
            let body = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
            Ok(Request { method: call.method, url, body: Some(Value::Object(body)) })
        }
    }
}

/// A piece of a declared path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// As it is.
    Text(&'a str),
    /// A parameter.
    Parameter(&'a str),
}

/// The pieces of a path with `{name}` in it.
pub fn pieces(path: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = path;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            rest = after;
            return Some(Piece::Parameter(name));
        }
        let next = rest[1..].find('{').map_or(rest.len(), |at| at + 1);
        let (text, after) = rest.split_at(next);
        rest = after;
        Some(Piece::Text(text))
    })
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// Everything that could mean something in an address becomes a code.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::IndexMap;
    use serde_json::json;

    fn call(method: Method, path: &str, names: &[&str]) -> ApiCall {
        let parameter = || crate::resolve::composed::ToolArgument {
            span: None,
            kind: "string".to_owned(),
            description: None,
            required: true,
            values: None,
            values_span: None,
            default: None,
            maximum: None,
        };
        let parameters: IndexMap<_, _> = names.iter().map(|name| ((*name).to_owned(), parameter())).collect();
        ApiCall {
            name: "c".to_owned(),
            span: None,
            method,
            path: path.to_owned(),
            description: String::new(),
            parameters,
        }
    }

    fn made(call: &ApiCall, arguments: &Value) -> Result<Request, String> {
        of("https://example.org/v2/", call, arguments.as_object().unwrap())
    }

    #[test]
    fn no_argument_changes_host_or_path() {
        let get = call(Method::Get, "/issues/{id}/notes", &["id", "q"]);
        for hostile in
            ["../../admin", "a/b", "a?x=1", "a#b", "@evil.example", "//evil.example", "a%2fb", "è", "a\r\nX: y"]
        {
            let url = made(&get, &json!({ "id": hostile, "q": hostile })).unwrap().url;
            let parsed = url.strip_prefix("https://example.org/v2/issues/").unwrap();
            let (path, query) = parsed.split_once('?').unwrap();
            assert_eq!(path.matches('/').count(), 1, "{url}");
            assert!(path.ends_with("/notes") && query.starts_with("q=") && !query.contains(['&', '#', '/']), "{url}");
            assert!(url.is_ascii() && !url.contains(char::is_control), "{url}");
        }
        for wrong in ["", ".", ".."] {
            assert!(made(&get, &json!({ "id": wrong })).is_err());
        }
    }

    #[test]
    fn what_is_not_in_the_path_is_the_query_or_the_body() {
        let get = call(Method::Get, "/issues", &["q", "n"]);
        let url = made(&get, &json!({ "q": "a b", "n": [1, 2], "other": "x" })).unwrap().url;
        assert_eq!(url, "https://example.org/v2/issues?q=a%20b&n=1&n=2");
        let post = call(Method::Post, "/issues/{id}", &["id", "text"]);
        let request = made(&post, &json!({ "id": 7, "text": "x" })).unwrap();
        assert_eq!(
            (request.url.as_str(), request.body),
            ("https://example.org/v2/issues/7", Some(json!({ "text": "x" })))
        );
    }
}
