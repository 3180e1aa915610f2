//! What the declaration hands a server.

use super::Subject;
use crate::audit::finding::Finding;
use crate::diag::Code;
use crate::model::policy::EnvValue;

pub(super) fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let literals = subject.raw.env.values().filter_map(|value| match value {
        EnvValue::Literal(text) => Some(text),
        EnvValue::Env(_) | EnvValue::Bearer(_) => None,
    });
    for text in subject.raw.args.iter().chain(literals) {
        if let Some(place) = outside(text) {
            let message =
                format!("it is given `{place}`, which lies outside of the root; no sandbox of a host holds a server");
            let finding = Finding::new(Code::ServerReachesOut, subject.name(), message).at(text.span);
            found.push(finding.fix("give it a path inside of the root, relative to it"));
        }
    }
    if let Some(noise) = &subject.contract.noise {
        let message =
            format!("it writes to its standard output what is no message: `{}`", crate::text::encoding::visible(noise));
        found.push(Finding::new(Code::ServerNoise, subject.name(), message).at(subject.span()));
    }
}

/// The place outside of the root that an argument names: alone, or behind `=`.
fn outside(argument: &str) -> Option<&str> {
    let value = if argument.starts_with('-') { argument.split_once('=')?.1 } else { argument };
    let value = value.strip_prefix("file://").unwrap_or(value);
    if value.contains("://") {
        return None;
    }
    let bytes = value.as_bytes();
    let drive =
        bytes.len() >= 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/');
    let absolute = value.starts_with('/') && !value.starts_with("//");
    let home = value == "~" || value.starts_with("~/") || value.starts_with("$HOME") || value.starts_with("${HOME}");
    let up = value.split(['/', '\\']).any(|part| part == "..");
    // A device is no place.
    (drive || home || up || (absolute && !value.starts_with("/dev/"))).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_outside_are_told_from_everything_else() {
        for (argument, place) in [
            ("/", Some("/")),
            ("/home/me", Some("/home/me")),
            ("--root=/srv", Some("/srv")),
            ("../other", Some("../other")),
            ("docs/../../x", Some("docs/../../x")),
            ("~/notes", Some("~/notes")),
            ("C:\\data", Some("C:\\data")),
            ("file:///etc", Some("/etc")),
            (".", None),
            ("docs", None),
            ("-y", None),
            ("--db-path=data/x.db", None),
            ("@scope/package@1.2.3", None),
            ("https://example.org/a", None),
            ("--url=https://example.org/../a", None),
        ] {
            assert_eq!(outside(argument), place, "{argument}");
        }
    }
}
