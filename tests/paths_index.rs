//! Rules for paths on a host that cannot scope rules itself: a line each while they are few, else one line to an index.

mod support;

use support::Repo;

fn repo(rules: usize) -> Repo {
    let mut repo = Repo::with("version: 1\nhosts: { codex: {} }\n");
    for i in 0..rules {
        let text = format!("---\ntitle: Package {i}\nactivation: {{ paths: [\"p{i:02}/**\"] }}\n---\nRule {i}.\n");
        repo = repo.file(&format!("shared-agent-rules/package-{i:02}.md"), &text);
    }
    assert_eq!(repo.run(&["render", "-q"]).code, 0);
    assert_eq!(repo.run(&["check"]).code, 0);
    repo
}

fn read(repo: &Repo, path: &str) -> Option<String> {
    std::fs::read_to_string(repo.path().join(path)).ok()
}

#[test]
fn few_rules_have_a_line_each() {
    let repo = repo(12);
    let card = read(&repo, ".codex/config.toml").unwrap();
    assert_eq!(card.matches("- Before you touch").count(), 12, "{card}");
    assert!(card.contains("`p03/**`: read `.rolecast/rules/package-03.md`"), "{card}");
    assert_eq!(read(&repo, ".rolecast/paths.md"), None);
}

#[test]
fn many_rules_cost_one_line_and_the_index_names_them_all() {
    let repo = repo(13);
    let card = read(&repo, ".codex/config.toml").unwrap();
    assert_eq!(card.matches("- Before you touch").count(), 1, "{card}");
    assert!(card.contains("`.rolecast/paths.md`"), "{card}");
    let index = read(&repo, ".rolecast/paths.md").unwrap();
    for i in 0..13 {
        assert!(index.contains(&format!("- `p{i:02}/**`: `.rolecast/rules/package-{i:02}.md`\n")), "{index}");
        assert!(read(&repo, &format!(".rolecast/rules/package-{i:02}.md")).unwrap().contains(&format!("Rule {i}.")));
    }
}

#[test]
fn the_index_goes_when_the_rules_are_few_again() {
    let repo = repo(13);
    std::fs::remove_file(repo.path().join("shared-agent-rules/package-00.md")).unwrap();
    assert_eq!(repo.run(&["check"]).code, 1);
    assert_eq!(repo.run(&["render", "-q"]).code, 0);
    assert_eq!(read(&repo, ".rolecast/paths.md"), None);
    assert_eq!(repo.run(&["check"]).code, 0);
}
