//! Addresses that a role may fetch, in what hosts really send: the samples in `fetches` were written by real runs,
//! with `{url}` in the place of the address.

use super::{HOSTS, Repository};

const FETCHER: &str = "---\ndescription: Fetches pages.\ngrants:\n  repo.read: {}\n  web.fetch: { domains: [\"docs.example.org\", \"*.pages.example.org\"] }\n---\nFetch pages.\n";

fn repository(guard: &str) -> Repository {
    let hosts: Vec<String> = HOSTS.iter().map(|h| format!("{h}: {{}}")).collect();
    let policy = format!("version: 1\nhosts: {{ {} }}\nextends: [builtin]\n{guard}", hosts.join(", "));
    Repository::with(&policy, &[("shared-agent-rules/roles/fetcher.md", FETCHER)])
}

fn asks(repository: &Repository, sample: &str, url: &str) -> super::Answer {
    let path = format!("{}/tests/guard/fetches/{sample}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap().replace("{root}", repository.root.to_str().unwrap());
    let url = serde_json::to_string(url).unwrap();
    let question = text.replace("\"{url}\"", &url);
    assert!(question.contains(&url), "{sample}");
    repository.asks(super::host_of(sample), question.as_bytes())
}

#[test]
fn a_role_fetches_from_its_domains_and_from_nowhere_else() {
    let repository = repository("");
    let roles = ["claude-role", "qwen-role", "copilot-role", "copilot-as-claude-role"];
    for sample in roles {
        for url in [
            "https://docs.example.org/a",
            "http://DOCS.example.org:8080",
            "https://a.b.pages.example.org/?x=//evil.test",
        ] {
            let answer = asks(&repository, sample, url);
            assert!(!answer.refused, "{sample}: {url}: {}", answer.said);
        }
        for url in [
            "https://evil.test/",
            "https://pages.example.org/",
            "https://docs.example.org.evil.test/",
            "https://docs.example.org@evil.test/",
            "https://evil.test\\@docs.example.org/",
            "https://127.0.0.1/",
            "https://docs.example.org\t.evil.test/",
            "file:///etc/passwd",
            "",
        ] {
            let answer = asks(&repository, sample, url);
            assert!(answer.refused && answer.said.contains("`docs.example.org`"), "{sample}: {url}: {}", answer.said);
        }
    }
    for sample in ["copilot-main", "copilot-as-claude-main"] {
        assert!(!asks(&repository, sample, "https://evil.test/").refused, "{sample}");
    }
}

#[test]
fn a_role_without_the_grant_fetches_nothing_where_the_hook_is_asked() {
    let repository = repository("");
    for (host, tool) in [("claude-code", "WebFetch"), ("copilot", "web_fetch"), ("qwen-code", "web_fetch")] {
        let url = serde_json::json!({ "url": "https://docs.example.org/", "prompt": "x" });
        assert!(repository.call(host, Some("docs_writer"), tool, url.clone()).refused, "{host}");
        assert!(!repository.call(host, Some("fetcher"), tool, url).refused, "{host}");
        let other = serde_json::json!({ "address": "https://docs.example.org/" });
        assert!(repository.call(host, Some("fetcher"), tool, other).refused, "{host}: another form");
    }
}

#[test]
fn nothing_is_held_where_roles_are_not() {
    let repository = repository("guard: { roles: false }\n");
    assert!(!asks(&repository, "claude-role", "https://evil.test/").refused);
}
