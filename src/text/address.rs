//! Which host an address leads to. Programs read odd addresses in different ways, so that only one is taken which
//! spells its host plainly: there every reader comes to the same.

use url::{Host, Url};

/// Why an address is not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    /// No address, or one of another kind than of the web.
    #[error("it is none that starts with `https://` or `http://`")]
    NotWeb,
    /// The host is a number.
    #[error("a host that is given by its number belongs to no domain")]
    Number,
    /// What a reader would have to change, or could read in another way.
    #[error("its host is not spelt plainly: write `https://`, the name in small ASCII letters, and the path")]
    Odd,
}

/// The host that an address leads to, in lower case and without a point at its end.
///
/// # Errors
/// It cannot be told in one way alone.
pub fn host(address: &str) -> Result<String, Unclear> {
    if address.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err(Unclear::Odd);
    }
    let url = Url::parse(address).map_err(|_| Unclear::NotWeb)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Unclear::NotWeb);
    }
    let Some(Host::Domain(host)) = url.host() else { return Err(Unclear::Number) };
    let spelt = authority(address).ok_or(Unclear::Odd)?;
    let name = match spelt.split_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) => return Err(Unclear::Odd),
        None => spelt,
    };
    if !name.eq_ignore_ascii_case(host) {
        return Err(Unclear::Odd);
    }
    Ok(host.strip_suffix('.').unwrap_or(host).to_owned())
}

/// What stands between the scheme and the path.
fn authority(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    rest.split(['/', '?', '#']).next()
}

/// Whether `host` is `domain`, or, where that starts with `*.`, lies below it.
pub fn matches(domain: &str, host: &str) -> bool {
    match domain.strip_prefix("*.") {
        Some(above) => host.strip_suffix(above).and_then(|rest| rest.strip_suffix('.')).is_some_and(|r| !r.is_empty()),
        None => host == domain,
    }
}

/// Why a text is no domain of a policy, and where there is one, what to write instead.
///
/// # Errors
/// No name, or not as readers of addresses spell it.
pub fn domain(text: &str) -> Result<(), Option<String>> {
    let (star, name) = text.strip_prefix("*.").map_or(("", text), |name| ("*.", name));
    let Ok(Host::Domain(spelt)) = Host::parse(name) else { return Err(None) };
    let label = |part: &str| {
        let plain = part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        plain && !part.is_empty() && part.len() <= 63 && !part.starts_with('-') && !part.ends_with('-')
    };
    if spelt.len() > 253 || !spelt.split('.').all(label) {
        return Err(None);
    }
    if spelt == name { Ok(()) } else { Err(Some(format!("{star}{spelt}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_a_plainly_spelt_host_is_taken() {
        for (address, expected) in [
            ("https://docs.example.org/a?b#c", Ok("docs.example.org")),
            ("HTTP://Docs.Example.ORG:8080/", Ok("docs.example.org")),
            ("https://example.org", Ok("example.org")),
            ("https://example.org.", Ok("example.org")),
            ("https://example.org:443?x=https://evil.test", Ok("example.org")),
            ("https://example.org/@evil.test/", Ok("example.org")),
            ("https://xn--bcher-kva.example/", Ok("xn--bcher-kva.example")),
            ("https://good.test@evil.test/", Err(Unclear::Odd)),
            ("https://good.test:80@evil.test/", Err(Unclear::Odd)),
            ("https://@example.org/", Err(Unclear::Odd)),
            ("https://evil.test\\@example.org/", Err(Unclear::Odd)),
            ("https:\\\\example.org/", Err(Unclear::Odd)),
            ("https:example.org", Err(Unclear::Odd)),
            ("https:/example.org", Err(Unclear::Odd)),
            ("https:///example.org", Err(Unclear::Odd)),
            (" https://example.org", Err(Unclear::Odd)),
            ("https://exam\tple.org", Err(Unclear::Odd)),
            ("https://example.org\n", Err(Unclear::Odd)),
            ("https://example%2eorg/", Err(Unclear::Odd)),
            ("https://ｅxample.org/", Err(Unclear::Odd)),
            ("https://example。org/", Err(Unclear::Odd)),
            ("https://bücher.example/", Err(Unclear::Odd)),
            ("https://exam\u{ad}ple.org/", Err(Unclear::Odd)),
            ("https://127.0.0.1/", Err(Unclear::Number)),
            ("https://2130706433/", Err(Unclear::Number)),
            ("https://0x7f.1/", Err(Unclear::Number)),
            ("https://[::1]/", Err(Unclear::Number)),
            ("file:///etc/passwd", Err(Unclear::NotWeb)),
            ("ftp://example.org/", Err(Unclear::NotWeb)),
            ("data:text/plain,x", Err(Unclear::NotWeb)),
            ("view-source:https://example.org/", Err(Unclear::NotWeb)),
            ("example.org", Err(Unclear::NotWeb)),
            ("https://", Err(Unclear::NotWeb)),
            ("", Err(Unclear::NotWeb)),
        ] {
            assert_eq!(host(address).as_deref(), expected.as_ref().copied(), "{address}");
        }
    }

    #[test]
    fn a_star_stands_for_what_lies_below() {
        for (domain, host, expected) in [
            ("example.org", "example.org", true),
            ("example.org", "docs.example.org", false),
            ("*.example.org", "docs.example.org", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("*.example.org", "badexample.org", false),
            ("*.example.org", ".example.org", false),
            ("example.org", "example.org.evil.test", false),
        ] {
            assert_eq!(matches(domain, host), expected, "{domain} {host}");
        }
    }

    #[test]
    fn a_domain_is_written_as_addresses_have_it() {
        for good in ["docs.example.org", "*.example.org", "localhost", "xn--bcher-kva.example", "a-b.c1"] {
            assert_eq!(domain(good), Ok(()), "{good}");
        }
        for (text, instead) in [
            ("Docs.example.org", Some("docs.example.org")),
            ("*.bücher.example", Some("*.xn--bcher-kva.example")),
            ("*", None),
            ("*.", None),
            ("a.*.org", None),
            ("*example.org", None),
            ("**.example.org", None),
            ("example.org.", None),
            ("a..b", None),
            ("-a.org", None),
            ("a_b.org", None),
            ("127.0.0.1", None),
            ("[::1]", None),
            ("0x7f.1", None),
            ("example.org:80", None),
            ("https://example.org", None),
            ("example.org/docs", None),
            ("u@example.org", None),
            ("", None),
        ] {
            assert_eq!(domain(text), Err(instead.map(str::to_owned)), "{text}");
        }
    }

    const PARTS: &str = "(https?|HTTPS|ftp|)|[:/\\\\@.#?%]{1,2}|example\\.org|Example\\.Org|evil\\.test|docs|\
        127\\.0\\.0\\.1|\\[::1\\]|80|%2e|%40|ｅxample\\.org|。|\u{ad}|[ \t\n]|user|xn--a|-";

    proptest! {
        /// Read by simple rules of another kind: whatever is let through says the domain itself, right behind the
        /// scheme, and nothing that could make it a part of something else follows.
        #[test]
        fn nothing_outside_of_the_domains_passes(
            start in prop_oneof![Just("https://"), Just("http://"), Just("")],
            parts in proptest::collection::vec(PARTS, 0..8),
        ) {
            let address = format!("{start}{}", parts.concat());
            let passes = host(&address)
                .is_ok_and(|h| ["example.org", "*.docs.example.org"].iter().any(|d| matches(d, &h)));
            let lower = address.to_ascii_lowercase();
            let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://")).unwrap_or("");
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-')).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            let name = name.strip_suffix('.').unwrap_or(name);
            let port = behind.strip_prefix(':').map_or(behind, |p| p.trim_start_matches(|c: char| c.is_ascii_digit()));
            let ends = port.is_empty() || port.starts_with(['/', '?', '#']);
            let inside = ends && (name == "example.org" || name.ends_with(".docs.example.org"));
            prop_assert!(inside || !passes, "{}", address);
        }

        /// What a policy may say is what an address with that host comes to.
        #[test]
        fn every_domain_that_may_be_written_lets_its_own_address_through(text in "(\\*\\.)?[a-z0-9.-]{1,12}") {
            if domain(&text).is_ok() {
                let name = text.replacen('*', "a", 1);
                let host = host(&format!("https://{name}/"));
                prop_assert!(host.as_deref().is_ok_and(|h| matches(&text, h)), "{} {:?}", text, host);
            }
        }
    }
}
