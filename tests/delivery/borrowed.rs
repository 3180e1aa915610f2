//! Role files of one host that another takes too.

use rolecast::model::adapter::Adapter;
use rolecast::plan::delivery::{Finding, Input, plan};

use crate::fixtures::{adapter, input, shipped};

fn borrowed(adapters: &[&Adapter], roles: &[&str]) -> Vec<(String, String, String)> {
    let roles: Vec<String> = roles.iter().map(|r| (*r).to_owned()).collect();
    let findings = plan(&Input { roles: &roles, ..input(adapters, &[], &[]) }).findings;
    let borrowed = findings.into_iter().filter_map(|f| match f {
        Finding::BorrowedRoles { host, from, file } => Some((host, from, file)),
        _ => None,
    });
    borrowed.collect()
}

fn one(host: &str, from: &str, file: &str) -> (String, String, String) {
    (host.to_owned(), from.to_owned(), file.to_owned())
}

#[test]
fn shipped_hosts_spell_roles_alike_and_borrow_nothing() {
    let adapters = shipped();
    let hosts: Vec<&Adapter> = adapters.iter().collect();
    assert_eq!(borrowed(&hosts, &["docs_writer", "release-notes", "x.y", "prüfer"]), []);
}

#[test]
fn a_role_that_a_host_spells_otherwise_is_borrowed_beside_its_own() {
    let (lender, mut borrower) = (adapter("claude-code"), adapter("copilot"));
    borrower.id = "invented".into();
    borrower.names.role.keep = "a-z-".into();
    borrower.names.role.replace = Some("-".into());
    let found = borrowed(&[&lender, &borrower], &["explorer", "docs_writer"]);
    assert_eq!(found, [one("invented", "claude-code", ".claude/agents/docs_writer.md")]);
}

#[test]
fn a_host_whose_own_file_does_not_win_borrows_every_role() {
    let (lender, mut borrower) = (adapter("claude-code"), adapter("copilot"));
    for borrow in &mut borrower.borrows {
        borrow.loses_to_own = false;
    }
    let found = borrowed(&[&lender, &borrower], &["explorer"]);
    assert_eq!(found, [one("copilot", "claude-code", ".claude/agents/explorer.md")]);
}

#[test]
fn a_host_without_role_files_of_its_own_borrows_every_role() {
    let (lender, mut borrower) = (adapter("claude-code"), adapter("cursor"));
    borrower.outputs.shift_remove("role");
    let found = borrowed(&[&borrower, &lender], &["explorer"]);
    assert_eq!(found, [one("cursor", "claude-code", ".claude/agents/explorer.md")]);
}

#[test]
fn one_file_of_two_hosts_is_the_own_file_of_both() {
    let (lender, mut borrower) = (adapter("claude-code"), adapter("copilot"));
    borrower.outputs.get_mut("role").unwrap().file = ".claude/agents/{name}.md".into();
    assert_eq!(borrowed(&[&lender, &borrower], &["explorer"]), []);
}
