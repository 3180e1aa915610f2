//! Role files rendered for one host that another takes as roles of its own.

use crate::model::adapter::{Borrowed, Each};
use crate::plan::names;

use super::path;
use super::types::{Finding, HostInput, Input};

/// Name and file of every role file of one host, as it spells them.
fn role_files(host: &HostInput, roles: &[String]) -> Vec<(String, String)> {
    let adapter = host.adapter;
    let outputs: Vec<&str> =
        adapter.outputs.values().filter(|o| o.each == Some(Each::Role)).map(|o| o.file.as_str()).collect();
    let mut out = Vec::new();
    for role in roles.iter().filter(|_| host.has_roles) {
        // A name that cannot be spelt is an error of its own, and there is no file.
        let Ok(name) = names::role(&adapter.names.role, role) else { continue };
        out.extend(outputs.iter().map(|file| (name.clone(), file.replace("{name}", &name))));
    }
    out
}

/// One finding for each file that `host`, by its position, takes although it is another's: no file of its own
/// has the same name, or its own would not win. Where both spell the name alike its own file wins, and nothing is borrowed.
pub fn of(input: &Input, host: usize) -> Vec<Finding> {
    let adapter = input.hosts[host].adapter;
    let mut out = Vec::new();
    if adapter.borrows.iter().all(|b| b.what != Borrowed::Roles) {
        return out;
    }
    let own = role_files(&input.hosts[host], input.roles);
    for (_, other) in input.hosts.iter().enumerate().filter(|(at, _)| *at != host) {
        for (name, file) in role_files(other, input.roles) {
            let wins = own.iter().any(|(n, _)| *n == name);
            let mut takes =
                adapter.borrows.iter().filter(|b| b.what == Borrowed::Roles && path::matches(&b.file, &file));
            let same_file = own.iter().any(|(_, f)| *f == file);
            if !same_file && takes.any(|b| !(b.loses_to_own && wins)) {
                let (host, from) = (adapter.id.clone(), other.adapter.id.clone());
                out.push(Finding::BorrowedRoles { host, from, file });
            }
        }
    }
    out
}
