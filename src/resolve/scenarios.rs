//! Whether what a scenario names is there, and can be judged.

use super::capabilities::Catalogue;
use super::policy::Role;
use crate::diag::{Code, Diagnostic, Sink};
use crate::load::LoadedScenario;
use crate::yaml::Sp;

/// Reports what a scenario names that is not there, and what could never be judged.
pub fn judge(found: &LoadedScenario, roles: &[Role], catalogue: &Catalogue, sink: &mut Sink) {
    let scenario = &found.scenario;
    let roles: Vec<&str> = roles.iter().map(|r| r.id.as_str()).collect();
    for role in scenario.expect.out_of_grant_calls.keys().filter(|r| !roles.contains(&r.value.as_str())) {
        sink.push(
            Diagnostic::new(Code::UnknownRole, format!("unknown role `{}`", role.value))
                .at_opt(role.span, "no role has this name")
                .suggest(&role.value, roles.iter().copied()),
        );
    }
    for (server, played) in &scenario.servers {
        for name in played.tools.values().flat_map(|t| &t.confers) {
            if catalogue.find(name).is_none() {
                sink.push(
                    Diagnostic::new(Code::UnknownCapability, format!("unknown capability `{name}`"))
                        .at_opt(server.span, "conferred by a tool of this server"),
                );
            }
        }
    }
    let outcome = &scenario.outcome;
    for pattern in outcome.uses.iter().chain(&outcome.changed).chain(&outcome.unchanged) {
        if pattern.value.is_empty() || pattern.value.contains(['[', ']', '{', '}', '\\']) {
            sink.push(
                Diagnostic::new(Code::GlobInvalid, format!("`{}` is no pattern", pattern.value))
                    .at_opt(pattern.span, "may hold `*`, `**` and `?`, and no other wildcards"),
            );
        }
    }
    let folder = scenario.repository.folder.iter();
    for path in folder.chain(scenario.repository.files.keys()).filter(|p| leads_out(p)) {
        sink.push(
            Diagnostic::new(Code::PathOutside, format!("`{}` leads out of the repository", path.value))
                .at_opt(path.span, "must be relative, without `..`"),
        );
    }
}

fn leads_out(path: &Sp<String>) -> bool {
    let path = path.value.as_str();
    let bad = |part: &str| matches!(part, "" | "." | ".." | ".git");
    path.contains(['\\', ':']) || path.split('/').any(bad)
}
